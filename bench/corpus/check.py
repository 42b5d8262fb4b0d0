"""Everything that must hold of a paper, and whether its package reproduces each cell."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from bench.corpus.build import outdated_files, planned_build
from bench.corpus.canonical import canonical_hash, read_frame
from bench.corpus.sources import TruthRow, read_truth
from bench.corpus.twins import (
    CellReproduction,
    Match,
    compared_cells,
    read_reproduction,
    reproduction_csv,
    run_twins,
)
from data.corpus import PaperFolder, data_directory
from data.files_atomic import write_atomic
from data.records.errors import UserError

__all__ = ["PaperCheck", "check_paper", "find_rscript"]

_REPRODUCTION: Final = Path("package") / "reproduction.csv"

_COUNTED: Final = (
    ("cells_without_methods", "cells are no row and column of the methods"),
    ("standard_errors_without_estimate", "standard errors belong to no estimate (`of`, `below`)"),
)
TwinState = Literal["executed", "recorded", "not executed", "no twin"]


@dataclass(frozen=True, slots=True)
class PaperCheck:
    """What was found of one paper.

    Attributes
    ----------
    paper_id : str
    problems : tuple of str
        One line each; none when the paper is sound.
    notes : tuple of str
        What could not be checked, and why.
    coverage : dict of str to int
        Counts of cells: graded, linked, without methods, by truth kind.
    twins : str
        Whether the package's R code was executed now, or only recorded results are shown.
    cells : tuple of CellReproduction
    """

    paper_id: str
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    coverage: dict[str, int] = field(default_factory=dict)
    twins: TwinState = "not executed"
    cells: tuple[CellReproduction, ...] = ()

    @property
    def matches(self) -> Counter[str]:
        """Number of cells by how they match."""
        return Counter(cell.match.value for cell in self.cells)


def find_rscript() -> str | None:
    """Path of Rscript, None where R is not installed."""
    return shutil.which("Rscript")


def _record_problems(folder: PaperFolder) -> Iterator[str]:
    try:
        planned = planned_build(folder.root)
    except UserError as error:
        yield from str(error).splitlines()
        return
    for name in outdated_files(folder.root, planned):
        yield f"extracted/{name} is not what the sources give: run `bench papers build {folder.id}`"


def _package_problems(folder: PaperFolder) -> Iterator[str]:
    package = folder.root / "package"
    if package.is_dir() and not (package / "README.md").is_file():
        yield "package/README.md is missing"
    suffixes = {path.suffix for path in folder.package_code}
    wanted = {"R": ".R", "Stata": ".do", "Python": ".py"}
    for language in folder.paper.code_languages:
        if language in wanted and wanted[language] not in suffixes:
            yield f"package/code holds no {language} code ({wanted[language]})"
    slugs = {table.slug for table in folder.paper.tables}
    for slug in folder.human_scripts:
        if slug not in slugs:
            yield f"human/{slug}.py belongs to no table"


def _record_notes(folder: PaperFolder) -> Iterator[str]:
    """Say what a build lets pass and an author would want to know."""
    for table in json.loads(folder.extracted("checks.json"))["tables"]:
        for name, meaning in _COUNTED:
            if table[name]:
                yield f"{table['slug']}: {table[name]} {meaning}"


def _coverage(folder: PaperFolder) -> dict[str, int]:
    cells = [cell for table in folder.tables for cell in table.graded_cells]
    return {
        "tables": len(folder.tables),
        "cells": len(cells),
        "seen": sum(cell.truth_kind == "seen" for cell in cells),
        "recalled": sum(cell.truth_kind == "recalled" for cell in cells),
        "linked": sum(cell.of is not None for cell in cells),
    }


def _data_problems(folder: PaperFolder, data_dir: Path) -> Iterator[str]:
    described = {file.name: file for file in folder.methods.files} if folder.is_built else {}
    for file, path in zip(folder.paper.files, folder.data_files(data_dir), strict=True):
        frame = read_frame(path)
        if file.sha256 is None:
            yield f"{file.name}: paper.toml has no hash: run `bench papers export --record`"
        elif canonical_hash(frame) != file.sha256:
            yield f"{file.name}: holds other values than those whose hash paper.toml records"
        known = set(frame.columns)
        for variable in described[file.name].variables if file.name in described else ():
            if variable.name not in known:
                yield f"{file.name}: has no variable {variable.name!r}, which the methods describe"


def _recorded(folder: PaperFolder) -> tuple[CellReproduction, ...] | None:
    path = folder.root / _REPRODUCTION
    if not path.is_file():
        return None
    return read_reproduction(path.read_bytes(), where=str(_REPRODUCTION))


def _record_differences(
    recorded: Sequence[CellReproduction], now: Sequence[CellReproduction]
) -> Iterator[str]:
    before = {one.cell: one for one in recorded}
    for one in now:
        old = before.pop(one.cell, None)
        name = " / ".join(one.cell)
        if old is None:
            yield f"{_REPRODUCTION}: lacks {name}"
        elif (old.match, old.published) != (one.match, one.published):
            yield f"{_REPRODUCTION}: {name} was {old.match}, is {one.match}"
    for cell in before:
        yield f"{_REPRODUCTION}: {' / '.join(cell)} is no published cell"


def _twins(
    folder: PaperFolder,
    truth: Sequence[TruthRow],
    data_dir: Path | None,
    rscript: str | None,
    write: bool,
    limit: float,
) -> tuple[TwinState, tuple[CellReproduction, ...], list[str], list[str]]:
    recorded = _recorded(folder)
    if not any(path.suffix == ".R" for path in folder.package_code):
        return "no twin", (), [], []
    if rscript is None or data_dir is None:
        if recorded is None:
            return "not executed", (), [], []
        missing = {(r.table, r.row, r.column, r.metric.value) for r in truth}
        missing -= {one.cell for one in recorded}
        lacking = [f"{_REPRODUCTION}: lacks {' / '.join(cell)}" for cell in sorted(missing)]
        return "recorded", recorded, lacking, []
    run = run_twins(folder, truth, data_dir, rscript=rscript, limit=limit)
    cells = compared_cells(truth, run, folder.paper.rounding)
    problems = list(run.problems)
    if write and not problems:
        write_atomic(folder.root / _REPRODUCTION, reproduction_csv(cells))
    elif recorded is None:
        problems.append(f"no {_REPRODUCTION}: write it with --write")
    else:
        problems += _record_differences(recorded, cells)
    notes = [f"the package also gives {name}, which is not published" for name in run.extra]
    return "executed", cells, problems, notes


def check_paper(
    folder: PaperFolder,
    *,
    data: Path | None = None,
    rscript: str | None = None,
    write: bool = False,
    limit: float = 300.0,
) -> PaperCheck:
    """Check one paper.

    Parameters
    ----------
    folder : PaperFolder
    data : Path, optional
        Folder with one data folder a paper; where it lacks this one, the data and the twins are
        not checked, and a note says so.
    rscript : str, optional
        Program that runs the R twins; None does not run them.
    write : bool
        Record what the twins gave in `package/reproduction.csv`.
    limit : float
        Seconds for each twin.
    """
    problems: list[str] = []
    notes: list[str] = []
    try:
        problems += _record_problems(folder)
        problems += _package_problems(folder)
        coverage = _coverage(folder) if folder.is_built else {}
        notes += _record_notes(folder) if folder.is_built else ()
        content = (folder.root / "truth.csv").read_bytes()
        truth = read_truth(content, where="truth.csv")
    except UserError as error:
        lines = [line for line in str(error).splitlines() if line not in problems]
        return PaperCheck(folder.id, (*problems, *lines))
    data_dir: Path | None = None
    try:
        data_dir = data_directory(folder.id, data)
        problems += _data_problems(folder, data_dir)
    except UserError as error:
        if data_dir is None:
            notes.append(f"data and package: {error}")
        else:
            problems.append(str(error))
            data_dir = None
    state, cells, wrong, extra = _twins(folder, truth, data_dir, rscript, write, limit)
    if not cells:
        cells = tuple(
            CellReproduction(
                (row.table, row.row, row.column, row.metric.value),
                row.published,
                None,
                Match.NOT_PRODUCED,
                "",
            )
            for row in truth
        )
    return PaperCheck(folder.id, (*problems, *wrong), (*notes, *extra), coverage, state, cells)
