"""What a run is given: an allow-list, written down with hashes, and never an answer."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from bench.workspace import (
    WorkspacePlan,
    build_workspace,
    forbidden_hashes,
    staged_before,
    task_text,
)
from data.corpus import PaperFolder, bundled_papers, data_directory, open_paper
from data.records.errors import UserError

PAPERS = bundled_papers()
PAPER = "wooldridge_card_2010"


@pytest.fixture
def copied(tmp_path: Path) -> PaperFolder:
    """A bundled paper in a folder of its own, so that it can be changed."""
    shutil.copytree(open_paper(PAPER).root, tmp_path / PAPER)
    return open_paper(tmp_path / PAPER)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    shutil.copytree(data_directory(PAPER), tmp_path / "data")
    return tmp_path / "data"


def build(tmp_path: Path, paper: PaperFolder, data: Path, **options: object) -> WorkspacePlan:
    run_dir = tmp_path / "attempt"
    run_dir.mkdir(exist_ok=True)
    return build_workspace(run_dir, paper, data, staging=tmp_path, **options)  # type: ignore[arg-type]


def contents(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() or path.is_symlink()
    }


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.id)
def test_exactly_the_allow_list_is_there(paper: PaperFolder, tmp_path: Path) -> None:
    plan = build(tmp_path, paper, data_directory(paper.id))
    slugs = {f"table_templates/{table.slug}.json" for table in paper.tables}
    expected = {"TASK.md", "methodology_summary.json", "data", *slugs}
    assert contents(plan.workspace) == expected
    assert contents(plan.data) == {file.name for file in paper.paper.files}
    plan.remove()
    assert not plan.stage.exists()


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.id)
def test_the_manifest_has_every_file_and_its_hash(paper: PaperFolder, tmp_path: Path) -> None:
    plan = build(tmp_path, paper, data_directory(paper.id), files={"own/x.py": b"print()"})
    written = json.loads((tmp_path / "attempt" / "manifest.json").read_bytes())["files"]
    places = {"/workspace/": plan.workspace, "/data/": plan.data}
    found = {
        f"{prefix}{name}": hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for prefix, folder in places.items()
        for name in contents(folder)
        if not (folder / name).is_symlink()
    }
    assert {entry["path"]: entry["sha256"] for entry in written} == found
    assert {entry["role"] for entry in written} == {"input", "data", "arm"}
    again = staged_before(tmp_path / "attempt")
    assert again == plan
    plan.remove()


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.id)
def test_the_task_says_what_to_do_and_names_no_publication_unless_asked(
    paper: PaperFolder, named: bool, tmp_path: Path
) -> None:
    plan = build(tmp_path, paper, data_directory(paper.id), named=named)
    text = (plan.workspace / "TASK.md").read_text()
    for table in paper.tables:
        assert f"{table.slug}.py" in text
        assert f"{table.slug}.json" in text
    for file in paper.paper.files:
        assert file.name in text
    assert (paper.paper.title in text) is named
    everything = text + (plan.workspace / "methodology_summary.json").read_text()
    if not named:
        assert paper.id not in everything
        assert paper.paper.title not in everything
        if paper.paper.doi:
            assert paper.paper.doi not in everything
    assert str(plan.stage) not in everything
    plan.remove()


def test_the_task_is_consistent_with_the_jail() -> None:
    text = task_text(open_paper(PAPER), named=False)
    assert re.search(r"no network", text)
    assert "installed" in text
    assert "truth" not in text


def test_stages_have_names_that_say_nothing(tmp_path: Path) -> None:
    plan = build(tmp_path, open_paper(PAPER), data_directory(PAPER))
    assert re.fullmatch(r"stage-[0-9a-f]{16}", plan.stage.name)
    assert plan.stage.stat().st_mode & 0o077 == 0
    plan.remove()


def test_inputs_and_data_are_bound_read_only(tmp_path: Path) -> None:
    plan = build(tmp_path, open_paper(PAPER), data_directory(PAPER))
    writable = [bind.target for bind in plan.binds if bind.writable]
    assert writable == ["/workspace"]
    covered = {bind.target for bind in plan.binds if not bind.writable}
    assert covered == {
        "/workspace/TASK.md",
        "/workspace/methodology_summary.json",
        "/workspace/table_templates",
        "/data",
    }
    plan.remove()


# ------------------------------------------------------------------ preflight


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.id)
def test_every_answer_of_a_paper_is_forbidden(paper: PaperFolder) -> None:
    names = set(forbidden_hashes(paper).values())
    assert "truth.csv" in names
    assert {f"extracted/tables/{table.slug}.json" for table in paper.tables} <= names
    assert {name for name in names if name.startswith("extracted/templates/")} == set()
    for folder in ("package", "human"):
        inside = {
            path.relative_to(paper.root).as_posix()
            for path in (paper.root / folder).rglob("*")
            if path.is_file() and path.stat().st_size >= 32 and "__pycache__" not in path.parts
        }
        assert inside <= names


@pytest.mark.parametrize(
    "answer",
    ["truth.csv", "layout.toml", "extracted/tables/table_15_1.json", "extracted/checks.json"],
)
def test_an_answer_under_another_name_stops_the_run(
    answer: str, copied: PaperFolder, data: Path, tmp_path: Path
) -> None:
    """Copied or hard-linked over a data file, or given by an arm: content counts, not the name."""
    if not (copied.root / answer).is_file():
        pytest.fail(f"{answer} is not there any more: choose another file")
    name = copied.paper.files[0].name
    with pytest.raises(UserError, match=re.escape(answer)):
        build(tmp_path, copied, data, files={"innocent.txt": (copied.root / answer).read_bytes()})
    (data / name).unlink()
    os.link(copied.root / answer, data / name)
    with pytest.raises(UserError):
        build(tmp_path, copied, data)
    assert not list(tmp_path.glob("stage-*"))


def test_a_data_file_that_is_a_link_is_refused(
    copied: PaperFolder, data: Path, tmp_path: Path
) -> None:
    name = copied.paper.files[0].name
    (data / name).rename(tmp_path / "elsewhere")
    (data / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="link"):
        build(tmp_path, copied, data)


def test_files_beside_the_list_are_not_staged(
    copied: PaperFolder, data: Path, tmp_path: Path
) -> None:
    (data / "results.csv").write_text("more")
    plan = build(tmp_path, copied, data)
    assert "results.csv" not in contents(plan.data)
    plan.remove()


def test_missing_data_are_named(copied: PaperFolder, data: Path, tmp_path: Path) -> None:
    name = copied.paper.files[0].name
    (data / name).unlink()
    with pytest.raises(UserError, match=re.escape(name)):
        build(tmp_path, copied, data)


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "", "."])
def test_arm_files_lie_in_the_workspace(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="must lie in the workspace"):
        build(tmp_path, open_paper(PAPER), data_directory(PAPER), files={name: b"x"})


@pytest.mark.parametrize(
    "name", ["TASK.md", "methodology_summary.json", "table_templates/t.json", "data/x", "data"]
)
def test_arm_files_replace_no_input(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="may not replace"):
        build(tmp_path, open_paper(PAPER), data_directory(PAPER), files={name: b"x"})
