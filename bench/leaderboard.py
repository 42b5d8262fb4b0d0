"""Leaderboard frames, read from a store.

The unit is the paper: repetitions are averaged within a paper, papers count equally, intervals
run over papers. Every share has three denominators. `produced` are the cells that the run filled;
`expected` all result cells of the papers that the arm was run on, where missing cells and failures
of the machine count as missed; `expected_without_infra` leaves out runs that the machine failed.

Grades are the grader's own, taken per kind of truth, so that a headline rests on tables that were
read in print alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bench.intervals import Interval, level_interval, paired_contrast
from data.records.errors import UserError
from data.store.read import frame

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

__all__ = [
    "DENOMINATORS",
    "LETTERS",
    "SHARES",
    "Denominator",
    "Leaderboard",
    "Rule",
    "Truth",
    "arm_contrasts",
    "leaderboard",
    "letter_of",
    "metric_grades",
    "paper_scores",
    "rules_of",
    "run_measures",
    "share_rows",
    "table_scores",
    "usual_truth",
]

Truth = Literal["seen", "recalled", "all"]
Denominator = Literal["produced", "expected", "expected_without_infra"]
DENOMINATORS: Final[tuple[Denominator, ...]] = get_args(Denominator)
LETTERS: Final = ("A", "B", "C", "D", "E", "F")
_CUTS: Final = ((4.5, "A"), (3.5, "B"), (2.5, "C"), (1.5, "D"), (0.5, "E"))
HIGHEST_SCORE: Final = 5.0
NORMAL_975: Final = 1.96

SHARES: Final[dict[str, tuple[str, str]]] = {
    "share_a": ("n_a", "cells"),
    "wrong": ("n_wrong", "cells"),
    "rescaled": ("n_rescaled", "cells"),
    "sign_agreement": ("n_sign_agrees", "signs"),
    "all_positive": ("n_positive", "signs"),
    "within_se": ("n_within", "scaled"),
    "within_se_significant": ("n_within_significant", "scaled_significant"),
    "tables_ab": ("n_tables_ab", "tables"),
    "tables_rescaled": ("n_tables_rescaled", "tables"),
}
"""Share -> (its numerator, what it is a share of)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A way of grading: rubric, cell rule, roll-up."""

    rubric: str
    cell_rule: str
    roll_up: str

    def __str__(self) -> str:
        return f"{self.rubric} {self.cell_rule} {self.roll_up}"


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """What `leaderboard` gives.

    Attributes
    ----------
    rows : pandas.DataFrame
        One row an arm, best first within contestants and references, then self-test arms, then
        baselines.
    shares : pandas.DataFrame
        One row an arm, share and denominator, with counts and interval.
    papers : pandas.DataFrame
        One row an arm and paper: score, letter, coverage, runs.
    rule, beside : Rule
        The headline's rule and the one shown beside it.
    truth : str
    """

    rows: pd.DataFrame
    shares: pd.DataFrame
    papers: pd.DataFrame
    rule: Rule
    beside: Rule
    truth: Truth


def letter_of(score: float | None) -> str | None:
    """Letter of a score on the scale from 0 to 5, cut at 4.5, 3.5, 2.5, 1.5 and .5 inclusive."""
    if score is None or np.isnan(score):
        return None
    return next((letter for cut, letter in _CUTS if score >= cut * (1 - 1e-9)), "F")


def rules_of(connection: duckdb.DuckDBPyConnection, rubric: str) -> tuple[Rule, Rule]:
    """Headline rule of a rubric, and the rule shown beside it.

    ``kohler2026`` has raw + non_f beside its headline, as its published appendix describes;
    another rubric has the last of its own in name order.

    Raises
    ------
    UserError
        When the store holds no grade under the rubric.
    """
    found = connection.execute(
        "SELECT cell_rule, roll_up, bool_or(is_headline) FROM paper_grades "
        "WHERE rubric = ? GROUP BY ALL ORDER BY ALL",
        [rubric],
    ).fetchall()
    if not found:
        known = connection.execute("SELECT DISTINCT rubric FROM paper_grades ORDER BY ALL")
        names = ", ".join(str(row[0]) for row in known.fetchall()) or "none"
        raise UserError(f"no grades under rubric {rubric!r}; the store has {names}")
    rules = [Rule(rubric, str(cell_rule), str(roll_up)) for cell_rule, roll_up, _ in found]
    headline = next((rule for rule, row in zip(rules, found, strict=True) if row[2]), rules[0])
    beside = Rule(rubric, "raw", "non_f")
    return headline, beside if beside in rules else rules[-1]


_GROUPS: Final = {
    "paper": "arm, paper_id, run_id",
    "table": "arm, paper_id, table_slug, run_id",
    "metric": "arm, paper_id, metric, run_id",
}

_MEASURES: Final = """
WITH graded AS (
    SELECT * FROM cell_grades WHERE rubric = $rubric AND cell_rule = $cell_rule
),
joined AS (
    SELECT
        r.run_id, r.arm, r.arm_kind, r.repetition, r.infrastructure_failed, r.graded, e.*,
        coalesce(g.grade, 'F') AS grade, g.factor, g.sign_agrees,
        abs(g.deviation_se) AS deviation_se,
        e.metric = 'coefficient' AND e.value <> 0 AS has_sign,
        abs(e.value) >= 1.96 * e.published_se AS is_significant
    FROM ended_runs r
    JOIN expected_cells e USING (paper_id)
    LEFT JOIN graded g USING (run_id, table_slug, "row", col, part)
    WHERE $truth = 'all' OR e.truth_kind = $truth
)
SELECT
    {group}, any_value(arm_kind) AS arm_kind, any_value(repetition) AS repetition,
    any_value(infrastructure_failed) AS infrastructure_failed, any_value(graded) AS graded,
    count(*) AS expected_cells,
    count(*) FILTER (grade <> 'F') AS produced_cells,
    count(*) FILTER (in_completion) AS completion_expected,
    count(*) FILTER (in_completion AND grade <> 'F') AS completion_produced,
    {letters},
    count(*) FILTER (grade IN ('D', 'E')) AS n_wrong,
    count(*) FILTER (grade <> 'F' AND factor <> 1) AS n_rescaled,
    count(*) FILTER (has_sign) AS expected_signs,
    count(*) FILTER (has_sign AND sign_agrees IS NOT NULL) AS produced_signs,
    count(*) FILTER (has_sign AND sign_agrees) AS n_sign_agrees,
    count(*) FILTER (has_sign AND value > 0) AS n_positive,
    count(*) FILTER (has_sign AND value > 0 AND sign_agrees IS NOT NULL) AS n_positive_produced,
    count(*) FILTER (published_se IS NOT NULL) AS expected_scaled,
    count(*) FILTER (published_se IS NOT NULL AND deviation_se IS NOT NULL) AS produced_scaled,
    count(*) FILTER (published_se IS NOT NULL AND deviation_se <= 1.96) AS n_within,
    count(*) FILTER (is_significant) AS expected_scaled_significant,
    count(*) FILTER (is_significant AND deviation_se IS NOT NULL)
        AS produced_scaled_significant,
    count(*) FILTER (is_significant AND deviation_se <= 1.96) AS n_within_significant
