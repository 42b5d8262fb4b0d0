"""Result tables, their cells, and their blinded templates.

Records are plain frozen dataclasses; `data.records.files` checks them where they cross a
file border. A body row is counted from 0 with standard-error rows included; panel heads and
label columns are attributes of rows, not rows or columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from data.records.metrics import UNGRADED_METRICS, Metric

__all__ = [
    "SCHEMA_VERSION",
    "Cell",
    "CellKey",
    "HeaderSpan",
    "Panel",
    "Row",
    "StarLevel",
    "Table",
    "TableKind",
    "TruthKind",
]

SCHEMA_VERSION: Final = 1


class CellKey(NamedTuple):
    """Position of one statistic in its table: body row, value column, part of the place."""

    row: int
    col: int
    part: int = 0


class TableKind(StrEnum):
    """What a table is for in its paper."""

    MAIN = "main"
    MECHANISM = "mechanism"
    ROBUSTNESS = "robustness"
    DESCRIPTIVE = "descriptive"
    OTHER = "other"


class TruthKind(StrEnum):
    """How the published values are known: read in print, or recalled and confirmed."""

    SEEN = "seen"
    RECALLED = "recalled"


@dataclass(frozen=True, slots=True)
class StarLevel:
    """One step of a table's star legend: the mark and the p-value below which it stands."""

    mark: str
    p_below: float


@dataclass(frozen=True, slots=True)
class HeaderSpan:
    """A printed head over the value columns `first` to `last`, both included."""

    text: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Row:
    """One body row. `label` is empty where the print has none, as under a coefficient."""

    index: int
    label: str
    panel: str | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """A printed block of rows, `first` to `last` both included."""

    label: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One statistic of a table.

    Attributes
    ----------
    row, col, part : int
        The cell's key within its table.
    row_label : str
        The row's label as printed; an unlabelled row keeps the label of the row above it.
    col_labels : tuple of str
        One label a header level, outermost first.
    panel : str or None
    text : str or None
        As printed, brackets and stars included. None in a template and where the
        print gives nothing.
    value : float or None
    decimals : int or None
        Digits printed after the decimal point.
    metric : Metric
    stars : int or None
        Number of significance marks printed; None where the table prints none at all.
    of : CellKey or None
        The estimate that a standard error, t, p or bound belongs to.
    unit : str or None
    truth_kind : TruthKind or None
        How this value is known; the table's own where None. A table may hold both kinds.
    """

    row: int
    col: int
    metric: Metric
    part: int = 0
    row_label: str = ""
    col_labels: tuple[str, ...] = ()
    panel: str | None = None
    text: str | None = None
    value: float | None = None
    decimals: int | None = None
    stars: int | None = None
    of: CellKey | None = None
    unit: str | None = None
    truth_kind: TruthKind | None = None

    @property
    def key(self) -> CellKey:
        """The cell's position in its table."""
        return CellKey(self.row, self.col, self.part)

    @property
    def is_graded(self) -> bool:
        """Whether the cell is a result; settings and text are inputs."""
        return self.metric not in UNGRADED_METRICS


@dataclass(frozen=True, slots=True)
class Table:
    """A published table, a blinded template of it, or a filled template.

    `role` says which. A template holds no result: `value`, `text`, `decimals`, `stars` are
    None in every graded cell, and it is made by `extract.blind` only.

    Raises
    ------
    ValueError
        When a template holds a result.
    """

    id: str
    slug: str
    cells: tuple[Cell, ...]
    role: Literal["published", "template", "reproduced"] = "published"
    paper_id: str | None = None
    number: str | None = None
    caption: str = ""
    kind: TableKind = TableKind.MAIN
    truth_kind: TruthKind | None = None
    header: tuple[tuple[HeaderSpan, ...], ...] = ()
    rows: tuple[Row, ...] = ()
    panels: tuple[Panel, ...] = ()
    n_columns: int = 0
    notes: str = ""
    star_levels: tuple[StarLevel, ...] = ()
    rounding: Literal["half_away", "truncate"] = "half_away"
    readable: bool = True
    source_pages: tuple[int, ...] = ()
    source_boxes: tuple[tuple[float, float, float, float], ...] = ()
    schema_version: int = field(default=SCHEMA_VERSION)

    def __post_init__(self) -> None:
        if self.role != "template":
            return
        for cell in self.graded_cells:
            for name in ("value", "text", "decimals", "stars"):
                if getattr(cell, name) is not None:
                    raise ValueError(
                        f"a template holds no result: cell {cell.row},{cell.col},{cell.part} "
                        f"has {name}"
                    )

    @property
    def graded_cells(self) -> tuple[Cell, ...]:
        """The result cells, in the table's own order."""
        return tuple(cell for cell in self.cells if cell.is_graded)
