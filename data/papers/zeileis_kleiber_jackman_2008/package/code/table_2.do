* Table 2: six fits for the number of physician visits.
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

* NMES1988.rds is expected as NMES1988.dta: Stata reads no .rds.
use "`data_dir'/NMES1988.dta", clear
generate byte health_poor = health == "poor"
generate byte health_excellent = health == "excellent"
generate byte gender_male = gender == "male"
generate byte insurance_yes = insurance == "yes"

poisson visits hospital health_poor health_excellent chronic gender_male school insurance_yes
post_term `cells' table_2 "count: (Intercept)" _cons "Poisson-ML" "Poisson-ML"
post_term `cells' table_2 "count: hosp" hospital "Poisson-ML" "Poisson-ML"
post_term `cells' table_2 "count: healthpoor" health_poor "Poisson-ML" "Poisson-ML"
post_term `cells' table_2 "count: healthexcellent" health_excellent "Poisson-ML" "Poisson-ML"
post_term `cells' table_2 "count: numchron" chronic "Poisson-ML" "Poisson-ML"
post_term `cells' table_2 "count: gendermale" gender_male "Poisson-ML" "Poisson-ML"
post_term `cells' table_2 "count: school" school "Poisson-ML" "Poisson-ML"
post_term `cells' table_2 "count: privinsyes" insurance_yes "Poisson-ML" "Poisson-ML"
predict zeros_poisson, pr(0)
local parameters = e(k)
local log_likelihood = e(ll)
quietly summarize zeros_poisson, meanonly
post `cells' ("table_2") ("expected number of zeros") ("Poisson-ML") ("other_statistic") (r(sum))
post `cells' ("table_2") ("no. parameters") ("Poisson-ML") ("count") (`parameters')
post `cells' ("table_2") ("log L") ("Poisson-ML") ("log_likelihood") (`log_likelihood')
post `cells' ("table_2") ("AIC") ("Poisson-ML") ("aic") (-2 * `log_likelihood' + 2 * `parameters')
post `cells' ("table_2") ("BIC") ("Poisson-ML") ("bic") (-2 * `log_likelihood' + log(_N) * `parameters')

poisson visits hospital health_poor health_excellent chronic gender_male school insurance_yes, vce(robust)
* Stata scales the robust covariance by N / (N - 1); the published one is not scaled.
local unscaled = sqrt((e(N) - 1) / e(N))
foreach pair in "(Intercept) _cons" "hosp hospital" "healthpoor health_poor" "healthexcellent health_excellent" "numchron chronic" "gendermale gender_male" "school school" "privinsyes insurance_yes" {
    local row : word 1 of `pair'
    local term : word 2 of `pair'
    post `cells' ("table_2") ("count: `row'") ("Poisson-adjusted") ("coefficient") (_b[`term'])
    post `cells' ("table_2") ("count: `row'") ("Poisson-adjusted") ("standard_error") (`unscaled' * _se[`term'])
}
post `cells' ("table_2") ("no. parameters") ("Poisson-adjusted") ("count") (e(k))

glm visits hospital health_poor health_excellent chronic gender_male school insurance_yes, family(poisson) scale(x2)
post_term `cells' table_2 "count: (Intercept)" _cons "Poisson-quasi" "Poisson-quasi"
post_term `cells' table_2 "count: hosp" hospital "Poisson-quasi" "Poisson-quasi"
post_term `cells' table_2 "count: healthpoor" health_poor "Poisson-quasi" "Poisson-quasi"
post_term `cells' table_2 "count: healthexcellent" health_excellent "Poisson-quasi" "Poisson-quasi"
post_term `cells' table_2 "count: numchron" chronic "Poisson-quasi" "Poisson-quasi"
post_term `cells' table_2 "count: gendermale" gender_male "Poisson-quasi" "Poisson-quasi"
post_term `cells' table_2 "count: school" school "Poisson-quasi" "Poisson-quasi"
post_term `cells' table_2 "count: privinsyes" insurance_yes "Poisson-quasi" "Poisson-quasi"
post `cells' ("table_2") ("no. parameters") ("Poisson-quasi") ("count") (e(k))

nbreg visits hospital health_poor health_excellent chronic gender_male school insurance_yes
post_term `cells' table_2 "count: (Intercept)" visits:_cons "NB-ML" "NB-ML"
post_term `cells' table_2 "count: hosp" visits:hospital "NB-ML" "NB-ML"
post_term `cells' table_2 "count: healthpoor" visits:health_poor "NB-ML" "NB-ML"
post_term `cells' table_2 "count: healthexcellent" visits:health_excellent "NB-ML" "NB-ML"
post_term `cells' table_2 "count: numchron" visits:chronic "NB-ML" "NB-ML"
post_term `cells' table_2 "count: gendermale" visits:gender_male "NB-ML" "NB-ML"
post_term `cells' table_2 "count: school" visits:school "NB-ML" "NB-ML"
post_term `cells' table_2 "count: privinsyes" visits:insurance_yes "NB-ML" "NB-ML"
predict zeros_negbin, pr(0)
local parameters = e(k)
local log_likelihood = e(ll)
quietly summarize zeros_negbin, meanonly
post `cells' ("table_2") ("expected number of zeros") ("NB-ML") ("other_statistic") (r(sum))
post `cells' ("table_2") ("no. parameters") ("NB-ML") ("count") (`parameters')
post `cells' ("table_2") ("log L") ("NB-ML") ("log_likelihood") (`log_likelihood')
post `cells' ("table_2") ("AIC") ("NB-ML") ("aic") (-2 * `log_likelihood' + 2 * `parameters')
post `cells' ("table_2") ("BIC") ("NB-ML") ("bic") (-2 * `log_likelihood' + log(_N) * `parameters')

