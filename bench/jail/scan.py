"""Shows that no published table is inside a jail: zero hits, or no run.

The scan runs inside a jail of its own with exactly what a run would see, as the user that a run
would be. The published values are bound into that one jail only, for as long as it lasts.

What counts as a hit is said in `bench.inside.scan`; `MIN_DIGITS`, `MIN_DIGITS_WITH_GAP` and
`MAX_GAP` are its numbers. Limits: values at another precision than printed, numbers as binary
floats (R's and numpy's own formats, parquet, Stata), pictures, programs,
PDF fonts that code digits otherwise, and formats that the standard library cannot unpack are not
found; how many files of which kind were not read is in the report.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from bench.inside.scan import Truth, find_in
from bench.jail.policy import PYTHON
from bench.jail.sandbox import JailedSandbox
from data.files_atomic import write_atomic
from data.ports import Bind, Command, Sandbox
from data.records.errors import InfrastructureError, UserError
from data.records.runs import Limits
from data.records.tables import Cell, Table

__all__ = [
    "MAX_GAP",
    "MIN_DIGITS",
    "MIN_DIGITS_WITH_GAP",
    "Hit",
    "ScanReport",
    "published_in",
    "scan",
    "scan_for_tables",
    "sequences_of",
]

# Chosen on real material: see docs/isolation.md.
MIN_DIGITS: Final = 8
MIN_DIGITS_WITH_GAP: Final = 10
MAX_GAP: Final = 3
MIN_VALUES: Final = 3
WEAK_DIGITS: Final = 2
SCAN_FOLDER: Final = "/scan"
WHOLE_JAIL: Final = ("/",)
LIMITS: Final = Limits(wall_seconds=900, workspace_bytes=None)


@dataclass(frozen=True, slots=True)
class Hit:
    """Neighbouring values of a published table in a file that a run could read.

    `path` is as seen inside, `table` is ``paper:slug``, `order` says along what the values are
    neighbours.
    """

    path: str
    table: str
    order: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What a scan saw: hits, files and bytes looked at, files not read by kind."""

    hits: tuple[Hit, ...]
    files: int
    bytes: int
    unread: dict[str, int]


def _printed(cell: Cell) -> str | None:
    """Digits of a cell as printed, without sign, commas and leading zero; None if too few."""
    if cell.value is None or cell.decimals is None or not cell.is_graded:
        return None
    text = f"{abs(cell.value):.{cell.decimals}f}".lstrip("0")
    digits = text.replace(".", "").lstrip("0")
    counted = digits if "." in text else digits.rstrip("0")
    return text if len(counted) >= WEAK_DIGITS else None


_ORDERS: Final[dict[str, Callable[[Cell], tuple[object, ...]]]] = {
    "row": lambda cell: (cell.row, cell.col, cell.part),
    "column": lambda cell: (cell.col, cell.row, cell.part),
    "row, one metric": lambda cell: (str(cell.metric), cell.row, cell.col, cell.part),
    "column, one metric": lambda cell: (str(cell.metric), cell.col, cell.row, cell.part),
}


def sequences_of(tables: Iterable[Table]) -> list[dict[str, Any]]:
    """Values of published tables as sequences of neighbours.

    Each table gives one sequence a way of reading it: along rows and down columns, with all its
    values and with those of one metric. Values of fewer than two significant digits are left
    out, and of equal neighbours one is kept, as they are in what is read.
    """
    found: list[dict[str, Any]] = []
    for table in tables:
        name = f"{table.paper_id or '?'}:{table.slug}"
        seen: set[tuple[str, ...]] = set()
        for order, key in _ORDERS.items():
            ordered = sorted(table.graded_cells, key=key)
            printed = [text for cell in ordered if (text := _printed(cell))]
            values = tuple(
                text
                for place, text in enumerate(printed)
                if place == 0 or printed[place - 1] != text
            )
            if len(values) >= MIN_VALUES and values not in seen:
                seen.add(values)
                found.append({"table": name, "order": order, "values": values})
    return found


def _tree_states(paths: Iterable[Path]) -> Iterator[str]:
    """One line a file: path, size, time of change."""
    for root in paths:
        if root.is_file():
            status = root.stat()
            yield f"{root} {status.st_size} {status.st_mtime_ns}"
        for top, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                status = os.lstat(f"{top}/{name}")
                yield f"{top}/{name} {status.st_size} {status.st_mtime_ns}"


