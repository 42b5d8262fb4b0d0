# Table 4, columns (a1), (a2), (b): employment equations by GMM in first differences.
# Usage: Rscript table_4.R DATA_DIR OUT.csv
library(plm)
library(haven)

arguments <- commandArgs(trailingOnly = TRUE)
companies <- as.data.frame(read_dta(file.path(arguments[1], "EmplUK.dta")))
for (name in names(companies)) companies[[name]] <- as.numeric(companies[[name]])
companies <- pdata.frame(companies, index = c("firm", "year"))

# Levels of log employment, two years back and earlier, instrument the differenced equation.
full <- log(emp) ~ lag(log(emp), 1:2) + lag(log(wage), 0:1) + lag(log(capital), 0:2) +
  lag(log(output), 0:2) | lag(log(emp), 2:99)
short <- log(emp) ~ lag(log(emp), 1:2) + lag(log(wage), 0:1) + log(capital) +
  lag(log(output), 0:1) | lag(log(emp), 2:99)

labels_full <- c("n(t-1)", "n(t-2)", "w(t)", "w(t-1)", "k(t)", "k(t-1)", "k(t-2)",
                 "ys(t)", "ys(t-1)", "ys(t-2)")
labels_short <- c("n(t-1)", "n(t-2)", "w(t)", "w(t-1)", "k(t)", "ys(t)", "ys(t-1)")

column_cells <- function(column, formula, labels, steps, sargan_printed) {
  fit <- pgmm(formula, data = companies, effect = "twoways", model = steps)
  # First step: robust covariance. Second step: its usual asymptotic covariance.
  fitted_summary <- summary(fit, robust = steps == "onestep")
  table <- fitted_summary$coefficients[seq_along(labels), , drop = FALSE]
  cells <- rbind(
    data.frame(row = labels, metric = "coefficient", value = unname(table[, 1])),
    data.frame(row = labels, metric = "standard_error", value = unname(table[, 2])),
    data.frame(row = "No. of observations", metric = "n_obs",
               value = sum(unlist(fit$residuals) != 0)),
    data.frame(row = "No. of companies", metric = "n_groups", value = length(fit$residuals))
  )
  if (sargan_printed) {
    cells <- rbind(cells, data.frame(row = "Sargan test", metric = "chi2_statistic",
                                     value = unname(sargan(fit)$statistic)))
  }
  cbind(column = column, cells)
}

cells <- rbind(
  column_cells("(a1)", full, labels_full, "onestep", FALSE),
  column_cells("(a2)", full, labels_full, "twosteps", TRUE),
  column_cells("(b)", short, labels_short, "twosteps", TRUE)
)
cells$table <- "table_4"
write.csv(cells[, c("table", "row", "column", "metric", "value")], arguments[2], row.names = FALSE)
