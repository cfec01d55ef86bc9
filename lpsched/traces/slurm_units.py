"""What a Slurm system counts: nodes, cores or GPUs; whether jobs share nodes; how large it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from lpsched.io import limits
from lpsched.traces.jobs import most_at_once, written_unit
from lpsched.traces.slurm_cells import node_names
from lpsched.units import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.traces.slurm_system import SlurmSystem

Unit = Literal["node", "core", "gpu"]
AUTO: Final = "auto"
SLACK: Final = 2.0  # seconds by which jobs on a node may overlap
MOST_VISITS: Final = 50_000_000  # nodes of jobs that are looked at


# Whether jobs share nodes. There are three signs of it:
#     beside    jobs that ran on a node while another job did: their lists of nodes and their times overlap
#     part      jobs with fewer CPUs than their nodes have, where the nodes are known: others may run on the rest
#     above     more nodes in use at one time than there are, where their number is known
# A job that ends in the second in which another starts, or seconds after it, is not beside it: clocks differ.
@dataclass(frozen=True, slots=True)
class Allocations:
    """What jobs that ran held, one entry each: `nodes` and `cpus` are 0 where they are not known."""

    starts: NDArray[np.float64]
    seconds: NDArray[np.float64]
    nodes: NDArray[np.int64]
    cpus: NDArray[np.int64]
    listed: Sequence[str] | None  # their lists of nodes; `None` without such a column
    partitions: Sequence[str]


@dataclass(frozen=True, slots=True)
class Sharing:
    """The signs that jobs share nodes, and the partitions that do."""

    jobs: int
    beside: int = 0
    part: int = 0
    above: tuple[str, int, int] | None = None  # a cluster, its nodes in use at one time, and those that there are
    joined: tuple[tuple[str, ...], ...] = ()  # partitions that have nodes in common

    @property
    def is_shared(self) -> bool:
        """Whether there is a sign of it."""
        return bool(self.beside or self.part or self.above)

    def sentence(self) -> str:
        """Return the first sign in words."""
        if self.beside:
            return f"{self.beside:,} of {self.jobs:,} jobs ran on a node while another job did"
        if self.part:
            return f"{self.part:,} of {self.jobs:,} jobs had fewer CPUs than their nodes have"
        assert self.above is not None, "there is a sign"
        name, peak, nodes = self.above
        return f"{peak:,} nodes of {name} were in use at one time, of {nodes:,}"


def sharing_of(held: Allocations, system: SlurmSystem | None) -> Sharing:
    """Return the signs that jobs share nodes."""
    beside, seen = _overlaps(held)
    part = 0
    if system is not None and held.listed is not None:
        cpus = system.cpus
        for listed, own in zip(held.listed, held.cpus.tolist(), strict=True):
            names = node_names(listed)
            part += (
                bool(own and names) and all(name in cpus for name in names) and own < sum(map(cpus.__getitem__, names))
            )
    links = seen if system is None else [node.partitions.intersection(held.partitions) for node in system.nodes]
    joined = joined_groups(links)
    above = None if system is None else _above(held, system, joined)
    return Sharing(len(held.seconds), beside, part, above, joined)


def _above(held: Allocations, system: SlurmSystem, joined: Iterable[tuple[str, ...]]) -> tuple[str, int, int] | None:
    """Return the first cluster with more nodes in use at one time than it has: its name and both numbers."""
    own = {name: group for group in joined for name in group}
    partitions, known = np.array(held.partitions, dtype=object), ~np.isnan(held.starts)
    for group in dict.fromkeys(own.get(name, (name,)) for name in held.partitions):
        here = known & np.isin(partitions, group)
        peak = most_at_once(held.starts[here], held.seconds[here], held.nodes[here])
        nodes = system.capacity("node", group) or system.capacity("node")
        if peak > nodes:
            return "+".join(group), peak, nodes
    return None


def _overlaps(held: Allocations) -> tuple[int, list[frozenset[str]]]:
    """Return how many jobs ran beside another on a node, and the partitions of each node."""
    if held.listed is None:
        return 0, []
    lasting = np.maximum(held.seconds - SLACK, held.seconds / 2.0)
    moments = np.concatenate((held.starts, held.starts + lasting))
    is_start = np.repeat((1, 0), len(held.starts))
    order = np.lexsort((is_start, moments))  # at one moment, first what ends
    order = order[~np.isnan(moments[order])]
    running: dict[str, int] = defaultdict(int)  # on each node
    first: dict[str, int] = {}  # the job that found it empty
    partitions: dict[str, set[str]] = defaultdict(set)
    beside = np.zeros(len(held.starts), bool)
    visits = 0
    for event in order.tolist():
        job = event % len(held.starts)
        starts = event < len(held.starts) and held.seconds[job] > 0
        names = node_names(held.listed[job]) if held.seconds[job] > 0 else ()
        visits += len(names)
        if visits > MOST_VISITS or len(running) > limits.MOST_NODES:
            break
        for name in names:
            if not starts:
                running[name] -= 1
                continue
            partitions[name].add(held.partitions[job])
            if running[name]:
                beside[job] = beside[first[name]] = True  # later ones that still run were marked when they came
            else:
                first[name] = job
            running[name] += 1
    return int(beside.sum()), [frozenset(names) for names in partitions.values()]


def joined_groups(links: Iterable[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the names that are linked, directly or by way of others, in groups of two and more.

    >>> joined_groups([frozenset("ab"), frozenset("c"), frozenset("bd")])
    (('a', 'b', 'd'),)
    """
    groups: list[set[str]] = []
    for link in set(links):
        touched = [group for group in groups if not group.isdisjoint(link)]
        groups = [group for group in groups if group.isdisjoint(link)]
        groups.append(set(link).union(*touched))
    return tuple(sorted(tuple(sorted(group)) for group in groups if len(group) > 1))


# How large the parts of a system are: as given, as the list of nodes says, or the most that was in use at once by jobs
# of the log, which is a lower limit: idle nodes leave no trace.
@dataclass(frozen=True, slots=True)
class Capacity:
    """The size of one part, and where it comes from."""

    units: int
    source: Literal["given", "system", "peak"]
    peak: int | None  # of concurrent use, where all start times are known

    def sentence(self, name: str, unit: str) -> str:
        """Return it in words."""
        whence = {
            "given": "as given",
            "system": "as the list of nodes says",
            "peak": "the peak of concurrent use in the log; idle nodes leave no trace",
        }[self.source]
        return f"{name}: {counted(self.units, written_unit(unit))}, {whence}"
