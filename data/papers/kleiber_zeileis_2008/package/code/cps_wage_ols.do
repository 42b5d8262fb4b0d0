* Wage equation for men in the United States: least squares.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do cps_wage_ols.do DATA_DIR OUT.csv
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

* CPS1988.rds is expected as CPS1988.dta: Stata reads no .rds.
use "`data_dir'/CPS1988.dta", clear
generate log_wage = log(wage)
generate byte ethnicityafam = ethnicity == "afam"
regress log_wage experience c.experience#c.experience education ethnicityafam
post_term `cells' cps_wage_ols "(Intercept)" _cons "Estimate" "Std. Error"
post_term `cells' cps_wage_ols "experience" experience "Estimate" "Std. Error"
post_term `cells' cps_wage_ols "I(experience^2)" c.experience#c.experience "Estimate" "Std. Error"
post_term `cells' cps_wage_ols "education" education "Estimate" "Std. Error"
post_term `cells' cps_wage_ols "ethnicityafam" ethnicityafam "Estimate" "Std. Error"
post `cells' ("cps_wage_ols") ("Multiple R-squared") ("Estimate") ("r_squared") (e(r2))

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
