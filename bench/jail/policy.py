"""What a jailed command may see, as a value: no input or output happens here.

Nothing is hidden by deny rules. The jail's root starts empty and holds what a `Policy` names:
the system's shared libraries and basic programs, the analysis environment with the part of its
base interpreter that it needs, a synthetic ``/etc``, sized scratch folders, and the command's
own binds. Package documentation, R libraries and site-packages of the base interpreter are
never named, so they are absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from data.ports import Command
from data.records.errors import UserError
from data.records.runs import Limits

__all__ = [
    "BASE_ENVIRONMENT",
    "HOME",
    "LAUNCHER",
    "PYTHON",
    "TEMPLATE_GROUP",
    "HostFacts",
    "Identity",
    "Interpreter",
    "Link",
    "Mount",
    "Policy",
    "Scratch",
    "plan_policy",
    "refuse_overlap",
    "resource_limits",
]

PYTHON: Final = "/analysis/bin/python"
LAUNCHER: Final = "/run/launch.py"
HOME: Final = "/home/agent"
TEMPLATE_GROUP: Final = "agent"

MEBIBYTE: Final = 1024**2
ADDRESS_SPACE_SLACK: Final = 2 * 1024**3

BASE_ENVIRONMENT: Final[Mapping[str, str]] = {
    "HOME": HOME,
    "LANG": "C.UTF-8",
    "LOGNAME": "agent",
    "MPLBACKEND": "Agg",
    "PATH": "/analysis/bin:/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "TMPDIR": "/tmp",  # noqa: S108 - the jail's own scratch folder
    "TZ": "UTC",
    "USER": "agent",
}

RESERVED_TARGETS: Final = ("/", "/proc", "/dev", "/etc", "/run", "/usr", "/analysis", "/tmp")  # noqa: S108


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the command is. `as_root` says whether the harness is root and drops to `uid`.

    As an ordinary user the jail has a user namespace in which `uid` stands for that user; as
    root it has none, and `uid` is an unprivileged user of the host that owns nothing else.
    Root is never mapped: a process that the kernel takes for the host's root may open files
    such as ``/proc/sys/kernel/core_pattern`` for writing even without a single capability.
    """

    as_root: bool
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Mount:
    """A host path and where it appears inside."""

    source: str
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link made inside: `path` points to `target`."""

    path: str
    target: str


@dataclass(frozen=True, slots=True)
class Scratch:
    """A writable folder in memory of at most `size_bytes`."""

    path: str
    size_bytes: int
    permissions: int = 0o755


@dataclass(frozen=True, slots=True)
class Interpreter:
    """What the analysis environment's Python consists of, as host paths.

    Attributes
    ----------
    analysis : str
        Folder of the virtual environment.
    packages : tuple of str
        Its library folders, relative to it (``lib/python3.11/site-packages``).
    executable : str
        The base interpreter, every link followed.
    home : str
        The folder that ``pyvenv.cfg`` calls home.
    stdlib : str
        The standard library's folder.
    libraries : tuple of str
        The interpreter's own shared libraries outside the system's folders.
    masked : tuple of str
        Folders under `stdlib` that are covered by an empty one.
    """

    analysis: str
    packages: tuple[str, ...]
    executable: str
    home: str
    stdlib: str
    libraries: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What of the host's allow-listed paths exists: folders, links at the root, ``/etc`` files."""

    interpreter: Interpreter
    system: tuple[str, ...]
    links: tuple[Link, ...]
    etc: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that a jail holds, and what runs in it."""

    identity: Identity
    mounts: tuple[Mount, ...]
    links: tuple[Link, ...]
    masks: tuple[str, ...]
    scratch: tuple[Scratch, ...]
    files: tuple[tuple[str, bytes], ...]
    environment: tuple[tuple[str, str], ...]
    argv: tuple[str, ...]
    directory: str
    limits: Limits


def _synthetic_etc(identity: Identity) -> tuple[tuple[str, bytes], ...]:
    user = f"agent:x:{identity.uid}:{identity.gid}:agent:{HOME}:/bin/sh\n"
    group = f"{TEMPLATE_GROUP}:x:{identity.gid}:\n"
    return (
        ("/etc/passwd", f"root:x:0:0:root:/:/bin/false\n{user}".encode()),
        ("/etc/group", f"root:x:0:\n{group}".encode()),
        ("/etc/hosts", b"127.0.0.1 localhost\n::1 localhost\n"),
        ("/etc/resolv.conf", b"nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"),
        ("/etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files\n"),
    )


def _interpreter_mounts(python: Interpreter, system: Iterable[str]) -> tuple[Mount, ...]:
    """Mounts of the environment's libraries, and of the base interpreter at its own path."""
    inside = [Mount(f"{python.analysis}/{part}", f"/analysis/{part}") for part in python.packages]
    own = [python.stdlib, python.executable, *python.libraries]
    covered = tuple(system)
    inside += [Mount(path, path) for path in own if not _lies_in_any(path, covered)]
    return tuple(inside)


