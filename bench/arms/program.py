"""Any command line of the user's."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from bench.arms.interface import ArmContext, ArmKind, Preparation, options_of
from data.records.errors import UserError

__all__ = ["ProgramArm"]


class ProgramArm:
    """Runs `command` in the workspace, with the files that it needs put there.

    Options: ``command``, a command line as a shell would split it, without a shell;
    ``files``, a list of files or folders, relative to the leaderboard's file.
    """

    name = "program"
    kind: ArmKind = "contestant"

    def prepare(self, context: ArmContext) -> Preparation:
        """Read the command and the files.

        Raises
        ------
        UserError
            When there is no command, or a file cannot be read.
        """
        arm = context.arm
        options = options_of(arm, {"command": str, "files": tuple})
        try:
            argv = tuple(shlex.split(str(options.get("command", ""))))
        except ValueError as error:
            raise UserError(f"arm {arm.name}: command cannot be split: {error}") from None
        if not argv:
            raise UserError(f'arm {arm.name}: needs options.command, as in "python analyse.py"')
        files: dict[str, bytes] = {}
        named = options.get("files", ())
        for one in named if isinstance(named, tuple) else ():
            _take(files, context.base / one, arm.name)
        return Preparation(argv=argv, files=files)


def _take(files: dict[str, bytes], source: Path, arm: str) -> None:
    """Add a file by its name, or a folder's files below the folder's name."""
    if not source.exists():
        raise UserError(f"arm {arm}: no file {source}; paths count from the leaderboard's folder")
    for path in _regular_files(source):
        inside = path.relative_to(source.parent).as_posix()
        if inside in files:
            raise UserError(f"arm {arm}: two files would be {inside} in the workspace")
        try:
            files[inside] = path.read_bytes()
        except OSError as error:
            raise UserError(f"arm {arm}: {path}: {error.strerror}") from None


def _regular_files(source: Path) -> Iterator[Path]:
    if source.is_file():
        yield source
        return
    for path in sorted(source.rglob("*")):
        if "__pycache__" in path.parts or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink() or not path.is_file():
            raise UserError(f"{path} is a link or no plain file: an arm's files are plain files")
        yield path
