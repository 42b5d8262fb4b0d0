"""Leaderboard files: which papers, which arms, how often, within which limits.

A file is TOML::

    name = "demo"
    papers = "all"              # or a list of ids and folders
    repetitions = 1
    seed = 1

    [limits]
    wall_seconds = 600

    [[arms]]
    name = "oracle"
    scaffold = "oracle"         # the name where left out
    options = { k = 2 }
    limits = { wall_seconds = 5 }   # for this arm, over the leaderboard's own
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal

from data.corpus import PaperFolder, bundled_papers, open_paper
from data.records.errors import UserError
from data.records.files import record_from_values, record_to_values
from data.records.runs import Isolation, Limits

__all__ = ["ArmEntry", "Leaderboard", "find_leaderboard", "parse_leaderboard"]

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
MOST_REPETITIONS: Final = 1000
LARGEST_LIMIT: Final = 2**60
STORE_BASELINES: Final = ("zero", "all_positive", "shuffled")
"""Rows that the store adds to every leaderboard; an arm of such a name would be taken for one."""


@dataclass(frozen=True, slots=True)
class ArmEntry:
    """One arm as a leaderboard's file names it; the fields are those of `Arm`."""

    name: str
    scaffold: str | None = None
    model: str | None = None
    provider: str | None = None
    knowledge_cutoff: str | None = None
    methods_variant: Literal["structured", "free_form", "passages"] = "structured"
    named: bool = True
    options: dict[str, str | int | float | bool | tuple[str, ...]] = field(default_factory=dict)
    limits: dict[str, float | int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    arms: tuple[ArmEntry, ...]
    papers: Literal["all"] | tuple[str, ...] = "all"
    repetitions: int = 1
    seed: int = 1
    isolation: Isolation = Isolation.NAMESPACES
    infrastructure_retries: int = 0
    limits: dict[str, float | int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A leaderboard as it is to be run.

    Attributes
    ----------
    name : str
        Also the folder of its runs.
    papers : tuple of PaperFolder
    arms : tuple of ArmEntry
    repetitions : int
    seed : int
        Repetition r runs with `seed` + r - 1.
    limits : Limits
    isolation : Isolation
    infrastructure_retries : int
        How often a run is tried again after a failure of the machine's.
    base : Path
        Folder that relative paths count from.
    text : str
        The file's own text.
    """

    name: str
    papers: tuple[PaperFolder, ...]
    arms: tuple[ArmEntry, ...]
    repetitions: int
    seed: int
    limits: Limits
    isolation: Isolation
    infrastructure_retries: int
    base: Path
    text: str

    def limits_of(self, arm: ArmEntry) -> Limits:
        """Limits of an arm: its own over the leaderboard's."""
        return _limits(arm.limits, self.limits, f"arm {arm.name}: limits")


def find_leaderboard(path_or_name: str) -> tuple[str, Path]:
    """Text of a leaderboard's file and the folder that it stands in.

    Parameters
    ----------
    path_or_name : str
        A TOML file, or the name of a leaderboard that ships with this package.

    Raises
    ------
    UserError
        When there is neither, or it cannot be read.
    """
    path = Path(path_or_name).expanduser()
    shipped = Path(str(resources.files("data"))) / "leaderboards"
    if not path.is_file() and path.name == path_or_name.removesuffix(".toml"):
        path = shipped / f"{path_or_name.removesuffix('.toml')}.toml"
    try:
        return path.read_text(encoding="utf-8"), path.parent.resolve()
    except FileNotFoundError:
        known = ", ".join(sorted(one.stem for one in shipped.glob("*.toml")))
        raise UserError(
            f"no leaderboard {path_or_name!r}: neither a TOML file nor one of: {known}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as a leaderboard: {error}") from None


def parse_leaderboard(text: str, *, base: Path, where: str) -> Leaderboard:
    """Leaderboard from the text of its file.

    Raises
    ------
    UserError
        Naming the field that is wrong, the arm that stands twice or the paper that is not there.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{where}: not valid TOML: {error}") from None
    _refuse_unknown(values, _File, where)
    listed = values.get("arms", [])
    if not isinstance(listed, list) or not all(isinstance(arm, dict) for arm in listed):
        raise UserError(f"{where}: arms are [[arms]] tables")
    for number, arm in enumerate(listed):
        _refuse_unknown(arm, ArmEntry, f"{where}: arms.{number}")
    file = record_from_values(_File, values, where=where)
    _check_names(file, where)
    return Leaderboard(
        name=file.name,
        papers=_papers(file.papers, base, where),
        arms=file.arms,
        repetitions=file.repetitions,
        seed=file.seed,
        limits=_limits(file.limits, Limits(), f"{where}: limits"),
        isolation=file.isolation,
        infrastructure_retries=file.infrastructure_retries,
        base=base,
        text=text,
    )


def _refuse_unknown(values: Any, kind: type[Any], where: str) -> None:
    known = kind.__dataclass_fields__
    for name in values if isinstance(values, dict) else ():
        if name not in known:
            raise UserError(f"{where}: unknown field {name!r}; known: {', '.join(known)}")


def _check_names(file: _File, where: str) -> None:
    names = [arm.name for arm in file.arms]
    for name in (file.name, *names):
        if not NAME.fullmatch(name):
            raise UserError(
                f"{where}: {name!r} names a folder: use letters, digits, '_', '-' and '.'"
            )
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{where}: two arms are named {name!r}")
        if name in STORE_BASELINES:
            raise UserError(
                f"{where}: {name!r} is a baseline that stands in every leaderboard by itself; "
                "give the arm another name"
            )
    if not names:
        raise UserError(f"{where}: no [[arms]]: nothing to run")
    if not 1 <= file.repetitions <= MOST_REPETITIONS or not 0 <= file.infrastructure_retries <= 10:
        raise UserError(
            f"{where}: repetitions are from 1 to {MOST_REPETITIONS}, retries from 0 to 10"
        )


def _papers(
    named: Literal["all"] | Sequence[str], base: Path, where: str
) -> tuple[PaperFolder, ...]:
    if named == "all":
        return bundled_papers()
    found = tuple(_paper(name, base) for name in named)
    ids = [folder.id for folder in found]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise UserError(f"{where}: paper {twice[0]!r} is named twice")
    if not found:
        raise UserError(f"{where}: no papers")
    return found


def _paper(name: str, base: Path) -> PaperFolder:
    """Folder relative to the file where there is one, else what `open_paper` finds."""
    beside = base / Path(name).expanduser()
    return open_paper(beside if (beside / "paper.toml").is_file() else name)


def _limits(values: dict[str, float | int | None], under: Limits, where: str) -> Limits:
    _refuse_unknown(values, Limits, where)
    merged = record_from_values(Limits, {**record_to_values(under), **values}, where=where)
    for name, value in values.items():
        if value is not None and not 0 < value < LARGEST_LIMIT:
            raise UserError(f"{where}: {name} is {value}, not above 0 and below {LARGEST_LIMIT}")
    return replace(merged, wall_seconds=float(merged.wall_seconds))