FROM joined GROUP BY {group} ORDER BY {group}
"""


def run_measures(
    connection: duckdb.DuckDBPyConnection,
    rule: Rule,
    truth: Truth,
    by: Literal["paper", "table", "metric"] = "paper",
) -> pd.DataFrame:
    """Count the cells of every ended run, by paper, table or metric.

    Returns
    -------
    pandas.DataFrame
        One row a run (and table or metric): ``expected_*`` and ``produced_*`` counts and the
        numerators of `SHARES`. Cells without a grade count as missing.
    """
    letters = ", ".join(f"count(*) FILTER (grade = '{one}') AS n_{one.lower()}" for one in LETTERS)
    sql = _MEASURES.format(group=_GROUPS[by], letters=letters)
    values = {"rubric": rule.rubric, "cell_rule": rule.cell_rule, "truth": truth}
    return frame(connection, sql, values)


_TABLE_SCORES: Final = """
SELECT
    r.arm, r.arm_kind, r.run_id, r.repetition, r.paper_id, g.table_slug, t.position,
    g.truth, g.grade, g.score, g.n_expected, g.n_produced,
    g.rescaled_cells, g.weak_cells, g.factor, g.aligned_by, g.source, g.problems
FROM table_grades g
JOIN ended_runs r USING (run_id)
JOIN tables t USING (paper_id, table_slug)
WHERE g.rubric = $rubric AND g.cell_rule = $cell_rule AND g.roll_up = $roll_up
    AND g.truth = $truth
