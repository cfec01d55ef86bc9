"""What a formulation hands on: where the tasks would go if they could be split, and the prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.instance.arrays import Floats


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The answer of a relaxation, back in the terms of the bag.

    Attributes
    ----------
    formulation
        The name of the formulation.
    shares
        For each task type, the share of its tasks that each column (machine type and P-state) gets.
    makespan_seconds
        The makespan if tasks could be split.
    bound
        What the solver's multipliers prove, in floating point. Reports use the certificate instead.
    machine_prices
        What a second on one machine of each type is worth, relative to the others: the multiplier of the
        type's capacity, divided by its count. Prices for the certificate.
    """

    formulation: str
    shares: Floats
    makespan_seconds: float
    bound: float
    machine_prices: tuple[float, ...]
