"""Parts of days and clusters: the period that counts, machine types, clusters, and curves of nodes."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, PlainValidator, WithJsonSchema
from pydantic.dataclasses import dataclass as checked

from lpsched.errors import Fault, InstanceError
from lpsched.model.fields import SMALLEST, Amount, Count, Name, WithPStates, check_p_states, describe, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.errors import Place

Points: TypeAlias = tuple[tuple[int, float], ...]  # (nodes, value), by rising nodes


# The period that counts: of all the time that a day covers, what is judged, and how its edges are cut.
#
#    w, L        warm-up before the period, and its length, in seconds; without a length it never ends
#    begin, end  w and w + L (the double nearest to it)
#    E           joules that may be taken in the period; none: as many as anybody likes. Sums of doubles may be
#                above it by a billionth; whoever proves a bound must grant that (`most_joules`)
#    share       which part of a task that runs from s to f counts:
#                `prorated`    the part of its run within the period, (min(f, end) - max(s, begin)) / (f - s)
#                `completed`   all of a task that ends in the period, begin < f <= end; nothing of any other
#
# Utility and energy of a task count by its share. Nothing may start at `end` or later: that is another day's
# business.
#
# Sources: Friese, thesis of 2015, 2.6.4 and 2.7.1 (26 hours, tasks that complete), 3.2.2 and 3.5.1
# (prorated).
CONFIG: Final = ConfigDict(extra="forbid")
PRORATED: Final = "prorated"
COMPLETED: Final = "completed"
EDGES: Final = (PRORATED, COMPLETED)
FORGIVEN: Final = 1e-9  # share of the energy constraint by which a sum of doubles may be above it


def _check_edge(value: object) -> object:
    if value not in EDGES:
        raise refusal(describe(value), " or ".join(EDGES), "see 'lpsched schema day'")
    return value


WarmUp = Annotated[float, Amount("seconds")]
Length = Annotated[float, Amount("seconds", least=SMALLEST)]
Joules = Annotated[float, Amount("joules")]
Edge = Annotated[Literal["prorated", "completed"], PlainValidator(_check_edge), WithJsonSchema({"enum": list(EDGES)})]


@checked(frozen=True, slots=True, config=CONFIG)
class Period:
    """What is judged of a day.

    >>> day = Period(warm_up_seconds=100.0, length_seconds=1000.0)
    >>> day.share(60.0, 160.0), day.share(1000.0, 1400.0), day.share(0.0, 50.0)
    (0.6, 0.25, 0.0)
    """

    warm_up_seconds: WarmUp = 0.0
    length_seconds: Length | None = None
    edge: Edge = PRORATED
    energy_constraint_joules: Joules | None = None

    @property
    def begins_at(self) -> float:
        """When it begins, in seconds."""
        return self.warm_up_seconds

    @property
    def ends_at(self) -> float:
        """When it ends; infinite if it has no length."""
        return math.inf if self.length_seconds is None else self.warm_up_seconds + self.length_seconds

    @property
    def most_joules(self) -> float:
        """What a bound must grant: the energy constraint, and the billionth that passes for rounding."""
        if self.energy_constraint_joules is None:
            return math.inf
        granted = self.energy_constraint_joules * math.nextafter(1.0 + FORGIVEN, math.inf)
        return math.nextafter(granted, math.inf) if granted else 0.0

    @property
    def is_whole(self) -> bool:
        """Whether every task counts wholly, and energy is free."""
        return self == WHOLE

    def share(self, start: float, end: float) -> float:
        """Return which part of a run counts."""
        if self.edge == COMPLETED:
            return 1.0 if self.begins_at < end <= self.ends_at else 0.0
        within = min(end, self.ends_at) - max(start, self.begins_at)
        if within >= end - start:
            return 1.0
        return within / (end - start) if within > 0.0 else 0.0  # a short run late may take no time in doubles


WHOLE: Final = Period()


def require_whole(name: str, period: Period, what: str) -> None:
    """Refuse a day of which only a part counts, for something that knows of no such thing."""
    if not period.is_whole:
        needed = f"a day that counts as a whole: {what} can do no other"
        do = "remove the key 'period', or see 'lpsched simulate'"
        raise InstanceError(name, (Fault(("period",), "a period that counts", needed, do),))


def broken_period(period: Period, place: Place) -> Iterator[Fault]:
    """Return the faults of a period whose numbers are sound, each by itself."""
    if period.length_seconds is None:
        if period.edge == COMPLETED:
            needed = "a length, since tasks count that end before the period does"
            yield Fault((*place, "length_seconds"), "nothing", needed, "add it, or let the edge be prorated")
    elif period.ends_at <= period.begins_at:
        found = f"{period.length_seconds!r} s after a warm-up of {period.warm_up_seconds!r} s"
        needed = "an end that can be told from the begin"
        yield Fault((*place, "length_seconds"), found, needed, "lengthen it, or shorten the warm-up")


@checked(frozen=True, slots=True, config=CONFIG)
class DayMachineType(WithPStates):
    """Identical machines, each running one task at a time; idle ones cost nothing.

    >>> DayMachineType("gpu", 2, ("fast", "saving")).columns
    ('gpu:fast', 'gpu:saving')
    """

    name: Name
    count: Count
    p_states: Annotated[tuple[Name, ...], BeforeValidator(check_p_states)] | None = None


@checked(frozen=True, slots=True, config=CONFIG)
class DayTaskType:
    """Tasks that take equally long; how many there are, the list of tasks says."""

    name: Name


@checked(frozen=True, slots=True, config=CONFIG)
class Cluster(WithPStates):
    """Identical nodes; a node runs one task at a time, with all its cores in one P-state.

    >>> fat = Cluster("fat", nodes=12, cores_per_node=64)
    >>> fat.cores, fat.nodes_for(65)
    (768, 2)
    """

    name: Name
    nodes: Count
    cores_per_node: Count = 1
    p_states: Annotated[tuple[Name, ...], BeforeValidator(check_p_states)] | None = None

    @property
    def cores(self) -> int:
        """How many cores all nodes have."""
        return self.nodes * self.cores_per_node

    def nodes_for(self, cores: int) -> int:
        """Return how many nodes a task of so many cores takes."""
        return -(-cores // self.cores_per_node)


# Seconds or watts by task type, cluster, P-state and number of nodes: a curve in each cell.
#
# A cell tells values for some numbers of nodes, rising. Between two of them the value is on the straight line
# (the double nearest to it); outside them nobody knows, and nothing is guessed. A pair without a cell cannot
# run.
#
# Source: Machovec et al., "Dynamic Resource Management for Parallel Tasks in an Oversubscribed Energy-
# Constrained Heterogeneous Environment" (2016), section II.B and figure 2.
@dataclass(frozen=True, slots=True)
class NodeCurves:
    """Cells by task type i and column (cluster and P-state); `None` where a pair cannot run.

    >>> curves = NodeCurves((((((1, 100.0), (2, 70.0), (4, 50.0))), None),))
    >>> curves.at(0, 0, 3), curves.at(0, 0, 5), curves.at(0, 1, 1)
    (60.0, None, None)
    """

    cells: tuple[tuple[Points | None, ...], ...]

    def at(self, i: int, column: int, nodes: int) -> float | None:
        """Return the value for a number of nodes; `None` where it is not known."""
        points = self.cells[i][column]
        if points is None or not points[0][0] <= nodes <= points[-1][0]:
            return None
        place = bisect_left(points, nodes, key=lambda point: point[0])
        right, high = points[place]
        if right == nodes:
            return high
        left, low = points[place - 1]
        return _between(low, right - nodes, high, nodes - left)

    def said(self) -> list[list[list[list[float]] | None]]:
        """Return the cells as lists, for a hash: 8 and 8.0 are one, as are 0.0 and -0.0."""
        return [
            [None if cell is None else [[n, value + 0.0] for n, value in cell] for cell in row] for row in self.cells
        ]


def _between(low: float, low_weight: int, high: float, high_weight: int) -> float:
    """Return the weighted mean of two numbers: exact in whole numbers, whose quotient Python rounds once."""
    low_top, low_bottom = low.as_integer_ratio()
    high_top, high_bottom = high.as_integer_ratio()
    top = low_top * high_bottom * low_weight + high_top * low_bottom * high_weight
    return top / (low_bottom * high_bottom * (low_weight + high_weight))
