"""Prints the estimates of the `formal` arm for the reference data, as JSON."""

import json, sys
import pandas as pd
sys.path.insert(0, sys.argv[1])
import econometrics as eco
d, g = pd.read_csv(sys.argv[2]), pd.read_csv(sys.argv[3])
out = {}
def put(model, fit, names, equation="main"):
    for own, theirs in names.items():
        b, se = eco.estimate_of(fit, own, equation)
        out[f"{model}|{theirs}"], out[f"{model}|{theirs}.se"] = b, se
xq = {"x": d.x, "q": d.q}
plain = {"constant": "(Intercept)", "x": "x", "q": "q"}
fit = eco.linear(d.y, xq)
put("ols", fit, plain)
s = fit.statistics
out |= {"ols|r2": s["r_squared"], "ols|adj": s["r_squared_adj"], "ols|f": s["f_all_slopes"],
        "ols|sigma": s["residual_sd"]}
for kind in ("HC0", "HC1", "HC2", "HC3"):
    out[f"ols|x.{kind}"] = eco.linear(d.y, xq, variance=kind.lower()).main["x"][1]
out["ols|x.cluster"] = eco.linear(d.y, xq, variance="cluster", clusters=d[["i"]]).main["x"][1]
out["ols|x.twoway_cluster"] = eco.linear(d.y, xq, variance="cluster", clusters=d[["i", "t"]]).main["x"][1]
out["ols|joint_hc1"] = eco.joint_test(eco.linear(d.y, xq, variance="hc1"), ["x", "q"], "f_statistic")
fit = eco.linear(d.y, xq, weights=d.w)
put("wls", fit, plain)
out["wls|r2"] = fit.statistics["r_squared"]
fit = eco.linear(d.y, {"x": d.x}, absorbed=d[["i", "t"]])
put("fe", fit, {"x": "x"})
out["fe|within"] = fit.statistics["r_squared_within"]
fit = eco.random_effects(d.y, xq, unit=d.i, time=d.t)
put("re", fit, plain)
out["re|r2"] = fit.statistics["r_squared"]
iv = dict(exogenous={"x": d.x}, endogenous={"e": d.e}, instruments={"z1": d.z1, "z2": d.z2})
fit = eco.instrumental(d.yy, **iv)
put("iv", fit, {"constant": "(Intercept)", "x": "x", "e": "e"})
out["iv|first_f"] = fit.statistics["first_stage_f"]
out["iv|e.HC1"] = eco.instrumental(d.yy, **iv, variance="hc1").main["e"][1]
for kind in ("logit", "probit"):
    fit = eco.binary(kind, d.b, xq)
put(kind, fit, plain)
    out[f"{kind}|ll"], out[f"{kind}|pseudo"] = fit.statistics["log_likelihood"], fit.statistics["pseudo_r_squared"]
fit = eco.tobit(d.y.clip(lower=0), xq)
put("tobit", fit, plain)
out["tobit|scale"], out["tobit|ll"] = fit.statistics["scale"], fit.statistics["log_likelihood"]
fit = eco.count_model("poisson", d.c, xq)
put("poisson", fit, plain)
out["poisson|x.sandwich"] = eco.count_model("poisson", d.c, xq, variance="hc0").main["x"][1]
fit = eco.count_model("poisson", d.c, xq, variance="quasi")
put("quasi", fit, plain)
out["quasi|dispersion"] = fit.statistics["dispersion"]
out["poisson|overdispersion_z"] = eco.overdispersion_test(d.c, xq, power=1.0)[0]
fit = eco.count_model("negative_binomial", d.c, xq)
for own, theirs in plain.items(): out[f"nb|{theirs}"] = fit.main[own][0]
out["nb|theta"], out["nb|ll"] = fit.statistics["theta"], fit.statistics["log_likelihood"]
for kind, model in (("hurdle_negative_binomial", "hurdle"), ("zero_inflated_negative_binomial", "zinb")):
    fit = eco.count_model(kind, d.c, xq)
    put(model, fit, {k: f"count_{v}" for k, v in plain.items()})
    put(model, fit, {k: f"zero_{v}" for k, v in plain.items()}, "zero")
    out[f"{model}|ll"] = fit.statistics["log_likelihood"]
    if model == "hurdle": out["hurdle|theta"] = fit.statistics["theta"]
panel = eco.Panel(g, "i", "t")
g = g.assign(l1=panel.lag(g.y), l2=panel.lag(g.y, 2))
for steps, model in ((1, "onestep"), (2, "twosteps")):
    fit = eco.difference_gmm(g, "y", ["l1", "l2"], ["k"], instrument="y", unit="i", time="t", steps=steps)
    for n, name in enumerate(("l1", "l2", "k"), 1):
        out[f"{model}|b{n}"], out[f"{model}|se{n}"] = fit.main[name]
    out[f"{model}|m1"], out[f"{model}|m2"] = (fit.statistics[f"autocorrelation_{k}"] for k in (1, 2))
    if steps == 2: out["twosteps|sargan"] = fit.statistics["overidentification"]
print(json.dumps(out))
