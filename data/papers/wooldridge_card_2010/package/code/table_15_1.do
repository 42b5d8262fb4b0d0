* Table 15.1: the return to education, by least squares and with college proximity as instrument.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_15_1.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

* Estimates, standard errors and fit of the model fitted last.
program define post_model
    args cells column
    foreach term in educ exper expersq black smsa south {
        post `cells' ("table_15_1") ("`term'") ("`column'") ("coefficient") (_b[`term'])
        post `cells' ("table_15_1") ("`term'") ("`column'") ("standard_error") (_se[`term'])
    }
    post `cells' ("table_15_1") ("Observations") ("`column'") ("n_obs") (e(N))
    post `cells' ("table_15_1") ("R-squared") ("`column'") ("r_squared") (e(r2))
end

import spss using "`data_dir'/card.sav", clear
* The first region of residence in youth is the one left out.
local others exper expersq black smsa south smsa66 reg662-reg669

regress lwage educ `others'
post_model `cells' "OLS"

* Standard errors as in small samples: with the degrees of freedom of the regression.
ivregress 2sls lwage `others' (educ = nearc4), small
post_model `cells' "IV"

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
