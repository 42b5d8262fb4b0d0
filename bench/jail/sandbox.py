"""The real sandbox: a command in a jail made by bubblewrap."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any, Final

from bench.jail.bwrap import bwrap_arguments
from bench.jail.host import describe_host
from bench.jail.limits import Watch, watch
from bench.jail.policy import (
    LAUNCHER,
    PYTHON,
    Identity,
    Policy,
    plan_policy,
    refuse_overlap,
    resource_limits,
)
from bench.jail.probe import Bubblewrap, probe
from bench.jail.seccomp import filter_for_this_machine
from bench.jail.unjailed import UnjailedSandbox
from data.ports import Command, Completed, Sandbox
from data.records.errors import InfrastructureError, UserError
from data.records.runs import Isolation

__all__ = ["JailedSandbox", "forbidden_paths", "launcher_source", "open_sandbox"]

FIRST_UID: Final = 20001
LAST_UID: Final = 29999
INSIDE_UID: Final = 1000
SIGNAL_EXIT: Final = 128
LAST_SIGNAL: Final = 64
READY: Final = b"ready"


def launcher_source() -> bytes:
    """Source of the program that starts every command inside."""
    return resources.files("bench.inside").joinpath("launch.py").read_bytes()


def forbidden_paths() -> tuple[str, ...]:
    """Host paths that no bind may touch: the installed papers, with their published values."""
    papers = resources.files("data").joinpath("papers")
    return (os.path.realpath(str(papers)),)


def _unused_uid() -> int:
    """Pick an unprivileged user of the host that nothing else has.

    Each run takes its own, so that the limit on processes, which the kernel counts by user,
    is a run's own too.
    """
    while True:
        uid = FIRST_UID + secrets.randbelow(LAST_UID - FIRST_UID + 1)
        try:
            pwd.getpwuid(uid)
        except KeyError:
            return uid


def choose_identity(as_root: bool) -> Identity:
    """Who a command is: a fresh unprivileged user for root, oneself by another number else."""
    if not as_root:
        return Identity(as_root=False, uid=INSIDE_UID, gid=INSIDE_UID)
    uid = _unused_uid()
    return Identity(as_root=True, uid=uid, gid=uid)


def _hand_over(folder: Path, identity: Identity) -> None:
    """Give a writable folder and all in it to the jail's user, following no link."""
    os.chown(folder, identity.uid, identity.gid, follow_symlinks=False)
    for _, folders, files, top in os.fwalk(folder, follow_symlinks=False):
        for name in (*folders, *files):
            os.chown(name, identity.uid, identity.gid, dir_fd=top, follow_symlinks=False)


def _memory_file(name: str, content: bytes) -> int:
    descriptor = os.memfd_create(name)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@contextlib.contextmanager
def _open_descriptors(policy: Policy) -> Iterator[dict[str, int]]:
    """Descriptors of the filter and of the synthetic files."""
    descriptors: dict[str, int] = {}
    try:
        descriptors["seccomp"] = _memory_file("seccomp", filter_for_this_machine())
        for path, content in policy.files:
            descriptors[path] = _memory_file("file", content)
        yield descriptors
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)


