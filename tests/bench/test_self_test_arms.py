"""Arms of known outcome through the real command, jail and store: every cell as it must be.

What each arm must get stands here, worked out from the rules in words and not by the grader.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import duckdb
import pandas as pd
import pytest

BENCH = Path(sys.executable).with_name("bench")
PAPERS = (
    "bertrand_mullainathan_2004", "kleiber_zeileis_2008", "stock_watson_caschools_2007",
    "stock_watson_cigarettes_2007", "wooldridge_card_2010", "wooldridge_mroz_2010",
)  # fmt: skip
ARMS = {
    "oracle": "", "noise": "options = { k = 3 }", "sign_flip": "", "times_ten": "",
    "thousandth": 'scaffold = "times_ten"\noptions = { k = -3 }', "shuffled_rows": "",
    "hardcoder": "", "null": "", "crasher": "", "sleeper": "limits = { wall_seconds = 2.5 }",
    "liar": "", "schema_liar": 'scaffold = "liar"\noptions = { lie = "schema" }',
}  # fmt: skip
RULES = ("rounded", "raw", "rounded_repr", "interval")
# Metrics with a unit, which `printed` may rescale. The bounds of an interval are among them.
UNIT = {
    "coefficient", "standard_error", "ci_lower", "ci_upper", "mean", "median", "std_dev",
    "control_mean",
}  # fmt: skip
COUNTS = {"n_obs", "n_clusters", "n_groups", "count"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store of all self-test arms on six papers, run by the real command."""
    folder = tmp_path_factory.mktemp("arms")
    arms = "\n".join(f'[[arms]]\nname = "{name}"\n{more}' for name, more in ARMS.items())
    board = folder / "arms.toml"
    board.write_text(f'name = "arms"\npapers = {json.dumps(PAPERS)}\n{arms}\n')
    for words in (
        ["run", str(board), "--to", str(folder)],
        ["store", "build", str(folder / "arms")],
    ):
        done = subprocess.run([BENCH, *words], capture_output=True, text=True, timeout=500)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "arms" / "store.duckdb"


@cache
def cells_of(path: Path, arm: str) -> pd.DataFrame:
    with duckdb.connect(str(path), read_only=True) as opened:
        return opened.execute(
            """
            SELECT g.*, r.paper_id, c.metric, c.value AS published, c.decimals, c.unit,
                   p.value AS answer
            FROM cell_grades g
            JOIN runs r USING (run_id)
            JOIN cells c USING (paper_id, table_slug, "row", col, part)
            LEFT JOIN reproduced_cells p USING (run_id, table_slug, "row", col, part)
            WHERE r.arm = ?
            """,
            [arm],
        ).df()


def runs_of(path: Path, arm: str) -> pd.DataFrame:
    with duckdb.connect(str(path), read_only=True) as opened:
        return opened.execute(
            "SELECT r.*, a.exit_code, a.limit_hit FROM runs r LEFT JOIN attempts a"
            " ON a.run_id = r.run_id AND a.attempt = r.accepted_attempt WHERE arm = ?",
            [arm],
        ).df()


def papers_of(path: Path, arm: str, roll_up: str, rule: str = "rounded") -> pd.DataFrame:
    with duckdb.connect(str(path), read_only=True) as opened:
        return opened.execute(
            "SELECT g.* FROM paper_grades g JOIN runs USING (run_id) WHERE arm = ?"
            " AND cell_rule = ? AND roll_up = ? AND truth = 'all'",
            [arm, rule, roll_up],
        ).df()


def by_rule(cells: pd.DataFrame) -> dict[str, pd.DataFrame]:
    found = {str(rule): frame for rule, frame in cells.groupby("cell_rule")}
    assert set(found) == set(RULES)
    return found


@pytest.mark.parametrize("arm", [name for name in ARMS if name != "sleeper"])
def test_runs_that_end_by_themselves_are_finished(store: Path, arm: str) -> None:
    runs = runs_of(store, arm)
    assert len(runs) == len(PAPERS)
    assert set(runs["status"]) == {"finished"}
    assert set(runs["exit_code"]) == {1 if arm == "crasher" else 0}
    assert set(runs["isolation"]) == {"namespaces"}


