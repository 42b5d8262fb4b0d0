# Table 3, all courses: course evaluations and the looks of instructors.
# Usage: Rscript table_3.R DATA_DIR OUT.csv
suppressPackageStartupMessages(library(sandwich))

arguments <- commandArgs(trailingOnly = TRUE)
courses <- read.csv(file.path(arguments[1], "TeachingRatings.csv"))
courses <- transform(courses,
  female = as.numeric(gender == "female"),
  minority_teacher = as.numeric(minority == "yes"),
  non_native = as.numeric(native == "no"),
  tenure_track = as.numeric(tenure == "yes"),
  lower_division = as.numeric(division == "lower"),
  one_credit = as.numeric(credits == "single")
)
labels <- c(
  "beauty" = "Composite standardized beauty", "female" = "Female",
  "minority_teacher" = "Minority", "non_native" = "Non-native English",
  "tenure_track" = "Tenure track", "lower_division" = "Lower division",
  "one_credit" = "One-credit course"
)

# A course weighs as much as the students who filled in its evaluation.
fit <- lm(reformulate(names(labels), response = "eval"), data = courses, weights = students)
errors <- sqrt(diag(vcovCL(fit, cluster = ~ prof, type = "HC1")))[names(labels)]
# The printed standard error of lower division is not known with certainty: there is no such cell.
known <- names(labels) != "lower_division"

cells <- rbind(
  data.frame(row = labels, metric = "coefficient", value = coef(fit)[names(labels)]),
  data.frame(row = labels[known], metric = "standard_error", value = errors[known]),
  data.frame(row = "R2", metric = "r_squared", value = summary(fit)$r.squared),
  data.frame(row = "N", metric = "n_obs", value = nobs(fit))
)
cells <- cbind(table = "table_3", column = "(1)", cells)
write.csv(cells[, c("table", "row", "column", "metric", "value")], arguments[2], row.names = FALSE)
