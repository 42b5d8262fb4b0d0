"""The jail, as root and as an ordinary user: attempts to get out of it, limits, what it is.

Every attempt is made twice, by the same program in the same world: in the jail, where it must be
refused, and without one, where it must get through. An attempt that fails in both shows nothing.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from bench.environment import analysis_environment
from bench.jail.policy import BASE_ENVIRONMENT
from bench.jail.probe import diagnose, find_bubblewrap
from bench.jail.sandbox import open_sandbox
from data.corpus import bundled_folder
from data.ports import Bind, Command
from data.records.errors import UserError
from data.records.runs import Isolation

FOLDER = Path(__file__).parent / "jail"
ORDINARY: Final = 65534
HELPING: Final = {"text_of", "call", "checked", "main"}

NAMES: Final = [
    node.name
    for node in ast.parse((FOLDER / "attempts.py").read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name not in HELPING
]
# An ordinary user is refused these by the kernel without any jail.
ROOT_ONLY: Final = {
    "mount_something", "change_root", "make_device", "kernel_settings",
    "write_outside_the_workspace", "trace_the_parent", "memory_of_another",
}  # fmt: skip
# States of the jail that the unjailed control shares, or may share on some machines.
WITHOUT_CONTROL: Final = {"inherited_descriptors", "interfaces", "printed_documentation"}


DROP: Final = (
    "import os, sys; user = int(sys.argv[1]); os.setgroups([]); os.setresgid(user, user, user); "
    "os.setresuid(user, user, user); os.execv(sys.argv[2], sys.argv[2:])"
)


def closed_ancestor(path: Path) -> Path | None:
    """Outermost folder above a path that an ordinary user may not pass."""
    above = reversed(path.parents)
    return next((one for one in above if not one.stat().st_mode & 0o001), None)


def as_ordinary_user(argv: list[str]) -> list[str]:
    """Command that root runs as an ordinary user, who can reach the interpreter and the project.

    Root's own home may hold both and is closed to others: in a mount namespace of its own, an
    open folder with only these in it lies over it.
    """
    program = find_bubblewrap()
    assert program is not None
    words = [program.path, "--dev-bind", "/", "/", "--cap-add", "ALL"]
    needed = [Path(sys.base_prefix), Path(__file__).parents[2], analysis_environment()]
    closed = {path.resolve(): closed_ancestor(path.resolve()) for path in needed}
    for folder in sorted({str(one) for one in closed.values() if one}):
        words += ["--tmpfs", folder]
    for path, folder in closed.items():
        if folder is not None:
            between = [one for one in reversed(path.parents) if folder in one.parents]
            for one in between:
                words += ["--perms", "0755", "--dir", str(one)]
            words += ["--ro-bind", str(path), str(path)]
    return [*words, "--", sys.executable, "-c", DROP, str(ORDINARY), *argv]


def modes() -> list[str]:
    return ["root", "ordinary"] if os.geteuid() == 0 else ["ordinary"]


@cache
def outcomes(mode: str) -> dict[str, dict[str, Any]]:
    """All attempts of one mode, made by one process that runs as its user."""
    folder = Path(tempfile.mkdtemp(prefix="blindbench-escape-"))
    folder.chmod(0o755)
    analysis = analysis_environment()
    argv = [sys.executable, str(FOLDER / "driver.py"), str(analysis), str(folder)]
    argv += [str(FOLDER / "attempts.py"), *NAMES]
    if os.geteuid() == 0 and mode == "ordinary":
        os.chown(folder, ORDINARY, ORDINARY)
        argv = as_ordinary_user(argv)
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            timeout=500,
            cwd="/",
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "SECRET_KEY": "sk-0b1d-7e57"},
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("mode", modes())
@pytest.mark.parametrize("name", NAMES)
def test_attempt_is_refused(name: str, mode: str) -> None:
    made = outcomes(mode)[name]
    jailed, control = made["namespaces"], made["none"]
    assert jailed["said"].startswith("REFUSED"), f"jailed: {jailed['said']}"
    assert jailed["changed"] == []
    if name in WITHOUT_CONTROL or (mode == "ordinary" and name in ROOT_ONLY):
        return
    assert control["said"].startswith("LEAK"), f"the control shows nothing: {control['said']}"


def test_there_are_enough_attempts() -> None:
    assert len(NAMES) >= 44


# --------------------------------------------------------------------------- limits and ends


@dataclass(frozen=True)
class Ended:
    """How a command ended, what it printed, what it left in the workspace's folder."""

    how: dict[str, Any]
    said: str
    workspace: Path


