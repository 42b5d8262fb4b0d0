"""Executes a plan: skips what is done, runs the rest side by side, writes one record a run.

A run's record is written last and by rename, so a folder without one is a run that was not
finished. What an attempt left behind stays; the next attempt gets a folder of its own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Final, Protocol

from bench.grading import grade_directory, write_grades
from bench.jail.limits import descendants
from bench.runs.claims import Heart, claim, release
from bench.runs.plan import PlannedRun, RunPlan
from bench.runs.state import (
    ATTEMPT_FILE,
    CLAIM_FILE,
    GRADE_FILE,
    RECORD_FILE,
    SPEC_FILE,
    attempt_folder,
    attempts_on_disk,
    interrupted_folder,
    interruptions_on_disk,
    produced_tables,
    read_record,
)
from data.files_atomic import write_atomic
from data.records.files import record_from_json, record_to_json
from data.records.runs import (
    Attempt,
    Isolation,
    RunRecord,
    RunSpec,
    RunStatus,
    Usage,
    run_spec_hash,
)

__all__ = [
    "Event",
    "Happening",
    "Interrupted",
    "Outcome",
    "Perform",
    "Standing",
    "execute",
    "is_gradable",
    "standing",
]

POLL_SECONDS: Final = 0.2
SUPERSEDED: Final = ".superseded"
INTERRUPTED: Final = "interrupted: the process that ran it ended before it did"
NO_MODEL: Final = Usage(calls=0, input_tokens=0, cached_tokens=0, output_tokens=0, cost_usd="0")


class Standing(StrEnum):
    """What is to be done with a planned run."""

    TO_RUN = "to run"
    TO_GRADE = "to grade"
    DONE = "done"


class Event(StrEnum):
    """What happened to a run."""

    STARTED = "started"
    ENDED = "ended"
    GRADED = "graded"
    ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened to a run; `attempt` where it ended."""

    event: Event
    place: str
    attempt: Attempt | None = None


class Interrupted(Exception):
    """The execution was asked to stop while an attempt was under way."""


class Perform(Protocol):
    """Does attempts: builds, runs, collects."""

    def __call__(
        self, run: PlannedRun, folder: Path, number: int, stopping: Callable[[], bool]
    ) -> Attempt:
        """Do one in `folder`, which is empty; a failure of the machine's is its status.

        Raises
        ------
        Interrupted
            When `stopping` says so after the arm's end.
        """
        ...

    def recover(self, folder: Path, number: int) -> Attempt | None:
        """Finish one whose process died; None where the arm had not ended by then."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an execution came to: runs by how they ended, and whether it was stopped before."""

    ran: tuple[RunRecord, ...]
    elsewhere: tuple[str, ...]
    stopped: bool


# --------------------------------------------------------------------------- what is to do


def standing(run: PlannedRun, leaderboard_dir: Path, *, retry_failed: bool = False) -> Standing:
    """What a run still needs, from what lies in its folder.

    Parameters
    ----------
    run : PlannedRun
    leaderboard_dir : Path
    retry_failed : bool
        Whether runs that the machine failed are to be run again.
    """
    run_dir = leaderboard_dir / run.place
    record = read_record(run_dir)
    if record is None or record.spec_hash != run.spec_hash:
        return Standing.TO_RUN
    if retry_failed and record.status in (RunStatus.INFRA_FAILED, RunStatus.REFUSED):
        return Standing.TO_RUN
    if record.gradable and not (run_dir / GRADE_FILE).is_file():
        return Standing.TO_GRADE
    return Standing.DONE


def is_gradable(status: RunStatus) -> bool:
    """Whether a run's outputs are graded.

    A run that came to its own end is, or that a limit ended, whatever it made: who makes nothing
    until the limit is no better off than who gives up. One that the machine failed or that was
    refused never is.
    """
    return status in (RunStatus.FINISHED, RunStatus.TIMED_OUT, RunStatus.LIMIT_REACHED)


def _set_aside(run_dir: Path, run: PlannedRun, leaderboard_dir: Path) -> None:
    """Move a folder that belongs to another spec out of the way, whole."""
    path = run_dir / SPEC_FILE
    if not path.is_file():
        return
    before = run_spec_hash(record_from_json(RunSpec, path.read_bytes(), where=str(path)))
    if before == run.spec_hash:
        return
    kept = leaderboard_dir / SUPERSEDED / run.place / before[:12]
    kept.parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while kept.exists():
        number += 1
        kept = kept.with_name(f"{before[:12]}_{number}")
    run_dir.rename(kept)


