"""First program of a jail: sets limits, gives up root, starts the command.

Called as ``python -I -S -B launch.py PLAN -- ARGV...`` with PLAN a JSON object of ``limits``
(names of the module `resource` to numbers), ``uid`` and ``gid`` (null where there is nothing to
give up) and ``status``, a descriptor on which it writes ``ready`` just before it starts the
command, and after that the reason if the command could not be started.

As the first process of its namespace it stays, reaps what dies, and cannot be read or traced by
the command, whose user it shares; it ends with the command's exit code, or 128 and its signal.
"""

import ctypes
import json
import os
import resource
import signal
import sys

PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
LAST_CAPABILITY = 63
CAPABILITY_VERSION_3 = 0x20080522
SIGNAL_EXIT = 128


def set_limits(limits: dict[str, int]) -> None:
    """Lower each limit, and never ask for more than is already granted."""
    for name, value in limits.items():
        which = getattr(resource, name)
        _, hard = resource.getrlimit(which)
        granted = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (granted, granted))


def empty_bounding_set() -> None:
    """Take every capability out of the bounding set; the kernel ends the list with EINVAL."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(LAST_CAPABILITY + 1):
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            return


def give_up_capabilities() -> None:
    """Empty the effective, permitted and inheritable sets.

    Raises
    ------
    SystemExit
        When the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    empty = (ctypes.c_uint32 * 6)()
    if libc.capset(ctypes.byref(header), ctypes.byref(empty)) != 0:
        sys.exit("launch: the capabilities could not be given up")


def give_up_root(uid: int, gid: int) -> None:
    """Become an unprivileged user for good.

    Raises
    ------
    SystemExit
        When the process could become root again.
    """
    empty_bounding_set()
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    give_up_capabilities()
    try:
        os.setresuid(0, 0, 0)
    except PermissionError:
        return
    sys.exit("launch: root could be taken back")


def start(argv: list[str], status: int) -> None:
    """Replace this process by the command; report on `status` where that fails."""
    os.set_inheritable(status, False)
    # Python ignores these two, and a program that it starts would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.write(status, b"ready")
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(status, f"{argv[0]}: {error.strerror}".encode())
        sys.exit(127)


def wait_as_first_process(command: int) -> int:
    """Reap every child until the command has ended; its exit code.

    When the first process ends, the kernel ends all others of the namespace.
    """
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    while True:
        child, ending = os.wait()
        if child == command:
            code = os.waitstatus_to_exitcode(ending)
            return code if code >= 0 else SIGNAL_EXIT - code


def main() -> None:
    """Follow the plan on the command line."""
    plan = json.loads(sys.argv[1])
    os.umask(0o022)
    set_limits(plan["limits"])
    if plan["uid"] is not None:
        give_up_root(plan["uid"], plan["gid"])
    if os.getpid() == 1 and (command := os.fork()) != 0:
        os.close(plan["status"])
        os._exit(wait_as_first_process(command))
    start(sys.argv[3:], plan["status"])


if __name__ == "__main__":
    main()
