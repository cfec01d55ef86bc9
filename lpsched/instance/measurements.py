"""What a bench found out about one type of machine: times, powers, memory intensity and degradation.

    seconds[a], watts[a]     the columns ETC and APC of this machine type: application a alone, by P-state
    degradation[a][b]        PD: how much longer a takes for each core that runs b, as a share of its own time
    memory class             I, II, III ... from calm to intensive; degradation also by class

These are what a bag or a facility needs. The evidence stands beside it: every setting with its spread, the
meters by name, what failed, and how well the additive model predicts larger groups. What was not measured is
absent. `measurements_door.py` reads a file of it; `measure/` makes one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import quote
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.plain_hash import plain_hash

if TYPE_CHECKING:
    from lpsched.instance.setting import Setting

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