def _lay_out(plan: Sequence[PlannedRun], leaderboard_dir: Path) -> None:
    """Write the spec of every run, so that what is planned can be seen."""
    for run in plan:
        run_dir = leaderboard_dir / run.place
        _set_aside(run_dir, run, leaderboard_dir)
        if not (run_dir / SPEC_FILE).is_file():
            run_dir.mkdir(parents=True, exist_ok=True)
            write_atomic(run_dir / SPEC_FILE, record_to_json(run.spec))


# --------------------------------------------------------------------------- one run


def _moment(seconds: float | None = None) -> str:
    now = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)
    return now.isoformat(timespec="milliseconds")


def _move_interrupted(run_dir: Path, folder: Path) -> None:
    number = len(interruptions_on_disk(run_dir)) + 1
    folder.rename(interrupted_folder(run_dir, number))


def _recorded(folder: Path, attempt: Attempt, *, started: str) -> Attempt:
    """Write an ended attempt down, with its times."""
    timed = replace(attempt, started=started, ended=_moment())
    write_atomic(folder / ATTEMPT_FILE, record_to_json(timed))
    return timed


def _close_interruptions(run_dir: Path, last_beat: float | None) -> tuple[Attempt, ...]:
    """Interruptions of a run; their end is the last heartbeat that was seen."""
    return tuple(
        written
        if written is not None and written.status is not RunStatus.RUNNING
        else _closed(run_dir, number, written, last_beat)
        for number, written in interruptions_on_disk(run_dir)
    )


def _closed(
    run_dir: Path, number: int, written: Attempt | None, last_beat: float | None
) -> Attempt:
    folder = interrupted_folder(run_dir, number)
    begun = folder.stat().st_mtime
    if written is not None:
        begun = datetime.fromisoformat(written.started).timestamp()
    ended = max(begun, last_beat or begun)
    closed = Attempt(
        number=number,
        status=RunStatus.INFRA_FAILED,
        started=_moment(begun),
        ended=_moment(ended),
        wall_seconds=ended - begun,
        cause=INTERRUPTED,
        isolation=written.isolation if written else Isolation.NAMESPACES,
    )
    write_atomic(folder / ATTEMPT_FILE, record_to_json(closed))
    return closed


def _ended_unrecorded(run_dir: Path, attempts: Sequence[Attempt]) -> bool:
    """Whether the last attempt came to its end, and its process died before it recorded that.

    Such an attempt was paid for and is not made again.
    """
    record = read_record(run_dir)
    recorded = len(record.attempts) if record else 0
    return len(attempts) > recorded and attempts[-1].status is not RunStatus.INFRA_FAILED


class _Executor:
    """Does single runs; holds what all of them share."""

    def __init__(
        self,
        leaderboard_dir: Path,
        perform: Perform,
        report: Callable[[Happening], None],
        stop: threading.Event,
        retries: int,
        retry_failed: bool,
    ) -> None:
        self._dir = leaderboard_dir
        self._perform = perform
        self._report = report
        self._stop = stop
        self._retries = retries
        self._retry_failed = retry_failed
        self.heart = Heart()

    def do(self, run: PlannedRun) -> RunRecord | None:
        """Run and grade, or only grade; None where another process has the run or it stopped."""
        if self._stop.is_set():
            return None
        run_dir = self._dir / run.place
        path = run_dir / CLAIM_FILE
        beat = path.stat().st_mtime if path.is_file() else None
        if not claim(path):
            self._report(Happening(Event.ELSEWHERE, run.place))
            return None
        try:
            with self.heart.beating(path):
                # Between the plan and the claim another process may have done it.
                todo = standing(run, self._dir, retry_failed=self._retry_failed)
                record = None if todo is Standing.TO_RUN else read_record(run_dir)
                if record is None:
                    record = self._run(run, run_dir, beat)
                if record.gradable and todo is not Standing.DONE:
                    self._grade(run, run_dir, record)
        except Interrupted:
            return None
        finally:
            release(path)
        return record

    def _run(self, run: PlannedRun, run_dir: Path, beat: float | None) -> RunRecord:
        self._report(Happening(Event.STARTED, run.place))
        attempts = self._ended_attempts(run_dir)
        interruptions = _close_interruptions(run_dir, beat)
        if not _ended_unrecorded(run_dir, attempts):
            for _ in range(1 + self._retries):
                attempts.append(self._attempt(run, run_dir, len(attempts) + 1))
                if attempts[-1].status is not RunStatus.INFRA_FAILED:
                    break
        last = attempts[-1]
        slugs = (table.slug for table in run.paper.tables)
        produced = produced_tables(attempt_folder(run_dir, last.number), slugs)
        gradable = is_gradable(last.status)
        record = RunRecord(
            spec_hash=run.spec_hash,
            paper_id=run.paper.id,
            arm=run.spec.arm.name,
            repetition=run.spec.repetition,
            status=last.status,
            gradable=gradable,
            accepted_attempt=last.number if gradable else None,
            attempts=tuple(attempts),
            interruptions=interruptions,
            usage=NO_MODEL if run.spec.arm.model is None else Usage(),
            versions={"blindbench": version("blindbench")},
            produced=produced,
        )
        write_atomic(run_dir / RECORD_FILE, record_to_json(record))
        self._report(Happening(Event.ENDED, run.place, last))
        return record

    def _attempt(self, run: PlannedRun, run_dir: Path, number: int) -> Attempt:
        folder = attempt_folder(run_dir, number)
        folder.mkdir()
        now = _moment()
        begun = Attempt(number, RunStatus.RUNNING, now, now, 0.0, isolation=run.spec.isolation)
        write_atomic(folder / ATTEMPT_FILE, record_to_json(begun))
        try:
            performed = self._perform(run, folder, number, self._stop.is_set)
        except Interrupted:
            self._perform.recover(folder, number)
            _move_interrupted(run_dir, folder)
            _close_interruptions(run_dir, time.time())
            raise
        return _recorded(folder, performed, started=now)

    def _ended_attempts(self, run_dir: Path) -> list[Attempt]:
        """Attempts that came to an end; others are finished, or moved to a folder of their own.

        Attempts are counted without interruptions, so that a run that was interrupted and one
        that was not have the same records.
        """
        ended = []
        for number, written in attempts_on_disk(run_dir):
            attempt = written
            folder = attempt_folder(run_dir, number)
            if attempt is None or attempt.status is RunStatus.RUNNING:
                attempt = self._perform.recover(folder, number)
                if attempt is not None:
                    begun = written.started if written else _moment(folder.stat().st_mtime)
                    attempt = _recorded(folder, attempt, started=begun)
            if attempt is None:
                _move_interrupted(run_dir, folder)
            else:
                ended.append(attempt)
        return ended

    def _grade(self, run: PlannedRun, run_dir: Path, record: RunRecord) -> None:
        assert record.accepted_attempt is not None
        workspace = attempt_folder(run_dir, record.accepted_attempt) / "workspace"
        grades = grade_directory(workspace, run.paper.tables, paper_id=run.paper.id)
        write_grades(run_dir / GRADE_FILE, grades)
        self._report(Happening(Event.GRADED, run.place))


