"""The small programs that arms bring into the jail, as bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Literal

from bench.arms.interface import PYTHON, Preparation
from data.records.tables import CellKey

__all__ = ["Values", "filling", "inside_program", "scripts_in_order"]

Values = Mapping[CellKey, float]


def inside_program(name: str) -> bytes:
    """Source of a program in `bench.inside`."""
    return resources.files("bench.inside").joinpath(name).read_bytes()


def scripts_in_order(
    scripts: Sequence[str], files: Mapping[str, bytes], environment: Mapping[str, str] | None = None
) -> Preparation:
    """Run Python scripts one after the other; one that fails does not keep the next from running.

    Parameters
    ----------
    scripts : sequence of str
        Paths in the workspace, in order.
    files : mapping of str to bytes
        The scripts and what they need.
    environment : mapping of str to str, optional
    """
    runner = {"run_scripts.py": inside_program("run_scripts.py")}
    return Preparation(
        argv=(PYTHON, "run_scripts.py", *scripts),
        files={**runner, **files},
        environment=environment or {},
    )


def filling(
    tables: Mapping[str, Values], end: Literal["done", "crash", "sleep"], *, name: str
) -> Preparation:
    """Fill templates with values that stand in the file `name`, and then end so.

    Parameters
    ----------
    tables : mapping of str to mapping of CellKey to float
        Values by the table's slug; only these tables are written.
    end : {"done", "crash", "sleep"}
    name : str
        The file in the workspace that holds the values.
    """
    listed = {
        slug: [[*key, value] for key, value in values.items()] for slug, values in tables.items()
    }
    content = json.dumps({"tables": listed, "end": end}, indent=1).encode()
    return Preparation(
        argv=(PYTHON, "-I", "-S", "-B", "fill_templates.py", name),
        files={"fill_templates.py": inside_program("fill_templates.py"), name: content},
    )
