"""Which arms there are: the built-in ones, and those that other distributions register.

Third parties register an instance or a class without arguments::

    [project.entry-points."blindbench.arms"]
    my_arm = "my_package.my_module:MyArm"
"""

from __future__ import annotations

import importlib
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, get_args

from bench.arms.interface import ArmKind, ArmProgram
from data.records.errors import UserError

__all__ = ["ARM_GROUP", "BUILT_IN", "arm_program", "known_arms"]

ARM_GROUP: Final = "blindbench.arms"

BUILT_IN: Final[dict[str, str]] = {
    "formal": "bench.arms.formal:FormalArm",
    "human": "bench.arms.human:HumanArm",
    "package": "bench.arms.package:PackageArm",
    "program": "bench.arms.program:ProgramArm",
    "oracle": "bench.arms.self_test:ORACLE",
    "noise": "bench.arms.self_test:NOISE",
    "sign_flip": "bench.arms.self_test:SIGN_FLIP",
    "times_ten": "bench.arms.self_test:TIMES_TEN",
    "shuffled_rows": "bench.arms.self_test:SHUFFLED_ROWS",
    "hardcoder": "bench.arms.self_test:HARDCODER",
    "null": "bench.arms.self_test:NULL",
    "crasher": "bench.arms.self_test:CRASHER",
    "sleeper": "bench.arms.self_test:SLEEPER",
    "liar": "bench.arms.self_test:LIAR",
}
"""Module and object of every built-in arm; a name taken here cannot be registered by others."""


def _registered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ARM_GROUP)}


def known_arms() -> tuple[str, ...]:
    """Names of all arms, in order."""
    return tuple(sorted({*BUILT_IN, *_registered()}))


def arm_program(name: str) -> ArmProgram:
    """Arm of a scaffold's name.

    Raises
    ------
    UserError
        When there is none, or what is registered is no arm.
    """
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        return _checked(name, getattr(importlib.import_module(module), attribute))
    point = _registered().get(name)
    if point is None:
        raise UserError(f"no arm is called {name!r}; known: {', '.join(known_arms())}")
    try:
        found = point.load()
    except (ImportError, AttributeError) as error:
        raise UserError(f"arm {name!r} ({point.value}) cannot be loaded: {error}") from None
    return _checked(name, found)


def _checked(name: str, found: Any) -> ArmProgram:
    try:
        program = found() if isinstance(found, type) else found
    except TypeError as error:
        raise UserError(f"arm {name!r} cannot be made without arguments: {error}") from None
    if not isinstance(program, ArmProgram):
        raise UserError(f"arm {name!r} is no arm: it needs name, kind and prepare(context)")
    if program.kind not in get_args(ArmKind):
        known = ", ".join(get_args(ArmKind))
        raise UserError(f"arm {name!r} is of kind {program.kind!r}: none of {known}")
    if program.name != name:
        raise UserError(f"arm {name!r} calls itself {program.name!r}: register it by that name")
    return program
