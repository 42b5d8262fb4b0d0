"""Table 17.1: labour force participation of married women; linear, logit and probit models.

The linear probability model has HC1 standard errors (factor n / (n - k)); logit and probit are
maximum likelihood by Newton's method with standard errors from the inverse of the observed Hessian.

Choices where the methods are open:
* "Percentage correctly predicted" is on the scale of 0 to 100, for the linear model too, where the
  fitted value is the probability.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm

REGRESSORS = ["nwifeinc", "educ", "exper", "expersq", "age", "kidslt6", "kidsge6"]
TERMS = [*REGRESSORS, "constant"]


def percent_correct(outcome, probability):
    return 100 * np.mean((probability > 0.5) == (outcome == 1))


def column_cells(fit, outcome, extra):
    """Every quantity of one column, by row."""
    cells = {16: percent_correct(outcome, fit.predict()), **extra}
    for i, term in enumerate(TERMS):
        cells[2 * i] = fit.params[term]
        cells[2 * i + 1] = fit.bse[term]
    return cells


def main():
    data = pd.read_stata("data/mroz.dta").assign(constant=1.0)
    y = data["inlf"].astype(float)
    x = data[TERMS].astype(float)
    newton = {"method": "newton", "maxiter": 100, "tol": 1e-12, "disp": False}

    lpm = sm.OLS(y, x).fit(cov_type="HC1")
    columns = [column_cells(lpm, y, {18: lpm.rsquared})]
    for model in (sm.Logit, sm.Probit):
        fit = model(y, x).fit(**newton)
        # prsquared is McFadden's: the null model has the constant only
        columns.append(column_cells(fit, y, {17: fit.llf, 18: fit.prsquared}))

    table = json.loads(Path("table_templates/table_17_1.json").read_text())
    for cell in table["cells"]:
        value = columns[cell["col"]].get(cell["row"])
        cell["value"] = None if value is None else float(value)
    Path("table_17_1.json").write_text(json.dumps(table, indent=2))


if __name__ == "__main__":
    main()
