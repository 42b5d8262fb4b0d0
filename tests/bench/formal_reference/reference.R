# Reference values for the estimators of the `formal` arm.
# Rscript reference.R panel.csv dynamic.csv reference.csv
# Made with R 4.2.2, AER 1.2-10, plm 2.6-2, pscl 1.5.5, sandwich 3.0-2, MASS, survival.
suppressMessages({library(AER); library(plm); library(pscl); library(sandwich); library(MASS)})
args <- commandArgs(trailingOnly = TRUE)
d <- read.csv(args[1]); g <- read.csv(args[2])
out <- data.frame()
put <- function(model, name, value) out <<- rbind(out, data.frame(model = model, name = name, value = format(unname(value), digits = 12)))
terms <- function(model, b, v, prefix = "") { for (n in names(b)) { put(model, paste0(prefix, n), b[[n]]); put(model, paste0(prefix, n, ".se"), sqrt(v[n, n])) } }
m <- lm(y ~ x + q, d); terms("ols", coef(m), vcov(m)); s <- summary(m)
put("ols", "r2", s$r.squared); put("ols", "adj", s$adj.r.squared); put("ols", "f", s$fstatistic[[1]]); put("ols", "sigma", s$sigma)
for (k in c("HC0", "HC1", "HC2", "HC3")) { v <- vcovHC(m, k); put("ols", paste0("x.", k), sqrt(v["x", "x"])) }
v <- vcovCL(m, ~i, type = "HC1"); put("ols", "x.cluster", sqrt(v["x", "x"]))
v <- vcovCL(m, ~ i + t, type = "HC1"); put("ols", "x.twoway_cluster", sqrt(v["x", "x"]))
lh <- linearHypothesis(m, c("x = 0", "q = 0"), vcov. = vcovHC(m, "HC1")); put("ols", "joint_hc1", lh$F[2])
m <- lm(y ~ x + q, d, weights = w); terms("wls", coef(m), vcov(m)); put("wls", "r2", summary(m)$r.squared)
p <- pdata.frame(d, index = c("i", "t"))
m <- plm(y ~ x, p, model = "within", effect = "twoways"); terms("fe", coef(m), vcov(m)); put("fe", "within", summary(m)$r.squared[[1]])
m <- plm(y ~ x + q, p, model = "random"); terms("re", coef(m), vcov(m)); put("re", "r2", summary(m)$r.squared[[1]])
m <- ivreg(yy ~ e + x | z1 + z2 + x, data = d); terms("iv", coef(m), vcov(m)); v <- vcovHC(m, "HC1"); put("iv", "e.HC1", sqrt(v["e", "e"]))
s <- summary(m, diagnostics = TRUE)$diagnostics; put("iv", "first_f", s["Weak instruments", "statistic"])
for (l in c("logit", "probit")) { m <- glm(b ~ x + q, binomial(l), d); terms(l, coef(m), vcov(m)); put(l, "ll", logLik(m)[1]); put(l, "pseudo", 1 - logLik(m)[1] / logLik(update(m, . ~ 1))[1]) }
m <- tobit(pmax(y, 0) ~ x + q, left = 0, data = d); terms("tobit", coef(m), vcov(m)); put("tobit", "scale", m$scale); put("tobit", "ll", m$loglik[2])
m <- glm(c ~ x + q, poisson, d); terms("poisson", coef(m), vcov(m)); v <- sandwich(m); put("poisson", "x.sandwich", sqrt(v["x", "x"]))
m2 <- update(m, family = quasipoisson); terms("quasi", coef(m2), vcov(m2)); put("quasi", "dispersion", summary(m2)$dispersion)
o <- dispersiontest(m); put("poisson", "overdispersion_z", o$statistic)
m <- glm.nb(c ~ x + q, d, control = glm.control(epsilon = 1e-12, maxit = 200)); for (n in names(coef(m))) put("nb", n, coef(m)[[n]]); put("nb", "theta", m$theta); put("nb", "ll", logLik(m)[1])
ctl <- hurdle.control(reltol = 1e-14); m <- hurdle(c ~ x + q, data = d, dist = "negbin", control = ctl); terms("hurdle", coef(m), vcov(m)); put("hurdle", "ll", logLik(m)[1]); put("hurdle", "theta", m$theta[[1]])
m <- zeroinfl(c ~ x + q, data = d, dist = "negbin", control = zeroinfl.control(reltol = 1e-14)); terms("zinb", coef(m), vcov(m)); put("zinb", "ll", logLik(m)[1])
p <- pdata.frame(g, index = c("i", "t"))
for (k in c("onestep", "twosteps")) { m <- pgmm(y ~ lag(y, 1:2) + k | lag(y, 2:99), p, effect = "twoways", model = k); s <- summary(m, robust = k == "onestep")
  for (n in 1:3) { put(k, paste0("b", n), s$coefficients[n, 1]); put(k, paste0("se", n), s$coefficients[n, 2]) }
  put(k, "m1", s$m1$statistic); put(k, "m2", s$m2$statistic); if (k == "twosteps") put(k, "sargan", s$sargan$statistic) }
write.csv(out, args[3], row.names = FALSE)
