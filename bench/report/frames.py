"""Tidy frames of the report's figures: numbers only, nothing is drawn here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from bench.leaderboard import Leaderboard, Rule, Truth
from data.store.read import frame

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

__all__ = ["DISTANCES", "deviation_curves", "sign_frame"]

DISTANCES: Final[NDArray[np.float64]] = np.unique(
    np.append(np.logspace(-3, 1, 161), 1.96),
)
"""Where the curve of SE-scaled deviations is read, in published standard errors."""

_DEVIATIONS: Final = """
SELECT r.arm, r.arm_kind, r.paper_id, abs(g.deviation_se) AS distance
FROM ended_runs r
JOIN expected_cells e USING (paper_id)
LEFT JOIN (SELECT * FROM cell_grades WHERE rubric = $rubric AND cell_rule = $cell_rule) g
    USING (run_id, table_slug, "row", col, part)
WHERE e.published_se IS NOT NULL AND ($truth = 'all' OR e.truth_kind = $truth)
ORDER BY ALL
"""


def deviation_curves(
    connection: duckdb.DuckDBPyConnection,
    rule: Rule,
    truth: Truth,
) -> pd.DataFrame:
    """Cumulative share of estimates by their distance from print, in published standard errors.

    Returns
    -------
    pandas.DataFrame
        arm, arm_kind, distance (of `DISTANCES`), share. The share is of all expected estimates
        that have a standard error in print; a missing one never arrives, so a curve may end
        below 1. Papers count equally. At 1.96 it is the leaderboard's share within 1.96.
    """
    import pandas as pd

    cells = frame(
        connection,
        _DEVIATIONS,
        {"rubric": rule.rubric, "cell_rule": rule.cell_rule, "truth": truth},
    )
    curves = []
    for (arm, kind), own in cells.groupby(["arm", "arm_kind"], sort=True):
        papers = [
            np.searchsorted(np.sort(values[np.isfinite(values)]), DISTANCES, side="right")
            / values.size
            for _, values in _by_paper(own)
        ]
        curves.append(
            pd.DataFrame(
                {
                    "arm": arm,
                    "arm_kind": kind,
                    "distance": DISTANCES,
                    "share": np.mean(papers, axis=0),
                },
            ),
        )
    columns = ["arm", "arm_kind", "distance", "share"]
    return pd.concat(curves, ignore_index=True) if curves else pd.DataFrame(columns=columns)


def _by_paper(cells: pd.DataFrame) -> list[tuple[str, NDArray[np.float64]]]:
    groups = cells.groupby("paper_id", sort=True)["distance"]
    return [(str(paper), values.to_numpy(dtype=float)) for paper, values in groups]


def sign_frame(board: Leaderboard) -> pd.DataFrame:
    """Sign agreement of every arm, over produced and over expected coefficients.

    Returns
    -------
    pandas.DataFrame
        arm, kind, produced, expected, low, high (interval of `expected`), all_positive (what an
        arm of positive numbers only would reach over the expected ones); rank order kept.
    """
    shares = board.shares[board.shares["share"].isin(["sign_agreement", "all_positive"])]
    named = shares.set_index(["arm", "share", "denominator"])
    rows = board.rows[["arm", "kind"]].copy()

    def column(share: str, denominator: str, field: str) -> list[float]:
        keys = [(arm, share, denominator) for arm in rows["arm"]]
        return [float(named.loc[key, field]) if key in named.index else np.nan for key in keys]

    rows["produced"] = column("sign_agreement", "produced", "estimate")
    rows["expected"] = column("sign_agreement", "expected", "estimate")
    rows["low"] = column("sign_agreement", "expected", "low")
    rows["high"] = column("sign_agreement", "expected", "high")
    rows["all_positive"] = column("all_positive", "expected", "estimate")
    return rows[rows["expected"].notna()].reset_index(drop=True)
