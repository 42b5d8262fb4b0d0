"""``bench doctor``: whether this installation can be trusted."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["doctor"]

_MARKS = {"ok": "[green]ok[/]", "missing": "[red]missing[/]", "note": "[yellow]note[/]"}


def doctor(
    self_test: Annotated[
        bool, typer.Option("--self-test", help="Run arms of known outcome through the pipeline.")
    ] = False,
    data: Annotated[Path | None, typer.Option(help="Folder of exported paper data.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say whether this installation can be trusted, what is missing and how to get it.

    Example: bench doctor --self-test
    """
    from bench.doctor import checks, fell_short

    found = checks(data=data)
    if self_test and not fell_short(found):
        from bench.self_test import self_test_checks

        found = (*found, *self_test_checks(data))
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in found], indent=2))
    else:
        from rich.console import Console
        from rich.markup import escape

        console = Console(highlight=False)
        width = max(len(check.name) for check in found)
        for check in found:
            console.print(f"{check.name:<{width}}  {_MARKS[check.state]:<18} {escape(check.found)}")
            if check.remedy and check.state != "ok":
                console.print(f"{'':<{width}}  {escape('→ ' + check.remedy)}", style="dim")
        if fell_short(found):
            console.print("\nNot to be trusted yet: see what is missing above.", style="bold red")
        else:
            tested = " Arms of known outcome got the grades they must get." if self_test else ""
            console.print(f"\nThis installation can run and grade.{tested}", style="bold green")
    if fell_short(found):
        raise typer.Exit(1)
