* Table 10.1: traffic deaths, the beer tax and laws against drunk driving.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_10_1.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

* Estimates and standard errors of the model fitted last.
program define post_terms
    args cells column terms
    local names beertax age_18 age_19 age_20 drinkage punished miles_thousand unemp log_income
    local labels `" "Beer tax" "Drinking age 18" "Drinking age 19" "Drinking age 20" "Drinking age" "Mandatory jail or community service?" "Average vehicle miles per driver" "Unemployment rate" "Real income per capita (logarithm)" "'
    foreach term of local terms {
        local position : list posof "`term'" in names
        local label : word `position' of `labels'
        post `cells' ("table_10_1") ("`label'") ("`column'") ("coefficient") (_b[`term'])
        post `cells' ("table_10_1") ("`label'") ("`column'") ("standard_error") (_se[`term'])
    }
end

* The test done last; of a p-value below a thousandth print gives no more than that.
program define post_test
    args cells row column
    local p = r(p)
    post `cells' ("table_10_1") ("`row'") ("`column'") ("f_statistic") (r(F))
    if `p' >= 0.001 post `cells' ("table_10_1") ("`row'") ("`column'") ("p_value") (`p')
end

* One column with state effects. xtreg does not count them among the parameters when it clusters
* by state; areg counts them in its adjusted R-squared.
program define post_column
    args cells column terms times
    xtreg rate `terms' `times', fe vce(cluster state_number)
    post_terms `cells' "`column'" "`terms'"
    if "`times'" != "" {
        testparm `times'
        post_test `cells' "F: time effects=0" "`column'"
    }
    local ages age_18 age_19 age_20
    if "`: list ages & terms'" != "" {
        test `ages'
        post_test `cells' "F: drinking age coefficients=0" "`column'"
    }
    local economy unemp log_income
    if "`: list economy & terms'" != "" {
        test `economy'
        post_test `cells' "F: unemployment, income=0" "`column'"
    }
    areg rate `terms' `times', absorb(state_number)
    post `cells' ("table_10_1") ("R2 (adjusted)") ("`column'") ("r_squared_adj") (e(r2_a))
end

* fatality.rds is expected as fatality.dta: Stata reads no .rds.
use "`data_dir'/fatality.dta", clear
encode state, generate(state_number)
xtset state_number year
generate double rate = 10000 * fatal / pop
generate byte age_18 = drinkage >= 18 & drinkage < 19
generate byte age_19 = drinkage >= 19 & drinkage < 20
generate byte age_20 = drinkage >= 20 & drinkage < 21
generate byte punished = jail == "yes" | service == "yes"
generate double miles_thousand = miles / 1000
generate double log_income = ln(income)

regress rate beertax, vce(robust)
post_terms `cells' "(1)" "beertax"
post `cells' ("table_10_1") ("R2 (adjusted)") ("(1)") ("r_squared_adj") (e(r2_a))

post_column `cells' "(2)" "beertax" ""
post_column `cells' "(3)" "beertax" "i.year"

* Both laws must be known, even where one of them alone would settle the indicator.
drop if jail == "" | service == ""
local ages age_18 age_19 age_20
local laws_and_use punished miles_thousand
local economy unemp log_income
post_column `cells' "(4)" "beertax `ages' `laws_and_use' `economy'" "i.year"
post_column `cells' "(5)" "beertax `ages' `laws_and_use'" "i.year"
post_column `cells' "(6)" "beertax drinkage `laws_and_use' `economy'" "i.year"

keep if year == 1982 | year == 1988
post_column `cells' "(7)" "beertax `ages' `laws_and_use' `economy'" "i.year"

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
