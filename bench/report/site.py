"""Writes the report: pages from a store, as files that open without a server."""

from __future__ import annotations

import hashlib
import math
import re
import shutil
import tempfile
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from bench.leaderboard import (
    DENOMINATORS,
    LETTERS,
    SHARES,
    Leaderboard,
    Rule,
    Truth,
    arm_contrasts,
    leaderboard,
    letter_of,
)
from bench.report.drawing import (
    draw_deviation_curves,
    draw_interval,
    draw_letters,
    draw_score_axis,
    draw_signs,
)
from bench.report.frames import deviation_curves, sign_frame
from bench.report.printed import printed_table
from bench.report.queries import Record, records, run_tables, scripts_of, table_cells
from data.records.errors import UserError
from data.store.read import open_store

if TYPE_CHECKING:
    import duckdb
    import jinja2
    import pandas as pd

__all__ = ["SHARE_NAMES", "write_report"]

_MARKER: Final = ".blindbench-report"
_WIDE_FROM: Final = 6

SHARE_NAMES: Final = {
    "share_a": "Cells at A",
    "wrong": "Produced and wrong (D, E)",
    "rescaled": "Cells rescued by rescaling",
    "sign_agreement": "Signs that agree",
    "all_positive": "Signs, if all were called positive",
    "within_se": "Estimates within 1.96 published SE",
    "within_se_significant": "The same, where |t| is at least 1.96",
    "tables_ab": "Tables at A or B",
    "tables_rescaled": "Tables with a rescaled cell",
}


@dataclass(frozen=True, slots=True)
class _Site:
    """What every page of one report needs."""

    connection: duckdb.DuckDBPyConnection
    board: Leaderboard
    folder: Path
    shared: dict[str, Any]

    @property
    def arms(self) -> list[str]:
        """Arms with pages of their own, best first; baselines have none."""
        rows = self.board.rows
        return [str(arm) for arm in rows.loc[rows["kind"] != "baseline", "arm"]]

    def write(self, path: str, template: str, **values: Any) -> None:
        """Render a template to a file below the report's folder."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        root = "../" * path.count("/")
        page = _templates().get_template(template).render(**self.shared, root=root, **values)
        target.write_text(page, encoding="utf-8", errors="replace")


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("bench.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def _slug(text: str) -> str:
    """Make a file name of any text: safe letters, a digest where something had to go."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:60]
    if safe == text:
        return safe
    return f"{safe or 'x'}-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _is_known(value: float | None) -> TypeGuard[float]:
    return value is not None and not math.isnan(value)


def _number(value: float | None, form: str = ".2f") -> str:
    """Format a number as the pages print it; a dash where it is unknown."""
    if not _is_known(value):
        return "–"
    return format(value, form).replace("-", "\u2212")


def _percent(value: float | None) -> str:
    """Format a share in percent, whole, but never 0 or 100 unless exactly so."""
    if not _is_known(value):
        return "–"
    if 0 < value < 0.005:
        return "<1 %"
    if 0.995 <= value < 1:
        return f"{100 * value:.1f} %" if value < 0.9995 else ">99.9 %"
    return f"{100 * value:.0f} %"


def _interval(low: float | None, high: float | None) -> str:
    return f"{_number(low)} to {_number(high)}" if _is_known(low) else ""


def _truth_said(truth: Truth) -> str:
    return {
        "seen": "seen in print",
        "recalled": "recalled",
        "all": "seen and recalled together",
    }[truth]


def _rule_said(rule: Rule) -> str:
    said = {"all_f": "F counts 0", "non_f": "F left out"}.get(rule.roll_up, rule.roll_up)
    return f"{rule.rubric}, {rule.cell_rule}, {said}"


