"""What the pages ask of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bench.leaderboard import Rule
from data.store.read import unpack_artifact

if TYPE_CHECKING:
    import duckdb

__all__ = ["records", "run_tables", "scripts_of", "table_cells"]

Record = dict[str, Any]


def records(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    values: dict[str, object] | None = None,
) -> list[Record]:
    """Rows of an answer as dicts; NULL is None."""
    answer = connection.execute(sql, values)
    names = [str(column[0]) for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


_CELLS: Final = """
WITH letters AS (
    SELECT table_slug, "row", col, part,
        list([rubric || ' ' || cell_rule, coalesce(grade, 'no grade')] ORDER BY rubric, cell_rule)
            AS other_grades
    FROM cell_grades WHERE run_id = $run_id GROUP BY ALL
),
graded AS (
    SELECT * FROM cell_grades
    WHERE run_id = $run_id AND rubric = $rubric AND cell_rule = $cell_rule
)
SELECT
    c.*, g.grade, g.unrescued_grade, g.reason, g.reproduced_raw, g.reproduced, g.factor,
    g.deviation_pct, g.deviation_se, g.units_off, g.sign_agrees, coalesce(g.weak, false) AS weak,
    g.would_be_a_at, p.text AS reproduced_text, l.other_grades
FROM cells c
LEFT JOIN graded g USING (table_slug, "row", col, part)
LEFT JOIN letters l USING (table_slug, "row", col, part)
LEFT JOIN (SELECT * FROM reproduced_cells WHERE run_id = $run_id) p
    USING (table_slug, "row", col, part)
WHERE c.paper_id = $paper_id
ORDER BY c.table_slug, c."row", c.col, c.part
"""


def table_cells(
    connection: duckdb.DuckDBPyConnection,
    paper_id: str,
    run_id: str,
    rule: Rule,
) -> dict[str, list[Record]]:
    """Read the published cells of a paper with what a run made of them, by table.

    `other_grades` holds (rubric and rule, letter) for every rule in the store.
    """
    rows = records(
        connection,
        _CELLS,
        {
            "paper_id": paper_id,
            "run_id": run_id,
            "rubric": rule.rubric,
            "cell_rule": rule.cell_rule,
        },
    )
    cells: dict[str, list[Record]] = {}
    for row in rows:
        row["other_grades"] = [(rule, letter) for rule, letter in row["other_grades"] or ()]
        cells.setdefault(row["table_slug"], []).append(row)
    return cells


def run_tables(connection: duckdb.DuckDBPyConnection, run_id: str, rule: Rule) -> dict[str, Record]:
    """Table grades of a run under a rule, by table."""
    rows = records(
        connection,
        "SELECT * FROM table_grades WHERE run_id = $run_id AND rubric = $rubric "
        "AND cell_rule = $cell_rule AND roll_up = $roll_up AND truth = 'all' ORDER BY table_slug",
        {
            "run_id": run_id,
            "rubric": rule.rubric,
            "cell_rule": rule.cell_rule,
            "roll_up": rule.roll_up,
        },
    )
    return {row["table_slug"]: row for row in rows}


def scripts_of(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[Record]:
    """Scripts, notes and logs of a run, contents unpacked to text."""
    rows = records(
        connection,
        "SELECT path, kind, size, sha256, truncated, content FROM artifacts "
        "WHERE run_id = $run_id AND kind IN ('script', 'notes', 'log') AND size > 0 "
        "ORDER BY kind <> 'script', path",
        {"run_id": run_id},
    )
    return [row | {"content": unpack_artifact(row["content"])} for row in rows]
