"""Measurements: settings, runs, and memory classes of applications."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import quote
from lpsched.model.fields import FrozenDict, plain_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing to be measured, several times.

    Attributes
    ----------
    application
        The one whose time is taken, on the first core.
    beside
        Those that run on the next cores, started again whenever they end, so that the load stays the same;
        empty: it runs alone. Sorted, so that equal settings are equal.
    mhz
        The clock that the cores are set to; `None`: whatever the machine chooses.
    batch
        All are started at once and none again, and the time is that until the last has ended. This is what
        tells how much energy running together saves; `application` is then just the first in order.

    >>> Setting("canneal", ("bodytrack", "canneal")).together
    ('bodytrack', 'canneal', 'canneal')
    """

    application: str
    beside: tuple[str, ...] = ()
    mhz: float | None = None
    batch: bool = False

    @property
    def together(self) -> tuple[str, ...]:
        """Everything that runs, sorted."""
        return tuple(sorted((self.application, *self.beside)))

    def __str__(self) -> str:
        """Name it for messages and tables.

        >>> str(Setting("a", ("b", "c"), 1700.0)), str(Setting("a", ("b",), batch=True)), str(Setting("a"))
        ('a beside b, c at 1700 MHz', 'a with b, until all have ended', 'a alone')
        """
        clock = "" if self.mhz is None else f" at {self.mhz:g} MHz"
        if self.batch:
            return f"{self.application} with {', '.join(self.beside)}, until all have ended{clock}"
        beside = f"beside {', '.join(self.beside)}" if self.beside else "alone"
        return f"{self.application} {beside}{clock}"


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of a setting; what no meter told is `None`.

    Attributes
    ----------
    seconds
        From the start of the application until it ended; `None` if the run failed.
    joules
        Of everything that the meter sees, from the start to the end of the application.
    misses, instructions
        Last-level cache misses and instructions of the measured application alone.
    restarts
        How often one of those beside it was started again.
    failure
        Why there is no time, in words: a time limit, an exit code, a signal, a program that is not there.
    """

    setting: Setting
    seconds: float | None
    joules: float | None = None
    misses: float | None = None
    instructions: float | None = None
    restarts: int = 0
    failure: str | None = None


# What a bench found out about one type of machine: times, powers, memory intensity and degradation.
#
#   seconds[a], watts[a]     the columns ETC and APC of this machine type: application a alone, by P-state
#   degradation[a][b]        PD: how much longer a takes for each core that runs b, as a share of its own time
#   memory class             I, II, III ... from calm to intensive; degradation also by class
#
# These are what a bag or a facility needs. The evidence stands beside it: every setting with its spread, the
# meters by name, what failed, and how well the additive model predicts larger groups. What was not measured
# is absent. `measurements_reading.py` reads a file of it; `measure/` makes one.
MEASUREMENTS_FORMAT: Final = "lpsched-measurements/1"
BY_MISSES: Final = "misses per instruction"
BY_SLOWDOWN: Final = "slowdown beside companions"
NOT_TOLD: Final = "not told"  # of a machine or a clock, in a file that somebody wrote by hand

Degradation = FrozenDict[str, FrozenDict[str, float]]  # of whom, beside whom


def _nothing() -> FrozenDict[str, Any]:
    return FrozenDict({})


@dataclass(frozen=True, slots=True)
class Spread:
    """Repeated measurements of one number: their mean, its confidence interval, their deviation and how many.

    `low` and `high` are those of the mean by Student's distribution; `None` of a single measurement, which
    has no deviation either.
    """

    mean: float
    count: int
    deviation: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """A setting with what its runs told."""

    setting: Setting
    seconds: Spread
    joules: Spread | None = None
    intensity: Spread | None = None  # last-level cache misses per instruction


@dataclass(frozen=True, slots=True)
class Failed:
    """A setting that could not be measured, and why."""

    setting: Setting
    reason: str


@dataclass(frozen=True, slots=True)
class MeasuredApplication:
    """An application and how memory-intensive it is.

    Attributes
    ----------
    memory_class
        Its class, `None` where nothing tells it.
    classified_by
        BY_MISSES or BY_SLOWDOWN.
    intensity
        Misses per instruction alone, the mean over clocks.
    suffers, causes
        The slowdown beside the memory companion, and that of the companion beside the application, both
        compared with the compute companion in its place, as a share of what the memory companion does to
        itself.
    """

    name: str
    command: tuple[str, ...]
    count: int = 1
    memory_class: str | None = None
    classified_by: str | None = None
    intensity: float | None = None
    suffers: float | None = None
    causes: float | None = None


@dataclass(frozen=True, slots=True)
class Meters:
    """What was measured with, by name; `None` where nothing was."""

    time: str
    energy: str | None = None
    energy_covers: str = ""
    counters: str | None = None
    frequencies: str | None = None


@dataclass(frozen=True, slots=True)
class MeasuredMachine:
    """The machine that was measured."""

    processor: str
    system: str
    cores: tuple[tuple[int, ...], ...]  # the places where applications ran


@dataclass(frozen=True, slots=True)
class Saving:
    """Energy of applications one after another and all at once.

    Static power runs for as long as anything does. One after another it is paid for the sum of times,
    together for the longest: with P_0 the idle power, t and E times and energies alone, T the time together,

        apart = sum E,     predicted = P_0 T + sum (E - P_0 t)

    Attributes
    ----------
    joules_apart, joules_together
        Measured.
    joules_predicted
        By the formula; `None` without idle power.
    """

    together: tuple[str, ...]
    mhz: float | None
    joules_apart: float
    joules_together: float
    joules_predicted: float | None = None

    @property
    def joules_saved(self) -> float:
        """What running together saves."""
        return self.joules_apart - self.joules_together

    @property
    def share_saved(self) -> float:
        """The same as a share of the energy apart; 0 where the meter saw none."""
        return self.joules_saved / self.joules_apart if self.joules_apart else 0.0


@dataclass(frozen=True, slots=True)
class AdditiveCheck:
    """How well sums of pairwise degradations predict a larger group: times as multiples of the time alone."""

    setting: Setting
    measured: float
    predicted: float

    @property
    def error(self) -> float:
        """How far the prediction is off, as a share of the measured time; positive: too slow."""
        return self.predicted / self.measured - 1


@dataclass(frozen=True, slots=True)
class Measurements:
    """What is known about one type of machine.

    Attributes
    ----------
    frequencies_mhz
        The clocks, fastest first; each is a P-state. Empty: one mode, at the machine's own clock.
    seconds, watts
        By application, one number for each clock (one in all where there are none); `watts` are those of all
        that the meter sees, idle power included, and empty without a meter.
    idle_watts
        Of the idle machine: the mean of before and after.
    degradation
        In full, by applications; a pair that was not measured is absent.
    class_degradation
        By memory class: means over the pairs measured.
    measured, failed
        Every setting; in a file without them nothing is drawn.
    absent
        What was asked for and could not be measured, each in a sentence with its reason.
    """

    name: str
    machine_type: str
    machine: MeasuredMachine
    meters: Meters
    applications: tuple[MeasuredApplication, ...]
    seconds: FrozenDict[str, tuple[float, ...]]
    watts: FrozenDict[str, tuple[float, ...]] = field(default_factory=_nothing)
    frequencies_mhz: tuple[float, ...] = ()
    idle_watts: float | None = None
    idle_watts_before: float | None = None
    idle_watts_after: float | None = None
    degradation: Degradation = field(default_factory=_nothing)
    class_degradation: Degradation = field(default_factory=_nothing)
    measured: tuple[Measured, ...] = ()
    failed: tuple[Failed, ...] = ()
    savings: tuple[Saving, ...] = ()
    additive: tuple[AdditiveCheck, ...] = ()
    confidence: float = 0.95
    taken: str = ""  # date and time, ISO 8601
    lpsched: str = ""  # the version that measured
    description: str = ""
    absent: tuple[str, ...] = ()

    @property
    def p_states(self) -> tuple[str, ...] | None:
        """Names of the P-states; `None` where no clock was set."""
        return tuple(f"{mhz:g}MHz" for mhz in self.frequencies_mhz) or None

    @property
    def content_hash(self) -> str:
        """The SHA-256, in hexadecimal, of everything that they say."""
        return plain_hash(self, MEASUREMENTS_FORMAT)

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but suspect: power of work below that of doing nothing."""
        idle = self.idle_watts
        return tuple(
            f"the watts of {quote(name)} ({min(row):g}) are below idle_watts ({idle:g})"
            for name, row in self.watts.items()
            if idle is not None and min(row) < idle
        )


