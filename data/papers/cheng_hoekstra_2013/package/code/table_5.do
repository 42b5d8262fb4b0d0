* Table 5, panels A and B: castle doctrine laws and homicide.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_5.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off
set matsize 800

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

* One column of both panels. Effects of states are absorbed; they lie within clusters and are not
* counted among the parameters.
program define post_column
    args cells column terms
    xtreg l_homicide post `terms' i.year [aweight = popwt], fe vce(cluster sid)
    post `cells' ("table_5") ("weighted") ("`column'") ("coefficient") (_b[post])
    post `cells' ("table_5") ("weighted") ("`column'") ("standard_error") (_se[post])
    xtreg l_homicide post `terms' i.year, fe vce(cluster sid)
    post `cells' ("table_5") ("unweighted") ("`column'") ("coefficient") (_b[post])
    post `cells' ("table_5") ("unweighted") ("`column'") ("standard_error") (_se[post])
end

use "`data_dir'/castle.dta", clear
xtset sid year

local regions r20001-r20104
local controls l_police unemployrt poverty l_income l_prisoner l_lagprisoner blackm_15_24 whitem_15_24 blackm_25_44 whitem_25_44 l_exp_subsidy l_exp_pubwelfare

* The law variable is one from the first full year of a law: the data hold no share of the year.
post_column `cells' "(1)" ""
post_column `cells' "(2)" "`regions'"
post_column `cells' "(3)" "`regions' `controls'"
* With an indicator of the year before a law.
post_column `cells' "(4)" "`regions' `controls' lead1"
post_column `cells' "(5)" "`regions' `controls' l_larceny l_motor"
post_column `cells' "(6)" "`regions' `controls' trend_1-trend_51"

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
