* Investment equation for three firms: within estimator.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do grunfeld_within.do DATA_DIR OUT.csv
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

import delimited "`data_dir'/Grunfeld.csv", clear
keep if inlist(firm, "General Electric", "General Motors", "IBM")
encode firm, generate(firm_number)
xtset firm_number year
xtreg invest value capital, fe
post_term `cells' grunfeld_within "value" value "Estimate" "Std. Error"
post_term `cells' grunfeld_within "capital" capital "Estimate" "Std. Error"

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
