"""What `lpsched show` prints of days and clusters."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from lpsched.model.provenance import written_note
from lpsched.online.parts import PRORATED
from lpsched.online.utility import BOUNDED, TASK
from lpsched.report.tables import table
from lpsched.units import MEGA, number, percent, upper_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from lpsched.online.clusters import Clusters, Kind
    from lpsched.online.day import Day
    from lpsched.online.parts import Cluster, Period
    from lpsched.online.utility import WaitingCost


# What is in a day, for `lpsched show`.
MOST_ROWS: Final = 50  # of one table


@dataclass(frozen=True, slots=True)
class DayFacts:
    """Sizes and sums of a day.

    Attributes
    ----------
    machine_types, task_types
        How many machines there are of each type, and how many tasks.
    first_arrival_seconds, last_arrival_seconds
        When the first and the last task arrive.
    load
        How busy the machines would be while tasks arrive: the tasks' mean seconds, over the machine types
        that can run them, by the number of machines and the span of the arrivals; `None` without a span.
        Above 1 the machines fall behind.
    utility_at_most
        The sum of what the tasks would be worth if all ended on arrival.
    told
        How many tasks tell their utility in each way: by levels, or the name of an own function.
    period
        What counts, by the keys of a day file; `None` where everything does.
    made_by
        What the generator that made the day notes, if one did.
    """

    tasks: int
    machines: int
    machine_types: dict[str, int]
    task_types: dict[str, int]
    pairs: int
    first_arrival_seconds: float
    last_arrival_seconds: float
    load: float | None
    utility_at_most: float
    functions: int
    told: dict[str, int]
    period: dict[str, Any] | None
    made_by: dict[str, Any] | None


def day_facts(day: Day) -> DayFacts:
    """Count and add up."""
    arriving = day.arriving
    of_type = Counter(arriving.type_numbers.tolist())
    of_told = Counter(arriving.utility_numbers.tolist())
    of_function = Counter(memoryview(day.function_numbers).cast("q").tolist())
    first, last = arriving.arrival_seconds[0], arriving.arrival_seconds[-1]
    work = math.fsum(count * (day.mean_seconds(i) or 0.0) for i, count in of_type.items())
    names = [each if isinstance(each, str) else " / ".join(each) for each in arriving.told]
    told = Counter[str]()
    for u, name in enumerate(names):
        told[name] += of_told[u]
    return DayFacts(
        tasks=day.tasks,
        machines=day.machines,
        machine_types={machine.name: machine.count for machine in day.machine_types},
        task_types={task.name: of_type[i] for i, task in enumerate(day.task_types)},
        pairs=day.seconds.rows * day.seconds.columns - len(day.seconds.absent()),
        first_arrival_seconds=first,
        last_arrival_seconds=last,
        load=work / day.machines / (last - first) if last > first else None,
        utility_at_most=math.fsum(count * day.functions[f].at(0.0) for f, count in of_function.items()),
        functions=len(day.functions),
        told=dict(told.most_common()),
        period=None if day.period.is_whole else day.period.model_dump(),
        made_by=None if day.made_by is None else written_note(day.made_by),
    )


def period_words(period: Period) -> str:
    """Say what counts of a day.

    >>> from lpsched.online.parts import Period
    >>> period_words(Period(7200.0, 86400.0, "completed", 1.5e9))
    '7,200 to 93,600 s, tasks that end within; at most 1,500 MJ'
    >>> period_words(Period(energy_constraint_joules=0.0))
    'from 0 s on; at most 0 MJ'
    """
    begin, end = number(period.begins_at), number(period.ends_at)
    words = f"from {begin} s on"
    if period.length_seconds is not None:
        cut = "prorated" if period.edge == PRORATED else "tasks that end within"
        words = f"{begin} to {end} s, {cut}"
    most = period.energy_constraint_joules
    return words if most is None else f"{words}; at most {number(most / MEGA)} MJ"


def day_shown(day: Day) -> tuple[dict[str, Any], list[Table | Text]]:
    """Return what is in a day, as JSON and in tables."""
    facts = day_facts(day)
    return asdict(facts), day_tables(day, facts)


def day_tables(day: Day, facts: DayFacts) -> list[Table | Text]:
    """Return what is in a day."""
    span = f"{number(facts.first_arrival_seconds)} to {number(facts.last_arrival_seconds)} s"
    rows = [
        ("day", day.name),
        ("hash", day.content_hash),
        ("tasks", f"{facts.tasks:,} of {len(day.task_types):,} types"),
        ("machines", f"{facts.machines:,} of {len(day.machine_types):,} types"),
        ("pairs", f"{facts.pairs:,} can run"),
        ("arrivals", span),
        ("load", f"{percent(facts.load)} of the machines' time while tasks arrive"),
        ("utility", f"at most {upper_text(facts.utility_at_most)}, of {facts.functions:,} functions"),
    ]
    if facts.period is not None:
        rows.append(("counted", period_words(day.period)))
    if facts.made_by is not None:
        rows.append(("made by", ", ".join(map(noted, facts.made_by.items()))))
    machines = [
        (machine.name, f"{machine.count:,}", f"{machine.modes:,}" if machine.p_states is not None else "-")
        for machine in day.machine_types
    ]
    tasks = [
        (task.name, f"{facts.task_types[task.name]:,}", number(day.mean_seconds(i)), number(_quickest(day, i)))
        for i, task in enumerate(day.task_types)
    ]
    told = [(name, f"{count:,}") for name, count in facts.told.items()]
    return [
        table(("", ""), rows),
        table(("machine type", "machines", "P-states"), machines[:MOST_ROWS], numbers=(1, 2)),
        *cut(machines),
        table(("task type", "tasks", "mean s", "quickest s"), tasks[:MOST_ROWS], numbers=(1, 2, 3)),
        *cut(tasks),
        table(("utility", "tasks"), told[:MOST_ROWS], numbers=(1,)),
        *cut(told),
    ]


def noted(entry: tuple[str, object]) -> str:
    """Write an option of the generator; its name stands alone."""
    name, value = entry
    return str(value) if name == "generator" else f"{name} {value}"


def _quickest(day: Day, i: int) -> float | None:
    return min((cell for cell in day.seconds.row(i) if cell is not None), default=None)


def cut(rows: Sequence[object]) -> list[Text]:
    """Return a line that tells how many rows are not shown, if any."""
    left = len(rows) - MOST_ROWS
    return [Text(f"... and {left:,} more (--json has all)")] if left > 0 else []


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
        waiting=None if clusters.waiting is None else clusters.waiting.model_dump(),
        period=None if clusters.period.is_whole else clusters.period.model_dump(),
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
        (run.seconds, run.nodes * clusters.clusters[c].cores_per_node) for (c, _), run in runs if run is not None
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

    >>> from lpsched.online.utility import WaitingCost
    >>> waiting_words(WaitingCost()), waiting_words(WaitingCost("seconds", "cores"))
    ('bounded slowdown (runs of at least 10 s)', 'seconds, by cores')
    """
    words = waiting.measure.replace("-", " ")
    if waiting.measure == BOUNDED:
        words += f" (runs of at least {number(waiting.at_least_seconds)} s)"
    return words if waiting.weight == TASK else f"{words}, by {waiting.weight}"


def clusters_shown(clusters: Clusters) -> tuple[dict[str, Any], list[Table | Text]]:
    """Return what is in clusters, as JSON and in tables."""
    facts = cluster_facts(clusters)
    return asdict(facts), cluster_tables(clusters, facts)


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
        rows.append(("utility", f"at most {upper_text(facts.utility_at_most)}, of {facts.functions:,} functions"))
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
