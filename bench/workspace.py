"""Builds what a run sees from an allow-list, and refuses when an answer would be among it.

A workspace is staged in a folder with a random name: the kernel lets a jailed process read the
host's path of everything mounted, and the run directory's path names the paper and the arm.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from bench.jail.scan import published_in
from data.corpus import PaperFolder
from data.files_atomic import write_atomic
from data.ports import Bind
from data.records.errors import UserError

__all__ = [
    "DATA",
    "INPUT_NAMES",
    "MANIFEST_FILE",
    "WORKSPACE",
    "ManifestEntry",
    "WorkspacePlan",
    "build_workspace",
    "forbidden_hashes",
    "staged_before",
    "task_text",
]

WORKSPACE: Final = "/workspace"
DATA: Final = "/data"
MANIFEST_FILE: Final = "manifest.json"
MANIFEST_SCHEMA_VERSION: Final = 1

TASK: Final = "TASK.md"
METHODS: Final = "methodology_summary.json"
TEMPLATES: Final = "table_templates"
DATA_LINK: Final = "data"
INPUT_NAMES: Final = (TASK, METHODS, TEMPLATES, DATA_LINK)

# Files so small that two may well be the same by chance, such as an empty one.
SMALLEST_TELLING: Final = 32

# What of a paper's folder an arm may see; all else is forbidden.
_SHOWN: Final = ("extracted/methodology_summary.json", "extracted/data_manifest.json")
_SHOWN_FOLDERS: Final = ("extracted/templates",)
# The same description under another name: `methods.json` is what the summary is written from.
_ALSO_SHOWN: Final = ("methods.json",)


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One file that was put in: where it is inside, bytes, hash, and why it is there."""

    path: str
    size: int
    sha256: str
    role: Literal["input", "data", "arm"]


@dataclass(frozen=True, slots=True)
class WorkspacePlan:
    """A staged workspace.

    Attributes
    ----------
    stage : Path
        Folder with a random name that holds all of it.
    workspace, data : Path
        Host folders of ``/workspace`` and ``/data``.
    binds : tuple of Bind
        For `data.ports.Command`: the workspace writable, inputs and data read-only.
    manifest : tuple of ManifestEntry
    """

    stage: Path
    workspace: Path
    data: Path
    binds: tuple[Bind, ...]
    manifest: tuple[ManifestEntry, ...]

    @property
    def inputs(self) -> dict[str, str]:
        """Hashes of the paper's inputs by path in the workspace; the collector leaves them out."""
        prefix = f"{WORKSPACE}/"
        return {
            entry.path.removeprefix(prefix): entry.sha256
            for entry in self.manifest
            if entry.role == "input"
        }

    def remove(self) -> None:
        """Delete the stage. What the run made must have been collected before."""
        for top, folders, _ in os.walk(self.stage):
            for name in folders:
                path = Path(top) / name
                if not path.is_symlink():
                    path.chmod(0o700)
        shutil.rmtree(self.stage, ignore_errors=True)


def task_text(paper: PaperFolder, *, named: bool) -> str:
    """Text of TASK.md: the same for every scaffold.

    Parameters
    ----------
    paper : PaperFolder
    named : bool
        Whether the publication is named; its title says what is known of it elsewhere.
    """
    record = paper.paper
    about = ""
    if named:
        authors = ", ".join(record.authors)
        about = f'\nThe study is {authors} ({record.year}), "{record.title}", {record.journal}.\n'
    slugs = sorted(template.slug for template in paper.templates)
    rows = "\n".join(
        f"| `{TEMPLATES}/{slug}.json` | `{slug}.py` | `{slug}.json` |" for slug in slugs
    )
    files = "\n".join(f"- `{DATA_LINK}/{file.name}`" for file in record.files)
    return f"""# Task

Re-implement the result tables of an empirical study from its written methods and its data.
The published results are not here, and neither is the original code.
{about}
## What is here

- `{METHODS}`: what the study did: variables, samples, estimators, standard errors, and which
  column of which table each belongs to.
- `{TEMPLATES}/`: the tables with their result cells empty. Labels and settings are as in the study.
- `{DATA_LINK}/`: the data files, read-only.

{files}

## What to make

For every template write one Python script, and run it so that it writes the filled table. Both
go into this folder, `{WORKSPACE}`:

| template | your script | your table |
|---|---|---|
{rows}

- A script reads from `{DATA_LINK}/` only and can be run again by itself:
  `cd {WORKSPACE} && /analysis/bin/python <table>.py`. Steps that several tables share may go into
  `prepare_data.py`.
- A filled table is the template with `text` and `value` set in each cell whose `value` is null.
  `value` is the number itself at full precision, in the units of the study's table; `text` is the
  number as a table would print it, for example `"0.123***"` or `"(0.045)"`. Leave everything else
  in the file as it is, and add or remove no cell.
- A cell that cannot be computed from what is here stays `null` in both. Never guess a number, and
  never write one that a script of yours did not compute.
- Compute with the data. Do not write results from memory.
- `notes.md` is the place for choices that the methods leave open and for what could not be done.

## What there is to work with

Python is `/analysis/bin/python`, with numpy, pandas, scipy, statsmodels, linearmodels, pyfixest and
readers for Stata, SPSS, R, Excel and Parquet files. There is no network, and nothing can be
installed. Files outside `{WORKSPACE}` are lost when the run ends. Time and memory are limited:
write each table as soon as it is done.
"""


