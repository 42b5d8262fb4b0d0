"""The command `bench`: assembles the verbs and turns errors into one line and an exit code."""

from __future__ import annotations

import importlib
import sys

import typer
from typer.core import TyperGroup

__all__ = ["app", "run"]

_VERBS = {
    "papers": "bench.cli.papers",
    "grade": "bench.cli.grade",
    "regrade": "bench.cli.grade",
    "grade-diff": "bench.cli.grade",
    "rubrics": "bench.cli.grade",
    "run": "bench.cli.run",
    "status": "bench.cli.run",
    "stop": "bench.cli.run",
    "resume": "bench.cli.run",
    "store": "bench.cli.store",
    "leaderboard": "bench.cli.leaderboard",
    "report": "bench.cli.report",
    "doctor": "bench.cli.doctor",
}
