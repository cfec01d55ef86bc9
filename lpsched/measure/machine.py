"""The machine as a test bed: its meters, places for applications, and one run of a setting there."""

from __future__ import annotations

import contextlib
import platform
import tempfile
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from lpsched.errors import InputIssue, LpschedWarning, MeasureError
from lpsched.measure import probes
from lpsched.measure.corun import Ended, Program, corun, why_not_startable
from lpsched.measure.evidence import MEMORY_PROBE, PROBES, Sample, Setting
from lpsched.measure.measurements import MeasuredMachine, Meters
from lpsched.measure.meters import energy as rapl
from lpsched.measure.meters import machine as hardware
from lpsched.measure.meters.clocks import Clocks, find_clocks, restore_clocks
from lpsched.measure.meters.energy import EnergyMeter, Troubles, idle_watts
from lpsched.measure.meters.power import WattCommand, WattStream

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken
    from lpsched.measure.bench import Bench, EnergyChoice

# Which meters a bench gets: what it asks for, against what the machine has.
#
# energy      `auto`: RAPL where it can be read, else none; `rapl`, `command`, `stream`: that one, or none
# counters    `auto`: perf stat where it counts, else none
# clocks      those that cpufreq sets, of the frequencies asked for
#
# Nothing here is an error: what is not there is absent, in a sentence.
TIME: Final = "monotonic clock of the system"
ONLY_LINUX: Final = "energy, counters and clocks are not measured: lpsched knows those of Linux alone"


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the machine shows its meters; tests use a folder of their own."""

    powercap: Path = rapl.ROOT
    processors: Path = hardware.PROCESSORS
    perf: str | None = None  # the program; `None`: the one on the path
    cpuinfo: Path = hardware.CPUINFO
    architecture: str = platform.machine()
    is_linux: bool = hardware.IS_LINUX
    rapl_probe_seconds: float = rapl.PROBE_SECONDS


@dataclass(frozen=True, slots=True)
class Chosen:
    """The meters of a bench; what is `None` is not measured, and `absent` says why."""

    energy: EnergyMeter | None = None
    counters: hardware.PerfCounters | None = None
    clocks: Clocks | None = None
    absent: tuple[str, ...] = ()

    def meters(self, choice: EnergyChoice) -> Meters:
        """Name them, for the file of measurements."""
        return Meters(
            time=TIME,
            energy=None if self.energy is None else self.energy.name,
            energy_covers="" if self.energy is None else choice.covers or self.energy.covers,
            counters=None if self.counters is None else self.counters.name,
            frequencies=None if self.clocks is None else self.clocks.name,
        )


def choose(
    bench: Bench, processors: Collection[int], *, folder: Path | None = None, machine: Machine | None = None
) -> Chosen:
    """Try the meters that a bench asks for, and return those that work.

    Applications run on `processors`, whose clocks are set; the user's power meter runs on others where there are any,
    in `folder`, that of the bench file.
    """
    machine = machine or Machine()
    if not machine.is_linux:
        return Chosen(absent=(ONLY_LINUX,))
    energy, no_energy = _energy(bench.energy, frozenset(processors), folder, machine)
    counters, no_counters = _counters(machine) if bench.counters == "auto" else (None, ())
    clocks, no_clocks = None, tuple[str, ...]()
    sharing = {sibling for number in processors for sibling in hardware.siblings_of(number, machine.processors)}
    for sentence in restore_clocks(sharing, machine.processors):
        warnings.warn(sentence, LpschedWarning, stacklevel=2)
    if bench.frequencies_mhz:
        clocks, no_clocks = find_clocks(sharing, bench.frequencies_mhz, machine.processors)
    return Chosen(energy, counters, clocks, (*no_energy, *no_counters, *no_clocks))


def _energy(
    choice: EnergyChoice, used: frozenset[int], folder: Path | None, machine: Machine
) -> tuple[EnergyMeter | None, tuple[str, ...]]:
    if choice.kind == "none":
        return None, ()
    if choice.kind in {"auto", "rapl"}:
        zones = rapl.find_zones(machine.powercap, probe_seconds=machine.rapl_probe_seconds)
        if isinstance(zones, tuple):
            return rapl.RaplMeter(zones), ()
        return None, (f"energy is not measured: {zones}; a program that prints watts would do (energy: command)",)
    kind, others = WattCommand if choice.kind == "command" else WattStream, hardware.allowed_processors() - used
    meter = kind(choice.program, every_seconds=choice.every_seconds, folder=folder, processors=others)
    watts = meter.probe()
    if isinstance(watts, float):
        return meter, ()
    return None, (f"energy is not measured: the meter ({meter.name}) does not work, {watts}",)


def _counters(machine: Machine) -> tuple[hardware.PerfCounters | None, tuple[str, ...]]:
    found = hardware.find_counters(machine.perf)
    if not isinstance(found, hardware.PerfCounters):
        return None, (f"cache misses and instructions are not counted: {found}",)
    level = hardware.missed_level(machine.cpuinfo, machine.architecture)
    if level is None:
        return found, ()
    warning = (
        f"misses of the last level are not counted: what perf calls cache-misses are those of {level} on this"
        " processor; there are more of them, so class_bounds may have to be higher"
    )
    return replace(found, level=level), (warning,)


# Where applications run: the logical processors of each place.
#
# A bench names them, or says how many it wants. Then each place is one logical processor: the first of each
# core, in the order of the cores; only when there are more places than cores the second of each, and so on.
Places = tuple[tuple[int, ...], ...]


def choose_places(bench: Bench, allowed: Collection[int], root: Path = hardware.PROCESSORS) -> Places:
    """Return the places of a bench, those that it names or the first ones that are allowed, perhaps too few."""
    if bench.processors:
        return bench.processors
    rows = zip_longest(*hardware.physical_cores(allowed, root))
    return tuple((number,) for row in rows for number in row if number is not None)[: bench.at_once]


def issues_of_places(bench: Bench, allowed: Collection[int]) -> Iterator[InputIssue]:
    """Return what a bench asks for that this process may not use."""
    usable = f"at most {len(allowed)}, which is what this process may use (see 'taskset -p $$')"
    if not bench.processors and bench.at_once > len(allowed):
        yield InputIssue(("cores",), f"{bench.at_once}", usable, "ask for fewer, or allow more")
    for index, place in enumerate(bench.processors):
        for number in place:
            if number not in allowed:
                needed = f"one of {_listed(allowed)}, which this process may use (see 'taskset -p $$')"
                yield InputIssue(("cores", index), f"the processor {number}", needed, "name others, or allow it")


def shared_cores(places: Places, root: Path = hardware.PROCESSORS) -> Iterator[str]:
    """Say which places are on one core: what runs there shares more than memory."""
    for core in hardware.physical_cores([number for place in places for number in place], root):
        sharing = [place for place in places if not set(place).isdisjoint(core)]
        if len(sharing) > 1:
            numbers = ", ".join(str(number) for place in sharing for number in place)
            yield (
                f"the processors {numbers} share a core: what runs on one slows down what runs on the other "
                "not by memory alone"
            )


def _listed(numbers: Collection[int]) -> str:
    """Write numbers as the kernel does.

    >>> _listed({0, 1, 2, 5})
    '0-2, 5'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


