"""Powers of ten: when they are forgiven, and when not. Arithmetic beside each case."""

import math

import pytest
from builders import filled, table

from grade import grade_table, load_rubric

KOHLER, PRINTED = load_rubric("kohler2026"), load_rubric("printed")


def one_column(texts, metric="coefficient", **options):
    return table([(row, 0, metric, text, options) for row, text in enumerate(texts)])


def factor_of(published, values, rubric=KOHLER):
    graded = grade_table(
        published, filled(published, {(r, 0, 0): v for r, v in enumerate(values)}), rubric
    )
    return graded, [round(math.log10(cell.factor)) for cell in graded.cells]


MEDIAN_CASES = [
    # published, reproduced, power of the factor, arithmetic
    (["1.0"], [10], -1, "one pair suffices: log10 10 = 1"),
    (["1.0"], [1], 0, "k = 0 is no rescaling"),
    (["1.0"], [0.01], 2, "log10 .01 = -2"),
    (["1.0"], [-10], -1, "the median's absolute value: signs are graded after"),
    (["1.0"], [12], -1, "log10 12 = 1.0792: .0792 < .15"),
    (["1.0"], [14.125], -1, "log10 14.125 = 1.14999 < 1.15"),
    (["1.0"], [14.126], 0, "log10 14.126 = 1.15002 > 1.15"),
    (["1.0"], [7.0795], -1, "log10 7.0795 = .850003: .149997 < .15"),
    (["1.0"], [7.0794], 0, "log10 7.0794 = .849997: .150003 > .15"),
    (["1.0"], [8760], -4, "log10 8760 = 3.9425: .0575"),
    (["1.0"], [1e9], -9, "no largest power"),
    (["1.0", "1.0"], [10, 1], -1, "two pairs: sorted 1, 10, element floor(2/2) = the second"),
    (["1.0", "1.0", "1.0"], [10, 1, 1], 0, "three pairs: element 1 of 1, 1, 10"),
    (["1.0", "1.0"], [0, 10], -1, "a reproduced zero counts as ratio 0: 0, 10"),
    (["1.0", "1.0", "1.0"], [0, 0, 10], 0, "0, 0, 10: the element is 0, not over 1e-10"),
    (["0", "1.0"], [5, 10], -1, "a published zero is no pair"),
    (["1.0", "1.0", "1.0"], [-10, -10, 1], -1, "-10, -10, 1: element 1 is -10"),
    (["1.0", "1.0", "1.0", "1.0"], [-10, -10, 1, 1], 0, "-10, -10, 1, 1: element 2 is 1"),
    (["1.0", "1.0"], [None, None], 0, "no pair"),
]


@pytest.mark.parametrize(("texts", "values", "power", "why"), MEDIAN_CASES)
def test_table_median(texts, values, power, why):
    graded, powers = factor_of(one_column(texts), values)
    assert powers == [power] * len(texts), why
    assert graded.factor == pytest.approx(10.0**power)


def test_table_median_multiplies_every_cell_and_keeps_what_was():
    published = table(
        [
            (0, 0, "coefficient", "1.00", {}),
            (1, 0, "coefficient", "2.00", {}),
            (2, 0, "n_obs", "100", {}),
        ]
    )
    graded, _ = factor_of(published, [100, 200, 100])
    assert [cell.reproduced for cell in graded.cells] == [1.0, 2.0, 1.0]
    assert [cell.reproduced_raw for cell in graded.cells] == [100, 200, 100]
    assert [cell.grades["raw"].grade for cell in graded.cells] == ["A", "A", "E"]
    assert [cell.grades["raw"].unrescued for cell in graded.cells] == ["E", "E", "A"]
    assert graded.rescaled_cells == 3