@pytest.mark.parametrize("arm", ["oracle", "hardcoder"])
@pytest.mark.parametrize("rule", RULES)
def test_right_values_are_a(store: Path, arm: str, rule: str) -> None:
    cells = by_rule(cells_of(store, arm))[rule]
    assert set(cells["grade"]) == {"A"}
    assert set(cells["reason"]) == {"ok"}
    assert set(cells["factor"]) == {1.0}
    assert cells["metric"].nunique() >= 8


def test_right_values_roll_up_to_five(store: Path) -> None:
    for roll_up in ("all_f", "non_f"):
        grades = papers_of(store, "oracle", roll_up)
        assert set(grades["grade"]) == {"A"}
        assert set(grades["score"]) == {5.0}
    assert set(papers_of(store, "oracle", "all_f", "interval")["score"]) == {5.0}


@pytest.mark.parametrize("arm", ["null", "liar", "schema_liar"])
@pytest.mark.parametrize("rule", RULES)
def test_nothing_is_f(store: Path, arm: str, rule: str) -> None:
    cells = by_rule(cells_of(store, arm))[rule]
    assert set(cells["grade"]) == {"F"}
    assert cells["answer"].isna().all()
    assert cells["deviation_pct"].isna().all()
    assert cells["sign_agrees"].isna().all()
    wanted = {"null": {"null"}, "liar": {"missing"}, "schema_liar": {"unreadable"}}[arm]
    assert set(cells["reason"]) == wanted


@pytest.mark.parametrize("arm", ["null", "liar", "schema_liar"])
def test_nothing_rolls_up_to_zero_under_either_name(store: Path, arm: str) -> None:
    for roll_up in ("all_f", "non_f"):
        grades = papers_of(store, arm, roll_up)
        assert set(grades["grade"]) == {"F"}
        assert set(grades["score"]) == {0.0}


def test_flipped_signs(store: Path) -> None:
    """kohler2026: signs that differ are E, two zeros are A. Nothing is rescaled by it."""
    rules = by_rule(cells_of(store, "sign_flip"))
    for rule in ("rounded", "raw", "rounded_repr"):
        cells = rules[rule]
        zero = cells["published"] == 0
        assert set(cells.loc[~zero, "grade"]) == {"E"}
        assert set(cells.loc[zero, "grade"]) <= {"A"}
        assert not cells.loc[~zero, "sign_agrees"].astype(bool).any()
    printed = rules["interval"]
    assert set(printed["factor"]) == {1.0}
    # A standard error or a count of the wrong sign is wrong whatever its size.
    sized = printed["metric"].isin(COUNTS | {"standard_error"}) & (printed["published"] > 0)
    assert set(printed.loc[sized, "grade"]) == {"E"}
    # A flipped estimate is off by 2|b|: with a standard error above |b| by less than that of it.
    estimates = printed[(printed["metric"] == "coefficient") & (printed["published"] != 0)]
    clear = estimates["published_se"].isna() | (
        estimates["published"].abs() >= estimates["published_se"]
    )
    assert clear.any()
    assert set(estimates.loc[clear, "grade"]) == {"E"}


@pytest.mark.parametrize(("arm", "power"), [("times_ten", 1), ("thousandth", -3)])
def test_other_units_are_rescued_by_the_table_factor(store: Path, arm: str, power: int) -> None:
    """kohler2026: one factor a table, so a table that is off as a whole is A again."""
    rules = by_rule(cells_of(store, arm))
    for rule in ("rounded", "raw", "rounded_repr"):
        cells = rules[rule]
        assert set(cells["grade"]) == {"A"}
        assert all(math.isclose(one, 10.0**-power) for one in cells["factor"])


@pytest.mark.parametrize("arm", ["times_ten", "thousandth"])
def test_printed_rescales_what_has_a_unit_and_nothing_else(store: Path, arm: str) -> None:
    cells = by_rule(cells_of(store, arm))["interval"]
    unit = cells["metric"].isin(UNIT)
    counts = cells["metric"].isin(COUNTS)
    assert set(cells.loc[counts, "grade"]) == {"E"}
    assert set(cells.loc[~unit & (cells["metric"] != "share"), "factor"]) == {1.0}
    rescued = cells[unit & (cells["factor"] != 1.0)]
    assert len(rescued) > 0.5 * unit.sum()
    assert set(rescued["grade"]) == {"A"}
    stated = cells[unit & cells["unit"].notna()]
    assert set(stated["factor"]) <= {1.0}


