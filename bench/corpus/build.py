"""`extracted/` from a paper's written sources: planned as bytes, then written, or nothing is.

The same sources give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

from bench.corpus.numerals import (
    PublishedNumbers,
    method_leaks,
    method_numerals,
    parameter_leaks,
    texts_of,
)
from bench.corpus.sources import (
    Layout,
    SourceError,
    TruthRow,
    printed_number,
    published_tables,
    read_layout,
    read_truth,
    unread_keys,
)
from data.corpus import PaperFolder
from data.files_atomic import write_atomic
from data.records.errors import UserError
from data.records.files import record_from_json, record_to_json, record_to_values
from data.records.methods import Methods, TableMethods
from data.records.papers import Paper
from data.records.tables import Table

__all__ = ["SOURCES", "build_paper", "outdated_files", "planned_build", "write_build"]

SOURCES: Final = ("paper.toml", "truth.csv", "layout.toml", "methods.json")
_FOLDERS: Final = ("tables", "templates")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
EXPRESSION_FIELDS: Final = (
    "regressors", "controls", "fixed_effects", "endogenous", "instruments", "second_part",
)  # fmt: skip


def _read_source(root: Path, name: str) -> bytes:
    try:
        return (root / name).read_bytes()
    except FileNotFoundError:
        raise UserError(f"{root}: no {name}; a paper is built from {', '.join(SOURCES)}") from None


def _json(values: Any) -> bytes:
    text = json.dumps(values, ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode() + b"\n"


# --------------------------------------------------------------------------- what must hold


def _unknown_fields(
    paper_toml: bytes, paper: Paper, methods_json: bytes, methods: Methods
) -> list[str]:
    import tomllib

    given = (
        ("paper.toml", tomllib.loads(paper_toml.decode()), record_to_values(paper)),
        ("methods.json", json.loads(methods_json), record_to_values(methods)),
    )
    return [
        f"{name}: unknown key {key}"
        for name, values, read in given
        for key in unread_keys(values, read)
    ]


def _dangling_table(table: TableMethods, built: Table, samples: set[str]) -> Iterator[str]:
    where = f"methods.json: {table.slug}"
    models = {model.id for model in table.models}
    for model in table.models:
        if model.sample not in samples:
            yield f"{where}: model {model.id}: no sample {model.sample!r}"
    for column in table.columns:
        if column.model not in models:
            yield f"{where}: column {column.col}: no model {column.model!r}"
        if not 0 <= column.col < built.n_columns:
            yield f"{where}: no column {column.col}; the layout has {built.n_columns}"
    for row in table.rows:
        if not 0 <= row.row < len(built.rows):
            yield f"{where}: no row {row.row}; the layout has {len(built.rows)}"
        if row.model is not None and row.model not in models:
            yield f"{where}: row {row.row}: no model {row.model!r}"
        if row.col is not None and not 0 <= row.col < built.n_columns:
            yield f"{where}: row {row.row}: no column {row.col}"


def _repeated(kind: str, names: Iterable[str]) -> Iterator[str]:
    for name, times in sorted(Counter(names).items()):
        if times > 1:
            yield f"{kind} {name!r} stands there {times} times"


def _file_problems(paper: Paper) -> Iterator[str]:
    """Name what is wrong with the data files that paper.toml lists."""
    from bench.corpus.export import SOURCES as ORIGINS

    for file in paper.files:
        where = f"paper.toml: file {file.name!r}"
        kind, _, rest = file.source.partition(":")
        for path in (file.name, rest):
            place = PurePosixPath(path)
            if place.is_absolute() or ".." in place.parts or not place.parts:
                yield f"{where}: {path!r} must be a path below the data folder"
        if kind not in ORIGINS:
            yield f"{where}: source {file.source!r} is of no known kind: {', '.join(ORIGINS)}"
        if file.sha256 is not None and not _SHA256.fullmatch(file.sha256):
            yield f"{where}: sha256 is no hash; `bench papers export --record` writes it"


def _all_repeated(paper: Paper, methods: Methods) -> Iterator[str]:
    """Name what must be unique and is not."""
    yield from _repeated("paper.toml: table", (table.slug for table in paper.tables))
    yield from _repeated("paper.toml: file", (file.name for file in paper.files))
    yield from _repeated("methods.json: file", (file.name for file in methods.files))
    yield from _repeated("methods.json: sample", (sample.id for sample in methods.samples))
    yield from _repeated("methods.json: table", (table.slug for table in methods.tables))
    for table in methods.tables:
        models = (model.id for model in table.models)
        yield from _repeated(f"methods.json: {table.slug}: model", models)


def _expressions(methods: Methods) -> Iterator[tuple[str, str]]:
    """Every expression of the methods with its place."""
    for derivation in methods.derived:
        yield f"derived {derivation.name}", derivation.definition
    for sample in methods.samples:
        yield f"sample {sample.id}: filter", sample.filter or ""
    for table in methods.tables:
        for model in table.models:
            place = f"{table.slug}: model {model.id}"
            yield f"{place}: outcome", model.outcome or ""
            yield f"{place}: weights", model.weights or ""
            for name in EXPRESSION_FIELDS:
                for text in getattr(model, name):
                    yield f"{place}: {name}", text


def _unreadable(methods: Methods) -> Iterator[str]:
    """Name the expressions that are outside the methods' language, or name what is not there."""
    from bench.arms.formal.expressions import ExpressionError, compiled_expression

    described = {variable.name for file in methods.files for variable in file.variables}
    variables = described | {derivation.name for derivation in methods.derived}
    parameters = methods.parameters or {}
    for name, value in parameters.items():
        if not math.isfinite(value):
            yield f"methods.json: parameters.{name}: {value} is no finite number"
    for place, text in _expressions(methods):
        if not text:
            continue
        try:
            compiled_expression(text, variables=variables, parameters=parameters)
        except ExpressionError as error:
            yield f"methods.json: {place}: {error}"


