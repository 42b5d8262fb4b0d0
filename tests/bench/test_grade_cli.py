"""`bench grade`, `bench regrade` and `bench grade-diff` as a user runs them."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bench.cli.main import run
from bench.grading import grade_directory, read_grades, workspace_files
from data.corpus import open_paper
from data.records.files import record_to_json
from data.records.grades import GradeFile, grade_file_to_json
from data.records.metrics import Metric
from data.records.runs import Arm
from data.records.tables import CellKey, Table
from extract import blind
from grade import load_rubric
from grade.workspace import grade_workspace

ROOT = Path(__file__).parents[2]


def _load(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    path = ROOT / "tests" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


made = _load("made_runs")

FIRST, SECOND = made.published_table("table_1"), made.published_table("table_2")
Plant = Callable[[Path], None]


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def problems(self) -> list[str]:
        return [line.strip() for line in self.lines if line.strip().startswith("!")]


@pytest.fixture
def bench(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Said]:
    """The console script's own entry point, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def said(*words: str | Path) -> Said:
        monkeypatch.setattr(sys, "argv", ["bench", *map(str, words)])
        code = 0
        try:
            run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(bool(end.code))
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return Said(code, captured.out, captured.err)

    return said


def bench_apart(*words: str | Path, where: Path, **more: str) -> Said:
    """The command in a process of its own, which may neither hang nor run out of stack."""
    done = subprocess.run(
        [sys.executable, "-c", "from bench.cli.main import run; run()", *map(str, words)],
        cwd=where,
        env=os.environ | more,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    """A paper folder with two published tables."""
    folder = tmp_path / "paper"
    write_paper(folder, FIRST, SECOND)
    return folder


def write_paper(folder: Path, *tables: Table) -> None:
    target = folder / "extracted" / "tables"
    target.mkdir(parents=True, exist_ok=True)
    for table in tables:
        (target / f"{table.slug}.json").write_bytes(record_to_json(table))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A finished workspace: both tables as they are printed."""
    folder = tmp_path / "mine" / "workspace"
    folder.mkdir(parents=True)
    for table in (FIRST, SECOND):
        (folder / f"{table.slug}.json").write_bytes(made.table_bytes(table, made.exact))
    return folder


def grid_csv(table: Table) -> str:
    """The table as it is printed: labels in the first column, one line a row."""
    at = {(cell.row, cell.col): cell.text for cell in table.cells}
    lines = [",Dependent: score | (1),Dependent: score | (2)"]
    for row in table.rows:
        if row.index in {panel.first for panel in table.panels}:
            lines.append(f"{row.panel},,")
        cells = ",".join(f'"{at[row.index, col]}"' for col in range(2))
        lines.append(f"{row.label},{cells}")
    return "\n".join(lines) + "\n"


def long_csv(table: Table) -> str:
    """One line a cell."""
    lines = ["row,col,metric,value"]
    lines += [
        f"{cell.row},{cell.col},{cell.metric},{'' if cell.value is None else cell.value}"
        for cell in table.cells
    ]
    return "\n".join(lines) + "\n"


def state_of(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything about a folder's entries that a grading must leave alone."""
    state: dict[str, tuple[object, ...]] = {}
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        content: object = None
        if stat.S_ISLNK(status.st_mode):
            content = path.readlink()
        elif stat.S_ISREG(status.st_mode) and status.st_size < 10**7:
            content = path.read_bytes()
        own = (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns)
        state[str(path.relative_to(folder))] = (*own, content)
    return state


def letters_of(grades: GradeFile, rubric: str, rule: str) -> dict[str, set[str | None]]:
    return {
        table.table: {cell.grades[rule].grade for cell in table.cells}
        for table in grades.paper(rubric).tables
    }


def reasons_of(grades: GradeFile, rubric: str = "kohler2026") -> dict[str, dict[str, int]]:
    return {table.table: table.reasons for table in grades.paper(rubric).tables}


# --------------------------------------------------------------------------- good workspaces


def as_grid(folder: Path) -> None:
    (folder / "table_1.json").unlink()
    (folder / "table_1.csv").write_text(grid_csv(FIRST))


def as_long(folder: Path) -> None:
    (folder / "table_1.json").unlink()
    (folder / "Table 1.csv").write_text(long_csv(FIRST))


def with_mark(folder: Path) -> None:
    path = folder / "table_1.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def in_utf_16(folder: Path) -> None:
    path = folder / "table_1.json"
    path.write_text(path.read_text(), encoding="utf-16")


def as_text(folder: Path) -> None:
    """Numbers in `text` only, as they are printed."""
    values = json.loads((folder / "table_1.json").read_bytes())
    for entry, cell in zip(values["cells"], FIRST.cells, strict=True):
        entry["value"], entry["text"] = None, cell.text
    (folder / "table_1.json").write_text(json.dumps(values))


def under_another_name(folder: Path) -> None:
    (folder / "table_1.json").rename(folder / "results.json")


def with_bystanders(folder: Path) -> None:
    (folder / "notes.md").write_text("Done.\n")
    (folder / "table_1.py").write_text("print(1)\n")
    (folder / "data").symlink_to("/data")
    (folder / "summary.csv").write_text("a,b\n1,2\n")
    (folder / "params.json").write_text('{"seed": 1}')
    (folder / "table_templates").mkdir()
    (folder / "table_templates" / "table_1.json").write_text("{}")


GOOD: list[Plant] = [
    lambda folder: None,
    as_grid,
    as_long,
    with_mark,
    in_utf_16,
    as_text,
    under_another_name,
    with_bystanders,
]


@pytest.mark.parametrize(
    "plant",
    GOOD,
    ids=["json", "grid", "long", "mark", "utf-16", "text", "other name", "bystanders"],
)
def test_good_workspaces(
    plant: Plant, bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    plant(workspace)
    before = state_of(workspace)
    said = bench("grade", workspace, "--paper", paper, "--explain")
    assert (said.code, said.err, said.problems()) == (0, "", [])
    assert state_of(workspace) == before
    grades = read_grades(workspace.parent / "grade.json")
    for rubric, rule in (("kohler2026", "rounded"), ("kohler2026", "raw"), ("printed", "interval")):
        assert letters_of(grades, rubric, rule) == {"table_1": {"A"}, "table_2": {"A"}}
    assert told_under(said, "kohler2026") + told_under(said, "printed") == []


def test_both_headline_variants_are_named(
    bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    (workspace / "table_2.json").unlink()
    said = bench("grade", workspace, "--paper", paper)
    rows = [[word.strip() for word in line.split("│")[1:-1]] for line in said.lines]
    # Tables A and F: all_f (5 + 0)/2 = 2.5, which is C; non_f leaves the second out.
    assert ["kohler2026", "rounded + all_f", "seen", "C", "2.5", "2 of 2"] in rows
    assert ["kohler2026", "raw + non_f", "seen", "A", "5", "1 of 2"] in rows
    assert ["printed", "interval + all_f", "seen", "C", "2.5", "2 of 2"] in rows
    assert "coverage 50.0 %: 12 of 24 cells produced" in said.out


def test_explain_gives_a_reason_for_every_cell_that_is_no_a(
    bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    values = json.loads((workspace / "table_1.json").read_bytes())
    entries = {(entry["row"], entry["col"]): entry for entry in values["cells"]}
    entries[0, 0]["value"] = -2.348  # 2.98 % off; prints -2.35, 3.07 %
    entries[0, 1]["value"] = 1.10  # the other sign
    entries[1, 0]["value"] = None
    entries[1, 1]["value"] = 0.4249  # prints 0.42, 2.3 %; raw 1.19 %
    entries[6, 0]["value"] = "see notes"
    (workspace / "table_1.json").write_text(json.dumps(values))
    said = bench("grade", workspace, "--paper", paper, "--explain")
    grades = read_grades(workspace.parent / "grade.json")
    for rubric, rules in (("kohler2026", ("rounded", "raw")), ("printed", ("interval",))):
        expected = []
        for table in grades.paper(rubric).tables:
            for cell in table.cells:
                letters = [cell.grades[rule].grade for rule in rules]
                if set(letters) != {"A"}:
                    place = f"({cell.row}, {cell.col}, {cell.part})"
                    expected.append(
                        (f"{'/'.join(map(str, letters))} {rubric}:{'/'.join(rules)} {place}", cell)
                    )
        told = told_under(said, rubric)
        assert len(told) == len(expected) >= 4
        for line, (start, cell) in zip(told, expected, strict=True):
            assert line.startswith(start)
            assert line.endswith(f"; {cell.reason.value}")
            assert f"published {cell.published_text}" in line
    by_place = {line.split(") ")[0]: line for line in told_under(said, "kohler2026")}
    assert "B/B kohler2026:rounded/raw (0, 0, 0" in by_place
    assert "-2.98 %, 0.142 SE" in by_place["B/B kohler2026:rounded/raw (0, 0, 0"]
    assert "the sign differs" in by_place["E/E kohler2026:rounded/raw (0, 1, 0"]
    assert "reproduced nothing; null" in by_place["F/F kohler2026:rounded/raw (1, 0, 0"]
    assert "B/A kohler2026:rounded/raw (1, 1, 0" in by_place
    assert by_place["F/F kohler2026:rounded/raw (6, 0, 0"].endswith("; unreadable")


def told_under(said: Said, rubric: str) -> list[str]:
    """Lines of --explain."""
    pattern = re.compile(rf"[A-F-](/[A-F-])* {rubric}:\S+ \(")
    return [line.strip() for line in said.lines if pattern.match(line.strip())]


def test_a_cell_left_empty_on_purpose_is_no_complaint(
    bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    (workspace / "table_1.json").write_bytes(made.table_bytes(FIRST, made.half))
    said = bench("grade", workspace, "--paper", paper)
    assert (said.code, said.problems()) == (0, [])
    grades = read_grades(workspace.parent / "grade.json")
    assert reasons_of(grades)["table_1"] == {"ok": 6, "null": 6}


def test_a_factor_is_shown_with_the_raw_value(
    bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    (workspace / "table_1.json").write_bytes(made.table_bytes(FIRST, made.times(103)))
    said = bench("grade", workspace, "--paper", paper, "--explain")
    assert "rescaled by 0.01" in said.out
    line = told_under(said, "kohler2026")[0]
    assert line.startswith("B/B kohler2026:rounded/raw (0, 0, 0)")
    assert "reproduced -2.3484 (raw -234.84, unrescued E), -3 %" in line


def test_json_on_standard_output_is_the_grade_file(
    bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    said = bench("grade", workspace, "--paper", paper, "--json")
    assert said.out.encode() == (workspace.parent / "grade.json").read_bytes()
    assert [entry["rubric"] for entry in json.loads(said.out)["papers"]] == [
        "kohler2026",
        "printed",
    ]


def test_out_names_a_file_or_a_folder(
    bench: Callable[..., Said], paper: Path, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "grades").mkdir()
    for out, target in (("mine.json", "mine.json"), ("grades", "grades/grade.json")):
        said = bench("grade", workspace, "--paper", paper, "--out", out)
        assert said.code == 0
        assert f"written: {target}" in said.out
        assert read_grades(tmp_path / target).paper_id == "paper_a"
    assert not (workspace.parent / "grade.json").exists()
    assert list((tmp_path / "grades").iterdir()) == [tmp_path / "grades" / "grade.json"]


def test_a_workspace_by_a_link_is_graded_beside_itself(
    bench: Callable[..., Said], paper: Path, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "shortcut").symlink_to(workspace, target_is_directory=True)
    assert bench("grade", "shortcut", "--paper", paper).code == 0
    assert (workspace.parent / "grade.json").is_file()
    assert not (tmp_path / "grade.json").exists()


def test_a_bundled_paper_by_its_id_whatever_folders_are_here(
    bench: Callable[..., Said], tmp_path: Path
) -> None:
    (tmp_path / "wooldridge_card_2010").mkdir()
    (tmp_path / "empty").mkdir()
    said = bench("grade", "empty", "--paper", "wooldridge_card_2010")
    assert said.code == 1
    assert said.problems() == ["! 'table_15_1': no file for this table"]


# --------------------------------------------------------------------------- bad files


def content(data: bytes, name: str = "table_1.json") -> Plant:
    def plant(folder: Path) -> None:
        (folder / "table_1.json").unlink()
        (folder / name).write_bytes(data)

    return plant


def edited(change: Callable[[dict[str, Any]], object]) -> Plant:
    def plant(folder: Path) -> None:
        path = folder / "table_1.json"
        values = json.loads(path.read_bytes())
        change(values)
        path.write_text(json.dumps(values))

    return plant


def truncated(folder: Path) -> None:
    path = folder / "table_1.json"
    path.write_bytes(path.read_bytes()[:700])


def second_file(folder: Path) -> None:
    (folder / "Table-1.csv").write_text(grid_csv(FIRST))


def copy_under_another_name(folder: Path) -> None:
    shutil.copy(folder / "table_1.json", folder / "final.json")


def link_to(target: str) -> Plant:
    def plant(folder: Path) -> None:
        outside = folder.parent / "outside"
        outside.mkdir()
        (folder / "table_1.json").rename(outside / "table_1.json")
        (folder / "table_1.json").symlink_to(target)

    return plant


def link_within(folder: Path) -> None:
    (folder / "table_1.json").rename(folder / "kept.txt")
    (folder / "table_1.json").symlink_to("kept.txt")


def large(folder: Path) -> None:
    with (folder / "table_1.json").open("r+b") as file:
        file.truncate(200 * 1024**2)


def folder_of_that_name(folder: Path) -> None:
    (folder / "table_1.json").unlink()
    (folder / "table_1.json").mkdir()
    (folder / "table_1.json" / "table_1.json").write_bytes(made.table_bytes(FIRST, made.exact))


def listening(folder: Path) -> None:
    (folder / "table_1.json").unlink()
    here = Path.cwd()
    os.chdir(folder)  # a socket's path has at most 108 characters
    try:
        socket.socket(socket.AF_UNIX).bind("table_1.json")
    finally:
        os.chdir(here)


WHOLE_FILES: list[tuple[str, Plant, str, str]] = [
    ("missing", lambda folder: (folder / "table_1.json").unlink(), "missing", "no file"),
    ("truncated", truncated, "unreadable", "truncated JSON"),
    ("empty", content(b""), "unreadable", "empty"),
    ("blank", content(b" \n\t\n"), "unreadable", "empty"),
    ("list", content(b"[1, 2]"), "unreadable", "wrong schema"),
    ("number", content(b"0.5"), "unreadable", "wrong schema"),
    ("no cells", content(b'{"id": "Table 1"}'), "unreadable", "wrong schema"),
    ("cells no list", content(b'{"id": "Table 1", "cells": 3}'), "unreadable", "wrong schema"),
    ("no cell in cells", content(b'{"id": "Table 1", "cells": []}'), "unreadable", "no cell"),
    ("other schema", content(b'{"rows": [[1, 2]]}'), "unreadable", "wrong schema"),
    ("cells twice", content(b'{"cells": [{}], "cells": [{}]}'), "duplicate", "twice"),
    ("no JSON", content(b"beta = 0.5\n"), "unreadable", "not valid JSON"),
    ("rubbish", content(random.Random(3).randbytes(4000)), "unreadable", "table_1.json"),
    ("zero bytes", content(bytes(4000)), "unreadable", "table_1.json"),
    ("a picture", content(b"\x89PNG\r\n\x1a\n" + bytes(99)), "unreadable", "UTF-8"),
    ("deep", content(b"[" * 10**5), "unreadable", "nested too deeply"),
    ("deep objects", content(b'{"cells":' * 10**5), "unreadable", "nested too deeply"),
    (
        "deep inside",
        content(b'{"id": "Table 1", "cells": [' + b"[" * 10**5 + b"]" * 10**5 + b"]}"),
        "unreadable",
        "nested too deeply",
    ),
    ("wrong id", edited(lambda values: values.update(id="Table 9")), "wrong_table", "'Table 9'"),
    ("two files", second_file, "ambiguous", "claimed by 'Table-1.csv' and 'table_1.json'"),
    ("copy", copy_under_another_name, "ambiguous", "claimed by 'final.json' and 'table_1.json'"),
    ("link to outside", link_to("../outside/table_1.json"), "unreadable", "symbolic link"),
    ("link to a folder", link_to("../outside"), "unreadable", "symbolic link"),
    ("link to itself", link_to("table_1.json"), "unreadable", "symbolic link"),
    ("dangling link", link_to("nowhere"), "unreadable", "symbolic link"),
    ("link to the other table", link_to("table_2.json"), "unreadable", "symbolic link"),
    ("link within", link_within, "unreadable", "symbolic link"),
    ("200 MB", large, "unreadable", "too large: 200 MB"),
    ("folder", folder_of_that_name, "unreadable", "no regular file"),
    ("socket", listening, "unreadable", "cannot be opened"),
    ("csv empty", content(b"", "table_1.csv"), "unreadable", "no line below its header"),
    ("csv header", content(b",(1),(2)\n", "table_1.csv"), "unreadable", "no line below"),
    ("csv quotes", content(b',(1),(2)\n"x,1,2\n', "table_1.csv"), "unreadable", "not valid CSV"),
    ("csv stray", content(b',(1),(2)\nx,"1"2,3\n', "table_1.csv"), "unreadable", "not valid CSV"),
    ("csv blank", content(b",,\n,,\n", "table_1.csv"), "unreadable", "no cell"),
    ("csv binary", content(b"\xff\xfe\xfd\n\x80", "table_1.csv"), "unreadable", "UTF-8"),
    (
        "csv utf-16",
        content(grid_csv(FIRST).encode("utf-16"), "table_1.csv"),
        "unreadable",
        "UTF-8",
    ),
    ("csv zero", content(b"row,value\n0,\x00\n", "table_1.csv"), "unreadable", "zero bytes"),
    (
        "csv field",
        content(b",(1)\nx," + b"9" * 200_000 + b"\n", "table_1.csv"),
        "unreadable",
        "not valid CSV",
    ),
    (
        "csv columns",
        content(b"coefficient;estimate\nx;1\ny;2\n", "table_1.csv"),
        "unreadable",
        "no cell",
    ),
]


def judged(said: Said, folder: Path, before: Mapping[str, object]) -> GradeFile:
    """What holds whatever is wrong: graded, told, exit code 1, workspace as it was."""
    assert said.code == 1
    assert said.err == ""
    assert state_of(folder) == before
    grades = read_grades(folder.parent / "grade.json")
    for entry in grades.papers:
        assert [table.table for table in entry.tables] == ["table_1", "table_2"]
    return grades


@pytest.mark.parametrize(
    ("plant", "reason", "words"),
    [entry[1:] for entry in WHOLE_FILES],
    ids=[entry[0] for entry in WHOLE_FILES],
)
def test_files_that_give_no_table(
    plant: Plant,
    reason: str,
    words: str,
    bench: Callable[..., Said],
    paper: Path,
    workspace: Path,
) -> None:
    plant(workspace)
    before = state_of(workspace)
    said = bench("grade", workspace, "--paper", paper, "--explain")
    grades = judged(said, workspace, before)
    for rubric, rule in (("kohler2026", "rounded"), ("printed", "interval")):
        assert reasons_of(grades, rubric) == {"table_1": {reason: 12}, "table_2": {"ok": 12}}
        assert letters_of(grades, rubric, rule) == {"table_1": {"F"}, "table_2": {"A"}}
        told = told_under(said, rubric)
        assert len(told) == 12
        assert all(line.startswith("F") and line.endswith(f"; {reason}") for line in told)
    assert len(said.problems()) == 1
    assert words in said.problems()[0]


def test_a_pipe_does_not_hang(paper: Path, workspace: Path, tmp_path: Path) -> None:
    (workspace / "table_1.json").unlink()
    os.mkfifo(workspace / "table_1.json")
    before = state_of(workspace)
    said = bench_apart("grade", workspace, "--paper", paper, where=tmp_path)
    grades = judged(said, workspace, before)
    assert reasons_of(grades) == {"table_1": {"unreadable": 12}, "table_2": {"ok": 12}}
    assert said.problems() == ["! 'table_1.json': no regular file, not opened"]


def test_a_device_is_not_read(
    paper: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "table_1.json").unlink()
    try:
        os.mknod(workspace / "table_1.json", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:  # only root makes devices: those that are there have to do
        monkeypatch.setattr("bench.grading.TABLE_SUFFIXES", ("zero", "null"))
        assert {file.problem for file in workspace_files(Path("/dev"))} == {
            "no regular file, not opened"
        }
        return
    before = state_of(workspace)
    said = bench_apart("grade", workspace, "--paper", paper, where=tmp_path)
    grades = judged(said, workspace, before)
    assert reasons_of(grades)["table_1"] == {"unreadable": 12}
    assert said.problems()[0].startswith("! 'table_1.json': ")


def test_a_file_without_permission(
    bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    (workspace / "table_1.json").chmod(0)
    may_read = os.access(workspace / "table_1.json", os.R_OK)  # root may
    said = bench("grade", workspace, "--paper", paper)
    assert stat.S_IMODE((workspace / "table_1.json").stat().st_mode) == 0
    reasons = reasons_of(read_grades(workspace.parent / "grade.json"))["table_1"]
    if may_read:
        assert (said.code, reasons) == (0, {"ok": 12})
    else:
        assert (said.code, reasons) == (1, {"unreadable": 12})
        assert "Permission denied" in said.problems()[0]


def test_all_files_together_have_a_limit(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = (workspace / "table_1.json").stat().st_size
    monkeypatch.setattr("bench.grading.LARGEST_WORKSPACE", size + 10)
    first, second = workspace_files(workspace)
    assert first.content is not None
    assert second.content is None
    assert "together" in (second.problem or "")


def test_a_name_that_is_no_text(bench: Callable[..., Said], paper: Path, workspace: Path) -> None:
    (workspace / "table_1.json").unlink()
    name = os.fsencode(workspace) + b"/table_1\xff\n\x1b[.json"
    Path(os.fsdecode(name)).write_text("[")
    said = bench("grade", workspace, "--paper", paper)
    assert said.code == 1
    assert "\x1b" not in said.out
    assert len(said.problems()) == 1
    assert "truncated JSON" in said.problems()[0]


# --------------------------------------------------------------------------- bad cells


def first_cell(**changes: Any) -> Plant:
    return edited(lambda values: values["cells"][0].update(changes))


def raw_first_value(literal: bytes) -> Plant:
    """Plants a number that no JSON writer writes."""

    def plant(folder: Path) -> None:
        first_cell(value="PLACE")(folder)
        path = folder / "table_1.json"
        path.write_bytes(path.read_bytes().replace(b'"PLACE"', literal))

    return plant


def cell_twice(values: dict[str, Any]) -> None:
    values["cells"].append(dict(values["cells"][0]))


def cell_gone(values: dict[str, Any]) -> None:
    del values["cells"][0]


SINGLE_CELLS: list[tuple[str, Plant, str, str]] = [
    ("NaN", raw_first_value(b"NaN"), "not_a_number", "'nan' is no finite number"),
    ("Infinity", raw_first_value(b"Infinity"), "not_a_number", "'inf' is no finite number"),
    ("-Infinity", raw_first_value(b"-Infinity"), "not_a_number", "'-inf' is no finite"),
    ("1e400", raw_first_value(b"1e400"), "not_a_number", "'inf' is no finite number"),
    ("-1e400", raw_first_value(b"-1e400"), "not_a_number", "'-inf' is no finite number"),
    ("digits", raw_first_value(b"9" * 10**5), "not_a_number", "'inf' is no finite number"),
    ("digits in text", first_cell(value="9" * 10**5), "unreadable", "is not plainly one number"),
    ("NaN in text", first_cell(value=None, text="NaN"), "not_a_number", "'NaN' is no finite"),
    ("words", first_cell(value="see notes"), "unreadable", "'see notes' is not plainly one"),
    ("bound", first_cell(value="<0.01"), "unreadable", "'<0.01' is not plainly one number"),
    ("two numbers", first_cell(value="1.2 (0.3)"), "unreadable", "is not plainly one number"),
    ("true", first_cell(value=True), "unreadable", "'True' is not plainly one number"),
    ("list", first_cell(value=[-2.28]), "unreadable", "is not plainly one number"),
    ("object", first_cell(value={"x": -2.28}), "unreadable", "is not plainly one number"),
    ("escapes", first_cell(value="\x1b[31m\x00\n\ud800"), "unreadable", "is not plainly one"),
    ("twice", edited(cell_twice), "duplicate", "1 published cell given more than once: (0, 0, 0)"),
    ("gone", edited(cell_gone), "missing", "1 published cell not in it: (0, 0, 0)"),
    ("row elsewhere", first_cell(row=10**6), "missing", "1 published cell not in it: (0, 0, 0)"),
    ("row no position", first_cell(row="first", row_label="?"), "missing", "row 'first' is no"),
    ("negative row", first_cell(row=-1, row_label="?"), "missing", "row '-1' is no position"),
    ("name twice", raw_first_value(b'1, "value": 2'), "duplicate", "'value' stands twice in it"),
]


@pytest.mark.parametrize(
    ("plant", "reason", "words"),
    [entry[1:] for entry in SINGLE_CELLS],
    ids=[entry[0] for entry in SINGLE_CELLS],
)
def test_cells_that_give_no_number(
    plant: Plant,
    reason: str,
    words: str,
    bench: Callable[..., Said],
    paper: Path,
    workspace: Path,
) -> None:
    plant(workspace)
    before = state_of(workspace)
    said = bench("grade", workspace, "--paper", paper, "--explain", "--rubric", "kohler2026")
    grades = judged(said, workspace, before)
    assert reasons_of(grades) == {"table_1": {reason: 1, "ok": 11}, "table_2": {"ok": 12}}
    cells = grades.papers[0].tables[0].cells
    assert [cell.grades["raw"].grade for cell in cells] == ["F"] + ["A"] * 11
    assert any(words in line for line in said.problems())
    assert all(line.startswith("! 'table_1.json': ") for line in said.problems())
    told = told_under(said, "kohler2026")
    assert len(told) == 1
    assert told[0].endswith(f"; {reason}")
    assert "\x1b" not in said.out


@pytest.mark.parametrize("value", ["-2.28", "-2.28**", "\u22122.28", " -2.280 ", "-2.28e0"])
def test_numbers_in_strings_are_read(
    value: str, bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    first_cell(value=value)(workspace)
    said = bench("grade", workspace, "--paper", paper)
    assert (said.code, said.problems()) == (0, [])


@pytest.mark.parametrize(
    ("text", "reasons", "words"),
    [
        # A line too short leaves its cell out, one too long has a cell too many.
        (lambda text: text.replace(',"11.57**","0.52"', ',"11.57**"'), {"missing": 1}, "not in it"),
        (lambda text: text.replace('"0.52"', '"0.52","7"'), {}, "extra cell"),
        # Columns that the template does not have.
        (lambda text: text.replace("(2)", "(3)").replace("score | ", ""), {}, ""),
        (lambda text: text.replace("Income", "Wealth"), {}, ""),
        (lambda text: text.replace('"0.52"', '"0.52 or so"'), {"unreadable": 1}, "one number"),
        (lambda text: text.replace('"0.52"', '"1,2,3"'), {"unreadable": 1}, "one number"),
    ],
    ids=["short", "long", "columns", "label", "words", "commas"],
)
def test_csv_with_a_fault(
    text: Callable[[str], str],
    reasons: dict[str, int],
    words: str,
    bench: Callable[..., Said],
    paper: Path,
    workspace: Path,
) -> None:
    (workspace / "table_1.json").unlink()
    (workspace / "table_1.csv").write_text(text(grid_csv(FIRST)))
    before = state_of(workspace)
    said = bench("grade", workspace, "--paper", paper, "--explain", "--rubric", "kohler2026")
    grades = read_grades(workspace.parent / "grade.json")
    assert state_of(workspace) == before
    assert reasons_of(grades)["table_1"] == {"ok": 12 - sum(reasons.values())} | reasons
    assert said.code == int(bool(reasons))
    assert words in said.out


def test_a_csv_of_other_rows_is_missing_and_told(
    bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    (workspace / "table_1.json").unlink()
    (workspace / "table_1.csv").write_text("name,estimate\nalpha,1\nbeta,2\n")
    said = bench("grade", workspace, "--paper", paper)
    assert said.code == 1
    assert reasons_of(read_grades(workspace.parent / "grade.json"))["table_1"] == {"missing": 12}
    assert "12 published cells not in it: (0, 0, 0), (1, 0, 0)," in said.problems()[0]
    assert "extra cell, not graded: no position alpha" in said.out


def test_a_table_with_too_many_cells(
    bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    entries = b",".join([b"{}"] * 200_001)
    (workspace / "table_1.json").write_bytes(b'{"id": "Table 1", "cells": [' + entries + b"]}")
    said = bench("grade", workspace, "--paper", paper)
    assert said.code == 1
    assert "too large for a table: 200,001 cells" in said.problems()[0]


def test_extra_cells_are_listed_and_not_graded(
    bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    def more(values: dict[str, Any]) -> None:
        values["cells"] += [
            {"row": 50 + place, "col": 0, "row_label": "\x1b[31mBonus", "value": 1}
            for place in range(15)
        ]

    edited(more)(workspace)
    said = bench("grade", workspace, "--paper", paper)
    assert (said.code, said.problems()) == (0, [])
    assert "extra cell, not graded: (50, 0, 0)" in said.out
    assert "5 more extra cells; grade.json lists them" in said.out
    assert "\x1b" not in said.out


def test_files_that_belong_to_no_table_are_told(
    bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    (workspace / "extra.json").write_text('{"id": "Table 99", "cells": [{"value": 1}]}')
    (workspace / "broken.json").write_text("{")
    said = bench("grade", workspace, "--paper", paper)
    assert said.code == 1
    assert [line.split(":")[0] for line in said.problems()] == ["! 'broken.json'", "! 'extra.json'"]
    assert letters_of(read_grades(workspace.parent / "grade.json"), "printed", "interval") == {
        "table_1": {"A"},
        "table_2": {"A"},
    }


# --------------------------------------------------------------------------- the user's mistakes


def refused(said: Said, *words: str) -> None:
    """One line on standard error, exit code 2, nothing on standard output."""
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("bench: ")
    assert said.err.count("\n") == 1
    for word in words:
        assert word in said.err


@pytest.mark.parametrize(
    ("name", "words"), [("nowhere", "No such file"), ("a_file", "Not a directory")]
)
def test_no_workspace(
    name: str, words: str, bench: Callable[..., Said], paper: Path, tmp_path: Path
) -> None:
    (tmp_path / "a_file").write_text("x")
    refused(bench("grade", name, "--paper", paper), name, "not a workspace folder", words)
    assert not (tmp_path / "grade.json").exists()


def test_no_paper(bench: Callable[..., Said], paper: Path, workspace: Path, tmp_path: Path) -> None:
    refused(bench("grade", workspace, "--paper", "nobody_1900"), "nobody_1900", "papers list")
    (tmp_path / "bare").mkdir()
    refused(bench("grade", workspace, "--paper", "bare"), "bare", "extracted", "papers build")
    (tmp_path / "bare" / "extracted" / "tables").mkdir(parents=True)
    refused(bench("grade", workspace, "--paper", "bare"), "no tables in extracted/tables")
    (tmp_path / "a_file").write_text("x")
    refused(bench("grade", workspace, "--paper", "a_file"), "a_file")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not valid JSON"),
        (b"\xff\xfe\xff", "not valid JSON"),
        (b"[" * 10**5, "nested too deeply"),
        (b"9" * 10**5, "not valid JSON"),
        (b"{}", "id: Field required"),
        (b"[]", "the top level"),
        (b'{"id": "a", "slug": "a", "cells": [{"row": "x", "col": 0}]}', "cells.0.row"),
    ],
)
def test_a_published_table_that_cannot_be_read(
    data: bytes, words: str, bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    (paper / "extracted" / "tables" / "table_1.json").write_bytes(data)
    refused(bench("grade", workspace, "--paper", paper), "table_1.json", words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"row": -1}, "no position in a table"),
        ({"col": 10**30}, "no position in a table"),
        ({"decimals": -3}, "decimals must be 0 to 22"),
        ({"decimals": 10**9}, "decimals must be 0 to 22"),
        ({"row": 1, "col": 0}, "cell (1, 0, 0): stands twice"),
    ],
)
def test_a_published_table_with_impossible_cells(
    changes: dict[str, int], words: str, bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    cells = (replace(FIRST.cells[0], **changes), *FIRST.cells[1:])
    write_paper(paper, replace(FIRST, cells=cells))
    refused(bench("grade", workspace, "--paper", paper), "table_1.json", words)


def test_two_published_tables_of_one_slug(
    bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    shutil.copy(
        paper / "extracted" / "tables" / "table_1.json", paper / "extracted" / "tables" / "z.json"
    )
    refused(bench("grade", workspace, "--paper", paper), "two tables have the slug 'table_1'")


def test_grades_never_go_into_the_workspace(
    bench: Callable[..., Said], paper: Path, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "sub").mkdir()
    (tmp_path / "shortcut").symlink_to(workspace, target_is_directory=True)
    before = state_of(workspace)
    for out in (
        workspace,
        workspace / "grade.json",
        workspace / "sub",
        workspace / "sub" / "g.json",
        workspace / "sub" / ".." / "g.json",
        tmp_path / "shortcut",
        tmp_path / "shortcut" / "g.json",
    ):
        said = bench("grade", workspace, "--paper", paper, "--out", out)
        refused(said, "never written into a workspace")
    assert state_of(workspace) == before


def test_out_where_it_cannot_be(
    bench: Callable[..., Said], paper: Path, workspace: Path, tmp_path: Path
) -> None:
    said = bench("grade", workspace, "--paper", paper, "--out", "nowhere/grade.json")
    refused(said, "nowhere: no such folder")
    (tmp_path / "a_file").write_text("x")
    refused(bench("grade", workspace, "--paper", paper, "--out", "a_file/g.json"), "no such folder")
    said = bench("grade", workspace, "--paper", paper, "--out", "/proc/grade.json")
    refused(said, "/proc/grade.json: cannot be written")


def test_words_that_are_missing_or_unknown(
    bench: Callable[..., Said], paper: Path, workspace: Path
) -> None:
    for words in (("grade",), ("grade", workspace), ("grade", workspace, "--paper", paper, "--x")):
        said = bench(*words)
        assert said.code == 2
        assert "Usage: bench grade" in said.err


def test_a_terminal_without_the_letters(paper: Path, workspace: Path, tmp_path: Path) -> None:
    cells = tuple(replace(cell, row_label="Gr\u00f6\u00dfe \u2212 \u6570") for cell in FIRST.cells)
    table = replace(FIRST, cells=cells)
    write_paper(paper, table)
    (workspace / "table_1.json").write_bytes(made.table_bytes(table, made.exact))
    said = bench_apart(
        "grade", workspace, "--paper", paper, where=tmp_path, PYTHONIOENCODING="ascii"
    )
    assert said.code == 0
    assert "Gr\\xf6\\xdfe" in said.out


# --------------------------------------------------------------------------- rubrics


MINE = """\
name = "mine"
version = 1
description = "Half as strict."
headline = ["loose", "all_f"]
[alignment]
method = "index"
[rescaling]
method = "none"
[[cell_rules]]
name = "loose"
measure = "percent"
cuts = [4, 40, 80, 120]
[[roll_ups]]
name = "all_f"
missing = "zero"
"""


def test_a_rubric_of_ones_own(
    bench: Callable[..., Said], paper: Path, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    (workspace / "table_1.json").write_bytes(made.table_bytes(FIRST, made.times(1.03)))
    said = bench(
        "grade", workspace, "--paper", paper, "--rubric", "mine.toml", "--rubric", "kohler2026"
    )
    assert said.code == 0
    grades = read_grades(workspace.parent / "grade.json")
    assert [entry.rubric for entry in grades.papers] == ["mine", "kohler2026"]
    # 3 % off: under 4 here, not under 2 there.
    assert letters_of(grades, "mine", "loose")["table_1"] == {"A"}
    assert letters_of(grades, "kohler2026", "raw")["table_1"] == {"B"}
    assert "loose + all_f" in said.out


def test_a_copy_of_a_shipped_rubric_keeps_its_name_only_unchanged(
    bench: Callable[..., Said], paper: Path, workspace: Path, tmp_path: Path
) -> None:
    text = (ROOT / "data" / "rubrics" / "printed.toml").read_text()
    (tmp_path / "copy.toml").write_text(text)
    assert bench("grade", workspace, "--paper", paper, "--rubric", "copy.toml").code == 0
    (tmp_path / "copy.toml").write_text(text.replace("0.02, 0.2", "0.03, 0.2"))
    said = bench("grade", workspace, "--paper", paper, "--rubric", "copy.toml")
    refused(said, "copy.toml", "'printed' is a shipped rubric with other rules")


BAD_RUBRICS = [
    ("no TOML", lambda text: text + "x = [", "not valid TOML"),
    ("not text", lambda text: "\udcff", "not UTF-8 text"),
    ("empty", lambda text: "", "name: Field required"),
    ("deep", lambda text: "x = " + "[" * 10**5, "nested too deeply"),
    ("endless", lambda text: text.replace("version = 1", "version = " + "9" * 5000), "TOML"),
    ("unknown key", lambda text: text.replace("version", "verson"), "verson: unknown key; known"),
    ("unknown key within", lambda text: text.replace("cuts", "cutz"), "cell_rules.0.cutz: unknown"),
    ("missing key", lambda text: text.replace("version = 1", ""), "version: Field required"),
    ("wrong type", lambda text: text.replace("[4, 40", '["x", 40'), "cell_rules.0.cuts.0"),
    ("too few cuts", lambda text: text.replace("[4, 40, 80, 120]", "[4]"), "cell_rules.0.cuts"),
    ("wrong choice", lambda text: text.replace('"percent"', '"per cent"'), "measure: Input"),
    ("no rules", lambda text: text.replace("[[cell_rules]]", "[[x]]"), "x: unknown key"),
    ("falling cuts", lambda text: text.replace("[4, 40", "[40, 4"), "cuts: must be positive"),
    ("negative cut", lambda text: text.replace("[4, 40", "[-4, 40"), "cuts: must be positive"),
    ("NaN", lambda text: text.replace("[4, 40", "[nan, 40"), "cell_rules.0.cuts.0: nan is no"),
    ("infinite", lambda text: text.replace("120]", "inf]"), "cuts.3: inf is no finite number"),
    ("headline", lambda text: text.replace('["loose", ', '["tight", '), "headline: must name"),
    ("name", lambda text: text.replace('"mine"', '"my rubric"'), "'my rubric' must be letters"),
    (
        "rule twice",
        lambda text: text + '[[roll_ups]]\nname = "all_f"\nmissing = "zero"\n',
        "roll_ups: 'all_f' stands twice",
    ),
    ("arms", lambda text: text.replace('"zero"', '"left_out_if_all_miss"'), "ranks nothing"),
    ("slack", lambda text: "slack = 0.5\n" + text, "slack: must be in"),
    ("scores", lambda text: "scores = [0, 1, 2, 3, 4, 5]\n" + text, "scores: must not rise"),
    ("grade cuts", lambda text: "grade_cuts = [1, 2, 3, 4, 5]\n" + text, "must fall from A"),
    ("metric", lambda text: 'left_out_metrics = ["beta"]\n' + text, "left_out_metrics.0"),
    ("setting", lambda text: 'left_out_metrics = ["setting"]\n' + text, "never graded"),
    ("weak", lambda text: "weak_share = 0\n" + text, "weak_share: must be in"),
    (
        "interval",
        lambda text: text.replace('"percent"', '"interval"\nrounding = "repr"'),
        "takes none",
    ),
    ("power", lambda text: text.replace('"none"', '"none"\nmax_power = 900'), "300 or less"),
    ("tolerance", lambda text: text.replace('"none"', '"none"\ntolerance = 0.7'), "tolerances"),
    ("margin", lambda text: text.replace('"index"', '"index"\nmargin = 2'), "margin in [0, 1)"),
]


@pytest.mark.parametrize(
    ("change", "words"),
    [entry[1:] for entry in BAD_RUBRICS],
    ids=[entry[0] for entry in BAD_RUBRICS],
)
def test_a_rubric_with_a_fault(
    change: Callable[[str], str],
    words: str,
    bench: Callable[..., Said],
    paper: Path,
    workspace: Path,
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.toml").write_text(change(MINE), errors="surrogateescape")
    said = bench("grade", workspace, "--paper", paper, "--rubric", "mine.toml")
    refused(said, "mine.toml", words)
    assert not (workspace.parent / "grade.json").exists()


def test_rubrics_that_are_not_there(
    bench: Callable[..., Said], paper: Path, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "mine.toml").write_text(MINE)
    grade = ("grade", workspace, "--paper", paper, "--rubric")
    refused(bench(*grade, "kohler"), "unknown rubric 'kohler'", "shipped are kohler2026, printed")
    refused(bench(*grade, "none.toml"), "none.toml: cannot be read", "No such file")
    refused(bench(*grade, "folder.toml"), "folder.toml: cannot be read", "Is a directory")
    refused(bench(*grade, "mine.toml", "--rubric", "mine.toml"), "two rubrics are named 'mine'")


# --------------------------------------------------------------------------- stored runs


@pytest.fixture
def runs(tmp_path: Path, paper: Path) -> Path:
    """A leaderboard of three runs on the paper; the last is not gradable."""
    folder = tmp_path / "runs" / "small"
    folder.mkdir(parents=True)
    published = made.published_paper("paper_a", tables=(FIRST, SECOND))
    made.write_run(folder, published, Arm("exact", "program"), made.exact)
    made.write_run(folder, published, Arm("near", "program"), made.times(1.03))
    made.write_run(folder, published, Arm("lost", "program"), made.exact, gradable=False)
    return folder


def without_grades(state: Mapping[str, tuple[object, ...]]) -> dict[str, object]:
    """State of the files of runs, apart from grade.json and its folder's own times."""
    return {
        name: entry[-1] if entry[-1] is None else entry
        for name, entry in state.items()
        if not name.endswith("grade.json")
    }


def test_regrade_changes_grades_only(
    bench: Callable[..., Said], runs: Path, paper: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    before = state_of(runs)
    said = bench("regrade", runs, "--paper", paper, "--rubric", "mine.toml", "--rubric", "printed")
    assert said.code == 0
    assert [line.split(": ")[1] for line in said.lines] == ["0 letters moved"] * 2
    assert without_grades(state_of(runs)) == without_grades(before)
    for arm, letter in (("exact", "A"), ("near", "A")):
        grades = read_grades(runs / "paper_a" / arm / "1" / "grade.json")
        # Rubrics that were not asked for are kept.
        assert [entry.rubric for entry in grades.papers] == ["mine", "printed", "kohler2026"]
        assert letters_of(grades, "mine", "loose")["table_1"] == {letter}
    assert not (runs / "paper_a" / "lost" / "1" / "grade.json").exists()


def stale(runs: Path) -> Path:
    """Grade file of the near run as it would stand for other values."""
    target = runs / "paper_a" / "near" / "1" / "grade.json"
    published = [FIRST, SECOND]
    files = [
        entry
        for entry in workspace_files(runs / "paper_a" / "exact" / "1" / "attempt_01" / "workspace")
        if entry.name == "table_1.json"
    ]
    grades = grade_workspace(files, published, [load_rubric("kohler2026")])
    target.write_bytes(grade_file_to_json(grades))
    return target


def test_regrade_lists_what_moves_and_dry_run_writes_nothing(
    bench: Callable[..., Said], runs: Path, paper: Path
) -> None:
    target = stale(runs)
    before = target.read_bytes()
    words = ("regrade", runs, "--paper", paper, "--rubric", "kohler2026")
    said = bench(*words, "--dry-run")
    assert target.read_bytes() == before
    # table_2 was F and table_1 A; now all are 3 % off. Under raw 24 cells move: 12 A to B, 12 F
    # to B.
    assert "kohler2026:raw table_1 (0, 0, 0) A -> B" in said.out
    assert "kohler2026:raw table_2 (0, 0, 0) F -> B" in said.out
    assert sum("kohler2026:raw " in line for line in said.lines) == 24
    values = json.loads(bench(*words, "--json").out)
    moved = {Path(entry["run"]).parent.name: entry["moved"] for entry in values}
    assert moved["exact"] == []
    assert sum(line.startswith("kohler2026:raw ") for line in moved["near"]) == 24
    assert target.read_bytes() != before
    assert "0 letters moved" in bench(*words).out.splitlines()[-1]


def test_regrade_of_a_run_that_was_never_graded(
    bench: Callable[..., Said], runs: Path, paper: Path
) -> None:
    target = runs / "paper_a" / "near" / "1" / "grade.json"
    target.unlink()
    said = bench("regrade", target.parent, "--paper", paper)
    assert (said.code, len(said.lines)) == (0, 1)
    assert said.lines[0].endswith("0 letters moved (not graded before)")
    assert letters_of(read_grades(target), "kohler2026", "raw")["table_1"] == {"B"}


def test_regrade_where_there_is_nothing_or_something_is_broken(
    bench: Callable[..., Said], runs: Path, paper: Path, tmp_path: Path
) -> None:
    words = ("--paper", paper)
    refused(bench("regrade", "nowhere", *words), "nowhere: no gradable run here")
    refused(bench("regrade", paper, *words), "no gradable run here")
    refused(bench("regrade", runs), "no paper 'paper_a'", "bench papers list")
    refused(bench("regrade", runs, *words, "--rubric", "x"), "unknown rubric 'x'")
    grades = runs / "paper_a" / "near" / "1" / "grade.json"
    grades.write_text("{")
    refused(bench("regrade", runs, *words), "near/1/grade.json: not valid JSON")
    grades.unlink()
    record = runs / "paper_a" / "exact" / "1" / "run.json"
    content = record.read_bytes()
    record.write_bytes(content[:100])
    refused(bench("regrade", runs, *words), "exact/1/run.json: not valid JSON")
    record.unlink()
    record.mkdir()
    refused(bench("regrade", runs, *words), "exact/1/run.json: Is a directory")
    record.rmdir()
    record.write_bytes(content)
    shutil.rmtree(record.parent / "attempt_01")
    refused(bench("regrade", runs, *words), "its accepted attempt has no workspace")


def test_regrade_of_a_bundled_paper_beside_a_folder_of_its_name(
    bench: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper_id = "wooldridge_card_2010"
    published = made.published_paper(paper_id, tables=(replace(FIRST, paper_id=paper_id),))
    folder = tmp_path / "board"
    folder.mkdir()
    made.write_run(folder, published, Arm("exact", "program"), made.exact)
    monkeypatch.chdir(folder)
    said = bench("regrade", ".")
    assert said.code == 0
    grades = read_grades(folder / paper_id / "exact" / "1" / "grade.json")
    assert [table.table for table in grades.papers[0].tables] == ["table_15_1"]


def rows_of(said: Said) -> list[list[str]]:
    return [
        [word.strip() for word in line.split("│")[1:-1]]
        for line in said.lines
        if line.startswith("│")
    ]


def test_diff_of_two_rubrics_on_a_workspace_a_run_and_a_file(
    bench: Callable[..., Said], runs: Path, paper: Path
) -> None:
    run = runs / "paper_a" / "near" / "1"
    workspace = run / "attempt_01" / "workspace"
    answers = [
        bench("grade-diff", "kohler2026:raw", "printed", "--in", place, "--paper", paper)
        for place in (workspace, run, run / "grade.json")
    ]
    assert {answer.code for answer in answers} == {0}
    assert len({answer.out for answer in answers}) == 1
    rows = rows_of(answers[0])
    # -2.28 x 1.03 = -2.3484: 3 % is B; to the print .0634 of |2.28|: .0278 is B too. 0.48 x 1.03:
    # .0144 - .005 = .0094 of .48: .0196 is A.
    assert ["table_1", "(1, 0, 0)"] in [row[:2] for row in rows]
    assert ["table_1", "(0, 0, 0)"] not in [row[:2] for row in rows]
    assert {(row[-2], row[-1]) for row in rows} >= {("B", "A")}
    values = json.loads(
        bench("grade-diff", "kohler2026:raw", "printed", "--in", run / "grade.json", "--json").out
    )
    assert len(values[0]["cells"]) == len(rows)
    grades = read_grades(run / "grade.json")
    moved = [
        CellKey(cell.row, cell.col, cell.part)
        for mine, theirs in zip(
            grades.paper("kohler2026").tables, grades.paper("printed").tables, strict=True
        )
        for cell, other in zip(mine.cells, theirs.cells, strict=True)
        if cell.grades["raw"].grade != other.grades["interval"].grade
    ]
    assert len(moved) == len(rows)


def test_diff_of_two_runs(bench: Callable[..., Said], runs: Path) -> None:
    left, right = (runs / "paper_a" / arm / "1" for arm in ("exact", "near"))
    by_folder = bench("grade-diff", left, right)
    assert by_folder.code == 0
    assert by_folder.out == bench("grade-diff", left / "grade.json", right / "grade.json").out
    assert "kohler2026:raw and" in by_folder.out
    assert ": 24 cells move" in by_folder.out
    assert ["A", "B"] in [row[-2:] for row in rows_of(by_folder)]
    same = bench("grade-diff", left, left)
    assert same.lines
    assert all(line.endswith("no cell moves") for line in same.lines)


def test_diff_with_a_mistake(
    bench: Callable[..., Said], runs: Path, paper: Path, tmp_path: Path
) -> None:
    run = runs / "paper_a" / "near" / "1"
    workspace = run / "attempt_01" / "workspace"
    refused(bench("grade-diff", "kohler2026", "printed"), "give it as --in")
    refused(bench("grade-diff", "kohler2026", "printed", "--in", workspace), "--paper")
    refused(bench("grade-diff", "kohler2026", run, "--in", run), "not one of each")
    refused(bench("grade-diff", "a.json", "b.json"), "a.json: No such file")
    refused(bench("grade-diff", run, tmp_path), "grade.json: No such file")
    refused(bench("grade-diff", run / "run.json", run), "run.json: ", "Field required")
    within = ("--in", run / "grade.json")
    refused(bench("grade-diff", "mine", "printed", *within), "not graded under 'mine'")
    refused(bench("grade-diff", "printed:raw", "printed", *within), "no cell rule 'raw'")
    refused(bench("grade-diff", "printed", "printed", "--in", "no.json"), "no.json: No such file")
    other = replace(read_grades(run / "grade.json"), paper_id="paper_b")
    (tmp_path / "b.json").write_bytes(grade_file_to_json(other))
    refused(bench("grade-diff", run, "b.json"), "is of paper paper_a", "paper_b")
    (tmp_path / "c.json").write_bytes(grade_file_to_json(replace(other, papers=())))
    refused(bench("grade-diff", "b.json", "c.json"), "no common rubric")


def test_metrics_left_out_are_not_graded(
    bench: Callable[..., Said], paper: Path, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text('left_out_metrics = ["r_squared", "n_obs"]\n' + MINE)
    assert bench("grade", workspace, "--paper", paper, "--rubric", "mine.toml").code == 0
    tables = read_grades(workspace.parent / "grade.json").papers[0].tables
    metrics = {cell.metric for table in tables for cell in table.cells}
    assert metrics == {Metric.COEFFICIENT, Metric.STANDARD_ERROR}


def test_a_label_that_holds_a_result_is_graded_by_what_the_template_shows(tmp_path: Path) -> None:
    """The template masks the number in the label; a run that keeps the label is right in full."""
    table = open_paper("wooldridge_card_2010").tables[0]
    first = next(cell for cell in table.graded_cells if cell.value is not None)
    printed = f"{first.value:.{first.decimals}f}"
    cells = tuple(
        replace(cell, row_label=f"{cell.row_label} {printed}", col_labels=(f"OLS {printed}",))
        for cell in table.cells
    )
    labelled = replace(table, cells=cells)
    template = blind(labelled)
    assert printed not in template.cells[0].row_label
    filled = tuple(
        replace(cell, value=table.cells[place].value) for place, cell in enumerate(template.cells)
    )
    answer = replace(template, cells=filled, role="reproduced")
    (tmp_path / f"{table.slug}.json").write_bytes(record_to_json(answer))
    grades = grade_directory(tmp_path, [labelled])
    for paper in grades.papers:
        assert {grade.score for grade in paper.grades if grade.score is not None} == {5.0}
