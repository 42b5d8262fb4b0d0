# Table 17.2: annual hours of work, by least squares and by a tobit model censored at no hours.
# Usage: Rscript table_17_2.R DATA_DIR OUT.csv
library(survival)

arguments <- commandArgs(trailingOnly = TRUE)
women <- read.csv(file.path(arguments[1], "mroz.csv"))
terms <- c("nwifeinc", "educ", "exper", "expersq", "age", "kidslt6", "kidsge6")

linear <- lm(reformulate(terms, response = "hours"), data = women)
censored_hours <- with(women, Surv(hours, hours > 0, type = "left"))
# A tobit model is a normal regression with censoring.
tobit <- survreg(reformulate(terms, response = "censored_hours"), data = women, dist = "gaussian")

one_cell <- function(row, column, metric, value) {
  data.frame(table = "table_17_2", row = row, column = column, metric = metric,
             value = unname(value))
}

# The covariance of a tobit has one more row, for the log of sigma.
column_cells <- function(column, fit, sigma) {
  rows <- sub("(Intercept)", "constant", names(coef(fit)), fixed = TRUE)
  rbind(
    one_cell(rows, column, "coefficient", coef(fit)),
    one_cell(rows, column, "standard_error", sqrt(diag(vcov(fit)))[seq_along(rows)]),
    one_cell("sigma", column, "other_statistic", sigma)
  )
}

cells <- rbind(
  column_cells("Linear (OLS)", linear, summary(linear)$sigma),
  column_cells("Tobit (MLE)", tobit, tobit$scale),
  one_cell("R-squared", "Linear (OLS)", "r_squared", summary(linear)$r.squared),
  one_cell("Log-likelihood value", "Tobit (MLE)", "log_likelihood", as.numeric(logLik(tobit)))
)
write.csv(cells, arguments[2], row.names = FALSE)
