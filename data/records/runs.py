"""Arms, runs and their outcomes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal

__all__ = [
    "Arm",
    "Attempt",
    "Isolation",
    "Limits",
    "PaperFingerprint",
    "RunRecord",
    "RunSpec",
    "RunStatus",
    "Usage",
    "run_spec_hash",
]

RUN_SCHEMA_VERSION: Final = 1


class RunStatus(StrEnum):
    """Where a run stands, or how it ended."""

    PLANNED = "planned"
    CLAIMED = "claimed"
    RUNNING = "running"
    FINISHED = "finished"
    TIMED_OUT = "timed_out"
    LIMIT_REACHED = "limit_reached"
    REFUSED = "refused"
    INFRA_FAILED = "infra_failed"
    INVALID = "invalid"


class Isolation(StrEnum):
    """How well a run was kept from what it must not see."""

    NAMESPACES = "namespaces"
    LANDLOCK = "landlock"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Arm:
    """One contestant: scaffold, model and options.

    `kind` is "contestant", "reference" (human), "self_test" or "baseline": a self-test arm knows
    the truth by a route of its own and stays out of leaderboards unless asked for; a baseline
    stands beside the arms and is not ranked.
    """

    name: str
    scaffold: str
    model: str | None = None
    kind: Literal["contestant", "reference", "self_test", "baseline"] = "contestant"
    provider: str | None = None
    knowledge_cutoff: str | None = None
    methods_variant: Literal["structured", "free_form", "passages"] = "structured"
    named: bool = True
    options: dict[str, str | int | float | bool | tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run; None is no limit. Times in seconds, sizes in bytes."""

    wall_seconds: float = 600.0
    memory_bytes: int | None = 4 * 1024**3
    processes: int | None = 256
    workspace_bytes: int | None = 1024**3
    file_bytes: int | None = 256 * 1024**2


@dataclass(frozen=True, slots=True)
class PaperFingerprint:
    """Hashes of everything of a paper that an arm is given."""

    paper_id: str
    methods: str
    templates: str
    data: str


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One planned run. Its hash leaves out the project's version and the rubric.

    `preparation` is the hash of what the arm puts into the workspace and of its command, so that
    a changed script is another run.
    """

    leaderboard: str
    paper: PaperFingerprint
    arm: Arm
    repetition: int
    seed: int
    limits: Limits = Limits()
    isolation: Isolation = Isolation.NAMESPACES
    preparation: str = ""
    schema_version: int = RUN_SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class Usage:
    """Model use of a run. None is not reported; 0 is none used. Money in US dollars."""

    calls: int | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: str | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a run: when, how it ended, what limit it hit. Times are UTC, ISO 8601."""

    number: int
    status: RunStatus
    started: str
    ended: str
    wall_seconds: float
    exit_code: int | None = None
    signal: int | None = None
    limit_hit: str | None = None
    cause: str | None = None
    isolation: Isolation = Isolation.NAMESPACES


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The outcome of a run, written last and by rename.

    `interruptions` are tries whose process died before they ended: they are no attempts, but
    what they used was used.
    """

    spec_hash: str
    paper_id: str
    arm: str
    repetition: int
    status: RunStatus
    gradable: bool
    accepted_attempt: int | None
    attempts: tuple[Attempt, ...]
    usage: Usage = Usage()
    versions: dict[str, str] = field(default_factory=dict)
    produced: tuple[str, ...] = ()
    interruptions: tuple[Attempt, ...] = ()
    schema_version: int = RUN_SCHEMA_VERSION


def run_spec_hash(spec: RunSpec) -> str:
    """SHA-256 of a spec's content, without the leaderboard's name. Hexadecimal, 64 digits."""
    values: dict[str, Any] = asdict(spec)
    del values["leaderboard"]
    canonical = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
