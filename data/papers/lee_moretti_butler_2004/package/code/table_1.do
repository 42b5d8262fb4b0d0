* Table I: gaps between districts narrowly won by one party or the other, and their parts.
* Not executed: written from the specification beside the R script of the same name.
* Usage: do table_1.do DATA_DIR OUT.csv
version 17
args data_dir out
set more off

tempname cells
tempfile collected
postfile `cells' str40 table str60 row str40 column str20 metric double value using "`collected'"

program define post_gap
    args cells column estimate error
    post `cells' ("table_1") ("Estimated gap") ("`column'") ("coefficient") (`estimate')
    post `cells' ("table_1") ("Estimated gap") ("`column'") ("standard_error") (`error')
end

use "`data_dir'/close_elections.dta", clear
local cutoff = 0.5
local bandwidth = 0.02
keep if abs(lagdemvoteshare - `cutoff') < `bandwidth'

regress score lagdemocrat, vce(robust)
post_gap `cells' "(1)" _b[lagdemocrat] _se[lagdemocrat]
post `cells' ("table_1") ("Observations") ("(1)") ("n_obs") (e(N))

* The score after the close election itself is not in the data: the score of the later session is
* compared by the party that holds the seat then.
regress score democrat, vce(robust)
post_gap `cells' "(2)" _b[democrat] _se[democrat]

regress democrat lagdemocrat, vce(robust)
post_gap `cells' "(3)" _b[lagdemocrat] _se[lagdemocrat]

* Joint robust covariance of the three gaps; its small-sample factor differs a little from above.
quietly regress score lagdemocrat
estimates store total
quietly regress score democrat
estimates store office
quietly regress democrat lagdemocrat
estimates store winning
suest total office winning
nlcom (elect: [office_mean]democrat * [winning_mean]lagdemocrat) ///
      (affect: [total_mean]lagdemocrat - [office_mean]democrat * [winning_mean]lagdemocrat), post
post_gap `cells' "(4)" _b[elect] _se[elect]
post_gap `cells' "(5)" _b[affect] _se[affect]

postclose `cells'
use "`collected'", clear
export delimited using "`out'", replace
