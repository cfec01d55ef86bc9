"""Faults while files are written: signals, a full disk, missing rights, closed pipes, two writers, low limits."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from lpsched.cli.console import Terminated, orderly_ends
from lpsched.io.content import whole_file, write_files
from lpsched.studies.running import run_study
from tests.studies.declared import study_file

ROOT = Path(__file__).parents[2]
TINY, CLUSTERS = (str(ROOT / "instances" / name) for name in ("tiny.yaml", "clusters-small.yaml"))
LPSCHED = [sys.executable, "-m", "lpsched"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
IS_ROOT = getattr(os, "geteuid", lambda: 1)() == 0
pytestmark = pytest.mark.skipif(os.name == "nt", reason="other signals, rights and limits")
only_root = pytest.mark.skipif(not IS_ROOT, reason="only root can become another user, or mount a small disk")


def call(*arguments, **options):
    environment = options.pop("env", ENVIRONMENT)
    return subprocess.run(
        [*LPSCHED, *map(str, arguments)], capture_output=True, text=True, check=False, env=environment, **options
    )


def leftovers(folder):
    return [path.name for path in Path(folder).rglob(".lpsched-*")]


# Signals
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("writer", ["whole_file", "write_files"])
def test_a_signal_while_a_file_is_written_removes_the_temporary_one(tmp_path, monkeypatch, number, code, writer):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def interrupted(*_):
        assert leftovers(tmp_path)
        os.kill(os.getpid(), number)

    def write():
        with orderly_ends():
            if writer == "whole_file":
                with whole_file(path) as file:
                    file.write(b"new")
                    interrupted()
            else:
                monkeypatch.setattr("lpsched.io.content._take_rights", interrupted)
                write_files({path: b"new"})

    with pytest.raises(Terminated) as end:
        write()
    assert end.value.code == code
    assert (path.read_text(), leftovers(tmp_path)) == ("old", [])
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_second_signal_does_not_interrupt_cleanups():
    steps: list[object] = []

    def work():
        with orderly_ends():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                steps.append("not reached")
            finally:
                for number in (signal.SIGTERM, signal.SIGHUP):
                    os.kill(os.getpid(), number)
                    steps.append(number)

    with pytest.raises(Terminated, match="15"):
        work()
    assert steps == [signal.SIGTERM, signal.SIGHUP]


def test_a_signal_while_compiled_code_calls_back_ends_the_command_all_the_same():
    dropping = ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGTERM))
    steps = []

    def work():
        with orderly_ends():
            dropping()
            steps.append("dropped")
            time.sleep(30)
            steps.append("not reached")

    with pytest.raises(Terminated, match="15"):
        work()
    assert steps == ["dropped"]
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_signal_that_is_ignored_as_with_nohup_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with orderly_ends():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def expanding(folder):
    """Begin to write the many rows of a schedule; return the process once its temporary file is there."""
    bag, plan = folder / "bag.yaml", folder / "plan.json"
    bag.write_text("format: lpsched-bag/1\nname: b\nmachine_types: [{name: m, count: 9}]\n"
                   "task_types: [{name: t, count: 9000000}]\nseconds: [[1.0]]\n")  # fmt: skip
    assert call("solve", bag, "-o", plan, "--effort", "fast").returncode == 0
    command = [*LPSCHED, "expand", str(bag), str(plan), "-o", str(folder / "rows.csv")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    until = time.monotonic() + 60
    while not leftovers(folder):
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.005)
    return process


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_signal_to_expand_leaves_nothing_behind(tmp_path, number, code):
    process = expanding(tmp_path)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert said == ("lpsched: interrupted\n" if code == 130 else f"lpsched: ended by {number.name}\n")
    assert not (tmp_path / "rows.csv").exists()
    assert leftovers(tmp_path) == []


@pytest.mark.slow
def test_kill_9_leaves_no_half_written_target(tmp_path):
    process = expanding(tmp_path)
    process.kill()
    process.communicate()
    assert not (tmp_path / "rows.csv").exists()
    assert len(leftovers(tmp_path)) == 1, "which the docs say"


# Full disk
@contextmanager
def small_disk(folder, size="1m"):
    """Mount a file system of this size; skip where this is not permitted."""
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)  # noqa: S607


FULL = {
    "-o": ("solve", TINY, "-o", "plan.json"),
    "rows": ("solve", TINY, "-o", "plan.csv"),
    "page": ("solve", TINY, "--effort", "fast", "--report", "page.html"),
    "figure": ("solve", TINY, "--effort", "fast", "--figure", "figure.svg"),
    "certificate": ("certify", TINY, "-o", "proof.json"),
    "sidecars": ("convert", CLUSTERS, "-o", "c.yaml"),
    "rows of a trace": ("simulate", CLUSTERS, "--scheduler", "fcfs", "-o", "plan.swf"),
    "population": ("front", TINY, "--scheduler", "nsga2", "--generations", "2", "--state", "state.npz"),
    "study": ("study", "run", "STUDY", "-o", "runs.jsonl", "--jobs", "1"),
}


@only_root
@pytest.mark.rotate(3)
@pytest.mark.parametrize("name", FULL)
def test_on_a_full_disk_nothing_half_written_is_left(tmp_path, name):
    study = study_file(tmp_path)
    with small_disk(tmp_path / "disk") as disk:
        (disk / "ballast").write_bytes(b"x" * 2**19)
        with (disk / "ballast").open("ab", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(b"x" * 4096)
            except OSError:
                pass
        done = call(*(str(study) if word == "STUDY" else word for word in FULL[name]), cwd=disk)
        assert done.returncode == 2, done.stderr
        assert re.search("No space left on device|would fill the disk", done.stderr)
        assert "Traceback" not in done.stderr
        left = {path.name: path.stat().st_size for path in disk.iterdir() if path.name != "ballast"}
        assert left in ({}, {"runs.jsonl": 0}), "lines are added to: none was"


@only_root
def test_a_study_on_a_disk_that_becomes_full_goes_on_when_there_is_room(tmp_path):
    study = study_file(tmp_path)
    with small_disk(tmp_path / "disk", "16k") as disk:
        lines = disk / "runs.jsonl"
        (disk / "ballast").write_bytes(b"x" * 8192)
        done = call("study", "run", study, "-o", lines, "--jobs", "1")
        assert (done.returncode, "No space left on device; make room" in done.stderr) == (2, True)
        assert lines.read_bytes().endswith(b"\n")
        (disk / "ballast").unlink()
        shutil.move(lines, lines := tmp_path / "runs.jsonl")
        summary = run_study(study, lines, resume=True)
        assert summary.found > 0
        assert summary.found + summary.made == 8


# Rights
@only_root
def test_another_user_in_a_read_only_folder_gets_one_message(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o755)
    (folder / "old.json").write_text("old")
    (folder / "old.json").chmod(0o644)
    made_here = itertools.takewhile(lambda each: each.name.startswith(("pytest-", "popen-")), tmp_path.parents)
    for each in (tmp_path, *made_here):  # two of them, or three where several processes test
        each.chmod(0o755)
    code = """
