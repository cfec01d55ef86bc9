"""The command by subprocess: pipes, signals, folders, encodings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import SOUND

INSTANCES = Path(__file__).parent.parent.parent / "instances"
LPSCHED = [sys.executable, "-m", "lpsched"]


def call(*arguments, **options):
    return subprocess.run([*LPSCHED, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


def test_solve_from_any_folder(tmp_path):
    done = call("solve", INSTANCES / "tiny.yaml", "--objective", "makespan", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["value"] == 12.0
    assert done.stderr == ""


def test_a_reader_that_goes_away_ends_us_quietly():
    with subprocess.Popen([*LPSCHED, "schema", "bag"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


@pytest.mark.rotate(1)
@pytest.mark.parametrize(
    ("redirection", "code"), [(">&-", 2), ("2>&-", 0), (">&- 2>&-", 2), ("> /dev/full", 2), ("2> /dev/full", 0)]
)
@pytest.mark.parametrize("flag", ["", "--json"])
def test_a_closed_or_full_output_is_no_traceback(redirection, code, flag):
    if "full" in redirection and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    command = f'"{sys.executable}" -m lpsched solve "{INSTANCES / "tiny.yaml"}" {flag} {redirection}'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert ("cannot print the answer: No space left on device" in done.stderr) == (redirection == "> /dev/full")
    assert ("cannot print the answer: stdout is closed" in done.stderr) == (redirection == ">&-")


@pytest.mark.rotate(1)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_in_the_middle_of_a_long_answer_is_told_by_the_exit_code(unbuffered):
    # 2,000 prices are some 300 kB, more than a pipe holds; one line of it is read
    command = [*LPSCHED, "price", str(INSTANCES / "tiny.yaml"), "--effort", "fast", "--points", "2000", "--json"]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1) == b"{"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


def test_a_message_that_nobody_can_hear_leaves_the_exit_code():
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    command = f'"{sys.executable}" -m lpsched show nope.yaml 2> /dev/full'
    assert subprocess.run(command, shell=True, check=False).returncode == 2  # noqa: S602


def test_no_traceback_for_bad_input(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_bytes(bytes(range(256)))
    done = call("solve", path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_an_ascii_terminal_gets_codes_for_letters_it_lacks(tmp_path):
    path = tmp_path / "b.json"
    path.write_text(json.dumps(SOUND | {"name": "blåbær"}))
    done = call("solve", path, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "bl\\xe5b\\xe6r" in done.stdout
    done = call("solve", path, "--json", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert json.loads(done.stdout)["instance"]["name"] == "blåbær"


@pytest.mark.rotate(1)
@pytest.mark.parametrize("colour", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_pipe_gets_no_colours_and_no_cut_lines(tmp_path, colour):
    path = tmp_path / "b.json"
    path.write_text(json.dumps(SOUND | {"name": "n" * 200}))
    done = call("show", path, env=os.environ | {"COLUMNS": "40"} | colour)
    assert "n" * 200 in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send to another process")
def test_ctrl_c_ends_with_130(tmp_path):
    path = tmp_path / "slow.yaml"
    path.write_text("format: lpsched-bag/1\nname: slow\nseconds:\n" + "  - [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]\n" * 100_000)
    process = subprocess.Popen(
        [*LPSCHED, "solve", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(2.0)  # it is reading by now, for some seconds
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err) == ("", "lpsched: interrupted\n")
