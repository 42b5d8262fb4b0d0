"""Zero-inflated negative binomial of boating trips (RecreationDemand zero-inflated negbin).

Count part: all variables of the file, log link, variance mu + mu^2 / theta. Zero part: logit for
belonging to those who never go, on quality rating and income. All parameters, log theta among
them, maximise the likelihood jointly; the standard errors come from the inverse of its Hessian.
The score is analytic, the Hessian is its central difference. Columns are divided by their
root mean square while optimising, which leaves the model unchanged. Several starting values are
tried, and the highest maximum is reported.
"""

import json

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import digamma, expit, gammaln, log_expit

SLUG = "recreation_zinb"
COUNT_TERMS = ["quality", "ski_yes", "income", "userfee_yes", "costC", "costS", "costH"]
ZERO_TERMS = ["quality", "income"]


def load():
    """Number of trips and the design matrices of both parts, the constant first."""
    data = pd.read_excel("data/RecreationDemand.xlsx")
    data["ski_yes"] = (data["ski"] == "yes").astype(float)
    data["userfee_yes"] = (data["userfee"] == "yes").astype(float)
    one = np.ones(len(data))
    x = np.column_stack([one, data[COUNT_TERMS].to_numpy(float)])
    z = np.column_stack([one, data[ZERO_TERMS].to_numpy(float)])
    return data["trips"].to_numpy(float), x, z


def log_likelihood(params, y, x, z):
    """Log-likelihood and score in (beta, log theta, gamma)."""
    k = x.shape[1]
    mu, theta = np.exp(x @ params[:k]), np.exp(params[k])
    zero_index = z @ params[k + 1 :]
    log_ratio = -np.log1p(mu / theta)  # log(theta / (theta + mu))
    density = gammaln(y + theta) - gammaln(theta) - gammaln(y + 1) + theta * log_ratio
    density += y * (x @ params[:k] - np.log(theta + mu))
    never, may_go = log_expit(zero_index), log_expit(-zero_index)
    at_zero = y == 0
    loglik = np.where(at_zero, np.logaddexp(never, may_go + density), may_go + density)

    # Probability of being in the count part given the observed number of trips.
    in_count = np.where(at_zero, np.exp(may_go + density - loglik), 1.0)
    by_eta = theta * (y - mu) / (theta + mu)
    by_theta = digamma(y + theta) - digamma(theta) + log_ratio + (mu - y) / (theta + mu)
    score_zero = (1 - in_count) - expit(zero_index)
    score = np.concatenate(
        [x.T @ (in_count * by_eta), [theta * (in_count @ by_theta)], z.T @ score_zero]
    )
    return loglik.sum(), score


def hessian_of(params, y, x, z, step=1e-5):
    """Central difference of the analytic score, made symmetric."""
    rows = []
    for j in range(len(params)):
        shift = np.zeros(len(params))
        shift[j] = step * max(1.0, abs(params[j]))
        ahead = log_likelihood(params + shift, y, x, z)[1]
        behind = log_likelihood(params - shift, y, x, z)[1]
        rows.append((ahead - behind) / (2 * shift[j]))
    hessian = np.array(rows)
    return (hessian + hessian.T) / 2


def maximise(start, y, x, z):
    """Quasi-Newton search, finished by Newton steps."""

    def objective(params):
        loglik, score = log_likelihood(params, y, x, z)
        return -loglik, -score

    params = minimize(
        objective, start, jac=True, method="BFGS", options={"maxiter": 5000, "gtol": 1e-6}
    ).x
    for _ in range(20):
        score = log_likelihood(params, y, x, z)[1]
        step = np.linalg.solve(-hessian_of(params, y, x, z), score)
        if abs(score @ step) < 1e-18:
            break
        params = params + step
    return log_likelihood(params, y, x, z)[0], params


def estimate(y, x, z):
    """Coefficients and standard errors in the order of the printed rows."""
    scale = np.sqrt(np.concatenate([(x**2).mean(0), [1.0], (z**2).mean(0)]))
    xs, zs = x / scale[: x.shape[1]], z / scale[x.shape[1] + 1 :]
    count = sm.GLM(y, xs, family=sm.families.Poisson()).fit().params
    zero = sm.GLM((y == 0).astype(float), zs, family=sm.families.Binomial()).fit().params
    starts = [np.concatenate([count, [log_theta], zero]) for log_theta in (-1.0, 0.0, 1.0)]
    starts.append(np.concatenate([count, [0.0], np.zeros(zs.shape[1])]))
    loglik, params = max((maximise(s, y, xs, zs) for s in starts), key=lambda result: result[0])
    information = -hessian_of(params, y, xs, zs)
    if np.linalg.eigvalsh(information)[0] <= 0:
        raise RuntimeError("zero-inflated negative binomial: not at a maximum")
    return params / scale, np.sqrt(np.diag(np.linalg.inv(information))) / scale


def main():
    coef, se = estimate(*load())
    values = {}
    for row in range(len(coef)):
        values[row, "coefficient"] = coef[row]
        values[row, "standard_error"] = se[row]

    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        cell["value"] = float(values[cell["row"], cell["metric"]])
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
