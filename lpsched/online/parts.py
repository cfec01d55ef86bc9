"""Parts of days and clusters: the period that counts, machine types, and clusters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Final, Literal

from lpsched.errors import InputIssue, InstanceError
from lpsched.model.base import Part
from lpsched.model.fields import SMALLEST, Amount, Count, Name, OneOf, PStates, WithPStates

if TYPE_CHECKING:
    from collections.abc import Iterator


# The period that counts, and how its edges are cut:
#    w, L        warm-up before the period, and its length, in seconds; without a length it never ends
#    begin, end  w and w + L (the double nearest to it)
#    E           joules that may be taken in the period; none: no limit. Sums of doubles may be above it by a billionth;
#                bounds must grant that (`most_joules`)
#    share       which part of a task that runs from s to f counts:
#                `prorated`    the part of its run within the period, (min(f, end) - max(s, begin)) / (f - s)
#                `completed`   all of a task that ends in the period, begin < f <= end; nothing of any other
# Utility and energy of a task count by its share. Nothing may start at `end` or later. Sources: Friese, thesis of 2015,
# 2.6.4 and 2.7.1 (26 hours, tasks that complete), 3.2.2 and 3.5.1 (prorated).
PRORATED: Final = "prorated"
COMPLETED: Final = "completed"
EDGES: Final = (PRORATED, COMPLETED)
FORGIVEN: Final = 1e-9  # share of the energy constraint by which a sum of doubles may be above it


class Period(Part):
    """What is judged of a day.

    >>> day = Period(warm_up_seconds=100.0, length_seconds=1000.0)
    >>> day.share(60.0, 160.0), day.share(1000.0, 1400.0), day.share(0.0, 50.0)
    (0.6, 0.25, 0.0)
    """

    warm_up_seconds: Annotated[float, Amount("seconds")] = 0.0
    length_seconds: Annotated[float, Amount("seconds", least=SMALLEST)] | None = None
    edge: Annotated[Literal["prorated", "completed"], OneOf(EDGES)] = PRORATED
    energy_constraint_joules: Annotated[float, Amount("joules")] | None = None

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
    """Raise an error if only a part of a day counts, for methods that do not support a period."""
    if not period.is_whole:
        needed = f"a day that counts as a whole: {what} can do no other"
        do = "remove the key 'period', or see 'lpsched simulate'"
        raise InstanceError(name, (InputIssue(("period",), "a period that counts", needed, do),))


def period_has_an_end(period: Period) -> Iterator[InputIssue]:
    """Check the length of a period: the rule of days and of clusters."""
    if period.length_seconds is None:
        if period.edge == COMPLETED:
            needed = "a length, since tasks count that end before the period does"
            yield InputIssue(("period", "length_seconds"), "nothing", needed, "add it, or let the edge be prorated")
    elif period.ends_at <= period.begins_at:
        found = f"{period.length_seconds!r} s after a warm-up of {period.warm_up_seconds!r} s"
        needed = "an end after the begin, in doubles"
        yield InputIssue(("period", "length_seconds"), found, needed, "lengthen it, or shorten the warm-up")


class DayMachineType(WithPStates, Part):
    """Identical machines, each running one task at a time; idle ones cost nothing.

    >>> DayMachineType("gpu", 2, ("fast", "saving")).columns
    ('gpu:fast', 'gpu:saving')
    """

    name: Name
    count: Count
    p_states: PStates | None = None


class DayTaskType(Part):
    """Tasks that take equally long; how many there are, the list of tasks says."""

    name: Name


class Cluster(WithPStates, Part):
    """Identical nodes; a node runs one task at a time, with all its cores in one P-state.

    >>> fat = Cluster("fat", nodes=12, cores_per_node=64)
    >>> fat.cores, fat.nodes_for(65)
    (768, 2)
    """

    name: Name
    nodes: Count
    cores_per_node: Count = 1
    p_states: PStates | None = None

    @property
    def cores(self) -> int:
        """How many cores all nodes have."""
        return self.nodes * self.cores_per_node

    def nodes_for(self, cores: int) -> int:
        """Return how many nodes a task with these cores takes."""
        return -(-cores // self.cores_per_node)
