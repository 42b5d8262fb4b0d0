"""Published and reproduced cells of many tables as arrays, one entry a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from data.records.grades import Reason
from data.records.metrics import UNGRADED_METRICS, Metric
from data.records.tables import Cell, CellKey, Table

__all__ = [
    "METRICS",
    "METRIC_CODES",
    "REASONS",
    "REASON_CODES",
    "UNIT_CODES",
    "UNKNOWN",
    "PublishedColumns",
    "ReproducedColumns",
    "cells_at",
    "join_labels",
    "metric_mask",
    "published_columns",
]

METRICS: Final = tuple(Metric)
METRIC_CODES: Final = {metric: code for code, metric in enumerate(METRICS)}
REASONS: Final = tuple(Reason)
REASON_CODES: Final = {reason: code for code, reason in enumerate(REASONS)}
UNIT_CODES: Final = {None: 0, "percent": 1}
UNKNOWN: Final = -1
"""Code of an unknown count of decimals, stars, metric, row, column."""

LEVEL_SEPARATOR: Final = "\x1f"

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Objects = NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class PublishedColumns:
    """Published cells of `n_tables` tables; every array has one entry a cell.

    Attributes
    ----------
    n_tables : int
    table : integers, 0 to n_tables - 1, in ascending order
    row, col, part : integers
    metric : integers
        Places in `METRICS`.
    value : floats
        NaN where nothing is published.
    decimals, stars : integers
        -1 where unknown.
    estimate : integers
        Entry of the estimate that the cell belongs to; its own where it belongs to none.
    unit : integers
        0 none stated, 1 percent, 2 and more others (one code a unit).
    bound : integers
        -1 for a printed "<c", +1 for ">c", else 0.
    truncated : booleans
        Whether the print cut digits off instead of rounding.
    row_label, col_label, panel : objects
        Strings; header levels of `col_label` are joined by `join_labels`, no panel is "".
    """

    n_tables: int
    table: Integers
    row: Integers
    col: Integers
    part: Integers
    metric: Integers
    value: Floats
    decimals: Integers
    stars: Integers
    estimate: Integers
    unit: Integers
    bound: Integers
    truncated: Booleans
    row_label: Objects
    col_label: Objects
    panel: Objects

    @property
    def graded(self) -> Booleans:
        """Cells that are results, not settings or text."""
        return ~metric_mask(self.metric, UNGRADED_METRICS)


@dataclass(frozen=True, slots=True)
class ReproducedColumns:
    """Reproduced cells of many tables, in the order of their files.

    Attributes
    ----------
    table, row, col, part : integers
        Row and column are -1 where the file gives labels only.
    value : floats
        NaN where there is no usable number.
    reason : integers
        Places in `REASONS`.
    metric, stars : integers
        -1 where the file does not say.
    of_row, of_col, of_part : integers
        Key of the estimate that the cell belongs to, -1 where it gives none.
    row_label, col_label, panel : objects
        None where the file does not say.
    """

    table: Integers
    row: Integers
    col: Integers
    part: Integers
    value: Floats
    reason: Integers
    metric: Integers
    stars: Integers
    of_row: Integers
    of_col: Integers
    of_part: Integers
    row_label: Objects
    col_label: Objects
    panel: Objects

    def __len__(self) -> int:
        return len(self.value)


def cells_at(published: PublishedColumns, places: Integers) -> PublishedColumns:
    """Columns of some cells only; their links to estimates are lost."""
    arrays = {
        field.name: getattr(published, field.name)[places]
        for field in fields(PublishedColumns)
        if field.name not in {"n_tables", "estimate"}
    }
    return PublishedColumns(n_tables=published.n_tables, estimate=np.arange(len(places)), **arrays)


def metric_mask(codes: Integers, metrics: Sequence[Metric] | frozenset[Metric]) -> Booleans:
    """Whether each metric code is one of `metrics`."""
    table = np.zeros(len(METRICS), dtype=bool)
    for metric in metrics:
        table[METRIC_CODES[metric]] = True
    mask: Booleans = table[codes]
    return mask


def join_labels(levels: Sequence[str]) -> str:
    """Header levels as one string, outermost first."""
    return LEVEL_SEPARATOR.join(levels)


def published_columns(tables: Sequence[Table]) -> PublishedColumns:
    """Columns of published tables, in their order and that of their cells."""
    columns: dict[str, list[Any]] = {
        field.name: [] for field in fields(PublishedColumns) if field.name != "n_tables"
    }
    units: dict[str | None, int] = dict(UNIT_CODES)
    start = 0
    for code, table in enumerate(tables):
        entry_of = {cell.key: start + place for place, cell in enumerate(table.cells)}
        for place, cell in enumerate(table.cells):
            _append(columns, cell, units)
            columns["table"].append(code)
            columns["truncated"].append(table.rounding == "truncate")
            own = start + place
            of = None if cell.of is None else CellKey(*cell.of)
            columns["estimate"].append(own if of is None else entry_of.get(of, own))
        start += len(table.cells)
    kinds: dict[str, Any] = {"value": np.float64, "truncated": np.bool_} | dict.fromkeys(
        ("row_label", "col_label", "panel"), object
    )
    arrays = {
        name: np.array(values, dtype=kinds.get(name, np.int64)) for name, values in columns.items()
    }
    return PublishedColumns(n_tables=len(tables), **arrays)


def _append(columns: dict[str, list[Any]], cell: Cell, units: dict[str | None, int]) -> None:
    columns["row"].append(cell.row)
    columns["col"].append(cell.col)
    columns["part"].append(cell.part)
    columns["metric"].append(METRIC_CODES[cell.metric])
    columns["value"].append(np.nan if cell.value is None else cell.value)
    columns["decimals"].append(UNKNOWN if cell.decimals is None else cell.decimals)
    columns["stars"].append(UNKNOWN if cell.stars is None else cell.stars)
    columns["unit"].append(units.setdefault(cell.unit, len(units)))
    columns["bound"].append(_bound(cell.text))
    columns["row_label"].append(cell.row_label)
    columns["col_label"].append(join_labels(cell.col_labels))
    columns["panel"].append(cell.panel or "")


def _bound(text: str | None) -> int:
    """-1 for a text that opens with "<", +1 for ">", else 0; brackets and blanks apart."""
    start = (text or "").lstrip("([{ \u00a0")[:1]
    if start in {"<", "\uff1c", "\u2264"}:
        return -1
    return 1 if start in {">", "\uff1e", "\u2265"} else 0
