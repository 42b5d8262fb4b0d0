"""Whole tables against the slow grader, and what must hold whatever the numbers."""

import random
from dataclasses import replace

import numpy as np
import oracle
import pytest
from builders import entries, filled, table
from hypothesis import given, settings
from hypothesis import strategies as st

from data.records.grades import LETTERS
from data.records.metrics import Metric
from data.records.tables import Cell, CellKey, Table
from grade import grade_paper, grade_table, load_rubric

KOHLER, PRINTED = load_rubric("kohler2026"), load_rubric("printed")
RULES = [(KOHLER, "raw"), (KOHLER, "rounded"), (KOHLER, "rounded_repr"), (PRINTED, "interval")]
METRICS = sorted(metric.value for metric in Metric if metric.value not in {"setting", "text"})


@st.composite
def numbers(draw, decimals):
    digits = draw(st.integers(-(10 ** draw(st.integers(0, 5))), 10 ** draw(st.integers(0, 5))))
    return digits / 10**decimals


@st.composite
def reproduced_for(draw, published, decimals, power):
    kind = draw(st.sampled_from(["same", "near", "percent", "free", "flip", "none", "zero", "nan"]))
    if kind == "none":
        return None
    if kind == "nan":
        return float("nan")
    if kind == "zero":
        return 0.0
    if kind == "free":
        return draw(st.floats(-1e6, 1e6, allow_nan=False))
    if kind == "percent":
        share = draw(st.sampled_from([2, 20, 40, 60, 1, 19, 59, 61])) / 100
        value = published * (1 + draw(st.sampled_from([-1, 1])) * share)
    elif kind == "near":
        value = published + draw(st.integers(-30, 30)) / 10 ** (decimals + 1)
    else:
        value = -published if kind == "flip" else published
    return value * 10.0**power


@st.composite
def tables(draw):
    """A published table and its reproduced values, by key."""
    n_rows, n_cols = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    power = draw(st.sampled_from([0, 0, 0, 1, -1, 2, -2, 3]))
    cells, values = [], {}
    for row in range(n_rows):
        for col in range(n_cols):
            metric = Metric(draw(st.sampled_from(["coefficient", "coefficient", *METRICS])))
            decimals = draw(st.one_of(st.none(), st.integers(0, 4)))
            published = draw(numbers(decimals or 2))
            if metric is Metric.P_VALUE:
                published = min(abs(published), 1.0)
            unit = draw(st.sampled_from([None, None, None, "percent", "years"]))
            if metric is Metric.SHARE and draw(st.booleans()):
                unit = "percent"
            below = draw(st.integers(0, 9)) == 0 and metric is Metric.P_VALUE
            cells.append(
                Cell(
                    2 * row,
                    col,
                    metric,
                    value=published,
                    decimals=decimals,
                    unit=unit,
                    text="<c" if below else None,
                )
            )
            values[2 * row, col, 0] = draw(reproduced_for(published, decimals or 0, power))
            if metric is Metric.COEFFICIENT and draw(st.booleans()):
                error = draw(st.integers(0, 10**4)) / 10 ** (decimals or 2)
                cells.append(
                    Cell(
                        2 * row + 1,
                        col,
                        Metric.STANDARD_ERROR,
                        value=error,
                        decimals=decimals,
                        of=CellKey(2 * row, col, 0),
                        unit=draw(st.sampled_from([unit, unit, None])),
                    )
                )
                values[2 * row + 1, col, 0] = draw(reproduced_for(error, decimals or 0, power))
    rounding = draw(st.sampled_from(["half_away", "half_away", "truncate"]))
    return Table("Table 1", "table_1", tuple(cells), rounding=rounding), values


def oracle_cells(published, values):
    place = {cell.key: number for number, cell in enumerate(published.cells)}
    return [
        oracle.Cell(
            cell.metric.value,
            cell.value,
            cell.decimals,
            values.get(tuple(cell.key)),
            row=cell.row,
            col=cell.col,
            of=None if cell.of is None else place[cell.of],
            unit=cell.unit,
            bound=-1 if cell.text == "<c" else 0,
            truncate=published.rounding == "truncate",
        )
        for cell in published.cells
    ]


def package_letters(published, values, rubric, rule):
    graded = grade_table(published, filled(published, values), rubric)
    return graded, [cell.grades[rule].grade for cell in graded.cells]


@pytest.mark.parametrize(("rubric", "rule"), RULES, ids=[rule for _, rule in RULES])
@settings(max_examples=150, deadline=None)
@given(drawn=tables())
def test_whole_tables_agree_with_the_oracle(rubric, rule, drawn):
    published, values = drawn
    cells = oracle_cells(published, values)
    expected = oracle.grade(cells, rule)
    graded, letters = package_letters(published, values, rubric, rule)
    assert letters == expected
    assert [round(np.log10(cell.factor)) for cell in graded.cells] == [-c.power for c in cells]
    scores = oracle.PRINTED_SCORES if rule == "interval" else oracle.KOHLER_SCORES
    for mode in ("all_f",) if rule == "interval" else ("all_f", "non_f"):
        letter, score = oracle.roll_up(expected, mode, scores)
        got = graded.roll_up(rule, mode)
        assert got.grade == letter
        assert got.score == pytest.approx(float(score))


