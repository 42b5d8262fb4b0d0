"""`bench doctor`: what is here, what is missing, how to get it; and the self-test's verdict."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.doctor import Check
from bench.self_test import EXPECTED, _check

BENCH = Path(sys.executable).with_name("bench")


def doctor(*words: str, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BENCH, "doctor", *words],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200", **more},
    )


def test_all_is_well_here() -> None:
    done = doctor()
    assert done.returncode == 0, done.stdout
    assert "a trial jail was built and held" in done.stdout
    assert "This installation can run and grade." in done.stdout


def test_what_is_missing_is_named_with_its_remedy(tmp_path: Path) -> None:
    done = doctor(BLINDBENCH_ANALYSIS=str(tmp_path), BLINDBENCH_DATA=str(tmp_path))
    assert done.returncode != 0
    assert "make setup" in done.stdout
    assert "bench papers export" in done.stdout
    assert "0 of 15 bundled papers" in done.stdout
    assert "can run and grade" not in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_broken_analysis_environment_is_no_environment(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    done = doctor(BLINDBENCH_ANALYSIS=str(tmp_path))
    assert done.returncode != 0
    assert "make it anew" in done.stdout


def test_another_distributions_package_is_noticed(tmp_path: Path) -> None:
    """A top-level `grade` of somebody else, earlier on the path."""
    (tmp_path / "grade").mkdir()
    (tmp_path / "grade" / "__init__.py").write_text("")
    done = doctor(PYTHONPATH=str(tmp_path))
    assert done.returncode != 0
    assert "another distribution holds grade" in done.stdout
    assert "environment of its own" in done.stdout


def test_the_self_test_trusts_this_installation() -> None:
    done = doctor("--self-test")
    assert done.returncode == 0, done.stdout
    for arm in EXPECTED:
        assert f"arm {arm}" in done.stdout
    assert "as it must be" in done.stdout


@pytest.mark.parametrize(
    ("arm", "outcomes", "state"),
    [
        ("oracle", [("finished", "A"), ("finished", "A")], "ok"),
        ("oracle", [("finished", "A"), ("finished", "B")], "missing"),
        ("oracle", [("infra_failed", "")], "missing"),
        ("null", [("finished", "A")], "missing"),
        ("sleeper", [("finished", "A")], "missing"),
        ("sleeper", [("timed_out", "C")], "ok"),
    ],
)
def test_the_self_tests_verdict(arm: str, outcomes: list[tuple[str, str]], state: str) -> None:
    found = _check(arm, outcomes)
    assert isinstance(found, Check)
    assert found.state == state


def test_data_and_environment_are_found_beside_the_makefile(tmp_path: Path) -> None:
    """In the folder where `make` put them no variable is needed."""
    root = Path(__file__).parents[2]
    for name, variable in ((".corpus", "BLINDBENCH_DATA"), (".analysis", "BLINDBENCH_ANALYSIS")):
        (tmp_path / name).symlink_to(os.environ.get(variable, str(root / name)))
    without = {
        name: value
        for name, value in os.environ.items()
        if name not in ("BLINDBENCH_DATA", "BLINDBENCH_ANALYSIS")
    }
    argv = [BENCH, "run", "demo", "--dry-run", "--only-arm", "null"]
    done = subprocess.run(
        argv, capture_output=True, text=True, timeout=60, cwd=tmp_path, env=without
    )
    assert done.returncode == 0, done.stderr
    assert "15 papers" in done.stdout
