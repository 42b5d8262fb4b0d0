"""Table 17.2: annual hours of married women; least squares and tobit censored from below at zero.

The tobit likelihood is maximised by Newton's method in Olsen's parameters (delta = beta / sigma,
gamma = 1 / sigma), in which it is globally concave, with analytic gradient and Hessian on unit-scale
regressors. Standard errors come from the observed Hessian, carried to beta by the delta method; at
the optimum that equals inverting the Hessian in (beta, sigma).

Choices where the methods are open:
* Classical least-squares standard errors and the residual standard deviation divide by n - k.
* sigma of the tobit is the maximum-likelihood estimate, without a degrees-of-freedom correction.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

REGRESSORS = ["nwifeinc", "educ", "exper", "expersq", "age", "kidslt6", "kidsge6"]
TERMS = [*REGRESSORS, "constant"]
NO_HOURS = 0.0


def ols(y, x):
    """Coefficients, classical standard errors, R-squared and standard error of the regression."""
    n, k = x.shape
    beta = np.linalg.lstsq(x, y, rcond=None)[0]
    residual = y - x @ beta
    ssr = residual @ residual
    cov = ssr / (n - k) * np.linalg.inv(x.T @ x)
    r2 = 1 - ssr / np.sum((y - y.mean()) ** 2)
    return beta, np.sqrt(np.diag(cov)), r2, np.sqrt(ssr / (n - k))


def olsen(theta, y, x, censored):
    """Log-likelihood, gradient and Hessian in theta = (delta, gamma)."""
    delta, gamma = theta[:-1], theta[-1]
    xc, xu, yu = x[censored], x[~censored], y[~censored]
    w = np.column_stack([xu, -yu])  # residual of a worker is -(w @ theta)
    e = w @ theta
    index = -xc @ delta  # censoring point is zero
    mills = np.exp(stats.norm.logpdf(index) - stats.norm.logcdf(index))
    loglik = np.sum(stats.norm.logpdf(e) + np.log(gamma)) + np.sum(stats.norm.logcdf(index))

    gradient = -w.T @ e
    gradient[:-1] -= xc.T @ mills
    gradient[-1] += len(yu) / gamma
    hessian = -w.T @ w
    hessian[:-1, :-1] -= (xc * (mills * (mills + index))[:, None]).T @ xc
    hessian[-1, -1] -= len(yu) / gamma**2
    return loglik, gradient, hessian


def improves(theta, loglik, y, x, censored):
    """Whether a Newton step keeps gamma positive and does not lower the likelihood (to rounding)."""
    return theta[-1] > 0 and olsen(theta, y, x, censored)[0] >= loglik - 1e-10


def tobit(y, x):
    """Coefficients, standard errors, sigma and the log-likelihood in the units of the data."""
    censored = y <= NO_HOURS
    y_scale = y[~censored].std()
    x_scale = np.abs(x).max(axis=0)
    ys, xs = y / y_scale, x / x_scale

    beta, _, _, sigma = ols(ys, xs)
    theta = np.append(beta / sigma, 1 / sigma)
    for _ in range(100):
        loglik, gradient, hessian = olsen(theta, ys, xs, censored)
        step = np.linalg.solve(hessian, gradient)
        if gradient @ -step < 1e-20:  # Newton decrement
            break
        size = 1.0
        while not improves(theta - size * step, loglik, ys, xs, censored):
            size /= 2
        theta = theta - size * step
    else:
        raise RuntimeError("tobit did not converge")

    delta, gamma = theta[:-1], theta[-1]
    k = len(delta)
    jacobian = np.column_stack([np.eye(k) / gamma, -delta / gamma**2])  # d beta / d theta
    cov = jacobian @ np.linalg.inv(-hessian) @ jacobian.T
    units = y_scale / x_scale
    loglik -= np.sum(~censored) * np.log(y_scale)  # density of hours, not of rescaled hours
    return delta / gamma * units, np.sqrt(np.diag(cov)) * units, y_scale / gamma, loglik


def main():
    data = pd.read_stata("data/mroz.dta").assign(constant=1.0)
    y = data["hours"].to_numpy(float)
    x = data[TERMS].to_numpy(float)

    columns = [{}, {}]
    beta, se, columns[0][17], columns[0][18] = ols(y, x)
    beta_tobit, se_tobit, columns[1][18], columns[1][16] = tobit(y, x)
    for cells, b, s in ((columns[0], beta, se), (columns[1], beta_tobit, se_tobit)):
        cells.update({2 * i: b[i] for i in range(len(TERMS))})
        cells.update({2 * i + 1: s[i] for i in range(len(TERMS))})

    table = json.loads(Path("table_templates/table_17_2.json").read_text())
    for cell in table["cells"]:
        value = columns[cell["col"]].get(cell["row"])
        cell["value"] = None if value is None else float(value)
    Path("table_17_2.json").write_text(json.dumps(table, indent=2))


if __name__ == "__main__":
    main()
