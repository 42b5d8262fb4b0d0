"""Grades of a table and of a paper, as records."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from data.records.grades import (
    LETTERS,
    CellGrade,
    Coverage,
    Denominators,
    Letter,
    PaperGrade,
    PaperRollUp,
    Reason,
    RollUp,
    RollUpGrade,
    Rubric,
    RuleGrade,
    ScaledDeviations,
    SignAgreement,
    TableGrade,
)
from data.records.metrics import COMPLETION_EXCLUDED, UNGRADED_METRICS, Metric
from data.records.tables import CellKey, StarLevel, Table, TruthKind
from grade.columns import (
    METRIC_CODES,
    REASON_CODES,
    REASONS,
    UNKNOWN,
    PublishedColumns,
    ReproducedColumns,
    metric_mask,
    published_columns,
)
from grade.reading import ReproducedTable, shown, unread_table
from grade.rubrics import rubric_hash
from grade.rules import MEASURES, NO_GRADE, F
from grade.tables import (
    SIGNIFICANT,
    TableColumns,
    crossings,
    grade_tables,
    letters_of_scores,
    table_scores,
)

__all__ = [
    "at_least_one_non_f",
    "grade_paper",
    "grade_table",
    "shares",
]

Truth = Literal["seen", "recalled", "all"]
TRUTHS: Final[tuple[Truth, ...]] = ("seen", "recalled", "all")


def grade_table(
    published: Table,
    reproduced: ReproducedTable | None,
    rubric: Rubric,
    *,
    reason: str | None = None,
) -> TableGrade:
    """Grade one table.

    Parameters
    ----------
    published : Table
    reproduced : ReproducedTable or None
        None where nothing was produced.
    rubric : Rubric
    reason : str, optional
        Why nothing was produced; `missing` when not given.
    """
    if reproduced is None:
        why = Reason.MISSING if reason is None else Reason(reason)
        reproduced = unread_table(published.slug, why, "no file for this table")
    columns = published_columns([published])
    graded = grade_tables(rubric, columns, reproduced.columns)
    if reproduced.failure is not None:
        blank = np.where(
            graded.reason == REASON_CODES[Reason.NO_TRUTH],
            graded.reason,
            REASON_CODES[reproduced.failure],
        )
        graded = replace(graded, reason=blank)
    cells = _cell_grades(published, columns, reproduced, graded, rubric)
    return _table_grade(published, columns, reproduced, graded, rubric, cells)


# --------------------------------------------------------------------------- cells


def _known(values: NDArray[np.float64]) -> list[float | None]:
    """Python floats, None for what is not finite."""
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _letter(code: int) -> Letter | None:
    return None if code == NO_GRADE else LETTERS[code]  # type: ignore[return-value]


def _cell_grades(
    published: Table,
    columns: PublishedColumns,
    reproduced: ReproducedTable,
    graded: TableColumns,
    rubric: Rubric,
) -> tuple[CellGrade, ...]:
    by_rule = {rule.rule.name: _rule_grades(rule) for rule in graded.rules}
    crossed = _crossed_levels(columns, graded, rubric)
    stars = _star_agreement(published, reproduced, graded)
    raw, after, errors = (
        _known(values) for values in (graded.raw, graded.reproduced, graded.standard_error)
    )
    percent, in_se, in_se_print, units = (
        _known(values)
        for values in (
            graded.deviation_pct,
            graded.deviation_se,
            graded.deviation_se_print,
            graded.units_off,
        )
    )
    match = graded.aligned.match.tolist()
    cells = []
    for entry in np.flatnonzero(graded.expected).tolist():
        cell = published.cells[entry]
        power = int(graded.power[entry])
        cells.append(
            CellGrade(
                rubric=rubric.name,
                table=published.slug,
                row=cell.row,
                col=cell.col,
                part=cell.part,
                metric=cell.metric,
                row_label=cell.row_label,
                col_labels=cell.col_labels,
                panel=cell.panel,
                published=cell.value,
                decimals=cell.decimals,
                published_text=cell.text,
                reproduced_raw=raw[entry],
                reproduced_text=reproduced.text[match[entry]] if match[entry] >= 0 else None,
                factor=10.0**-power,
                reproduced=after[entry],
                published_se=errors[entry],
                deviation_pct=percent[entry],
                deviation_se=in_se[entry],
                deviation_se_print=in_se_print[entry],
                units_off=units[entry],
                sign_agrees=bool(graded.sign_agrees[entry])
                if graded.signs_compared[entry]
                else None,
                stars_agree=stars[entry],
                weak=bool(graded.weak[entry]),
                crosses=crossed[entry],
                would_be_a_at=int(graded.would_be_a_at[entry]) or None,
                reason=REASONS[graded.reason[entry]],
                grades={name: grades[entry] for name, grades in by_rule.items()},
                truth_kind=cell.truth_kind or published.truth_kind,
            )
        )
    return tuple(cells)


def _rule_grades(rule: Any) -> list[RuleGrade]:
    deviations = _known(rule.graded.deviation)
    return [
        RuleGrade(
            grade=_letter(letter),
            deviation=deviation,
            measure=MEASURES[measure],
            unrescued=_letter(unrescued),
        )
        for letter, deviation, measure, unrescued in zip(
            rule.graded.letter.tolist(),
            deviations,
            rule.graded.measure.tolist(),
            rule.unrescued.tolist(),
            strict=True,
        )
    ]


def _crossed_levels(
    columns: PublishedColumns, graded: TableColumns, rubric: Rubric
) -> list[tuple[float, ...]]:
    headline = next(rule for rule in rubric.cell_rules if rule.name == rubric.headline[0])
    flags = crossings(headline, columns, graded.reproduced, rubric.slack)
    return [
        tuple(
            level for level, flag in zip(headline.p_value_levels, flags, strict=True) if flag[entry]
        )
        for entry in range(len(columns.value))
    ]


def _star_agreement(
    published: Table, reproduced: ReproducedTable, graded: TableColumns
) -> list[bool | None]:
    """Whether marks agree: by the table's legend where both texts bear its marks, else counted."""
    agreement: list[bool | None] = []
    for entry, cell in enumerate(published.cells):
        if not graded.stars_compared[entry]:
            agreement.append(None)
            continue
        ours = _legend_level(published.star_levels, cell.text)
        theirs = _legend_level(published.star_levels, reproduced.text[graded.aligned.match[entry]])
        by_count = bool(graded.stars_agree[entry])
        agreement.append(by_count if ours is None or theirs is None else ours == theirs)
    return agreement