def test_rescaling_comes_before_rounding():
    # 0.504 x 100 = 50.4; rescaled .504 prints .50; rounding first would give 50.40 -> .504 too,
    # but 0.5049 x 100 = 50.49, rounded first 50.49 -> .5049 -> still .50; use .505 - tiny.
    graded, _ = factor_of(one_column(["0.50"]), [50.49])
    assert graded.cells[0].grades["rounded"].grade == "A"
    assert graded.cells[0].grades["raw"].grade == "A"  # .98 % off
    graded, _ = factor_of(one_column(["0.50"]), [50.5])
    assert graded.cells[0].grades["rounded"].grade == "B"  # half goes up to .51: 2 %


GROUP_CASES = [
    # published, reproduced, powers, arithmetic
    (["1.00", "2.00", "3.00"], [100, 200, 300], [-2] * 3, "three pairs, three estimates"),
    (["1.00", "2.00"], [100, 200], [0, 0], "two pairs are too few"),
    (["1.00", "2.00", "3.00"], [100, -200, 300], [-2] * 3, "signs play no part"),
    (["1.00", "2.00", "3.00"], [100, 0, 300], [0] * 3, "a zero is no pair: two are left"),
    (["1.00", "2.00", "3.00", "0.00"], [100, 200, 300, 5], [-2] * 4, "a zero cell goes along"),
    (["1.00", "2.00", "3.00"], [109, 218, 327], [-2] * 3, "log10 109 = 2.0374: .0374 <= .04"),
    (["1.00", "2.00", "3.00"], [110, 220, 330], [0] * 3, "log10 110 = 2.0414: .0414 > .04"),
    (["1.00", "2.00", "3.00"], [1e6, 2e6, 3e6], [-6] * 3, "six is the largest power"),
    (["1.00", "2.00", "3.00"], [1e7, 2e7, 3e7], [0] * 3, "seven is too large"),
    (["1.00", "2.00", "3.00"], [1, 2, 3], [0] * 3, "right as they stand"),
    (
        ["1.00", "2.00", "3.00", "4.00", "5.00"],
        [100, 200, 300, 400, 5],
        [-2] * 5,
        "4 of 5 at the power = 80 %, 1 of 5 right = 20 %: both just allowed",
    ),
    (
        ["1.00", "2.00", "3.00", "4.00"],
        [100, 200, 300, 4],
        [0] * 4,
        "3 of 4 = 75 % < 80 %",
    ),
    (
        ["1.00", "2.00", "3.00", "4.00"],
        [100, 200, 300, 580],
        [0] * 4,
        "log10 145 = 2.161: .161 > .15, so 3 of 4 = 75 %",
    ),
    (
        ["1.00", "2.00", "3.00", "4.00"],
        [100, 200, 300, 560],
        [-2] * 4,
        "log10 140 = 2.146: .146 <= .15, all at the power",
    ),
    (["1", "2", "3.0"], [100, 200, 300], [0] * 3, "half a unit: .5 > .2 x 1, .5 > .2 x 2: one"),
    (["2.5", "2.5", "2.5"], [250, 250, 250], [-2] * 3, "half a unit .05 <= .2 x 2.5"),
]


@pytest.mark.parametrize(("texts", "values", "powers", "why"), GROUP_CASES)
def test_unit_groups(texts, values, powers, why):
    assert factor_of(one_column(texts), values, PRINTED)[1] == powers, why


def test_coarse_pairs_at_the_limit():
    # u/2 = .5 and .2|p| = .5 at p = 2.5, which prints no digit after the point: use 25 and u = 10
    # as 0.25 at one decimal: u/2 = .05 = .2 x .25 exactly, and counts.
    published = one_column(["0.3", "0.3", "0.3"])  # .05 <= .06
    assert factor_of(published, [30, 30, 30], PRINTED)[1] == [-2] * 3
    published = one_column(["0.2", "0.2", "0.2"])  # .05 > .04
    assert factor_of(published, [20, 20, 20], PRINTED)[1] == [0] * 3


