"""Figures of the report as inline SVG: each function draws one tidy frame.

Colours are CSS variables of the page, so that a figure follows its light or dark form. Every text
that comes from a store is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "draw_deviation_curves",
    "draw_interval",
    "draw_letters",
    "draw_score_axis",
    "draw_signs",
]

_DASHES: Final = ("", "7 3", "2 3", "9 3 2 3", "4 2", "1 2", "12 4", "6 2 2 2")
_SERIES: Final = 8
SCORE_WIDTH: Final = 260
_SCORE_PAD: Final = 8


def _at_score(score: float) -> float:
    return _SCORE_PAD + score / 5 * (SCORE_WIDTH - 2 * _SCORE_PAD)


def draw_score_axis() -> str:
    """Head of the score column: the letters over the stretches of the scale that they cover."""
    edges = (0.0, 0.5, 1.5, 2.5, 3.5, 4.5, 5.0)
    head = (
        f'<svg class="axis" viewBox="0 0 {SCORE_WIDTH} 30" width="{SCORE_WIDTH}" height="30" '
        'role="img" aria-label="Score from 0 to 5; A from 4.5, B from 3.5, C from 2.5, D from 1.5, '
        'E from 0.5">'
    )
    parts = [head]
    for letter, low, high in zip("FEDCBA", edges, edges[1:], strict=False):
        x0, x1 = _at_score(low), _at_score(high)
        parts.append(
            f'<rect class="band g{letter}" x="{x0:.1f}" y="18" width="{x1 - x0 - 1:.1f}" '
            'height="4"/>'
            f'<text x="{(x0 + x1) / 2:.1f}" y="12" text-anchor="middle">{letter}</text>',
        )
    return "".join(parts) + "</svg>"


def draw_interval(
    score: float, low: float | None, high: float | None, *, quiet: bool = False
) -> str:
    """Draw a score and its interval on the scale from 0 to 5, as one row of the leaderboard."""
    lines = "".join(
        f'<line class="grid" x1="{_at_score(cut):.1f}" x2="{_at_score(cut):.1f}" y1="0" y2="26"/>'
        for cut in (0.5, 1.5, 2.5, 3.5, 4.5)
    )
    whisker = ""
    if low is not None and high is not None:
        whisker = (
            f'<line class="whisker" x1="{_at_score(low):.1f}" x2="{_at_score(high):.1f}" '
            'y1="13" y2="13"/>'
        )
        said = f"{score:.2f}, 95 % interval {low:.2f} to {high:.2f}"
    else:
        said = f"{score:.2f}, no interval"
    tone = " quiet" if quiet else ""
    return (
        f'<svg class="score{tone}" viewBox="0 0 {SCORE_WIDTH} 26" width="{SCORE_WIDTH}" '
        f'height="26" '
        f'role="img" aria-label="{said}">{lines}{whisker}'
        f'<circle class="dot" cx="{_at_score(score):.1f}" cy="13" r="4.6"/></svg>'
    )


def draw_letters(counts: Sequence[int], *, noun: str = "papers") -> str:
    """Draw a bar of how many got each letter, A to F; its width is shared out by the counts."""
    total = sum(counts)
    if total == 0:
        return ""
    said = ", ".join(f"{n} {letter}" for letter, n in zip("ABCDEF", counts, strict=True) if n)
    parts, x = [], 0.0
    for letter, n in zip("ABCDEF", counts, strict=True):
        if n:
            width = 96 * n / total
            parts.append(
                f'<rect class="g{letter}" x="{x:.2f}" y="0" width="{max(width - 0.8, 0.6):.2f}" '
                'height="12" rx="1"/>',
            )
            x += width
    return (
        f'<svg class="letters" viewBox="0 0 96 12" width="96" height="12" role="img" '
        f'aria-label="{noun}: {said}"><title>{noun}: {said}</title>{"".join(parts)}</svg>'
    )


def _frame(width: int, height: int, label: str, body: str) -> str:
    return (
        f'<svg class="figure" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(label, quote=True)}">{body}</svg>'
    )


def draw_signs(signs: pd.DataFrame) -> str:
    """Sign agreement by arm: dot over all expected, ring over produced, tick for all-positive.

    Parameters
    ----------
    signs : pandas.DataFrame
        From `bench.report.frames.sign_frame`.
    """
    left, right, top, step, width = 142, 16, 30, 30, 560
    span = width - left - right

    def at(share: float) -> float:
        return left + share * span

    height = top + step * len(signs) + 34
    parts = [
        f'<line class="grid" x1="{at(x):.1f}" x2="{at(x):.1f}" y1="{top - 8}" y2="{height - 30}"/>'
        f'<text class="tick" x="{at(x):.1f}" y="{height - 14}" text-anchor="middle">'
        f"{100 * x:.0f}{' %' if x == 1 else ''}</text>"
        for x in (0, 0.25, 0.5, 0.75, 1)
    ]
    for place, row in enumerate(signs.to_dict("records")):
        y = top + step * place + step / 2 - 4
        name, low, high, positive = (row[key] for key in ("arm", "low", "high", "all_positive"))
        tone = "quiet" if row["kind"] in ("baseline", "self_test") else "strong"
        parts.append(
            f'<text class="name {tone}" x="{left - 12}" y="{y + 4:.1f}" text-anchor="end">'
            f"{escape(_short(str(name)))}</text>",
        )
        if math.isfinite(low):
            parts.append(
                f'<line class="whisker {tone}" x1="{at(low):.1f}" x2="{at(high):.1f}" '
                f'y1="{y}" y2="{y}"/>',
            )
        if math.isfinite(row["produced"]):
            parts.append(
                f'<circle class="ring {tone}" cx="{at(row["produced"]):.1f}" cy="{y}" r="6"/>'
            )
        parts.append(
            f'<circle class="dot {tone}" cx="{at(row["expected"]):.1f}" cy="{y}" r="3.6"/>'
        )
        if math.isfinite(positive):
            x = at(positive)
            parts.append(
                f'<line class="reference" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 9}" y2="{y + 9}"/>',
            )
    return _frame(width, height, "Sign agreement by arm", "".join(parts))


def _short(name: str, most: int = 20) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def draw_deviation_curves(curves: pd.DataFrame, order: Sequence[str]) -> str:
    """Cumulative share of estimates by distance in published standard errors, one line an arm.

    Parameters
    ----------
    curves : pandas.DataFrame
        From `bench.report.frames.deviation_curves`.
    order : sequence of str
        Arms to draw, best first; names are set beside the ends of the lines.
    """
    left, right, top, width, height, bottom = 46, 132, 16, 640, 360, 46
    floor = height - bottom

    def across(distance: float) -> float:
        return left + (math.log10(max(distance, 1e-3)) + 3) / 4 * (width - left - right)

    def up(share: float) -> float:
        return floor - share * (floor - top)

    parts = [
        f'<line class="grid" x1="{left}" x2="{width - right}" y1="{up(y):.1f}" y2="{up(y):.1f}"/>'
        f'<text class="tick" x="{left - 8}" y="{up(y) + 4:.1f}" text-anchor="end">'
        f"{100 * y:.0f}{' %' if y == 1 else ''}</text>"
        for y in (0, 0.25, 0.5, 0.75, 1)
    ]
    for x, text in ((0.001, "≤.001"), (0.01, ".01"), (0.1, ".1"), (1, "1"), (10, "10")):
        parts.append(
            f'<text class="tick" x="{across(x):.1f}" y="{floor + 18}" text-anchor="middle">'
            f"{text}</text>",
        )
    limit = across(1.96)
    parts.append(
        f'<line class="reference" x1="{limit:.1f}" x2="{limit:.1f}" y1="{top}" y2="{floor}"/>'
        f'<text class="tick" x="{limit - 5:.1f}" y="{top + 10}" text-anchor="end">1.96</text>'
        f'<text class="title" x="{(left + width - right) / 2:.1f}" y="{height - 8}" '
        'text-anchor="middle">distance from print, in published standard errors</text>',
    )
    ends: list[tuple[float, str, str]] = []
    series = 0
    for arm in order:
        own = curves[curves["arm"] == arm]
        if own.empty:
            continue
        quiet = own["arm_kind"].iloc[0] == "baseline"
        tone = "quiet" if quiet else f"s{series % _SERIES}"
        dash = "2 3" if quiet else _DASHES[series % len(_DASHES)]
        series += not quiet
        points = " ".join(
            f"{across(x):.1f},{up(y):.1f}"
            for x, y in zip(own["distance"], own["share"], strict=True)
        )
        parts.append(
            f'<polyline class="curve {tone}" stroke-dasharray="{dash}" points="{points}"/>'
        )
        ends.append((up(float(own["share"].iloc[-1])), tone, arm))
    parts += _end_labels(ends, width - right + 8, top, floor)
    return _frame(width, height, "Distance from print by arm", "".join(parts))


def _end_labels(
    ends: list[tuple[float, str, str]], x: float, top: float, floor: float
) -> list[str]:
    """Names beside the ends of curves, pushed apart so that none covers another."""
    apart = 14.0
    placed: list[tuple[float, str, str]] = []
    y = top - apart
    for wanted, tone, name in sorted(ends, key=lambda one: one[0]):
        y = max(wanted, y + apart)
        placed.append((y, tone, name))
    overflow = max(0.0, placed[-1][0] - floor) if placed else 0.0
    return [
        f'<text class="end {tone}" x="{x:.1f}" y="{place - overflow + 4:.1f}">'
        f"{escape(_short(name, 17))}</text>"
        for place, tone, name in placed
    ]
