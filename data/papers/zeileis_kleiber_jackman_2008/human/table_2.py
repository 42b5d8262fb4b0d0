"""Zeileis, Kleiber and Jackman (2008), Table 2: count models for visits to a physician.

Columns: Poisson with ML, sandwich and quasi-Poisson standard errors; negative binomial; negative
binomial hurdle (logit of a positive count, zero-truncated counts); zero-inflated negative binomial
(logit of an excess zero).

Choices:
* Sandwich: HC0. Quasi: Pearson dispersion over N - K.
* Negative binomial: beta and theta by joint ML; errors from the expected information of beta alone
  at the estimated theta.
* Hurdle and zero-inflated: errors from the inverse Hessian over all parameters, log theta included.
* Parameters count all coefficients and theta; the quasi-Poisson dispersion is not counted.
* BIC takes the number of persons as sample size, also for the two-part models.
"""

import json

import numpy as np
import pandas as pd
import pyreadr
from scipy.linalg import block_diag
from scipy.optimize import minimize
from scipy.special import digamma, expit, gammaln, polygamma

COUNT_TERMS = ["(Intercept)", "hosp", "healthpoor", "healthexcellent", "numchron", "gendermale"]
COUNT_TERMS += ["school", "privinsyes"]
ZERO_TERMS = ["(Intercept)", "hosp", "numchron", "privinsyes", "school", "gendermale"]


def load():
    """Count design, zero design and number of visits."""
    raw = pyreadr.read_r("data/NMES1988.rds")[None]
    data = pd.DataFrame(
        {
            "(Intercept)": 1.0,
            "hosp": raw["hospital"],
            "healthpoor": raw["health"] == "poor",
            "healthexcellent": raw["health"] == "excellent",
            "numchron": raw["chronic"],
            "gendermale": raw["gender"] == "male",
            "school": raw["school"],
            "privinsyes": raw["insurance"] == "yes",
        }
    ).astype(float)
    return data[COUNT_TERMS].to_numpy(), data[ZERO_TERMS].to_numpy(), raw["visits"].to_numpy(float)


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


def poisson(x, y):
    """Likelihood of the Poisson model."""

    def likelihood(p):
        mu = np.exp(x @ p)
        scores, hessian = assemble([x], [y - mu], [[-mu]])
        return np.sum(y * (x @ p) - mu - gammaln(y + 1)), scores, hessian

    return likelihood


def negative_binomial(x, y):
    """Likelihood of the negative binomial; parameters beta, log theta."""
    ones = np.ones((len(y), 1))

    def likelihood(p):
        (value, first, (ee, el, ll)), _ = nb_terms(x @ p[:-1], p[-1], y)
        scores, hessian = assemble([x, ones], first, [[ee, el], [el, ll * ones[:, 0]]])
        return np.sum(value), scores, hessian

    return likelihood


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


def zero_inflated_nb(x, z, y):
    """Likelihood of the zero-inflated negative binomial; parameters beta, log theta, gamma."""
    ones, none = np.ones((len(y), 1)), y == 0
    k = x.shape[1]

    def likelihood(p):
        index = z @ p[k + 1 :]
        density, zero = nb_terms(x @ p[:k], p[k], y)
        share = expit(index)
        excess = expit(index - zero[0]) * none  # probability that a zero is an excess zero
        spread = excess * (1 - excess)
        (fe, fl) = (np.where(none, (1 - excess) * a, b) for a, b in zip(zero[1], density[1]))
        (ze, zl), (see, sel, sll) = zero[1], zero[2]
        ee, el, ll = (
            np.where(none, (1 - excess) * s + spread * cross, d)
            for s, cross, d in zip((see, sel, sll), (ze**2, ze * zl, zl**2), density[2])
        )
        eg, lg = -spread * ze, -spread * zl
        gg = spread - share * (1 - share)
        scores, hessian = assemble(
            [x, ones, z], [fe, fl, excess - share], [[ee, el, eg], [el, ll, lg], [eg, lg, gg]]
        )
        value = np.where(none, np.logaddexp(index, zero[0]), density[0]) - np.logaddexp(0, index)
        return np.sum(value), scores, hessian

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


