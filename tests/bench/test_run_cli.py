"""`bench run`, `status`, `stop`, `resume` as a user meets them: plans, mistakes, reruns, arms."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from data.corpus import data_directory, export_record_path, open_paper

BENCH = Path(sys.executable).with_name("bench")
PAPER = "wooldridge_card_2010"
Done = subprocess.CompletedProcess[str]
Bench = Callable[..., Done]


def board_text(arms: str = '[[arms]]\nname = "oracle"\n', **fields: object) -> str:
    lines = {"name": "board", "papers": [PAPER], **fields}
    head = "\n".join(f"{name} = {json.dumps(value)}" for name, value in lines.items())
    return f"{head}\n{arms}"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    def call(*words: object, **more: str) -> Done:
        return subprocess.run(
            [BENCH, *map(str, words)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "200", **more},
        )

    return call


def write(folder: Path, text: str, name: str = "board.toml") -> Path:
    (folder / name).write_text(text)
    return folder / name


def one_line(done: Done, *words: str) -> None:
    """A user's mistake: exit code 2, one line, no traceback, and what it must say."""
    assert done.returncode == 2, done.stdout + done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("bench: ")
    for word in words:
        assert word in lines[0]


# --------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name = ", ["not valid TOML"]),
        (board_text(arms=""), ["arms"]),
        ('papers = "all"\n[[arms]]\nname = "oracle"', ["name"]),
        (board_text(papers=["nobody_1900"]), ["nobody_1900"]),
        (board_text(papers=[]), ["no papers"]),
        (board_text(papers=[PAPER, PAPER]), ["named twice"]),
        (board_text(papers="some"), ["papers"]),
        (board_text(repetitions=0), ["repetitions"]),
        (board_text(repetitions="two"), ["repetitions"]),
        (board_text(isolation="strong"), ["isolation"]),
        (board_text(isolation="landlock"), ["not offered"]),
        (board_text(speed=3), ["unknown field 'speed'"]),
        (board_text(name="../x"), ["names a folder"]),
        (board_text('[[arms]]\nname = "a/b"\nscaffold = "null"'), ["names a folder"]),
        (board_text('[[arms]]\nname = "null"\n[[arms]]\nname = "null"'), ["two arms"]),
        (board_text('[[arms]]\nname = "zero"\nscaffold = "null"'), ["baseline"]),
        (board_text('[[arms]]\nname = "unheard"'), ["no arm is called 'unheard'", "oracle"]),
        (board_text('[[arms]]\nname = "oracle"\ncolour = 1'), ["unknown field 'colour'"]),
        (board_text('[[arms]]\nname = "noise"\noptions = { j = 1 }'), ["unknown option 'j'"]),
        (board_text('[[arms]]\nname = "noise"\noptions = { k = "x" }'), ["'k'", "not float"]),
        (board_text('[[arms]]\nname = "null"\nlimits = { wall_seconds = -1 }'), ["not above 0"]),
        (board_text('[[arms]]\nname = "null"\nlimits = { walls = 1 }'), ["unknown field 'walls'"]),
        (board_text('[[arms]]\nname = "p"\nscaffold = "program"'), ["options.command"]),
        ('name = "b"\npapers = "all"\narms = 3', ["[[arms]]"]),
        (board_text('[[arms]]\nname = "null"\nlimits = { wall_seconds = nan }'), ["not above 0"]),
        (board_text('[[arms]]\nname = "null"\nlimits = { wall_seconds = inf }'), ["below"]),
        (board_text('[[arms]]\nname = "null"\nlimits = { memory_bytes = 1e20 }'), ["memory_bytes"]),
        (board_text(repetitions=99999999999), ["repetitions"]),
        (
            board_text('[[arms]]\nname = "p"\nscaffold = "program"\n')
            + 'options = { command = "a\\u0000b" }',
            ["NUL"],
        ),
        (
            board_text(
                '[[arms]]\nname = "p"\nscaffold = "program"\noptions = { command = "a \'" }'
            ),
            ["cannot be split"],
        ),
        (
            board_text(
                '[[arms]]\nname = "p"\nscaffold = "program"\n'
                'options = { command = "x", files = ["gone"] }'
            ),
            ["no file", "gone"],
        ),
    ],
)
def test_a_wrong_leaderboard_is_one_line(
    bench: Bench, tmp_path: Path, text: str, words: list[str]
) -> None:
    one_line(bench("run", write(tmp_path, text)), *words)
    assert [path.name for path in tmp_path.iterdir()] == ["board.toml"]