def test_an_estimate_and_its_error_count_once():
    def build(n):
        rows = []
        for k in range(n):
            rows.append((2 * k, 0, "coefficient", "1.00", {}))
            rows.append((2 * k + 1, 0, "standard_error", "0.50", {"of": (2 * k, 0, 0)}))
        rows.append((90, 0, "ci_lower", "0.10", {"of": (0, 0, 0)}))
        return table(rows)

    for n, expected in ((1, 0), (2, -2)):
        published = build(n)
        values = {tuple(cell.key): 100 * cell.value for cell in published.cells}
        graded = grade_table(published, filled(published, values), PRINTED)
        powers = {round(math.log10(cell.factor)) for cell in graded.cells}
        assert powers == {expected}, f"{n} estimates"


def test_a_column_then_a_row_once_each():
    # Columns: the second is in cents. The third row is in thousands on top of it.
    texts = [["1.00", "2.00", "3.00"] for _ in range(4)]
    published = table([(r, c, "coefficient", texts[r][c], {}) for r in range(4) for c in range(3)])
    values = {
        (r, c, 0): float(texts[r][c]) * (100 if c == 1 else 1) / (1000 if r == 2 else 1)
        for r in range(4)
        for c in range(3)
    }
    graded = grade_table(published, filled(published, values), PRINTED)
    powers = {tuple(cell.key): round(math.log10(cell.factor)) for cell in graded.cells}
    # Column 1: logs 2, 2, -1, 2: median 2, but 3 of 4 = 75 % < 80 %: no column factor. Row 2:
    # logs -3, -1, -3: median -3, 2 of 3 = 67 %: none either. With five rows the column fires:
    assert set(powers.values()) == {0}
    published = table(
        [(r, c, "coefficient", f"{c + 1}.00", {}) for r in range(5) for c in range(3)]
    )
    values = {
        (r, c, 0): (c + 1) * (100 if c == 1 else 1) / (1000 if r == 2 else 1)
        for r in range(5)
        for c in range(3)
    }
    graded = grade_table(published, filled(published, values), PRINTED)
    powers = {tuple(cell.key): round(math.log10(cell.factor)) for cell in graded.cells}
    # Column 1: logs 2, 2, -1, 2, 2: 4 of 5 at 2: fires. Row 2 after it: -3, -3, -3: fires.
    assert {powers[r, 1, 0] for r in (0, 1, 3, 4)} == {-2}
    assert [powers[2, c, 0] for c in range(3)] == [3, 1, 3]
    assert powers[0, 0, 0] == 0
    assert all(cell.grades["interval"].grade == "A" for cell in graded.cells)


def test_only_unit_metrics_and_never_a_stated_unit():
    rows = [(r, 0, "coefficient", "1.00", {}) for r in range(4)]
    published = table(
        [
            *rows,
            (4, 0, "n_obs", "100", {}),
            (5, 0, "r_squared", "0.50", {}),
            (6, 0, "coefficient", "1.00", {"unit": "dollars"}),
        ]
    )
    values = {tuple(cell.key): 100 * cell.value for cell in published.cells}
    graded = grade_table(published, filled(published, values), PRINTED)
    assert [round(math.log10(cell.factor)) for cell in graded.cells] == [-2] * 4 + [0] * 3


@pytest.mark.parametrize(("power", "expected"), [(2, -2), (-2, 2), (1, 0), (3, 0)])
def test_shares_are_proportions_or_percent(power, expected):
    published = one_column(["0.50", "0.40", "0.30"], metric="share")
    values = [0.5 * 10.0**power, 0.4 * 10.0**power, 0.3 * 10.0**power]
    assert set(factor_of(published, values, PRINTED)[1]) == {expected}


def test_a_note_where_it_was_not_rescaled():
    graded, powers = factor_of(one_column(["1.00", "2.00"]), [100, 2], PRINTED)
    assert powers == [0, 0]
    assert [cell.would_be_a_at for cell in graded.cells] == [2, None]
    assert graded.cells[0].grades["interval"].grade == "E"
