"""What stands beside the letters: deviations, signs, flags, counts, roll-ups over arms."""

import numpy as np
import pytest
from builders import filled, table

from data.records.grades import Reason
from data.records.tables import TruthKind
from grade import at_least_one_non_f, grade_paper, grade_table, load_rubric, shares

KOHLER, PRINTED = load_rubric("kohler2026"), load_rubric("printed")


def graded(rows, values, rubric=PRINTED, **more):
    published = table(rows, **more)
    return grade_table(published, filled(published, values), rubric)


ESTIMATES = [
    # Four coefficients with their standard errors beside them: t = 5, -.5, 1.96, and SE 0.00.
    (0, 0, "coefficient", "0.50", {}),
    (0, 1, "standard_error", "0.10", {"of": (0, 0, 0)}),
    (1, 0, "coefficient", "-0.20", {}),
    (1, 1, "standard_error", "0.40", {"of": (1, 0, 0)}),
    (2, 0, "coefficient", "1.96", {}),
    (2, 1, "standard_error", "1.00", {"of": (2, 0, 0)}),
    (3, 0, "coefficient", "0.30", {}),
    (3, 1, "standard_error", "0.00", {"of": (3, 0, 0)}),
]


def test_deviations_by_hand():
    values = {(0, 0, 0): 0.40, (0, 1, 0): 0.40, (1, 0, 0): 0.18, (1, 1, 0): 0.41}
    cells = {tuple(c.key)[:2]: c for c in graded(ESTIMATES, values).cells}
    first, second = cells[0, 0], cells[1, 0]
    # (.40 - .50)/.50 = -20 %; .10/.10 = 1 published SE, to the print .095/.10; -10 hundredths.
    assert first.deviation_pct == pytest.approx(-20)
    assert first.published_se == 0.10
    assert first.deviation_se == pytest.approx(1)
    assert first.deviation_se_print == pytest.approx(0.95)
    assert first.units_off == pytest.approx(-10)
    assert first.sign_agrees is True
    # (.18 + .20)/.20 = +190 %: relative to the size; .38/.40 = .95, (.38 - .005)/.40 = .9375.
    assert second.deviation_pct == pytest.approx(190)
    assert second.deviation_se == pytest.approx(0.95)
    assert second.deviation_se_print == pytest.approx(0.9375)
    assert second.units_off == pytest.approx(38)
    assert second.sign_agrees is False
    missing = cells[2, 0]
    assert (missing.deviation_pct, missing.deviation_se, missing.units_off) == (None,) * 3
    assert missing.sign_agrees is None
    assert cells[0, 1].deviation_se is None


def test_a_zero_has_no_sign_and_no_percent():
    rows = [(0, 0, "coefficient", "0.00", {}), (1, 0, "coefficient", "0.20", {})]
    zero, other = graded(rows, {(0, 0, 0): 0.3, (1, 0, 0): 0.0}).cells
    assert (zero.sign_agrees, zero.deviation_pct) == (None, None)
    assert zero.units_off == pytest.approx(30)
    assert (other.sign_agrees, other.deviation_pct) == (None, pytest.approx(-100))


def test_scaled_deviations_are_of_the_published_error_in_the_same_unit():
    rows = [
        (0, 0, "coefficient", "0.50", {}),
        (1, 0, "standard_error", "0.10", {"of": (0, 0, 0), "unit": "percent"}),
    ]
    cell = graded(rows, {(0, 0, 0): 0.4}).cells[0]
    assert (cell.published_se, cell.deviation_se) == (None, None)


