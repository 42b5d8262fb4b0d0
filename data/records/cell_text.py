"""The text of a table cell: what number it prints, how precisely, with which marks.

`parse_cell_text` keeps the printed text, the printed precision and the value. Text that it cannot
read as one of the printed forms of a result stays text: it never guesses. The forms are those of
regression and summary tables: stars and daggers, brackets of any kind, thousands marks, minus
signs of any kind, decimals without a leading zero, raised decimal points, decimal commas, percent
and currency signs, scientific notation, bounds ("<0.01"), intervals in one cell or two, ranges,
an estimate with its standard error, a count with its percentage, footnote marks, remarks such as
"(df = 4; 529)", and the words for a missing value, yes and no.

Where a text alone leaves two readings, it is text: "[1,5]" (an interval or a decimal comma),
"65+" (a mark or "or more"), "1.2×103" (an exponent that is no longer raised), "10²" (a power or a
footnote), "1990–95" (a year cut short). "12 345" is one number: spaced thousands are common, and
two cells run together rarely make three digits behind one space.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, NamedTuple

__all__ = ["CellPart", "CellText", "parse_cell_text", "plain_characters"]

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
Bound = Literal["<", ">", "<=", ">="]

_LONGEST: Final = 120

# --- characters

_MINUS: Final = "-−–—‐‑‒―﹣－\u00ad"
_HYPHENS: Final = str.maketrans(dict.fromkeys(_MINUS, "-"))
_STARS: Final = "*∗⁎＊⋆★✱✻﹡٭"
_DAGGERS: Final = "†‡§¶"
_RAISED_DIGITS: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED_LETTERS: Final = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲªº"
_RAISED_NUMBER: Final = str.maketrans(_RAISED_DIGITS + "⁺⁻", "0123456789+-")
_CURRENCIES: Final = "$€£¥"
_REPLACED: Final = {
    **dict.fromkeys(_STARS, "*"),
    **dict.fromkeys("٫．", "."),
    **dict.fromkeys("٬，", ","),
    **dict.fromkeys("％٪﹪", "%"),
    **dict.fromkeys("＜﹤", "<"),
    **dict.fromkeys("＞﹥", ">"),
    **dict.fromkeys("⩽≦", "≤"),
    **dict.fromkeys("⩾≧", "≥"),
    **dict.fromkeys("‧∙⋅•", "·"),
    **dict(zip("＋（）［］｛｝＄￡￥＝；／ʼ＾", "+()[]{}$£¥=;/’^", strict=True)),
}
_OPEN: Final[dict[str, tuple[str, Bracket]]] = {
    "(": (")", "parentheses"),
    "[": ("]", "brackets"),
    "{": ("}", "braces"),
}

_BOUNDS: Final[dict[str, Bound]] = {
    "<=": "<=", ">=": ">=", "≤": "<=", "≥": ">=", "<": "<", ">": ">",
}  # fmt: skip

# --- words

_MISSING: Final = frozenset(
    {"", ".", "..", "...", "…", "-", "--", "---", "·", "n.a.", "n.a", "n. a.", "na", "n/a", "nan",
     "none", "null", "missing", "not applicable", "not available"}
)  # fmt: skip
_CHECKS: Final = "✓✔☑✗✘"
_SETTINGS: Final = frozenset({"yes", "no", "y", "n", "x", "×", "√", "☐", "true", "false", *_CHECKS})
_NOTED_SETTING: Final = re.compile(rf"([{_CHECKS}])\s?(\d\d?|[a-g])")
_STATISTIC: Final = re.compile(r"(t|z|p|P|F|N|n|se|SE|s\.e\.)\s*([=<>≤≥])\s*(.+)")
_STATISTIC_KINDS: Final[dict[str, PartKind]] = {
    **dict.fromkeys(("se", "SE", "s.e."), "standard_error"),
    **dict.fromkeys(("N", "n"), "count"),
}
_REMARK: Final = re.compile(
    r"\s*(\((?:d\.?f\.?\s*=\s*[\d.,]+(?:\s*[;,]\s*[\d.,]+)?|n\.?\s?s\.?|ref\.?|reference)\))$",
    re.IGNORECASE,
)

# --- numbers, their sign and unit taken off

_PLAIN: Final = re.compile(r"-?(?:\d+(?:\.(\d*))?|\.(\d+))", re.ASCII)
_POINT: Final = re.compile(r"\d+(?:[.·](\d*))?|[.·](\d+)")
_COMMA: Final = re.compile(r"(\d*),(\d+)")
_ONE_GROUP: Final = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_GROUPED: Final = re.compile(r"([1-9]\d{0,2})(?:([,. '’])\d{3})(?:\2\d{3})*(?:(?!\2)([.,])(\d*))?")
_SCIENTIFIC: Final = re.compile(
    rf"(\d+(?:[.,·]\d*)?|[.,]\d+)\s*(?:[eE]([+-]?\d{{1,3}})"
    rf"|[x×·*]\s*10\s*(?:\^\s*[({{]?([+-]?\d{{1,3}})[)}}]?|([⁺⁻]?[{_RAISED_DIGITS}]{{1,3}})"
    rf"|([+-]\d{{1,3}})))"
)
_POWER: Final = re.compile(
    rf"10(?:\^\s*[({{]?(-\d{{1,3}})[)}}]?|(⁻[{_RAISED_DIGITS}]{{1,3}}))"
)  # fmt: skip
_RAISED_POWER: Final = re.compile(rf"(?:^|[^\d.,])10[⁺⁻]?[{_RAISED_DIGITS}]+$")

# --- marks at the end of a text

_TEX_MARK: Final = re.compile(r"\s*\$?\^(?:\{([*†‡§¶]{1,4})\}|([*†‡§¶]{1,4}))\$?$")
_CARET_MARK: Final = re.compile(r"\s*\^(?:\{([A-Za-z]|\d)\}|([A-Za-z]|\d))$")
_RAISED_MARK: Final = re.compile(rf"\s*([{_RAISED_DIGITS}]+|[{_RAISED_LETTERS}])$")
# A letter that stands on the line is a footnote only from a to g: "k" and "m" are units. An "e"
# may be what is left of an exponent.
_LETTER_MARK: Final = re.compile(r"(?<=[\d)\]}*%])\s?([a-df-g](?:,\s?[a-df-g])*)$")
_MARK_END: Final = re.compile(rf"(?:[*{_DAGGERS}{_RAISED_DIGITS}{_RAISED_LETTERS}]|\d[a-df-g])$")

# --- forms of two numbers

_BRACKETED: Final = re.compile(r"([^()\[\]{}]+?)\s*([(\[{])([^()\[\]{}]+)([)\]}])")
_SPREAD: Final = re.compile(r"([^±]+?)\s*(?:±|\+/-|\\pm)\s*([^±]+)")
_TOKEN: Final = rf"[{_MINUS}+]?[{_CURRENCIES}\d][{_CURRENCIES}\d.,·%]*|[{_MINUS}+]?[.,·]\d+%?"
_RANGE: Final = re.compile(rf"({_TOKEN})(--|[{_MINUS}])({_TOKEN})")
_SPACED_RANGE: Final = re.compile(rf"(.*[\d%])\s+[{_MINUS}]\s+([^\s].*)")
_PAIR_OR_DECIMAL: Final = re.compile(rf"[{_MINUS}+]?[1-9]\d*,[1-9]\d*")
_TWO_IN_BRACKETS: Final = re.compile(r"(\S*[.·]\d+)[ ]+(\S*[.·]\d+)")


@dataclass(frozen=True, slots=True)
class CellPart:
    """One statistic of a cell's text.

    Attributes
    ----------
    kind : str
        ``standard_error`` is the non-negative number in brackets, or behind "±", that follows
        another: a standard error unless the table's notes name another statistic.
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
        Star marks of the first number that has any; daggers and footnotes are in `marks`.
    bracket : {"none", "parentheses", "brackets", "braces"}
        Around the whole of the cell.
    unit : {"percent", "$", "€", "£", "¥"} or None
        Of the first part: None for a count with its share.
    bound : {"<", ">", "<=", ">="} or None
        The value is a bound of what is meant.
    marks : tuple of str
        Daggers, pluses, footnote marks and remarks, in printed order; raised marks as the
        letters and digits that they raise.
    """

    text: str
    parts: tuple[CellPart, ...]
    stars: int = 0
    bracket: Bracket = "none"
    unit: str | None = None
    bound: Bound | None = None
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


class _Number(NamedTuple):
    """A number with the unit and the bound that are printed with it."""

    value: float
    decimals: int
    unit: str | None = None
    bound: Bound | None = None


class _Unmarked(NamedTuple):
    """A text without its stars and footnote marks, and these."""

    body: str
    stars: int
    marks: tuple[str, ...]


class _Form(NamedTuple):
    """What one printed form of numbers holds."""

    parts: tuple[CellPart, ...]
    first: _Number
    stars: int = 0
    marks: tuple[str, ...] = ()


def parse_cell_text(text: str, *, decimal_comma: bool = False) -> CellText:
    """Read the text of one table cell.

    Parameters
    ----------
    text : str
        As printed, of any length; beyond 120 characters it is text.
    decimal_comma : bool
        The table prints decimals with a comma. It decides only what the text leaves open:
        "1,234" and "1.234". "0,25", "1,5" and "1.234,5" have decimal commas, "1,234.5" and
        "0.25" decimal points in any table.

    Returns
    -------
    CellText
        Never raises; what cannot be read is one part of kind ``text``.
    """
    if len(text) > _LONGEST:
        return CellText(text, (CellPart("text", text),))
    plain = _PLAIN.fullmatch(text)
    if plain is not None and not decimal_comma and len(text) < 40:
        decimals = len(plain.group(1) or plain.group(2) or "")
        return CellText(text, (CellPart("number", text, float(text), decimals),))
    body = _readable(text)
    word = _word(text, body)
    return word if word is not None else _numbers(text, body, decimal_comma=decimal_comma)


# --------------------------------------------------------------------------- characters


def plain_characters(text: str) -> tuple[str, tuple[int, ...]]:
    """Text with one way to write each digit, space, star and point, and where each came from.

    Parameters
    ----------
    text : str

    Returns
    -------
    plain : str
        Invisible characters are left out; dashes stay as printed.
    origins : tuple of int
        Position in `text` of each character of `plain`.
    """
    kept = [
        (plain, position)
        for position, character in enumerate(text)
        if (plain := _readable_character(character))
    ]
    return "".join(plain for plain, _ in kept), tuple(position for _, position in kept)


def _readable(text: str) -> str:
    """Plain text without the space around it; a soft hyphen only where it is a minus sign."""
    if text.isascii():
        return text.strip()
    # In front of a number it is a minus sign that the font maps so; elsewhere it is a place to
    # break a word.
    body = plain_characters(text)[0].strip()
    return re.sub("(?<!^)(?<![(\\[{ ,;])\u00ad", "", body)


@cache
def _readable_character(character: str) -> str:
    if character in _REPLACED:
        return _REPLACED[character]
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Zs":
        return " "
    is_invisible = (category == "Cf" and character != "\u00ad") or "\ufe00" <= character <= "\ufe0f"
    return "" if is_invisible else character


def _ascii_minus(token: str) -> str:
    return token.translate(_HYPHENS)


# --------------------------------------------------------------------------- words


def _word(text: str, body: str) -> CellText | None:
    """Reading of a missing value or a setting; None where it is neither."""
    if _is_missing(body):
        return CellText(text, (CellPart("missing", text),))
    inner = _unwrapped(body)
    if inner is not None and _is_missing(inner[1]):
        return CellText(text, (CellPart("missing", text),), bracket=inner[0])
    noted = _NOTED_SETTING.fullmatch(body)
    if noted is not None:
        return CellText(text, (CellPart("setting", text),), marks=(noted.group(2),))
    if not body[0].isalpha() and body[0] not in _SETTINGS:
        return None
    bare = _unmarked(body)
    if bare.body.lower() in _SETTINGS:
        return CellText(text, (CellPart("setting", text),), stars=bare.stars, marks=bare.marks)
    return None


def _is_missing(body: str) -> bool:
    return _ascii_minus(body).lower() in _MISSING


def _unwrapped(body: str) -> tuple[Bracket, str] | None:
    """Give the bracket around the whole body and what is inside; None where there is none."""
    if len(body) < 2 or body[0] not in _OPEN:
        return None
    closing, bracket = _OPEN[body[0]]
    inside = body[1:-1]
    if body[-1] != closing or any(mark in inside for mark in "()[]{}"):
        return None
    return bracket, inside.strip()


# --------------------------------------------------------------------------- marks


def _unmarked(body: str) -> _Unmarked:
    """Take significance marks, footnote marks and remarks off both ends of the body."""
    marks: list[str] = []
    stars = 0
    remark = _REMARK.search(body)
    if remark is not None and remark.start() > 0:
        marks, body = [remark.group(1)], body[: remark.start()]
    body = _TEX_MARK.sub(r"\1\2", body)
    while body:
        mark, rest = _last_mark(body)
        if not mark:
            break
        if mark == "*":
            stars += 1
        else:
            marks = [*re.split(r",\s?", mark), *marks]
        body = rest.rstrip()
        if body.endswith(",") and _MARK_END.search(body[:-1]):
            body = body[:-1]
    while body and body[0] in "*" + _DAGGERS:
        if body[0] == "*":
            stars += 1
        else:
            marks.insert(0, body[0])
        body = body[1:].lstrip()
    return _Unmarked(body, stars, tuple(marks))


def _last_mark(body: str) -> tuple[str, str]:
    """Give the mark at the end of the body and what is before it; empty where there is none."""
    last, rest = body[-1], body[:-1]
    if last in "0123456789" and "^" not in body:
        return "", body
    if last == "*" or last in _DAGGERS:
        return last, rest
    if last == "+":
        # Behind a whole number a plus may mean "or more".
        is_mark = re.search(r"(?:[.·]\d+|,(?!\d{3}\s*$)\d+|[)\]}*%])\s*$", rest)
        return (last, rest) if is_mark else ("", body)
    raised = _RAISED_MARK.search(body)
    if raised is not None and not _RAISED_POWER.search(body) and raised.start() > 0:
        mark = unicodedata.normalize("NFKC", raised.group(1))
        return mark, body[: raised.start()]
    caret = _CARET_MARK.search(body)
    if caret is not None and body[: caret.start()].endswith((*"0123456789)]}*%", ".")):
        mark, rest = caret.group(1) or caret.group(2), body[: caret.start()]
        is_power = mark.isdigit() and re.search(r"(?:^|[^\d.,])10$", rest)
        return ("", body) if is_power else (mark, rest)
    letter = _LETTER_MARK.search(body)
    return (letter.group(1), body[: letter.start()]) if letter is not None else ("", body)


# --------------------------------------------------------------------------- one number


def _number(token: str, *, decimal_comma: bool) -> _Number | None:
    """Number of a token with its sign, unit and bound; None where it is not one."""
    token, bound = _bound_of(token.strip())
    token = _ascii_minus(token)
    sign = ""
    if token[:1] in {"-", "+"}:
        sign, token = token[0], token[1:].removeprefix(" ")
    token, unit = _unit_of(token)
    if unit in set(_CURRENCIES) and token[:1] in {"-", "+"} and not sign:
        sign, token = token[0], token[1:]
    read = _magnitude(token, decimal_comma=decimal_comma)
    if read is None:
        return None
    value, decimals = read
    return _Number(-value if sign == "-" else value, decimals, unit, bound)


def _bound_of(token: str) -> tuple[str, Bound | None]:
    mark = next((mark for mark in _BOUNDS if token.startswith(mark)), None)
    return (token, None) if mark is None else (token.removeprefix(mark).lstrip(), _BOUNDS[mark])


def _unit_of(token: str) -> tuple[str, str | None]:
    """Token without its unit, and the unit."""
    if token[:1] and token[0] in _CURRENCIES:
        return token[1:].lstrip(" "), token[0]
    if token[-1:] and token[-1] in "€£¥":
        return token[:-1].rstrip(" "), token[-1]
    if token.endswith("%"):
        return token[:-1].removesuffix("\\").rstrip(" "), "percent"
    return token, None


def _magnitude(token: str, *, decimal_comma: bool) -> tuple[float, int] | None:
    """Value and printed decimals of digits with their marks; None where they are no number."""
    is_open = _ONE_GROUP.fullmatch(token) is not None
    if is_open:
        is_decimal = ("," in token) == decimal_comma
        return _finite(re.sub("[.,]", "." if is_decimal else "", token), 3 if is_decimal else 0)
    point = _POINT.fullmatch(token)
    if point is not None:
        return _finite(token.replace("·", "."), len(point.group(1) or point.group(2) or ""))
    comma = _COMMA.fullmatch(token)
    if comma is not None:
        whole, decimals = comma.groups()
        if decimal_comma or whole in {"", "0"} or len(decimals) != 3:
            return _finite(f"{whole}.{decimals}", len(decimals))
        return None
    grouped = _GROUPED.fullmatch(token)
    if grouped is not None:
        return _grouped(token, grouped)
    return _scientific(token)


def _grouped(token: str, match: re.Match[str]) -> tuple[float, int] | None:
    mark, decimal_mark, decimals = match.group(2), match.group(3), match.group(4) or ""
    if decimal_mark == "," and not decimals:
        return None
    whole = token[: match.start(3)] if decimal_mark else token
    return _finite(f"{whole.replace(mark, '')}.{decimals}", len(decimals))


def _scientific(token: str) -> tuple[float, int] | None:
    power = _POWER.fullmatch(token)
    if power is not None:
        mantissa, exponent = "1", power.group(1) or power.group(2)
    else:
        match = _SCIENTIFIC.fullmatch(token)
        if match is None:
            return None
        mantissa = re.sub("[,·]", ".", match.group(1))
        exponent = next(group for group in match.groups()[1:] if group)
    shift = int(exponent.translate(_RAISED_NUMBER))
    read = _finite(f"{mantissa}e{shift}", max(0, len(mantissa.partition(".")[2]) - shift))
    is_lost = read is not None and read[0] == 0 and float(mantissa) != 0
    return None if is_lost else read


def _finite(bare: str, decimals: int) -> tuple[float, int] | None:
    value = float(bare)
    return (value, decimals) if math.isfinite(value) else None


# --------------------------------------------------------------------------- forms


def _numbers(text: str, body: str, *, decimal_comma: bool) -> CellText:
    """Reading of one of the forms of numbers; the whole as text where it has none of them."""
    outer = _unmarked(body)
    bracket: Bracket = "none"
    inner = _Unmarked(outer.body, 0, ())
    wrapped = _unwrapped(outer.body)
    if wrapped is not None:
        bracket = wrapped[0]
        inner = _unmarked(wrapped[1])
    form = (
        _single(text, inner.body, bracket, decimal_comma)
        or _interval(inner.body, bracket, decimal_comma)
        or (_beside(inner.body, decimal_comma) if bracket == "none" else None)
        or (_half_interval(text, inner.body, decimal_comma) if bracket == "none" else None)
    )
    if form is None:
        return CellText(text, (CellPart("text", text),))
    return CellText(
        text,
        form.parts,
        form.stars or inner.stars or outer.stars,
        bracket,
        form.first.unit,
        form.first.bound,
        (*form.marks, *inner.marks, *outer.marks),
    )


def _part(kind: PartKind, text: str, number: _Number) -> CellPart:
    return CellPart(kind, text.strip(), number.value, number.decimals)


def _single(text: str, body: str, bracket: Bracket, decimal_comma: bool) -> _Form | None:
    kind: PartKind = "number"
    named = _STATISTIC.fullmatch(body)
    if named is not None:
        name, relation, body = named.groups()
        kind = _STATISTIC_KINDS.get(name, "number")
        body = body if relation == "=" else relation + body
    # In brackets "1,5" may be a pair.
    is_open = bracket != "none" and not decimal_comma and _PAIR_OR_DECIMAL.fullmatch(body)
    if is_open and _ONE_GROUP.fullmatch(body.lstrip(_MINUS + "+")) is None:
        return None
    number = _number(body, decimal_comma=decimal_comma)
    if number is None:
        return None
    return _Form((CellPart(kind, text, number.value, number.decimals),), number)


def _interval(body: str, bracket: Bracket, decimal_comma: bool) -> _Form | None:
    """Two ascending numbers: in brackets, with "to" or a dash between them."""
    for pieces in _pairs_of(body, bracket):
        lower, upper = (_number(piece, decimal_comma=decimal_comma) for piece in pieces)
        if lower is None or upper is None or lower.bound or upper.bound:
            continue
        if lower.value > upper.value or (lower.unit and upper.unit not in {None, lower.unit}):
            continue
        return _Form(
            (_part("interval_lower", pieces[0], lower), _part("interval_upper", pieces[1], upper)),
            lower._replace(unit=lower.unit or upper.unit),
        )
    return None


def _pairs_of(body: str, bracket: Bracket) -> list[tuple[str, str]]:
    """Give the ways to divide the body in two numbers that its marks allow."""
    marks = [" to "] if bracket == "none" else ["; ", ";", ", ", " to "]
    found: list[tuple[str, str]] = []
    for mark in marks:
        pieces = body.split(mark)
        if len(pieces) == 2:
            found.append((pieces[0], pieces[1]))
    if bracket != "none":
        comma = re.fullmatch(rf"([^,]*[.·]\d+),([^,]*[.·]\d+)|([^,]+),([{_MINUS}][^,]+)", body)
        if comma is not None:
            first, second = (group for group in comma.groups() if group is not None)
            found.append((first, second))
    two = _TWO_IN_BRACKETS.fullmatch(body)
    if bracket == "brackets" and two is not None:
        found.append((two.group(1), two.group(2)))
    spaced = _SPACED_RANGE.fullmatch(body)
    if spaced is not None:
        found.append((spaced.group(1), spaced.group(2)))
    return found + _dashed(body)


def _dashed(body: str) -> list[tuple[str, str]]:
    """Two numbers with a dash between them and no space."""
    match = _RANGE.fullmatch(body)
    if match is None:
        return []
    first, dash, second = match.groups()
    # "05-2004" is a date.
    if any(re.match(r"0\d", number) for number in (first, second)):
        return []
    is_doubled = dash == "--" or dash == second[0]
    # "-5--3" ends at -3, or at 3 behind a dash typed as two hyphens.
    if is_doubled and first[0] in _MINUS:
        return []
    return [(first, second.lstrip(_MINUS) if is_doubled else second)]


def _half_interval(text: str, body: str, decimal_comma: bool) -> _Form | None:
    """Read one bound of an interval that is printed over two cells."""
    opening = re.fullmatch(r"[\[(]([^()\[\]]+?)\s*[,;]", body)
    closing = re.fullmatch(r"([^()\[\]]+?)\s*[\])]", body)
    match = opening or closing
    if match is None:
        return None
    number = _number(match.group(1), decimal_comma=decimal_comma)
    if number is None or number.bound:
        return None
    kind: PartKind = "interval_lower" if opening else "interval_upper"
    return _Form((CellPart(kind, text, number.value, number.decimals),), number)


def _beside(body: str, decimal_comma: bool) -> _Form | None:
    """Read a number with what is printed beside it: an error, a share, a spread, an interval."""
    spread = _SPREAD.fullmatch(body)
    bracketed = _BRACKETED.fullmatch(body)
    if spread is not None:
        return _with_error(spread.group(1), spread.group(2), decimal_comma, is_spread=True)
    if bracketed is None or _OPEN[bracketed.group(2)][0] != bracketed.group(4):
        return None
    first, second = bracketed.group(1), bracketed.group(3)
    form = _with_error(first, second, decimal_comma)
    if form is not None:
        return form
    estimate = _unmarked(first.strip())
    number = _number(estimate.body, decimal_comma=decimal_comma)
    bounds = _interval(second.strip(), _OPEN[bracketed.group(2)][1], decimal_comma)
    if number is None or bounds is None:
        return None
    parts = (_part("number", first, number), *bounds.parts)
    return _Form(parts, number, estimate.stars, estimate.marks)


def _with_error(
    first: str, second: str, decimal_comma: bool, *, is_spread: bool = False
) -> _Form | None:
    estimate = _unmarked(first.strip())
    other = _unmarked(second.strip())
    number = _number(estimate.body, decimal_comma=decimal_comma)
    beside = _single("", other.body, "parentheses", decimal_comma)
    if number is None or beside is None or beside.first.bound:
        return None
    if is_spread and beside.first.value < 0:
        return None
    kind, kind_beside = _kinds_beside(number, beside.first)
    if "=" in other.body:
        kind_beside = beside.parts[0].kind
    parts = (_part(kind, first, number), _part(kind_beside, second, beside.first))
    stars = estimate.stars or other.stars
    return _Form(parts, number, stars, (*estimate.marks, *other.marks))


def _kinds_beside(number: _Number, other: _Number) -> tuple[PartKind, PartKind]:
    """Kinds of two numbers of which the second is bracketed behind the first."""
    if other.value < 0:
        return "number", "number"
    if other.unit != "percent" or number.unit is not None:
        return "number", "standard_error"
    is_count = number.decimals == 0 and number.value >= 0
    return ("count" if is_count else "number"), "share"
