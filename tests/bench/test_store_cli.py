"""`bench store`, `bench leaderboard` and `bench report` as a user runs them."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bench.baselines import baseline_runs
from data.records.runs import Arm
from data.store.build import build_store


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


def bench(*words: str, where: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from bench.cli.main import run; run()", *words],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with one leaderboard of two papers, its store built."""
    home = tmp_path_factory.mktemp("home")
    runs = home / "runs" / "small"
    runs.mkdir(parents=True)
    papers = [made.published_paper("paper_a"), made.published_paper("paper_b")]
    for paper in papers:
        made.write_run(runs, paper, Arm("exact", "program"), made.exact)
        made.write_run(runs, paper, Arm("half", "program"), made.half)
        made.write_run(runs, paper, Arm("oracle", "oracle", kind="self_test"), made.exact)
    build_store(runs, papers, baselines=baseline_runs(papers, made.RUBRICS), rubrics=made.RUBRICS)
    return home


def test_leaderboard_for_the_eye(home: Path) -> None:
    done = bench("leaderboard", where=home)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[1][:2] == ["exact", "5.00"]
    assert lines[2][:2] == ["half", "3.00"]
    assert "oracle" not in done.stdout
    assert "all positive would reach 50.0 %" in done.stdout.replace("\n", " ")


def test_leaderboard_for_machines(home: Path) -> None:
    values = json.loads(bench("leaderboard", "runs/small", "--json", where=home).stdout)
    assert [row["arm"] for row in values["arms"]][:2] == ["exact", "half"]
    assert values["arms"][0]["low"] is None
    shares = {
        (row["arm"], row["share"], row["denominator"]): row["estimate"] for row in values["shares"]
    }
    assert shares[("half", "share_a", "expected")] == 0.5
    assert shares[("half", "share_a", "produced")] == 1
    text = bench("leaderboard", "--csv", "--include-self-test", where=home).stdout
    assert {row["arm"] for row in csv.DictReader(io.StringIO(text))} > {"oracle", "zero", "exact"}


@pytest.mark.parametrize(
    ("by", "column"), [("paper", "letter"), ("table", "grade"), ("metric", "share_a")]
)
def test_leaderboard_broken_down(home: Path, by: str, column: str) -> None:
    text = bench("leaderboard", "--by", by, "--csv", where=home).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["arm"] for row in rows} >= {"exact", "half"}
    assert "oracle" not in {row["arm"] for row in rows}
    assert all(row[column] for row in rows)


def test_sql_and_its_refusals(home: Path) -> None:
    done = bench("store", "sql", "select arm, runs from run_statuses", "--json", where=home)
    assert json.loads(done.stdout) == [
        {"arm": name, "runs": 2} for name in ("exact", "half", "oracle")
    ]
    refused = bench("store", "sql", "delete from runs", where=home)
    assert refused.returncode == 2
    assert len(refused.stderr.strip().splitlines()) == 1


def test_export_and_report(home: Path) -> None:
    done = bench("store", "export", "--to", "out", where=home)
    assert done.returncode == 0, done.stderr
    assert (home / "out" / "cell_grades.parquet").is_file()
    done = bench("report", "--to", "site", where=home)
    assert done.returncode == 0, done.stderr
    assert (home / done.stdout.strip()).is_file()


def test_mistakes_are_one_line(home: Path, tmp_path: Path) -> None:
    for words in (
        ("leaderboard", "--rubric", "nobody"),
        ("leaderboard", "nowhere"),
        ("report", "nowhere"),
        ("store", "build", "nowhere"),
    ):
        done = bench(*words, where=home)
        assert done.returncode == 2, words
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
        assert "Traceback" not in done.stderr
    assert bench("leaderboard", where=tmp_path).returncode == 2


def test_build_lists_papers_it_does_not_know(home: Path) -> None:
    done = bench("store", "build", "runs/small", "--to", "new.duckdb", where=home)
    assert done.returncode == 1
    assert "no paper 'paper_a'" in done.stderr
    assert "0 runs on 0 papers" in done.stdout
