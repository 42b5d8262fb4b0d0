* Table 17.2: annual hours of work, by least squares and by a tobit model censored at no hours.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_17_2.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

* Estimates and standard errors of the model fitted last.
program define post_terms
    args cells column
    foreach term in nwifeinc educ exper expersq age kidslt6 kidsge6 _cons {
        local row = cond("`term'" == "_cons", "constant", "`term'")
        post `cells' ("table_17_2") ("`row'") ("`column'") ("coefficient") (_b[`term'])
        post `cells' ("table_17_2") ("`row'") ("`column'") ("standard_error") (_se[`term'])
    }
end

use "`data_dir'/mroz.dta", clear
local terms nwifeinc educ exper expersq age kidslt6 kidsge6

regress hours `terms'
post_terms `cells' "Linear (OLS)"
post `cells' ("table_17_2") ("R-squared") ("Linear (OLS)") ("r_squared") (e(r2))
post `cells' ("table_17_2") ("sigma") ("Linear (OLS)") ("other_statistic") (e(rmse))

tobit hours `terms', ll(0)
post_terms `cells' "Tobit (MLE)"
post `cells' ("table_17_2") ("Log-likelihood value") ("Tobit (MLE)") ("log_likelihood") (e(ll))
post `cells' ("table_17_2") ("sigma") ("Tobit (MLE)") ("other_statistic") (sqrt(_b[/var(e.hours)]))

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
