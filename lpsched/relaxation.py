"""What a formulation hands on: where the tasks would go if they could be split, and the prices."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.instance.arrays import Floats


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


@dataclass(frozen=True, slots=True)
class NodePattern:
    """What the cores of a node of one type run at once, and what that brings and takes.

    Attributes
    ----------
    runs
        (task type, column of the tables, cores) of each kind of run; the other cores are idle.
    rates
        Tasks per second of each type, with the cores slowing each other down.
    watts
        Of the cores, above the overhead of the node.
    """

    node_type: int
    runs: tuple[tuple[int, int, int], ...]
    rates: Floats
    watts: float


@dataclass(frozen=True, slots=True)
class FacilityPrices:
    """What one more of each limit would bring, in reward per second; all at least 0."""

    arrivals: Floats  # I, one more task a second
    tasks: Floats  # I, one more task done a second
    cap: float  # one watt
    redlines: Floats  # N, one kelvin
    crac_redlines: Floats  # U, one kelvin
    cooling: Floats  # U, one watt that the unit would not have to take out
    nodes: Floats  # N, the whole time of one node, its overhead not counted
    watts: Floats  # N, one watt that the node would not draw


@dataclass(frozen=True, slots=True)
class FacilityRelaxation:
    """The best allocation found at some outlet temperatures; patterns are mixed over time, so it is real.

    Attributes
    ----------
    bound
        Of every allocation at these temperatures.
    shares
        For each node its patterns, each with its share of the time.
    priced
        Whether the program that the prices come from was solved to the end. Those of another one prove a
        bound as well, but are no derivatives of it.
    """

    outlets: Floats
    value: float
    bound: float
    shares: tuple[tuple[tuple[float, NodePattern], ...], ...]
    prices: FacilityPrices
    priced: bool = True


@dataclass(frozen=True, slots=True)
class ArrivalPrices:
    """Prices of a day: what a second on each machine type costs in each slot of time, and what a joule costs.

    Any prices that are not negative prove a bound (`formulations/arrivals.py`), and tell a policy which tasks
    are worth their time and energy. Outside the slots machine time is free.
    """

    edges: Floats  # S + 1 rising times in seconds; slot s is from edges[s] to edges[s + 1]
    per_second: Floats  # M x S, utility for a second of one machine of type j in slot s
    per_joule: float  # utility
