"""Scripts and logs of a run: read without following a link, capped, hashed."""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

__all__ = ["ARTIFACT_CAP_BYTES", "artifact_rows"]

ARTIFACT_CAP_BYTES: Final = 256 * 1024
"""How much of one file is kept; its hash and size are those of the whole file."""

_MOST_FILES: Final = 200
_CHUNK: Final = 1 << 20
_INPUTS: Final = frozenset({"TASK.md", "methodology_summary.json", "table_templates", "data"})
_KINDS: Final = {
    ".py": "script",
    ".r": "script",
    ".do": "script",
    ".sh": "script",
    ".md": "notes",
    ".txt": "notes",
    ".json": "table",
    ".csv": "table",
}


def _kind(path: str) -> str | None:
    if path.startswith("raw/"):
        return "log"
    return _KINDS.get(Path(path).suffix.lower())


def _candidates(attempt: Path) -> Iterator[str]:
    """Paths inside an attempt that may be kept, in order: own files of the workspace, raw output.

    What the run was given (task, methods, templates, data) is not its work.
    """
    workspace = attempt / "workspace"
    names = []
    for folder, folders, files in os.walk(workspace, followlinks=False):
        relative = Path(folder).relative_to(attempt)
        folders[:] = sorted(
            one
            for one in folders
            if not one.startswith(".")
            and one != "__pycache__"
            and not (Path(folder) == workspace and one in _INPUTS)
        )
        names += [
            (relative / name).as_posix()
            for name in files
            if not (Path(folder) == workspace and name in _INPUTS)
        ]
    names += [f"raw/{name}" for name in ("stdout", "stderr") if (attempt / "raw" / name).exists()]
    yield from sorted(names)


def _read_capped(path: Path) -> tuple[bytes, int, str] | None:
    """First bytes, size and SHA-256 of a regular file; None for a link or a special file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        digest = hashlib.sha256()
        head = file.read(ARTIFACT_CAP_BYTES)
        digest.update(head)
        size = len(head)
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return head, size, digest.hexdigest()


def artifact_rows(
    run_id: str,
    run_path: Path,
    attempt: int,
    problems: list[tuple[str, str]],
) -> list[dict[str, Any]]:
    """Rows of `artifacts` for the accepted attempt of a run.

    Links and special files are passed over; an unreadable file is added to `problems`.
    """
    folder = run_path / f"attempt_{attempt:02d}"
    rows: list[dict[str, Any]] = []
    for path in _candidates(folder):
        kind = _kind(path)
        if kind is None:
            continue
        if len(rows) == _MOST_FILES:
            problems.append((run_id, f"only the first {_MOST_FILES} files are kept"))
            break
        try:
            content = _read_capped(folder / path)
        except OSError as error:
            if not (folder / path).is_symlink():
                problems.append((f"{run_id}/{path}", str(error.strerror)))
            continue
        if content is None:
            continue
        head, size, digest = content
        rows.append(
            {
                "run_id": run_id,
                "attempt": attempt,
                "path": path,
                "kind": kind,
                "size": size,
                "sha256": digest,
                "truncated": size > len(head),
                "content": zlib.compress(head, 9),
            },
        )
    return rows