# This machine as a test bed: one run of a setting, pinned to its places, with the readings of its meters.
#
# clock      is set before a run, where the setting has one, and given back in the end
# program    the application's own command, or a probe's; perf stat around it where it counts
# time       from the start of the measured program to its end; of the program in perf where perf says it
# joules     of exactly that time, by the meter that runs all along
PROBE_TIMEOUT_SECONDS: Final = 600.0
ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def programs_on(bench: Bench, folder: Path) -> dict[str, Program]:
    """Return the programs of a bench whose file is in `folder`, and the interference probes, by name."""
    found = {}
    for each in bench.applications:
        own, environment = (folder / (each.folder or "")).absolute(), dict(each.environment)
        found[each.name] = Program(each.name, each.command, own, environment, each.timeout_seconds)
    for name in PROBES:
        command = probes.command("memory" if name == MEMORY_PROBE else "compute")
        found[name] = Program(name, command, folder.absolute(), ONE_THREAD, PROBE_TIMEOUT_SECONDS)
    return found


def issues_here(bench: Bench, folder: Path) -> Iterator[InputIssue]:
    """Return what of a bench cannot be run on this machine: missing places and programs."""
    yield from issues_of_places(bench, hardware.allowed_processors())
    programs = programs_on(bench, folder)
    for index, application in enumerate(bench.applications):
        if why := why_not_startable(programs[application.name]):
            found = f"a command that {why}"
            yield InputIssue(("applications", index, "command"), found, "a program that can be run here", "correct it")


