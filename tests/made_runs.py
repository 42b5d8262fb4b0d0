"""Small leaderboards on disk, made with the real records and the real grader.

Each paper has one or two tables of two columns; an arm is a function of the published table.
Loaded by path, since tests are no packages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from data.records.files import record_to_json
from data.records.grades import grade_file_to_json
from data.records.metrics import Metric
from data.records.papers import Paper, TableSource
from data.records.runs import (
    Arm,
    Attempt,
    Isolation,
    PaperFingerprint,
    RunRecord,
    RunSpec,
    RunStatus,
    run_spec_hash,
)
from data.records.tables import (
    Cell,
    CellKey,
    HeaderSpan,
    Panel,
    Row,
    StarLevel,
    Table,
    TruthKind,
)
from data.store.build import PublishedPaper
from grade import load_rubric
from grade.workspace import WorkspaceFile, grade_workspace

RUBRICS = (load_rubric("kohler2026"), load_rubric("printed"))
HOSTILE = "<script>alert('x')</script><img src=x onerror=alert(1)>\"'&"

Change = Callable[[Cell], float | None]


def published_table(
    slug: str = "table_1",
    *,
    paper_id: str = "paper_a",
    truth: TruthKind = TruthKind.SEEN,
    scale: float = 1.0,
) -> Table:
    """A regression table: two estimates with standard errors, N and R2, in two panels."""
    columns = ("(1)", "(2)")
    estimates = (("Class size", (-2.28, -1.10)), ("Income", (11.57, 0.52)))
    errors = ((0.48, 0.43), (1.80, 0.30))
    cells: list[Cell] = []
    rows: list[Row] = []
    for place, (label, values) in enumerate(estimates):
        rows += [
            Row(2 * place, label, "Panel A. Scores"),
            Row(2 * place + 1, "", "Panel A. Scores"),
        ]
        for col in range(2):
            value, error = values[col] * scale, errors[place][col] * scale
            key = CellKey(2 * place, col)
            shared = {"row_label": label, "col_labels": ("Dependent: score", columns[col])}
            stars = 2 if abs(value) > 1.96 * error else 0
            cells.append(
                Cell(
                    key.row,
                    col,
                    Metric.COEFFICIENT,
                    text=f"{value:.2f}" + "*" * stars,
                    value=round(value, 2),
                    decimals=2,
                    stars=stars,
                    panel="Panel A. Scores",
                    **shared,
                ),
            )
            cells.append(
                Cell(
                    key.row + 1,
                    col,
                    Metric.STANDARD_ERROR,
                    text=f"({error:.2f})",
                    value=round(error, 2),
                    decimals=2,
                    of=key,
                    panel="Panel A. Scores",
                    **shared,
                ),
            )
    rows += [Row(4, "State effects", "Panel B. Model"), Row(5, "Observations", "Panel B. Model")]
    rows.append(Row(6, "R2", "Panel B. Model"))
    for col in range(2):
        shared = {"col_labels": ("Dependent: score", columns[col]), "panel": "Panel B. Model"}
        cells += [
            Cell(
                4, col, Metric.SETTING, text=("No", "Yes")[col], row_label="State effects", **shared
            ),
            Cell(
                5,
                col,
                Metric.N_OBS,
                text="1,420",
                value=1420,
                decimals=0,
                row_label="Observations",
                **shared,
            ),
            Cell(
                6,
                col,
                Metric.R_SQUARED,
                text=".051",
                value=0.051,
                decimals=3,
                row_label="R2",
                **shared,
            ),
        ]
    return Table(
        id=slug.replace("_", " ").title(),
        slug=slug,
        cells=tuple(cells),
        paper_id=paper_id,
        caption="Class size and test scores",
        truth_kind=truth,
        header=((HeaderSpan("Dependent: score", 0, 1),),),
        rows=tuple(rows),
        panels=(Panel("Panel A. Scores", 0, 3), Panel("Panel B. Model", 4, 6)),
        n_columns=2,
        notes="Standard errors in parentheses.",
        star_levels=(StarLevel("**", 0.05),),
    )


def published_paper(
    paper_id: str = "paper_a",
    *,
    tables: tuple[Table, ...] | None = None,
    title: str = "Class size and achievement",
) -> PublishedPaper:
    tables = tables or (published_table(paper_id=paper_id),)
    sources = tuple(
        TableSource(table.slug, table.truth_kind or TruthKind.SEEN, "the journal")
        for table in tables
    )
    paper = Paper(
        id=paper_id,
        title=title,
        authors=("Ada Byron", "Carl Gauss"),
        year=1999,
        journal="Journal of Examples",
        discipline="economics",
        tables=sources,
        files=(),
    )
    return PublishedPaper(paper, tables)


def exact(cell: Cell) -> float | None:
    return cell.value


def nothing(cell: Cell) -> float | None:
    return None


def flipped(cell: Cell) -> float | None:
    """Signs of coefficients reversed."""
    assert cell.value is not None
    return -cell.value if cell.metric is Metric.COEFFICIENT else cell.value


def times(factor: float) -> Change:
    return lambda cell: None if cell.value is None else cell.value * factor


def half(cell: Cell) -> float | None:
    """First column only."""
    return cell.value if cell.col == 0 else None


def table_bytes(table: Table, change: Change) -> bytes:
    cells = tuple(
        replace(cell, value=change(cell), text=None, decimals=None, stars=None)
        if cell.is_graded
        else cell
        for cell in table.cells
    )
    return record_to_json(replace(table, cells=cells, role="reproduced"))


def write_run(
    runs: Path,
    paper: PublishedPaper,
    arm: Arm,
    change: Change,
    *,
    repetition: int = 1,
    status: RunStatus = RunStatus.FINISHED,
    gradable: bool = True,
    extra: Mapping[str, bytes] | None = None,
) -> Path:
    """One run directory as the runner leaves it, graded where gradable. Returns its path."""
    paper_id = paper.paper.id
    folder = runs / paper_id / arm.name / str(repetition)
    workspace = folder / "attempt_01" / "workspace"
    workspace.mkdir(parents=True)
    (folder / "attempt_01" / "raw").mkdir()
    (folder / "attempt_01" / "raw" / "stdout").write_text("done\n")
    (folder / "attempt_01" / "raw" / "stderr").write_text("")
    spec = RunSpec(
        leaderboard=runs.name,
        paper=PaperFingerprint(paper_id, "m" * 64, "t" * 64, "d" * 64),
        arm=arm,
        repetition=repetition,
        seed=repetition,
    )
    (folder / "spec.json").write_bytes(record_to_json(spec))
    contents = {}
    for table in paper.tables:
        contents[f"{table.slug}.json"] = table_bytes(table, change)
        contents[f"{table.slug}.py"] = b"import pandas as pd\n\nprint('estimate')\n"
    contents |= extra or {}
    for name, content in contents.items():
        (workspace / name).write_bytes(content)
    attempt = Attempt(
        number=1,
        status=status,
        started="2026-03-01T10:00:00+00:00",
        ended="2026-03-01T10:00:12+00:00",
        wall_seconds=12.0,
        exit_code=0,
        isolation=Isolation.NAMESPACES,
    )
    record = RunRecord(
        spec_hash=run_spec_hash(spec),
        paper_id=paper_id,
        arm=arm.name,
        repetition=repetition,
        status=status,
        gradable=gradable,
        accepted_attempt=1 if gradable else None,
        attempts=(attempt,),
        versions={"blindbench": "0.1.0"},
        produced=tuple(sorted(contents)),
    )
    (folder / "run.json").write_bytes(record_to_json(record))
    if gradable:
        files = [
            WorkspaceFile(name, content)
            for name, content in contents.items()
            if name.endswith(".json")
        ]
        grades = grade_workspace(files, paper.tables, RUBRICS, paper_id=paper_id)
        (folder / "grade.json").write_bytes(grade_file_to_json(grades))
    return folder
