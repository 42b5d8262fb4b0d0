"""R twins: the package's code run on the exported data, its values compared with the print.

A twin is a script in `package/code/`, run as ``Rscript FILE.R DATA_DIR OUT.csv``. It writes
columns `table,row,column,metric,value` with the keys of `layout.toml`. A paper may have several.
Data files stand in DATA_DIR as exported, each with a copy `<stem>.csv` beside it.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal

from bench.corpus.canonical import read_frame, write_frame
from bench.corpus.sources import PrintedNumber, TruthRow, printed_number
from data.corpus import PaperFolder
from data.records.errors import UserError

__all__ = [
    "REPRODUCTION_COLUMNS",
    "CellReproduction",
    "Match",
    "TwinRun",
    "compared_cells",
    "match_of",
    "r_version",
    "read_reproduction",
    "reproduction_csv",
    "run_twins",
]

REPRODUCTION_COLUMNS: Final = (
    "table",
    "row",
    "column",
    "metric",
    "published",
    "value",
    "match",
    "r_version",
)
_TWIN_COLUMNS: Final = REPRODUCTION_COLUMNS[:4]
_KEPT_VARIABLES: Final = (
    "PATH",
    "R_HOME",
    "R_LIBS",
    "R_LIBS_SITE",
    "R_LIBS_USER",
    "LD_LIBRARY_PATH",
)
_SLACK: Final = 1e-9

CellName = tuple[str, str, str, str]


class Match(StrEnum):
    """How a package's value stands to the print."""

    EXACT = "exact"
    WITHIN_2_PERCENT = "within_2pct"
    OFF = "off"
    NOT_PRODUCED = "not_produced"


@dataclass(frozen=True, slots=True)
class CellReproduction:
    """A published cell, what the package gives for it, and whether that prints the same."""

    cell: CellName
    published: str
    value: float | None
    match: Match
    r_version: str


@dataclass(frozen=True, slots=True)
class TwinRun:
    """What the twins of a paper gave: values by cell, and one line for each failure.

    `extra` names values for cells that are not published: a statistic that is not known, or a
    label that is not the layout's.
    """

    values: Mapping[CellName, float]
    problems: tuple[str, ...]
    r_version: str
    extra: tuple[str, ...] = ()


# --------------------------------------------------------------------------- comparing


def _prints_as(value: float, number: PrintedNumber, rounding: str) -> bool:
    size = abs(number.value)
    if number.bound in ("<", "≤"):
        return 0 <= value < size or (number.bound == "≤" and value == size)
    if number.bound in (">", "≥"):
        return value >= size
    unit = 10.0**-number.decimals
    if rounding == "truncate":
        sign = -1.0 if number.value < 0 else 1.0
        below = _SLACK * unit
        return size - below <= sign * value < size + unit
    return abs(value - number.value) <= unit * (0.5 + _SLACK)


def match_of(
    value: float | None, published: str, rounding: Literal["half_away", "truncate"] = "half_away"
) -> Match:
    """Compare a value at full precision with a printed one.

    `exact` when the value prints as published, by the paper's rounding; `within_2pct` when it is
    closer than two per cent of the published value; else `off`.
    """
    number = printed_number(published)
    if value is None or number is None or value != value:
        return Match.NOT_PRODUCED
    if _prints_as(value, number, rounding):
        return Match.EXACT
    if abs(value - number.value) < 0.02 * abs(number.value):
        return Match.WITHIN_2_PERCENT
    return Match.OFF


def compared_cells(
    truth: Sequence[TruthRow], run: TwinRun, rounding: Literal["half_away", "truncate"]
) -> tuple[CellReproduction, ...]:
    """Every published cell with its value from the package, in the order of `truth.csv`."""
    compared = []
    for row in truth:
        cell = (row.table, row.row, row.column, row.metric.value)
        value = run.values.get(cell)
        match = match_of(value, row.published, rounding)
        compared.append(CellReproduction(cell, row.published, value, match, run.r_version))
    return tuple(compared)


# --------------------------------------------------------------------------- running


