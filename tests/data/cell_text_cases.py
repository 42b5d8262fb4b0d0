"""Reads the labelled cell texts. Used by the tests of the parser.

`cell_text_cases.csv` was written before the parser's code was read. Its columns, divided by
bars: the text (invisible characters as ``\\u00a0``, a line end as ``\\n``); whether the table
prints decimal commas; the statistics as ``kind value dN`` joined by `` + ``, ``any`` where a
reader cannot tell the kind from the text; number of stars; bracket; unit; bound; marks joined by
commas; and where such a text is printed. ``?`` is not checked. `published` values are those of the
bundled papers, `public` forms were seen in public tables, `typeset` ones in typeset pages with
invented numbers, `form` and `made` were written for this file, and `review` ones were added with
the code in view.
"""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

UNCHECKED = "?"
FILE = Path(__file__).parent / "cell_text_cases.csv"


@dataclass(frozen=True)
class Case:
    text: str
    decimal_comma: bool
    parts: tuple
    stars: str
    bracket: str
    unit: str
    bound: str
    marks: str
    source: str


def _unescaped(printed):
    printed = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), printed)
    return printed.replace("\\n", "\n").replace("\\t", "\t")


def _part(words):
    kind, *rest = words.split()
    if not rest:
        return kind, None, None
    value, decimals = rest
    return kind, float(value), int(decimals.removeprefix("d"))


def _case(row):
    return Case(
        text=_unescaped(row["text"]),
        decimal_comma=row["comma"] == "yes",
        parts=tuple(_part(words) for words in row["parts"].split(" + ")),
        stars=row["stars"] or "0",
        bracket=row["bracket"] or "none",
        unit=row["unit"],
        bound=row["bound"],
        marks=row["marks"],
        source=row["source"],
    )


def load_cases():
    """Every case of the file."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="|", quoting=csv.QUOTE_NONE)
        return tuple(_case(row) for row in rows)


def differences(case, read):
    """What a reading of a case gets wrong, in words; empty where it is right."""
    found = []
    if read.text != case.text:
        found.append(f"text {read.text!r}")
    kinds = [part.kind for part in read.parts]
    if len(kinds) != len(case.parts):
        return [*found, f"parts {read.parts}"]
    for part, (kind, value, decimals) in zip(read.parts, case.parts, strict=True):
        if kind != "any" and part.kind != kind:
            found.append(f"kind {part.kind}, not {kind}")
        if part.decimals != decimals:
            found.append(f"decimals {part.decimals}, not {decimals}")
        if not _same(part.value, value):
            found.append(f"value {part.value}, not {value}")
    printed = {
        "stars": (str(read.stars), case.stars),
        "bracket": (read.bracket, case.bracket),
        "unit": (read.unit or "", case.unit),
        "bound": (read.bound or "", case.bound),
        "marks": (",".join(read.marks), case.marks),
    }
    return found + [
        f"{name} {got}, not {wanted}"
        for name, (got, wanted) in printed.items()
        if wanted not in (UNCHECKED, got)
    ]


def _same(got, wanted):
    if got is None or wanted is None:
        return got is wanted
    return abs(got - wanted) <= 1e-12 * abs(wanted)


CASES = load_cases()
