"""Packages of the bundled papers: complete, recorded, explained; six of them run here by real R."""

from __future__ import annotations

import csv
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from bench.arms.package import package_values
from bench.corpus.canonical import read_frame, write_frame
from bench.corpus.check import check_paper, find_rscript
from bench.corpus.export import export_paper
from bench.corpus.sources import printed_number
from bench.corpus.twins import CellReproduction, Match, match_of, read_reproduction
from data.corpus import bundled_papers, open_paper

PAPERS = [folder.id for folder in bundled_papers()]

# Exact, within two per cent, off.
RUN_HERE = {
    "cheng_hoekstra_2013": (0, 0, 24),
    "hamermesh_parker_2005": (15, 0, 0),
    "stock_watson_cigarettes_2007": (20, 3, 0),
    "stock_watson_fatalities_2007": (84, 0, 1),
    "wooldridge_card_2010": (28, 0, 0),
    "wooldridge_mroz_2010": (92, 0, 0),
}

# Re-estimated in Python with other software, before the packages were written; to six digits.
ELSEWHERE = {
    ("cheng_hoekstra_2013", "weighted", "(1)", "coefficient"): 0.0755332,
    ("cheng_hoekstra_2013", "unweighted", "(4)", "coefficient"): 0.0272829,
    ("cheng_hoekstra_2013", "unweighted", "(6)", "coefficient"): 0.017556,
    ("hamermesh_parker_2005", "Female", "(1)", "standard_error"): 0.0851241,
    ("stock_watson_cigarettes_2007", "First-stage F-statistic", "(2)", "f_statistic"): 107.183,
    ("stock_watson_cigarettes_2007", "Intercept", "(3)", "standard_error"): 0.0624876,
    ("stock_watson_fatalities_2007", "Drinking age", "(6)", "standard_error"): 0.0215195,
    ("stock_watson_fatalities_2007", "F: time effects=0", "(7)", "f_statistic"): 37.4945,
    ("wooldridge_card_2010", "educ", "IV", "standard_error"): 0.0549637,
    ("wooldridge_card_2010", "R-squared", "IV", "r_squared"): 0.238166,
    ("wooldridge_mroz_2010", "kidslt6", "Probit (MLE)", "standard_error"): 0.118522,
    ("wooldridge_mroz_2010", "sigma", "Tobit (MLE)", "other_statistic"): 1122.02,
}


@cache
def recorded(paper: str) -> tuple[CellReproduction, ...]:
    path = open_paper(paper).root / "package" / "reproduction.csv"
    return read_reproduction(path.read_bytes(), where=paper)


def rscript() -> str:
    program = find_rscript()
    assert program is not None, "apt-get install r-base-core, or make test as root"
    return program


@pytest.mark.parametrize("paper", PAPERS)
def test_each_table_has_a_script_of_either_language_and_a_record(
    paper: str, tmp_path: Path
) -> None:
    folder = open_paper(paper)
    slugs = {table.slug for table in folder.paper.tables}
    for suffix in (".R", ".do"):
        assert {path.stem for path in folder.package_code if path.suffix == suffix} == slugs
    for path in folder.package_code:
        if path.suffix == ".do":
            assert "not executed" in path.read_text().lower()
    assert folder.paper.provenance == "reconstructed"
    without_data = check_paper(folder, data=tmp_path)
    assert without_data.problems == ()
    assert without_data.twins == "recorded"


@pytest.mark.parametrize("paper", PAPERS)
def test_a_record_says_of_each_cell_what_follows_from_its_value(paper: str) -> None:
    rounding = open_paper(paper).paper.rounding
    for cell in recorded(paper):
        assert match_of(cell.value, cell.published, rounding) is cell.match, cell


