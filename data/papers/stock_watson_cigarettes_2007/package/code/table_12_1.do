* Table 12.1: the demand for cigarettes over a decade, price instrumented by taxes.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_12_1.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

* One column: second stage, robust F of the first stage and, with surplus instruments, J.
program define post_column
    args cells column excluded
    ivregress 2sls growth_packs growth_income (growth_price = `excluded'), vce(robust) small
    local terms growth_price growth_income _cons
    local labels `" "ln(P1995)-ln(P1985)" "ln(Inc1995)-ln(Inc1985)" "Intercept" "'
    forvalues position = 1/3 {
        local term : word `position' of `terms'
        local label : word `position' of `labels'
        post `cells' ("table_12_1") ("`label'") ("`column'") ("coefficient") (_b[`term'])
        post `cells' ("table_12_1") ("`label'") ("`column'") ("standard_error") (_se[`term'])
    }
    tempvar residual
    quietly predict double `residual', residuals

    regress growth_price `excluded' growth_income, vce(robust)
    test `excluded'
    post `cells' ("table_12_1") ("First-stage F-statistic") ("`column'") ("f_statistic") (r(F))

    local instruments : word count `excluded'
    if `instruments' > 1 {
        regress `residual' `excluded' growth_income
        test `excluded'
        local statistic = `instruments' * r(F)
        local row "Overidentifying restrictions J-test"
        post `cells' ("table_12_1") ("`row'") ("`column'") ("chi2_statistic") (`statistic')
        post `cells' ("table_12_1") ("`row'") ("`column'") ("p_value") (chi2tail(`instruments' - 1, `statistic'))
    }
end

* cig_ch12.parquet is expected as cig_ch12.dta: Stata reads no .parquet.
use "`data_dir'/cig_ch12.dta", clear
generate double log_packs = ln(packs)
generate double log_price = ln(price / cpi)
generate double log_income = ln(income / population / cpi)
generate double sales_tax = (taxs - tax) / cpi
generate double cigarette_tax = tax / cpi
sort state year
foreach name in packs price income {
    by state: generate double growth_`name' = log_`name' - log_`name'[_n - 1]
}
foreach name in sales_tax cigarette_tax {
    by state: generate double growth_`name' = `name' - `name'[_n - 1]
}
keep if year == 1995

post_column `cells' "(1)" "growth_sales_tax"
post_column `cells' "(2)" "growth_cigarette_tax"
post_column `cells' "(3)" "growth_sales_tax growth_cigarette_tax"

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
