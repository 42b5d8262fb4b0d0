"""Table 5, panels A and B: castle doctrine laws and log homicide, difference-in-differences.

Log homicide rate on the law indicator with state and year effects; columns add region-by-year
indicators (2-6), time-varying controls (3-6), an indicator of the two years before adoption
(4), contemporaneous crime rates (5) and state-specific linear trends (6). Panel A weights by
population, panel B does not. Standard errors are clustered by state.

Choices where the description is open:
- the law variable is the zero-one indicator of the file (the share of the year is not in it);
- columns are least squares with dummies, partialled out; collinear indicators (year effects
  inside region-by-year effects, one trend, the empty trend of the District of Columbia) drop
  out, and only their rank matters;
- the cluster-robust variance has the factor G/(G-1) * (N-1)/(N-K), where K counts the constant
  and all slopes but not the state effects, which are nested in the clusters.
"""

import json

import numpy as np
import pandas as pd

SLUG = "table_5"

YEARS = range(2000, 2011)
REGION_BY_YEAR = [f"r{year}{region}" for year in YEARS for region in range(1, 5)]
TIME_VARYING = [
    "l_police",
    "unemployrt",
    "poverty",
    "l_income",
    "l_prisoner",
    "l_lagprisoner",
    "blackm_15_24",
    "whitem_15_24",
    "blackm_25_44",
    "whitem_25_44",
    "l_exp_subsidy",
    "l_exp_pubwelfare",
]
BASE = REGION_BY_YEAR + TIME_VARYING
CONTROLS = {
    0: [],
    1: REGION_BY_YEAR,
    2: BASE,
    3: [*BASE, "before_adoption"],
    4: [*BASE, "l_larceny", "l_motor"],
    5: BASE + [f"trend_{state}" for state in range(1, 52)],
}


def load_states():
    """All state-years."""
    states = pd.read_stata("data/castle.dta")
    before = (states["lead1"] == 1) | (states["lead2"] == 1)
    return states.assign(before_adoption=before.astype(float))


def partial_out(nuisance, *columns):
    """Residuals of the columns after projection on the nuisance regressors, and their rank."""
    norms = np.linalg.norm(nuisance, axis=0)
    scaled = nuisance[:, norms > 0] / norms[norms > 0]
    u, s, _ = np.linalg.svd(scaled, full_matrices=False)
    basis = u[:, s > 1e-9 * s[0]]
    return [column - basis @ (basis.T @ column) for column in columns], basis.shape[1]


def law_effect(states, controls, weighted):
    """Coefficient of the law and its standard error clustered by state."""
    used = states.dropna(subset=["l_homicide", "post", "sid", "year", "popwt", *controls])
    effects = [pd.get_dummies(used[name]).to_numpy(float) for name in ("sid", "year")]
    nuisance = np.hstack([*effects, used[controls].to_numpy(float)])
    root = np.sqrt(used["popwt"].to_numpy(float)) if weighted else np.ones(len(used))

    (law, outcome), rank = partial_out(
        nuisance * root[:, None],
        used["post"].to_numpy(float) * root,
        used["l_homicide"].to_numpy(float) * root,
    )
    coefficient = law @ outcome / (law @ law)

    scores = pd.Series(law * (outcome - coefficient * law)).groupby(used["sid"].to_numpy()).sum()
    n, groups = len(used), len(scores)
    slopes = rank + 1 - (groups - 1)
    factor = groups / (groups - 1) * (n - 1) / (n - slopes)
    error = np.sqrt(factor * (scores**2).sum()) / (law @ law)
    return {"coefficient": float(coefficient), "standard_error": float(error)}


def main():
    states = load_states()
    estimates = {
        (panel, col): law_effect(states, controls, weighted=panel == "A")
        for panel in "AB"
        for col, controls in CONTROLS.items()
    }
    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        if cell["metric"] == "setting":
            continue
        panel = cell["panel"].removeprefix("Panel ")[0]
        cell["value"] = estimates[panel, cell["col"]][cell["metric"]]
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
