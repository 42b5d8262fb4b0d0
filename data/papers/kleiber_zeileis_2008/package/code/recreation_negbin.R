# Negative binomial model for recreational boating trips.
# Usage: Rscript recreation_negbin.R DATA_DIR OUT.csv
library(MASS)
library(readxl)

arguments <- commandArgs(trailingOnly = TRUE)
trips <- as.data.frame(read_excel(file.path(arguments[1], "RecreationDemand.xlsx")))
trips$ski <- factor(trips$ski, levels = c("no", "yes"))
trips$userfee <- factor(trips$userfee, levels = c("no", "yes"))
trips <- trips[, c("trips", "quality", "ski", "income", "userfee", "costC", "costS", "costH")]
fit <- glm.nb(trips ~ ., data = trips)

estimate_cells <- function(rows, estimates, errors) {
  rbind(
    data.frame(row = rows, column = "Estimate", metric = "coefficient", value = unname(estimates)),
    data.frame(row = rows, column = "Std. Error", metric = "standard_error", value = unname(errors))
  )
}

cells <- rbind(
  estimate_cells(names(coef(fit)), coef(fit), sqrt(diag(vcov(fit)))),
  data.frame(row = "logLik", column = "Estimate", metric = "log_likelihood", value = as.numeric(logLik(fit)))
)
cells$table <- "recreation_negbin"
write.csv(cells[, c("table", "row", "column", "metric", "value")], arguments[2], row.names = FALSE)