def _lies_in_any(path: str, folders: Iterable[str]) -> bool:
    place = PurePosixPath(path)
    return any(place.is_relative_to(folder) for folder in folders)


def plan_policy(facts: HostFacts, command: Command, identity: Identity, launcher: bytes) -> Policy:
    """Policy of one command.

    Parameters
    ----------
    facts : HostFacts
    command : Command
    identity : Identity
    launcher : bytes
        Source of the launcher that sets limits, drops to `identity` and starts the command.

    Raises
    ------
    UserError
        When a bind would cover a part of the jail itself, or is not an absolute path.
    """
    for bind in command.binds:
        _check_target(bind.target)
    python = facts.interpreter
    binds = sorted(command.binds, key=lambda bind: len(PurePosixPath(bind.target).parts))
    mounts = (
        *(Mount(path, path) for path in facts.system),
        *_interpreter_mounts(python, facts.system),
        *(Mount(path, path) for path in facts.etc),
        *(Mount(str(bind.source), bind.target, bind.writable) for bind in binds),
    )
    config = f"home = {python.home}\ninclude-system-site-packages = false\n"
    return Policy(
        identity=identity,
        mounts=mounts,
        links=(
            *facts.links,
            Link(PYTHON, python.executable),
            Link(f"{PYTHON}3", "python"),
        ),
        masks=python.masked,
        scratch=(
            Scratch("/tmp", 512 * MEBIBYTE, 0o1777),  # noqa: S108
            Scratch(HOME, 256 * MEBIBYTE, 0o777),
            Scratch("/dev/shm", 256 * MEBIBYTE, 0o1777),  # noqa: S108
        ),
        files=(
            *_synthetic_etc(identity),
            ("/analysis/pyvenv.cfg", config.encode()),
            (LAUNCHER, launcher),
        ),
        environment=tuple(sorted({**BASE_ENVIRONMENT, **command.environment}.items())),
        argv=command.argv,
        directory=command.directory,
        limits=command.limits,
    )


def _check_target(target: str) -> None:
    place = PurePosixPath(target)
    if not place.is_absolute() or ".." in place.parts:
        raise UserError(f"a bind needs an absolute path inside the jail, not {target!r}")
    for reserved in RESERVED_TARGETS:
        inside = reserved != "/" and place.is_relative_to(reserved)
        if str(place) == reserved or inside:
            raise UserError(f"a bind may not cover the jail's own {reserved}: {target}")


def refuse_overlap(sources: Iterable[str], forbidden: Iterable[str]) -> None:
    """Refuse to show a path that is, holds, or lies in a forbidden one.

    Parameters
    ----------
    sources, forbidden : iterable of str
        Absolute paths with every link followed.

    Raises
    ------
    UserError
        Naming the first pair that overlaps.
    """
    banned = [PurePosixPath(path) for path in forbidden]
    for source in map(PurePosixPath, sources):
        for path in banned:
            if source.is_relative_to(path) or path.is_relative_to(source):
                raise UserError(
                    f"refusing to show {source} to an arm: it overlaps {path}, "
                    "which no run may reach"
                )


def resource_limits(limits: Limits) -> dict[str, int]:
    """Limits of the kernel for each process, by the names of the module `resource`.

    The watchdog holds the memory limit over the whole tree; ``RLIMIT_AS`` is only a backstop
    against a burst between two looks, and is wide because numerical libraries reserve
    address space that they never touch.
    """
    wanted: dict[str, int] = {"RLIMIT_CORE": 0, "RLIMIT_NOFILE": 4096}
    if limits.memory_bytes is not None:
        wanted["RLIMIT_AS"] = 2 * limits.memory_bytes + ADDRESS_SPACE_SLACK
    if limits.processes is not None:
        wanted["RLIMIT_NPROC"] = limits.processes
    if limits.file_bytes is not None:
        wanted["RLIMIT_FSIZE"] = limits.file_bytes
    return wanted
