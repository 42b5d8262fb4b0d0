# Probit model for labour force participation of women in Switzerland.
# Usage: Rscript swiss_labor_probit.R DATA_DIR OUT.csv
library(haven)

arguments <- commandArgs(trailingOnly = TRUE)
women <- as.data.frame(read_dta(file.path(arguments[1], "SwissLabor.dta")))
women$participation <- factor(women$participation, levels = c("no", "yes"))
women$foreign <- factor(women$foreign, levels = c("no", "yes"))
women <- women[, c("participation", "income", "age", "education", "youngkids", "oldkids", "foreign")]
probit <- glm(participation ~ . + I(age^2), data = women, family = binomial(link = "probit"))
table <- summary(probit)$coefficients

estimate_cells <- function(rows, estimates, errors) {
  rbind(
    data.frame(row = rows, column = "Estimate", metric = "coefficient", value = unname(estimates)),
    data.frame(row = rows, column = "Std. Error", metric = "standard_error", value = unname(errors))
  )
}

cells <- rbind(
  estimate_cells(rownames(table), table[, 1], table[, 2]),
  data.frame(row = "AIC", column = "Estimate", metric = "aic", value = AIC(probit))
)
cells$table <- "swiss_labor_probit"
write.csv(cells[, c("table", "row", "column", "metric", "value")], arguments[2], row.names = FALSE)
