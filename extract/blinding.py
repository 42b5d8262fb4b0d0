"""Blinded templates: the published table without its results.

A template keeps what an implementer must know to fill the table (its shape, labels, metrics,
links, settings) and loses every result: the value, text, printed precision and marks of each
graded cell. Labels, heads, panels, notes and the caption lose every number that tells a result,
with its sign and its stars; `MASK` stands in its place. Cells of settings and of text keep theirs:
they are inputs.

A number tells a result when it is the same number in any printing, or when one of the two is the
other rounded or cut, and the shorter has two digits behind its point, or three without a point,
that are not zeros at its end: 0.28 tells 0.275, 0.3 and 0.50 tell nothing. A percentage is also
compared as a share. Digits within a name ("re74") count from three on, or with a point. Column
numbers stay, "(1)" ... "(n)" up to the number of columns, because they name places. A printed
zero is only found in the same printing. Numbers spelled in words are not looked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from functools import cache
from typing import Final, NamedTuple

from data.records.cell_text import parse_cell_text, plain_characters
from data.records.errors import RecordError
from data.records.tables import Cell, HeaderSpan, Panel, Row, StarLevel, Table

__all__ = ["MASK", "blind", "result_leaks"]

MASK: Final = "▢"
_EXACT: Final = Context(prec=2000)
_HYPHENS: Final = str.maketrans(dict.fromkeys("−–—‐‑‒―﹣－", "-"))
_CLUSTER: Final = re.compile(
    r"[.,·]?[0-9]+(?:[.,'’· ][0-9]+)*"
    r"(?:[eE][-+]?[0-9]{1,3}(?![0-9.])"
    r"|\s?[x×·*]\s?10(?:\^\s?[({]?[-+]?[0-9]{1,3}[)}]?|[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|-[0-9]{1,3}))?"
)
_MOST_DECIMALS: Final = 400
_LIST_MARKS: Final = " ,'’"
_LONGEST_WINDOW: Final = 5
_STARS_AFTER: Final = re.compile(r"([%)\]}\s$^{]{0,4})([*†‡§¶]+(?:\s[*†‡§¶]+)*)")
_PERCENT: Final = re.compile(r"\s?(?:%|per\s?cent|pp\b|p\.\s?p\.)", re.IGNORECASE)
_SCALES: Final = (
    (re.compile(r"\s?(?:thousand|k\b)", re.IGNORECASE), 3),
    (re.compile(r"\s?(?:million|m\b|mn\b)", re.IGNORECASE), 6),
    (re.compile(r"\s?(?:billion|bn\b)", re.IGNORECASE), 9),
)
_LONG_DIGITS: Final = 3
_TABLE_NUMBER: Final = re.compile(r"[A-Za-z]{0,4}[ .-]?[0-9]{0,3}(?:[.-][0-9]{1,3})?[A-Za-z]?")
_YEARS: Final = range(1500, 2100)


class _Printed(NamedTuple):
    """A number without its sign, and the place of its last printed digit (-2 is hundredths)."""

    value: Decimal
    place: int
    is_converted: bool = False


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

    Raises
    ------
    RecordError
        When the table's own name (id, slug, number) prints one of its results: a name
        cannot be masked.

    Notes
    -----
    Source pages and boxes, the truth's kind and the table's rounding describe the printing, not
    the method, and are dropped. The star legend is a convention and stays.
    """
    results = _Results(table)
    named = next(results.in_name(table), None)
    if named is not None:
        raise RecordError(f"table {table.slug}: {named}; rename the table")
    masked = results.masked
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
        star_levels=tuple(StarLevel(masked(s.mark), s.p_below) for s in table.star_levels),
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
    results = _Results(published)
    leaks += [
        f"{place}: {text!r} prints a result of the table"
        for place, text in _strings(template)
        if results.masked(text) != text
    ]
    return (*leaks, *results.in_name(template))


def _blind_cell(cell: Cell, masked: Callable[[str], str]) -> Cell:
    shown = replace(
        cell,
        row_label=masked(cell.row_label),
        col_labels=tuple(masked(label) for label in cell.col_labels),
        panel=masked(cell.panel) if cell.panel else cell.panel,
        unit=masked(cell.unit) if cell.unit else cell.unit,
        truth_kind=None,
    )
    if not cell.is_graded:
        return shown
    return replace(shown, value=None, text=None, decimals=None, stars=None)


