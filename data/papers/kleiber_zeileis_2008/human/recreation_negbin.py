"""Negative binomial regression of boating trips (RecreationDemand negative binomial).

All variables of the file enter; the variance is mu + mu^2 / theta. The coefficients and theta
maximise the likelihood jointly (Newton's method in (beta, log theta)). The standard errors are
those of the mean equation taken with theta as known at its estimate: the inverse of the expected
information X'WX with W = mu / (1 + mu / theta). The log-likelihood contains all constants.
"""

import json

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.special import digamma, gammaln, polygamma

SLUG = "recreation_negbin"
TERMS = ["quality", "ski_yes", "income", "userfee_yes", "costC", "costS", "costH"]


def load():
    """Number of trips and design matrix, the constant first."""
    data = pd.read_excel("data/RecreationDemand.xlsx")
    data["ski_yes"] = (data["ski"] == "yes").astype(float)
    data["userfee_yes"] = (data["userfee"] == "yes").astype(float)
    x = np.column_stack([np.ones(len(data)), data[TERMS].to_numpy(float)])
    return data["trips"].to_numpy(float), x


def log_likelihood(params, y, x):
    """Log-likelihood, score and Hessian in (beta, log theta)."""
    mu, theta = np.exp(x @ params[:-1]), np.exp(params[-1])
    total = mu + theta
    loglik = gammaln(y + theta) - gammaln(theta) - gammaln(y + 1)
    loglik += theta * np.log(theta / total) + y * np.log(mu / total)
    by_eta = theta * (y - mu) / total
    by_theta = digamma(y + theta) - digamma(theta) + np.log(theta / total)
    by_theta += 1 - (y + theta) / total
    score = np.append(x.T @ by_eta, theta * by_theta.sum())

    eta_eta = -theta * mu * (y + theta) / total**2
    eta_theta = mu * (y - mu) / total**2
    theta_theta = polygamma(1, y + theta) - polygamma(1, theta) + 1 / theta - 2 / total
    theta_theta += (y + theta) / total**2
    hessian = np.empty((len(params), len(params)))
    hessian[:-1, :-1] = (x * eta_eta[:, None]).T @ x
    hessian[:-1, -1] = hessian[-1, :-1] = theta * (x.T @ eta_theta)
    hessian[-1, -1] = theta**2 * theta_theta.sum() + theta * by_theta.sum()
    return loglik.sum(), score, hessian


def maximise(params, y, x):
    """Newton's method with step halving; stops when the Newton decrement vanishes."""
    loglik, score, hessian = log_likelihood(params, y, x)
    for _ in range(200):
        # Absolute eigenvalues keep the step an ascent direction where the Hessian is indefinite.
        curvature, axes = np.linalg.eigh(-hessian)
        step = axes @ (axes.T @ score / np.maximum(np.abs(curvature), 1e-8))
        if score @ step < 1e-18 and curvature[0] > 0:
            return params, loglik
        size = 1.0 / max(1.0, abs(step[-1]))  # log theta moves by at most one
        while size > 1e-10:
            trial = log_likelihood(params + size * step, y, x)
            if trial[0] >= loglik - 1e-10:
                break
            size /= 2
        params = params + size * step
        loglik, score, hessian = trial
    raise RuntimeError("negative binomial: no convergence")


def main():
    y, x = load()
    start = np.append(sm.GLM(y, x, family=sm.families.Poisson()).fit().params, 0.0)
    params, loglik = maximise(start, y, x)
    beta, theta = params[:-1], np.exp(params[-1])
    mu = np.exp(x @ beta)
    weight = mu / (1 + mu / theta)
    se = np.sqrt(np.diag(np.linalg.inv((x * weight[:, None]).T @ x)))

    values = {}
    for row in range(len(beta)):
        values[row, "coefficient"] = beta[row]
        values[row, "standard_error"] = se[row]
    values[len(beta), "log_likelihood"] = loglik

    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        cell["value"] = float(values[cell["row"], cell["metric"]])
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
