# Table 1: call-back rates by the sound of the name, ratios, differences, tests of proportions.
# Usage: Rscript table_1.R DATA_DIR OUT.csv
library(haven)

arguments <- commandArgs(trailingOnly = TRUE)
resumes <- as.data.frame(read_sav(file.path(arguments[1], "resumes.sav")))

samples <- with(resumes, list(
  "All sent resumes" = rep(TRUE, nrow(resumes)),
  "Chicago" = city == "c",
  "Boston" = city == "b",
  "Females" = sex == "f",
  "Females in administrative jobs" = sex == "f" & kind == "a",
  "Females in sales jobs" = sex == "f" & kind == "s",
  "Males" = sex == "m"
))

row_cells <- function(label) {
  chosen <- resumes[samples[[label]], ]
  white <- chosen$call[chosen$race == "w"]
  black <- chosen$call[chosen$race == "b"]
  test <- prop.test(c(sum(white), sum(black)), c(length(white), length(black)), correct = FALSE)
  data.frame(
    table = "table_1",
    row = label,
    column = c("White names", "African-American names", "White names",
               "African-American names", "Ratio", "Percent difference", "Percent difference"),
    metric = c("share", "share", "n_obs", "n_obs", "other_statistic", "coefficient", "p_value"),
    value = c(100 * mean(white), 100 * mean(black), length(white), length(black),
              mean(white) / mean(black), 100 * (mean(white) - mean(black)), test$p.value)
  )
}

cells <- do.call(rbind, lapply(names(samples), row_cells))
write.csv(cells, arguments[2], row.names = FALSE)
