"""The `formal` arm's estimators against reference values computed in R.

`formal_reference/` holds the script that simulated the data, the R script and its output.
"""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bench.environment import analysis_environment

HERE = Path(__file__).parent / "formal_reference"
RUNTIME = Path(__file__).parents[2] / "bench" / "arms" / "formal"
# Relative tolerances; likelihoods are maximised by two programs with their own stopping rules.
# R's probit inverts the expected information, ours (as Stata's) the observed one.
LOOSE = {"zinb": 1e-4, "hurdle": 1e-4, "probit": 5e-3}


def _reference() -> dict[str, float]:
    with (HERE / "reference.csv").open(newline="") as file:
        return {f"{r['model']}|{r['name']}": float(r["value"]) for r in csv.DictReader(file)}


REFERENCE = _reference()


@pytest.fixture(scope="module")
def computed() -> dict[str, Any]:
    python = analysis_environment() / "bin" / "python"
    done = subprocess.run(
        [python, HERE / "program.py", RUNTIME, HERE / "panel.csv", HERE / "dynamic.csv"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_all_reference_values_are_covered(computed: dict[str, Any]) -> None:
    # MASS::glm.nb holds theta fixed in its standard errors, so only its estimates are compared.
    assert set(REFERENCE) - set(computed) == set()
    assert len(REFERENCE) > 120


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_estimator_agrees_with_r(computed: dict[str, Any], name: str) -> None:
    tolerance = LOOSE.get(name.split("|")[0], 1e-6)
    assert computed[name] == pytest.approx(REFERENCE[name], rel=tolerance, abs=1e-7)
