# Section 5.1: standard errors of the hurdle model, three kinds.
# Usage: Rscript section_5_1_standard_errors.R DATA_DIR OUT.csv
library(pscl)
library(sandwich)

arguments <- commandArgs(trailingOnly = TRUE)
# InstInnovation.parquet, read from the copy as CSV that stands beside it.
companies <- read.csv(file.path(arguments[1], "InstInnovation.csv"))
fit <- hurdle(cites ~ institutions + log(capital / employment) + log(sales), data = companies,
              dist = "negbin")
covariances <- list(
  "standard" = vcov(fit),
  "basic" = sandwich(fit),
  "CL-1" = vcovCL(fit, cluster = ~ company)
)

rows <- sub("log(capital / employment)", "log(capital/employment)", names(coef(fit)), fixed = TRUE)
cells <- do.call(rbind, lapply(names(covariances), function(column) {
  data.frame(table = "section_5_1_standard_errors", row = rows, column = column,
             metric = "standard_error", value = unname(sqrt(diag(covariances[[column]]))))
}))
write.csv(cells, arguments[2], row.names = FALSE)
