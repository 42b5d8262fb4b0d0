"""Makes every attempt of `attempts.py`, jailed and unjailed, in a world made for it.

Runs as the user whose mode is tested: ``python driver.py ANALYSIS FOLDER ATTEMPTS.py``. Prints
one JSON object: per attempt and sandbox the last line of its output, and what of the world it
changed.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import data
from bench.jail.sandbox import open_sandbox
from data.ports import Bind, Command, Sandbox
from data.records.runs import Isolation, Limits

MARK = "the-answer-is-here"
VICTIM_MARK = "victim-of-a-test"
LIMITS = Limits(wall_seconds=30)
SEGMENT_KEY = 0x0B1D0000 + os.getpid() % 0xFFFF


def serve(make: Callable[[], socket.socket], stack: ExitStack) -> Any:
    """A stream listener that sends the answer to whoever connects; its address."""
    listener = stack.enter_context(make())
    listener.listen(8)

    def answer() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                peer.sendall(MARK.encode())

    threading.Thread(target=answer, daemon=True).start()
    return listener.getsockname()


def serve_udp(stack: ExitStack) -> int:
    listener = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    listener.bind(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            try:
                _, peer = listener.recvfrom(100)
                listener.sendto(MARK.encode(), peer)
            except OSError:
                return

    threading.Thread(target=answer, daemon=True).start()
    port: int = listener.getsockname()[1]
    return port


def bound(family: int, address: Any) -> Callable[[], socket.socket]:
    def make() -> socket.socket:
        made = socket.socket(family)
        made.bind(address)
        return made

    return make


@contextmanager
def segment() -> Iterator[None]:
    """A segment of System V shared memory that holds the answer and that all may read."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.shmget(SEGMENT_KEY, 4096, 0o1000 | 0o666)
    libc.shmat.restype = ctypes.c_void_p
    address = libc.shmat(number, None, 0)
    ctypes.memmove(address, MARK.encode(), len(MARK))
    try:
        yield
    finally:
        libc.shmdt(ctypes.c_void_p(address))
        libc.shmctl(number, 0, None)


@contextmanager
def host(folder: Path) -> Iterator[dict[str, Any]]:
    """What of the host all attempts may find, and where it is."""
    secrets = folder / "host"
    secrets.mkdir()
    secret, opened = secrets / "secret-paper.txt", secrets / "opened-paper.txt"
    temporary = Path(f"/tmp/secret-{os.getpid()}.txt")
    shared = Path(f"/dev/shm/secret-{os.getpid()}.txt")
    for path in (secret, opened, temporary, shared):
        path.write_text(MARK)
        path.chmod(0o644)
    with ExitStack() as stack:
        stack.enter_context(segment())
        stack.enter_context(opened.open())
        path = str(secrets / "socket")
        abstract = f"secret-{os.getpid()}"
        _, tcp = serve(bound(socket.AF_INET, ("127.0.0.1", 0)), stack)
        serve(bound(socket.AF_UNIX, path), stack)
        serve(bound(socket.AF_UNIX, f"\0{abstract}"), stack)
        Path(path).chmod(0o777)
        try:
            yield {
                "secret": str(secret), "open_secret": str(opened), "folder": str(folder),
                "search": str(folder), "temporary": str(temporary), "shared_file": str(shared),
                "segment_key": SEGMENT_KEY, "tcp": tcp, "udp": serve_udp(stack), "unix": path,
                "abstract": abstract, "key": os.environ["SECRET_KEY"],
                "package": str(Path(data.__file__).parent), "victim_mark": VICTIM_MARK,
                "analysis": sys.argv[1],
            }  # fmt: skip
        finally:
            temporary.unlink()
            shared.unlink()


@contextmanager
def world(folder: Path, facts: dict[str, Any], attempts: Path) -> Iterator[Command]:
    """A workspace, data and a victim of its own for one attempt."""
    here = folder / "host" / "world"
    workspace, survey = here / "workspace", here / "data"
    (workspace / "table_templates").mkdir(parents=True)
    survey.mkdir()
    (workspace / "table_templates" / "table_1.json").write_text("template")
    (survey / "survey.csv").write_text("a,b\n1,2\n")
    (survey / "up.txt").symlink_to("../../secret-paper.txt")
    (survey / "absolute.txt").symlink_to(facts["secret"])
    (survey / "root").symlink_to("/")
    (here / "secret-paper.txt").write_text(MARK)
    shutil.copy(attempts, workspace / "attempts.py")
    victim = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(120)", VICTIM_MARK], start_new_session=True
    )
    (workspace / "facts.json").write_text(json.dumps({**facts, "victim": victim.pid}))
    try:
        yield Command(
            argv=(
                "/analysis/bin/python", "/workspace/attempts.py", "", "/workspace/facts.json",
                "/workspace", "/data",
            ),
            binds=(
                Bind(workspace, "/workspace", writable=True),
                Bind(workspace / "table_templates", "/workspace/table_templates"),
                Bind(survey, "/data"),
            ),
            stdout=here / "stdout",
            stderr=here / "stderr",
            limits=LIMITS,
        )  # fmt: skip
    finally:
        victim.kill()
        victim.wait()
        shutil.rmtree(here)


def changes(command: Command) -> list[str]:
    """What of the inputs is not as it was."""
    survey = command.binds[2].source / "survey.csv"
    template = command.binds[1].source / "table_1.json"
    found = []
    if not survey.is_file() or survey.read_text() != "a,b\n1,2\n":
        found.append("data")
    elif survey.stat().st_mtime < 100 or survey.stat().st_mode & 0o111:
        found.append("times or permissions of the data")
    if len(list(survey.parent.iterdir())) != 4:
        found.append("files of the data")
    if not template.is_file() or template.read_text() != "template":
        found.append("templates")
    return found


def outcome(name: str, command: Command, sandbox: Sandbox) -> dict[str, Any]:
    words = list(command.argv)
    words[2] = name
    done = sandbox.run(replace(command, argv=tuple(words)))
    said = command.stdout.read_text().strip().splitlines()
    return {
        "said": said[-1]
        if said
        else f"ended with {done.exit_code}, {done.signal}: " + command.stderr.read_text()[-300:],
        "changed": changes(command),
    }


def main() -> None:
    """Make all attempts in both sandboxes."""
    analysis, folder, attempts = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    names = sys.argv[4:]
    found: dict[str, dict[str, Any]] = {}
    with host(folder) as facts:
        for level in (Isolation.NAMESPACES, Isolation.NONE):
            sandbox = open_sandbox(level, analysis=analysis)
            for name in names:
                with world(folder, facts, attempts) as command:
                    found.setdefault(name, {})[level.value] = outcome(name, command, sandbox)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
