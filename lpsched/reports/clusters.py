"""What is in a clusters file, for `lpsched show`."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from lpsched.display import number, percent, upper_text
from lpsched.instance.made_by import written_note
from lpsched.instance.waiting import BOUNDED, TASK
from lpsched.reports.day import MOST_ROWS, cut, noted, period_words
from lpsched.reports.tables import table

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from lpsched.instance.clusters import Cluster, Clusters, Kind
    from lpsched.instance.waiting import WaitingCost


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """Sizes and sums of clusters.

    Attributes
    ----------
    clusters, task_types
        Nodes, cores per node and P-states of each cluster, and how many tasks there are of each type.
    cores_asked
        The least, the median and the most cores that a task asks for.
    first_arrival_seconds, last_arrival_seconds
        When the first and the last task arrive.
    load
        What the tasks would keep busy: of each its nodes, with all their cores, for its seconds where it is
        fastest; by the cores there are and the time from the first arrival to the period's end, or to the
        last arrival where it has none; `None` where that is no time. Tasks that arrive later do not count.
        Above 1 the clusters fall behind.
    kinds
        How many tasks differ in type, cores, work or request.
    requested_per_run
        How many times its real run the median task asks for.
    utility_at_most
        The sum of what the tasks would be worth if all ended on arrival; `None` where waiting is judged.
    told
        How many tasks tell their utility in each way: by levels, or the name of an own function.
    waiting, period
        How waiting is judged, and what counts, by the keys of a clusters file; `None` where neither is said.
    made_by
        What the generator that made the clusters notes, if one did.
    """

    tasks: int
    nodes: int
    cores: int
    clusters: dict[str, dict[str, Any]]
    task_types: dict[str, int]
    cores_asked: dict[str, float]
    first_arrival_seconds: float
    last_arrival_seconds: float
    load: float | None
    kinds: int
    requested_per_run: float
    has_watts: bool
    has_jobs: bool
    utility_at_most: float | None
    functions: int
    told: dict[str, int]
    waiting: dict[str, Any] | None
    period: dict[str, Any] | None
    made_by: dict[str, Any] | None


def cluster_facts(clusters: Clusters) -> ClusterFacts:
    """Count and add up."""
    tasks = clusters.arriving
    of_type = Counter(tasks.type_numbers.tolist())
    asked = tasks.core_counts.tolist()
    requests = (high / low for low, high in zip(tasks.work_factors, tasks.requested_factors, strict=True))
    return ClusterFacts(
        tasks=clusters.tasks,
        nodes=clusters.nodes,
        cores=clusters.cores,
        clusters={each.name: _size(each) for each in clusters.clusters},
        task_types={task.name: of_type[i] for i, task in enumerate(clusters.task_types)},
        cores_asked={"least": min(asked), "median": median(asked), "most": max(asked)},
        first_arrival_seconds=tasks.arrival_seconds[0],
        last_arrival_seconds=tasks.arrival_seconds[-1],
        load=_load(clusters),
        kinds=len(clusters.kinds),
        requested_per_run=median(requests),
        has_watts=clusters.watts is not None,
        has_jobs=tasks.jobs is not None,
        utility_at_most=_utility_at_most(clusters),
        functions=len(clusters.functions),
        told=_told(clusters),
        waiting=None if clusters.waiting is None else asdict(clusters.waiting),
        period=None if clusters.period.is_whole else asdict(clusters.period),
        made_by=None if clusters.made_by is None else written_note(clusters.made_by),
    )


def _size(cluster: Cluster) -> dict[str, Any]:
    states = None if cluster.p_states is None else list(cluster.p_states)
    return {"nodes": cluster.nodes, "cores_per_node": cluster.cores_per_node, "p_states": states}


def _load(clusters: Clusters) -> float | None:
    arrivals, end = clusters.arriving.arrival_seconds, clusters.period.ends_at
    counted = bisect_left(arrivals, end)
    span = (end if math.isfinite(end) else arrivals[-1]) - arrivals[0]
    if not counted or span <= 0:
        return None
    of_kind = Counter(memoryview(clusters.kind_numbers).cast("q")[:counted].tolist())
    asked = math.fsum(count * _core_seconds(clusters, clusters.kinds[k]) for k, count in of_kind.items())
    return asked / clusters.cores / span


def _core_seconds(clusters: Clusters, kind: Kind) -> float:
    """Return what a kind takes where it is fastest, in cores times seconds."""
    runs = zip(clusters.modes, clusters.runs(kind.task_type, kind.cores), strict=True)
    seconds, cores = min(
        (run.seconds, run.nodes * clusters.clusters[c].cores_per_node)
        for (c, _), run in runs
        if run is not None
    )
    return kind.work * seconds * cores


def _utility_at_most(clusters: Clusters) -> float | None:
    if clusters.waiting is not None:
        return None
    of_function = Counter(memoryview(clusters.function_numbers).cast("q").tolist())
    return math.fsum(count * clusters.functions[f].at(0.0) for f, count in of_function.items())


def _told(clusters: Clusters) -> dict[str, int]:
    told = Counter[str]()
    of_told = Counter(clusters.arriving.utility_numbers.tolist())
    for u, each in enumerate(clusters.arriving.told):
        told[each if isinstance(each, str) else " / ".join(each)] += of_told[u]
    return dict(told.most_common())


def waiting_words(waiting: WaitingCost) -> str:
    """Say how waiting is judged.

    >>> from lpsched.instance.waiting import WaitingCost
    >>> waiting_words(WaitingCost()), waiting_words(WaitingCost("seconds", "cores"))
    ('bounded slowdown (runs of at least 10 s)', 'seconds, by cores')
    """
    words = waiting.measure.replace("-", " ")
    if waiting.measure == BOUNDED:
        words += f" (runs of at least {number(waiting.at_least_seconds)} s)"
    return words if waiting.weight == TASK else f"{words}, by {waiting.weight}"


def cluster_tables(clusters: Clusters, facts: ClusterFacts) -> list[Table | Text]:
    """Return what is in the clusters."""
    parts = [
        (
            each.name,
            f"{each.nodes:,}",
            f"{each.cores_per_node:,}",
            f"{each.cores:,}",
            "-" if each.p_states is None else f"{each.modes:,}",
            f"{_able(clusters, c):,}",
        )
        for c, each in enumerate(clusters.clusters)
    ]
    tasks = _type_rows(clusters, facts)
    told = [(name, f"{count:,}") for name, count in facts.told.items()]
    shown: list[Table | Text] = [table(("", ""), _rows(clusters, facts))]
    for headers, rows in (
        (("cluster", "nodes", "cores/node", "cores", "P-states", "task types"), parts),
        (("task type", "tasks", "cores, median", "fastest s, mean"), tasks),
        (("utility", "tasks"), told),
    ):
        if rows:
            shown += [table(headers, rows[:MOST_ROWS], numbers=range(1, len(headers))), *cut(rows)]
    return shown


def _rows(clusters: Clusters, facts: ClusterFacts) -> list[tuple[str, str]]:
    least, middle, most = (number(facts.cores_asked[key]) for key in ("least", "median", "most"))
    span = f"{number(facts.first_arrival_seconds)} to {number(facts.last_arrival_seconds)} s"
    rows = [
        ("clusters", clusters.name),
        ("hash", clusters.content_hash),
        ("nodes", f"{facts.nodes:,} with {facts.cores:,} cores in {len(clusters.clusters):,} clusters"),
        ("tasks", f"{facts.tasks:,} of {len(clusters.task_types):,} types and {facts.kinds:,} kinds"),
        ("cores asked for", f"{least} to {most}, median {middle}"),
        ("time asked for", f"{number(facts.requested_per_run, 3)} times the run, median"),
        ("arrivals", span),
        ("load", f"{percent(facts.load)} of all cores, if each task ran where it is fastest"),
        ("energy", "known" if facts.has_watts else "not known: there are no watts"),
    ]
    if clusters.waiting is not None:
        rows.append(("judged by waiting", waiting_words(clusters.waiting)))
    else:
        rows.append(
            ("utility", f"at most {upper_text(facts.utility_at_most)}, of {facts.functions:,} functions")
        )
    if facts.period is not None:
        rows.append(("counted", period_words(clusters.period)))
    if facts.made_by is not None:
        rows.append(("made by", ", ".join(map(noted, facts.made_by.items()))))
    return rows


def _able(clusters: Clusters, c: int) -> int:
    """Count the task types that can run on a cluster."""
    own = [column for column, (cluster, _) in enumerate(clusters.modes) if cluster == c]
    return sum(any(row[column] is not None for column in own) for row in clusters.seconds.cells)


def _type_rows(clusters: Clusters, facts: ClusterFacts) -> list[tuple[str, str, str, str]]:
    """Return one row for each task type; means are over its tasks."""
    of_kind = Counter(memoryview(clusters.kind_numbers).cast("q").tolist())
    seconds: list[list[float]] = [[] for _ in clusters.task_types]
    cores: list[list[int]] = [[] for _ in clusters.task_types]
    for k, kind in enumerate(clusters.kinds):
        seconds[kind.task_type].append(of_kind[k] * (clusters.fastest_seconds(kind) or 0.0))
        cores[kind.task_type] += [kind.cores] * of_kind[k]
    return [
        (
            task.name,
            f"{facts.task_types[task.name]:,}",
            number(median(cores[i])) if cores[i] else "-",
            number(math.fsum(seconds[i]) / facts.task_types[task.name]) if seconds[i] else "-",
        )
        for i, task in enumerate(clusters.task_types)
    ]