def test_noise_is_as_many_standard_errors_as_it_says(store: Path) -> None:
    cells = by_rule(cells_of(store, "noise"))["raw"]
    moved = cells["published_se"].notna() & (cells["metric"] == "coefficient")
    distance = cells.loc[moved, "deviation_se"]
    usable = cells.loc[moved, "published_se"] > 0
    assert usable.sum() > 50
    assert all(math.isclose(one, 3.0, rel_tol=1e-9) for one in distance[usable])
    still = cells[cells["answer"] == cells["published"]]
    assert set(still["grade"]) == {"A"}
    assert set(cells["metric"][cells["metric"].isin(COUNTS | {"standard_error"})]) > {"n_obs"}
    assert set(cells.loc[cells["metric"].isin(COUNTS), "grade"]) == {"A"}


def test_shuffled_rows_are_another_rows_values(store: Path) -> None:
    cells = by_rule(cells_of(store, "shuffled_rows"))["raw"]
    keys = ["paper_id", "table_slug", "metric", "col", "part"]
    several = 0
    for _, group in cells.groupby(keys):
        assert sorted(group["answer"]) == sorted(group["published"])
        if len(group) == 1:
            # By chance the other values may suggest a factor for the whole table.
            assert (group["grade"] == "A").all() or (group["factor"] != 1.0).all()
        else:
            several += 1
    assert several > 30
    assert 0 < papers_of(store, "shuffled_rows", "all_f")["score"].mean() < 3


@pytest.mark.parametrize("arm", ["crasher", "sleeper"])
def test_half_a_paper_is_half_graded(store: Path, arm: str) -> None:
    """What was written before the end counts in full, the rest is missing."""
    for rule, cells in by_rule(cells_of(store, arm)).items():
        for paper, mine in cells.groupby("paper_id"):
            assert set(mine["grade"]) == {"A", "F"}, (rule, paper)
            tables = mine["table_slug"].nunique()
            reasons = set(mine.loc[mine["grade"] == "F", "reason"])
            assert reasons == ({"missing"} if tables > 1 else {"null"})
            if tables > 1:
                letters = mine.groupby("table_slug")["grade"].agg(set)
                assert all(len(one) == 1 for one in letters)
                assert letters.map(lambda one: one == {"A"}).sum() == len(letters) // 2
            else:
                assert (mine["grade"] == "A").sum() == len(mine) // 2


def test_the_sleeper_timed_out_and_is_graded(store: Path) -> None:
    runs = runs_of(store, "sleeper")
    assert set(runs["status"]) == {"timed_out"}
    assert set(runs["limit_hit"]) == {"wall"}
    assert runs["gradable"].all()
    assert runs["wall_seconds"].between(2.4, 10).all()


def test_self_tests_stay_out_of_the_leaderboard_unless_asked_for(store: Path) -> None:
    def arms(*words: str) -> set[str]:
        argv = [BENCH, "leaderboard", str(store), "--json", *words]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return {row["arm"] for row in json.loads(done.stdout)["arms"]}

    assert not arms() & set(ARMS)
    assert set(ARMS) <= arms("--include-self-test")


def test_no_secret_of_the_harness_is_in_what_a_run_leaves(tmp_path: Path) -> None:
    """A key in the harness's environment stands in no file of a run and in no store."""
    board = tmp_path / "secret.toml"
    command = "/analysis/bin/python -c 'import os; print(sorted(os.environ.items()))'"
    board.write_text(
        'name = "secret"\npapers = ["wooldridge_card_2010"]\n[[arms]]\nname = "spy"\n'
        f'scaffold = "program"\noptions = {{ command = """{command}""" }}\n'
    )
    key = "sk-7e57-0b1d-5ec7e7"
    environment = {**os.environ, "OPENAI_API_KEY": key}
    for words in (
        ["run", str(board), "--to", str(tmp_path)],
        ["store", "build", str(tmp_path / "secret")],
    ):
        done = subprocess.run(
            [BENCH, *words], capture_output=True, text=True, timeout=120, env=environment
        )
        assert done.returncode == 0, done.stderr
        assert key not in done.stdout + done.stderr
    files = [path for path in (tmp_path / "secret").rglob("*") if path.is_file()]
    assert any(b"PYTHONHASHSEED" in path.read_bytes() for path in files)
    assert not [path for path in files if key.encode() in path.read_bytes()]
