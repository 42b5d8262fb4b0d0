# Table 10.1: traffic deaths, the beer tax and laws against drunk driving.
# Usage: Rscript table_10_1.R DATA_DIR OUT.csv
suppressPackageStartupMessages(library(sandwich))

arguments <- commandArgs(trailingOnly = TRUE)
# fatality.rds, read from the copy as CSV that stands beside it.
panel <- read.csv(file.path(arguments[1], "fatality.csv"), na.strings = "")
panel <- transform(panel,
  rate = 10000 * fatal / pop,
  age_18 = as.numeric(drinkage >= 18 & drinkage < 19),
  age_19 = as.numeric(drinkage >= 19 & drinkage < 20),
  age_20 = as.numeric(drinkage >= 20 & drinkage < 21),
  punished = as.numeric(jail == "yes" | service == "yes"),
  miles_thousand = miles / 1000,
  log_income = log(income),
  time = factor(year)
)
# Both laws must be known, even where one of them alone would settle the indicator.
known_laws <- subset(panel, !is.na(jail) & !is.na(service))
first_and_last <- subset(known_laws, year %in% c(1982, 1988))

ages <- c("age_18", "age_19", "age_20")
economy <- c("unemp", "log_income")
laws_and_use <- c("punished", "miles_thousand")
column <- function(terms, data, effects = c("time", "state")) {
  list(terms = terms, data = data, effects = effects)
}
columns <- list(
  "(1)" = column("beertax", panel, effects = character()),
  "(2)" = column("beertax", panel, effects = "state"),
  "(3)" = column("beertax", panel),
  "(4)" = column(c("beertax", ages, laws_and_use, economy), known_laws),
  "(5)" = column(c("beertax", ages, laws_and_use), known_laws),
  "(6)" = column(c("beertax", "drinkage", laws_and_use, economy), known_laws),
  "(7)" = column(c("beertax", ages, laws_and_use, economy), first_and_last)
)
labels <- c(
  "beertax" = "Beer tax", "age_18" = "Drinking age 18", "age_19" = "Drinking age 19",
  "age_20" = "Drinking age 20", "drinkage" = "Drinking age",
  "punished" = "Mandatory jail or community service?",
  "miles_thousand" = "Average vehicle miles per driver", "unemp" = "Unemployment rate",
  "log_income" = "Real income per capita (logarithm)"
)

# Clustered by state. Effects of states lie within clusters: they are not counted among the
# parameters, a common constant is.
clustered_covariance <- function(fit, states) {
  n <- nobs(fit)
  counted <- length(coef(fit)) - states + 1
  vcovCL(fit, cluster = ~ state, type = "HC0", cadjust = TRUE) * (n - 1) / (n - counted)
}

one_cell <- function(row, column, metric, value) {
  data.frame(table = "table_10_1", row = row, column = column, metric = metric,
             value = unname(value))
}

exclusion_cells <- function(row, column, fit, terms, covariance, states) {
  if (!all(terms %in% names(coef(fit))) || length(terms) == 0) return(NULL)
  slope <- coef(fit)[terms]
  statistic <- drop(slope %*% solve(covariance[terms, terms, drop = FALSE], slope)) / length(terms)
  p <- pf(statistic, length(terms), states - 1, lower.tail = FALSE)
  cells <- one_cell(row, column, "f_statistic", statistic)
  # Of a p-value below a thousandth print gives no more than that.
  if (p < 0.001) cells else rbind(cells, one_cell(row, column, "p_value", p))
}

column_cells <- function(name) {
  specification <- columns[[name]]
  terms <- specification$terms
  data <- droplevels(specification$data)
  states <- length(unique(data$state))
  # Effects are indicators, so that the fit is that of the whole regression.
  fit <- lm(reformulate(c(terms, specification$effects), response = "rate"), data = data)
  covariance <- if (length(specification$effects) == 0) {
    vcovHC(fit, type = "HC1")
  } else {
    clustered_covariance(fit, states)
  }
  times <- grep("^time", names(coef(fit)), value = TRUE)
  rbind(
    one_cell(labels[terms], name, "coefficient", coef(fit)[terms]),
    one_cell(labels[terms], name, "standard_error", sqrt(diag(covariance))[terms]),
    exclusion_cells("F: time effects=0", name, fit, times, covariance, states),
    exclusion_cells("F: drinking age coefficients=0", name, fit, ages, covariance, states),
    exclusion_cells("F: unemployment, income=0", name, fit, economy, covariance, states),
    one_cell("R2 (adjusted)", name, "r_squared_adj", summary(fit)$adj.r.squared)
  )
}

write.csv(do.call(rbind, lapply(names(columns), column_cells)), arguments[2], row.names = FALSE)