def _legend_level(levels: Sequence[StarLevel], text: str | None) -> float | None:
    """Level of the longest mark of the legend that a text bears; None where it bears none."""
    borne = [level for level in levels if level.mark and text and level.mark in text]
    return max(borne, key=lambda level: len(level.mark)).p_below if borne else None


# --------------------------------------------------------------------------- a table


def _table_grade(
    published: Table,
    columns: PublishedColumns,
    reproduced: ReproducedTable,
    graded: TableColumns,
    rubric: Rubric,
    cells: tuple[CellGrade, ...],
) -> TableGrade:
    counted = graded.expected & np.isfinite(columns.value)
    grades = _roll_ups(columns, graded, rubric, counted, "all")
    recalled = np.array(
        [
            (cell.truth_kind or published.truth_kind) is TruthKind.RECALLED
            for cell in published.cells
        ],
        dtype=bool,
    )
    by_truth: list[RollUpGrade] = []
    if (counted & ~recalled).any():
        by_truth += _roll_ups(columns, graded, rubric, counted & ~recalled, "seen")
    if (counted & recalled).any():
        by_truth += _roll_ups(columns, graded, rubric, counted & recalled, "recalled")
    powers = graded.power[graded.expected]
    whole = rubric.rescaling.method == "table_median" and len(powers) > 0
    aligned_by: Literal["key", "labels", "none"] = (
        "none"
        if not len(reproduced.columns)
        else "labels"
        if graded.aligned.by_labels.any()
        else "key"
    )
    return TableGrade(
        rubric=rubric.name,
        table=published.slug,
        table_id=published.id,
        kind=published.kind,
        truth_kind=published.truth_kind,
        gradable=published.readable and bool(counted.any()),
        grades=tuple(grades),
        grades_by_truth=tuple(by_truth),
        coverage=_coverage(columns, graded, counted),
        letters={
            rule.rule.name: _letter_counts(rule.graded.letter[counted]) for rule in graded.rules
        },
        factor=float(10.0 ** -int(powers[0])) if whole else 1.0,
        rescaled_cells=int(np.sum((graded.power != 0) & counted & np.isfinite(graded.raw))),
        weak_cells=int(np.sum(graded.weak & counted)),
        aligned_by=aligned_by,
        signs=_signs(columns, graded, counted),
        scaled=_scaled(columns, graded, counted),
        reasons=dict(Counter(cell.reason.value for cell in cells)),
        problems=(*reproduced.problems, *_alignment_problems(reproduced, cells)),
        extra_cells=_extra_cells(published, reproduced.columns, graded),
        cells=cells,
    )


