# Zero-inflated negative binomial model for recreational boating trips.
# Usage: Rscript recreation_zinb.R DATA_DIR OUT.csv
library(pscl)
library(readxl)

arguments <- commandArgs(trailingOnly = TRUE)
trips <- as.data.frame(read_excel(file.path(arguments[1], "RecreationDemand.xlsx")))
trips$ski <- factor(trips$ski, levels = c("no", "yes"))
trips$userfee <- factor(trips$userfee, levels = c("no", "yes"))
trips <- trips[, c("trips", "quality", "ski", "income", "userfee", "costC", "costS", "costH")]
fit <- zeroinfl(trips ~ . | quality + income, data = trips, dist = "negbin")
parts <- summary(fit)$coefficients

estimate_cells <- function(rows, estimates, errors) {
  rbind(
    data.frame(row = rows, column = "Estimate", metric = "coefficient", value = unname(estimates)),
    data.frame(row = rows, column = "Std. Error", metric = "standard_error", value = unname(errors))
  )
}

cells <- rbind(
  estimate_cells(paste("count:", rownames(parts$count)), parts$count[, 1], parts$count[, 2]),
  estimate_cells(paste("zero:", rownames(parts$zero)), parts$zero[, 1], parts$zero[, 2])
)
cells$table <- "recreation_zinb"
write.csv(cells[, c("table", "row", "column", "metric", "value")], arguments[2], row.names = FALSE)
