"""Table 10.1: traffic fatality rate on the beer tax, drunk-driving laws and the economy.

Column 1 is pooled least squares with HC1 standard errors; columns 2 to 7 are within (state fixed
effects) regressions, with year indicators where the column has time effects, and standard errors
clustered by state.

Choices where the methods are open:
* Small-sample factor of the clustered variance: G / (G - 1) * (N - 1) / (N - K), where K counts the
  slopes and the constant but not the state effects, which are nested in the clusters.
* Joint tests: clustered Wald statistic over the number of restrictions, p-value from F(q, G - 1).
* A law that is unknown is an empty string in the file. A state left with a single year by that
  stays in the sample (it carries no information on the slopes but counts as observation and cluster).
* The adjusted R-squared counts every state and year indicator as a parameter.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadr
from scipy import stats

FIRST_YEAR, LAST_YEAR = 1982, 1988
AGES = ["age_eighteen", "age_nineteen", "age_twenty"]
ECONOMY = ["unemp", "log_income"]
LAWS = ["jail_or_service", "miles_thousand"]
TERM_ROWS = {  # row of the coefficient; its standard error is one row below
    0: "beertax",
    2: "age_eighteen",
    4: "age_nineteen",
    6: "age_twenty",
    8: "drinkage",
    10: "jail_or_service",
    12: "miles_thousand",
    14: "unemp",
    16: "log_income",
}
SETTINGS = ("setting", "text")


def load_panel():
    data = next(iter(pyreadr.read_r("data/fatality.rds").values()))
    data["year"] = data["year"].astype(int)
    for law in ("jail", "service"):
        data[law] = data[law].astype(object).where(data[law].isin(["yes", "no"]), None)
    data["known"] = data["jail"].notna() & data["service"].notna()
    data["fatality_rate"] = 10_000 * data["fatal"] / data["pop"]
    for name, age in zip(AGES, (18, 19, 20)):
        data[name] = ((data["drinkage"] >= age) & (data["drinkage"] < age + 1)).astype(float)
    either = (data["jail"] == "yes") | (data["service"] == "yes")
    data["jail_or_service"] = either.astype(float)
    data["miles_thousand"] = data["miles"] / 1000
    data["log_income"] = np.log(data["income"])
    return data.sort_values(["state", "year"]).reset_index(drop=True)


def pooled(data, regressors):
    """Least squares with a constant and HC1 standard errors."""
    names = [*regressors, "constant"]
    x = data.assign(constant=1.0)[names].to_numpy()
    y = data["fatality_rate"].to_numpy()
    n, k = x.shape
    beta = np.linalg.lstsq(x, y, rcond=None)[0]
    residual = y - x @ beta
    scores = x * residual[:, None]
    bread = np.linalg.inv(x.T @ x)
    cov = n / (n - k) * bread @ scores.T @ scores @ bread
    return result(names, beta, cov, [], None, residual, y, k)


def within(data, regressors, time_effects):
    """State fixed effects, optional year indicators, covariance clustered by state."""
    design = data[regressors].copy()
    years = sorted(data["year"].unique())[1:] if time_effects else []
    for year in years:
        design[f"year_{year}"] = (data["year"] == year).astype(float)
    names = list(design.columns)
    state = data["state"]
    x = (design - design.groupby(state).transform("mean")).to_numpy()
    y = data["fatality_rate"]
    y_within = (y - y.groupby(state).transform("mean")).to_numpy()

    n, slopes = x.shape
    n_states = state.nunique()
    beta = np.linalg.lstsq(x, y_within, rcond=None)[0]
    residual = y_within - x @ beta
    scores = pd.DataFrame(x * residual[:, None]).groupby(state.to_numpy()).sum().to_numpy()
    bread = np.linalg.inv(x.T @ x)
    factor = n_states / (n_states - 1) * (n - 1) / (n - slopes - 1)
    cov = factor * bread @ scores.T @ scores @ bread
    year_names = [f"year_{year}" for year in years]
    k = slopes + n_states
    return result(names, beta, cov, year_names, n_states - 1, residual, y.to_numpy(), k)


def result(names, beta, cov, year_names, test_df, residual, y, k):
    n = len(y)
    sst = np.sum((y - y.mean()) ** 2)
    return {
        "params": pd.Series(beta, names),
        "cov": pd.DataFrame(cov, names, names),
        "years": year_names,
        "test_df": test_df,
        "r2_adj": 1 - (residual @ residual / (n - k)) / (sst / (n - 1)),
    }


def joint_test(fit, terms):
    """F statistic and p-value that all terms are zero."""
    b = fit["params"][terms].to_numpy()
    v = fit["cov"].loc[terms, terms].to_numpy()
    f = b @ np.linalg.solve(v, b) / len(terms)
    return f, stats.f.sf(f, len(terms), fit["test_df"])


def column_cells(fit):
    """Every quantity of one column, by row."""
    cells = {28: fit["r2_adj"]}
    for row, term in TERM_ROWS.items():
        if term in fit["params"].index:
            cells[row] = fit["params"][term]
            cells[row + 1] = np.sqrt(fit["cov"].loc[term, term])
    for row, terms in {22: fit["years"], 24: AGES, 26: ECONOMY}.items():
        if terms and set(terms) <= set(fit["params"].index):
            cells[row], cells[row + 1] = joint_test(fit, terms)
    return cells


def main():
    data = load_panel()
    known = data[data["known"]]
    ends = known[known["year"].isin([FIRST_YEAR, LAST_YEAR])]
    full = ["beertax", *AGES, *LAWS, *ECONOMY]
    fits = [
        pooled(data, ["beertax"]),
        within(data, ["beertax"], time_effects=False),
        within(data, ["beertax"], time_effects=True),
        within(known, full, time_effects=True),
        within(known, ["beertax", *AGES, *LAWS], time_effects=True),
        within(known, ["beertax", "drinkage", *LAWS, *ECONOMY], time_effects=True),
        within(ends, full, time_effects=True),
    ]
    columns = [column_cells(fit) for fit in fits]
    table = json.loads(Path("table_templates/table_10_1.json").read_text())
    for cell in table["cells"]:
        if cell["metric"] in SETTINGS:
            continue
        value = columns[cell["col"]].get(cell["row"])
        cell["value"] = None if value is None else float(value)
    Path("table_10_1.json").write_text(json.dumps(table, indent=2))


if __name__ == "__main__":
    main()