import os, sys
from pathlib import Path
from lpsched.errors import OutputError
from lpsched.io.content import AddedLines, LineKind, whole_file, write_files
os.setgroups([]); os.setgid(65534); os.setuid(65534)  # after the imports: this Python may be root's alone
folder, kind = Path(sys.argv[1]), LineKind("run", "lines", "lpsched study run", ("f",))
for write in (
    lambda: write_files({folder / "new.json": b"x"}),
    lambda: write_files({folder / "old.json": b"x"}),
    lambda: whole_file(folder / "new.json").__enter__(),
    lambda: AddedLines(folder / "new.jsonl", kind, resume=False),
):
    try:
        print(write(), "written")
    except OutputError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"cannot write {folder}/new.json: Permission denied; choose a folder that you may write to",
        f"cannot write {folder}/old.json: it is read-only; choose another name",
        f"cannot write {folder}/new.json: Permission denied; choose a folder that you may write to",
        f"cannot write {folder}/new.jsonl: Permission denied; choose a folder that you may write to",
    ]
    assert [path.name for path in folder.iterdir()] == ["old.json"]


# Closed pipes
@pytest.mark.slow
@pytest.mark.parametrize("words", ["schema bag", f"show {TINY}", f"solve {TINY} --json", f"price {TINY} --json"])
def test_head_ends_a_command_quietly(words):
    command = f'"{sys.executable}" -m lpsched {words} | head -1 > /dev/null; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=ENVIRONMENT)  # noqa: S607
    assert done.returncode in (0, 141), "a short answer fits into the pipe"
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "number"),
    [
        (["--version"], signal.SIGINT),
        (["schema", "bag"], signal.SIGHUP),
        (["schema", "--json"], signal.SIGTERM),
        (["verify", TINY, "--json"], signal.SIGTERM),
        (["verify", TINY, "--json"], signal.SIGINT),
    ],
)
def test_a_signal_ends_a_command_whose_reader_has_stopped_reading(words, number):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 512)
    os.set_blocking(writer, True)
    code = f"import sys; from lpsched.cli.main import main; print('loaded', file=sys.stderr, flush=True); main({words})"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, env=ENVIRONMENT)
    os.close(writer)
    assert process.stderr.readline() == b"loaded\n"
    time.sleep(1.0)  # now it waits for its reader
    assert process.poll() is None
    process.send_signal(number)
    try:
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
        os.close(reader)
    assert process.returncode == 128 + number
    assert b"Traceback" not in said


