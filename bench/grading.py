"""Reads finished workspaces from disk and writes their grades beside them.

The thin shell of `grade`: it opens regular files only, follows no link, reads no more than a
cap, and never writes into a workspace.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from data.files_atomic import write_atomic
from data.records.errors import RecordError, UserError
from data.records.files import record_from_json
from data.records.grades import (
    GradeFile,
    PaperGrade,
    Rubric,
    grade_file_from_json,
    grade_file_to_json,
)
from data.records.runs import RunRecord
from data.records.tables import Table
from extract import blind
from grade.reading import LARGEST_INDEX
from grade.rounding import LARGEST_EXACT_POWER
from grade.rubrics import SHIPPED_RUBRICS, load_rubric, parse_rubric
from grade.workspace import TABLE_SUFFIXES, WorkspaceFile, grade_workspace

__all__ = [
    "LARGEST_FILE",
    "LARGEST_WORKSPACE",
    "StoredRun",
    "fell_short",
    "grade_directory",
    "grade_path_beside",
    "labelled_as_shown",
    "paper_of",
    "published_tables",
    "read_grades",
    "rubrics_named",
    "stored_runs",
    "workspace_files",
    "write_grades",
]

LARGEST_FILE: Final = 32 * 1024**2
"""Bytes of a table file; a larger one is no table."""

LARGEST_WORKSPACE: Final = 512 * 1024**2
"""Bytes of all table files of a workspace together."""

GRADE_FILE: Final = "grade.json"


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run on disk that can be graded."""

    directory: Path
    workspace: Path
    paper_id: str


def rubrics_named(names: Sequence[str]) -> tuple[Rubric, ...]:
    """Rubrics by name, or by the path of a TOML file; without names the shipped ones.

    Raises
    ------
    UserError
        When a name is unknown, a file is missing or holds no rubric, or two have one name.
    """
    rubrics = tuple(_rubric(name) for name in names or SHIPPED_RUBRICS)
    twice = {rubric.name for rubric in rubrics if sum(r.name == rubric.name for r in rubrics) > 1}
    if twice:
        raise UserError(f"two rubrics are named {sorted(twice)[0]!r}: give each its own name")
    return rubrics


def _rubric(name: str) -> Rubric:
    if not name.endswith(".toml"):
        return load_rubric(name)
    try:
        content = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{name}: cannot be read as a rubric: {_cause(error)}") from None
    rubric = parse_rubric(content, where=name)
    if rubric.name in SHIPPED_RUBRICS and rubric != load_rubric(rubric.name):
        raise UserError(
            f"{name}: name: {rubric.name!r} is a shipped rubric with other rules; choose another"
        )
    return rubric


def _cause(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or "no access") if isinstance(error, OSError) else "not UTF-8 text"


def published_tables(paper: Path) -> tuple[Table, ...]:
    """Read the published tables of a paper's folder, in the order of their slugs.

    Parameters
    ----------
    paper : Path
        A folder that holds ``extracted/tables/<slug>.json``.

    Raises
    ------
    UserError
        When the folder, its tables or one of them cannot be read.
    """
    folder = paper / "extracted" / "tables"
    if not paper.is_dir():
        raise UserError(f"{paper}: no such paper folder")
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise UserError(f"{paper}: no tables in extracted/tables; run `bench papers build` first")
    tables = []
    for path in paths:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UserError(f"{path}: {_cause(error)}") from None
        table = record_from_json(Table, content, where=str(path))
        _refuse_impossible_cells(table, path)
        tables.append(table)
    slugs = [table.slug for table in tables]
    for slug in slugs:
        if slugs.count(slug) > 1:
            raise UserError(f"{folder}: two tables have the slug {slug!r}")
    return tuple(tables)


def _refuse_impossible_cells(table: Table, path: Path) -> None:
    keys = set()
    for cell in table.cells:
        place = f"{path}: cell ({cell.row}, {cell.col}, {cell.part})"
        if not all(0 <= index <= LARGEST_INDEX for index in cell.key):
            raise UserError(f"{place}: no position in a table")
        if cell.decimals is not None and not 0 <= cell.decimals <= LARGEST_EXACT_POWER:
            raise UserError(f"{place}: decimals must be 0 to {LARGEST_EXACT_POWER}")
        if cell.key in keys:
            raise UserError(f"{place}: stands twice")
        keys.add(cell.key)


def workspace_files(workspace: Path) -> tuple[WorkspaceFile, ...]:
    """Table files at the top of a workspace, opened without following a link.

    What is no regular file, too large or not readable is there with its problem.

    Raises
    ------
    UserError
        When the workspace is no folder or cannot be listed.
    """
    try:
        paths = sorted(workspace.iterdir())
    except OSError as error:
        raise UserError(f"{workspace}: not a workspace folder: {_cause(error)}") from None
    files = []
    left = LARGEST_WORKSPACE
    for path in paths:
        if not path.name.lower().endswith(TABLE_SUFFIXES):
            continue
        name = path.name.encode("utf-8", "replace").decode("utf-8")
        file = _open_file(path, name, left)
        left -= len(file.content or b"")
        files.append(file)
    return tuple(files)


