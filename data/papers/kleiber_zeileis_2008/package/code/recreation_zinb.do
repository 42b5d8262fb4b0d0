* Zero-inflated negative binomial model for recreational boating trips.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do recreation_zinb.do DATA_DIR OUT.csv
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

import excel "`data_dir'/RecreationDemand.xlsx", firstrow clear
generate byte skiyes = ski == "yes"
generate byte userfeeyes = userfee == "yes"
zinb trips quality skiyes income userfeeyes costC costS costH, inflate(quality income)
post_term `cells' recreation_zinb "count: (Intercept)" trips:_cons "Estimate" "Std. Error"
post_term `cells' recreation_zinb "count: quality" trips:quality "Estimate" "Std. Error"
post_term `cells' recreation_zinb "count: skiyes" trips:skiyes "Estimate" "Std. Error"
post_term `cells' recreation_zinb "count: income" trips:income "Estimate" "Std. Error"
post_term `cells' recreation_zinb "count: userfeeyes" trips:userfeeyes "Estimate" "Std. Error"
post_term `cells' recreation_zinb "count: costC" trips:costC "Estimate" "Std. Error"
post_term `cells' recreation_zinb "count: costS" trips:costS "Estimate" "Std. Error"
post_term `cells' recreation_zinb "count: costH" trips:costH "Estimate" "Std. Error"
post `cells' ("recreation_zinb") ("count: Log(theta)") ("Estimate") ("coefficient") (-_b[/lnalpha])
post `cells' ("recreation_zinb") ("count: Log(theta)") ("Std. Error") ("standard_error") (_se[/lnalpha])
post_term `cells' recreation_zinb "zero: (Intercept)" inflate:_cons "Estimate" "Std. Error"
post_term `cells' recreation_zinb "zero: quality" inflate:quality "Estimate" "Std. Error"
post_term `cells' recreation_zinb "zero: income" inflate:income "Estimate" "Std. Error"

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
