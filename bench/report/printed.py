"""Published and reproduced tables in their printed form, as values that the templates set.

Nothing here knows HTML. A place of a table may hold several statistics (parts); each becomes a
`Statistic` with its text split at the decimal point, so that columns can be aligned as in print.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby
from typing import Any, Final

__all__ = [
    "BodyRow",
    "Head",
    "Place",
    "PrintedTable",
    "Statistic",
    "like_print",
    "printed_table",
]

_NUMBER: Final = re.compile(r"[-+\u2212\u2013]?(?:\d[\d,\u2009\u00a0]*)?\.?\d+(?:[eE][-+]?\d+)?")
_STARS: Final = re.compile(r"[*\u2217\u2020\u2021]+")
_MINUS: Final = "\u2212"


@dataclass(frozen=True, slots=True)
class Statistic:
    """One statistic as it is set: text before and from the decimal point on, stars, grade."""

    whole: str
    fraction: str
    stars: str
    metric: str
    grade: str | None = None
    key: str = ""
    details: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The whole text."""
        return self.whole + self.fraction + self.stars

    @property
    def has_point(self) -> bool:
        """Whether it is set by its decimal point; what has none is centred."""
        return self.fraction.startswith(".")


@dataclass(frozen=True, slots=True)
class Place:
    """One place of the body: its statistics, or the text of a setting."""

    statistics: tuple[Statistic, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """A column head over `span` columns."""

    text: str
    span: int


@dataclass(frozen=True, slots=True)
class BodyRow:
    """A row of the body; with `panel_head` a panel's title is set above it."""

    label: str
    places: tuple[Place, ...]
    panel_head: str | None = None
    is_spread: bool = False


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table ready to be set. `widths` has, a column, digits before and after the point."""

    heads: tuple[tuple[Head, ...], ...]
    rows: tuple[BodyRow, ...]
    widths: tuple[tuple[int, int], ...]


def _with_commas(digits: str) -> str:
    sign, number = (digits[0], digits[1:]) if digits[:1] == "-" else ("", digits)
    whole, point, fraction = number.partition(".")
    return sign + f"{int(whole):,}" + point + fraction


def _rounded(value: float, decimals: int | None) -> str:
    if decimals is None:
        return f"{value:.6g}"
    if abs(value) >= 1e15:
        return f"{value:.3e}"
    quantum = Decimal(1).scaleb(-decimals)
    text = format(Decimal(repr(value)).quantize(quantum, rounding=ROUND_HALF_UP), "f")
    return text.removeprefix("-") if float(text) == 0 else text


def like_print(value: float, published: str | None, decimals: int | None) -> str:
    """Set a reproduced value in the form of the printed one: decimals, brackets, commas, point.

    Parameters
    ----------
    value : float
    published : str or None
        Text of the published cell, brackets and stars included.
    decimals : int or None
        Digits printed after the point; None sets six significant digits.

    Returns
    -------
    str
        Without stars: those of the print are not the run's.
    """
    digits = _rounded(value, decimals)
    found = _NUMBER.search(published or "")
    if found is None or published is None:
        return digits.replace("-", _MINUS)
    number = found.group()
    if "," in number and "e" not in digits:
        digits = _with_commas(digits)
    if number.lstrip("+-\u2212\u2013").startswith(".") and re.match(r"-?0\.", digits):
        digits = digits.replace("0.", ".", 1)
    before = published[: found.start()].replace("<", "").replace(">", "")
    after = _STARS.sub("", published[found.end() :])
    if _NUMBER.search(after):
        after = ""
    return (before + digits.replace("-", _MINUS) + after).strip()


def _split(text: str) -> tuple[str, str, str]:
    """Text before the decimal point, from it on, and the stars."""
    stars = "".join(_STARS.findall(text)).replace("\u2217", "*")
    bare = _STARS.sub("", text).strip()
    found = _NUMBER.search(bare)
    if found is None:
        return bare, "", stars
    point = bare.find(".", found.start(), found.end())
    cut = point if point >= 0 else found.end()
    whole = bare[:cut]
    if whole[:1] == "-":
        whole = _MINUS + whole[1:]
    return whole.replace("(-", f"({_MINUS}"), bare[cut:], stars


def _published(cell: Mapping[str, Any]) -> Statistic:
    text = cell["text"]
    if text is None:
        text = "" if cell["value"] is None else f"{cell['value']:g}"
    whole, fraction, stars = _split(text)
    if not stars and cell["stars"]:
        stars = "*" * int(cell["stars"])
    return Statistic(whole, fraction, stars, cell["metric"], key=_key(cell))


def _key(cell: Mapping[str, Any]) -> str:
    return f"{cell['row']}-{cell['col']}-{cell['part']}"


def _signed(value: float, unit: str) -> str:
    text = f"{value:+.3g}".replace("-", _MINUS)
    return f"{text} {unit}".strip()


_REASONS: Final = {
    "missing": "not produced",
    "null": "left empty",
    "not_a_number": "not a finite number",
    "unreadable": "not readable as a number",
    "duplicate": "given more than once",
    "ambiguous": "cannot be told which cell is meant",
    "wrong_table": "the file is of another table",
    "no_truth": "nothing published to compare with",
}


def _details(cell: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return what a reader sees of a graded cell on hover and on focus."""
    pairs: list[tuple[str, str]] = [("Published", cell["text"] or f"{cell['value']:g}")]
    if cell["reproduced_raw"] is not None:
        pairs.append(("Reproduced", f"{cell['reproduced_raw']:.10g}".replace("-", _MINUS)))
    if cell["factor"] is not None and cell["factor"] != 1:
        pairs.append(("Rescaled by", f"{cell['factor']:g}"))
        pairs.append(("Without rescaling", cell["unrescued_grade"] or "no grade"))
    if cell["deviation_pct"] is not None:
        pairs.append(("Deviation", _signed(cell["deviation_pct"], "%")))
    if cell["deviation_se"] is not None:
        pairs.append(("In published SE", f"{cell['deviation_se']:.3g}"))
    if cell["units_off"] is not None:
        pairs.append(("In printed units", _signed(cell["units_off"], "")))
    if cell["sign_agrees"] is False:
        pairs.append(("Sign", "differs"))
    if cell["would_be_a_at"] is not None:
        pairs.append(("Would be A", f"if multiplied by 10^{-cell['would_be_a_at']}"))
    if cell["reason"] not in (None, "ok"):
        pairs.append(("Reason", _REASONS.get(cell["reason"], cell["reason"])))
    if cell["weak"]:
        pairs.append(("Print", "too coarse for the letter to say much"))
    for rule, letter in cell["other_grades"]:
        pairs.append((rule, letter))
    return tuple(pairs)


def _reproduced(cell: Mapping[str, Any]) -> Statistic:
    value = cell["reproduced"]
    if value is None:
        whole, fraction, stars = "·", "", ""
    else:
        whole, fraction, _ = _split(like_print(value, cell["text"], cell["decimals"]))
        stars = "".join(_STARS.findall(cell["reproduced_text"] or "")).replace("\u2217", "*")
    return Statistic(
        whole,
        fraction,
        stars[:4],
        cell["metric"],
        grade=cell["grade"],
        key=_key(cell),
        details=_details(cell),
    )


def _heads(table: Mapping[str, Any], cells: list[dict[str, Any]]) -> tuple[tuple[Head, ...], ...]:
    """Header levels, gaps filled; a last level of column labels is added where it lacks."""
    n = int(table["n_columns"]) or 1 + max((int(cell["col"]) for cell in cells), default=-1)
    levels = [_filled(level, n) for level in json.loads(table["header"])]
    labels = {int(cell["col"]): cell["col_labels"][-1] for cell in cells if len(cell["col_labels"])}
    last = [labels.get(col, "") for col in range(n)]
    bottom = [head.text for head in levels[-1]] if levels else []
    if any(last) and bottom != last:
        levels.append(tuple(Head(text, 1) for text in last))
    return tuple(levels)


def _filled(level: Iterable[Mapping[str, Any]], n: int) -> tuple[Head, ...]:
    heads, col = [], 0
    for span in sorted(level, key=lambda one: int(one["first"])):
        if span["first"] > col:
            heads.append(Head("", span["first"] - col))
        heads.append(Head(span["text"], span["last"] - span["first"] + 1))
        col = span["last"] + 1
    if col < n:
        heads.append(Head("", n - col))
    return tuple(heads)


def printed_table(
    table: Mapping[str, Any],
    cells: list[dict[str, Any]],
    *,
    reproduced: bool,
) -> PrintedTable:
    """Set a stored table in its printed form.

    Parameters
    ----------
    table : mapping
        A row of `tables`.
    cells : list of dict
        Its cells, settings included, as `bench.report.queries.table_cells` gives them.
    reproduced : bool
        Whether the reproduced values are set, with grades, or the published ones.
    """
    n = int(table["n_columns"]) or 1 + max((int(cell["col"]) for cell in cells), default=-1)
    by_place: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for cell in sorted(cells, key=lambda one: (one["row"], one["col"], one["part"])):
        by_place.setdefault((cell["row"], cell["col"]), []).append(cell)
    rows, panel = [], None
    for row in json.loads(table["body_rows"]) or _rows_of(cells):
        places = tuple(
            _place(by_place.get((row["index"], col), []), reproduced) for col in range(n)
        )
        head = row["panel"] if row["panel"] != panel else None
        panel = row["panel"]
        rows.append(
            BodyRow(row["label"], places, head, is_spread=not row["label"].strip()),
        )
    return PrintedTable(_heads(table, cells), tuple(rows), _widths(rows, n))


def _rows_of(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows as the cells tell them, for a table without row records."""
    ordered = sorted(cells, key=lambda one: one["row"])
    return [
        {"index": index, "label": first["row_label"], "panel": first["panel"]}
        for index, group in groupby(ordered, key=lambda one: one["row"])
        for first in [next(group)]
    ]


def _place(cells: list[dict[str, Any]], reproduced: bool) -> Place:
    if not cells:
        return Place()
    if not cells[0]["is_graded"]:
        return Place(text=" ".join(cell["text"] or "" for cell in cells))
    make = _reproduced if reproduced else _published
    return Place(tuple(make(cell) for cell in cells if cell["is_graded"]))


def _widths(rows: list[BodyRow], n: int) -> tuple[tuple[int, int], ...]:
    widths = []
    for col in range(n):
        single = [
            row.places[col].statistics[0]
            for row in rows
            if len(row.places[col].statistics) == 1 and row.places[col].statistics[0].has_point
        ]
        widths.append(
            (
                max((len(one.whole) for one in single), default=0),
                max((len(one.fraction) + len(one.stars) for one in single), default=0),
            ),
        )
    return tuple(widths)
