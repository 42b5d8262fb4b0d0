"""What lies on disk of a run: its spec, attempts, record; whether it is done, running, dead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.runs.claims import claimant, is_stale
from data.records.errors import UserError
from data.records.files import record_from_json
from data.records.runs import Attempt, RunRecord, RunSpec, RunStatus

__all__ = [
    "ATTEMPT_FILE",
    "CLAIM_FILE",
    "GRADE_FILE",
    "RECORD_FILE",
    "SPEC_FILE",
    "RunState",
    "attempt_folder",
    "attempts_on_disk",
    "interrupted_folder",
    "interruptions_on_disk",
    "produced_tables",
    "read_record",
    "run_states",
]

SPEC_FILE: Final = "spec.json"
RECORD_FILE: Final = "run.json"
GRADE_FILE: Final = "grade.json"
CLAIM_FILE: Final = "claim"
ATTEMPT_FILE: Final = "attempt.json"
TABLE_SUFFIXES: Final = (".json", ".csv")


def attempt_folder(run_dir: Path, number: int) -> Path:
    """Folder of an attempt, counted from 1."""
    return run_dir / f"attempt_{number:02d}"


def interrupted_folder(run_dir: Path, number: int) -> Path:
    """Folder of an attempt whose process ended before it did, counted from 1 on its own."""
    return run_dir / f"interrupted_{number:02d}"


def _written(run_dir: Path, kind: str) -> tuple[tuple[int, Attempt | None], ...]:
    found = []
    for folder in sorted(run_dir.glob(f"{kind}_*")):
        number = int(folder.name.removeprefix(f"{kind}_"))
        path = folder / ATTEMPT_FILE
        content = path.read_bytes() if path.is_file() else None
        written = None if content is None else record_from_json(Attempt, content, where=str(path))
        found.append((number, written))
    return tuple(found)


def attempts_on_disk(run_dir: Path) -> tuple[tuple[int, Attempt | None], ...]:
    """Numbers of the attempts in a run's folder, each with what was written of it.

    None where an attempt ended before it was written down at all.

    Raises
    ------
    RecordError
        When an attempt's file holds no attempt.
    """
    return _written(run_dir, "attempt")


def interruptions_on_disk(run_dir: Path) -> tuple[tuple[int, Attempt | None], ...]:
    """Interrupted attempts in a run's folder, as `attempts_on_disk` gives the others.

    Raises
    ------
    RecordError
        When an attempt's file holds no attempt.
    """
    return _written(run_dir, "interrupted")


def produced_tables(attempt: Path, slugs: Iterable[str]) -> tuple[str, ...]:
    """Names of the collected files that are tables of the paper, in order.

    Parameters
    ----------
    attempt : Path
        Folder of the attempt.
    slugs : iterable of str
        Of the paper's tables.
    """
    workspace = attempt / "workspace"
    names = (f"{slug}{suffix}" for slug in slugs for suffix in TABLE_SUFFIXES)
    return tuple(sorted(name for name in names if (workspace / name).is_file()))


def read_record(run_dir: Path) -> RunRecord | None:
    """Outcome of a run; None where it has none yet.

    Raises
    ------
    RecordError
        When `run.json` holds no run.
    """
    path = run_dir / RECORD_FILE
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    return record_from_json(RunRecord, content, where=str(path))


@dataclass(frozen=True, slots=True)
class RunState:
    """Where one run stands.

    `interrupted` is a run whose process is gone before the run had an outcome.
    """

    spec: RunSpec
    status: RunStatus
    interrupted: bool = False
    graded: bool = False
    record: RunRecord | None = None

    @property
    def attempt(self) -> Attempt | None:
        """The accepted attempt, else the last."""
        if self.record is None or not self.record.attempts:
            return None
        accepted = [
            one for one in self.record.attempts if one.number == self.record.accepted_attempt
        ]
        return (accepted or [self.record.attempts[-1]])[0]


def run_states(leaderboard_dir: Path) -> Iterator[RunState]:
    """State of every run in a leaderboard's folder, in order of paper, arm, repetition.

    Raises
    ------
    UserError
        When the folder holds no runs, or a record in it cannot be read.
    """
    specs = sorted(leaderboard_dir.glob(f"*/*/*/{SPEC_FILE}"))
    if not specs:
        raise UserError(f"{leaderboard_dir}: no runs in it; `bench run` makes them")
    for path in specs:
        spec = record_from_json(RunSpec, path.read_bytes(), where=str(path))
        yield _state(path.parent, spec)


def _state(run_dir: Path, spec: RunSpec) -> RunState:
    record = read_record(run_dir)
    if record is not None:
        graded = (run_dir / GRADE_FILE).is_file()
        return RunState(spec, record.status, graded=graded, record=record)
    path = run_dir / CLAIM_FILE
    try:
        beat = path.stat().st_mtime
    except FileNotFoundError:
        begun = bool(attempts_on_disk(run_dir) or interruptions_on_disk(run_dir))
        return RunState(spec, RunStatus.PLANNED, interrupted=begun)
    begun = any(
        written is None or written.status is RunStatus.RUNNING
        for _, written in attempts_on_disk(run_dir)
    )
    status = RunStatus.RUNNING if begun else RunStatus.CLAIMED
    return RunState(spec, status, interrupted=is_stale(claimant(path), beat))
