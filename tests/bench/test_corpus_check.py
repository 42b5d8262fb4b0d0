"""Checks, and the R twins: matching, running, limits, records."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from bench.cli.papers import app
from bench.corpus.build import build_paper
from bench.corpus.check import check_paper, find_rscript
from bench.corpus.export import export_paper
from bench.corpus.twins import Match, match_of, read_reproduction, reproduction_csv
from data.corpus import PaperFolder, open_paper
from data.records.errors import UserError


def _load(name: str) -> ModuleType:
    path = Path(__file__).parents[1] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


made = _load("made_papers")


@pytest.mark.parametrize(
    ("value", "published", "rounding", "match"),
    [
        (1.245, "1.25", "half_away", Match.EXACT),
        (1.2449, "1.25", "half_away", Match.WITHIN_2_PERCENT),
        (1.255, "1.25", "half_away", Match.EXACT),
        (1.2749, "1.25", "half_away", Match.WITHIN_2_PERCENT),
        (1.2751, "1.25", "half_away", Match.OFF),
        (-1.25, "1.25", "half_away", Match.OFF),
        (-0.31, "-.31", "half_away", Match.EXACT),
        (64.3389, "64.33", "truncate", Match.EXACT),
        (64.3399, "64.33", "truncate", Match.EXACT),
        (64.3400, "64.33", "truncate", Match.WITHIN_2_PERCENT),
        (64.3289, "64.33", "truncate", Match.WITHIN_2_PERCENT),
        (-3.4299, "-3.42", "truncate", Match.EXACT),
        (-3.4101, "-3.42", "truncate", Match.WITHIN_2_PERCENT),
        (0.0004, "<0.001", "half_away", Match.EXACT),
        (0.001, "<0.001", "half_away", Match.WITHIN_2_PERCENT),
        (0.004, "<0.001", "half_away", Match.OFF),
        (0.004, "0.00", "half_away", Match.EXACT),
        (0.006, "0.00", "half_away", Match.OFF),
        (1234.0, "1,234", "half_away", Match.EXACT),
        (None, "1", "half_away", Match.NOT_PRODUCED),
        (float("nan"), "1", "half_away", Match.NOT_PRODUCED),
        (float("inf"), "1", "half_away", Match.OFF),
    ],
)
def test_match_at_printed_precision(value, published, rounding, match) -> None:  # type: ignore[no-untyped-def]
    assert match_of(value, published, rounding) is match


@pytest.fixture
def paper(tmp_path: Path) -> PaperFolder:
    root = made.write_paper(tmp_path)
    folder = open_paper(root)
    export_paper(folder, tmp_path / "data")
    toml = (root / "paper.toml").read_text()
    from bench.corpus.export import with_recorded_hash

    (file,) = export_paper(folder, tmp_path / "data")
    (root / "paper.toml").write_text(with_recorded_hash(toml, "points.csv", file.sha256))
    build_paper(root)
    return open_paper(root)


def test_a_sound_paper_has_no_problem(paper: PaperFolder, tmp_path: Path) -> None:
    done = check_paper(paper, data=tmp_path / "data")
    assert done.problems == ()
    assert done.coverage == {"tables": 1, "cells": 5, "seen": 4, "recalled": 1, "linked": 2}
    assert done.twins == "no twin"
    assert len(done.cells) == 5


def test_without_data_the_check_says_so(paper: PaperFolder, tmp_path: Path) -> None:
    done = check_paper(paper, data=tmp_path / "nowhere")
    assert done.problems == ()
    assert "no data for paper made" in done.notes[0]


def _break_extracted(root: Path, data: Path) -> None:
    (root / "extracted" / "tables" / "t1.json").write_text("{}")


def _break_truth(root: Path, data: Path) -> None:
    path = root / "truth.csv"
    path.write_text(path.read_text().replace("2.75", "2.76"))


def _break_data(root: Path, data: Path) -> None:
    path = data / "made" / "points.csv"
    path.write_text(path.read_text().replace("4.5", "4.6"))


def _remove_variable(root: Path, data: Path) -> None:
    (data / "made" / "points.csv").write_text("x,z\n1,2\n")


def _remove_readme(root: Path, data: Path) -> None:
    (root / "package" / "README.md").unlink()


def _stray_human(root: Path, data: Path) -> None:
    (root / "human").mkdir()
    (root / "human" / "t9.py").write_text("")


def _claim_stata(root: Path, data: Path) -> None:
    path = root / "paper.toml"
    path.write_text(path.read_text().replace("year", 'code_languages = ["Stata"]\nyear', 1))
    build_paper(root)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_break_truth, "extracted/tables/t1.json is not what the sources give"),
        (_break_data, "holds other values"),
        (_remove_variable, "has no variable 'y'"),
        (_remove_readme, "package/README.md is missing"),
        (_stray_human, "human/t9.py belongs to no table"),
        (_claim_stata, "holds no Stata code"),
    ],
)
def test_each_damage_is_found(paper: PaperFolder, tmp_path: Path, damage, said: str) -> None:  # type: ignore[no-untyped-def]
    damage(paper.root, tmp_path / "data")
    done = check_paper(open_paper(paper.root), data=tmp_path / "data")
    assert any(said in line for line in done.problems), done.problems


def test_a_broken_extracted_file_is_a_problem_not_a_traceback(
    paper: PaperFolder, tmp_path: Path
) -> None:
    _break_extracted(paper.root, tmp_path)
    done = check_paper(open_paper(paper.root), data=tmp_path / "data")
    assert any("is not what the sources give" in line for line in done.problems)


def test_reproduction_record_reads_back(tmp_path: Path, paper: PaperFolder) -> None:
    cells = check_paper(paper, data=tmp_path / "data").cells
    content = reproduction_csv(cells)
    assert read_reproduction(content, where="x") == cells
    with pytest.raises(UserError, match="no column match"):
        read_reproduction(content.replace(b"match", b"other"), where="x")


# --------------------------------------------------------------------------- real R

needs_r = pytest.mark.skipif(find_rscript() is None, reason="Rscript is not installed")

TWIN = """\
arguments <- commandArgs(trailingOnly = TRUE)
d <- read.csv(file.path(arguments[1], "points.csv"))
stopifnot(Sys.getenv("SECRET") == "")
out <- data.frame(table = "t1", row = c("x", "x", "x", "N"), column = c("(1)", "(1)", "(2)", "(1)"),
  metric = c("coefficient", "standard_error", "coefficient", "n_obs"),
  value = c(-1.2512, 0.3155, NA, 1200 + nrow(d)))
