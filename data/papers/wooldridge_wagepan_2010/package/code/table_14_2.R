# Table 14.2: a wage equation by pooled OLS, random effects and fixed effects.
# Usage: Rscript table_14_2.R DATA_DIR OUT.csv
suppressPackageStartupMessages(library(plm))

arguments <- commandArgs(trailingOnly = TRUE)
men <- read.csv(file.path(arguments[1], "wagepan.csv"))

years <- paste0("d", 81:87)
all_terms <- c("educ", "black", "hisp", "exper", "expersq", "married", "union")
# Experience grows by one a year for every man: it drops out beside effects of men and years.
within_terms <- c("expersq", "married", "union")
equation <- function(terms) reformulate(c(terms, years), response = "lwage")

fits <- list(
  "Pooled OLS" = lm(equation(all_terms), data = men),
  "Random Effects" = plm(equation(all_terms), data = men, index = c("nr", "year"),
                         model = "random", random.method = "swar"),
  "Fixed Effects" = plm(equation(within_terms), data = men, index = c("nr", "year"),
                        model = "within", effect = "individual")
)

column_cells <- function(column) {
  fit <- fits[[column]]
  terms <- intersect(all_terms, names(coef(fit)))
  rbind(
    data.frame(table = "table_14_2", row = terms, column = column, metric = "coefficient",
               value = unname(coef(fit)[terms])),
    data.frame(table = "table_14_2", row = terms, column = column, metric = "standard_error",
               value = unname(sqrt(diag(vcov(fit)))[terms]))
  )
}

write.csv(do.call(rbind, lapply(names(fits), column_cells)), arguments[2], row.names = FALSE)
