"""Arms: what is compared. Each turns one paper into files and a command for the jail."""

from __future__ import annotations

from bench.arms.interface import (
    PYTHON,
    ArmContext,
    ArmKind,
    ArmProgram,
    NothingToRun,
    Preparation,
    options_of,
    preparation_hash,
)
from bench.arms.registry import arm_program, known_arms

__all__ = [
    "PYTHON",
    "ArmContext",
    "ArmKind",
    "ArmProgram",
    "NothingToRun",
    "Preparation",
    "arm_program",
    "known_arms",
    "options_of",
    "preparation_hash",
]
