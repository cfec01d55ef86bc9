"""Prices of machine time and energy over a day of arriving tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats


@dataclass(frozen=True, slots=True)
class ArrivalPrices:
    """Prices of a day: what a second on each machine type costs in each slot of time, and what a joule costs.

    Any prices that are not negative prove a bound (`formulations/arrivals.py`), and tell a policy which tasks
    are worth their time and energy. Outside the slots machine time is free.
    """

    edges: Floats  # S + 1 rising times in seconds; slot s is from edges[s] to edges[s + 1]
    per_second: Floats  # M x S, utility for a second of one machine of type j in slot s
    per_joule: float  # utility
