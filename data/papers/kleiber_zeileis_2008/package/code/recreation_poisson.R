# Poisson model for recreational boating trips, with sandwich standard errors.
# Usage: Rscript recreation_poisson.R DATA_DIR OUT.csv
library(readxl)
library(sandwich)

arguments <- commandArgs(trailingOnly = TRUE)
trips <- as.data.frame(read_excel(file.path(arguments[1], "RecreationDemand.xlsx")))
trips$ski <- factor(trips$ski, levels = c("no", "yes"))
trips$userfee <- factor(trips$userfee, levels = c("no", "yes"))
trips <- trips[, c("trips", "quality", "ski", "income", "userfee", "costC", "costS", "costH")]
fit <- glm(trips ~ ., data = trips, family = poisson)

estimate_cells <- function(rows, estimates, errors) {
  rbind(
    data.frame(row = rows, column = "Estimate", metric = "coefficient", value = unname(estimates)),
    data.frame(row = rows, column = "Std. Error", metric = "standard_error", value = unname(errors))
  )
}

cells <- estimate_cells(names(coef(fit)), coef(fit), sqrt(diag(sandwich(fit))))
cells$table <- "recreation_poisson"
write.csv(cells[, c("table", "row", "column", "metric", "value")], arguments[2], row.names = FALSE)
