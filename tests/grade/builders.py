"""Tables and reproduced tables for the tests, built from short rows."""

import json

from data.records.metrics import Metric
from data.records.tables import Cell, CellKey, Table
from grade.reading import read_reproduced


def table(rows, *, slug="table_1", table_id="Table 1", **more):
    """Table of (row, col, metric, text, options): value and decimals are those of the text."""
    cells = []
    for row, col, metric, text, options in rows:
        number = text.lstrip("<>") if text else None
        graded = Metric(metric) not in {Metric.SETTING, Metric.TEXT}
        cells.append(
            Cell(
                row,
                col,
                Metric(metric),
                row_label=options.get("label", f"row {row}"),
                col_labels=tuple(options.get("cols", (f"({col + 1})",))),
                panel=options.get("panel"),
                part=options.get("part", 0),
                text=text,
                value=float(number) if number and graded else None,
                decimals=len(number.partition(".")[2]) if number and graded else None,
                stars=options.get("stars"),
                of=CellKey(*options["of"]) if "of" in options else None,
                unit=options.get("unit"),
            )
        )
    return Table(table_id, slug, tuple(cells), **({"paper_id": "paper"} | more))


def entries(published, values):
    """Cells of a filled template: `values` by key, a missing key left out."""
    filled = []
    for cell in published.cells:
        if cell.key in values:
            filled.append(entry(cell, values[cell.key]))
    return filled


def entry(cell, value):
    return {
        "row": cell.row,
        "col": cell.col,
        "part": cell.part,
        "metric": cell.metric.value,
        "row_label": cell.row_label,
        "col_labels": list(cell.col_labels),
        "panel": cell.panel,
        "of": None if cell.of is None else list(cell.of),
        "value": value,
    }


def filled(published, values=None, cells=None, name=None, **more):
    """Reproduced table from values by key, or from ready entries."""
    body = {"id": published.id, "cells": cells if cells is not None else entries(published, values)}
    content = json.dumps(body | more).encode()
    return read_reproduced(content, name=name or f"{published.slug}.json", template=published)
