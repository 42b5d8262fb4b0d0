"""Methods compiled to scripts: what they look like, what they compute, and what they leave empty.

Expected numbers are worked out here with numpy or by hand. Most scripts run in this process, with
the estimators that they find beside them in a workspace; one paper goes through `bench run`.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import hashlib
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bench.arms.formal import FormalArm, econometrics
from bench.arms.interface import ArmContext, Preparation
from bench.corpus.build import build_paper
from data.corpus import PaperFolder, bundled_papers, open_paper
from data.records.errors import RecordError, UserError
from data.records.files import record_from_values, record_to_json, record_to_values
from data.records.methods import Methods
from data.records.runs import Arm
from data.records.tables import Table

BENCH = Path(sys.executable).with_name("bench")
RUFF = Path(sys.executable).with_name("ruff")
sys.modules.setdefault("econometrics", econometrics)

Values = dict[str, Any]
Place = tuple[int, int]


def _load(name: str) -> ModuleType:
    path = Path(__file__).parents[1] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


made = _load("made_papers")


# ------------------------------------------------------------------ data, and one case


def _panel() -> pd.DataFrame:
    """Ten units over six years, with everything that the cases need."""
    random = np.random.default_rng(20)
    frame = pd.DataFrame(
        {"unit": np.repeat(range(1, 11), 6), "year": np.tile(range(2001, 2007), 10)}
    )
    noise = random.normal(size=(3, 60))
    frame["z"] = random.normal(size=60).round(3)
    frame["c"] = random.uniform(1, 3, 60).round(3)
    frame["x"] = (0.7 * frame["z"] + 0.3 * frame["unit"] + noise[0]).round(3)
    frame["y"] = (1.5 * frame["x"] - frame["c"] + 0.4 * frame["unit"] + noise[1]).round(3)
    frame["b"] = (frame["y"] + 2 * noise[2] > 2).astype(int)
    frame["g"] = np.where(
        frame["unit"] % 3 == 0, "low", np.where(frame["unit"] % 3 == 1, "mid", "top")
    )
    frame["f"] = (np.arange(60) % 4 == 0).astype(int)
    frame["k"] = random.poisson(2, 60)
    frame["level"] = frame["unit"] * 1.7 + 0.3
    return frame


PANEL = _panel()
COLUMNS = list(PANEL.columns)


@dataclass(frozen=True)
class Filled:
    """What a script wrote: the value of each cell, and why the others have none."""

    values: dict[Place, float | None]
    reasons: dict[Place, str]

    def __getitem__(self, place: Place) -> float:
        assert self.reasons.get(place) is None, self.reasons[place]
        value = self.values[place]
        assert value is not None
        return value

    def reason(self, place: Place) -> str:
        assert self.values[place] is None, f"{place} is {self.values[place]}"
        return self.reasons[place]


def context(methods: Methods, templates: Sequence[Table]) -> ArmContext:
    arm = Arm("formal", "formal")
    names = tuple(file.name for file in methods.files)
    return ArmContext(arm, methods.paper_id, methods, tuple(templates), names)


def prepared(methods: Methods, templates: Sequence[Table]) -> Preparation:
    return FormalArm().prepare(context(methods, templates))


def filled(folder: Path, slug: str) -> Filled:
    record = json.loads((folder / f"{slug}.json").read_text())
    notes = folder / f"{slug}.empty.txt"
    lines = notes.read_text().splitlines() if notes.exists() else []
    reasons = {}
    for line in lines:
        found = re.fullmatch(r"row (\d+), column (\d+): (.+)", line)
        assert found is not None, line
        reasons[int(found[1]), int(found[2])] = found[3]
    graded = [cell for cell in record["cells"] if cell["metric"] not in {"setting", "text"}]
    return Filled({(cell["row"], cell["col"]): cell["value"] for cell in graded}, reasons)


def run_here(
    folder: Path,
    preparation: Preparation,
    templates: Sequence[Table],
    data: dict[str, pd.DataFrame],
) -> dict[str, Filled]:
    """Run each script as in a workspace; a script that ends early is an error of the test."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "table_templates").mkdir(exist_ok=True)
    for name, frame in data.items():
        frame.to_csv(folder / "data" / name, index=False)
    for template in templates:
        (folder / "table_templates" / f"{template.slug}.json").write_bytes(record_to_json(template))
    results = {}
    for template in templates:
        slug = template.slug
        for name in (f"{slug}.json", f"{slug}.empty.txt"):
            (folder / name).unlink(missing_ok=True)
        source = preparation.files[f"{slug}.py"].decode()
        with contextlib.chdir(folder), np.errstate(all="ignore"):
            exec(compile(source, f"{slug}.py", "exec"), {"__name__": "__main__"})
        results[slug] = filled(folder, slug)
    return results


def template_of(cells: Sequence[tuple[int, int, str]], slug: str = "t") -> Table:
    listed = [{"row": row, "col": col, "metric": metric} for row, col, metric in cells]
    values = {"id": slug, "slug": slug, "cells": listed, "role": "template"}
    return record_from_values(Table, values, where="template")


def methods_of(
    models: Sequence[Values], rows: Sequence[Values], frame: pd.DataFrame = PANEL, **top: Any
) -> Methods:
    variables = [{"name": name, "description": ""} for name in frame.columns]
    file = {"name": "points.csv", "description": "", "variables": variables,
            "unit": "unit", "time": "year"}  # fmt: skip
    base = {"id": "m", "estimator": "ols", "sample": "all", "outcome": "y", "regressors": ["x"]}
    full = [{**base, **model} for model in models]
    table = {
        "slug": "t",
        "description": "",
        "models": full,
        "columns": [{"col": col, "model": model["id"]} for col, model in enumerate(full)],
        "rows": list(rows),
    }
    values = {
        "paper_id": "made",
        "question": "",
        "setting": "",
        "files": [file],
        "samples": [{"id": "all", "files": ["points.csv"], "description": ""}],
        "tables": [table],
    }
    return record_from_values(Methods, values | top, where="methods")


ROWS = (
    {"row": 0, "term": "x"},
    {"row": 1, "term": "x"},
    {"row": 2, "term": "constant"},
    {"row": 3, "quantity": "n_obs"},
)
CELLS = ((0, 0, "coefficient"), (1, 0, "standard_error"), (2, 0, "coefficient"), (3, 0, "n_obs"))


def case(
    folder: Path,
    *models: Values,
    rows: Sequence[Values] = ROWS,
    cells: Sequence[tuple[int, int, str]] = CELLS,
    frame: pd.DataFrame = PANEL,
    **top: Any,
) -> Filled:
    """One small table: its cells as the compiled script fills them."""
    methods = methods_of(models or ({},), rows, frame, **top)
    template = template_of(cells)
    data = {"points.csv": frame}
    return run_here(folder, prepared(methods, [template]), [template], data)["t"]


def filter_to(text: str) -> Values:
    sample = {"id": "all", "files": ["points.csv"], "description": "", "filter": text}
    return {"samples": [sample]}


# ------------------------------------------------------------------ numbers by hand


def least_squares(y: Any, *columns: Any, weights: Any = None) -> tuple[np.ndarray, np.ndarray, Any]:
    """Estimates, their bread, and residuals."""
    x = np.column_stack(columns).astype(float)
    w = np.ones(len(x)) if weights is None else np.asarray(weights)
    bread = np.linalg.inv(x.T @ (x * w[:, None]))
    b = bread @ (x.T @ (w * np.asarray(y)))
    return b, bread, np.asarray(y) - x @ b


def ones(frame: pd.DataFrame) -> np.ndarray:
    return np.ones(len(frame))


def dummies(*columns: pd.Series) -> np.ndarray:
    """Indicators of all levels of the first, and of all but one of the others."""
    return np.column_stack(
        [
            pd.get_dummies(column, drop_first=at > 0, dtype=float)
            for at, column in enumerate(columns)
        ]
    )


