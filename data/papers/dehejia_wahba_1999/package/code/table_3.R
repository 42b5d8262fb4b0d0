# Table 3, first two columns: difference in means, and least squares with covariates.
# Usage: Rscript table_3.R DATA_DIR OUT.csv
library(haven)

arguments <- commandArgs(trailingOnly = TRUE)
data_file <- function(name) file.path(arguments[1], name)
experiment <- as.data.frame(read_dta(data_file("nsw_re74.dta")))
comparison <- list(
  "PSID-1" = read.csv(data_file("psid1.csv")),
  "PSID-3" = read.csv(data_file("psid3.csv")),
  "CPS-1" = readRDS(data_file("cps1.rds"))
)
formulas <- list(
  "(1)" = re78 ~ trt,
  "(2)" = re78 ~ trt + age + I(age^2) + educ + nodeg + black + hisp + re74 + re75
)

group_cells <- function(group) {
  people <- experiment
  if (group != "NSW") {
    people <- rbind(subset(experiment, trt == 1), comparison[[group]][, names(experiment)])
  }
  do.call(rbind, lapply(names(formulas), function(column) {
    effect <- summary(lm(formulas[[column]], data = people))$coefficients["trt", 1:2]
    data.frame(table = "table_3", row = group, column = column,
               metric = c("coefficient", "standard_error"), value = unname(effect))
  }))
}

cells <- do.call(rbind, lapply(c("NSW", names(comparison)), group_cells))
write.csv(cells, arguments[2], row.names = FALSE)
