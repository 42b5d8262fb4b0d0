"""Table 8.3: district test scores on the student-teacher ratio, seven specifications.

Ordinary least squares on all districts with HC1 standard errors (factor n / (n - k)).

Choices where the methods are open:
* p-values of the joint tests use F(q, n - k), the finite-sample distribution that goes with HC1,
  rather than the large-sample F(q, infinity).
* The joint statistic is the robust Wald statistic over the number of restrictions.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

LEARNER_THRESHOLD = 10.0  # per cent

CUBIC = ["str", "str_squared", "str_cubed"]
INTERACTIONS = ["hiel:str", "hiel:str_squared", "hiel:str_cubed"]
MODELS = [  # one entry a column, in order
    ["str", "english", "lunch"],
    ["str", "english", "lunch", "log_income"],
    ["str", "hiel", "hiel:str"],
    ["str", "hiel", "hiel:str", "lunch", "log_income"],
    [*CUBIC, "hiel", "lunch", "log_income"],
    [*CUBIC, "hiel", *INTERACTIONS, "lunch", "log_income"],
    [*CUBIC, "english", "lunch", "log_income"],
]
TERM_ROWS = {  # row of the coefficient; its standard error is one row below
    0: "str",
    2: "str_squared",
    4: "str_cubed",
    6: "english",
    8: "hiel",
    10: "hiel:str",
    12: "hiel:str_squared",
    14: "hiel:str_cubed",
    16: "lunch",
    18: "log_income",
    20: "constant",
}
TEST_ROWS = {  # row of the F statistic; its p-value is one row below
    22: [*CUBIC, *INTERACTIONS],  # every term in the ratio that the column has
    24: ["str_squared", "str_cubed"],
    26: INTERACTIONS,
}


def load_districts():
    data = pd.read_stata("data/caschool.dta")
    numeric = data.select_dtypes("number").columns
    data[numeric] = data[numeric].astype(float)  # never cube in single precision
    data["score"] = (data["read"] + data["math"]) / 2
    data["str"] = data["students"] / data["teachers"]
    data["str_squared"] = data["str"] ** 2
    data["str_cubed"] = data["str"] ** 3
    data["hiel"] = (data["english"] >= LEARNER_THRESHOLD).astype(float)
    for term in CUBIC:
        data[f"hiel:{term}"] = data["hiel"] * data[term]
    data["log_income"] = np.log(data["income"])
    data["constant"] = 1.0
    return data


def ols_hc1(data, regressors):
    """Least squares through a QR decomposition of unit-norm columns (the cubic is ill conditioned)."""
    names = [*regressors, "constant"]
    x = data[names].to_numpy()
    y = data["score"].to_numpy()
    n, k = x.shape
    scale = np.linalg.norm(x, axis=0)
    q, r = np.linalg.qr(x / scale)
    beta = np.linalg.solve(r, q.T @ y)
    residual = y - (x / scale) @ beta
    root = np.linalg.solve(r, (q * residual[:, None]).T)  # (X'X)^-1 x_i e_i, one column a district
    cov = n / (n - k) * root @ root.T
    ssr = residual @ residual
    sst = np.sum((y - y.mean()) ** 2)
    return {
        "params": pd.Series(beta / scale, names),
        "cov": pd.DataFrame(cov / np.outer(scale, scale), names, names),
        "df": n - k,
        "ser": np.sqrt(ssr / (n - k)),
        "r2_adj": 1 - (ssr / (n - k)) / (sst / (n - 1)),
    }


def joint_test(fit, terms):
    """Robust F statistic and p-value that all terms are zero."""
    b = fit["params"][terms].to_numpy()
    v = fit["cov"].loc[terms, terms].to_numpy()
    d = np.sqrt(np.diag(v))
    f = (b / d) @ np.linalg.solve(v / np.outer(d, d), b / d) / len(terms)
    return f, stats.f.sf(f, len(terms), fit["df"])


def column_cells(fit):
    """Every quantity of one column, by row."""
    cells = {28: fit["ser"], 29: fit["r2_adj"]}
    for row, term in TERM_ROWS.items():
        if term in fit["params"].index:
            cells[row] = fit["params"][term]
            cells[row + 1] = np.sqrt(fit["cov"].loc[term, term])
    for row, terms in TEST_ROWS.items():
        present = [term for term in terms if term in fit["params"].index]
        if present:
            cells[row], cells[row + 1] = joint_test(fit, present)
    return cells


def main():
    data = load_districts()
    columns = [column_cells(ols_hc1(data, regressors)) for regressors in MODELS]
    table = json.loads(Path("table_templates/table_8_3.json").read_text())
    for cell in table["cells"]:
        value = columns[cell["col"]].get(cell["row"])
        cell["value"] = None if value is None else float(value)
    Path("table_8_3.json").write_text(json.dumps(table, indent=2))


if __name__ == "__main__":
    main()