def _key(sandbox: JailedSandbox, request: dict[str, Any], binds: Sequence[Bind]) -> str:
    """Hash of everything that a scan's outcome depends on."""
    digest = hashlib.sha256(_script())
    digest.update(json.dumps(request, sort_keys=True).encode())
    for line in _tree_states([*sandbox.mounted, *(bind.source for bind in binds)]):
        digest.update(f"{line}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def _script() -> bytes:
    return resources.files("bench.inside").joinpath("scan.py").read_bytes()


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "blindbench" / "scans"


def _read_cached(path: Path) -> ScanReport | None:
    try:
        stored = json.loads(path.read_text())
        return ScanReport((), stored["files"], stored["bytes"], stored["unread"])
    except (OSError, ValueError, KeyError):
        return None


def _run_scan(sandbox: JailedSandbox, request: dict[str, Any], binds: Sequence[Bind]) -> ScanReport:
    with tempfile.TemporaryDirectory(prefix="blindbench-scan-") as name:
        folder = Path(name)
        shown = folder / "shown"
        shown.mkdir()
        (shown / "scan.py").write_bytes(_script())
        (shown / "request.json").write_text(json.dumps(request))
        # The jail's user is another one than ours when we are root.
        shown.chmod(0o755)
        command = Command(
            argv=(PYTHON, "-I", "-S", f"{SCAN_FOLDER}/scan.py", f"{SCAN_FOLDER}/request.json"),
            binds=(*binds, Bind(shown, SCAN_FOLDER)),
            stdout=folder / "stdout",
            stderr=folder / "stderr",
            directory="/",
            limits=LIMITS,
        )
        done = sandbox.run(command)
        if done.exit_code != 0:
            said = command.stderr.read_text(errors="replace").strip().splitlines()
            raise InfrastructureError(
                f"the scan for published tables did not end: {done.cause or (said or ['?'])[-1]}"
            )
        answer = json.loads(command.stdout.read_text())
    hits = tuple(
        Hit(hit["path"], hit["table"], hit["order"], tuple(hit["values"])) for hit in answer["hits"]
    )
    return ScanReport(hits, answer["files"], answer["bytes"], answer["unread"])


def _rule() -> dict[str, int]:
    return {"digits": MIN_DIGITS, "digits_with_gap": MIN_DIGITS_WITH_GAP, "gap": MAX_GAP}


def published_in(content: bytes, tables: Iterable[Table]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Tables of which neighbouring values stand in a file's content, packed or not, with them.

    The rule is that of the scan inside a jail.
    """
    truth = Truth({"sequences": sequences_of(tables), **_rule()})
    for which, run in find_in(truth, content):
        table, _, _ = truth.sequences[which]
        yield table, tuple(truth.values[code] for code in run)


def scan(
    tables: Iterable[Table],
    sandbox: Sandbox,
    binds: Sequence[Bind] = (),
    *,
    roots: Sequence[str] = WHOLE_JAIL,
    cache: Path | None = None,
) -> ScanReport:
    """Look for published tables in all that a run with `binds` could read.

    Parameters
    ----------
    tables : iterable of Table
        Published tables.
    sandbox : Sandbox
        A jail; without one there is nothing to scan.
    binds : sequence of Bind, optional
        What the run would see besides the sandbox's own; given read-only to the scan.
    roots : sequence of str, optional
        Where to look, as paths inside.
    cache : Path, optional
        Folder that remembers scans without a hit, by a hash of the tables, the scan itself and
        the path, size and time of every file mounted. By default in the user's cache.

    Raises
    ------
    UserError
        When `sandbox` is not a jail.
    InfrastructureError
        When the scan could not be finished.
    """
    if not isinstance(sandbox, JailedSandbox):
        raise UserError("without a jail there is nothing to scan: everything can be read")
    request = {
        "sequences": sequences_of(tables),
        "roots": list(roots),
        "skipped": ["/proc", "/dev", SCAN_FOLDER],
        **_rule(),
        "workers": min(os.cpu_count() or 1, 8),
    }
    shown = [Bind(bind.source, bind.target) for bind in binds]
    folder = cache or _cache_folder()
    remembered = folder / f"{_key(sandbox, request, shown)}.json"
    known = _read_cached(remembered)
    if known is not None:
        return known
    report = _run_scan(sandbox, request, shown)
    if not report.hits:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(remembered, json.dumps(asdict(report)).encode())
    return report


def scan_for_tables(
    tables: Iterable[Table], sandbox: Sandbox, binds: Sequence[Bind] = (), **options: Any
) -> tuple[Hit, ...]:
    """Hits of `scan`. A run may start only where there are none."""
    return scan(tables, sandbox, binds, **options).hits
