"""From truth and layout to table records: every value placed, every misfit named."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.corpus.sources import (
    printed_number,
    published_tables,
    read_layout,
    read_truth,
)
from data.corpus import PaperFolder
from data.records.errors import UserError
from data.records.tables import CellKey, Table, TruthKind


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


def _tables(tmp_path: Path, **parts: str) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    root = made.write_paper(tmp_path, **parts)
    layout = read_layout((root / "layout.toml").read_bytes(), where="layout.toml")
    truth = read_truth((root / "truth.csv").read_bytes(), where="truth.csv")
    return published_tables(PaperFolder(root).paper, layout, truth)


@pytest.mark.parametrize(
    ("text", "value", "decimals", "bound"),
    [
        ("-1.25", -1.25, 2, ""),
        (".05", 0.05, 2, ""),
        ("1,234.5", 1234.5, 1, ""),
        ("12,345,678", 12345678, 0, ""),
        ("−3", -3, 0, ""),
        ("–0.10", -0.1, 2, ""),
        ("<0.001", 0.001, 3, "<"),
        ("7.", 7, 0, ""),
        ("12.5%", 12.5, 1, ""),
        ("1.5e-3", 0.0015, 4, ""),
        ("0.000", 0, 3, ""),
    ],
)
def test_printed_number(text: str, value: float, decimals: int, bound: str) -> None:
    number = printed_number(text)
    assert number is not None
    assert (number.value, number.decimals, number.bound) == (value, decimals, bound)


@pytest.mark.parametrize("text", ["", ".", "1.2.3", "1,23", "(0.3)", "0.3*", "n.a.", "1 2", "- "])
def test_what_is_no_single_number_is_refused(text: str) -> None:
    assert printed_number(text) is None


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_printed_number_reads_what_python_prints(scaled: int, decimals: int) -> None:
    value = scaled / 10**decimals
    plain = printed_number(f"{value:.{decimals}f}")
    commas = printed_number(f"{value:,.{decimals}f}")
    assert plain == commas
    assert plain is not None
    assert plain.value == float(f"{value:.{decimals}f}")
    assert plain.decimals == decimals


def test_cells_of_a_small_table(tmp_path: Path) -> None:
    (table,), problems = _tables(tmp_path)
    assert problems == ()
    cells = {cell.key: cell for cell in table.cells}
    assert [row.label for row in table.rows] == ["x", "", "Controls", "N"]
    assert [(panel.label, panel.first, panel.last) for panel in table.panels] == [
        ("A", 0, 2),
        ("B", 3, 3),
    ]
    slope, error = cells[CellKey(0, 0)], cells[CellKey(1, 0)]
    assert (slope.text, slope.value, slope.decimals, slope.stars) == ("-1.25**", -1.25, 2, 2)
    assert (error.text, error.of, error.row_label) == ("(.31)", CellKey(0, 0), "x")
    assert slope.col_labels == ("Outcome", "(1)")
    assert cells[CellKey(0, 1)].stars == 0
    assert error.stars is None
    assert cells[CellKey(2, 1)].text == "Yes"
    assert not cells[CellKey(2, 1)].is_graded
    assert cells[CellKey(3, 0)].value == 1234
    assert CellKey(3, 1) not in cells
    assert table.truth_kind is TruthKind.SEEN
    assert cells[CellKey(0, 1)].truth_kind is TruthKind.RECALLED


def test_columns_of_statistics_link_to_their_estimate(tmp_path: Path) -> None:
    layout = """\
[[tables]]
slug = "t1"
id = "T"
columns = [
    { label = "Estimate", metric = "coefficient", truth_column = "(1)" },
    { label = "Std. Error", metric = "standard_error", truth_column = "(1)" },
]
rows = [{ label = "x" }, { label = "N", metrics = { Estimate = "n_obs" } }]
"""
    truth = "\n".join(line for line in made.TRUTH.splitlines() if "(2)" not in line) + "\n"
    (table,), problems = _tables(tmp_path, layout=layout, truth=truth)
    assert problems == ()
    assert {cell.key: cell.of for cell in table.cells} == {
        CellKey(0, 0): None,
        CellKey(0, 1): CellKey(0, 0),
        CellKey(1, 0): None,
    }
    assert [cell.text for cell in table.cells] == ["-1.25**", ".31", "1,234"]


def test_a_second_statistic_in_the_same_place_is_a_part(tmp_path: Path) -> None:
    layout = """\
