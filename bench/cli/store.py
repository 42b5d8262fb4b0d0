"""`bench store`: build, query and export the results store of a leaderboard."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from data.store.build import PublishedPaper

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Store = Annotated[
    Path,
    typer.Option(
        "--store", help="Store, or a leaderboard's folder; found below runs/ if not given."
    ),
]


@app.command()
def build(
    runs: Annotated[Path, typer.Argument(metavar="RUNS/LEADERBOARD", help="Folder of its runs.")],
    paper: Annotated[
        list[str] | None,
        typer.Option("--paper", help="Folder of a paper that is not bundled. May be repeated."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--to", help="The store; RUNS/LEADERBOARD/store.duckdb if none.")
    ] = None,
) -> None:
    """Make the store of a leaderboard from its run directories.

    Example: bench store build runs/demo
    """
    from rich.console import Console

    from bench.baselines import baseline_runs
    from bench.grading import rubrics_named
    from data.records.errors import UserError
    from data.store.build import build_store, papers_of_runs

    ids = papers_of_runs(runs)
    if not ids or not any(any(runs.glob(f"*/*/*/{name}")) for name in ("spec.json", "run.json")):
        raise UserError(f"{runs}: no runs in it; name a leaderboard's folder, such as runs/demo")
    papers, problems = _papers(ids, paper or ())
    rubrics = rubrics_named(())
    report = build_store(
        runs,
        papers,
        baselines=baseline_runs(papers, rubrics),
        rubrics=rubrics,
        store=to,
        problems=problems,
    )
    console = Console(highlight=False, stderr=True, soft_wrap=True)
    for path, problem in report.problems:
        console.print(f"{path}: {problem}", style="yellow", markup=False)
    sys.stdout.write(
        f"{report.store}: {report.runs} runs on {report.papers} papers, {report.graded} graded, "
        f"{len(report.problems)} problems\n",
    )
    if report.problems:
        raise typer.Exit(1)


def _papers(
    ids: Sequence[str], given: Sequence[str]
) -> tuple[list[PublishedPaper], list[tuple[str, str]]]:
    """Papers that the runs name: from the given folders, else from the bundled ones."""
    from data.corpus import open_paper
    from data.records.errors import UserError
    from data.store.build import PublishedPaper

    folders = {folder.id: folder for folder in (open_paper(one) for one in given)}
    papers, problems = [], []
    for paper_id in ids:
        try:
            folder = folders.get(paper_id) or open_paper(paper_id)
            papers.append(PublishedPaper(folder.paper, folder.tables))
        except UserError as error:
            problems.append((paper_id, str(error)))
    return papers, problems


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="One query; the store is opened for reading only.")],
    store: Store = Path(),
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Ask the store a question in SQL.

    Example: bench store sql "select arm, runs, finished from run_statuses"
    """
    from bench.cli.listing import print_frame
    from data.records.errors import UserError
    from data.store.read import find_store, frame, open_store

    if not query.strip():
        raise UserError("no query; an example: bench store sql 'select * from arms'")
    with open_store(find_store(store)) as connection:
        answer = frame(connection, query)
    print_frame(answer, json=json, csv=csv)


@app.command()
def export(
    to: Annotated[Path, typer.Option("--to", help="Folder for the files.")],
    store: Store = Path(),
) -> None:
    """Write every table as Parquet and as CSV.

    Example: bench store export --to results
    """
    from data.store.read import export_store, find_store

    written = export_store(find_store(store), to)
    sys.stdout.write(f"{to}: {len(written)} files\n")