def _roll_ups(
    columns: PublishedColumns,
    graded: TableColumns,
    rubric: Rubric,
    counted: NDArray[np.bool_],
    truth: Truth,
) -> list[RollUpGrade]:
    """Grades of one table over the cells that count, under each cell rule and roll-up."""
    grades = []
    for rule in graded.rules:
        letters = np.where(counted, rule.graded.letter, NO_GRADE)
        for roll_up in _single_run(rubric):
            scores = table_scores(rubric, roll_up, letters, columns.table, 1)
            grades.append(
                RollUpGrade(
                    cell_rule=rule.rule.name,
                    roll_up=roll_up.name,
                    grade=_letter(int(scores.letter[0])),
                    score=_known(scores.score)[0],
                    n_cells=int(scores.count[0]),
                    truth=truth,
                )
            )
    return grades


def _single_run(rubric: Rubric) -> tuple[RollUp, ...]:
    """Roll-ups that one run determines."""
    return tuple(
        roll_up for roll_up in rubric.roll_ups if roll_up.missing != "left_out_if_all_miss"
    )


def _letter_counts(letters: NDArray[np.int64]) -> dict[str, int]:
    return {letter: int(np.sum(letters == code)) for code, letter in enumerate(LETTERS)}


def _coverage(
    columns: PublishedColumns, graded: TableColumns, counted: NDArray[np.bool_]
) -> Coverage:
    produced = counted & np.isfinite(graded.raw)
    complete = ~metric_mask(columns.metric, COMPLETION_EXCLUDED)
    return Coverage(
        produced=int(produced.sum()),
        expected=int(counted.sum()),
        completion_produced=int((produced & complete).sum()),
        completion_expected=int((counted & complete).sum()),
    )


def _signs(
    columns: PublishedColumns, graded: TableColumns, counted: NDArray[np.bool_]
) -> SignAgreement:
    coefficient = columns.metric == METRIC_CODES[Metric.COEFFICIENT]
    compared = counted & coefficient & graded.signs_compared
    return SignAgreement(
        compared=int(compared.sum()),
        agreeing=int((compared & graded.sign_agrees).sum()),
        positive=int((compared & (columns.value > 0)).sum()),
    )


def _scaled(
    columns: PublishedColumns, graded: TableColumns, counted: NDArray[np.bool_]
) -> ScaledDeviations:
    coefficient = counted & (columns.metric == METRIC_CODES[Metric.COEFFICIENT])
    compared = coefficient & np.isfinite(graded.deviation_se)
    with np.errstate(divide="ignore", invalid="ignore"):
        t_size = np.abs(columns.value) / graded.standard_error
    significant = compared & (t_size >= SIGNIFICANT)
    within = graded.deviation_se <= SIGNIFICANT
    return ScaledDeviations(
        compared=int(compared.sum()),
        within=int((compared & within).sum()),
        within_print=int((compared & (graded.deviation_se_print <= SIGNIFICANT)).sum()),
        within_zero=int((compared & (t_size <= SIGNIFICANT)).sum()),
        significant=int(significant.sum()),
        significant_within=int((significant & within).sum()),
        zero_standard_errors=int((coefficient & (graded.standard_error == 0)).sum()),
    )


_ALIGNMENT_PROBLEMS: Final = {
    Reason.MISSING: "not in it",
    Reason.DUPLICATE: "given more than once",
    Reason.AMBIGUOUS: "not to be told apart by their labels",
}
_SHOWN_CELLS: Final = 5