ORDER BY r.arm, r.paper_id, t.position, r.repetition
"""

_RUN_SCORES: Final = """
SELECT r.arm, r.arm_kind, r.run_id, r.repetition, r.paper_id, g.grade, g.score
FROM paper_grades g
JOIN ended_runs r USING (run_id)
WHERE g.rubric = $rubric AND g.cell_rule = $cell_rule AND g.roll_up = $roll_up
    AND g.truth = $truth AND g.score IS NOT NULL AND NOT r.infrastructure_failed
ORDER BY r.arm, r.paper_id, r.repetition
"""


def _rule_values(rule: Rule, truth: Truth) -> dict[str, str]:
    return {
        "rubric": rule.rubric,
        "cell_rule": rule.cell_rule,
        "roll_up": rule.roll_up,
        "truth": truth,
    }


def table_scores(connection: duckdb.DuckDBPyConnection, rule: Rule, truth: Truth) -> pd.DataFrame:
    """Table grades under one rule: one row a graded run and table."""
    return frame(connection, _TABLE_SCORES, _rule_values(rule, truth))


def paper_scores(connection: duckdb.DuckDBPyConnection, rule: Rule, truth: Truth) -> pd.DataFrame:
    """Score and letter of every arm on every paper, repetitions averaged.

    Returns
    -------
    pandas.DataFrame
        arm, arm_kind, paper_id, score (0 to 5), runs, lowest, highest, letter. Only graded runs;
        a failure of the machine is never a grade.
    """
    runs = frame(connection, _RUN_SCORES, _rule_values(rule, truth))
    papers = runs.groupby(["arm", "arm_kind", "paper_id"], as_index=False, sort=True).agg(
        score=("score", "mean"),
        runs=("score", "size"),
        lowest=("score", "min"),
        highest=("score", "max"),
    )
    papers["letter"] = [letter_of(score) for score in papers["score"]]
    return papers


def _with_table_counts(measures: pd.DataFrame, tables: pd.DataFrame) -> pd.DataFrame:
    """Add table counts to the runs' measures; a run without grades has produced none."""
    per_run = (
        tables.assign(
            is_ab=tables["grade"].isin(["A", "B"]),
            is_produced=tables["n_produced"] > 0,
            is_rescaled=tables["rescaled_cells"] > 0,
        )
        .groupby("run_id", as_index=False)
        .agg(
            produced_tables=("is_produced", "sum"),
            n_tables_ab=("is_ab", "sum"),
            n_tables_rescaled=("is_rescaled", "sum"),
        )
    )
    merged = measures.merge(per_run, on="run_id", how="left")
    added = ["produced_tables", "n_tables_ab", "n_tables_rescaled"]
    merged[added] = merged[added].fillna(0).astype(int)
    return merged


def _share_of(runs: pd.DataFrame, share: str, denominator: Denominator) -> pd.DataFrame:
    numerator, of = SHARES[share]
    total = f"produced_{of}" if denominator == "produced" else f"expected_{of}"
    if share == "all_positive" and denominator == "produced":
        numerator = "n_positive_produced"
    used = runs
    if denominator == "produced":
        used = runs[runs["graded"].astype(bool)]
    elif denominator == "expected_without_infra":
        used = runs[~runs["infrastructure_failed"].astype(bool)]
    counts = used.groupby(["arm", "arm_kind", "paper_id"], as_index=False, sort=True).agg(
        numerator=(numerator, "sum"),
        denominator=(total, "sum"),
    )
    counts = counts[counts["denominator"] > 0]
    return counts.assign(share=counts["numerator"] / counts["denominator"])


