"""One attempt at a run: stage the workspace, run the arm in the sandbox, collect its outputs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench.collector import Outputs, collect
from bench.jail.sandbox import JailedSandbox
from bench.runs.execute import Performed
from bench.runs.plan import PlannedRun
from bench.workspace import WorkspacePlan, build_workspace
from data.files_atomic import write_atomic
from data.ports import Command, Completed, Sandbox
from data.records.errors import InfrastructureError, UserError
from data.records.runs import Attempt, RunStatus

__all__ = ["SandboxedAttempt"]

ISOLATION_FILE: Final = "isolation.json"
COLLECTION_FILE: Final = "collection.json"
TABLE_SUFFIXES: Final = (".json", ".csv")


class SandboxedAttempt:
    """Does attempts in one sandbox.

    Parameters
    ----------
    sandbox : Sandbox
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def __call__(self, run: PlannedRun, folder: Path, number: int) -> Performed:
        """Do one attempt; what the machine or the preflight refuses is its status."""
        try:
            staged = build_workspace(
                folder,
                run.paper,
                run.data_dir,
                files=run.preparation.files,
                named=run.spec.arm.named,
                knows_answers=run.spec.arm.kind != "contestant",
            )
        except UserError as error:
            return self._ended(number, RunStatus.REFUSED, cause=str(error))
        try:
            return self._run(run, folder, number, staged)
        except InfrastructureError as error:
            return self._ended(number, RunStatus.INFRA_FAILED, cause=str(error))
        finally:
            staged.remove()

    def _run(self, run: PlannedRun, folder: Path, number: int, staged: WorkspacePlan) -> Performed:
        raw = folder / "raw"
        raw.mkdir()
        command = Command(
            argv=run.preparation.argv,
            binds=staged.binds,
            stdout=raw / "stdout",
            stderr=raw / "stderr",
            environment=dict(run.preparation.environment),
            limits=run.spec.limits,
        )
        write_atomic(folder / ISOLATION_FILE, _json(self._describe(command)))
        completed = self._sandbox.run(command)
        outputs = collect(staged.workspace, folder / "workspace", inputs=staged.inputs)
        write_atomic(folder / COLLECTION_FILE, _json(asdict(outputs)))
        attempt = self._ended(number, _status(completed), completed=completed).attempt
        return Performed(attempt, _tables(run, outputs))

    def _describe(self, command: Command) -> dict[str, Any]:
        if isinstance(self._sandbox, JailedSandbox):
            return self._sandbox.describe(command)
        return {"level": str(self._sandbox.isolation), "trace": "none"}

    def _ended(
        self,
        number: int,
        status: RunStatus,
        *,
        cause: str | None = None,
        completed: Completed | None = None,
    ) -> Performed:
        """Attempt with how it ended; the executor sets its times."""
        return Performed(
            Attempt(
                number=number,
                status=status,
                started="",
                ended="",
                wall_seconds=completed.wall_seconds if completed else 0.0,
                exit_code=completed.exit_code if completed else None,
                signal=completed.signal if completed else None,
                limit_hit=completed.limit_hit if completed else None,
                cause=completed.cause if completed else cause,
                isolation=self._sandbox.isolation,
            )
        )


def _status(completed: Completed) -> RunStatus:
    """Status of an arm that came to an end. What ends it within the limits is its own doing."""
    if completed.limit_hit is None:
        return RunStatus.FINISHED
    return RunStatus.TIMED_OUT if completed.limit_hit == "wall" else RunStatus.LIMIT_REACHED


def _tables(run: PlannedRun, outputs: Outputs) -> tuple[str, ...]:
    """Names of the collected files that are tables of the paper."""
    wanted = {f"{table.slug}{suffix}" for table in run.paper.tables for suffix in TABLE_SUFFIXES}
    return tuple(file.path for file in outputs.files if file.path in wanted)


def _json(values: Any) -> bytes:
    return json.dumps(values, indent=2, default=str).encode() + b"\n"
