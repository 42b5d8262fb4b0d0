"""Investment equation for three firms, within estimator (Grunfeld fixed effects).

General Electric, General Motors and IBM, all years, one-way firm effects removed by demeaning
within firms. Classical standard errors; the residual degrees of freedom count the firm effects.
"""

import json

import numpy as np
import pandas as pd

SLUG = "grunfeld_within"
FIRMS = ["General Electric", "General Motors", "IBM"]
TERMS = ["value", "capital"]


def load():
    """The three firms of the sample."""
    data = pd.read_csv("data/Grunfeld.csv")
    return data[data["firm"].isin(FIRMS)].sort_values(["firm", "year"])


def within(data):
    """Coefficients and standard errors of the regression on firm-demeaned data."""
    columns = ["invest", *TERMS]
    demeaned = data[columns] - data.groupby("firm")[columns].transform("mean")
    y, x = demeaned["invest"].to_numpy(), demeaned[TERMS].to_numpy()
    coef = np.linalg.solve(x.T @ x, x.T @ y)
    residual = y - x @ coef
    df = len(y) - data["firm"].nunique() - x.shape[1]
    covariance = residual @ residual / df * np.linalg.inv(x.T @ x)
    return coef, np.sqrt(np.diag(covariance))


def main():
    coef, se = within(load())
    values = {}
    for row in range(len(coef)):
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
