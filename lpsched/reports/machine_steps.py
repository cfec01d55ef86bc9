"""Machines in a row, each with a number: bars where they are few, steps where they are many.

10^12 machines are as many steps as there are different numbers; of very many, what the machines at even
distances have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_BARS: Final = 120  # machines that are drawn one by one
MOST_STEPS: Final = 200  # of one machine type, or of all machines together
BAR: Final = 0.8  # of the room of a machine


@dataclass(frozen=True, slots=True)
class MachineRow:
    """Machines side by side: how many have which number each, and the room that they share."""

    amounts: Sequence[tuple[int, float]]
    start: float
    room: float

    @property
    def machines(self) -> int:
        """How many there are."""
        return sum(count for count, _ in self.amounts)

    def bars(self) -> tuple[list[float], list[float], float]:
        """Return where the bar of each machine begins, its number, and how broad all bars are."""
        each = self.room / self.machines
        numbers = [number for count, number in self.amounts for _ in range(count)]
        starts = [self.start + each * (place + (1 - BAR) / 2) for place in range(len(numbers))]
        return starts, numbers, each * BAR

    def steps(self) -> tuple[list[float], list[float]]:
        """Return the edges of the steps, and the number of each."""
        each = self.room / self.machines
        edges, numbers = [self.start], []
        for count, number in self._thinned():
            edges.append(edges[-1] + each * count)
            numbers.append(number)
        return edges, numbers

    def _thinned(self) -> list[tuple[float, float]]:
        """Return not too many steps: how many machines each stands for, and their number."""
        if len(self.amounts) <= MOST_STEPS:
            return [(float(count), number) for count, number in self.amounts]
        step, seen = self.machines / MOST_STEPS, 0
        kept: list[tuple[float, float]] = []
        for count, number in self.amounts:
            seen += count
            while len(kept) < MOST_STEPS and len(kept) * step < seen:
                kept.append((step, number))
        return kept
