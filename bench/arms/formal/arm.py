"""The `formal` arm: compiles a paper's methods record and runs what came out."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from bench.arms.formal.compiler import compiled_script
from bench.arms.interface import PYTHON, ArmContext, ArmKind, Preparation, options_of
from data.records.errors import UserError

__all__ = ["FormalArm"]

_RUNNER: Final = '''"""Run the script of each table, two at a time; a failure stops no other."""

import concurrent.futures
import subprocess
import sys


def exit_code_of(script):
    """Run one script and say how it ended."""
    done = subprocess.run([sys.executable, "-W", "ignore", script], check=False)
    print(script, "ended with", done.returncode, flush=True)
    return done.returncode


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    codes = list(pool.map(exit_code_of, sys.argv[1:]))
sys.exit(any(codes))
'''


class FormalArm:
    """Structured methods compiled to one script a table; no model, no choice of its own."""

    name = "formal"
    kind: ArmKind = "contestant"

    def prepare(self, context: ArmContext) -> Preparation:
        """Scripts of all tables, the estimators they call, and a runner.

        Raises
        ------
        UserError
            When the methods are not the structured variant, or an option is given.
        """
        options_of(context.arm, {})
        if context.methods.variant != "structured":
            raise UserError(
                f"arm {context.arm.name}: formal compiles structured methods, "
                f"not {context.methods.variant}"
            )
        described = {table.slug: table for table in context.methods.tables}
        scripts = {
            f"{template.slug}.py": compiled_script(
                context.methods, described[template.slug], template
            ).encode()
            for template in context.templates
            if template.slug in described
        }
        runtime = files("bench.arms.formal").joinpath("econometrics.py").read_bytes()
        return Preparation(
            argv=(PYTHON, "run_tables.py", *scripts),
            files={**scripts, "econometrics.py": runtime, "run_tables.py": _RUNNER.encode()},
        )
