"""The corpus: finds papers, bundled or the user's own, and loads what was built from them.

A paper is a folder with a `paper.toml`; `bench papers build` makes its `extracted/` folder.
Bundled papers ship inside this package. Exported data lie outside of it, in a folder of the
user's, one subfolder a paper.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Final

from data.records.errors import UserError
from data.records.files import record_from_json, record_from_values
from data.records.methods import Methods
from data.records.papers import Paper
from data.records.runs import PaperFingerprint
from data.records.tables import Table

__all__ = [
    "DATA_VARIABLE",
    "PaperFolder",
    "bundled_folder",
    "bundled_papers",
    "data_directory",
    "data_root",
    "export_record_path",
    "open_paper",
]

DATA_VARIABLE: Final = "BLINDBENCH_DATA"
_BUILD: Final = "run `bench papers build {}`"


@dataclass(frozen=True)
class PaperFolder:
    """A paper on disk. Nothing is read before it is asked for, and each file once.

    Attributes
    ----------
    root : Path
        The folder that holds `paper.toml`.
    """

    root: Path

    @property
    def id(self) -> str:
        """The paper's id, which is its folder's name."""
        return self.root.name

    @cached_property
    def paper(self) -> Paper:
        """Record of the publication.

        Raises
        ------
        UserError
            When `paper.toml` is not TOML, not such a record, or has another id than its folder.
        """
        path = self.root / "paper.toml"
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: not valid TOML: {error}") from None
        paper = record_from_values(Paper, values, where=str(path))
        if paper.id != self.id:
            raise UserError(f"{path}: id {paper.id!r} is not the folder's name {self.id!r}")
        return paper

    @property
    def is_built(self) -> bool:
        """Whether `extracted/` holds a methods record."""
        return (self.root / "extracted" / "methodology_summary.json").is_file()

    def extracted(self, name: str) -> bytes:
        """Content of one file of `extracted/`.

        Raises
        ------
        UserError
            When the paper was not built.
        """
        path = self.root / "extracted" / name
        try:
            return path.read_bytes()
        except FileNotFoundError:
            remedy = _BUILD.format(self.id)
            raise UserError(f"paper {self.id}: no extracted/{name}: {remedy}") from None

    @cached_property
    def methods(self) -> Methods:
        """The numeral-free description of what was done."""
        name = "methodology_summary.json"
        return record_from_json(Methods, self.extracted(name), where=f"{self.id}/{name}")

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """Published tables, values included, in the order of `paper.toml`."""
        return self._tables("tables")

    @cached_property
    def templates(self) -> tuple[Table, ...]:
        """Blinded tables, in the same order."""
        return self._tables("templates")

    def _tables(self, kind: str) -> tuple[Table, ...]:
        loaded = []
        for source in self.paper.tables:
            name = f"{kind}/{source.slug}.json"
            content = self.extracted(name)
            loaded.append(record_from_json(Table, content, where=f"{self.id}/{name}"))
        return tuple(loaded)

    @cached_property
    def human_scripts(self) -> dict[str, Path]:
        """Re-implementations by a person, by table slug."""
        return {path.stem: path for path in sorted((self.root / "human").glob("*.py"))}

    @cached_property
    def package_code(self) -> tuple[Path, ...]:
        """Files of the reproduction package's code, in order of their paths."""
        code = self.root / "package" / "code"
        return tuple(sorted(path for path in code.rglob("*") if path.is_file()))

    def data_files(self, data_dir: Path) -> tuple[Path, ...]:
        """Paths of the paper's data files inside `data_dir`.

        Raises
        ------
        UserError
            Naming the first file that is not there.
        """
        paths = tuple(data_dir / file.name for file in self.paper.files)
        for path in paths:
            if not path.is_file():
                raise UserError(
                    f"paper {self.id}: data file {path.name} is not in {data_dir}: "
                    f"run `bench papers export {self.id}`, or put it there",
                )
        return paths

    def outdated_sources(self) -> tuple[str, ...]:
        """Names of the written sources that changed after `extracted/` was made from them."""
        try:
            made_from = json.loads(self.extracted("checks.json")).get("sources", {})
        except UserError:
            return ()
        except ValueError:
            return ("checks.json",)
        return tuple(
            name
            for name, sha256 in made_from.items()
            if (self.root / name).is_file()
            and hashlib.sha256((self.root / name).read_bytes()).hexdigest() != sha256
        )

    def fingerprint(self, data_dir: Path) -> PaperFingerprint:
        """Hashes of everything of this paper that an arm is given.

        Data count by the canonical hash that the export recorded, as long as the file is the
        one that was exported: the same values in a file written anew have the same hash. Files
        of other origin count by their bytes.

        Parameters
        ----------
        data_dir : Path
            Folder of this paper's data files.

        Raises
        ------
        UserError
            When the paper was not built, or a data file is missing.
        """
        templates = hashlib.sha256()
        for source in sorted(self.paper.tables, key=lambda one: one.slug):
            templates.update(source.slug.encode() + b"\0")
            templates.update(self.extracted(f"templates/{source.slug}.json") + b"\0")
        methods = hashlib.sha256(self.extracted("methodology_summary.json"))
        return PaperFingerprint(
            paper_id=self.id,
            methods=methods.hexdigest(),
            templates=templates.hexdigest(),
            data=self._data_hash(data_dir),
        )

    def _data_hash(self, data_dir: Path) -> str:
        exported = _export_record(export_record_path(data_dir))
        digest = hashlib.sha256()
        for path in self.data_files(data_dir):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            known = exported.get(path.name, {})
            same = known.get("file_sha256") == content
            digest.update(f"{path.name}\0{known['sha256'] if same else content}\0".encode())
        return digest.hexdigest()


