"""Investment equation for three firms, random effects (Grunfeld random effects).

General Electric, General Motors and IBM, all years, one-way random firm effects, feasible GLS.
Wallace-Hussain variance components: the pooled least squares residuals u take the place of the
true errors in the quadratic estimators
    sigma_nu^2 = u'Qu / (N (T - 1)),    sigma_1^2 = u'Pu / N = sigma_nu^2 + T sigma_mu^2,
with P the averaging over a firm's years and Q = I - P. The methods leave open whether a
degrees-of-freedom correction is applied; as in the textbook statement of the estimator, none is.
theta = 1 - sigma_nu / sigma_1. Standard errors are the classical ones of least squares on the
quasi-demeaned data, with NT - 3 residual degrees of freedom.
"""

import json

import numpy as np
import pandas as pd

SLUG = "grunfeld_random"
FIRMS = ["General Electric", "General Motors", "IBM"]
TERMS = ["value", "capital"]


def load():
    """Outcome, design matrix (the constant first) and firm of each observation."""
    data = pd.read_csv("data/Grunfeld.csv")
    data = data[data["firm"].isin(FIRMS)].sort_values(["firm", "year"])
    x = np.column_stack([np.ones(len(data)), data[TERMS].to_numpy(float)])
    return data["invest"].to_numpy(float), x, data["firm"].to_numpy()


def firm_means(values, firm):
    """Each observation's firm mean, column by column."""
    return pd.DataFrame(values).groupby(firm).transform("mean").to_numpy()


def least_squares(y, x):
    """Coefficients and residuals."""
    coef = np.linalg.lstsq(x, y, rcond=None)[0]
    return coef, y - x @ coef


def quasi_demeaning_weight(y, x, firm):
    """theta from the Wallace-Hussain variance components of a balanced panel."""
    n_firms = len(np.unique(firm))
    n_years = len(y) // n_firms
    _, residual = least_squares(y, x)
    between = firm_means(residual, firm)[:, 0]
    sigma2_nu = np.sum((residual - between) ** 2) / (n_firms * (n_years - 1))
    sigma2_1 = np.sum(between**2) / n_firms
    sigma2_mu = max((sigma2_1 - sigma2_nu) / n_years, 0.0)
    return 1 - np.sqrt(sigma2_nu / (sigma2_nu + n_years * sigma2_mu))


def main():
    y, x, firm = load()
    theta = quasi_demeaning_weight(y, x, firm)
    ys = y - theta * firm_means(y, firm)[:, 0]
    xs = x - theta * firm_means(x, firm)
    coef, residual = least_squares(ys, xs)
    variance = residual @ residual / (len(ys) - xs.shape[1])
    se = np.sqrt(variance * np.diag(np.linalg.inv(xs.T @ xs)))

    values = {}
    for row in range(len(coef)):
        values[row, "coefficient"] = coef[row]
        values[row, "standard_error"] = se[row]
    values[len(coef), "other_statistic"] = theta

    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        cell["value"] = float(values[cell["row"], cell["metric"]])
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
