"""Wage equation for men in the United States by least squares (CPS1988 wage equation).

Log weekly wage on experience, its square, education and ethnicity; all men of the file, no
weights. Classical standard errors with n - k degrees of freedom; R-squared is the unadjusted one
about the mean.
"""

import json

import numpy as np
import pyreadr
import statsmodels.api as sm

SLUG = "cps_wage_ols"
TERMS = ["experience", "experience_squared", "education", "ethnicity_afam"]


def load():
    """Log wage and design matrix, the constant first."""
    data = next(iter(pyreadr.read_r("data/CPS1988.rds").values()))
    data["experience_squared"] = data["experience"] ** 2
    data["ethnicity_afam"] = (data["ethnicity"] == "afam").astype(float)
    x = np.column_stack([np.ones(len(data)), data[TERMS].to_numpy(float)])
    return np.log(data["wage"].to_numpy(float)), x


def main():
    y, x = load()
    fit = sm.OLS(y, x).fit()
    values = {}
    for row in range(x.shape[1]):
        values[row, "coefficient"] = fit.params[row]
        values[row, "standard_error"] = fit.bse[row]
    values[x.shape[1], "r_squared"] = fit.rsquared

    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        cell["value"] = float(values[cell["row"], cell["metric"]])
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
