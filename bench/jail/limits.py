"""Limits that the kernel does not hold by itself: wall clock, memory of a tree, folder size.

`watch` waits for a program and looks at it a few times a second. The memory of a process tree
is the sum of proportional set sizes, so that pages shared by forks count once.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from data.records.runs import Limits

__all__ = ["Watch", "descendants", "folder_bytes", "memory_of", "watch"]

LOOK_SECONDS: Final = 0.25
FOLDER_SECONDS: Final = 1.0
BLOCK: Final = 512
PAGE: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Watch:
    """What a watchdog saw. `limit_hit` is wall, memory, workspace, or None; `cause` says more.

    `seen` holds the process ids of the tree, also of those that were found only once.
    """

    limit_hit: str | None = None
    cause: str | None = None
    peak_bytes: int = 0
    seen: set[int] = field(default_factory=set)


def _parents() -> dict[int, int]:
    """Parent of every process that can be seen."""
    found: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - a hot loop
        if not name.isdigit():
            continue
        try:
            stat = Path(f"/proc/{name}/stat").read_bytes()
        except OSError:
            continue
        # The program's name stands in brackets and may hold any character.
        found[int(name)] = int(stat.rpartition(b")")[2].split()[1])
    return found


def descendants(root: int) -> set[int]:
    """Process ids of `root` and of everything below it."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents().items():
        children.setdefault(parent, []).append(pid)
    found, waiting = {root}, [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def memory_of(pids: Iterable[int]) -> int:
    """Bytes that the processes hold in memory together; one that is gone counts 0."""
    return sum(map(_memory, pids))


def _memory(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def folder_bytes(folder: Path) -> int:
    """Bytes that a folder's files take on disk, following no link."""
    total = 0
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    total += entry.stat(follow_symlinks=False).st_blocks * BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return total


def _mebibytes(number: int) -> str:
    return f"{number / 1024**2:.0f} MiB"


def _over_memory(root: int, limits: Limits, state: Watch) -> bool:
    tree = descendants(root)
    state.seen |= tree
    if limits.memory_bytes is None:
        return False
    used = memory_of(tree)
    state.peak_bytes = max(state.peak_bytes, used)
    if used <= limits.memory_bytes:
        return False
    state.limit_hit = "memory"
    state.cause = f"memory {_mebibytes(used)} > {_mebibytes(limits.memory_bytes)}"
    return True


def _over_workspace(folders: Iterable[Path], limits: Limits, state: Watch) -> bool:
    if limits.workspace_bytes is None:
        return False
    used = sum(map(folder_bytes, folders))
    if used <= limits.workspace_bytes:
        return False
    state.limit_hit = "workspace"
    state.cause = f"workspace {_mebibytes(used)} > {_mebibytes(limits.workspace_bytes)}"
    return True


def watch(
    pid: int, limits: Limits, writable: tuple[Path, ...], end: Callable[[Watch], None]
) -> Watch:
    """Wait until the process `pid` has ended, ending it at the first limit that it passes.

    Parameters
    ----------
    pid : int
        A child of the caller that was not waited for yet.
    limits : Limits
    writable : tuple of Path
        Host folders that it may fill.
    end : callable
        Ends the whole tree.

    Returns
    -------
    Watch
    """
    state = Watch()
    started = time.monotonic()
    next_folder = started + FOLDER_SECONDS
    descriptor = os.pidfd_open(pid)
    try:
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        while True:
            left = limits.wall_seconds - (time.monotonic() - started)
            if poller.poll(max(0.0, min(left, LOOK_SECONDS)) * 1000):
                break
            if left <= 0:
                state.limit_hit, state.cause = "wall", f"wall clock {limits.wall_seconds:g} s"
                break
            if _over_memory(pid, limits, state):
                break
            if time.monotonic() >= next_folder:
                if _over_workspace(writable, limits, state):
                    break
                next_folder = time.monotonic() + FOLDER_SECONDS
        if state.limit_hit:
            end(state)
    finally:
        os.close(descriptor)
    # A program may fill the folder and end between two looks.
    if state.limit_hit is None:
        _over_workspace(writable, limits, state)
    return state
