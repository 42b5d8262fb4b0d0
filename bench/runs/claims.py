"""Claims: at most one process works on a run, and a dead one's claim is taken over.

A claim is a file that is made exclusively and names its process: host, pid and the process's
start time, so that a reused pid is not taken for it. Its time of change is the heartbeat. On the
same host a claim is stale when its process is gone; from elsewhere, when its heart has not beaten
for `SILENCE_SECONDS`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from data.files_atomic import write_atomic
from data.records.errors import RecordError
from data.records.files import record_from_json

__all__ = [
    "HEARTBEAT_SECONDS",
    "SILENCE_SECONDS",
    "Heart",
    "ProcessId",
    "claim",
    "claimant",
    "is_stale",
    "release",
    "this_process",
]

HEARTBEAT_SECONDS: Final = 5.0
SILENCE_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process that cannot be taken for another.

    `started` is in clock ticks since the boot `boot`; `namespace` is that of the pid.
    """

    host: str
    pid: int
    started: int
    boot: str
    namespace: str


def _start_ticks(pid: int) -> int | None:
    """Start time of a process that is alive; None for one that is gone or a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The program's name stands in brackets and may hold any character.
    fields = stat.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def this_process() -> ProcessId:
    """Identity of the calling process."""
    pid = os.getpid()
    return ProcessId(
        host=socket.gethostname(),
        pid=pid,
        started=_start_ticks(pid) or 0,
        boot=Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        namespace=str(Path("/proc/self/ns/pid").readlink()),
    )


def claimant(path: Path) -> ProcessId | None:
    """Process that a claim names; None without a claim, or where it says nothing."""
    try:
        return record_from_json(ProcessId, path.read_bytes(), where=str(path))
    except (FileNotFoundError, RecordError):
        return None


def is_stale(owner: ProcessId | None, beat: float) -> bool:
    """Whether nobody works under a claim any more.

    Parameters
    ----------
    owner : ProcessId or None
        None where the claim does not say.
    beat : float
        Last heartbeat, seconds since the epoch.
    """
    here = this_process()
    if owner is None or (owner.host, owner.namespace) != (here.host, here.namespace):
        return time.time() - beat > SILENCE_SECONDS
    return owner.boot != here.boot or _start_ticks(owner.pid) != owner.started


def claim(path: Path) -> bool:
    """Claim a run for this process; whether it is ours now.

    Raises
    ------
    OSError
        When the folder cannot be written to.
    """
    content = json.dumps(asdict(this_process())).encode()
    # The claim appears with its content or not at all: a link fails where the name is taken.
    fresh = path.with_name(f".claim.{os.getpid()}.{threading.get_ident()}")
    write_atomic(fresh, content)
    try:
        os.link(fresh, path)
    except FileExistsError:
        return _take_over(path, content)
    finally:
        fresh.unlink()
    return True


def _take_over(path: Path, content: bytes) -> bool:
    """Replace a stale claim. Of several that try, the one that holds its lock does it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held = os.fstat(descriptor)
        if held.st_ino != path.stat().st_ino or not is_stale(claimant(path), held.st_mtime):
            return False
        write_atomic(path, content)
    except (BlockingIOError, FileNotFoundError):
        return False
    finally:
        os.close(descriptor)
    return True


def release(path: Path) -> None:
    """Give a claim of this process's up; another's is left alone."""
    if claimant(path) == this_process():
        path.unlink(missing_ok=True)


class Heart:
    """Lets the claims of this process beat, until it is closed."""

    def __init__(self) -> None:
        self._paths: set[Path] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True, name="heartbeat")
        self._thread.start()

    def _beat(self) -> None:
        while not self._closed.wait(HEARTBEAT_SECONDS):
            with self._lock:
                for path in self._paths:
                    with contextlib.suppress(FileNotFoundError):
                        os.utime(path)

    @contextlib.contextmanager
    def beating(self, path: Path) -> Iterator[None]:
        """Keep the claim at `path` alive for as long as the block runs."""
        with self._lock:
            self._paths.add(path)
        try:
            yield
        finally:
            with self._lock:
                self._paths.discard(path)

    def close(self) -> None:
        """Stop beating."""
        self._closed.set()
        self._thread.join()
