"""The self-test: arms of known outcome through the real pipeline, in a folder of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from bench.doctor import Check
from bench.environment import analysis_environment
from bench.grading import read_grades
from bench.jail.sandbox import open_sandbox
from bench.runs.execute import Happening, execute
from bench.runs.leaderboard_file import parse_leaderboard
from bench.runs.perform import SandboxedAttempt
from bench.runs.plan import plan_runs
from data.corpus import data_directory
from data.records.files import record_from_json
from data.records.grades import GradeFile
from data.records.runs import Isolation, RunRecord

__all__ = ["EXPECTED", "LEADERBOARD", "outcome_of", "self_test_checks"]

LEADERBOARD: Final = """
name = "self_test"
papers = ["wooldridge_card_2010", "stock_watson_cigarettes_2007"]
[limits]
wall_seconds = 60
[[arms]]
name = "oracle"
[[arms]]
name = "sign_flip"
[[arms]]
name = "times_ten"
[[arms]]
name = "null"
[[arms]]
name = "crasher"
[[arms]]
name = "sleeper"
limits = { wall_seconds = 3 }
[[arms]]
name = "liar"
"""

EXPECTED: Final[Mapping[str, tuple[str, str]]] = {
    "oracle": ("finished", "A"),
    "sign_flip": ("finished", "E"),
    "times_ten": ("finished", "A"),
    "null": ("finished", "F"),
    "crasher": ("finished", ""),
    "sleeper": ("timed_out", ""),
    "liar": ("finished", "F"),
}
"""Status and paper grade (kohler2026, rounded, all_f); empty where only half is answered."""


def outcome_of(record: RunRecord, grades: GradeFile | None) -> tuple[str, str]:
    """Status of a run and its letter under the primary measure; empty where it has none."""
    if grades is None:
        return record.status.value, ""
    grade = grades.paper("kohler2026").roll_up("rounded", "all_f", "all").grade
    return record.status.value, "" if grade is None else str(grade)


def self_test_checks(data: Path | None = None) -> tuple[Check, ...]:
    """Run the self-test arms on two papers; one check an arm. Takes under a minute."""
    board = parse_leaderboard(LEADERBOARD, base=Path(), where="self-test")
    plan = plan_runs(board, lambda paper: data_directory(paper, data))
    sandbox = open_sandbox(Isolation.NAMESPACES, analysis=analysis_environment())
    with tempfile.TemporaryDirectory(prefix="blindbench-self-test-") as name:
        folder = Path(name)
        execute(plan, folder, SandboxedAttempt(sandbox), jobs=2, report=_unheard)
        seen: dict[str, list[tuple[str, str]]] = {}
        for run in plan.runs:
            seen.setdefault(run.spec.arm.name, []).append(_outcome(folder / run.place))
    return tuple(_check(arm, outcomes) for arm, outcomes in seen.items())


def _unheard(happening: Happening) -> None:
    """Take note of nothing: the self-test shows its outcome at the end."""


def _outcome(run_dir: Path) -> tuple[str, str]:
    record = record_from_json(RunRecord, (run_dir / "run.json").read_bytes(), where=str(run_dir))
    path = run_dir / "grade.json"
    if not path.is_file():
        return outcome_of(record, None)
    return outcome_of(record, read_grades(path))


def _check(arm: str, outcomes: Iterable[tuple[str, str]]) -> Check:
    status, letter = EXPECTED[arm]
    found = list(outcomes)
    good = all(one == status and (not letter or got == letter) for one, got in found)
    shown = ", ".join(f"{one} {got}" for one, got in found)
    wanted = f"{status} {letter}".strip()
    if good:
        return Check(f"arm {arm}", "ok", f"{shown}, as it must be")
    return Check(
        f"arm {arm}", "missing", f"{shown}; it must be {wanted}", "grades of this machine are wrong"
    )
