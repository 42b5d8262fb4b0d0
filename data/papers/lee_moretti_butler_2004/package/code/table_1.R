# Table I: gaps between districts narrowly won by one party or the other, and their parts.
# Usage: Rscript table_1.R DATA_DIR OUT.csv
suppressPackageStartupMessages(library(sandwich))

arguments <- commandArgs(trailingOnly = TRUE)
cutoff <- 0.5
bandwidth <- 0.02

sessions <- read.csv(file.path(arguments[1], "close_elections.csv"))
close <- subset(sessions, abs(lagdemvoteshare - cutoff) < bandwidth)
n <- nrow(close)

fits <- list(
  total = lm(score ~ lagdemocrat, data = close),
  # The score after the close election itself is not in the data: the score of the later session
  # is compared by the party that holds the seat then.
  office = lm(score ~ democrat, data = close),
  winning = lm(democrat ~ lagdemocrat, data = close)
)
gap <- vapply(fits, function(fit) unname(coef(fit)[2]), numeric(1))

# What each row contributes to each gap; their cross-products are the joint robust covariance.
contribution <- vapply(fits, function(fit) (estfun(fit) %*% bread(fit) / n)[, 2], numeric(n))
covariance <- crossprod(contribution) * n / (n - 2)
stopifnot(all.equal(covariance[1, 1], vcovHC(fits$total, type = "HC1")[2, 2]))

# Elect component: office times winning. Affect component: total less elect. Delta method.
elect_slope <- c(0, gap[["winning"]], gap[["office"]])
affect_slope <- c(1, 0, 0) - elect_slope
delta_error <- function(slope) sqrt(drop(slope %*% covariance %*% slope))

elect <- gap[["office"]] * gap[["winning"]]
estimates <- c(unname(gap), elect, gap[["total"]] - elect)
errors <- c(unname(sqrt(diag(covariance))), delta_error(elect_slope), delta_error(affect_slope))

columns <- sprintf("(%d)", 1:5)
cells <- rbind(
  data.frame(row = "Estimated gap", column = columns, metric = "coefficient", value = estimates),
  data.frame(row = "Estimated gap", column = columns, metric = "standard_error", value = errors),
  data.frame(row = "Observations", column = "(1)", metric = "n_obs", value = n)
)
write.csv(cbind(table = "table_1", cells), arguments[2], row.names = FALSE)
