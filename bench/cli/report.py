"""`bench report`: write a store's report as a static site."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bench.cli.leaderboard import TruthChoice

__all__ = ["report"]


def report(
    store: Annotated[
        Path, typer.Argument(metavar="[STORE]", help="Store, or a leaderboard's folder.")
    ] = Path(),
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Folder of the site; report/ beside the store if none."),
    ] = None,
    rubric: Annotated[str, typer.Option("--rubric", help="The rubric that ranks.")] = "kohler2026",
    truth: Annotated[
        TruthChoice | None,
        typer.Option(
            "--truth", help="Published values: seen in print (if there are any), recalled, all."
        ),
    ] = None,
    include_self_test: Annotated[
        bool, typer.Option("--include-self-test", help="Show arms that know the truth, too.")
    ] = False,
) -> None:
    """Write a store's report as a static site that opens without a server.

    Example: bench report runs/demo --to report
    """
    from bench.leaderboard import usual_truth
    from bench.report.site import write_report
    from data.store.read import find_store, open_store

    found = find_store(store)
    with open_store(found) as connection:
        chosen = truth.value if truth else usual_truth(connection)
    page = write_report(
        found,
        to or found.parent / "report",
        rubric=rubric,
        truth=chosen,
        include_self_test=include_self_test,
    )
    sys.stdout.write(f"{page}\n")
