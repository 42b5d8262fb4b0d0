"""Print docs/corpus.md from the bundled papers and their registries.

python tools/corpus_page.py > docs/corpus.md
"""

from __future__ import annotations

import csv
import sys
import tomllib
from collections import Counter
from importlib import resources
from typing import Any

from bench.corpus.overview import paper_row
from data.corpus import PaperFolder, bundled_papers

HEAD = """\
# The bundled papers

Made by `python tools/corpus_page.py`; a test holds it current.

Values that were read in print are *seen*; values written from knowledge of the published table,
and confirmed by a re-estimation, are *recalled* and counted apart everywhere. *Package* says how
many cells the reconstructed R code prints as published, is within two percent of, and is further
off. *Human* says how many cells of the blind re-implementation had an A (kohler2026, rounded) when
it first met the published values.

| paper | estimators | seen | recalled | package: exact, near, off | human: A, seen | recalled |
|---|---|---|---|---|---|---|
"""
HUMAN = """
## The human reference

The scripts in `human/` were each written by an author who saw methods, templates and data only, and
were committed before anything was graded. None was changed after that, so the first score is the
final one. Of the cells whose value was seen in print {a} of {n} ({share:.1f} %) had an A under
kohler2026 with both sides rounded, {raw:.1f} % unrounded, {interval:.1f} % under `printed`; of the
recalled ones {recalled_a} of {recalled_n}.

What was missed, and the change that gives the printed value:

| paper | cells | how | what the original must have done |
|---|---|---|---|
"""
FORMAL = """
## What a specification alone carries

`formal` compiles the methods description. Methods files were frozen by their hash
(`data/registries/methods_frozen.toml`); five papers, a third, were held out while it was built. On
first contact with them:

| paper | cells | filled | A | score |
|---|---|---|---|---|
"""
LIMITS = """
The author of `formal` had written the methods of six of the other ten papers and had seen their
published values; their scores say less than those above. Two of the five held-out papers were
written after `formal` was committed, by an author who had not looked at it.

Row order and brackets of most tables are from knowledge of the printed layout and not from the
page: `layout.toml` says `partly` where that is so.
"""


def registry(name: str) -> dict[str, Any]:
    """Content of a registry."""
    return tomllib.loads(resources.files("data").joinpath("registries", name).read_text())


def package_figures(folder: PaperFolder) -> str:
    """Cells of the package's code by how they stand to the print."""
    path = folder.root / "package" / "reproduction.csv"
    if not path.is_file():
        return "not run"
    with path.open(newline="") as file:
        counts = Counter(row["match"] for row in csv.DictReader(file))
    missing = f", {counts['not_produced']} none" if counts["not_produced"] else ""
    return f"{counts['exact']}, {counts['within_2pct']}, {counts['off']}{missing}"


def paper_line(folder: PaperFolder, human: dict[str, Any]) -> str:
    """One paper as a row of the first table."""
    row = paper_row(folder)
    estimators = row["estimators"].replace("_", " ")
    shares = [
        f"{human[kind]['rounded']} of {human[kind]['cells']}" if kind in human else ""
        for kind in ("seen", "recalled")
    ]
    cells = [f"`{folder.id}`", estimators, str(row["seen"]), str(row["recalled"])]
    return f"| {' | '.join([*cells, package_figures(folder), *shares])} |"


def miss_lines(folder: PaperFolder) -> list[str]:
    """Rows of the table of misses."""
    path = folder.root / "human" / "misses.toml"
    if not path.is_file():
        return []
    found = tomllib.loads(path.read_text())["misses"]
    return [
        f"| `{folder.id}` `{one['table']}` | {len(one['cells'])} | {one['kind']} | {one['cause']} |"
        for one in found
    ]


def page(papers: tuple[PaperFolder, ...]) -> str:
    """The whole page."""
    human, formal = registry("human_first_contact.toml"), registry("formal_first_contact.toml")
    totals: dict[str, Counter[str]] = {"seen": Counter(), "recalled": Counter()}
    for one in human.values():
        for kind, total in totals.items():
            total.update(one.get(kind, {}))
    seen, recalled = totals["seen"], totals["recalled"]
    lines = [paper_line(folder, human[folder.id]) for folder in papers]
    shares = {rule: 100 * seen[rule] / seen["cells"] for rule in ("rounded", "raw", "interval")}
    text = HUMAN.format(
        a=seen["rounded"],
        n=seen["cells"],
        share=shares["rounded"],
        raw=shares["raw"],
        interval=shares["interval"],
        recalled_a=recalled["rounded"],
        recalled_n=recalled["cells"],
    )
    misses = [line for folder in papers for line in miss_lines(folder)]
    held_out = [
        f"| `{name}` | {one['cells']} | {one['produced']} | {one['rounded']} | {one['score']} |"
        for name, one in formal.items()
    ]
    parts = [HEAD, *_lines(lines), text, *_lines(misses), FORMAL, *_lines(held_out), LIMITS]
    return "".join(parts)


def _lines(rows: list[str]) -> list[str]:
    return [f"{row}\n" for row in rows]


if __name__ == "__main__":
    sys.stdout.write(page(bundled_papers()))
