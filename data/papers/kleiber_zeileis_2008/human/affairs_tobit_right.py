"""Tobit of the number of extramarital affairs, censored on both sides (Affairs tobit, right).

Values at or below zero are censored from below, values at or above four from above; in between
the recorded number is used as it is. Maximum likelihood with normal errors. The parameters are
the coefficients and the log of the scale; the standard errors come from the inverse of the
observed information in that parametrisation. Newton's method with analytic score and Hessian,
started from least squares.
"""

import json

import numpy as np
import pyreadstat
from scipy.stats import norm

SLUG = "affairs_tobit_right"
TERMS = ["age", "yearsmarried", "religiousness", "occupation", "rating"]
LOWER_LIMIT = 0.0
UPPER_LIMIT = 4.0


def load():
    """Outcome and design matrix, the constant first."""
    data, _ = pyreadstat.read_sav("data/Affairs.sav")
    x = np.column_stack([np.ones(len(data)), data[TERMS].to_numpy(float)])
    return data["affairs"].to_numpy(float), x


def log_likelihood(params, y, x):
    """Log-likelihood, score and Hessian in (beta, log sigma)."""
    sigma = np.exp(params[-1])
    low, high = y <= LOWER_LIMIT, y >= UPPER_LIMIT
    inside = ~(low | high)
    z = (np.clip(y, LOWER_LIMIT, UPPER_LIMIT) - x @ params[:-1]) / sigma
    # Contribution g(z) of each observation and its first two derivatives in z: log Phi(z) if
    # censored from below, log(1 - Phi(z)) from above, else log phi(z) - log sigma.
    below = np.exp(norm.logpdf(z) - norm.logcdf(z))
    above = np.exp(norm.logpdf(z) - norm.logsf(z))
    cases = [low, high]
    g = np.select(cases, [norm.logcdf(z), norm.logsf(z)], norm.logpdf(z) - params[-1])
    g1 = np.select(cases, [below, -above], -z)
    g2 = np.select(cases, [-below * (z + below), above * (z - above)], -1.0)
    # dz/dbeta = -x / sigma and dz/dlog(sigma) = -z.
    dz = np.column_stack([-x / sigma, -z])
    score = dz.T @ g1
    score[-1] -= np.sum(inside)
    hessian = (dz * g2[:, None]).T @ dz
    cross = x.T @ g1 / sigma  # second derivatives of z: x / sigma and z
    hessian[:-1, -1] += cross
    hessian[-1, :-1] += cross
    hessian[-1, -1] += z @ g1
    return g.sum(), score, hessian


def maximise(params, y, x):
    """Newton's method with step halving; stops when the Newton decrement vanishes."""
    loglik, score, hessian = log_likelihood(params, y, x)
    for _ in range(200):
        # Absolute eigenvalues keep the step an ascent direction where the Hessian is indefinite.
        curvature, axes = np.linalg.eigh(-hessian)
        step = axes @ (axes.T @ score / np.maximum(np.abs(curvature), 1e-8))
        if score @ step < 1e-18 and curvature[0] > 0:
            return params, loglik, hessian
        size = 1.0 / max(1.0, abs(step[-1]))  # log sigma moves by at most one
        while size > 1e-10:
            trial = log_likelihood(params + size * step, y, x)
            if trial[0] >= loglik - 1e-10:
                break
            size /= 2
        params = params + size * step
        loglik, score, hessian = trial
    raise RuntimeError("tobit: no convergence")


def main():
    y, x = load()
    beta = np.linalg.lstsq(x, y, rcond=None)[0]
    start = np.append(beta, np.log(np.std(y - x @ beta)))
    params, loglik, hessian = maximise(start, y, x)
    se = np.sqrt(np.diag(np.linalg.inv(-hessian)))

    values = {}
    for row in range(len(params)):  # log(scale) is the last of the coefficients
        values[row, "coefficient"] = params[row]
        values[row, "standard_error"] = se[row]
    values[len(params), "other_statistic"] = np.exp(params[-1])
    values[len(params) + 1, "log_likelihood"] = loglik

    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        cell["value"] = float(values[cell["row"], cell["metric"]])
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
