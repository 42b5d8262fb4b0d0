* Table 2: earnings comparisons and regression-adjusted training effects, three panels.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_2.do DATA_DIR OUT.csv
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

* cps1.rds is expected as cps1.dta: Stata reads no .rds.
program define load_group
    args data_dir group
    if "`group'" == "CPS-1" use "`data_dir'/cps1.dta", clear
    if "`group'" == "PSID-1" import delimited "`data_dir'/psid1.csv", clear
    if "`group'" == "PSID-3" import delimited "`data_dir'/psid3.csv", clear
end

* Treated men of an experimental file, with all men of a comparison group.
program define load_pair
    args data_dir experiment group
    if "`group'" == "NSW" {
        use "`data_dir'/`experiment'", clear
        exit
    }
    tempfile treated
    use "`data_dir'/`experiment'", clear
    keep if trt == 1
    save "`treated'"
    load_group "`data_dir'" "`group'"
    append using "`treated'"
end

foreach panel in A B C {
    local experiment = cond("`panel'" == "A", "nsw_lalonde.dta", "nsw_re74.dta")
    local earlier = cond("`panel'" == "C", "re74", "")
    foreach group in NSW PSID-1 PSID-3 CPS-1 {
        load_pair "`data_dir'" "`experiment'" "`group'"
        local covariates age c.age#c.age educ nodeg black hisp `earlier'
        regress re78 trt
        post_term `cells' table_2 "`panel': `group'" trt "(1)" "(1)"
        regress re78 trt `covariates'
        post_term `cells' table_2 "`panel': `group'" trt "(2)" "(2)"
        regress re78 trt re75
        post_term `cells' table_2 "`panel': `group'" trt "(3)" "(3)"
        regress re78 trt re75 `covariates'
        post_term `cells' table_2 "`panel': `group'" trt "(4)" "(4)"
        regress re78 trt re75 marr `covariates'
        post_term `cells' table_2 "`panel': `group'" trt "(5)" "(5)"
    }
}

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
