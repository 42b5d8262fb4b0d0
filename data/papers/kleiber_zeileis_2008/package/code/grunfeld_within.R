# Investment equation for three firms: within estimator.
# Usage: Rscript grunfeld_within.R DATA_DIR OUT.csv
library(plm)

arguments <- commandArgs(trailingOnly = TRUE)
firms <- read.csv(file.path(arguments[1], "Grunfeld.csv"))
firms <- subset(firms, firm %in% c("General Electric", "General Motors", "IBM"))
firms <- pdata.frame(firms, index = c("firm", "year"))
fit <- plm(invest ~ value + capital, data = firms, model = "within")
table <- summary(fit)$coefficients

estimate_cells <- function(rows, estimates, errors) {
  rbind(
    data.frame(row = rows, column = "Estimate", metric = "coefficient", value = unname(estimates)),
    data.frame(row = rows, column = "Std. Error", metric = "standard_error", value = unname(errors))
  )
}

cells <- estimate_cells(rownames(table), table[, 1], table[, 2])
cells$table <- "grunfeld_within"
write.csv(cells[, c("table", "row", "column", "metric", "value")], arguments[2], row.names = FALSE)
