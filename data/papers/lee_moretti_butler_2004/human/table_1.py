"""Table I: gaps in ADA scores and in winning between narrowly won and narrowly lost districts.

Choices:
- Sample: rows whose election before had a Democratic share strictly within 2 points of one half.
  Rows count as independent (the two rows of a session are not clustered).
- Every gap is the slope of a regression on an indicator and a constant, with HC1 errors.
- Column (2): a row does not hold the score of session t, so the score it does hold is compared by
  the party that won the row's own election.
- Columns (4) and (5): delta method with the joint HC1 covariance of the three slopes, which comes
  from the products of their influence functions row by row.
"""

import json
from pathlib import Path

import numpy as np
import pyreadstat

SLUG = "table_1"
CUTOFF = 0.5
BANDWIDTH = 0.02
# Outcome and indicator of the columns (1) total, (2) office, (3) winning.
GAPS = [("score", "lagdemocrat"), ("score", "democrat"), ("democrat", "lagdemocrat")]


def gap(outcome, indicator):
    """Difference in means by least squares, and the influence of each row on it."""
    x = np.column_stack([np.ones(len(outcome)), indicator])
    inverse = np.linalg.inv(x.T @ x)
    beta = inverse @ (x.T @ outcome)
    residual = outcome - x @ beta
    return beta[1], (x * residual[:, None]) @ inverse[:, 1]


def estimate(sample):
    """The five estimates and their standard errors."""
    fits = [gap(sample[y].to_numpy(float), sample[d].to_numpy(float)) for y, d in GAPS]
    total, office, winning = (fit[0] for fit in fits)
    influence = np.column_stack([fit[1] for fit in fits])
    n = len(sample)
    covariance = influence.T @ influence * n / (n - 2)  # HC1: two coefficients in each regression

    elect = office * winning
    estimates = np.array([total, office, winning, elect, total - elect])
    # Derivatives of the five estimates by (total, office, winning).
    jacobian = np.vstack([np.eye(3), [0, winning, office], [1, -winning, -office]])
    return estimates, np.sqrt(np.diag(jacobian @ covariance @ jacobian.T))


def main():
    data, _ = pyreadstat.read_dta("data/close_elections.dta")
    # A missing vote share compares as false, so such rows are left out.
    sample = data[(data["lagdemvoteshare"] - CUTOFF).abs() < BANDWIDTH]
    estimates, errors = estimate(sample)

    table = json.loads(Path(f"table_templates/{SLUG}.json").read_text(encoding="utf-8"))
    for cell in table["cells"]:
        if cell["metric"] == "n_obs":
            cell["value"] = float(len(sample))
        elif cell["metric"] == "coefficient":
            cell["value"] = float(estimates[cell["col"]])
        else:
            cell["value"] = float(errors[cell["col"]])
    Path(f"{SLUG}.json").write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
