"""What a run wrote for a table, read: tolerant of spelling, strict about meaning.

A number may come with stars, brackets, thousands commas, any minus, or as text only. What is
not plainly one number is refused with a reason; nothing is guessed.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from data.records.grades import Reason
from data.records.metrics import UNGRADED_METRICS, metric_from_alias
from data.records.tables import CellKey, Table
from grade.alignment import normal_label
from grade.columns import METRIC_CODES, REASON_CODES, UNKNOWN, ReproducedColumns, join_labels

__all__ = [
    "ReproducedTable",
    "number_of_text",
    "parse_json",
    "read_cells",
    "read_reproduced",
    "shown",
    "unread_table",
]

LARGEST_INDEX: Final = 1_000_000
"""A larger row, column or part is no position in a table."""

LARGEST_TABLE: Final = 200_000
"""More cells than this are no table."""

LONGEST_TEXT: Final = 200
"""A longer text in a cell is no number."""

REPEATED: Final = "\x00repeated"
LEVEL_MARK: Final = "|"
SHOWN_PROBLEMS: Final = 5

_ARRAY_TYPES: Final[dict[str, Any]] = {"value": np.float64} | dict.fromkeys(
    ("row_label", "col_label", "panel"), object
)


@dataclass(frozen=True, slots=True)
class ReproducedTable:
    """One table as a run wrote it.

    Attributes
    ----------
    name : str
        File that it was read from.
    columns : ReproducedColumns
        Cells in file order; all in table 0.
    text : tuple of str or None
        What each cell held where it was not a plain number.
    failure : Reason or None
        Why the file as a whole gives no cells.
    problems : tuple of str
        One line each.
    """

    name: str
    columns: ReproducedColumns
    text: tuple[str | None, ...]
    failure: Reason | None = None
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _Cells:
    """Cells while a file is read: one list a column."""

    lists: dict[str, list[Any]]
    text: list[str | None]
    problems: list[str]

    @classmethod
    def empty(cls) -> _Cells:
        return cls({field.name: [] for field in fields(ReproducedColumns)}, [], [])

    def add(self, text: str | None, **values: Any) -> None:
        for name, entries in self.lists.items():
            entries.append(values.get(name, None if _ARRAY_TYPES.get(name) is object else UNKNOWN))
        self.lists["table"][-1] = 0
        self.text.append(text)

    def table(self, name: str, failure: Reason | None = None) -> ReproducedTable:
        columns = ReproducedColumns(
            **{
                key: np.array(entries, dtype=_ARRAY_TYPES.get(key, np.int64))
                for key, entries in self.lists.items()
            }
        )
        return ReproducedTable(name, columns, tuple(self.text), failure, _shortened(self.problems))


def _shortened(problems: Sequence[str]) -> tuple[str, ...]:
    if len(problems) <= SHOWN_PROBLEMS:
        return tuple(problems)
    more = len(problems) - SHOWN_PROBLEMS
    return (*problems[:SHOWN_PROBLEMS], f"{problems[0].split(':')[0]}: {more} more problems")


def unread_table(name: str, reason: Reason, problem: str) -> ReproducedTable:
    """Table of a file that gives no cells: why, and one line about it."""
    cells = _Cells.empty()
    cells.problems.append(f"{shown(name)}: {problem}")
    return cells.table(name, reason)


def read_reproduced(content: bytes, *, name: str, template: Table) -> ReproducedTable:
    """Read a reproduced table: JSON in the template's schema, or CSV with its labels.

    Never raises for what the file holds: a file that cannot be read gives a table with
    `failure` and a line that says why.

    Parameters
    ----------
    content : bytes
    name : str
        File name; one that ends in ``.csv`` is read as CSV, any other as JSON.
    template : Table
        The blinded template (or the published table): its positions say which cells of a CSV
        are which, and which places hold several statistics.
    """
    if name.lower().endswith(".csv"):
        return _read_csv(content, name, template)
    try:
        values = parse_json(content)
    except ValueError as error:
        return unread_table(name, Reason.UNREADABLE, str(error))
    return read_cells(values, name=name, template=template)


def parse_json(content: bytes) -> Any:
    """Values of a JSON file; numbers too large for a float become infinite.

    Raises
    ------
    ValueError
        With one line: truncated, not JSON, not text, nested too deeply.
    """
    if not content.strip():
        raise ValueError("the file is empty")
    try:
        return json.loads(
            content.removeprefix(b"\xef\xbb\xbf"),
            parse_int=_integer,
            object_pairs_hook=_object,
        )
    except UnicodeDecodeError:
        raise ValueError("not text: the bytes are no UTF-8") from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(error.doc.rstrip())
        what = "truncated JSON" if cut or error.msg.startswith("Unterminated") else "not valid JSON"
        raise ValueError(f"{what}: {error.msg} at line {error.lineno}") from None
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= len(str(LARGEST_INDEX)) + 8 else float(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        values[REPEATED] = next(key for key, count in counts.items() if count > 1)
    return values


def read_cells(values: Any, *, name: str, template: Table) -> ReproducedTable:
    """Read the values of a JSON file in the template's schema."""
    if not isinstance(values, dict):
        return unread_table(name, Reason.UNREADABLE, "wrong schema: the top level is no object")
    if values.get(REPEATED) == "cells":
        return unread_table(name, Reason.DUPLICATE, "the list `cells` stands twice")
    entries = values.get("cells")
    if not isinstance(entries, list):
        return unread_table(name, Reason.UNREADABLE, "wrong schema: no list `cells`")
    if len(entries) > LARGEST_TABLE:
        count = f"{len(entries):,} cells, at most {LARGEST_TABLE:,} are read"
        return unread_table(name, Reason.UNREADABLE, f"too large for a table: {count}")
    cells = _Cells.empty()
    parts = _parts_of_places(template)
    ungraded = {cell.key for cell in template.cells if not cell.is_graded}
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            cells.problems.append(
                f"{shown(name)}: entry {number} of `cells` is no object, left out"
            )
            continue
        _add_entry(cells, entry, f"{shown(name)}: {_place(entry, number)}", parts, ungraded)
    if not cells.text:
        why = "; ".join(["the list `cells` holds no cell", *cells.problems[:SHOWN_PROBLEMS]])
        return unread_table(name, Reason.UNREADABLE, why)
    _settle_stars(cells)
    return cells.table(name)