def require_linux() -> None:
    """Raise an error on other systems."""
    if not hardware.IS_LINUX:
        raise MeasureError(f"applications can be measured on Linux only, and this is {hardware.system_name()}")


class MachineTestBed:
    """The local machine; a context manager, within which its meters run.

    Commands run in `folder`, that of the bench file. The meters are by default those that the bench asks for and the
    machine has.
    """

    def __init__(self, bench: Bench, folder: Path, *, chosen: Chosen | None = None) -> None:
        require_linux()
        self._bench = bench
        self._programs = programs_on(bench, folder)
        places = choose_places(bench, hardware.allowed_processors())
        self._places = [frozenset(place) for place in places]
        self._chosen = chosen or choose(bench, {n for place in places for n in place}, folder=folder)
        self.machine = MeasuredMachine(hardware.processor_name(), hardware.system_name(), places)
        self.meters = self._chosen.meters(bench.energy)
        self.absent = self._chosen.absent  # what cannot be measured here, and why
        clocks = self._chosen.clocks
        self.frequencies_mhz = () if clocks is None else clocks.frequencies_mhz  # that can be set, fastest first
        self._troubles = Troubles()
        self._open = contextlib.ExitStack()
        self._counts = Path()

    @property
    def troubles(self) -> tuple[str, ...]:
        """What went wrong so far and is no failure of a run; each sentence once."""
        energy, clocks = self._chosen.energy, self._chosen.clocks
        return (
            *shared_cores(self.machine.cores),
            *(() if energy is None else energy.troubles),
            *(() if clocks is None else clocks.troubles),
            *self._troubles,
        )

    def __enter__(self) -> Self:
        """Start the meters."""
        with contextlib.ExitStack() as stack:
            self._counts = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "counts"
            if self._chosen.clocks is not None:
                stack.enter_context(self._chosen.clocks)
            if self._chosen.energy is not None:
                stack.enter_context(self._chosen.energy)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        """End the meters, and give the clocks back."""
        self._open.close()

    def warm_up(self, application: str, cancel: CancelToken) -> str | None:
        """Run a program once, unmeasured; return why it failed, or `None`."""
        ended = corun(self._programs[application], (), self._places, cancel, again=False)
        return None if ended is None else ended.failure

    def idle_watts(self, cancel: CancelToken) -> float | None:
        """Measure the idle machine at its own clock; `None` without a meter, or if it failed."""
        if self._chosen.energy is None:
            return None
        if self._chosen.clocks is not None:
            self._chosen.clocks.set(None)
        return idle_watts(self._chosen.energy, self._bench.energy.idle_seconds, cancel)

    def perform(self, setting: Setting, cancel: CancelToken) -> Sample | None:
        """Run a setting once; `None` if the token was over before the run had ended."""
        if self._chosen.clocks is not None and (why := self._chosen.clocks.set(setting.mhz)):
            return Sample(setting, None, failure=f"its clock could not be set: {why}")
        measured, *beside = (self._programs[name] for name in (setting.application, *setting.beside))
        mark = (lambda: None) if self._chosen.energy is None else self._chosen.energy.mark
        counters = self._chosen.counters
        self._counts.unlink(missing_ok=True)
        ended = corun(
            measured,
            beside,
            self._places,
            cancel,
            again=not setting.batch,
            wrap=None if setting.batch or counters is None else lambda command: counters.wrap(command, self._counts),
            on_start=mark,
            on_end=mark,
        )
        return None if ended is None else self._sample(setting, measured, ended)

    def _sample(self, setting: Setting, measured: Program, ended: Ended) -> Sample:
        if ended.left_behind:
            self._troubles.add(
                f"{setting.application} or one beside it left processes running when it ended, which were "
                "ended; if its work is done in them, its time is not that of the work: make it wait for them"
            )
        sample = Sample(setting, ended.seconds, restarts=ended.restarts, failure=ended.failure)
        if ended.begin is None or ended.end is None:
            return sample
        begin = ended.begin
        if self._chosen.counters is not None and not setting.batch:
            counts = self._chosen.counters.read(self._counts, measured.command, ended.errors)
            if counts.crash is not None:
                return replace(sample, seconds=None, failure=counts.crash)
            if counts.seconds is not None:
                begin = ended.end - counts.seconds
            sample = replace(sample, seconds=ended.end - begin, misses=counts.misses, instructions=counts.instructions)
        energy = self._chosen.energy
        return sample if energy is None else replace(sample, joules=energy.joules(begin, ended.end))
