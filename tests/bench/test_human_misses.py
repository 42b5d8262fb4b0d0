"""The human re-implementations: their grades at first contact, and what explains each miss.

Every paper is run once more in the real jail. What is not an A under kohler2026 `rounded` must
stand in the paper's human/misses.toml, and what is said there is run or reckoned again.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from pathlib import Path
from typing import Any

import pytest

from bench.environment import analysis_environment
from bench.grading import read_grades
from bench.jail.sandbox import open_sandbox
from bench.runs.execute import execute
from bench.runs.leaderboard_file import parse_leaderboard
from bench.runs.perform import SandboxedAttempt
from bench.runs.plan import plan_runs
from data.corpus import PaperFolder, bundled_folder, bundled_papers, data_directory
from data.records.grades import CellGrade, GradeFile
from data.records.runs import Isolation, RunStatus

REGISTRY = bundled_folder().parent / "registries" / "human_first_contact.toml"
FIRST_CONTACT: dict[str, dict[str, Any]] = tomllib.loads(REGISTRY.read_text(encoding="utf-8"))
PAPERS = tuple(paper for paper in bundled_papers() if paper.human_scripts)
KINDS = {"change", "rounding", "bound", "unexplained"}
RULES = {"rounded": "kohler2026", "raw": "kohler2026", "interval": "printed"}
Place = tuple[str, int, int, int]


@dataclass(frozen=True)
class Miss:
    """An entry of misses.toml."""

    table: str
    places: tuple[Place, ...]
    kind: str
    cause: str
    edits: tuple[tuple[str, str], ...]


def misses_of(paper: PaperFolder) -> list[Miss]:
    path = paper.root / "human" / "misses.toml"
    if not path.is_file():
        return []
    values = tomllib.loads(path.read_text(encoding="utf-8"))
    assert set(values) == {"misses"}, path
    return [_miss(**entry) for entry in values["misses"]]


def _miss(
    table: str,
    cells: list[list[int]],
    kind: str,
    cause: str,
    edits: Sequence[tuple[str, str]] = (),
) -> Miss:
    places = tuple((table, cell[0], cell[1], cell[2] if cell[2:] else 0) for cell in cells)
    return Miss(table, places, kind, cause, tuple((old, new) for old, new in edits))


def place_of(cell: CellGrade) -> Place:
    return (cell.table, cell.row, cell.col, cell.part)


def cells_under(grades: GradeFile, rubric: str) -> Iterator[CellGrade]:
    for table in grades.paper(rubric).tables:
        yield from table.cells


def graded_again(paper: PaperFolder, folder: Path) -> GradeFile:
    """Grades of a paper's human scripts, run anew in the jail; `folder` is empty."""
    text = f'name = "again"\npapers = ["{paper.root}"]\n[[arms]]\nname = "human"\n'
    board = parse_leaderboard(text, base=folder, where="again")
    plan = plan_runs(board, data_directory)
    sandbox = open_sandbox(Isolation.NAMESPACES, analysis=analysis_environment())
    runs = folder / "again"
    runs.mkdir()
    outcome = execute(plan, runs, SandboxedAttempt(sandbox), jobs=1, report=lambda happened: None)
    (record,) = outcome.ran
    log = runs / plan.runs[0].place / "attempt_01" / "raw" / "stderr"
    assert (record.status, record.attempts[0].exit_code) == (RunStatus.FINISHED, 0), log.read_text()
    return read_grades(runs / plan.runs[0].place / "grade.json")


def named(papers: Sequence[PaperFolder]) -> Any:
    return pytest.mark.parametrize("paper", papers, ids=lambda paper: paper.id)


# --------------------------------------------------------------------------- the first contact


