"""Powers of ten between print and reproduction: where they are forgiven, on arrays."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from data.records.grades import Rescaling
from data.records.metrics import UNIT_METRICS, Metric
from grade.columns import PublishedColumns, metric_mask
from grade.rounding import powers
from grade.rules import below, printed_unit

__all__ = ["powers_of_ten", "scaled_by_power"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

NEAR_NOTHING: Final = 1e-10
"""Published values and median ratios up to this size say nothing about a factor."""

SHARE_POWER: Final = 2
"""A share is printed as a proportion or in percent; no other power separates two printings."""


def powers_of_ten(
    rule: Rescaling, published: PublishedColumns, reproduced: Floats, slack: float
) -> Integers:
    """Power k of each cell: the reproduced value is to be multiplied by 10 to the -k.

    Parameters
    ----------
    rule : Rescaling
    published : PublishedColumns
    reproduced : floats, one a published cell
        As the run gave them; NaN where none, and in cells that are not graded.
    slack : float
        Relative slack of the tolerances.
    """
    if rule.method == "table_median":
        return _by_table_median(rule, published, reproduced, slack)
    if rule.method == "unit_groups":
        return _by_unit_groups(rule, published, reproduced, slack)
    return np.zeros(len(reproduced), dtype=np.int64)


def scaled_by_power(values: Floats, power: Integers) -> Floats:
    """Values times 10 to the -power; dividing by a whole power keeps decimals exact."""
    scaled = values.copy()
    moved = np.flatnonzero(power)
    size = powers(np.abs(power[moved]))
    with np.errstate(over="ignore", invalid="ignore"):
        scaled[moved] = np.where(power[moved] > 0, values[moved] / size, values[moved] * size)
    return scaled


def _by_table_median(
    rule: Rescaling, published: PublishedColumns, reproduced: Floats, slack: float
) -> Integers:
    pairs = np.flatnonzero(
        np.isfinite(reproduced)
        & np.isfinite(published.value)
        & (np.abs(published.value) > NEAR_NOTHING)
    )
    with np.errstate(over="ignore"):
        ratio = reproduced[pairs] / published.value[pairs]
    count = np.bincount(published.table[pairs], minlength=published.n_tables)
    median = np.abs(_upper_medians(ratio, count))

    usable = (median > NEAR_NOTHING) & np.isfinite(median)
    exponent = np.log10(np.where(usable, median, 1.0))
    power = np.rint(exponent)
    fires = usable & below(np.abs(exponent - power), rule.tolerance, slack)
    by_table = np.where(fires, power, 0.0).astype(np.int64)
    power_of_cell: Integers = by_table[published.table]
    return power_of_cell


def _upper_medians(values: Floats, count: Integers) -> Floats:
    """Element floor(n/2) of each run of `count` neighbouring values; 0 for an empty run.

    Runs of equal length are partitioned together: much faster than sorting all values.
    """
    start = np.cumsum(count) - count
    medians = np.zeros(len(count))
    for length in np.unique(count[count > 0]).tolist():
        runs = np.flatnonzero(count == length)
        block = values[start[runs][:, np.newaxis] + np.arange(length)]
        medians[runs] = np.partition(block, length // 2, axis=1)[:, length // 2]
    return medians


def _by_unit_groups(
    rule: Rescaling, published: PublishedColumns, reproduced: Floats, slack: float
) -> Integers:
    """By table, column and row in turn, each once, among cells whose unit is not stated.

    The row of a standard error or a bound is that of its estimate. Shares form groups of
    their own: their unit is not the outcome's.
    """
    value = published.value
    share = metric_mask(published.metric, frozenset({Metric.SHARE}))
    candidate = metric_mask(published.metric, UNIT_METRICS) & (published.unit == 0)
    with np.errstate(invalid="ignore"):
        fine = printed_unit(published) / 2 <= rule.coarse_unit * np.abs(value) * (1 + slack)
        telling = candidate & fine & (value != 0) & (reproduced != 0)
        telling &= np.isfinite(value) & np.isfinite(reproduced)
    log_ratio = np.full(len(value), np.nan)
    log_ratio[telling] = np.log10(np.abs(reproduced[telling])) - np.log10(np.abs(value[telling]))

    total = np.zeros(len(value), dtype=np.int64)
    groupings = (
        np.zeros_like(published.col),
        published.col,
        published.row[published.estimate],
    )
    for place_in_table in groupings:
        group = _codes(published.table, place_in_table, share.astype(np.int64))
        found = _group_powers(rule, group, published.estimate, log_ratio, telling, share, slack)
        found = np.where(candidate, found, 0)
        total += found
        log_ratio -= found
    return total


def _codes(*keys: Integers) -> Integers:
    """One code, 0 upwards, for each distinct combination of keys."""
    combined = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        combined = combined * (int(key.max(initial=0)) + 1) + key
    codes: Integers = np.unique(combined, return_inverse=True)[1]
    return codes


def _group_powers(
    rule: Rescaling,
    group: Integers,
    estimate: Integers,
    log_ratio: Floats,
    telling: Booleans,
    share: Booleans,
    slack: float,
) -> Integers:
    """Power of each cell's group; 0 where the conditions of the rule do not all hold."""
    n_groups = int(group.max(initial=-1)) + 1
    reach = rule.tolerance * (1 + slack)
    pairs = np.flatnonzero(telling)
    count = np.bincount(group[pairs], minlength=n_groups)
    right = pairs[np.abs(log_ratio[pairs]) <= reach]
    at_unity = np.bincount(group[right], minlength=n_groups)
    # Most groups are right as they stand; only the others are worth sorting.
    possible = (count >= rule.min_pairs) & (at_unity <= rule.share_at_unity * count * (1 + slack))
    pairs = pairs[possible[group[pairs]]]
    if not len(pairs):
        return np.zeros(len(group), dtype=np.int64)
    of_group, ratio = group[pairs], log_ratio[pairs]
    count = np.bincount(of_group, minlength=n_groups)
    n_estimates = _distinct(of_group, estimate[pairs], n_groups)
    median = _group_medians(of_group, ratio, count)
    power = np.rint(median)
    at_power = np.bincount(
        of_group, weights=np.abs(ratio - power[of_group]) <= reach, minlength=n_groups
    )
    allowed = (np.abs(power) >= 1) & (np.abs(power) <= rule.max_power)
    shares = np.bincount(of_group, weights=share[pairs], minlength=n_groups) > 0
    allowed &= ~shares | (np.abs(power) == SHARE_POWER)
    fires = (
        allowed
        & possible
        & (n_estimates >= rule.min_estimates)
        & (np.abs(median - power) <= rule.median_tolerance * (1 + slack))
        & (at_power >= rule.share_at_power * count * (1 - slack))
    )
    found: Integers = np.where(fires, power, 0.0).astype(np.int64)[group]
    return found


def _distinct(group: Integers, member: Integers, n_groups: int) -> Integers:
    """Count the distinct members of each group."""
    order = np.lexsort((member, group))
    sorted_group, sorted_member = group[order], member[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (sorted_group[1:] != sorted_group[:-1]) | (sorted_member[1:] != sorted_member[:-1])
    counts: Integers = np.bincount(sorted_group[new], minlength=n_groups)
    return counts


def _group_medians(group: Integers, values: Floats, count: Integers) -> Floats:
    """Median of each group, mean of the middle two where even; 0 for an empty group."""
    ordered = values[np.lexsort((values, group))]
    start = np.cumsum(count) - count
    filled = np.flatnonzero(count)
    medians = np.zeros(len(count))
    low = ordered[(start + (count - 1) // 2)[filled]]
    high = ordered[(start + count // 2)[filled]]
    medians[filled] = (low + high) / 2
    return medians