def errors(covariance):
    return np.sqrt(np.diag(covariance))


def column(count, count_se, n_par, value=None, n=None, zeros=None, zero=(), zero_se=()):
    """Results of one column: coefficients by part, then the summary statistics."""
    result = {
        ("Count part", "coefficient"): dict(zip(COUNT_TERMS, count)),
        ("Count part", "standard_error"): dict(zip(COUNT_TERMS, count_se)),
        ("Zero part", "coefficient"): dict(zip(ZERO_TERMS, zero)),
        ("Zero part", "standard_error"): dict(zip(ZERO_TERMS, zero_se)),
        "no. parameters": n_par,
    }
    if value is not None:
        result["log L"] = value
        result["AIC"] = 2 * n_par - 2 * value
        result["BIC"] = np.log(n) * n_par - 2 * value
        result["expected number of zeros"] = zeros
    return result


def fit_all(x, z, y):
    """The six columns of the table."""
    n, k = x.shape
    start = np.r_[np.log(y.mean()), np.zeros(k - 1)]

    beta, value, scores, hessian = maximise(poisson(x, y), start)
    mu, bread = np.exp(x @ beta), np.linalg.inv(-hessian)
    dispersion = np.sum((y - mu) ** 2 / mu) / (n - k)
    columns = [
        column(beta, errors(bread), k, value, n, np.exp(-mu).sum()),
        column(beta, errors(bread @ scores.T @ scores @ bread), k),
        column(beta, errors(dispersion * bread), k),
    ]

    nb, value, _, _ = maximise(negative_binomial(x, y), np.r_[beta, 0.0])
    mu, theta = np.exp(x @ nb[:k]), np.exp(nb[k])
    weight = mu / (1 + mu / theta)
    information = x.T @ (weight[:, None] * x)
    zeros = np.exp(nb_terms(x @ nb[:k], nb[k], y)[1][0]).sum()
    columns.append(column(nb[:k], errors(np.linalg.inv(information)), k + 1, value, n, zeros))

    some = y > 0
    count, value_count, _, h_count = maximise(truncated_nb(x[some], y[some]), nb)
    gamma, value_zero, _, h_zero = maximise(logit(z, some * 1.0), np.zeros(z.shape[1]))
    se = errors(np.linalg.inv(-block_diag(h_count, h_zero)))
    m = k + 1 + z.shape[1]
    zeros = np.sum(1 - expit(z @ gamma))
    value = value_count + value_zero
    columns.append(column(count[:k], se[:k], m, value, n, zeros, gamma, se[k + 1 :]))

    # Several starts for the excess-zero part: this likelihood need not have a single maximum.
    likelihood = zero_inflated_nb(x, z, y)
    starts = [np.r_[nb, level, np.zeros(z.shape[1] - 1)] for level in (-3.0, -1.5, 0.0)]
    fits = [maximise(likelihood, s) for s in [*starts, np.r_[count, -gamma]]]
    p, value, _, hessian = max(fits, key=lambda fit: fit[1])
    se = errors(np.linalg.inv(-hessian))
    share = expit(z @ p[k + 1 :])
    zeros = np.sum(share + (1 - share) * np.exp(nb_terms(x @ p[:k], p[k], y)[1][0]))
    columns.append(column(p[:k], se[:k], m, value, n, zeros, p[k + 1 :], se[k + 1 :]))
    return columns


def main():
    columns = fit_all(*load())
    with open("table_templates/table_2.json") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        result = columns[cell["col"]]
        if cell["panel"]:
            found = result[cell["panel"], cell["metric"]][cell["row_label"]]
        else:
            found = result[cell["row_label"]]
        cell["value"] = float(found)
    with open("table_2.json", "w") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
