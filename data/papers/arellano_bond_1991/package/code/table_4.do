* Table 4, columns (a1), (a2), (b): employment equations by GMM in first differences.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_4.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

* One estimate and its standard error.
program define post_term
    args cells table row term first second
    post `cells' ("`table'") ("`row'") ("`first'") ("coefficient") (_b[`term'])
    post `cells' ("`table'") ("`row'") ("`second'") ("standard_error") (_se[`term'])
end

use "`data_dir'/EmplUK.dta", clear
xtset firm year
generate n = log(emp)
generate w = log(wage)
generate k = log(capital)
generate ys = log(output)
tabulate year, generate(in_year)

* Column (a1). The trend is the constant of the differenced equation: with the indicators it spans all year effects.
xtabond n L(0/1).w L(0/2).(k ys) in_year5-in_year9 year, lags(2) vce(robust)
foreach pair in "n(t-1) L.n" "n(t-2) L2.n" "w(t) w" "w(t-1) L.w" "k(t) k" "k(t-1) L.k" "k(t-2) L2.k" "ys(t) ys" "ys(t-1) L.ys" "ys(t-2) L2.ys" {
    local row : word 1 of `pair'
    local term : word 2 of `pair'
    post_term `cells' table_4 "`row'" `term' "(a1)" "(a1)"
}
post `cells' ("table_4") ("No. of observations") ("(a1)") ("n_obs") (e(N))
post `cells' ("table_4") ("No. of companies") ("(a1)") ("n_groups") (e(N_g))

* Column (a2). The trend is the constant of the differenced equation: with the indicators it spans all year effects.
xtabond n L(0/1).w L(0/2).(k ys) in_year5-in_year9 year, lags(2) twostep
foreach pair in "n(t-1) L.n" "n(t-2) L2.n" "w(t) w" "w(t-1) L.w" "k(t) k" "k(t-1) L.k" "k(t-2) L2.k" "ys(t) ys" "ys(t-1) L.ys" "ys(t-2) L2.ys" {
    local row : word 1 of `pair'
    local term : word 2 of `pair'
    post_term `cells' table_4 "`row'" `term' "(a2)" "(a2)"
}
post `cells' ("table_4") ("No. of observations") ("(a2)") ("n_obs") (e(N))
post `cells' ("table_4") ("No. of companies") ("(a2)") ("n_groups") (e(N_g))
estat sargan
post `cells' ("table_4") ("Sargan test") ("(a2)") ("chi2_statistic") (r(chi2))

* Column (b). The trend is the constant of the differenced equation: with the indicators it spans all year effects.
xtabond n L(0/1).w k L(0/1).ys in_year5-in_year9 year, lags(2) twostep
foreach pair in "n(t-1) L.n" "n(t-2) L2.n" "w(t) w" "w(t-1) L.w" "k(t) k" "ys(t) ys" "ys(t-1) L.ys" {
    local row : word 1 of `pair'
    local term : word 2 of `pair'
    post_term `cells' table_4 "`row'" `term' "(b)" "(b)"
}
post `cells' ("table_4") ("No. of observations") ("(b)") ("n_obs") (e(N))
post `cells' ("table_4") ("No. of companies") ("(b)") ("n_groups") (e(N_g))
estat sargan
post `cells' ("table_4") ("Sargan test") ("(b)") ("chi2_statistic") (r(chi2))

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
