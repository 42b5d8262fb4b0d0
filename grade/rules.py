"""Cell rules: from published and reproduced values to letters, on arrays.

Letters are codes 0 to 5 for A to F, and -1 where nothing is published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from data.records.grades import CellRule
from data.records.metrics import COUNT_METRICS, Metric
from grade.columns import UNIT_CODES, UNKNOWN, PublishedColumns, metric_mask
from grade.rounding import LARGEST_EXACT_POWER, decimals_of_notation, powers, printed_units

__all__ = [
    "MEASURES",
    "NO_GRADE",
    "A",
    "E",
    "F",
    "Graded",
    "PrintedInterval",
    "below",
    "distance_to_print",
    "grade_cells",
    "interval_widths",
    "printed_interval",
    "printed_unit",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

A: Final = 0
E: Final = 4
F: Final = 5
NO_GRADE: Final = -1
MEASURES: Final = ("none", "percent", "absolute", "scale", "normal", "count", "sign")
NONE, PERCENT, ABSOLUTE, SCALE, NORMAL, COUNT, SIGN = range(len(MEASURES))

INSIDE_SLACK: Final = 1e-9
"""A value this close to its printed interval, in printed units, lies inside it."""

INTERVAL_WIDTH_IN_SE: Final = 3.92
"""Width of a 95 % interval in standard errors, twice 1.96."""

TEST_STATISTICS: Final = frozenset({Metric.T_STATISTIC, Metric.Z_STATISTIC})
FRACTIONS: Final = frozenset(
    {
        Metric.R_SQUARED,
        Metric.R_SQUARED_ADJ,
        Metric.R_SQUARED_WITHIN,
        Metric.PSEUDO_R_SQUARED,
        Metric.SHARE,
    }
)
BOUNDS: Final = frozenset({Metric.CI_LOWER, Metric.CI_UPPER})


@dataclass(frozen=True, slots=True)
class Graded:
    """Letter, measured deviation and its measure (place in `MEASURES`) of each cell."""

    letter: Integers
    deviation: Floats
    measure: Integers


@dataclass(frozen=True, slots=True)
class PrintedInterval:
    """What the print allows: lower and upper end of the true value of each cell."""

    lower: Floats
    upper: Floats


def below(values: Floats, cut: float, slack: float) -> Booleans:
    """Whether values lie strictly under a cut-off, those within relative `slack` of it not."""
    mask: Booleans = values < cut * (1.0 - slack)
    return mask


def grade_cells(
    rule: CellRule,
    published: PublishedColumns,
    reproduced: Floats,
    standard_error: Floats,
    width: Floats,
    slack: float,
) -> Graded:
    """Letters of reproduced values under one cell rule.

    Parameters
    ----------
    rule : CellRule
    published : PublishedColumns
    reproduced : floats, one a published cell
        After rescaling; NaN where none.
    standard_error : floats, one a published cell
        Published standard error of the estimate, NaN where none.
    width : floats, one a published cell
        Width of the published interval that a bound belongs to, NaN where unknown.
    slack : float
        Relative slack of the cut-offs.
    """
    if rule.measure == "percent":
        graded = _grade_by_percent(rule, published, reproduced, slack)
    else:
        graded = _grade_by_interval(rule, published, reproduced, standard_error, width, slack)
    letter = np.where(np.isfinite(reproduced), graded.letter, F)
    letter = np.where(np.isfinite(published.value), letter, NO_GRADE)
    graded_cell = letter >= 0
    known = graded_cell & (letter != F)
    return Graded(
        letter=letter,
        deviation=np.where(known, graded.deviation, np.nan),
        measure=np.where(known, graded.measure, NONE),
    )


def _letters(values: Floats, cuts: tuple[float, ...], slack: float) -> Integers:
    """Count the cut-offs at or under each value: 0 is A, 4 is E."""
    letter = np.zeros(len(values), dtype=np.int64)
    for cut in cuts:
        letter += ~below(values, cut, slack)
    return letter


# --------------------------------------------------------------------------- percent


def _grade_by_percent(
    rule: CellRule, published: PublishedColumns, reproduced: Floats, slack: float
) -> Graded:
    printed, given, unit = _rounded_pairs(rule, published, reproduced)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        difference = np.abs(given - printed)
        percent = 100.0 * difference / np.abs(printed)
        absolute = difference * unit
        near_zero = below(np.abs(printed) * unit, rule.near_zero_below, slack)
    both_zero = (printed == 0) & (given == 0)
    flipped = printed * np.sign(given) < 0
    letter = np.where(
        near_zero,
        _letters(absolute, rule.near_zero_cuts, slack),
        _letters(percent, rule.cuts, slack),
    )
    letter = np.where(flipped, E, letter)
    letter = np.where(both_zero, A, letter)
    measure = np.where(near_zero, ABSOLUTE, PERCENT)
    deviation = np.where(near_zero, absolute, percent)
    return Graded(
        letter=letter,
        deviation=np.where(flipped, np.nan, deviation),
        measure=np.where(flipped, SIGN, measure),
    )


def _rounded_pairs(
    rule: CellRule, published: PublishedColumns, reproduced: Floats
) -> tuple[Floats, Floats, Floats]:
    """Both sides, and the unit that they are counted in.

    Rounded sides are whole counts of printed units, so that their difference is exact. Cells
    without known decimals stay as they are, in units of 1.
    """
    value = published.value
    if rule.rounding == "none":
        return value, reproduced, np.ones(len(value))
    decimals = published.decimals if rule.rounding == "printed" else decimals_of_notation(value)
    countable = (decimals != UNKNOWN) & (decimals <= LARGEST_EXACT_POWER)
    usable = np.where(countable, decimals, 0)
    printed = np.where(countable, printed_units(value, usable), value)
    given = np.where(countable, printed_units(reproduced, usable), reproduced)
    unit = np.where(countable, 1.0 / powers(usable), 1.0)
    return printed, given, unit


# --------------------------------------------------------------------------- interval


def printed_unit(published: PublishedColumns) -> Floats:
    """One unit of each cell's last printed digit; 0 where the decimals are unknown."""
    known = published.decimals != UNKNOWN
    unit: Floats = known / powers(np.where(known, published.decimals, 0))
    return unit


