"""Attempts to get out of a jail, one function each. Runs inside: standard library only.

Called as ``python attempts.py NAME FACTS WORKSPACE DATA``. An attempt that gets through returns
what it got; one that is refused returns nothing or raises. The last line of the output is
``LEAK <what>`` or ``REFUSED <why>``.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import stat
import sys
from pathlib import Path
from typing import Any

Facts = dict[str, Any]
libc = ctypes.CDLL(None, use_errno=True)
MARK = "the-answer-is-here"
NUMBERS = {
    "x86_64": {
        "shmget": 29, "shmat": 30, "add_key": 248, "name_to_handle_at": 303, "bpf": 321,
        "userfaultfd": 323, "io_uring_setup": 425, "perf_event_open": 298, "fsopen": 430,
        "open_tree": 428, "process_vm_readv": 310,
    },
    "aarch64": {
        "shmget": 194, "shmat": 196, "add_key": 217, "name_to_handle_at": 264, "bpf": 280,
        "userfaultfd": 282, "io_uring_setup": 425, "perf_event_open": 241, "fsopen": 430,
        "open_tree": 428, "process_vm_readv": 270,
    },
}[os.uname().machine]  # fmt: skip
REFUSALS = {1, 13, 38}  # EPERM, EACCES, ENOSYS


def text_of(path: Path | str) -> str | None:
    """The answer, where the file holds it."""
    content = Path(path).read_text(errors="replace")
    return content if MARK in content else None


def call(name: str, *words: Any) -> tuple[int, int]:
    """Result and error number of a system call made directly."""
    ctypes.set_errno(0)
    libc.syscall.restype = ctypes.c_long
    return libc.syscall(NUMBERS[name], *words), ctypes.get_errno()


def checked(result: int) -> int:
    """Result of a library call, or the error that it set."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


# ------------------------------------------------------------------ files of the host


def absolute_path(facts: Facts) -> Any:
    return text_of(facts["secret"])


def stat_only(facts: Facts) -> Any:
    return Path(facts["secret"]).stat().st_size


def package_of_the_harness(facts: Facts) -> Any:
    return (Path(facts["package"]) / "papers").stat().st_size


def root_of_other_processes(facts: Facts) -> Any:
    for process in Path("/proc").glob("[0-9]*"):
        for way in ("root", "cwd"):
            try:
                if way == "root":
                    return text_of(f"{process}/root{facts['secret']}")
                return text_of(f"{process}/cwd/{Path(facts['secret']).name}")
            except OSError:
                continue
    return None


def descriptors_of_other_processes(facts: Facts) -> Any:
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if str(link.readlink()) == facts["open_secret"]:
                return text_of(link)
        except OSError:
            continue
    return None


def environment_of_other_processes(facts: Facts) -> Any:
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if facts["key"].encode() in path.read_bytes():
                return str(path)
        except OSError:
            continue
    return None


def command_lines_name_the_host(facts: Facts) -> Any:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        if path.parent.name != str(os.getpid()) and facts["folder"].encode() in path.read_bytes():
            return str(path)
    return None


def link_to_parent(facts: Facts) -> Any:
    return text_of(facts["data"] / "up.txt")


def link_absolute(facts: Facts) -> Any:
    return text_of(facts["data"] / "absolute.txt")


def link_to_root(facts: Facts) -> Any:
    return text_of(f"{facts['data']}/root{facts['secret']}")


def parent_of_data(facts: Facts) -> Any:
    return text_of(facts["data"] / ".." / Path(facts["secret"]).name)


def walk_by_name(facts: Facts) -> Any:
    name = Path(facts["secret"]).name
    for top, folders, files in os.walk(facts["search"]):
        folders[:] = [one for one in folders if one not in ("proc", "sys")]
        if name in files:
            return text_of(Path(top) / name)
    return None


def temporary_folder_of_the_host(facts: Facts) -> Any:
    return text_of(facts["temporary"])


def shared_memory_folder(facts: Facts) -> Any:
    return text_of(facts["shared_file"])


def shared_memory_segment(facts: Facts) -> Any:
    segment, error = call("shmget", facts["segment_key"], 0, 0)
    if segment < 0:
        raise OSError(error, os.strerror(error))
    address, error = call("shmat", segment, None, 0o10000)
    if address < 0:
        raise OSError(error, os.strerror(error))
    return ctypes.string_at(address, len(MARK)).decode()


# ------------------------------------------------------------------ inputs and data


