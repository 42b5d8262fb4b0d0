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
from data.records.errors import UserError

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


SAMPLES = [{"id": "all", "files": ["points.csv"], "description": "All points"}]
REPEATED_TABLE = '[[tables]]\nslug = "t1"\ntruth_kind = "seen"\nsource = "again"'


def _model(**changes: object) -> list[dict[str, object]]:
    tables = _tables()
    tables[0]["models"] = [{**tables[0]["models"][0], **changes}]  # type: ignore[index]
    return tables


def _file(name: str, source: str, **more: str) -> str:
    fields = {"name": name, "source": source, **more}
    return "[[files]]\n" + "\n".join(f'{key} = "{value}"' for key, value in fields.items())


REPEATED_FILE = _file("points.csv", "package:points.csv")


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
        ({"tables": _tables(slug="t2")}, "names the table 't1', methods.json does not"),
        ({"samples": [{"id": "some", "files": ["points.csv"], "description": ""}]}, "no sample"),
        ({"files": []}, "names the data file 'points.csv', methods.json does not"),
        ({"paper_id": "other"}, "paper_id 'other' is not 'made'"),
        ({"questoin": "typo"}, "unknown key questoin"),
        ({"extra": 'shared_parameters = ["gone"]'}, "shared_parameters names 'gone'"),
        ({"extra": "publsihed = 3"}, "unknown key publsihed"),
        ({"layout": made.LAYOUT.replace("A note", "The slope is 2.75")}, "t1.notes: the number"),
        ({"layout": made.LAYOUT.replace("A caption", "With 1,234 units")}, "t1.caption"),
        ({"tables": [*_tables(), *_tables()]}, "methods.json: table 't1' stands there 2 times"),
        ({"samples": [*SAMPLES, *SAMPLES]}, "sample 'all' stands there 2 times"),
        ({"extra": REPEATED_TABLE}, "paper.toml: table 't1' stands there 2 times"),
        ({"extra": REPEATED_FILE}, "paper.toml: file 'points.csv' stands there 2 times"),
        ({"tables": _model(regressors=["z"])}, "regressors: 'z' is neither a variable nor"),
        ({"tables": _model(outcome="y +")}, "model m: outcome: 'y +' is not an expression"),
        ({"tables": _model(outcome="open(y)")}, "'open' is not a function of the language"),
        ({"samples": [SAMPLES[0] | {"filter": "x > cut"}]}, "filter: 'cut' is neither"),
        ({"derived": [{"name": "v", "definition": "w", "description": ""}]}, "derived v: 'w' is"),
        ({"extra": _file("../truth.csv", "package:a.csv")}, "must be a path below the data"),
        ({"extra": _file("a.csv", "package:../../truth.csv")}, "must be a path below the data"),
        ({"extra": _file("a.csv", "rpackage:a")}, "source 'rpackage:a' is of no known kind"),
        ({"extra": _file("a.csv", "package:a.csv", sha256="12")}, "sha256 is no hash"),
        ({"layout": made.LAYOUT.replace("last = 1", "last = 7")}, "no columns 0 to 7"),
        ({"truth": made.TRUTH.replace("t1,x,(1)", "t1,X,(1)")}, "no row 'X'; nearest is 'x'"),
        ({"truth": made.TRUTH.replace("x,(2)", "x,2")}, "no column '2'; nearest is '(2)'"),
        ({"truth": made.TRUTH.replace("N,(1),n_obs", "N,(1),mean")}, "row 'N' prints no mean"),
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


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("truth.csv", made.TRUTH.encode("utf-16"), "truth.csv: not UTF-8"),
        ("truth.csv", made.TRUTH.replace("made", "mad\u00e9").encode("latin-1"), "not UTF-8"),
        ("truth.csv", b'table,"row\n', "truth.csv: not valid CSV"),
        ("truth.csv", made.TRUTH.replace('"1,234"', '"0,524"').encode(), "'0,524' is no number"),
        ("truth.csv", made.TRUTH.replace('"1,234"', '"1,23"').encode(), "'1,23' is no number"),
        ("methods.json", b'{"parameters": {"k": NaN}}', "methods.json: NaN is no finite number"),
        ("methods.json", b'{"parameters": {"k": 1e400}}', "methods.json: 1e400 is no finite"),
        ("methods.json", b"\xff", "methods.json: not valid JSON"),
        ("layout.toml", b"\xff", "layout.toml: not valid TOML"),
        ("paper.toml", b"\xff", "not valid TOML"),
    ],
)
def test_files_that_cannot_be_read_are_named(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    root = made.write_paper(tmp_path)
    (root / name).write_bytes(content)
    with pytest.raises(UserError) as caught:
        build_paper(root)
    assert said in str(caught.value)
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
