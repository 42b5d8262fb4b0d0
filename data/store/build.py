"""From run directories to one DuckDB file.

Every run directory is read once; rows are gathered as columns and inserted as Arrow tables, in
key order, into a temporary file that then takes the store's name. A rebuild over the same
directories gives the same rows. What can't be read is listed in `problems` and never stops the
rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from data.records.errors import RecordError, UserError
from data.records.files import record_from_json, record_to_values
from data.records.grades import GradeFile, Rubric
from data.records.metrics import COMPLETION_EXCLUDED
from data.records.papers import Paper
from data.records.runs import Arm, Isolation, RunRecord, RunSpec, RunStatus, run_spec_hash
from data.records.tables import Cell, Table, TruthKind
from data.store.artifacts import artifact_rows
from data.store.grades import grade_rows

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "BASELINE_KIND",
    "STORE_SCHEMA_VERSION",
    "BaselineRun",
    "BuildReport",
    "PublishedPaper",
    "build_store",
    "papers_of_runs",
]

STORE_SCHEMA_VERSION: Final = 2
BASELINE_KIND: Final = "baseline"

_BATCH_ROWS: Final = 200_000
_WRITE_ORDER: Final = (
    "meta",
    "papers",
    "tables",
    "cells",
    "arms",
    "runs",
    "attempts",
    "interruptions",
    "reproduced_cells",
    "rubrics",
    "cell_grades",
    "table_grades",
    "paper_grades",
    "artifacts",
    "problems",
)

_MAGIC: Final = b"DUCK"
_MAGIC_AT: Final = 8

Rows = dict[str, list[dict[str, Any]]]
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PublishedPaper:
    """A paper with its published tables, as the store takes them in."""

    paper: Paper
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """Grades of a rule of thumb (all zero, rows shuffled) on one paper, shown beside the arms."""

    name: str
    paper_id: str
    grades: GradeFile


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What went into a store: counts, and the problems met on the way."""

    store: Path
    papers: int
    runs: int
    graded: int
    problems: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Run:
    """One run as it lies on disk; `record` and `grade` are None where there is none to read."""

    run_id: str
    path: Path
    spec: RunSpec
    record: RunRecord | None
    grade: GradeFile | None


Problems = list[tuple[str, str]]


def _run_paths(runs: Path) -> list[Path]:
    """Run directories below a leaderboard's folder: paper / arm / repetition.

    A report, which may lie beside them, is none of them.
    """
    return sorted(
        path
        for path in runs.glob("*/*/*")
        if path.is_dir()
        and not any(part.startswith(".") for part in path.relative_to(runs).parts)
        and not (runs / path.relative_to(runs).parts[0] / "index.html").exists()
    )


def papers_of_runs(runs: Path) -> tuple[str, ...]:
    """Ids of the papers that a leaderboard's folder holds runs of, in order."""
    return tuple(sorted({path.parent.parent.name for path in _run_paths(runs)}))


def _read_record(path: Path, kind: type[R], where: str, problems: Problems) -> R | None:
    try:
        return record_from_json(kind, path.read_bytes(), where=where)
    except FileNotFoundError:
        return None
    except (RecordError, OSError) as error:
        problems.append((where, str(error)))
        return None


def _read_run(path: Path, runs: Path, problems: Problems) -> _Run | None:
    """One run directory; None, with a problem noted, where its spec can't be read."""
    run_id = path.relative_to(runs).as_posix()
    before = len(problems)
    spec = _read_record(path / "spec.json", RunSpec, f"{run_id}/spec.json", problems)
    if spec is None:
        if len(problems) == before:
            problems.append((run_id, "spec.json is missing: not a run directory"))
        return None
    named = f"{spec.paper.paper_id}/{spec.arm.name}/{spec.repetition}"
    record = _read_record(path / "run.json", RunRecord, f"{run_id}/run.json", problems)
    if record is not None and (record.paper_id, record.arm, record.repetition) != (
        spec.paper.paper_id,
        spec.arm.name,
        spec.repetition,
    ):
        problems.append((f"{run_id}/run.json", f"belongs to another run than spec.json ({named})"))
        return None
    if record is not None and record.spec_hash != run_spec_hash(spec):
        problems.append((f"{run_id}/run.json", "its spec_hash is not that of spec.json"))
    grade = None
    if record is not None:
        grade = _read_record(path / "grade.json", GradeFile, f"{run_id}/grade.json", problems)
        if record.gradable and grade is None and not (path / "grade.json").exists():
            problems.append((f"{run_id}/grade.json", "missing: the run is gradable and ungraded"))
    return _Run(named, path, spec, record, grade)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _paper_row(paper: Paper) -> dict[str, Any]:
    values = record_to_values(paper)
    return {name: value for name, value in values.items() if name in _PAPER_COLUMNS} | {
        "paper_id": paper.id,
    }


