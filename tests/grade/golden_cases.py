"""Reads the golden matrix, and grades one case of it. Used by the tests and by the mutations."""

import csv
from functools import cache
from pathlib import Path

CASES = list(
    csv.DictReader(
        (Path(__file__).parent / "golden.csv").read_text(encoding="utf-8").splitlines(),
        delimiter=";",
    )
)


@cache
def cell_rule(name):
    """Cell rule of that name, and the slack of its rubric."""
    from grade.rubrics import load_rubric

    rubric = load_rubric("printed" if name == "interval" else "kohler2026")
    return next(rule for rule in rubric.cell_rules if rule.name == name), rubric.slack


def letter_of(case):
    """Letter that the package gives to a case of the matrix."""
    import numpy as np

    from data.records.metrics import Metric
    from grade.columns import METRIC_CODES, PublishedColumns
    from grade.rules import grade_cells, interval_widths

    rule, slack = cell_rule(case["rule"])
    metric = Metric(case["metric"])
    metrics, values, estimates = [metric], [float(case["published"])], [0]
    if case["extra"].startswith("width="):
        width = float(case["extra"].removeprefix("width="))
        is_lower = metric is Metric.CI_LOWER
        metrics += [Metric.CI_UPPER if is_lower else Metric.CI_LOWER, Metric.COEFFICIENT]
        values += [values[0] + (width if is_lower else -width), 1.0]
        estimates = [2, 2, 2]
    n = len(values)
    zeros = np.zeros(n, dtype=np.int64)
    labels = np.array([""] * n, dtype=object)
    published = PublishedColumns(
        n_tables=1,
        table=zeros,
        row=np.arange(n),
        col=zeros,
        part=zeros,
        metric=np.array([METRIC_CODES[entry] for entry in metrics]),
        value=np.array(values),
        decimals=np.full(n, len(case["published"].partition(".")[2])),
        stars=zeros - 1,
        estimate=np.array(estimates),
        unit=zeros + (case["extra"] == "percent"),
        bound=zeros - (case["extra"] == "less"),
        truncated=np.full(n, case["extra"] == "truncate"),
        row_label=labels,
        col_label=labels,
        panel=labels,
    )
    reproduced = np.full(n, float(case["reproduced"] or "nan"))
    standard_error = np.full(n, float(case["se"] or "nan"))
    graded = grade_cells(
        rule, published, reproduced, standard_error, interval_widths(published), slack
    )
    return "ABCDEF"[graded.letter[0]]


def oracle_cell(oracle, case):
    """The case as a cell of the oracle."""
    extra = case["extra"]
    cell = oracle.Cell(
        case["metric"],
        float(case["published"]),
        len(case["published"].partition(".")[2]),
        float(case["reproduced"]) if case["reproduced"] else None,
        unit="percent" if extra == "percent" else None,
        bound=-1 if extra == "less" else 0,
        truncate=extra == "truncate",
    )
    cell.se = oracle.exact(float(case["se"])) if case["se"] else None
    if extra.startswith("width="):
        cell.width = oracle.exact(float(extra.removeprefix("width=")))
    return cell


__all__ = ["CASES", "letter_of", "oracle_cell"]
