"""What a search over boxes has to remember, so that its bound can be proved again: steps with their prices.

A box that is looked at once more after its ranges were narrowed is still the same box; one that is cut has
two others in its place.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from lpsched.formulations.outlet_box import BoxPrices

Limit: TypeAlias = Literal["low", "high", "least", "most", "cool", "warm"]
RecordedStep: TypeAlias = "tuple[Limit, int, BoxPrices]"


@dataclass(slots=True)
class RecordedBox:
    """Limits that were narrowed, each by prices; then a cut, or the prices that bound the reward."""

    steps: list[RecordedStep] = field(default_factory=list)
    prices: BoxPrices | None = None
    bound: float = np.inf
    cut: tuple[bool, int, float, int, int] | None = None  # whether heat is cut, unit, where, below, above

    def note(self, bound: float, prices: BoxPrices) -> None:
        """Remember the prices that prove most."""
        if bound < self.bound:
            self.bound, self.prices = bound, prices

    def halves(self) -> tuple[RecordedBox, RecordedBox]:
        """Return what the two parts of this box begin with: its own prices, until they have better ones."""
        fresh = RecordedBox(prices=self.prices, bound=self.bound)
        return fresh, replace(fresh, steps=[])