def printed_interval(published: PublishedColumns) -> PrintedInterval:
    """Interval of true values that print as they do.

    Rounded: half a unit to either side. Truncated: up to one unit away from zero (to both
    sides of a printed zero). "<c": zero to c. ">c": from c on, for p-values up to 1.
    """
    value, unit = published.value, printed_unit(published)
    half = unit / 2
    reach = np.where(published.truncated, unit, half)
    lower = np.where(published.truncated & (value > 0), value, value - reach)
    upper = np.where(published.truncated & (value < 0), value, value + reach)
    p_value = metric_mask(published.metric, frozenset({Metric.P_VALUE}))
    less, greater = published.bound < 0, published.bound > 0
    lower = np.where(less, 0.0, np.where(greater, value, lower))
    upper = np.where(less, value, np.where(greater, np.where(p_value, 1.0, np.inf), upper))
    lower = np.where(p_value, np.clip(lower, 0.0, 1.0), lower)
    upper = np.where(p_value, np.clip(upper, 0.0, 1.0), upper)
    return PrintedInterval(lower=lower, upper=upper)


def distance_to_print(published: PublishedColumns, values: Floats) -> Floats:
    """Distance of values to the printed interval; 0 inside it."""
    interval = printed_interval(published)
    with np.errstate(invalid="ignore"):
        distance = np.maximum(np.maximum(interval.lower - values, values - interval.upper), 0.0)
    return np.where(distance <= INSIDE_SLACK * printed_unit(published), 0.0, distance)


def _grade_by_interval(
    rule: CellRule,
    published: PublishedColumns,
    reproduced: Floats,
    standard_error: Floats,
    width: Floats,
    slack: float,
) -> Graded:
    distance = distance_to_print(published, reproduced)
    scale = _scales(published, standard_error, width)
    percent_share = _percent_shares(published)
    distance = np.where(percent_share, distance / 100.0, distance)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        deviation = np.where(distance == 0, 0.0, distance / scale)
    letter = _letters(deviation, rule.cuts, slack)
    measure = np.full(len(letter), SCALE)
    impossible = metric_mask(published.metric, frozenset({Metric.STANDARD_ERROR}))
    impossible &= reproduced <= 0

    counts = metric_mask(published.metric, COUNT_METRICS)
    if counts.any():
        fraction = _count_fractions(published.value, reproduced)
        count_letter = np.where(fraction == 0, A, 1 + _letters(fraction, rule.count_cuts, slack))
        letter = np.where(counts, count_letter, letter)
        deviation = np.where(counts, fraction, deviation)
        measure = np.where(counts, COUNT, measure)

    p_values = metric_mask(published.metric, frozenset({Metric.P_VALUE}))
    if p_values.any():
        places = np.flatnonzero(p_values)
        normal = _normal_distances(published, reproduced, distance, places)
        letter[places] = _letters(normal, rule.cuts, slack)
        deviation[places] = normal
        measure[places] = NORMAL

    letter = np.where(impossible, E, letter)
    return Graded(
        letter=letter,
        deviation=np.where(impossible, np.nan, deviation),
        measure=np.where(impossible, SIGN, measure),
    )


