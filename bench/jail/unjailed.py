"""Isolation none: the same commands without a jail, for machines that cannot build one.

Nothing is kept from the command; only its paths are translated. It is used on request alone,
and every grade carries the level.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench.jail.limits import Watch, descendants, watch
from bench.jail.policy import BASE_ENVIRONMENT, resource_limits
from data.ports import Bind, Command, Completed
from data.records.errors import InfrastructureError, UserError
from data.records.runs import Isolation, Limits

__all__ = ["UnjailedSandbox", "translate"]

READY: Final = b"ready"
DATA_LINK: Final = "data"


def translate(text: str, binds: tuple[Bind, ...]) -> str:
    """Host path of a path inside, by the longest bind that holds it; other text as it is."""
    for bind in sorted(binds, key=lambda bind: -len(bind.target)):
        if text == bind.target or text.startswith(f"{bind.target}/"):
            return str(bind.source) + text[len(bind.target) :]
    return text


@contextlib.contextmanager
def _data_in_place(binds: tuple[Bind, ...]) -> Iterator[None]:
    """Let the workspace's link ``data`` lead to the host's folder while a command runs."""
    source = next((bind.source for bind in binds if bind.target == "/data"), None)
    workspace = next((bind.source for bind in binds if bind.target == "/workspace"), None)
    link = None if workspace is None else workspace / DATA_LINK
    if source is None or link is None or not link.is_symlink():
        yield
        return
    before = link.readlink()
    link.unlink()
    link.symlink_to(source)
    try:
        yield
    finally:
        if link.is_symlink():
            link.unlink()
            link.symlink_to(before)


class UnjailedSandbox:
    """Runs commands on the host itself, within the same limits.

    Parameters
    ----------
    analysis : Path
        Virtual environment that stands for ``/analysis``.
    """

    def __init__(self, analysis: Path) -> None:
        self._analysis = analysis.absolute()

    @property
    def isolation(self) -> Isolation:
        """None."""
        return Isolation.NONE

    def describe(self, command: Command) -> dict[str, Any]:
        """Record of the isolation for ``isolation.json``."""
        return {
            "level": str(self.isolation),
            "network": "open",
            "trace": "none",
            "binds": [
                {"source": str(b.source), "target": b.target, "writable": True}
                for b in command.binds
            ],
            "environment": sorted({**BASE_ENVIRONMENT, **command.environment}),
            "limits": asdict(command.limits),
        }

    def run(self, command: Command) -> Completed:
        """Run a command to its end or to a limit.

        A process that leaves its session and whose parents end between two looks of the
        watchdog can outlive the command: only a jail ends a tree for certain.

        Raises
        ------
        InfrastructureError
            When the program could not be started.
        """
        binds = (*command.binds, Bind(self._analysis, "/analysis"))
        writable = tuple(bind.source for bind in command.binds if bind.writable)
        argv = [translate(word, binds) for word in command.argv]
        with tempfile.TemporaryDirectory(prefix="blindbench-home-") as home, _data_in_place(binds):
            inherited = {
                "HOME": home,
                "TMPDIR": home,
                "PATH": f"{self._analysis}/bin:/usr/bin:/bin",
            }
            given = {name: translate(text, binds) for name, text in command.environment.items()}
            environment = {**BASE_ENVIRONMENT, **inherited, **given}
            started = time.monotonic()
            directory = translate(command.directory, binds)
            state, code, status = _start_and_watch(command, argv, environment, directory, writable)
        if state.limit_hit is None and status.startswith(READY) and status != READY:
            reason = status.removeprefix(READY).decode()
            raise UserError(f"the command could not be started: {reason}")
        if state.limit_hit is None and status != READY:
            raise InfrastructureError("the command could not be started: the launcher failed")
        return Completed(
            exit_code=None if state.limit_hit or code < 0 else code,
            signal=-code if code < 0 else None,
            wall_seconds=time.monotonic() - started,
            isolation=self.isolation,
            limit_hit=state.limit_hit,
            cause=state.cause,
        )


def _start_and_watch(
    command: Command,
    argv: list[str],
    environment: dict[str, str],
    directory: str,
    writable: tuple[Path, ...],
) -> tuple[Watch, int, bytes]:
    # The user's own other processes count under RLIMIT_NPROC, so it is left as it is.
    limits = resource_limits(command.limits)
    limits.pop("RLIMIT_NPROC", None)
    reading, writing = os.pipe()
    plan = {"limits": limits, "uid": None, "gid": None, "status": writing}
    launcher = Path(__file__).parent.parent / "inside" / "launch.py"
    program = [sys.executable, "-I", "-S", "-B", str(launcher), json.dumps(plan), "--", *argv]
    try:
        with command.stdout.open("wb") as out, command.stderr.open("wb") as err:
            child = subprocess.Popen(
                program,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment,
                cwd=directory,
                pass_fds=(writing,),
                start_new_session=True,
            )
        os.close(writing)
        writing = -1
        state = _wait(child, command.limits, writable)
        return state, child.wait(), os.read(reading, 4096)
    except OSError as error:
        raise InfrastructureError(f"the command could not be started: {error}") from error
    finally:
        for descriptor in (reading, writing):
            if descriptor >= 0:
                os.close(descriptor)


def _wait(child: subprocess.Popen[bytes], limits: Limits, writable: tuple[Path, ...]) -> Watch:
    def end(state: Watch) -> None:
        for pid in descendants(child.pid) | {child.pid}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        state.seen.add(child.pid)

    try:
        return watch(child.pid, limits, writable, end)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
