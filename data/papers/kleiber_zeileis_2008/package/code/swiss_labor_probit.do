* Probit model for labour force participation of women in Switzerland.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do swiss_labor_probit.do DATA_DIR OUT.csv
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

use "`data_dir'/SwissLabor.dta", clear
generate byte participates = participation == "yes"
generate byte foreignyes = foreign == "yes"
glm participates income age education youngkids oldkids foreignyes c.age#c.age, family(binomial) link(probit) irls
post_term `cells' swiss_labor_probit "(Intercept)" _cons "Estimate" "Std. Error"
post_term `cells' swiss_labor_probit "income" income "Estimate" "Std. Error"
post_term `cells' swiss_labor_probit "age" age "Estimate" "Std. Error"
post_term `cells' swiss_labor_probit "education" education "Estimate" "Std. Error"
post_term `cells' swiss_labor_probit "youngkids" youngkids "Estimate" "Std. Error"
post_term `cells' swiss_labor_probit "oldkids" oldkids "Estimate" "Std. Error"
post_term `cells' swiss_labor_probit "foreignyes" foreignyes "Estimate" "Std. Error"
post_term `cells' swiss_labor_probit "I(age^2)" c.age#c.age "Estimate" "Std. Error"
post `cells' ("swiss_labor_probit") ("AIC") ("Estimate") ("aic") (-2 * e(ll) + 2 * e(rank))

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