def _dangling(paper: Paper, methods: Methods, tables: Sequence[Table]) -> Iterator[str]:
    """Name the references inside the methods that lead nowhere."""
    if methods.paper_id != paper.id:
        yield f"methods.json: paper_id {methods.paper_id!r} is not {paper.id!r}"
    files = {file.name for file in paper.files}
    described = {file.name for file in methods.files}
    for name in sorted(described ^ files):
        side = "methods.json" if name in described else "paper.toml"
        other = "paper.toml" if name in described else "methods.json"
        yield f"{side} names the data file {name!r}, {other} does not"
    for sample in methods.samples:
        for name in sample.files:
            if name not in described:
                yield f"methods.json: sample {sample.id}: no data file {name!r}"
    by_slug = {table.slug: table for table in tables}
    stated = {table.slug for table in methods.tables}
    for slug in sorted(set(by_slug) ^ stated):
        side = "layout.toml" if slug in by_slug else "methods.json"
        other = "methods.json" if slug in by_slug else "layout.toml"
        yield f"{side} names the table {slug!r}, {other} does not"
    samples = {sample.id for sample in methods.samples}
    for table in methods.tables:
        if table.slug in by_slug:
            yield from _dangling_table(table, by_slug[table.slug], samples)


def _numbers(truth: Sequence[TruthRow]) -> PublishedNumbers:
    numbers = [printed_number(row.published) for row in truth]
    return PublishedNumbers.of((one.value, one.decimals) for one in numbers if one is not None)


def _layout_texts(layout: Layout) -> Iterator[tuple[str, str]]:
    for table in layout.tables:
        yield f"{table.slug}.caption", table.caption
        yield f"{table.slug}.notes", table.notes


def _leaks(
    paper: Paper, layout: Layout, methods: Methods, published: PublishedNumbers
) -> Iterator[str]:
    values = record_to_values(methods)
    parameters = methods.parameters or {}
    yield from method_numerals(methods)
    yield from method_leaks(texts_of(values), published, where="methods.json")
    yield from parameter_leaks(parameters, published, paper.shared_parameters)
    yield from method_leaks(_layout_texts(layout), published, where="layout.toml")


# --------------------------------------------------------------------------- what is made


def _data_manifest(paper: Paper, methods: Methods) -> bytes:
    described = {file.name: file for file in methods.files}
    files = [
        {
            "name": file.name,
            "source": file.source,
            "licence": file.licence,
            "sha256": file.sha256,
            "columns": list(file.columns),
            "description": described[file.name].description,
            "variables": [variable.name for variable in described[file.name].variables],
        }
        for file in paper.files
    ]
    return _json({"schema_version": 1, "paper_id": paper.id, "files": files})


def _table_checks(table: Table, methods: TableMethods, layout: str) -> dict[str, Any]:
    graded = table.graded_cells
    rows = {row.row for row in methods.rows}
    with_model = {column.col for column in methods.columns} | (
        set(range(table.n_columns)) if any(row.model for row in methods.rows) else set()
    )
    kinds = Counter(str(cell.truth_kind) for cell in graded)
    return {
        "slug": table.slug,
        "layout": layout,
        "rows": len(table.rows),
        "columns": table.n_columns,
        "graded_cells": len(graded),
        "input_cells": len(table.cells) - len(graded),
        "by_metric": dict(sorted(Counter(str(cell.metric) for cell in graded).items())),
        "by_truth_kind": dict(sorted(kinds.items())),
        "stars_known": sum(cell.stars is not None for cell in graded),
        "linked_cells": sum(cell.of is not None for cell in graded),
        "standard_errors_without_estimate": sum(
            cell.of is None and cell.metric == "standard_error" for cell in graded
        ),
        "cells_without_methods": sum(
            cell.row not in rows or cell.col not in with_model for cell in graded
        ),
    }


