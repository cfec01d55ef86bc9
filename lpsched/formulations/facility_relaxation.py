"""What the relaxation of a facility returns: patterns of nodes with their shares of time, and prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats


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
