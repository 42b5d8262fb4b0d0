"""The wheel, built and used in an environment that has nothing else of the project."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_ships_the_files_that_are_read_at_run_time(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "data/rubrics/kohler2026.toml" in names
    assert "data/rubrics/printed.toml" in names
    assert "data/leaderboards/demo.toml" in names
    assert "data/registries/analysis.lock" in names
    papers = {name.split("/")[2] for name in names if name.startswith("data/papers/")}
    assert len({paper for paper in papers if "." not in paper}) >= 12
    assert not [name for name in names if name.startswith(("tests/", "runs/", "notebooks/"))]


@pytest.mark.slow
def test_doctor_runs_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "clean"
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, environment], check=True)
    python = environment / "bin" / "python"
    requirements = tmp_path / "pins.txt"
    frozen = subprocess.run(
        [uv, "pip", "freeze", "--python", sys.executable, "--exclude-editable"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    requirements.write_text(frozen)
    subprocess.run(
        [uv, "pip", "install", "-q", "--python", python, "-c", requirements, wheel], check=True
    )
    elsewhere = {k: v for k, v in os.environ.items() if not k.startswith("BLINDBENCH")}
    done = subprocess.run(
        [environment / "bin" / "bench", "doctor"],
        cwd=tmp_path,
        env=elsewhere,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "blindbench" in done.stdout
    # Without an analysis environment no run is possible, and doctor must say so.
    assert "analysis environment" in done.stdout
    assert done.returncode == 1, done.stdout + done.stderr


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv=['bench','--help']\n"
        "from bench.cli.main import run\n"
        "try: run()\nexcept SystemExit: pass\n"
        "names = {'pandas', 'numpy', 'duckdb', 'pydantic', 'rich', 'matplotlib', 'scipy'}\n"
        "heavy = names & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
