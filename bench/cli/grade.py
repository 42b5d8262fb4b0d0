"""`bench grade`, `bench regrade`, `bench grade-diff`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text

    from data.records.grades import (
        CellGrade,
        GradeFile,
        MovedCell,
        PaperGrade,
        TableGrade,
    )
    from data.records.tables import Table

__all__ = ["grade", "grade_diff", "regrade"]

_COLOURS: Final = {
    "A": "black on green",
    "B": "black on bright_cyan",
    "C": "black on yellow",
    "D": "black on bright_magenta",
    "E": "white on red",
    "F": "white on grey37",
}

_PIPE_WIDTH: Final = 200
_SHOWN_EXTRA: Final = 10

WorkspaceArgument = Annotated[
    Path, typer.Argument(help="Finished workspace: a folder with <table>.json or <table>.csv.")
]
PaperOption = Annotated[
    str, typer.Option("--paper", help="Paper folder, or the id of a bundled paper.")
]
RubricOption = Annotated[
    list[str] | None,
    typer.Option("--rubric", help="Rubric's name or .toml file; repeatable. Default: the shipped."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def grade(
    workspace: WorkspaceArgument,
    paper: PaperOption,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where grade.json goes. Default: beside WORKSPACE.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="List every cell that is no A, with its deviation.")
    ] = False,
    rubric: RubricOption = None,
    as_json: JsonOption = False,
) -> None:
    """Grade a finished workspace against its paper.

    Exit code 1 when a table has no file, or a file or cell could not be read; all are graded.

    Example: bench grade my_workspace --paper wooldridge_card_2010 --explain
    """
    from bench.grading import (
        fell_short,
        grade_directory,
        grade_path_beside,
        rubrics_named,
        write_grades,
    )
    from data.records.grades import grade_file_to_json

    rubrics = rubrics_named(rubric or ())
    published = _tables_of(paper)
    target = grade_path_beside(workspace, out)
    grades = grade_directory(workspace, published, rubrics)
    write_grades(target, grades)
    if as_json:
        typer.echo(grade_file_to_json(grades).decode(), nl=False)
    else:
        _print_grades(grades, explain=explain)
        _line(_console(), f"written: {target}", style="dim")
    if fell_short(grades):
        raise typer.Exit(1)


def regrade(
    path: Annotated[Path, typer.Argument(help="Folder of a run, a leaderboard, or several.")],
    paper: Annotated[
        str | None, typer.Option("--paper", help="Paper folder, where the paper is not bundled.")
    ] = None,
    rubric: RubricOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the cells that move and write nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Grade stored runs anew, under any rubric; the runs themselves are not touched.

    Example: bench regrade runs/demo --rubric kohler2026 --rubric my_rubric.toml
    """
    import json

    from bench.grading import (
        GRADE_FILE,
        grade_directory,
        read_grades,
        rubrics_named,
        stored_runs,
        write_grades,
    )
    from data.records.errors import UserError

    rubrics = rubrics_named(rubric or ())
    lines: list[tuple[str, bool, list[str]]] = []
    for run in stored_runs(path):
        target = run.directory / GRADE_FILE
        before = read_grades(target) if target.exists() else None
        after = grade_directory(run.workspace, _tables_of(paper or run.paper_id), rubrics)
        if before is not None:
            after = _with_kept_rubrics(before, after)
        moved = [] if before is None else _moved_since(before, after)
        lines.append((str(run.directory), before is not None, moved))
        if not dry_run:
            write_grades(target, after)
    if not lines:
        raise UserError(f"{path}: no gradable run here; give a folder that holds run.json files")
    if as_json:
        names = ("run", "graded_before", "moved")
        values = [dict(zip(names, line, strict=True)) for line in lines]
        typer.echo(json.dumps(values, indent=1))
        return
    for directory, known, moved in lines:
        note = "" if known else " (not graded before)"
        typer.echo(f"{directory}: {len(moved)} letters moved{note}")
        for entry in moved:
            typer.echo(f"  {entry}")


_SIDE_HELP: Final = "grade.json or its run's folder; or rubric[:cell_rule]."


