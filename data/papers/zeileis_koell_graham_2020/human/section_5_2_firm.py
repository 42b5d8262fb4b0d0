"""Zeileis, Koell and Graham (2020), Section 5.2: least squares with firm-clustered errors.

Regression of y on x in the simulated panel. The cluster covariance carries the factors G/(G-1) and
(N-1)/(N-K), N observations, K coefficients, G firms.
"""

import json

import numpy as np
import pandas as pd


def clustered_errors(y, x, groups):
    """OLS standard errors clustered by group."""
    n, k = x.shape
    bread = np.linalg.inv(x.T @ x)
    residual = y - x @ (bread @ x.T @ y)
    codes, labels = pd.factorize(groups)
    g = len(labels)
    sums = np.zeros((g, k))
    np.add.at(sums, codes, x * residual[:, None])
    factor = g / (g - 1) * (n - 1) / (n - k)
    return np.sqrt(np.diag(factor * bread @ sums.T @ sums @ bread))


def main():
    data = pd.read_csv("data/PetersenCL.csv")
    x = np.column_stack([np.ones(len(data)), data["x"]])
    errors = dict(
        zip(["(Intercept)", "x"], clustered_errors(data["y"].to_numpy(), x, data["firm"]))
    )

    with open("table_templates/section_5_2_firm.json") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        cell["value"] = float(errors[cell["row_label"]])
    with open("section_5_2_firm.json", "w") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
