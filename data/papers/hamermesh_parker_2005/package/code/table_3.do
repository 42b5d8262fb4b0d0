* Table 3, all courses: course evaluations and the looks of instructors.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_3.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

import delimited "`data_dir'/TeachingRatings.csv", clear asdouble case(preserve)
generate byte female = gender == "female"
generate byte minority_teacher = minority == "yes"
generate byte non_native = native == "no"
generate byte tenure_track = tenure == "yes"
generate byte lower_division = division == "lower"
generate byte one_credit = credits == "single"
local terms beauty female minority_teacher non_native tenure_track lower_division one_credit
local labels `" "Composite standardized beauty" "Female" "Minority" "Non-native English" "Tenure track" "Lower division" "One-credit course" "'

* A course weighs as much as the students who filled in its evaluation.
regress eval `terms' [aweight = students], vce(cluster prof)
forvalues position = 1/7 {
    local term : word `position' of `terms'
    local label : word `position' of `labels'
    post `cells' ("table_3") ("`label'") ("(1)") ("coefficient") (_b[`term'])
    * The printed standard error of lower division is not known with certainty: no such cell.
    if "`term'" != "lower_division" {
        post `cells' ("table_3") ("`label'") ("(1)") ("standard_error") (_se[`term'])
    }
}
post `cells' ("table_3") ("R2") ("(1)") ("r_squared") (e(r2))
post `cells' ("table_3") ("N") ("(1)") ("n_obs") (e(N))

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
