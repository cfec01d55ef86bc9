"""Runs on this machine, with meters whose numbers are known."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import MeasureError
from lpsched.measure.bench import Application, Bench, EnergyChoice
from lpsched.measure.evidence import Setting
from lpsched.measure.machine import Chosen, MachineTestBed, issues_here, programs_on
from lpsched.measure.meters import machine as hardware
from lpsched.measure.meters.machine import Counts
from lpsched.model.fields import FrozenDict

FIRST = min(os.sched_getaffinity(0))
TWO_PLACES = ((FIRST,), (FIRST,))  # on a machine of one core, too


@dataclass
class SteadyMeter:
    """Ten watts, always."""

    name: str = "steady"
    covers: str = ""
    troubles: tuple[str, ...] = ()
    told: list[str] = field(default_factory=list)
    asked: list[tuple[float, float]] = field(default_factory=list)

    def __enter__(self):
        self.told.append("on")
        return self

    def __exit__(self, *_):
        self.told.append("off")

    def mark(self):
        self.told.append("mark")

    def joules(self, begin, end):
        self.asked.append((begin, end))
        return 10.0 * (end - begin)


@dataclass
class FakeClocks:
    name: str = "cpufreq"
    frequencies_mhz: tuple[float, ...] = (2000.0, 1000.0)
    troubles: tuple[str, ...] = ()
    broken: float | None = None
    told: list[object] = field(default_factory=list)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.told.append("back")

    def set(self, mhz):
        self.told.append(mhz)
        return "it is stuck" if self.broken is not None and mhz == self.broken else None


@dataclass
class FakeCounters:
    """Counts that a wrapped command leaves in a file: misses, instructions, seconds."""

    crash: str | None = None
    name: str = "fake counters"
    wrapped: list[tuple[str, ...]] = field(default_factory=list)

    def wrap(self, command, file):
        self.wrapped.append(command)
        return ("/bin/sh", "-c", f'test ! -e {file} && "$@" && echo counted > {file}', "sh", *command)

    def read(self, file, command, errors):
        assert errors == ""
        assert command[0] == "/bin/sh", "the application's own command"
        assert file.read_text() == "counted\n"
        return Counts(5.0, 1000.0, 0.001, self.crash)


def application(name, code, **how):
    return Application(name, ("/bin/sh", "-c", code), **how)


def stage(*applications, chosen=None, folder="/", **how):
    made = Bench.model_construct(**dict(Bench("b", 2, applications, **how)) | {"cores": TWO_PLACES})
    return MachineTestBed(made, Path(folder), chosen=chosen or Chosen())


def test_a_run_tells_its_time_and_the_energy_of_exactly_that_time():
    meter = SteadyMeter()
    with stage(application("nap", "sleep 0.02"), chosen=Chosen(energy=meter)) as machine:
        sample = machine.perform(Setting("nap"), CancelToken())
    assert sample.failure is None
    assert sample.seconds >= 0.02
    assert sample.joules == pytest.approx(10.0 * sample.seconds)
    assert (sample.misses, sample.instructions, sample.restarts) == (None, None, 0)
    assert meter.told == ["on", "mark", "mark", "off"]


def test_counts_are_taken_from_the_counters_and_the_time_without_their_start():
    meter = SteadyMeter()
    with stage(application("nap", "sleep 0.02"), chosen=Chosen(energy=meter, counters=FakeCounters())) as machine:
        samples = [machine.perform(Setting("nap"), CancelToken()) for _ in range(2)]  # each has a file of its own
    for sample, (begin, end) in zip(samples, meter.asked, strict=True):
        assert (sample.misses, sample.instructions) == (5.0, 1000.0)
        assert sample.seconds == pytest.approx(0.001)
        assert end - begin == pytest.approx(0.001)
        assert sample.joules == pytest.approx(0.01)


def test_a_crash_that_only_the_counters_see_is_a_failure():
    counters = FakeCounters(crash="was ended by SIGSEGV")
    with stage(application("nap", ":"), chosen=Chosen(counters=counters)) as machine:
        sample = machine.perform(Setting("nap"), CancelToken())
    assert (sample.seconds, sample.failure) == (None, "was ended by SIGSEGV")


def test_a_batch_lasts_until_the_last_has_ended_and_is_not_counted():
    short, long = application("short", "sleep 0.01"), application("long", "sleep 0.15")
    counters = FakeCounters()
    with stage(short, long, chosen=Chosen(counters=counters)) as machine:
        beside = machine.perform(Setting("long", ("short",)), CancelToken())
        batch = machine.perform(Setting("long", ("short",), batch=True), CancelToken())
        other = machine.perform(Setting("short", ("long",), batch=True), CancelToken())
    assert beside.misses == 5.0
    assert beside.restarts >= 1  # short was started again
    assert (batch.misses, batch.restarts) == (None, 0)
    assert counters.wrapped == [long.command]
    assert min(batch.seconds, other.seconds) >= 0.15


def test_the_clock_of_a_setting_is_set_and_given_back_in_the_end():
    clocks, meter = FakeClocks(), SteadyMeter()
    chosen = Chosen(energy=meter, clocks=clocks)
    with stage(application("nap", ":"), chosen=chosen, energy=EnergyChoice(idle_seconds=0.1)) as machine:
        assert machine.frequencies_mhz == (2000.0, 1000.0)
        machine.perform(Setting("nap", (), 1000.0), CancelToken())
        assert machine.idle_watts(CancelToken()) == pytest.approx(10.0)
    assert clocks.told == [1000.0, None, "back"]


def test_a_clock_that_cannot_be_set_fails_the_run_and_nothing_is_started(tmp_path):
    touch = application("touch", f"touch {tmp_path}/ran")
    with stage(touch, chosen=Chosen(clocks=FakeClocks(broken=1000.0))) as machine:
        sample = machine.perform(Setting("touch", (), 1000.0), CancelToken())
    assert sample.failure == "its clock could not be set: it is stuck"
    assert not (tmp_path / "ran").exists()


def test_commands_run_in_their_folder_with_their_environment(tmp_path):
    (tmp_path / "data").mkdir()
    told = application(
        "told", "pwd > where; echo $WORD > word", folder="data", environment=FrozenDict({"WORD": "given"})
    )
    with stage(told, folder=tmp_path) as machine:
        assert machine.warm_up("told", CancelToken()) is None
    assert (tmp_path / "data" / "where").read_text() == f"{tmp_path}/data\n"
    assert (tmp_path / "data" / "word").read_text() == "given\n"


def test_a_warm_up_that_fails_says_why():
    with stage(application("bad", "echo no input >&2; exit 3")) as machine:
        assert machine.warm_up("bad", CancelToken()) == "ended with exit code 3: no input"


def test_a_run_that_fails_has_no_time_and_no_energy():
    with stage(application("bad", "exit 3"), chosen=Chosen(energy=SteadyMeter())) as machine:
        sample = machine.perform(Setting("bad"), CancelToken())
    assert (sample.seconds, sample.joules, sample.failure) == (None, None, "ended with exit code 3")


def test_a_watch_that_is_over_leaves_no_sample():
    cancel = CancelToken()
    cancel.stop()
    with stage(application("nap", "sleep 60"), chosen=Chosen(energy=SteadyMeter())) as machine:
        assert machine.perform(Setting("nap"), cancel) is None
        assert machine.warm_up("nap", cancel) is None
        assert machine.idle_watts(cancel) is None


def test_without_a_meter_there_is_no_idle_power():
    with stage(application("nap", ":")) as machine:
        assert machine.idle_watts(CancelToken()) is None


def test_what_an_application_leaves_running_is_told_once():
    with stage(application("daemon", "sleep 60 &")) as machine:
        for _ in range(2):
            assert machine.perform(Setting("daemon"), CancelToken()).failure is None
        told = [each for each in machine.troubles if each.startswith("daemon or one beside it left processes")]
    assert len(told) == 1


def test_companions_are_there_by_name():
    programs = programs_on(Bench("b", 1, (application("nap", ":"),)), Path("/"))
    assert {name: program.command[-1] for name, program in programs.items()} == {
        "nap": ":",
        "memory-companion": "memory",
        "compute-companion": "compute",
    }


def test_programs_that_are_not_there_are_told_with_their_place(tmp_path):
    made = Bench(
        "b",
        1,
        (application("fine", ":"), Application("gone", ("no-such-program",)), application("lost", ":", folder="no")),
    )
    gone, lost = issues_here(made, tmp_path)
    assert (gone.path, lost.path) == (("applications", 1, "command"), ("applications", 2, "command"))
    assert gone.got == "a command that cannot be started: there is no program 'no-such-program' in PATH"
    assert f"no folder '{tmp_path}/no' to run in" in lost.got


def test_the_machine_says_what_and_where_it_is():
    machine = stage(application("nap", ":")).machine
    assert machine.cores == TWO_PLACES
    assert machine.system.endswith(os.uname().machine)
    assert machine.processor


def test_other_systems_are_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(hardware, "IS_LINUX", False)
    with pytest.raises(MeasureError, match="can be measured on Linux only, and this is"):
        stage(application("nap", ":"))


def test_the_module_is_loaded_where_there_is_no_affinity():
    # What would be asked of the system on Windows or macOS must not be asked when lpsched is imported.
    code = "import os, sys; del os.sched_getaffinity, os.sched_setaffinity; import lpsched.measure.session"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
