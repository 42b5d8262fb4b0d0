"""`bench papers`: list, build, export, describe and check papers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data.records.errors import UserError

if TYPE_CHECKING:
    from data.corpus import PaperFolder

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

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
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, box=None, header_style="bold", title_justify="left")
    for name in names:
        number = all(isinstance(row[name], int | None) for row in rows)
        table.add_column(name.replace("_", " "), justify="right" if number else "left")
    for row in rows:
        table.add_row(*("" if row[name] is None else str(row[name]) for name in names))
    Console().print(table)


@app.command("list")
def list_papers(json: Json = False, csv: Csv = False) -> None:
    """List the bundled papers."""
    from bench.corpus.overview import paper_row

    rows = [paper_row(folder) for folder in _chosen(None)]
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
