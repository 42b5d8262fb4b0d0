"""A small paper for tests, written to a folder; parts are replaced to make it wrong."""

from __future__ import annotations

import json
from pathlib import Path

PAPER = """\
id = "{id}"
title = "A line"
authors = ["Example"]
year = 2000
journal = "None"
discipline = "statistics"
{extra}
[[tables]]
slug = "t1"
truth_kind = "seen"
source = "made for tests"
[[files]]
name = "points.csv"
source = "package:points.csv"
"""
LAYOUT = """\
[[tables]]
slug = "t1"
id = "Table 1"
caption = "A caption"
notes = "A note"
star_levels = [{ mark = "*", p_below = 0.05 }, { mark = "**", p_below = 0.01 }]
header = [[{ text = "Outcome", first = 0, last = 1 }]]
columns = [{ label = "(1)" }, { label = "(2)" }]
rows = [
    { label = "x", metric = "coefficient", below = "standard_error", panel = "A" },
    { label = "Controls", metric = "setting", values = ["No", "Yes"], panel = "A" },
    { label = "N", metric = "n_obs", panel = "B" },
]
"""
TRUTH = """\
table,row,column,metric,published,stars,truth_kind,source
t1,x,(1),coefficient,-1.25,2,seen,made
t1,x,(1),standard_error,.31,,seen,made
t1,x,(2),coefficient,2.75,0,recalled,made
t1,x,(2),standard_error,0.44,,seen,made
t1,N,(1),n_obs,"1,234",,seen,made
t1,N,(2),n_obs,987,,unverified,made
"""


def methods(**changes: object) -> dict[str, object]:
    """Methods of the paper, top-level fields replaced by `changes`."""
    values: dict[str, object] = {
        "paper_id": "made",
        "question": "A question",
        "setting": "A setting",
        "files": [
            {
                "name": "points.csv",
                "description": "Points",
                "variables": [{"name": "x", "description": "x"}, {"name": "y", "description": "y"}],
            }
        ],
        "samples": [{"id": "all", "files": ["points.csv"], "description": "All points"}],
        "tables": [
            {
                "slug": "t1",
                "description": "Least squares",
                "models": [
                    {
                        "id": "m",
                        "estimator": "ols",
                        "sample": "all",
                        "outcome": "y",
                        "regressors": ["x"],
                    }
                ],
                "columns": [{"col": 0, "model": "m"}, {"col": 1, "model": "m"}],
                "rows": [
                    {"row": 0, "term": "x"},
                    {"row": 1, "term": "x"},
                    {"row": 3, "quantity": "n_obs"},
                ],
            }
        ],
    }
    return values | changes


def write_paper(
    folder: Path,
    *,
    layout: str = LAYOUT,
    truth: str = TRUTH,
    extra: str = "",
    name: str = "made",
    **changes: object,
) -> Path:
    """Write the sources of the paper `name` into `folder`; its root."""
    root = folder / name
    (root / "package" / "data").mkdir(parents=True)
    (root / "package" / "code").mkdir()
    (root / "package" / "README.md").write_text("# Package\n")
    (root / "package" / "data" / "points.csv").write_text("x,y\n1,2\n2,4.5\n3,5\n4,9\n")
    (root / "paper.toml").write_text(PAPER.format(id=name, extra=extra))
    (root / "layout.toml").write_text(layout)
    (root / "truth.csv").write_text(truth)
    (root / "methods.json").write_text(json.dumps(methods(**({"paper_id": name} | changes))))
    return root
