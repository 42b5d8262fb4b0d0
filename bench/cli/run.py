"""``bench run``, ``status``, ``stop``, ``resume``."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from bench.runs.leaderboard_file import Leaderboard
    from bench.runs.plan import Only, RunPlan

__all__ = ["resume", "run", "status", "stop"]

COPY_FILE: Final = "leaderboard.toml"
ORIGIN_FILE: Final = "origin.json"

DataOption = Annotated[
    Path | None, typer.Option(help="Folder of exported paper data (default: BLINDBENCH_DATA).")
]
JobsOption = Annotated[int | None, typer.Option(min=1, help="Runs at a time (default: cores).")]
IsolationOption = Annotated[
    str | None, typer.Option(help="namespaces (default), or none: no jail, shown at every grade.")
]
RetryOption = Annotated[
    bool, typer.Option("--retry-failed", help="Run again what the machine failed.")
]


def run(
    leaderboard: Annotated[str, typer.Argument(help="TOML file, or the name of a shipped one.")],
    to: Annotated[Path, typer.Option(help="Folder of runs.")] = Path("runs"),
    data: DataOption = None,
    jobs: JobsOption = None,
    isolation: IsolationOption = None,
    only_arm: Annotated[list[str] | None, typer.Option(help="Keep this arm only.")] = None,
    only_paper: Annotated[list[str] | None, typer.Option(help="Keep this paper only.")] = None,
    retry_failed: RetryOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan and stop.")] = False,
) -> None:
    """Run the arms of a leaderboard on its papers; what is finished is not run again.

    Example: bench run demo --only-arm formal
    """
    from bench.runs.leaderboard_file import find_leaderboard

    text, base = find_leaderboard(leaderboard)
    _run(text, base, leaderboard, to, data, jobs, isolation, only_arm, only_paper, retry_failed,
         dry_run)  # fmt: skip


def resume(
    leaderboard: Annotated[Path, typer.Argument(help="Folder of a leaderboard's runs.")],
    data: DataOption = None,
    jobs: JobsOption = None,
    retry_failed: RetryOption = False,
) -> None:
    """Go on with a leaderboard from its folder, as `run` was last told.

    Example: bench resume runs/demo
    """
    from data.records.errors import UserError

    copy, origin = leaderboard / COPY_FILE, leaderboard / ORIGIN_FILE
    if not copy.is_file() or not origin.is_file():
        raise UserError(f"{leaderboard}: no {COPY_FILE} in it: `bench run` makes such folders")
    told = json.loads(origin.read_text())
    kept = Path(told["data"]) if told["data"] else None
    _run(copy.read_text(), Path(told["base"]), str(copy), leaderboard.parent, data or kept, jobs,
         told["isolation"], told["only_arm"], told["only_paper"], retry_failed, False)  # fmt: skip


def _run(
    text: str,
    base: Path,
    where: str,
    to: Path,
    data: Path | None,
    jobs: int | None,
    isolation: str | None,
    only_arm: list[str] | None,
    only_paper: list[str] | None,
    retry_failed: bool,
    dry_run: bool,
) -> None:
    from rich.console import Console

    from bench.environment import analysis_environment
    from bench.jail.sandbox import open_sandbox
    from bench.runs.execute import Standing, execute, standing
    from bench.runs.inspection import refuse_published_tables
    from bench.runs.leaderboard_file import parse_leaderboard
    from bench.runs.lock import leaderboard_lock
    from bench.runs.perform import SandboxedAttempt
    from bench.runs.plan import Only, plan_runs
    from bench.runs.progress import RunDisplay
    from data.corpus import data_directory

    console = Console(highlight=False)
    board = _with_isolation(parse_leaderboard(text, base=base, where=where), isolation)
    only = Only(frozenset(only_paper or ()), frozenset(only_arm or ()))
    plan = plan_runs(board, lambda paper: data_directory(paper, data), only)
    folder = to / board.name
    todo = [
        one
        for one in plan.runs
        if standing(one, folder, retry_failed=retry_failed) is not Standing.DONE
    ]
    workers = jobs or os.cpu_count() or 1
    _show_plan(console, board, plan, len(todo), workers)
    if dry_run or not todo:
        return
    sandbox = open_sandbox(board.isolation, analysis=analysis_environment())
    folder.mkdir(parents=True, exist_ok=True)
    with leaderboard_lock(folder):
        _keep_origin(folder, board, data, isolation, only)
        refuse_published_tables(todo, sandbox, lambda line: console.print(line, style="dim"))
        with RunDisplay(console, len(todo)) as display:
            outcome = execute(
                plan,
                folder,
                SandboxedAttempt(sandbox),
                jobs=workers,
                report=display,
                retries=board.infrastructure_retries,
                retry_failed=retry_failed,
            )
    ended = Counter(record.status.value for record in outcome.ran)
    summary = ", ".join(f"{count} {name}" for name, count in sorted(ended.items())) or "none"
    console.print(f"{len(outcome.ran)} runs ended: {summary}. They are in {folder}")
    if outcome.stopped:
        console.print(f"Stopped. Go on with: bench resume {folder}", style="yellow")
        raise typer.Exit(1)
    if ended["infra_failed"] or ended["refused"]:
        raise typer.Exit(1)


def _with_isolation(board: Leaderboard, isolation: str | None) -> Leaderboard:
    from dataclasses import replace

    from data.records.errors import UserError
    from data.records.runs import Isolation

    if isolation is None:
        return board
    try:
        return replace(board, isolation=Isolation(isolation))
    except ValueError:
        raise UserError(f"--isolation {isolation}: namespaces or none") from None


def _show_plan(console: object, board: Leaderboard, plan: RunPlan, todo: int, workers: int) -> None:
    papers = {one.paper.id for one in plan.runs}
    arms = {one.spec.arm.name for one in plan.runs}
    models = {one.spec.arm.model for one in plan.runs} - {None}
    cost = (
        "no model is called: no cost"
        if not models
        else f"models: {', '.join(sorted(map(str, models)))}"
    )
    limit = sum(one.spec.limits.wall_seconds for one in plan.runs) / 60 / workers
    say = console.print  # type: ignore[attr-defined]
    say(
        f"[bold]{board.name}[/]: {len(papers)} papers x {len(arms)} arms x {board.repetitions} = "
        f"{len(plan.runs)} runs; {len(plan.runs) - todo} done, {todo} to do, {workers} at a time"
    )
    say(f"isolation {board.isolation}; {cost}; at most {limit:.0f} minutes by the limits")
    for arm in dict.fromkeys(left.arm for left in plan.left_out):
        mine = [left for left in plan.left_out if left.arm == arm]
        say(f"left out: {arm} on {len(mine)} papers, the first: {mine[0].why}", style="dim")


def _keep_origin(
    folder: Path, board: Leaderboard, data: Path | None, isolation: str | None, only: Only
) -> None:
    """Keep what `resume` needs to do the same again."""
    from data.files_atomic import write_atomic

    told = {
        "base": str(board.base),
        "data": str(data.absolute()) if data else None,
        "isolation": isolation,
        "only_arm": sorted(only.arms),
        "only_paper": sorted(only.papers),
    }
    write_atomic(folder / COPY_FILE, board.text.encode())
    write_atomic(folder / ORIGIN_FILE, json.dumps(told, indent=2).encode())


def status(
    leaderboard: Annotated[Path, typer.Argument(help="Folder of a leaderboard's runs.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how far a leaderboard's runs are.

    Example: bench status runs/demo
    """
    from bench.runs.lock import running_process
    from bench.runs.state import run_states

    states = tuple(run_states(leaderboard))
    owner = running_process(leaderboard)
    if as_json:
        rows = [
            {
                "paper": one.spec.paper.paper_id,
                "arm": one.spec.arm.name,
                "repetition": one.spec.repetition,
                "status": one.status.value,
                "interrupted": one.interrupted,
                "graded": one.graded,
                "isolation": one.spec.isolation.value,
                "wall_seconds": one.attempt.wall_seconds if one.attempt else None,
            }
            for one in states
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    names = sorted({one.status.value for one in states})
    table = Table("arm", *names, "interrupted", "graded", box=None, pad_edge=False)
    for arm in sorted({one.spec.arm.name for one in states}):
        mine = [one for one in states if one.spec.arm.name == arm]
        counts = Counter(one.status.value for one in mine)
        table.add_row(
            arm,
            *(str(counts[name] or "") for name in names),
            str(sum(one.interrupted for one in mine) or ""),
            str(sum(one.graded for one in mine) or ""),
        )
    console.print(table)
    running = f"process {owner.pid} is running it" if owner else "nobody is running it here"
    console.print(f"{len(states)} runs; {running}", style="dim")


def stop(
    leaderboard: Annotated[Path, typer.Argument(help="Folder of a leaderboard's runs.")],
    patience: Annotated[float, typer.Option(help="Seconds to wait for it.")] = 30.0,
) -> None:
    """Stop the process that is running a leaderboard; what is finished stays.

    Example: bench stop runs/demo
    """
    from bench.runs.lock import ask_to_stop

    if not ask_to_stop(leaderboard, patience):
        typer.echo(f"{leaderboard}: asked to stop, still ending after {patience:.0f} s")
        raise typer.Exit(1)
    typer.echo(f"{leaderboard}: stopped; go on with: bench resume {leaderboard}")
