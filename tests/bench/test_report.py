"""The report: its frames, its printed tables, its links, and what hostile text can do to it."""

from __future__ import annotations

import importlib.util
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

from bench.baselines import baseline_runs
from bench.leaderboard import leaderboard
from bench.report.drawing import draw_deviation_curves, draw_interval, draw_letters
from bench.report.frames import deviation_curves, sign_frame
from bench.report.printed import like_print, printed_table
from bench.report.queries import records, table_cells
from bench.report.site import write_report
from data.records.errors import UserError
from data.records.runs import Arm
from data.store.build import build_store
from data.store.read import open_store


def _load(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    path = Path(__file__).parents[1] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


made = _load("made_runs")
EVIL = "evil <b onmouseover=alert(1)>\"' &"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("report") / "small"
    runs.mkdir()
    papers = [
        made.published_paper("paper_a", title=f"A title {made.HOSTILE}"),
        made.published_paper("paper_b"),
    ]
    for paper in papers:
        made.write_run(runs, paper, Arm("exact", "program"), made.exact)
        made.write_run(runs, paper, Arm("half", "program"), made.half)
        made.write_run(runs, paper, Arm("half", "program"), made.flipped, repetition=2)
        made.write_run(
            runs,
            paper,
            Arm(EVIL, f"program {made.HOSTILE}"),
            made.exact,
            extra={
                "notes.md": made.HOSTILE.encode(),
                "table_1.py": f"# {made.HOSTILE}\nprint(1)\n".encode(),
                "x'\"<i>.py": b"print(2)\n",
            },
        )
    (runs / "paper_b" / made.HOSTILE.replace("/", "_") / "1").mkdir(parents=True)
    return build_store(
        runs, papers, baselines=baseline_runs(papers, made.RUBRICS), rubrics=made.RUBRICS
    ).store


@pytest.fixture(scope="module")
def site(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(store, tmp_path_factory.mktemp("site") / "site").parent


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path.read_text()) for path in sorted(site.rglob("*.html"))}


# -------------------------------------------------------------------------------- frames


def test_curve_at_196_is_the_leaderboards_share(store: Path) -> None:
    with open_store(store) as connection:
        board = leaderboard(connection)
        curves = deviation_curves(connection, board.rule, "seen")
    at = curves[curves["distance"] == 1.96].set_index("arm")["share"]
    for row in board.rows.to_dict("records"):
        assert at[row["arm"]] == pytest.approx(row["within_se"])


def test_curves_count_missing_estimates_and_rise(store: Path) -> None:
    with open_store(store) as connection:
        curves = deviation_curves(connection, leaderboard(connection).rule, "seen")
    half = curves[curves["arm"] == "half"]["share"]
    # Run 1: two of four estimates exact. Run 2: all four flipped, 3.5 to 12.9 SE off; the two
    # below 10 are 9.5 and 5.1 and 3.47, so three of four. Together 2/8, then 5/8.
    assert half.iloc[0] == pytest.approx(2 / 8)
    assert half.iloc[-1] == pytest.approx(5 / 8)
    assert half.is_monotonic_increasing


def test_sign_frame(store: Path) -> None:
    with open_store(store) as connection:
        signs = sign_frame(leaderboard(connection)).set_index("arm")
    # Produced: run 1 agrees on 2 of 2, run 2 on 0 of 4. Expected: 2 of 8.
    assert signs.loc["half", "produced"] == pytest.approx(2 / 6)
    assert signs.loc["half", "expected"] == pytest.approx(2 / 8)
    assert signs.loc["half", "all_positive"] == 0.5
    assert signs.loc["exact", "produced"] == 1


# ------------------------------------------------------------------------- printed tables


@pytest.mark.parametrize(
    ("value", "published", "decimals", "text"),
    [
        (0.12345, "0.45***", 2, "0.12"),
        (-0.125, "(0.45)", 2, "(−0.13)"),
        (0.05149, ".051", 3, ".051"),
        (-0.05149, "-.060", 3, "−.051"),
        (1234567.4, "1,420", 0, "1,234,567"),
        (12.5, "[11.2]**", 1, "[12.5]"),
        (-0.0001, "0.10", 2, "0.00"),
        (0.031, "<0.01", 2, "0.03"),
        (45.678, "45.2%", 1, "45.7%"),
        (3.14159265, None, None, "3.14159"),
        (1e20, "1,000", 0, "1.000e+20"),
        (2.5, "−3.1", 1, "2.5"),
    ],
)
def test_reproduced_values_look_like_print(
    value: float, published: str | None, decimals: int | None, text: str
) -> None:
    assert like_print(value, published, decimals) == text


