"""Speed of the grading kernel: a million cells, three sizes, and against a plain loop.

Run by hand or by `make bench`: prints figures and ratios, asserts no time.
"""

import random
import resource
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "grade")]

import oracle  # noqa: E402

from data.records.metrics import Metric  # noqa: E402
from grade import grade_tables, load_rubric  # noqa: E402
from grade.columns import METRIC_CODES, PublishedColumns, ReproducedColumns  # noqa: E402

ROWS, COLUMNS = 12, 5
CELLS = ROWS * COLUMNS
ROW_METRICS = ["coefficient", "standard_error"] * 4 + ["p_value", "mean", "r_squared", "n_obs"]
LOOP_TABLES = 200


def columns(n_tables, seed=1):
    """Tables of 60 cells: four estimates with standard errors and four statistics, by 5."""
    generator = np.random.default_rng(seed)
    n = n_tables * CELLS
    table = np.repeat(np.arange(n_tables), CELLS)
    row = np.tile(np.repeat(np.arange(ROWS), COLUMNS), n_tables)
    col = np.tile(np.arange(COLUMNS), n_tables * ROWS)
    metric = np.array([METRIC_CODES[Metric(name)] for name in ROW_METRICS])[row]
    value = np.round(generator.lognormal(0, 1.5, n), 3)
    value = np.where(
        metric == METRIC_CODES[Metric.P_VALUE], np.round(generator.random(n), 3), value
    )
    counts = metric == METRIC_CODES[Metric.N_OBS]
    value = np.where(counts, generator.integers(100, 9999, n), value)
    errors = metric == METRIC_CODES[Metric.STANDARD_ERROR]
    estimate = np.where(errors, np.arange(n) - COLUMNS, np.arange(n))
    labels = np.array([f"Row {number}" for number in range(ROWS)], dtype=object)[row]
    heads = np.array([f"({number + 1})" for number in range(COLUMNS)], dtype=object)[col]
    panel = np.full(n, "", dtype=object)
    zeros = np.zeros(n, dtype=np.int64)
    published = PublishedColumns(
        n_tables=n_tables,
        table=table,
        row=row,
        col=col,
        part=zeros,
        metric=metric,
        value=value,
        decimals=np.where(counts, 0, 3),
        stars=zeros - 1,
        estimate=estimate,
        unit=zeros,
        bound=zeros,
        truncated=zeros.astype(bool),
        row_label=labels,
        col_label=heads,
        panel=panel,
    )
    noise = np.exp(generator.normal(0, 0.1, n))
    power = np.where(generator.random(n_tables) < 0.1, 2.0, 0.0)[table]
    given = np.where(counts, value, value * noise * 10.0**power)
    given[generator.random(n) < 0.05] = np.nan
    order = np.lexsort((generator.random(n), table))
    reproduced = ReproducedColumns(
        table=table[order],
        row=row[order],
        col=col[order],
        part=zeros,
        value=given[order],
        reason=zeros,
        metric=metric[order],
        stars=zeros - 1,
        of_row=zeros - 1,
        of_col=zeros - 1,
        of_part=zeros - 1,
        row_label=labels[order],
        col_label=heads[order],
        panel=panel[order],
    )
    return published, reproduced


def loop(published, reproduced, rules):
    """The plain loop over cells, table by table: aligns, rescales and grades with the oracle."""
    names = [metric.value for metric in Metric]
    for table in range(published.n_tables):
        ours = np.flatnonzero(published.table == table)
        theirs = np.flatnonzero(reproduced.table == table)
        pairs = [
            ((int(reproduced.row[k]), int(reproduced.col[k])), float(reproduced.value[k]))
            for k in theirs
        ]
        keys = [(int(published.row[k]), int(published.col[k])) for k in ours]
        aligned = oracle.align_by_key(keys, pairs)
        first = int(ours[0])
        for rule in rules:
            cells = [
                oracle.Cell(
                    names[published.metric[k]],
                    float(published.value[k]),
                    int(published.decimals[k]),
                    aligned[key],
                    row=key[0],
                    col=key[1],
                    of=int(published.estimate[k]) - first if published.estimate[k] != k else None,
                )
                for k, key in zip(ours, keys, strict=True)
            ]
            oracle.grade(cells, rule)


def plain_loop(published, reproduced):
    """A loop over cells in plain floats, the quickest that one would write: kohler2026 raw."""
    by_key = {}
    for k in range(len(reproduced.value)):
        key = (int(reproduced.table[k]), int(reproduced.row[k]), int(reproduced.col[k]))
        by_key[key] = float(reproduced.value[k])
    pairs_of = {}
    for k in range(len(published.value)):
        key = (int(published.table[k]), int(published.row[k]), int(published.col[k]))
        value = by_key.get(key)
        pairs_of.setdefault(key[0], []).append((float(published.value[k]), value))
    letters = []
    for pairs in pairs_of.values():
        ratios = sorted(r / p for p, r in pairs if r is not None and r == r and abs(p) > 1e-10)
        factor = 1.0
        if ratios:
            middle = abs(ratios[len(ratios) // 2])
            if middle > 1e-10:
                log = np.log10(middle)
                if round(log) and abs(log - round(log)) < 0.15:
                    factor = 10.0 ** -round(log)
        letters += [plain_letter(p, r, factor) for p, r in pairs]
    return letters


def plain_letter(p, r, factor):
    if r is None or r != r:
        return "F"
    r *= factor
    if p == 0 and r == 0:
        return "A"
    if p * r < 0:
        return "E"
    if abs(p) < 0.001:
        x, cuts = abs(r - p), (0.002, 0.02, 0.05, 0.1)
    else:
        x, cuts = abs(r - p) / abs(p) * 100, (2, 20, 40, 60)
    for letter, cut in zip("ABCD", cuts, strict=True):
        if x < cut * (1 - 1e-9):
            return letter
    return "E"


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main():
    random.seed(1)
    kohler, printed = load_rubric("kohler2026"), load_rubric("printed")
    grade_tables(printed, *columns(10))
    for rubric in (kohler, printed):
        names = ", ".join(rule.name for rule in rubric.cell_rules)
        print(f"{rubric.name} ({names})")
        for cells in (250_000, 500_000, 1_000_000):
            pair = columns(-(-cells // CELLS))
            took = seconds(lambda pair=pair, rubric=rubric: grade_tables(rubric, *pair))
            n = len(pair[0].value)
            print(f"  {n:>9,} cells: {took:6.2f} s, {1e6 * took / n:5.2f} us a cell")
        small = columns(LOOP_TABLES)
        rules = [rule.name for rule in rubric.cell_rules]
        slow = seconds(lambda small=small, rules=rules: loop(*small, rules)) / len(small[0].value)
        print(f"  oracle loop: {1e6 * slow:.0f} us a cell, {slow * n / took:.0f} times the kernel")
    published, reproduced = columns(LOOP_TABLES * 10)
    slow = seconds(lambda: plain_loop(published, reproduced)) / len(published.value)
    raw = type(kohler)(
        **{name: getattr(kohler, name) for name in kohler.__slots__}
        | {"cell_rules": kohler.cell_rules[:1], "headline": ("raw", "non_f")}
    )
    pair = columns(-(-1_000_000 // CELLS))
    took = seconds(lambda: grade_tables(raw, *pair)) / len(pair[0].value)
    print(f"one cell rule, raw: kernel {1e6 * took:.2f} us, plain float loop {1e6 * slow:.2f} us")
    print(f"  {slow / took:.1f} times; the loop computes the letter alone")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB, inputs included")


if __name__ == "__main__":
    main()
