"""The text of a table cell: what number it prints, how precisely, with which marks.

`parse_cell_text` keeps the printed text, the printed precision and the value. Text that it cannot
read as one of the printed forms of a result stays text: it never guesses. The forms are those of
regression and summary tables: stars and daggers, brackets of any kind, thousands marks, minus
signs of any kind, decimals without a leading zero, percent and currency signs, scientific
notation, bounds ("<0.01"), intervals, ranges, an estimate with its standard error, a count with
its percentage, footnote marks, and the words for a missing value, yes and no.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["CellPart", "CellText", "parse_cell_text"]

PartKind = Literal[
    "number",
    "standard_error",
    "interval_lower",
    "interval_upper",
    "count",
    "share",
    "missing",
    "setting",
    "text",
]
Bracket = Literal["none", "parentheses", "brackets", "braces"]

_LONGEST: Final = 120
_MINUS: Final = "-−–—‐‑‒﹣－"
_SPACES: Final = "\u00a0\u2009\u202f\u2007\u2008\u200a\u2002\u2003\u2006\ufeff\u200b\u2060"
_STARS: Final = "*∗⁎＊⋆★✱✻﹡"
_DAGGERS: Final = "†‡§¶"
_SUPERSCRIPTS: Final = "ᵃᵇᶜᵈᵉᶠᵍ¹²³⁴⁵⁶⁷⁸⁹⁰ªº"
_PLUS_MARKS: Final = "+"
_CURRENCIES: Final = "$€£¥"
_OPEN: Final[dict[str, tuple[str, Bracket]]] = {
    "(": (")", "parentheses"),
    "[": ("]", "brackets"),
    "{": ("}", "braces"),
}
_MISSING: Final = frozenset(
    {"", ".", "..", "...", "…", "-", "--", "---", "n.a.", "n.a", "na", "n/a", "nan", "none", "null",
     "missing", "not applicable", "not available", "·", "—", "–", "−"}
)  # fmt: skip
_SETTINGS: Final = frozenset(
    {"yes", "no", "y", "n", "x", "✓", "✔", "✗", "✘", "×", "☑", "☐", "√", "true", "false"}
)
_MARK_TABLE: Final = str.maketrans(
    {**dict.fromkeys(_STARS, "*"), **dict.fromkeys(_MINUS, "-"), **dict.fromkeys(_SPACES, " ")}
)
_PLAIN: Final = re.compile(r"-?(?:\d+(?:\.(\d*))?|\.(\d+))")
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.(\d+))?")
_SPACED: Final = re.compile(r"[+-]?\d{1,3}(?: \d{3})+(?:\.(\d+))?")
_APOSTROPHE: Final = re.compile(r"[+-]?\d{1,3}(?:['’]\d{3})+(?:\.(\d+))?")
_SIMPLE: Final = re.compile(r"[+-]?(?:\d+(?:\.(\d*))?|\.(\d+))")
_SCIENTIFIC: Final = re.compile(
    r"([+-]?(?:\d+(?:\.(\d*))?|\.(\d+)))\s*(?:[eE]|[x×·]\s*10\^?)\s*\(?([+-]?\d{1,3})\)?"
)
_COMMA_DECIMAL: Final = re.compile(r"[+-]?(?:\d{1,3}(?:[. ]\d{3})+|\d*),(\d+)")
_COMMA_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+")
_FOOTNOTE: Final = re.compile(rf"(?:\^?[a-g]|[{_SUPERSCRIPTS}]|\^\{{?\w\}}?)$")
_SUPERSCRIPT_TEN: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


@dataclass(frozen=True, slots=True)
class CellPart:
    """One statistic of a cell's text.

    Attributes
    ----------
    kind : str
    text : str
        The piece of the text that the part was read from.
    value : float or None
        Finite; None for text, settings and missing values.
    decimals : int or None
        Digits printed after the decimal point; for scientific notation those of the value
        written out, never below zero.
    """

    kind: PartKind
    text: str
    value: float | None = None
    decimals: int | None = None


@dataclass(frozen=True, slots=True)
class CellText:
    """A cell's text, read.

    Attributes
    ----------
    text : str
        As printed.
    parts : tuple of CellPart
    stars : int
        Number of star marks; daggers and footnotes are in `marks`.
    bracket : {"none", "parentheses", "brackets", "braces"}
        Around the whole of the cell.
    unit : {"percent", "$", "€", "£", "¥"} or None
    bound : {"<", ">", "<=", ">="} or None
        The value is a bound of what is meant.
    marks : tuple of str
        Daggers, pluses and footnote marks, in printed order.
    """

    text: str
    parts: tuple[CellPart, ...]
    stars: int = 0
    bracket: Bracket = "none"
    unit: str | None = None
    bound: Literal["<", ">", "<=", ">="] | None = None
    marks: tuple[str, ...] = ()

    @property
    def value(self) -> float | None:
        """Value of the first part that has one."""
        return next((part.value for part in self.parts if part.value is not None), None)

    @property
    def decimals(self) -> int | None:
        """Printed decimals of the first part that has a value."""
        return next((part.decimals for part in self.parts if part.value is not None), None)

    @property
    def kind(self) -> PartKind:
        """Kind of the first part."""
        return self.parts[0].kind


def parse_cell_text(text: str, *, decimal_comma: bool = False) -> CellText:
    """Read the text of one table cell.

    Parameters
    ----------
    text : str
        As printed, of any length; beyond 120 characters it is text.
    decimal_comma : bool
        The table prints decimals with a comma. Without it a comma is a decimal mark only where
        it cannot separate thousands ("0,25", "1,5"); "1,234" is then one thousand.

    Returns
    -------
    CellText
        Never raises; what cannot be read is one part of kind ``text``.
    """
    plain = _PLAIN.fullmatch(text)
    if plain is not None and not decimal_comma and len(text) < 40:
        value = float(text) if math.isfinite(float(text)) else None
        if value is not None:
            decimals = len(plain.group(1) or plain.group(2) or "")
            return CellText(text, (CellPart("number", text, value, decimals),))
    if len(text) > _LONGEST:
        return CellText(text, (CellPart("text", text),))
    return _Reader(text, decimal_comma).read()


def _number(token: str, *, decimal_comma: bool) -> tuple[float, int] | None:
    """Value and printed decimals of a bare number; None where the token is not one."""
    if decimal_comma:
        match = _COMMA_DECIMAL.fullmatch(token)
        if match:
            return _finite(re.sub(r"[. ]", "", token).replace(",", "."), len(match.group(1)))
        if _COMMA_GROUPED.fullmatch(token):
            return _finite(token.replace(".", ""), 0)
        if re.fullmatch(r"[+-]?\d+", token):
            return _finite(token, 0)
        return None
    simple = _SIMPLE.fullmatch(token)
    if simple:
        return _finite(token, len(simple.group(1) or simple.group(2) or ""))
    for pattern, mark in ((_GROUPED, ","), (_SPACED, " "), (_APOSTROPHE, "'’")):
        match = pattern.fullmatch(token)
        if match:
            bare = re.sub(f"[{re.escape(mark)}]", "", token)
            return _finite(bare, len(match.group(1) or ""))
    scientific = _SCIENTIFIC.fullmatch(token.translate(_SUPERSCRIPT_TEN))
    if scientific:
        exponent = int(scientific.group(4))
        digits = len(scientific.group(2) or scientific.group(3) or "")
        return _finite(f"{scientific.group(1)}e{exponent}", max(0, digits - exponent))
    comma = re.fullmatch(r"[+-]?(\d+|),(\d{1,2}|\d{4,})", token)
    if comma or re.fullmatch(r"[+-]?0?,\d+", token):
        return _finite(token.replace(",", "."), len(token.split(",")[1]))
    return None


def _finite(bare: str, decimals: int) -> tuple[float, int] | None:
    value = float(bare)
    return (value, decimals) if math.isfinite(value) else None


class _Reader:
    def __init__(self, text: str, decimal_comma: bool) -> None:
        self.text, self.decimal_comma = text, decimal_comma
        self.stars = 0
        self.marks: list[str] = []
        self.unit: str | None = None
        self.bound: Literal["<", ">", "<=", ">="] | None = None

    def read(self) -> CellText:
        body = " ".join(self.text.translate(_MARK_TABLE).split())
        lowered = body.lower()
        if lowered in _MISSING:
            return self._result((CellPart("missing", self.text),))
        if lowered in _SETTINGS:
            return self._result((CellPart("setting", self.text),))
        body = self._without_marks(body)
        bracket: Bracket = "none"
        inner = _unwrapped(body)
        if inner is not None:
            bracket, body = inner
            if body.lower() in _MISSING:
                return self._result((CellPart("missing", self.text),), bracket)
            body = self._without_marks(body)
        for form in (self._single, self._interval, self._pair, self._interval_after_estimate):
            parts = form(body, bracket)
            if parts is not None:
                return self._result(parts, bracket)
        self.stars, self.marks, self.unit, self.bound = 0, [], None, None
        return self._result((CellPart("text", self.text),))

    def _result(self, parts: tuple[CellPart, ...], bracket: Bracket = "none") -> CellText:
        return CellText(
            self.text, parts, self.stars, bracket, self.unit, self.bound, tuple(self.marks)
        )

    def _without_marks(self, body: str) -> str:
        """Take trailing and leading significance and footnote marks off the body."""
        body = re.sub(r"\s*\$?\^\{?(\*{1,4})\}?\$?$", r"\1", body)
        while body:
            last = body[-1]
            if last == "*":
                self.stars += 1
            elif last in _DAGGERS or (last == "+" and any(c.isdigit() for c in body)):
                self.marks.insert(0, last)
            elif _FOOTNOTE.search(body) and re.search(r"[\d)\]}*%.]\s*(?:\^?\{?\w\}?|.)$", body):
                mark = _FOOTNOTE.search(body)
                assert mark is not None
                if _is_exponent(body, mark.start()):
                    break
                self.marks.insert(0, mark.group())
                body = body[: mark.start()].rstrip()
                continue
            else:
                break
            body = body[:-1].rstrip()
        while body.startswith("*"):
            self.stars += 1
            body = body[1:].lstrip()
        return body

    def _bare(self, token: str) -> tuple[float, int] | None:
        """Read a token's number; its percent, currency and bound are noted."""
        token = token.strip()
        for mark in ("<=", ">=", "<", ">", "≤", "≥"):
            if token.startswith(mark):
                if self.bound is not None:
                    return None
                named = {"≤": "<=", "≥": ">="}.get(mark, mark)
                token = token[len(mark) :].strip()
                number = self._bare(token)
                if number is not None:
                    self.bound = named  # type: ignore[assignment]
                return number
        sign = ""
        if re.match(r"[-+]\s?[$€£¥\d.,]", token):
            sign, token = token[0], token[1:].lstrip()
        unit = None
        if token and token[0] in _CURRENCIES:
            unit, token = token[0], token[1:].lstrip()
        elif token and token[-1] in "€£¥":
            unit, token = token[-1], token[:-1].rstrip()
        if token.endswith("%"):
            unit, token = "percent", token[:-1].rstrip()
        elif token.endswith("\\%"):
            unit, token = "percent", token[:-2].rstrip()
        if token[:1] in "+-" and (sign or not token):
            return None
        number = _number(sign.replace("+", "") + token, decimal_comma=self.decimal_comma)
        if number is not None and unit is not None:
            self.unit = unit
        return number

    def _single(self, body: str, bracket: Bracket) -> tuple[CellPart, ...] | None:
        del bracket
        named = re.fullmatch(r"(?:t|z|p|N|n|se|s\.e\.)\s*([=<>])\s*(.+)", body)
        if named:
            body = named.group(2) if named.group(1) == "=" else named.group(1) + named.group(2)
        number = self._bare(body)
        return None if number is None else (CellPart("number", self.text, *number),)

    def _interval(self, body: str, bracket: Bracket) -> tuple[CellPart, ...] | None:
        """Two numbers in brackets, or a range; or one bound of an interval of two cells."""
        for separator in (";", ", ", " to ", " – ", " - ", ","):
            pieces = body.split(separator)
            if len(pieces) != 2 or (separator == "," and bracket in {"none", "parentheses"}):
                continue
            if bracket == "none" and separator in {", ", ";", ","}:
                continue
            ends = [self._bare(piece) for piece in pieces]
            if ends[0] is not None and ends[1] is not None and ends[0][0] <= ends[1][0]:
                return (
                    CellPart("interval_lower", pieces[0].strip(), *ends[0]),
                    CellPart("interval_upper", pieces[1].strip(), *ends[1]),
                )
        if bracket == "none":
            span = re.fullmatch(r"([\d.,]+)-([\d.,]+)", body)
            if span:
                ends = [self._bare(piece) for piece in span.groups()]
                if ends[0] is not None and ends[1] is not None and ends[0][0] < ends[1][0]:
                    return (
                        CellPart("interval_lower", span.group(1), *ends[0]),
                        CellPart("interval_upper", span.group(2), *ends[1]),
                    )
            return self._one_bound(body)
        return None

    def _one_bound(self, body: str) -> tuple[CellPart, ...] | None:
        opening = re.fullmatch(r"[\[(](.+?)\s*[,;]", body)
        closing = re.fullmatch(r"(.+?)\s*[\])]", body)
        match, kind = (opening, "interval_lower") if opening else (closing, "interval_upper")
        if match is None:
            return None
        number = self._bare(match.group(1))
        if number is None:
            return None
        return (CellPart(kind, self.text, *number),)  # type: ignore[arg-type]

    def _pair(self, body: str, bracket: Bracket) -> tuple[CellPart, ...] | None:
        """Read an estimate with its bracketed statistic, a count with its share, or a spread."""
        if bracket != "none":
            return None
        spread = re.fullmatch(r"(.+?)\s*(?:±|\+/-|\\pm)\s*(.+)", body)
        if spread:
            return self._two(spread.group(1), spread.group(2), "number", "standard_error")
        match = re.fullmatch(r"([^()\[\]{}]+?)\s*([(\[{])([^()\[\]{}]+)([)\]}])", body)
        if match is None or _OPEN[match.group(2)][0] != match.group(4):
            return None
        first = self._without_marks(match.group(1).strip())
        second = match.group(3).strip()
        if second.endswith("%"):
            return self._two(first, second, "count", "share")
        return self._two(first, second, "number", "standard_error")

    def _two(
        self, first: str, second: str, kind: PartKind, other: PartKind
    ) -> tuple[CellPart, ...] | None:
        a, b = self._bare(first), self._bare(second)
        if a is None or b is None:
            return None
        return CellPart(kind, first, *a), CellPart(other, second, *b)

    def _interval_after_estimate(self, body: str, bracket: Bracket) -> tuple[CellPart, ...] | None:
        match = re.fullmatch(r"([^()\[\]{}]+?)\s*([(\[{])([^()\[\]{}]+)([)\]}])", body)
        if bracket != "none" or match is None:
            return None
        estimate = self._bare(self._without_marks(match.group(1).strip()))
        bounds = self._interval(match.group(3), _OPEN[match.group(2)][1])
        if bounds is None:
            bounds = self._interval(match.group(3), "brackets")
        if estimate is None or bounds is None:
            return None
        return (CellPart("number", match.group(1).strip(), *estimate), *bounds)


def _unwrapped(body: str) -> tuple[Bracket, str] | None:
    """Give the bracket around the whole body and what is inside; None where there is none."""
    if not body or body[0] not in _OPEN:
        return None
    closing, bracket = _OPEN[body[0]]
    inside = body[1:-1]
    if body[-1] != closing or any(mark in inside for mark in "()[]{}"):
        return None
    return bracket, inside.strip()


def _is_exponent(body: str, start: int) -> bool:
    """Whether superscript digits at `start` belong to a power of ten."""
    return bool(re.search(r"10[⁻]?[⁰¹²³⁴-⁹]*$", body[:start] + body[start:]))
