"""Table 14.2: a log wage equation by pooled OLS, random effects and fixed effects.

Choices:
- All 4,360 man-years; every column has indicators of the second to the eighth year.
- Standard errors are the usual (homoskedastic) ones in all three columns.
- Random effects: Swamy-Arora. The within and the between regression use the full list of
  regressors. Some drop out of each (time-invariant ones and experience within; year indicators
  between), so their residual degrees of freedom count the rank of the design, not its columns.
- Random effects standard errors: residual variance of the quasi-demeaned regression over its own
  residual degrees of freedom (rows less coefficients).
- Fixed effects: degrees of freedom also lose one for each man.
"""

import json
from pathlib import Path

import numpy as np
import pyreadstat

SLUG = "table_14_2"
YEARS = [f"d{year}" for year in range(81, 88)]
TERMS = ["educ", "black", "hisp", "exper", "expersq", "married", "union"]
WITHIN_TERMS = ["expersq", "married", "union"]
ROW_LABELS = {"exper^2": "expersq"}


def least_squares(y, x, lost=0):
    """Coefficients and classical standard errors; `lost` is degrees of freedom already used."""
    inverse = np.linalg.inv(x.T @ x)
    beta = inverse @ (x.T @ y)
    residual = y - x @ beta
    variance = residual @ residual / (x.shape[0] - x.shape[1] - lost)
    return beta, np.sqrt(variance * np.diag(inverse))


def residual_variance(y, x, lost=0):
    """Residual variance of a regression whose design may be short of full rank."""
    beta, _, rank, _ = np.linalg.lstsq(x, y, rcond=1e-10)
    residual = y - x @ beta
    return residual @ residual / (x.shape[0] - rank - lost)


def pooled(data):
    names = TERMS + YEARS
    x = np.column_stack([np.ones(len(data)), data[names]])
    beta, se = least_squares(data["lwage"].to_numpy(), x)
    return dict(zip(["const"] + names, zip(beta, se)))


def random_effects(data):
    names = TERMS + YEARS
    columns = data[["lwage"] + names]
    means = columns.groupby(data["nr"]).transform("mean")
    n_men = data["nr"].nunique()
    periods = len(data) // n_men  # the panel is balanced

    within = (columns - means).to_numpy()
    variance_e = residual_variance(within[:, 0], within[:, 1:], lost=n_men)
    between = columns.groupby(data["nr"]).mean().to_numpy()
    design = np.column_stack([np.ones(n_men), between[:, 1:]])
    variance_between = residual_variance(between[:, 0], design)
    variance_u = max(variance_between - variance_e / periods, 0.0)

    theta = 1 - np.sqrt(variance_e / (variance_e + periods * variance_u))
    quasi = (columns - theta * means).to_numpy()
    x = np.column_stack([np.full(len(data), 1 - theta), quasi[:, 1:]])
    beta, se = least_squares(quasi[:, 0], x)
    return dict(zip(["const"] + names, zip(beta, se)))


def fixed_effects(data):
    names = WITHIN_TERMS + YEARS
    columns = data[["lwage"] + names]
    within = (columns - columns.groupby(data["nr"]).transform("mean")).to_numpy()
    beta, se = least_squares(within[:, 0], within[:, 1:], lost=data["nr"].nunique())
    return dict(zip(names, zip(beta, se)))


def main():
    data, _ = pyreadstat.read_sav("data/wagepan.sav")
    data = data.sort_values(["nr", "year"]).reset_index(drop=True)
    assert data.groupby("nr").size().nunique() == 1, "the panel is balanced"
    results = [pooled(data), random_effects(data), fixed_effects(data)]

    table = json.loads(Path(f"table_templates/{SLUG}.json").read_text(encoding="utf-8"))
    for cell in table["cells"]:
        term = ROW_LABELS.get(cell["row_label"], cell["row_label"])
        coefficient, error = results[cell["col"]][term]
        cell["value"] = float(coefficient if cell["metric"] == "coefficient" else error)
    Path(f"{SLUG}.json").write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
