"""Table 2: earnings comparisons and estimated training effects, three panels.

Every cell pair is one least-squares regression of 1978 earnings on the treatment indicator:
four groups of untreated men (rows), five sets of controls (columns), three panels.

Panel A: the full experimental sample; panels B and C: the subset with earnings of 1974 known.
Only panel C uses 1974 earnings, and only in its adjusted columns (2, 4 and 5).

Choice where the description is open: classical (homoskedastic) standard errors with residual
degrees of freedom n - k, since the paper names no correction.
"""

import json

import pandas as pd
import pyreadr
import statsmodels.api as sm

SLUG = "table_2"

ADJUSTERS = ["age", "age_squared", "educ", "nodeg", "black", "hisp"]
CONTROLS = {
    0: [],
    1: ADJUSTERS,
    2: ["re75"],
    3: ["re75", *ADJUSTERS],
    4: ["re75", *ADJUSTERS, "marr"],
}
ADJUSTED_COLUMNS = {1, 3, 4}


def load_men():
    """The experimental samples by panel letter, and the comparison groups by row label."""
    lalonde = pd.read_stata("data/nsw_lalonde.dta")
    subset = pd.read_stata("data/nsw_re74.dta")
    experiments = {"A": lalonde, "B": subset, "C": subset}
    comparisons = {
        "PSID-1": pd.read_csv("data/psid1.csv"),
        "PSID-3": pd.read_csv("data/psid3.csv"),
        "CPS-1": pyreadr.read_r("data/cps1.rds")[None],
    }
    return experiments, comparisons


def stack(experiment, group, comparisons):
    """Treated men set against the experimental controls or against a comparison group."""
    if group == "NSW":
        men = experiment.astype(float)
    else:
        treated = experiment[experiment["trt"] == 1]
        others = comparisons[group]
        others = others[others["trt"] == 0]
        men = pd.concat([treated.astype(float), others.astype(float)], ignore_index=True)
    return men.assign(age_squared=men["age"] ** 2)


def training_effect(men, controls):
    """Coefficient of the treatment indicator and its classical standard error."""
    # Rows are dropped only for the variables in use: RE74 is incomplete in panel A.
    used = men[["re78", "trt", *controls]].dropna()
    fit = sm.OLS(used["re78"], sm.add_constant(used[["trt", *controls]])).fit()
    return {"coefficient": float(fit.params["trt"]), "standard_error": float(fit.bse["trt"])}


def main():
    experiments, comparisons = load_men()
    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    estimates = {}
    for cell in table["cells"]:
        panel, group, col = cell["panel"][0], cell["row_label"], cell["col"]
        if (panel, group, col) not in estimates:
            controls = list(CONTROLS[col])
            if panel == "C" and col in ADJUSTED_COLUMNS:
                controls.append("re74")
            men = stack(experiments[panel], group, comparisons)
            estimates[panel, group, col] = training_effect(men, controls)
        cell["value"] = estimates[panel, group, col][cell["metric"]]
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
