"""Hurdle negative binomial of boating trips (RecreationDemand hurdle negative binomial).

Zero part: logit for making any trip at all, on quality rating and income. Count part: negative
binomial truncated at zero on all variables of the file, log link, variance mu + mu^2 / theta of
the untruncated distribution. The log-likelihood is the sum of the two parts and its Hessian is
block-diagonal, so each part is maximised by itself. Standard errors are from the inverse of the
Hessian, log theta being one of the parameters. The score is analytic, the Hessian of the count
part its central difference. Columns are divided by their root mean square while optimising,
which leaves the model unchanged; the highest maximum over several starting values is reported.
"""

import json

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

SLUG = "recreation_hurdle"
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


def truncated_log_likelihood(params, y, x):
    """Log-likelihood of positive counts and its score in (beta, log theta)."""
    eta, theta = x @ params[:-1], np.exp(params[-1])
    mu = np.exp(eta)
    log_ratio = -np.log1p(mu / theta)  # log(theta / (theta + mu))
    log_zero = theta * log_ratio  # log probability of a zero
    density = gammaln(y + theta) - gammaln(theta) - gammaln(y + 1) + log_zero
    density += y * (eta - np.log(theta + mu))
    loglik = density - np.log(-np.expm1(log_zero))

    odds = 1 / np.expm1(-log_zero)  # odds of a zero, from the truncation
    by_eta = theta * (y - mu) / (theta + mu) - odds * theta * mu / (theta + mu)
    by_theta = digamma(y + theta) - digamma(theta) + log_ratio + (mu - y) / (theta + mu)
    by_theta += odds * (log_ratio + mu / (theta + mu))
    return loglik.sum(), np.append(x.T @ by_eta, theta * by_theta.sum())


def hessian_of(params, y, x, step=1e-5):
    """Central difference of the analytic score, made symmetric."""
    rows = []
    for j in range(len(params)):
        shift = np.zeros(len(params))
        shift[j] = step * max(1.0, abs(params[j]))
        ahead = truncated_log_likelihood(params + shift, y, x)[1]
        behind = truncated_log_likelihood(params - shift, y, x)[1]
        rows.append((ahead - behind) / (2 * shift[j]))
    hessian = np.array(rows)
    return (hessian + hessian.T) / 2


def maximise(start, y, x):
    """Quasi-Newton search, finished by Newton steps."""

    def objective(params):
        loglik, score = truncated_log_likelihood(params, y, x)
        return -loglik, -score

    params = minimize(
        objective, start, jac=True, method="BFGS", options={"maxiter": 5000, "gtol": 1e-6}
    ).x
    for _ in range(20):
        score = truncated_log_likelihood(params, y, x)[1]
        step = np.linalg.solve(-hessian_of(params, y, x), score)
        if abs(score @ step) < 1e-18:
            break
        params = params + step
    return truncated_log_likelihood(params, y, x)[0], params


def count_part(y, x):
    """Truncated negative binomial: (beta, log theta) and standard errors."""
    positive = y > 0
    yp = y[positive]
    scale = np.append(np.sqrt((x[positive] ** 2).mean(0)), 1.0)
    xs = x[positive] / scale[:-1]
    beta = sm.GLM(yp, xs, family=sm.families.Poisson()).fit().params
    starts = [np.append(beta, log_theta) for log_theta in (-1.0, 0.0, 1.0)]
    _, params = max((maximise(s, yp, xs) for s in starts), key=lambda result: result[0])
    information = -hessian_of(params, yp, xs)
    if np.linalg.eigvalsh(information)[0] <= 0:
        raise RuntimeError("hurdle: count part not at a maximum")
    return params / scale, np.sqrt(np.diag(np.linalg.inv(information))) / scale


def zero_part(y, z):
    """Logit for any trip; the link is canonical, so expected and observed information agree."""
    fit = sm.GLM((y > 0).astype(float), z, family=sm.families.Binomial())
    fit = fit.fit(tol=1e-14, tol_criterion="params")
    return fit.params, fit.bse


def main():
    y, x, z = load()
    count, zero = count_part(y, x), zero_part(y, z)
    coef, se = np.append(count[0], zero[0]), np.append(count[1], zero[1])
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
