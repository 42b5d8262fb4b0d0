"""Leaderboard figures on small stores, each worked out by hand.

The table of `made_runs`: four coefficients (-2.28, -1.10, 11.57, 0.52 with standard errors 0.48,
0.43, 1.80, 0.30), their standard errors, N twice, R2 twice: 12 results. Two coefficients are
positive; |t| is 4.75, 2.56, 6.43, 1.73, so three reach 1.96.

- exact: all A. Table 5.
- flipped: four coefficients E, eight A: (4*1 + 8*5)/12 = 3.667, B, so the paper has 4.
  printed gives an E nothing: 8*5/12 = 3.333. Each flip is 2|t| standard errors off: 9.5, 5.1,
  12.9, 3.5, all beyond 1.96.
- half: first column only, exact: 6 of 12. 30/12 = 2.5, C, so 3; non_f 5; printed 2.5. Of its
  two coefficients one is positive; both reach |t| 1.96.
- times ten: one factor for the table, so all A and 12 of 12 rescaled.
- nothing: 0 and coverage 0.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from bench.baselines import baseline_runs
from bench.leaderboard import (
    Leaderboard,
    Rule,
    arm_contrasts,
    leaderboard,
    letter_of,
    metric_grades,
    paper_scores,
    table_scores,
)
from data.records.errors import UserError
from data.records.runs import Arm, RunStatus
from data.records.tables import TruthKind
from data.store.build import PublishedPaper, build_store
from data.store.read import open_store


def _load(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    path = Path(__file__).parents[1] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


made = _load("made_runs")
ROUNDED = Rule("kohler2026", "rounded", "all_f")


def arm(name: str, kind: str = "contestant") -> Arm:
    return Arm(name, "program", kind=kind)  # type: ignore[arg-type]


CHANGES = {
    "exact": made.exact,
    "flipped": made.flipped,
    "half": made.half,
    "tenfold": made.times(10.0),
    "nothing": made.nothing,
}


@pytest.fixture(scope="module")
def two_papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two papers: all arms on both, but the machine failed `half` on paper_b."""
    runs = tmp_path_factory.mktemp("board") / "two"
    runs.mkdir()
    papers = [made.published_paper("paper_a"), made.published_paper("paper_b")]
    for paper in papers:
        for name, change in CHANGES.items():
            failed = name == "half" and paper.paper.id == "paper_b"
            made.write_run(
                runs,
                paper,
                arm(name),
                change,
                status=RunStatus.INFRA_FAILED if failed else RunStatus.FINISHED,
                gradable=not failed,
            )
        made.write_run(runs, paper, arm("oracle", "self_test"), made.exact)
    return build_store(
        runs, papers, baselines=baseline_runs(papers, made.RUBRICS), rubrics=made.RUBRICS
    ).store


