"""The ceiling: what the paper's own package code gives, as `bench papers check` recorded it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from bench.arms.inside import filling
from bench.arms.interface import ArmContext, ArmKind, NothingToRun, Preparation, options_of
from data.corpus import PaperFolder
from data.records.tables import CellKey

__all__ = ["PackageArm", "package_values"]


class PackageArm:
    """Fills the templates from `package/reproduction.csv`; nothing is estimated in the jail."""

    name = "package"
    kind: ArmKind = "baseline"

    def prepare(self, context: ArmContext) -> Preparation:
        """Values of the package, cell by cell; where it gives none the cell stays empty.

        Raises
        ------
        NothingToRun
            When the package was never run, or has no layout to place its values.
        UserError
            When the arm has options: it takes none.
        """
        options_of(context.arm, {})
        values = package_values(context.paper_folder) if context.paper_folder else {}
        if not values:
            raise NothingToRun(
                f"paper {context.paper_id} has no package/reproduction.csv; "
                "`bench papers check --write` makes it"
            )
        return filling(values, "done", name="package/values.json")


def package_values(folder: PaperFolder) -> dict[str, dict[CellKey, float]]:
    """Values of the package's code by table and cell; empty where it was never run.

    The file names cells as `truth.csv` does, by the keys of `layout.toml`. They find their place
    as the published values do: the table is built once more, from these values.

    Raises
    ------
    UserError
        When one of the three files is not what it should be.
    """
    from bench.corpus.sources import TruthRow, published_tables, read_layout, read_truth
    from bench.corpus.twins import read_reproduction

    paths = [folder.root / "package" / "reproduction.csv"]
    paths += [folder.root / name for name in ("truth.csv", "layout.toml")]
    if not all(path.is_file() for path in paths):
        return {}
    reproduction, truth, layout = (_content(path) for path in paths)
    given = {
        cell.cell: cell.value
        for cell in read_reproduction(reproduction, where=str(paths[0]))
        if cell.value is not None
    }
    rows: Sequence[TruthRow] = [
        replace(row, published=_plain(given[name]), stars=None)
        for row in read_truth(truth, where=str(paths[1]))
        if (name := (row.table, row.row, row.column, row.metric.value)) in given
    ]
    tables, _ = published_tables(folder.paper, read_layout(layout, where=str(paths[2])), rows)
    return {
        table.slug: {cell.key: cell.value for cell in table.graded_cells if cell.value is not None}
        for table in tables
    }


def _content(path: Path) -> bytes:
    return path.read_bytes()


def _plain(value: float) -> str:
    """All digits of a number without an exponent."""
    return format(Decimal(repr(value)), "f")
