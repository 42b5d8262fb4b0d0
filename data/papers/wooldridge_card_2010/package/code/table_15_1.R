# Table 15.1: the return to education, by least squares and with college proximity as instrument.
# Usage: Rscript table_15_1.R DATA_DIR OUT.csv
suppressPackageStartupMessages(library(AER))

arguments <- commandArgs(trailingOnly = TRUE)
men <- read.csv(file.path(arguments[1], "card.csv"))

shown <- c("educ", "exper", "expersq", "black", "smsa", "south")
# The first region of residence in youth is the one left out.
controls <- c("smsa66", paste0("reg66", 2:9))
regressors <- c(shown, controls)
instruments <- c("nearc4", setdiff(regressors, "educ"))

fits <- list(
  "OLS" = lm(reformulate(regressors, response = "lwage"), data = men),
  "IV" = ivreg(reformulate(regressors, response = "lwage"), reformulate(instruments), data = men)
)

one_cell <- function(row, column, metric, value) {
  data.frame(table = "table_15_1", row = row, column = column, metric = metric,
             value = unname(value))
}

column_cells <- function(column) {
  fit <- fits[[column]]
  around_mean <- men$lwage - mean(men$lwage)
  rbind(
    one_cell(shown, column, "coefficient", coef(fit)[shown]),
    one_cell(shown, column, "standard_error", sqrt(diag(vcov(fit)))[shown]),
    one_cell("Observations", column, "n_obs", nobs(fit)),
    # Residuals of the equation itself, not of the second stage.
    one_cell("R-squared", column, "r_squared", 1 - sum(residuals(fit)^2) / sum(around_mean^2))
  )
}

write.csv(do.call(rbind, lapply(names(fits), column_cells)), arguments[2], row.names = FALSE)