def _place(entry: Mapping[str, Any], number: int) -> str:
    """Where a cell is, for a message: its position, else its number in the list."""
    row, col, part = (_index(entry.get(name, 0)) for name in ("row", "col", "part"))
    keyed = entry.get("row") is not None and entry.get("col") is not None
    if keyed and UNKNOWN not in {row, col}:
        return f"cell ({row}, {col}, {max(part, 0)})"
    return f"entry {number}"


def _parts_of_places(template: Table) -> Mapping[tuple[int, int], tuple[int, ...]]:
    places: dict[tuple[int, int], tuple[int, ...]] = {}
    for cell in template.graded_cells:
        place = (cell.row, cell.col)
        places[place] = tuple(sorted({*places.get(place, ()), cell.part}))
    return places


def _add_entry(
    cells: _Cells,
    entry: Mapping[str, Any],
    where: str,
    parts: Mapping[tuple[int, int], tuple[int, ...]],
    ungraded: set[CellKey],
) -> None:
    row, col, part = (_index(entry.get(name)) for name in ("row", "col", "part"))
    part = 0 if entry.get("part") is None else part
    for name, index in (("row", row), ("col", col), ("part", part)):
        if index == UNKNOWN and entry.get(name) is not None:
            cells.problems.append(f"{where}: {name} {shown(entry.get(name))} is no position")
    metric = _metric(entry.get("metric"))
    is_input = metric in _UNGRADED_CODES or CellKey(row, col, part) in ungraded
    if REPEATED in entry:
        value, reason, text = math.nan, Reason.DUPLICATE, None
        cells.problems.append(f"{where}: {shown(entry[REPEATED])} stands twice in it")
    elif is_input:
        value, reason, text = math.nan, Reason.NULL, None
    else:
        value, reason, text = _number(entry, part, parts.get((row, col), (0,)))
    if reason is Reason.UNREADABLE:
        cells.problems.append(f"{where}: {shown(text)} is not plainly one number")
    if reason is Reason.NOT_A_NUMBER:
        given = entry.get("text") if entry.get("value") is None else entry["value"]
        cells.problems.append(f"{where}: {shown(given)} is no finite number")
    of = entry.get("of")
    of_key = [_index(index) for index in of] if isinstance(of, list) else []
    of_key += [0] if len(of_key) == 2 else []
    of_row, of_col, of_part = of_key if len(of_key) == 3 else (UNKNOWN,) * 3
    cells.add(
        text,
        row=row,
        col=col,
        part=part,
        value=value,
        reason=REASON_CODES[reason],
        metric=metric,
        stars=UNKNOWN if is_input else _stars(entry),
        of_row=of_row,
        of_col=of_col,
        of_part=of_part,
        row_label=_label(entry.get("row_label")),
        col_label=_col_label(entry.get("col_labels")),
        panel=_label(entry.get("panel")),
    )


