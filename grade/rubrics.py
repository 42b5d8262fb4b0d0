"""Rubrics from TOML: the shipped ones by name, a user's own by its text.

Everything that a file can get wrong is one line that says where.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib import resources
from itertools import pairwise
from typing import Any, Final

from data.records.errors import UserError
from data.records.grades import Alignment, CellRule, Rescaling, RollUp, Rubric
from data.records.metrics import Metric

__all__ = ["SHIPPED_RUBRICS", "load_rubric", "parse_rubric", "rubric_hash"]

SHIPPED_RUBRICS: Final = ("kohler2026", "printed")

LARGEST_POWER: Final = 300
"""Powers of ten beyond this are beyond what a float holds."""

_TABLES: Final[dict[str, type[Any]]] = {"alignment": Alignment, "rescaling": Rescaling}
_LISTS: Final[dict[str, type[Any]]] = {"cell_rules": CellRule, "roll_ups": RollUp}


def load_rubric(name: str) -> Rubric:
    """Shipped rubric of that name.

    Raises
    ------
    UserError
        When no such rubric is shipped.
    """
    if name not in SHIPPED_RUBRICS:
        known = ", ".join(SHIPPED_RUBRICS)
        raise UserError(f"unknown rubric {name!r}: shipped are {known}, or give a .toml file")
    resource = resources.files("data") / "rubrics" / f"{name}.toml"
    return parse_rubric(resource.read_text(encoding="utf-8"), where=f"{name}.toml")


def parse_rubric(content: str, *, where: str) -> Rubric:
    """Rubric from the text of a TOML file.

    Parameters
    ----------
    content : str
    where : str
        The file's name, for the errors' text.

    Raises
    ------
    UserError
        When the text is not TOML, a key is unknown or missing, a value has the wrong type, or
        the rules contradict each other.
    """
    from data.records.files import record_from_values

    try:
        values = tomllib.loads(content)
    except ValueError as error:  # not TOML, or a whole number without end
        raise UserError(f"{where}: not valid TOML: {error}") from None
    except RecursionError:
        raise UserError(f"{where}: not valid TOML: nested too deeply") from None
    _refuse_unknown_keys(values, where)
    for place, value in _numbers(values):
        if not math.isfinite(value):
            raise UserError(f"{where}: {place}: {value} is no finite number")
    rubric = record_from_values(Rubric, values, where=where)
    for complaint in _complaints(rubric):
        raise UserError(f"{where}: {complaint}")
    return rubric


def rubric_hash(rubric: Rubric) -> str:
    """SHA-256 of a rubric's content. Hexadecimal, 64 digits."""
    from data.records.files import record_to_json

    return hashlib.sha256(record_to_json(rubric)).hexdigest()


