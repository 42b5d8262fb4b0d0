"""Estimators that the compiled table scripts call.

Each function takes a frame, an outcome and terms, and returns a `Fit`: estimates, standard
errors and model statistics by name. Only the analysis environment is needed.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats

CONSTANT = "constant"
REASONS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
    pd.errors.IndexingError,
)


@dataclass
class Fit:
    """A fitted model. `main` and `zero` map a term to (estimate, standard error)."""

    main: dict[str, tuple[float, float]]
    zero: dict[str, tuple[float, float]] = field(default_factory=dict)
    statistics: dict[str, float] = field(default_factory=dict)
    covariance: pd.DataFrame | None = None
    reference: str = "normal"
    df_resid: float = math.inf
    note: str = ""


class Undetermined(ValueError):
    """The specification does not say enough for this number."""


# ---------------------------------------------------------------- data


def read_data(folder: str | Path, name: str) -> pd.DataFrame:
    """Frame of a data file, by its suffix; labelled columns come as their labels."""
    path = Path(folder) / name
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return pd.read_csv(path)
    if suffix == ".dta":
        return pd.read_stata(path)
    if suffix == ".xlsx":
        return pd.read_excel(path)
    if suffix == ".parquet":
        return pd.read_parquet(path)
    if suffix == ".sav":
        import pyreadstat

        frame: pd.DataFrame = pyreadstat.read_sav(str(path), apply_value_formats=True)[0]
        return frame
    if suffix == ".rds":
        import pyreadr

        stored: pd.DataFrame = next(iter(pyreadr.read_r(str(path)).values()))
        return stored
    raise Undetermined(f"no reader for {name}")


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with categories as strings, nullable numbers as floats, and all numbers wide.

    Files store whole numbers in one, two or four bytes, whose squares would not fit.
    """
    columns: dict[str, Any] = {}
    for name, column in frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            values = column.astype(object)
            numeric = pd.to_numeric(values, errors="coerce")
            columns[str(name)] = numeric if numeric.notna().eq(values.notna()).all() else values
        elif pd.api.types.is_extension_array_dtype(column.dtype) and (
            pd.api.types.is_numeric_dtype(column.dtype)
        ):
            columns[str(name)] = column.astype(float)
        elif pd.api.types.is_integer_dtype(column.dtype):
            columns[str(name)] = column.astype("int64")
        elif pd.api.types.is_float_dtype(column.dtype):
            columns[str(name)] = column.astype(float)
        else:
            columns[str(name)] = column
    return pd.DataFrame(columns, index=frame.index)


class Panel:
    """A frame with its panel index, for lags and group statistics."""

    def __init__(self, frame: pd.DataFrame, unit: str | None, time: str | None) -> None:
        self.frame, self.unit, self.time = frame, unit, time

    def lag(self, values: pd.Series, periods: float = 1) -> pd.Series:
        """Value of the same unit `periods` earlier; missing where that period is absent."""
        if self.time is None:
            raise Undetermined("a lag needs a file with a time index")
        keys = [self.unit, self.time] if self.unit else [self.time]
        table = self.frame[keys].assign(_value=np.asarray(values))
        table[self.time] = table[self.time] + periods
        # A period that is missing or stands twice is no period to look back to.
        single = table.dropna(subset=keys).drop_duplicates(keys, keep=False)
        merged = self.frame[keys].merge(single, on=keys, how="left", validate="many_to_one")
        return pd.Series(merged["_value"].to_numpy(), index=self.frame.index)

    def lead(self, values: pd.Series, periods: float = 1) -> pd.Series:
        """Value of the same unit `periods` later."""
        return self.lag(values, -periods)

    def difference(self, values: pd.Series, periods: float = 1) -> pd.Series:
        """Change against `periods` earlier."""
        return pd.Series(np.asarray(values), index=self.frame.index) - self.lag(values, periods)

    def cumulative(self, values: pd.Series) -> pd.Series:
        """Running sum within the unit in time order."""
        if self.unit is None or self.time is None:
            raise Undetermined("a running sum needs a file with a panel index")
        table = self.frame[[self.unit, self.time]].assign(_value=np.asarray(values))
        ordered = table.sort_values([self.unit, self.time])
        return ordered.groupby(self.unit)["_value"].cumsum().reindex(self.frame.index)

    def group_mean(self, values: pd.Series, group: pd.Series | None = None) -> pd.Series:
        """Mean within a group, by default within the unit."""
        means: pd.Series = self._grouped(values, group).transform("mean")
        return means

    def group_sum(self, values: pd.Series, group: pd.Series | None = None) -> pd.Series:
        """Sum within a group, by default within the unit."""
        sums: pd.Series = self._grouped(values, group).transform("sum")
        return sums

    def _grouped(self, values: pd.Series, group: pd.Series | None) -> Any:
        if group is None:
            if self.unit is None:
                raise Undetermined("a group statistic needs a group")
            group = self.frame[self.unit]
        return pd.Series(np.asarray(values), index=self.frame.index).groupby(group)


def square(values: Any) -> Any:
    """Second power."""
    return values**2


def cube(values: Any) -> Any:
    """Third power."""
    return values**3


def standardize(values: pd.Series) -> pd.Series:
    """Deviation from the mean in standard deviations."""
    return (values - values.mean()) / values.std()


def rank(values: pd.Series) -> pd.Series:
    """Rank from 1, ties averaged."""
    return values.rank()


def where(condition: Any, yes: Any, no: Any) -> pd.Series:
    """`yes` where the condition holds, else `no`."""
    return pd.Series(np.where(condition, yes, no), index=condition.index)


def smaller(first: Any, *others: Any) -> Any:
    """Smallest of several values a row; of one variable, its minimum."""
    if not others:
        return first.min()
    for other in others:
        first = np.minimum(first, other)
    return first


def larger(first: Any, *others: Any) -> Any:
    """Largest of several values a row; of one variable, its maximum."""
    if not others:
        return first.max()
    for other in others:
        first = np.maximum(first, other)
    return first


def interaction(first: Any, *others: Any) -> Any:
    """Product of terms; a category gives one product a level."""
    result = first
    for other in others:
        if isinstance(result, pd.DataFrame) and isinstance(other, pd.DataFrame):
            result = pd.DataFrame(
                {f"{a}:{b}": result[a] * other[b] for a in result.columns for b in other.columns}
            )
        elif isinstance(result, pd.DataFrame):
            result = result.mul(np.asarray(other, dtype=float), axis=0)
        elif isinstance(other, pd.DataFrame):
            result = other.mul(np.asarray(result, dtype=float), axis=0)
        else:
            result = result * other
    return result


