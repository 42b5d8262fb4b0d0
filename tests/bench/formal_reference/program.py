"""Prints the estimates of the `formal` arm for the reference data, as JSON."""

import json
import sys

import pandas as pd

sys.path.insert(0, sys.argv[1])
import econometrics as eco

d, g = pd.read_csv(sys.argv[2]), pd.read_csv(sys.argv[3])
out = {}


def put(model, fit, names, equation="main"):
    for own, theirs in names.items():
        b, se = eco.estimate_of(fit, own, equation)
        out[f"{model}|{theirs}"], out[f"{model}|{theirs}.se"] = b, se


def keep(model, fit, **statistics):
    for theirs, own in statistics.items():
        out[f"{model}|{theirs}"] = fit.statistics[own]


xq = {"x": d.x, "q": d.q}
plain = {"constant": "(Intercept)", "x": "x", "q": "q"}
fit = eco.linear(d.y, xq)
put("ols", fit, plain)
keep("ols", fit, r2="r_squared", adj="r_squared_adj", f="f_all_slopes", sigma="residual_sd")
for kind in ("HC0", "HC1", "HC2", "HC3"):
    out[f"ols|x.{kind}"] = eco.linear(d.y, xq, variance=kind.lower()).main["x"][1]
for name, by in (("cluster", ["i"]), ("twoway_cluster", ["i", "t"])):
    fit = eco.linear(d.y, xq, variance="cluster", clusters=d[by])
    out[f"ols|x.{name}"] = fit.main["x"][1]
fit = eco.linear(d.y, xq, variance="hc1")
out["ols|joint_hc1"] = eco.joint_test(fit, ["x", "q"], "f_statistic")
fit = eco.linear(d.y, xq, weights=d.w)
put("wls", fit, plain)
keep("wls", fit, r2="r_squared")
fit = eco.linear(d.y, {"x": d.x}, absorbed=d[["i", "t"]])
put("fe", fit, {"x": "x"})
keep("fe", fit, within="r_squared_within")
fit = eco.random_effects(d.y, xq, unit=d.i, time=d.t)
put("re", fit, plain)
keep("re", fit, r2="r_squared")
iv = {
    "exogenous": {"x": d.x},
    "endogenous": {"e": d.e},
    "instruments": {"z1": d.z1, "z2": d.z2},
}
fit = eco.instrumental(d.yy, **iv)
put("iv", fit, {"constant": "(Intercept)", "x": "x", "e": "e"})
keep("iv", fit, first_f="first_stage_f")
out["iv|e.HC1"] = eco.instrumental(d.yy, **iv, variance="hc1").main["e"][1]
for kind in ("logit", "probit"):
    fit = eco.binary(kind, d.b, xq)
    put(kind, fit, plain)
    keep(kind, fit, ll="log_likelihood", pseudo="pseudo_r_squared")
fit = eco.tobit(d.y.clip(lower=0), xq)
put("tobit", fit, plain)
keep("tobit", fit, scale="scale", ll="log_likelihood")
put("poisson", eco.count_model("poisson", d.c, xq), plain)
out["poisson|x.sandwich"] = eco.count_model("poisson", d.c, xq, variance="hc0").main["x"][1]
out["poisson|overdispersion_z"] = eco.overdispersion_test(d.c, xq, power=1.0)[0]
fit = eco.count_model("poisson", d.c, xq, variance="quasi")
put("quasi", fit, plain)
keep("quasi", fit, dispersion="dispersion")
fit = eco.count_model("negative_binomial", d.c, xq)
for own, theirs in plain.items():
    out[f"nb|{theirs}"] = fit.main[own][0]
keep("nb", fit, theta="theta", ll="log_likelihood")
for model, kind in (
    ("hurdle", "hurdle_negative_binomial"),
    ("zinb", "zero_inflated_negative_binomial"),
):
    fit = eco.count_model(kind, d.c, xq)
    put(model, fit, {k: f"count_{v}" for k, v in plain.items()})
    put(model, fit, {k: f"zero_{v}" for k, v in plain.items()}, "zero")
    keep(model, fit, ll="log_likelihood", theta="theta")
panel = eco.Panel(g, "i", "t")
g = g.assign(l1=panel.lag(g.y), l2=panel.lag(g.y, 2))
for steps, model in ((1, "onestep"), (2, "twosteps")):
    fit = eco.difference_gmm(
        g, "y", ["l1", "l2"], ["k"], instrument="y", unit="i", time="t", steps=steps
    )
    for n, name in enumerate(("l1", "l2", "k"), 1):
        out[f"{model}|b{n}"], out[f"{model}|se{n}"] = fit.main[name]
    keep(model, fit, m1="autocorrelation_1", m2="autocorrelation_2", sargan="overidentification")
print(json.dumps(out))
