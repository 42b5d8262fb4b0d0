"""A second, slow grader: one cell at a time, in exact fractions. Imports nothing from `grade`.

Written from the rules, not from the kernel: numbers are taken for their decimal notation and
compared as fractions, so no float error exists that a slack would have to absorb.
"""

import math
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from statistics import NormalDist, median

SLACK = Fraction(1, 10**9)
LETTERS = "ABCDEF"
UNITS = {
    "coefficient",
    "standard_error",
    "ci_lower",
    "ci_upper",
    "mean",
    "median",
    "std_dev",
    "control_mean",
    "share",
}
COUNTS = {"n_obs", "n_clusters", "n_groups", "count"}
FRACTIONS = {"r_squared", "r_squared_adj", "r_squared_within", "pseudo_r_squared", "share"}
KOHLER_SCORES = dict(zip(LETTERS, (5, 4, 3, 2, 1, 0), strict=True))
PRINTED_SCORES = dict(zip(LETTERS, (5, 4, 3, 2, 0, 0), strict=True))


class Cell:
    """A published cell with what was reproduced for it. Keys of other cells in `of`."""

    def __init__(
        self,
        metric,
        published,
        decimals,
        reproduced,
        *,
        row=0,
        col=0,
        of=None,
        unit=None,
        bound=0,
        truncate=False,
    ):
        self.metric, self.decimals, self.of = metric, decimals, of
        self.row, self.col, self.unit = row, col, unit
        self.bound, self.truncate = bound, truncate
        self.published = exact(published)
        self.float_published = published
        self.raw = exact(reproduced)
        self.power = 0
        self.se = None
        self.width = None

    @property
    def reproduced(self):
        return None if self.raw is None else self.raw * Fraction(10) ** -self.power

    @property
    def u(self):
        return Fraction(0) if self.decimals is None else Fraction(1, 10**self.decimals)


def exact(value):
    if value is None or not math.isfinite(value):
        return None
    return Fraction(Decimal(repr(float(value))))


def letter(x, cuts):
    for name, cut in zip(LETTERS, cuts, strict=False):
        if x < Fraction(Decimal(str(cut))) * (1 - SLACK):
            return name
    return LETTERS[len(cuts)]


def to_decimals(value, decimals):
    number = Decimal(value.numerator) / Decimal(value.denominator)
    return Fraction(number.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP))


def notation_decimals(value):
    return max(0, -int(Decimal(repr(float(value))).normalize().as_tuple().exponent))


def kohler_letter(cell, rounding):
    p, r = cell.published, cell.reproduced
    if p is None:
        return None
    if r is None:
        return "F"
    places = {
        "none": None,
        "printed": cell.decimals,
        "repr": notation_decimals(cell.float_published),
    }[rounding]
    if places is not None:
        p, r = to_decimals(p, places), to_decimals(r, places)
    if p == 0 and r == 0:
        return "A"
    if p * r < 0:
        return "E"
    if abs(p) < Fraction(1, 1000) * (1 - SLACK):
        return letter(abs(r - p), (0.002, 0.02, 0.05, 0.1))
    return letter(abs(r - p) / abs(p) * 100, (2, 20, 40, 60))


def interval(cell):
    p, u = cell.published, cell.u
    if cell.bound < 0:
        return Fraction(0), p
    if cell.bound > 0:
        return p, Fraction(1) if cell.metric == "p_value" else None
    if cell.truncate:
        low, high = (p - u if p <= 0 else p), (p + u if p >= 0 else p)
    else:
        low, high = p - u / 2, p + u / 2
    if cell.metric == "p_value":
        low, high = min(max(low, Fraction(0)), 1), min(max(high, Fraction(0)), Fraction(1))
    return low, high


def distance(cell, value):
    low, high = interval(cell)
    if value < low:
        found = low - value
    elif high is not None and value > high:
        found = value - high
    else:
        return Fraction(0)
    return Fraction(0) if found <= cell.u * SLACK else found


def half_up(value):
    return to_decimals(value, 0)


def z_of(p):
    p = float(p)
    return (
        math.inf
        if p <= 0
        else NormalDist().inv_cdf(1 - p / 2)
        if p > 1e-12
        else -NormalDist().inv_cdf(p / 2)
    )


def printed_letter(cell):
    p, r = cell.published, cell.reproduced
    if p is None:
        return None
    if r is None:
        return "F"
    if cell.metric in COUNTS:
        return count_letter(half_up(p), half_up(r))
    if cell.metric == "standard_error" and r <= 0:
        return "E"
    if cell.metric == "p_value":
        return p_value_letter(cell, r)
    dev, scale = distance(cell, r), scale_of(cell)
    if cell.metric in FRACTIONS and in_percent(cell):
        dev /= 100
    if dev == 0:
        return "A"
    return "E" if scale == 0 else letter(dev / scale, (0.02, 0.2, 0.4, 0.6))


def count_letter(p, r):
    if p == r:
        return "A"
    if p == 0:
        return "E"
    return "BCDE"["ABCD".index(letter(abs(r - p) / abs(p), (0.01, 0.05, 0.2)))]


def p_value_letter(cell, r):
    if r < 0 or r > 1:
        return "E"
    if distance(cell, r) == 0:
        return "A"
    low, high = interval(cell)
    apart = max(z_of(high) - z_of(r), z_of(r) - z_of(low))
    return "E" if math.isinf(apart) else letter(Fraction(apart), (0.02, 0.2, 0.4, 0.6))


