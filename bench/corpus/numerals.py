"""The leak linter of a paper's sources: no published number in what an arm is given.

Every number token of every text is compared with every published value. A token equals a value
when it rounds to it at the printed precision; the sign plays no part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from data.records.methods import Methods

__all__ = [
    "PublishedNumbers",
    "method_leaks",
    "method_numerals",
    "number_tokens",
    "texts_of",
]

SMALL_INTEGER: Final = 10
"""Largest integer that a typed parameter may share with a published value undeclared."""

CLOSE: Final = Decimal("0.02")
"""Rounding alone does not make a leak: 0.5 is not a published count of 1."""

LARGEST: Final = Decimal(10) ** 15
"""Beyond it no table prints; the check stays within exact decimal arithmetic."""

_TOKEN: Final = re.compile(r"\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+")
_LONG_DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class PublishedNumbers:
    """Published values by their number of printed decimals, without sign."""

    by_decimals: Mapping[int, frozenset[Decimal]] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Iterable[tuple[float, int]]) -> PublishedNumbers:
        """From pairs of a value and its printed decimals. A printed zero gives nothing away."""
        collected: dict[int, set[Decimal]] = {}
        for value, decimals in values:
            printed = Decimal(f"{abs(value):.{decimals}f}")
            if printed:
                collected.setdefault(decimals, set()).add(printed)
        return cls({decimals: frozenset(found) for decimals, found in collected.items()})

    def match(self, number: Decimal) -> Decimal | None:
        """Find the published value that `number` gives away, if any."""
        size = abs(number)
        if size > LARGEST:
            return None
        for decimals, values in self.by_decimals.items():
            rounded = size.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
            if rounded in values and abs(rounded - size) <= CLOSE * rounded:
                return rounded
        return None


def number_tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Find the numbers of a text, each with whether it is part of an identifier (`re74`)."""
    for found in _TOKEN.finditer(text):
        token = found.group().rstrip(",.")
        start, end = found.start(), found.start() + len(token)
        before = text[start - 1] if start else " "
        after = text[end] if end < len(text) else " "
        inside = before.isalpha() or before == "_" or after.isalpha() or after == "_"
        yield token, inside


def texts_of(values: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every text in plain values, keys of dicts included, with its place."""
    if isinstance(values, str):
        yield place, values
    elif isinstance(values, Mapping):
        for key, value in values.items():
            here = f"{place}.{key}" if place else str(key)
            yield here, str(key)
            yield from texts_of(value, here)
    elif isinstance(values, (list, tuple)):
        for index, value in enumerate(values):
            yield from texts_of(value, f"{place}.{index}")


def _is_checked(token: str, inside: bool) -> bool:
    return not inside or "." in token or len(token) >= _LONG_DIGITS


def method_leaks(
    texts: Iterable[tuple[str, str]], published: PublishedNumbers, *, where: str
) -> Iterator[str]:
    """One line for each number in a text that equals a published value.

    Digits within a name (`re74`) are not numbers, unless they are three or more or carry a
    decimal point.
    """
    for place, text in texts:
        for token, inside in number_tokens(text):
            if not _is_checked(token, inside):
                continue
            value = published.match(Decimal(token.replace(",", "")))
            if value is not None:
                yield (
                    f"{where}: {place}: the number {token} equals the published value {value}; "
                    "say it without a numeral, or as a named parameter"
                )


def parameter_leaks(
    parameters: Mapping[str, float], published: PublishedNumbers, shared: Iterable[str]
) -> Iterator[str]:
    """One line for each parameter that equals a published value and is not declared.

    Small whole numbers are structure (a second lag, two steps) and need no declaration.
    """
    declared = set(shared)
    for name, number in parameters.items():
        is_small = float(number).is_integer() and abs(number) <= SMALL_INTEGER
        if name in declared or is_small:
            continue
        value = published.match(Decimal(repr(float(number))))
        if value is not None:
            yield (
                f"methods.json: parameters.{name}: {number:g} equals the published value {value}; "
                "if it is method, name it in shared_parameters of paper.toml"
            )
    for name in sorted(declared - set(parameters)):
        yield f"paper.toml: shared_parameters names {name!r}, which methods.json does not have"


def method_numerals(methods: Methods) -> Iterator[str]:
    """One line for each numeral in the text of a table: they hold none at all."""
    for table in methods.tables:
        texts = [("description", table.description), ("notes", table.notes)]
        texts += [(f"models.{model.id}.notes", model.notes) for model in table.models]
        texts += [(f"rows.{row.row}.notes", row.notes) for row in table.rows]
        for place, text in texts:
            for token, inside in number_tokens(text):
                if not inside:
                    yield (
                        f"methods.json: {table.slug}: {place}: the numeral {token}; the text of "
                        "a table has none: use a word, or a named parameter"
                    )
