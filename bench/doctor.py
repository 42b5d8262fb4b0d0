"""What this installation has, what it lacks, and how to get it."""

from __future__ import annotations

import importlib.util
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, Literal

from bench.environment import analysis_environment
from data.records.errors import UserError

__all__ = ["Check", "checks", "fell_short"]

PACKAGES: Final = ("data", "extract", "grade", "audit", "diagnose", "bench")
_ANALYSIS_PACKAGES: Final = ("pandas", "statsmodels", "linearmodels", "pyfixest")

State = Literal["ok", "missing", "note"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: what was found, and the remedy where it falls short."""

    name: str
    state: State
    found: str
    remedy: str = ""


def fell_short(found: Iterable[Check]) -> bool:
    """Whether a run is impossible here."""
    return any(check.state == "missing" for check in found)


def checks(analysis: Path | None = None, data: Path | None = None) -> tuple[Check, ...]:
    """Look at this installation; takes seconds and changes nothing.

    Parameters
    ----------
    analysis, data : Path, optional
        Analysis environment and exported data, where not in their usual places.
    """
    return (
        _installation(),
        _python(),
        _packages(),
        _jail(),
        _analysis(analysis),
        _corpus(data),
        _rscript(),
    )


def _installation() -> Check:
    try:
        return Check("blindbench", "ok", version("blindbench"))
    except PackageNotFoundError:
        return Check(
            "blindbench",
            "missing",
            "its packages are imported from a folder, not installed",
            "run `make setup`, or pip install the wheel",
        )


def _python() -> Check:
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return Check("Python", "ok", found)


def _packages() -> Check:
    """The import names are common words, so another distribution may hold one of them."""
    home = Path(__file__).resolve().parents[1]
    foreign = []
    for name in PACKAGES:
        found = importlib.util.find_spec(name)
        origin = Path(found.origin).resolve() if found and found.origin else None
        if origin is None or home not in origin.parents:
            foreign.append(f"{name} ({origin or 'not found'})")
    if foreign:
        return Check(
            "packages",
            "missing",
            f"another distribution holds {', '.join(foreign)}",
            "install blindbench into an environment of its own",
        )
    return Check("packages", "ok", "all six are ours")


def _jail() -> Check:
    from bench.jail.probe import probe

    found = probe()
    program = found.bubblewrap.version if found.bubblewrap else "no bubblewrap"
    if found.holds:
        mode = "as root" if found.as_root else "as an ordinary user"
        return Check("jail", "ok", f"{program}, {mode}: a trial jail was built and held")
    return Check("jail", "missing", f"{program}: {found.cause}", found.remedy or "")


def _analysis(where: Path | None) -> Check:
    name = "analysis environment"
    try:
        folder = analysis_environment(where)
    except UserError as error:
        return Check(name, "missing", "not found", str(error))
    code = (
        "import importlib.metadata as m, sys;"
        "print(sys.version.split()[0], *(p+' '+m.version(p) for p in sys.argv[1:]), sep=', ')"
    )
    done = subprocess.run(
        [folder / "bin" / "python", "-I", "-c", code, *_ANALYSIS_PACKAGES],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        return Check(name, "missing", " ".join(last), "make it anew: `make setup`")
    return Check(name, "ok", f"Python {done.stdout.strip()}")


def _corpus(where: Path | None) -> Check:
    from data.corpus import bundled_papers, data_directory

    papers = bundled_papers()
    absent = []
    for folder in papers:
        try:
            data_directory(folder.paper.id, where)
        except UserError:
            absent.append(folder.paper.id)
    found = f"{len(papers) - len(absent)} of {len(papers)} bundled papers have their data here"
    if absent:
        return Check("papers' data", "note", found, "bench papers export")
    return Check("papers' data", "ok", found)


def _rscript() -> Check:
    import shutil

    if shutil.which("Rscript"):
        return Check("R", "ok", "found; `bench papers check` runs the R code of packages")
    return Check("R", "note", "not found; the R code of packages is not executed", "optional")