def once(function: Callable[[], Any]) -> Callable[[], Any]:
    """The function's result, computed once; a reason why it has none is kept as well."""
    kept: list[tuple[Any, Exception | None]] = []

    def remembered() -> Any:
        if not kept:
            try:
                kept.append((function(), None))
            except REASONS as reason:
                kept.append((None, reason))
        value, why_not = kept[0]
        if why_not is not None:
            raise why_not
        return value

    return remembered


def holds(values: Any) -> Any:
    """Whether a number is neither zero nor missing; a condition is as it is."""
    if not hasattr(values, "fillna"):
        return bool(values)
    return values.fillna(0) != 0


def indicator(condition: Any) -> Any:
    """One where the condition holds, zero where not."""
    return condition.astype(float) if hasattr(condition, "astype") else float(condition)


def category(values: pd.Series, omitted: Any = None) -> pd.DataFrame:
    """Indicators of all levels but the omitted (by default the first in sort order) one."""
    levels = sorted(pd.unique(values.dropna()))
    left_out = levels[0] if omitted is None else omitted
    if left_out not in levels:
        match = [level for level in levels if str(level) == str(left_out)]
        if not match:
            raise Undetermined(f"level {left_out!r} does not occur")
        left_out = match[0]
    kept = [level for level in levels if level != left_out]
    levels_of = {str(level): (values == level).astype(float) for level in kept}
    return pd.DataFrame(levels_of, index=values.index).mask(values.isna())


# ---------------------------------------------------------------- linear models


def design(columns: Mapping[str, Any], index: pd.Index, *, constant: bool) -> pd.DataFrame:
    """Regressor matrix: one column a term, several for a category, then the constant."""
    parts: dict[str, Any] = {}
    for term, values in columns.items():
        if isinstance(values, pd.DataFrame):
            for level in values.columns:
                parts[f"{term}[{level}]"] = values[level].astype(float)
        else:
            parts[term] = pd.Series(np.asarray(values, dtype=float), index=index)
    matrix = pd.DataFrame(parts, index=index)
    if constant:
        matrix.insert(0, CONSTANT, 1.0)
    return matrix


def _complete(*pieces: pd.DataFrame | pd.Series | None) -> np.ndarray:
    keep: Any = None
    for piece in pieces:
        if piece is None:
            continue
        filled = np.asarray(piece.notna())
        present = filled.all(axis=1) if filled.ndim == 2 else filled
        keep = present if keep is None else keep & present
    if keep is None:
        raise Undetermined("a model without variables")
    return np.asarray(keep, dtype=bool)


def _cut(piece: Any, keep: np.ndarray) -> Any:
    return None if piece is None else piece.loc[keep]


def _independent(x: pd.DataFrame) -> pd.DataFrame:
    """Drop columns that are linear combinations of earlier ones, as estimation programs do."""
    _, r = np.linalg.qr(x.to_numpy() / np.maximum(np.abs(x.to_numpy()).max(axis=0), 1e-300))
    pivots = np.abs(np.diag(r))
    return x.loc[:, pivots > 1e-10]


def _meat(scores: np.ndarray, groups: pd.DataFrame | None) -> tuple[np.ndarray, int]:
    """Sum of outer products of (clustered) scores; several groupings by inclusion-exclusion."""
    if groups is None:
        return scores.T @ scores, len(scores)
    total = np.zeros((scores.shape[1], scores.shape[1]))
    fewest = len(scores)
    names = list(groups.columns)
    for mask in range(1, 2 ** len(names)):
        chosen = [name for bit, name in enumerate(names) if mask >> bit & 1]
        codes = groups.groupby(chosen, sort=False).ngroup().to_numpy()
        count = int(codes.max()) + 1
        summed = np.zeros((count, scores.shape[1]))
        np.add.at(summed, codes, scores)
        factor = count / (count - 1)
        total += (-1) ** (len(chosen) + 1) * factor * summed.T @ summed
        if len(chosen) == 1:
            fewest = min(fewest, count)
    return total, fewest


def linear(
    outcome: pd.Series,
    columns: Mapping[str, Any],
    *,
    constant: bool = True,
    absorbed: pd.DataFrame | None = None,
    weights: pd.Series | None = None,
    variance: str = "classical",
    clusters: pd.DataFrame | None = None,
    count_absorbed: bool | None = None,
) -> Fit:
    """Least squares, weighted where `weights` are given, with absorbed fixed effects.

    Degrees of freedom count absorbed levels, except those nested in the clusters.
    Cluster-robust standard errors use G/(G-1) (N-1)/(N-K).
    """
    x = design(columns, outcome.index, constant=constant and absorbed is None)
    keep = _complete(outcome, x, absorbed, weights, clusters)
    y, x = outcome.loc[keep].astype(float), x.loc[keep]
    absorbed, weights, clusters = _cut(absorbed, keep), _cut(weights, keep), _cut(clusters, keep)
    n = len(y)
    w = np.ones(n) if weights is None else weights.to_numpy(dtype=float)
    root = np.sqrt(w)
    levels = every = 0
    yv, xv = y.to_numpy(), x.to_numpy()
    if absorbed is not None:
        nested = clusters is not None and count_absorbed is not True
        dummies, levels, every = _effects(absorbed, clusters if nested else None)
        stacked = np.column_stack([yv, xv]) * root[:, None]
        z = dummies * root[:, None]
        beta, *_ = np.linalg.lstsq(z, stacked, rcond=None)
        residual = stacked - z @ beta
        ys, xs = residual[:, 0], residual[:, 1:]
        # What the effects explain in full leaves rounding errors, and has no slope.
        moving = np.abs(xs).max(axis=0) > 1e-9 * np.abs(stacked[:, 1:]).max(axis=0)
        x, xs = x.loc[:, moving], xs[:, moving]
    else:
        ys, xs = yv * root, xv * root[:, None]
    frame = pd.DataFrame(xs, columns=x.columns)
    frame = _independent(frame) if frame.shape[1] else frame
    names, xs = list(frame.columns), frame.to_numpy()
    inverse = np.linalg.inv(xs.T @ xs)
    b = inverse @ (xs.T @ ys)
    e = ys - xs @ b
    k = len(names) + levels
    df = n - k
    rss = float(e @ e)
    if variance in {"classical", "unstated"}:
        v = inverse * rss / df
    else:
        scores = xs * e[:, None]
        if variance == "cluster":
            if clusters is None:
                raise Undetermined("clustered standard errors without a cluster variable")
            meat, groups = _meat(scores, clusters)
            v = inverse @ meat @ inverse * (n - 1) / df
            df = groups - 1
        else:
            leverage = np.einsum("ij,jk,ik->i", xs, inverse, xs)
            scale = {
                "hc0": 1.0,
                "hc1": math.sqrt(n / df),
                "hc2": 1 / np.sqrt(1 - leverage),
                "hc3": 1 / (1 - leverage),
            }.get(variance)
            if scale is None:
                raise Undetermined(f"variance {variance} for a linear model")
            weighted = scores * (scale if np.isscalar(scale) else np.asarray(scale)[:, None])
            v = inverse @ (weighted.T @ weighted) @ inverse
    has_mean = constant or absorbed is not None
    mean = np.average(yv, weights=w) if has_mean else 0.0
    tss = float(np.sum(w * (yv - mean) ** 2))
    r2 = 1 - rss / tss
    k_all = len(names) + every
    within = float(ys @ ys)
    se = np.sqrt(np.diag(v))
    statistics = {
        "n_obs": float(n),
        "r_squared": r2,
        "r_squared_adj": 1 - (1 - r2) * (n - has_mean) / (n - k_all),
        "r_squared_within": 1 - rss / within if absorbed is not None else math.nan,
        "residual_sd": math.sqrt(rss / (n - k_all)),
        "n_parameters": float(k_all),
    }
    if set(np.unique(yv)) <= {0.0, 1.0}:
        statistics["percent_correct"] = 100 * float(np.mean((yv - e / root > 0.5) == (yv > 0.5)))
    statistics["log_likelihood"] = -n / 2 * (math.log(2 * math.pi * rss / n) + 1)
    if clusters is not None:
        statistics["n_clusters"] = float(clusters.iloc[:, 0].nunique())
    fit = Fit(
        main={name: (float(c), float(s)) for name, c, s in zip(names, b, se, strict=True)},
        statistics=statistics,
        covariance=pd.DataFrame(v, index=names, columns=names),
        reference="t",
        df_resid=float(df),
    )
    slopes = [name for name in names if name != CONSTANT]
    if slopes:
        statistics["f_all_slopes"] = wald(fit, slopes)[0]
    return fit


