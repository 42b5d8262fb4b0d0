# Table 2: six fits for the number of physician visits.
# Usage: Rscript table_2.R DATA_DIR OUT.csv
library(MASS)
library(pscl)
library(sandwich)

arguments <- commandArgs(trailingOnly = TRUE)
persons <- readRDS(file.path(arguments[1], "NMES1988.rds"))
persons$health <- factor(persons$health, levels = c("average", "poor", "excellent"))
persons$gender <- factor(persons$gender, levels = c("female", "male"))
persons$insurance <- factor(persons$insurance, levels = c("no", "yes"))

count_part <- visits ~ hospital + health + chronic + gender + school + insurance
two_parts <- visits ~ hospital + health + chronic + gender + school + insurance |
  hospital + chronic + insurance + school + gender
poisson <- glm(count_part, data = persons, family = poisson)
quasi <- glm(count_part, data = persons, family = quasipoisson)
negbin <- glm.nb(count_part, data = persons)
hurdle_fit <- hurdle(two_parts, data = persons, dist = "negbin")
zinb <- zeroinfl(two_parts, data = persons, dist = "negbin")

printed <- c("(Intercept)" = "(Intercept)", hospital = "hosp", healthpoor = "healthpoor",
             healthexcellent = "healthexcellent", chronic = "numchron", gendermale = "gendermale",
             school = "school", insuranceyes = "privinsyes")

coefficient_cells <- function(column, estimates, errors) {
  rows <- names(estimates)
  part <- ifelse(startsWith(rows, "zero_"), "zero: ", "count: ")
  rows <- paste0(part, printed[sub("^(count|zero)_", "", rows)])
  rbind(
    data.frame(row = rows, column = column, metric = "coefficient", value = unname(estimates)),
    data.frame(row = rows, column = column, metric = "standard_error", value = unname(errors))
  )
}
fit_cells <- function(column, fit, zeros, parameters) {
  n <- nrow(persons)
  log_likelihood <- as.numeric(logLik(fit))
  data.frame(
    row = c("no. parameters", "log L", "AIC", "BIC", "expected number of zeros"),
    column = column,
    metric = c("count", "log_likelihood", "aic", "bic", "other_statistic"),
    value = c(parameters, log_likelihood, -2 * log_likelihood + 2 * parameters,
              -2 * log_likelihood + log(n) * parameters, zeros)
  )
}
parameters_only <- function(column, fit) {
  data.frame(row = "no. parameters", column = column, metric = "count", value = length(coef(fit)))
}
root <- function(covariance) sqrt(diag(covariance))

cells <- rbind(
  coefficient_cells("Poisson-ML", coef(poisson), root(vcov(poisson))),
  coefficient_cells("Poisson-adjusted", coef(poisson), root(sandwich(poisson))),
  coefficient_cells("Poisson-quasi", coef(quasi), root(vcov(quasi))),
  coefficient_cells("NB-ML", coef(negbin), root(vcov(negbin))),
  coefficient_cells("Hurdle-NB", coef(hurdle_fit), root(vcov(hurdle_fit))),
  coefficient_cells("ZINB", coef(zinb), root(vcov(zinb))),
  fit_cells("Poisson-ML", poisson, sum(dpois(0, fitted(poisson))), length(coef(poisson))),
  parameters_only("Poisson-adjusted", poisson),
  parameters_only("Poisson-quasi", quasi),
  fit_cells("NB-ML", negbin, sum(dnbinom(0, mu = fitted(negbin), size = negbin$theta)),
            length(coef(negbin)) + 1),
  fit_cells("Hurdle-NB", hurdle_fit, sum(predict(hurdle_fit, type = "prob")[, 1]),
            length(coef(hurdle_fit)) + 1),
  fit_cells("ZINB", zinb, sum(predict(zinb, type = "prob")[, 1]), length(coef(zinb)) + 1)
)
cells$table <- "table_2"
write.csv(cells[, c("table", "row", "column", "metric", "value")], arguments[2], row.names = FALSE)