def _open_file(path: Path, name: str, left: int) -> WorkspaceFile:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        link = error.errno in {errno.ELOOP, errno.EMLINK}
        problem = "a symbolic link, not followed" if link else f"cannot be opened: {_cause(error)}"
        return WorkspaceFile(name, None, problem)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return WorkspaceFile(name, None, "no regular file, not opened")
        if status.st_size > LARGEST_FILE:
            size = f"{status.st_size / 1024**2:.0f} MB"
            return WorkspaceFile(
                name, None, f"too large: {size}, at most {LARGEST_FILE // 1024**2} MB are read"
            )
        if status.st_size > left:
            total = LARGEST_WORKSPACE // 1024**2
            return WorkspaceFile(
                name, None, f"not read: the table files exceed {total} MB together"
            )
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return WorkspaceFile(name, file.read(LARGEST_FILE))
    except OSError as error:
        return WorkspaceFile(name, None, f"cannot be read: {_cause(error)}")
    finally:
        os.close(descriptor)


def grade_directory(
    workspace: Path,
    published: Sequence[Table],
    rubrics: Sequence[Rubric] = (),
    *,
    paper_id: str | None = None,
) -> GradeFile:
    """Grade a workspace on disk under the given rubrics, by default the shipped ones.

    Raises
    ------
    UserError
        When the workspace cannot be listed.
    """
    chosen = tuple(rubrics) or rubrics_named(())
    shown = [labelled_as_shown(table) for table in published]
    return grade_workspace(workspace_files(workspace), shown, chosen, paper_id=paper_id)


def labelled_as_shown(table: Table) -> Table:
    """Published table with the labels of its template.

    A label that holds a result is masked in the template, so that is how a run labels its cells.
    """
    shown = {cell.key: cell for cell in blind(table).cells}
    cells = tuple(
        replace(
            cell,
            row_label=shown[cell.key].row_label,
            col_labels=shown[cell.key].col_labels,
            panel=shown[cell.key].panel,
        )
        for cell in table.cells
    )
    return replace(table, cells=cells)


def fell_short(grades: GradeFile) -> bool:
    """Whether a table had no file, a file could not be read, or cells of it could not be used.

    Cells left empty on purpose are none of it.
    """
    return bool(grades.problems) or any(
        table.problems for paper in grades.papers for table in paper.tables
    )


def grade_path_beside(workspace: Path, out: Path | None) -> Path:
    """Where the grades of a workspace go: beside it, or where `out` says, never into it.

    Raises
    ------
    UserError
        When `out` lies in the workspace, or its folder does not exist.
    """
    inside = workspace.resolve()
    target = inside.parent / GRADE_FILE if out is None else out
    if target.is_dir():
        target = target / GRADE_FILE
    folder = target.parent.resolve()
    if folder == inside or inside in folder.parents:
        raise UserError(
            f"{target}: grades are never written into a workspace; choose another --out"
        )
    if not folder.is_dir():
        raise UserError(f"{target.parent}: no such folder; make it first, or choose another --out")
    return target


def write_grades(path: Path, grades: GradeFile) -> None:
    """Write a grade file, whole or not at all.

    Raises
    ------
    UserError
        When the place cannot be written to.
    """
    try:
        write_atomic(path, grade_file_to_json(grades))
    except OSError as error:
        raise UserError(
            f"{path}: cannot be written: {_cause(error)}; choose another --out"
        ) from None


def read_grades(path: Path) -> GradeFile:
    """Read a grade file.

    Raises
    ------
    UserError
        When it is missing or holds no grades.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {_cause(error)}") from None
    return grade_file_from_json(content, where=str(path))


def stored_runs(path: Path) -> Iterator[StoredRun]:
    """Gradable runs under a folder: a run's own, a leaderboard's, or one of many leaderboards.

    Raises
    ------
    RecordError
        When a run record cannot be read.
    """
    for record_path in sorted(path.glob("**/run.json")):
        if "workspace" in record_path.relative_to(path).parts:
            continue
        try:
            content = record_path.read_bytes()
        except OSError as error:
            raise UserError(f"{record_path}: {_cause(error)}") from None
        record = record_from_json(RunRecord, content, where=str(record_path))
        if not record.gradable or record.accepted_attempt is None:
            continue
        directory = record_path.parent
        workspace = directory / f"attempt_{record.accepted_attempt:02d}" / "workspace"
        if not workspace.is_dir():
            raise RecordError(f"{record_path}: its accepted attempt has no workspace")
        yield StoredRun(directory, workspace, record.paper_id)


def paper_of(grades: GradeFile, rubric: str, where: str) -> PaperGrade:
    """Paper's grade under a rubric.

    Raises
    ------
    UserError
        When the file was not graded under it.
    """
    for paper in grades.papers:
        if paper.rubric == rubric:
            return paper
    known = ", ".join(paper.rubric for paper in grades.papers)
    raise UserError(f"{where}: not graded under {rubric!r}, only under {known}")