def share_rows(runs: pd.DataFrame) -> pd.DataFrame:
    """Every share of every arm over the three denominators.

    Parameters
    ----------
    runs : pandas.DataFrame
        Measures of runs, table counts included.

    Returns
    -------
    pandas.DataFrame
        arm, share, denominator, estimate (mean of paper shares), low, high, papers, numerator,
        total (counts over all papers).
    """
    import pandas as pd

    rows = []
    for share in SHARES:
        for denominator in DENOMINATORS:
            papers = _share_of(runs, share, denominator)
            for arm, own in papers.groupby("arm", sort=True):
                interval = level_interval(own["share"].to_numpy(), lowest=0, highest=1)
                rows.append(
                    {
                        "arm": arm,
                        "share": share,
                        "denominator": denominator,
                        "estimate": float(own["share"].mean()),
                        "low": interval.low if interval else None,
                        "high": interval.high if interval else None,
                        "papers": len(own),
                        "numerator": int(own["numerator"].sum()),
                        "total": int(own["denominator"].sum()),
                    },
                )
    columns = [
        "arm",
        "share",
        "denominator",
        "estimate",
        "low",
        "high",
        "papers",
        "numerator",
        "total",
    ]
    return pd.DataFrame(rows, columns=columns).astype({"low": float, "high": float})


def _coverage(runs: pd.DataFrame) -> pd.DataFrame:
    """Coverage of each arm and paper: produced over expected result cells, bounds left out."""
    counted = runs.groupby(["arm", "paper_id"], as_index=False, sort=True).agg(
        produced=("completion_produced", "sum"),
        expected=("completion_expected", "sum"),
    )
    counted = counted[counted["expected"] > 0]
    return counted.assign(coverage=counted["produced"] / counted["expected"])[
        ["arm", "paper_id", "coverage"]
    ]


def arm_contrasts(papers: pd.DataFrame, arms: Sequence[str]) -> pd.DataFrame:
    """Paired contrasts of all pairs of arms on their common papers.

    Parameters
    ----------
    papers : pandas.DataFrame
        From `paper_scores`.
    arms : sequence of str
        In the order of rank; the first of a pair is the higher.

    Returns
    -------
    pandas.DataFrame
        first, second, n, n_different, n_better, n_worse, mean, low, high, p, p_holm, detectable.
        `p_holm` is adjusted for all pairs that have a p-value.
    """
    import pandas as pd

    wide = papers.pivot_table(index="paper_id", columns="arm", values="score", sort=True)
    rows = []
    for place, first in enumerate(arms):
        for second in arms[place + 1 :]:
            if first not in wide or second not in wide:
                continue
            found = paired_contrast(wide[first].to_numpy(), wide[second].to_numpy())
            rows.append(
                {
                    "first": first,
                    "second": second,
                    "n": found.n,
                    "n_different": found.n_different,
                    "n_better": found.n_better,
                    "n_worse": found.n_worse,
                    "mean": found.mean,
                    "low": found.interval.low if found.interval else None,
                    "high": found.interval.high if found.interval else None,
                    "p": found.p,
                    "detectable": found.detectable,
                },
            )
    names = [
        "first",
        "second",
        "n",
        "n_different",
        "n_better",
        "n_worse",
        "mean",
        "low",
        "high",
        "p",
        "detectable",
    ]
    frame_ = pd.DataFrame(rows, columns=names).astype(
        dict.fromkeys(["mean", "low", "high", "p", "detectable"], float),
    )
    frame_.insert(10, "p_holm", _holm(frame_["p"].to_numpy()))
    return frame_


def _holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's step-down adjustment; not-a-number entries take no part."""
    adjusted = np.full(p_values.shape, np.nan)
    order = [i for i in np.argsort(p_values, kind="stable") if np.isfinite(p_values[i])]
    running = 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, float(p_values[i]) * (len(order) - rank)))
        adjusted[i] = running
    return adjusted


def _detectable(papers: pd.DataFrame, ranked: Sequence[str]) -> dict[str, tuple[str, float | None]]:
    """For each ranked arm, the best other arm and the difference to it that would show."""
    wide = papers.pivot_table(index="paper_id", columns="arm", values="score", sort=True)
    answer: dict[str, tuple[str, float | None]] = {}
    for arm in ranked:
        rival = next((other for other in ranked if other != arm), None)
        if rival is not None:
            found = paired_contrast(wide[arm].to_numpy(), wide[rival].to_numpy())
            answer[arm] = (rival, found.detectable)
    return answer


