# Table 12.1: the demand for cigarettes over a decade, price instrumented by taxes.
# Usage: Rscript table_12_1.R DATA_DIR OUT.csv
suppressPackageStartupMessages(library(AER))

arguments <- commandArgs(trailingOnly = TRUE)
# cig_ch12.parquet, read from the copy as CSV that stands beside it.
panel <- read.csv(file.path(arguments[1], "cig_ch12.csv"))
panel <- transform(panel,
  log_packs = log(packs),
  log_price = log(price / cpi),
  log_income = log(income / population / cpi),
  sales_tax = (taxs - tax) / cpi,
  cigarette_tax = tax / cpi
)
panel <- panel[order(panel$state), ]
first <- subset(panel, year == 1985)
last <- subset(panel, year == 1995)
stopifnot(identical(first$state, last$state))
variables <- c("log_packs", "log_price", "log_income", "sales_tax", "cigarette_tax")
growth <- last[variables] - first[variables]

demand <- log_packs ~ log_price + log_income
instruments <- list("(1)" = "sales_tax", "(2)" = "cigarette_tax",
                    "(3)" = c("sales_tax", "cigarette_tax"))
labels <- c("log_price" = "ln(P1995)-ln(P1985)", "log_income" = "ln(Inc1995)-ln(Inc1985)",
            "(Intercept)" = "Intercept")

one_cell <- function(row, column, metric, value) {
  data.frame(table = "table_12_1", row = row, column = column, metric = metric,
             value = unname(value))
}

# F statistic that the terms have no effect, with the covariance given.
exclusion_f <- function(fit, terms, covariance) {
  slope <- coef(fit)[terms]
  drop(slope %*% solve(covariance[terms, terms, drop = FALSE], slope)) / length(terms)
}

# Number of instruments times the homoskedasticity-only F of the instruments for the residuals.
overidentification <- function(column, residual, excluded) {
  fit <- lm(reformulate(c(excluded, "log_income"), response = "residual"),
            data = cbind(growth, residual))
  statistic <- length(excluded) * exclusion_f(fit, excluded, vcov(fit))
  surplus <- length(excluded) - 1
  row <- "Overidentifying restrictions J-test"
  rbind(
    one_cell(row, column, "chi2_statistic", statistic),
    one_cell(row, column, "p_value", pchisq(statistic, surplus, lower.tail = FALSE))
  )
}

column_cells <- function(column) {
  excluded <- instruments[[column]]
  fit <- ivreg(demand, reformulate(c(excluded, "log_income")), data = growth)
  first_stage <- lm(reformulate(c(excluded, "log_income"), response = "log_price"), data = growth)
  robust_f <- exclusion_f(first_stage, excluded, vcovHC(first_stage, type = "HC1"))
  terms <- names(labels)
  cells <- rbind(
    one_cell(labels, column, "coefficient", coef(fit)[terms]),
    one_cell(labels, column, "standard_error", sqrt(diag(vcovHC(fit, type = "HC1")))[terms]),
    one_cell("First-stage F-statistic", column, "f_statistic", robust_f)
  )
  if (length(excluded) == 1) return(cells)
  rbind(cells, overidentification(column, residuals(fit), excluded))
}

write.csv(do.call(rbind, lapply(names(instruments), column_cells)), arguments[2],
          row.names = FALSE)
