# Table 2: earnings comparisons and regression-adjusted training effects, three panels.
# Usage: Rscript table_2.R DATA_DIR OUT.csv
library(haven)

arguments <- commandArgs(trailingOnly = TRUE)
data_file <- function(name) file.path(arguments[1], name)
experiment <- list(
  lalonde = as.data.frame(read_dta(data_file("nsw_lalonde.dta"))),
  re74 = as.data.frame(read_dta(data_file("nsw_re74.dta")))
)
comparison <- list(
  "PSID-1" = read.csv(data_file("psid1.csv")),
  "PSID-3" = read.csv(data_file("psid3.csv")),
  "CPS-1" = readRDS(data_file("cps1.rds"))
)

stacked <- function(sample, group) {
  people <- experiment[[sample]]
  if (group == "NSW") return(people)
  rbind(subset(people, trt == 1), comparison[[group]][, names(people)])
}

adjusted <- "age + I(age^2) + educ + nodeg + black + hisp"
panel_cells <- function(panel, sample, earlier) {
  covariates <- if (earlier) paste(adjusted, "+ re74") else adjusted
  formulas <- c(
    "(1)" = "re78 ~ trt",
    "(2)" = paste("re78 ~ trt +", covariates),
    "(3)" = "re78 ~ trt + re75",
    "(4)" = paste("re78 ~ trt + re75 +", covariates),
    "(5)" = paste("re78 ~ trt + re75 + marr +", covariates)
  )
  cells <- list()
  for (group in c("NSW", names(comparison))) {
    people <- stacked(sample, group)
    for (column in names(formulas)) {
      effect <- summary(lm(as.formula(formulas[[column]]), data = people))$coefficients["trt", 1:2]
      cells[[length(cells) + 1]] <- data.frame(
        table = "table_2", row = paste0(panel, ": ", group), column = column,
        metric = c("coefficient", "standard_error"), value = unname(effect)
      )
    }
  }
  do.call(rbind, cells)
}

cells <- rbind(
  panel_cells("A", "lalonde", FALSE),
  panel_cells("B", "re74", FALSE),
  panel_cells("C", "re74", TRUE)
)
write.csv(cells, arguments[2], row.names = FALSE)
