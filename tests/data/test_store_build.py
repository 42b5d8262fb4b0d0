"""The store: what goes in, that it is the same each time, and what happens to broken runs."""

from __future__ import annotations

import datetime as dt
import hashlib
import importlib.util
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from data.records.errors import UserError
from data.records.runs import Arm, RunStatus
from data.records.tables import TruthKind
from data.store.artifacts import ARTIFACT_CAP_BYTES
from data.store.build import BaselineRun, build_store, papers_of_runs
from data.store.read import export_store, find_store, frame, open_store, unpack_artifact


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
FORMAL, HUMAN = Arm("formal", "formal"), Arm("human", "human", kind="reference")


def everything(store: Path) -> dict[str, list[tuple[Any, ...]]]:
    with open_store(store) as connection:
        names = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
        ).fetchall()
        return {
            name: connection.execute(f'SELECT * FROM "{name}" ORDER BY ALL').fetchall()
            for (name,) in names
        }


def one(store: Path, sql: str) -> Any:
    with open_store(store) as connection:
        row = connection.execute(sql).fetchone()
    assert row is not None
    return row[0] if len(row) == 1 else row


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "small"
    folder.mkdir(parents=True)
    for name in ("paper_a", "paper_b"):
        paper = made.published_paper(name)
        made.write_run(folder, paper, FORMAL, made.half)
        made.write_run(folder, paper, HUMAN, made.exact)
    return folder


PAPERS = [made.published_paper("paper_a"), made.published_paper("paper_b")]


def test_what_goes_in(runs: Path) -> None:
    report = build_store(runs, PAPERS, rubrics=made.RUBRICS)
    assert (report.papers, report.runs, report.graded, report.problems) == (2, 4, 4, ())
    store = report.store
    assert store == runs / "store.duckdb"
    # 12 results and 2 settings a table; 3 + 1 cell rules at least over two rubrics.
    assert one(store, "SELECT count(*), sum(is_graded::INT) FROM cells") == (28, 24)
    rules = one(store, "SELECT count(DISTINCT (rubric, cell_rule)) FROM cell_grades")
    assert rules >= 4
    assert one(store, "SELECT count(*) FROM cell_grades") == 4 * 12 * rules
    assert one(store, "SELECT count(*) FROM reproduced_cells WHERE value IS NULL") == 2 * 6
    grades = (
        "SELECT list(DISTINCT grade ORDER BY grade) FROM cell_grades WHERE run_id = 'paper_a/{}/1'"
    )
    assert one(store, grades.format("human")) == ["A"]
    assert one(store, grades.format("formal")) == ["A", "F"]
    published = (
        "SELECT text, value, decimals, of_row, of_col, metric FROM cells WHERE row = 1 AND col = 0"
    )
    assert one(store, published) == ("(0.48)", 0.48, 2, 0, 0, "standard_error")
    assert one(store, "SELECT isolation, seed, wall_seconds FROM runs LIMIT 1") == (
        "namespaces",
        1,
        12.0,
    )
    assert one(store, "SELECT value FROM meta WHERE key = 'leaderboard'") == "small"


def test_times_are_utc(runs: Path) -> None:
    store = build_store(runs, PAPERS).store
    text = one(store, "SELECT DISTINCT started::VARCHAR FROM attempts")
    assert text == "2026-03-01 10:00:00+00"
    kind = one(
        store,
        "SELECT data_type FROM information_schema.columns "
        "WHERE table_name = 'attempts' AND column_name = 'started'",
    )
    assert kind == "TIMESTAMP WITH TIME ZONE"


def test_rebuilding_gives_the_same_rows(runs: Path, tmp_path: Path) -> None:
    first = build_store(runs, PAPERS, rubrics=made.RUBRICS).store
    before = everything(first)
    again = everything(build_store(runs, PAPERS[::-1], rubrics=made.RUBRICS[::-1]).store)
    elsewhere = build_store(runs, PAPERS, rubrics=made.RUBRICS, store=tmp_path / "other.duckdb")
    assert before == again == everything(elsewhere.store)
    assert sum(map(len, before.values())) > 200


