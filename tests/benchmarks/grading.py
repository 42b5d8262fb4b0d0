"""Speed of the grading kernel: a million cells, three sizes, and against a plain loop.

Run by hand or by `make bench`: prints figures and ratios, asserts no time.
"""

import math
import resource
import sys
import time
from decimal import ROUND_HALF_UP, Decimal
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
    """The loop that one would write first: dictionaries, floats, Decimal where it rounds.

    Does what the kernel does under kohler2026: aligns, rescales, three letters with and
    without rescaling, deviations in percent, standard errors and units, signs.
    """
    by_key = {}
    for k in range(len(reproduced.value)):
        key = (int(reproduced.table[k]), int(reproduced.row[k]), int(reproduced.col[k]))
        by_key[key] = None if key in by_key else float(reproduced.value[k])
    tables = {}
    errors = {}
    for k in range(len(published.value)):
        key = (int(published.table[k]), int(published.row[k]), int(published.col[k]))
        value = by_key.get(key)
        known = value if value is not None and math.isfinite(value) else None
        if int(published.estimate[k]) != k:
            errors[int(published.estimate[k])] = float(published.value[k])
        cell = (k, float(published.value[k]), int(published.decimals[k]), known)
        tables.setdefault(key[0], []).append(cell)
    graded = []
    for cells in tables.values():
        factor = plain_factor([(p, r) for _, p, _, r in cells])
        for k, p, decimals, r in cells:
            graded.append(plain_cell(p, decimals, r, factor, errors.get(k)))
    return graded


def plain_factor(pairs):
    ratios = sorted(r / p for p, r in pairs if r is not None and abs(p) > 1e-10)
    middle = abs(ratios[len(ratios) // 2]) if ratios else 0.0
    if middle <= 1e-10:
        return 1.0
    log = math.log10(middle)
    return 10.0 ** -round(log) if round(log) and abs(log - round(log)) < 0.15 else 1.0


def plain_cell(p, decimals, r, factor, error):
    if r is None:
        return ("F",) * 6
    after = r * factor
    shortest = max(0, -Decimal(repr(p)).normalize().as_tuple().exponent)
    letters = [plain_letter(p, after), plain_letter(p, r)]
    for places in (decimals, shortest):
        near = plain_rounded(p, places)
        letters.append(plain_letter(near, plain_rounded(after, places)))
        letters.append(plain_letter(near, plain_rounded(r, places)))
    percent = 100 * (after - p) / abs(p) if p else None
    in_se = abs(after - p) / error if error else None
    units = (after - p) * 10**decimals
    agrees = (after > 0) == (p > 0) if after and p else None
    return (*letters, percent, in_se, units, agrees, 0.5 / 10**decimals > 0.02 * abs(p))


def plain_rounded(value, places):
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))


def plain_letter(p, r):
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


def seconds(call, times=1):
    """Wall and processor seconds of a call, the quickest of some: other programs only add."""
    measured = []
    for _ in range(times):
        wall, processor = time.perf_counter(), time.process_time()
        call()
        measured.append((time.perf_counter() - wall, time.process_time() - processor))
    return min(wall for wall, _ in measured), min(processor for _, processor in measured)


def main():
    kohler, printed = load_rubric("kohler2026"), load_rubric("printed")
    grade_tables(printed, *columns(10))
    per_cell = {}
    for rubric in (kohler, printed):
        names = ", ".join(rule.name for rule in rubric.cell_rules)
        print(f"{rubric.name} ({names})")
        for cells in (250_000, 500_000, 1_000_000):
            pair = columns(-(-cells // CELLS))
            wall, processor = seconds(
                lambda pair=pair, rubric=rubric: grade_tables(rubric, *pair), times=3
            )
            n = len(pair[0].value)
            per_cell[rubric.name] = processor / n
            print(
                f"  {n:>9,} cells: {wall:5.2f} s, processor {processor:5.2f} s, "
                f"{1e6 * processor / n:5.2f} us a cell"
            )
    published, reproduced = columns(LOOP_TABLES)
    n = len(published.value)
    for rubric in (kohler, printed):
        rules = [rule.name for rule in rubric.cell_rules]
        slow = seconds(lambda rules=rules: loop(published, reproduced, rules))[1] / n
        ratio = slow / per_cell[rubric.name]
        print(
            f"oracle loop, {rubric.name}: {1e6 * slow:.0f} us a cell, {ratio:.0f} times the kernel"
        )
    slow = seconds(lambda: plain_loop(published, reproduced), times=3)[1] / n
    ratio = slow / per_cell[kohler.name]
    print(f"plain loop, {kohler.name}: {1e6 * slow:.1f} us a cell, {ratio:.0f} times the kernel")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB, inputs included")


if __name__ == "__main__":
    main()
