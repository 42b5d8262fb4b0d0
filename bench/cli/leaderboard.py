"""`bench leaderboard`: rank the arms of a store."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from bench.leaderboard import Leaderboard, Rule

__all__ = ["leaderboard"]


class By(StrEnum):
    """What the leaderboard is broken down by."""

    PAPER = "paper"
    TABLE = "table"
    METRIC = "metric"


class TruthChoice(StrEnum):
    """Which published values count."""

    SEEN = "seen"
    RECALLED = "recalled"
    ALL = "all"


class DenominatorChoice(StrEnum):
    """What the shares are shares of."""

    PRODUCED = "produced"
    EXPECTED = "expected"
    EXPECTED_WITHOUT_INFRA = "expected_without_infra"


def leaderboard(
    store: Annotated[
        Path, typer.Argument(metavar="[STORE]", help="Store, or a leaderboard's folder.")
    ] = Path(),
    by: Annotated[
        By | None, typer.Option("--by", help="One row an arm and paper, table, metric.")
    ] = None,
    rubric: Annotated[str, typer.Option("--rubric", help="The rubric that ranks.")] = "kohler2026",
    truth: Annotated[
        TruthChoice | None,
        typer.Option(
            "--truth", help="Published values: seen in print (if there are any), recalled, all."
        ),
    ] = None,
    denominator: Annotated[
        DenominatorChoice, typer.Option("--denominator", help="What the shares are shares of.")
    ] = DenominatorChoice.EXPECTED,
    include_self_test: Annotated[
        bool, typer.Option("--include-self-test", help="Show arms that know the truth, too.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Rank the arms of a store.

    Example: bench leaderboard runs/demo --by paper
    """
    from bench import leaderboard as boards
    from bench.cli.listing import print_frame
    from data.store.read import find_store, open_store

    with open_store(find_store(store)) as connection:
        board = boards.leaderboard(
            connection,
            rubric=rubric,
            truth=truth.value if truth else boards.usual_truth(connection),
            include_self_test=include_self_test,
            denominator=denominator.value,
        )
        shown = None if by is None else _broken_down(connection, board, by)
    if json and shown is None:
        _print_json(board)
    elif shown is not None:
        print_frame(shown, json=json, csv=csv)
    elif csv:
        print_frame(board.rows, csv=True)
    else:
        _print_board(board, denominator.value)


def _broken_down(connection: duckdb.DuckDBPyConnection, board: Leaderboard, by: By) -> pd.DataFrame:
    from bench.leaderboard import metric_grades, table_scores

    rule: Rule = board.rule
    arms = set(board.rows["arm"])
    if by is By.PAPER:
        return board.papers
    if by is By.TABLE:
        rows = table_scores(connection, rule, board.truth).drop(columns=["run_id", "position"])
    else:
        rows = metric_grades(connection, rule, board.truth)
    return rows[rows["arm"].isin(arms)].reset_index(drop=True)


def _print_json(board: Leaderboard) -> None:
    """Rows, shares over all denominators and papers, as one JSON object."""
    import json
    import sys

    def plain(rows: pd.DataFrame) -> Any:
        return json.loads(rows.to_json(orient="records"))

    values = {
        "rule": str(board.rule),
        "beside": str(board.beside),
        "truth": board.truth,
        "arms": plain(board.rows),
        "shares": plain(board.shares),
        "papers": plain(board.papers),
    }
    sys.stdout.write(json.dumps(values, ensure_ascii=False, indent=2) + "\n")


_COLUMNS = (
    ("score", "score", ".2f"),
    ("95 %", "interval", ""),
    ("raw non-F", "score_beside", ".2f"),
    ("printed", "score_printed", ".2f"),
    ("coverage", "coverage", "%"),
    ("wrong", "wrong", "%"),
    ("tables A-B", "tables_ab", "%"),
    ("sign", "sign_agreement", "%"),
    ("1.96 SE", "within_se", "%"),
    ("rescaled", "rescaled", "%"),
    ("papers", "papers", "d"),
    ("runs", "runs", "d"),
    ("detectable", "detectable", ".2f"),
    ("isolation", "isolation", ""),
)


def _print_board(board: Leaderboard, denominator: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("arm", no_wrap=True, max_width=26, overflow="ellipsis")
    for head, _, form in _COLUMNS:
        table.add_column(head, justify="right" if form else "left", no_wrap=True)
    kinds = {"self_test": "self-test", "baseline": "baselines"}
    before = ""
    for row in board.rows.to_dict("records"):
        kind = kinds.get(row["kind"], "")
        if kind != before:
            table.add_row(Text(f"-- {kind}", style="dim"))
            before = kind
        low, high = row["low"], row["high"]
        row["interval"] = f"{low:.2f} to {high:.2f}" if low == low else ""
        cells = [Text(_said(row[name], form)) for _, name, form in _COLUMNS]
        table.add_row(Text(str(row["arm"])), *cells)
    console = Console(highlight=False)
    if console.width < 130 and not console.is_terminal:
        console = Console(highlight=False, width=180)
    console.print(table)
    console.print(Text(_legend(board, denominator), style="dim"))


def _said(value: Any, form: str) -> str:
    if value is None or value != value:
        return ""
    if form == "%":
        return f"{100 * value:.1f} %"
    return format(value, form) if form else str(value)


def _legend(board: Leaderboard, denominator: str) -> str:
    ranked = board.rows[board.rows["kind"].isin(["contestant", "reference"])]
    positive = ranked["all_positive"].dropna()
    base = f"; all positive would reach {100 * positive.mean():.1f} %" if len(positive) else ""
    of = {
        "produced": "of what was produced",
        "expected": "of all expected, missing counts as missed",
        "expected_without_infra": "of all expected in runs that the machine did not fail",
    }[denominator]
    few = (
        " Fewer than six papers: no interval." if len(ranked) and ranked["papers"].max() < 6 else ""
    )
    return (
        f"{board.rule}, truth {board.truth}; papers equal. Shares: {of}{base}. "
        f"Beside it: {board.beside}.{few}"
    )