def write_report(
    store: Path,
    to: Path,
    *,
    rubric: str = "kohler2026",
    truth: Truth = "seen",
    include_self_test: bool = False,
) -> Path:
    """Write the static site of a store.

    Parameters
    ----------
    store : Path
    to : Path
        Folder of the site; an earlier report there is replaced.
    rubric, truth, include_self_test
        As in `bench.leaderboard.leaderboard`.

    Returns
    -------
    Path
        The first page.

    Raises
    ------
    UserError
        When `to` holds something that is not a report.
    """
    if to.exists() and not (to / _MARKER).exists() and (not to.is_dir() or any(to.iterdir())):
        raise UserError(f"{to}: not empty and not an earlier report; name another folder with --to")
    to.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{to.name}.", dir=to.parent))
    try:
        with open_store(store) as connection:
            board = leaderboard(
                connection, rubric=rubric, truth=truth, include_self_test=include_self_test
            )
            _write_pages(_site(connection, board, folder))
        (folder / _MARKER).write_text("")
        folder.chmod(0o755)
        if to.exists():
            shutil.rmtree(to)
        folder.rename(to)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return to / "index.html"


def _site(connection: duckdb.DuckDBPyConnection, board: Leaderboard, folder: Path) -> _Site:
    name = records(connection, "SELECT value FROM meta WHERE key = 'leaderboard'")[0]["value"]
    levels = sorted({str(one) for one in board.rows["isolation"].dropna()})
    shared = {
        "board_name": name,
        "rule_said": _rule_said(board.rule),
        "truth_said": _truth_said(board.truth),
        "isolation": ", ".join(levels),
    }
    return _Site(connection, board, folder, shared)


def _write_pages(site: _Site) -> None:
    for name in ("site.css", "site.js"):
        content = files("bench.report").joinpath("assets", name).read_bytes()
        (site.folder / name).write_bytes(content)
    papers = [
        _paper(row)
        for row in records(site.connection, "SELECT * FROM papers ORDER BY year, paper_id")
    ]
    runs = _runs(site)
    _write_index(site, papers, runs)
    for paper in papers:
        own = [run for run in runs if run["paper_id"] == paper["paper_id"]]
        tables = records(
            site.connection,
            "SELECT t.*, count(e.metric) AS n_results, "
            "string_agg(DISTINCT e.truth_kind, ' and ' ORDER BY e.truth_kind DESC) AS truth "
            "FROM tables t "
            "LEFT JOIN expected_cells e USING (paper_id, table_slug) "
            "WHERE paper_id = $paper_id GROUP BY ALL ORDER BY position",
            {"paper_id": paper["paper_id"]},
        )
        _write_paper(site, paper, tables, own)
        for run in own:
            _write_run(site, paper, tables, run, own)


def _paper(row: Record) -> Record:
    """Add what pages say of a paper."""
    authors = [str(name) for name in row["authors"]]
    last = [name.rsplit(maxsplit=1)[-1] for name in authors]
    who = last[0] if len(last) == 1 else ", ".join(last[:-1]) + f" & {last[-1]}" if last else "?"
    if len(last) > 3:
        who = f"{last[0]} et al."
    said = f"{', '.join(authors)}. {row['journal']}, {row['year']}."
    if row["provenance"] == "reconstructed":
        said += " The package's code is a reconstruction by this project."
    return row | {"short": f"{who} {row['year']}", "slug": _slug(row["paper_id"]), "said": said}


_RUNS: Final = """
SELECT r.*, g.grade, g.score, g.coverage
FROM ended_runs r
LEFT JOIN paper_grades g ON g.run_id = r.run_id AND g.rubric = $rubric
    AND g.cell_rule = $cell_rule AND g.roll_up = $roll_up AND g.truth = $truth
ORDER BY r.paper_id, r.arm, r.repetition
"""


