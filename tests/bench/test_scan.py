"""The scan of a jail for published tables: what it finds however packed, and that ours is clean."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from bench.environment import analysis_environment
from bench.jail.sandbox import JailedSandbox, open_sandbox
from bench.jail.scan import scan, scan_for_tables
from bench.runs.inspection import refuse_published_tables
from bench.runs.leaderboard_file import parse_leaderboard
from bench.runs.plan import plan_runs
from data.corpus import PaperFolder, bundled_papers, data_directory, open_paper
from data.ports import Bind
from data.records.errors import UserError
from data.records.runs import Isolation
from data.records.tables import Table

PAPER = "kleiber_zeileis_2008"
ROOTS = ("/planted",)


@cache
def sandbox() -> JailedSandbox:
    opened = open_sandbox(Isolation.NAMESPACES, analysis=analysis_environment())
    assert isinstance(opened, JailedSandbox)
    return opened


def table_of(slug: str) -> Table:
    return next(table for table in open_paper(PAPER).tables if table.slug == slug)


TABLE = table_of("cps_wage_ols")


def printed(table: Table = TABLE, *, by_column: bool = False) -> str:
    """The table as a text prints it: a line a row, or a line a column."""
    lines: dict[int, list[str]] = {}
    for cell in table.graded_cells:
        lines.setdefault(cell.col if by_column else cell.row, []).append(str(cell.text))
    return "\n".join("label  " + "   ".join(line) for line in lines.values()) + "\n"


def pdf(text: str) -> bytes:
    """A minimal PDF page that shows the text, compressed."""
    escaped = "\n".join(
        "(" + line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") + ") Tj T*"
        for line in text.splitlines()
    )
    stream = zlib.compress(f"BT /F1 9 Tf 12 TL 50 700 Td\n{escaped}\nET".encode())
    head = f"%PDF-1.4\n4 0 obj <</Length {len(stream)} /Filter /FlateDecode>>\nstream\n"
    return head.encode() + stream + b"\nendstream\n"


def zipped(text: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/result.txt", text)
    return buffer.getvalue()


PACKINGS: dict[str, Callable[[str], bytes]] = {
    "text": str.encode,
    "no_extension": str.encode,
    "csv": lambda text: text.replace("   ", ",").encode(),
    "html": lambda text: ("<td>" + text.replace("   ", "</td>\n<td>") + "</td>").encode(),
    "latex": lambda text: text.replace("   ", " & $").encode(),
    "utf16": lambda text: text.encode("utf-16"),
    "gz": lambda text: gzip.compress(text.encode()),
    "bz2": lambda text: bz2.compress(text.encode()),
    "xz": lambda text: lzma.compress(text.encode()),
    "zip": zipped,
    "zip_in_gz": lambda text: gzip.compress(zipped(text)),
    "pdf": pdf,
    "gz_of_pdf": lambda text: gzip.compress(pdf(text)),
    "in_long_text": lambda text: ("words 12 and 7\n" * 20_000 + text + "more\n" * 20_000).encode(),
    "stars": lambda text: text.replace("   ", "***   ").encode(),
}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("by_column", [False, True])
def test_a_planted_table_is_found(packing: str, by_column: bool, tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    (planted / "deep" / "er").mkdir(parents=True)
    planted.chmod(0o755)
    (planted / "deep" / "er" / f"x.{packing}").write_bytes(
        PACKINGS[packing](printed(by_column=by_column))
    )
    hits = scan_for_tables(
        [TABLE], sandbox(), [Bind(planted, "/planted")], roots=ROOTS, cache=tmp_path / "cache"
    )
    assert {hit.path for hit in hits} == {f"/planted/deep/er/x.{packing}"}
    assert hits[0].table == f"{PAPER}:{TABLE.slug}"
    assert len(hits[0].values) >= 3


@pytest.mark.parametrize("paper", bundled_papers(), ids=lambda paper: paper.id)
def test_the_truth_of_every_paper_would_be_found(tmp_path: Path, paper: PaperFolder) -> None:
    # A table of two numbers has no three neighbours: it cannot be told from chance.
    large = [table for table in paper.tables if len(table.graded_cells) >= 3]
    assert large
    planted = tmp_path / "planted"
    planted.mkdir()
    planted.chmod(0o755)
    for table in large:
        (planted / f"{table.slug}.txt").write_text(printed(table))
    report = scan(
        large,
        sandbox(),
        [Bind(planted, "/planted")],
        roots=ROOTS,
        cache=tmp_path / "cache",
    )
    found = {hit.path.removeprefix("/planted/").removesuffix(".txt") for hit in report.hits}
    assert found == {table.slug for table in large}


def test_nothing_is_found_in_what_is_no_table(tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    planted.mkdir()
    planted.chmod(0o755)
    values = [str(cell.text) for cell in TABLE.graded_cells]
    (planted / "two.txt").write_text(f"{values[0]} and {values[1]}\n")
    (planted / "shuffled.txt").write_text("\n".join(f"x {one} y" for one in sorted(values)))
    (planted / "years.txt").write_text("\n".join(str(year) for year in range(1900, 2030)))
    (planted / "picture.png").write_bytes(b"\x89PNG" + printed().encode())
    report = scan(
        [TABLE], sandbox(), [Bind(planted, "/planted")], roots=ROOTS, cache=tmp_path / "cache"
    )
    assert report.files == 4
    assert [hit.path for hit in report.hits if "shuffled" not in hit.path] == []
    assert report.unread == {"picture": 1}


def test_this_jail_holds_no_published_table(tmp_path: Path) -> None:
    """The real jail with the real analysis environment, for the tables of all papers, uncached."""
    tables = [table for paper in bundled_papers() for table in paper.tables]
    report = scan(tables, sandbox(), cache=tmp_path / "cache")
    assert report.hits == ()
    assert report.files > 10_000
    again = scan(tables, sandbox(), cache=tmp_path / "cache")
    assert (again.hits, again.files) == (report.hits, report.files)


def test_a_hit_is_never_cached(tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    planted.mkdir()
    planted.chmod(0o755)
    (planted / "x.txt").write_text(printed())
    binds = [Bind(planted, "/planted")]
    for _ in range(2):
        assert scan_for_tables([TABLE], sandbox(), binds, roots=ROOTS, cache=tmp_path / "c")
    (planted / "x.txt").write_text("clean\n")
    assert not scan_for_tables([TABLE], sandbox(), binds, roots=ROOTS, cache=tmp_path / "c")
    (planted / "x.txt").write_text(printed())
    assert scan_for_tables([TABLE], sandbox(), binds, roots=ROOTS, cache=tmp_path / "c")


def test_a_run_is_refused_where_the_data_hold_the_table(tmp_path: Path) -> None:
    """A data file in which the results stand: nothing is run, and the file is named."""
    text = f'name = "b"\npapers = ["{PAPER}"]\n[[arms]]\nname = "null"\n'
    board = parse_leaderboard(text, base=tmp_path, where="test")
    data = tmp_path / "data"
    data.mkdir()
    for source in data_directory(PAPER).iterdir():
        (data / source.name).write_bytes(source.read_bytes())
    (data / "Grunfeld.csv").write_text((data / "Grunfeld.csv").read_text() + printed())
    plan = plan_runs(board, lambda _: data)
    with pytest.raises(UserError, match=r"cps_wage_ols.*Grunfeld\.csv.*Nothing was run"):
        refuse_published_tables(plan.runs, sandbox(), lambda _: None)