class JailedSandbox:
    """Runs commands where only the analysis environment and their own binds exist.

    Parameters
    ----------
    analysis : Path
        Virtual environment that appears at ``/analysis``.
    bubblewrap : Bubblewrap
    as_root : bool
    """

    def __init__(self, analysis: Path, bubblewrap: Bubblewrap, *, as_root: bool) -> None:
        self._bubblewrap = bubblewrap
        self._as_root = as_root
        self._facts = describe_host(analysis)
        self._launcher = launcher_source()

    @property
    def isolation(self) -> Isolation:
        """Namespaces: nothing outside the allow-list exists for the command."""
        return Isolation.NAMESPACES

    @property
    def mounted(self) -> tuple[Path, ...]:
        """Host paths that every command sees, whatever its own binds are."""
        python = self._facts.interpreter
        own = [f"{python.analysis}/{part}" for part in python.packages]
        own += [python.stdlib, python.executable, *python.libraries]
        return tuple(Path(path) for path in (*self._facts.system, *own))

    def policy(self, command: Command) -> Policy:
        """Policy under which a command would run.

        Raises
        ------
        UserError
            When a bind would show what no run may reach.
        """
        refuse_overlap((os.path.realpath(bind.source) for bind in command.binds), forbidden_paths())
        return plan_policy(self._facts, command, choose_identity(self._as_root), self._launcher)

    def describe(self, command: Command) -> dict[str, Any]:
        """Record of the isolation for ``isolation.json``: level, program, binds, limits.

        Names of environment variables are given, values are not.
        """
        policy = self.policy(command)
        return {
            "level": str(self.isolation),
            "bubblewrap": self._bubblewrap.path,
            "version": self._bubblewrap.version,
            "as_root": self._as_root,
            "kernel": os.uname().release,
            "network": "none",
            "trace": "none",
            "binds": [asdict(mount) for mount in policy.mounts],
            "masks": list(policy.masks),
            "scratch": [asdict(scratch) for scratch in policy.scratch],
            "environment": [name for name, _ in policy.environment],
            "limits": asdict(policy.limits),
        }

    def run(self, command: Command) -> Completed:
        """Run a command in a jail of its own, to its end or to a limit.

        Writable binds are given to the jail's user first. The environment is
        `BASE_ENVIRONMENT` with `Command.environment` over it, and nothing else.

        Raises
        ------
        UserError
            When a bind would show what no run may reach, or the program could not be started.
        InfrastructureError
            When the jail could not be built.
        """
        policy = self.policy(command)
        writable = tuple(bind.source for bind in command.binds if bind.writable)
        if self._as_root:
            for folder in writable:
                _hand_over(folder, policy.identity)
        started = time.monotonic()
        with _open_descriptors(policy) as descriptors:
            state, code, status = self._start_and_watch(command, policy, descriptors, writable)
        wall = time.monotonic() - started
        if state.limit_hit is None and status.startswith(READY) and status != READY:
            reason = status[len(READY) :].decode()
            raise UserError(f"the command could not be started in the jail: {reason}")
        if state.limit_hit is None and status != READY:
            raise InfrastructureError(_not_built(command))
        killed = SIGNAL_EXIT < code <= SIGNAL_EXIT + LAST_SIGNAL
        return Completed(
            exit_code=None if state.limit_hit or killed else code,
            signal=signal.SIGKILL if state.limit_hit else (code - SIGNAL_EXIT if killed else None),
            wall_seconds=wall,
            isolation=self.isolation,
            limit_hit=state.limit_hit,
            cause=state.cause,
        )

    def _start_and_watch(
        self,
        command: Command,
        policy: Policy,
        descriptors: dict[str, int],
        writable: tuple[Path, ...],
    ) -> tuple[Watch, int, bytes]:
        """Start bubblewrap, wait for it; what was seen, exit code, what the launcher said."""
        words = bwrap_arguments(policy, descriptors, self._bubblewrap.features)
        options = _memory_file("args", b"\0".join(word.encode() for word in words) + b"\0")
        reading, writing = os.pipe()
        identity = policy.identity
        plan = {
            "limits": resource_limits(policy.limits),
            "uid": identity.uid if identity.as_root else None,
            "gid": identity.gid if identity.as_root else None,
            "status": writing,
        }
        launch = [PYTHON, "-I", "-S", "-B", LAUNCHER, json.dumps(plan), "--", *policy.argv]
        program = ["bwrap", "--args", str(options), "--", *launch]
        try:
            with command.stdout.open("wb") as out, command.stderr.open("wb") as err:
                child = subprocess.Popen(
                    program,
                    # The name is in the jail's first command line; the path would be too.
                    executable=self._bubblewrap.path,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env={},
                    cwd="/",
                    pass_fds=(options, writing, *descriptors.values()),
                    start_new_session=True,
                )
            os.close(writing)
            writing = -1
            state = _wait(child, policy, writable)
            return state, child.wait(), os.read(reading, 4096)
        except OSError as error:
            raise InfrastructureError(f"the jail could not be started: {error}") from error
        finally:
            for descriptor in (options, reading, writing):
                if descriptor >= 0:
                    os.close(descriptor)


def _wait(child: subprocess.Popen[bytes], policy: Policy, writable: tuple[Path, ...]) -> Watch:
    """Watch a jail; end it whatever happens. The kernel ends all in it with its first process."""
    try:
        return watch(child.pid, policy.limits, writable, lambda _: child.kill())
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def _not_built(command: Command) -> str:
    said = command.stderr.read_text(errors="replace").strip().splitlines()
    return f"the jail could not be built: {said[-1] if said else 'bubblewrap said nothing'}"


def open_sandbox(isolation: Isolation, *, analysis: Path) -> Sandbox:
    """Sandbox of the level that was asked for; never a weaker one.

    Parameters
    ----------
    isolation : Isolation
    analysis : Path
        Virtual environment of the arms.

    Raises
    ------
    UserError
        When no jail can be built here, with the cause and what mends it.
    """
    if isolation is Isolation.NONE:
        return UnjailedSandbox(analysis)
    if isolation is not Isolation.NAMESPACES:
        raise UserError(f"isolation {isolation} is not offered: namespaces or none")
    found = probe()
    if not found.holds or found.bubblewrap is None:
        raise UserError(
            f"no jail can be built here: {found.cause}. To mend it: {found.remedy}. Nothing was "
            "run; --isolation none runs without a jail, and every grade will say so"
        )
    return JailedSandbox(analysis, found.bubblewrap, as_root=found.as_root)