def test_broken_directories_are_listed_and_the_rest_stays(runs: Path) -> None:
    whole = everything(build_store(runs, PAPERS).store)
    made.write_run(runs, PAPERS[0], Arm("torn", "program"), made.exact)
    spec = runs / "paper_a" / "torn" / "1" / "spec.json"
    spec.write_bytes(spec.read_bytes()[:40])
    made.write_run(runs, PAPERS[0], Arm("ungraded", "program"), made.exact)
    (runs / "paper_a" / "ungraded" / "1" / "grade.json").write_text('{"papers": 3}')
    (runs / "paper_b" / "empty" / "1").mkdir(parents=True)
    made.write_run(runs, PAPERS[1], Arm("swapped", "program"), made.exact)
    foreign = (runs / "paper_a" / "human" / "1" / "run.json").read_bytes()
    (runs / "paper_b" / "swapped" / "1" / "run.json").write_bytes(foreign)
    made.write_run(runs, made.published_paper("paper_z"), FORMAL, made.exact)
    report = build_store(runs, PAPERS)
    listed = dict(report.problems)
    assert set(listed) == {
        "paper_a/torn/1/spec.json",
        "paper_a/ungraded/1/grade.json",
        "paper_b/empty/1",
        "paper_b/swapped/1/run.json",
        "paper_z/formal/1",
    }
    assert "not valid JSON" in listed["paper_a/torn/1/spec.json"]
    after = everything(report.store)
    assert {tuple(row) for row in after["problems"]} == set(report.problems)
    assert whole["cell_grades"] == after["cell_grades"]
    assert whole["table_grades"] == after["table_grades"]
    assert [row for row in after["runs"] if row in whole["runs"]] == whole["runs"]
    assert one(report.store, "SELECT graded FROM runs WHERE arm = 'ungraded'") is False


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [("row", 10**12, "does not fit"), ("row", 2, "one key"), ("published_text", "\ud800", "fit")],
)
def test_grades_that_no_column_holds_spoil_their_own_run_only(
    runs: Path, field: str, value: object, said: str
) -> None:
    grade = runs / "paper_a" / "formal" / "1" / "grade.json"
    content = json.loads(grade.read_bytes())
    cell = content["papers"][0]["tables"][0]["cells"][0]
    cell[field] = value
    if field == "published_text":
        cell["reproduced_text"] = value
    grade.write_text(json.dumps(content))
    report = build_store(runs, PAPERS)
    assert report.runs == 3
    assert [path for path, _ in report.problems] == ["paper_a/formal/1"]
    assert said in report.problems[0][1]


def test_unfinished_run_keeps_its_state(runs: Path) -> None:
    folder = made.write_run(runs, PAPERS[0], Arm("slow", "program"), made.exact)
    (folder / "run.json").unlink()
    (folder / "claim").write_text("{}")
    store = build_store(runs, PAPERS).store
    assert one(store, "SELECT status, gradable, graded FROM runs WHERE arm = 'slow'") == (
        "running",
        False,
        False,
    )
    assert one(store, "SELECT count(*) FROM ended_runs WHERE arm = 'slow'") == 0


def test_a_gradable_run_without_grades_is_a_problem(runs: Path) -> None:
    (runs / "paper_a" / "human" / "1" / "grade.json").unlink()
    report = build_store(runs, PAPERS)
    assert report.problems == (
        ("paper_a/human/1/grade.json", "missing: the run is gradable and ungraded"),
    )


def test_an_arm_that_changed_is_a_problem(runs: Path) -> None:
    other = Arm("formal", "formal", options={"depth": 2})
    made.write_run(runs, PAPERS[0], other, made.exact, repetition=2)
    report = build_store(runs, PAPERS)
    assert [path for path, _ in report.problems] == ["paper_a/formal/2"]


def test_failed_build_leaves_the_old_store(runs: Path) -> None:
    store = build_store(runs, PAPERS).store
    before = store.read_bytes()
    with pytest.raises(Exception, match="one key"):
        build_store(runs, [PAPERS[0], PAPERS[0]])
    assert store.read_bytes() == before
    assert sorted(path.name for path in runs.iterdir()) == ["paper_a", "paper_b", "store.duckdb"]


