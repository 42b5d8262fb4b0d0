"""Runs one command in a sandbox: ``python run_command.py ANALYSIS FOLDER REQUEST``.

REQUEST is JSON: ``level``, ``argv``, ``limits``. Prints how it ended, as JSON.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from bench.jail.sandbox import open_sandbox
from data.ports import Bind, Command
from data.records.errors import BlindbenchError
from data.records.runs import Isolation, Limits


def main() -> None:
    """Run it."""
    analysis, folder, request = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    sandbox = open_sandbox(Isolation(request["level"]), analysis=analysis)
    command = Command(
        argv=tuple(request["argv"]),
        binds=(Bind(folder / "workspace", "/workspace", writable=True),),
        stdout=folder / "stdout",
        stderr=folder / "stderr",
        environment={"GIVEN": "yes"},
        limits=Limits(**request["limits"]),
    )
    try:
        done = asdict(sandbox.run(command))
    except BlindbenchError as error:
        done = {"error": type(error).__name__, "text": str(error)}
    print(json.dumps(done))


if __name__ == "__main__":
    main()
