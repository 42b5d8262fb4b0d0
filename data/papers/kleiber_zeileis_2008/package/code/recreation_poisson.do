* Poisson model for recreational boating trips, with sandwich standard errors.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do recreation_poisson.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

import excel "`data_dir'/RecreationDemand.xlsx", firstrow clear
generate byte skiyes = ski == "yes"
generate byte userfeeyes = userfee == "yes"
poisson trips quality skiyes income userfeeyes costC costS costH, vce(robust)
* Stata scales the robust covariance by N / (N - 1); the published one is not scaled.
local unscaled = sqrt((e(N) - 1) / e(N))
foreach name in _cons quality skiyes income userfeeyes costC costS costH {
    local row = cond("`name'" == "_cons", "(Intercept)", "`name'")
    post `cells' ("recreation_poisson") ("`row'") ("Estimate") ("coefficient") (_b[`name'])
    post `cells' ("recreation_poisson") ("`row'") ("Std. Error") ("standard_error") (`unscaled' * _se[`name'])
}

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
