* Negative binomial model for recreational boating trips.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do recreation_negbin.do DATA_DIR OUT.csv
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
nbreg trips quality skiyes income userfeeyes costC costS costH, dispersion(mean) vce(oim)
post_term `cells' recreation_negbin "(Intercept)" trips:_cons "Estimate" "Std. Error"
post_term `cells' recreation_negbin "quality" trips:quality "Estimate" "Std. Error"
post_term `cells' recreation_negbin "skiyes" trips:skiyes "Estimate" "Std. Error"
post_term `cells' recreation_negbin "income" trips:income "Estimate" "Std. Error"
post_term `cells' recreation_negbin "userfeeyes" trips:userfeeyes "Estimate" "Std. Error"
post_term `cells' recreation_negbin "costC" trips:costC "Estimate" "Std. Error"
post_term `cells' recreation_negbin "costS" trips:costS "Estimate" "Std. Error"
post_term `cells' recreation_negbin "costH" trips:costH "Estimate" "Std. Error"
post `cells' ("recreation_negbin") ("logLik") ("Estimate") ("log_likelihood") (e(ll))

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