def _percent_shares(published: PublishedColumns) -> Booleans:
    """Shares in percent: stated so, or too large to be a proportion."""
    share = metric_mask(published.metric, frozenset({Metric.SHARE}))
    fractions = metric_mask(published.metric, FRACTIONS)
    stated = fractions & (published.unit == UNIT_CODES["percent"])
    mask: Booleans = stated | (share & (np.abs(published.value) > 1))
    return mask


def _scales(published: PublishedColumns, standard_error: Floats, width: Floats) -> Floats:
    """Scale of each cell's distance, in the cell's own unit (proportions for shares)."""
    size, unit = np.abs(published.value), printed_unit(published)
    scale = np.maximum(size, unit)

    coefficient = metric_mask(published.metric, frozenset({Metric.COEFFICIENT}))
    with_error = coefficient & (standard_error > 0)
    scale = np.where(with_error, np.fmax(size, standard_error), scale)

    tests = metric_mask(published.metric, TEST_STATISTICS)
    scale = np.where(tests, np.maximum(size, 1.0), scale)

    bounds = metric_mask(published.metric, BOUNDS)
    scale = np.where(bounds & (width > 0), np.fmax(size, width / INTERVAL_WIDTH_IN_SE), scale)

    percent = _percent_shares(published)
    proportion = np.where(percent, size / 100.0, size)
    own_unit = np.where(percent, unit / 100.0, unit)
    fractions = metric_mask(published.metric, FRACTIONS)
    return np.where(
        fractions,
        np.maximum(np.minimum(proportion, 1.0 - proportion), own_unit),
        scale,
    )


def interval_widths(published: PublishedColumns) -> Floats:
    """Width between the printed bounds of each cell's estimate; NaN where one is missing."""
    ends = []
    for metric in (Metric.CI_LOWER, Metric.CI_UPPER):
        places = np.flatnonzero(metric_mask(published.metric, frozenset({metric})))
        places = places[published.estimate[places] != places]
        by_estimate = np.full(len(published.value), np.nan)
        by_estimate[published.estimate[places[::-1]]] = published.value[places[::-1]]
        ends.append(by_estimate)
    widths: Floats = (ends[1] - ends[0])[published.estimate]
    return widths


def _count_fractions(published: Floats, reproduced: Floats) -> Floats:
    """Distance between whole numbers as a fraction of the published one."""
    zero = np.zeros(len(published), dtype=np.int64)
    printed, given = printed_units(published, zero), printed_units(reproduced, zero)
    with np.errstate(invalid="ignore", divide="ignore"):
        fraction = np.abs(given - printed) / np.abs(printed)
    return np.where(given == printed, 0.0, fraction)


def _normal_distances(
    published: PublishedColumns, reproduced: Floats, distance: Floats, places: Integers
) -> Floats:
    """Distance between normal quantiles of a p-value and of its printed interval.

    A reproduced number outside [0, 1] is no p-value and infinitely far.
    """
    from scipy.special import ndtri

    interval = printed_interval(published)
    given = reproduced[places]
    possible = (given >= 0) & (given <= 1)
    quantile = -ndtri(np.where(possible, given, 0.5) / 2)
    nearest = -ndtri(interval.upper[places] / 2)
    farthest = -ndtri(interval.lower[places] / 2)
    with np.errstate(invalid="ignore"):
        apart = np.maximum(np.maximum(nearest - quantile, quantile - farthest), 0.0)
    apart = np.where(distance[places] == 0, 0.0, apart)
    return np.where(possible, apart, np.inf)