@pytest.mark.parametrize("paper", PAPERS)
def test_errata_name_the_cells_that_differ(paper: str) -> None:
    errata = open_paper(paper).paper.errata
    differ = {cell.cell[0] for cell in recorded(paper) if cell.match is not Match.EXACT}
    assert differ <= {erratum.table for erratum in errata}
    exact = {
        (cell.cell[0], " / ".join(cell.cell[1:]))
        for cell in recorded(paper)
        if cell.match is Match.EXACT
    }
    assert not exact & {(erratum.table, name) for erratum in errata for name in erratum.cells}


@pytest.mark.parametrize("paper", PAPERS)
def test_the_package_arm_puts_each_recorded_value_into_its_cell(paper: str) -> None:
    folder = open_paper(paper)
    values = package_values(folder)
    for table in folder.tables:
        placed = [(cell.value, values[table.slug][cell.key]) for cell in table.graded_cells]
        written = [
            (number.value, cell.value)
            for cell in recorded(paper)
            if cell.cell[0] == table.slug and (number := printed_number(cell.published))
        ]
        assert sorted(placed) == sorted(written)


@pytest.fixture(scope="module", params=RUN_HERE)
def executed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """Exported anew, then run by R."""
    folder = open_paper(request.param)
    data = tmp_path_factory.mktemp("data")
    export_paper(folder, data)
    return check_paper(folder, data=data, rscript=rscript())


@pytest.mark.slow
def test_r_gives_what_is_recorded(executed) -> None:  # type: ignore[no-untyped-def]
    assert executed.problems == ()
    assert executed.twins == "executed"
    found = tuple(executed.matches[kind] for kind in ("exact", "within_2pct", "off"))
    assert found == RUN_HERE[executed.paper_id]
    assert executed.matches["not_produced"] == 0
    values = {(executed.paper_id, *cell.cell[1:]): cell.value for cell in executed.cells}
    for name, value in ELSEWHERE.items():
        if name[0] == executed.paper_id:
            assert values[name] == pytest.approx(value, rel=2e-5), name


def _cells(path: Path) -> dict[tuple[str, ...], float]:
    with path.open(newline="") as file:
        return {
            (row["row"], row["column"], row["metric"]): float(row["value"])
            for row in csv.DictReader(file)
        }


@pytest.mark.slow
def test_the_dates_of_the_laws_give_the_castle_doctrine_table(tmp_path: Path) -> None:
    """The erratum's claim: the share of the year is all that the data lack."""
    folder = open_paper("cheng_hoekstra_2013")
    export_paper(folder, tmp_path)
    panel = read_frame(tmp_path / folder.id / "castle.dta")
    write_frame(panel, tmp_path / "castle.csv")
    package = folder.root / "package"
    dates = tmp_path / "effective_dates.csv"
    shutil.copyfile(package / "effective_dates.csv", dates)

    with dates.open(newline="") as file:
        years = {int(row["sid"]): int(row["effective"][:4]) for row in csv.DictReader(file)}
    in_force = panel[panel["post"] == 1].groupby("sid")["year"].min()
    assert {state: year + 1 for state, year in years.items()} == in_force.to_dict()

    def run(*more: Path) -> dict[tuple[str, ...], float]:
        out = tmp_path / "out.csv"
        paths = [package / "code" / "table_5.R", tmp_path, out, *more]
        subprocess.run(
            [rscript(), "--vanilla", *paths], check=True, capture_output=True, cwd=tmp_path
        )
        return _cells(out)

    printed = {cell.cell[1:]: float(cell.published) for cell in recorded(folder.id)}
    with_dates, without = run(dates), run()
    assert set(with_dates) == set(without) == set(printed)
    assert all(abs(with_dates[name] / printed[name] - 1) < 0.006 for name in printed)
    assert all(abs(without[name] / printed[name] - 1) > 0.02 for name in printed)
    texts = {cell.cell[1:]: cell.published for cell in recorded(folder.id)}
    same = [name for name, text in texts.items() if match_of(with_dates[name], text) == "exact"]
    assert len(same) == 11
