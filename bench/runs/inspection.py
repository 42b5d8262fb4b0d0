"""Before a run: no published table may stand anywhere that an arm can read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bench.jail.sandbox import JailedSandbox
from bench.jail.scan import scan
from bench.runs.plan import PlannedRun
from data.ports import Bind, Sandbox
from data.records.errors import UserError

__all__ = ["refuse_published_tables"]

DATA_ROOT: Final = ("/data",)


def refuse_published_tables(
    runs: Sequence[PlannedRun], sandbox: Sandbox, say: Callable[[str], None]
) -> None:
    """Scan the jail for the tables of all papers, and each paper's data for its own.

    Parameters
    ----------
    runs : sequence of PlannedRun
    sandbox : Sandbox
        Without a jail there is nothing to scan; its level says so beside every grade.
    say : callable
        Told what is being done.

    Raises
    ------
    UserError
        Naming the file and the table, when a published table could be read.
    """
    if not isinstance(sandbox, JailedSandbox) or not runs:
        return
    papers = {run.paper.id: run for run in runs}
    say(f"Looking for the published tables of {len(papers)} papers inside the jail")
    tables = [table for run in papers.values() for table in run.paper.tables]
    _refuse(sandbox, tables, (), ("/",))
    for run in papers.values():
        files = [run.data_dir / file.name for file in run.paper.paper.files]
        binds = tuple(Bind(path, f"/data/{path.name}") for path in files)
        _refuse(sandbox, run.paper.tables, binds, DATA_ROOT)


def _refuse(
    sandbox: JailedSandbox, tables: Sequence[object], binds: Sequence[Bind], roots: Sequence[str]
) -> None:
    report = scan(tables, sandbox, binds, roots=roots)  # type: ignore[arg-type]
    if report.hits:
        hit = report.hits[0]
        raise UserError(
            f"an arm could read {hit.table}: {Path(hit.path)} holds {', '.join(hit.values)}. "
            "Nothing was run; take the file out of the analysis environment or the data"
        )