def in_percent(cell):
    return cell.unit == "percent" or (cell.metric == "share" and abs(cell.published) > 1)


def scale_of(cell):
    size, u = abs(cell.published), cell.u
    if cell.metric == "coefficient" and cell.se is not None and cell.se > 0:
        return max(size, cell.se)
    if cell.metric in {"t_statistic", "z_statistic"}:
        return max(size, 1)
    if cell.metric in {"ci_lower", "ci_upper"} and cell.width is not None and cell.width > 0:
        return max(size, cell.width / Fraction("3.92"))
    if cell.metric in FRACTIONS:
        if in_percent(cell):
            size, u = size / 100, u / 100
        return max(min(size, 1 - size), u)
    return max(size, u)


def link(cells):
    """Standard errors and interval widths of a table's cells, by position in the list."""
    for place, cell in enumerate(cells):
        errors = [
            other.published
            for other in cells
            if other.metric == "standard_error"
            and other.of == place
            and other is not cell
            and other.unit == cell.unit
            and other.published is not None
        ]
        cell.se = errors[0] if errors else None
        estimate = place if cell.of is None else cell.of
        ends = {
            name: [
                other.published
                for other in cells
                if other.metric == name and other.of == estimate and other.published is not None
            ]
            for name in ("ci_lower", "ci_upper")
        }
        if cell.metric in ends and ends["ci_lower"] and ends["ci_upper"]:
            cell.width = ends["ci_upper"][0] - ends["ci_lower"][0]


def rescale_by_median(cells):
    ratios = sorted(
        cell.raw / cell.published
        for cell in cells
        if cell.raw is not None
        and cell.published is not None
        and abs(cell.published) > Fraction(1, 10**10)
    )
    if not ratios:
        return
    middle = abs(ratios[len(ratios) // 2])
    if middle <= Fraction(1, 10**10):
        return
    log = math.log10(middle)
    power = round(log)
    if power != 0 and abs(log - power) < 0.15 * (1 - 1e-9):
        for cell in cells:
            cell.power = power


def rescale_by_units(cells):
    def able(cell):
        return cell.metric in UNITS and cell.unit is None

    def telling(cell):
        return (
            able(cell)
            and cell.published not in {None, Fraction(0)}
            and cell.raw not in {None, Fraction(0)}
            and cell.u / 2 <= Fraction(1, 5) * abs(cell.published) * (1 + SLACK)
        )

    def estimate(place):
        return place if cells[place].of is None else cells[place].of

    groupings = (
        lambda place: 0,
        lambda place: cells[place].col,
        lambda place: cells[estimate(place)].row,
    )
    for grouping in groupings:
        groups = defaultdict(list)
        for place, cell in enumerate(cells):
            if able(cell):
                groups[grouping(place), cell.metric == "share"].append(place)
        for (_, share), places in groups.items():
            pairs = [place for place in places if telling(cells[place])]
            if len({estimate(place) for place in pairs}) < 2:
                continue
            logs = [
                math.log10(abs(cells[place].raw))
                - math.log10(abs(cells[place].published))
                - cells[place].power
                for place in pairs
            ]
            power = power_of_group(logs, share)
            for place in places:
                cells[place].power += power


def power_of_group(logs, share):
    if len(logs) < 3:
        return 0
    middle = median(logs)
    power = round(middle)
    reach = 0.15 * (1 + 1e-9)
    at_power = sum(abs(log - power) <= reach for log in logs)
    at_unity = sum(abs(log) <= reach for log in logs)
    fires = (
        1 <= abs(power) <= 6
        and (not share or abs(power) == 2)
        and abs(middle - power) <= 0.04 * (1 + 1e-9)
        and at_power >= 0.8 * len(logs) * (1 - 1e-9)
        and at_unity <= 0.2 * len(logs) * (1 + 1e-9)
    )
    return power if fires else 0


def grade(cells, rule):
    """Letters of one table's cells under raw, rounded, rounded_repr or interval."""
    link(cells)
    for cell in cells:
        cell.power = 0
    if rule == "interval":
        rescale_by_units(cells)
        return [printed_letter(cell) for cell in cells]
    rescale_by_median(cells)
    rounding = {"raw": "none", "rounded": "printed", "rounded_repr": "repr"}[rule]
    return [kohler_letter(cell, rounding) for cell in cells]


def letter_of_score(score):
    for name, cut in zip(LETTERS, (4.5, 3.5, 2.5, 1.5, 0.5), strict=False):
        if score >= Fraction(Decimal(str(cut))) * (1 - SLACK):
            return name
    return "F"


def roll_up(letters, mode, scores=KOHLER_SCORES):
    """(letter, score) of a list of letters; None where nothing counts."""
    known = [name for name in letters if name is not None]
    counted = [name for name in known if mode != "non_f" or name != "F"]
    if not known:
        return None, None
    if not counted:
        return "F", Fraction(0)
    score = Fraction(sum(scores[name] for name in counted), len(counted))
    return letter_of_score(score), score


def align_by_key(published_keys, reproduced):
    """{key: value, None for missing, "duplicate"} from (key, value) pairs."""
    found = {}
    for key in published_keys:
        values = [value for other, value in reproduced if other == key]
        found[key] = None if not values else values[0] if len(values) == 1 else "duplicate"
    return found
