"""Papers found, loaded and fingerprinted."""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from bench.corpus.build import build_paper
from bench.corpus.export import export_paper
from data.corpus import (
    PaperFolder,
    bundled_folder,
    bundled_papers,
    data_directory,
    data_root,
    export_record_path,
    open_paper,
)
from data.records.errors import UserError


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


@pytest.fixture
def built(tmp_path: Path) -> PaperFolder:
    root = made.write_paper(tmp_path)
    build_paper(root)
    return open_paper(root)


def test_bundled_papers_are_found_by_id() -> None:
    ids = [folder.id for folder in bundled_papers()]
    assert ids == sorted(ids)
    assert "stock_watson_caschools_2007" in ids
    for name in ids:
        assert open_paper(name).root == bundled_folder() / name


def test_all_bundled_papers_load_quickly() -> None:
    _ = open_paper("stock_watson_caschools_2007").tables  # the first load pays for the validator
    folders = [PaperFolder(folder.root) for folder in bundled_papers()]
    started = time.perf_counter()
    for folder in folders:
        assert folder.paper.id == folder.methods.paper_id
        assert [table.slug for table in folder.tables] == [t.slug for t in folder.templates]
    assert time.perf_counter() - started < 2.0


@pytest.mark.parametrize("folder", bundled_papers(), ids=lambda folder: folder.id)
def test_bundled_templates_hold_no_value(folder: PaperFolder) -> None:
    for table, template in zip(folder.tables, folder.templates, strict=True):
        assert template.role == "template"
        assert [c.key for c in template.cells] == [c.key for c in table.cells]
        assert all(cell.value is None for cell in template.graded_cells)
        assert all(cell.value is not None for cell in table.graded_cells)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda p: None, "neither a folder nor a bundled paper"),
        (lambda p: p.mkdir(), "it holds no paper.toml"),
        (lambda p: p.write_text("x"), "a paper is a folder"),
    ],
)
def test_what_is_no_paper_is_refused_in_one_line(tmp_path: Path, make, said: str) -> None:  # type: ignore[no-untyped-def]
    place = tmp_path / "some"
    make(place)
    with pytest.raises(UserError, match=said) as caught:
        open_paper(place)
    assert "\n" not in str(caught.value)


def test_a_paper_whose_id_is_not_its_folder(tmp_path: Path) -> None:
    root = made.write_paper(tmp_path)
    moved = root.rename(tmp_path / "other")
    with pytest.raises(UserError, match="id 'made' is not the folder's name 'other'"):
        _ = open_paper(moved).paper


def test_broken_toml_and_wrong_fields_are_one_line(tmp_path: Path) -> None:
    root = made.write_paper(tmp_path)
    (root / "paper.toml").write_text("id = ")
    with pytest.raises(UserError, match="not valid TOML"):
        _ = open_paper(root).paper
    (root / "paper.toml").write_text(made.PAPER.format(id="made", extra="").replace("2000", '"x"'))
    with pytest.raises(UserError, match="year"):
        _ = open_paper(root).paper


def test_an_unbuilt_paper_says_how_to_build_it(tmp_path: Path) -> None:
    folder = open_paper(made.write_paper(tmp_path))
    assert not folder.is_built
    for part in ("methods", "tables", "templates"):
        with pytest.raises(UserError, match="bench papers build made"):
            getattr(folder, part)


def test_data_are_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("BLINDBENCH_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".corpus").mkdir()
    assert data_root() == Path(".corpus")
    (tmp_path / ".corpus").rmdir()
    assert data_root() == tmp_path / "home/.local/share/blindbench/corpus-data"
    monkeypatch.setenv("BLINDBENCH_DATA", str(tmp_path / "named"))
    assert data_root() == tmp_path / "named"
    assert data_root(tmp_path / "asked") == tmp_path / "asked"
    with pytest.raises(UserError, match="bench papers export made --to"):
        data_directory("made")
    (tmp_path / "named" / "made").mkdir(parents=True)
    assert data_directory("made") == tmp_path / "named" / "made"


def test_fingerprint_follows_values_not_bytes(tmp_path: Path, built: PaperFolder) -> None:
    export_paper(built, tmp_path / "one")
    export_paper(built, tmp_path / "two")
    first = built.fingerprint(tmp_path / "one" / "made")
    assert first == built.fingerprint(tmp_path / "two" / "made")
    copy = tmp_path / "two" / "made" / "points.csv"
    copy.write_text(copy.read_text().replace("4.5", "4.6"))
    changed = built.fingerprint(tmp_path / "two" / "made")
    assert (changed.methods, changed.templates) == (first.methods, first.templates)
    assert changed.data != first.data


def test_fingerprint_follows_methods_and_templates(tmp_path: Path, built: PaperFolder) -> None:
    export_paper(built, tmp_path)
    before = built.fingerprint(tmp_path / "made")
    values = json.loads((built.root / "methods.json").read_text())
    (built.root / "methods.json").write_text(json.dumps(values | {"question": "Another"}))
    build_paper(built.root)
    after = open_paper(built.root).fingerprint(tmp_path / "made")
    assert after.methods != before.methods
    assert after.templates == before.templates
    layout = (
        (built.root / "layout.toml").read_text().replace('label = "N"', 'label = "N", key = "N"')
    )
    (built.root / "layout.toml").write_text(
        layout.replace('"x", metric', '"x1", key = "x", metric')
    )
    build_paper(built.root)
    assert open_paper(built.root).fingerprint(tmp_path / "made").templates != before.templates


def test_published_values_do_not_move_the_templates(tmp_path: Path, built: PaperFolder) -> None:
    export_paper(built, tmp_path)
    before = built.fingerprint(tmp_path / "made")
    truth = (built.root / "truth.csv").read_text().replace("-1.25", "-8.47")
    (built.root / "truth.csv").write_text(truth)
    build_paper(built.root)
    assert open_paper(built.root).fingerprint(tmp_path / "made") == before


def test_a_missing_data_file_is_named(tmp_path: Path, built: PaperFolder) -> None:
    (tmp_path / "made").mkdir(exist_ok=True)
    with pytest.raises(UserError, match=r"points\.csv is not in"):
        built.fingerprint(tmp_path / "empty")


def test_a_broken_export_record_says_what_to_do(tmp_path: Path, built: PaperFolder) -> None:
    export_paper(built, tmp_path / "data")
    export_record_path(tmp_path / "data" / "made").write_text("{")
    with pytest.raises(UserError, match="delete it and export again"):
        built.fingerprint(tmp_path / "data" / "made")
