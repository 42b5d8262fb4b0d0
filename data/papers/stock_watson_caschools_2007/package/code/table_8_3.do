* Table 8.3: test scores and the student-teacher ratio.
* Reconstructed from the published specification; not executed by this project.
use caschool.dta, clear
generate score = (read + math) / 2
generate str = students / teachers
generate str_squared = str^2
generate str_cubed = str^3
generate hiel = english >= 10
generate hiel_str = hiel * str
generate hiel_str_squared = hiel * str_squared
generate hiel_str_cubed = hiel * str_cubed
generate log_income = ln(income)

regress score str english lunch, vce(robust)
regress score str english lunch log_income, vce(robust)
regress score str hiel hiel_str, vce(robust)
test str hiel_str
regress score str hiel hiel_str lunch log_income, vce(robust)
test str hiel_str
regress score str str_squared str_cubed hiel lunch log_income, vce(robust)
test str str_squared str_cubed
test str_squared str_cubed
regress score str str_squared str_cubed hiel hiel_str hiel_str_squared hiel_str_cubed lunch log_income, vce(robust)
test str str_squared str_cubed hiel_str hiel_str_squared hiel_str_cubed
test str_squared str_cubed
test hiel_str hiel_str_squared hiel_str_cubed
regress score str str_squared str_cubed english lunch log_income, vce(robust)
test str str_squared str_cubed
test str_squared str_cubed
