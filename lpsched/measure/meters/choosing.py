"""Which meters a bench gets: what it asks for, against what the machine has.

energy      `auto`: RAPL where it can be read, else none; `rapl`, `command`, `stream`: that one, or none
counters    `auto`: perf stat where it counts, else none
clocks      those that cpufreq sets, of the frequencies asked for

Nothing here is an error: what is not there is absent, in a sentence.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lpsched.measure.measurements import Meters
from lpsched.measure.meters import energy as rapl
from lpsched.measure.meters import machine as cpufreq
from lpsched.measure.meters.machine import CPUINFO, IS_LINUX, PROCESSORS, allowed_processors, missed_level, siblings_of
from lpsched.measure.meters.perf_counters import PerfCounters, find_counters
from lpsched.measure.meters.power import WattCommand, WattStream

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from lpsched.measure.bench import Bench, EnergyChoice
    from lpsched.measure.meters.energy import EnergyMeter

TIME: Final = "monotonic clock of the system"
ONLY_LINUX: Final = "energy, counters and clocks are not measured: lpsched knows those of Linux alone"


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the machine shows its meters; tests bring a folder of their own."""

    powercap: Path = rapl.ROOT
    processors: Path = PROCESSORS
    perf: str | None = None  # the program; `None`: the one on the path
    cpuinfo: Path = CPUINFO
    architecture: str = platform.machine()
    is_linux: bool = IS_LINUX
    rapl_probe_seconds: float = rapl.PROBE_SECONDS


@dataclass(frozen=True, slots=True)
class Chosen:
    """The meters of a bench; what is `None` is not measured, and `absent` says why."""

    energy: EnergyMeter | None = None
    counters: PerfCounters | None = None
    clocks: cpufreq.Clocks | None = None
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
    bench: Bench,
    processors: Collection[int],
    *,
    folder: Path | None = None,
    machine: Machine = Machine(),  # noqa: B008 - frozen
) -> Chosen:
    """Try the meters that a bench asks for, and return those that work.

    Parameters
    ----------
    processors
        The logical processors where applications will run: their clocks are set, and the user's power meter
        runs on others where there are any.
    folder
        Where a command of the user's runs: that of the bench file.
    """
    if not machine.is_linux:
        return Chosen(absent=(ONLY_LINUX,))
    energy, no_energy = _energy(bench.energy, frozenset(processors), folder, machine)
    counters, no_counters = _counters(machine) if bench.counters == "auto" else (None, ())
    clocks, no_clocks = _clocks(bench, processors, machine) if bench.frequencies_mhz else (None, ())
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
    kind = WattCommand if choice.kind == "command" else WattStream
    meter = kind(
        choice.program, every_seconds=choice.every_seconds, folder=folder, processors=allowed_processors() - used
    )
    told = meter.probe()
    if isinstance(told, float):
        return meter, ()
    return None, (f"energy is not measured: the meter ({meter.name}) does not work, {told}",)


def _counters(machine: Machine) -> tuple[PerfCounters | None, tuple[str, ...]]:
    found = find_counters(machine.perf)
    if not isinstance(found, PerfCounters):
        return None, (f"cache misses and instructions are not counted: {found}",)
    level = missed_level(machine.cpuinfo, machine.architecture)
    if level is None:
        return found, ()
    remark = (
        f"misses of the last level are not counted: what perf calls cache-misses are those of {level} on this"
        " processor; there are more of them, so class_bounds may have to be higher"
    )
    return replace(found, level=level), (remark,)


def _clocks(
    bench: Bench, processors: Collection[int], machine: Machine
) -> tuple[cpufreq.Clocks | None, tuple[str, ...]]:
    sharing = {sibling for number in processors for sibling in siblings_of(number, machine.processors)}
    return cpufreq.find_clocks(sharing, bench.frequencies_mhz, machine.processors)