@contextlib.contextmanager
def ended(
    mode: str, code: str | list[str], level: str = "namespaces", **limits: Any
) -> Iterator[Ended]:
    """A Python program, or a command, run to its end in a sandbox of its own."""
    folder = Path(tempfile.mkdtemp(prefix="blindbench-limit-"))
    folder.chmod(0o755)
    (folder / "workspace").mkdir()
    command = ["/analysis/bin/python", "-c", code] if isinstance(code, str) else code
    request = {"level": level, "argv": command, "limits": {"wall_seconds": 20, **limits}}
    argv = [
        sys.executable,
        str(FOLDER / "run_command.py"),
        str(analysis_environment()),
        str(folder),
    ]
    argv.append(json.dumps(request))
    if os.geteuid() == 0 and mode == "ordinary":
        for path in (folder, folder / "workspace"):
            os.chown(path, ORDINARY, ORDINARY)
        argv = as_ordinary_user(argv)
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            timeout=120,
            cwd="/",
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "SECRET_KEY": "sk-0b1d-7e57"},
        )
        assert done.returncode == 0, done.stderr
        said = (folder / "stdout").read_text() if (folder / "stdout").exists() else ""
        yield Ended(json.loads(done.stdout), said, folder / "workspace")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


BOTH = pytest.mark.parametrize("mode", modes())
LEVELS = pytest.mark.parametrize("level", ["namespaces", "none"])


def is_growing(path: Path) -> bool:
    before = path.stat().st_size
    time.sleep(0.6)
    return path.stat().st_size > before


LEAVE_BEHIND = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            with open('/workspace/beats', 'a') as file:
                file.write('x')
            time.sleep(0.1)
    os._exit(0)