* Hurdle: the likelihood separates.
tnbreg visits hospital health_poor health_excellent chronic gender_male school insurance_yes if visits > 0, ll(0)
post_term `cells' table_2 "count: (Intercept)" visits:_cons "Hurdle-NB" "Hurdle-NB"
post_term `cells' table_2 "count: hosp" visits:hospital "Hurdle-NB" "Hurdle-NB"
post_term `cells' table_2 "count: healthpoor" visits:health_poor "Hurdle-NB" "Hurdle-NB"
post_term `cells' table_2 "count: healthexcellent" visits:health_excellent "Hurdle-NB" "Hurdle-NB"
post_term `cells' table_2 "count: numchron" visits:chronic "Hurdle-NB" "Hurdle-NB"
post_term `cells' table_2 "count: gendermale" visits:gender_male "Hurdle-NB" "Hurdle-NB"
post_term `cells' table_2 "count: school" visits:school "Hurdle-NB" "Hurdle-NB"
post_term `cells' table_2 "count: privinsyes" visits:insurance_yes "Hurdle-NB" "Hurdle-NB"
local count_likelihood = e(ll)
local count_parameters = e(k)
generate byte any_visit = visits > 0
logit any_visit hospital chronic insurance_yes school gender_male
post_term `cells' table_2 "zero: (Intercept)" _cons "Hurdle-NB" "Hurdle-NB"
post_term `cells' table_2 "zero: hosp" hospital "Hurdle-NB" "Hurdle-NB"
post_term `cells' table_2 "zero: numchron" chronic "Hurdle-NB" "Hurdle-NB"
post_term `cells' table_2 "zero: privinsyes" insurance_yes "Hurdle-NB" "Hurdle-NB"
post_term `cells' table_2 "zero: school" school "Hurdle-NB" "Hurdle-NB"
post_term `cells' table_2 "zero: gendermale" gender_male "Hurdle-NB" "Hurdle-NB"
predict any_probability, pr
generate zeros_hurdle = 1 - any_probability
local parameters = `count_parameters' + e(k)
local log_likelihood = `count_likelihood' + e(ll)
quietly summarize zeros_hurdle, meanonly
post `cells' ("table_2") ("expected number of zeros") ("Hurdle-NB") ("other_statistic") (r(sum))
post `cells' ("table_2") ("no. parameters") ("Hurdle-NB") ("count") (`parameters')
post `cells' ("table_2") ("log L") ("Hurdle-NB") ("log_likelihood") (`log_likelihood')
post `cells' ("table_2") ("AIC") ("Hurdle-NB") ("aic") (-2 * `log_likelihood' + 2 * `parameters')
post `cells' ("table_2") ("BIC") ("Hurdle-NB") ("bic") (-2 * `log_likelihood' + log(_N) * `parameters')

zinb visits hospital health_poor health_excellent chronic gender_male school insurance_yes, inflate(hospital chronic insurance_yes school gender_male)
post_term `cells' table_2 "count: (Intercept)" visits:_cons "ZINB" "ZINB"
post_term `cells' table_2 "count: hosp" visits:hospital "ZINB" "ZINB"
post_term `cells' table_2 "count: healthpoor" visits:health_poor "ZINB" "ZINB"
post_term `cells' table_2 "count: healthexcellent" visits:health_excellent "ZINB" "ZINB"
post_term `cells' table_2 "count: numchron" visits:chronic "ZINB" "ZINB"
post_term `cells' table_2 "count: gendermale" visits:gender_male "ZINB" "ZINB"
post_term `cells' table_2 "count: school" visits:school "ZINB" "ZINB"
post_term `cells' table_2 "count: privinsyes" visits:insurance_yes "ZINB" "ZINB"
post_term `cells' table_2 "zero: (Intercept)" inflate:_cons "ZINB" "ZINB"
post_term `cells' table_2 "zero: hosp" inflate:hospital "ZINB" "ZINB"
post_term `cells' table_2 "zero: numchron" inflate:chronic "ZINB" "ZINB"
post_term `cells' table_2 "zero: privinsyes" inflate:insurance_yes "ZINB" "ZINB"
post_term `cells' table_2 "zero: school" inflate:school "ZINB" "ZINB"
post_term `cells' table_2 "zero: gendermale" inflate:gender_male "ZINB" "ZINB"
predict zeros_zinb, pr(0)
local parameters = e(k)
local log_likelihood = e(ll)
quietly summarize zeros_zinb, meanonly
post `cells' ("table_2") ("expected number of zeros") ("ZINB") ("other_statistic") (r(sum))
post `cells' ("table_2") ("no. parameters") ("ZINB") ("count") (`parameters')
post `cells' ("table_2") ("log L") ("ZINB") ("log_likelihood") (`log_likelihood')
post `cells' ("table_2") ("AIC") ("ZINB") ("aic") (-2 * `log_likelihood' + 2 * `parameters')
post `cells' ("table_2") ("BIC") ("ZINB") ("bic") (-2 * `log_likelihood' + log(_N) * `parameters')

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
