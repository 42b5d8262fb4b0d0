"""Planted mistakes in the grader: each one must fail a check, and the grader as it is none.

Every mutation is one edit of a copy of the package. Its `old` text must stand exactly once in
the module, so that this file fails when the code moves on.
"""

import json
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "grade"


class Mutation(NamedTuple):
    module: str
    mistake: str
    old: str
    new: str


MUTATIONS = [
    # ----------------------------------------------------------------- rules: cuts
    Mutation(
        "rules",
        "a cut-off belongs to the better letter",
        "values < cut * (1.0 - slack)",
        "values <= cut * (1.0 + slack)",
    ),
    Mutation("rules", "no slack at a cut-off", "cut * (1.0 - slack)", "cut"),
    Mutation(
        "rules",
        "slack large enough to see",
        "cut * (1.0 - slack)",
        "cut * (1.0 - 1e5 * slack)",
    ),
    Mutation("rules", "one cut-off is left out", "for cut in cuts:", "for cut in cuts[1:]:"),
    # ----------------------------------------------------------------- rules: percent
    Mutation(
        "rules", "no rule of signs", "letter = np.where(flipped, E, letter)", "letter = letter"
    ),
    Mutation(
        "rules",
        "a reproduced zero has a sign",
        "printed * np.sign(given) < 0",
        "np.sign(printed) != np.sign(given)",
    ),
    Mutation(
        "rules",
        "near zero ends elsewhere",
        "* unit, rule.near_zero_below, slack)",
        "* unit, 1.5 * rule.near_zero_below, slack)",
    ),
    Mutation(
        "rules",
        "near zero includes its end",
        "below(np.abs(printed) * unit, rule.near_zero_below, slack)",
        "np.abs(printed) * unit <= rule.near_zero_below",
    ),
    Mutation(
        "rules",
        "near zero is cut like the rest",
        "_letters(absolute, rule.near_zero_cuts, slack)",
        "_letters(absolute, rule.cuts, slack)",
    ),
    Mutation(
        "rules",
        "percent of the reproduced value",
        "percent = 100.0 * difference / np.abs(printed)",
        "percent = 100.0 * difference / np.abs(given)",
    ),
    Mutation(
        "rules",
        "the absolute difference is counted in printed units",
        "absolute = difference * unit",
        "absolute = difference",
    ),
    Mutation(
        "rules",
        "the published value is not rounded",
        "printed = np.where(countable, printed_units(value, usable), value)",
        "printed = np.where(countable, value * powers(usable), value)",
    ),
    Mutation(
        "rules",
        "the reproduced value is not rounded",
        "given = np.where(countable, printed_units(reproduced, usable), reproduced)",
        "given = np.where(countable, reproduced * powers(usable), reproduced)",
    ),
    Mutation(
        "rules",
        "printed decimals for the notation's",
        'published.decimals if rule.rounding == "printed" else decimals_of_notation(value)',
        "published.decimals",
    ),
    Mutation(
        "rules",
        "nothing reproduced is E",
        "np.where(np.isfinite(reproduced), graded.letter, F)",
        "np.where(np.isfinite(reproduced), graded.letter, E)",
    ),
    # ----------------------------------------------------------------- rules: interval
    Mutation("rules", "a whole unit to either side", "half = unit / 2", "half = unit"),
    Mutation(
        "rules",
        "truncated print counts as rounded",
        "reach = np.where(published.truncated, unit, half)",
        "reach = half",
    ),
    Mutation(
        "rules",
        "truncated print reaches toward zero",
        "lower = np.where(published.truncated & (value > 0), value, value - reach)",
        "lower = value - reach",
    ),
    Mutation(
        "rules",
        "a printed bound is a value",
        "less, greater = published.bound < 0",
        "less, greater = published.bound < -1",
    ),
    Mutation(
        "rules",
        "half a unit more on either side is free",
        "INSIDE_SLACK: Final = 1e-9",
        "INSIDE_SLACK: Final = 0.5",
    ),
    Mutation(
        "rules",
        "the published standard error is no scale",
        "scale = np.where(with_error, np.fmax(size, standard_error), scale)",
        "scale = scale",
    ),
    Mutation(
        "rules",
        "the standard error is the only scale",
        "np.fmax(size, standard_error)",
        "standard_error",
    ),
    Mutation(
        "rules",
        "a t statistic's scale may be under 1",
        "np.maximum(size, 1.0)",
        "np.maximum(size, unit)",
    ),
    Mutation(
        "rules",
        "interval width in half",
        "INTERVAL_WIDTH_IN_SE: Final = 3.92",
        "INTERVAL_WIDTH_IN_SE: Final = 1.96",
    ),
    Mutation(
        "rules",
        "R squared near 1 has a wide scale",
        "np.minimum(proportion, 1.0 - proportion)",
        "proportion",
    ),
    Mutation(
        "rules",
        "a share in percent is not divided by 100",
        "distance = np.where(percent_share, distance / 100.0, distance)",
        "distance = distance",
    ),
    Mutation(
        "rules",
        "percent only where it is stated",
        "stated | (share & (np.abs(published.value) > 1))",
        "stated",
    ),
    Mutation(
        "rules",
        "a standard error of zero is a number like others",
        "impossible &= reproduced <= 0",
        "impossible &= reproduced < 0",
    ),
    Mutation(
        "rules",
        "counts like any number",
        "letter = np.where(counts, count_letter, letter)",
        "letter = letter",
    ),
    Mutation(
        "rules",
        "counts are not taken as integers",
        "printed_units(published, zero), printed_units(reproduced, zero)",
        "published, reproduced",
    ),
    Mutation(
        "rules",
        "a count that is nearly right is an A",
        "1 + _letters(fraction, rule.count_cuts, slack)",
        "_letters(fraction, rule.count_cuts, slack)",
    ),
    Mutation(
        "rules",
        "p-values like any number",
        "letter[places] = _letters(normal, rule.cuts, slack)",
        "pass",
    ),
    Mutation(
        "rules",
        "normal distance to the printed p, not to its interval",
        "nearest = -ndtri(interval.upper[places] / 2)",
        "nearest = -ndtri(published.value[places] / 2)",
    ),
    Mutation(
        "rules",
        "one-sided quantiles",
        "nearest = -ndtri(interval.upper[places] / 2)",
        "nearest = -ndtri(interval.upper[places])",
    ),
    Mutation(
        "rules",
        "any number is a p-value",
        "possible = (given >= 0) & (given <= 1)",
        "possible = np.isfinite(given)\n    given = np.clip(given, 0, 1)",
    ),
    # ----------------------------------------------------------------- rounding
    Mutation(
        "rounding",
        "half to even",
        "from decimal import ROUND_HALF_UP, Decimal",
        "from decimal import ROUND_HALF_EVEN as ROUND_HALF_UP, Decimal",
    ),
    Mutation("rounding", "down instead of to the nearest", "scaled + 0.5)", "scaled)"),
    Mutation(
        "rounding",
        "halves as the float has them",
        "NEAR_HALF: Final = 1e-6",
        "NEAR_HALF: Final = 0.0",
    ),
    Mutation(
        "rounding",
        "the sign is lost",
        "np.copysign(units, values)",
        "units",
    ),
    # ----------------------------------------------------------------- rescaling
    Mutation(
        "rescaling",
        "the lower middle ratio",
        "np.partition(block, length // 2, axis=1)[:, length // 2]",
        "np.sort(block, axis=1)[:, (length - 1) // 2]",
    ),
    Mutation(
        "rescaling",
        "ratios sorted by size",
        "_upper_medians(ratio, count)",
        "_upper_medians(np.abs(ratio), count)",
    ),
    Mutation(
        "rescaling",
        "a reproduced zero is no pair",
        "& (np.abs(published.value) > NEAR_NOTHING)",
        "& (np.abs(published.value) > NEAR_NOTHING) & (reproduced != 0)",
    ),
    Mutation(
        "rescaling",
        "natural logarithm",
        "exponent = np.log10(np.where(usable, median, 1.0))",
        "exponent = np.log(np.where(usable, median, 1.0))",
    ),
    Mutation(
        "rescaling",
        "a wider window around a power",
        "below(np.abs(exponent - power), rule.tolerance, slack)",
        "below(np.abs(exponent - power), rule.tolerance + 0.005, slack)",
    ),
    Mutation(
        "rescaling",
        "the window's end on the scale of ratios",
        "below(np.abs(exponent - power), rule.tolerance, slack)",
        "below(np.abs(median / 10.0**power - 1), rule.tolerance, slack)",
    ),
    Mutation(
        "rescaling",
        "scaled the wrong way",
        "np.where(power[moved] > 0,",
        "np.where(power[moved] < 0,",
    ),
    Mutation(
        "rescaling",
        "counts are rescaled too",
        "candidate = metric_mask(published.metric, UNIT_METRICS) & (published.unit == 0)",
        "candidate = published.unit == 0",
    ),
    Mutation(
        "rescaling",
        "a stated unit is rescaled too",
        "candidate = metric_mask(published.metric, UNIT_METRICS) & (published.unit == 0)",
        "candidate = metric_mask(published.metric, UNIT_METRICS)",
    ),
    Mutation(
        "rescaling",
        "coarse print tells as much as fine",
        "telling = candidate & fine & (value != 0)",
        "telling = candidate & (value != 0)",
    ),
    Mutation(
        "rescaling",
        "shares by any power",
        "allowed &= ~shares | (np.abs(power) == SHARE_POWER)",
        "pass",
    ),
    Mutation(
        "rescaling",
        "an estimate and its standard error count twice",
        "& (n_estimates >= rule.min_estimates)",
        "& (count >= rule.min_estimates)",
    ),
    Mutation(
        "rescaling",
        "the share at the power must be exceeded",
        "& (at_power >= rule.share_at_power * count * (1 - slack))",
        "& (at_power > rule.share_at_power * count * (1 + slack))",
    ),
    Mutation(
        "rescaling",
        "a factor found twice is applied twice",
        "log_ratio -= found",
        "log_ratio -= 0 * found",
    ),
    # ----------------------------------------------------------------- tables
    Mutation(
        "tables",
        "rounding before rescaling",
        "rescaled = scaled_by_power(raw, power)",
        "rescaled = scaled_by_power(np.round(raw, 2), power)",
    ),
    Mutation(
        "tables",
        "no rescaling",
        "rescaled = scaled_by_power(raw, power)",
        "rescaled = raw",
    ),
    Mutation(
        "tables",
        "the reproduced standard error is the scale",
        "standard_error = published_standard_errors(published)",
        "import dataclasses\n"
        "    standard_error = published_standard_errors("
        "dataclasses.replace(published, value=raw))",
    ),
    Mutation(
        "tables",
        "a standard error in another unit",
        "linked = (estimate != places) & (published.unit[estimate] == published.unit[places])",
        "linked = estimate != places",
    ),
    Mutation(
        "tables",
        "F counts in non_f",
        "counts = counts & (letters != F)",
        "counts = counts",
    ),
    Mutation(
        "tables",
        "what every arm misses counts",
        "counts = counts & ~left_out",
        "counts = counts",
    ),
    Mutation(
        "tables",
        "a score must exceed the cut of its letter",
        "letters += below(scores, cut, rubric.slack)",
        "letters += scores <= cut",
    ),
    Mutation(
        "tables",
        "a table of F only has no grade",
        "score = np.where((number == 0) & any_cell, scores[F], score)",
        "score = score",
    ),
    Mutation(
        "tables",
        "weak by a whole unit",
        "weak=unit / 2 > rubric.weak_share",
        "weak=unit > rubric.weak_share",
    ),
    Mutation(
        "tables",
        "weak at exactly 2 percent",
        "np.abs(published.value) * (1 + rubric.slack)",
        "np.abs(published.value) * (1 - rubric.slack)",
    ),
    Mutation(
        "tables",
        "the deviation loses its sign",
        "deviation_pct=100.0 * difference / size",
        "deviation_pct=100.0 * np.abs(difference) / size",
    ),
    Mutation(
        "tables",
        "percent of the published value with its sign",
        "np.nan, np.abs(published.value))\n        unit",
        "np.nan, published.value)\n        unit",
    ),
    Mutation(
        "tables",
        "zero agrees in sign with anything",
        "np.isfinite(difference) & (rescaled != 0) & (published.value != 0)",
        "np.isfinite(difference)",
    ),
    Mutation(
        "tables",
        "a p-value's interval may lie on both sides",
        "under = below(interval.upper, level, slack)",
        "under = below(published.value, level, slack)",
    ),
    # ----------------------------------------------------------------- columns
    Mutation("columns", "`of` is ignored", "entry_of.get(of, own)", "own"),
    Mutation(
        "columns",
        "'<' is not seen",
        'if start in {"<", "\\uff1c", "\\u2264"}:',
        'if start in {"\\u2264"}:',
    ),
    Mutation(
        "columns",
        "truncation is not seen",
        'table.rounding == "truncate"',
        'table.rounding == "cut"',
    ),
    # ----------------------------------------------------------------- alignment
    Mutation(
        "alignment",
        "duplicates are graded",
        "reason[found[doubled[match[found]]]] = REASON_CODES[Reason.DUPLICATE]",
        "pass",
    ),
    Mutation(
        "alignment",
        "equal values align",
        "    found = np.flatnonzero(match != UNKNOWN)\n",
        "    for entry in np.flatnonzero(match == UNKNOWN):\n"
        "        same = np.flatnonzero(reproduced.value == published.value[entry])\n"
        "        match[entry] = same[0] if len(same) else UNKNOWN\n"
        "    found = np.flatnonzero(match != UNKNOWN)\n",
    ),
    Mutation(
        "alignment",
        "labels decide under `index` too",
        '    if rule.method == "labels":\n        by_labels |=',
        "    if rule.method:\n        by_labels |=",
    ),
    Mutation(
        "alignment",
        "labels never decide",
        '    if rule.method == "labels":\n        by_labels |=',
        '    if rule.method == "none":\n        by_labels |=',
    ),
    Mutation(
        "alignment",
        "similarity must exceed its limit",
        "ranked[0][0] < rule.similarity",
        "ranked[0][0] <= rule.similarity",
    ),
    Mutation(
        "alignment",
        "no margin to the second",
        "ranked[0][0] - second >= rule.margin - 1e-9",
        "ranked[0][0] >= second",
    ),
    Mutation(
        "alignment",
        "repeated labels go by order whatever their counts",
        "        if len(given) == len(entries):\n            match[entries] = given",
        "        if given:\n            match[entries[: len(given)]] = given[: len(entries)]",
    ),
    Mutation(
        "alignment",
        "panels are ignored",
        'panel="" if without_panels else panels[entry]',
        'panel=""',
    ),
    Mutation(
        "alignment",
        "the file's order for that of the keys",
        "[first[key] for key in sorted(first)]",
        "list(first.values())",
    ),
    # ----------------------------------------------------------------- papers
    Mutation(
        "papers",
        "the mean of scores for that of letters",
        'if roll_up.through == "scores":',
        'if roll_up.through == "letters":',
    ),
    Mutation(
        "papers",
        "a table without a file is left out",
        "        if table.gradable\n        for grade in",
        "        if table.gradable and table.coverage.produced\n        for grade in",
    ),
    Mutation(
        "papers",
        "interval bounds count for completion",
        "complete = ~metric_mask(columns.metric, COMPLETION_EXCLUDED)",
        "complete = ~metric_mask(columns.metric, frozenset())",
    ),
    Mutation(
        "papers",
        "standard errors have signs",
        "compared = counted & coefficient & graded.signs_compared",
        "compared = counted & graded.signs_compared",
    ),
    Mutation(
        "papers",
        "settings are graded",
        "for entry in np.flatnonzero(graded.expected).tolist():",
        "for entry in range(len(graded.expected)):",
    ),
    Mutation(
        "papers",
        "infrastructure failures stay in the denominator",
        "np.where(failed, 0, np.asarray(expected)).sum(),",
        "np.asarray(expected).sum(),",
    ),
    # ----------------------------------------------------------------- reading
    Mutation(
        "reading",
        "true is 1",
        "    if isinstance(value, bool):\n        return math.nan, Reason.UNREADABLE",
        "    if value == 'true':\n        return math.nan, Reason.UNREADABLE",
    ),
    Mutation(
        "reading",
        "the first of several numbers",
        "if len(numbers) == 1:",
        "if len(numbers) >= 1:",
    ),
    Mutation(
        "reading",
        "'<0.01' is a number",
        "if not numbers or parsed.bound or kinds",
        "if not numbers or kinds",
    ),
    Mutation(
        "reading",
        "a name twice in one cell",
        "if len(values) != len(pairs):",
        "if len(values) > len(pairs):",
    ),
    # ----------------------------------------------------------------- workspace
    Mutation(
        "workspace",
        "the first of two files",
        "if len(candidates) == 1:",
        "if len(candidates) >= 1:",
    ),
    Mutation(
        "workspace",
        "the name rules, not the id inside",
        "inside = _word_inside(values) if is_table else None",
        "inside = _word_inside(values) if is_table and named is None else None",
    ),
    Mutation(
        "workspace",
        "a file that cannot be read is dropped",
        "claims.tables[named].append(unread_table(file.name, Reason.UNREADABLE, problem))",
        "pass",
    ),
]

