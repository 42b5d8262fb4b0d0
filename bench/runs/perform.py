"""One attempt at a run: stage the workspace, run the arm in the sandbox, collect its outputs.

How the arm ended is written down before anything is collected. An attempt whose process died
after that is finished from its stage by the next one, so that nothing that was paid for is lost.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench.collector import collect
from bench.jail.sandbox import JailedSandbox
from bench.runs.execute import Interrupted
from bench.runs.plan import PlannedRun
from bench.workspace import WorkspacePlan, build_workspace, staged_before
from data.files_atomic import write_atomic
from data.ports import Command, Completed, Sandbox
from data.records.errors import InfrastructureError, UserError
from data.records.files import record_from_json, record_to_json
from data.records.runs import Attempt, RunStatus

__all__ = ["SandboxedAttempt"]

ISOLATION_FILE: Final = "isolation.json"
COMPLETED_FILE: Final = "completed.json"
COLLECTION_FILE: Final = "collection.json"
WORKSPACE_FOLDER: Final = "workspace"


class SandboxedAttempt:
    """Does attempts in one sandbox.

    Parameters
    ----------
    sandbox : Sandbox
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def __call__(
        self, run: PlannedRun, folder: Path, number: int, stopping: Callable[[], bool]
    ) -> Attempt:
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
            self._run(run, folder, staged)
        except UserError as error:
            staged.remove()
            return self._ended(number, RunStatus.REFUSED, cause=str(error))
        except InfrastructureError as error:
            staged.remove()
            return self._ended(number, RunStatus.INFRA_FAILED, cause=str(error))
        if stopping():
            # The jails are being ended, so what this one looks like is not the arm's doing.
            raise Interrupted
        return self._finish(folder, number, staged)

    def recover(self, folder: Path, number: int) -> Attempt | None:
        """Finish an attempt whose process died; None where the arm had not ended.

        What an unended arm had written so far is kept in the attempt's folder.
        """
        staged = staged_before(folder)
        if staged is None:
            return None
        if (folder / COMPLETED_FILE).is_file() and staged.workspace.is_dir():
            return self._finish(folder, number, staged)
        if staged.workspace.is_dir():
            _collect(folder, staged)
        staged.remove()
        return None

    def _run(self, run: PlannedRun, folder: Path, staged: WorkspacePlan) -> None:
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
        write_atomic(folder / COMPLETED_FILE, record_to_json(completed))

    def _finish(self, folder: Path, number: int, staged: WorkspacePlan) -> Attempt:
        """Collect what an ended arm left. The stage stays where that cannot be done."""
        content = (folder / COMPLETED_FILE).read_bytes()
        completed = record_from_json(Completed, content, where=str(folder / COMPLETED_FILE))
        _collect(folder, staged)
        attempt = self._ended(number, _status(completed), completed=completed)
        staged.remove()
        return attempt

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
    ) -> Attempt:
        """Attempt with how it ended; the executor sets its times."""
        return Attempt(
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


def _collect(folder: Path, staged: WorkspacePlan) -> None:
    """Collect a stage; what an earlier collection left half done is done anew."""
    target = folder / WORKSPACE_FOLDER
    if target.exists():
        shutil.rmtree(target)
    outputs = collect(staged.workspace, target, inputs=staged.inputs)
    write_atomic(folder / COLLECTION_FILE, _json(asdict(outputs)))


def _status(completed: Completed) -> RunStatus:
    """Status of an arm that came to an end. What ends it within the limits is its own doing."""
    if completed.limit_hit is None:
        return RunStatus.FINISHED
    return RunStatus.TIMED_OUT if completed.limit_hit == "wall" else RunStatus.LIMIT_REACHED


def _json(values: Any) -> bytes:
    return json.dumps(values, indent=2, default=str).encode() + b"\n"
