"""Zeileis, Koell and Graham (2020), Section 5.1: hurdle model for patent citations, tests.

Negative binomial hurdle model (logit of a positive count; zero-truncated negative binomial with log
link), the same regressors in both parts. Standard errors are clustered by company with the factor
G/(G-1); a t value is the estimate over its clustered standard error.

Choice: the sandwich is that of the whole parameter vector, log theta included, so the uncertainty
of theta goes into both bread and meat.
"""

import json

import numpy as np
import pandas as pd
from scipy.linalg import block_diag
from scipy.optimize import minimize
from scipy.special import digamma, expit, gammaln, polygamma

TERMS = ["(Intercept)", "institutions", "log(capital/employment)", "log(sales)"]


def load():
    """Design matrix (both parts use it), citations and companies."""
    raw = pd.read_parquet("data/InstInnovation.parquet")
    x = np.column_stack(
        [
            np.ones(len(raw)),
            raw["institutions"],
            np.log(raw["capital"] / raw["employment"]),
            np.log(raw["sales"]),
        ]
    )
    return x, raw["cites"].to_numpy(float), raw["company"]


def fit_hurdle(x, y):
    """Both parts; estimates, scores by company-year and Hessian, over (beta, log theta, gamma)."""
    some = y > 0
    slope = np.linalg.lstsq(x[some], np.log(y[some]), rcond=None)[0]
    count, _, count_scores, count_hessian = maximise(
        truncated_nb(x[some], y[some]), np.r_[slope, 0.0]
    )
    zero, _, zero_scores, zero_hessian = maximise(logit(x, some * 1.0), np.zeros(x.shape[1]))
    k = len(count)
    scores = np.zeros((len(y), k + len(zero)))
    scores[some, :k] = count_scores
    scores[:, k:] = zero_scores
    return np.r_[count, zero], scores, block_diag(count_hessian, zero_hessian)


def nb_terms(eta, log_theta, y):
    """Log density of the negative binomial at y and at zero, with derivatives.

    Each is (value, first derivatives by (eta, log theta), second by (eta eta, eta l, l l)); eta is
    the log mean.
    """
    theta, mu = np.exp(log_theta), np.exp(eta)
    total = mu + theta
    ratio = -np.log1p(mu / theta)  # log(theta / (mu + theta))

    def chain(value, d_eta, d_theta, d_ee, d_et, d_tt):
        first = (d_eta, theta * d_theta)
        second = (d_ee, theta * d_et, theta**2 * d_tt + theta * d_theta)
        return value, first, second

    density = chain(
        gammaln(y + theta)
        - gammaln(theta)
        - gammaln(y + 1)
        + theta * ratio
        + y * (eta - np.log(total)),
        theta * (y - mu) / total,
        digamma(y + theta) - digamma(theta) + 1 + ratio - (y + theta) / total,
        -theta * mu * (y + theta) / total**2,
        mu * (y - mu) / total**2,
        polygamma(1, y + theta) - polygamma(1, theta) + 1 / theta - 1 / total + (y - mu) / total**2,
    )
    zero = chain(
        theta * ratio,
        -theta * mu / total,
        ratio + mu / total,
        -(theta**2) * mu / total**2,
        -(mu**2) / total**2,
        mu / (theta * total) - mu / total**2,
    )
    return density, zero


def assemble(designs, first, second):
    """Scores by observation and Hessian for indices designs[j] @ parameters of block j."""
    scores = np.hstack([d * f[:, None] for d, f in zip(designs, first)])
    rows = [
        np.hstack([a.T @ (second[i][j][:, None] * b) for j, b in enumerate(designs)])
        for i, a in enumerate(designs)
    ]
    return scores, np.vstack(rows)


def truncated_nb(x, y):
    """Likelihood of the negative binomial given a positive count; parameters beta, log theta."""
    ones = np.ones((len(y), 1))

    def likelihood(p):
        density, zero = nb_terms(x @ p[:-1], p[-1], y)
        odds = 1 / np.expm1(-zero[0])  # f(0) / (1 - f(0))
        (de, dl), (ze, zl) = density[1], zero[1]
        curve = odds * (1 + odds)
        ee, el, ll = (
            d + odds * z + curve * cross
            for d, z, cross in zip(density[2], zero[2], (ze**2, ze * zl, zl**2))
        )
        scores, hessian = assemble(
            [x, ones], [de + odds * ze, dl + odds * zl], [[ee, el], [el, ll]]
        )
        return np.sum(density[0] - np.log(-np.expm1(zero[0]))), scores, hessian

    return likelihood


def logit(x, positive):
    """Likelihood of the binary logit."""

    def likelihood(p):
        index = x @ p
        fitted = expit(index)
        value = np.sum(positive * index - np.logaddexp(0, index))
        scores, hessian = assemble([x], [positive - fitted], [[-fitted * (1 - fitted)]])
        return value, scores, hessian

    return likelihood


def maximise(likelihood, start):
    """Trust-region Newton with the analytic Hessian, then plain Newton steps to the optimum."""

    def negative(p):
        value, scores, _ = likelihood(p)
        return -value, -scores.sum(axis=0)

    fit = minimize(
        negative, start, jac=True, hess=lambda p: -likelihood(p)[2], method="trust-exact"
    )
    p = fit.x
    for _ in range(5):
        _, scores, hessian = likelihood(p)
        p = p - np.linalg.solve(hessian, scores.sum(axis=0))
    value, scores, hessian = likelihood(p)
    gradient = scores.sum(axis=0)
    # Newton decrement: how far, in log-likelihood, the optimum could still be.
    assert gradient @ np.linalg.solve(-hessian, gradient) < 1e-12
    assert np.linalg.eigvalsh(-hessian).min() > 0
    return p, value, scores, hessian


def clustered_errors(scores, hessian, groups):
    """Sandwich with scores summed by group and the factor G/(G-1)."""
    codes, labels = pd.factorize(groups)
    sums = np.zeros((len(labels), scores.shape[1]))
    np.add.at(sums, codes, scores)
    bread = np.linalg.inv(-hessian)
    g = len(labels)
    return np.sqrt(np.diag(g / (g - 1) * bread @ sums.T @ sums @ bread))


def main():
    x, y, company = load()
    estimate, scores, hessian = fit_hurdle(x, y)
    error = clustered_errors(scores, hessian, company)
    names = [f"count_{t}" for t in TERMS] + ["log_theta"] + [f"zero_{t}" for t in TERMS]
    results = {
        "coefficient": dict(zip(names, estimate)),
        "standard_error": dict(zip(names, error)),
        "t_statistic": dict(zip(names, estimate / error)),
    }

    with open("table_templates/section_5_1_tests.json") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        cell["value"] = float(results[cell["metric"]][cell["row_label"]])
    with open("section_5_1_tests.json", "w") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