def test_other_mistakes_are_one_line(bench: Bench, tmp_path: Path) -> None:
    board = write(tmp_path, board_text())
    one_line(bench("run", "nothing.toml"), "no leaderboard", "demo")
    one_line(bench("run", tmp_path), "cannot be read")
    one_line(bench("run", board, "--only-arm", "x"), "no arm 'x'", "oracle")
    one_line(bench("run", board, "--only-paper", "x"), "no paper 'x'")
    one_line(bench("run", board, "--isolation", "strong"), "namespaces or none")
    one_line(bench("run", board, "--data", tmp_path), "no data for paper", "bench papers export")
    one_line(bench("run", board, BLINDBENCH_ANALYSIS=str(tmp_path)), str(tmp_path))
    one_line(bench("status", tmp_path), "no runs in it")
    one_line(bench("stop", tmp_path), "not being run")
    one_line(bench("resume", tmp_path), "no leaderboard.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    one_line(bench("run", "binary.toml"), "cannot be read")


def failing_bubblewrap(folder: Path) -> str:
    """Search path on which bubblewrap passes the trial and fails at every run."""
    real = shutil.which("bwrap")
    assert real is not None
    (folder / "bin").mkdir()
    program = folder / "bin" / "bwrap"
    program.write_text(
        '#!/bin/sh\nif [ "$1" = --args ]; then echo "bwrap: out of luck" >&2; exit 1; fi\n'
        f'exec {real} "$@"\n'
    )
    program.chmod(0o755)
    return f"{folder / 'bin'}:{os.environ['PATH']}"


# --------------------------------------------------------------------------- plans and reruns


def test_a_dry_run_shows_the_plan_and_writes_nothing(bench: Bench, tmp_path: Path) -> None:
    board = write(tmp_path, board_text('[[arms]]\nname = "null"\n', repetitions=3))
    done = bench("run", board, "--dry-run")
    assert done.returncode == 0
    assert "1 papers x 1 arms x 3 = 3 runs; 0 done, 3 to do" in done.stdout
    assert "no cost" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["board.toml"]


def test_finished_runs_are_not_repeated(bench: Bench, tmp_path: Path) -> None:
    board = write(tmp_path, board_text('[[arms]]\nname = "null"\n[[arms]]\nname = "oracle"\n'))
    assert bench("run", board).returncode == 0
    records = sorted((tmp_path / "runs").glob("*/*/*/*/run.json"))
    assert len(records) == 2
    before = [(path.stat().st_ino, path.read_bytes()) for path in records]
    again = bench("run", board)
    assert again.returncode == 0
    assert "2 done, 0 to do" in again.stdout
    assert [(path.stat().st_ino, path.read_bytes()) for path in records] == before


def test_a_lost_grade_is_made_again_without_a_run(bench: Bench, tmp_path: Path) -> None:
    board = write(tmp_path, board_text())
    bench("run", board)
    run_dir = tmp_path / "runs" / "board" / PAPER / "oracle" / "1"
    grade = (run_dir / "grade.json").read_bytes()
    record = (run_dir / "run.json").stat().st_ino
    (run_dir / "grade.json").unlink()
    assert bench("run", board).returncode == 0
    assert (run_dir / "grade.json").read_bytes() == grade
    assert (run_dir / "run.json").stat().st_ino == record


def test_a_changed_arm_is_another_run_and_the_old_one_is_kept(bench: Bench, tmp_path: Path) -> None:
    noise = '[[arms]]\nname = "noise"\noptions = {{ k = {} }}\n'
    bench("run", write(tmp_path, board_text(noise.format(1))))
    run_dir = tmp_path / "runs" / "board" / PAPER / "noise" / "1"
    first = (run_dir / "run.json").read_bytes()
    done = bench("run", write(tmp_path, board_text(noise.format(2))))
    assert "0 done, 1 to do" in done.stdout
    kept = list((tmp_path / "runs" / "board" / ".superseded").rglob("run.json"))
    assert [path.read_bytes() for path in kept] == [first]
    assert (run_dir / "run.json").read_bytes() != first
    states = json.loads(bench("status", "runs/board", "--json").stdout)
    assert len(states) == 1


def test_changed_data_methods_or_templates_are_another_run(bench: Bench, tmp_path: Path) -> None:
    paper = tmp_path / PAPER
    shutil.copytree(open_paper(PAPER).root, paper)
    board = write(tmp_path, board_text(papers=[PAPER]))
    assert bench("run", board).returncode == 0
    for name in ("methodology_summary.json", "templates/table_15_1.json"):
        path = paper / "extracted" / name
        path.write_text(path.read_text() + " ")
        assert "0 done, 1 to do" in bench("run", board, "--dry-run").stdout
        path.write_text(path.read_text()[:-1])
        assert "1 done, 0 to do" in bench("run", board, "--dry-run").stdout
    data = tmp_path / "data" / PAPER
    shutil.copytree(data_directory(PAPER), data)
    shutil.copy(export_record_path(data_directory(PAPER)), export_record_path(data))
    done = bench("run", board, "--dry-run", "--data", tmp_path / "data")
    assert "1 done, 0 to do" in done.stdout
    file = next(path for path in data.iterdir() if path.is_file())
    file.write_bytes(file.read_bytes() + b"\0")
    changed = bench("run", board, "--dry-run", "--data", tmp_path / "data")
    assert "1 done" not in changed.stdout


def test_two_at_a_time_on_one_leaderboard_are_refused(bench: Bench, tmp_path: Path) -> None:
    sleeper = '[[arms]]\nname = "sleeper"\nlimits = { wall_seconds = 20 }\n'
    board = write(tmp_path, board_text(sleeper))
    folder = tmp_path / "runs" / "board"
    first = subprocess.Popen([BENCH, "run", str(board)], cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        while not list(folder.glob("*/*/*/claim")):
            assert first.poll() is None
        one_line(bench("run", board), "is being run by process", "bench stop")
        states = json.loads(bench("status", folder, "--json").stdout)
        assert states[0]["status"] in ("claimed", "running")
        assert f"process {first.pid} is running it" in bench("status", folder).stdout
        stopped = bench("stop", folder)
        assert stopped.returncode == 0, stopped.stderr
    finally:
        first.wait(timeout=30)
    assert first.returncode == 1
    assert not list(folder.glob("*/*/*/run.json"))


def test_a_torn_record_is_named_and_loses_nothing(bench: Bench, tmp_path: Path) -> None:
    board = write(tmp_path, board_text())
    bench("run", board)
    path = tmp_path / "runs" / "board" / PAPER / "oracle" / "1" / "run.json"
    path.write_bytes(path.read_bytes()[:100])
    one_line(bench("run", board), "run.json", "not valid JSON")
    one_line(bench("status", "runs/board"), "run.json")
    path.unlink()
    assert bench("run", board).returncode == 0
    assert not list(path.parent.glob("attempt_02"))


def test_what_the_preflight_refuses_is_recorded_and_never_graded(
    bench: Bench, tmp_path: Path
) -> None:
    answer = open_paper(PAPER).root / "truth.csv"
    shutil.copy(answer, tmp_path / "notes.txt")
    arms = (
        '[[arms]]\nname = "cheat"\nscaffold = "program"\n'
        'options = { command = "cat notes.txt", files = ["notes.txt"] }\n'
    )
    done = bench("run", write(tmp_path, board_text(arms)))
    assert done.returncode == 1
    assert "1 refused" in done.stdout
    run_dir = tmp_path / "runs" / "board" / PAPER / "cheat" / "1"
    record = json.loads((run_dir / "run.json").read_bytes())
    assert (record["status"], record["gradable"]) == ("refused", False)
    assert "truth.csv" in record["attempts"][0]["cause"]
    assert not (run_dir / "grade.json").exists()


@pytest.mark.parametrize("change", ["appended", "gzipped", "a table alone"])
def test_published_values_in_an_arms_files_are_refused_however_changed(
    bench: Bench, tmp_path: Path, change: str
) -> None:
    content = (open_paper(PAPER).root / "truth.csv").read_bytes()
    if change == "appended":
        content += b"one more line\n"
    elif change == "gzipped":
        content = gzip.compress(content)
    else:
        cells = open_paper(PAPER).tables[0].graded_cells
        content = "\n".join(str(cell.text) for cell in cells).encode()
    (tmp_path / "notes.dat").write_bytes(content)
    arms = (
        '[[arms]]\nname = "cheat"\nscaffold = "program"\n'
        'options = { command = "cat notes.dat", files = ["notes.dat"] }\n'
    )
    done = bench("run", write(tmp_path, board_text(arms)))
    assert "1 refused" in done.stdout
    record = json.loads(next((tmp_path / "runs").rglob("run.json")).read_bytes())
    assert "notes.dat holds published values of" in record["attempts"][0]["cause"]


def test_doing_nothing_until_the_limit_is_no_better_than_giving_up(
    bench: Bench, tmp_path: Path
) -> None:
    arms = (
        '[[arms]]\nname = "waits"\nscaffold = "program"\nlimits = { wall_seconds = 1 }\n'
        "options = { command = \"/analysis/bin/python -c 'import time; time.sleep(60)'\" }\n"
        '[[arms]]\nname = "gives_up"\nscaffold = "program"\n'
        "options = { command = \"/analysis/bin/python -c 'exit(1)'\" }\n"
    )
    assert bench("run", write(tmp_path, board_text(arms))).returncode == 0
    bench("store", "build", "runs/board")
    rows = json.loads(bench("leaderboard", "runs/board", "--json").stdout)["arms"]
    scores = {row["arm"]: row["score"] for row in rows}
    assert scores["waits"] == scores["gives_up"] == 0.0


def test_a_command_that_is_not_there_is_refused(bench: Bench, tmp_path: Path) -> None:
    arms = '[[arms]]\nname = "typo"\nscaffold = "program"\noptions = { command = "pyton x" }\n'
    done = bench("run", write(tmp_path, board_text(arms)))
    assert done.returncode == 1
    assert "1 refused" in done.stdout
    record = json.loads(next((tmp_path / "runs").rglob("run.json")).read_bytes())
    assert "pyton: No such file" in record["attempts"][0]["cause"]


def test_a_link_among_an_arms_files_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "link").symlink_to("/etc/passwd")
    arms = (
        '[[arms]]\nname = "p"\nscaffold = "program"\n'
        'options = { command = "x", files = ["mine"] }\n'
    )
    one_line(bench("run", write(tmp_path, board_text(arms))), "link", "plain file")


def test_a_report_beside_the_runs_is_no_run(bench: Bench, tmp_path: Path) -> None:
    bench("run", write(tmp_path, board_text()))
    assert bench("store", "build", "runs/board").returncode == 0
    assert bench("report", "runs/board", "--to", "runs/board/report").returncode == 0
    again = bench("store", "build", "runs/board")
    assert again.returncode == 0, again.stderr
    assert "0 problems" in again.stdout


def test_a_store_is_written_over_nothing_but_a_store(bench: Bench, tmp_path: Path) -> None:
    bench("run", write(tmp_path, board_text()))
    (tmp_path / "solve.py").write_text("mine")
    one_line(bench("store", "build", "runs/board", "--to", "solve.py"), "is no store")
    assert (tmp_path / "solve.py").read_text() == "mine"
    one_line(bench("store", "build", "runs/board", "--to", "."), "is a folder")
    one_line(bench("store", "build", "runs"), "no runs in it")
    bench("store", "build", "runs/board")
    one_line(bench("store", "sql", " ", "--store", "runs/board"), "no query")


def test_where_nothing_can_be_written_one_line_says_so(bench: Bench, tmp_path: Path) -> None:
    board = write(tmp_path, board_text())
    for place in ("/dev/null", "/proc"):
        done = bench("run", board, "--to", place)
        assert done.returncode == 3
        assert len(done.stderr.strip().splitlines()) == 1
        assert done.stderr.startswith("bench: ")


def test_infrastructure_failure_is_a_value_and_can_be_retried(bench: Bench, tmp_path: Path) -> None:
    """A program of ours that fails to build any jail, in the place of bubblewrap's."""
    arms = '[[arms]]\nname = "gone"\nscaffold = "null"\n'
    board = write(tmp_path, board_text(arms, infrastructure_retries=1))
    path = failing_bubblewrap(tmp_path)
    assert bench("run", board, PATH=path).returncode == 1
    run_dir = tmp_path / "runs" / "board" / PAPER / "gone" / "1"
    record = json.loads((run_dir / "run.json").read_bytes())
    assert (record["status"], record["gradable"]) == ("infra_failed", False)
    assert len(record["attempts"]) == 2
    assert "the jail could not be built: bwrap: out of luck" in record["attempts"][0]["cause"]
    assert not (run_dir / "grade.json").exists()
    assert "1 done, 0 to do" in bench("run", board).stdout
    assert "0 done, 1 to do" in bench("run", board, "--retry-failed", "--dry-run").stdout
    bench("run", board, "--retry-failed", PATH=path)
    record = json.loads((run_dir / "run.json").read_bytes())
    assert [one["number"] for one in record["attempts"]] == [1, 2, 3, 4]


# --------------------------------------------------------------------------- arms of others


SOLVER = """
import csv, json
from pathlib import Path
for path in Path("table_templates").glob("*.json"):
    table = json.loads(path.read_text())
    for cell in table["cells"]:
        if cell["metric"] == "n_obs":
            cell["value"] = 3010
            cell["text"] = "3,010"
    Path(path.name).write_text(json.dumps(table))
"""


def test_a_program_of_the_users(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "mine" / "lib").mkdir(parents=True)
    (tmp_path / "mine" / "solve.py").write_text("import sys; sys.path.append('mine/lib'); import s")
    (tmp_path / "mine" / "lib" / "s.py").write_text(SOLVER)
    arms = (
        '[[arms]]\nname = "mine"\nscaffold = "program"\n'
        'options = { command = "/analysis/bin/python mine/solve.py", files = ["mine"] }\n'
    )
    assert bench("run", write(tmp_path, board_text(arms))).returncode == 0
    grades = json.loads(next((tmp_path / "runs").rglob("grade.json")).read_bytes())
    cells = [cell for table in grades["papers"][0]["tables"] for cell in table["cells"]]
    counts = [cell for cell in cells if cell["metric"] == "n_obs"]
    assert counts
    assert {cell["reproduced"] for cell in counts} == {3010}
    assert {cell["reason"] for cell in cells if cell["metric"] != "n_obs"} == {"null"}


ARM = """
from bench.arms import PYTHON, Preparation

class Echo:
    name = "echo_arm"
    kind = "contestant"
    def prepare(self, context):
        assert context.truth is None and context.paper_folder is None
        return Preparation(argv=(PYTHON, "hello.py"), files={"hello.py": b"print('hello')"})
"""


def test_an_arm_of_another_distribution(bench: Bench, tmp_path: Path) -> None:
    """Registered by an entry point, as an installed distribution would."""
    info = tmp_path / "site" / "echo_arm-1.0.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "site" / "echo_arm.py").write_text(ARM)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: echo-arm\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[blindbench.arms]\necho_arm = echo_arm:Echo\nbroken = echo_arm:Missing\n"
    )
    site = str(tmp_path / "site")
    board = write(tmp_path, board_text('[[arms]]\nname = "echo_arm"\n'))
    assert bench("run", board, PYTHONPATH=site).returncode == 0
    said = next((tmp_path / "runs").rglob("raw/stdout")).read_text()
    assert said == "hello\n"
    broken = write(tmp_path, board_text('[[arms]]\nname = "broken"\n'), "broken.toml")
    one_line(bench("run", broken, PYTHONPATH=site), "'broken'", "cannot be loaded")


