* Section 5.1: standard errors of the hurdle model, three kinds.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do section_5_1_standard_errors.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

* InstInnovation.parquet is expected as InstInnovation.dta: Stata reads no .parquet.
use "`data_dir'/InstInnovation.dta", clear
generate log_capital_labour = log(capital / employment)
generate log_sales = log(sales)
generate byte any_cites = cites > 0
encode company, generate(company_number)
tnbreg cites institutions log_capital_labour log_sales if cites > 0, ll(0)
foreach pair in "(Intercept) _cons" "institutions institutions" "log(capital/employment) log_capital_labour" "log(sales) log_sales" {
    local row : word 1 of `pair'
    local term : word 2 of `pair'
    post `cells' ("section_5_1_standard_errors") ("count_`row'") ("standard") ("standard_error") (_se[cites:`term'])
}
logit any_cites institutions log_capital_labour log_sales
foreach pair in "(Intercept) _cons" "institutions institutions" "log(capital/employment) log_capital_labour" "log(sales) log_sales" {
    local row : word 1 of `pair'
    local term : word 2 of `pair'
    post `cells' ("section_5_1_standard_errors") ("zero_`row'") ("standard") ("standard_error") (_se[any_cites:`term'])
}

* The likelihood separates. suest joins the parts, so that clusters span both.
tnbreg cites institutions log_capital_labour log_sales if cites > 0, ll(0)
estimates store count_part
logit any_cites institutions log_capital_labour log_sales
estimates store zero_part
suest count_part zero_part
* Stata scales the robust covariance by N / (N - 1); the published one is not scaled.
local unscaled = sqrt((e(N) - 1) / e(N))
foreach pair in "(Intercept) _cons" "institutions institutions" "log(capital/employment) log_capital_labour" "log(sales) log_sales" {
    local row : word 1 of `pair'
    local term : word 2 of `pair'
    post `cells' ("section_5_1_standard_errors") ("count_`row'") ("basic") ("standard_error") (`unscaled' * _se[count_part_cites:`term'])
}
foreach pair in "(Intercept) _cons" "institutions institutions" "log(capital/employment) log_capital_labour" "log(sales) log_sales" {
    local row : word 1 of `pair'
    local term : word 2 of `pair'
    post `cells' ("section_5_1_standard_errors") ("zero_`row'") ("basic") ("standard_error") (`unscaled' * _se[zero_part_any_cites:`term'])
}

* The likelihood separates. suest joins the parts, so that clusters span both.
tnbreg cites institutions log_capital_labour log_sales if cites > 0, ll(0)
estimates store count_part
logit any_cites institutions log_capital_labour log_sales
estimates store zero_part
suest count_part zero_part, vce(cluster company_number)
foreach pair in "(Intercept) _cons" "institutions institutions" "log(capital/employment) log_capital_labour" "log(sales) log_sales" {
    local row : word 1 of `pair'
    local term : word 2 of `pair'
    post `cells' ("section_5_1_standard_errors") ("count_`row'") ("CL-1") ("standard_error") (1 * _se[count_part_cites:`term'])
}
foreach pair in "(Intercept) _cons" "institutions institutions" "log(capital/employment) log_capital_labour" "log(sales) log_sales" {
    local row : word 1 of `pair'
    local term : word 2 of `pair'
    post `cells' ("section_5_1_standard_errors") ("zero_`row'") ("CL-1") ("standard_error") (1 * _se[zero_part_any_cites:`term'])
}

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