def _without_name(content: bytes) -> bytes:
    """A JSON record without the paper's id."""
    values: dict[str, Any] = json.loads(content)
    if "paper_id" in values:
        values["paper_id"] = "paper"
    return json.dumps(values, ensure_ascii=False, indent=2).encode()


def _inputs(paper: PaperFolder, *, named: bool) -> dict[str, bytes]:
    found = {METHODS: paper.extracted(METHODS)}
    for template in paper.templates:
        name = f"templates/{template.slug}.json"
        found[f"{TEMPLATES}/{template.slug}.json"] = paper.extracted(name)
    if not named:
        found = {name: _without_name(content) for name, content in found.items()}
    return {TASK: task_text(paper, named=named).encode(), **found}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _paper_files(root: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(root):
        folders.sort()
        yield from (Path(top) / name for name in sorted(names))


def _is_shown(relative: str) -> bool:
    in_folder = any(relative.startswith(f"{folder}/") for folder in _SHOWN_FOLDERS)
    return in_folder or relative in _SHOWN or relative in _ALSO_SHOWN


def forbidden_hashes(paper: PaperFolder) -> dict[str, str]:
    """Names, by hash, of every file of a paper that no contestant may see.

    That is all of its folder except the methods and the templates: published values, tables,
    the reproduction package and the re-implementations by a person.
    """
    found: dict[str, str] = {}
    for path in _paper_files(paper.root):
        relative = path.relative_to(paper.root).as_posix()
        if _is_shown(relative) or not path.is_file() or "__pycache__" in path.parts:
            continue
        content = path.read_bytes()
        if len(content) >= SMALLEST_TELLING:
            found[_hash(content)] = relative
    return found


def _preflight(
    paper: PaperFolder, shown: Iterable[tuple[str, bytes]], forbidden: Mapping[str, str]
) -> None:
    """Refuse to show a forbidden file under whatever name.

    Raises
    ------
    UserError
        Naming the file inside and the one of the paper that it equals.
    """
    for path, content in shown:
        same = forbidden.get(_hash(content))
        if same is not None:
            raise UserError(
                f"paper {paper.id}: {path} has the same content as {same}, which no arm may see: "
                "take it out of what this run is given"
            )


def _refuse_results(paper: PaperFolder, files: Mapping[str, bytes]) -> None:
    """Refuse an arm's own file in which published values of the paper's tables stand.

    Raises
    ------
    UserError
        Naming the file, the table and the values.
    """
    if not files:
        return
    for name, content in files.items():
        for table, values in published_in(content, paper.tables):
            raise UserError(
                f"paper {paper.id}: {name} holds published values of {table} "
                f"({', '.join(values)}), which no arm may see: take it out of the arm's files"
            )


def _read_data(paper: PaperFolder, data_dir: Path) -> dict[str, bytes]:
    """Content of the data files on the paper's list; links are refused, as they lead elsewhere."""
    found: dict[str, bytes] = {}
    for path in paper.data_files(data_dir):
        if path.is_symlink():
            raise UserError(
                f"paper {paper.id}: data file {path} is a link: put the file itself there"
            )
        found[path.relative_to(data_dir).as_posix()] = path.read_bytes()
    return found


def _check_arm_files(names: Iterable[str]) -> None:
    for name in names:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise UserError(f"a file of an arm must lie in the workspace: {name!r}")
        if path.parts[0] in INPUT_NAMES:
            raise UserError(f"a file of an arm may not replace the paper's own {path.parts[0]}")


def _write_all(folder: Path, files: Mapping[str, bytes], permissions: int) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(permissions)


def _entries(
    prefix: str, files: Mapping[str, bytes], role: Literal["input", "data", "arm"]
) -> list[ManifestEntry]:
    return [
        ManifestEntry(f"{prefix}/{name}", len(content), _hash(content), role)
        for name, content in sorted(files.items())
    ]


def build_workspace(
    run_dir: Path,
    paper: PaperFolder,
    data_dir: Path,
    *,
    files: Mapping[str, bytes] | None = None,
    named: bool = True,
    knows_answers: bool = False,
    staging: Path | None = None,
) -> WorkspacePlan:
    """Stage the workspace of one run and write its manifest.

    Parameters
    ----------
    run_dir : Path
        Folder of the attempt; ``manifest.json`` is written there.
    paper : PaperFolder
    data_dir : Path
        Folder of the paper's data files; only those on its list are staged.
    files : mapping of str to bytes, optional
        What the arm puts beside the inputs, by path in the workspace.
    named : bool
        Whether the arm is told which publication it is.
    knows_answers : bool
        For self-test and reference arms, whose own files may come from the paper's folder.
    staging : Path, optional
        Where the stage is made; by default the system's folder for temporary files.

    Raises
    ------
    UserError
        When a file equals one that no arm may see, lies outside the workspace, would replace an
        input, or is missing.
    """
    own = dict(files or {})
    _check_arm_files(own)
    inputs = _inputs(paper, named=named)
    data = _read_data(paper, data_dir)
    forbidden = forbidden_hashes(paper)
    _preflight(paper, [*inputs.items(), *data.items()], forbidden)
    if not knows_answers:
        _preflight(paper, own.items(), forbidden)
        _refuse_results(paper, own)
    manifest = (
        *_entries(WORKSPACE, inputs, "input"),
        *_entries(DATA, data, "data"),
        *_entries(WORKSPACE, own, "arm"),
    )
    stage = (staging or Path(tempfile.gettempdir())) / f"stage-{secrets.token_hex(8)}"
    # Written first: a stage that nobody knows of could not be cleared away after a kill.
    _write_manifest(run_dir, stage, manifest)
    plan = _plan(stage, manifest)
    stage.mkdir(mode=0o700, parents=True)
    plan.workspace.mkdir()
    plan.data.mkdir()
    _write_all(plan.workspace, inputs, 0o444)
    _write_all(plan.workspace, own, 0o644)
    _write_all(plan.data, data, 0o444)
    (plan.workspace / DATA_LINK).symlink_to(DATA)
    (plan.workspace / TEMPLATES).chmod(0o555)
    plan.data.chmod(0o555)
    return plan


def _write_manifest(run_dir: Path, stage: Path, manifest: tuple[ManifestEntry, ...]) -> None:
    record = {
        "schema_version": MANIFEST_SCHEMA_VERSION,
        "stage": str(stage),
        "files": [asdict(entry) for entry in manifest],
    }
    write_atomic(run_dir / MANIFEST_FILE, json.dumps(record, indent=2).encode())


def _plan(stage: Path, manifest: tuple[ManifestEntry, ...]) -> WorkspacePlan:
    workspace, data = stage / "workspace", stage / "data"
    binds = (
        Bind(workspace, WORKSPACE, writable=True),
        *(Bind(workspace / name, f"{WORKSPACE}/{name}") for name in (TASK, METHODS, TEMPLATES)),
        Bind(data, DATA),
    )
    return WorkspacePlan(stage, workspace, data, binds, manifest)


def staged_before(run_dir: Path) -> WorkspacePlan | None:
    """Workspace that an attempt's manifest tells of; None without a manifest.

    Parameters
    ----------
    run_dir : Path
        Folder of the attempt.
    """
    try:
        record = json.loads((run_dir / MANIFEST_FILE).read_bytes())
    except FileNotFoundError:
        return None
    manifest = tuple(ManifestEntry(**entry) for entry in record["files"])
    return _plan(Path(record["stage"]), manifest)