_PAPER_COLUMNS: Final = frozenset(
    {
        "title",
        "authors",
        "year",
        "journal",
        "discipline",
        "doi",
        "published",
        "code_languages",
        "lines_of_code",
        "licence",
        "data_source",
        "verified_by",
        "sufficiency",
        "sufficiency_note",
        "provenance",
        "rounding",
        "version",
    },
)


def _truth_kinds(published: PublishedPaper) -> dict[str, TruthKind | None]:
    """How the values of each table are known, where its cells do not say."""
    declared = {source.slug: source.truth_kind for source in published.paper.tables}
    return {table.slug: table.truth_kind or declared.get(table.slug) for table in published.tables}


def _table_rows(published: PublishedPaper) -> Iterator[dict[str, Any]]:
    sources = {source.slug: source for source in published.paper.tables}
    kinds = _truth_kinds(published)
    for position, table in enumerate(published.tables):
        source = sources.get(table.slug)
        kind = kinds[table.slug]
        yield {
            "paper_id": published.paper.id,
            "table_slug": table.slug,
            "table_id": table.id,
            "position": position,
            "number": table.number,
            "caption": table.caption,
            "kind": table.kind.value,
            "truth_kind": kind.value if kind else None,
            "layout": source.layout if source else None,
            "source": source.source if source else None,
            "n_columns": table.n_columns,
            "notes": table.notes,
            "readable": table.readable,
            "header": _json([[asdict(span) for span in level] for level in table.header]),
            "body_rows": _json([asdict(row) for row in table.rows]),
            "panels": _json([asdict(panel) for panel in table.panels]),
            "star_levels": _json([asdict(level) for level in table.star_levels]),
            "rounding": table.rounding,
        }


def _cell_row(
    paper_id: str, table_slug: str, cell: Cell, of_table: TruthKind | None
) -> dict[str, Any]:
    of = cell.of
    # A value whose source is not stated was read in print.
    kind = cell.truth_kind or of_table or TruthKind.SEEN
    return {
        "paper_id": paper_id,
        "table_slug": table_slug,
        "row": cell.row,
        "col": cell.col,
        "part": cell.part,
        "metric": cell.metric.value,
        "is_graded": cell.is_graded,
        "in_completion": cell.is_graded and cell.metric not in COMPLETION_EXCLUDED,
        "row_label": cell.row_label,
        "col_labels": list(cell.col_labels),
        "panel": cell.panel,
        "text": cell.text,
        "value": cell.value,
        "decimals": cell.decimals,
        "stars": cell.stars,
        "of_row": of[0] if of else None,
        "of_col": of[1] if of else None,
        "of_part": of[2] if of else None,
        "unit": cell.unit,
        "truth_kind": kind.value,
    }


def _rubric_row(rubric: Rubric) -> dict[str, Any]:
    return {
        "rubric": rubric.name,
        "version": rubric.version,
        "description": rubric.description,
        "headline_cell_rule": rubric.headline[0],
        "headline_roll_up": rubric.headline[1],
        "scores": list(rubric.scores),
        "content": _json(record_to_values(rubric)),
    }


def _arm_row(arm: Arm) -> dict[str, Any]:
    return {
        "arm": arm.name,
        "kind": arm.kind,
        "scaffold": arm.scaffold,
        "model": arm.model,
        "provider": arm.provider,
        "knowledge_cutoff": arm.knowledge_cutoff,
        "methods_variant": arm.methods_variant,
        "named": arm.named,
        "options": _json(arm.options),
    }