def write_data(facts: Facts) -> Any:
    return (facts["data"] / "survey.csv").write_text("changed")


def new_file_in_data(facts: Facts) -> Any:
    return (facts["data"] / "more.csv").write_text("new")


def reopen_data_for_writing(facts: Facts) -> Any:
    with (facts["data"] / "survey.csv").open("rb") as file:
        again = os.open(f"/proc/self/fd/{file.fileno()}", os.O_WRONLY)
        return os.write(again, b"changed")


def change_times_of_data(facts: Facts) -> Any:
    os.utime(facts["data"] / "survey.csv", (1, 1))
    return "times changed"


def permit_data(facts: Facts) -> Any:
    (facts["data"] / "survey.csv").chmod(0o777)
    return "permissions changed"


def remove_data(facts: Facts) -> Any:
    (facts["data"] / "survey.csv").unlink()
    return "removed"


def change_template(facts: Facts) -> Any:
    return (facts["workspace"] / "table_templates" / "table_1.json").write_text("{}")


def replace_templates(facts: Facts) -> Any:
    (facts["workspace"] / "table_templates").rename(facts["workspace"] / "other")
    return "renamed"


# ------------------------------------------------------------------ processes


def signal_by_number(facts: Facts) -> Any:
    victim = facts["victim"]
    if facts["victim_mark"] not in Path(f"/proc/{victim}/cmdline").read_text():
        return None
    os.kill(victim, signal.SIGUSR1)
    return "signalled"


def signal_everybody(facts: Facts) -> Any:
    """Signal 0 to all numbers near the victim's."""
    for number in range(max(facts["victim"] - 50, 60), facts["victim"] + 50):
        try:
            os.kill(number, 0)
        except OSError:
            continue
        return f"process {number} is there"
    return None


def see_other_processes(facts: Facts) -> Any:
    for process in Path("/proc").glob("[0-9]*"):
        if facts["victim_mark"].encode() in (process / "cmdline").read_bytes():
            return str(process)
    return None


def trace_the_parent(facts: Facts) -> Any:
    """PTRACE_SEIZE, which does not stop the parent; the kernel lets go at the end."""
    checked(libc.ptrace(0x4206, os.getppid(), None, None))
    return "traced"


def memory_of_another(facts: Facts) -> Any:
    """Read the memory of the victim, of the jail's first process else."""
    numbers = [facts["victim"], 1]
    for number in numbers:
        try:
            start = Path(f"/proc/{number}/maps").read_text().split("-")[0]
            with Path(f"/proc/{number}/mem").open("rb") as memory:
                memory.seek(int(start, 16))
                return memory.read(4).hex()
        except (OSError, ValueError):
            continue
    return None


# ------------------------------------------------------------------ network


def connect_tcp(facts: Facts) -> Any:
    with socket.create_connection(("127.0.0.1", facts["tcp"]), timeout=2) as peer:
        return peer.recv(100).decode()


def send_udp(facts: Facts) -> Any:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.settimeout(2)
        peer.sendto(b"hello", ("127.0.0.1", facts["udp"]))
        return peer.recv(100).decode()


def unix_socket_by_path(facts: Facts) -> Any:
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(2)
        peer.connect(facts["unix"])
        return peer.recv(100).decode()


def unix_socket_abstract(facts: Facts) -> Any:
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(2)
        peer.connect(f"\0{facts['abstract']}")
        return peer.recv(100).decode()


def interfaces(facts: Facts) -> Any:
    """Network interfaces beside the loopback."""
    return [name for _, name in socket.if_nameindex() if name != "lo"] or None


def other_socket_families(facts: Facts) -> Any:
    """AF_VSOCK, netlink audit and AF_PACKET reach past a network namespace."""
    for family, kind, protocol in ((40, 1, 0), (16, 3, 9), (17, 3, 3)):
        try:
            socket.socket(family, kind, protocol).close()
        except OSError:
            continue
        return f"family {family}"
    return None


# ------------------------------------------------------------------ the kernel


def new_user_namespace(facts: Facts) -> Any:
    checked(libc.unshare(0x10000000 | 0x00020000))
    return "a user namespace"


def forked_user_namespace(facts: Facts) -> Any:
    """The same through clone, which a filter must look into."""
    machine = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    libc.syscall.restype = ctypes.c_long
    ctypes.set_errno(0)
    child = libc.syscall(machine, 0x10000000 | signal.SIGCHLD, None, None, None, None)
    if child == 0:
        os._exit(0)
    if child > 0:
        os.waitpid(child, 0)
        return "a user namespace"
    return None


