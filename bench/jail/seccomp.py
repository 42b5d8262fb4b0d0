"""The jail's system-call filter: classic BPF, generated from one table of numbers.

Namespaces take files, processes and the network away; the filter takes away what they do not
cover: keyrings, io_uring, BPF, userfaultfd, performance events, file handles, new mounts and
namespaces, tracing of other processes, terminal injection, and socket families that a network
namespace leaves open (AF_VSOCK reaches a virtual machine's host).

A refused call answers EPERM. ``clone3`` answers ENOSYS, because a filter cannot look behind its
pointer: the C library then uses ``clone``, whose flags it can see.
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass
from typing import Final

from data.records.errors import InfrastructureError

__all__ = [
    "ARCHITECTURES",
    "Architecture",
    "compile_filter",
    "filter_for_this_machine",
]

# Numbers 424 and above are the same on every architecture.
_SHARED: Final = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "quotactl_fd": 443,
}

_X86_64: Final = {
    "ptrace": 101,
    "syslog": 103,
    "pivot_root": 155,
    "chroot": 161,
    "acct": 163,
    "mount": 165,
    "umount2": 166,
    "swapon": 167,
    "swapoff": 168,
    "reboot": 169,
    "iopl": 172,
    "ioperm": 173,
    "init_module": 175,
    "delete_module": 176,
    "quotactl": 179,
    "kexec_load": 246,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "unshare": 272,
    "perf_event_open": 298,
    "fanotify_init": 300,
    "name_to_handle_at": 303,
    "open_by_handle_at": 304,
    "setns": 308,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "kcmp": 312,
    "finit_module": 313,
    "kexec_file_load": 320,
    "bpf": 321,
    "userfaultfd": 323,
}

_AARCH64: Final = {
    "umount2": 39,
    "mount": 40,
    "pivot_root": 41,
    "chroot": 51,
    "quotactl": 60,
    "acct": 89,
    "unshare": 97,
    "kexec_load": 104,
    "init_module": 105,
    "delete_module": 106,
    "syslog": 116,
    "ptrace": 117,
    "reboot": 142,
    "add_key": 217,
    "request_key": 218,
    "keyctl": 219,
    "swapon": 224,
    "swapoff": 225,
    "perf_event_open": 241,
    "fanotify_init": 262,
    "name_to_handle_at": 264,
    "open_by_handle_at": 265,
    "setns": 268,
    "process_vm_readv": 270,
    "process_vm_writev": 271,
    "kcmp": 272,
    "finit_module": 273,
    "bpf": 280,
    "userfaultfd": 282,
    "kexec_file_load": 294,
}


@dataclass(frozen=True, slots=True)
class Architecture:
    """One machine's call numbers. `has_x32` says whether a second table hides above bit 30."""

    audit: int
    refused: dict[str, int]
    clone: int
    clone3: int
    ioctl: int
    socket: int
    has_x32: bool = False


ARCHITECTURES: Final = {
    "x86_64": Architecture(0xC000003E, _X86_64 | _SHARED, 56, 435, 16, 41, has_x32=True),
    "aarch64": Architecture(0xC00000B7, _AARCH64 | _SHARED, 220, 435, 29, 198),
}

_LOAD: Final = 0x20
_JUMP_EQUAL: Final = 0x15
_JUMP_GREATER_EQUAL: Final = 0x35
_JUMP_SET: Final = 0x45
_RETURN: Final = 0x06

_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_ERRNO: Final = 0x00050000

_NUMBER: Final = 0
_AUDIT: Final = 4
_ARGUMENTS: Final = tuple(16 + 8 * position for position in range(6))

_NEW_NAMESPACE: Final = 0x7E020000
_TERMINAL_REQUESTS: Final = (0x5412, 0x541C)
_FAMILIES: Final = (1, 2, 10)
_NETLINK: Final = 16
_X32_BIT: Final = 0x40000000


@dataclass(frozen=True, slots=True)
class _Step:
    """One instruction with named targets; None is the next instruction."""

    code: int
    value: int
    if_true: str | None = None
    if_false: str | None = None
    label: str | None = None


def _steps(machine: Architecture) -> list[_Step]:
    steps = [
        _Step(_LOAD, _AUDIT),
        _Step(_JUMP_EQUAL, machine.audit, None, "kill"),
        _Step(_LOAD, _NUMBER),
    ]
    if machine.has_x32:
        steps.append(_Step(_JUMP_GREATER_EQUAL, _X32_BIT, "kill"))
    steps += [_Step(_JUMP_EQUAL, number, "refuse") for number in sorted(machine.refused.values())]
    steps += [
        _Step(_JUMP_EQUAL, machine.clone3, "absent"),
        _Step(_JUMP_EQUAL, machine.clone, "clone"),
        _Step(_JUMP_EQUAL, machine.ioctl, "ioctl"),
        _Step(_JUMP_EQUAL, machine.socket, "socket", "allow"),
        _Step(_LOAD, _ARGUMENTS[0], label="clone"),
        _Step(_JUMP_SET, _NEW_NAMESPACE, "refuse", "allow"),
        _Step(_LOAD, _ARGUMENTS[1], label="ioctl"),
        _Step(_JUMP_EQUAL, _TERMINAL_REQUESTS[0], "refuse"),
        _Step(_JUMP_EQUAL, _TERMINAL_REQUESTS[1], "refuse", "allow"),
        _Step(_LOAD, _ARGUMENTS[0], label="socket"),
        *(_Step(_JUMP_EQUAL, family, "allow") for family in _FAMILIES),
        _Step(_JUMP_EQUAL, _NETLINK, None, "family"),
        _Step(_LOAD, _ARGUMENTS[2]),
        _Step(_JUMP_EQUAL, 0, "allow", "family"),
        _Step(_RETURN, _ALLOW, label="allow"),
        _Step(_RETURN, _ERRNO | errno.EPERM, label="refuse"),
        _Step(_RETURN, _ERRNO | errno.ENOSYS, label="absent"),
        _Step(_RETURN, _ERRNO | errno.EAFNOSUPPORT, label="family"),
        _Step(_RETURN, _KILL, label="kill"),
    ]
    return steps


def compile_filter(machine: Architecture) -> bytes:
    """Classic BPF program of the filter: eight bytes an instruction, in the host's byte order.

    Foreign architectures, and the x32 table on x86-64, are killed.
    """
    steps = _steps(machine)
    places = {step.label: place for place, step in enumerate(steps) if step.label}
    words = []
    for place, step in enumerate(steps):
        jumps = [
            0 if target is None else places[target] - place - 1
            for target in (step.if_true, step.if_false)
        ]
        words.append(struct.pack("=HBBI", step.code, *jumps, step.value))
    return b"".join(words)


def filter_for_this_machine() -> bytes:
    """Filter of the running architecture.

    Raises
    ------
    InfrastructureError
        When the call numbers of this architecture are not known.
    """
    machine = ARCHITECTURES.get(platform.machine())
    if machine is None:
        known = ", ".join(ARCHITECTURES)
        raise InfrastructureError(
            f"no system-call filter for {platform.machine()}: jails run on {known}"
        )
    return compile_filter(machine)
