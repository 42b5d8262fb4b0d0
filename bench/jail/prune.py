"""Prepare an analysis environment: without tests, documentation and demos, and byte-compiled.

``python -m bench.jail.prune ANALYSIS_DIR`` is part of making the environment. Test folders of
statistics packages print published tables as reference values. Byte code is written because
the environment is read-only inside a jail: without it every run would compile every import.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data.records.errors import UserError

__all__ = ["Pruned", "folders_to_remove", "main", "prune"]

_TESTS: Final = frozenset({"test", "tests"})
_READING: Final = frozenset({"doc", "docs", "demos", "examples"})


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was taken out: folders, and the bytes in their files."""

    folders: int
    bytes_freed: int


def _is_removable(folder: Path) -> bool:
    """Whether a folder holds tests, or prose and examples rather than a package.

    A folder ``doc`` with an ``__init__.py`` is a module that its package may import
    (``numpy.doc``), and stays.
    """
    if folder.name in _TESTS:
        return True
    return folder.name in _READING and not (folder / "__init__.py").exists()


def folders_to_remove(analysis: Path) -> tuple[Path, ...]:
    """Folders of tests, documentation and demos in an environment, outermost only."""
    found = [
        folder
        for folder in (analysis / "share" / "man", analysis / "share" / "doc")
        if folder.is_dir()
    ]
    for packages in sorted(analysis.glob("lib/python3*/site-packages")):
        for top, folders, _ in os.walk(packages):
            removable = [name for name in folders if _is_removable(Path(top) / name)]
            found += [Path(top) / name for name in removable]
            folders[:] = [name for name in folders if name not in removable]
    return tuple(found)


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def prune(analysis: Path) -> Pruned:
    """Remove what no run needs and compile the rest. Doing it again changes nothing.

    Raises
    ------
    UserError
        When `analysis` is not a virtual environment, so that no other folder is emptied.
    """
    if not (analysis / "pyvenv.cfg").is_file():
        raise UserError(f"{analysis} is not a virtual environment: nothing was removed")
    folders = folders_to_remove(analysis)
    freed = sum(map(_size, folders))
    for folder in folders:
        shutil.rmtree(folder)
    # Some packages ship templates of code that are no Python; they are left uncompiled.
    subprocess.run(
        [analysis / "bin" / "python", "-I", "-m", "compileall", "-q", "-q", "-j", "0",
         *sorted(analysis.glob("lib/python3*/site-packages"))],
        check=False,
    )  # fmt: skip
    return Pruned(len(folders), freed)


def main() -> int:
    """Prune the environment named on the command line."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python -m bench.jail.prune ANALYSIS_DIR\n")
        return 2
    try:
        done = prune(Path(sys.argv[1]))
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"removed {done.folders} folders, {done.bytes_freed / 1024**2:.0f} MiB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