def _runs(site: _Site) -> list[Record]:
    """Read the ended runs of the arms shown, with the headline grade and the page of each."""
    rule = site.board.rule
    rows = records(
        site.connection,
        _RUNS,
        {
            "rubric": rule.rubric,
            "cell_rule": rule.cell_rule,
            "roll_up": rule.roll_up,
            "truth": site.board.truth,
        },
    )
    wanted = set(site.arms)
    return [
        row
        | {"page": f"runs/{_slug(row['paper_id'])}/{_slug(row['arm'])}.{row['repetition']}.html"}
        for row in rows
        if row["arm"] in wanted
    ]


# ------------------------------------------------------------------------------- first page


def _write_index(site: _Site, papers: Sequence[Record], runs: Sequence[Record]) -> None:
    board = site.board
    order = list(board.rows["arm"])
    curves = deviation_curves(site.connection, board.rule, board.truth)
    statuses = records(
        site.connection,
        "SELECT * FROM run_statuses WHERE list_contains($arms, arm)",
        {"arms": site.arms},
    )
    heads = [name for name in (statuses[0] if statuses else {}) if name != "arm"]
    site.write(
        "index.html",
        "index.html.j2",
        standfirst=_standfirst(site),
        score_axis=draw_score_axis(),
        groups=_groups(board.rows),
        board_note=_board_note(board),
        heat=_heat(board, papers, runs, site.connection),
        curves=draw_deviation_curves(curves, order),
        within_note=_within_note(board.rows),
        signs=draw_signs(sign_frame(board)),
        shares=_share_blocks(board),
        contrasts=_contrasts(board, site.arms),
        statuses=[
            {"arm": row["arm"], "entries": [row[name] for name in heads]} for row in statuses
        ],
        status_heads=[name.replace("_", " ") for name in heads],
        problems=records(site.connection, "SELECT * FROM problems ORDER BY ALL"),
    )


def _standfirst(site: _Site) -> str:
    counts = records(
        site.connection,
        "SELECT count(DISTINCT (paper_id, table_slug)) AS tables, count(*) AS cells, "
        "count(DISTINCT paper_id) AS papers FROM expected_cells "
        "WHERE $truth = 'all' OR truth_kind = $truth",
        {"truth": site.board.truth},
    )[0]
    arms = len(site.arms)
    return (
        f"{arms} {'arm' if arms == 1 else 'arms'} re-implemented published tables from methods and "
        f"data alone: {counts['cells']:,} printed results in {counts['tables']} tables of "
        f"{counts['papers']} papers, their values {_truth_said(site.board.truth)}. Each cell is "
        "graded against print, A to F."
    )


_GROUP_HEADS: Final = {
    "contestant": None,
    "reference": None,
    "self_test": "Self-test arms: these know the truth by a route of their own",
    "baseline": "Baselines: rules of thumb, for comparison",
}


def _groups(rows: pd.DataFrame) -> list[Record]:
    groups: dict[str | None, list[Record]] = {}
    for row in rows.to_dict("records"):
        head = _GROUP_HEADS.get(row["kind"])
        groups.setdefault(head, []).append(_board_row(row, quiet=head is not None))
    return [{"head": head, "rows": own} for head, own in groups.items()]


def _board_row(row: Mapping[Hashable, Any], *, quiet: bool) -> Record:
    has_score = _is_known(row["score"])
    low, high = (row["low"], row["high"]) if _is_known(row["low"]) else (None, None)
    words = [row["scaffold"] if row["scaffold"] != row["arm"] else None, row["model"]]
    if row["kind"] == "reference":
        words.append("reference")
    if row["kind"] != "baseline":
        words.append(f"{row['methods_variant']} methods")
    return {
        "arm": row["arm"],
        "said": " · ".join(word for word in words if isinstance(word, str))
        if row["kind"] != "baseline"
        else "",
        "plot": draw_interval(row["score"], low, high, quiet=quiet) if has_score else "",
        "score": _number(row["score"]),
        "interval": _interval(low, high),
        "letters": draw_letters([row[f"papers_{letter}"] for letter in LETTERS]),
        "coverage": _percent(row["coverage"]),
        "wrong": _percent(row["wrong"]),
        "tables_ab": _percent(row["tables_ab"]),
        "sign_agreement": _percent(row["sign_agreement"]),
        "within_se": _percent(row["within_se"]),
        "beside": _number(row["score_beside"]),
        "printed": _number(row["score_printed"]),
        "runs": f"{row['papers']} × {row['repetitions']}"
        if row["kind"] != "baseline"
        else row["papers"],
    }


