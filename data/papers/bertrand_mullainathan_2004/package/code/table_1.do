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
generate byte sample_1 = 1
generate byte sample_2 = city == "c"
generate byte sample_3 = city == "b"
generate byte sample_4 = sex == "f"
generate byte sample_5 = sex == "f" & kind == "a"
generate byte sample_6 = sex == "f" & kind == "s"
generate byte sample_7 = sex == "m"
local labels `" "All sent resumes" "Chicago" "Boston" "Females" "Females in administrative jobs" "Females in sales jobs" "Males" "'

forvalues sample = 1/7 {
    local row : word `sample' of `labels'
    quietly prtest call if sample_`sample', by(white_name)
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
