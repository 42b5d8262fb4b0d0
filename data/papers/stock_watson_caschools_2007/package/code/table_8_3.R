# Table 8.3: test scores and the student-teacher ratio.
# Usage: Rscript table_8_3.R DATA_DIR OUT.csv
arguments <- commandArgs(trailingOnly = TRUE)
library(sandwich)

districts <- as.data.frame(haven::read_dta(file.path(arguments[1], "caschool.dta")))
districts <- transform(districts,
  score = (read + math) / 2,
  str = students / teachers,
  hiel = as.numeric(english >= 10),
  log_income = log(income)
)
districts <- transform(districts, str_squared = str^2, str_cubed = str^3)

formulas <- list(
  score ~ str + english + lunch,
  score ~ str + english + lunch + log_income,
  score ~ str + hiel + hiel:str,
  score ~ str + hiel + hiel:str + lunch + log_income,
  score ~ str + str_squared + str_cubed + hiel + lunch + log_income,
  score ~ str + str_squared + str_cubed + hiel + hiel:str + hiel:str_squared +
    hiel:str_cubed + lunch + log_income,
  score ~ str + str_squared + str_cubed + english + lunch + log_income
)
labels <- c(
  "str" = "Student-teacher ratio (STR)", "str_squared" = "STR^2", "str_cubed" = "STR^3",
  "english" = "% English learners", "hiel" = "% English learners >=10%? (HiEL)",
  "str:hiel" = "HiEL x STR", "str_squared:hiel" = "HiEL x STR^2",
  "str_cubed:hiel" = "HiEL x STR^3", "lunch" = "% Eligible for subsidized lunch",
  "log_income" = "Average district income (logarithm)", "(Intercept)" = "Intercept"
)
tests <- list(
  "(a) All STR variables and interactions = 0" = list("str", 3:7),
  "(b) STR^2, STR^3 = 0" = list("^str_(squared|cubed)$", 5:7),
  "(c) HiEL x STR, HiEL x STR^2, HiEL x STR^3 = 0" = list(":", 6)
)

results <- list()
add <- function(row, column, metric, value) {
  results[[length(results) + 1]] <<- data.frame(
    table = "table_8_3", row = row, column = column, metric = metric, value = value
  )
}

# R names an interaction by the order in which its variables first appear in the formula.
term_names <- function(model) {
  parts <- strsplit(names(coef(model)), ":")
  vapply(parts, function(p) paste(p[order(p == "hiel")], collapse = ":"), character(1))
}

for (index in seq_along(formulas)) {
  model <- lm(formulas[[index]], data = districts)
  robust <- vcovHC(model, type = "HC1")
  column <- sprintf("(%d)", index)
  terms <- term_names(model)
  add(labels[terms], column, "coefficient", coef(model))
  add(labels[terms], column, "standard_error", sqrt(diag(robust)))
  for (name in names(tests)) {
    if (!index %in% tests[[name]][[2]]) next
    tested <- grep(tests[[name]][[1]], terms)
    wald <- drop(coef(model)[tested] %*% solve(robust[tested, tested], coef(model)[tested]))
    statistic <- wald / length(tested)
    p <- pf(statistic, length(tested), model$df.residual, lower.tail = FALSE)
    add(name, column, "f_statistic", statistic)
    add(name, column, "p_value", p)
  }
  add("SER", column, "other_statistic", summary(model)$sigma)
  add("Adjusted R2", column, "r_squared_adj", summary(model)$adj.r.squared)
}
write.csv(do.call(rbind, results), arguments[2], row.names = FALSE)
