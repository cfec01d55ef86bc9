"""Why a program cannot be started and how it ended, in words; the end of a group."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lpsched.measure.corun import Program, end_group, how_it_ended, last_line, not_started, why_not_startable
from tests.measure.hostile import alive, new_token, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a bench runs on Linux")


def program(*command, folder="/", **environment):
    return Program("it", command, Path(folder), environment)


def test_a_program_is_looked_up_in_the_path_that_it_will_have(tmp_path):
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert why_not_startable(program("tool", PATH=str(tmp_path))) is None
    assert why_not_startable(program("tool")) == "cannot be started: there is no program 'tool' in PATH"


def test_a_program_with_a_slash_is_looked_up_from_its_folder(tmp_path):
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin" / "tool"
    tool.write_text("#!/bin/sh\n")
    asked = program("bin/tool", folder=tmp_path)
    assert why_not_startable(asked).endswith("not a program that we may run (Permission denied); chmod +x may help")
    tool.chmod(0o755)
    assert why_not_startable(asked) is None
    assert why_not_startable(program("./bin", folder=tmp_path)).startswith(
        "cannot be started: './bin' is not a program that we may run"
    )
    assert why_not_startable(program("./tool", folder=tmp_path)).startswith("cannot be started: no file './tool'")


def test_a_folder_that_is_not_there_is_named():
    words = "cannot be started: no folder '/no/such' to run in (No such file or directory)"
    assert why_not_startable(program("sh", folder="/no/such")) == words


def test_an_error_without_words_of_its_own_is_told_in_the_systems():
    assert not_started("program", errno.ELOOP, program("a/b")).startswith("cannot be started: 'a/b' (Too many")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, None),
        (1, "ended with exit code 1: why"),
        (128, "ended with exit code 128: why"),
        (139, "ended with exit code 139, by which a shell reports SIGSEGV: why"),
        (255, "ended with exit code 255: why"),
        (-9, "was ended by SIGKILL: why"),
        (-42, "was ended by signal 42: why"),
    ],
)
def test_an_end_is_told_by_its_code_or_signal_and_the_last_line(status, words):
    assert how_it_ended(status, "first\nwhy\n \n") == words


def test_a_last_line_is_cut_and_cannot_steer_a_terminal():
    assert last_line("x" * 201) == "x" * 200 + "..."
    assert last_line("x" * 200) == "x" * 200
    assert last_line("\x1b]0;title\x07safe") == "]0;titlesafe"
    assert last_line("") == ""


@pytest.mark.parametrize(
    ("code", "number"),
    [("sleep 60 & wait", signal.SIGTERM), ("trap '' TERM; sleep 60 & wait", signal.SIGKILL), ("sleep 60 & exit", 0)],
)
def test_a_group_ends_with_all_its_members(code, number):
    token = new_token()
    process = subprocess.Popen(["/bin/sh", "-c", code], env={"LPSCHED_TOKEN": token}, start_new_session=True)
    wait_until(lambda: len(alive(token)) > ("exit" not in code))
    end_group(process, grace_seconds=0.05)
    assert process.returncode == -number
    wait_until(lambda: not alive(token))