_UNGRADED_CODES: Final = frozenset(METRIC_CODES[metric] for metric in UNGRADED_METRICS)


def _index(value: Any) -> int:
    """Return a position as an integer, -1 for what is none."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = int(value) if len(value.strip()) < 10 else UNKNOWN
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return UNKNOWN
    return int(value) if value == int(value) and 0 <= value <= LARGEST_INDEX else UNKNOWN


def _metric(word: Any) -> int:
    if not isinstance(word, str):
        return UNKNOWN
    try:
        return METRIC_CODES[metric_from_alias(word)]
    except ValueError:
        return UNKNOWN


def _label(value: Any) -> str | None:
    return _clean(value) if isinstance(value, str) else None


def _clean(text: str) -> str:
    """Text cut to a cell's length, lone surrogates replaced: no encoding can write them."""
    return text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")


def _col_label(value: Any) -> str | None:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list) and all(isinstance(level, str) for level in value):
        return join_labels([_clean(level) for level in value])
    return None


def shown(value: Any) -> str:
    """Quote a value for a message: short, and without characters that do not print."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = value if isinstance(value, str) else repr(value)
    text = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
    return repr(text if len(text) <= 40 else text[:37] + "...")


# --------------------------------------------------------------------------- numbers


def _number(
    entry: Mapping[str, Any], part: int, parts: Sequence[int]
) -> tuple[float, Reason, str | None]:
    """Value of a cell, the reason where there is none, and its text."""
    text = entry.get("text")
    kept = _clean(text) if isinstance(text, str) else None
    value = entry.get("value")
    if value is None and text is not None and not isinstance(text, str):
        value = text
    if isinstance(value, bool):
        return math.nan, Reason.UNREADABLE, repr(value)
    if isinstance(value, int | float):
        number = float(value)
        reason = Reason.OK if math.isfinite(number) else Reason.NOT_A_NUMBER
        return (number if reason is Reason.OK else math.nan), reason, kept
    if isinstance(value, str):
        return (*number_of_text(value, part, parts), _clean(value))
    if value is not None:
        return math.nan, Reason.UNREADABLE, shown(value)
    if text is None:
        return math.nan, Reason.NULL, None
    return (*number_of_text(text, part, parts), kept)


_FLOAT: Final = re.compile(
    r"[+-]?(?:nan|inf(?:inity)?|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)", re.IGNORECASE | re.ASCII
)


def number_of_text(text: str, part: int, parts: Sequence[int]) -> tuple[float, Reason]:
    """Read one number from a text.

    Parameters
    ----------
    text : str
    part : int
        Part of the printed place that is asked for.
    parts : sequence of int
        All parts of that place: a text with several numbers is only read where the place has
        as many.
    """
    from data.records.cell_text import parse_cell_text

    stripped = text.strip()
    if not stripped:
        return math.nan, Reason.NULL
    if len(stripped) > LONGEST_TEXT:
        return math.nan, Reason.UNREADABLE
    if _FLOAT.fullmatch(stripped.replace("\N{MINUS SIGN}", "-")):
        number = float(stripped.replace("\N{MINUS SIGN}", "-"))
        return (number, Reason.OK) if math.isfinite(number) else (math.nan, Reason.NOT_A_NUMBER)
    parsed = parse_cell_text(stripped)
    kinds = {piece.kind for piece in parsed.parts}
    if kinds == {"missing"}:
        return math.nan, Reason.NULL
    numbers = [piece.value for piece in parsed.parts if piece.value is not None]
    if not numbers or parsed.bound or kinds & {"text", "setting"}:
        return math.nan, Reason.UNREADABLE
    if len(numbers) == 1:
        value = numbers[0]
    elif len(numbers) == len(parts) and part in parts:
        value = numbers[list(parts).index(part)]
    else:
        return math.nan, Reason.UNREADABLE
    return float(value), Reason.OK


def _stars(entry: Mapping[str, Any]) -> int:
    """Significance marks of a cell: stated, else those of its text; -1 for neither."""
    stated = _index(entry.get("stars"))
    if stated != UNKNOWN:
        return stated
    for text in (entry.get("text"), entry.get("value")):
        if isinstance(text, str) and text.strip() and len(text) <= LONGEST_TEXT:
            from data.records.cell_text import parse_cell_text

            return parse_cell_text(text.strip()).stars or 0
    return UNKNOWN


def _settle_stars(cells: _Cells) -> None:
    """Where no cell of a table bears a mark, the run gave none at all: all unknown."""
    if not any(stars > 0 for stars in cells.lists["stars"]):
        cells.lists["stars"] = [UNKNOWN] * len(cells.text)


# --------------------------------------------------------------------------- CSV


def _read_csv(content: bytes, name: str, template: Table) -> ReproducedTable:
    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        if "\x00" in text:
            return unread_table(name, Reason.UNREADABLE, "not text: it holds zero bytes")
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), strict=True) if line]
    except UnicodeDecodeError:
        return unread_table(name, Reason.UNREADABLE, "not text: the bytes are no UTF-8")
    except csv.Error as error:
        return unread_table(name, Reason.UNREADABLE, f"not valid CSV: {error}")
    if len(lines) < 2:
        return unread_table(name, Reason.UNREADABLE, "the CSV has no line below its header")
    header = [word.strip().lower() for word in lines[0]]
    if {"value", "text"} & set(header) and {"row", "row_label"} & set(header):
        return _read_long_csv(header, lines[1:], name, template)
    return _read_grid_csv(lines, name, template)


def _read_long_csv(
    header: Sequence[str], lines: Iterable[Sequence[str]], name: str, template: Table
) -> ReproducedTable:
    """One cell a line, with the names of the template's fields as header."""
    entries = []
    for line in lines:
        entry: dict[str, Any] = {
            key: word for key, word in zip(header, line, strict=False) if word.strip()
        }
        label = entry.get("col_labels", entry.get("col_label", entry.get("column_label")))
        if isinstance(label, str):
            entry["col_labels"] = [level.strip() for level in label.split(LEVEL_MARK)]
        entries.append(entry)
    return read_cells({"cells": entries}, name=name, template=template)


