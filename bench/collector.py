"""Takes a run's outputs out of its workspace, following nothing that the run has planted.

What a run leaves behind is written by a program that may try to make the harness read a file
for it: a symbolic link named like a table, a hard link, a named pipe that blocks. The walk goes
by directory descriptors with O_NOFOLLOW, takes regular files with a single link and within the
caps, and records what it refused. Nothing is imported, unpickled or run.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from data.records.errors import InfrastructureError

__all__ = ["Collected", "CollectionLimits", "Outputs", "Refused", "collect"]

CHUNK: Final = 1024**2
OPEN_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a named pipe that was swapped in must not wait for a writer.
OPEN_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DATA_LINK: Final = ("data", "/data")

_KINDS: Final = (
    (stat.S_ISLNK, "symbolic link"),
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


@dataclass(frozen=True, slots=True)
class CollectionLimits:
    """Caps of a collection: bytes a file, bytes in all, number of files, depth of folders."""

    file_bytes: int = 64 * 1024**2
    total_bytes: int = 512 * 1024**2
    files: int = 2000
    depth: int = 8


@dataclass(frozen=True, slots=True)
class Collected:
    """A file that was taken: path in the workspace, bytes, hash."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that was not taken, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outputs:
    """What came out of a workspace."""

    files: tuple[Collected, ...]
    refused: tuple[Refused, ...]


@dataclass
class _Walk:
    """The state of one collection."""

    target: Path
    inputs: Mapping[str, str]
    limits: CollectionLimits
    files: list[Collected] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    bytes_taken: int = 0
    entries: int = 0

    def refuse(self, path: str, reason: str) -> None:
        self.refused.append(Refused(path, reason))


def _reason_against(status: os.stat_result, walk: _Walk) -> str | None:
    """Why a directory entry is not taken; None for a plain file within the caps."""
    for is_kind, name in _KINDS:
        if is_kind(status.st_mode):
            return name
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    if status.st_nlink != 1:
        return "hard link"
    if status.st_size > walk.limits.file_bytes:
        return f"larger than {walk.limits.file_bytes} bytes"
    if walk.bytes_taken + status.st_size > walk.limits.total_bytes:
        return f"more than {walk.limits.total_bytes} bytes in all"
    if len(walk.files) >= walk.limits.files:
        return f"more than {walk.limits.files} files"
    return None


def _read(descriptor: int, largest: int) -> Iterator[bytes]:
    """Content of an open file up to a cap; the file may grow while it is read."""
    left = largest + 1
    while left > 0 and (chunk := os.read(descriptor, min(CHUNK, left))):
        left -= len(chunk)
        yield chunk


def _take(walk: _Walk, folder: int, name: str, path: str) -> None:
    """Copy one file, judged by what was opened and not by what its name was before."""
    try:
        descriptor = os.open(name, OPEN_FILE, dir_fd=folder)
    except OSError as error:
        walk.refuse(path, error.strerror or "cannot be opened")
        return
    try:
        reason = _reason_against(os.fstat(descriptor), walk)
        if reason is not None:
            walk.refuse(path, reason)
            return
        content = b"".join(_read(descriptor, walk.limits.file_bytes))
    except OSError as error:
        walk.refuse(path, error.strerror or "cannot be read")
        return
    finally:
        os.close(descriptor)
    if len(content) > walk.limits.file_bytes:
        walk.refuse(path, f"larger than {walk.limits.file_bytes} bytes")
        return
    digest = hashlib.sha256(content).hexdigest()
    if path in walk.inputs:
        if walk.inputs[path] != digest:
            walk.refuse(path, "an input that was changed")
        return
    _keep(walk.target / path, content)
    walk.files.append(Collected(path, len(content), digest))
    walk.bytes_taken += len(content)


def _keep(target: Path, content: bytes) -> None:
    """Write a copy to the disk itself.

    Raises
    ------
    InfrastructureError
        When it cannot be written: that is no fault of the file's.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InfrastructureError(f"{target} cannot be written: {error.strerror}") from error


def _is_own_data_link(folder: int, name: str, path: str) -> bool:
    return path == DATA_LINK[0] and os.readlink(name, dir_fd=folder) == DATA_LINK[1]


def _descend(walk: _Walk, folder: int, prefix: str, depth: int) -> None:
    for name in sorted(os.listdir(folder)):
        path = f"{prefix}{name}"
        walk.entries += 1
        if walk.entries > 4 * walk.limits.files:
            walk.refuse(prefix or ".", "too many entries: the rest was not looked at")
            return
        try:
            path.encode()
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                _enter(walk, folder, name, path, depth)
            elif stat.S_ISLNK(status.st_mode) and _is_own_data_link(folder, name, path):
                continue
            elif (reason := _reason_against(status, walk)) is not None:
                walk.refuse(path, reason)
            else:
                _take(walk, folder, name, path)
        except UnicodeEncodeError:
            walk.refuse(path.encode(errors="replace").decode(), "a name that is not UTF-8")
        except OSError as error:
            walk.refuse(path, error.strerror or "cannot be looked at")


def _enter(walk: _Walk, folder: int, name: str, path: str, depth: int) -> None:
    if depth >= walk.limits.depth:
        walk.refuse(path, f"deeper than {walk.limits.depth} folders")
        return
    inner = os.open(name, OPEN_FOLDER, dir_fd=folder)
    try:
        _descend(walk, inner, f"{path}/", depth + 1)
    finally:
        os.close(inner)


def collect(
    workspace: Path,
    target: Path,
    *,
    inputs: Mapping[str, str] | None = None,
    limits: CollectionLimits | None = None,
) -> Outputs:
    """Copy a finished run's files to a new folder.

    Parameters
    ----------
    workspace : Path
        The staged workspace; no process of the run may be alive any more.
    target : Path
        Made here; must not exist.
    inputs : mapping of str to str, optional
        Hashes of the run's inputs by path: left out when unchanged, refused when changed.
    limits : CollectionLimits, optional

    Returns
    -------
    Outputs
        Files taken and refused. The workspace's own link ``data`` is in neither.

    Raises
    ------
    InfrastructureError
        When the workspace is gone or the target cannot be written.
    """
    walk = _Walk(target, inputs or {}, limits or CollectionLimits())
    try:
        target.mkdir(parents=True)
        top = os.open(workspace, OPEN_FOLDER)
    except OSError as error:
        raise InfrastructureError(f"the outputs cannot be collected: {error}") from error
    try:
        _descend(walk, top, "", 0)
    finally:
        os.close(top)
    return Outputs(tuple(walk.files), tuple(walk.refused))
