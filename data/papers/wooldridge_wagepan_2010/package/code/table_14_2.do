* Table 14.2: a wage equation by pooled OLS, random effects and fixed effects.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_14_2.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

program define post_terms
    args cells column terms
    foreach term of local terms {
        post `cells' ("table_14_2") ("`term'") ("`column'") ("coefficient") (_b[`term'])
        post `cells' ("table_14_2") ("`term'") ("`column'") ("standard_error") (_se[`term'])
    }
end

import spss using "`data_dir'/wagepan.sav", clear
xtset nr year

local all_terms educ black hisp exper expersq married union
* Experience grows by one a year for every man: it drops out beside effects of men and years.
local within_terms expersq married union

regress lwage `all_terms' d81-d87
post_terms `cells' "Pooled OLS" "`all_terms'"

xtreg lwage `all_terms' d81-d87, re
post_terms `cells' "Random Effects" "`all_terms'"

xtreg lwage `within_terms' d81-d87, fe
post_terms `cells' "Fixed Effects" "`within_terms'"

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