def test_a_line_through_four_points(tmp_path: Path) -> None:
    """(1, 2), (2, 4.5), (3, 5), (4, 9): Sxy = 10.75, Sxx = 5, residual sum 2.075, total 25.1875."""
    frame = pd.DataFrame({"x": [1, 2, 3, 4], "y": [2, 4.5, 5, 9], "unit": 1, "year": range(4)})
    rows = (*ROWS, {"row": 4, "term": "x"}, {"row": 5, "quantity": "r_squared"})
    rows += ({"row": 6, "quantity": "r_squared_adj"}, {"row": 7, "quantity": "residual_sd"})
    cells = (*CELLS, (4, 0, "t_statistic"), (5, 0, "r_squared"), (6, 0, "r_squared_adj"))
    found = case(tmp_path, rows=rows, cells=(*cells, (7, 0, "other_statistic")), frame=frame)
    error = (1.0375 / 5) ** 0.5
    wanted = [2.15, error, -0.25, 4, 2.15 / error, 1 - 2.075 / 25.1875]
    wanted += [1 - (2.075 / 2) / (25.1875 / 3), 1.0375**0.5]
    assert [found[row, 0] for row in range(8)] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("kind", ["classical", "hc0", "hc1", "hc2", "hc3", "cluster"])
def test_least_squares_and_the_kinds_of_its_errors(tmp_path: Path, kind: str) -> None:
    errors = {"kind": kind, "clusters": ["unit"] if kind == "cluster" else []}
    found = case(tmp_path, {"controls": ["c", "log(c)"], "standard_errors": errors})
    columns = ones(PANEL), PANEL["x"], PANEL["c"], np.log(PANEL["c"])
    b, bread, e = least_squares(PANEL["y"], *columns)
    x = np.column_stack(columns)
    n, k = x.shape
    h = np.einsum("ij,jk,ik->i", x, bread, x)
    if kind == "cluster":
        sums = pd.DataFrame(x * e[:, None]).groupby(PANEL["unit"]).sum().to_numpy()
        v = bread @ sums.T @ sums @ bread * (10 / 9) * (n - 1) / (n - k)
    elif kind == "classical":
        v = bread * (e @ e) / (n - k)
    else:
        scale = {"hc0": 1, "hc1": n / (n - k), "hc2": 1 / (1 - h), "hc3": 1 / (1 - h) ** 2}[kind]
        v = bread @ (x.T @ (x * (scale * e**2)[:, None])) @ bread
    assert found[0, 0] == pytest.approx(b[1], rel=1e-9)
    assert found[1, 0] == pytest.approx(v[1, 1] ** 0.5, rel=1e-9)
    assert found[2, 0] == pytest.approx(b[0], rel=1e-9)
    assert found[3, 0] == 60


def test_weights(tmp_path: Path) -> None:
    found = case(tmp_path, {"estimator": "wls", "weights": "c"})
    b, bread, e = least_squares(PANEL["y"], ones(PANEL), PANEL["x"], weights=PANEL["c"])
    assert found[0, 0] == pytest.approx(b[1], rel=1e-9)
    rss = float((PANEL["c"] * e**2).sum())
    assert found[1, 0] == pytest.approx((bread[1, 1] * rss / 58) ** 0.5, rel=1e-9)


def test_without_a_constant(tmp_path: Path) -> None:
    found = case(tmp_path, {"constant": False})
    assert found[0, 0] == pytest.approx((PANEL.x * PANEL.y).sum() / (PANEL.x**2).sum(), rel=1e-9)
    assert "no estimate named 'constant'" in found.reason((2, 0))


def test_instruments_just_identified(tmp_path: Path) -> None:
    model = {"estimator": "two_stage_least_squares", "endogenous": ["x"], "instruments": ["z"],
             "controls": ["c"]}  # fmt: skip
    found = case(tmp_path, model)
    x = np.column_stack([ones(PANEL), PANEL["x"], PANEL["c"]])
    z = np.column_stack([ones(PANEL), PANEL["z"], PANEL["c"]])
    y = PANEL["y"].to_numpy()
    b = np.linalg.inv(z.T @ x) @ z.T @ y
    projected = z @ np.linalg.inv(z.T @ z) @ z.T @ x
    e = y - x @ b
    v = np.linalg.inv(projected.T @ projected) * (e @ e) / 57
    assert found[0, 0] == pytest.approx(b[1], rel=1e-9)
    assert found[1, 0] == pytest.approx(v[1, 1] ** 0.5, rel=1e-9)
    assert found[2, 0] == pytest.approx(b[0], rel=1e-9)


def test_fixed_effects_of_units_and_years_clustered_by_unit(tmp_path: Path) -> None:
    """Effects nested in the clusters do not count: one slope, the mean, five further years."""
    model = {"estimator": "fixed_effects", "fixed_effects": ["unit", "year"],
             "standard_errors": {"kind": "cluster", "clusters": ["unit"]}}  # fmt: skip
    rows = (*ROWS, {"row": 4, "quantity": "r_squared"}, {"row": 5, "quantity": "n_clusters"})
    cells = (*CELLS, (4, 0, "r_squared"), (5, 0, "n_clusters"))
    found = case(tmp_path, model, rows=rows, cells=cells)
    effects = dummies(PANEL["unit"], PANEL["year"])
    b, _, e = least_squares(PANEL["y"], PANEL["x"], effects)
    own = PANEL["x"] - effects @ least_squares(PANEL["x"], effects)[0]
    sums = (own * e).groupby(PANEL["unit"]).sum()
    v = (sums**2).sum() / (own**2).sum() ** 2 * (10 / 9) * 59 / (60 - 7)
    assert found[0, 0] == pytest.approx(b[0], rel=1e-9)
    assert found[1, 0] == pytest.approx(v**0.5, rel=1e-9)
    assert "no estimate named 'constant'" in found.reason((2, 0))
    total = ((PANEL["y"] - PANEL["y"].mean()) ** 2).sum()
    assert found[4, 0] == pytest.approx(1 - (e @ e) / total, rel=1e-9)
    assert found[5, 0] == 10


def test_logit_with_classical_errors(tmp_path: Path) -> None:
    rows = (*ROWS, {"row": 4, "quantity": "log_likelihood"}, {"row": 5})
    cells = (*CELLS, (4, 0, "log_likelihood"), (5, 0, "pseudo_r_squared"))
    found = case(tmp_path, {"estimator": "logit", "outcome": "b"}, rows=rows, cells=cells)
    x, y = np.column_stack([ones(PANEL), PANEL["x"]]), PANEL["b"].to_numpy()
    b = np.zeros(2)
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ b))
        v = np.linalg.inv(x.T @ (x * (p * (1 - p))[:, None]))
        b = b + v @ (x.T @ (y - p))
    likelihood = float(np.sum(np.log(np.where(y == 1, p, 1 - p))))
    share = y.mean()
    null = 60 * (share * np.log(share) + (1 - share) * np.log(1 - share))
    assert found[0, 0] == pytest.approx(b[1], rel=1e-7)
    assert found[1, 0] == pytest.approx(v[1, 1] ** 0.5, rel=1e-6)
    assert found[2, 0] == pytest.approx(b[0], rel=1e-7)
    assert found[4, 0] == pytest.approx(likelihood, rel=1e-9)
    assert found[5, 0] == pytest.approx(1 - likelihood / null, rel=1e-8)


def test_terms_by_category_interaction_and_either_order(tmp_path: Path) -> None:
    """A fully interacted model is one line a group."""
    rows = (
        {"row": 0, "term": "category(g):x[top]"},
        {"row": 1, "term": "g[mid]"},
        {"row": 2, "term": "c:x"},
    )
    cells = tuple((row, 0, "coefficient") for row in range(3))
    model = {"regressors": ["x", "category(g)", "category(g):x"]}
    found = case(tmp_path / "groups", model, rows=rows[:2], cells=cells[:2])
    lines = {}
    for group, part in PANEL.groupby("g"):
        lines[group], *_ = least_squares(part["y"], ones(part), part["x"])
    assert found[0, 0] == pytest.approx(lines["top"][1] - lines["low"][1], rel=1e-8)
    assert found[1, 0] == pytest.approx(lines["mid"][0] - lines["low"][0], rel=1e-8)
    product = case(tmp_path / "both", {"regressors": ["x", "x:c"]}, rows=rows[2:], cells=cells[2:])
    b, *_ = least_squares(PANEL["y"], ones(PANEL), PANEL["x"], PANEL["x"] * PANEL["c"])
    assert product[2, 0] == pytest.approx(b[2], rel=1e-9)


