* Hurdle model with negative binomial counts for recreational boating trips.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do recreation_hurdle.do DATA_DIR OUT.csv
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
* The likelihood separates: a truncated count model of those who go, a logit model of going.
tnbreg trips quality skiyes income userfeeyes costC costS costH if trips > 0, ll(0)
post_term `cells' recreation_hurdle "count: (Intercept)" trips:_cons "Estimate" "Std. Error"
post_term `cells' recreation_hurdle "count: quality" trips:quality "Estimate" "Std. Error"
post_term `cells' recreation_hurdle "count: skiyes" trips:skiyes "Estimate" "Std. Error"
post_term `cells' recreation_hurdle "count: income" trips:income "Estimate" "Std. Error"
post_term `cells' recreation_hurdle "count: userfeeyes" trips:userfeeyes "Estimate" "Std. Error"
post_term `cells' recreation_hurdle "count: costC" trips:costC "Estimate" "Std. Error"
post_term `cells' recreation_hurdle "count: costS" trips:costS "Estimate" "Std. Error"
post_term `cells' recreation_hurdle "count: costH" trips:costH "Estimate" "Std. Error"
post `cells' ("recreation_hurdle") ("count: Log(theta)") ("Estimate") ("coefficient") (-_b[/lnalpha])
post `cells' ("recreation_hurdle") ("count: Log(theta)") ("Std. Error") ("standard_error") (_se[/lnalpha])
generate byte goes = trips > 0
logit goes quality income
post_term `cells' recreation_hurdle "zero: (Intercept)" _cons "Estimate" "Std. Error"
post_term `cells' recreation_hurdle "zero: quality" quality "Estimate" "Std. Error"
post_term `cells' recreation_hurdle "zero: income" income "Estimate" "Std. Error"

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