def _read_grid_csv(lines: Sequence[Sequence[str]], name: str, template: Table) -> ReproducedTable:
    """Read a table as printed: first column row labels, first line column labels.

    Lines and columns are positions where their numbers are the template's; otherwise cells
    have labels only.
    """
    panel_names = {normal_label(panel.label) for panel in template.panels}
    panel_names |= {normal_label(cell.panel) for cell in template.cells if cell.panel}
    body: list[tuple[str, str | None, Sequence[str]]] = []
    panel: str | None = None
    label = ""
    for line in lines[1:]:
        if normal_label(line[0]) in panel_names and not any(word.strip() for word in line[1:]):
            panel, label = line[0], ""
            continue
        label = line[0] if line[0].strip() else label
        body.append((label, panel, line[1:]))
    n_rows = len(template.rows) or 1 + max((cell.row for cell in template.cells), default=-1)
    n_cols = template.n_columns or 1 + max((cell.col for cell in template.cells), default=-1)
    columns = lines[0][1:]
    keyed = len(body) == n_rows and len(columns) == n_cols
    parts = _parts_of_places(template)
    known = {cell.key: cell for cell in template.cells}
    ungraded = {cell.key for cell in template.cells if not cell.is_graded}
    cells = _Cells.empty()
    for row, (label, panel, words) in enumerate(body):
        for col, word in enumerate(words):
            for part in parts.get((row, col), (0,)) if keyed else (0,):
                cell = known.get(CellKey(row, col, part)) if keyed else None
                entry: dict[str, Any] = {"text": word or None, "row_label": label, "panel": panel}
                if col < len(columns):
                    levels = [level.strip() for level in columns[col].split(LEVEL_MARK)]
                    entry["col_labels"] = levels
                if keyed:
                    entry |= {"row": row, "col": col, "part": part}
                    entry |= {"metric": cell.metric.value} if cell is not None else {}
                if word.strip() or cell is not None:
                    where = f"{shown(name)}: line {row + 2}, column {col + 2}"
                    _add_entry(cells, entry, where, parts, ungraded)
    if not cells.text:
        return unread_table(name, Reason.UNREADABLE, "the CSV holds no cell")
    _settle_stars(cells)
    return cells.table(name)
