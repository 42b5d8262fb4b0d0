"""A policy as the argument list of bubblewrap: a pure function, and what a program can do.

The list goes to bubblewrap through a descriptor (``--args``), because the command line of the
jail's first process can be read inside and would name the host's paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from bench.jail.policy import Policy

__all__ = ["Features", "bwrap_arguments", "features_of_help"]

NAMESPACES: Final = (
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
)


@dataclass(frozen=True, slots=True)
class Features:
    """What a bubblewrap program understands, of what differs between versions."""

    size: bool
    disable_userns: bool


def features_of_help(text: str) -> Features:
    """Features that the output of ``bwrap --help`` names."""
    words = set(text.replace("=", " ").split())
    return Features(size="--size" in words, disable_userns="--disable-userns" in words)


def identity_arguments(policy: Policy, features: Features) -> list[str]:
    """Namespaces, user and capabilities.

    As root the launcher keeps the right to change its user and to empty its bounding set, and
    loses both when it changes the user.
    """
    identity = policy.identity
    if identity.as_root:
        kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
        grants = [word for name in kept for word in ("--cap-add", name)]
        return [*NAMESPACES, "--cap-drop", "ALL", *grants]
    # As root bubblewrap's own first process is out of the command's reach; here it has its user.
    user = ["--as-pid-1", "--unshare-user", "--uid", str(identity.uid), "--gid", str(identity.gid)]
    if features.disable_userns:
        user.append("--disable-userns")
    return [*user, *NAMESPACES, "--cap-drop", "ALL"]


def _missing_parents(path: str, present: set[str], covered: list[str]) -> Iterator[str]:
    """Parents of `path` that no mount brings and that were not made yet, outermost first."""
    place = PurePosixPath(path)
    for parent in reversed(place.parents[:-1]):
        name = str(parent)
        inside_mount = any(parent.is_relative_to(mount) for mount in covered)
        if name not in present and not inside_mount:
            present.add(name)
            yield name


def bwrap_arguments(
    policy: Policy, descriptors: Mapping[str, int], features: Features
) -> list[str]:
    """Options of bubblewrap for a policy, without the program and the command.

    Parameters
    ----------
    policy : Policy
    descriptors : mapping of str to int
        Open descriptors: ``seccomp`` for the compiled filter, and one for the content of each
        of `policy.files` under its path.
    features : Features

    Returns
    -------
    list of str
        In the order in which bubblewrap must do them: what is mounted later covers what was
        mounted before, and the root is made read-only last.
    """
    words = [
        *identity_arguments(policy, features),
        "--die-with-parent",
        "--new-session",
        "--hostname",
        "jail",
        "--seccomp",
        str(descriptors["seccomp"]),
    ]
    for name, value in policy.environment:
        words += ["--setenv", name, value]
    present: set[str] = set()
    covered: list[str] = []

    def parents_of(path: str) -> None:
        for parent in _missing_parents(path, present, covered):
            words.extend(["--perms", "0755", "--dir", parent])

    words += ["--proc", "/proc", "--dev", "/dev"]
    covered += ["/proc", "/dev"]
    for scratch in policy.scratch:
        parents_of(scratch.path)
        size = ["--size", str(scratch.size_bytes)] if features.size else []
        words += ["--perms", f"{scratch.permissions:04o}", *size, "--tmpfs", scratch.path]
        covered.append(scratch.path)
    for mount in policy.mounts:
        parents_of(mount.target)
        words += ["--bind" if mount.writable else "--ro-bind", mount.source, mount.target]
        covered.append(mount.target)
    for mask in policy.masks:
        words += ["--perms", "0555", "--tmpfs", mask, "--remount-ro", mask]
    for link in policy.links:
        parents_of(link.path)
        words += ["--symlink", link.target, link.path]
    for path, _ in policy.files:
        parents_of(path)
        words += ["--perms", "0444", "--file", str(descriptors[path]), path]
    words += ["--chdir", policy.directory]
    for path in ("/dev", "/proc", "/"):
        words += ["--remount-ro", path]
    return words