def _board_note(board: Leaderboard) -> str:
    ranked = board.rows[board.rows["kind"].isin(["contestant", "reference"])]
    positive = ranked["all_positive"].dropna()
    few = int(ranked["papers"].max()) < 6 if len(ranked) else True
    parts = [
        (
            f"Score: mean over papers of the paper's score from 0 to 5 under "
            f"{_rule_said(board.rule)}; papers count equally, repetitions are averaged within a "
            "paper."
        ),
        "Fewer than six papers: no interval is given."
        if few
        else "Bar: 95 % interval for papers like these (bounded Bayesian bootstrap over papers).",
        "Shares are of all expected cells or tables; what is missing counts as missed.",
    ]
    if len(positive):
        parts.append(
            f"Calling every sign positive would agree in {_percent(float(positive.mean()))}.",
        )
    detectable = ranked[["arm", "rival", "detectable"]].dropna()
    if len(detectable):
        first = detectable.iloc[0]
        parts.append(
            f"Between {first['arm']} and {first['rival']} these papers would show a difference of "
            f"{_number(first['detectable'])} or more.",
        )
    return " ".join(parts)


def _within_note(rows: pd.DataFrame) -> str:
    said = [
        f"{row['arm']} {_percent(row['within_se'])}"
        for row in rows[rows["kind"] == "baseline"].to_dict("records")
        if _is_known(row["within_se"])
    ]
    return f"Within 1.96 lie of the baselines: {', '.join(said)}." if said else ""


def _heat(
    board: Leaderboard,
    papers: Sequence[Record],
    runs: Sequence[Record],
    connection: duckdb.DuckDBPyConnection,
) -> Record:
    arms = [str(arm) for arm in board.rows["arm"]]
    cells = {(row["arm"], row["paper_id"]): row for row in board.papers.to_dict("records")}
    pages = {(run["arm"], run["paper_id"]): run["page"] for run in reversed(runs)}
    tables = {
        row["paper_id"]: row["n"]
        for row in records(
            connection,
            "SELECT paper_id, count(DISTINCT table_slug) AS n FROM expected_cells "
            "WHERE $truth = 'all' OR truth_kind = $truth GROUP BY ALL",
            {"truth": board.truth},
        )
    }
    rows = []
    for paper in papers:
        paper_id = paper["paper_id"]
        own = [
            _heat_cell(arm, cells.get((arm, paper_id)), pages.get((arm, paper_id))) for arm in arms
        ]
        if paper_id in tables:
            rows.append(paper | {"cells": own, "tables": tables[paper_id]})
    left = [paper for paper in papers if paper["paper_id"] not in tables]
    return {"arms": arms, "rows": rows, "left": left}


def _heat_cell(arm: str, cell: Mapping[Hashable, Any] | None, page: str | None) -> Record:
    if cell is None:
        said = f"{arm}: not graded"
        return {"letter": None, "score": "", "said": said, "href": page}
    said = f"{arm}: {cell['letter']}, score {_number(cell['score'])}"
    said += f", coverage {_percent(cell['coverage'])}"
    if cell["runs"] > 1:
        said += (
            f", {cell['runs']} runs from {_number(cell['lowest'])} to {_number(cell['highest'])}"
        )
    return {
        "letter": cell["letter"],
        "score": _number(cell["score"], ".1f"),
        "said": said,
        "href": page,
    }


