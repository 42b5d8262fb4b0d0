* Table 17.1: who is in the labour force, by a linear probability model, a logit and a probit.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_17_1.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

* Estimates, standard errors and the share of right predictions of the model fitted last.
program define post_model
    args cells column
    foreach term in nwifeinc educ exper expersq age kidslt6 kidsge6 _cons {
        local row = cond("`term'" == "_cons", "constant", "`term'")
        post `cells' ("table_17_1") ("`row'") ("`column'") ("coefficient") (_b[`term'])
        post `cells' ("table_17_1") ("`row'") ("`column'") ("standard_error") (_se[`term'])
    }
    tempvar fitted right
    quietly predict double `fitted'
    quietly generate byte `right' = (`fitted' > 0.5) == inlf
    quietly summarize `right'
    post `cells' ("table_17_1") ("Percentage correctly predicted") ("`column'") ("other_statistic") (100 * r(mean))
end

* Log-likelihood and pseudo R-squared of the model fitted last.
program define post_likelihood
    args cells column
    post `cells' ("table_17_1") ("Log-likelihood value") ("`column'") ("log_likelihood") (e(ll))
    post `cells' ("table_17_1") ("Pseudo R-squared") ("`column'") ("pseudo_r_squared") (e(r2_p))
end

use "`data_dir'/mroz.dta", clear
local terms nwifeinc educ exper expersq age kidslt6 kidsge6

regress inlf `terms', vce(robust)
post `cells' ("table_17_1") ("Pseudo R-squared") ("LPM (OLS)") ("r_squared") (e(r2))
post_model `cells' "LPM (OLS)"

logit inlf `terms'
post_likelihood `cells' "Logit (MLE)"
post_model `cells' "Logit (MLE)"

probit inlf `terms'
post_likelihood `cells' "Probit (MLE)"
post_model `cells' "Probit (MLE)"

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
