"""Which file of a finished workspace answers which table, and the grades of all."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from data.records.grades import GradeFile, Reason, Rubric
from data.records.tables import Table
from grade.alignment import normal_label
from grade.papers import grade_paper
from grade.reading import (
    ReproducedTable,
    parse_json,
    read_cells,
    read_reproduced,
    shown,
    unread_table,
)

__all__ = [
    "TABLE_SUFFIXES",
    "WorkspaceFile",
    "WorkspaceTables",
    "grade_workspace",
    "read_workspace",
    "slug_of_name",
]

TABLE_SUFFIXES: Final = (".json", ".csv")


@dataclass(frozen=True, slots=True)
class WorkspaceFile:
    """A file at the top of a workspace: its content, or why it was not opened."""

    name: str
    content: bytes | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class WorkspaceTables:
    """Tables by slug, the files that they came from, and problems that belong to no table."""

    tables: dict[str, ReproducedTable]
    sources: dict[str, str]
    problems: tuple[str, ...]


@dataclass(slots=True)
class _Claims:
    """What the files say they are, while they are read."""

    tables: dict[str, list[ReproducedTable]] = field(default_factory=lambda: defaultdict(list))
    wrong: dict[str, ReproducedTable] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def slug_of_name(name: str, slugs: Iterable[str]) -> str | None:
    """Slug that a file's name stands for, whatever its case and separators; None for none."""
    stem = re.sub(r"[^a-z0-9]+", "_", name.rsplit(".", 1)[0].lower()).strip("_")
    return next((slug for slug in slugs if slug == stem), None)


def read_workspace(files: Sequence[WorkspaceFile], published: Sequence[Table]) -> WorkspaceTables:
    """Read every file that answers a table.

    The id inside a JSON file rules, then its slug, then the file's name; a CSV goes by name. A
    table that two files claim is ambiguous. No table is dropped: one whose file cannot be read
    is there with `failure`; one that no file claims is absent, and graded as missing.

    Parameters
    ----------
    files : sequence of WorkspaceFile
        Those at the top of the workspace; others than ``.json`` and ``.csv`` are passed over.
    published : sequence of Table
        The paper's tables (or their templates).
    """
    by_slug = {table.slug: table for table in published}
    claims = _Claims()
    for file in sorted(files, key=lambda entry: entry.name):
        if file.name.lower().endswith(TABLE_SUFFIXES):
            _claim(claims, file, by_slug)
    tables: dict[str, ReproducedTable] = {}
    for slug, candidates in claims.tables.items():
        if len(candidates) == 1:
            tables[slug] = candidates[0]
            continue
        names = " and ".join(shown(table.name) for table in candidates)
        tables[slug] = unread_table(
            candidates[0].name, Reason.AMBIGUOUS, f"{slug} is claimed by {names}; none is graded"
        )
    for slug, table in claims.wrong.items():
        tables.setdefault(slug, table)
    sources = {slug: table.name for slug, table in tables.items()}
    return WorkspaceTables(tables, sources, tuple(claims.problems))


def _claim(claims: _Claims, file: WorkspaceFile, by_slug: dict[str, Table]) -> None:
    named = slug_of_name(file.name, by_slug)
    if file.content is None:
        problem = file.problem or "not read"
        if named is not None:
            claims.tables[named].append(unread_table(file.name, Reason.UNREADABLE, problem))
        elif not file.name.lower().endswith(".csv"):
            claims.problems.append(f"{shown(file.name)}: {problem}; by its name it is no table")
        return
    if file.name.lower().endswith(".csv"):
        if named is not None:
            table = read_reproduced(file.content, name=file.name, template=by_slug[named])
            claims.tables[named].append(table)
        return
    try:
        values = parse_json(file.content)
    except ValueError as error:
        if named is not None:
            claims.tables[named].append(unread_table(file.name, Reason.UNREADABLE, str(error)))
        else:
            claims.problems.append(f"{shown(file.name)}: {error}; by its name it is no table")
        return
    _claim_by_content(claims, file.name, values, named, by_slug)


def _claim_by_content(
    claims: _Claims, name: str, values: Any, named: str | None, by_slug: dict[str, Table]
) -> None:
    is_table = isinstance(values, dict) and "cells" in values
    inside = _word_inside(values) if is_table else None
    if inside is None:
        if named is not None:
            table = read_cells(values, name=name, template=by_slug[named])
            claims.tables[named].append(table)
        elif is_table:
            claims.problems.append(f"{shown(name)}: says nowhere which table it is; not graded")
        return
    slug = _slug_of_word(inside, by_slug)
    if slug is not None:
        claims.tables[slug].append(read_cells(values, name=name, template=by_slug[slug]))
        if named not in {None, slug}:
            claims.problems.append(
                f"{shown(name)}: says inside that it is {shown(inside)}; graded as {slug}"
            )
        return
    problem = f"says inside that it is {shown(inside)}, which is no table of this paper"
    if named is not None:
        claims.wrong[named] = unread_table(name, Reason.WRONG_TABLE, problem)
    else:
        claims.problems.append(f"{shown(name)}: {problem}; not graded")


def _word_inside(values: dict[str, Any]) -> str | None:
    """Name of a table that a file gives inside: its id, else its slug."""
    for key in ("id", "slug"):
        word = values.get(key)
        if word is None or (isinstance(word, str) and not word.strip()):
            continue
        return word if isinstance(word, str) else repr(word)
    return None


def _slug_of_word(word: str, by_slug: dict[str, Table]) -> str | None:
    """Slug of the table with that id or slug."""
    normal = normal_label(word)
    for slug, table in by_slug.items():
        if normal == normal_label(table.id):
            return slug
    return normal if normal in by_slug else None


def grade_workspace(
    files: Sequence[WorkspaceFile],
    published: Sequence[Table],
    rubrics: Sequence[Rubric],
    *,
    paper_id: str | None = None,
) -> GradeFile:
    """Grade a finished workspace under each rubric.

    Parameters
    ----------
    files : sequence of WorkspaceFile
    published : sequence of Table
        Every published table of the paper.
    rubrics : sequence of Rubric
    paper_id : str, optional
        Taken from the tables when not given.
    """
    read = read_workspace(files, published)
    papers = tuple(grade_paper(published, read.tables, rubric) for rubric in rubrics)
    known = paper_id or next((table.paper_id for table in published if table.paper_id), None)
    return GradeFile(
        paper_id=known, papers=papers, problems=read.problems, sources=dict(read.sources)
    )
