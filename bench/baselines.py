"""Rules of thumb that need no data, graded like a run: what a score is worth.

They are made from the published table alone and stand in every leaderboard, apart from the arms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from data.records.files import record_to_json
from data.records.grades import GradeFile, Rubric
from data.records.tables import Cell, CellKey, Table
from data.store.build import BaselineRun, PublishedPaper
from grade import grade_paper, read_reproduced

__all__ = ["BASELINES", "baseline_runs"]


def _zero(table: Table) -> dict[CellKey, float]:
    """Zero in every cell."""
    return {cell.key: 0.0 for cell in table.graded_cells}


def _all_positive(table: Table) -> dict[CellKey, float]:
    """One in every cell: nothing but a positive sign."""
    return {cell.key: 1.0 for cell in table.graded_cells}


def _shuffled(table: Table) -> dict[CellKey, float]:
    """Each published value in the next row's place, statistic by statistic.

    Down the columns and round at the end, so that an estimate and its standard error move
    together and nothing is drawn.
    """
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in table.graded_cells:
        if cell.value is not None:
            groups[cell.metric.value].append(cell)
    values: dict[CellKey, float] = {}
    for cells in groups.values():
        ordered = sorted(cells, key=lambda cell: (cell.col, cell.row, cell.part))
        for cell, above in zip(ordered, ordered[-1:] + ordered[:-1], strict=True):
            values[cell.key] = above.value or 0.0
    return values


BASELINES: Final[Mapping[str, Callable[[Table], dict[CellKey, float]]]] = {
    "zero": _zero,
    "all_positive": _all_positive,
    "shuffled": _shuffled,
}


def _filled(table: Table, values: Mapping[CellKey, float]) -> bytes:
    cells = tuple(
        replace(cell, value=values.get(cell.key), text=None, decimals=None, stars=None)
        if cell.is_graded
        else cell
        for cell in table.cells
    )
    return record_to_json(replace(table, cells=cells, role="reproduced"))


def baseline_runs(
    papers: Sequence[PublishedPaper],
    rubrics: Sequence[Rubric],
) -> Iterator[BaselineRun]:
    """Grade every baseline on every paper, under every rubric.

    Parameters
    ----------
    papers : sequence of PublishedPaper
    rubrics : sequence of Rubric
    """
    for paper in papers:
        for name, fill in BASELINES.items():
            reproduced = {
                table.slug: read_reproduced(
                    _filled(table, fill(table)),
                    name=f"{table.slug}.json",
                    template=table,
                )
                for table in paper.tables
            }
            grades = tuple(grade_paper(paper.tables, reproduced, rubric) for rubric in rubrics)
            yield BaselineRun(name, paper.paper.id, GradeFile(paper.paper.id, grades))