def board_of(store: Path, **options: object) -> Leaderboard:
    with open_store(store) as connection:
        return leaderboard(connection, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def board(two_papers: Path) -> Leaderboard:
    return board_of(two_papers)


def value(board: Leaderboard, name: str, column: str) -> float:
    return float(board.rows.set_index("arm").loc[name, column])


@pytest.mark.parametrize(
    ("name", "score", "raw_non_f", "printed", "coverage"),
    [
        ("exact", 5, 5, 5, 1),
        ("flipped", 4, 4, 40 / 12, 1),
        ("half", 3, 5, 2.5, 0.25),
        ("nothing", 0, 0, 0, 0),
        ("zero", 1, 1, 0, 1),
    ],
)
def test_scores_and_coverage(
    board: Leaderboard, name: str, score: float, raw_non_f: float, printed: float, coverage: float
) -> None:
    assert value(board, name, "score") == pytest.approx(score)
    assert value(board, name, "score_beside") == pytest.approx(raw_non_f)
    assert value(board, name, "score_printed") == pytest.approx(printed)
    assert value(board, name, "coverage") == pytest.approx(coverage)


def test_order_and_kinds(board: Leaderboard) -> None:
    assert list(board.rows["arm"]) == [
        "exact",
        "tenfold",
        "flipped",
        "half",
        "nothing",
        *board.rows["arm"][5:],
    ]
    assert set(board.rows["arm"][5:]) == {"zero", "all_positive", "shuffled"}
    assert set(board.rows["kind"][5:]) == {"baseline"}
    assert (str(board.rule), str(board.beside)) == (
        "kohler2026 rounded all_f",
        "kohler2026 raw non_f",
    )


SHARES = {
    # (arm, share): (produced, expected, expected_without_infra)
    ("exact", "share_a"): (1, 1, 1),
    ("exact", "sign_agreement"): (1, 1, 1),
    ("exact", "all_positive"): (0.5, 0.5, 0.5),
    ("exact", "within_se"): (1, 1, 1),
    ("exact", "within_se_significant"): (1, 1, 1),
    ("exact", "tables_ab"): (1, 1, 1),
    ("flipped", "wrong"): (4 / 12, 4 / 12, 4 / 12),
    ("flipped", "sign_agreement"): (0, 0, 0),
    ("flipped", "within_se"): (0, 0, 0),
    ("flipped", "share_a"): (8 / 12, 8 / 12, 8 / 12),
    ("flipped", "tables_ab"): (1, 1, 1),
    # One paper of two, half of its cells; in the other the machine failed.
    ("half", "share_a"): (1, 0.25, 0.5),
    ("half", "sign_agreement"): (1, 0.25, 0.5),
    ("half", "all_positive"): (0.5, 0.5, 0.5),
    ("half", "within_se"): (1, 0.25, 0.5),
    ("half", "within_se_significant"): (1, (2 / 3) / 2, 2 / 3),
    ("half", "tables_ab"): (0, 0, 0),
    ("half", "wrong"): (0, 0, 0),
    ("tenfold", "rescaled"): (1, 1, 1),
    ("tenfold", "tables_rescaled"): (1, 1, 1),
    ("exact", "rescaled"): (0, 0, 0),
    ("nothing", "share_a"): (None, 0, 0),
    ("nothing", "sign_agreement"): (None, 0, 0),
    ("zero", "wrong"): (1, 1, 1),
    # Zero lies |t| standard errors off: only the fourth coefficient is within 1.96.
    ("zero", "within_se"): (0.25, 0.25, 0.25),
    ("zero", "within_se_significant"): (0, 0, 0),
    ("all_positive", "sign_agreement"): (0.5, 0.5, 0.5),
}


@pytest.mark.parametrize(("key", "expected"), SHARES.items(), ids=["-".join(key) for key in SHARES])
def test_shares_over_three_denominators(
    board: Leaderboard, key: tuple[str, str], expected: Sequence[float | None]
) -> None:
    named = board.shares.set_index(["arm", "share", "denominator"])["estimate"]
    names = ("produced", "expected", "expected_without_infra")
    for denominator, wanted in zip(names, expected, strict=True):
        place = (*key, denominator)
        if wanted is None:
            assert place not in named.index
        else:
            assert named[place] == pytest.approx(wanted), denominator


def test_counts_beside_shares(board: Leaderboard) -> None:
    row = board.shares.set_index(["arm", "share", "denominator"]).loc[
        ("half", "share_a", "expected")
    ]
    assert (row["numerator"], row["total"], row["papers"]) == (6, 24, 2)
    assert math.isnan(row["low"])


def test_chosen_denominator_fills_the_rows(two_papers: Path) -> None:
    produced = board_of(two_papers, denominator="produced")
    assert value(produced, "half", "share_a") == 1
    assert value(produced, "half", "score") == 3


def test_infrastructure_failures_are_counted_apart(board: Leaderboard) -> None:
    row = board.rows.set_index("arm").loc["half"]
    assert (row["papers"], row["runs"], row["infra_failed"], row["ungraded"]) == (1, 2, 1, 0)
    assert row["papers_C"] == 1
    assert row["isolation"] == "namespaces"


def test_few_papers_give_no_interval_and_no_detectable_difference(board: Leaderboard) -> None:
    assert board.rows["low"].isna().all()
    assert board.rows["detectable"].isna().all()


def test_self_test_arms_only_on_request(two_papers: Path, board: Leaderboard) -> None:
    assert "oracle" not in set(board.rows["arm"])
    assert "oracle" not in set(board.shares["arm"]) | set(board.papers["arm"])
    shown = board_of(two_papers, include_self_test=True)
    assert list(shown.rows["kind"]) == sorted(
        shown.rows["kind"], key=["contestant", "self_test", "baseline"].index
    )
    assert value(shown, "oracle", "score") == 5


def test_ranking_by_another_rubric(two_papers: Path) -> None:
    printed = board_of(two_papers, rubric="printed")
    assert printed.rule.rubric == "printed"
    assert value(printed, "flipped", "score") == pytest.approx(40 / 12)
    with pytest.raises(UserError, match="no grades under rubric 'nobody'"):
        board_of(two_papers, rubric="nobody")


def test_by_metric(two_papers: Path) -> None:
    with open_store(two_papers) as connection:
        rows = metric_grades(connection, ROUNDED, "seen").set_index(["arm", "metric"])
    row = rows.loc[("flipped", "coefficient")]
    assert (row["papers"], row["cells"], row["coverage"]) == (2, 8, 1)
    assert (row["score"], row["share_a"], row["wrong"]) == (1, 0, 1)
    assert rows.loc[("flipped", "standard_error"), "score"] == 5
    assert rows.loc[("half", "n_obs"), "coverage"] == 0.25
    assert rows.loc[("half", "n_obs"), "score"] == 1.25


def test_by_table(two_papers: Path) -> None:
    with open_store(two_papers) as connection:
        rows = table_scores(connection, ROUNDED, "seen").set_index(["arm", "paper_id"])
    row = rows.loc[("flipped", "paper_a")]
    assert row["score"] == pytest.approx(44 / 12)
    assert (row["grade"], row["n_expected"], row["n_produced"]) == ("B", 12, 12)


@pytest.fixture(scope="module")
def seven_papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven papers, one of them recalled in its only table, one with a recalled second table."""
    runs = tmp_path_factory.mktemp("board") / "seven"
    runs.mkdir()
    papers: list[PublishedPaper] = []
    for letter in "abcdefg":
        name = f"paper_{letter}"
        truth = TruthKind.RECALLED if letter == "g" else TruthKind.SEEN
        tables = [made.published_table("table_1", paper_id=name, truth=truth)]
        if letter == "a":
            tables.append(
                made.published_table("table_2", paper_id=name, truth=TruthKind.RECALLED, scale=3)
            )
        papers.append(made.published_paper(name, tables=tuple(tables)))
    for paper in papers:
        made.write_run(runs, paper, arm("mixed"), made.exact)
        made.write_run(runs, paper, arm("mixed"), made.flipped, repetition=2)
        change = made.nothing if paper.paper.id == "paper_a" else made.half
        made.write_run(runs, paper, arm("half"), change)
    return build_store(runs, papers, rubrics=made.RUBRICS).store


def test_repetitions_average_within_a_paper(seven_papers: Path) -> None:
    board = board_of(seven_papers)
    papers = board.papers[board.papers["arm"] == "mixed"]
    assert set(papers["score"]) == {4.5}
    assert set(papers["letter"]) == {"A"}
    assert set(papers["runs"]) == {2}
    assert (set(papers["lowest"]), set(papers["highest"])) == ({4.0}, {5.0})
    assert value(board, "mixed", "sign_agreement") == pytest.approx(0.5)


def test_truth_seen_and_recalled_are_kept_apart(seven_papers: Path) -> None:
    seen, recalled, both = (
        board_of(seven_papers, truth=truth) for truth in ("seen", "recalled", "all")
    )
    assert [value(one, "half", "papers") for one in (seen, recalled, both)] == [6, 2, 7]
    # Seen: paper_a 0, five papers 3. Recalled: paper_a's second table 0, paper_g 3.
    assert value(seen, "half", "score") == pytest.approx(15 / 6)
    assert value(recalled, "half", "score") == pytest.approx(1.5)
    assert value(both, "half", "score") == pytest.approx(18 / 7)
    assert value(seen, "half", "coverage") == pytest.approx(2.5 / 6)


def test_six_papers_give_an_interval(seven_papers: Path) -> None:
    row = board_of(seven_papers).rows.set_index("arm").loc["half"]
    assert 0 < row["low"] < row["score"] < row["high"] < 5
    assert board_of(seven_papers, truth="recalled").rows["low"].isna().all()


def test_detectable_difference_names_its_rival(seven_papers: Path) -> None:
    rows = board_of(seven_papers).rows.set_index("arm")
    assert (rows.loc["mixed", "rival"], rows.loc["half", "rival"]) == ("half", "mixed")
    # Differences 4.5, then 1.5 five times: sd = 3/sqrt(6) = 1.224745, over sqrt(6) it is 0.5;
    # t(.975, 5) = 2.570582, t(.80, 5) = 0.919544.
    assert rows.loc["half", "detectable"] == pytest.approx(0.5 * (2.570582 + 0.919544), rel=1e-5)


def test_grades_agree_with_the_graders_own_file(seven_papers: Path) -> None:
    with open_store(seven_papers) as connection:
        papers = paper_scores(connection, ROUNDED, "all").set_index(["arm", "paper_id"])["score"]
    for paper_id in ("paper_a", "paper_g"):
        grades = made.grade_workspace([], made.published_paper(paper_id).tables, made.RUBRICS)
        assert grades.paper("kohler2026").roll_up("rounded", "all_f", "all").score == 0
    assert papers[("half", "paper_a")] == 0
    assert papers[("half", "paper_g")] == 3


def test_contrasts_and_holm() -> None:
    # Ten papers; b is 1 below a everywhere but one, c equals a.
    a = np.array([5.0, 4, 4, 3, 5, 4, 5, 3, 4, 5])
    b = a - np.array([1, 1, 2, 1, 1, 1, 2, 1, 1, 0])
    rows = [
        {"arm": name, "paper_id": f"p{place}", "score": score}
        for name, scores in (("a", a), ("b", b), ("c", a))
        for place, score in enumerate(scores)
    ]
    found = arm_contrasts(pd.DataFrame(rows), ["a", "b", "c"]).set_index(["first", "second"])
    row = found.loc[("a", "b")]
    assert (row["n"], row["n_different"], row["n_better"], row["n_worse"]) == (10, 9, 9, 0)
    assert row["mean"] == pytest.approx(1.1)
    # Nine differences of one sign: only the two one-signed patterns of 2^9 are as far out.
    assert row["p"] == pytest.approx(2 / 512)
    # Two pairs have a p-value (a against c has no difference): the factor is 2 for both.
    assert math.isnan(found.loc[("a", "c"), "p"])
    assert row["p_holm"] == pytest.approx(2 * 2 / 512)
    assert found.loc[("b", "c"), "p_holm"] == pytest.approx(2 * 2 / 512)


@pytest.mark.parametrize(
    ("score", "letter"),
    [
        (5, "A"),
        (4.5, "A"),
        (4.49, "B"),
        (3.5, "B"),
        (2.5, "C"),
        (1.5, "D"),
        (0.5, "E"),
        (0.49, "F"),
    ],
)
def test_letters_are_cut_inclusively(score: float, letter: str) -> None:
    assert letter_of(score) == letter


def test_unknown_score_has_no_letter() -> None:
    assert letter_of(None) is None
    assert letter_of(float("nan")) is None
