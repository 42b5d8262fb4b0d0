"""One process a leaderboard: the lock of a leaderboard's folder, and the signal that ends it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

from bench.runs.claims import ProcessId, claimant, is_stale, this_process
from data.records.errors import UserError

__all__ = ["LOCK_FILE", "ask_to_stop", "leaderboard_lock", "running_process"]

LOCK_FILE: Final = ".lock"
LOOK_SECONDS: Final = 0.1


@contextlib.contextmanager
def leaderboard_lock(folder: Path) -> Iterator[None]:
    """Hold a leaderboard's lock; the kernel gives it back however the process ends.

    Raises
    ------
    UserError
        When another process holds it.
    """
    path = folder / LOCK_FILE
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = claimant(path)
            who = f"process {owner.pid} on {owner.host}" if owner else "another process"
            raise UserError(
                f"{folder} is being run by {who}: wait for it, or `bench stop {folder}`"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(asdict(this_process())).encode(), 0)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def running_process(folder: Path) -> ProcessId | None:
    """Process of this host that is running a leaderboard; None where none is."""
    path = folder / LOCK_FILE
    owner = claimant(path)
    if owner is None or is_stale(owner, path.stat().st_mtime):
        return None
    here = this_process()
    return owner if (owner.host, owner.namespace) == (here.host, here.namespace) else None


def ask_to_stop(folder: Path, patience: float) -> bool:
    """Ask the process that is running a leaderboard to stop, and wait for it.

    The process is the one that the lock names only if it also started when the lock says; the
    signal goes through a descriptor of that very process, so that no reused pid can get it.

    Parameters
    ----------
    folder : Path
        The leaderboard's folder.
    patience : float
        Seconds to wait.

    Returns
    -------
    bool
        Whether it ended in time.

    Raises
    ------
    UserError
        When nobody is running it here.
    """
    owner = running_process(folder)
    if owner is None:
        raise UserError(f"{folder} is not being run on this machine: nothing to stop")
    try:
        descriptor = os.pidfd_open(owner.pid)
    except ProcessLookupError:
        return True
    try:
        if running_process(folder) == owner:
            signal.pidfd_send_signal(descriptor, signal.SIGTERM)
        deadline = time.monotonic() + patience
        while running_process(folder) == owner:
            if time.monotonic() > deadline:
                return False
            time.sleep(LOOK_SECONDS)
    except ProcessLookupError:
        pass
    finally:
        os.close(descriptor)
    return True
