"""Rubrics, and the grades of cells, tables and papers under them.

A rubric is data: it names how reproduced cells are aligned, rescaled, compared, cut into
letters and rolled up. Grades keep what they were made from, so that a reader can recompute
each of them by hand.

Signs and units of the deviations: `deviation_pct` and `units_off` are reproduced minus
published, with sign; `deviation_se` and `deviation_se_print` are distances, without.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal

from data.records.metrics import Metric
from data.records.tables import CellKey, TableKind, TruthKind

__all__ = [
    "GRADE_SCHEMA_VERSION",
    "LETTERS",
    "Alignment",
    "CellGrade",
    "CellRule",
    "Coverage",
    "Denominators",
    "GradeFile",
    "Letter",
    "MovedCell",
    "PaperGrade",
    "PaperRollUp",
    "Reason",
    "Rescaling",
    "RollUp",
    "RollUpGrade",
    "Rubric",
    "RuleGrade",
    "ScaledDeviations",
    "SignAgreement",
    "TableGrade",
    "grade_file_from_json",
    "grade_file_to_json",
]

GRADE_SCHEMA_VERSION: Final = 1
LETTERS: Final = "ABCDEF"
Letter = Literal["A", "B", "C", "D", "E", "F"]


class Reason(StrEnum):
    """Why a cell has the grade that it has, beyond its deviation.

    `missing`: no file, or no such cell in it. `null`: the cell is there and left empty.
    `not_a_number`: NaN or infinite. `unreadable`: the file or the cell holds something that is
    no number. `duplicate`: the cell is given more than once. `ambiguous`: several files claim
    the table, or labels do not say which cell is meant. `wrong_table`: the file that bears the
    table's name says inside that it is no table of this paper. `no_truth`: nothing is
    published to compare with; such a cell has no grade at all.
    """

    OK = "ok"
    MISSING = "missing"
    NULL = "null"
    NOT_A_NUMBER = "not_a_number"
    UNREADABLE = "unreadable"
    DUPLICATE = "duplicate"
    AMBIGUOUS = "ambiguous"
    WRONG_TABLE = "wrong_table"
    NO_TRUTH = "no_truth"


# --------------------------------------------------------------------------- rubrics


@dataclass(frozen=True, slots=True)
class CellRule:
    """How one reproduced value becomes a letter.

    Attributes
    ----------
    name : str
    measure : {"percent", "interval"}
        `percent` compares with the published value itself, in percent of it, and by absolute
        difference near zero. `interval` measures the distance to what the print allows, on a
        scale that depends on the metric.
    rounding : {"none", "printed", "repr"}
        Whether both sides are first rounded, half away from zero: to the printed decimals, or
        to those of the published float's shortest notation. `interval` takes none.
    cuts : tuple of 4 float
        Upper ends, not included, of A, B, C and D; beyond is E. In percent for `percent`, as a
        fraction of the scale for `interval`.
    near_zero_below : float
        `percent`: published values smaller than this are compared by absolute difference.
    near_zero_cuts : tuple of 4 float
    count_cuts : tuple of 3 float
        `interval`: upper ends of B, C and D for counts, as fractions; A is equality.
    p_value_levels : tuple of float
        `interval`: levels whose crossing is flagged.
    """

    name: str
    measure: Literal["percent", "interval"]
    cuts: tuple[float, float, float, float]
    rounding: Literal["none", "printed", "repr"] = "none"
    near_zero_below: float = 0.0
    near_zero_cuts: tuple[float, float, float, float] = (0.002, 0.02, 0.05, 0.1)
    count_cuts: tuple[float, float, float] = (0.01, 0.05, 0.2)
    p_value_levels: tuple[float, ...] = (0.1, 0.05, 0.01)


@dataclass(frozen=True, slots=True)
class Rescaling:
    """Whether and when a power of ten between print and reproduction is forgiven.

    Attributes
    ----------
    method : {"none", "table_median", "unit_groups"}
        `table_median`: one factor a table, from the upper-middle signed ratio.
        `unit_groups`: by table, column and row, on statistics that carry a unit.
    tolerance : float
        Distance from a whole power, in log10, that still counts as that power.
    median_tolerance, max_power, min_pairs, min_estimates, share_at_power, share_at_unity,
    coarse_unit : float or int
        Conditions of `unit_groups`: distance of the median, largest power, fewest pairs and
        estimates, least share of pairs at the power, largest share of pairs that are right as
        they stand, and the largest half unit, as a fraction of the value, of a pair that counts.
    """

    method: Literal["none", "table_median", "unit_groups"]
    tolerance: float = 0.15
    median_tolerance: float = 0.04
    max_power: int = 6
    min_pairs: int = 3
    min_estimates: int = 2
    share_at_power: float = 0.8
    share_at_unity: float = 0.2
    coarse_unit: float = 0.2


@dataclass(frozen=True, slots=True)
class Alignment:
    """How reproduced cells find their published ones.

    `index` goes by key. `labels` goes by key where the labels agree with the template, else by
    labels; a label that differs counts as the same from `similarity` on (0 to 1), if it is
    `margin` above the next best.
    """

    method: Literal["index", "labels"]
    similarity: float = 0.9
    margin: float = 0.1


@dataclass(frozen=True, slots=True)
class RollUp:
    """How cells become a table's grade, and tables a paper's.

    `missing` says what an F counts: `zero`, or `left_out`, or `left_out_if_all_miss` (left out
    where every arm of a comparison has F; needs more than one run). `through` says whether a
    paper averages its tables' letters or their scores.
    """

    name: str
    missing: Literal["zero", "left_out", "left_out_if_all_miss"]
    through: Literal["letters", "scores"] = "letters"


@dataclass(frozen=True, slots=True)
class Rubric:
    """A named, versioned set of grading rules.

    Attributes
    ----------
    name : str
    version : int
    description : str
    cell_rules : tuple of CellRule
    roll_ups : tuple of RollUp
    alignment : Alignment
    rescaling : Rescaling
    scores : tuple of 6 float
        What A, B, C, D, E and F count.
    grade_cuts : tuple of 5 float
        Least mean score of A, B, C, D and E.
    headline : tuple of str
        Cell rule and roll-up that the rubric is quoted by.
    left_out_metrics : tuple of Metric
        Metrics that the rubric does not grade, besides settings and text.
    weak_share : float
        A cell is weak where half a printed unit exceeds this fraction of its value.
    slack : float
        Relative slack of every cut-off.
    """

    name: str
    version: int
    description: str
    cell_rules: tuple[CellRule, ...]
    roll_ups: tuple[RollUp, ...]
    alignment: Alignment
    rescaling: Rescaling
    headline: tuple[str, str]
    scores: tuple[float, float, float, float, float, float] = (5.0, 4.0, 3.0, 2.0, 1.0, 0.0)
    grade_cuts: tuple[float, float, float, float, float] = (4.5, 3.5, 2.5, 1.5, 0.5)
    left_out_metrics: tuple[Metric, ...] = ()
    weak_share: float = 0.02
    slack: float = 1e-9


# --------------------------------------------------------------------------- grades


@dataclass(frozen=True, slots=True)
class RuleGrade:
    """A cell's letter under one cell rule.

    Attributes
    ----------
    grade : str or None
        None where nothing is published to compare with.
    deviation : float or None
        What was cut into the letter, in `measure`; None where there was nothing to measure,
        or where no finite number says it (a sign that differs, a scale of zero).
    measure : str
        `percent`, `absolute`, `scale` (fraction of the metric's scale), `normal` (distance
        between normal quantiles of p-values), `count` (fraction of the published count), `sign`
        or `none`.
    unrescued : str or None
        The letter without rescaling.
    """

    grade: Letter | None
    deviation: float | None
    measure: str
    unrescued: Letter | None


@dataclass(frozen=True, slots=True)
class CellGrade:
    """One published cell, what was reproduced for it, and how far off it is.

    Attributes
    ----------
    rubric, table : str
        Names of the rubric and the table (its slug).
    row, col, part : int
    metric : Metric
    row_label, col_labels, panel
        As in the published table.
    published, decimals, published_text
        Value, printed decimals and printed text.
    reproduced_raw, reproduced_text
        As the run gave it. None where it gave no number.
    factor : float
        What the raw value was multiplied by; 1 where it was not rescaled.
    reproduced : float or None
        Raw value times factor.
    published_se : float or None
        The published standard error of this estimate, in the same unit.
    deviation_pct : float or None
        100 (reproduced - published) / abs(published); None at a published zero.
    deviation_se : float or None
        abs(reproduced - published) / published SE; None without one, or where it is 0.
    deviation_se_print : float or None
        The same with the distance to the interval that the print allows.
    units_off : float or None
        (reproduced - published) in units of the last printed digit.
    sign_agrees : bool or None
        None when either is zero or nothing was reproduced.
    stars_agree : bool or None
        None when the run gave no significance marks, or the print has none.
    weak : bool
        Half a printed unit exceeds 2 % of the value: a letter says little here.
    crosses : tuple of float
        Levels that a reproduced p-value lies on the other side of.
    would_be_a_at : int or None
        Power of ten by which the raw value misses an A, where it was not rescaled.
    reason : Reason
    grades : dict of str to RuleGrade
        By the name of the cell rule.
    truth_kind : TruthKind or None
        How the published value is known: the cell's own kind, else its table's.
    """

    rubric: str
    table: str
    row: int
    col: int
    part: int
    metric: Metric
    row_label: str
    col_labels: tuple[str, ...]
    panel: str | None
    published: float | None
    decimals: int | None
    published_text: str | None
    reproduced_raw: float | None
    reproduced_text: str | None
    factor: float
    reproduced: float | None
    published_se: float | None
    deviation_pct: float | None
    deviation_se: float | None
    deviation_se_print: float | None
    units_off: float | None
    sign_agrees: bool | None
    stars_agree: bool | None
    weak: bool
    crosses: tuple[float, ...]
    would_be_a_at: int | None
    reason: Reason
    grades: dict[str, RuleGrade]
    truth_kind: TruthKind | None = None

    @property
    def key(self) -> CellKey:
        """The cell's position in its table."""
        return CellKey(self.row, self.col, self.part)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many expected cells hold a number, right or wrong.

    `completion_*` leave out interval bounds, as the published completion table does.
    """

    produced: int
    expected: int
    completion_produced: int
    completion_expected: int

    @property
    def share(self) -> float | None:
        """Produced share without interval bounds; None where nothing is expected."""
        if self.completion_expected == 0:
            return None
        return self.completion_produced / self.completion_expected


@dataclass(frozen=True, slots=True)
class Denominators:
    """The three bases that a share of cells can have."""

    produced: int
    expected: int
    expected_without_infrastructure_failure: int


@dataclass(frozen=True, slots=True)
class RollUpGrade:
    """A table's grade under one cell rule and roll-up. None where no cell could be graded.

    `truth` says which cells it is over: those read in print (or of undeclared source), those
    recalled, or all.
    """

    cell_rule: str
    roll_up: str
    grade: Letter | None
    score: float | None
    n_cells: int
    truth: Literal["seen", "recalled", "all"] = "all"


@dataclass(frozen=True, slots=True)
class SignAgreement:
    """Coefficients with published and reproduced value both non-zero, and how many agree.

    Other statistics are left out: a standard error or a count has no sign to miss.

    `positive` is how many an arm would get right that answers with positive numbers only.
    """

    compared: int
    agreeing: int
    positive: int


@dataclass(frozen=True, slots=True)
class ScaledDeviations:
    """Estimates with a published standard error, and how many lie within 1.96 of it.

    `within_zero` is what an arm of zeros would reach; `significant` counts estimates that are
    at least 1.96 of their standard errors away from zero.
    """

    compared: int
    within: int
    within_print: int
    within_zero: int
    significant: int
    significant_within: int
    zero_standard_errors: int


@dataclass(frozen=True, slots=True)
class TableGrade:
    """One table under one rubric.

    Attributes
    ----------
    rubric, table, table_id : str
    kind : TableKind
    truth_kind : TruthKind or None
    gradable : bool
        False where the published table has no readable result cell; it stays in counts of
        tables and has no grade.
    grades : tuple of RollUpGrade
        Over all cells.
    grades_by_truth : tuple of RollUpGrade
        Over the cells read in print, and over those recalled; only where there are any.
    coverage : Coverage
    letters : dict of str to dict of str to int
        Cells by letter, by the name of the cell rule.
    factor : float
        The table's factor under `table_median`; 1 otherwise.
    rescaled_cells, weak_cells : int
    aligned_by : {"key", "labels", "none"}
    signs : SignAgreement
    scaled : ScaledDeviations
    reasons : dict of str to int
        Cells by reason.
    problems : tuple of str
        What was wrong with the file, one line each.
    extra_cells : tuple of str
        Reproduced cells that the template does not have.
    cells : tuple of CellGrade
    """

    rubric: str
    table: str
    table_id: str
    kind: TableKind
    truth_kind: TruthKind | None
    gradable: bool
    grades: tuple[RollUpGrade, ...]
    coverage: Coverage
    letters: dict[str, dict[str, int]]
    factor: float
    rescaled_cells: int
    weak_cells: int
    aligned_by: Literal["key", "labels", "none"]
    signs: SignAgreement
    scaled: ScaledDeviations
    reasons: dict[str, int]
    problems: tuple[str, ...]
    extra_cells: tuple[str, ...]
    cells: tuple[CellGrade, ...]
    grades_by_truth: tuple[RollUpGrade, ...] = ()

    def roll_up(
        self, cell_rule: str, roll_up: str, truth: Literal["seen", "recalled", "all"] = "all"
    ) -> RollUpGrade:
        """Grade under the named cell rule and roll-up.

        Raises
        ------
        KeyError
            When the rubric has no such pair, or the table no cell of such truth.
        """
        for grade in (*self.grades, *self.grades_by_truth):
            if (grade.cell_rule, grade.roll_up, grade.truth) == (cell_rule, roll_up, truth):
                return grade
        raise KeyError((cell_rule, roll_up, truth))


@dataclass(frozen=True, slots=True)
class PaperRollUp:
    """A paper's grade under one cell rule, roll-up and kind of truth.

    `truth` says which cells its tables' grades are over: `seen` (read in print, or of undeclared
    source), `recalled`, or `all`.
    `arms` is the set of arms that a roll-up over several arms depends on.
    """

    cell_rule: str
    roll_up: str
    truth: Literal["seen", "recalled", "all"]
    grade: Letter | None
    score: float | None
    n_tables: int
    arms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PaperGrade:
    """One paper under one rubric: its tables, and what they add up to.

    `n_tables` counts every published table, also those that could not be graded.
    """

    rubric: str
    rubric_version: int
    rubric_hash: str
    paper_id: str | None
    headline: tuple[str, str]
    grades: tuple[PaperRollUp, ...]
    coverage: Coverage
    denominators: Denominators
    letters: dict[str, dict[str, int]]
    n_tables: int
    n_gradable_tables: int
    rescaled_cells: int
    weak_cells: int
    signs: SignAgreement
    scaled: ScaledDeviations
    tables: tuple[TableGrade, ...]

    def roll_up(
        self, cell_rule: str, roll_up: str, truth: Literal["seen", "recalled", "all"] = "seen"
    ) -> PaperRollUp:
        """Grade under the named cell rule and roll-up.

        Raises
        ------
        KeyError
            When the rubric has no such pair.
        """
        for grade in self.grades:
            if (grade.cell_rule, grade.roll_up, grade.truth) == (cell_rule, roll_up, truth):
                return grade
        raise KeyError((cell_rule, roll_up, truth))


@dataclass(frozen=True, slots=True)
class GradeFile:
    """What `grade.json` holds: one paper's workspace under every rubric that was asked for.

    `problems` are those of the workspace as a whole: files that claim no table of the paper.
    `sources` maps a table's slug to the name of the file that was graded for it.
    """

    paper_id: str | None
    papers: tuple[PaperGrade, ...]
    problems: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)
    schema_version: int = GRADE_SCHEMA_VERSION

    def paper(self, rubric: str) -> PaperGrade:
        """Grade of the paper under the named rubric.

        Raises
        ------
        KeyError
            When the file holds no grade under it.
        """
        for paper in self.papers:
            if paper.rubric == rubric:
                return paper
        raise KeyError(rubric)


@dataclass(frozen=True, slots=True)
class MovedCell:
    """A cell whose letter differs between two gradings. None is a cell that one lacks."""

    table: str
    row: int
    col: int
    part: int
    metric: Metric
    row_label: str
    col_labels: tuple[str, ...]
    published: float | None
    reproduced_raw: float | None
    before: Letter | None
    after: Letter | None
    before_deviation: float | None
    after_deviation: float | None
    reason: Reason


def grade_file_to_json(grades: GradeFile) -> bytes:
    """JSON of a grade file: indented, with each cell on one line, so that it can be read."""
    from data.records.files import record_to_values

    values = record_to_values(grades)
    lines: list[str] = []

    def park(cells: list[Any]) -> list[str]:
        start = len(lines)
        lines.extend(_compact(cell) for cell in cells)
        return [f"\x00{number}\x00" for number in range(start, len(lines))]

    for paper in values["papers"]:
        for table in paper["tables"]:
            table["cells"] = park(table["cells"])
    text = json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False)
    pieces = text.split('"\\u0000')
    whole = [pieces[0]]
    for piece in pieces[1:]:
        number, _, rest = piece.partition('\\u0000"')
        whole.extend((lines[int(number)], rest))
    return "".join(whole).encode("utf-8", errors="backslashreplace") + b"\n"


def grade_file_from_json(content: bytes, *, where: str) -> GradeFile:
    """Grade file from its JSON.

    Raises
    ------
    RecordError
        When the text is not such a record.
    """
    from data.records.files import record_from_json

    return record_from_json(GradeFile, content, where=where)


def _compact(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
