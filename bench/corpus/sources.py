"""Published tables from their written sources: `truth.csv` and `layout.toml`.

`truth.csv` holds values as printed, without brackets and stars; `layout.toml` holds the printed
order, labels and formats. A printed cell exists where the layout has a place and the truth has a
value for it. Everything that does not fit is collected and named; nothing is guessed or dropped.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal

from data.records.errors import UserError
from data.records.files import record_from_values, record_to_values
from data.records.metrics import Metric
from data.records.papers import Paper
from data.records.tables import (
    Cell,
    CellKey,
    HeaderSpan,
    Panel,
    Row,
    StarLevel,
    Table,
    TableKind,
    TruthKind,
)

__all__ = [
    "TRUTH_COLUMNS",
    "Layout",
    "LayoutColumn",
    "LayoutRow",
    "LayoutTable",
    "PrintedNumber",
    "SourceError",
    "TruthRow",
    "printed_number",
    "published_tables",
    "read_layout",
    "read_truth",
    "unread_keys",
]

TRUTH_COLUMNS: Final = (
    "table",
    "row",
    "column",
    "metric",
    "published",
    "stars",
    "truth_kind",
    "source",
)
UNVERIFIED: Final = "unverified"

_BELONGS_TO_ESTIMATE: Final = frozenset(
    {
        Metric.STANDARD_ERROR,
        Metric.T_STATISTIC,
        Metric.Z_STATISTIC,
        Metric.P_VALUE,
        Metric.CI_LOWER,
        Metric.CI_UPPER,
    },
)
_NUMBER: Final = re.compile(
    r"(?P<bound>[<>≤≥]?)\s*(?P<sign>[-+−–]?)\s*"
    r"(?P<whole>[1-9]\d{0,2}(?:,\d{3})+|\d*)(?:\.(?P<fraction>\d*))?"
    r"(?:[eE](?P<power>[-+−]?\d+))?\s*%?",
)
_SLUG: Final = re.compile(r"[a-z0-9_]+")


class SourceError(UserError):
    """What does not fit in a paper's sources, one line each."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(self.lines))


# --------------------------------------------------------------------------- records


