* Section 5.2: least squares on the simulated panel, standard errors clustered by firm.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do section_5_2_firm.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

import delimited "`data_dir'/PetersenCL.csv", clear
regress y x, vce(cluster firm)
post `cells' ("section_5_2_firm") ("(Intercept)") ("sandwich") ("standard_error") (_se[_cons])
post `cells' ("section_5_2_firm") ("x") ("sandwich") ("standard_error") (_se[x])

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