def test_artifacts_are_hashed_capped_and_follow_no_link(runs: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("truth = 2.28")
    big = b"# " + b"x" * (ARTIFACT_CAP_BYTES + 100)
    folder = made.write_run(
        runs, PAPERS[0], Arm("writer", "program"), made.exact, extra={"big.py": big}
    )
    workspace = folder / "attempt_01" / "workspace"
    (workspace / "link.py").symlink_to(secret)
    os.mkfifo(workspace / "pipe.py")
    (workspace / "table_templates").mkdir()
    (workspace / "table_templates" / "given.json").write_text("{}")
    (workspace / "TASK.md").write_text("the task")
    store = build_store(runs, PAPERS).store
    with open_store(store) as connection:
        rows = frame(
            connection, "SELECT * FROM artifacts WHERE run_id = 'paper_a/writer/1' ORDER BY path"
        )
    assert list(rows["path"]) == [
        "raw/stderr",
        "raw/stdout",
        "workspace/big.py",
        "workspace/table_1.json",
        "workspace/table_1.py",
    ]
    row = rows.set_index("path").loc["workspace/big.py"]
    assert bool(row["truncated"])
    assert row["size"] == len(big)
    assert row["sha256"] == hashlib.sha256(big).hexdigest()
    assert unpack_artifact(bytes(row["content"])) == big[:ARTIFACT_CAP_BYTES].decode()
    assert len(row["content"]) < 2_000


def test_baselines_are_arms_of_their_own_kind(runs: Path) -> None:
    grades = made.grade_workspace([], PAPERS[0].tables, made.RUBRICS, paper_id="paper_a")
    store = build_store(runs, PAPERS, baselines=[BaselineRun("nothing", "paper_a", grades)]).store
    assert one(store, "SELECT kind FROM arms WHERE arm = 'nothing'") == "baseline"
    assert one(store, "SELECT count(*) FROM run_statuses WHERE arm = 'nothing'") == 0


def test_no_runs_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        build_store(tmp_path / "none", PAPERS)
    with pytest.raises(UserError, match="no run directories"):
        build_store(tmp_path, PAPERS)
    assert papers_of_runs(tmp_path) == ()


def test_finding_a_store(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="bench store build"):
        find_store(tmp_path)
    store = build_store(runs, PAPERS).store
    assert find_store(tmp_path) == find_store(runs) == find_store(store) == store
    second = tmp_path / "runs" / "more"
    second.mkdir()
    made.write_run(second, PAPERS[0], FORMAL, made.exact)
    build_store(second, PAPERS)
    with pytest.raises(UserError, match="several stores"):
        find_store(tmp_path)


def test_store_is_read_only_and_closed_to_files(runs: Path, tmp_path: Path) -> None:
    store = build_store(runs, PAPERS).store
    with open_store(store) as connection:
        for statement in (
            "DELETE FROM runs",
            f"COPY runs TO '{tmp_path / 'x.csv'}'",
            "SELECT * FROM read_csv('/etc/passwd')",
            "SELEC 1",
        ):
            with pytest.raises(UserError, match="the store refuses"):
                frame(connection, statement)
    assert not (tmp_path / "x.csv").exists()


def test_other_files_are_no_store(tmp_path: Path) -> None:
    import duckdb

    text = tmp_path / "text.duckdb"
    text.write_text("no database")
    with pytest.raises(UserError, match="not a readable store"), open_store(text):
        pass
    other = tmp_path / "other.duckdb"
    with duckdb.connect(str(other)) as connection:
        connection.execute("CREATE TABLE meta (key VARCHAR, value VARCHAR)")
        connection.execute("INSERT INTO meta VALUES ('schema_version', '0')")
    with pytest.raises(UserError, match="store version 0"), open_store(other):
        pass


def test_export_holds_every_row(runs: Path, tmp_path: Path) -> None:
    import pandas as pd

    store = build_store(runs, PAPERS, rubrics=made.RUBRICS).store
    written = export_store(store, tmp_path / "out")
    expected = everything(store)
    assert len(written) == 2 * len(expected)
    for name, rows in expected.items():
        assert len(pd.read_parquet(tmp_path / "out" / f"{name}.parquet")) == len(rows)
        if rows:
            assert len(pd.read_csv(tmp_path / "out" / f"{name}.csv")) == len(rows)
    cells = pd.read_csv(tmp_path / "out" / "cells.csv")
    assert json.loads(cells["col_labels"][0]) == ["Dependent: score", "(1)"]
    assert "content" not in pd.read_csv(tmp_path / "out" / "artifacts.csv")


def test_infrastructure_failure_has_no_grade(runs: Path) -> None:
    made.write_run(
        runs,
        PAPERS[0],
        Arm("unlucky", "program"),
        made.exact,
        status=RunStatus.INFRA_FAILED,
        gradable=False,
    )
    store = build_store(runs, PAPERS).store
    assert one(
        store, "SELECT graded, infrastructure_failed FROM ended_runs WHERE arm = 'unlucky'"
    ) == (False, True)
    started = one(store, "SELECT min(started) FROM attempts")
    assert started == dt.datetime(2026, 3, 1, 10, tzinfo=dt.UTC)


def test_seen_and_recalled_values_of_one_table_are_kept_apart(tmp_path: Path) -> None:
    """A table may hold both: each cell counts under its own kind, not under its table's."""
    paper = made.published_paper("paper_a")
    table = paper.tables[0]
    cells = tuple(
        replace(cell, truth_kind=TruthKind.RECALLED) if cell.col == 1 and cell.is_graded else cell
        for cell in table.cells
    )
    mixed = replace(paper, tables=(replace(table, cells=cells), *paper.tables[1:]))
    folder = tmp_path / "runs" / "small"
    folder.mkdir(parents=True)
    made.write_run(folder, mixed, FORMAL, lambda cell: cell.value if cell.col == 1 else None)
    store = build_store(folder, [mixed], rubrics=made.RUBRICS).store
    with open_store(store) as connection:
        found = connection.execute(
            "SELECT truth_kind, count(*), count(*) FILTER (grade = 'A') FROM run_cells"
            " WHERE cell_rule = 'rounded' GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        tables = connection.execute(
            "SELECT truth, score FROM table_grades"
            " WHERE cell_rule = 'rounded' AND roll_up = 'all_f' ORDER BY ALL"
        ).fetchall()
    assert found == [("recalled", 6, 6), ("seen", 6, 0)]
    assert tables == [("all", 2.5), ("recalled", 5.0), ("seen", 0.0)]