def _share_blocks(board: Leaderboard) -> list[Record]:
    named = {
        (row["share"], row["arm"], row["denominator"]): row
        for row in board.shares.to_dict("records")
    }
    blocks = []
    for share in SHARES:
        rows = [
            {"arm": arm, "entries": [_share(named.get((share, arm, one))) for one in DENOMINATORS]}
            for arm in board.rows["arm"]
            if any((share, arm, one) in named for one in DENOMINATORS)
        ]
        if rows:
            blocks.append({"said": SHARE_NAMES[share], "rows": rows})
    return blocks


def _share(row: Mapping[Hashable, Any] | None) -> Record:
    if row is None:
        return {"share": "–", "counts": ""}
    counts = f"{row['numerator']:,} of {row['total']:,}"
    if _is_known(row["low"]):
        counts = f"{100 * row['low']:.0f} to {100 * row['high']:.0f} · {counts}"
    return {"share": _percent(row["estimate"]), "counts": counts}


def _contrasts(board: Leaderboard, arms: Sequence[str]) -> list[Record]:
    found = arm_contrasts(board.papers, arms)
    return [
        {
            "first": row["first"],
            "second": row["second"],
            "n": row["n"],
            "counts": f"{row['n_better']} / {row['n'] - row['n_different']} / {row['n_worse']}",
            "mean": _number(row["mean"], "+.2f"),
            "interval": _interval(row["low"], row["high"]),
            "p": _number(row["p"], ".3f"),
            "p_holm": _number(row["p_holm"], ".3f"),
            "detectable": _number(row["detectable"]),
        }
        for row in found.to_dict("records")
    ]


# ------------------------------------------------------------------------- papers and runs


def _write_paper(
    site: _Site, paper: Record, tables: Sequence[Record], runs: Sequence[Record]
) -> None:
    grades = {
        run["run_id"]: run_tables(site.connection, run["run_id"], site.board.rule) for run in runs
    }
    arms = [arm for arm in site.arms if any(run["arm"] == arm for run in runs)]
    rows = []
    for table in tables:
        slug = table["table_slug"]
        cells = []
        for arm in arms:
            own = [run for run in runs if run["arm"] == arm]
            found = [grades[run["run_id"]][slug] for run in own if slug in grades[run["run_id"]]]
            cells.append(_table_cell(arm, found, f"../{own[0]['page']}#{slug}"))
        rows.append(
            {
                "id": table["table_id"],
                "caption": table["caption"],
                "truth": table["truth"] or table["truth_kind"] or "seen",
                "cells_count": table["n_results"],
                "cells": cells,
            },
        )
    site.write(f"papers/{paper['slug']}.html", "paper.html.j2", paper=paper, arms=arms, rows=rows)


def _table_cell(arm: str, found: Sequence[Record], href: str) -> Record:
    scores = [float(one["score"]) for one in found if one["score"] is not None]
    if not scores:
        return {"letter": None, "score": "", "said": f"{arm}: not graded", "href": href}
    mean = sum(scores) / len(scores)
    letter = found[0]["grade"] if len(found) == 1 else letter_of(mean)
    said = f"{arm}: {letter}, score {_number(mean)}"
    return {"letter": letter, "score": _number(mean, ".1f"), "said": said, "href": href}


def _write_run(
    site: _Site,
    paper: Record,
    tables: Sequence[Record],
    run: Record,
    all_runs: Sequence[Record],
) -> None:
    cells = table_cells(site.connection, paper["paper_id"], run["run_id"], site.board.rule)
    grades = run_tables(site.connection, run["run_id"], site.board.rule)
    written = list(_write_files(site, paper, run))
    here = run["page"].rsplit("/", 1)[0] + "/"
    scripts = {
        Path(one["path"]).stem: {
            "href": one["page"].removeprefix(here),
            "name": Path(one["path"]).name,
        }
        for one in reversed(written)
        if one["kind"] == "script"
    }
    site.write(
        run["page"],
        "run.html.j2",
        paper=paper,
        arm=run["arm"],
        repetition=run["repetition"],
        repetitions=[
            {"number": one["repetition"], "href": one["page"].removeprefix(here)}
            for one in all_runs
            if one["arm"] == run["arm"]
        ],
        headline=_headline(site, run),
        facts=list(_facts(run)),
        tables=[
            _table_values(table, cells.get(table["table_slug"], []), grades, scripts)
            for table in tables
        ],
        files=[
            {
                "href": one["page"].removeprefix(here),
                "path": one["path"].removeprefix("workspace/"),
                "said": f"{one['size']:,} bytes",
            }
            for one in written
        ],
    )