def _effects(absorbed: pd.DataFrame, clusters: pd.DataFrame | None) -> tuple[np.ndarray, int, int]:
    """Indicator matrix of all effects, the degrees of freedom that count, and all they use."""
    blocks, nested = [], []
    for name in absorbed.columns:
        codes, levels = pd.factorize(absorbed[name])
        block = np.zeros((len(codes), len(levels)))
        block[np.arange(len(codes)), codes] = 1
        blocks.append(block)
        if clusters is not None:
            for cluster in clusters.columns:
                if clusters.groupby(absorbed[name].to_numpy())[cluster].nunique().max() == 1:
                    nested.append(str(name))
                    break
    whole = np.column_stack(blocks)
    every = rank = int(np.linalg.matrix_rank(whole))
    if nested:
        inner = np.column_stack(
            [b for b, name in zip(blocks, absorbed.columns, strict=True) if str(name) in nested]
        )
        rank = 1 + rank - int(np.linalg.matrix_rank(inner))
    return whole, rank, every


def wald(fit: Fit, terms: Sequence[str]) -> tuple[float, float, int]:
    """F form of the Wald test that all `terms` are zero: statistic, p-value, restrictions."""
    if fit.covariance is None:
        raise Undetermined("no covariance for a joint test")
    names = [
        name
        for name in fit.covariance.index
        if name in terms or any(name.startswith(f"{term}[") for term in terms)
    ]
    if not names:
        raise Undetermined(f"no estimate for the terms of a joint test: {', '.join(terms)}")
    b = np.array([fit.main[name][0] for name in names])
    v = fit.covariance.loc[names, names].to_numpy()
    q = len(names)
    statistic = float(b @ np.linalg.solve(v, b)) / q
    if fit.reference == "t":
        p = float(stats.f.sf(statistic, q, fit.df_resid))
    else:
        p = float(stats.chi2.sf(statistic * q, q))
    return statistic, p, q


def random_effects(
    outcome: pd.Series,
    columns: Mapping[str, Any],
    *,
    unit: pd.Series,
    time: pd.Series,
    variance: str = "classical",
    clusters: pd.DataFrame | None = None,
) -> Fit:
    """Random effects by quasi-demeaning with Swamy-Arora variance components."""
    x = design(columns, outcome.index, constant=True)
    keep = _complete(outcome, x, unit)
    y, x, g = outcome.loc[keep].astype(float), x.loc[keep], unit.loc[keep]
    del time
    group = g.to_numpy()
    sizes = pd.Series(1, index=y.index).groupby(group).transform("size").to_numpy()
    mean_y = y.groupby(group).transform("mean")
    mean_x = x.groupby(group).transform("mean")
    yw = (y - mean_y).to_numpy()
    moving = x - mean_x
    moving = moving.loc[:, moving.abs().max() > 1e-10]
    xw = _independent(moving).to_numpy() if moving.shape[1] else np.empty((len(y), 0))
    bw = np.linalg.lstsq(xw, yw, rcond=None)[0]
    n, groups = len(y), int(g.nunique())
    sigma_e = float(np.sum((yw - xw @ bw) ** 2)) / (n - groups - xw.shape[1])
    first = ~pd.Series(group).duplicated().to_numpy()
    xb = _independent(mean_x.loc[first]).to_numpy()
    yb = mean_y.loc[first].to_numpy()
    bb = np.linalg.lstsq(xb, yb, rcond=None)[0]
    between = float(np.sum((yb - xb @ bb) ** 2)) / (groups - xb.shape[1])
    harmonic = groups / float(np.sum(1 / sizes[first]))
    sigma_u = max(between - sigma_e / harmonic, 0.0)
    theta = 1 - np.sqrt(sigma_e / (sizes * sigma_u + sigma_e))
    quasi_y = y - theta * mean_y
    quasi_x = x - mean_x.mul(theta, axis=0)
    fit = linear(
        quasi_y,
        {name: quasi_x[name] for name in quasi_x.columns},
        constant=False,
        variance=variance,
        clusters=_cut(clusters, keep),
    )
    fit.statistics["variance_share"] = sigma_u / (sigma_u + sigma_e)
    fit.statistics["n_groups"] = float(groups)
    fit.statistics["sigma_e"], fit.statistics["sigma_u"] = math.sqrt(sigma_e), math.sqrt(sigma_u)
    centred = quasi_y - quasi_y.mean()
    fitted = sum(quasi_x[name] * fit.main[name][0] for name in fit.main)
    fit.statistics["r_squared"] = 1 - float(((quasi_y - fitted) ** 2).sum() / (centred**2).sum())
    return fit


