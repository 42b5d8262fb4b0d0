* Investment equation for three firms: random effects, variance components of Wallace and Hussain.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do grunfeld_random.do DATA_DIR OUT.csv
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

import delimited "`data_dir'/Grunfeld.csv", clear
keep if inlist(firm, "General Electric", "General Motors", "IBM")
encode firm, generate(firm_number)
xtset firm_number year
* Components from the residuals of pooled least squares; xtreg has no such option, so by hand.
regress invest value capital
predict residual, residuals
by firm_number: egen firm_mean = mean(residual)
by firm_number: generate periods = _N
quietly summarize periods
local periods = r(max)
generate within_square = (residual - firm_mean)^2
generate between_square = firm_mean^2
quietly summarize within_square
local idiosyncratic = r(sum) / (r(N) - r(N) / `periods')
quietly summarize between_square
local between = `periods' * r(mean)
local theta = 1 - sqrt(`idiosyncratic' / `between')
foreach name in invest value capital {
    by firm_number: egen mean_`name' = mean(`name')
    generate star_`name' = `name' - `theta' * mean_`name'
}
generate star_constant = 1 - `theta'
regress star_invest star_constant star_value star_capital, noconstant
post_term `cells' grunfeld_random "(Intercept)" star_constant "Estimate" "Std. Error"
post_term `cells' grunfeld_random "value" star_value "Estimate" "Std. Error"
post_term `cells' grunfeld_random "capital" star_capital "Estimate" "Std. Error"
post `cells' ("grunfeld_random") ("theta") ("Estimate") ("other_statistic") (`theta')

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
