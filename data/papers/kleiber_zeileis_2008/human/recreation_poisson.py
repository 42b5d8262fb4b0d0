"""Poisson regression of boating trips with sandwich standard errors (RecreationDemand Poisson).

All variables of the file enter. The covariance is the plain sandwich, bread x meat x bread (HC0),
without any correction for the number of observations.
"""

import json

import numpy as np
import pandas as pd
import statsmodels.api as sm

SLUG = "recreation_poisson"
TERMS = ["quality", "ski_yes", "income", "userfee_yes", "costC", "costS", "costH"]


def load():
    """Number of trips and design matrix, the constant first."""
    data = pd.read_excel("data/RecreationDemand.xlsx")
    data["ski_yes"] = (data["ski"] == "yes").astype(float)
    data["userfee_yes"] = (data["userfee"] == "yes").astype(float)
    x = np.column_stack([np.ones(len(data)), data[TERMS].to_numpy(float)])
    return data["trips"].to_numpy(float), x


def estimate(y, x):
    """Coefficients and sandwich standard errors."""
    fit = sm.GLM(y, x, family=sm.families.Poisson()).fit(tol=1e-14, tol_criterion="params")
    mu = fit.fittedvalues
    bread = np.linalg.inv((x * mu[:, None]).T @ x)
    scores = x * (y - mu)[:, None]
    covariance = bread @ (scores.T @ scores) @ bread
    return fit.params, np.sqrt(np.diag(covariance))


def main():
    y, x = load()
    coef, se = estimate(y, x)
    values = {}
    for row in range(x.shape[1]):
        values[row, "coefficient"] = coef[row]
        values[row, "standard_error"] = se[row]

    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        cell["value"] = float(values[cell["row"], cell["metric"]])
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