def test_a_joint_test_is_the_wald_form_of_f(tmp_path: Path) -> None:
    rows = ({"row": 0, "quantity": "joint_test", "terms": ["c", "z"]},) * 2
    cells = ((0, 0, "f_statistic"),)
    found = case(tmp_path, {"controls": ["c", "z"]}, rows=rows[:1], cells=cells)
    _, _, full = least_squares(PANEL["y"], ones(PANEL), PANEL["x"], PANEL["c"], PANEL["z"])
    _, _, small = least_squares(PANEL["y"], ones(PANEL), PANEL["x"])
    wanted = ((small @ small - full @ full) / 2) / (full @ full / 56)
    assert found[0, 0] == pytest.approx(wanted, rel=1e-9)


def test_derived_variables_parameters_and_filters(tmp_path: Path) -> None:
    """One derived variable needs another and a lag, which sees years that the filter drops."""
    derived = [
        {"name": "growth", "definition": "past - lag(past)", "description": ""},
        {"name": "past", "definition": "log(c) * scale", "description": ""},
    ]
    top = filter_to('year > first_year and g in ("low", "top") and not missing(growth)')
    found = case(tmp_path, {"regressors": ["growth", "lag(z, 2)"]},
                 rows=({"row": 0, "term": "growth"}, ROWS[3]), cells=(CELLS[0], CELLS[3]),
                 derived=derived, parameters={"scale": 10, "first_year": 2003}, **top)  # fmt: skip
    frame = PANEL.copy()
    frame["past"] = 10 * np.log(frame["c"])
    frame["growth"] = frame["past"] - frame.groupby("unit")["past"].shift()
    frame["before"] = frame.groupby("unit")["z"].shift(2)
    kept = frame[(frame["year"] > 2003) & frame["g"].isin(["low", "top"])]
    b, *_ = least_squares(kept["y"], ones(kept), kept["growth"], kept["before"])
    assert found[0, 0] == pytest.approx(b[1], rel=1e-9)
    assert found[3, 0] == len(kept) == 18


def test_a_filter_over_lags_sees_the_whole_panel(tmp_path: Path) -> None:
    found = case(tmp_path, **filter_to("lag(x) > 0"))
    assert found[3, 0] == (PANEL.groupby("unit")["x"].shift() > 0).sum()


def test_rows_with_a_missing_value_are_left_out(tmp_path: Path) -> None:
    frame = PANEL.copy()
    frame.loc[[3, 17], "x"] = np.nan
    frame.loc[[4], "y"] = np.nan
    frame.loc[[5], "c"] = np.nan
    found = case(tmp_path, {"controls": ["log(c)"]}, frame=frame)
    kept = frame.drop(index=[3, 4, 5, 17])
    b, *_ = least_squares(kept["y"], ones(kept), kept["x"], np.log(kept["c"]))
    assert found[0, 0] == pytest.approx(b[1], rel=1e-9)
    assert found[3, 0] == 56


def test_a_rows_own_model_and_a_rows_own_column(tmp_path: Path) -> None:
    models = {"id": "short"}, {"id": "long", "controls": ["c"]}
    rows = (
        {"row": 0, "term": "x"},
        {"row": 0, "term": "constant", "col": 1},
        {"row": 1, "term": "x", "model": "long"},
    )
    cells = ((0, 0, "coefficient"), (0, 1, "coefficient"), (1, 0, "coefficient"))
    found = case(tmp_path, *models, rows=rows, cells=cells)
    short, *_ = least_squares(PANEL["y"], ones(PANEL), PANEL["x"])
    long, *_ = least_squares(PANEL["y"], ones(PANEL), PANEL["x"], PANEL["c"])
    wanted = [short[1], long[0], long[1]]
    assert [found[place] for place in ((0, 0), (0, 1), (1, 0))] == pytest.approx(wanted, rel=1e-9)


def test_descriptions_and_a_comparison_of_two_groups(tmp_path: Path) -> None:
    rows = [{"row": row, "term": "y"} for row in range(4)]
    rows += [{"row": row, "term": "y", "quantity": "difference"} for row in (4, 5)]
    rows += [{"row": 6, "quantity": "n_obs"}]
    metrics = ["mean", "std_dev", "median", "standard_error", "mean", "standard_error", "n_obs"]
    cells = [(row, 0, metric) for row, metric in enumerate(metrics)]
    model = {"estimator": "descriptive", "settings": {"group": "f"}}
    found = case(tmp_path, model, rows=rows, cells=cells, **filter_to("year > 2002"))
    kept = PANEL[PANEL["year"] > 2002]
    first, second = kept.loc[kept["f"] == 1, "y"], kept.loc[kept["f"] == 0, "y"]
    error = (first.var() / len(first) + second.var() / len(second)) ** 0.5
    wanted = [kept.y.mean(), kept.y.std(), kept.y.median(), kept.y.std() / 40**0.5]
    wanted += [first.mean() - second.mean(), error, 40]
    assert [found[row, 0] for row in range(7)] == pytest.approx(wanted, rel=1e-9)


def test_files_are_stacked_with_their_own_derivations(tmp_path: Path) -> None:
    halves = {"first.csv": PANEL[:30], "second.csv": PANEL[30:].rename(columns={"x": "size"})}
    files = [
        {"name": name, "description": "", "unit": "unit", "time": "year",
         "variables": [{"name": one, "description": ""} for one in half.columns]}
        for name, half in halves.items()
    ]  # fmt: skip
    derived = [
        {"name": "w", "definition": "x", "description": "", "file": "first.csv"},
        {"name": "w", "definition": "size * 1", "description": "", "file": "second.csv"},
    ]
    sample = {"id": "all", "files": list(halves), "description": "", "filter": "w > 1"}
    methods = methods_of(
        [{"regressors": ["w"]}], [{"row": 0, "term": "w"}], files=files, derived=derived,
        samples=[sample],
    )  # fmt: skip
    template = template_of(CELLS[:1])
    found = run_here(tmp_path, prepared(methods, [template]), [template], halves)["t"]
    kept = PANEL[PANEL["x"] > 1]
    b, *_ = least_squares(kept["y"], ones(kept), kept["x"])
    assert found[0, 0] == pytest.approx(b[1], rel=1e-9)


def test_a_files_own_derivation_goes_before_the_general_one(tmp_path: Path) -> None:
    """`w` is `x` by name in the first file and the general `10 * x` in the second."""
    halves = {"first.csv": PANEL[:30], "second.csv": PANEL[30:]}
    variables = [{"name": name, "description": ""} for name in COLUMNS]
    files = [{"name": name, "description": "", "variables": variables} for name in halves]
    derived = [
        {"name": "w", "definition": "10 * x", "description": ""},
        {"name": "w", "definition": "x", "description": "", "file": "first.csv"},
    ]
    sample = {"id": "all", "files": list(halves), "description": ""}
    methods = methods_of(
        [{"estimator": "descriptive"}], [{"row": 0, "term": "w"}], files=files, derived=derived,
        samples=[sample],
    )  # fmt: skip
    template = template_of(((0, 0, "mean"),))
    found = run_here(tmp_path, prepared(methods, [template]), [template], halves)["t"]
    wanted = (PANEL["x"][:30].sum() + 10 * PANEL["x"][30:].sum()) / 60
    assert found[0, 0] == pytest.approx(wanted, rel=1e-9)


def test_a_panel_of_rows_has_its_own_model(tmp_path: Path) -> None:
    """The first panel's model is its own; the second panel takes the column's general one."""
    values = record_to_values(methods_of([{}, {"id": "long", "controls": ["c"]}], TERM))
    values["tables"][0]["rows"] += [{"row": 1, "term": "x"}]
    values["tables"][0]["columns"] = [
        {"col": 0, "model": "m"},
        {"col": 0, "model": "long", "panel": "A"},
    ]
    cells = [
        {"row": row, "col": 0, "metric": "coefficient", "panel": panel}
        for row, panel in enumerate("AB")
    ]
    record = {"id": "t", "slug": "t", "cells": cells, "role": "template"}
    found = said_of(values, [record_from_values(Table, record, where="template")], tmp_path)
    short, *_ = least_squares(PANEL["y"], ones(PANEL), PANEL["x"])
    long, *_ = least_squares(PANEL["y"], ones(PANEL), PANEL["x"], PANEL["c"])
    assert found is not None
    wanted = [long[1], short[1]]
    assert [found["t"][0, 0], found["t"][1, 0]] == pytest.approx(wanted, rel=1e-9)