# --------------------------------------------------------------------------- all runs


def _end_jails() -> None:
    """End every process that this one started. A jail's first process takes the rest with it."""
    for pid in descendants(os.getpid()) - {os.getpid()}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def _stopping_on_signals(stop: threading.Event) -> Iterator[None]:
    """Let SIGINT and SIGTERM set `stop`; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, lambda *_: stop.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def execute(
    plan: RunPlan,
    leaderboard_dir: Path,
    perform: Perform,
    *,
    jobs: int,
    report: Callable[[Happening], None],
    retries: int = 0,
    retry_failed: bool = False,
) -> Outcome:
    """Do all that a plan still needs. The caller holds the leaderboard's lock.

    SIGINT and SIGTERM end the jails, leave every run that was under way without a record, and
    give the claims back.

    Parameters
    ----------
    plan : RunPlan
    leaderboard_dir : Path
    perform : Perform
    jobs : int
        Runs at a time.
    report : callable
        Told of everything that happens, from several threads.
    retries : int
        Further attempts after a failure of the machine's.
    retry_failed : bool
        Whether runs that the machine failed before are to be run again.

    Raises
    ------
    UserError, OSError
        When a record or spec in the folder cannot be read, or the folder cannot be written to.
    """
    stop = threading.Event()
    executor = _Executor(leaderboard_dir, perform, report, stop, retries, retry_failed)
    try:
        with _stopping_on_signals(stop):
            _lay_out(plan.runs, leaderboard_dir)
            todo = [
                run
                for run in plan.runs
                if standing(run, leaderboard_dir, retry_failed=retry_failed) is not Standing.DONE
            ]
            with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="run") as pool:
                waiting = {pool.submit(executor.do, run): run.place for run in todo}
                return _gather(waiting, stop)
    finally:
        executor.heart.close()


def _gather(waiting: dict[Future[RunRecord | None], str], stop: threading.Event) -> Outcome:
    """Wait for the runs; once stopping, end the jails until no run is under way any more.

    The first error stops the rest, and is raised when they have ended.
    """
    records: list[RunRecord] = []
    elsewhere: list[str] = []
    error: BaseException | None = None
    left = set(waiting)
    while left:
        done, left = wait(left, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            failed = future.exception()
            if failed is not None:
                error = error or failed
                stop.set()
            elif (record := future.result()) is not None:
                records.append(record)
            elif not stop.is_set():
                elsewhere.append(waiting[future])
        if stop.is_set():
            _end_jails()
    if error is not None:
        raise error
    return Outcome(tuple(records), tuple(elsewhere), stop.is_set())
