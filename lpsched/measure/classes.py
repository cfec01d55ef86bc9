"""Memory intensity: by cache misses per instruction, or by what applications and companions do to each other.

Counted    the mean over clocks of last-level cache misses per instruction alone, held against `class_bounds`.
           This is table 8.2 of the thesis.

Not        t(x|y) is the mean time of x beside y, M the memory-bound companion and C the compute-bound one:
counted
           own     = t(M|M) / t(M|C) - 1            what M does to itself
           suffers = (t(a|M) / t(a|C) - 1) / own    what M does to a
           causes  = (t(M|a) / t(M|C) - 1) / own    what a does to M
           share   = max(suffers, causes)           held against `share_bounds`

C stands where M would: both keep a core busy, so that clocks, heat and the scheduler do the same to either
time and only memory makes the difference. M itself would suffer and cause 1, and C cause 0.

The larger of both counts, because an application that streams through memory slows others and hardly waits
itself, and one that lives in a shared cache waits and slows hardly anybody; their mean would call both calm.
The price is that two shares that are nearly 0 lean upwards a little, by about half of their noise.

Half widths of confidence intervals, as far as first-order terms go: of a ratio r = m_1 / m_2 of mean times
r sqrt((h_1 / m_1)^2 + (h_2 / m_2)^2); of a share (r - 1) / own with w and v the half widths of r and own
sqrt(w^2 + (share v)^2) / own. Where own is not above its half width, M does not slow itself beyond noise, and
nothing is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from statistics import mean
from typing import TYPE_CHECKING, Final, NamedTuple

from lpsched.instance.bench import COMPUTE_COMPANION, MEMORY_COMPANION
from lpsched.instance.measurements import BY_MISSES, BY_SLOWDOWN
from lpsched.instance.memory_classes import class_of
from lpsched.instance.setting import Setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.instance.bench import Bench
    from lpsched.instance.measurements import Measured, Spread

M: Final = MEMORY_COMPANION
C: Final = COMPUTE_COMPANION


class Estimate(NamedTuple):
    """A number and half the width of its confidence interval."""

    value: float
    half: float


@dataclass(frozen=True, slots=True)
class Intensity:
    """How memory-intensive an application is, and how that is known; see `MeasuredApplication`.

    Attributes
    ----------
    doubtful
        The lower and the upper class of a share's interval, where they differ.
    """

    memory_class: str | None = None
    classified_by: str | None = None
    intensity: float | None = None
    suffers: float | None = None
    causes: float | None = None
    doubtful: tuple[str, str] | None = None


def intensities_of(
    bench: Bench, measured: Mapping[Setting, Measured], clocks: Sequence[float | None]
) -> dict[str, Intensity]:
    """Return the intensity of each application; companions are looked for at the first clock."""
    own = own_interference(measured, clocks[0])
    return {
        each.name: _intensity(each.name, bench, measured, clocks, own if is_told(own) else None)
        for each in bench.applications
    }


def own_interference(measured: Mapping[Setting, Measured], mhz: float | None) -> Estimate | None:
    """Return what the memory companion does to itself; `None` where it was not measured twice."""
    ratio = _ratio(measured.get(Setting(M, (M,), mhz)), measured.get(Setting(M, (C,), mhz)))
    return None if ratio is None else Estimate(ratio.value - 1, ratio.half)


def is_told(own: Estimate | None) -> bool:
    """Tell whether the memory companion slows itself beyond noise."""
    return own is not None and own.value > own.half


def _intensity(
    name: str,
    bench: Bench,
    measured: Mapping[Setting, Measured],
    clocks: Sequence[float | None],
    own: Estimate | None,
) -> Intensity:
    mhz = clocks[0]
    beside_compute = measured.get(Setting(M, (C,), mhz))
    suffers = _share(measured.get(Setting(name, (M,), mhz)), measured.get(Setting(name, (C,), mhz)), own)
    causes = _share(measured.get(Setting(M, (name,), mhz)), beside_compute, own)
    shares = (None if suffers is None else suffers.value, None if causes is None else causes.value)
    misses = _misses_alone(name, measured, clocks)
    if misses is not None:
        return Intensity(class_of(misses, bench.class_bounds), BY_MISSES, misses, *shares)
    if suffers is None or causes is None:
        return Intensity(None, None, None, *shares)
    share = max(suffers, causes)
    lower, upper = (class_of(share.value + half, bench.share_bounds) for half in (-share.half, share.half))
    doubtful = None if lower == upper else (lower, upper)
    return Intensity(class_of(share.value, bench.share_bounds), BY_SLOWDOWN, None, *shares, doubtful)


def _misses_alone(
    name: str, measured: Mapping[Setting, Measured], clocks: Sequence[float | None]
) -> float | None:
    """Return misses per instruction alone, the mean over the clocks at which they were counted."""
    found = [measured.get(Setting(name, (), mhz)) for mhz in clocks]
    counted = [each.intensity.mean for each in found if each is not None and each.intensity is not None]
    return mean(counted) if counted else None


def _share(slow: Measured | None, fast: Measured | None, own: Estimate | None) -> Estimate | None:
    """Return (t(slow) / t(fast) - 1) / own."""
    ratio = _ratio(slow, fast)
    if ratio is None or own is None:
        return None
    share = (ratio.value - 1) / own.value
    return Estimate(share, hypot(ratio.half, share * own.half) / own.value)


def _ratio(over: Measured | None, under: Measured | None) -> Estimate | None:
    """Return a ratio of two mean times; `None` where one is missing or was taken only once."""
    if over is None or under is None:
        return None
    halves = (_relative_half(over.seconds), _relative_half(under.seconds))
    if halves[0] is None or halves[1] is None:
        return None
    ratio = over.seconds.mean / under.seconds.mean
    return Estimate(ratio, ratio * hypot(halves[0], halves[1]))


def _relative_half(spread: Spread) -> float | None:
    return None if spread.high is None else (spread.high - spread.mean) / spread.mean