def metric_grades(connection: duckdb.DuckDBPyConnection, rule: Rule, truth: Truth) -> pd.DataFrame:
    """Cells of every arm by metric, papers equal.

    Returns
    -------
    pandas.DataFrame
        arm, metric, papers, cells, coverage, score (0 to 5, missing cells 0), share_a, wrong:
        means over papers of paper shares of expected cells.
    """
    runs = run_measures(connection, rule, truth, by="metric")
    keys = ["arm", "arm_kind", "metric"]
    letters = [f"n_{one.lower()}" for one in LETTERS]
    counted = runs.groupby([*keys, "paper_id"], as_index=False, sort=True)[
        ["expected_cells", "produced_cells", "n_wrong", *letters]
    ].sum()
    total = counted["expected_cells"]
    shares = counted.assign(
        coverage=counted["produced_cells"] / total,
        score=counted[letters].to_numpy() @ _scores_of(connection, rule) / total,
        share_a=counted["n_a"] / total,
        wrong=counted["n_wrong"] / total,
    )
    return shares.groupby(keys, as_index=False, sort=True).agg(
        papers=("paper_id", "nunique"),
        cells=("expected_cells", "sum"),
        coverage=("coverage", "mean"),
        score=("score", "mean"),
        share_a=("share_a", "mean"),
        wrong=("wrong", "mean"),
    )


def _scores_of(connection: duckdb.DuckDBPyConnection, rule: Rule) -> NDArray[np.float64]:
    """Return what A to F count, shape (6,); not-a-number where the store has not the rubric."""
    row = connection.execute(
        "SELECT scores FROM rubrics WHERE rubric = ? ORDER BY version DESC LIMIT 1",
        [rule.rubric],
    ).fetchone()
    return np.full(len(LETTERS), np.nan) if row is None else np.asarray(row[0], dtype=float)


_ARMS: Final = """
SELECT
    a.arm, a.kind, a.scaffold, a.model, a.methods_variant, a.named,
    string_agg(DISTINCT r.isolation, ', ' ORDER BY r.isolation) AS isolation,
    count(r.run_id) AS runs,
    count(r.run_id) FILTER (r.infrastructure_failed) AS infra_failed,
    count(r.run_id) FILTER (NOT r.graded AND NOT r.infrastructure_failed) AS ungraded,
    count(DISTINCT r.repetition) AS repetitions
FROM arms a LEFT JOIN ended_runs r USING (arm)
GROUP BY ALL ORDER BY a.arm
"""

_KIND_ORDER: Final = {"contestant": 0, "reference": 0, "self_test": 1, "baseline": 2}


def leaderboard(
    connection: duckdb.DuckDBPyConnection,
    *,
    rubric: str = "kohler2026",
    truth: Truth = "seen",
    include_self_test: bool = False,
    denominator: Denominator = "expected",
) -> Leaderboard:
    """Make the leaderboard of a store.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        From `data.store.read.open_store`.
    rubric : str
        The one that ranks. The score under ``printed`` is shown beside it in any case.
    truth : {"seen", "recalled", "all"}
        Tables whose published values were read in print, recalled, or both.
    include_self_test : bool
        Whether arms that know the truth are shown.
    denominator : {"produced", "expected", "expected_without_infra"}
        Of the shares in `rows`; `shares` has all three.

    Raises
    ------
    UserError
        When the store holds no grade under the rubric.
    """
    rule, beside = rules_of(connection, rubric)
    tables = table_scores(connection, rule, truth)
    measures = run_measures(connection, rule, truth)
    counts = _expected_tables(connection, truth)
    measures = measures.merge(counts, on="paper_id", how="left")
    runs = _with_table_counts(measures, tables)
    papers = paper_scores(connection, rule, truth)
    coverage = _coverage(runs)
    papers = papers.merge(coverage, on=["arm", "paper_id"], how="left")
    shares = share_rows(runs)
    others = {
        "score_beside": paper_scores(connection, beside, truth),
        "score_printed": _printed_papers(connection, truth),
    }
    rows = _rows(frame(connection, _ARMS), papers, coverage, others)
    rows = _add_shares(rows, shares, denominator)
    if not include_self_test:
        rows = rows[rows["kind"] != "self_test"].reset_index(drop=True)
        papers = papers[papers["arm_kind"] != "self_test"].reset_index(drop=True)
        shares = shares[shares["arm"].isin(set(rows["arm"]))].reset_index(drop=True)
    rows = _add_detectable(rows, papers)
    return Leaderboard(
        rows.assign(rule=str(rule), truth=truth), shares, papers, rule, beside, truth
    )


