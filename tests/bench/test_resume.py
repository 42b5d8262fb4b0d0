"""`bench run`, killed with SIGKILL at random moments and resumed, equals an undisturbed run.

The real command in real processes and real jails. Moments are drawn, by a fixed seed, over the
time that an undisturbed run takes on this machine.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

BENCH = Path(sys.executable).with_name("bench")
BOARD = """
name = "board"
papers = ["wooldridge_card_2010", "stock_watson_cigarettes_2007"]
seed = 3
[limits]
wall_seconds = 60
[[arms]]
name = "formal"
[[arms]]
name = "oracle"
[[arms]]
name = "noise"
[[arms]]
name = "crasher"
[[arms]]
name = "null"
[[arms]]
name = "sleeper"
limits = { wall_seconds = 2 }
"""
# Columns that tell when or how long, and what lists the interruptions themselves.
TIMES = {"started", "ended", "wall_seconds", "created", "built"}
LEFT_OUT = {"interruptions", "meta"}


@dataclass(frozen=True)
class Board:
    """A leaderboard file and the folder that its runs go to."""

    file: Path
    runs: Path
    temporary: Path

    @property
    def folder(self) -> Path:
        return self.runs / "board"

    def environment(self) -> dict[str, str]:
        return {**os.environ, "TMPDIR": str(self.temporary)}

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        argv = [str(BENCH), *words]
        return subprocess.Popen(
            argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.environment()
        )

    def run(self) -> None:
        self.finish("run", str(self.file), "--to", str(self.runs), "--jobs", "2")

    def resume(self) -> None:
        self.finish("resume", str(self.folder), "--jobs", "2")

    def finish(self, *words: str) -> None:
        child = self.start(*words)
        _, said = child.communicate(timeout=300)
        assert child.returncode == 0, said.decode()


def made_board(folder: Path) -> Board:
    board = Board(folder / "board.toml", folder / "runs", folder / "tmp")
    board.temporary.mkdir()
    board.file.write_text(BOARD)
    return board


def store_rows(board: Board) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of the leaderboard's store, times left out."""
    board.finish("store", "build", str(board.folder))
    found: dict[str, list[tuple[Any, ...]]] = {}
    with duckdb.connect(str(board.folder / "store.duckdb"), read_only=True) as store:
        columns = store.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " SEMI JOIN duckdb_tables() USING (table_name) ORDER BY ordinal_position"
        ).fetchall()
        for table in sorted({name for name, _ in columns} - LEFT_OUT):
            kept = ", ".join(
                f'"{one}"' for name, one in columns if name == table and one not in TIMES
            )
            query = f'SELECT {kept} FROM main."{table}" ORDER BY ALL'
            found[table] = store.execute(query).fetchall()
    return found


def records(board: Board) -> dict[str, bytes]:
    """Content of every run's record by its place."""
    return {
        path.parent.relative_to(board.folder).as_posix(): path.read_bytes()
        for path in board.folder.glob("*/*/*/run.json")
    }


def stages_left(board: Board) -> list[Path]:
    return list(board.temporary.glob("stage-*"))


@dataclass(frozen=True)
class Undisturbed:
    """What a run from start to end came to, and how long it took."""

    rows: dict[str, list[tuple[Any, ...]]]
    seconds: float


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    board = made_board(tmp_path_factory.mktemp("undisturbed"))
    board.run()
    # Again for the time: the first one also scanned the jail for published tables.
    second = made_board(tmp_path_factory.mktemp("second"))
    started = time.monotonic()
    second.run()
    seconds = time.monotonic() - started
    rows = store_rows(board)
    assert rows == store_rows(second)
    assert len(rows["attempts"]) == 12
    assert rows["cell_grades"]
    assert rows["artifacts"]
    return Undisturbed(rows, seconds)


def processes_of(board: Board) -> Iterator[int]:
    """Processes that have a file of the leaderboard's stages open or as working directory."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue
        if str(board.temporary).encode() in words:
            yield int(folder.name)


@pytest.mark.parametrize("number", range(10))
def test_killed_once_and_resumed(tmp_path: Path, undisturbed: Undisturbed, number: int) -> None:
    moment = random.Random(f"moment {number}").uniform(0.02, 0.98) * undisturbed.seconds
    board = made_board(tmp_path)
    child = board.start("run", str(board.file), "--to", str(board.runs), "--jobs", "2")
    time.sleep(moment)
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=30)
    before = records(board)
    # A kill before the folder was made leaves nothing to resume: the same command is run again.
    if (board.folder / "origin.json").is_file():
        board.resume()
    else:
        board.run()
    after = records(board)
    assert {place: after[place] for place in before} == before, "a finished run was repeated"
    assert store_rows(board) == undisturbed.rows
    assert not list(processes_of(board))
    assert stages_left(board) == []


def test_killed_ten_times_in_a_row(tmp_path: Path, undisturbed: Undisturbed) -> None:
    draw = random.Random("in a row")
    board = made_board(tmp_path)
    words = ["run", str(board.file), "--to", str(board.runs), "--jobs", "2"]
    for _ in range(10):
        child = board.start(*words)
        time.sleep(draw.uniform(0.3, 0.6) * undisturbed.seconds)
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=30)
    board.run()
    assert store_rows(board) == undisturbed.rows
    assert stages_left(board) == []


def test_stopped_and_resumed(tmp_path: Path, undisturbed: Undisturbed) -> None:
    board = made_board(tmp_path)
    child = board.start("run", str(board.file), "--to", str(board.runs), "--jobs", "2")
    while not list(board.folder.glob("*/*/*/attempt_01/attempt.json")):
        time.sleep(0.02)
        assert child.poll() is None
    stopped = subprocess.run(
        [BENCH, "stop", str(board.folder)], capture_output=True, env=board.environment(), timeout=60
    )
    assert stopped.returncode == 0, stopped.stderr
    child.communicate(timeout=30)
    assert child.returncode == 1
    assert not list(board.folder.glob("*/*/*/claim"))
    assert stages_left(board) == []
    again = subprocess.run(
        [BENCH, "stop", str(board.folder)], capture_output=True, env=board.environment(), timeout=60
    )
    assert again.returncode == 2
    board.resume()
    assert store_rows(board) == undisturbed.rows


def test_an_ended_attempt_is_not_made_again(tmp_path: Path, undisturbed: Undisturbed) -> None:
    """Killed between the arm's end and the record: the outputs are taken from where they are."""
    board = made_board(tmp_path)
    board.run()
    for place, content in records(board).items():
        run_dir = board.folder / place
        ended = json.loads((run_dir / "attempt_01" / "attempt.json").read_bytes())
        assert ended == json.loads(content)["attempts"][0]
        (run_dir / "run.json").unlink()
        (run_dir / "grade.json").unlink(missing_ok=True)
    board.resume()
    assert not list(board.folder.glob("*/*/*/attempt_02"))
    assert not list(board.folder.glob("*/*/*/interrupted_*"))
    assert store_rows(board) == undisturbed.rows
