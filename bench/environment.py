"""Where this installation finds its parts: the analysis environment of the agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from data.records.errors import UserError

__all__ = ["ANALYSIS_VARIABLE", "analysis_environment"]

ANALYSIS_VARIABLE: Final = "BLINDBENCH_ANALYSIS"


def analysis_environment(where: Path | None = None) -> Path:
    """Folder of the agents' Python environment.

    Parameters
    ----------
    where : Path, optional
        Asked for by the user; otherwise the variable ``BLINDBENCH_ANALYSIS``, otherwise
        ``.analysis`` in the working directory.

    Raises
    ------
    UserError
        When no Python is found there.
    """
    named = os.environ.get(ANALYSIS_VARIABLE)
    folder = where or (Path(named) if named else Path(".analysis"))
    if not (folder / "bin" / "python").exists():
        raise UserError(
            f"no analysis environment at {folder}: run `make setup`, or make one from "
            f"data/registries/analysis.lock and set {ANALYSIS_VARIABLE}"
        )
    return folder.absolute()