def _numbers(values: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """Every float of a file, with the place where it stands."""
    if isinstance(values, float):
        yield place.lstrip("."), values
    elif isinstance(values, Mapping):
        for key, value in values.items():
            yield from _numbers(value, f"{place}.{key}")
    elif isinstance(values, list):
        for number, value in enumerate(values):
            yield from _numbers(value, f"{place}.{number}")


def _refuse_unknown_keys(values: Mapping[str, Any], where: str) -> None:
    _refuse(values, Rubric, where, "")
    for name, kind in _TABLES.items():
        _refuse(values.get(name), kind, where, f"{name}.")
    for name, kind in _LISTS.items():
        entries = values.get(name)
        for number, entry in enumerate(entries if isinstance(entries, list) else []):
            _refuse(entry, kind, where, f"{name}.{number}.")


def _refuse(values: Any, kind: type[Any], where: str, place: str) -> None:
    if not isinstance(values, Mapping):
        return
    known = [field.name for field in fields(kind)]
    for key in values:
        if key not in known:
            raise UserError(f"{where}: {place}{key}: unknown key; known are {', '.join(known)}")


def _complaints(rubric: Rubric) -> list[str]:
    """List what contradicts itself in a rubric, one line each."""
    found: list[str] = []
    rules = [rule.name for rule in rubric.cell_rules]
    roll_ups = [roll_up.name for roll_up in rubric.roll_ups]
    for what, names in (("cell_rules", rules), ("roll_ups", roll_ups)):
        if not names:
            found.append(f"{what}: at least one is needed")
        found += [f"{what}: {name!r} stands twice" for name in names if names.count(name) > 1]
    if not rubric.name.isidentifier():
        found.append(f"name: {rubric.name!r} must be letters, digits and underscores")
    if rubric.headline[0] not in rules or rubric.headline[1] not in roll_ups:
        found.append("headline: must name one of the cell_rules and one of the roll_ups")
    if any(
        roll_up.missing == "left_out_if_all_miss"
        for roll_up in rubric.roll_ups
        if roll_up.name == rubric.headline[1]
    ):
        found.append("headline: a roll-up that depends on other arms ranks nothing")
    found += _number_complaints(rubric)
    for rule in rubric.cell_rules:
        found += _rule_complaints(rule)
    found += _rescaling_complaints(rubric.rescaling)
    if not 0 < rubric.alignment.similarity <= 1 or not 0 <= rubric.alignment.margin < 1:
        found.append("alignment: similarity must be in (0, 1], margin in [0, 1)")
    return found


def _number_complaints(rubric: Rubric) -> list[str]:
    found = []
    if list(rubric.scores) != sorted(rubric.scores, reverse=True):
        found.append("scores: must not rise from A to F")
    if not _falling(rubric.grade_cuts):
        found.append("grade_cuts: must fall from A to E")
    if not 0 <= rubric.slack < 1e-3:
        found.append("slack: must be in [0, 0.001)")
    if not 0 < rubric.weak_share < 1:
        found.append("weak_share: must be in (0, 1)")
    if ungraded := {Metric.SETTING, Metric.TEXT} & set(rubric.left_out_metrics):
        names = ", ".join(sorted(ungraded))
        found.append(f"left_out_metrics: {names} are never graded, leave them unnamed")
    return found


def _rule_complaints(rule: CellRule) -> list[str]:
    place = f"cell_rules: {rule.name}"
    found = []
    if not rule.name.isidentifier():
        found.append(f"{place}: a name must be letters, digits and underscores")
    for name in ("cuts", "near_zero_cuts", "count_cuts"):
        cuts = getattr(rule, name)
        if cuts[0] <= 0 or not _falling(tuple(reversed(cuts))):
            found.append(f"{place}: {name}: must be positive and rise from A on")
    if rule.measure == "interval" and rule.rounding != "none":
        found.append(f"{place}: rounding: the interval measure takes none")
    if rule.near_zero_below < 0:
        found.append(f"{place}: near_zero_below: must not be negative")
    if not all(0 < level < 1 for level in rule.p_value_levels):
        found.append(f"{place}: p_value_levels: must lie in (0, 1)")
    return found


def _rescaling_complaints(rule: Rescaling) -> list[str]:
    found = []
    if not 0 < rule.tolerance < 0.5 or not 0 < rule.median_tolerance < 0.5:
        found.append("rescaling: tolerances must be in (0, 0.5), in powers of ten")
    if rule.max_power < 1 or rule.min_pairs < 1 or rule.min_estimates < 1:
        found.append("rescaling: max_power, min_pairs and min_estimates must be 1 or more")
    if rule.max_power > LARGEST_POWER:
        found.append(f"rescaling: max_power must be {LARGEST_POWER} or less")
    if rule.coarse_unit <= 0:
        found.append("rescaling: coarse_unit must be positive")
    if not 0 < rule.share_at_power <= 1 or not 0 <= rule.share_at_unity < 1:
        found.append("rescaling: share_at_power must be in (0, 1], share_at_unity in [0, 1)")
    return found


def _falling(values: tuple[float, ...]) -> bool:
    return all(left > right for left, right in pairwise(values))
