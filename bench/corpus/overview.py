"""What a paper holds, as one row of a listing, and its methods as a text to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from data.corpus import PaperFolder
from data.records.methods import Methods, ModelSpec, TableMethods

__all__ = ["methods_lines", "paper_row"]


def paper_row(folder: PaperFolder) -> dict[str, Any]:
    """One row of `bench papers list`: counts are null where the paper was not built."""
    paper = folder.paper
    row: dict[str, Any] = {
        "id": folder.id,
        "year": paper.year,
        "discipline": paper.discipline,
        "tables": len(paper.tables),
        "cells": None,
        "seen": None,
        "recalled": None,
        "estimators": None,
        "sufficiency": paper.sufficiency,
        "title": paper.title,
    }
    if folder.is_built:
        cells = [cell for table in folder.tables for cell in table.graded_cells]
        kinds = Counter(str(cell.truth_kind) for cell in cells)
        used = {model.estimator for table in folder.methods.tables for model in table.models}
        row |= {
            "cells": len(cells),
            "seen": kinds["seen"],
            "recalled": kinds["recalled"],
            "estimators": ", ".join(sorted(used)),
        }
    return row


def _model_lines(model: ModelSpec) -> Iterator[str]:
    yield f"  model {model.id}: {model.estimator}, sample {model.sample}"
    facts = (
        ("outcome", model.outcome),
        ("regressors", ", ".join(model.regressors)),
        ("controls", ", ".join(model.controls)),
        ("fixed effects", ", ".join(model.fixed_effects)),
        ("endogenous", ", ".join(model.endogenous)),
        ("instruments", ", ".join(model.instruments)),
        ("second part", ", ".join(model.second_part)),
        ("weights", model.weights),
        ("constant", None if model.constant else "none"),
        ("standard errors", _standard_errors(model)),
        ("settings", ", ".join(f"{k} = {v}" for k, v in (model.settings or {}).items())),
        ("notes", model.notes),
    )
    for name, value in facts:
        if value:
            yield f"    {name}: {value}"


def _standard_errors(model: ModelSpec) -> str:
    errors = model.standard_errors
    clusters = f" by {', '.join(errors.clusters)}" if errors.clusters else ""
    sample = f" ({errors.small_sample})" if errors.small_sample else ""
    return f"{errors.kind}{clusters}{sample}"


def _table_lines(table: TableMethods) -> Iterator[str]:
    yield ""
    yield f"## {table.slug}"
    yield table.description
    for model in table.models:
        yield from _model_lines(model)
    if table.notes:
        yield f"  notes: {table.notes}"


def methods_lines(methods: Methods) -> Iterator[str]:
    """Lines of `bench papers methods`: the whole record, in the order one reads it."""
    yield f"# {methods.paper_id}"
    yield methods.question
    yield methods.setting
    yield ""
    yield "## Data"
    yield from methods.data_sources
    for file in methods.files:
        index = f" (panel of {file.unit} over {file.time})" if file.unit else ""
        yield f"  {file.name}: {file.description}{index}"
        for variable in file.variables:
            extra = "; ".join(word for word in (variable.coding, variable.unit) if word)
            yield f"    {variable.name}: {variable.description}{f' [{extra}]' if extra else ''}"
    yield ""
    yield "## Preparation"
    for sample in methods.samples:
        kept = f", where {sample.filter}" if sample.filter else ""
        yield f"  sample {sample.id}: {', '.join(sample.files)}{kept}. {sample.description}"
    for step in methods.steps:
        yield f"  {step.id}: {step.text}"
    for one in methods.derived:
        yield f"  {one.name} = {one.definition}: {one.description}"
    for name, number in (methods.parameters or {}).items():
        yield f"  parameter {name} = {number:g}"
    for table in methods.tables:
        yield from _table_lines(table)
    if methods.notes:
        yield ""
        yield methods.notes