def mount_something(facts: Facts) -> Any:
    target = facts["workspace"] / "mounted"
    target.mkdir(exist_ok=True)
    checked(libc.mount(b"none", str(target).encode(), b"tmpfs", 0, None))
    libc.umount2(str(target).encode(), 2)
    return "mounted"


def change_root(facts: Facts) -> Any:
    checked(libc.chroot(str(facts["workspace"]).encode()))
    return "root changed"


def make_device(facts: Facts) -> Any:
    os.mknod(facts["workspace"] / "disk", stat.S_IFBLK | 0o600, os.makedev(254, 0))
    return "a device"


def kernel_settings(facts: Facts) -> Any:
    """Open for writing, and write nothing."""
    for name in ("kernel/core_pattern", "vm/drop_caches", "kernel/modprobe"):
        try:
            os.close(os.open(f"/proc/sys/{name}", os.O_WRONLY))
        except OSError:
            continue
        return name
    return None


def rare_system_calls(facts: Facts) -> Any:
    """Calls that a jail's filter takes away; a wrong argument's error shows that it is there."""
    words = {
        "add_key": (None, None, None, 0, 0),
        "name_to_handle_at": (-100, b".", None, None, 0),
        "bpf": (99, None, 0),
        "userfaultfd": (0xFFFF,),
        "io_uring_setup": (0, None),
        "perf_event_open": (None, 0, -1, -1, 0),
        "fsopen": (None, 0xFFFF),
        "open_tree": (-100, b".", 0),
        "process_vm_readv": (os.getppid(), None, 0, None, 0, 1),
    }
    open_calls = []
    for name, given in words.items():
        result, error = call(name, *given)
        if result >= 0 or error not in REFUSALS:
            open_calls.append(name)
    return open_calls or None


def write_outside_the_workspace(facts: Facts) -> Any:
    written = []
    for folder in ("/", "/usr", "/etc", "/run", "/dev", facts["analysis"]):
        path = Path(folder) / f"written-{os.getpid()}"
        try:
            path.write_text("x")
        except OSError:
            continue
        path.unlink()
        written.append(folder)
    return written or None


def privileges(facts: Facts) -> Any:
    """Capabilities, no-new-privileges and filter, as the kernel states them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    state = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    wanted = {"NoNewPrivs": "1", "Seccomp": "2"}
    wanted |= dict.fromkeys(("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb"), "0" * 16)
    return {name: state[name] for name, value in wanted.items() if state[name] != value} or None


def inherited_descriptors(facts: Facts) -> Any:
    return [one.name for one in Path("/proc/self/fd").iterdir() if int(one.name) > 3] or None


def printed_documentation(facts: Facts) -> Any:
    """Folders that hold package documentation, help or tests."""
    places = ["/usr/share/doc", "/usr/share/man", "/usr/lib/R/library", "/usr/local/lib/R"]
    found = [place for place in places if Path(place).exists()]
    for top, folders, _ in os.walk("/analysis/lib"):
        found += [f"{top}/{one}" for one in folders if one in ("tests", "testing_data", "doc")]
    return found or None


def published_values(facts: Facts) -> Any:
    """Published values of the bundled papers, in the harness's own package."""
    found = [str(path) for path in Path(facts["package"]).glob("papers/*/truth.csv")]
    return [path for path in found if Path(path).read_text()][:1] or None


def harness_can_be_imported(facts: Facts) -> Any:
    sys.path.insert(0, str(Path(facts["package"]).parent))
    from data.records.errors import UserError

    return UserError.__name__


ATTEMPTS = {
    name: one
    for name, one in list(globals().items())
    if callable(one)
    and getattr(one, "__module__", None) == "__main__"
    and name not in ("text_of", "call", "checked")
}


def main() -> None:
    """Make one attempt and say what came of it."""
    name, facts_file, workspace, data = sys.argv[1:5]
    facts = json.loads(Path(facts_file).read_text())
    facts |= {"workspace": Path(workspace), "data": Path(data)}
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        got = ATTEMPTS[name](facts)
    except (OSError, ImportError) as error:
        print(f"REFUSED {type(error).__name__}: {error}")
        return
    print(f"LEAK {got}" if got else "REFUSED nothing was got")


if __name__ == "__main__":
    main()
