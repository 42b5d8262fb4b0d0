"""Arellano and Bond (1991), Table 4: dynamic employment equations by difference GMM.

Log employment on two of its own lags, log wage, capital and industry output (with lags) and year
effects, in first differences. Instruments of the year-t equation are all levels of log employment
dated t-2 and earlier, one column for every pair of equation year and instrument year; the other
regressors, differenced, and the year indicators instrument themselves.

Choices:
* The year indicators enter the differenced equation as they are (one for each of its years, no
  constant). Differencing level-year indicators instead would span the same space.
* An instrument that a company does not have (its panel starts later) is zero, as is usual.
* One-step standard errors are robust (company-wise outer products of first-step moments);
  two-step ones are the usual inverse (D'Z S^-1 Z'D)^-1, S from first-step residuals, without
  finite-sample correction.
* The Sargan statistic is the minimised second-step criterion: second-step moments, weighted by the
  inverse of S from first-step residuals.
"""

import json

import numpy as np
import pandas as pd

LAGS = {  # level regressors, as (variable, lag)
    "n(t-1)": ("n", 1),
    "n(t-2)": ("n", 2),
    "w(t)": ("w", 0),
    "w(t-1)": ("w", 1),
    "k(t)": ("k", 0),
    "k(t-1)": ("k", 1),
    "k(t-2)": ("k", 2),
    "ys(t)": ("ys", 0),
    "ys(t-1)": ("ys", 1),
    "ys(t-2)": ("ys", 2),
}
ENDOGENOUS = ["n(t-1)", "n(t-2)"]
FULL = list(LAGS)
SHORT = ["n(t-1)", "n(t-2)", "w(t)", "w(t-1)", "k(t)", "ys(t)", "ys(t-1)"]
FIRST_INSTRUMENT_LAG = 2


def load():
    """Company panel in logs, indexed by company and year."""
    raw = pd.read_stata("data/EmplUK.dta").set_index(["firm", "year"]).sort_index()
    names = {"emp": "n", "wage": "w", "capital": "k", "output": "ys"}
    return np.log(raw[list(names)]).rename(columns=names)


def shift(series, lag):
    """Lag by calendar years within a company."""
    moved = series.copy()
    moved.index = pd.MultiIndex.from_arrays(
        [series.index.get_level_values(0), series.index.get_level_values(1) + lag],
        names=series.index.names,
    )
    return moved.reindex(series.index)


def differenced(logs, terms):
    """First differences of outcome and regressors, for rows where all of them exist."""
    level = pd.DataFrame({t: shift(logs[v], lag) for t, (v, lag) in LAGS.items() if t in terms})
    level.insert(0, "n(t)", logs["n"])
    return level.apply(lambda column: column - shift(column, 1)).dropna()


def instruments(logs, diff, exogenous):
    """Levels of n by equation year, then differenced exogenous regressors and year indicators."""
    wide = logs["n"].unstack("year")
    firm, year = (diff.index.get_level_values(name) for name in ("firm", "year"))
    columns = []
    for t in np.unique(year):
        for s in (s for s in wide.columns if s <= t - FIRST_INSTRUMENT_LAG):
            columns.append(np.where(year == t, wide[s].reindex(firm).fillna(0.0), 0.0))
    dummies = year_indicators(year)
    return np.column_stack([*columns, diff[exogenous].to_numpy(), dummies])


def year_indicators(year):
    return (np.asarray(year)[:, None] == np.unique(year)).astype(float)


def difference_gmm(logs, terms):
    """One- and two-step estimates, their standard errors and the Sargan statistic."""
    diff = differenced(logs, terms)
    firm, year = (diff.index.get_level_values(name).to_numpy() for name in ("firm", "year"))
    y = diff["n(t)"].to_numpy()
    x = np.column_stack([diff[terms].to_numpy(), year_indicators(year)])
    z = instruments(logs, diff, [t for t in terms if t not in ENDOGENOUS])
    blocks = [np.flatnonzero(firm == f) for f in np.unique(firm)]
    zx, zy = z.T @ x, z.T @ y

    def moment_covariance(residual):
        scores = np.stack([z[b].T @ residual[b] for b in blocks])
        return scores.T @ scores

    def solve(weight):
        bread = np.linalg.inv(zx.T @ weight @ zx)
        return bread @ zx.T @ weight @ zy, bread

    # First step: 2 on the diagonal and -1 between neighbouring years of a company.
    h_sum = np.zeros((z.shape[1], z.shape[1]))
    for b in blocks:
        gap = np.abs(year[b][:, None] - year[b][None, :])
        h_sum += z[b].T @ (2.0 * (gap == 0) - 1.0 * (gap == 1)) @ z[b]
    w1 = np.linalg.inv(h_sum)
    beta1, bread1 = solve(w1)
    s = moment_covariance(y - x @ beta1)
    v1 = bread1 @ zx.T @ w1 @ s @ w1 @ zx @ bread1

    w2 = np.linalg.inv(s)
    beta2, v2 = solve(w2)
    moments = z.T @ (y - x @ beta2)

    def pack(beta, v):
        k = len(terms)
        errors = np.sqrt(np.diag(v))[:k]
        return {
            "coefficient": dict(zip(terms, beta[:k])),
            "standard_error": dict(zip(terms, errors)),
            "n_obs": len(y),
            "n_groups": len(blocks),
        }

    one, two = pack(beta1, v1), pack(beta2, v2)
    two["chi2_statistic"] = moments @ w2 @ moments
    return one, two


def main():
    logs = load()
    a1, a2 = difference_gmm(logs, FULL)
    _, b = difference_gmm(logs, SHORT)
    results = [a1, a2, b]

    with open("table_templates/table_4.json") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        found = results[cell["col"]][cell["metric"]]
        if isinstance(found, dict):
            found = found[cell["row_label"]]
        cell["value"] = float(found)
    with open("table_4.json", "w") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
