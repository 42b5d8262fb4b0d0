"""Cells whose letter moves between two gradings."""

from __future__ import annotations

from data.records.grades import CellGrade, MovedCell, PaperGrade
from data.records.tables import CellKey

__all__ = ["moved_cells"]


def moved_cells(
    before: PaperGrade, after: PaperGrade, before_rule: str, after_rule: str
) -> tuple[MovedCell, ...]:
    """List the cells whose letter differs, in table order.

    Parameters
    ----------
    before, after : PaperGrade
        Of the same paper; a cell that only one of them has is listed with None for the other.
    before_rule, after_rule : str
        Cell rules of the two rubrics.
    """
    old, new = _by_key(before), _by_key(after)
    moved = []
    for key in sorted(old.keys() | new.keys()):
        left, right = old.get(key), new.get(key)
        known = left if right is None else right
        if known is None:
            continue
        was = None if left is None else left.grades[before_rule]
        now = None if right is None else right.grades[after_rule]
        letters = (None if was is None else was.grade, None if now is None else now.grade)
        if letters[0] == letters[1]:
            continue
        moved.append(
            MovedCell(
                table=known.table,
                row=known.row,
                col=known.col,
                part=known.part,
                metric=known.metric,
                row_label=known.row_label,
                col_labels=known.col_labels,
                published=known.published,
                reproduced_raw=known.reproduced_raw,
                before=letters[0],
                after=letters[1],
                before_deviation=None if was is None else was.deviation,
                after_deviation=None if now is None else now.deviation,
                reason=known.reason,
            )
        )
    return tuple(moved)


def _by_key(paper: PaperGrade) -> dict[tuple[str, CellKey], CellGrade]:
    return {(cell.table, cell.key): cell for table in paper.tables for cell in table.cells}
