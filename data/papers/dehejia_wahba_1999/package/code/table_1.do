* Table 1: sample means of characteristics and their standard errors.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_1.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

* cps1.rds is expected as cps1.dta: Stata reads no .rds.
program define load_group
    args data_dir group
    if "`group'" == "CPS-1" use "`data_dir'/cps1.dta", clear
    if "`group'" == "PSID-1" import delimited "`data_dir'/psid1.csv", clear
    if "`group'" == "PSID-3" import delimited "`data_dir'/psid3.csv", clear
end

program define post_sample
    args cells row with_errors with_re74
    count
    post `cells' ("table_1") ("`row'") ("No. of observations") ("n_obs") (r(N))
    local names age educ black hisp nodeg marr re74 re75
    local labels `" "Age" "Education" "Black" "Hispanic" "No degree" "Married" "RE74 (U.S. $)" "RE75 (U.S. $)" "'
    forvalues position = 1/8 {
        local name : word `position' of `names'
        local label : word `position' of `labels'
        if "`name'" != "re74" | `with_re74' {
            quietly mean `name'
            post `cells' ("table_1") ("`row'") ("`label'") ("mean") (_b[`name'])
            if `with_errors' post `cells' ("table_1") ("`row'") ("`label'") ("standard_error") (_se[`name'])
        }
    }
end

foreach arm in 1 0 {
    local word = cond(`arm', "Treated", "Control")
    use "`data_dir'/nsw_lalonde.dta", clear
    keep if trt == `arm'
    post_sample `cells' "NSW/Lalonde: `word'" 1 0
    use "`data_dir'/nsw_re74.dta", clear
    keep if trt == `arm'
    post_sample `cells' "RE74 subset: `word'" 1 1
}
foreach group in PSID-1 PSID-3 CPS-1 {
    load_group "`data_dir'" "`group'"
    post_sample `cells' "`group'" 0 1
}

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