# Names of memory-intensity classes, from calm (I) to intensive, and of groups by the classes in them.
#
#     bounds u_1 < ... < u_n     below u_1 is class I; from u_k up and below u_{k+1} is class k + 1
#
# A value equal to a bound belongs to the upper class. Groups are named as in tables 8.3 and 8.4 of the
# thesis.
NUMERALS: Final = {"C": 100, "XC": 90, "L": 50, "XL": 40, "X": 10, "IX": 9, "V": 5, "IV": 4, "I": 1}
MOST_CLASSES: Final = 399  # what these numerals can write


def class_of(value: float, bounds: Sequence[float]) -> str:
    """Return the class of a value.

    >>> class_of(2.25e-2, (1e-5, 1e-3)), class_of(1e-5, (1e-5, 1e-3)), class_of(7.44e-6, (1e-5, 1e-3))
    ('III', 'II', 'I')
    """
    rest, name = bisect_right(bounds, value) + 1, ""
    assert rest <= MOST_CLASSES, f"{len(bounds)} bounds"
    for numeral, worth in NUMERALS.items():
        name += numeral * (rest // worth)
        rest %= worth
    return name


def class_rank(name: str) -> int:
    """Return the number that a class's name says, to sort by; 0 for a name that is no number.

    >>> [class_rank(name) for name in ("I", "IV", "XII", "calm", "")]
    [1, 4, 12, 0, 0]
    """
    worths = [NUMERALS.get(letter, 0) for letter in name]
    if not all(worths):
        return 0
    return sum(-own if own < after else own for own, after in zip_longest(worths, worths[1:], fillvalue=0))


def group_name(classes: Iterable[str]) -> str:
    """Name applications that run together by how many there are of each class, the most intensive first.

    >>> group_name(["III", "III"]), group_name(["II", "III"])
    ('2 Intensity III', '1 Intensity III and 1 Intensity II')
    >>> group_name(["I", "III", "I", "II"])
    '1 Intensity III, 1 Intensity II, and 2 Intensity I'
    """
    found = sorted(Counter(classes).items(), key=lambda each: (-class_rank(each[0]), each[0]))
    names = [f"{count} Intensity {name}" for name, count in found]
    if len(names) > 2:  # noqa: PLR2004 - a list with commas
        return ", ".join(names[:-1]) + f", and {names[-1]}"
    return " and ".join(names)
