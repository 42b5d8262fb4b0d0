"""Blinded templates: the published table without its results.

A template keeps what an implementer must know to fill the table (its shape, labels, metrics,
links, settings) and loses every result: the value, text, printed precision and marks of each
graded cell. Labels, heads, panels, notes and the caption lose every number that the table prints
as a result, whatever its printing; it is replaced by `MASK`. Two kinds of numbers stay: those of
the table's own identity (its number in its id) and column numbers, "(1)" ... "(n)" up to the
number of columns, because they name places, not results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from data.records.cell_text import parse_cell_text
from data.records.tables import Cell, HeaderSpan, Panel, Row, Table

__all__ = ["MASK", "blind", "result_leaks"]

MASK: Final = "▢"
_MINUS: Final = "−–—‐‑‒﹣－"
_THIN: Final = "\u00a0\u2009\u202f\u2007\u2008"
_TOKEN: Final = re.compile(
    r"(?<![\w.,])[-+]?(?:\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?|[.,]\d+)"
    r"(?:[eE][-+]?\d{1,3})?(?![\w]|[.,]\d)"
)
_COLUMN_NUMBER: Final = re.compile(r"\((\d{1,3})\)|\[(\d{1,3})\]")


def blind(table: Table) -> Table:
    """Template of a published table.

    Parameters
    ----------
    table : Table
        With `role` "published".

    Returns
    -------
    Table
        With `role` "template"; `result_leaks` of it is empty.

    Notes
    -----
    Source pages and boxes, the truth's kind and the table's rounding describe the printing, not
    the method, and are dropped. The star legend is a convention and stays.
    """
    masked = _masker(table)
    return replace(
        table,
        role="template",
        truth_kind=None,
        rounding="half_away",
        source_pages=(),
        source_boxes=(),
        caption=masked(table.caption),
        notes=masked(table.notes),
        header=tuple(
            tuple(HeaderSpan(masked(span.text), span.first, span.last) for span in level)
            for level in table.header
        ),
        rows=tuple(
            Row(row.index, masked(row.label), masked(row.panel) if row.panel else row.panel)
            for row in table.rows
        ),
        panels=tuple(Panel(masked(p.label), p.first, p.last) for p in table.panels),
        cells=tuple(_blind_cell(cell, masked) for cell in table.cells),
    )


def result_leaks(template: Table, published: Table) -> tuple[str, ...]:
    """Where a template still holds a result of its table, one line each.

    Parameters
    ----------
    template, published : Table
        The same table, blinded and not.
    """
    leaks = [
        f"cell {cell.row},{cell.col},{cell.part} keeps its {name}"
        for cell in template.cells
        if cell.is_graded
        for name in ("text", "value", "decimals", "stars")
        if getattr(cell, name) is not None
    ]
    masked = _masker(published)
    leaks += [
        f"{place}: {text!r} prints a result of the table"
        for place, text in _strings(template)
        if masked(text) != text
    ]
    return tuple(leaks)


def _blind_cell(cell: Cell, masked: Callable[[str], str]) -> Cell:
    labels = tuple(masked(label) for label in cell.col_labels)
    shown = replace(
        cell,
        row_label=masked(cell.row_label),
        col_labels=labels,
        panel=masked(cell.panel) if cell.panel else cell.panel,
        unit=masked(cell.unit) if cell.unit else cell.unit,
    )
    if not cell.is_graded:
        return replace(shown, text=masked(cell.text) if cell.text else cell.text)
    return replace(shown, value=None, text=None, decimals=None, stars=None)


def _strings(table: Table) -> Iterable[tuple[str, str]]:
    yield "caption", table.caption
    yield "notes", table.notes
    for level in table.header:
        for span in level:
            yield "header", span.text
    for row in table.rows:
        yield f"row {row.index}", row.label
        yield f"row {row.index}", row.panel or ""
    for panel in table.panels:
        yield "panel", panel.label
    for cell in table.cells:
        place = f"cell {cell.row},{cell.col},{cell.part}"
        yield place, cell.row_label
        yield place, cell.panel or ""
        yield place, cell.unit or ""
        for label in cell.col_labels:
            yield place, label
        if not cell.is_graded:
            yield place, cell.text or ""


def _masker(table: Table) -> Callable[[str], str]:
    """Text with every number that the table prints as a result replaced by `MASK`."""
    printed = {_magnitude(number) for number in _published_numbers(table)}
    printed.discard(None)

    def is_result(token: str) -> bool:
        value = _magnitude(token)
        return value is not None and value in printed

    def mask_number(match: re.Match[str]) -> str:
        return MASK if is_result(match.group()) else match.group()

    def masked(text: str) -> str:
        if not text or not any(character.isdigit() for character in text):
            return text
        pieces, end = [], 0
        for place in _COLUMN_NUMBER.finditer(text):
            number = int(place.group(1) or place.group(2))
            if 1 <= number <= table.n_columns:
                pieces += [
                    _TOKEN.sub(mask_number, _ascii(text[end : place.start()])),
                    place.group(),
                ]
                end = place.end()
        pieces.append(_TOKEN.sub(mask_number, _ascii(text[end:])))
        result = "".join(pieces)
        return result if MASK in result and MASK not in text else _kept(text, result)

    return masked


def _kept(text: str, result: str) -> str:
    """Give the original text where nothing was masked, so that its typography stays."""
    return text if result == _ascii(text) else result


def _ascii(text: str) -> str:
    table = {**dict.fromkeys(map(ord, _MINUS), "-"), **dict.fromkeys(map(ord, _THIN), " ")}
    return text.translate(table)


def _published_numbers(table: Table) -> Iterable[str]:
    for cell in table.cells:
        if not cell.is_graded:
            continue
        if cell.value is not None and cell.decimals is not None:
            yield f"{cell.value:.{cell.decimals}f}"
        elif cell.value is not None:
            yield repr(cell.value)
        if cell.text:
            yield from (match.group() for match in _TOKEN.finditer(_ascii(cell.text)))


def _magnitude(token: str) -> float | None:
    """Absolute value of a printed number; None where it is not one."""
    value = parse_cell_text(token.strip().lstrip("+-")).value
    return None if value is None else abs(value)