def test_counts_of_signs_and_of_scaled_deviations():
    values = {(0, 0, 0): 0.40, (1, 0, 0): 0.18, (2, 0, 0): 0.0, (3, 0, 0): 0.31}
    values |= {(row, 1, 0): -1.0 for row in range(4)}
    result = graded(ESTIMATES, values)
    # Signs: .50 agrees, -.20 does not, 1.96 given as 0 has none, .30 agrees; errors stay out.
    signs = result.signs
    assert (signs.compared, signs.agreeing, signs.positive) == (3, 2, 2)
    # In SE: 1, .95, 1.96, and the one with a printed error of 0 is left out and counted. Zeros
    # would be 5, .5 and 1.96 away.
    scaled = result.scaled
    assert (scaled.compared, scaled.within, scaled.within_print) == (3, 3, 3)
    assert scaled.within_zero == 2
    assert (scaled.significant, scaled.significant_within) == (2, 2)
    assert scaled.zero_standard_errors == 1


@pytest.mark.parametrize(
    ("text", "weak"),
    [
        ("0.26", False),  # .005/.26 = 1.92 %
        ("0.25", False),  # .005/.25 = 2 % exactly, which does not exceed it
        ("0.24", True),  # .005/.24 = 2.08 %
        ("-0.24", True),
        ("0.00", True),
        ("25", False),  # .5/25 = 2 % exactly
        ("24", True),
    ],
)
def test_weak_cells(text, weak):
    result = graded([(0, 0, "coefficient", text, {})], {(0, 0, 0): 1.0})
    assert result.cells[0].weak is weak
    assert result.weak_cells == int(weak)


@pytest.mark.parametrize(
    ("text", "value", "crosses"),
    [
        ("0.03", 0.06, (0.05,)),
        ("0.03", 0.049, ()),
        ("0.03", 0.20, (0.1, 0.05)),
        ("0.03", 0.004, (0.01,)),
        ("0.05", 0.06, ()),  # [.045, .055] lies on both sides of .05
        ("0.05", 0.11, (0.1,)),
        ("0.0", 0.06, ()),  # [0, .05] ends at .05
        ("0.1", 0.04, (0.05,)),  # [.05, .15] is all of .05 and over
        ("<0.01", 0.012, (0.01,)),
        ("<0.01", 0.009, ()),
        ("0.20", 0.05, (0.1,)),  # .05 is not below .05
        ("0.20", 0.0499, (0.1, 0.05)),
    ],
)
def test_p_values_on_the_other_side(text, value, crosses):
    result = graded([(0, 0, "p_value", text, {})], {(0, 0, 0): value})
    assert result.cells[0].crosses == crosses


def test_only_p_values_cross():
    assert graded([(0, 0, "mean", "0.03", {})], {(0, 0, 0): 0.2}).cells[0].crosses == ()


def test_interval_bounds_are_graded_and_stay_out_of_completion():
    rows = [
        (0, 0, "coefficient", "0.50", {}),
        (1, 0, "ci_lower", "0.10", {"of": (0, 0, 0)}),
        (2, 0, "ci_upper", "0.90", {"of": (0, 0, 0)}),
    ]
    result = graded(rows, {(1, 0, 0): 0.1}, KOHLER)
    assert result.letters["raw"] == {"A": 1, "B": 0, "C": 0, "D": 0, "E": 0, "F": 2}
    coverage = result.coverage
    assert (coverage.produced, coverage.expected) == (1, 3)
    assert (coverage.completion_produced, coverage.completion_expected) == (0, 1)


def test_nothing_published_is_no_grade():
    published = table([(0, 0, "coefficient", "1.00", {}), (1, 0, "coefficient", None, {})])
    for rubric in (KOHLER, PRINTED):
        result = grade_table(published, filled(published, {(0, 0, 0): 1.0}), rubric)
        assert [cell.reason for cell in result.cells] == [Reason.OK, Reason.NO_TRUTH]
        assert result.cells[1].grades[rubric.headline[0]].grade is None
        assert (result.coverage.expected, result.grades[0].grade) == (1, "A")


