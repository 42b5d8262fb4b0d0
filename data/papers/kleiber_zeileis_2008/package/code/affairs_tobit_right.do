* Tobit model for the number of extramarital affairs, censored from below and from above.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do affairs_tobit_right.do DATA_DIR OUT.csv
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

import spss using "`data_dir'/Affairs.sav", clear
tobit affairs age yearsmarried religiousness occupation rating, ll(0) ul(4)
post_term `cells' affairs_tobit_right "(Intercept)" _cons "Estimate" "Std. Error"
post_term `cells' affairs_tobit_right "age" age "Estimate" "Std. Error"
post_term `cells' affairs_tobit_right "yearsmarried" yearsmarried "Estimate" "Std. Error"
post_term `cells' affairs_tobit_right "religiousness" religiousness "Estimate" "Std. Error"
post_term `cells' affairs_tobit_right "occupation" occupation "Estimate" "Std. Error"
post_term `cells' affairs_tobit_right "rating" rating "Estimate" "Std. Error"
local variance = _b[/var(e.affairs)]
post `cells' ("affairs_tobit_right") ("Log(scale)") ("Estimate") ("coefficient") (log(`variance') / 2)
post `cells' ("affairs_tobit_right") ("Log(scale)") ("Std. Error") ("standard_error") (_se[/var(e.affairs)] / (2 * `variance'))
post `cells' ("affairs_tobit_right") ("Scale") ("Estimate") ("other_statistic") (sqrt(`variance'))
post `cells' ("affairs_tobit_right") ("Log-likelihood") ("Estimate") ("log_likelihood") (e(ll))

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
