"""Results by cluster, task type and size of the tasks: whose tasks waited, under which policy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.model.results import JsonObject
from lpsched.units import counted

if TYPE_CHECKING:
    from lpsched.online.clusters import Clusters
    from lpsched.online.verify.clusters import ClustersAccount


# Tasks are grouped in up to three ways, each where it makes more than one group:
#     cluster     on which they run, where every task can run on one cluster only, as in a log with partitions
#     task type   unless every cluster has one type of its own
#     size        the nodes (cores, GPUs) of a task, in classes that end with a power of two: 1, 2, 3 to 4, 5 to 8 ...
CLUSTER: Final = "cluster"
TASK_TYPE: Final = "task type"
SIZE: Final = "size"
UNIT_WORDS: Final = {"node": "node", "core": "core", "gpu": "GPU"}


@dataclass(frozen=True, slots=True)
class GroupResult(JsonObject):
    """Tasks of one group under one policy: those that arrive in the period and start."""

    by: str  # cluster, task type or size
    name: str
    tasks: int
    mean_wait_seconds: float
    percentile_95_wait_seconds: float
    mean_bounded_slowdown: float
    cost: float | None = None  # of their waiting, where it has one


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups of tasks, in the order in which they are shown, and the group of each task."""

    by: str
    names: tuple[str, ...]
    group_of: Sequence[int]


def groupings_of(clusters: Clusters) -> list[Grouping]:
    """Return the ways in which tasks are grouped."""
    found = []
    ways = [
        [column for column, run in enumerate(clusters.runs(kind.task_type, kind.cores)) if run is not None]
        for kind in clusters.kinds
    ]
    places = [{clusters.modes[column][0] for column in columns} for columns in ways]
    types = [kind.task_type for kind in clusters.kinds]
    alone = all(len(own) == 1 for own in places)
    if alone:
        own = [place for (place,) in places]
        found.append(_grouped(CLUSTER, clusters, own, lambda place: clusters.clusters[place].name))
    pairs = {(kind, *sorted(place)) for kind, place in zip(types, places, strict=True)}
    if not alone or len(pairs) > len({place for own in places for place in own}):
        found.append(_grouped(TASK_TYPE, clusters, types, lambda i: clusters.task_types[i].name))
    sizes = [clusters.nodes_of(kind, columns[0]) or 1 for kind, columns in zip(clusters.kinds, ways, strict=True)]
    classes = [(size - 1).bit_length() for size in sizes]  # class c: more than 2^(c - 1), up to 2^c
    found.append(_grouped(SIZE, clusters, classes, lambda number: size_words(number, UNIT_WORDS[clusters.unit])))
    return [each for each in found if len(each.names) > 1]


def _grouped(by: str, clusters: Clusters, of_kind: Sequence[int], name: Callable[[int], str]) -> Grouping:
    """Return the groups of kinds of tasks with the same number, by number."""
    place = {number: at for at, number in enumerate(sorted(set(of_kind)))}
    group_of = [place[of_kind[kind]] for kind in memoryview(clusters.kind_numbers).cast("q")]
    return Grouping(by, tuple(map(name, place)), group_of)


def size_words(number: int, unit: str) -> str:
    """Return the name of a class of sizes.

    >>> [size_words(number, "GPU") for number in range(4)]
    ['1 GPU', '2 GPUs', '3-4 GPUs', '5-8 GPUs']
    """
    most = 2**number
    return counted(most, unit) if number < 2 else f"{most // 2 + 1:,}-{most:,} {unit}s"  # noqa: PLR2004 - 1 and 2


def group_results(clusters: Clusters, account: ClustersAccount) -> tuple[GroupResult, ...]:
    """Return what the verifier measured of each group of tasks."""
    made = []
    for grouping in groupings_of(clusters):
        measured = account.by_group(grouping.group_of, len(grouping.names))
        for name, (waits, earned) in zip(grouping.names, measured, strict=True):
            if waits is not None:
                cost = None if clusters.waiting is None else 0.0 - earned
                spans = waits.mean_seconds, waits.percentile_95_seconds
                made.append(GroupResult(grouping.by, name, waits.tasks, *spans, waits.mean_bounded_slowdown, cost))
    return tuple(made)


def pooled(several: Iterable[Sequence[GroupResult]]) -> tuple[GroupResult, ...]:
    """Return the groups of several trials as one: means weighted by tasks, costs as sums by trial."""
    own: dict[tuple[str, str], list[GroupResult]] = {}
    trials = 0
    for groups in several:
        trials += 1
        for each in groups:
            own.setdefault((each.by, each.name), []).append(each)
    return tuple(_pool(found, trials) for found in own.values())


def _pool(own: Sequence[GroupResult], trials: int) -> GroupResult:
    if trials == 1:
        return own[0]
    tasks = sum(each.tasks for each in own)

    def mean(quantity: Callable[[GroupResult], float]) -> float:
        return math.fsum(each.tasks * quantity(each) for each in own) / tasks

    costs = [each.cost for each in own if each.cost is not None]
    return GroupResult(
        own[0].by,
        own[0].name,
        tasks // trials,
        mean(lambda each: each.mean_wait_seconds),
        mean(lambda each: each.percentile_95_wait_seconds),
        mean(lambda each: each.mean_bounded_slowdown),
        math.fsum(costs) / trials if costs else None,
    )