write.csv(out, arguments[2], row.names = FALSE)
"""


def _with_twin(paper: PaperFolder, code: str, name: str = "t1.R") -> PaperFolder:
    (paper.root / "package" / "code" / name).write_text(code)
    return open_paper(paper.root)


@needs_r
def test_twins_run_and_are_recorded(
    paper: PaperFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "seen")
    folder = _with_twin(paper, TWIN)
    first = check_paper(folder, data=tmp_path / "data", rscript="Rscript", write=True)
    assert first.problems == ()
    assert first.twins == "executed"
    assert {cell.cell[1:]: cell.match for cell in first.cells} == {
        ("x", "(1)", "coefficient"): Match.EXACT,
        ("x", "(1)", "standard_error"): Match.WITHIN_2_PERCENT,
        ("x", "(2)", "coefficient"): Match.NOT_PRODUCED,
        ("x", "(2)", "standard_error"): Match.NOT_PRODUCED,
        ("N", "(1)", "n_obs"): Match.OFF,
    }
    written = (folder.root / "package" / "reproduction.csv").read_bytes()
    again = check_paper(folder, data=tmp_path / "data", rscript="Rscript", write=True)
    assert again.problems == ()
    assert (folder.root / "package" / "reproduction.csv").read_bytes() == written
    shown = check_paper(folder, data=tmp_path / "data")
    assert (shown.twins, shown.matches) == ("recorded", first.matches)


@needs_r
def test_a_record_that_no_longer_holds_is_a_problem(paper: PaperFolder, tmp_path: Path) -> None:
    folder = _with_twin(paper, TWIN)
    check_paper(folder, data=tmp_path / "data", rscript="Rscript", write=True)
    changed = _with_twin(paper, TWIN.replace("-1.2512", "-1.9"))
    done = check_paper(changed, data=tmp_path / "data", rscript="Rscript")
    assert [line for line in done.problems if "was exact, is off" in line]


@needs_r
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("stop('no such thing')", "no such thing"),
        ("invisible(1)", "wrote no"),
        (TWIN.replace("value =", "number ="), "has no column value"),
        (TWIN.replace('"(1)", "(2)", "(1)"', '"(1)", "(1)", "(1)"'), "twice"),
    ],
)
def test_a_twin_that_fails_is_named(
    paper: PaperFolder, tmp_path: Path, code: str, said: str
) -> None:
    folder = _with_twin(paper, code)
    done = check_paper(folder, data=tmp_path / "data", rscript="Rscript", write=True)
    assert any("t1.R" in line and said in line for line in done.problems), done.problems
    assert not (folder.root / "package" / "reproduction.csv").exists()


@needs_r
def test_a_twin_past_its_limit_is_ended_with_its_children(
    paper: PaperFolder, tmp_path: Path
) -> None:
    mark = tmp_path / "alive"
    child = f"while true; do date +%s%N > {mark}; sleep 0.1; done"
    folder = _with_twin(paper, f"system('{child}', wait = FALSE)\nSys.sleep(60)\n")
    started = time.monotonic()
    done = check_paper(folder, data=tmp_path / "data", rscript="Rscript", limit=5.0)
    assert time.monotonic() - started < 30
    assert any("not done after 5 seconds" in line for line in done.problems)
    last = mark.read_text()
    time.sleep(0.5)
    assert mark.read_text() == last


@needs_r
def test_twins_find_a_csv_copy_of_any_format(tmp_path: Path) -> None:
    root = made.write_paper(tmp_path)
    toml = (
        (root / "paper.toml").read_text().replace('name = "points.csv"', 'name = "points.parquet"')
    )
    (root / "paper.toml").write_text(toml)
    methods = (root / "methods.json").read_text().replace("points.csv", "points.parquet")
    (root / "methods.json").write_text(methods)
    build_paper(root)
    folder = _with_twin(open_paper(root), TWIN)
    export_paper(folder, tmp_path / "data")
    done = check_paper(folder, data=tmp_path / "data", rscript="Rscript", write=True)
    assert done.matches["exact"] == 1
    assert not (tmp_path / "data" / "made" / "points.csv").exists()


def test_command_exits_one_on_a_problem_and_lists_cells_as_csv(
    paper: PaperFolder, tmp_path: Path
) -> None:
    runner = CliRunner()
    data = ["--data", str(tmp_path / "data")]
    fine = runner.invoke(app, ["check", str(paper.root), "--csv", *data])
    assert fine.exit_code == 0
    assert len(fine.stdout.splitlines()) == 6
    _break_truth(paper.root, tmp_path)
    wrong = runner.invoke(app, ["check", str(paper.root), *data])
    assert wrong.exit_code == 1
    assert "bench: made: extracted/" in wrong.stderr


def test_asking_for_r_without_r_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    done = CliRunner().invoke(app, ["check", "stock_watson_caschools_2007", "--rscript"])
    assert isinstance(done.exception, UserError)


@needs_r
@pytest.mark.slow
def test_the_pattern_paper_is_reproduced_by_its_package(tmp_path: Path) -> None:
    """Also run by hand here, apart from the check, so that the record cannot be its own proof."""
    folder = open_paper("stock_watson_caschools_2007")
    export_paper(folder, tmp_path)
    out = tmp_path / "out.csv"
    script = folder.root / "package" / "code" / "table_8_3.R"
    rscript = shutil.which("Rscript")
    assert rscript is not None
    subprocess.run([rscript, script, tmp_path / folder.id, out], check=True, capture_output=True)
    lines = out.read_text().splitlines()
    slope = next(
        line for line in lines if '"Student-teacher ratio (STR)","(1)","coefficient"' in line
    )
    assert abs(float(slope.split(",")[-1]) - -0.998309) < 1e-6
    done = check_paper(folder, data=tmp_path, rscript=rscript)
    assert done.problems == ()
    assert done.matches == {"exact": 110, "within_2pct": 7}