def instrumental(
    outcome: pd.Series,
    exogenous: Mapping[str, Any],
    endogenous: Mapping[str, Any],
    instruments: Mapping[str, Any],
    *,
    constant: bool = True,
    variance: str = "classical",
    clusters: pd.DataFrame | None = None,
) -> Fit:
    """Two-stage least squares; HC1 and classical with N-K, first-stage F and J (both kinds)."""
    exog = design(exogenous, outcome.index, constant=constant)
    endog = design(endogenous, outcome.index, constant=False)
    outside = design(instruments, outcome.index, constant=False)
    keep = _complete(outcome, exog, endog, outside, clusters)
    y = outcome.loc[keep].to_numpy(dtype=float)
    exog, endog, outside = exog.loc[keep], endog.loc[keep], outside.loc[keep]
    clusters = _cut(clusters, keep)
    x = np.column_stack([exog.to_numpy(), endog.to_numpy()])
    z = np.column_stack([exog.to_numpy(), outside.to_numpy()])
    names = [*exog.columns, *endog.columns]
    projected = z @ np.linalg.lstsq(z, x, rcond=None)[0]
    inverse = np.linalg.inv(projected.T @ projected)
    b = inverse @ (projected.T @ y)
    e = y - x @ b
    n, k = x.shape
    rss = float(e @ e)
    scores = projected * e[:, None]
    if variance in {"classical", "unstated"}:
        v = inverse * rss / (n - k)
    elif variance == "cluster":
        meat, _ = _meat(scores, clusters)
        v = inverse @ meat @ inverse * (n - 1) / (n - k)
    elif variance in {"hc0", "hc1"}:
        v = inverse @ (scores.T @ scores) @ inverse * (n / (n - k) if variance == "hc1" else 1.0)
    else:
        raise Undetermined(f"variance {variance} for two-stage least squares")
    se = np.sqrt(np.diag(v))
    statistics = {
        "n_obs": float(n),
        "r_squared": 1 - rss / float(np.sum((y - y.mean()) ** 2)),
        "residual_sd": math.sqrt(rss / (n - k)),
    }
    if endog.shape[1] == 1:
        parts = {**{c: exog[c] for c in exog.columns}, **{c: outside[c] for c in outside.columns}}
        first = linear(
            endog.iloc[:, 0], parts, constant=False, variance=variance, clusters=clusters
        )
        statistics["first_stage_f"] = wald(first, list(outside.columns))[0]
    extra = outside.shape[1] - endog.shape[1]
    if extra > 0:
        auxiliary = linear(
            pd.Series(e, index=exog.index),
            {**{c: exog[c] for c in exog.columns}, **{c: outside[c] for c in outside.columns}},
            constant=False,
            variance="classical",
        )
        f = wald(auxiliary, list(outside.columns))[0]
        statistics["overidentification"] = outside.shape[1] * f
        statistics["overidentification_p"] = float(
            stats.chi2.sf(statistics["overidentification"], extra)
        )
    return Fit(
        main={name: (float(c), float(s)) for name, c, s in zip(names, b, se, strict=True)},
        statistics=statistics,
        covariance=pd.DataFrame(v, index=names, columns=names),
        reference="t",
        df_resid=float(n - k),
    )


# ---------------------------------------------------------------- likelihoods


@dataclass(frozen=True)
class Index:
    """One linear index of a likelihood: its equation, its regressors and their start values."""

    equation: str
    regressors: pd.DataFrame
    start: np.ndarray

    @classmethod
    def scalar(cls, name: str, n: int, start: float) -> Index:
        """An index that is one parameter, such as a log scale."""
        return cls("shape", pd.DataFrame({name: np.ones(n)}), np.array([start]))


Density = Callable[..., tuple[np.ndarray, list[np.ndarray]]]
"""Log-likelihood of each observation and its derivative by each index, given the indices."""


class _Surface:
    """A log-likelihood over the stacked coefficients of its indices.

    Scores follow from the analytic derivatives by the chain rule; the Hessian is their central
    difference over the few indices.
    """

    def __init__(self, density: Density, indices: Sequence[Index]) -> None:
        self.density = density
        self.matrices = [index.regressors.to_numpy(dtype=float) for index in indices]
        bounds = np.cumsum([0, *(matrix.shape[1] for matrix in self.matrices)])
        self.slices = [slice(a, b) for a, b in itertools.pairwise(bounds)]

    def _etas(self, point: np.ndarray) -> list[np.ndarray]:
        pairs = zip(self.matrices, self.slices, strict=True)
        return [matrix @ point[part] for matrix, part in pairs]

    def value(self, point: np.ndarray) -> float:
        with np.errstate(all="ignore"):
            total = float(np.sum(self.density(*self._etas(point))[0]))
        return total if math.isfinite(total) else -math.inf

    def scores(self, point: np.ndarray) -> np.ndarray:
        slopes = self.density(*self._etas(point))[1]
        pairs = zip(self.matrices, slopes, strict=True)
        return np.column_stack([matrix * slope[:, None] for matrix, slope in pairs])

    def hessian(self, point: np.ndarray, step: float = 1e-5) -> np.ndarray:
        etas = self._etas(point)
        k = self.slices[-1].stop
        result = np.zeros((k, k))
        for i, first in enumerate(self.matrices):
            up = self.density(*(eta + step * (i == at) for at, eta in enumerate(etas)))[1]
            down = self.density(*(eta - step * (i == at) for at, eta in enumerate(etas)))[1]
            for j, second in enumerate(self.matrices):
                bend = (up[j] - down[j]) / (2 * step)
                result[self.slices[i], self.slices[j]] = first.T @ (second * bend[:, None])
        return (result + result.T) / 2


def _maximum(surface: _Surface, start: np.ndarray, *, steps: int = 200) -> np.ndarray:
    """Newton steps, damped (Levenberg-Marquardt) where the surface is not concave."""
    point, damping = start, 0.0
    here = surface.value(point)
    for _ in range(steps):
        gradient, curvature = surface.scores(point).sum(0), -surface.hessian(point)
        scale = np.diag(np.maximum(np.abs(np.diag(curvature)), 1e-8))
        while True:
            damped = curvature + damping * scale
            concave = np.linalg.eigvalsh(damped / np.sqrt(np.outer(*[np.diag(scale)] * 2))).min()
            if concave > 1e-12:
                move = np.linalg.solve(damped, gradient)
                there = surface.value(point + move)
                if there >= here - 1e-10 * abs(here):
                    break
            damping = max(10 * damping, 1e-6)
            if damping > 1e12:
                raise Undetermined("the likelihood has no maximum that Newton steps reach")
        point, here, damping = point + move, there, damping / 10 if damping > 1e-7 else 0.0
        if damping == 0.0 and np.max(np.abs(move) * np.sqrt(np.diag(scale))) < 1e-7:
            return point
    raise Undetermined("the likelihood has not converged")