def scripts_hash(paper: PaperFolder) -> str:
    digest = hashlib.sha256()
    for path in sorted(paper.human_scripts.values()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def test_every_paper_with_scripts_is_registered_and_unchanged() -> None:
    registered = {name: entry["scripts"] for name, entry in FIRST_CONTACT.items()}
    assert registered == {paper.id: scripts_hash(paper) for paper in PAPERS}


def test_nine_in_ten_seen_cells_had_an_a_at_first_contact() -> None:
    total: Counter[str] = Counter()
    for entry in FIRST_CONTACT.values():
        total.update(entry.get("seen", {}))
    assert total["cells"] > 800
    assert total["rounded"] / total["cells"] >= 0.90


def counted(grades: GradeFile) -> dict[str, dict[str, int]]:
    """Graded cells and As by how their truth is known, as the registry has them."""
    counts: dict[str, Counter[str]] = {}
    for rule, rubric in RULES.items():
        for cell in cells_under(grades, rubric):
            letter = cell.grades[rule].grade
            assert cell.truth_kind is not None
            known = counts.setdefault(cell.truth_kind.value, Counter())
            known[f"cells {rule}"] += letter is not None
            known[rule] += letter == "A"
    for known in counts.values():
        assert known["cells rounded"] == known["cells raw"] == known["cells interval"]
    return {
        kind: {"cells": known["cells rounded"], **{rule: known[rule] for rule in RULES}}
        for kind, known in counts.items()
    }


@pytest.mark.jail
@named(PAPERS)
def test_the_misses_are_those_listed(paper: PaperFolder, tmp_path: Path) -> None:
    grades = graded_again(paper, tmp_path)
    cells = {place_of(cell): cell for cell in cells_under(grades, "kohler2026")}
    missed = {
        place for place, cell in cells.items() if cell.grades["rounded"].grade not in (None, "A")
    }
    listed = [place for miss in misses_of(paper) for place in miss.places]
    assert sorted(listed) == sorted(missed)
    kept = {name: value for name, value in FIRST_CONTACT[paper.id].items() if name != "scripts"}
    assert counted(grades) == kept
    for miss in misses_of(paper):
        for place in miss.places:
            if miss.kind == "rounding":
                assert cut_off(cells[place]) == printed_number(cells[place])
            if miss.kind == "bound":
                assert satisfies_its_bound(cells[place])


def printed_number(cell: CellGrade) -> Decimal:
    """The number in a printed text: its brackets, separators and stars left out."""
    assert cell.published_text is not None
    return Decimal(re.sub(r"[^0-9.-]", "", cell.published_text.replace("−", "-")))


def cut_off(cell: CellGrade) -> Decimal:
    """The reproduced value with no more decimals than print has, towards zero."""
    assert cell.decimals is not None
    assert cell.factor == 1
    unit = Decimal(1).scaleb(-cell.decimals)
    return Decimal(repr(cell.reproduced)).quantize(unit, rounding=ROUND_DOWN)


def satisfies_its_bound(cell: CellGrade) -> bool:
    """Whether a value lies between zero and the number after the sign that print has."""
    assert cell.factor == 1
    bound = re.search(r"<\s*([0-9.]+)", cell.published_text or "")
    return bound is not None and 0 <= Decimal(repr(cell.reproduced)) < Decimal(bound[1])


# --------------------------------------------------------------------------- what explains them


@named(PAPERS)
def test_every_entry_is_complete(paper: PaperFolder) -> None:
    slugs = {table.slug for table in paper.tables}
    for miss in misses_of(paper):
        assert miss.table in slugs & set(paper.human_scripts)
        assert miss.kind in KINDS
        assert miss.places
        assert miss.cause.endswith(".")
        assert "\n" not in miss.cause
        assert bool(miss.edits) == (miss.kind == "change")


def edited(paper: PaperFolder, miss: Miss) -> str:
    """Script of a table with the edits made; the text of each stands there once."""
    text = paper.human_scripts[miss.table].read_text(encoding="utf-8")
    for old, new in miss.edits:
        assert text.count(old) == 1, f"{paper.id}: {miss.table}: {text.count(old)} times: {old}"
        assert old != new
        text = text.replace(old, new)
    return text


def changes_of(paper: PaperFolder) -> list[Miss]:
    return [miss for miss in misses_of(paper) if miss.kind == "change"]


def rounds_of(changes: Sequence[Miss]) -> list[list[Miss]]:
    """Changes that can be run at once: those of different tables, whose scripts are apart."""
    rounds: list[list[Miss]] = []
    for miss in changes:
        free = (one for one in rounds if miss.table not in {other.table for other in one})
        found = next(free, None)
        if found is None:
            rounds.append([miss])
        else:
            found.append(miss)
    return rounds


def changed_copy(paper: PaperFolder, changes: Sequence[Miss], folder: Path) -> PaperFolder:
    """The paper with the changed scripts and no other."""
    root = folder / paper.id
    shutil.copytree(paper.root, root, ignore=shutil.ignore_patterns("human", "package"))
    (root / "human").mkdir()
    for miss in changes:
        (root / "human" / f"{miss.table}.py").write_text(edited(paper, miss), encoding="utf-8")
    return PaperFolder(root)


def speaks_of_a_change(paper: PaperFolder) -> bool:
    """Whether a change is listed, told from the text: a broken file fails tests, not them all."""
    path = paper.root / "human" / "misses.toml"
    return path.is_file() and 'kind = "change"' in path.read_text(encoding="utf-8")


CHANGED = tuple(paper for paper in PAPERS if speaks_of_a_change(paper))


@pytest.mark.jail
@named(CHANGED)
def test_the_changes_give_the_printed_values(paper: PaperFolder, tmp_path: Path) -> None:
    rounds = rounds_of(changes_of(paper))
    assert len(rounds) > 0
    for number, changes in enumerate(rounds):
        folder = tmp_path / str(number)
        folder.mkdir()
        grades = graded_again(changed_copy(paper, changes, folder), folder)
        cells = {place_of(cell): cell for cell in cells_under(grades, "kohler2026")}
        short = [
            (place, cells[place].published_text, cells[place].reproduced)
            for miss in changes
            for place in miss.places
            if cells[place].grades["rounded"].grade != "A" or cells[place].factor != 1
        ]
        assert short == []


@named(CHANGED)
def test_no_change_holds_a_printed_result(paper: PaperFolder) -> None:
    """Numbers that an edit brings in are none of those that it explains.

    Numbers of one significant digit say nothing here: a power or an index is one too.
    """
    tables = {table.slug: table for table in paper.tables}
    for miss in changes_of(paper):
        explained = {
            abs(cell.value)
            for cell in tables[miss.table].graded_cells
            if (miss.table, *cell.key) in miss.places and cell.value is not None
        }
        assert len(explained) > 0
        brought = numbers_in(" ".join(new for _, new in miss.edits))
        brought -= numbers_in(" ".join(old for old, _ in miss.edits))
        assert not explained & {float(one) for one in brought if len(one.strip("0.")) > 1}


def test_numbers_are_found_in_code() -> None:
    assert numbers_in("x = a1 * 0.65 + .02 - 236 ** 2") == {"0.65", ".02", "236", "2"}


def numbers_in(code: str) -> set[str]:
    return set(re.findall(r"(?<![\w.])\d*\.?\d+", code))