[[tables]]
slug = "t1"
id = "T"
columns = [{ label = "(1)" }, { label = "(2)" }]
rows = [
    { label = "x", metric = "coefficient" },
    { label = "x", metric = "standard_error", format = "[{}]", part = 1, row_of = -1, of = -1 },
    { label = "N", metric = "n_obs" },
]
"""
    (table,), problems = _tables(tmp_path, layout=layout)
    assert problems == ()
    second = next(cell for cell in table.cells if cell.key == CellKey(0, 0, 1))
    assert (second.text, second.of) == ("[.31]", CellKey(0, 0, 0))
    assert len(table.rows) == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('{ label = "N", metric = "n_obs", panel = "B" },', "", "has no place in the layout"),
        ('"N", metric', '"x", metric', "has no place in the layout"),
        (
            '{ label = "N", metric = "n_obs", panel = "B" },',
            '{ label = "N", metric = "n_obs" },\n{ label = "N", metric = "n_obs" },',
            "has two places",
        ),
        ('metric = "n_obs"', 'metric = "n_obs", of = -9', "of points to nothing"),
        ('metric = "n_obs"', 'metric = "n_obs", row_of = 1', "row_of points to nothing"),
        ('metric = "n_obs"', 'metric = "n_obs", row_of = -2', "give the second its own part"),
        ('metric = "n_obs"', 'metric = "n_obs", format = "()"', "needs {} exactly once"),
        ('metric = "n_obs"', 'metric = "n_obs", metrics = { "(3)" = "count" }', "no column has"),
        ('["No", "Yes"]', '["No"]', "1 values for 2 columns"),
        ('{ label = "(2)" }', '{ label = "(1)" }', "two columns have the key"),
        ('slug = "t1"', 'slug = "T 1"', "is not in layout.toml"),
        ('{ label = "(2)" }', '{ label = "(2)", of = "z" }', "of points to nothing ('z')"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    _, problems = _tables(tmp_path, layout=made.LAYOUT.replace(old, new))
    assert any(said in line for line in problems), problems
    assert all("\n" not in line for line in problems)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("coefficient,-1.25", "slope,-1.25", "metric 'slope' is unknown"),
        ("-1.25", "about one", "is no number"),
        (",2,seen", ",**,seen", "is no count"),
        ("recalled", "guessed", "truth_kind 'guessed'"),
        ("t1,x,(2),coefficient", "t1,x,(1),coefficient", "stands in line 2 already"),
        ("metric,published", "metric,value", "no column published"),
    ],
)
def test_truth_rows_that_cannot_be_used_are_named(old: str, new: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read_truth(made.TRUTH.replace(old, new, 1).encode(), where="truth.csv")
    assert said in str(caught.value)


def test_a_misspelt_layout_key_is_named_not_passed_over() -> None:
    content = made.LAYOUT.replace("below =", "beneath =").encode()
    with pytest.raises(UserError, match="beneath"):
        read_layout(content, where="layout.toml")


def test_a_misspelt_star_level_key_is_named() -> None:
    content = made.LAYOUT.replace('mark = "*", p_below', 'mark = "*", note = "n", p_below').encode()
    with pytest.raises(UserError, match=r"star_levels\.0\.note"):
        read_layout(content, where="layout.toml")


def test_paper_and_truth_must_agree_on_how_values_are_known(tmp_path: Path) -> None:
    truth = made.TRUTH.replace(",seen,", ",recalled,")
    _, problems = _tables(tmp_path, truth=truth)
    assert any("paper.toml: t1 says seen" in line for line in problems)


@pytest.mark.parametrize(
    "folder",
    sorted((Path(__file__).parents[2] / "data" / "papers").glob("*/truth.csv")),
    ids=lambda p: p.parent.name,
)
def test_bundled_truth_has_exactly_one_cell_a_row(folder: Path) -> None:
    root = folder.parent
    layout = read_layout((root / "layout.toml").read_bytes(), where="layout.toml")
    truth = read_truth(folder.read_bytes(), where="truth.csv")
    tables, problems = published_tables(PaperFolder(root.resolve()).paper, layout, truth)
    assert problems == ()
    assert sum(len(table.graded_cells) for table in tables) == len(truth)
    for table in tables:
        keys = {cell.key for cell in table.cells}
        assert all(cell.of in keys for cell in table.cells if cell.of is not None)