def maximum_likelihood(
    density: Density,
    indices: Sequence[Index],
    *,
    variance: str = "classical",
    clusters: pd.DataFrame | None = None,
) -> Fit:
    """Maximise a likelihood of linear indices, and give the covariance that `variance` names."""
    surface = _Surface(density, indices)
    point = _maximum(surface, np.concatenate([index.start for index in indices]))
    bread = np.linalg.inv(-surface.hessian(point))
    scores = surface.scores(point)
    n, k = scores.shape
    if variance in {"classical", "hessian", "unstated"}:
        v = bread
    elif variance == "outer_product":
        v = np.linalg.inv(scores.T @ scores)
    elif variance in {"hc0", "hc1", "cluster"}:
        meat, _ = _meat(scores, clusters if variance == "cluster" else None)
        factor = n / (n - 1) if variance == "hc1" else 1.0
        v = bread @ meat @ bread * factor
    else:
        raise Undetermined(f"variance {variance} for a maximum-likelihood model")
    names = [(index.equation, str(c)) for index in indices for c in index.regressors.columns]
    main, zero, statistics, labels = {}, {}, {}, []
    for (equation, term), estimate, error in zip(names, point, np.sqrt(np.diag(v)), strict=True):
        labels.append(term if equation == "main" else f"{equation}:{term}")
        if equation == "main":
            main[term] = (float(estimate), float(error))
        elif equation == "zero":
            zero[term] = (float(estimate), float(error))
        else:
            statistics[term] = float(estimate)
            statistics[f"{term}_se"] = float(error)
    total = surface.value(point)
    statistics |= {
        "n_obs": float(n),
        "log_likelihood": total,
        "n_parameters": float(k),
        "aic": -2 * total + 2 * k,
        "bic": -2 * total + math.log(n) * k,
    }
    if clusters is not None:
        statistics["n_clusters"] = float(clusters.iloc[:, 0].nunique())
    return Fit(
        main=main,
        zero=zero,
        statistics=statistics,
        covariance=pd.DataFrame(v, index=labels, columns=labels),
    )