@dataclass(frozen=True, slots=True)
class TruthRow:
    """One line of `truth.csv`: where the value stands, the value as printed, how it is known."""

    table: str
    row: str
    column: str
    metric: Metric
    published: str
    stars: int | None
    truth_kind: TruthKind
    source: str
    line: int


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A printed number: its value, the digits after its point, and the bound before it."""

    value: float
    decimals: int
    bound: str = ""


@dataclass(frozen=True, slots=True)
class LayoutColumn:
    """A value column.

    `key` is the truth's name for it (the label, where not given); `truth_column` replaces the
    key where several columns print statistics of one model, each with its `metric`. `of` is the
    key of the column that holds the estimate of a standard error, t or p.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    label: str
    key: str | None = None
    metric: Metric | None = None
    truth_column: str | None = None
    of: str | None = None
    unit: str | None = None

    @property
    def name(self) -> str:
        """Key of the column."""
        return self.label if self.key is None else self.key


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """A printed body row, or (with `part`) a second statistic in the places of the row before.

    Attributes
    ----------
    label : str
        As printed; empty where the print has none.
    key : str or None
        The truth's name for the row. Without it: the label, and under an empty label the key
        of the entry above.
    metric, format, unit : str or None
        For all columns; `metrics`, `formats`, `units` say it by column key.
    below : Metric or None
        Shorthand for one more row under this one, without label, in parentheses, belonging to
        this one: the usual standard error.
    of : int or None
        Offset, in entries, to the one that holds the estimate.
    values : tuple of str
        Texts of a row of settings, one a column.
    panel : str or None
    part : int
    row_of : int or None
        Offset, in entries, to one of the same printed row.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    label: str
    key: str | None = None
    metric: Metric | None = None
    metrics: dict[str, Metric] | None = None
    format: str | None = None
    formats: dict[str, str] | None = None
    unit: str | None = None
    units: dict[str, str] | None = None
    below: Metric | None = None
    of: int | None = None
    values: tuple[str, ...] = ()
    panel: str | None = None
    part: int = 0
    row_of: int | None = None


@dataclass(frozen=True, slots=True)
class LayoutTable:
    """A table as printed, without its values."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    slug: str
    id: str
    columns: tuple[LayoutColumn, ...]
    rows: tuple[LayoutRow, ...]
    number: str | None = None
    caption: str = ""
    kind: TableKind = TableKind.MAIN
    notes: str = ""
    layout: Literal["printed", "partly", "unknown"] = "partly"
    star_levels: tuple[StarLevel, ...] = ()
    header: tuple[tuple[HeaderSpan, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """All tables of a paper, in its own order."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    tables: tuple[LayoutTable, ...]


# --------------------------------------------------------------------------- reading


def printed_number(text: str) -> PrintedNumber | None:
    """Value and precision of a number as printed, None where the text is no single number.

    Takes thousands commas, a leading point, any minus, a bound, a percent sign and a power of
    ten; `decimals` counts the digits after the point as printed, less the power.
    """
    found = _NUMBER.fullmatch(text.strip())
    if found is None or not (found["whole"] or found["fraction"]):
        return None
    fraction = found["fraction"] or ""
    power = int((found["power"] or "0").replace("−", "-"))
    value = float(f"{found['whole'].replace(',', '') or '0'}.{fraction or '0'}e{power}")
    if found["sign"] in ("-", "−", "–"):
        value = -value
    return PrintedNumber(value, max(len(fraction) - power, 0), found["bound"])


def unread_keys(given: Any, read: Any, place: str = "") -> Iterator[str]:
    """Places of the keys in `given` that a record made from it does not know.

    Parameters
    ----------
    given : object
        What the file held: dicts, lists, plain values.
    read : object
        Plain values of the record.
    """
    if isinstance(given, Mapping) and isinstance(read, Mapping):
        for key, value in given.items():
            here = f"{place}.{key}" if place else str(key)
            if key not in read:
                yield here
            else:
                yield from unread_keys(value, read[key], here)
    elif isinstance(given, (list, tuple)) and isinstance(read, list):
        for index, (one, other) in enumerate(zip(given, read, strict=False)):
            yield from unread_keys(one, other, f"{place}.{index}")


def read_layout(content: bytes, *, where: str) -> Layout:
    """Layout from the bytes of a `layout.toml`.

    Raises
    ------
    data.records.errors.RecordError
        Naming the field that is wrong, or the key that no layout has.
    """
    import tomllib

    try:
        values = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{where}: not valid TOML: {error}") from None
    layout = record_from_values(Layout, values, where=where)
    unread = list(unread_keys(values, record_to_values(layout)))
    if unread:
        raise SourceError([f"{where}: unknown key {key}" for key in unread])
    return layout


def read_truth(content: bytes, *, where: str) -> tuple[TruthRow, ...]:
    """Rows of a `truth.csv`, unverified ones left out.

    Raises
    ------
    SourceError
        One line for each row that cannot be used: an unknown metric or truth kind, a value
        that is no number, stars that are no count, a value given twice.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: not UTF-8: {error.reason} at byte {error.start}") from None
    try:
        return _read_truth(text, where)
    except csv.Error as error:
        raise UserError(f"{where}: not valid CSV: {error}") from None


def _read_truth(text: str, where: str) -> tuple[TruthRow, ...]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    missing = [name for name in TRUTH_COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        wanted = ", ".join(TRUTH_COLUMNS)
        raise UserError(f"{where}: no column {', '.join(missing)}; wanted are {wanted}")
    rows: list[TruthRow] = []
    problems: list[str] = []
    seen: dict[tuple[str, str, str, str], int] = {}
    for record in reader:
        if record["truth_kind"] == UNVERIFIED:
            continue
        line = reader.line_num
        place = f"{where}:{line}"
        key = (record["table"], record["row"], record["column"], record["metric"])
        if key in seen:
            problems.append(f"{place}: {_name(*key)} stands in line {seen[key]} already")
        seen[key] = line
        row, problem = _truth_row(record, line)
        if row is None:
            problems.append(f"{place}: {problem}")
        else:
            rows.append(row)
    if problems:
        raise SourceError(problems)
    return tuple(rows)


def _truth_row(record: Mapping[str, str | None], line: int) -> tuple[TruthRow | None, str]:
    values = {name: (record.get(name) or "").strip() for name in TRUTH_COLUMNS}
    metrics = {metric.value for metric in Metric}
    kinds = {kind.value for kind in TruthKind}
    if values["metric"] not in metrics:
        return None, f"metric {values['metric']!r} is unknown; known are {', '.join(Metric)}"
    if values["truth_kind"] not in kinds:
        return None, f"truth_kind {values['truth_kind']!r} is none of seen, recalled, unverified"
    if printed_number(values["published"]) is None:
        return None, f"published value {values['published']!r} is no number"
    if values["stars"] and not values["stars"].isdecimal():
        return None, f"stars {values['stars']!r} is no count (blank means unknown)"
    row = TruthRow(
        table=values["table"],
        row=values["row"],
        column=values["column"],
        metric=Metric(values["metric"]),
        published=values["published"],
        stars=int(values["stars"]) if values["stars"] else None,
        truth_kind=TruthKind(values["truth_kind"]),
        source=values["source"],
        line=line,
    )
    return row, ""


def _name(table: str, row: str, column: str, metric: str) -> str:
    return f"{table} / {row} / {column} / {metric}"


# --------------------------------------------------------------------------- building


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of the layout with everything resolved: its printed row, key, labels."""

    position: int
    source: LayoutRow
    key: str
    row: int
    label: str
    target: int | None


def _expanded(rows: Sequence[LayoutRow]) -> tuple[list[LayoutRow], list[int]]:
    """Rows with `below` written out, and the source position of each."""
    expanded: list[LayoutRow] = []
    origin: list[int] = []
    for position, row in enumerate(rows):
        expanded.append(row)
        origin.append(position)
        if row.below is not None:
            under = replace(
                row,
                label="",
                metric=row.below,
                metrics=None,
                format="({})",
                formats=None,
                below=None,
                of=-1,
            )
            expanded.append(replace(under, key=row.key or row.label or None))
            origin.append(position)
    return expanded, origin


def _entries(table: LayoutTable, problems: list[str]) -> list[_Entry]:
    """Entries of a table, offsets resolved. Offsets count the file's own entries."""
    expanded, origin = _expanded(table.rows)
    first_of = {source: index for index, source in reversed(list(enumerate(origin)))}
    entries: list[_Entry] = []
    printed = -1
    for index, row in enumerate(expanded):
        where = f"layout.toml: {table.slug}: row entry {origin[index]} ({row.label!r})"
        if row.row_of is not None:
            same = first_of.get(origin[index] + row.row_of)
            if same is None or same >= index:
                problems.append(f"{where}: row_of points to nothing")
                continue
            printed_row, label_above = entries[same].row, entries[same].label
        else:
            printed += 1
            printed_row, label_above = printed, entries[-1].label if entries else ""
        key = row.key or row.label or (entries[-1].key if entries else "")
        target: int | None = None
        if row.of is not None:
            is_written_below = index > 0 and origin[index] == origin[index - 1]
            target = index - 1 if is_written_below else first_of.get(origin[index] + row.of)
            if target is None:
                problems.append(f"{where}: of points to nothing")
        label = row.label or label_above
        entries.append(_Entry(index, row, key, printed_row, label, target))
    return entries


def _metric_at(row: LayoutRow, column: LayoutColumn) -> Metric | None:
    if row.metrics is not None and column.name in row.metrics:
        return row.metrics[column.name]
    return row.metric or column.metric


def _format_at(row: LayoutRow, column: LayoutColumn) -> str:
    if row.formats is not None and column.name in row.formats:
        return row.formats[column.name]
    return row.format or ("{}" if row.of is None else "({})")


def _unit_at(row: LayoutRow, column: LayoutColumn) -> str | None:
    if row.units is not None and column.name in row.units:
        return row.units[column.name]
    return row.unit or column.unit


def _marks(stars: int | None, levels: Sequence[StarLevel]) -> str:
    if not stars:
        return ""
    ordered = sorted(levels, key=lambda level: -level.p_below)
    return ordered[stars - 1].mark if stars <= len(ordered) else "*" * stars


def _header(table: LayoutTable) -> tuple[tuple[HeaderSpan, ...], ...]:
    labels = tuple(
        HeaderSpan(column.label, index, index) for index, column in enumerate(table.columns)
    )
    return (*table.header, labels)


def _column_labels(header: Sequence[Sequence[HeaderSpan]], column: int) -> tuple[str, ...]:
    return tuple(
        next((span.text for span in level if span.first <= column <= span.last), "")
        for level in header
    )


def _panels(rows: Sequence[Row]) -> tuple[Panel, ...]:
    panels: list[Panel] = []
    for row in rows:
        if row.panel is None:
            continue
        if panels and panels[-1].label == row.panel and panels[-1].last == row.index - 1:
            panels[-1] = replace(panels[-1], last=row.index)
        else:
            panels.append(Panel(row.panel, row.index, row.index))
    return tuple(panels)


def _column_problems(table: LayoutTable, names: Sequence[str], where: str) -> Iterator[str]:
    for level in table.header:
        for span in level:
            if not 0 <= span.first <= span.last < len(names):
                yield f"{where}: header {span.text!r}: no columns {span.first} to {span.last}"
    for column in table.columns:
        if column.of is not None and column.of not in names:
            yield f"{where}: column {column.name!r}: of points to nothing ({column.of!r})"


def _shape_problems(table: LayoutTable) -> Iterator[str]:
    where = f"layout.toml: {table.slug}"
    if not _SLUG.fullmatch(table.slug):
        yield f"{where}: a slug has small letters, digits and underscores only"
    names = [column.name for column in table.columns]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{where}: two columns have the key {name!r}"
    yield from _column_problems(table, names, where)
    for position, row in enumerate(table.rows):
        here = f"{where}: row entry {position} ({row.label!r})"
        for words in (row.metrics, row.formats, row.units):
            for name in sorted(set(words or ()) - set(names)):
                yield f"{here}: no column has the key {name!r}"
        for form in (row.format, *(row.formats or {}).values()):
            if form is not None and form.count("{}") != 1:
                yield f"{here}: the format {form!r} needs {{}} exactly once"
        is_setting = row.metric in (Metric.SETTING, Metric.TEXT)
        if is_setting and len(row.values) != len(names):
            yield f"{here}: {len(row.values)} values for {len(names)} columns"
        if row.values and not is_setting:
            yield f"{here}: values belong to rows whose metric is setting or text"


class _TableBuilder:
    """Collects the cells of one table, and what does not fit."""

    def __init__(
        self,
        table: LayoutTable,
        truth: Mapping[tuple[str, str, Metric], TruthRow],
        problems: list[str],
    ) -> None:
        self.table = table
        self.truth = truth
        self.problems = problems
        self.header = _header(table)
        self.entries = _entries(table, problems)
        self.used: dict[tuple[str, str, Metric], int] = {}
        self.cells: dict[CellKey, Cell] = {}
        self.of_entry: dict[tuple[int, int], CellKey] = {}

    def add_all(self) -> None:
        for entry in self.entries:
            for index, column in enumerate(self.table.columns):
                if entry.source.values:
                    self._add_setting(entry, index)
                else:
                    self._add_result(entry, index, column)

    def _add(self, entry: _Entry, cell: Cell) -> None:
        if cell.key in self.cells:
            self.problems.append(
                f"layout.toml: {self.table.slug}: two cells at row {cell.row}, column {cell.col}, "
                f"part {cell.part} (row entry {entry.position}); give the second its own part",
            )
            return
        self.cells[cell.key] = cell
        self.of_entry[entry.position, cell.col] = cell.key

    def _bare(self, entry: _Entry, index: int, metric: Metric) -> Cell:
        return Cell(
            row=entry.row,
            col=index,
            part=entry.source.part,
            metric=metric,
            row_label=entry.label,
            col_labels=_column_labels(self.header, index),
            panel=entry.source.panel,
        )

    def _add_setting(self, entry: _Entry, index: int) -> None:
        text = entry.source.values[index]
        if text:
            metric = entry.source.metric or Metric.SETTING
            self._add(entry, replace(self._bare(entry, index, metric), text=text))

    def _add_result(self, entry: _Entry, index: int, column: LayoutColumn) -> None:
        metric = _metric_at(entry.source, column)
        if metric is None:
            return
        key = (entry.key, column.truth_column or column.name, metric)
        row = self.truth.get(key)
        if row is None:
            return
        if key in self.used:
            self.problems.append(
                f"layout.toml: {self.table.slug}: {_name(self.table.slug, *key)} has two places: "
                f"row entries {self.used[key]} and {entry.position}",
            )
            return
        self.used[key] = entry.position
        number = printed_number(row.published)
        if number is None:  # pragma: no cover - read_truth has refused it
            raise AssertionError(row.published)
        form = _format_at(entry.source, column)
        text = form.replace("{}", row.published) + _marks(row.stars, self.table.star_levels)
        cell = replace(
            self._bare(entry, index, metric),
            text=text,
            value=number.value,
            decimals=number.decimals,
            stars=row.stars,
            unit=_unit_at(entry.source, column),
            truth_kind=row.truth_kind,
        )
        self._add(entry, cell)

    def linked(self) -> tuple[Cell, ...]:
        """Cells in printed order, each with the estimate that it belongs to."""
        links: dict[CellKey, CellKey] = {}
        for entry in self.entries:
            for index, column in enumerate(self.table.columns):
                key = self.of_entry.get((entry.position, index))
                if key is None or not self.cells[key].is_graded:
                    continue
                estimate = self._estimate(entry, index, column, self.cells[key])
                if estimate is not None and estimate != key:
                    links[key] = estimate
        ordered = sorted(self.cells.values(), key=lambda cell: cell.key)
        return tuple(replace(cell, of=links.get(cell.key)) for cell in ordered)

    def _estimate(
        self, entry: _Entry, index: int, column: LayoutColumn, cell: Cell
    ) -> CellKey | None:
        if entry.target is not None:
            return self.of_entry.get((entry.target, index))
        if cell.metric not in _BELONGS_TO_ESTIMATE:
            return None
        if column.of is not None:
            names = [one.name for one in self.table.columns]
            return self.of_entry.get((entry.position, names.index(column.of)))
        if column.metric is None:
            return None
        beside = [
            key
            for (position, _), key in self.of_entry.items()
            if position == entry.position and self.cells[key].metric is Metric.COEFFICIENT
        ]
        return beside[0] if len(beside) == 1 else None


def _rows_of(entries: Sequence[_Entry]) -> tuple[Row, ...]:
    firsts: dict[int, _Entry] = {}
    for entry in entries:
        firsts.setdefault(entry.row, entry)
    return tuple(
        Row(index, entry.source.label, entry.source.panel)
        for index, entry in sorted(firsts.items())
    )


def _nearest(row: TruthRow, table: LayoutTable) -> str:
    """What the layout has that may have been meant, for a message."""
    from rapidfuzz import process

    rows = [entry.key or entry.label for entry in table.rows]
    for kind, given, known in (
        ("row", row.row, rows),
        ("column", row.column, [column.name for column in table.columns]),
    ):
        if given not in known:
            best = process.extractOne(given, known)
            return f": no {kind} {given!r}; nearest is {best[0]!r}" if best else ""
    return f": row {row.row!r} prints no {row.metric} there"


def _built(
    paper: Paper, table: LayoutTable, rows: Sequence[TruthRow], problems: list[str]
) -> Table | None:
    shape = list(_shape_problems(table))
    if shape:
        problems.extend(shape)
        return None
    truth = {(row.row, row.column, row.metric): row for row in rows}
    builder = _TableBuilder(table, truth, problems)
    builder.add_all()
    for key, row in truth.items():
        if key not in builder.used:
            problems.append(
                f"truth.csv:{row.line}: {_name(table.slug, *key)} has no place in the layout"
                f"{_nearest(row, table)}",
            )
    stated = next((one for one in paper.tables if one.slug == table.slug), None)
    if stated is None:
        problems.append(f"paper.toml: no [[tables]] entry for {table.slug}")
        return None
    kinds = {row.truth_kind for row in rows}
    if len(kinds) == 1 and stated.truth_kind not in kinds:
        problems.append(
            f"paper.toml: {table.slug} says {stated.truth_kind}, every value in truth.csv "
            f"says {kinds.pop()}",
        )
    printed_rows = _rows_of(builder.entries)
    return Table(
        id=table.id,
        slug=table.slug,
        cells=builder.linked(),
        paper_id=paper.id,
        number=table.number,
        caption=table.caption,
        kind=table.kind,
        truth_kind=stated.truth_kind,
        header=builder.header,
        rows=printed_rows,
        panels=_panels(printed_rows),
        n_columns=len(table.columns),
        notes=table.notes,
        star_levels=table.star_levels,
        rounding=paper.rounding,
    )


def published_tables(
    paper: Paper, layout: Layout, truth: Sequence[TruthRow]
) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Build the published tables of a paper; name each thing that does not fit in one line.

    Parameters
    ----------
    paper : Paper
    layout : Layout
    truth : sequence of TruthRow

    Returns
    -------
    tables : tuple of Table
        In the layout's order; incomplete when there are problems.
    problems : tuple of str
        Empty when every value has exactly one place and every link an end.
    """
    problems: list[str] = []
    by_table: dict[str, list[TruthRow]] = {}
    for row in truth:
        by_table.setdefault(row.table, []).append(row)
    slugs = [table.slug for table in layout.tables]
    problems += [
        f"layout.toml: two tables have the slug {slug!r}"
        for slug in sorted({slug for slug in slugs if slugs.count(slug) > 1})
    ]
    problems += [
        f"truth.csv: table {slug!r} is not in layout.toml"
        for slug in sorted(set(by_table) - set(slugs))
    ]
    problems += [
        f"paper.toml: table {one.slug!r} is not in layout.toml"
        for one in paper.tables
        if one.slug not in slugs
    ]
    built = [
        _built(paper, table, by_table.get(table.slug, []), problems) for table in layout.tables
    ]
    return tuple(table for table in built if table is not None), tuple(problems)
