"""One run of programs: pinned, timed, fed nothing, read little, and told in words when it fails."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import MeasureError
from lpsched.measure.corun import Program
from tests.measure.hostile import PLACES, PROCESSORS, alive, keepers_of, new_token, run, shell, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a bench runs on Linux")

ALLOWED = "grep Cpus_allowed_list /proc/self/status"


def allowed(place):
    return f"Cpus_allowed_list:\t{','.join(map(str, sorted(place)))}\n"


def test_time_runs_from_the_start_to_the_end_by_a_clock_that_we_share():
    before = time.monotonic()
    ended = run(shell("sleep 0.05"))
    after = time.monotonic()
    assert before < ended.begin < ended.end < after
    assert ended.seconds == ended.end - ended.begin >= 0.05
    assert (ended.failure, ended.restarts, ended.left_behind) == (None, 0, 0)


def test_programs_and_their_children_are_bound_to_their_places_and_we_are_not(tmp_path):
    mine = os.sched_getaffinity(0)
    both = f"{{ {ALLOWED}; sh -c '{ALLOWED}'; }}"
    beside = f"[ -e there ] || {{ {both} > part; mv part there; }}; sleep 0.02"
    measured = shell(f"until [ -e there ]; do sleep 0.01; done; {both} > here", folder=tmp_path)
    assert run(measured, shell(beside, folder=tmp_path)).failure is None
    assert (tmp_path / "here").read_text() == 2 * allowed(PLACES[0])
    assert (tmp_path / "there").read_text() == 2 * allowed(PLACES[1])
    assert os.sched_getaffinity(0) == mine


def test_a_place_of_several_processors_is_taken_whole(tmp_path):
    run(shell(f"{ALLOWED} > here", folder=tmp_path), places=PLACES[2:])
    listed = (tmp_path / "here").read_text().split()[1]
    ends = [part.split("-") for part in listed.split(",")]
    assert [n for part in ends for n in range(int(part[0]), int(part[-1]) + 1)] == PROCESSORS


def test_a_program_leads_a_session_of_its_own(tmp_path):
    run(shell("cut -d' ' -f 1,6 /proc/$$/stat > here", folder=tmp_path))  # its number, its session's
    process, session = (tmp_path / "here").read_text().split()
    assert process == session


def test_two_programs_may_share_a_place():
    assert run(shell("true"), shell("sleep 60"), places=2 * PLACES[:1]).failure is None


def test_a_program_runs_in_its_folder_with_our_environment_and_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("LPSCHED_OURS", "ours\udcff")  # not UTF-8
    monkeypatch.setenv("LPSCHED_TOKEN", "hidden")
    added = "added"
    code = 'pwd > here; printf "%s %s" "$LPSCHED_OURS" "$LPSCHED_TOKEN" >> here'
    assert run(shell(code, folder=tmp_path, token=added)).failure is None
    assert (tmp_path / "here").read_bytes() == f"{tmp_path}\n".encode() + b"ours\xff added"


def test_a_program_reads_nothing():
    assert run(shell("if read line; then exit 9; fi")).failure is None


def test_megabytes_of_output_neither_block_nor_are_kept():
    much = "head -c 3000000 /dev/zero"
    ended = run(shell(f"{much}; {much} | tr '\\0' x >&2; echo; echo last words >&2; exit 1"))
    assert ended.failure.startswith("ended with exit code 1: xxx")
    assert ended.failure.endswith("...")
    assert len(ended.errors) == 2000
    assert ended.errors.endswith("last words\n")


def test_errors_are_kept_of_a_run_that_ended_well():
    ended = run(shell("echo careful >&2"), shell("echo noise >&2; sleep 60"))
    assert (ended.failure, ended.errors) == (None, "careful\n")


def test_a_program_that_closes_its_stderr_runs_on():
    assert run(shell("exec 2>&-; sleep 0.05")).seconds >= 0.05


def test_a_child_that_keeps_the_pipe_open_does_not_hang_us_and_is_told():
    ended = run(shell("sleep 60 & exit 0"))
    assert ended.failure is None
    assert ended.seconds < 60
    assert ended.left_behind == 1


def test_a_child_that_ends_a_moment_later_is_not_told():
    # On a busy machine a moment may pass before it gets its turn; not five times.
    assert any(run(shell("sleep 0.02 & exit 0")).left_behind == 0 for _ in range(5))


def test_a_child_that_writes_on_for_ever_does_not_hang_us():
    assert run(shell("yes >&2 & sleep 0.05")).failure is None


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("echo first >&2; echo no input >&2; exit 3", "ended with exit code 3: no input"),
        ("kill -SEGV $$", "was ended by SIGSEGV"),
        ("kill -PIPE $$", "was ended by SIGPIPE"),  # Python ignores it, and what it starts must not
    ],
)
def test_a_failed_program_is_told_by_code_or_signal(code, words):
    ended = run(shell(code))
    assert (ended.failure, ended.seconds, ended.end) == (words, None, None)


def test_a_program_that_takes_too_long_is_ended():
    ended = run(shell("sleep 60", seconds=0.05))
    assert ended.failure == "took longer than 0.05 seconds"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot be started: './tool' is not a program (Exec format error); a script needs #! in its first line"),
        ("#!/no/such\n", "cannot be started: no file './tool', or no such program as its first line names, in '"),
    ],
)
def test_what_only_the_start_can_tell_is_told_in_words(tmp_path, text, words):
    tool = tmp_path / "tool"
    tool.write_text(text)
    tool.chmod(0o755)
    assert run(Program("it", ("./tool",), tmp_path)).failure.startswith(words)


def test_a_program_that_is_not_there_starts_none_of_the_others(tmp_path):
    beside = shell("echo > here", folder=tmp_path)
    ended = run(beside, Program("tool", ("no-such-tool",), tmp_path))
    assert ended.failure == "tool, beside it, cannot be started: there is no program 'no-such-tool' in PATH"
    assert not (tmp_path / "here").exists()


def test_a_processor_that_we_may_not_use_is_told():
    ended = run(shell("true"), places=[frozenset({PROCESSORS[0], 100_000})])
    assert ended.failure.startswith("cannot be pinned to its processors (")


def test_those_beside_are_started_again_until_the_measured_one_has_ended(tmp_path):
    counted = shell("echo >> runs; sleep 0.02", folder=tmp_path)
    waits = shell("until [ $(cat runs | wc -l) -ge 4 ]; do sleep 0.01; done", folder=tmp_path)
    ended = run(waits, counted)
    runs = len((tmp_path / "runs").read_text())
    assert ended.restarts >= 3
    assert runs <= ended.restarts + 1  # the last may have been ended before it wrote


def test_those_beside_run_before_the_measured_one_is_started():
    mine, theirs = new_token(), new_token()
    seen = []
    run(
        shell("true", token=mine),
        shell("sleep 60", token=theirs),
        on_start=lambda: seen.append((bool(alive(mine)), bool(alive(theirs)), time.monotonic())),
        on_end=lambda: seen.append((bool(alive(mine)), None, time.monotonic())),
    )
    assert [some[:2] for some in seen] == [(False, True), (False, None)]


def test_meters_hear_of_the_start_before_it_and_of_the_end_after_it():
    heard = []
    ended = run(
        shell("true"), on_start=lambda: heard.append(time.monotonic()), on_end=lambda: heard.append(time.monotonic())
    )
    assert heard[0] < ended.begin < ended.end < heard[1]


def test_meters_hear_of_no_end_of_a_failed_run():
    heard = []
    run(shell("exit 1"), on_start=lambda: heard.append("start"), on_end=lambda: heard.append("end"))
    assert heard == ["start"]


def test_a_counter_wraps_the_measured_command_alone(tmp_path):
    ended = run(
        shell("exit 4", folder=tmp_path),
        shell("sleep 60"),
        wrap=lambda command: ("/bin/sh", "-c", 'echo wrapped >> here; exec "$@"', "sh", *command),
    )
    assert ended.failure == "ended with exit code 4"
    assert (tmp_path / "here").read_text() == "wrapped\n"


@pytest.mark.parametrize("codes", [("true", "sleep 0.1"), ("sleep 0.1", "true")], ids=["first", "last"])
def test_a_batch_lasts_until_the_last_has_ended_and_starts_each_once(tmp_path, codes):
    ended = run(*(shell(f"echo >> runs; {code}", folder=tmp_path) for code in codes), again=False)
    assert ended.seconds >= 0.1
    assert ended.restarts == 0
    assert (tmp_path / "runs").read_text() == "\n\n"


def test_a_batch_begins_after_its_meters():
    heard = []
    ended = run(shell("true"), shell("true"), again=False, on_start=lambda: heard.append(time.monotonic()))
    assert heard[0] < ended.begin


@pytest.mark.parametrize("again", [True, False])
def test_one_beside_that_fails_makes_the_run_fail_and_is_named(again):
    ended = run(shell("sleep 60"), shell("sleep 60"), shell("echo no >&2; exit 2", name="mesh"), again=again)
    assert ended.failure == "mesh, beside it, ended with exit code 2: no"
    assert ended.errors == ""


def test_one_beside_that_takes_too_long_makes_the_run_fail():
    assert run(shell("sleep 60"), shell("sleep 60", name="mesh", seconds=0.05)).failure == (
        "mesh, beside it, took longer than 0.05 seconds"
    )


def test_one_beside_that_is_nothing_but_starts_makes_the_run_fail():
    ended = run(shell("sleep 60"), Program("true", ("true",), Path("/")))
    assert re.match(r"true, beside it, is so short that [3-9]\d% of its time are starts", ended.failure)
    assert ended.restarts == 99


def test_a_run_that_is_stopped_or_out_of_time_gives_no_answer():
    stopped, limited, token = CancelToken(), CancelToken(0.2), new_token()
    assert run(shell("sleep 60", token=token), cancel=stopped, on_start=stopped.stop) is None
    assert run(shell("sleep 60", token=token), cancel=limited) is None
    assert not alive(token)


def test_a_run_that_has_ended_is_told_though_the_watch_is_over_by_then():
    cancel = CancelToken()
    assert run(shell("true"), cancel=cancel, on_end=cancel.stop).failure is None


def test_an_error_of_a_meter_passes_and_leaves_nothing():
    token = new_token()
    with pytest.raises(ZeroDivisionError):
        run(shell("true"), shell("sleep 60", token=token), on_start=lambda: 1 / 0)
    assert not alive(token)


def test_too_few_places_are_refused():
    with pytest.raises(MeasureError, match=r"^2 programs need as many places, and there are 1$"):
        run(shell("true"), shell("true"), places=PLACES[:1])


def test_another_system_is_refused(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(MeasureError, match=r"^applications can be measured on Linux only, and this is darwin$"):
        run(shell("true"))


def test_a_python_that_cannot_be_started_is_told(monkeypatch):
    monkeypatch.setattr("sys.executable", "/no/such/python")
    with pytest.raises(MeasureError, match=r"^no process can be started to watch over .*/no/such/python"):
        run(shell("true"))


@pytest.mark.parametrize(
    ("number", "how"), [(signal.SIGKILL, "was ended by SIGKILL"), (signal.SIGTERM, "left")], ids=["kill", "term"]
)
def test_a_keeper_that_is_lost_is_told_and_takes_its_programs_along(number, how):
    token = new_token()

    def lose():
        os.kill(keepers_of(os.getpid())[0], number)

    with pytest.raises(MeasureError, match=rf"^the process that watches over the applications {how}; look for"):
        run(shell("sleep 60", token=token), shell("exec sleep 60", token=token), on_start=lose)
    wait_until(lambda: not alive(token))


def test_a_run_leaves_no_pipe_open_and_no_child():
    pipes = len(list(Path("/proc/self/fd").iterdir()))
    run(shell("true"), shell("sleep 0.01"))
    run(shell("exit 1"))
    assert len(list(Path("/proc/self/fd").iterdir())) == pipes
    assert not keepers_of(os.getpid())
