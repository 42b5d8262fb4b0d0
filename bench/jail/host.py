"""What of the allow-listed host paths exists: the only look at the host that a policy needs."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from pathlib import Path
from typing import Final

from bench.jail.policy import HostFacts, Interpreter, Link
from data.records.errors import UserError

__all__ = ["describe_host", "describe_interpreter"]

# Basic programs, shared libraries, locale and time-zone tables. Not /usr/share/doc or man, not
# any library of R or Perl: those print published tables.
_SYSTEM: Final = ("/usr/bin", "/usr/lib64", "/usr/lib/locale", "/usr/share/zoneinfo")
_ROOT_NAMES: Final = ("bin", "lib", "lib64", "sbin")
_ETC: Final = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")

# Parts of a standard library that no analysis needs: examples, tests, bundled installers.
_UNNEEDED: Final = (
    "dist-packages",
    "ensurepip",
    "idlelib",
    "pydoc_data",
    "site-packages",
    "turtledemo",
)
_TEST_NAMES: Final = ("test", "tests")

_ASK: Final = (
    "import json,os,sys,sysconfig;"
    "print(json.dumps([os.path.realpath(sys.executable),sysconfig.get_path('stdlib'),"
    "sysconfig.get_config_var('LIBDIR') or '',sys.base_prefix]))"
)


def describe_interpreter(analysis: Path) -> Interpreter:
    """Find the parts of a virtual environment and of the interpreter under it.

    Raises
    ------
    UserError
        When the folder is not a virtual environment or its Python does not start.
    """
    config = analysis / "pyvenv.cfg"
    python = analysis / "bin" / "python"
    if not config.is_file():
        raise UserError(
            f"{analysis} is not a virtual environment (no pyvenv.cfg): make it with "
            "`make setup`, `uv venv` or `python -m venv`"
        )
    try:
        answer = subprocess.run(
            [python, "-I", "-c", _ASK], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UserError(f"the Python of the analysis environment does not start: {error}") from None
    executable, stdlib, library_folder, base = json.loads(answer.stdout)
    packages = sorted(
        str(path.relative_to(analysis))
        for path in analysis.glob("lib*/python3*/site-packages")
        if not path.parent.parent.is_symlink()
    )
    return Interpreter(
        analysis=str(analysis.resolve()),
        packages=tuple(packages),
        executable=executable,
        home=str(Path(base) / "bin"),
        stdlib=str(Path(stdlib).resolve()),
        libraries=_own_libraries(Path(library_folder), Path(base)),
        masked=_unneeded_folders(Path(stdlib).resolve()),
    )


def _own_libraries(folder: Path, base: Path) -> tuple[str, ...]:
    """Shared libraries of an interpreter that is not the system's."""
    if base == Path("/usr") or not folder.is_relative_to(base):
        return ()
    return tuple(sorted(str(path) for path in folder.glob("libpython*.so*")))


def _unneeded_folders(stdlib: Path) -> tuple[str, ...]:
    found = [stdlib / name for name in _UNNEEDED if (stdlib / name).is_dir()]
    for top, folders, _ in os.walk(stdlib):
        if Path(top) in found:
            folders.clear()
            continue
        found += [Path(top) / name for name in folders if name in _TEST_NAMES]
        folders[:] = [name for name in folders if name not in _TEST_NAMES]
    return tuple(sorted(str(path) for path in found))


def _system_folders() -> tuple[str, ...]:
    multiarch = sysconfig.get_config_var("MULTIARCH")
    candidates = [*_SYSTEM]
    if multiarch:
        candidates.insert(1, f"/usr/lib/{multiarch}")
    unmerged = [f"/{name}" for name in _ROOT_NAMES if not Path(f"/{name}").is_symlink()]
    wanted = [*candidates, *(name for name in unmerged if name in {"/bin", "/lib64"})]
    return tuple(path for path in wanted if Path(path).is_dir() and not Path(path).is_symlink())


def describe_host(analysis: Path) -> HostFacts:
    """Facts of this host for the given analysis environment.

    Raises
    ------
    UserError
        When the environment cannot be used.
    """
    links = tuple(
        Link(f"/{name}", str(Path(f"/{name}").readlink()))
        for name in _ROOT_NAMES
        if Path(f"/{name}").is_symlink()
    )
    return HostFacts(
        interpreter=describe_interpreter(analysis),
        system=_system_folders(),
        links=links,
        etc=tuple(path for path in _ETC if Path(path).exists()),
    )
