* Tobit model for the number of extramarital affairs, censored from below.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do affairs_tobit.do DATA_DIR OUT.csv
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
tobit affairs age yearsmarried religiousness occupation rating, ll(0)
post_term `cells' affairs_tobit "(Intercept)" _cons "Estimate" "Std. Error"
post_term `cells' affairs_tobit "age" age "Estimate" "Std. Error"
post_term `cells' affairs_tobit "yearsmarried" yearsmarried "Estimate" "Std. Error"
post_term `cells' affairs_tobit "religiousness" religiousness "Estimate" "Std. Error"
post_term `cells' affairs_tobit "occupation" occupation "Estimate" "Std. Error"
post_term `cells' affairs_tobit "rating" rating "Estimate" "Std. Error"
local variance = _b[/var(e.affairs)]
post `cells' ("affairs_tobit") ("Log(scale)") ("Estimate") ("coefficient") (log(`variance') / 2)
post `cells' ("affairs_tobit") ("Log(scale)") ("Std. Error") ("standard_error") (_se[/var(e.affairs)] / (2 * `variance'))
post `cells' ("affairs_tobit") ("Scale") ("Estimate") ("other_statistic") (sqrt(`variance'))
post `cells' ("affairs_tobit") ("Log-likelihood") ("Estimate") ("log_likelihood") (e(ll))

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
