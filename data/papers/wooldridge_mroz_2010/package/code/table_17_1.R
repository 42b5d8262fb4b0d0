# Table 17.1: who is in the labour force, by a linear probability model, a logit and a probit.
# Usage: Rscript table_17_1.R DATA_DIR OUT.csv
suppressPackageStartupMessages(library(sandwich))

arguments <- commandArgs(trailingOnly = TRUE)
women <- read.csv(file.path(arguments[1], "mroz.csv"))
terms <- c("nwifeinc", "educ", "exper", "expersq", "age", "kidslt6", "kidsge6")
equation <- reformulate(terms, response = "inlf")

binary <- function(link) {
  glm(equation, data = women, family = binomial(link),
      control = glm.control(epsilon = 1e-12, maxit = 100))
}

# Inverse of the observed information. glm() itself gives the expected one: the same for a logit,
# not for a probit.
observed_covariance <- function(fit) {
  x <- model.matrix(fit)
  index <- drop(x %*% coef(fit))
  sign <- 2 * women$inlf - 1
  curvature <- if (family(fit)$link == "probit") {
    ratio <- sign * dnorm(index) / pnorm(sign * index)
    ratio * (ratio + index)
  } else {
    dlogis(index)
  }
  solve(crossprod(x * curvature, x))
}

fits <- list("LPM (OLS)" = lm(equation, data = women),
             "Logit (MLE)" = binary("logit"), "Probit (MLE)" = binary("probit"))

one_cell <- function(row, column, metric, value) {
  data.frame(table = "table_17_1", row = row, column = column, metric = metric,
             value = unname(value))
}

fit_cells <- function(column, fit) {
  if (column == "LPM (OLS)") {
    return(one_cell("Pseudo R-squared", column, "r_squared", summary(fit)$r.squared))
  }
  # With outcomes of zero and one a deviance is minus twice a log-likelihood.
  rbind(
    one_cell("Log-likelihood value", column, "log_likelihood", as.numeric(logLik(fit))),
    one_cell("Pseudo R-squared", column, "pseudo_r_squared",
             1 - fit$deviance / fit$null.deviance)
  )
}

column_cells <- function(column) {
  fit <- fits[[column]]
  covariance <- if (column == "LPM (OLS)") vcovHC(fit, type = "HC1") else observed_covariance(fit)
  rows <- sub("(Intercept)", "constant", names(coef(fit)), fixed = TRUE)
  predicted <- 100 * mean((fitted(fit) > 0.5) == (women$inlf == 1))
  rbind(
    one_cell(rows, column, "coefficient", coef(fit)),
    one_cell(rows, column, "standard_error", sqrt(diag(covariance))),
    one_cell("Percentage correctly predicted", column, "other_statistic", predicted),
    fit_cells(column, fit)
  )
}

write.csv(do.call(rbind, lapply(names(fits), column_cells)), arguments[2], row.names = FALSE)
