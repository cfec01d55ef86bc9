"""What a formulation hands on: where the tasks would go if they could be split, and the prices."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats


class Regime(StrEnum):
    """Whether running the bag pays."""

    PROFIT = "profit"  # it earns more than it costs
    LOSS = "loss"  # it does not, but less is lost than by waiting, or a deadline forces it
    DO_NOT_RUN = "do-not-run"  # waiting is best


@dataclass(frozen=True, slots=True)
class Point:
    """One way to run the bag, if tasks could be split.

    Attributes
    ----------
    shares
        For each task type, the share of its tasks that each column (machine type and P-state) gets.
    makespan_seconds, energy_joules
        What that takes; no energy without watts.
    """

    shares: Floats
    makespan_seconds: float
    energy_joules: float | None


@dataclass(frozen=True, slots=True)
class Relaxation(Point):
    """The answer of a relaxation, back in the terms of the bag: a point, and the prices there.

    Attributes
    ----------
    bound
        What the solver's multipliers prove, in floating point. Reports use the certificate instead.
    machine_prices
        What a second on one machine of each type is worth, in the unit of the objective.
    cap_price
        What a joule above the idle floor is worth under the power cap.
    """

    bound: float
    machine_prices: tuple[float, ...]
    cap_price: float = 0.0
