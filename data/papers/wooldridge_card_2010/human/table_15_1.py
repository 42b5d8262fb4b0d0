"""Table 15.1: return to education, least squares and two-stage least squares.

Schooling is instrumented by having grown up near a four-year college; experience, its square and
all the controls (metropolitan residence and region in youth, first region left out) are exogenous.

Choices where the methods are open:
* Classical standard errors use the residual variance with n - k degrees of freedom in both columns.
* Residuals of the instrumental-variables column use the observed, not the fitted, schooling.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

SHOWN = ["educ", "exper", "expersq", "black", "smsa", "south"]
CONTROLS = ["smsa66"] + [f"reg66{region}" for region in range(2, 10)]
ENDOGENOUS = "educ"
INSTRUMENT = "nearc4"


def least_squares(data, outcome, regressors, instruments):
    """Two-stage least squares; ordinary least squares when the instruments are the regressors."""
    x = data[regressors].to_numpy()
    z = data[instruments].to_numpy()
    y = data[outcome].to_numpy()
    n, k = x.shape
    fitted = z @ np.linalg.lstsq(z, x, rcond=None)[0]
    beta = np.linalg.lstsq(fitted, y, rcond=None)[0]
    residual = y - x @ beta
    ssr = residual @ residual
    cov = ssr / (n - k) * np.linalg.inv(fitted.T @ fitted)
    return {
        "params": pd.Series(beta, regressors),
        "se": pd.Series(np.sqrt(np.diag(cov)), regressors),
        "n": n,
        "r2": 1 - ssr / np.sum((y - y.mean()) ** 2),
    }


def main():
    data = pd.read_spss("data/card.sav").astype(float).assign(constant=1.0)
    regressors = [*SHOWN, *CONTROLS, "constant"]
    instruments = [INSTRUMENT if name == ENDOGENOUS else name for name in regressors]
    fits = [
        least_squares(data, "lwage", regressors, regressors),
        least_squares(data, "lwage", regressors, instruments),
    ]
    table = json.loads(Path("table_templates/table_15_1.json").read_text())
    for cell in table["cells"]:
        fit = fits[cell["col"]]
        metric = cell["metric"]
        if metric == "n_obs":
            value = fit["n"]
        elif metric == "r_squared":
            value = fit["r2"]
        else:
            term = SHOWN[cell["row"] // 2]
            value = fit["params" if metric == "coefficient" else "se"][term]
        cell["value"] = float(value)
    Path("table_15_1.json").write_text(json.dumps(table, indent=2))


if __name__ == "__main__":
    main()
