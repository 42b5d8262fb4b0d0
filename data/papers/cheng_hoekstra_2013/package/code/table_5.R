# Table 5, panels A and B: castle doctrine laws and homicide.
# Usage: Rscript table_5.R DATA_DIR OUT.csv [effective_dates.csv]
# With the dates on which the laws came into force, the law variable is the share of the year.
suppressPackageStartupMessages(library(sandwich))

arguments <- commandArgs(trailingOnly = TRUE)
panel <- read.csv(file.path(arguments[1], "castle.csv"))

# The data hold an indicator that is one from the first full year of a law, and indicators of the
# years before a law.
panel <- transform(panel, law = post, year_before = lead1)

# Share of a year's days on or after a date.
share_after <- function(year, date) {
  first <- as.Date(sprintf("%d-01-01", year))
  after <- as.Date(sprintf("%d-01-01", year + 1))
  pmin(1, pmax(0, as.numeric(after - date) / as.numeric(after - first)))
}

if (length(arguments) > 2) {
  laws <- read.csv(arguments[3])
  date <- as.Date(laws$effective[match(panel$sid, laws$sid)])
  has_law <- !is.na(date)
  panel$law <- ifelse(has_law, share_after(panel$year, date), 0)
  panel$year_before <- as.numeric(has_law & panel$year == as.numeric(format(date, "%Y")) - 1)
}

panel <- transform(panel, state = factor(sid), time = factor(year))
regions_by_year <- grep("^r20[0-9]{3}$", names(panel), value = TRUE)
trends <- grep("^trend_[0-9]+$", names(panel), value = TRUE)
controls <- c("l_police", "unemployrt", "poverty", "l_income", "l_prisoner", "l_lagprisoner",
              "blackm_15_24", "whitem_15_24", "blackm_25_44", "whitem_25_44", "l_exp_subsidy",
              "l_exp_pubwelfare")
columns <- list(
  "(1)" = character(),
  "(2)" = regions_by_year,
  "(3)" = c(regions_by_year, controls),
  "(4)" = c(regions_by_year, controls, "year_before"),
  "(5)" = c(regions_by_year, controls, "l_larceny", "l_motor"),
  "(6)" = c(regions_by_year, controls, trends)
)

# Clustered by state. Effects of states lie within clusters: they are not counted among the
# parameters, a common constant is. Indicators that others imply are not estimated, nor counted.
law_error <- function(fit) {
  n <- nobs(fit)
  counted <- fit$rank - nlevels(panel$state) + 1
  covariance <- vcovCL(fit, cluster = ~ state, type = "HC0", cadjust = TRUE)
  sqrt(covariance["law", "law"] * (n - 1) / (n - counted))
}

law_cells <- function(row, column, population) {
  equation <- reformulate(c("law", columns[[column]], "state", "time"), response = "l_homicide")
  fit <- lm(equation, data = transform(panel, population = population), weights = population)
  data.frame(table = "table_5", row = row, column = column,
             metric = c("coefficient", "standard_error"),
             value = c(coef(fit)[["law"]], law_error(fit)))
}

panel_cells <- function(row, population) {
  do.call(rbind, lapply(names(columns), function(column) law_cells(row, column, population)))
}

cells <- rbind(panel_cells("weighted", panel$popwt),
               panel_cells("unweighted", rep(1, nrow(panel))))
write.csv(cells, arguments[2], row.names = FALSE)
