"""Probit of Swiss women's labour force participation (SwissLabor probit).

All variables of the file enter, with the square of age. The model is a binomial GLM with
probit link, fitted by Fisher scoring, so the standard errors come from the expected
information. AIC is -2 log-likelihood + 2 x (number of coefficients), here eight.
"""

import json

import numpy as np
import pandas as pd
import statsmodels.api as sm

SLUG = "swiss_labor_probit"
TERMS = ["income", "age", "education", "youngkids", "oldkids", "foreign_yes", "age_squared"]


def load():
    """Outcome and design matrix, the constant first."""
    data = pd.read_stata("data/SwissLabor.dta")
    data["foreign_yes"] = (data["foreign"] == "yes").astype(float)
    data["age_squared"] = data["age"] ** 2
    outcome = (data["participation"] == "yes").astype(float)
    design = sm.add_constant(data[TERMS].astype(float), prepend=True)
    return outcome.to_numpy(), design.to_numpy()


def estimate(y, x):
    """Coefficients, standard errors and AIC of the probit."""
    family = sm.families.Binomial(link=sm.families.links.Probit())
    fit = sm.GLM(y, x, family=family).fit(method="IRLS", tol=1e-14, tol_criterion="params")
    # statsmodels' IRLS covariance is (X'WX)^-1, the inverse of the expected information.
    aic = -2.0 * fit.llf + 2.0 * x.shape[1]
    return np.asarray(fit.params), np.asarray(fit.bse), float(aic)


def main():
    y, x = load()
    coef, se, aic = estimate(y, x)
    values = {}
    for row in range(x.shape[1]):
        values[row, "coefficient"] = coef[row]
        values[row, "standard_error"] = se[row]
    values[x.shape[1], "aic"] = aic

    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        cell["value"] = float(values[cell["row"], cell["metric"]])
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
