# Tobit model for the number of extramarital affairs, censored from below and from above.
# Usage: Rscript affairs_tobit_right.R DATA_DIR OUT.csv
library(AER)
library(haven)

arguments <- commandArgs(trailingOnly = TRUE)
respondents <- as.data.frame(read_sav(file.path(arguments[1], "Affairs.sav")))
for (name in names(respondents)) respondents[[name]] <- zap_formats(zap_labels(respondents[[name]]))
tobit_fit <- tobit(affairs ~ age + yearsmarried + religiousness + occupation + rating,
                   left = 0, right = 4, data = respondents)
table <- summary(tobit_fit)$coefficients

estimate_cells <- function(rows, estimates, errors) {
  rbind(
    data.frame(row = rows, column = "Estimate", metric = "coefficient", value = unname(estimates)),
    data.frame(row = rows, column = "Std. Error", metric = "standard_error", value = unname(errors))
  )
}

cells <- rbind(
  estimate_cells(rownames(table), table[, 1], table[, 2]),
  data.frame(row = "Scale", column = "Estimate", metric = "other_statistic", value = tobit_fit$scale),
  data.frame(row = "Log-likelihood", column = "Estimate", metric = "log_likelihood", value = as.numeric(logLik(tobit_fit)))
)
cells$table <- "affairs_tobit_right"
write.csv(cells[, c("table", "row", "column", "metric", "value")], arguments[2], row.names = FALSE)
