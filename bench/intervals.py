"""Intervals and contrasts over papers: pure functions of arrays.

The paper is the unit of clustering, so every function here takes one number a paper. Levels and
shares get a bounded Bayesian bootstrap, which keeps its coverage with few papers and near the
ends of the scale; paired contrasts get Student's t with a sign-flip p-value. With fewer than
`FEWEST_PAPERS` papers nothing is inferred and the caller shows counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "DRAWS",
    "FEWEST_PAPERS",
    "Contrast",
    "Interval",
    "detectable_difference",
    "level_interval",
    "paired_contrast",
    "sign_flip_p",
]

FEWEST_PAPERS: Final = 6
"""Below this many papers (or papers with a difference) only counts are reported."""

DRAWS: Final = 4_000
SEED: Final = 20_260
CONFIDENCE: Final = 0.95
POWER: Final = 0.80
_EXACT_FLIPS: Final = 14
_FLIP_DRAWS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval for a mean over papers. `n` counts papers."""

    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two arms on the papers that both have.

    Attributes
    ----------
    n, n_different : int
        Papers with both values; those of them where the values differ.
    n_better, n_worse : int
        Papers where the first is above, below the second.
    mean : float or None
        Mean difference; None without a common paper.
    interval : Interval or None
        t interval with n - 1 degrees of freedom.
    p : float or None
        Two-sided sign-flip p-value.
    detectable : float or None
        Difference found with 80 % power at 5 %.
    """

    n: int
    n_different: int
    n_better: int
    n_worse: int
    mean: float | None
    interval: Interval | None
    p: float | None
    detectable: float | None


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[np.isfinite(array)]


def level_interval(
    values: ArrayLike,
    *,
    lowest: float,
    highest: float,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Interval | None:
    """Bounded Bayesian bootstrap interval of a mean over papers.

    Parameters
    ----------
    values : array_like, shape (n,)
        One mean or share a paper; not-a-number entries are left out.
    lowest, highest : float
        Ends of the scale: 0 and 5 for scores, 0 and 1 for shares.
    draws, seed : int
        Number of weight draws, and the seed that makes them repeatable.

    Returns
    -------
    Interval or None
        The 2.5 and 97.5 per cent points; None under `FEWEST_PAPERS` papers.

    Raises
    ------
    ValueError
        When a value lies off the scale.

    Notes
    -----
    Each draw weights the papers by a Dirichlet vector with concentration 1 a paper, and gives
    the two ends of the scale one half each. The two end points keep the interval open where all
    papers agree at the ceiling.
    """
    papers = np.sort(_finite(values))
    slack = 1e-9 * max(abs(lowest), abs(highest), 1.0)
    if papers.size and (papers[0] < lowest - slack or papers[-1] > highest + slack):
        raise ValueError(f"a value lies outside the scale from {lowest} to {highest}")
    if papers.size < FEWEST_PAPERS:
        return None
    points = np.concatenate([papers, [lowest, highest]])
    concentration = np.concatenate([np.ones(papers.size), [0.5, 0.5]])
    weights = np.random.default_rng(seed).dirichlet(concentration, size=draws)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(weights @ points, [tail, 1 - tail])
    return Interval(float(low), float(high), int(papers.size))


def _t_quantile(probability: float, degrees: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def _spread(differences: NDArray[np.float64]) -> float:
    return float(np.std(differences, ddof=1) / np.sqrt(differences.size))


def detectable_difference(differences: ArrayLike) -> float | None:
    """Smallest mean difference that these papers would show: 80 % power, 5 % two-sided.

    Parameters
    ----------
    differences : array_like, shape (n,)
        Paper-wise differences of two arms.

    Returns
    -------
    float or None
        (t_.975 + t_.80) sd / sqrt(n) with n - 1 degrees of freedom; None where fewer than
        `FEWEST_PAPERS` papers differ, or all differ alike (no spread to judge by).
    """
    papers = _finite(differences)
    if np.count_nonzero(papers) < FEWEST_PAPERS:
        return None
    degrees = papers.size - 1
    spread = _spread(papers)
    if spread <= 1e-12 * np.abs(papers).max():
        return None
    upper = (1 + CONFIDENCE) / 2
    return (_t_quantile(upper, degrees) + _t_quantile(POWER, degrees)) * spread


def sign_flip_p(differences: ArrayLike, *, seed: int = SEED) -> float | None:
    """Two-sided p-value of a zero mean difference, by flipping signs paper by paper.

    All flips are enumerated up to 14 papers that differ; beyond that 20,000 seeded flips are
    drawn, and the observed one is counted among them. None where fewer than `FEWEST_PAPERS`
    papers differ.
    """
    papers = _finite(differences)
    papers = np.sort(papers[papers != 0])
    if papers.size < FEWEST_PAPERS:
        return None
    observed = abs(papers.sum()) * (1 - 1e-12)
    if papers.size <= _EXACT_FLIPS:
        patterns = np.arange(2**papers.size)[:, None] >> np.arange(papers.size) & 1
        sums = np.abs((1 - 2 * patterns) @ papers)
        return float(np.mean(sums >= observed))
    flips = np.random.default_rng(seed).integers(
        0, 2, size=(_FLIP_DRAWS, papers.size), dtype=np.int8
    )
    sums = np.abs((1 - 2 * flips) @ papers)
    return float((np.count_nonzero(sums >= observed) + 1) / (_FLIP_DRAWS + 1))


def paired_contrast(first: ArrayLike, second: ArrayLike) -> Contrast:
    """Contrast two arms paper by paper.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        Scores aligned by paper; a paper where either is not a number is left out.

    Raises
    ------
    ValueError
        When the two differ in length.
    """
    one = np.asarray(first, dtype=np.float64).ravel()
    two = np.asarray(second, dtype=np.float64).ravel()
    if one.size != two.size:
        raise ValueError(f"scores of {one.size} and of {two.size} papers cannot be paired")
    differences = _finite(one - two)
    n_different = int(np.count_nonzero(differences))
    interval = None
    if n_different >= FEWEST_PAPERS:
        half = _t_quantile((1 + CONFIDENCE) / 2, differences.size - 1) * _spread(differences)
        middle = float(differences.mean())
        interval = Interval(middle - half, middle + half, int(differences.size))
    return Contrast(
        n=int(differences.size),
        n_different=n_different,
        n_better=int(np.count_nonzero(differences > 0)),
        n_worse=int(np.count_nonzero(differences < 0)),
        mean=float(differences.mean()) if differences.size else None,
        interval=interval,
        p=sign_flip_p(differences),
        detectable=detectable_difference(differences),
    )
