# Table 1: sample means of characteristics and their standard errors.
# Usage: Rscript table_1.R DATA_DIR OUT.csv
library(haven)

arguments <- commandArgs(trailingOnly = TRUE)
data_file <- function(name) file.path(arguments[1], name)
lalonde <- as.data.frame(read_dta(data_file("nsw_lalonde.dta")))
re74 <- as.data.frame(read_dta(data_file("nsw_re74.dta")))

samples <- list(
  "NSW/Lalonde: Treated" = subset(lalonde, trt == 1),
  "NSW/Lalonde: Control" = subset(lalonde, trt == 0),
  "RE74 subset: Treated" = subset(re74, trt == 1),
  "RE74 subset: Control" = subset(re74, trt == 0),
  "PSID-1" = read.csv(data_file("psid1.csv")),
  "PSID-3" = read.csv(data_file("psid3.csv")),
  "CPS-1" = readRDS(data_file("cps1.rds"))
)
characteristics <- c("Age" = "age", "Education" = "educ", "Black" = "black", "Hispanic" = "hisp",
                     "No degree" = "nodeg", "Married" = "marr", "RE74 (U.S. $)" = "re74",
                     "RE75 (U.S. $)" = "re75")

row_cells <- function(label) {
  people <- samples[[label]]
  shown <- characteristics
  # Earnings of the earlier year are unknown for part of the sample of the earlier study.
  if (startsWith(label, "NSW/Lalonde")) shown <- shown[shown != "re74"]
  values <- people[, shown]
  cells <- rbind(
    data.frame(column = "No. of observations", metric = "n_obs", value = nrow(people)),
    data.frame(column = names(shown), metric = "mean", value = unname(colMeans(values)))
  )
  if (!label %in% c("PSID-1", "PSID-3", "CPS-1")) {
    cells <- rbind(cells, data.frame(
      column = names(shown), metric = "standard_error",
      value = unname(sapply(values, sd) / sqrt(nrow(people)))
    ))
  }
  cbind(table = "table_1", row = label, cells)
}

cells <- do.call(rbind, lapply(names(samples), row_cells))
write.csv(cells, arguments[2], row.names = FALSE)
