# Investment equation for three firms: random effects, variance components of Wallace and Hussain.
# Usage: Rscript grunfeld_random.R DATA_DIR OUT.csv
library(plm)

arguments <- commandArgs(trailingOnly = TRUE)
firms <- read.csv(file.path(arguments[1], "Grunfeld.csv"))
firms <- subset(firms, firm %in% c("General Electric", "General Motors", "IBM"))
firms <- pdata.frame(firms, index = c("firm", "year"))
fit <- plm(invest ~ value + capital, data = firms, model = "random", random.method = "walhus")
table <- summary(fit)$coefficients

estimate_cells <- function(rows, estimates, errors) {
  rbind(
    data.frame(row = rows, column = "Estimate", metric = "coefficient", value = unname(estimates)),
    data.frame(row = rows, column = "Std. Error", metric = "standard_error", value = unname(errors))
  )
}

cells <- rbind(
  estimate_cells(rownames(table), table[, 1], table[, 2]),
  data.frame(row = "theta", column = "Estimate", metric = "other_statistic", value = unname(ercomp(fit)$theta))
)
cells$table <- "grunfeld_random"
write.csv(cells[, c("table", "row", "column", "metric", "value")], arguments[2], row.names = FALSE)