time.sleep(1)
"""


@BOTH
def test_nothing_outlives_the_command(mode: str) -> None:
    with ended(mode, LEAVE_BEHIND) as done:
        assert done.how["exit_code"] == 0
        assert (done.workspace / "beats").stat().st_size > 3
        assert not is_growing(done.workspace / "beats")


def test_without_a_jail_it_would(tmp_path: Path) -> None:
    """Control of the test above: the same program, started plainly, goes on."""
    code = LEAVE_BEHIND.replace("/workspace", str(tmp_path)).replace(
        "while True", "end = time.monotonic() + 8\n        while time.monotonic() < end"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
    assert is_growing(tmp_path / "beats")


@BOTH
@LEVELS
def test_wall_limit_ends_the_whole_tree(mode: str, level: str) -> None:
    code = LEAVE_BEHIND.replace("time.sleep(1)", "time.sleep(60)")
    code = code.replace("/workspace/beats", "beats").replace("os.setsid()", "pass")
    with ended(mode, code, level, wall_seconds=3) as done:
        assert done.how["limit_hit"] == "wall"
        assert done.how["cause"] == "wall clock 3 s"
        assert done.how["exit_code"] is None
        assert not is_growing(done.workspace / "beats")


@BOTH
@LEVELS
def test_memory_limit_counts_the_tree(mode: str, level: str) -> None:
    """Four processes of 100 MiB each, none of which is over the limit alone."""
    code = (
        "import os, time\n"
        "for _ in range(3):\n    if os.fork() == 0: break\n"
        "block = bytearray(os.urandom(1024)) * (100 * 1024)\ntime.sleep(15)"
    )
    with ended(mode, code, level, memory_bytes=250 * 1024**2) as done:
        assert done.how["limit_hit"] == "memory", done.how
        assert "MiB > 250 MiB" in done.how["cause"]


@BOTH
def test_processes_are_limited(mode: str) -> None:
    code = (
        "import os, time\nmade = 0\n"
        "try:\n    while made < 200:\n        if os.fork() == 0:\n            time.sleep(3)\n"
        "            os._exit(0)\n        made += 1\n"
        "except BlockingIOError:\n    print(made)\n"
    )
    with ended(mode, code, processes=30) as done:
        assert 5 <= int(done.said) <= 30


@BOTH
@LEVELS
def test_file_size_is_limited(mode: str, level: str) -> None:
    code = "open('big', 'wb').write(bytes(20 * 1024**2))"
    with ended(mode, code, level, file_bytes=5 * 1024**2) as done:
        assert done.how["signal"] or done.how["exit_code"]
        assert (done.workspace / "big").stat().st_size == 5 * 1024**2


@BOTH
@LEVELS
def test_workspace_is_limited(mode: str, level: str) -> None:
    code = (
        "import time\nfor i in range(40):\n"
        "    open(f'part{i}', 'wb').write(bytes([i + 1]) * 1024**2)\ntime.sleep(10)"
    )
    with ended(mode, code, level, workspace_bytes=20 * 1024**2) as done:
        assert done.how["limit_hit"] == "workspace"


@BOTH
def test_a_full_scratch_folder_harms_nobody(mode: str) -> None:
    code = (
        "try:\n    for i in range(2000):\n"
        "        open(f'/tmp/part{i}', 'wb').write(bytes(1024**2))\n"
        "except OSError as error:\n    print(error.strerror, i)"
    )
    with ended(mode, code, memory_bytes=None) as done:
        assert done.said.startswith("No space left on device 51"), done.said


@BOTH
@LEVELS
def test_exit_codes_and_signals(mode: str, level: str) -> None:
    with ended(mode, "raise SystemExit(7)", level) as done:
        assert (done.how["exit_code"], done.how["signal"]) == (7, None)
    with ended(mode, "import os; os.kill(os.getpid(), 11)", level) as done:
        assert (done.how["exit_code"], done.how["signal"]) == (None, 11)


@BOTH
@LEVELS
def test_a_program_that_is_not_there_is_a_mistake(mode: str, level: str) -> None:
    with ended(mode, ["/analysis/bin/missing"], level) as done:
        assert done.how["error"] == "UserError"
        assert "missing: No such file" in done.how["text"]


@BOTH
def test_the_environment_is_exact(mode: str) -> None:
    with ended(mode, "import os, json; print(json.dumps(sorted(os.environ)))") as done:
        # bubblewrap itself names the working directory.
        assert json.loads(done.said) == sorted({*BASE_ENVIRONMENT, "GIVEN", "PWD"})


@BOTH
def test_the_analysis_environment_works_inside(mode: str) -> None:
    code = (
        "import numpy, pandas, scipy, statsmodels.api, linearmodels, pyfixest, pyreadstat\n"
        "import pyreadr, openpyxl, pyarrow; print(numpy.linalg.inv(numpy.eye(2))[0, 0])"
    )
    with ended(mode, code, wall_seconds=60) as done:
        assert done.said.strip() == "1.0"


def test_published_values_are_never_bound(tmp_path: Path) -> None:
    sandbox = open_sandbox(Isolation.NAMESPACES, analysis=analysis_environment())
    link = tmp_path / "innocent"
    link.symlink_to(bundled_folder())
    for source in (bundled_folder(), bundled_folder() / "x", bundled_folder().parent, link):
        binds = (Bind(source, "/workspace"),)
        command = Command(("true",), binds, tmp_path / "out", tmp_path / "err")
        with pytest.raises(UserError, match="which no run may reach"):
            sandbox.run(command)


@pytest.mark.parametrize("target", ["/", "/usr", "/etc/passwd", "/proc", "/x/../etc", "relative"])
def test_a_bind_covers_no_part_of_the_jail(tmp_path: Path, target: str) -> None:
    sandbox = open_sandbox(Isolation.NAMESPACES, analysis=analysis_environment())
    binds = (Bind(tmp_path, target),)
    with pytest.raises(UserError, match="bind"):
        sandbox.run(Command(("true",), binds, tmp_path / "out", tmp_path / "err"))


# --------------------------------------------------------------------------- where none can be


def test_where_no_jail_can_be_built_nothing_is_run(tmp_path: Path) -> None:
    """The real command where the kernel refuses further namespaces: it names cause and remedy."""
    program = find_bubblewrap()
    assert program is not None
    runs = tmp_path / "runs"
    outer = [program.path, "--dev-bind", "/", "/", "--unshare-user", "--disable-userns"]
    outer += ["--uid", "1000", "--gid", "1000", "--"]
    bench = Path(sys.executable).with_name("bench")
    words = ["run", "demo", "--only-arm", "null", "--only-paper", "wooldridge_card_2010"]
    argv = [*outer, str(bench), *words, "--to", str(runs)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "no jail can be built here" in done.stderr
    assert "To mend it:" in done.stderr
    assert not runs.exists()
    told = subprocess.run(
        [*argv, "--isolation", "none"], capture_output=True, text=True, timeout=60
    )
    assert told.returncode == 0, told.stderr
    record = next(runs.glob("*/*/*/*/run.json"))
    assert json.loads(record.read_text())["attempts"][0]["isolation"] == "none"


@pytest.mark.parametrize(
    ("said", "cause", "remedy"),
    [
        (
            "bwrap: Creating new namespace failed: nesting depth or ... exceeded (ENOSPC)",
            "user namespaces are switched off",
            "sysctl",
        ),
        ("bwrap: setting up uid map: Permission denied", "AppArmor", "apparmor_parser"),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "AppArmor", "apparmor"),
        ("bwrap: Failed to make / slave: Operation not permitted", "CAP_SYS_ADMIN", "--privileged"),
        (
            "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
            "/proc",
            "systempaths",
        ),
        ("bwrap: No permissions to create new namespace", "refuses new namespaces", "--privileged"),
        ("", "it said: nothing", "--privileged"),
    ],
)
def test_causes_in_plain_words(said: str, cause: str, remedy: str) -> None:
    found = diagnose(said)
    assert cause in found[0]
    assert remedy in found[1]
