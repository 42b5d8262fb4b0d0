"""Grading of many tables at once, on arrays: align, rescale, compare, roll up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from data.records.grades import CellRule, Reason, RollUp, Rubric
from data.records.metrics import UNGRADED_METRICS, UNIT_METRICS, Metric
from grade.alignment import Aligned, align
from grade.columns import (
    METRIC_CODES,
    REASON_CODES,
    UNKNOWN,
    PublishedColumns,
    ReproducedColumns,
    cells_at,
    metric_mask,
)
from grade.rescaling import powers_of_ten, scaled_by_power
from grade.rules import (
    NO_GRADE,
    A,
    F,
    Graded,
    below,
    distance_to_print,
    grade_cells,
    interval_widths,
    printed_interval,
    printed_unit,
)

__all__ = [
    "RuleColumns",
    "TableColumns",
    "TableScores",
    "crossings",
    "grade_tables",
    "letters_of_scores",
    "published_standard_errors",
    "table_scores",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

SIGNIFICANT: Final = 1.96


@dataclass(frozen=True, slots=True)
class RuleColumns:
    """Letters, deviations and measures of all cells under one cell rule; -1 is no grade."""

    rule: CellRule
    graded: Graded
    unrescued: Integers


@dataclass(frozen=True, slots=True)
class TableColumns:
    """Graded cells of many tables; every array has one entry a published cell.

    Attributes
    ----------
    expected : booleans
        Cells that the rubric grades.
    aligned : Aligned
    reason : integers
        Places in `grade.columns.REASONS`.
    raw, reproduced : floats
        As given, and after rescaling; NaN where none.
    power : integers
        The raw value was multiplied by 10 to the -power.
    standard_error : floats
        Published, of the estimate itself; NaN where none.
    deviation_pct, deviation_se, deviation_se_print, units_off : floats
        NaN where undefined.
    signs_compared, sign_agrees, stars_compared, stars_agree, weak : booleans
    would_be_a_at : integers
        Power that would make the cell an A; 0 none.
    rules : tuple of RuleColumns
    """

    expected: Booleans
    aligned: Aligned
    reason: Integers
    raw: Floats
    reproduced: Floats
    power: Integers
    standard_error: Floats
    deviation_pct: Floats
    deviation_se: Floats
    deviation_se_print: Floats
    units_off: Floats
    signs_compared: Booleans
    sign_agrees: Booleans
    stars_compared: Booleans
    stars_agree: Booleans
    weak: Booleans
    would_be_a_at: Integers
    rules: tuple[RuleColumns, ...]


@dataclass(frozen=True, slots=True)
class TableScores:
    """Score, letter and number of counted cells of each table; letter -1 where none counts."""

    score: Floats
    letter: Integers
    count: Integers


def grade_tables(
    rubric: Rubric, published: PublishedColumns, reproduced: ReproducedColumns
) -> TableColumns:
    """Grade the cells of many tables in one pass.

    Parameters
    ----------
    rubric : Rubric
    published : PublishedColumns
        All cells, settings and text included: they take part in alignment only.
    reproduced : ReproducedColumns

    Returns
    -------
    TableColumns
    """
    left_out = UNGRADED_METRICS | set(rubric.left_out_metrics)
    expected = ~metric_mask(published.metric, frozenset(left_out))
    aligned = align(rubric.alignment, published, reproduced)
    raw = np.full(len(published.value), np.nan)
    usable = np.flatnonzero(expected & (aligned.reason == REASON_CODES[Reason.OK]))
    raw[usable] = reproduced.value[aligned.match[usable]]
    reason = np.where(np.isfinite(published.value), aligned.reason, REASON_CODES[Reason.NO_TRUTH])

    power = powers_of_ten(rubric.rescaling, published, raw, rubric.slack)
    rescaled = scaled_by_power(raw, power)
    standard_error = published_standard_errors(published)
    width = interval_widths(published)
    rules = tuple(
        _rule_columns(rubric, rule, published, raw, rescaled, standard_error, width, power)
        for rule in rubric.cell_rules
    )
    stars_compared, stars_agree = _compare_stars(published, reproduced, aligned)
    difference = rescaled - published.value
    to_print = distance_to_print(published, rescaled)
    positive_error = np.where(standard_error > 0, standard_error, np.nan)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = np.where(published.value == 0, np.nan, np.abs(published.value))
        unit = printed_unit(published)
        return TableColumns(
            expected=expected,
            aligned=aligned,
            reason=reason,
            raw=raw,
            reproduced=rescaled,
            power=power,
            standard_error=standard_error,
            deviation_pct=100.0 * difference / size,
            deviation_se=np.abs(difference) / positive_error,
            deviation_se_print=to_print / positive_error,
            units_off=difference / np.where(unit > 0, unit, np.nan),
            signs_compared=np.isfinite(difference) & (rescaled != 0) & (published.value != 0),
            sign_agrees=np.sign(rescaled) == np.sign(published.value),
            stars_compared=stars_compared,
            stars_agree=stars_agree,
            weak=unit / 2 > rubric.weak_share * np.abs(published.value) * (1 + rubric.slack),
            would_be_a_at=_power_to_an_a(
                rubric, published, raw, power, standard_error, width, rules
            ),
            rules=rules,
        )


def _rule_columns(
    rubric: Rubric,
    rule: CellRule,
    published: PublishedColumns,
    raw: Floats,
    rescaled: Floats,
    standard_error: Floats,
    width: Floats,
    power: Integers,
) -> RuleColumns:
    graded = grade_cells(rule, published, rescaled, standard_error, width, rubric.slack)
    unrescued = graded.letter.copy()
    moved = np.flatnonzero(power)
    unrescued[moved] = grade_cells(
        rule,
        cells_at(published, moved),
        raw[moved],
        standard_error[moved],
        width[moved],
        rubric.slack,
    ).letter
    return RuleColumns(rule=rule, graded=graded, unrescued=unrescued)


def published_standard_errors(published: PublishedColumns) -> Floats:
    """Link each estimate to its published standard error, by `of` and in the same unit.

    NaN where there is none; where several are linked, the first counts. A printed 0 stays 0,
    so that it can be counted.
    """
    is_error = published.metric == METRIC_CODES[Metric.STANDARD_ERROR]
    places = np.flatnonzero(is_error & np.isfinite(published.value))
    estimate = published.estimate[places]
    linked = (estimate != places) & (published.unit[estimate] == published.unit[places])
    places, estimate = places[linked][::-1], estimate[linked][::-1]
    errors = np.full(len(published.value), np.nan)
    errors[estimate] = published.value[places]
    return errors


def _compare_stars(
    published: PublishedColumns, reproduced: ReproducedColumns, aligned: Aligned
) -> tuple[Booleans, Booleans]:
    given = np.full(len(published.value), UNKNOWN)
    found = np.flatnonzero(aligned.reason == REASON_CODES[Reason.OK])
    given[found] = reproduced.stars[aligned.match[found]]
    compared = (given != UNKNOWN) & (published.stars != UNKNOWN)
    return compared, compared & (given == published.stars)


def _power_to_an_a(
    rubric: Rubric,
    published: PublishedColumns,
    raw: Floats,
    power: Integers,
    standard_error: Floats,
    width: Floats,
    rules: tuple[RuleColumns, ...],
) -> Integers:
    """Power of ten by which an unrescued cell of a unit metric misses an A; 0 where none."""
    headline = next(rule for rule in rules if rule.rule.name == rubric.headline[0])
    letter = headline.graded.letter
    misses = np.zeros(len(raw), dtype=np.int64)
    open_cells = (letter > A) & (letter < F) & (power == 0)
    open_cells &= metric_mask(published.metric, UNIT_METRICS)
    places = np.flatnonzero(open_cells & (raw != 0) & (published.value != 0))
    exponent = np.log10(np.abs(raw[places])) - np.log10(np.abs(published.value[places]))
    tried = np.rint(exponent).astype(np.int64)
    possible = (tried != 0) & (np.abs(tried) <= rubric.rescaling.max_power)
    places, tried = places[possible], tried[possible]
    again = grade_cells(
        headline.rule,
        cells_at(published, places),
        scaled_by_power(raw[places], tried),
        standard_error[places],
        width[places],
        rubric.slack,
    ).letter
    misses[places] = np.where(again == A, tried, 0)
    return misses


def crossings(
    rule: CellRule, published: PublishedColumns, reproduced: Floats, slack: float
) -> tuple[Booleans, ...]:
    """For each level of the rule, the p-values that fall on the other side of it than print.

    Set only where all of the printed interval lies on one side.
    """
    interval = printed_interval(published)
    p_value = metric_mask(published.metric, frozenset({Metric.P_VALUE})) & np.isfinite(reproduced)
    open_end = published.bound < 0
    flags = []
    for level in rule.p_value_levels:
        under = below(interval.upper, level, slack)
        under |= open_end & (interval.upper <= level * (1 + slack))
        over = ~below(interval.lower, level, slack)
        given_under = below(reproduced, level, slack)
        flags.append(p_value & ((under & ~given_under) | (over & given_under)))
    return tuple(flags)


# --------------------------------------------------------------------------- roll-ups


def letters_of_scores(rubric: Rubric, scores: Floats) -> Integers:
    """Letter of each mean score, cut with "at least"; -1 for NaN."""
    letters = np.zeros(len(scores), dtype=np.int64)
    for cut in rubric.grade_cuts:
        letters += below(scores, cut, rubric.slack)
    return np.where(np.isnan(scores), NO_GRADE, letters)


def table_scores(
    rubric: Rubric,
    roll_up: RollUp,
    letters: Integers,
    table: Integers,
    n_tables: int,
    left_out: Booleans | None = None,
) -> TableScores:
    """Mean score and letter of each table over its cells.

    Also of each paper over its tables, with tables as `letters` and papers as `table`.

    Parameters
    ----------
    rubric : Rubric
    roll_up : RollUp
    letters : integers
        0 to 5 for A to F, -1 for cells that do not count.
    table : integers
        Table of each cell.
    n_tables : int
    left_out : booleans, optional
        Cells that every arm misses, for `left_out_if_all_miss`.
    """
    scores = np.asarray(rubric.scores)
    counts = letters >= 0
    if roll_up.missing == "left_out":
        counts = counts & (letters != F)
    if roll_up.missing == "left_out_if_all_miss" and left_out is not None:
        counts = counts & ~left_out
    places = np.flatnonzero(counts)
    number = np.bincount(table[places], minlength=n_tables)
    total = np.bincount(table[places], weights=scores[letters[places]], minlength=n_tables)
    any_cell = np.bincount(table[letters >= 0], minlength=n_tables) > 0
    with np.errstate(invalid="ignore"):
        score = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    if roll_up.missing == "left_out":
        score = np.where((number == 0) & any_cell, scores[F], score)
    return TableScores(score=score, letter=letters_of_scores(rubric, score), count=number)
