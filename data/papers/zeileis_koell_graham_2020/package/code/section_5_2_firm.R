# Section 5.2: least squares on the simulated panel, standard errors clustered by firm.
# Usage: Rscript section_5_2_firm.R DATA_DIR OUT.csv
library(sandwich)

arguments <- commandArgs(trailingOnly = TRUE)
panel <- read.csv(file.path(arguments[1], "PetersenCL.csv"))
fit <- lm(y ~ x, data = panel)
errors <- sqrt(diag(vcovCL(fit, cluster = ~ firm)))

cells <- data.frame(table = "section_5_2_firm", row = names(errors), column = "sandwich",
                    metric = "standard_error", value = unname(errors))
write.csv(cells, arguments[2], row.names = FALSE)