def _checks(
    sources: Mapping[str, bytes],
    layout: Layout,
    methods: Methods,
    tables: Sequence[Table],
    published: PublishedNumbers,
) -> bytes:
    by_slug = {table.slug: table for table in methods.tables}
    layouts = {table.slug: table.layout for table in layout.tables}
    return _json(
        {
            "schema_version": 1,
            "sources": {
                name: hashlib.sha256(content).hexdigest() for name, content in sources.items()
            },
            "published_numbers": sum(len(found) for found in published.by_decimals.values()),
            "parameters_checked": len(methods.parameters or {}),
            "texts_checked": sum(1 for _ in texts_of(record_to_values(methods))),
            "leaks": [],
            "tables": [
                _table_checks(table, by_slug[table.slug], layouts[table.slug]) for table in tables
            ],
        },
    )


def planned_build(root: Path) -> dict[str, bytes]:
    """Files of `extracted/`, by path inside it, from the sources in `root`. Writes nothing.

    Raises
    ------
    SourceError
        One line for each thing that does not fit, and each leak.
    UserError
        When a source is missing or is no such record.
    """
    from extract import blind, result_leaks

    sources = {name: _read_source(root, name) for name in SOURCES}
    paper = PaperFolder(root).paper
    layout = read_layout(sources["layout.toml"], where="layout.toml")
    truth = read_truth(sources["truth.csv"], where="truth.csv")
    methods = record_from_json(Methods, sources["methods.json"], where="methods.json")
    tables, problems = published_tables(paper, layout, truth)
    problems = (
        *_unknown_fields(sources["paper.toml"], paper, sources["methods.json"], methods),
        *problems,
        *_file_problems(paper),
        *_all_repeated(paper, methods),
        *_dangling(paper, methods, tables),
        *_unreadable(methods),
    )
    published = _numbers(truth)
    leaks = list(_leaks(paper, layout, methods, published))
    if problems or leaks:
        raise SourceError([*problems, *leaks])
    planned: dict[str, bytes] = {
        "methodology_summary.json": record_to_json(methods),
        "data_manifest.json": _data_manifest(paper, methods),
        "checks.json": _checks(sources, layout, methods, tables, published),
    }
    for table in tables:
        template = blind(table)
        leaks += [f"template of {table.slug}: {leak}" for leak in result_leaks(template, table)]
        planned[f"tables/{table.slug}.json"] = record_to_json(table)
        planned[f"templates/{table.slug}.json"] = record_to_json(template)
    if leaks:
        raise SourceError(leaks)
    return planned


# --------------------------------------------------------------------------- doing


def _present_files(extracted: Path) -> set[str]:
    found = {path.name for path in extracted.glob("*.json")}
    for folder in _FOLDERS:
        found |= {f"{folder}/{path.name}" for path in (extracted / folder).glob("*.json")}
    return found


def outdated_files(root: Path, planned: Mapping[str, bytes]) -> tuple[str, ...]:
    """Paths inside `extracted/` that differ from the plan, are missing, or are no part of it."""
    extracted = root / "extracted"
    present = _present_files(extracted)
    different = {
        name
        for name, content in planned.items()
        if name not in present or (extracted / name).read_bytes() != content
    }
    stale = {name for name in present - set(planned) if name.startswith(_FOLDERS)}
    return tuple(sorted(different | stale))


def write_build(root: Path, planned: Mapping[str, bytes]) -> tuple[str, ...]:
    """Write what differs from the plan, remove tables that are no part of it; names of both."""
    extracted = root / "extracted"
    for folder in _FOLDERS:
        (extracted / folder).mkdir(parents=True, exist_ok=True)
    changed = outdated_files(root, planned)
    for name in changed:
        if name in planned:
            write_atomic(extracted / name, planned[name])
        else:
            (extracted / name).unlink()
    return changed


def build_paper(root: Path) -> tuple[str, ...]:
    """Build one paper; the files that changed.

    Raises
    ------
    SourceError, UserError
        As `planned_build`; nothing is written then.
    """
    return write_build(root, planned_build(root))
