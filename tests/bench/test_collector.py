"""The collector takes plain files only, whatever a run has planted, and never waits or follows."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.collector import CollectionLimits, Outputs, collect
from data.records.errors import InfrastructureError


def workspace_with(folder: Path, **files: str) -> Path:
    workspace = folder / "workspace"
    workspace.mkdir()
    for name, content in files.items():
        (workspace / name).write_text(content)
    return workspace


def taken(outputs: Outputs) -> dict[str, int]:
    return {file.path: file.size for file in outputs.files}


def refused(outputs: Outputs) -> dict[str, str]:
    return {one.path: one.reason for one in outputs.refused}


def test_plain_files_come_out_as_they_are(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, table_1="{}", notes="done")
    (workspace / "deep" / "er").mkdir(parents=True)
    (workspace / "deep" / "er" / "x.csv").write_bytes(b"\x00\xff")
    outputs = collect(workspace, tmp_path / "out")
    assert taken(outputs) == {"table_1": 2, "notes": 4, "deep/er/x.csv": 2}
    assert refused(outputs) == {}
    assert (tmp_path / "out" / "deep" / "er" / "x.csv").read_bytes() == b"\x00\xff"
    assert outputs.files[0].sha256 == hashlib.sha256(b"\x00\xff").hexdigest()


def test_what_was_planted_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text("the published table")
    workspace = workspace_with(tmp_path, honest="1")
    (workspace / "absolute.json").symlink_to(secret)
    (workspace / "relative.json").symlink_to("../secret.json")
    (workspace / "dangling.json").symlink_to("/nowhere")
    (workspace / "folder").symlink_to(tmp_path)
    (workspace / "itself").symlink_to("itself")
    os.link(secret, workspace / "hard.json")
    os.mkfifo(workspace / "fifo.json")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(workspace / "socket.json"))
        outputs = collect(workspace, tmp_path / "out")
    assert taken(outputs) == {"honest": 1}
    assert refused(outputs) == {
        "absolute.json": "symbolic link",
        "relative.json": "symbolic link",
        "dangling.json": "symbolic link",
        "folder": "symbolic link",
        "itself": "symbolic link",
        "hard.json": "hard link",
        "fifo.json": "named pipe",
        "socket.json": "socket",
    }
    copied = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert [path.name for path in copied] == ["honest"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_a_device_is_refused(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path)
    os.mknod(workspace / "zero.json", 0o20666, os.makedev(1, 5))
    assert refused(collect(workspace, tmp_path / "out")) == {"zero.json": "device"}


def test_only_the_own_link_to_the_data_is_expected(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path)
    (workspace / "data").symlink_to("/data")
    outputs = collect(workspace, tmp_path / "out")
    assert (taken(outputs), refused(outputs)) == ({}, {})
    (workspace / "data").unlink()
    (workspace / "data").symlink_to("/etc")
    assert refused(collect(workspace, tmp_path / "other")) == {"data": "symbolic link"}


def test_inputs_stay_out_unless_changed(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, TASK="task", methods="changed")
    inputs = {
        "TASK": hashlib.sha256(b"task").hexdigest(),
        "methods": hashlib.sha256(b"as it was").hexdigest(),
    }
    outputs = collect(workspace, tmp_path / "out", inputs=inputs)
    assert taken(outputs) == {}
    assert refused(outputs) == {"methods": "an input that was changed"}


def test_caps(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, a="1" * 10, b="2" * 11, c="3" * 10, d="4" * 10)
    limits = CollectionLimits(file_bytes=10, total_bytes=25)
    outputs = collect(workspace, tmp_path / "out", limits=limits)
    assert taken(outputs) == {"a": 10, "c": 10}
    assert refused(outputs) == {"b": "larger than 10 bytes", "d": "more than 25 bytes in all"}
    few = collect(workspace, tmp_path / "few", limits=CollectionLimits(files=1))
    assert list(taken(few)) == ["a"]
    assert set(refused(few).values()) == {"more than 1 files"}


def test_a_huge_sparse_file_is_not_read(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path)
    with (workspace / "table_1.json").open("wb") as file:
        file.truncate(10 * 1024**3)
    assert refused(collect(workspace, tmp_path / "out")) == {
        "table_1.json": f"larger than {64 * 1024**2} bytes"
    }


def test_depth_and_number_of_entries_are_bounded(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path)
    deep = workspace
    for _ in range(60):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "x").write_text("x")
    for number in range(30):
        (workspace / f"z{number}").mkdir()
    outputs = collect(workspace, tmp_path / "out", limits=CollectionLimits(files=5, depth=4))
    assert refused(outputs) == {
        "d/d/d/d/d": "deeper than 4 folders",
        ".": "too many entries: the rest was not looked at",
    }


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path)
    Path(os.fsdecode(os.fsencode(workspace) + b"/\xff.json")).write_text("x")
    outputs = collect(workspace, tmp_path / "out")
    assert taken(outputs) == {}
    assert list(refused(outputs).values()) == ["a name that is not UTF-8"]


@given(st.dictionaries(st.from_regex(r"[^/\x00]{1,20}", fullmatch=True), st.binary(max_size=50)))
def test_any_names_and_contents(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    workspace = folder / "workspace"
    workspace.mkdir()
    written = {}
    for name, content in files.items():
        try:
            encoded = name.encode()
        except UnicodeEncodeError:
            continue
        if name in (".", "..") or len(encoded) > 200:
            continue
        (workspace / name).write_bytes(content)
        written[name] = content
    outputs = collect(workspace, folder / "out")
    assert {one.path: (folder / "out" / one.path).read_bytes() for one in outputs.files} == written


SWAPPER = """
import os, sys, time
place, secret = sys.argv[1:]
end = time.monotonic() + 60
while time.monotonic() < end:
    os.symlink(secret, place + ".l")
    os.replace(place + ".l", place)
    with open(place + ".f", "w") as file:
        file.write("plain")
    os.replace(place + ".f", place)
"""


def test_a_file_swapped_for_a_link_while_collecting(tmp_path: Path) -> None:
    """A process that swaps a file for a link and back never gets the secret copied."""
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    workspace = workspace_with(tmp_path)
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAPPER, str(workspace / "table_1.json"), str(secret)]
    )
    plain, links, number = 0, 0, 0
    try:
        while min(plain, links) < 20:
            number += 1
            outputs = collect(workspace, tmp_path / f"out{number}")
            links += "symbolic link" in refused(outputs).values()
            for path in (tmp_path / f"out{number}").iterdir():
                assert path.read_text() != "SECRET"
                plain += path.name == "table_1.json"
            assert swapper.poll() is None, "the swapper ended before enough was seen"
    finally:
        swapper.kill()
        swapper.wait()


def test_a_full_disk_is_no_fault_of_the_run(tmp_path: Path) -> None:
    """What cannot be written is the machine's failure: no file is silently left out."""
    workspace = workspace_with(tmp_path, a="1", b="2" * 200_000)
    code = (
        "import resource, sys\nfrom pathlib import Path\nfrom bench.collector import collect\n"
        "from data.records.errors import InfrastructureError\nimport signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n    collect(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "except InfrastructureError as error:\n    print(error)\n"
    )
    argv = [sys.executable, "-c", code, str(workspace), str(tmp_path / "out")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert os.strerror(errno.EFBIG) in done.stdout, done.stderr


def test_without_a_workspace_there_is_nothing_to_collect(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError):
        collect(tmp_path / "gone", tmp_path / "out")