def _alignment_problems(reproduced: ReproducedTable, cells: Sequence[CellGrade]) -> tuple[str, ...]:
    """One line for each reason why a file that was read leaves cells without an answer."""
    if reproduced.failure is not None:
        return ()
    lines = []
    for reason, words in _ALIGNMENT_PROBLEMS.items():
        keys = [f"({c.row}, {c.col}, {c.part})" for c in cells if c.reason is reason]
        if keys:
            more = f" and {len(keys) - _SHOWN_CELLS} more" if len(keys) > _SHOWN_CELLS else ""
            where = ", ".join(keys[:_SHOWN_CELLS]) + more
            number = f"{len(keys)} published cell{'s' if len(keys) > 1 else ''}"
            lines.append(f"{shown(reproduced.name)}: {number} {words}: {where}")
    return tuple(lines)


def _extra_cells(
    published: Table, columns: ReproducedColumns, graded: TableColumns
) -> tuple[str, ...]:
    """Reproduced cells that answer no cell of the template, by position and label."""
    known = {cell.key for cell in published.cells}
    ungraded = {METRIC_CODES[metric] for metric in UNGRADED_METRICS}
    extra = []
    for entry in np.flatnonzero(~graded.aligned.answered).tolist():
        key = CellKey(int(columns.row[entry]), int(columns.col[entry]), int(columns.part[entry]))
        if int(columns.metric[entry]) in ungraded:
            continue
        if key in known and not graded.aligned.by_labels.any():
            continue
        place = f"({key.row}, {key.col}, {key.part})" if key.row != UNKNOWN else "no position"
        extra.append(f"{place} {columns.row_label[entry] or ''}".strip())
    return tuple(extra)


# --------------------------------------------------------------------------- a paper


def grade_paper(
    published: Sequence[Table], reproduced: Mapping[str, ReproducedTable], rubric: Rubric
) -> PaperGrade:
    """Grade every published table of a paper; those without a file are F.

    Parameters
    ----------
    published : sequence of Table
    reproduced : mapping of str to ReproducedTable
        By slug of the table.
    rubric : Rubric
    """
    tables = tuple(grade_table(table, reproduced.get(table.slug), rubric) for table in published)
    coverage = Coverage(
        *(
            sum(getattr(table.coverage, name) for table in tables)
            for name in ("produced", "expected", "completion_produced", "completion_expected")
        )
    )
    return PaperGrade(
        rubric=rubric.name,
        rubric_version=rubric.version,
        rubric_hash=rubric_hash(rubric),
        paper_id=next((table.paper_id for table in published if table.paper_id), None),
        headline=rubric.headline,
        grades=tuple(
            _paper_roll_up(rubric, rule.name, roll_up, tables, truth)
            for rule in rubric.cell_rules
            for roll_up in _single_run(rubric)
            for truth in TRUTHS
        ),
        coverage=coverage,
        denominators=Denominators(coverage.produced, coverage.expected, coverage.expected),
        letters={
            rule.name: {
                letter: sum(table.letters[rule.name][letter] for table in tables)
                for letter in LETTERS
            }
            for rule in rubric.cell_rules
        },
        n_tables=len(tables),
        n_gradable_tables=sum(table.gradable for table in tables),
        rescaled_cells=sum(table.rescaled_cells for table in tables),
        weak_cells=sum(table.weak_cells for table in tables),
        signs=SignAgreement(
            *(
                sum(getattr(table.signs, name) for table in tables)
                for name in ("compared", "agreeing", "positive")
            )
        ),
        scaled=ScaledDeviations(
            *(
                sum(getattr(table.scaled, name) for table in tables)
                for name in ScaledDeviations.__slots__
            )
        ),
        tables=tables,
    )


def _paper_roll_up(
    rubric: Rubric,
    cell_rule: str,
    roll_up: RollUp,
    tables: Sequence[TableGrade],
    truth: Truth,
) -> PaperRollUp:
    grades = [
        grade
        for table in tables
        if table.gradable
        for grade in (*table.grades, *table.grades_by_truth)
        if (grade.cell_rule, grade.roll_up, grade.truth) == (cell_rule, roll_up.name, truth)
    ]
    letter, score, number = _paper_score(rubric, roll_up, grades)
    return PaperRollUp(cell_rule, roll_up.name, truth, letter, score, number)