def grade_diff(
    left: Annotated[str, typer.Argument(metavar="A", help=_SIDE_HELP)],
    right: Annotated[str, typer.Argument(metavar="B", help=_SIDE_HELP)],
    workspace: Annotated[
        Path | None,
        typer.Option("--in", help="Workspace, run or grade.json, when A and B are rubrics."),
    ] = None,
    paper: Annotated[
        str | None, typer.Option("--paper", help="Paper folder or id, when --in is a workspace.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the cells whose grade differs between two rubrics, or between two grade files.

    Example: bench grade-diff kohler2026:raw printed --in ws --paper wooldridge_card_2010
    """
    import json

    from data.records.files import record_to_values

    pairs = _compared_pairs(left, right, workspace, paper)
    if as_json:
        values = [
            {"a": pair[0], "b": pair[1], "cells": [record_to_values(cell) for cell in pair[2]]}
            for pair in pairs
        ]
        typer.echo(json.dumps(values, indent=1))
        return
    for name, other, moved in pairs:
        _print_moved(name, other, moved)


# --------------------------------------------------------------------------- inputs


def _tables_of(paper: str) -> tuple[Table, ...]:
    """Read the published tables of a bundled paper's id, or of a paper's folder.

    An id comes first: a leaderboard has folders that bear its papers' ids.
    """
    from bench.grading import published_tables
    from data.corpus import bundled_papers, open_paper

    bundled = paper in {folder.id for folder in bundled_papers()}
    if not bundled and Path(paper).is_dir():
        return published_tables(Path(paper))
    return tuple(open_paper(paper).tables)


def _with_kept_rubrics(before: GradeFile, after: GradeFile) -> GradeFile:
    """Add the grades under rubrics that were not asked for, as they stood before."""
    from dataclasses import replace

    new = {paper.rubric for paper in after.papers}
    kept = tuple(paper for paper in before.papers if paper.rubric not in new)
    return replace(after, papers=(*after.papers, *kept))


def _moved_since(before: GradeFile, after: GradeFile) -> list[str]:
    """One line for each cell whose letter is not what it was."""
    from grade.comparison import moved_cells

    lines = []
    for old in before.papers:
        new = after.paper(old.rubric)
        for rule in _rules(old):
            if rule in _rules(new):
                lines += [
                    f"{old.rubric}:{rule} {cell.table} ({cell.row}, {cell.col}, {cell.part}) "
                    f"{cell.before or '-'} -> {cell.after or '-'}"
                    for cell in moved_cells(old, new, rule, rule)
                ]
    return lines


def _rules(paper: PaperGrade) -> tuple[str, ...]:
    return tuple(paper.letters)


def _compared_pairs(
    left: str, right: str, workspace: Path | None, paper: str | None
) -> list[tuple[str, str, tuple[MovedCell, ...]]]:
    """Names of both sides and the cells that move between them."""
    from data.records.errors import UserError
    from grade.comparison import moved_cells

    files = _grade_file(left), _grade_file(right)
    if files[0] is not None and files[1] is not None:
        return _pairs_of_files(files[0], files[1])
    if files != (None, None):
        raise UserError("compare two grade files or two rubrics, not one of each")
    if workspace is None:
        raise UserError(
            "two rubrics are compared on a workspace, a run or a grade.json: give it as --in"
        )
    (old, old_rule), (new, new_rule) = (
        _graded_under(word, workspace, paper) for word in (left, right)
    )
    return [(left, right, moved_cells(old, new, old_rule, new_rule))]


def _grade_file(word: str) -> Path | None:
    """Grade file that a word names, itself or by its run's folder; None for a rubric."""
    from bench.grading import GRADE_FILE
    from grade import SHIPPED_RUBRICS

    path = Path(word)
    if path.is_dir() and word not in SHIPPED_RUBRICS:
        return path / GRADE_FILE
    return path if word.endswith(".json") else None


def _pairs_of_files(left: Path, right: Path) -> list[tuple[str, str, tuple[MovedCell, ...]]]:
    """Moved cells under each cell rule that both files hold."""
    from bench.grading import read_grades
    from data.records.errors import UserError
    from grade.comparison import moved_cells

    before, after = read_grades(left), read_grades(right)
    if before.paper_id != after.paper_id:
        raise UserError(f"{left} is of paper {before.paper_id}, {right} of {after.paper_id}")
    later = {paper.rubric: paper for paper in after.papers}
    pairs = [
        (f"{left} {old.rubric}:{rule}", str(right), moved_cells(old, new, rule, rule))
        for old in before.papers
        if (new := later.get(old.rubric)) is not None
        for rule in _rules(old)
        if rule in _rules(new)
    ]
    if not pairs:
        raise UserError(f"{left} and {right} were graded under no common rubric; regrade one")
    return pairs


def _graded_under(word: str, place: Path, paper: str | None) -> tuple[PaperGrade, str]:
    """Grade of a workspace, a run or a stored file, under ``rubric[:cell_rule]``."""
    from bench.grading import grade_directory, paper_of, read_grades, rubrics_named
    from data.records.errors import UserError

    name, _, rule = word.partition(":")
    if place.is_dir():
        workspace, own_paper = _workspace_of(place)
        if paper is None and own_paper is None:
            raise UserError("--in is a workspace: give its paper as --paper")
        published = _tables_of(paper or own_paper or "")
        graded = grade_directory(workspace, published, rubrics_named([name])).papers[0]
    else:
        graded = paper_of(read_grades(place), name, str(place))
    chosen = rule or graded.headline[0]
    if chosen not in _rules(graded):
        known = ", ".join(_rules(graded))
        raise UserError(f"{name}: no cell rule {chosen!r}; it has {known}")
    return graded, chosen


def _workspace_of(place: Path) -> tuple[Path, str | None]:
    """Workspace that a folder is, or the one of the run that it is, with the run's paper."""
    from bench.grading import stored_runs

    if not any(place.glob("attempt_*/workspace")):
        return place, None
    for run in stored_runs(place):
        return run.workspace, run.paper_id
    return place, None


# --------------------------------------------------------------------------- printing


def _console() -> Console:
    """Console as wide as the terminal; wide enough for a table where there is none."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_PIPE_WIDTH)


def _line(console: Console, text: str, style: str | None = None) -> None:
    """Print one line as one line, whatever the width: it may be searched for.

    What a run wrote stands in it, so control characters are replaced.
    """
    text = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
    console.print(text, style=style, markup=False, soft_wrap=True)


def _print_grades(grades: GradeFile, *, explain: bool) -> None:
    console = _console()
    for problem in grades.problems:
        _line(console, f"! {problem}", "yellow")
    first = grades.papers[0]
    others = grades.papers[1:]
    for table in first.tables:
        _print_table(console, table, first.headline[0])
        for other in others:
            same = next(entry for entry in other.tables if entry.table == table.table)
            for problem in same.problems:
                if problem not in table.problems:
                    _line(console, f"  ! {other.rubric}: {problem}", "yellow")
            _line(console, _table_line(same, other))
            if explain:
                _explain(console, same, _headline_rules(other))
        if explain:
            _explain(console, table, _headline_rules(first))
    _print_summary(console, grades)


def _print_table(console: Console, table: TableGrade, rule: str) -> None:
    """Print one table as it stands in the paper: published value, reproduced value, letter."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(title=Text(f"{table.table_id} ({table.table})"), title_justify="left")
    columns = sorted({cell.col for cell in table.cells})
    labels = {cell.col: " | ".join(cell.col_labels) for cell in table.cells}
    grid.add_column("")
    for col in columns:
        grid.add_column(Text(labels[col]), justify="right")
    panel: str | None = None
    for row in sorted({cell.row for cell in table.cells}):
        cells = [cell for cell in table.cells if cell.row == row]
        if cells[0].panel != panel:
            panel = cells[0].panel
            grid.add_row(Text(panel or "", style="bold"))
        shown = [_grid_cell([cell for cell in cells if cell.col == col], rule) for col in columns]
        grid.add_row(Text(cells[0].row_label), *shown)
    if table.cells:
        console.print(grid)
    for problem in table.problems:
        _line(console, f"  ! {problem}", "yellow")
    for extra in table.extra_cells[:_SHOWN_EXTRA]:
        _line(console, f"  extra cell, not graded: {extra}", "dim")
    if len(table.extra_cells) > _SHOWN_EXTRA:
        more = len(table.extra_cells) - _SHOWN_EXTRA
        _line(console, f"  {more} more extra cells; grade.json lists them", "dim")
    _line(console, _table_summary(table))


def _grid_cell(cells: Sequence[CellGrade], rule: str) -> Text:
    from rich.text import Text

    text = Text()
    for cell in cells:
        letter = cell.grades[rule].grade
        text.append(" " if text else "")
        text.append(f"{_number(cell.published, cell.decimals)} ")
        text.append(f"{_number(cell.reproduced, cell.decimals)} ", style="dim")
        text.append(f" {letter or '-'} ", style=_COLOURS.get(letter or "", ""))
    return text


def _number(value: float | None, decimals: int | None = None) -> str:
    """Value with one digit more than the print, where that is known."""
    if value is None:
        return "-"
    if decimals is None or abs(value) >= 1e12:
        return f"{value:.4g}"
    return f"{value:.{min(decimals + 1, 12) if decimals else 0}f}"


def _table_summary(table: TableGrade) -> str:
    if not table.gradable:
        return f"  {table.table}: the published table holds nothing to grade"
    parts = [
        f"{grade.cell_rule} + {grade.roll_up} {grade.grade or '-'} ({_number(grade.score)})"
        for grade in table.grades
        if grade.cell_rule != "rounded_repr"
    ]
    produced = f"{table.coverage.produced} of {table.coverage.expected} cells"
    rescaled = f"; rescaled by {table.factor:g}" if table.factor != 1 else ""
    return f"  {table.rubric}: " + "; ".join(parts) + f"; produced {produced}{rescaled}"


def _table_line(table: TableGrade, paper: PaperGrade) -> str:
    line = _table_summary(table)
    if table.rescaled_cells and paper.rubric != "kohler2026":
        line += f"; {table.rescaled_cells} cells rescaled"
    return f"{line}; {table.weak_cells} weak"


def _headline_rules(paper: PaperGrade) -> tuple[str, ...]:
    """Cell rules that a paper's grade is quoted by, its own headline's first."""
    return tuple(dict.fromkeys(rule for rule, _ in _variants(paper)))


def _explain(console: Console, table: TableGrade, rules: Sequence[str]) -> None:
    """Print every cell that is no A under one of the rules: values, deviations, reason."""
    for cell in table.cells:
        graded = cell.grades[rules[0]]
        letters = [cell.grades[rule].grade for rule in rules]
        if graded.grade is None or set(letters) == {"A"}:
            continue
        parts = [
            f"  {'/'.join(letter or '-' for letter in letters)} {table.rubric}:{'/'.join(rules)}",
            f"({cell.row}, {cell.col}, {cell.part})",
            f"{cell.row_label} [{' | '.join(cell.col_labels)}] {cell.metric.value}:",
            f"published {cell.published_text or _number(cell.published)},",
            f"reproduced {_exactly(cell.reproduced)}",
        ]
        if cell.factor != 1:
            parts.append(f"(raw {_exactly(cell.reproduced_raw)}, unrescued {graded.unrescued})")
        if cell.deviation_pct is not None:
            parts.append(f", {cell.deviation_pct:+.3g} %")
        if cell.deviation_se is not None:
            parts.append(f", {cell.deviation_se:.3g} SE")
        if cell.sign_agrees is False:
            parts.append(", the sign differs")
        if cell.crosses:
            parts.append(f", on the other side of {', '.join(f'{x:g}' for x in cell.crosses)}")
        if cell.would_be_a_at is not None:
            parts.append(f", would be A at 10^{cell.would_be_a_at}")
        parts.append(f"; {cell.reason.value}" + (", weak" if cell.weak else ""))
        _line(console, " ".join(parts).replace(" ,", ",").replace(" ;", ";"))


def _exactly(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.6g}"


def _print_summary(console: Console, grades: GradeFile) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(title=Text(f"Paper {grades.paper_id or '(no id)'}"), title_justify="left")
    for name in ("rubric", "variant", "truth", "grade", "score", "tables"):
        grid.add_column(name)
    for paper in grades.papers:
        for variant in _variants(paper):
            for truth in ("seen", "recalled"):
                entry = paper.roll_up(*variant, truth)
                if entry.n_tables or entry.score is not None:
                    grid.add_row(
                        paper.rubric,
                        f"{variant[0]} + {variant[1]}",
                        truth,
                        entry.grade or "-",
                        _number(entry.score),
                        f"{entry.n_tables} of {paper.n_tables}",
                    )
    console.print(grid)
    paper = grades.papers[0]
    share = paper.coverage.share
    known = "no cell is expected" if share is None else f"{100 * share:.1f} %"
    _line(
        console,
        f"coverage {known}: {paper.coverage.produced} of {paper.coverage.expected} cells produced; "
        f"{paper.weak_cells} weak; {paper.rescaled_cells} rescaled under {paper.rubric}",
    )
    _line(
        console,
        f"signs agree in {paper.signs.agreeing} of {paper.signs.compared} "
        f"(all-positive: {paper.signs.positive}); within 1.96 SE {paper.scaled.within} of "
        f"{paper.scaled.compared} (all-zero: {paper.scaled.within_zero}), "
        f"among significant {paper.scaled.significant_within} of {paper.scaled.significant}",
    )


def _variants(paper: PaperGrade) -> list[tuple[str, str]]:
    """Both headline variants of the published rubric; of another its own headline."""
    variants = [paper.headline]
    names = {(entry.cell_rule, entry.roll_up) for entry in paper.grades}
    if ("raw", "non_f") in names and paper.headline != ("raw", "non_f"):
        variants.append(("raw", "non_f"))
    return variants


def _print_moved(name: str, other: str, moved: Sequence[MovedCell]) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

    console = _console()
    if not moved:
        _line(console, f"{name} and {other}: no cell moves")
        return
    _line(console, f"{name} and {other}: {len(moved)} cells move", "italic")
    grid = Grid()
    for column in ("table", "cell", "label", "metric", "published", "reproduced", "A", "B"):
        grid.add_column(column)
    for cell in moved:
        grid.add_row(
            cell.table,
            f"({cell.row}, {cell.col}, {cell.part})",
            Text(f"{cell.row_label} [{' | '.join(cell.col_labels)}]"),
            cell.metric.value,
            _number(cell.published),
            _exactly(cell.reproduced_raw),
            Text(cell.before or "-", style=_COLOURS.get(cell.before or "", "")),
            Text(cell.after or "-", style=_COLOURS.get(cell.after or "", "")),
        )
    console.print(grid)