MODULES = sorted({mutation.module for mutation in MUTATIONS})
BATCH = 10


def batches():
    """Mutations of one module at a time, few enough to run side by side."""
    for module in MODULES:
        own = [mutation for mutation in MUTATIONS if mutation.module == module]
        for start in range(0, len(own), BATCH):
            yield pytest.param(own[start : start + BATCH], id=f"{module}_{start // BATCH}")


def copy_with(mutation, folder):
    """Copy of the package with one edit."""
    shutil.copytree(PACKAGE, folder / "grade", ignore=shutil.ignore_patterns("__pycache__"))
    if mutation is not None:
        path = folder / "grade" / f"{mutation.module}.py"
        source = path.read_text(encoding="utf-8")
        assert source.count(mutation.old) == 1, f"not once in {path.name}: {mutation.old}"
        path.write_text(source.replace(mutation.old, mutation.new), encoding="utf-8")


def checked(mutations, tmp_path):
    """What the checks say of each mutation: name of the one that failed, and of its error."""
    folders = []
    for number, mutation in enumerate(mutations):
        folder = tmp_path / f"copy_{number}"
        copy_with(mutation, folder)
        folders.append(str(folder))
    done = subprocess.run(
        [sys.executable, str(HERE / "mutation_checks.py"), *folders],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(answers) == len(folders), done.stderr[-2000:]
    return answers


def test_the_grader_as_it_is_passes_also_after_another_copy(tmp_path):
    mutation = next(m for m in MUTATIONS if m.mistake == "no rule of signs")
    answers = checked([None, mutation, None], tmp_path)
    assert [answer["check"] for answer in answers] == [None, "test_package", None]


@pytest.mark.parametrize("mutations", list(batches()))
def test_each_mistake_fails_a_check(mutations, tmp_path):
    answers = checked(mutations, tmp_path)
    by_check = defaultdict(list)
    for mutation, answer in zip(mutations, answers, strict=True):
        by_check[answer["error"]].append(mutation.mistake)
    # Caught by what a check says of the grades, not by a crash.
    assert dict(by_check) == {"AssertionError": [mutation.mistake for mutation in mutations]}


def test_mutations_are_many_and_distinct():
    assert len(MUTATIONS) >= 20
    assert len({(m.module, m.old, m.new) for m in MUTATIONS}) == len(MUTATIONS)
    assert len({m.mistake for m in MUTATIONS}) == len(MUTATIONS)
    assert set(MODULES) >= {"rules", "rounding", "rescaling", "tables", "alignment", "papers"}
