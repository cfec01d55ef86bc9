"""What runs alone and together tell of a machine, straight from the formulas; every mean is looked up again.

    t(a|B), E(a|B)   mean time and energy of a beside B over all runs; unknown if one failed or there is none
    seconds = t(a|),  watts = E(a|) / t(a|)                                                   at each clock
    PD[a][b] = max(0, mean over clocks of t(a|b) / t(a|) - 1)
    own = t(M|M) / t(M|C) - 1, suffers = (t(a|M) / t(a|C) - 1) / own, causes = (t(M|a) / t(M|C) - 1) / own
    saved = sum E(a|) - E(all at once),  predicted = P_0 T + sum (E(a|) - P_0 t(a|))
    additive: t(a|B) / t(a|) against 1 + sum of PD[a][b] over b in B

M and C are the companions, at the first clock. Half widths of means are Student's, those of quotients of
means add as squares.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.measure.bench import Bench
    from lpsched.measure.evidence import Sample

M, C = "memory-companion", "compute-companion"
Clocks = tuple[float | None, ...]


class Runs:
    """All runs of a bench, looked through from the beginning for every number."""

    def __init__(self, bench: Bench, samples: Sequence[Sample], clocks: Clocks) -> None:
        self.bench, self.samples, self.clocks = bench, samples, clocks
        self.names = [each.name for each in bench.applications]

    def of(self, a: str, beside: Sequence[str], mhz: float | None, *, batch: bool = False) -> list[Sample]:
        """Return the runs of a setting; none if one of them failed."""
        found = []
        for each in self.samples:
            setting = each.setting
            same_crowd = setting.application == a and sorted(setting.beside) == sorted(beside)
            if same_crowd and setting.mhz == mhz and setting.batch == batch:
                found.append(each)
        return [] if any(each.seconds is None for each in found) else found

    def seconds(self, a: str, beside: Sequence[str], mhz: float | None, *, batch: bool = False) -> float:
        """Return t(a|B), not a number where it is unknown."""
        return average([each.seconds for each in self.of(a, beside, mhz, batch=batch)])

    def joules(self, a: str, beside: Sequence[str], mhz: float | None, *, batch: bool = False) -> float:
        """Return E(a|B) over the runs that tell it."""
        return average([each.joules for each in self.of(a, beside, mhz, batch=batch)])

    def watts(self, a: str, mhz: float | None) -> float:
        """Return E(a|) / t(a|)."""
        return self.joules(a, (), mhz) / self.seconds(a, (), mhz)

    def misses_per_instruction(self, a: str) -> float:
        """Return the mean over clocks of the mean over runs alone."""
        by_clock = []
        for mhz in self.clocks:
            shares = [
                each.misses / each.instructions
                for each in self.of(a, (), mhz)
                if each.misses is not None and each.instructions
            ]
            by_clock.append(average(shares))
        return average([each for each in by_clock if not np.isnan(each)])

    def degradation(self, a: str, b: str) -> float:
        """Return PD[a][b]."""
        ratios = [self.seconds(a, (b,), mhz) / self.seconds(a, (), mhz) for mhz in self.clocks]
        known = [each - 1 for each in ratios if not np.isnan(each)]
        return max(0.0, average(known)) if known else float("nan")

    def half_width(self, a: str, beside: str) -> float:
        """Return h / m of the mean time beside a companion."""
        times = [each.seconds for each in self.of(a, (beside,), self.clocks[0])]
        count = len(times)
        if count < 2:  # noqa: PLR2004 - one run has no spread
            return float("nan")
        t = float(stdtrit(count - 1, (1 + self.bench.repeats.confidence) / 2))
        deviation = float(np.std(np.array(times, dtype=float), ddof=1))
        return t * deviation / sqrt(count) / average(times)

    def beside(self, a: str, b: str) -> float:
        """Return t(a|b) at the first clock; unknown if it was taken only once."""
        return self.seconds(a, (b,), self.clocks[0]) + 0 * self.half_width(a, b)

    def own(self) -> float:
        """Return what M does to itself; unknown if that is not above its half width."""
        ratio = self.beside(M, M) / self.beside(M, C)
        half = ratio * sqrt(self.half_width(M, M) ** 2 + self.half_width(M, C) ** 2)
        return ratio - 1 if ratio - 1 > half else float("nan")

    def suffers(self, a: str) -> float:
        """Return what M does to a, as a share of what it does to itself."""
        return (self.beside(a, M) / self.beside(a, C) - 1) / self.own()

    def causes(self, a: str) -> float:
        """Return what a does to M, likewise."""
        return (self.beside(M, a) / self.beside(M, C) - 1) / self.own()

    def memory_class(self, a: str) -> int:
        """Return the class of a, 1 for the calmest; 0 if nothing tells it."""
        misses = self.misses_per_instruction(a)
        if not np.isnan(misses):
            return 1 + sum(misses >= bound for bound in self.bench.class_bounds)
        suffers, causes = self.suffers(a), self.causes(a)
        if np.isnan(suffers) or np.isnan(causes):
            return 0
        return 1 + sum(suffers >= bound or causes >= bound for bound in self.bench.share_bounds)

    def class_degradation(self, x: int, y: int) -> float:
        """Return the mean of PD over pairs of these classes."""
        own = [a for a in self.names if self.memory_class(a) == x]
        other = [b for b in self.names if self.memory_class(b) == y]
        found = [self.degradation(a, b) for a in own for b in other]
        return average([each for each in found if not np.isnan(each)])

    def apart(self, crowd: Sequence[str], mhz: float | None) -> float:
        """Return the energy of these one after another."""
        return sum(self.joules(a, (), mhz) for a in crowd)

    def together(self, crowd: Sequence[str], mhz: float | None) -> float:
        """Return the energy of these all at once."""
        return self.joules(crowd[0], crowd[1:], mhz, batch=True)

    def predicted_together(self, crowd: Sequence[str], mhz: float | None, idle_watts: float) -> float:
        """Return it by the formula."""
        own = sum(self.joules(a, (), mhz) - idle_watts * self.seconds(a, (), mhz) for a in crowd)
        return idle_watts * self.seconds(crowd[0], crowd[1:], mhz, batch=True) + own

    def additive(self, a: str, beside: Sequence[str], mhz: float | None) -> tuple[float, float]:
        """Return measured and predicted time of a in a group, as multiples of its time alone."""
        measured = self.seconds(a, beside, mhz) / self.seconds(a, (), mhz)
        return measured, 1 + sum(self.degradation(a, b) for b in beside)


def average(values: Sequence[float | None]) -> float:
    """Return the mean of what is known; not a number of nothing."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else float("nan")