def _paper_score(
    rubric: Rubric, roll_up: RollUp, grades: Sequence[RollUpGrade]
) -> tuple[Letter | None, float | None, int]:
    """Letter, score and number of counted tables: the mean of letters or of scores."""
    if roll_up.through == "scores":
        scores = np.array([grade.score for grade in grades if grade.score is not None])
        mean = np.array([scores.mean() if len(scores) else np.nan])
        return _letter(int(letters_of_scores(rubric, mean)[0])), _known(mean)[0], len(scores)
    letters = np.array(
        [NO_GRADE if grade.grade is None else LETTERS.index(grade.grade) for grade in grades],
        dtype=np.int64,
    )
    result = table_scores(rubric, roll_up, letters, np.zeros(len(letters), dtype=np.int64), 1)
    return _letter(int(result.letter[0])), _known(result.score)[0], int(result.count[0])


# --------------------------------------------------------------------------- several runs


def at_least_one_non_f(
    rubric: Rubric, papers: Mapping[str, PaperGrade], *, cell_rule: str, truth: Truth = "seen"
) -> dict[str, PaperRollUp]:
    """Grade one paper's runs with the cells and tables that every arm misses left out.

    The result depends on which arms are compared; each grade bears their names, and nothing
    is ranked by it.

    Parameters
    ----------
    rubric : Rubric
        Must have a roll-up with ``missing = "left_out_if_all_miss"``.
    papers : mapping of str to PaperGrade
        By arm; all of the same paper and rubric.
    cell_rule : str
    truth : {"seen", "recalled", "all"}
    """
    roll_up = next(entry for entry in rubric.roll_ups if entry.missing == "left_out_if_all_miss")
    arms = tuple(sorted(papers))
    tables = {
        arm: {table.table: table for table in papers[arm].tables if table.gradable} for arm in arms
    }
    by_table: dict[str, dict[str, int]] = {}
    for slug in tables[arms[0]] if arms else ():
        letters = np.array(
            [
                [
                    _code(cell.grades[cell_rule].grade)
                    for cell in tables[arm][slug].cells
                    if truth in {"all", _truth_of(cell)}
                ]
                for arm in arms
            ],
            dtype=np.int64,
        )
        missed = np.all(letters == F, axis=0)
        by_table[slug] = {
            arm: int(
                table_scores(
                    rubric, roll_up, row, np.zeros(len(row), dtype=np.int64), 1, missed
                ).letter[0]
            )
            for arm, row in zip(arms, letters, strict=True)
        }
    kept = [
        grades
        for grades in by_table.values()
        if any(code not in {F, NO_GRADE} for code in grades.values())
    ]
    results = {}
    for arm in arms:
        letters = np.array([grades[arm] for grades in kept], dtype=np.int64)
        result = table_scores(rubric, roll_up, letters, np.zeros(len(letters), dtype=np.int64), 1)
        results[arm] = PaperRollUp(
            cell_rule,
            roll_up.name,
            truth,
            _letter(int(result.letter[0])),
            _known(result.score)[0],
            int(result.count[0]),
            arms,
        )
    return results


def _truth_of(cell: CellGrade) -> Truth:
    return "recalled" if cell.truth_kind is TruthKind.RECALLED else "seen"


def _code(letter: Letter | None) -> int:
    return NO_GRADE if letter is None else LETTERS.index(letter)


def shares(
    hits: Sequence[int],
    produced: Sequence[int],
    expected: Sequence[int],
    infrastructure_failed: Sequence[bool],
) -> dict[str, float | None]:
    """Share of hits over the three denominators, by name.

    Parameters
    ----------
    hits, produced, expected : sequences of int, one a run
        Cells that count, cells that hold a number, cells that are published.
    infrastructure_failed : sequence of bool, one a run
        Such a run has neither hits nor produced cells; its expected cells count as missing in
        `expected` and are absent from `expected_without_infrastructure_failure`.

    Returns
    -------
    dict of str to float or None
        None where the denominator is 0.
    """
    failed = np.asarray(infrastructure_failed, dtype=bool)
    sound_hits = np.where(failed, 0, np.asarray(hits)).sum()
    denominators = {
        "produced": np.where(failed, 0, np.asarray(produced)).sum(),
        "expected": np.asarray(expected).sum(),
        "expected_without_infrastructure_failure": np.where(failed, 0, np.asarray(expected)).sum(),
    }
    return {
        name: float(sound_hits / number) if number else None
        for name, number in denominators.items()
    }
