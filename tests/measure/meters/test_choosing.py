"""What a bench asks for, against machines that have it or have it not."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from lpsched.measure.bench import Application, Bench, EnergyChoice
from lpsched.measure.machine import ONLY_LINUX, Machine, choose
from lpsched.measure.measurements import Meters
from lpsched.measure.meters.energy import RaplMeter, Zone
from lpsched.measure.meters.power import WattCommand, WattStream


def bench(energy: EnergyChoice | None = None, **options) -> Bench:
    asked = {"counters": "none", **options}
    return Bench("b", 2, (Application("a", ("true",)),), energy=energy or EnergyChoice("none"), **asked)


def wait_for(condition, seconds=20.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return bool(condition())


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def bare(tmp_path):
    """A machine that has nothing: no folder and no perf."""
    return Machine(
        tmp_path / "powercap", tmp_path / "cpu", str(tmp_path / "perf"), tmp_path / "cpuinfo", "x86_64", is_linux=True
    )


@pytest.fixture
def rich(bare, monkeypatch):
    """One that has RAPL, and cpufreq on two processors that share a core."""
    for file, text in (("name", "package-0"), ("energy_uj", "0"), ("max_energy_range_uj", "1000000000")):
        write(bare.powercap / "intel-rapl:0" / file, text)
    turns = iter(range(1_000_000))
    monkeypatch.setattr(Zone, "microjoules", lambda _: next(turns))
    for number in (0, 1):
        write(bare.processors / f"cpu{number}" / "topology" / "thread_siblings_list", "0-1")
        for file, khz in (("min", 800_000), ("max", 3_000_000)):
            write(bare.processors / f"cpu{number}" / "cpufreq" / f"cpuinfo_{file}_freq", str(khz))
            write(bare.processors / f"cpu{number}" / "cpufreq" / f"scaling_{file}_freq", str(khz))
    return bare


@pytest.mark.parametrize("kind", ["auto", "rapl"])
def test_rapl_is_taken_where_it_is(rich, kind):
    chosen = choose(bench(EnergyChoice(kind)), [0], machine=rich)
    assert isinstance(chosen.energy, RaplMeter)
    assert chosen.absent == ()
    assert chosen.meters(EnergyChoice(kind)) == Meters(
        "monotonic clock of the system", "RAPL package-0", "processor packages, without memory"
    )


@pytest.mark.parametrize("kind", ["auto", "rapl"])
def test_without_rapl_energy_is_absent_and_the_way_out_told(bare, kind):
    chosen = choose(bench(EnergyChoice(kind)), [0], machine=bare)
    assert chosen.energy is None
    (sentence,) = chosen.absent
    assert sentence.startswith(f"energy is not measured: there is no RAPL counter in {bare.powercap};")
    assert sentence.endswith("; a program that prints watts would do (energy: command)")
    assert chosen.meters(EnergyChoice(kind)) == Meters("monotonic clock of the system")


def test_what_is_not_asked_for_is_not_missed(bare):
    chosen = choose(bench(), [0], machine=bare)
    assert (chosen.energy, chosen.counters, chosen.clocks, chosen.absent) == (None, None, None, ())


@pytest.mark.parametrize(("kind", "meter"), [("command", WattCommand), ("stream", WattStream)])
def test_a_program_of_the_user_runs_in_the_folder_of_the_bench(bare, tmp_path, kind, meter):
    lasting = 5 if kind == "stream" else 0.05  # a stream that ends is reported as one that failed
    write(tmp_path / "watts.sh", f"#!/bin/sh\necho 50 W\nexec sleep {lasting}\n")
    (tmp_path / "watts.sh").chmod(0o755)
    choice = EnergyChoice(**{kind: ("./watts.sh",)}, every_seconds=0.5, covers="the whole node")
    chosen = choose(bench(choice), [0], folder=tmp_path, machine=bare)
    assert isinstance(chosen.energy, meter)
    assert chosen.energy.troubles == ()
    assert chosen.meters(choice).energy == f"{kind} watts.sh every 0.5 s"
    assert chosen.meters(choice).energy_covers == "the whole node"


def test_a_program_that_does_not_work_leaves_energy_absent_though_rapl_is_there(rich):
    chosen = choose(bench(EnergyChoice(command=("/bin/sh", "-c", "exit 3"))), [0], machine=rich)
    assert chosen.energy is None
    assert chosen.absent == (
        ("energy is not measured: the meter (command sh every 1 s) does not work, it ended with exit code 3"),
    )


def test_the_meter_runs_where_applications_do_not(bare, tmp_path):
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("one processor: a meter has to share it")
    script = f"grep Cpus_allowed_list /proc/self/status > {tmp_path}/allowed; echo 1"
    choice = EnergyChoice(command=("/bin/sh", "-c", script), every_seconds=0.01)
    chosen = choose(bench(choice), allowed[1:], machine=bare)
    (tmp_path / "allowed").unlink()
    with chosen.energy:
        assert wait_for(lambda: (tmp_path / "allowed").exists() and (tmp_path / "allowed").read_text())
    assert (tmp_path / "allowed").read_text().split()[1] == str(allowed[0])


def test_counters_are_absent_with_their_reason(bare):
    chosen = choose(bench(counters="auto"), [0], machine=bare)
    assert chosen.counters is None
    assert chosen.absent == (
        (
            "cache misses and instructions are not counted: perf stat does not work, it cannot be started"
            " (No such file or directory)"
        ),
    )


def counting(machine: Machine, vendor: str) -> Machine:
    lines = "99;ns;duration_time;99;100.00;;\\n1;;cache-misses:u;9;100.00;;\\n2;;instructions:u;9;100.00;;\\n"
    write(Path(machine.perf), f'#!/bin/sh\nprintf "{lines}" > $5\nshift 8\n"$@"\n')
    Path(machine.perf).chmod(0o755)
    write(machine.cpuinfo, f"vendor_id\t: {vendor}\n")
    return machine


def test_counters_are_named_where_they_count(bare):
    chosen = choose(bench(counters="auto"), [0], machine=counting(bare, "GenuineIntel"))
    assert chosen.absent == ()
    assert chosen.meters(EnergyChoice()).counters == "perf stat cache-misses:u / instructions:u"


def test_misses_of_another_level_than_the_last_are_named_so(bare):
    chosen = choose(bench(counters="auto"), [0], machine=counting(bare, "AuthenticAMD"))
    name = "perf stat cache-misses:u / instructions:u (misses of the L2 cache)"
    assert chosen.meters(EnergyChoice()).counters == name
    assert chosen.absent == (
        (
            "misses of the last level are not counted: what perf calls cache-misses are those of the L2 cache on"
            " this processor; there are more of them, so class_bounds may have to be higher"
        ),
    )


def test_the_clock_of_one_that_shares_the_core_is_set_too(rich):
    chosen = choose(bench(frequencies_mhz=(2000.0, 5000.0)), [0], machine=rich)
    assert chosen.absent == ("5000 MHz cannot be set: cpufreq offers 800 to 3000 MHz",)
    assert chosen.meters(EnergyChoice()).frequencies == "cpufreq, driver unknown"
    with chosen.clocks as clocks:
        clocks.set(2000.0)
        assert (rich.processors / "cpu1" / "cpufreq" / "scaling_max_freq").read_text() == "2000000"


def test_on_another_system_one_sentence_says_it_all(rich):
    other = Machine(rich.powercap, rich.processors, is_linux=False)
    chosen = choose(bench(EnergyChoice("auto"), counters="auto", frequencies_mhz=(2000.0,)), [0], machine=other)
    assert (chosen.energy, chosen.counters, chosen.clocks) == (None, None, None)
    assert chosen.absent == (ONLY_LINUX,)