# Two writers
def test_of_two_writers_of_one_file_one_wins_whole(tmp_path):
    path = tmp_path / "file"
    code = (
        "import sys; from pathlib import Path; from lpsched.io.content import write_files\n"
        "for _ in range(50): write_files({Path(sys.argv[1]): sys.argv[2].encode() * 1_000_000})"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, str(path), x], env=ENVIRONMENT) for x in "ab"]
    seen = set()
    while any(process.poll() is None for process in processes):
        content = path.read_bytes() if path.exists() else b"a" * 1_000_000
        assert len(content) == 1_000_000
        assert len(set(content)) == 1
        seen.add(content[:1])
    assert [process.returncode for process in processes] == [0, 0]
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


# Low limits, and an environment without HOME
@pytest.mark.parametrize("files", [12, 20])
def test_few_open_files_are_one_message_or_an_answer(tmp_path, files):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    done = call("solve", TINY, "--effort", "fast", "-o", tmp_path / "plan.json", preexec_fn=limit)
    assert done.returncode in (0, 1, 2)
    assert "Traceback" not in done.stderr
    assert leftovers(tmp_path) == []
    assert (tmp_path / "plan.json").exists() == (done.returncode == 0)


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [600, 1000, 2000])
def test_little_address_space_leaves_nothing_half_written(tmp_path, megabytes):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20,) * 2)

    done = call("solve", TINY, "--effort", "fast", "-o", tmp_path / "plan.json", preexec_fn=limit)
    assert leftovers(tmp_path) == []
    assert (tmp_path / "plan.json").exists() == (done.returncode == 0)


def test_without_home_a_command_answers(tmp_path):
    environment = {key: value for key, value in ENVIRONMENT.items() if key not in ("HOME", "XDG_STATE_HOME")}
    done = call("solve", TINY, "--effort", "fast", "-o", tmp_path / "plan.json", env=environment)
    assert (done.returncode, done.stderr) == (0, "")


LOST = """
import sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as signal:  # as compiled code of packages does
                raise ImportError("numpy._core.multiarray failed to import") from signal
sys.meta_path.insert(0, Interrupted())
try:
    exec(sys.argv[2])
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("numba", "import lpsched.jit"),
        ("pymoo.algorithms.moo", "import lpsched.evolve.nsga2"),
        ("distributed", "import lpsched.studies.dask_executor"),
        ("pandas", "import lpsched.model.results as r; r.frame_of((), ())"),
        ("matplotlib", "import lpsched.io.figure_files as f; f.load_matplotlib()"),
        ("jinja2", "import lpsched.io.figure_files as f; f.load_jinja()"),
        ("pyarrow", "import lpsched.io.parquet as p; p.load_arrow('this')"),
        ("pulp", "import lpsched.lp.solvers as s; s._pulp()"),
        ("casadi", "import lpsched.lp.smooth as s; s.SmoothProgram()"),
        ("cupy", "import lpsched.lp.program as p; p.array_module(p.Device.CUDA)"),
    ],
)
def test_ctrl_c_while_a_package_is_loaded_is_not_taken_for_a_missing_package(package, code):
    command = [sys.executable, "-c", LOST, package, code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
