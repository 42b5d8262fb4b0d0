# Wage equation for men in the United States: least squares.
# Usage: Rscript cps_wage_ols.R DATA_DIR OUT.csv
arguments <- commandArgs(trailingOnly = TRUE)
workers <- readRDS(file.path(arguments[1], "CPS1988.rds"))
workers$ethnicity <- factor(workers$ethnicity, levels = c("cauc", "afam"))
fit <- lm(log(wage) ~ experience + I(experience^2) + education + ethnicity, data = workers)
table <- summary(fit)$coefficients

estimate_cells <- function(rows, estimates, errors) {
  rbind(
    data.frame(row = rows, column = "Estimate", metric = "coefficient", value = unname(estimates)),
    data.frame(row = rows, column = "Std. Error", metric = "standard_error", value = unname(errors))
  )
}

cells <- rbind(
  estimate_cells(rownames(table), table[, 1], table[, 2]),
  data.frame(row = "Multiple R-squared", column = "Estimate", metric = "r_squared", value = summary(fit)$r.squared)
)
cells$table <- "cps_wage_ols"
write.csv(cells[, c("table", "row", "column", "metric", "value")], arguments[2], row.names = FALSE)