# ------------------------------------------------------------------ what is not determined

LOCAL = {"running_variable": "z", "cutoff": "edge", "bandwidth": "edge"}
GMM = {"estimator": "difference_gmm", "endogenous": ["x"], "instruments": ["y"]}
IV = {"estimator": "two_stage_least_squares", "endogenous": ["x"], "instruments": ["z"]}
TERM = ({"row": 0, "term": "x"},)


@pytest.mark.parametrize(
    ("model", "top", "said"),
    [
        ({"estimator": "other"}, {}, "no rule for the estimator other"),
        ({"estimator": "system_gmm"}, {}, "no rule for the estimator system_gmm"),
        ({"outcome": None}, {}, "the model names no outcome"),
        ({"outcome": "1"}, {}, "'1' is the same for all observations"),
        ({"outcome": "wages"}, {}, "'wages' is neither a variable nor a parameter"),
        ({"regressors": ["x", "size"]}, {}, "'size' is neither a variable nor a parameter"),
        ({"regressors": []}, {}, "the methods name no regressors"),
        ({"regressors": ["z"]}, {}, "no estimate named 'x'; there are constant, z"),
        ({"sample": "some"}, {}, "the methods define no sample 'some'"),
        ({"standard_errors": {"kind": "hac"}}, {}, "variance hac for a linear model"),
        ({"standard_errors": {"kind": "gmm_robust"}}, {}, "variance gmm_robust"),
        ({"standard_errors": {"kind": "cluster"}}, {}, "clustered errors without a variable"),
        (IV | {"standard_errors": {"kind": "cluster"}}, {}, "clustered errors without a variable"),
        (IV | {"standard_errors": {"kind": "hc3"}}, {}, "variance hc3 for two-stage least squares"),
        (IV | {"instruments": []}, {}, ""),
        ({"weights": "1", "estimator": "wls"}, {}, "is the same for all observations"),
        ({"fixed_effects": ["village"]}, {}, "'village' is neither"),
        ({"regressors": ["x", "category(g, 'high')"]}, {}, "'high' does not occur"),
        ({"regressors": ["x", "x.values"]}, {}, "'x.values' is outside the language"),
        ({"estimator": "random_effects"}, {"no_panel": True}, "random effects need a file with a"),
        ({"regressors": ["x", "lag(z)"]}, {"no_panel": True}, "a lag needs a file with a time"),
        (GMM, {"no_panel": True}, "difference GMM needs a file with a panel index"),
        (GMM, {}, "whether GMM takes one step or two"),
        (GMM | {"settings": {"steps": "several"}}, {}, "'several' is not a number of steps"),
        (GMM | {"instruments": []}, {}, "needs the one variable whose levels instrument"),
        ({"estimator": "local_difference"}, {}, "needs running_variable, cutoff, bandwidth"),
        ({"estimator": "local_difference", "settings": LOCAL}, {}, "'edge' is not a parameter"),
        ({"estimator": "tobit", "settings": {"left_censoring": "floor"}}, {}, "not a parameter"),
        ({}, filter_to("wages > 0"), "'wages' is neither a variable nor a parameter"),
        ({}, filter_to("x > "), "is not an expression"),
        ({}, filter_to("1"), "the filter '1' is the same for all observations"),
        ({}, filter_to("x > 1000"), ""),
        ({}, filter_to("unit == 1 and year < 2002"), ""),
        ({}, {"samples": [{"id": "all", "files": [], "description": ""}]}, "names no file"),
        ({}, {"samples": [{"id": "all", "files": ["a"], "description": ""}]}, "no file 'a'"),
        ({"regressors": ["x", "np * c"]}, {"parameters": {"np": 2}}, "cannot be the name"),
        ({"regressors": ["x", "r"]}, {"derived": [
            {"name": "r", "definition": "r + 1", "description": ""}]}, "'r' is neither"),
        ({"regressors": ["x", "r"]}, {"derived": [
            {"name": "r", "definition": "q", "description": ""},
            {"name": "q", "definition": "r", "description": ""}]}, "is neither"),
    ],
)  # fmt: skip
def test_a_model_that_is_not_determined_gives_no_number(
    tmp_path: Path, model: Values, top: Values, said: str
) -> None:
    changes = dict(top)
    if changes.pop("no_panel", False):
        variables = [{"name": name, "description": ""} for name in COLUMNS]
        changes["files"] = [{"name": "points.csv", "description": "", "variables": variables}]
    found = case(tmp_path, {"id": "sound"}, {"id": "m", **model}, **changes,
                 rows=TERM, cells=((0, 1, "coefficient"),))  # fmt: skip
    assert said in found.reason((0, 1))


@pytest.mark.parametrize("kind", ["unstated", "bootstrap"])
def test_an_estimate_does_not_need_its_standard_error(tmp_path: Path, kind: str) -> None:
    rows = (*ROWS, *({"row": row, "term": "x"} for row in (4, 5, 6)))
    cells = (*CELLS, (4, 0, "t_statistic"), (5, 0, "p_value"), (6, 0, "ci_upper"))
    found = case(tmp_path, {"standard_errors": {"kind": kind}}, rows=rows, cells=cells)
    b, *_ = least_squares(PANEL["y"], ones(PANEL), PANEL["x"])
    assert found[0, 0] == pytest.approx(b[1], rel=1e-9)
    for row in (1, 4, 5, 6):
        assert "standard errors" in found.reason((row, 0))


@pytest.mark.parametrize(
    ("row", "metric", "said"),
    [
        (None, "coefficient", "the methods do not say what this row prints"),
        ({}, "coefficient", "the methods do not say which statistic this is"),
        ({"term": "c"}, "coefficient", "no estimate named 'c'; there are constant, x"),
        ({"term": "x", "equation": "zero"}, "coefficient", "no estimate named 'x'"),
        ({"term": "x"}, "n_obs", "a term has no n_obs"),
        ({"term": "x"}, "other_statistic", "a term has no other_statistic"),
        ({"quantity": "hausman"}, "chi2_statistic", "no rule for the quantity hausman"),
        ({"quantity": "product"}, "coefficient", "no rule for the quantity product"),
        ({"quantity": "other"}, "coefficient", "no rule for the quantity other"),
        ({"quantity": "joint_test"}, "f_statistic", "no estimate for the terms of a joint test"),
        ({"quantity": "joint_test", "terms": ["c"]}, "f_statistic", "no estimate named 'c'"),
        ({"quantity": "r_squared_within"}, "r_squared", "the value is not finite"),
        ({"quantity": "theta"}, "other_statistic", "theta"),
        ({"quantity": "first_stage_f"}, "f_statistic", "first_stage_f"),
        ({"quantity": "n_obs"}, "standard_error", "n_obs_se"),
        ({"quantity": "autocorrelation_test"}, "z_statistic", "order of the autocorrelation"),
        ({"term": "x", "model": "another"}, "coefficient", "describe no model 'another'"),
    ],
)
def test_a_row_that_is_not_determined_gives_no_number(
    tmp_path: Path, row: Values | None, metric: str, said: str
) -> None:
    rows = [{"row": 0, "term": "x"}] + ([{"row": 1, **row}] if row is not None else [])
    found = case(tmp_path, rows=rows, cells=((0, 0, "coefficient"), (1, 0, metric)))
    assert said in found.reason((1, 0))
    assert found[0, 0] != 0


def test_a_column_without_a_model_gives_no_number(tmp_path: Path) -> None:
    found = case(tmp_path, rows=TERM, cells=((0, 0, "coefficient"), (0, 1, "coefficient")))
    assert "name no model for this column" in found.reason((0, 1))
    assert found[0, 0] != 0