def test_recalled_truth_is_kept_apart():
    seen = table([(0, 0, "coefficient", "1.00", {})], truth_kind=TruthKind.SEEN)
    recalled = table(
        [(0, 0, "coefficient", "1.00", {})],
        slug="table_2",
        table_id="Table 2",
        truth_kind=TruthKind.RECALLED,
    )
    paper = grade_paper([seen, recalled], {"table_1": filled(seen, {(0, 0, 0): 1.0})}, KOHLER)
    grades = {truth: paper.roll_up("raw", "all_f", truth) for truth in ("seen", "recalled", "all")}
    assert {truth: (g.grade, g.n_tables) for truth, g in grades.items()} == {
        "seen": ("A", 1),
        "recalled": ("F", 1),
        "all": ("C", 2),
    }


def test_an_unreadable_published_table_has_no_grade_and_is_counted():
    sound = table([(0, 0, "coefficient", "1.00", {})])
    lost = table(
        [(0, 0, "coefficient", "1.00", {})], slug="table_2", table_id="Table 2", readable=False
    )
    paper = grade_paper([sound, lost], {"table_1": filled(sound, {(0, 0, 0): 1.0})}, KOHLER)
    assert (paper.n_tables, paper.n_gradable_tables) == (2, 1)
    assert paper.roll_up("raw", "all_f").grade == "A"


def test_stated_reason_for_a_table_without_file():
    published = table([(0, 0, "coefficient", "1.00", {})])
    result = grade_table(published, None, KOHLER, reason="ambiguous")
    assert result.reasons == {"ambiguous": 1}
    assert result.aligned_by == "none"


# --------------------------------------------------------------------------- over arms


def arms():
    """Two arms on two tables: the last cell of the first and all of the second nobody has."""
    one = table([(row, 0, "coefficient", "1.00", {}) for row in range(3)])
    two = table([(0, 0, "coefficient", "1.00", {})], slug="table_2", table_id="Table 2")
    given = {
        "left": {"table_1": filled(one, {(0, 0, 0): 1.0})},
        "right": {"table_1": filled(one, {(0, 0, 0): 1.1, (1, 0, 0): 1.3})},
    }
    return {arm: grade_paper([one, two], files, KOHLER) for arm, files in given.items()}


def test_at_least_one_non_f_leaves_out_what_every_arm_misses():
    papers = arms()
    # left: A F F, right: B C F; the third cell and the second table are nobody's.
    # left (5 + 0)/2 = 2.5 -> C, one table -> 3; right (4 + 3)/2 = 3.5 -> B -> 4.
    result = at_least_one_non_f(KOHLER, papers, cell_rule="raw")
    assert {arm: (g.grade, g.score, g.n_tables) for arm, g in result.items()} == {
        "left": ("C", 3.0, 1),
        "right": ("B", 4.0, 1),
    }
    assert {g.arms for g in result.values()} == {("left", "right")}
    # Alone, left's second cell is nobody's either: A.
    alone = at_least_one_non_f(KOHLER, {"left": papers["left"]}, cell_rule="raw")
    assert (alone["left"].grade, alone["left"].arms) == ("A", ("left",))


def test_no_single_run_has_that_roll_up():
    assert {g.roll_up for g in arms()["left"].grades} == {"non_f", "all_f"}


def test_shares_over_three_denominators():
    # Runs: 3 of 4 produced of 10; nothing of 10; infrastructure failed, of 20.
    got = shares([3, 0, 9], [4, 0, 9], [10, 10, 20], [False, False, True])
    assert got == {
        "produced": pytest.approx(3 / 4),
        "expected": pytest.approx(3 / 40),
        "expected_without_infrastructure_failure": pytest.approx(3 / 20),
    }
    assert shares([0], [0], [0], [False]) == dict.fromkeys(got)


def test_medians_of_runs_of_any_length():
    from grade.rescaling import _upper_medians

    generator = np.random.default_rng(3)
    count = generator.integers(0, 6, 200)
    values = generator.normal(size=count.sum())
    pieces = np.split(values, np.cumsum(count)[:-1])
    expected = [sorted(piece)[len(piece) // 2] if len(piece) else 0 for piece in pieces]
    assert _upper_medians(values, count).tolist() == expected
