"""What a stage needs from outside, as protocols; `bench` builds the real ones.

`Sandbox` runs a command where only declared paths exist. Its contract: the command sees
nothing that `Command.binds` and the sandbox's own analysis environment do not name; the
environment is exactly `Command.environment`; when the wall limit passes, the whole process
tree is ended; output goes to files, so a child that keeps a pipe open cannot block.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from data.records.runs import Isolation, Limits

__all__ = ["Bind", "Command", "Completed", "Sandbox"]


@dataclass(frozen=True, slots=True)
class Bind:
    """A host path and where it appears inside."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A command to run: argument list as seen inside, what is mounted, limits.

    `stdout` and `stderr` are host files that are written outside every bind.
    """

    argv: tuple[str, ...]
    binds: tuple[Bind, ...]
    stdout: Path
    stderr: Path
    environment: dict[str, str] = field(default_factory=dict)
    directory: str = "/workspace"
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended. `limit_hit` is one of wall, memory, workspace, or None."""

    exit_code: int | None
    signal: int | None
    wall_seconds: float
    isolation: Isolation
    limit_hit: str | None = None
    cause: str | None = None


class Sandbox(Protocol):
    """Runs commands in isolation."""

    @property
    def isolation(self) -> Isolation:
        """The level that this sandbox gives."""
        ...

    def run(self, command: Command) -> Completed:
        """Run to the end or to a limit.

        Raises
        ------
        data.records.errors.UserError
            When there is no such command inside.
        data.records.errors.InfrastructureError
            When nothing could be started at all.
        """
        ...
