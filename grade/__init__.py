"""Truth and reproduced bytes in, graded tables and papers out. No I/O, no model, no clock."""

from grade.papers import at_least_one_non_f, grade_paper, grade_table, shares
from grade.reading import ReproducedTable, read_reproduced
from grade.rubrics import SHIPPED_RUBRICS, load_rubric, parse_rubric
from grade.tables import grade_tables

__all__ = [
    "SHIPPED_RUBRICS",
    "ReproducedTable",
    "at_least_one_non_f",
    "grade_paper",
    "grade_table",
    "grade_tables",
    "load_rubric",
    "parse_rubric",
    "read_reproduced",
    "shares",
]