def test_a_described_variable_that_the_data_lack(tmp_path: Path) -> None:
    described = PANEL.assign(wages=1.0)
    methods = methods_of([{"controls": ["wages"]}, {"id": "sound"}], TERM, described)
    template = template_of([(0, 0, "coefficient"), (0, 1, "coefficient")])
    preparation = prepared(methods, [template])
    found = run_here(tmp_path, preparation, [template], {"points.csv": PANEL})["t"]
    assert found.reason((0, 0)) == "KeyError: 'wages'"
    assert found[0, 1] != 0


def test_a_data_file_that_is_not_there(tmp_path: Path) -> None:
    sample = {"id": "away", "files": ["away.csv"], "description": ""}
    files = [
        {"name": name, "description": "", "variables": [{"name": "x", "description": ""},
                                                        {"name": "y", "description": ""}]}
        for name in ("points.csv", "away.csv")
    ]  # fmt: skip
    here = {"id": "all", "files": ["points.csv"], "description": ""}
    found = case(tmp_path, {"id": "sound"}, {"id": "m", "sample": "away"}, rows=TERM,
                 cells=((0, 0, "coefficient"), (0, 1, "coefficient")), files=files,
                 samples=[here, sample])  # fmt: skip
    assert "away.csv" in found.reason((0, 1))
    assert found[0, 0] != 0


@pytest.mark.parametrize("change", [{"variant": "free_form"}, {"variant": "passages"}])
def test_methods_that_are_not_structured_are_refused(change: Values) -> None:
    methods = methods_of([{}], TERM, **change)
    with pytest.raises(UserError, match="formal compiles structured methods"):
        prepared(methods, [template_of(CELLS)])


def test_options_are_refused() -> None:
    methods = methods_of([{}], TERM)
    arm = Arm("formal", "formal", options={"effort": "high"})
    with pytest.raises(UserError, match="unknown option 'effort'"):
        FormalArm().prepare(ArmContext(arm, "made", methods, (template_of(CELLS),), ()))


def test_a_table_that_the_methods_leave_out_has_no_script(tmp_path: Path) -> None:
    preparation = prepared(methods_of([{}], TERM), [template_of(CELLS), template_of(CELLS, "u")])
    assert set(preparation.files) == {"t.py", "econometrics.py", "run_tables.py"}
    assert preparation.argv[1:] == ("run_tables.py", "t.py")


@pytest.mark.parametrize(
    "text", ['The "main"', '"', '"""', "a\\", "\\", "two\nlines", "a\0b", "'''", "ü ▢", '\\"""']
)
def test_any_description_makes_a_readable_script(tmp_path: Path, text: str) -> None:
    sample = {"id": "all", "files": ["points.csv"], "description": text}
    found = case(tmp_path, samples=[sample])
    assert found[3, 0] == 60


def test_names_that_look_like_code_are_names(tmp_path: Path) -> None:
    column = 'x"] = 0; raise SystemExit; d["x'
    frame = PANEL.rename(columns={"x": column})
    found = case(tmp_path, {"regressors": [column]}, frame=frame,
                 rows=({"row": 0, "term": column},), cells=CELLS[:1])  # fmt: skip
    b, *_ = least_squares(PANEL["y"], ones(PANEL), PANEL["x"])
    assert found[0, 0] == pytest.approx(b[1], rel=1e-9)


@pytest.mark.parametrize("name", ["__import__('os').abort()", "class", "a b", "np", "eco", "table"])
def test_a_setting_cannot_bring_code(tmp_path: Path, name: str) -> None:
    model = {"estimator": "tobit", "settings": {"left_censoring": name}}
    found = case(tmp_path, model, parameters={name: 1.0}, rows=TERM, cells=CELLS[:1])
    assert "cannot be the name of a parameter" in found.reason((0, 0))


# ------------------------------------------------------------------ a whole paper

LAYOUT = """\
[[tables]]
slug = "t1"
id = "Table 1"
caption = 'Four estimators of "one slope"'
notes = "A note"
columns = [{ label = "OLS" }, { label = "IV" }, { label = "Effects" }, { label = "Logit" }]
rows = [
    { label = "x", metric = "coefficient", below = "standard_error" },
    { label = "Constant", metric = "coefficient", below = "standard_error" },
    { label = "Unit effects", metric = "setting", values = ["No", "No", "Yes", "No"] },
    { label = "Observations", metric = "n_obs" },
    { label = "R2", metric = "r_squared", metrics = { Logit = "pseudo_r_squared" } },
]
[[tables]]
slug = "t2"
id = "Table 2"
columns = [{ label = "Mean" }, { label = "Difference" }]
rows = [{ label = "y", metrics = { Mean = "mean", Difference = "coefficient" } }]
[[tables]]
slug = "t3"
id = "Table 3"
columns = [{ label = "(1)" }, { label = "(2)" }]
rows = [{ label = "x", metric = "coefficient" }]
"""
EXTRA = """
[[tables]]
slug = "t2"
truth_kind = "seen"
source = "made for tests"
[[tables]]
slug = "t3"
truth_kind = "seen"
source = "made for tests"
"""
# What stands in print has nothing to do with the data: no script may come near it.
PUBLISHED = {
    ("t1", "x", "coefficient"): ("71.317", "72.418", "73.529", "74.631"),
    ("t1", "x", "standard_error"): ("8.1171", "8.2282", "8.3393", "8.4414"),
    ("t1", "Constant", "coefficient"): ("-91.47", "-92.58", None, "-94.69"),
    ("t1", "Constant", "standard_error"): ("6.171", "6.282", None, "6.494"),
    ("t1", "Observations", "n_obs"): ("5171", "5282", "5393", "5414"),
    ("t1", "R2", "r_squared"): ("0.7171", "0.7282", "0.7393", None),
    ("t1", "R2", "pseudo_r_squared"): (None, None, None, "0.7414"),
    ("t2", "y", "mean"): ("61.71", None),
    ("t2", "y", "coefficient"): (None, "62.82"),
    ("t3", "x", "coefficient"): ("51.71", "52.82"),
}
COLUMN_KEYS = {
    "t1": ("OLS", "IV", "Effects", "Logit"),
    "t2": ("Mean", "Difference"),
    "t3": ("(1)", "(2)"),
}


def truth_csv(published: dict[tuple[str, str, str], tuple[str | None, ...]] = PUBLISHED) -> str:
    lines = ["table,row,column,metric,published,stars,truth_kind,source"]
    for (table, row, metric), printed in published.items():
        lines += [
            f"{table},{row},{column},{metric},{value},,seen,made"
            for column, value in zip(COLUMN_KEYS[table], printed, strict=True)
            if value is not None
        ]
    return "\n".join(lines) + "\n"


def paper_methods() -> Values:
    """Methods of the paper: everything in use that a script can be made from."""
    described = [*COLUMNS, "income"]  # which the data lack
    variables = [{"name": name, "description": "A variable"} for name in described]
    ols = {"id": "ols", "estimator": "ols", "sample": "all", "outcome": "y", "regressors": ["x"],
           "controls": ["log_c"], "standard_errors": {"kind": "hc1"}}  # fmt: skip
    iv = {"id": "iv", "estimator": "two_stage_least_squares", "sample": "all", "outcome": "y",
          "regressors": ["x"], "controls": ["log_c"], "endogenous": ["x"], "instruments": ["z"],
          "standard_errors": {"kind": "classical"}}  # fmt: skip
    effects = {"id": "effects", "estimator": "fixed_effects", "sample": "late", "outcome": "y",
               "regressors": ["x"], "controls": ["lag(z)"], "fixed_effects": ["unit", "year"],
               "standard_errors": {"kind": "cluster", "clusters": ["unit"]}}  # fmt: skip
    logit = {"id": "logit", "estimator": "logit", "sample": "all",
             "outcome": "indicator(y > level_of_y)", "regressors": ["x"]}  # fmt: skip
    means = {"id": "means", "estimator": "descriptive", "sample": "all"}
    compared = means | {"id": "compared", "settings": {"group": "f"}}
    unclear = {"id": "unclear", "estimator": "other", "sample": "all", "outcome": "y"}
    broken = {"id": "broken", "estimator": "ols", "sample": "nowhere", "outcome": "y",
              "regressors": ["x"]}  # fmt: skip
    return {
        "paper_id": "made",
        "question": "How steep is a line?",
        "setting": "Made up",
        "files": [{"name": "points.csv", "description": "Points", "variables": variables,
                   "unit": "unit", "time": "year"}],
        "samples": [
            {"id": "all", "files": ["points.csv"], "description": 'Everything, or "all"'},
            {"id": "late", "files": ["points.csv"], "description": "", "filter": "year > start"},
            {"id": "nowhere", "files": ["points.csv"], "description": "", "filter": "income > x"},
        ],
        "derived": [{"name": "log_c", "definition": "log(c)", "description": "Logarithm of c"}],
        "parameters": {"level_of_y": 2.5, "start": 2002},
        "tables": [
            {
                "slug": "t1",
                "description": "Four estimators",
                "models": [ols, iv, effects, logit],
                "columns": [{"col": at, "model": one["id"]}
                            for at, one in enumerate((ols, iv, effects, logit))],
                "rows": [
                    {"row": 0, "term": "x"},
                    {"row": 1, "term": "x"},
                    {"row": 2, "term": "constant"},
                    {"row": 3, "term": "constant"},
                    {"row": 5, "quantity": "n_obs"},
                    {"row": 6, "quantity": "r_squared"},
                    {"row": 6, "quantity": "pseudo_r_squared", "col": 3},
                ],
            },
            {
                "slug": "t2",
                "description": "Means",
                "models": [means, compared],
                "columns": [{"col": 0, "model": "means"}, {"col": 1, "model": "compared"}],
                "rows": [{"row": 0, "term": "y"},
                         {"row": 0, "term": "y", "quantity": "difference", "col": 1}],
            },
            {
                "slug": "t3",
                "description": "Broken",
                "models": [unclear, broken],
                "columns": [{"col": 0, "model": "unclear"}, {"col": 1, "model": "broken"}],
                "rows": [{"row": 0, "term": "x"}],
            },
        ],
    }  # fmt: skip


