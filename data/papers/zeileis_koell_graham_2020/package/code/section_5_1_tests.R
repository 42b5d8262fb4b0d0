# Section 5.1: hurdle model for citations, coefficients with standard errors clustered by company.
# Usage: Rscript section_5_1_tests.R DATA_DIR OUT.csv
library(pscl)
library(sandwich)
library(lmtest)

arguments <- commandArgs(trailingOnly = TRUE)
# InstInnovation.parquet, read from the copy as CSV that stands beside it.
companies <- read.csv(file.path(arguments[1], "InstInnovation.csv"))
fit <- hurdle(cites ~ institutions + log(capital / employment) + log(sales), data = companies,
              dist = "negbin")
tests <- coeftest(fit, vcov = vcovCL, cluster = ~ company)

shown <- c("Estimate" = "coefficient", "Std. Error" = "standard_error", "t value" = "t_statistic")
rows <- sub("log(capital / employment)", "log(capital/employment)", rownames(tests), fixed = TRUE)
cells <- do.call(rbind, lapply(seq_along(shown), function(position) {
  data.frame(table = "section_5_1_tests", row = rows, column = names(shown)[position],
             metric = shown[[position]], value = unname(tests[, position]))
}))
write.csv(cells, arguments[2], row.names = FALSE)
