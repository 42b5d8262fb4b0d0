"""Building: what is made, that it is the same each time, and that a leak writes nothing."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from bench.cli.papers import app
from bench.corpus.build import build_paper, outdated_files, planned_build
from bench.corpus.sources import SourceError
from data.corpus import bundled_papers, open_paper

ROOT = Path(__file__).parents[2]


def _load(name: str) -> ModuleType:
    path = Path(__file__).parents[1] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


made = _load("made_papers")


def _tables(**change: object) -> list[dict[str, object]]:
    (table,) = made.methods()["tables"]
    return [table | change]


def _files(root: Path) -> dict[str, bytes]:
    folder = root / "extracted"
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_build_writes_five_kinds_of_files_once(tmp_path: Path) -> None:
    root = made.write_paper(tmp_path)
    assert set(build_paper(root)) == {
        "checks.json",
        "data_manifest.json",
        "methodology_summary.json",
        "tables/t1.json",
        "templates/t1.json",
    }
    first = _files(root)
    assert build_paper(root) == ()
    assert _files(root) == first


def test_build_is_the_same_in_another_process_and_hash_seed(tmp_path: Path) -> None:
    root = made.write_paper(tmp_path)
    planned = planned_build(root)
    code = (
        "import sys, hashlib; from pathlib import Path;"
        "from bench.corpus.build import planned_build;"
        "p = planned_build(Path(sys.argv[1]));"
        "print(hashlib.sha256(b''.join(k.encode() + v for k, v in sorted(p.items()))).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code, root],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    here = hashlib.sha256(b"".join(k.encode() + v for k, v in sorted(planned.items())))
    assert digests == {here.hexdigest() + "\n"}


def test_a_table_that_is_gone_goes_from_extracted(tmp_path: Path) -> None:
    root = made.write_paper(tmp_path)
    build_paper(root)
    (root / "extracted" / "tables" / "old.json").write_text("{}")
    assert outdated_files(root, planned_build(root)) == ("tables/old.json",)
    assert build_paper(root) == ("tables/old.json",)
    assert not (root / "extracted" / "tables" / "old.json").exists()


def test_template_holds_no_published_digit_string(tmp_path: Path) -> None:
    planned = planned_build(made.write_paper(tmp_path))
    template = planned["templates/t1.json"].decode()
    for printed in ("1.25", ".31", "2.75", "0.44", "1,234", "1234"):
        assert printed in planned["tables/t1.json"].decode()
        assert printed not in template


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"question": "Is the slope -1.25?"}, "question: the number 1.25 equals the published"),
        ({"setting": "There are 1234 of them"}, "setting: the number 1234"),
        ({"notes": "close to 2.750"}, "notes: the number 2.750"),
        ({"parameters": {"count": 1234}}, "parameters.count: 1234 equals"),
        ({"tables": _tables(description="Over 3 years")}, "description: the numeral 3"),
        ({"tables": _tables(notes="Since 1990")}, "notes: the numeral 1990"),
        ({"tables": _tables(rows=[{"row": 0, "term": "x", "notes": "4 of"}])}, "rows.0.notes"),
        ({"tables": _tables(columns=[{"col": 0, "model": "n"}])}, "column 0: no model 'n'"),
        ({"tables": _tables(columns=[{"col": 7, "model": "m"}])}, "no column 7; the layout has 2"),
        ({"tables": _tables(rows=[{"row": 4, "term": "x"}])}, "no row 4; the layout has 4"),
        ({"tables": _tables(slug="t2")}, "table 't1' is missing in the other"),
        ({"samples": [{"id": "some", "files": ["points.csv"], "description": ""}]}, "no sample"),
        ({"files": []}, "data file 'points.csv' is missing in the other"),
        ({"paper_id": "other"}, "paper_id 'other' is not 'made'"),
        ({"questoin": "typo"}, "unknown key questoin"),
        ({"extra": 'shared_parameters = ["gone"]'}, "shared_parameters names 'gone'"),
        ({"extra": "publsihed = 3"}, "unknown key publsihed"),
        ({"layout": made.LAYOUT.replace("A note", "The slope is 2.75")}, "t1.notes: the number"),
        ({"layout": made.LAYOUT.replace("A caption", "With 1,234 units")}, "t1.caption"),
    ],
)
def test_what_does_not_fit_blocks_and_writes_nothing(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    root = made.write_paper(tmp_path, **changes)
    with pytest.raises(SourceError) as caught:
        build_paper(root)
    assert any(said in line for line in caught.value.lines), caught.value.lines
    assert not (root / "extracted").exists()


def test_a_leak_leaves_an_earlier_build_as_it_was(tmp_path: Path) -> None:
    root = made.write_paper(tmp_path)
    build_paper(root)
    before = _files(root)
    leaking = made.methods(question="It is 2.75")
    (root / "methods.json").write_text(json.dumps(leaking))
    with pytest.raises(SourceError):
        build_paper(root)
    assert _files(root) == before


def test_a_shared_parameter_may_equal_a_value(tmp_path: Path) -> None:
    root = made.write_paper(
        tmp_path, extra='shared_parameters = ["count"]', parameters={"count": 1234}
    )
    assert build_paper(root)


def test_command_names_each_problem_on_its_line_and_goes_on(tmp_path: Path) -> None:
    wrong = made.write_paper(tmp_path, name="wrong", question="2.75 and -1.25")
    right = made.write_paper(tmp_path, name="right")
    done = CliRunner().invoke(app, ["build", str(wrong), str(right)])
    assert done.exit_code == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("bench: wrong: methods.json: question: ") for line in lines)
    assert "right: 5 files written" in done.stdout


@pytest.mark.parametrize("folder", bundled_papers(), ids=lambda folder: folder.id)
def test_bundled_papers_are_built_from_their_sources(folder) -> None:  # type: ignore[no-untyped-def]
    assert outdated_files(folder.root, planned_build(folder.root)) == ()


def test_the_example_of_the_docs_is_a_paper_of_under_thirty_lines(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "papers.md").read_text()
    parts = re.findall(r"`cars_example/([a-z.]+)`\n\n```[a-z]+\n(.*?)```", text, re.DOTALL)
    root = tmp_path / "cars_example"
    root.mkdir()
    for name, content in parts:
        (root / name).write_text(content)
    lines = sum(len(content.splitlines()) for name, content in parts if name != "truth.csv")
    assert lines < 30
    runner = CliRunner()
    to = str(tmp_path / "data")
    exported = runner.invoke(app, ["export", str(root), "--to", to, "--record"])
    assert exported.exit_code == 0, exported.output
    assert runner.invoke(app, ["build", str(root)]).exit_code == 0
    (root / "package").mkdir()
    (root / "package" / "README.md").write_text("Example")
    checked = runner.invoke(app, ["check", str(root), "--data", to])
    assert checked.exit_code == 0, checked.output
    assert len(open_paper(root).tables[0].graded_cells) == 5
    shown = runner.invoke(app, ["methods", str(root)])
    assert "model line: ols, sample all" in shown.stdout


def test_list_as_json_and_csv() -> None:
    rows = json.loads(CliRunner().invoke(app, ["list", "--json"]).stdout)
    assert {row["id"] for row in rows} == {folder.id for folder in bundled_papers()}
    lines = CliRunner().invoke(app, ["list", "--csv"]).stdout.splitlines()
    assert len(lines) == len(rows) + 1