def golden() -> dict[str, dict[Place, float]]:
    """Every number of the paper that its methods determine."""
    log_c = np.log(PANEL["c"])
    x = np.column_stack([ones(PANEL), PANEL["x"], log_c])
    y = PANEL["y"].to_numpy()
    total = ((y - y.mean()) ** 2).sum()
    b, bread, e = least_squares(y, x)
    v = bread @ (x.T @ (x * e[:, None] ** 2)) @ bread * 60 / 57
    t1 = {(0, 0): b[1], (1, 0): v[1, 1] ** 0.5, (2, 0): b[0], (3, 0): v[0, 0] ** 0.5}
    t1[6, 0] = 1 - (e @ e) / total

    z = np.column_stack([ones(PANEL), PANEL["z"], log_c])
    b = np.linalg.inv(z.T @ x) @ z.T @ y
    fitted = z @ np.linalg.inv(z.T @ z) @ z.T @ x
    e = y - x @ b
    v = np.linalg.inv(fitted.T @ fitted) * (e @ e) / 57
    t1 |= {(0, 1): b[1], (1, 1): v[1, 1] ** 0.5, (2, 1): b[0], (3, 1): v[0, 0] ** 0.5}
    t1[6, 1] = 1 - (e @ e) / total

    late = PANEL.assign(before=PANEL.groupby("unit")["z"].shift()).query("year > 2002")
    d = dummies(late["unit"], late["year"])
    slopes = np.column_stack([late["x"], late["before"]])
    inner = slopes - d @ np.linalg.lstsq(d, slopes, rcond=None)[0]
    b, _, e = least_squares(late["y"], slopes, d)
    sums = pd.DataFrame(inner * e[:, None]).groupby(late["unit"].to_numpy()).sum().to_numpy()
    bread = np.linalg.inv(inner.T @ inner)
    v = bread @ sums.T @ sums @ bread * (10 / 9) * 39 / (40 - 6)
    own = late["y"] - late["y"].mean()
    t1 |= {(0, 2): b[0], (1, 2): v[0, 0] ** 0.5, (6, 2): 1 - (e @ e) / (own @ own)}

    x, high = x[:, :2], (y > 2.5).astype(float)
    b = np.zeros(2)
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ b))
        v = np.linalg.inv(x.T @ (x * (p * (1 - p))[:, None]))
        b = b + v @ (x.T @ (high - p))
    share = high.mean()
    null = 60 * (share * np.log(share) + (1 - share) * np.log(1 - share))
    t1 |= {(0, 3): b[1], (1, 3): v[1, 1] ** 0.5, (2, 3): b[0], (3, 3): v[0, 0] ** 0.5}
    t1[6, 3] = 1 - np.sum(np.log(np.where(high == 1, p, 1 - p))) / null
    t1 |= {(5, 0): 60, (5, 1): 60, (5, 2): 40, (5, 3): 60}
    f = PANEL["f"] == 1
    t2 = {(0, 0): PANEL["y"].mean(), (0, 1): PANEL.loc[f, "y"].mean() - PANEL.loc[~f, "y"].mean()}
    return {"t1": t1, "t2": t2, "t3": {}}


def write_paper(folder: Path, **changes: Any) -> PaperFolder:
    options: dict[str, Any] = {"layout": LAYOUT, "truth": truth_csv(), "extra": EXTRA}
    root = made.write_paper(folder, **options | changes, **paper_methods())
    # A run refuses data with the very bytes of a package's file: here the line ends differ.
    package = PANEL.to_csv(index=False, lineterminator="\r\n").encode()
    (root / "package" / "data" / "points.csv").write_bytes(package)
    build_paper(root)
    return open_paper(root)


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> PaperFolder:
    return write_paper(tmp_path_factory.mktemp("paper"))


