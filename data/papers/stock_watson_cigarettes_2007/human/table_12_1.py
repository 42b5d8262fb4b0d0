"""Table 12.1: two-stage least squares estimates of cigarette demand, changes 1985 to 1995.

The change of log packs a head is regressed on the change of the log real price (endogenous)
and of log real income a head; instruments are the change of the real sales tax, of the real
cigarette-specific tax, or both.

Choices where the description is open:
- standard errors are HC1: n/(n-k) times the heteroskedasticity-robust 2SLS sandwich;
- the first-stage F is the HC1-robust Wald statistic of the excluded instruments over their
  number;
- J is the number of excluded instruments times the homoskedasticity-only F of those
  instruments in a regression of the 2SLS residuals on them, income and a constant (residuals
  use the actual, not the fitted, price); its p-value is chi-squared with degrees of freedom
  equal to instruments less endogenous regressors.
"""

import json

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.stats import chi2

SLUG = "table_12_1"
LAST_YEAR, DECADE = 1995, 10

# Column of the table -> excluded instruments.
INSTRUMENTS = {
    0: ["sales_tax"],
    1: ["cigarette_tax"],
    2: ["sales_tax", "cigarette_tax"],
}
TERMS = {"Intercept": "const", "ln(P1995)-ln(P1985)": "price", "ln(Inc1995)-ln(Inc1985)": "income"}


def load_changes():
    """One row a state: the change of every variable over the decade."""
    panel = pd.read_parquet("data/cig_ch12.parquet")
    levels = pd.DataFrame(
        {
            "state": panel["state"],
            "year": panel["year"],
            "packs": np.log(panel["packs"]),
            "price": np.log(panel["price"] / panel["cpi"]),
            "income": np.log(panel["income"] / panel["population"] / panel["cpi"]),
            "sales_tax": (panel["taxs"] - panel["tax"]) / panel["cpi"],
            "cigarette_tax": panel["tax"] / panel["cpi"],
        }
    ).set_index(["year", "state"])
    return levels.loc[LAST_YEAR] - levels.loc[LAST_YEAR - DECADE]


def two_stage(changes, instruments):
    """2SLS coefficients, HC1 standard errors and residuals."""
    y = changes["packs"].to_numpy()
    x = sm.add_constant(changes[["price", "income"]])
    z = sm.add_constant(changes[["income", *instruments]]).to_numpy()
    # Instruments are put on a common scale; this leaves the estimates as they are.
    z = z / np.sqrt((z**2).mean(axis=0))
    fitted = z @ np.linalg.lstsq(z, x.to_numpy(), rcond=None)[0]
    bread = np.linalg.inv(fitted.T @ fitted)
    beta = bread @ fitted.T @ y
    residuals = y - x.to_numpy() @ beta
    n, k = x.shape
    meat = (fitted * residuals[:, None] ** 2).T @ fitted
    covariance = n / (n - k) * bread @ meat @ bread
    params = pd.Series(beta, x.columns)
    return params, pd.Series(np.sqrt(np.diag(covariance)), x.columns), residuals


def exclusion_f(outcome, changes, instruments, cov_type):
    """F statistic that the instruments have zero coefficients, given income and a constant."""
    design = sm.add_constant(changes[["income", *instruments]])
    fit = sm.OLS(np.asarray(outcome), design).fit(cov_type=cov_type)
    restriction = np.array([design.columns == name for name in instruments], dtype=float)
    return float(np.squeeze(fit.f_test(restriction).fvalue))


def estimate(changes, instruments):
    """Everything printed in one column of the table."""
    params, errors, residuals = two_stage(changes, instruments)
    results = {("coefficient", label): float(params[term]) for label, term in TERMS.items()}
    results |= {("standard_error", label): float(errors[term]) for label, term in TERMS.items()}
    results["f_statistic"] = exclusion_f(changes["price"], changes, instruments, "HC1")
    surplus = len(instruments) - 1
    if surplus > 0:
        f_residuals = exclusion_f(residuals, changes, instruments, "nonrobust")
        j_statistic = len(instruments) * f_residuals
        results["chi2_statistic"] = j_statistic
        results["p_value"] = float(chi2.sf(j_statistic, surplus))
    return results


def main():
    changes = load_changes()
    columns = {col: estimate(changes, names) for col, names in INSTRUMENTS.items()}
    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        metric, results = cell["metric"], columns[cell["col"]]
        if metric == "setting":
            continue
        key = metric if metric in results else (metric, cell["row_label"])
        cell["value"] = results[key]
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