def test_status_counts_runs_by_arm(bench: Bench, tmp_path: Path) -> None:
    arms = '[[arms]]\nname = "null"\n[[arms]]\nname = "sleeper"\nlimits = { wall_seconds = 1 }\n'
    bench("run", write(tmp_path, board_text(arms)))
    shown = bench("status", "runs/board").stdout
    assert "nobody is running it here" in shown
    rows = json.loads(bench("status", "runs/board", "--json").stdout)
    assert {row["arm"]: row["status"] for row in rows} == {
        "null": "finished",
        "sleeper": "timed_out",
    }
    assert all(row["graded"] for row in rows)


def test_sources_that_changed_after_the_build_stop_a_run(bench: Bench, tmp_path: Path) -> None:
    paper = tmp_path / PAPER
    shutil.copytree(open_paper(PAPER).root, paper)
    board = write(tmp_path, board_text())
    assert bench("run", board, "--dry-run").returncode == 0
    (paper / "truth.csv").write_text((paper / "truth.csv").read_text() + "\n")
    one_line(bench("run", board, "--dry-run"), "truth.csv changed", "bench papers build")


def test_a_store_of_recalled_values_shows_them_by_itself(bench: Bench, tmp_path: Path) -> None:
    """Card's table is recalled only: an empty leaderboard would help nobody."""
    bench("run", write(tmp_path, board_text()))
    assert bench("store", "build", "runs/board").returncode == 0
    words = ["leaderboard", "runs/board", "--include-self-test", "--json"]
    board = json.loads(bench(*words).stdout)
    assert board["truth"] == "recalled"
    assert {row["arm"]: row["score"] for row in board["arms"]}["oracle"] == 5.0
    asked = json.loads(bench(*words, "--truth", "seen").stdout)
    assert asked["truth"] == "seen"
    assert {row["arm"]: row["score"] for row in asked["arms"]}["oracle"] is None