def usual_truth(connection: duckdb.DuckDBPyConnection) -> Truth:
    """Values that a leaderboard is about: those seen in print; where there are none, the others."""
    seen = frame(connection, "SELECT count(*) AS n FROM expected_cells WHERE truth_kind = 'seen'")
    return "seen" if seen["n"].iloc[0] else "recalled"


def _expected_tables(connection: duckdb.DuckDBPyConnection, truth: Truth) -> pd.DataFrame:
    sql = (
        "SELECT paper_id, count(DISTINCT table_slug) AS expected_tables FROM expected_cells "
        "WHERE $truth = 'all' OR truth_kind = $truth GROUP BY paper_id ORDER BY paper_id"
    )
    return frame(connection, sql, {"truth": truth})


def _printed_papers(connection: duckdb.DuckDBPyConnection, truth: Truth) -> pd.DataFrame | None:
    try:
        rule, _ = rules_of(connection, "printed")
    except UserError:
        return None
    return paper_scores(connection, rule, truth)


def _rows(
    arms: pd.DataFrame,
    papers: pd.DataFrame,
    coverage: pd.DataFrame,
    others: dict[str, pd.DataFrame | None],
) -> pd.DataFrame:
    """One row an arm: score with interval, the scores beside it, coverage; ranked."""
    import pandas as pd

    levels = []
    for arm, own in papers.groupby("arm", sort=True):
        interval: Interval | None = level_interval(
            own["score"].to_numpy(), lowest=0, highest=HIGHEST_SCORE
        )
        levels.append(
            {
                "arm": arm,
                "papers": len(own),
                "score": float(own["score"].mean()),
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
            }
            | {f"papers_{letter}": int((own["letter"] == letter).sum()) for letter in LETTERS},
        )
    columns = ["arm", "papers", "score", "low", "high", *(f"papers_{one}" for one in LETTERS)]
    rows = arms.merge(pd.DataFrame(levels, columns=columns), on="arm", how="left")
    rows = rows.astype({"score": float, "low": float, "high": float})
    rows["grade"] = [letter_of(score) for score in rows["score"]]
    for name, other in others.items():
        means = {} if other is None else other.groupby("arm")["score"].mean().to_dict()
        rows[name] = rows["arm"].map(means).astype(float)
    rows["coverage"] = rows["arm"].map(coverage.groupby("arm")["coverage"].mean()).astype(float)
    counted = ["papers", *(f"papers_{one}" for one in LETTERS)]
    rows[counted] = rows[counted].fillna(0).astype(int)
    rows["_place"] = rows["kind"].map(_KIND_ORDER).fillna(0)
    rows = rows.sort_values(
        ["_place", "score", "arm"], ascending=[True, False, True], na_position="last"
    )
    return rows.drop(columns="_place").reset_index(drop=True)


def _add_shares(rows: pd.DataFrame, shares: pd.DataFrame, denominator: Denominator) -> pd.DataFrame:
    chosen = shares[shares["denominator"] == denominator]
    wide = chosen.pivot_table(index="arm", columns="share", values="estimate")
    for share in SHARES:
        values = wide[share].to_dict() if share in wide else {}
        rows[share] = rows["arm"].map(values).astype(float)
    return rows.assign(denominator=denominator)


def _add_detectable(rows: pd.DataFrame, papers: pd.DataFrame) -> pd.DataFrame:
    scored = rows[rows["kind"].isin(["contestant", "reference"]) & rows["score"].notna()]
    found = _detectable(papers, list(scored["arm"]))
    rows["rival"] = [found[arm][0] if arm in found else None for arm in rows["arm"]]
    rows["detectable"] = [found[arm][1] if arm in found else None for arm in rows["arm"]]
    return rows.astype({"detectable": float})