def test_printed_layout_of_both_sides(store: Path) -> None:
    with open_store(store) as connection:
        rule = leaderboard(connection).rule
        cells = table_cells(connection, "paper_a", "paper_a/half/1", rule)["table_1"]
        table = records(connection, "SELECT * FROM tables WHERE paper_id = 'paper_a'")[0]
    published = printed_table(table, cells, reproduced=False)
    heads = [[(head.text, head.span) for head in level] for level in published.heads]
    assert heads == [[("Dependent: score", 2)], [("(1)", 1), ("(2)", 1)]]
    rows = [
        (
            row.panel_head,
            row.label,
            [place.text or place.statistics[0].text for place in row.places],
        )
        for row in published.rows
    ]
    assert rows == [
        ("Panel A. Scores", "Class size", ["−2.28**", "−1.10**"]),
        (None, "", ["(0.48)", "(0.43)"]),
        (None, "Income", ["11.57**", "0.52"]),
        (None, "", ["(1.80)", "(0.30)"]),
        ("Panel B. Model", "State effects", ["No", "Yes"]),
        (None, "Observations", ["1,420", "1,420"]),
        (None, "R2", [".051", ".051"]),
    ]
    ours = printed_table(table, cells, reproduced=True)
    first, second = (place.statistics[0] for place in ours.rows[0].places)
    assert (first.text, first.grade) == ("−2.28", "A")
    assert (second.text, second.grade) == ("·", "F")
    assert ("Reason", "left empty") in second.details
    assert ("Deviation", "+0 %") in first.details
    rules = [name for name, letter in first.details if letter == "A"]
    assert {"kohler2026 raw", "kohler2026 rounded"} < set(rules)


def test_deviations_of_a_wrong_cell(store: Path) -> None:
    with open_store(store) as connection:
        rule = leaderboard(connection).rule
        cells = table_cells(connection, "paper_a", "paper_a/half/2", rule)["table_1"]
        table = records(connection, "SELECT * FROM tables WHERE paper_id = 'paper_a'")[0]
    cell = printed_table(table, cells, reproduced=True).rows[0].places[0].statistics[0]
    details = dict(cell.details)
    assert cell.grade == "E"
    assert details["Published"] == "-2.28**"
    assert details["Reproduced"] == "2.28"
    assert details["Deviation"] == "+200 %"
    assert details["In published SE"] == "9.5"
    assert details["In printed units"] == "+456"
    assert details["Sign"] == "differs"


# ------------------------------------------------------------------------------- the site


def test_hostile_text_never_becomes_markup(site: Path) -> None:
    for path, page in pages(site).items():
        for tag, attributes in page.tags:
            assert tag not in ("img", "iframe", "object", "form")
            if tag == "script":
                assert str(attributes.get("src", "")).endswith("site.js"), path
            assert not [name for name in attributes if name.startswith("on")], (path, tag)
    whole = "".join(path.read_text() for path in site.rglob("*.html"))
    assert "<script>alert" not in whole
    assert "&lt;script&gt;alert" in whole


def test_site_asks_nothing_of_the_network(site: Path) -> None:
    for path in site.rglob("*"):
        if path.suffix in (".html", ".css", ".js"):
            text = path.read_text()
            assert "http://" not in text, path
            assert "https://" not in text, path
            assert "@import" not in text
            assert "url(" not in text


def test_every_link_leads_somewhere(site: Path) -> None:
    checked = 0
    parsed = pages(site)
    for path, page in parsed.items():
        for tag, attributes in page.tags:
            link = attributes.get("href") or attributes.get("src")
            if not link or (tag == "link" and link.startswith("data:")):
                continue
            name, _, anchor = link.partition("#")
            target = (path.parent / unquote(name)).resolve() if name else path
            assert target.is_file(), (path, link)
            assert site.resolve() in target.parents
            if anchor:
                ids = [found.get("id") for _, found in parsed[target].tags]
                assert anchor in ids, (path, link)
            checked += 1
    assert checked > 60


def test_pages_of_a_run_name_its_scripts(site: Path) -> None:
    page = (site / "runs" / "paper_b" / "half.1.html").read_text()
    assert 'href="half.1/01-table_1-py' in page
    assert "Repetitions" in page
    script = next((site / "runs" / "paper_b" / "half.1").glob("01-*.html")).read_text()
    assert "import pandas as pd" in script


def test_first_page_lists_what_could_not_be_read(site: Path) -> None:
    text = (site / "index.html").read_text()
    assert "not a run directory" in text
    assert "Fewer than six papers" in text


def test_report_replaces_only_a_report(store: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "thesis.txt").write_text("years of work")
    with pytest.raises(UserError, match="not an earlier report"):
        write_report(store, own)
    assert (own / "thesis.txt").read_text() == "years of work"
    first = write_report(store, tmp_path / "site")
    (tmp_path / "site" / "stale.html").write_text("old")
    before = first.read_bytes()
    again = write_report(store, tmp_path / "site")
    assert again.read_bytes() == before
    assert not (tmp_path / "site" / "stale.html").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own", "site"]


def test_drawings_escape_names_and_say_their_numbers() -> None:
    import pandas as pd

    curves = pd.DataFrame(
        {
            "arm": [made.HOSTILE] * 2,
            "arm_kind": ["contestant"] * 2,
            "distance": [0.001, 10.0],
            "share": [0.0, 1.0],
        }
    )
    drawn = draw_deviation_curves(curves, [made.HOSTILE])
    assert "<script" not in drawn
    assert "&lt;script" in drawn
    assert "4.20, 95 % interval 3.90 to 4.50" in draw_interval(4.2, 3.9, 4.5)
    assert "no interval" in draw_interval(4.2, None, None)
    assert "3 A, 1 F" in draw_letters([3, 0, 0, 0, 0, 1])
    assert draw_letters([0] * 6) == ""
