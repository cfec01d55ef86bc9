"""Five programs on nine desktop computers of 2012: a stand-in for measurements that are not published.

Friese's thesis of 2015 (tables 5.1 and 5.2) grows its data sets from benchmarks of these programs on these
processors, but prints neither seconds nor watts. The numbers here are **not measured**. They come from what
is generally known of the processors, and from assumptions, by one formula:

    one   = work per clock x gigahertz with one core busy
    all   = work per clock x gigahertz with all cores busy x (cores + gain x (threads - cores))
    s     = work x serial share / one                  seconds with one core busy
    p     = work x (1 - serial share) / all            seconds with all cores busy
    f     = fixed                                      seconds of disk or graphics card, the same everywhere
    seconds = s + p + f

    load  = (s (0.15 + 0.85 / cores) + p + 0.15 f) / (s + p + f)      share of the processor's full power
    watts = (60 + board + power x load + graphics x f / seconds) / 0.87

Facts: cores, threads, gigahertz (with turbo) and thermal design power. Assumptions: work per clock (Sandy
Bridge is 1), the gain of a second thread, what programs need, 60 W for board, memory, disk and an idle
graphics card (more for two chipsets), the graphics card's power, 15 % of the processor's power at rest, a
power supply of 87 %. An overclocked processor draws power as its clock to the power of 2.5.

The assumptions were chosen so that what the thesis says of its measurements holds here too (above all the
AMD processors' work per clock and the FX's board): the i7 3770K needs the least energy for most programs,
both AMD processors need the most for programs with threads, and games wait for the graphics card.
'FX-8159' is printed so in the thesis; there is no such processor, and the facts are those of the FX-8150.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.generate.bags import six_digits
from lpsched.model.table import Table

BASE_WATTS: Final = 60.0
RESTING_SHARE: Final = 0.15
SUPPLY_EFFICIENCY: Final = 0.87
OVERCLOCKING_POWER: Final = 2.5
TASKS_EACH: Final = 50


@dataclass(frozen=True, slots=True)
class Processor:
    """A desktop computer, named by its processor."""

    cores: int
    threads: int
    all_gigahertz: float
    one_gigahertz: float
    work_per_clock: float
    watts: float
    board_watts: float = 0.0

    def clocked(self, gigahertz: float) -> Processor:
        """Return it overclocked, always."""
        watts = self.watts * (gigahertz / self.all_gigahertz) ** OVERCLOCKING_POWER
        return Processor(self.cores, self.threads, gigahertz, gigahertz, self.work_per_clock, watts, self.board_watts)


@dataclass(frozen=True, slots=True)
class Program:
    """What a program needs: work in gigahertz-seconds of a Sandy Bridge core."""

    work: float
    serial_share: float
    thread_gain: float
    fixed_seconds: float
    graphics_watts: float = 0.0

    def on(self, processor: Processor) -> tuple[float, float]:
        """Return seconds and watts."""
        extra = self.thread_gain * (processor.threads - processor.cores)
        one = processor.work_per_clock * processor.one_gigahertz
        every = processor.work_per_clock * processor.all_gigahertz * (processor.cores + extra)
        serial, parallel = self.work * self.serial_share / one, self.work * (1 - self.serial_share) / every
        seconds = serial + parallel + self.fixed_seconds
        one_core = RESTING_SHARE + (1 - RESTING_SHARE) / processor.cores
        load = (serial * one_core + parallel + RESTING_SHARE * self.fixed_seconds) / seconds
        graphics = self.graphics_watts * self.fixed_seconds / seconds
        inside = BASE_WATTS + processor.board_watts + processor.watts * load + graphics
        return six_digits(seconds), six_digits(inside / SUPPLY_EFFICIENCY)


I7_3960X: Final = Processor(6, 12, 3.6, 3.9, 1.0, 130, 20)
I7_3770K: Final = Processor(4, 8, 3.7, 3.9, 1.05, 77)
PROCESSORS: Final = {
    "AMD A8-3870k": Processor(4, 4, 3.0, 3.0, 0.65, 100),
    "AMD FX-8159": Processor(8, 8, 3.6, 4.2, 0.45, 125, 15),
    "Intel Core i3 2120": Processor(2, 4, 3.3, 3.3, 1.0, 65),
    "Intel Core i5 2400S": Processor(4, 4, 2.6, 3.3, 1.0, 65),
    "Intel Core i5 2500K": Processor(4, 4, 3.4, 3.7, 1.0, 95),
    "Intel Core i7 3960X": I7_3960X,
    "Intel Core i7 3960X @ 4.2 GHz": I7_3960X.clocked(4.2),
    "Intel Core i7 3770K": I7_3770K,
    "Intel Core i7 3770K @ 4.3 GHz": I7_3770K.clocked(4.3),
}
PROGRAMS: Final = {
    "C-Ray": Program(620, 0.0, 0.3, 0),
    "7-Zip Compression": Program(640, 0.05, 0.3, 2),
    "Warsow": Program(75, 1.0, 0.0, 45, 70),
    "Unigine Heaven": Program(25, 1.0, 0.0, 150, 110),
    "Timed Linux Kernel Compilation": Program(1250, 0.04, 0.2, 4),
}


def desktop_bag() -> Bag:
    """Return one computer of each kind and fifty runs of each program; machines that are done are off."""
    pairs = [[program.on(processor) for processor in PROCESSORS.values()] for program in PROGRAMS.values()]
    return Bag(
        "desktop-5x9",
        tuple(MachineType(name=name, count=1) for name in PROCESSORS),
        tuple(TaskType(name=name, count=TASKS_EACH) for name in PROGRAMS),
        Table.of([[seconds for seconds, _ in row] for row in pairs]),
        Table.of([[watts for _, watts in row] for row in pairs]),
    )
