"""A command and a stream that print watts, from their first word to their end."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lpsched.cancellation import CancelToken
from lpsched.measure.meters.energy import idle_watts
from lpsched.measure.meters.power import Answer, WattCommand, WattStream

if TYPE_CHECKING:
    from lpsched.measure.meters.power import SampledMeter

HANG_SECONDS = 20.0


def command(script: str, **options) -> WattCommand:
    return WattCommand(("/bin/sh", "-c", script), **{"every_seconds": 0.01, **options})


def stream(script: str, **options) -> WattStream:
    return WattStream(("/bin/sh", "-c", script), **{"every_seconds": 0.01, **options})


def wait_for(condition) -> bool:
    end = time.monotonic() + HANG_SECONDS
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return bool(condition())


def told(meter: SampledMeter) -> int:
    return len(meter.samples.within(0.0, time.monotonic()))


def is_running(number: str) -> bool:
    return Path("/proc", number.strip()).exists()


FOREVER = "while :; do echo 50 W; sleep 0.01; done"


@pytest.mark.parametrize("meter", [command("echo 50 W"), stream(FOREVER)], ids=["command", "stream"])
def test_a_constant_power_times_the_seconds_is_the_energy(meter):
    with meter:
        assert wait_for(lambda: told(meter) > 3)
        end = time.monotonic()
        first = meter.samples.within(0.0, end)[0][0]
        assert meter.joules(first - 0.5, end) == pytest.approx(50.0 * (end - first + 0.5))
    assert meter.troubles == ()


@pytest.mark.parametrize("meter", [command("echo 50 W"), stream(FOREVER)], ids=["command", "stream"])
def test_nothing_is_collected_or_left_running_after_the_end(meter):
    with meter:
        assert wait_for(lambda: told(meter) > 0)
    assert not meter._thread.is_alive()  # noqa: SLF001


def test_a_stream_is_gone_after_the_end(tmp_path):
    with stream(f"echo $$ > {tmp_path}/number; {FOREVER}") as meter:
        assert wait_for(lambda: told(meter) > 0)
        number = (tmp_path / "number").read_text()
        assert is_running(number)
    assert not is_running(number)


def test_a_command_that_hangs_does_not_delay_the_end(tmp_path):
    with command(f"echo $$ > {tmp_path}/number; exec sleep 1000") as meter:
        assert wait_for(lambda: (tmp_path / "number").exists() and (tmp_path / "number").read_text().strip())
    assert not is_running((tmp_path / "number").read_text())
    assert meter.troubles == ()  # it was we who ended it


def test_a_failing_call_is_told_once_and_the_next_may_go_well(tmp_path):
    script = f"[ -e {tmp_path}/works ] && echo 70 && exit; echo no device >&2; exit 1"
    with command(script) as meter:
        assert wait_for(lambda: meter.troubles)
        (tmp_path / "works").touch()
        assert wait_for(lambda: told(meter) > 0)
    assert meter.troubles == (f"the power meter ({meter.name}) failed: it ended with exit code 1: no device",)


def test_a_stream_that_ends_is_told_and_started_again():
    with stream("echo 50 W; exit 4") as meter:
        assert wait_for(lambda: told(meter) > 1)
    assert meter.troubles == (f"the power meter ({meter.name}) failed: it ended with exit code 4",)


def test_a_stream_that_talks_without_end_is_heard_now_and_then():
    with stream("exec yes 50 W") as meter:
        assert wait_for(lambda: told(meter) > 2)
        begin = meter.samples.within(0.0, time.monotonic())[0][0]
        time.sleep(0.1)
        end = time.monotonic()
        # At most one sample for each pause of 0.02 s, however many thousand lines were printed.
        assert told(meter) <= (end - begin) / 0.02 + 2
    assert meter.troubles == ()


def test_a_stream_that_ends_while_a_child_holds_its_pipe_has_ended():
    with stream("sleep 1000 & echo 50 W; exit 4") as meter:
        assert wait_for(lambda: told(meter) > 1)


def test_a_heading_is_no_failure():
    with stream("echo 'power.draw [W]'; sleep 0.05; echo 50 W; sleep 1000") as meter:
        assert wait_for(lambda: told(meter) > 0)
    assert meter.troubles == ()


def test_a_line_that_is_no_power_is_told_and_the_others_count():
    with stream("while :; do echo 40 W; sleep 0.03; echo hello; sleep 0.03; echo; done") as meter:
        assert wait_for(lambda: told(meter) > 1 and meter.troubles)
    assert meter.troubles == (
        f"the power meter ({meter.name}) failed: it printed no number, 'hello'; let it print watts, such as 231.5",
    )


def test_of_lines_that_come_together_only_the_last_counts():
    with stream("printf '10 W\\n20 W\\n30 W\\n'; sleep 1000") as meter:
        assert wait_for(lambda: told(meter) > 0)
        assert [watts for _, watts in meter.samples.within(0.0, time.monotonic())] == [30.0]


def test_a_line_in_two_pieces_is_one_line():
    with stream("printf 12; sleep 0.05; echo 3 W; sleep 1000") as meter:
        assert wait_for(lambda: told(meter) > 0)
        assert meter.samples.within(0.0, time.monotonic())[0][1] == 123.0


def test_runs_shorter_than_the_interval_are_told_once():
    meter = command("echo 1", every_seconds=2.0)
    assert meter.joules(1.0, 1.5) is None
    assert meter.joules(2.0, 2.5) is None
    assert meter.troubles == (
        (
            "the energy of some runs is not known: they were shorter than the interval of the meter"
            f" ({meter.name}), which reported no power while they ran; measure longer runs, or ask more often"
            " (energy: every_seconds)"
        ),
    )


def test_a_meter_that_fell_silent_during_a_run_is_told():
    meter = command("echo 1", every_seconds=2.0)
    meter.samples.add(1.0, 50.0)
    assert meter.joules(0.0, 100.0) is None
    assert meter.troubles == (
        f"the energy of some runs is not known: the meter ({meter.name}) was silent for more than 6 s while they ran",
    )


def test_it_runs_on_the_processors_given(tmp_path):
    processor = max(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    script = f"grep Cpus_allowed_list /proc/self/status > {tmp_path}/allowed; echo 1"
    with command(script, processors=frozenset({processor})) as meter:
        assert wait_for(lambda: told(meter) > 0)
    assert (tmp_path / "allowed").read_text().split() == ["Cpus_allowed_list:", str(processor)]
    assert os.sched_getaffinity(0) == before


def test_a_meter_that_cannot_go_on_says_so():
    with command("echo 1", processors=frozenset({10**6})) as meter:
        assert wait_for(lambda: meter.troubles)
    assert meter.troubles[0].startswith(f"the power meter ({meter.name}) failed: it is not asked any more (")


@pytest.mark.parametrize("make", [command, stream])
def test_a_trial_tells_the_watts_or_what_is_wrong(make):
    assert make("echo 50 W; sleep 0.01").probe() == 50.0
    assert make("exit 3").probe() == "it ended with exit code 3"
    assert type(make(""))(("/no/meter",), every_seconds=1.0).probe() == (
        "it cannot be started (No such file or directory)"
    )


def test_a_command_that_prints_no_power_fails_its_trial():
    assert command("echo hello").probe().startswith("it printed no number, 'hello'")


def test_a_stream_that_prints_no_power_fails_its_trial():
    assert stream("while :; do echo hello; sleep 0.03; done").probe().startswith("it printed no number, 'hello'")


def test_a_stream_that_prints_a_line_for_each_of_two_parts_is_refused():
    why = stream("while :; do printf '65 W\\n70 W\\n'; sleep 0.05; done").probe()
    assert re.fullmatch(
        r"it printed \d+ lines at once; let it print one power at a time: add them up, if they are of several parts,"
        r" or put stdbuf -oL before it",
        why,
    )


def test_a_stream_whose_first_power_comes_with_a_heading_is_taken():
    assert stream("printf 'power\\n65 W\\n'; sleep 0.2; echo 66 W; sleep 1000").probe() == 65.0


def test_the_answer_of_a_command_counts_for_the_middle_of_the_call(monkeypatch):
    answer = Answer("50 W", "", begin=10.0, end=14.0)
    monkeypatch.setattr("lpsched.measure.meters.power.ask", lambda *_, **__: answer)
    meter = command("")
    meter.probe()
    assert meter.samples.within(0.0, 99.0) == [(12.0, 50.0)]


def test_a_stream_that_keeps_its_lines_back_is_given_up(monkeypatch):
    monkeypatch.setattr("lpsched.measure.meters.power.FIRST_SECONDS", 0.1)
    assert stream("sleep 1000").probe() == "it printed no line within 0.11 s; stdbuf -oL before it may help"


def test_names_tell_the_program_and_how_often_but_no_password():
    meter = WattCommand(("/opt/ipmi-watts.sh", "-P", "secret"), every_seconds=2.0)
    assert meter.name == "command ipmi-watts.sh every 2 s"
    assert WattStream(("nvidia-smi",), every_seconds=0.5).name == "stream nvidia-smi every 0.5 s"


class TestIdlePower:
    def test_it_is_the_mean_over_the_seconds(self):
        with command("echo 50 W") as meter:
            assert idle_watts(meter, 0.2, CancelToken()) == pytest.approx(50.0)

    def test_there_is_none_when_the_meter_does_not_tell(self):
        assert idle_watts(command("echo 1"), 0.01, CancelToken()) is None

    def test_there_is_none_when_the_watch_is_over_first(self):
        cancel = CancelToken()
        cancel.stop()
        begin = time.monotonic()
        assert idle_watts(command("echo 1"), 1000.0, cancel) is None
        assert time.monotonic() - begin < HANG_SECONDS