def export(root: Path, to: Path) -> None:
    done = subprocess.run(
        [BENCH, "papers", "export", root, "--to", to], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def workspace(paper: PaperFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Workspace as `bench run` left it, after the real jail and the analysis environment."""
    folder = tmp_path_factory.mktemp("run")
    export(paper.root, folder / "data")
    board = folder / "board.toml"
    board.write_text(f'name = "board"\npapers = ["{paper.root}"]\n[[arms]]\nname = "formal"\n')
    done = subprocess.run(
        [BENCH, "run", board, "--to", folder, "--data", folder / "data"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    run = folder / "board" / "made" / "formal" / "1"
    record = json.loads((run / "run.json").read_bytes())
    assert record["status"] == "finished"
    assert record["attempts"][0]["isolation"] == "namespaces"
    return run / "attempt_01" / "workspace"


@pytest.mark.parametrize("slug", ["t1", "t2"])
def test_the_run_in_the_jail_fills_every_cell_as_worked_out(workspace: Path, slug: str) -> None:
    found = filled(workspace, slug)
    wanted = golden()[slug]
    assert set(found.values) == set(wanted)
    assert {place: found[place] for place in wanted} == pytest.approx(wanted, rel=1e-6)
    assert found.reasons == {}


def test_a_table_whose_methods_are_broken_is_left_empty_with_reasons(workspace: Path) -> None:
    found = filled(workspace, "t3")
    assert found.reason((0, 0)) == "model unclear: no rule for the estimator other"
    assert found.reason((0, 1)) == "KeyError: 'income'"


def test_a_filled_template_keeps_everything_else(paper: PaperFolder, workspace: Path) -> None:
    for template in paper.templates:
        before = record_to_values(template)
        after = json.loads((workspace / f"{template.slug}.json").read_bytes())
        assert after.pop("role") == "reproduced"
        for cell in after["cells"]:
            if cell["metric"] != "setting" and cell["value"] is not None:
                assert float(cell["text"]) == pytest.approx(cell["value"], rel=1e-9)
                cell["text"] = cell["value"] = None
        assert after == {key: value for key, value in before.items() if key != "role"}


def test_a_script_can_be_run_again_in_the_workspace_by_itself(
    paper: PaperFolder, workspace: Path, tmp_path: Path
) -> None:
    """What this process computes is what the analysis environment computed in the jail."""
    data = {"points.csv": PANEL}
    here = run_here(tmp_path, prepared(paper.methods, paper.templates), paper.templates, data)
    for slug, found in here.items():
        jailed = filled(workspace, slug)
        assert found.reasons == jailed.reasons
        produced = {place for place, value in found.values.items() if value is not None}
        assert {p for p, value in jailed.values.items() if value is not None} == produced
        assert [found[p] for p in produced] == pytest.approx([jailed[p] for p in produced])


def test_one_script_that_ends_early_harms_no_other(
    paper: PaperFolder, tmp_path: Path, workspace: Path
) -> None:
    """The runner goes on after a script that fails, and its exit code says that one did."""
    preparation = prepared(paper.methods, paper.templates)
    run_here(tmp_path, preparation, paper.templates, {"points.csv": PANEL})
    for name, content in preparation.files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "t1.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "t1.json").unlink()
    (tmp_path / "t2.json").unlink()
    done = subprocess.run(
        [sys.executable, *preparation.argv[1:]], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "t1.py ended with 3" in done.stdout
    assert filled(tmp_path, "t2") == filled(workspace, "t2")
    assert not (tmp_path / "t1.json").exists()


# ------------------------------------------------------------------ what scripts look like


@cache
def bundled_scripts() -> dict[str, bytes]:
    scripts = {}
    for folder in bundled_papers():
        for name, content in prepared(folder.methods, folder.templates).files.items():
            if name not in {"econometrics.py", "run_tables.py"}:
                scripts[f"{folder.id}__{name}"] = content
    return scripts


def test_there_is_one_script_a_table(paper: PaperFolder) -> None:
    preparation = prepared(paper.methods, paper.templates)
    slugs = [table.slug for table in paper.templates]
    assert [name for name in preparation.files if name.startswith("t")] == [
        f"{s}.py" for s in slugs
    ]
    assert preparation.argv[1:] == ("run_tables.py", *(f"{slug}.py" for slug in slugs))
    tables = sum(len(folder.templates) for folder in bundled_papers())
    assert len(bundled_scripts()) == tables


def test_scripts_are_clean_readable_python(paper: PaperFolder, tmp_path: Path) -> None:
    """A docstring, imports, then functions named after the samples and models, then the table."""
    scripts = bundled_scripts() | prepared(paper.methods, paper.templates).files
    for name, content in scripts.items():
        (tmp_path / name).write_bytes(content)
        tree = ast.parse(content)
        assert ast.get_docstring(tree), name
    # An expression stands on one line, however long the methods made it.
    argv = [RUFF, "check", "--isolated", "--select", "E,F", "--ignore", "E501", "."]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    t1 = ast.parse(scripts["t1.py"])
    names = [node.name for node in t1.body if isinstance(node, ast.FunctionDef)]
    assert names == ["sample_all", "sample_late", "model_ols", "model_iv", "model_effects",
                     "model_logit"]  # fmt: skip
    assert b'"""Everything, or "all" """' in scripts["t1.py"]
    assert b"level_of_y = 2.5\nstart = 2002.0\n" in scripts["t1.py"]


def test_no_script_imports_or_calls_what_it_does_not_need(paper: PaperFolder) -> None:
    """Only numpy, pandas and the estimators; nothing that opens, runs or evaluates."""
    scripts = bundled_scripts() | prepared(paper.methods, paper.templates).files
    for name, content in scripts.items():
        if name in {"econometrics.py", "run_tables.py"}:
            continue
        tree = ast.parse(content)
        imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        assert imported <= {"numpy", "pandas", "econometrics"}
        assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))
        called = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert all(re.fullmatch(r"len|int|(sample|model)_\w+", one) for one in called), name


def test_the_same_methods_give_the_same_bytes(paper: PaperFolder) -> None:
    here = prepared(paper.methods, paper.templates).files
    assert prepared(paper.methods, paper.templates).files == here
    code = (
        "import hashlib, sys; from data.corpus import open_paper; from bench.arms import *;"
        "from data.records.runs import Arm; p = open_paper(sys.argv[1]);"
        "c = ArmContext(Arm('formal', 'formal'), p.id, p.methods, p.templates, ());"
        "files = arm_program('formal').prepare(c).files;"
        "print(hashlib.sha256(b''.join(files[k] for k in sorted(files))).hexdigest())"
    )
    wanted = hashlib.sha256(b"".join(here[name] for name in sorted(here))).hexdigest()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, paper.root],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
        )
        assert done.stdout.strip() == wanted, done.stderr


def test_scripts_hold_no_published_value_and_do_not_change_with_it(
    paper: PaperFolder, tmp_path: Path
) -> None:
    files = prepared(paper.methods, paper.templates).files
    printed = [value for values in PUBLISHED.values() for value in values if value is not None]
    for name, content in files.items():
        for value in printed:
            assert value.lstrip("-").encode() not in content, (name, value)
    moved = {
        place: tuple(value and value.replace("7", "9").replace("8", "3") for value in values)
        for place, values in PUBLISHED.items()
    }
    other = write_paper(tmp_path, truth=truth_csv(moved))
    assert other.tables != paper.tables
    assert prepared(other.methods, other.templates).files == files


# ------------------------------------------------------------------ nothing is guessed


def fields(values: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Places of all fields of a record's plain values."""
    if isinstance(values, dict):
        for name, value in values.items():
            yield (*place, name)
            yield from fields(value, (*place, name))
    elif isinstance(values, list):
        for index, value in enumerate(values):
            yield from fields(value, (*place, index))


def without(values: Values, place: tuple[str | int, ...]) -> Values:
    changed = copy.deepcopy(values)
    inner: Any = changed
    for step in place[:-1]:
        inner = inner[step]
    del inner[place[-1]]
    return changed


def said_of(values: Values, templates: Sequence[Table], folder: Path) -> dict[str, Filled] | None:
    """What the scripts give; None where the methods are refused in words."""
    try:
        methods = record_from_values(Methods, values, where="methods")
    except RecordError:
        return None
    preparation = prepared(methods, templates)
    kept = [one for one in templates if f"{one.slug}.py" in preparation.files]
    return run_here(folder, preparation, kept, {"points.csv": PANEL})


def optional(place: tuple[str | int, ...]) -> bool:
    """Fields whose absence says something else, by their definition, and not less.

    No controls, no filter, all files' own index, classical errors.
    """
    steps = [step for step in place if isinstance(step, str)]
    last = steps[-1]
    in_errors = steps[-2:] == ["standard_errors", "kind"]
    listed = last in {"controls", "filter", "standard_errors"} or in_errors
    return listed or (last == "col" and "rows" in steps)


REQUIRED = [place for place in fields(paper_methods()) if not optional(place)]


def check_loss(place: tuple[str | int, ...], templates: Sequence[Table], folder: Path) -> None:
    """Each cell is the number that it was, or empty with a reason."""
    found = said_of(without(paper_methods(), place), templates, folder)
    if found is None:
        return
    for slug, table in found.items():
        for cell, value in table.values.items():
            if value is None:
                assert table.reasons[cell], (place, slug, cell)
            else:
                wanted = golden()[slug].get(cell)
                assert value == pytest.approx(wanted, rel=1e-6), (place, slug, cell)


def test_fields_are_there_to_be_dropped() -> None:
    assert len(REQUIRED) > 130
    assert len([place for place in fields(paper_methods()) if optional(place)]) < 20


@pytest.mark.parametrize("part", range(8))
def test_dropping_a_field_gives_the_same_number_or_none(
    paper: PaperFolder, tmp_path: Path, part: int
) -> None:
    for place in REQUIRED[part::8]:
        check_loss(place, paper.templates, tmp_path)


PLACES = [place for place in fields(paper_methods()) if place[-1] != "paper_id"]
JUNK = st.sampled_from(
    [None, "", "x", "nope", "lag(x)", "y > 0", "1", '"', "other", "cluster", [], ["x"], ["x", "x"],
     ["category(g)"], {}, {"np": 1.0}, 0, -1, 2.5, True, "__import__('os').abort()"]
)  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), JUNK), min_size=1, max_size=3))
@example(changes=[(("tables", 1, "models", 1, "settings", "group"), "1")])
def test_whatever_the_methods_hold_each_cell_has_a_number_or_a_reason(
    changes: list[tuple[tuple[str | int, ...], Any]],
    paper: PaperFolder,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """No script ends early, whatever stands in the fields of the methods."""
    values = paper_methods()
    for place, junk in changes:
        inner: Any = values
        with contextlib.suppress(KeyError, IndexError, TypeError):
            for step in place[:-1]:
                inner = inner[step]
            inner[place[-1]] = junk
    found = said_of(values, paper.templates, tmp_path_factory.mktemp("junk"))
    for table in (found or {}).values():
        for cell, value in table.values.items():
            assert (value is None) == (cell in table.reasons)


# ------------------------------------------------------------------ nothing is left out silently

CATEGORY = PANEL.assign(g=PANEL["g"].where(PANEL["f"] == 0))
BOTH = ({"id": "A"}, {"id": "a", "controls": ["c"]})
TWO = tuple((0, col, "coefficient") for col in range(2))
SAMPLES = [
    {"id": "men 1", "files": ["points.csv"], "description": "", "filter": "year > 2002"},
    {"id": "men-1", "files": ["points.csv"], "description": "", "filter": "year > 2004"},
]


def silently(changes: Values, top: Values | None = None, **how: Any) -> Any:
    return pytest.param(changes, top or {}, how, id=how.pop("name"))


@pytest.mark.parametrize(
    ("model", "top", "how"),
    [
        silently({"estimator": "fixed_effects"}, name="effects without effects"),
        silently({"estimator": "wls"}, name="weighted without weights"),
        silently({"estimator": "first_differences"}, name="differences of terms in levels"),
        silently(IV | {"endogenous": []}, name="instruments for nothing"),
        silently(IV | {"weights": "c"}, name="weights of instrumental variables"),
        silently(IV | {"constant": False}, name="constant of instrumental variables"),
        silently({"estimator": "logit", "outcome": "b", "weights": "c"}, name="weights of a logit"),
        silently({"estimator": "logit", "outcome": "b", "constant": False}, name="constant"),
        silently({"estimator": "logit", "outcome": "b", "fixed_effects": ["g"]}, name="effects"),
        silently({"estimator": "poisson", "outcome": "k", "weights": "c"}, name="weights, counts"),
        silently({"estimator": "random_effects", "weights": "c"}, name="weights, random effects"),
        silently({"fixed_effects": ["unit:b"]}, name="effects of a product of codes"),
        silently({"estimator": "fixed_effects", "fixed_effects": ["unit"], "regressors": ["level"]},
                 term="level", name="a slope of what does not vary within"),
        silently({"estimator": "logit", "outcome": "b", "standard_errors": {"kind": "cluster"}},
                 metric="standard_error", name="clusters without a variable"),
        silently({"standard_errors": {"kind": "unstated"}}, metric="standard_error",
                 name="unstated errors"),
        silently({"standard_errors": {"kind": "classical", "clusters": ["unit"]}},
                 metric="standard_error", name="errors that contradict themselves"),
        silently({"estimator": "descriptive", "settings": {"group": "f"}}, term="y",
                 quantity="product", name="a product that is a difference"),
        silently({"estimator": "descriptive", "weights": "c"}, term="y", metric="std_dev",
                 name="weights of a spread"),
        silently({"notes": "marginal effect"}, quantity="other", name="another quantity of a term"),
    ],
)  # fmt: skip
def test_what_the_methods_ask_for_is_done_or_refused(
    tmp_path: Path, model: Values, top: Values, how: Values
) -> None:
    row = {"row": 0, "term": how.get("term", "x"), "quantity": how.get("quantity", "term")}
    cells = ((0, 0, how.get("metric", "coefficient")),)
    frame = how.get("frame", PANEL)
    found = case(tmp_path, model, rows=(row,), cells=cells, frame=frame, **top)
    assert found.reason((0, 0))


def test_a_filter_that_is_an_indicator(tmp_path: Path) -> None:
    model = {"estimator": "descriptive"}
    rows, cells = ({"row": 0, "term": "y"},), ((0, 0, "mean"),)
    found = case(tmp_path, model, rows=rows, cells=cells, **filter_to("f"))
    assert found[0, 0] == pytest.approx(PANEL.loc[PANEL["f"] == 1, "y"].mean())


def test_models_that_differ_in_case_are_two(tmp_path: Path) -> None:
    found = case(tmp_path, *BOTH, rows=TERM, cells=TWO)
    long, *_ = least_squares(PANEL["y"], ones(PANEL), PANEL["x"], PANEL["c"])
    assert found[0, 1] == pytest.approx(long[1], rel=1e-9)


def test_samples_that_differ_in_punctuation_are_two(tmp_path: Path) -> None:
    models = {"id": "first", "sample": "men 1"}, {"id": "second", "sample": "men-1"}
    rows, cells = ({"row": 0, "quantity": "n_obs"},), ((0, 0, "n_obs"), (0, 1, "n_obs"))
    found = case(tmp_path, *models, rows=rows, cells=cells, samples=SAMPLES)
    assert (found[0, 0], found[0, 1]) == (40, 20)


def test_lags_of_two_expressions_are_two(tmp_path: Path) -> None:
    model = {"regressors": ["lag(x + z)", "lag(x - z)"]}
    rows = ({"row": 0, "term": "lag(x + z)"}, {"row": 1, "term": "lag(x - z)"})
    cells = ((0, 0, "coefficient"), (1, 0, "coefficient"))
    found = case(tmp_path, model, rows=rows, cells=cells)
    frame = PANEL.assign(a=PANEL.x + PANEL.z, d=PANEL.x - PANEL.z)
    frame = frame.assign(a=frame.groupby("unit")["a"].shift(), d=frame.groupby("unit")["d"].shift())
    kept = frame.dropna()
    b, *_ = least_squares(kept["y"], ones(kept), kept["a"], kept["d"])
    assert found[0, 0] == pytest.approx(b[1], rel=1e-9)
    assert found[1, 0] == pytest.approx(b[2], rel=1e-9)


def test_a_lag_does_not_take_the_place_of_a_column_of_its_name(tmp_path: Path) -> None:
    frame = PANEL.assign(lag_x=PANEL["z"])
    rows = ({"row": 0, "term": "lag(x)"}, {"row": 1, "term": "lag_x"})
    cells = ((0, 0, "coefficient"), (1, 0, "coefficient"))
    found = case(tmp_path, {"regressors": ["lag(x)", "lag_x"]}, rows=rows, cells=cells, frame=frame)
    kept = PANEL.assign(before=PANEL.groupby("unit")["x"].shift()).dropna()
    b, *_ = least_squares(kept["y"], ones(kept), kept["before"], kept["z"])
    assert [found[0, 0], found[1, 0]] == pytest.approx(list(b[1:]), rel=1e-9)


@pytest.mark.parametrize("col", [None, 0])
def test_two_entries_for_one_row_are_ambiguous(tmp_path: Path, col: int | None) -> None:
    rows = ({"row": 0, "term": "x", "col": col}, {"row": 0, "term": "constant", "col": col})
    found = case(tmp_path, rows=rows, cells=CELLS[:1])
    assert "more than one thing of what this row prints" in found.reason((0, 0))


def test_two_models_for_one_column_are_ambiguous(tmp_path: Path) -> None:
    methods = record_to_values(methods_of([{}, {"id": "n", "controls": ["c"]}], TERM))
    methods["tables"][0]["columns"] = [{"col": 0, "model": "m"}, {"col": 0, "model": "n"}]
    found = said_of(methods, [template_of(CELLS[:1], "t")], tmp_path)
    assert found is not None
    assert "more than one thing of which model" in found["t"].reason((0, 0))


def test_the_same_entry_twice_is_one(tmp_path: Path) -> None:
    found = case(tmp_path, rows=(*TERM, *TERM), cells=CELLS[:1])
    assert found[0, 0] != 0


def test_a_regressor_that_does_not_vary_within_takes_nothing_from_the_others(
    tmp_path: Path,
) -> None:
    model = {"estimator": "fixed_effects", "fixed_effects": ["unit"]}
    alone = case(tmp_path / "alone", model)
    both = case(tmp_path / "both", model | {"controls": ["level"]})
    assert [both[row, 0] for row in (0, 1, 3)] == pytest.approx([alone[r, 0] for r in (0, 1, 3)])


def test_a_missing_level_of_an_instrumented_models_effects_is_left_out(tmp_path: Path) -> None:
    found = case(tmp_path, IV | {"fixed_effects": ["g"]}, frame=CATEGORY)
    assert found[3, 0] == (PANEL["f"] == 0).sum()
