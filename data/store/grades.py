"""Rows of the store from a grade file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from data.records.grades import CellGrade, GradeFile, PaperGrade, TableGrade

__all__ = ["grade_rows"]

Row = dict[str, Any]


def grade_rows(run_id: str, grades: GradeFile) -> dict[str, list[Row]]:
    """Rows of `reproduced_cells`, `cell_grades`, `table_grades` and `paper_grades`.

    What a run put into a template is the same under every rubric up to alignment; it is taken
    from the first rubric of the file.
    """
    rows: dict[str, list[Row]] = {
        "reproduced_cells": [],
        "cell_grades": [],
        "table_grades": [],
        "paper_grades": [],
    }
    for place, paper in enumerate(grades.papers):
        rows["paper_grades"] += _paper_rows(run_id, paper)
        for table in paper.tables:
            rows["table_grades"] += _table_rows(run_id, table, grades.sources.get(table.table))
            for cell in table.cells:
                rows["cell_grades"] += _cell_rows(run_id, cell)
                if place == 0:
                    rows["reproduced_cells"].append(_reproduced_row(run_id, cell))
    return rows


def _key(run_id: str, cell: CellGrade) -> Row:
    return {
        "run_id": run_id,
        "table_slug": cell.table,
        "row": cell.row,
        "col": cell.col,
        "part": cell.part,
    }


def _reproduced_row(run_id: str, cell: CellGrade) -> Row:
    return _key(run_id, cell) | {
        "value": cell.reproduced_raw,
        "text": cell.reproduced_text,
        "reason": cell.reason.value,
    }


def _cell_rows(run_id: str, cell: CellGrade) -> Iterator[Row]:
    shared = _key(run_id, cell) | {
        "rubric": cell.rubric,
        "reason": cell.reason.value,
        "published": cell.published,
        "reproduced_raw": cell.reproduced_raw,
        "factor": cell.factor,
        "reproduced": cell.reproduced,
        "published_se": cell.published_se,
        "deviation_pct": cell.deviation_pct,
        "deviation_se": cell.deviation_se,
        "deviation_se_print": cell.deviation_se_print,
        "units_off": cell.units_off,
        "sign_agrees": cell.sign_agrees,
        "stars_agree": cell.stars_agree,
        "weak": cell.weak,
        "crosses": list(cell.crosses),
        "would_be_a_at": cell.would_be_a_at,
    }
    for name, graded in cell.grades.items():
        yield shared | {
            "cell_rule": name,
            "grade": graded.grade,
            "unrescued_grade": graded.unrescued,
            "deviation": graded.deviation,
            "measure": graded.measure,
        }


def _table_rows(run_id: str, table: TableGrade, source: str | None) -> Iterator[Row]:
    for graded in (*table.grades, *table.grades_by_truth):
        yield {
            "run_id": run_id,
            "rubric": table.rubric,
            "cell_rule": graded.cell_rule,
            "roll_up": graded.roll_up,
            "table_slug": table.table,
            "truth": graded.truth,
            "grade": graded.grade,
            "score": graded.score,
            "n_cells": graded.n_cells,
            "n_expected": table.coverage.expected,
            "n_produced": table.coverage.produced,
            "rescaled_cells": table.rescaled_cells,
            "weak_cells": table.weak_cells,
            "factor": table.factor,
            "aligned_by": table.aligned_by,
            "gradable": table.gradable,
            "source": source,
            "problems": list(table.problems),
            "extra_cells": list(table.extra_cells),
        }


def _paper_rows(run_id: str, paper: PaperGrade) -> Iterator[Row]:
    for graded in paper.grades:
        yield {
            "run_id": run_id,
            "rubric": paper.rubric,
            "rubric_version": paper.rubric_version,
            "rubric_hash": paper.rubric_hash,
            "cell_rule": graded.cell_rule,
            "roll_up": graded.roll_up,
            "truth": graded.truth,
            "is_headline": (graded.cell_rule, graded.roll_up) == tuple(paper.headline),
            "grade": graded.grade,
            "score": graded.score,
            "n_tables": graded.n_tables,
            "coverage": paper.coverage.share,
        }
