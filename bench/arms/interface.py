"""What an arm is: from a paper without its results to files and a command for the jail.

An arm is prepared outside the jail and runs inside. Preparing is a pure function of its
context: the same context gives the same bytes, because the hash of what was prepared is part
of a run's identity. Everything that depends on the paper's data happens inside.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, Literal, Protocol, runtime_checkable

from bench.jail.policy import PYTHON
from data.corpus import PaperFolder
from data.records.errors import UserError
from data.records.methods import Methods
from data.records.runs import Arm
from data.records.tables import Table

__all__ = [
    "OPEN_KINDS",
    "PYTHON",
    "ArmContext",
    "ArmKind",
    "ArmProgram",
    "NothingToRun",
    "Preparation",
    "options_of",
    "preparation_hash",
]

ArmKind = Literal["contestant", "reference", "self_test", "baseline"]

OPEN_KINDS: Final[tuple[ArmKind, ...]] = ("reference", "self_test", "baseline")
"""Kinds that get the paper's folder; a contestant gets only what stands in its workspace."""

Option = str | int | float | bool | tuple[str, ...]
OptionType = type[Option]


class NothingToRun(UserError):
    """An arm has nothing for a paper: the pair is left out of the plan, and the plan says so."""


@dataclass(frozen=True, slots=True)
class ArmContext:
    """What an arm is prepared from.

    Attributes
    ----------
    arm : Arm
        Name, options and methods variant, as the leaderboard gives them.
    paper_id : str
    methods : Methods
    templates : tuple of Table
        Blinded tables, in the paper's order.
    data_files : tuple of str
        Names of the files that the arm finds in ``/workspace/data``.
    seed : int
        The run's own; the only source of randomness.
    base : Path
        Folder that relative paths in the arm's options count from.
    paper_folder : PaperFolder or None
        The paper with everything in it; None for a contestant.
    truth : tuple of Table or None
        Published tables, for a self-test arm; None for every other.
    """

    arm: Arm
    paper_id: str
    methods: Methods
    templates: tuple[Table, ...]
    data_files: tuple[str, ...]
    seed: int = 0
    base: Path = Path()
    paper_folder: PaperFolder | None = None
    truth: tuple[Table, ...] | None = None


@dataclass(frozen=True, slots=True)
class Preparation:
    """What runs in the jail, and what is put beside the paper's own inputs before.

    Attributes
    ----------
    argv : tuple of str
        Command as seen inside; it starts in ``/workspace``. Python is ``PYTHON``.
    files : mapping of str to bytes
        Content by path relative to the workspace (``table_1.py``, ``lib/model.py``).
    environment : mapping of str to str
        Variables besides the jail's own.
    """

    argv: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what could not be run or would lie outside the workspace.

        Raises
        ------
        UserError
            When there is no command, or a file's path leaves the workspace.
        """
        if not self.argv:
            raise UserError("an arm prepared no command to run")
        if isinstance(self.argv, str) or not all(isinstance(word, str) for word in self.argv):
            raise UserError("an arm's command is a tuple of words")
        if any("\0" in word for word in self.argv):
            raise UserError("an arm's command holds a NUL character")
        for name, content in self.files.items():
            if not isinstance(content, bytes):
                raise UserError(
                    f"an arm's file {name!r} must be bytes, not {type(content).__name__}"
                )
            path = PurePosixPath(name)
            if path.is_absolute() or not path.parts or ".." in path.parts:
                raise UserError(f"an arm's file must lie in the workspace, not at {name!r}")


@runtime_checkable
class ArmProgram(Protocol):
    """One kind of arm, registered under `name` in the entry-point group ``blindbench.arms``.

    `kind` says what it is: a contestant; a reference, written by a person; a self-test, which
    alone is given the truth; a baseline. Only contestants and references are ranked.
    """

    @property
    def name(self) -> str:
        """The scaffold's name, as ``scaffold = "..."`` in a leaderboard says it."""
        ...

    @property
    def kind(self) -> ArmKind:
        """What the arm is; it decides what its context holds."""
        ...

    def prepare(self, context: ArmContext) -> Preparation:
        """Files and command for one run.

        Raises
        ------
        NothingToRun
            When the arm has nothing for this paper.
        data.records.errors.UserError
            When an option is unknown or wrong.
        """
        ...


def options_of(arm: Arm, known: Mapping[str, OptionType]) -> dict[str, Option]:
    """Options of an arm, each known and of its type; a whole number is taken for a float.

    Parameters
    ----------
    arm : Arm
    known : mapping of str to type
        Type of every option there is.

    Raises
    ------
    UserError
        Naming the option that is unknown or of another type.
    """
    read: dict[str, Option] = {}
    for name, value in arm.options.items():
        if name not in known:
            offered = ", ".join(sorted(known)) or "it takes none"
            raise UserError(f"arm {arm.name}: unknown option {name!r}; known: {offered}")
        wanted = known[name]
        whole_for_float = wanted is float and isinstance(value, int)
        if isinstance(value, bool) != (wanted is bool) or not (
            isinstance(value, wanted) or whole_for_float
        ):
            raise UserError(f"arm {arm.name}: option {name!r} is {value!r}, not {wanted.__name__}")
        read[name] = float(value) if whole_for_float and isinstance(value, int) else value
    return read


def preparation_hash(preparation: Preparation) -> str:
    """SHA-256 over command, files and environment. Hexadecimal, 64 digits."""
    files = {
        name: hashlib.sha256(content).hexdigest() for name, content in preparation.files.items()
    }
    values = [list(preparation.argv), files, dict(preparation.environment)]
    canonical = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
