"""Prints a frame: for the eye, as JSON or as CSV."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["print_frame"]


def print_frame(answer: pd.DataFrame, *, json: bool = False, csv: bool = False) -> None:
    """Print a frame to standard output; unknown values are null in JSON, empty in CSV.

    Parameters
    ----------
    answer : pandas.DataFrame
    json, csv : bool
        At most one of them; without either a table is set.

    Raises
    ------
    UserError
        When both are asked for.
    """
    from data.records.errors import UserError

    if json and csv:
        raise UserError("--json and --csv exclude each other: ask for one")
    if json:
        sys.stdout.write(answer.to_json(orient="records", date_format="iso", indent=2) + "\n")
    elif csv:
        sys.stdout.write(answer.to_csv(index=False, lineterminator="\n"))
    else:
        _print_table(answer)


def _print_table(answer: pd.DataFrame) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in answer.columns:
        numeric = answer[name].dtype.kind in "fiu"
        table.add_column(Text(str(name)), justify="right" if numeric else "left")
    for row in answer.itertuples(index=False):
        table.add_row(*(Text(_shown(value)) for value in row))
    Console(highlight=False).print(table)


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