def _strings(table: Table) -> Iterable[tuple[str, str]]:
    """Every free text of a template, but for the cells that are inputs."""
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
    for star in table.star_levels:
        yield "star legend", star.mark
    for cell in table.cells:
        place = f"cell {cell.row},{cell.col},{cell.part}"
        yield place, cell.row_label
        yield place, cell.panel or ""
        yield place, cell.unit or ""
        for label in cell.col_labels:
            yield place, label


# --------------------------------------------------------------------------- results


class _Results:
    """The numbers that a table prints as results, and where a text tells one of them."""

    def __init__(self, table: Table) -> None:
        self._printed = frozenset(_published_numbers(table))
        self._n_columns = table.n_columns
        self.masked: Callable[[str], str] = cache(self._masked)
        self._is_result: Callable[[_Printed], bool] = cache(self._find)

    def in_name(self, table: Table) -> Iterator[str]:
        """One line for each name of the table that prints a result."""
        number = table.number or ""
        own = set(re.findall(r"[0-9]+", number)) if _TABLE_NUMBER.fullmatch(number) else set()
        names = (("number", number), ("id", table.id), ("slug", table.slug))
        for place, name in (*names, ("paper_id", table.paper_id or "")):
            # A slug writes a point as an underscore.
            for text in (name, re.sub(r"(?<=[0-9])_(?=[0-9])", ".", name)):
                if any(not self._is_name(token, own) for token, _, _ in self._told(text)):
                    yield f"its {place} {name!r} prints a result of the table"
                    break

    def _is_name(self, token: str, own: set[str]) -> bool:
        digits = re.findall(r"[0-9]+", token)
        is_short = len("".join(digits)) < _LONG_DIGITS
        is_year = token.isdigit() and int(token) in _YEARS
        return is_short or is_year or set(digits) <= own

    def _masked(self, text: str) -> str:
        if not any(character.isdigit() for character in text):
            return text
        pieces, end = [], 0
        for _, start, stop in self._told(text):
            pieces += [text[end:start], MASK]
            # Stars behind the number, or behind its bracket, tell of it too.
            plain, origins = plain_characters(text[stop:])
            after = _STARS_AFTER.match(plain)
            end = stop
            if after is not None:
                pieces.append(text[stop : stop + origins[after.start(2)]])
                end = stop + origins[after.end() - 1] + 1
        return "".join([*pieces, text[end:]])

    def _told(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Numbers of a text that tell a result: each with the span of its print, sign included."""
        plain, origins = plain_characters(text.replace("\u00ad", "\u200b"))
        plain = plain.translate(_HYPHENS)
        for cluster in _CLUSTER.finditer(plain):
            if self._is_column_number(plain, cluster):
                continue
            for start, stop in self._spans(plain, cluster):
                token = plain[start:stop]
                if plain[start - 1 : start] in {"-", "+", "±"}:
                    start -= 1
                first = origins[start - 1] + 1 if start else 0
                yield token, first, origins[stop - 1] + 1

    def _is_column_number(self, plain: str, cluster: re.Match[str]) -> bool:
        around = plain[cluster.start() - 1 : cluster.start()] + plain[cluster.end() :][:1]
        token = cluster.group()
        is_place = around in {"()", "[]"} and token.isdigit()
        return is_place and 1 <= int(token) <= self._n_columns

    def _spans(self, plain: str, cluster: re.Match[str]) -> list[tuple[int, int]]:
        """Spans within a cluster of digits that tell a result; none overlaps another."""
        whole = cluster.span()
        if self._tells(plain, *whole):
            return [whole]
        found: list[tuple[int, int]] = []
        for start, stop in _windows(cluster):
            is_free = all(stop <= first or start >= last for first, last in found)
            if is_free and self._tells(plain, start, stop):
                found.append((start, stop))
        found.sort()
        token = cluster.group()
        if not any(True for _ in _readings(token)):
            return found
        # A number in its own right: parts of it count where a space divides them, or where
        # every part is a result, as in a list without spaces.
        if " " in token:
            return [span for span in found if _is_long(plain[slice(*span)])]
        rest = token
        for start, stop in found:
            rest = rest.replace(plain[start:stop], "", 1)
        return [] if re.search(r"[0-9]", rest) else found

    def _tells(self, plain: str, start: int, stop: int) -> bool:
        token, before, after = plain[start:stop], plain[:start][-1:], plain[stop:]
        is_inside = any(c.isalpha() or c == "_" for c in (before, after[:1]))
        if is_inside and not _is_long(token):
            return False
        tokens = {token}
        if token[0] in ".,·" and (before.isalpha() or token[0] == ","):
            tokens.add(token[1:])
        for reading in (reading for one in tokens for reading in _readings(one)):
            if self._is_result(reading):
                return True
            if any(self._is_result(other) for other in _converted(reading, after)):
                return True
        return False

    def _find(self, token: _Printed) -> bool:
        return any(_tells(token, result) for result in self._printed)


def _published_numbers(table: Table) -> Iterator[_Printed]:
    for cell in table.cells:
        if not cell.is_graded:
            continue
        numbers = set(_cell_numbers(cell))
        yield from numbers
        if cell.unit == "percent":
            for number in numbers:
                yield _Printed(number.value.scaleb(-2, _EXACT), number.place - 2, True)


def _cell_numbers(cell: Cell) -> Iterator[_Printed]:
    if cell.value is not None and math.isfinite(cell.value):
        if cell.decimals is not None and 0 <= cell.decimals <= _MOST_DECIMALS:
            yield _printed(cell.value, cell.decimals)
        else:
            exact = Decimal(repr(abs(cell.value)))
            yield _Printed(exact, min(int(exact.as_tuple().exponent), 0))
    plain = plain_characters(cell.text or "")[0].translate(_HYPHENS)
    for cluster in _CLUSTER.finditer(plain):
        readings = _readings(cluster.group())
        # What the cell's value says, its text does not leave open.
        told = [one for one in readings if cell.value is not None and one.value == abs(cell.value)]
        yield from told or readings
        if not readings:
            windows = (plain[start:stop] for start, stop in _windows(cluster))
            yield from (reading for window in windows for reading in _readings(window))


def _printed(value: float, decimals: int) -> _Printed:
    return _Printed(Decimal(f"{abs(value):.{decimals}f}"), -decimals)


# --------------------------------------------------------------------------- numbers of a text


def _windows(cluster: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Spans of whole numbers within a cluster, the longest first."""
    token, offset = cluster.group(), cluster.start()
    marks = [place for place, character in enumerate(token) if character in _LIST_MARKS]
    starts = [0, *(place + 1 for place in marks)]
    stops = [*marks, len(token)]
    for length in range(min(_LONGEST_WINDOW, len(starts)), 0, -1):
        for first in range(len(starts) - length + 1):
            start, stop = starts[first], stops[first + length - 1]
            if start < stop:
                yield offset + start, offset + stop


def _readings(token: str) -> tuple[_Printed, ...]:
    """Numbers that a token may print: with a comma for thousands, for decimals."""
    with_point = _reading(token, decimal_comma=False)
    with_comma = _reading(token, decimal_comma=True)
    return tuple({one: None for one in (with_point, with_comma) if one is not None})


def _reading(token: str, *, decimal_comma: bool) -> _Printed | None:
    read = parse_cell_text(token, decimal_comma=decimal_comma)
    if len(read.parts) > 1 or read.value is None or read.decimals is None:
        return None
    return _printed(read.value, read.decimals)


def _converted(number: _Printed, after: str) -> Iterator[_Printed]:
    """The number that a percent sign or a word behind it makes of a number."""
    if _PERCENT.match(after):
        yield _Printed(number.value.scaleb(-2, _EXACT), number.place - 2, True)
    for word, power in _SCALES:
        if word.match(after):
            yield _Printed(number.value.scaleb(power, _EXACT), number.place + power)


def _is_long(token: str) -> bool:
    return bool(re.search(r"[.·][0-9]", token)) or len(re.findall("[0-9]", token)) >= _LONG_DIGITS


def _tells(token: _Printed, result: _Printed) -> bool:
    """Whether one number is the other, or the other rounded or cut."""
    is_converted = token.is_converted or result.is_converted
    if token.value == result.value:
        if result.value == 0:
            return token.place == result.place <= -2
        return not is_converted or _n_digits(token.value, token.place) > 1
    token_place = token.place if token.place else _trailing_zeros(token.value)
    place = max(token_place, result.place)
    is_coarser = token_place >= result.place
    short, long = (token.value, result.value) if is_coarser else (result.value, token.value)
    needed = (3 if place >= 0 else 2) + is_converted
    if _n_digits(short, place) < needed:
        return False
    unit = Decimal(1).scaleb(place, _EXACT)
    return any(
        short == long.quantize(unit, rounding, _EXACT) for rounding in (ROUND_HALF_UP, ROUND_DOWN)
    )


def _n_digits(value: Decimal, place: int) -> int:
    """Digits of a number down to a place, without the zeros at either end."""
    return len(str(int(value.scaleb(-place, _EXACT))).strip("0"))


def _trailing_zeros(value: Decimal) -> int:
    digits = str(int(value))
    return len(digits) - len(digits.rstrip("0"))
