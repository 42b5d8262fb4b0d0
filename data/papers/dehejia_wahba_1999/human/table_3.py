"""Table 3: estimated training effects in the subset with two years of earlier earnings.

Column 1 is the difference in mean 1978 earnings between treated men and the group in the row
(least squares on the treatment indicator alone); column 2 adds age and its square, schooling,
the no-degree indicator, the indicators for black and Hispanic, and earnings of 1974 and 1975.

Choice where the description is open: classical (homoskedastic) standard errors with residual
degrees of freedom n - k; in column 1 this is the pooled-variance two-sample standard error.
"""

import json

import pandas as pd
import pyreadr
import statsmodels.api as sm

SLUG = "table_3"

CONTROLS = {
    0: [],
    1: ["age", "age_squared", "educ", "nodeg", "black", "hisp", "re74", "re75"],
}


def load_samples():
    """Treated men stacked with each untreated group, keyed by row label."""
    subset = pd.read_stata("data/nsw_re74.dta").astype(float)
    treated = subset[subset["trt"] == 1]
    untreated = {
        "NSW": subset[subset["trt"] == 0],
        "PSID-1": pd.read_csv("data/psid1.csv"),
        "PSID-3": pd.read_csv("data/psid3.csv"),
        "CPS-1": pyreadr.read_r("data/cps1.rds")[None],
    }
    samples = {}
    for group, others in untreated.items():
        men = pd.concat([treated, others.astype(float)], ignore_index=True)
        samples[group] = men.assign(age_squared=men["age"] ** 2)
    return samples


def training_effect(men, controls):
    """Coefficient of the treatment indicator and its classical standard error."""
    fit = sm.OLS(men["re78"], sm.add_constant(men[["trt", *controls]])).fit()
    return {"coefficient": float(fit.params["trt"]), "standard_error": float(fit.bse["trt"])}


def main():
    estimates = {
        (group, col): training_effect(men, controls)
        for group, men in load_samples().items()
        for col, controls in CONTROLS.items()
    }
    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        cell["value"] = estimates[cell["row_label"], cell["col"]][cell["metric"]]
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
