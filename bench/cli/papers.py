"""`bench papers`: list, build, export, describe and check papers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data.records.errors import UserError

if TYPE_CHECKING:
    from bench.corpus.check import PaperCheck
    from data.corpus import PaperFolder

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

_IDENTIFYING = ("cell",)
_BRIEF = ("id", "year", "tables", "cells", "seen", "recalled", "estimators")

Papers = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PAPER]...", help="Bundled ids or folders; all bundled papers if none."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
Data = Annotated[
    Path | None,
    typer.Option("--data", help="Folder with one data folder a paper (else BLINDBENCH_DATA)."),
]


def _chosen(papers: Sequence[str] | None) -> tuple[PaperFolder, ...]:
    from data.corpus import bundled_papers, open_paper

    if papers:
        return tuple(open_paper(one) for one in papers)
    return bundled_papers()


def _complain(paper_id: str, error: UserError) -> None:
    for line in str(error).splitlines():
        sys.stderr.write(f"bench: {paper_id}: {line}\n")


def _print_rows(rows: Sequence[dict[str, Any]], title: str, *, json: bool, csv: bool) -> None:
    """Print rows of equal keys as JSON, CSV or a table for the eye."""
    if json:
        import json as json_module

        sys.stdout.write(json_module.dumps(rows, ensure_ascii=False, indent=2) + "\n")
        return
    names = list(rows[0]) if rows else []
    if csv:
        import csv as csv_module

        writer = csv_module.DictWriter(sys.stdout, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False
    )
    for name in names:
        number = all(isinstance(row[name], int | float | None) for row in rows)
        table.add_column(
            name.replace("_", " "),
            justify="right" if number else "left",
            overflow="fold" if name in _IDENTIFYING else "ellipsis",
            no_wrap=name not in _IDENTIFYING,
        )
    for row in rows:
        table.add_row(*(_shown(row[name]) for name in names))
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@app.command("list")
def list_papers(json: Json = False, csv: Csv = False) -> None:
    """List the bundled papers."""
    from bench.corpus.overview import paper_row

    rows = [paper_row(folder) for folder in _chosen(None)]
    if not json and not csv:
        rows = [{name: row[name] for name in _BRIEF} for row in rows]
    _print_rows(rows, f"{len(rows)} bundled papers", json=json, csv=csv)


@app.command()
def build(papers: Papers = None) -> None:
    """Make extracted/ from truth.csv, layout.toml, methods.json and paper.toml.

    A leak, or anything that does not fit, is named in one line, and nothing is written.
    """
    from bench.corpus.build import build_paper

    failed = 0
    for folder in _chosen(papers):
        try:
            changed = build_paper(folder.root)
        except UserError as error:
            failed += 1
            _complain(folder.id, error)
        else:
            word = f"{len(changed)} files written" if changed else "up to date"
            sys.stdout.write(f"{folder.id}: {word}\n")
    if failed:
        raise typer.Exit(2)


@app.command()
def export(
    papers: Papers = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Folder to write to, one subfolder a paper."),
    ] = None,
    record: Annotated[
        bool,
        typer.Option("--record", help="Write the hashes into paper.toml (for who adds a paper)."),
    ] = False,
) -> None:
    """Write the data of papers from the packages that publish them.

    Files that are already there with the recorded values are left alone.
    """
    from bench.corpus.export import export_paper, with_recorded_hash
    from data.corpus import data_root
    from data.files_atomic import write_atomic

    failed = 0
    for folder in _chosen(papers):
        try:
            done = export_paper(folder, data_root(to), accept_new=record)
        except UserError as error:
            failed += 1
            _complain(folder.id, error)
            continue
        for file in done:
            note = "" if file.recorded else f", hash {file.sha256}"
            sys.stdout.write(f"{folder.id}/{file.name}: {file.outcome}{note}\n")
        changed = [file for file in done if not file.recorded]
        if record and changed:
            path = folder.root / "paper.toml"
            text = path.read_text(encoding="utf-8")
            for file in changed:
                text = with_recorded_hash(text, file.name, file.sha256)
            write_atomic(path, text.encode())
    if failed:
        raise typer.Exit(2)


@app.command()
def methods(
    paper: Annotated[str, typer.Argument(help="A bundled id, or a paper's folder.")],
) -> None:
    """Print a paper's methods: everything that an arm is told."""
    from bench.corpus.overview import methods_lines
    from data.corpus import open_paper

    for line in methods_lines(open_paper(paper).methods):
        sys.stdout.write(line + "\n")


@app.command()
def check(
    papers: Papers = None,
    data: Data = None,
    rscript: Annotated[
        bool | None,
        typer.Option(
            "--rscript/--no-rscript",
            help="Run the R twins of the packages; without either, where Rscript is found.",
        ),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Record the twins' values in package/reproduction.csv.")
    ] = False,
    limit: Annotated[float, typer.Option("--limit", help="Seconds for each R twin.")] = 300.0,
    cells: Annotated[
        bool, typer.Option("--cells", help="List every cell, not only those that differ.")
    ] = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Check papers: records, data, links, leaks, and whether the package gives each cell.

    Exit code 1 when a paper has a problem. --json and --csv print one row a cell.
    """
    from bench.corpus.check import check_paper, find_rscript

    program = None if rscript is False else find_rscript()
    if rscript and program is None:
        raise UserError("Rscript is not installed: apt-get install r-base-core")
    done = [
        check_paper(folder, data=data, rscript=program, write=write, limit=limit)
        for folder in _chosen(papers)
    ]
    if json or csv:
        _print_rows([row for one in done for row in _cell_rows(one)], "", json=json, csv=csv)
    else:
        _print_rows([_check_row(one) for one in done], "Papers", json=False, csv=False)
        _print_cells(done, every=cells)
    for one in done:
        for note in one.notes:
            sys.stderr.write(f"bench: {one.paper_id}: note: {note}\n")
        for problem in one.problems:
            sys.stderr.write(f"bench: {one.paper_id}: {problem}\n")
    if any(one.problems for one in done):
        raise typer.Exit(1)


def _check_row(check: PaperCheck) -> dict[str, Any]:
    from bench.corpus.twins import Match

    ran = check.twins in ("executed", "recorded")
    return {
        "paper": check.paper_id,
        "problems": len(check.problems),
        "cells": len(check.cells),
        "seen": check.coverage.get("seen"),
        "R": check.twins,
        **{match.value: check.matches[match.value] if ran else None for match in Match},
    }


def _cell_rows(check: PaperCheck) -> list[dict[str, Any]]:
    ran = check.twins in ("executed", "recorded")
    return [
        {
            "paper": check.paper_id,
            "table": cell.cell[0],
            "row": cell.cell[1],
            "column": cell.cell[2],
            "metric": cell.cell[3],
            "published": cell.published,
            "package": cell.value,
            "match": cell.match.value if ran else check.twins,
        }
        for cell in check.cells
    ]


def _print_cells(checks: Sequence[PaperCheck], *, every: bool) -> None:
    rows = [row for one in checks for row in _cell_rows(one)]
    shown = rows if every else [row for row in rows if row["match"] in ("within_2pct", "off")]
    if shown:
        names = ("paper", "table", "row", "column", "metric")
        shown = [
            {
                "cell": " / ".join(row[name] for name in names),
                **{name: row[name] for name in ("published", "package", "match")},
            }
            for row in shown
        ]
        title = "Cells" if every else "Cells that the package does not give as printed"
        _print_rows(shown, title, json=False, csv=False)
