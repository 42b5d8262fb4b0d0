* Table 1: call-back rates by the sound of the name, ratios, differences, tests of proportions.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_1.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

import spss using "`data_dir'/resumes.sav", clear
generate byte white_name = race == "w"
local labels `" "All sent resumes" "Chicago" "Boston" "Females" "Females in administrative jobs" "Females in sales jobs" "Males" "'
local filters `" "1" "city == "c"" "city == "b"" "sex == "f"" "sex == "f" & kind == "a"" "sex == "f" & kind == "s"" "sex == "m"" "'

forvalues sample = 1/7 {
    local row : word `sample' of `labels'
    local condition : word `sample' of `filters'
    quietly prtest call if `condition', by(white_name)
    local black = r(P1)
    local white = r(P2)
    post `cells' ("table_1") ("`row'") ("White names") ("share") (100 * `white')
    post `cells' ("table_1") ("`row'") ("African-American names") ("share") (100 * `black')
    post `cells' ("table_1") ("`row'") ("White names") ("n_obs") (r(N2))
    post `cells' ("table_1") ("`row'") ("African-American names") ("n_obs") (r(N1))
    post `cells' ("table_1") ("`row'") ("Ratio") ("other_statistic") (`white' / `black')
    post `cells' ("table_1") ("`row'") ("Percent difference") ("coefficient") (100 * (`white' - `black'))
    post `cells' ("table_1") ("`row'") ("Percent difference") ("p_value") (r(p))
}

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