@pytest.mark.parametrize(("rubric", "rule"), RULES, ids=[rule for _, rule in RULES])
@settings(max_examples=40, deadline=None)
@given(drawn=tables(), seed=st.integers(0, 10**6))
def test_order_of_rows_in_the_file_says_nothing(rubric, rule, drawn, seed):
    published, values = drawn
    written = entries(published, values)
    graded = grade_table(published, filled(published, cells=written), rubric)
    random.Random(seed).shuffle(written)
    again = grade_table(published, filled(published, cells=written), rubric)
    # Lines on the file follow its order, and are cut short.
    assert len(again.problems) == len(graded.problems)
    assert replace(again, problems=()) == replace(graded, problems=())


@pytest.mark.parametrize(("rubric", "rule"), RULES, ids=[rule for _, rule in RULES])
@settings(max_examples=80, deadline=None)
@given(
    metric=st.sampled_from(METRICS),
    digits=st.integers(1, 9999),
    decimals=st.integers(0, 3),
    steps=st.lists(st.floats(0, 3), min_size=2, max_size=12),
    up=st.booleans(),
)
def test_a_larger_deviation_never_has_a_better_grade(
    rubric, rule, metric, digits, decimals, steps, up
):
    value = digits / 10**decimals
    if metric == "p_value":
        value = min(value, 1.0)
    cell = Cell(0, 0, Metric(metric), value=value, decimals=decimals)
    published = Table("Table 1", "table_1", (cell,))
    plain = type(rubric)(
        **{name: getattr(rubric, name) for name in rubric.__slots__}
        | {"rescaling": type(rubric.rescaling)(method="none")}
    )
    grades = []
    for step in sorted(steps):
        reproduced = value * (1 + step) if up else value * (1 - step)
        _, letters = package_letters(published, {(0, 0, 0): reproduced}, plain, rule)
        grades.append(LETTERS.index(letters[0]))
    assert grades == sorted(grades)


@settings(max_examples=40, deadline=None)
@given(drawn=tables())
def test_what_is_printed_exactly_is_an_a(drawn):
    published, _ = drawn
    values = {tuple(cell.key): cell.value for cell in published.cells}
    for rubric, rule in RULES:
        graded, letters = package_letters(published, values, rubric, rule)
        wrong = [
            cell
            for cell, letter in zip(graded.cells, letters, strict=True)
            if letter != "A"
            and not (
                rule == "interval" and cell.metric is Metric.STANDARD_ERROR and cell.published <= 0
            )
        ]
        assert not wrong


@settings(max_examples=40, deadline=None)
@given(drawn=tables())
def test_tables_graded_together_are_graded_as_alone(drawn):
    from grade.columns import ReproducedColumns, published_columns
    from grade.tables import grade_tables

    published, values = drawn
    for rubric, rule in RULES:
        alone, letters = package_letters(published, values, rubric, rule)
        one = filled(published, values).columns
        both = ReproducedColumns(
            **{
                name: np.concatenate([getattr(one, name), getattr(one, name) + (name == "table")])
                if name == "table"
                else np.concatenate([getattr(one, name)] * 2)
                for name in ReproducedColumns.__slots__
            }
        )
        together = grade_tables(rubric, published_columns([published, published]), both)
        codes = next(r for r in together.rules if r.rule.name == rule).graded.letter.tolist()
        assert [LETTERS[code] for code in codes] == letters * 2
        assert alone.coverage.produced * 2 == int(np.isfinite(together.raw).sum())


def test_paper_scores_by_hand():
    # table_1: A and F. kohler all_f (5+0)/2 = 2.5 -> C; non_f 5 -> A.
    # table_2: A, B      kohler all_f (5+4)/2 = 4.5 -> A (at least 4.5); table_3: no file -> F.
    # paper all_f: C 3, A 5, F 0 -> 8/3 = 2.667 -> C; non_f: A, A, F left out -> 5 -> A.
    first = table([(0, 0, "coefficient", "1.00", {}), (1, 0, "coefficient", "2.00", {})])
    second = table(
        [(0, 0, "coefficient", "1.00", {}), (1, 0, "coefficient", "2.00", {})],
        slug="table_2",
        table_id="Table 2",
    )
    third = table([(0, 0, "coefficient", "1.00", {})], slug="table_3", table_id="Table 3")
    reproduced = {
        "table_1": filled(first, {(0, 0, 0): 1.0}),
        "table_2": filled(second, {(0, 0, 0): 1.0, (1, 0, 0): 2.1}),
    }
    paper = grade_paper([first, second, third], reproduced, KOHLER)
    all_f, non_f = paper.roll_up("raw", "all_f"), paper.roll_up("raw", "non_f")
    assert (all_f.grade, all_f.n_tables, all_f.score) == ("C", 3, pytest.approx(8 / 3))
    assert (non_f.grade, non_f.n_tables, non_f.score) == ("A", 2, 5.0)
    assert (paper.coverage.produced, paper.coverage.expected, paper.coverage.share) == (3, 5, 0.6)
    assert paper.denominators.expected == 5
    assert paper.letters["raw"] == {"A": 2, "B": 1, "C": 0, "D": 0, "E": 0, "F": 2}
    # printed: table_1 (5+0)/2 = 2.5; table_2 (5+4)/2 = 4.5; table_3 0 -> 7/3 = 2.333, display D.
    ours = grade_paper([first, second, third], reproduced, PRINTED).roll_up("interval", "all_f")
    assert (ours.grade, ours.score) == ("D", pytest.approx(7 / 3))


def test_all_f_tables():
    published = table([(0, 0, "coefficient", "1.00", {})])
    for rubric in (KOHLER, PRINTED):
        graded = grade_table(published, None, rubric)
        assert {(grade.grade, grade.score) for grade in graded.grades} == {("F", 0.0)}
        paper = grade_paper([published], {}, rubric)
        assert {g.grade for g in paper.grades if g.truth != "recalled"} == {"F"}