def export_record_path(data_dir: Path) -> Path:
    """Where `bench papers export` notes the hashes of what it wrote: beside the data folder."""
    return data_dir.with_name(f"{data_dir.name}.export.json")


def _export_record(path: Path) -> dict[str, dict[str, Any]]:
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid JSON: {error}; delete it and export again") from None
    files: dict[str, dict[str, Any]] = content["files"]
    return files


def bundled_folder() -> Path:
    """Folder of the papers that ship with this package."""
    return Path(str(resources.files("data"))) / "papers"


@cache
def bundled_papers() -> tuple[PaperFolder, ...]:
    """Papers that ship with this package, in order of their ids."""
    found = sorted(bundled_folder().glob("*/paper.toml"))
    return tuple(PaperFolder(path.parent) for path in found)


def open_paper(path_or_id: str | Path) -> PaperFolder:
    """Paper of a folder, or bundled paper of an id.

    Raises
    ------
    UserError
        When there is no such folder or id, or the folder holds no `paper.toml`.
    """
    for folder in bundled_papers():
        if folder.id == str(path_or_id):
            return folder
    root = Path(path_or_id).expanduser()
    if (root / "paper.toml").is_file():
        return PaperFolder(root.resolve())
    if root.is_dir():
        raise UserError(f"{root}: not a paper: it holds no paper.toml")
    if root.exists():
        raise UserError(f"{root}: not a paper: a paper is a folder with a paper.toml")
    raise UserError(
        f"no paper {str(path_or_id)!r}: neither a folder nor a bundled paper; "
        "`bench papers list` shows those",
    )


def data_root(where: Path | None = None) -> Path:
    """Folder that holds one data folder a paper.

    `where`, else the variable BLINDBENCH_DATA, else `.corpus` in the working directory where
    there is one (`make` exports there), else `corpus-data` in the user's own share.
    """
    if where is not None:
        return where.expanduser()
    named = os.environ.get(DATA_VARIABLE)
    if named:
        return Path(named).expanduser()
    here = Path(".corpus")
    if here.is_dir():
        return here
    return Path.home() / ".local" / "share" / "blindbench" / "corpus-data"


def data_directory(paper_id: str, where: Path | None = None) -> Path:
    """Folder of one paper's exported data.

    Parameters
    ----------
    paper_id : str
    where : Path, optional
        Folder that holds the paper's data folder; see `data_root`.

    Raises
    ------
    UserError
        When the data are not there.
    """
    folder = data_root(where) / paper_id
    if not folder.is_dir():
        raise UserError(
            f"no data for paper {paper_id} in {folder.parent}: run `bench papers export "
            f"{paper_id} --to {folder.parent}`",
        )
    return folder.resolve()