def _headline(site: _Site, run: Record) -> Record:
    if run["score"] is None:
        said = (
            f"No grade over tables whose values were {_truth_said(site.board.truth)}; the run "
            f"ended as {str(run['status']).replace('_', ' ')}."
        )
        return {"letter": None, "said": said}
    said = (
        f"Score {_number(run['score'])} of 5 under {_rule_said(site.board.rule)}, over tables "
        f"whose values were {_truth_said(site.board.truth)}."
    )
    return {"letter": run["grade"], "said": said}


def _facts(run: Record) -> Iterator[tuple[str, str]]:
    yield "Run ended", str(run["status"]).replace("_", " ")
    if run["wall_seconds"] is not None:
        yield "Time", _duration(run["wall_seconds"])
    yield "Isolation", str(run["isolation"] or "unknown")
    if run["coverage"] is not None:
        yield "Coverage", _percent(run["coverage"])
    if run["seed"] is not None:
        yield "Seed", str(run["seed"])
    if run["calls"] is not None:
        yield "Model calls", f"{run['calls']:,}"
    if run["cost_usd"] is not None:
        yield "Cost", f"${run['cost_usd']:.2f}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _table_values(
    table: Record,
    cells: list[Record],
    grades: Mapping[str, Record],
    scripts: Mapping[str, Record],
) -> Record:
    slug = table["table_slug"]
    grade = grades.get(slug)
    published = printed_table(table, cells, reproduced=False)
    return {
        "slug": slug,
        "id": table["table_id"],
        "caption": table["caption"],
        "notes": table["notes"],
        "truth": table["truth"] or table["truth_kind"] or "seen",
        "letter": grade["grade"] if grade else None,
        "said": _tally(cells, grade),
        "script": scripts.get(slug),
        "problems": grade["problems"] if grade else [],
        "published": published,
        "reproduced": printed_table(table, cells, reproduced=True),
        "is_wide": len(published.widths) >= _WIDE_FROM,
    }


def _tally(cells: Iterable[Record], grade: Record | None) -> str:
    letters = [cell["grade"] for cell in cells if cell["is_graded"] and cell["value"] is not None]
    counts = [f"{letters.count(letter)} {letter}" for letter in LETTERS if letter in letters]
    said = f"{len(letters)} results"
    if counts:
        said += ": " + ", ".join(counts)
    if grade and grade["rescaled_cells"]:
        said += f" · {grade['rescaled_cells']} rescaled"
    if grade and grade["weak_cells"]:
        said += f" · {grade['weak_cells']} printed too coarsely to tell much"
    return said


def _write_files(site: _Site, paper: Record, run: Record) -> Iterator[Record]:
    folder = run["page"].removesuffix(".html")
    back = run["page"].rsplit("/", 1)[1]
    for place, one in enumerate(scripts_of(site.connection, run["run_id"]), start=1):
        name = one["path"].removeprefix("workspace/")
        page = f"{folder}/{place:02d}-{_slug(name)}.html"
        site.write(
            page,
            "script.html.j2",
            paper=paper,
            arm=run["arm"],
            back=f"../{back}",
            name=name,
            kind={"script": "Script", "notes": "Notes", "log": "Log"}[one["kind"]],
            size=f"{one['size']:,}",
            sha256=one["sha256"],
            truncated=one["truncated"],
            lines=one["content"].splitlines(),
        )
        yield one | {"page": page}