def r_version(rscript: str) -> str:
    """Version of the R that `rscript` starts, as 4.2.2."""
    done = subprocess.run(
        [rscript, "--vanilla", "-e", "cat(as.character(getRversion()))"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode != 0:
        raise UserError(f"{rscript} does not run: {done.stderr.strip()[:200]}")
    return done.stdout.strip()


def _lay_out_data(folder: PaperFolder, data_dir: Path, to: Path) -> None:
    """Copy the data files, and write a CSV copy of each that is none."""
    for path in folder.data_files(data_dir):
        shutil.copyfile(path, to / path.name)
        copy = to / f"{path.stem}.csv"
        if path.suffix != ".csv" and not (data_dir / copy.name).exists():
            write_frame(read_frame(path), copy)


def _run_one(rscript: str, script: Path, data: Path, out: Path, limit: float) -> str | None:
    """Run one twin to its end or limit; one line about what went wrong, else None."""
    environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    environment |= {"HOME": str(out.parent), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    log = out.with_suffix(".log")
    with log.open("wb") as sink:
        child = subprocess.Popen(
            [rscript, "--vanilla", str(script), str(data), str(out)],
            cwd=out.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = child.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            return f"{script.name}: not done after {limit:g} seconds"
        finally:
            _end_group(child)
    if code != 0:
        said = log.read_text(errors="replace").strip().splitlines()
        return f"{script.name}: exit code {code}: {' '.join(said[-3:])[-300:]}"
    if not out.is_file():
        return f"{script.name}: wrote no {out.name}"
    return None


def _end_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _twin_values(content: str, script: str) -> tuple[dict[CellName, float], list[str]]:
    values: dict[CellName, float] = {}
    problems: list[str] = []
    reader = csv.DictReader(io.StringIO(content, newline=""))
    missing = [name for name in (*_TWIN_COLUMNS, "value") if name not in (reader.fieldnames or ())]
    if missing:
        return {}, [f"{script}: its output has no column {', '.join(missing)}"]
    for record in reader:
        table, row, column, metric = (record[name] for name in _TWIN_COLUMNS)
        cell = (table, row, column, metric)
        if cell in values:
            problems.append(f"{script}: gives {' / '.join(cell)} twice")
        elif record["value"] not in ("", "NA", "NaN"):
            try:
                values[cell] = float(record["value"])
            except ValueError:
                name = " / ".join(cell)
                problems.append(f"{script}: {name}: {record['value']!r} is no number")
    return values, problems


def run_twins(
    folder: PaperFolder,
    truth: Sequence[TruthRow],
    data_dir: Path,
    *,
    rscript: str,
    limit: float = 300.0,
) -> TwinRun:
    """Run a paper's R twins in a temporary folder, one after the other.

    Parameters
    ----------
    folder : PaperFolder
    truth : sequence of TruthRow
        The published cells; a twin's line for any other cell is listed as extra.
    data_dir : Path
        Exported data of the paper.
    rscript : str
        The program.
    limit : float
        Seconds that each script may take; its process group is killed after them.
    """
    known = {(row.table, row.row, row.column, row.metric.value) for row in truth}
    values: dict[CellName, float] = {}
    problems: list[str] = []
    scripts = [path for path in folder.package_code if path.suffix == ".R"]
    with tempfile.TemporaryDirectory(prefix="blindbench-twin-") as name:
        work = Path(name)
        data = work / "data"
        data.mkdir()
        _lay_out_data(folder, data_dir, data)
        for script in scripts:
            out = work / f"{script.stem}.out.csv"
            failure = _run_one(rscript, script, data, out, limit)
            if failure is not None:
                problems.append(failure)
                continue
            found, wrong = _twin_values(out.read_text(encoding="utf-8"), script.name)
            problems += wrong
            problems += [
                f"{script.name}: {' / '.join(cell)} was given by another script"
                for cell in sorted(set(found) & set(values))
            ]
            values |= found
    extra = tuple(" / ".join(cell) for cell in sorted(set(values) - known))
    return TwinRun(values, tuple(problems), r_version(rscript), extra)


# --------------------------------------------------------------------------- recording


def reproduction_csv(cells: Sequence[CellReproduction]) -> bytes:
    """Content of `package/reproduction.csv`; values with ten significant digits."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(REPRODUCTION_COLUMNS)
    for one in cells:
        value = "" if one.value is None else f"{one.value:.10g}"
        writer.writerow([*one.cell, one.published, value, one.match.value, one.r_version])
    return text.getvalue().encode()


def read_reproduction(content: bytes, *, where: str) -> tuple[CellReproduction, ...]:
    """Cells of a `reproduction.csv`.

    Raises
    ------
    UserError
        When a column is missing or a field is not what it should be.
    """
    reader = csv.DictReader(io.StringIO(content.decode(), newline=""))
    missing = [name for name in REPRODUCTION_COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise UserError(f"{where}: no column {', '.join(missing)}")
    try:
        return tuple(
            CellReproduction(
                (record["table"], record["row"], record["column"], record["metric"]),
                record["published"],
                float(record["value"]) if record["value"] else None,
                Match(record["match"]),
                record["r_version"],
            )
            for record in reader
        )
    except ValueError as error:
        raise UserError(f"{where}: line {reader.line_num}: {error}") from None