def _poisson(y: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    mu = np.exp(np.clip(eta, -700, 700))
    return y * eta - mu - special.gammaln(y + 1), [y - mu]


def _negative_binomial(
    y: np.ndarray, eta: np.ndarray, log_theta: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    theta = np.exp(np.clip(log_theta, -30.0, 30.0))
    mu = np.exp(np.clip(eta, -700, 700))
    value = (
        special.gammaln(y + theta)
        - special.gammaln(theta)
        - special.gammaln(y + 1)
        + theta * np.log(theta / (theta + mu))
        + y * (eta - np.log(mu + theta))
    )
    excess = (y + theta) / (theta + mu)
    shape = special.digamma(y + theta) - special.digamma(theta) + np.log(theta / (theta + mu))
    return value, [y - mu * excess, theta * (shape + 1 - excess)]


def _binary(kind: str, y: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    sign = np.where(y > 0, 1.0, -1.0)
    if kind == "logit":
        return -np.logaddexp(0, -sign * eta), [sign * special.expit(-sign * eta)]
    value = special.log_ndtr(sign * eta)
    return value, [sign * np.exp(-0.5 * eta**2 - 0.5 * math.log(2 * math.pi) - value)]


def _hurdle(
    y: np.ndarray,
    count: tuple[np.ndarray, list[np.ndarray]],
    nothing: tuple[np.ndarray, list[np.ndarray]],
    gamma: np.ndarray,
) -> tuple[np.ndarray, list[np.ndarray]]:
    some = y > 0
    empty = np.minimum(nothing[0], -1e-300)
    positive = count[0] - np.log(-np.expm1(empty)) - np.logaddexp(0, -gamma)
    odds = 1 / np.expm1(-empty)
    slopes = [np.where(some, a + odds * b, 0.0) for a, b in zip(count[1], nothing[1], strict=True)]
    cross = np.where(some, special.expit(-gamma), -special.expit(gamma))
    return np.where(some, positive, -np.logaddexp(0, gamma)), [*slopes, cross]


def _inflated(
    y: np.ndarray,
    count: tuple[np.ndarray, list[np.ndarray]],
    nothing: tuple[np.ndarray, list[np.ndarray]],
    gamma: np.ndarray,
) -> tuple[np.ndarray, list[np.ndarray]]:
    some = y > 0
    value = np.where(some, count[0], np.logaddexp(gamma, nothing[0])) - np.logaddexp(0, gamma)
    share = special.expit(nothing[0] - gamma)
    slopes = [np.where(some, a, share * b) for a, b in zip(count[1], nothing[1], strict=True)]
    return value, [*slopes, np.where(some, 0.0, 1 - share) - special.expit(gamma)]


def _sample(
    outcome: pd.Series,
    columns: Mapping[str, Any],
    second: Mapping[str, Any] | None,
    constant: bool,
    clusters: pd.DataFrame | None,
) -> tuple[np.ndarray, pd.DataFrame, pd.DataFrame | None, pd.DataFrame | None]:
    x = design(columns, outcome.index, constant=constant)
    z = None if second is None else design(second, outcome.index, constant=True)
    keep = _complete(outcome, x, z, clusters)
    y = outcome.loc[keep].to_numpy(dtype=float)
    return y, _independent(x.loc[keep]), _cut(z, keep), _cut(clusters, keep)


def binary(
    kind: str,
    outcome: pd.Series,
    columns: Mapping[str, Any],
    *,
    constant: bool = True,
    variance: str = "classical",
    clusters: pd.DataFrame | None = None,
) -> Fit:
    """Logit or probit, with McFadden's pseudo R-squared and the percent correctly predicted."""
    y, x, _, clusters = _sample(outcome, columns, None, constant, clusters)
    xv = x.to_numpy()
    fit = maximum_likelihood(
        lambda eta: _binary(kind, y, eta),
        [Index("main", x, np.zeros(x.shape[1]))],
        variance=variance,
        clusters=clusters,
    )
    share = y.mean()
    null = len(y) * (share * math.log(share) + (1 - share) * math.log(1 - share))
    eta = xv @ np.array([fit.main[str(name)][0] for name in x.columns])
    fit.statistics["pseudo_r_squared"] = 1 - fit.statistics["log_likelihood"] / null
    fit.statistics["percent_correct"] = 100 * float(np.mean((eta > 0) == (y > 0)))
    fit.statistics["null_log_likelihood"] = null
    return fit


def tobit(
    outcome: pd.Series,
    columns: Mapping[str, Any],
    *,
    left: float | None = 0.0,
    right: float | None = None,
    variance: str = "classical",
    clusters: pd.DataFrame | None = None,
) -> Fit:
    """Censored normal regression; the scale is estimated as its logarithm.

    `squared_correlation` is between the outcome and its fitted unconditional mean.
    """
    y, x, _, clusters = _sample(outcome, columns, None, True, clusters)
    xv = x.to_numpy()
    low = np.full(len(y), False) if left is None else y <= left
    high = np.full(len(y), False) if right is None else y >= right
    inside = ~(low | high)
    start = np.linalg.lstsq(xv, y, rcond=None)[0]
    spread = math.log(np.std(y - xv @ start))

    def density(eta: np.ndarray, log_sigma: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        sigma = np.exp(np.clip(log_sigma, -300, 300))
        z = (y - eta) / sigma
        normal = -0.5 * z**2 - 0.5 * math.log(2 * math.pi)
        side = np.where(low, 1.0, -1.0)
        tail = special.log_ndtr(side * z)
        hazard = side * np.exp(normal - tail)
        value = np.where(inside, normal - log_sigma, tail)
        return value, [
            np.where(inside, z, -hazard) / sigma,
            np.where(inside, z**2 - 1, -hazard * z),
        ]

    fit = maximum_likelihood(
        density,
        [Index("main", x, start), Index.scalar("log_scale", len(y), spread)],
        variance=variance,
        clusters=clusters,
    )
    sigma = math.exp(fit.statistics["log_scale"])
    fit.statistics["scale"] = sigma
    fit.statistics["residual_sd"] = sigma
    eta = xv @ np.array([fit.main[str(name)][0] for name in x.columns])
    if left is not None and right is None:
        z = (eta - left) / sigma
        fitted = left + special.ndtr(z) * (eta - left) + sigma * stats.norm.pdf(z)
        fit.statistics["squared_correlation"] = float(np.corrcoef(y, fitted)[0, 1] ** 2)
    slopes = [str(name) for name in x.columns if name != CONSTANT]
    f, p, q = wald(fit, slopes)
    fit.statistics["wald_all_slopes"], fit.statistics["wald_all_slopes_p"] = f * q, p
    return fit


def count_model(
    kind: str,
    outcome: pd.Series,
    columns: Mapping[str, Any],
    second: Mapping[str, Any] | None = None,
    *,
    variance: str = "classical",
    clusters: pd.DataFrame | None = None,
) -> Fit:
    """Poisson, negative binomial, hurdle and zero-inflated models.

    The hurdle's zero part is a logit of a positive count; the inflation part is a logit of an
    excess zero. The negative binomial is the quadratic one with shape theta.
    """
    two_part = kind.startswith(("hurdle", "zero_inflated"))
    y, x, z, clusters = _sample(
        outcome, columns, (second or columns) if two_part else None, True, clusters
    )
    xv, k = x.to_numpy(), x.shape[1]
    shape = "negative_binomial" in kind
    indices = [Index("main", x, _poisson_start(y, xv))]
    if shape:
        indices.append(Index.scalar("log_theta", len(y), 0.0))
    if z is not None:
        indices.append(Index("zero", z, np.zeros(z.shape[1])))

    def counts(at: np.ndarray, *etas: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        return _negative_binomial(at, *etas) if shape else _poisson(at, *etas)

    def density(*etas: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        if z is None:
            return counts(y, *etas)
        *own, gamma = etas
        rule = _hurdle if kind.startswith("hurdle") else _inflated
        return rule(y, counts(y, *own), counts(np.zeros_like(y), *own), gamma)

    fit = maximum_likelihood(
        density, indices, variance="hc0" if variance == "quasi" else variance, clusters=clusters
    )
    point = np.array([fit.main[str(name)][0] for name in x.columns])
    mu = np.exp(xv @ point)
    if shape:
        fit.statistics["theta"] = math.exp(fit.statistics["log_theta"])
    if kind == "poisson":
        dispersion = float(np.sum((y - mu) ** 2 / mu)) / (len(y) - k)
        fit.statistics["dispersion"] = dispersion
        if variance == "quasi":
            v = np.linalg.inv(xv.T @ (xv * mu[:, None])) * dispersion
            errors = np.sqrt(np.diag(v))
            fit.main = {
                name: (estimate, float(error))
                for (name, (estimate, _)), error in zip(fit.main.items(), errors, strict=True)
            }
    etas = (xv @ point, *([np.full(len(y), fit.statistics["log_theta"])] if shape else []))
    chance = np.exp(counts(np.zeros_like(y), *etas)[0])
    if z is not None:
        estimates = np.array([fit.zero[str(name)][0] for name in z.columns])
        gamma = special.expit(z.to_numpy() @ estimates)
        chance = 1 - gamma if kind.startswith("hurdle") else gamma + (1 - gamma) * chance
    fit.statistics["expected_zeros"] = float(chance.sum())
    return fit


def _poisson_start(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Poisson estimates by iteratively reweighted least squares."""
    mu = y + 0.5
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        eta = np.log(mu)
        working = eta + (y - mu) / mu
        root = np.sqrt(mu)
        new = np.linalg.lstsq(x * root[:, None], working * root, rcond=None)[0]
        if np.max(np.abs(new - beta)) < 1e-10:
            break
        beta, mu = new, np.exp(np.clip(x @ new, -30, 30))
    return beta


def overdispersion_test(
    outcome: pd.Series, columns: Mapping[str, Any], *, power: float = 1.0
) -> tuple[float, float]:
    """Cameron-Trivedi test of equidispersion in a Poisson model: z statistic and alpha.

    The auxiliary regression is ((y - mu)^2 - y)/mu on mu^power/mu without a constant.
    """
    y, x, _, _ = _sample(outcome, columns, None, True, None)
    mu = np.exp(x.to_numpy() @ _poisson_start(y, x.to_numpy()))
    auxiliary = ((y - mu) ** 2 - y) / mu
    regressor = mu**power / mu
    alpha = float(regressor @ auxiliary / (regressor @ regressor))
    e = auxiliary - alpha * regressor
    error = math.sqrt(float(e @ e) / (len(y) - 1) / float(regressor @ regressor))
    return alpha / error, alpha


# ---------------------------------------------------------------- difference GMM


def difference_gmm(
    frame: pd.DataFrame,
    outcome: str,
    endogenous: Sequence[str],
    exogenous: Sequence[str],
    *,
    instrument: str,
    unit: str,
    time: str,
    time_effects: bool = True,
    first_instrument_lag: int = 2,
    last_instrument_lag: int | None = None,
    steps: int = 1,
    robust: bool = True,
) -> Fit:
    """Arellano-Bond first-difference GMM with lagged levels of `instrument` as instruments.

    `exogenous` columns instrument themselves in differences. The first step uses the weight
    matrix of a first-differenced white-noise error; the covariance of two steps is the
    asymptotic one. `frame` is the whole panel; all columns are levels in it.
    """
    data = frame.sort_values([unit, time]).reset_index(drop=True)
    own, columns = list(endogenous), list(exogenous)
    panel = Panel(data, unit, time)
    varying = list(dict.fromkeys([outcome, *own, *columns]))
    differenced = pd.DataFrame({name: panel.difference(data[name]) for name in varying})
    used = differenced.notna().all(axis=1)
    periods = sorted(data.loc[used, time].unique())
    dummies = pd.DataFrame(
        {f"_period{p}": (data[time] == p).astype(float) for p in periods}
        if time_effects
        else {CONSTANT: np.ones(len(data))}
    )
    levels = data.set_index([unit, time])[instrument]
    width, starts = 0, {}
    for period in periods:
        reach = [
            lag
            for lag in range(first_instrument_lag, int(period - data[time].min()) + 1)
            if last_instrument_lag is None or lag <= last_instrument_lag
        ]
        starts[period] = (width, reach)
        width += len(reach)
    outside = pd.concat([differenced[columns], dummies], axis=1)
    x_all = pd.concat([differenced[[*own, *columns]], dummies], axis=1)
    blocks = []
    for code, rows in data.loc[used].groupby(unit, sort=False).groups.items():
        z = np.zeros((len(rows), width + outside.shape[1]))
        times = data.loc[rows, time].to_numpy()
        for line, period in enumerate(times):
            begin, reach = starts[period]
            for offset, lag in enumerate(reach):
                value = levels.get((code, period - lag), np.nan)
                z[line, begin + offset] = 0.0 if pd.isna(value) else value
        z[:, width:] = outside.loc[rows].to_numpy()
        gap = np.abs(times[:, None] - times[None, :])
        h = np.where(gap == 0, 2.0, np.where(gap == 1, -1.0, 0.0))
        blocks.append(
            (x_all.loc[rows].to_numpy(), differenced.loc[rows, outcome].to_numpy(), z, h, times)
        )
    zx = sum(z.T @ x for x, _, z, _, _ in blocks)
    zy = sum(z.T @ y for _, y, z, _, _ in blocks)
    w1 = np.linalg.pinv(sum(z.T @ h @ z for _, _, z, h, _ in blocks))

    def solve(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        bread = np.linalg.inv(zx.T @ w @ zx)
        return bread @ (zx.T @ w @ zy), bread

    b1, bread1 = solve(w1)
    moments = sum(np.outer(z.T @ (y - x @ b1), z.T @ (y - x @ b1)) for x, y, z, _, _ in blocks)
    n = sum(len(y) for _, y, _, _, _ in blocks)
    sigma = sum(float(np.sum((y - x @ b1) ** 2)) for x, y, _, _, _ in blocks) / (
        2 * (n - zx.shape[1])
    )
    robust1 = bread1 @ zx.T @ w1 @ moments @ w1 @ zx @ bread1
    w2 = np.linalg.pinv(moments)
    b2, bread2 = solve(w2)
    if steps == 1:
        b, v, w = b1, robust1 if robust else sigma * bread1, w1
    else:
        b, v, w = b2, bread2, w2
    residual = zy - zx @ b
    sargan = float(residual @ w @ residual) / (sigma if steps == 1 else 1.0)
    restrictions = zx.shape[0] - zx.shape[1]
    statistics = {
        "n_obs": float(n),
        "n_groups": float(len(blocks)),
        "overidentification": sargan,
        "overidentification_p": float(stats.chi2.sf(sargan, restrictions)),
        "overidentification_df": float(restrictions),
    }
    for order in (1, 2):
        statistics[f"autocorrelation_{order}"] = _serial_correlation(
            blocks, b, v, w, zx, np.linalg.inv(zx.T @ w @ zx), order
        )
    names = [*own, *columns, *dummies.columns]
    se = np.sqrt(np.diag(v))
    return Fit(
        main={name: (float(c), float(s)) for name, c, s in zip(names, b, se, strict=True)},
        statistics=statistics,
        covariance=pd.DataFrame(v, index=names, columns=names),
    )


def _serial_correlation(
    blocks: Sequence[tuple[np.ndarray, ...]],
    b: np.ndarray,
    v: np.ndarray,
    w: np.ndarray,
    zx: np.ndarray,
    bread: np.ndarray,
    order: int,
) -> float:
    """Arellano-Bond m statistic of the differenced residuals at one order."""
    numerator, squares = 0.0, 0.0
    lag_x = np.zeros(zx.shape[1])
    cross = np.zeros(zx.shape[0])
    for x, y, z, _, times in blocks:
        e = y - x @ b
        position = {period: i for i, period in enumerate(times)}
        lagged = np.array([e[position[t - order]] if t - order in position else 0.0 for t in times])
        numerator += float(lagged @ e)
        squares += float(lagged @ e) ** 2
        lag_x += lagged @ x
        cross += (z.T @ e) * float(lagged @ e)
    variance = squares - 2 * lag_x @ bread @ zx.T @ w @ cross + lag_x @ v @ lag_x
    return numerator / math.sqrt(variance)


# ---------------------------------------------------------------- descriptions


def mean(values: Any, weights: Any = None) -> float:
    """Mean over the values that are present."""
    series = pd.Series(np.asarray(values, dtype=float))
    if weights is None:
        return float(series.mean())
    w = np.asarray(weights, dtype=float)
    present = series.notna().to_numpy()
    return float(np.average(series[present], weights=w[present]))


def standard_error_of_mean(values: Any) -> float:
    """Standard deviation over the root of the number of values."""
    series = pd.Series(np.asarray(values, dtype=float)).dropna()
    return float(series.std(ddof=1) / math.sqrt(len(series)))


def two_sample(first: Any, second: Any, *, pooled: bool = False) -> tuple[float, float, float]:
    """Difference of means, its standard error, and the two-sided normal p-value."""
    a = pd.Series(np.asarray(first, dtype=float)).dropna()
    b = pd.Series(np.asarray(second, dtype=float)).dropna()
    difference = float(a.mean() - b.mean())
    if pooled:
        both = pd.concat([a, b])
        spread = both.var(ddof=0)
        error = math.sqrt(spread * (1 / len(a) + 1 / len(b)))
    else:
        error = math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    return difference, error, float(2 * stats.norm.sf(abs(difference / error)))


def total(values: Any) -> float:
    """Sum over the values that are present."""
    return float(pd.Series(np.asarray(values, dtype=float)).sum())


def present(values: Any) -> int:
    """Number of values that are present."""
    return int(pd.Series(np.asarray(values)).notna().sum())


def compared(values: Any, group: Any, statistic: str) -> float:
    """Compare the means where `group` is one (or true) and where it is zero.

    `statistic` is difference, ratio, standard_error, p_value or ratio_to_error.
    """
    y = pd.Series(np.asarray(values, dtype=float))
    g = pd.Series(np.asarray(group, dtype=float))
    first, second = y[g == 1], y[g == 0]
    difference, error, p = two_sample(first, second)
    return {
        "difference": difference,
        "ratio": float(first.mean() / second.mean()),
        "standard_error": error,
        "p_value": p,
        "ratio_to_error": difference / error,
    }[statistic]


def local_difference(
    outcome: pd.Series,
    running: pd.Series,
    *,
    cutoff: float,
    bandwidth: float,
    variance: str = "classical",
    clusters: pd.DataFrame | None = None,
) -> Fit:
    """Difference of means just above and just below a cut-off, named ``jump``."""
    near = (running - cutoff).abs() <= bandwidth
    near &= running != cutoff
    above = (running > cutoff).astype(float)
    return linear(
        outcome[near],
        {"jump": above[near]},
        variance=variance,
        clusters=None if clusters is None else clusters[near],
    )


# ---------------------------------------------------------------- reading a fit


def estimate_of(fit: Fit, term: str, equation: str = "main") -> tuple[float, float]:
    """Estimate and standard error of a term, whichever order an interaction is named in."""
    table = fit.main if equation == "main" else fit.zero
    if term in table:
        return table[term]
    wanted = sorted(part.strip() for part in term.split(":"))
    for name, pair in table.items():
        if sorted(part.strip() for part in name.split(":")) == wanted:
            return pair
    level = re.fullmatch(r"(\w+)\[(.+)\]", term)
    for name, pair in table.items():
        inside = re.fullmatch(r"category\((\w+).*\)\[(.+)\]", name)
        if level and inside and inside.groups() == level.groups():
            return pair
    raise Undetermined(f"no estimate named {term!r}; there are {', '.join(table)}")


def term_statistic(fit: Fit, term: str, metric: str, equation: str = "main") -> float:
    """A coefficient, standard error, t, z, p-value or 95 percent bound of a term."""
    b, se = estimate_of(fit, term, equation)
    t_reference = fit.reference == "t" and math.isfinite(fit.df_resid)
    if metric == "coefficient":
        return b
    if metric == "standard_error":
        return se
    if metric in {"t_statistic", "z_statistic"}:
        return b / se
    if metric == "p_value":
        ratio = abs(b / se)
        tail = stats.t.sf(ratio, fit.df_resid) if t_reference else stats.norm.sf(ratio)
        return float(2 * tail)
    if metric in {"ci_lower", "ci_upper"}:
        half = stats.t.ppf(0.975, fit.df_resid) if t_reference else stats.norm.ppf(0.975)
        return b - float(half) * se if metric == "ci_lower" else b + float(half) * se
    raise Undetermined(f"a term has no {metric}")


def joint_test(fit: Fit, terms: Sequence[str], metric: str) -> float:
    """F, chi-squared or p-value of the hypothesis that all `terms` are zero."""
    named = [name for term in terms for name in _names_of(fit, term)]
    f, p, restrictions = wald(fit, named)
    return {"f_statistic": f, "chi2_statistic": f * restrictions, "p_value": p}[metric]


def _names_of(fit: Fit, term: str) -> list[str]:
    levels = [name for name in fit.main if name.startswith(f"{term}[")]
    if levels:
        return levels
    pair = estimate_of(fit, term)
    return [name for name, other in fit.main.items() if other is pair]


def autocorrelation(fit: Fit, order: str, metric: str) -> float:
    """Arellano-Bond m statistic of the order that `order` ends with, or its p-value."""
    digits = re.search(r"(\d+)$", order or "")
    words = {"first": "1", "second": "2"}
    key = digits.group(1) if digits else words.get(order)
    if key is None:
        raise Undetermined("the order of the autocorrelation test is not stated")
    statistic = fit.statistics[f"autocorrelation_{key}"]
    return float(2 * stats.norm.sf(abs(statistic))) if metric == "p_value" else statistic


class FilledTable:
    """A table template being filled: values by cell, and the reasons for what stays empty."""

    def __init__(self, template: str | Path) -> None:
        self.record: dict[str, Any] = json.loads(Path(template).read_text())
        self.reasons: list[str] = []
        self._cells = {(c["row"], c["col"], c["part"]): c for c in self.record["cells"]}

    def fill(self, row: int, col: int, part: int, value: Callable[[], float]) -> None:
        """Put a value into a cell; a number that is not determined leaves it empty."""
        try:
            number = float(value())
        except REASONS as why:
            self.leave(row, col, f"{type(why).__name__}: {why}")
            return
        if not math.isfinite(number):
            self.leave(row, col, "the value is not finite")
            return
        cell = self._cells[row, col, part]
        cell["value"], cell["text"] = number, f"{number:.10g}"

    def leave(self, row: int, col: int, reason: str) -> None:
        """Leave a cell empty and keep the reason, on one line."""
        self.reasons.append(f"row {row}, column {col}: {' '.join(reason.split())}")

    def save(self, path: str | Path) -> None:
        """Write the filled template, and the reasons beside it."""
        self.record["role"] = "reproduced"
        Path(path).write_text(json.dumps(self.record, ensure_ascii=False, indent=1))
        if self.reasons:
            notes = Path(path).with_suffix(".empty.txt")
            notes.write_text("\n".join(self.reasons) + "\n")