def _unfinished_status(path: Path) -> str:
    """Status of a run without run.json: an attempt was begun, it was claimed, or neither."""
    if any(path.glob("attempt_*")):
        return RunStatus.RUNNING.value
    return RunStatus.CLAIMED.value if (path / "claim").exists() else RunStatus.PLANNED.value


def _money(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        return None


def _run_row(run: _Run) -> dict[str, Any]:
    spec, record = run.spec, run.record
    accepted = None
    if record is not None:
        accepted = next(
            (one for one in record.attempts if one.number == record.accepted_attempt),
            record.attempts[-1] if record.attempts else None,
        )
    usage = record.usage if record else None
    isolation: Isolation = accepted.isolation if accepted else spec.isolation
    return {
        "run_id": run.run_id,
        "paper_id": spec.paper.paper_id,
        "arm": spec.arm.name,
        "repetition": spec.repetition,
        "spec_hash": run_spec_hash(spec),
        "methods_hash": spec.paper.methods,
        "templates_hash": spec.paper.templates,
        "data_hash": spec.paper.data,
        "seed": spec.seed,
        "status": record.status.value if record else _unfinished_status(run.path),
        "gradable": bool(record and record.gradable),
        "graded": run.grade is not None,
        "accepted_attempt": record.accepted_attempt if record else None,
        "n_attempts": len(record.attempts) if record else 0,
        "isolation": isolation.value,
        "wall_limit_seconds": spec.limits.wall_seconds,
        "memory_limit_bytes": spec.limits.memory_bytes,
        "wall_seconds": accepted.wall_seconds if accepted else None,
        "calls": usage.calls if usage else None,
        "input_tokens": usage.input_tokens if usage else None,
        "cached_tokens": usage.cached_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "reasoning_tokens": usage.reasoning_tokens if usage else None,
        "cost_usd": _money(usage.cost_usd) if usage else None,
        "produced": list(record.produced) if record else [],
        "versions": _json(record.versions if record else {}),
    }


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _attempt_rows(run: _Run) -> Iterator[dict[str, Any]]:
    for attempt in run.record.attempts if run.record else ():
        yield {
            "run_id": run.run_id,
            "attempt": attempt.number,
            "status": attempt.status.value,
            "started": _moment(attempt.started),
            "ended": _moment(attempt.ended),
            "wall_seconds": attempt.wall_seconds,
            "exit_code": attempt.exit_code,
            "signal": attempt.signal,
            "limit_hit": attempt.limit_hit,
            "cause": attempt.cause,
            "isolation": attempt.isolation.value,
        }


def _interruption_rows(run: _Run) -> Iterator[dict[str, Any]]:
    for attempt in run.record.interruptions if run.record else ():
        yield {
            "run_id": run.run_id,
            "number": attempt.number,
            "started": _moment(attempt.started),
            "last_seen": _moment(attempt.ended),
            "cause": attempt.cause,
        }


def _baseline_rows(baseline: BaselineRun) -> Rows:
    run_id = f"{baseline.paper_id}/{baseline.name}/1"
    run = dict.fromkeys(_RUN_COLUMNS) | {
        "run_id": run_id,
        "paper_id": baseline.paper_id,
        "arm": baseline.name,
        "repetition": 1,
        "status": RunStatus.FINISHED.value,
        "gradable": True,
        "graded": True,
        "n_attempts": 0,
        "produced": [],
        "versions": "{}",
    }
    return {"runs": [run], **grade_rows(run_id, baseline.grades)}


_RUN_COLUMNS: Final = (
    "spec_hash",
    "methods_hash",
    "templates_hash",
    "data_hash",
    "seed",
    "accepted_attempt",
    "isolation",
    "wall_limit_seconds",
    "memory_limit_bytes",
    "wall_seconds",
    "calls",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost_usd",
)


class _Writer:
    """Gathers rows and inserts them in batches; the only holder of the open file."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._waiting: dict[str, list[Any]] = defaultdict(list)
        self._count = 0
        self._columns = {table: _column_types(connection, table) for table in _WRITE_ORDER}
        self._keys = {
            str(table): [str(name) for name in names]
            for table, names in connection.execute(
                "SELECT table_name, constraint_column_names FROM duckdb_constraints() "
                "WHERE constraint_type = 'PRIMARY KEY'",
            ).fetchall()
        }

    def add(self, rows: Rows) -> None:
        """Queue rows that belong together, all or none; a full batch is written.

        Raises
        ------
        ValueError
            When a value does not fit its column, or two rows have one key.
        """
        tables = {name: self._table(name, some) for name, some in rows.items() if some}
        for name, table in tables.items():
            self._waiting[name].append(table)
            self._count += table.num_rows
        if self._count >= _BATCH_ROWS:
            self.flush()

    def _table(self, name: str, rows: list[dict[str, Any]]) -> Any:
        import pyarrow as pa

        try:
            table = pa.table(
                {
                    column: pa.array([row[column] for row in rows], _arrow_type(kind))
                    for column, kind in self._columns[name].items()
                },
            )
        except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
            raise ValueError(f"{name}: a value does not fit: {error}") from None
        keys = self._keys.get(name)
        if keys and table.select(keys).group_by(keys).aggregate([]).num_rows < table.num_rows:
            raise ValueError(f"{name}: two rows have one key ({', '.join(keys)})")
        return table

    def flush(self) -> None:
        """Write what waits, parents before children."""
        import pyarrow as pa

        for name in _WRITE_ORDER:
            waiting = self._waiting.pop(name, [])
            if waiting:
                self._connection.register("batch", pa.concat_tables(waiting))
                self._connection.execute(f'INSERT INTO "{name}" SELECT * FROM batch')  # noqa: S608
                self._connection.unregister("batch")
        self._count = 0


def _column_types(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    columns = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns "
        "WHERE table_name = ? ORDER BY ordinal_position",
        [table],
    ).fetchall()
    return {str(name): str(kind) for name, kind in columns}


def _arrow_type(kind: str) -> Any:
    """Arrow type that carries a column of the given database type."""
    import pyarrow as pa

    simple = {
        "VARCHAR": pa.string(),
        "JSON": pa.string(),
        "INTEGER": pa.int32(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "BLOB": pa.binary(),
        "VARCHAR[]": pa.list_(pa.string()),
        "DOUBLE[]": pa.list_(pa.float64()),
        "DECIMAL(18,6)": pa.decimal128(18, 6),
        "TIMESTAMP WITH TIME ZONE": pa.timestamp("us", tz="UTC"),
    }
    return simple[kind]


def _leaderboard_rows(
    leaderboard: str,
    published: Sequence[PublishedPaper],
) -> Rows:
    papers = sorted(published, key=lambda one: one.paper.id)
    return {
        "meta": [
            {"key": "leaderboard", "value": leaderboard},
            {"key": "schema_version", "value": str(STORE_SCHEMA_VERSION)},
        ],
        "papers": [_paper_row(one.paper) for one in papers],
        "tables": [row for one in papers for row in _table_rows(one)],
        "cells": [
            _cell_row(one.paper.id, table.slug, cell, kinds.get(table.slug))
            for one in papers
            for kinds in [_truth_kinds(one)]
            for table in one.tables
            for cell in table.cells
        ],
    }


def _baseline_arm(name: str) -> dict[str, Any]:
    arm = _arm_row(Arm(name=name, scaffold=BASELINE_KIND))
    return arm | {"kind": BASELINE_KIND}


def _collect(
    runs: Path,
    known: frozenset[str],
    writer: _Writer,
    problems: Problems,
) -> tuple[int, int]:
    """Read all run directories into the writer. Returns the numbers of runs and of graded ones."""
    arms: dict[str, Arm] = {}
    seen: set[str] = set()
    graded = 0
    for path in _run_paths(runs):
        run = _read_run(path, runs, problems)
        if run is None or not _is_welcome(run, known, seen, problems):
            continue
        arm = run.spec.arm
        rows = _rows_of_run(run, problems)
        if arm.name not in arms:
            rows["arms"] = [_arm_row(arm)]
        elif arms[arm.name] != arm:
            problems.append((run.run_id, f"arm {arm.name!r} has other options than before"))
        try:
            writer.add(rows)
        except ValueError as error:
            problems.append((run.run_id, str(error)))
            continue
        arms.setdefault(arm.name, arm)
        seen.add(run.run_id)
        graded += run.grade is not None
    return len(seen), graded


def _rows_of_run(run: _Run, problems: Problems) -> Rows:
    rows: Rows = {
        "runs": [_run_row(run)],
        "attempts": list(_attempt_rows(run)),
        "interruptions": list(_interruption_rows(run)),
    }
    if run.grade is not None:
        rows |= grade_rows(run.run_id, run.grade)
    if run.record is not None and run.record.accepted_attempt is not None:
        accepted = run.record.accepted_attempt
        rows["artifacts"] = artifact_rows(run.run_id, run.path, accepted, problems)
    return rows


def _is_welcome(run: _Run, known: frozenset[str], seen: set[str], problems: Problems) -> bool:
    if run.run_id in seen:
        problems.append((str(run.path.name), f"a second directory claims to be run {run.run_id}"))
        return False
    if run.spec.paper.paper_id not in known:
        problems.append((run.run_id, "its paper is not known: pass its folder with --paper"))
        return False
    if run.grade is not None and run.grade.paper_id not in (None, run.spec.paper.paper_id):
        problems.append((f"{run.run_id}/grade.json", "grades another paper"))
        return False
    return True


def build_store(
    runs: Path,
    papers: Sequence[PublishedPaper],
    *,
    baselines: Iterable[BaselineRun] = (),
    rubrics: Sequence[Rubric] = (),
    store: Path | None = None,
    problems: Sequence[tuple[str, str]] = (),
) -> BuildReport:
    """Build the store of one leaderboard.

    Parameters
    ----------
    runs : Path
        The leaderboard's folder, ``<paper>/<arm>/<repetition>`` below it.
    papers : sequence of PublishedPaper
        The publications, with the truth.
    baselines : iterable of BaselineRun
        Graded rules of thumb, stored as arms of kind ``baseline``.
    rubrics : sequence of Rubric
        Those that the grades may have been made under.
    store : Path, optional
        Where to; ``store.duckdb`` in the leaderboard's folder by default.
    problems : sequence of (path, text)
        Met before by the caller, to be listed with the others.

    Returns
    -------
    BuildReport

    Raises
    ------
    UserError
        When there is no such folder, or it holds no run directory.
    """
    if not runs.is_dir():
        raise UserError(f"{runs}: no such folder; give the folder of one leaderboard's runs")
    if not _run_paths(runs):
        raise UserError(f"{runs}: no run directories (paper/arm/repetition) below it")
    target = store or runs / "store.duckdb"
    found: Problems = list(problems)
    with _replacing(target) as connection:
        writer = _Writer(connection)
        writer.add(_leaderboard_rows(runs.resolve().name, papers))
        writer.add(
            {
                "rubrics": [
                    _rubric_row(one) for one in sorted(rubrics, key=lambda r: (r.name, r.version))
                ],
            },
        )
        known = frozenset(one.paper.id for one in papers)
        n_runs, n_graded = _collect(runs, known, writer, found)
        named = sorted(baselines, key=lambda one: (one.name, one.paper_id))
        writer.add({"arms": [_baseline_arm(n) for n in dict.fromkeys(b.name for b in named)]})
        for baseline in named:
            writer.add(_baseline_rows(baseline))
        writer.add({"problems": [{"path": path, "problem": text} for path, text in found]})
        writer.flush()
    return BuildReport(target, len(papers), n_runs, n_graded, tuple(found))


def _refuse_other_file(target: Path) -> None:
    """Refuse to write a store over something that is none."""
    if target.is_dir():
        raise UserError(f"{target} is a folder: name the store's file")
    if target.is_file():
        with target.open("rb") as file:
            head = file.read(_MAGIC_AT + len(_MAGIC))
        if head and head[_MAGIC_AT:] != _MAGIC:
            raise UserError(f"{target} is no store: it is not written over; name another file")


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a new store beside `target`; on success it takes the name, on failure it goes."""
    import duckdb

    _refuse_other_file(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(folder) / target.name
    try:
        connection = duckdb.connect(str(temporary))
        try:
            connection.execute("SET TimeZone = 'UTC'")
            for name in ("schema.sql", "views.sql"):
                connection.execute(files("data.store").joinpath(name).read_text())
            yield connection
            connection.execute("CHECKPOINT")
        finally:
            connection.close()
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        for left in Path(folder).iterdir():
            left.unlink()
        Path(folder).rmdir()
