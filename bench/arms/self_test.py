"""Self-test arms: their outcome is known beforehand, so that the whole pipeline can be checked.

They are given the published tables by a route that no other arm has, put what they will answer
into the workspace, and are marked ``self_test`` wherever their grades are shown.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bench.arms.inside import Values, filling, inside_program, scripts_in_order
from bench.arms.interface import PYTHON, ArmContext, ArmKind, Preparation, options_of
from data.records.errors import UserError
from data.records.metrics import Metric
from data.records.tables import Cell, CellKey, Table

__all__ = [
    "CRASHER",
    "HARDCODER",
    "LIAR",
    "NOISE",
    "NULL",
    "ORACLE",
    "SHUFFLED_ROWS",
    "SIGN_FLIP",
    "SLEEPER",
    "TIMES_TEN",
    "first_half",
    "moved_by_errors",
    "negated",
    "printed_values",
    "rows_shuffled",
    "scaled",
]

ANSWERS: Final = "self_test/answers.json"

Rule = Callable[[Table, float, int], Values]
End = Literal["done", "crash", "sleep"]


# --------------------------------------------------------------------------- rules


def printed_values(table: Table) -> dict[CellKey, float]:
    """Published value of every graded cell."""
    return {cell.key: cell.value for cell in table.graded_cells if cell.value is not None}


def negated(table: Table) -> dict[CellKey, float]:
    """Every published value with its sign reversed."""
    return {key: -value for key, value in printed_values(table).items()}


def scaled(table: Table, power: int) -> dict[CellKey, float]:
    """Every published value times ten to `power`."""
    return {key: value * 10.0**power for key, value in printed_values(table).items()}


def moved_by_errors(table: Table, errors: float, seed: int) -> dict[CellKey, float]:
    """Every estimate moved by `errors` of its published standard errors, up or down.

    The direction is drawn by `seed`, the distance is not, so that the deviation in standard
    errors is known. A cell without a standard error keeps its value.
    """
    values = printed_values(table)
    draw = random.Random(f"{seed}/{table.paper_id}/{table.slug}")  # noqa: S311 - no secret
    for cell in table.graded_cells:
        if cell.metric is Metric.STANDARD_ERROR and cell.of in values and cell.value is not None:
            values[cell.of] += draw.choice((-1.0, 1.0)) * errors * cell.value
    return values


def rows_shuffled(table: Table, seed: int) -> dict[CellKey, float]:
    """Published values moved to other rows, within a column and a statistic.

    Rows are moved on by a drawn number of places, and from the end to the start: every cell gets
    another row's value where there are two rows or more. Statistics that stand in equally many
    rows move by the same number, so an estimate keeps its standard error.
    """
    values = printed_values(table)
    groups: dict[tuple[Metric, int, int], list[Cell]] = defaultdict(list)
    for cell in table.graded_cells:
        if cell.key in values:
            groups[cell.metric, cell.col, cell.part].append(cell)
    moved: dict[CellKey, float] = {}
    for cells in groups.values():
        n = len(cells)
        draw = random.Random(f"{seed}/{table.paper_id}/{table.slug}/{n}")  # noqa: S311
        places = draw.randrange(1, n) if n > 1 else 0
        for position, cell in enumerate(cells):
            moved[cell.key] = values[cells[(position + places) % n].key]
    return moved


def first_half(tables: Sequence[Table]) -> dict[str, dict[CellKey, float]]:
    """Published values of the first half of a paper's tables, rounded down.

    Of a paper with one table, the first half of its graded cells.
    """
    if len(tables) == 1:
        values = list(printed_values(tables[0]).items())
        return {tables[0].slug: dict(values[: len(values) // 2])}
    return {table.slug: printed_values(table) for table in tables[: len(tables) // 2]}


# --------------------------------------------------------------------------- arms


def _truth(context: ArmContext) -> tuple[Table, ...]:
    if context.truth is None:
        raise UserError(f"arm {context.arm.name}: a self-test arm needs the published tables")
    return context.truth


@dataclass(frozen=True, slots=True)
class RuleArm:
    """Answers every cell by a rule on the published values.

    `option` names the rule's one number, if it has one, and `default` is its value.
    """

    name: str
    rule: Rule
    option: str | None = None
    default: float = 1.0
    kind: ArmKind = "self_test"

    def prepare(self, context: ArmContext) -> Preparation:
        """Answers of all tables, and the program that writes them down.

        Raises
        ------
        UserError
            When an option is unknown or no number, or no published tables were given.
        """
        options = options_of(context.arm, {self.option: float} if self.option else {})
        number = options.get(self.option or "", self.default)
        assert isinstance(number, float)
        answers = {table.slug: self.rule(table, number, context.seed) for table in _truth(context)}
        return filling(answers, "done", name=ANSWERS)


@dataclass(frozen=True, slots=True)
class HalfArm:
    """Answers the first half rightly, and then ends badly."""

    name: str
    end: End
    kind: ArmKind = "self_test"

    def prepare(self, context: ArmContext) -> Preparation:
        """Answers of the first half, and the end.

        Raises
        ------
        UserError
            When an option is given, or no published tables were.
        """
        options_of(context.arm, {})
        return filling(first_half(_truth(context)), self.end, name=ANSWERS)


@dataclass(frozen=True, slots=True)
class HardcoderArm:
    """Writes right values that no data were looked at for: scripts of literals."""

    name: str = "hardcoder"
    kind: ArmKind = "self_test"

    def prepare(self, context: ArmContext) -> Preparation:
        """One script a table.

        Raises
        ------
        UserError
            When an option is given, or no published tables were.
        """
        options_of(context.arm, {})
        scripts = {
            f"{table.slug}.py": _literals(table.slug, printed_values(table)).encode()
            for table in _truth(context)
        }
        return scripts_in_order(tuple(scripts), scripts)


def _literals(slug: str, values: Mapping[CellKey, float]) -> str:
    lines = [f"    ({key.row}, {key.col}, {key.part}): {value!r}," for key, value in values.items()]
    return "\n".join(
        [
            "import json",
            "",
            "RESULTS = {",
            *lines,
            "}",
            "",
            f'with open("table_templates/{slug}.json", encoding="utf-8") as file:',
            "    table = json.load(file)",
            'for cell in table["cells"]:',
            '    key = cell["row"], cell["col"], cell.get("part", 0)',
            "    if key in RESULTS:",
            '        cell["value"] = RESULTS[key]',
            f'with open("{slug}.json", "w", encoding="utf-8") as file:',
            "    json.dump(table, file, indent=1)",
            "",
        ]
    )


@dataclass(frozen=True, slots=True)
class LiarArm:
    """Claims success and ends with exit code 0, having done nothing.

    Option ``lie``: ``nothing`` writes no table; ``schema`` writes files of the tables' names that
    hold no table.
    """

    name: str = "liar"
    kind: ArmKind = "self_test"

    def prepare(self, context: ArmContext) -> Preparation:
        """The claim.

        Raises
        ------
        UserError
            When the lie is unknown.
        """
        lie = str(options_of(context.arm, {"lie": str}).get("lie", "nothing"))
        if lie not in ("nothing", "schema"):
            raise UserError(f"arm {context.arm.name}: lie is {lie!r}, not nothing or schema")
        return Preparation(
            argv=(PYTHON, "-I", "-S", "-B", "claim_success.py", lie),
            files={"claim_success.py": inside_program("claim_success.py")},
        )


ORACLE: Final = RuleArm("oracle", lambda table, _number, _seed: printed_values(table))
NOISE: Final = RuleArm("noise", moved_by_errors, option="k")
SIGN_FLIP: Final = RuleArm("sign_flip", lambda table, _number, _seed: negated(table))
TIMES_TEN: Final = RuleArm(
    "times_ten", lambda table, number, _seed: scaled(table, int(number)), option="k"
)
SHUFFLED_ROWS: Final = RuleArm(
    "shuffled_rows", lambda table, _number, seed: rows_shuffled(table, seed)
)
NULL: Final = RuleArm("null", lambda _table, _number, _seed: {})
HARDCODER: Final = HardcoderArm()
CRASHER: Final = HalfArm("crasher", "crash")
SLEEPER: Final = HalfArm("sleeper", "sleep")
LIAR: Final = LiarArm()
