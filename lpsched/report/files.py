"""Days and clusters in tables, for `lpsched show`: sizes, load and utility, as JSON and in tables.

load               the work that arrives as a share of the machines' time while tasks arrive; `None` without a span
                   day: the tasks' mean seconds, over the machine types that can run them, by the number of machines
                   clusters: of each task its nodes, with all their cores, for its seconds where it is fastest, by the
                   cores there are; until the period's end where it has one, and without tasks that arrive later
utility_at_most    the sum of the tasks' utilities if all ended on arrival; `None` where waiting has a cost
told               tasks with each utility specification: levels, or the name of an own function
waiting, period    the cost of waiting and the period, by the keys of the file; `None` where they are absent
made_by            the options of the generator, if one made the file
cores_asked        the least, the median and the most cores that a task asks for
kinds              how many tasks differ in type, cores, work or request
requested_per_run  how many times its real run the median task asks for
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from lpsched.model.provenance import written_note
from lpsched.online.parts import PRORATED, Period
from lpsched.online.result.groups import UNIT_WORDS
from lpsched.online.utility import BOUNDED, TASK, WaitingCost
from lpsched.report.tables import fitted, full_columns, hash_table, table
from lpsched.units import counted, duration, energy_text, number, percent, upper_text

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from lpsched.online.clusters import Clusters, Kind
    from lpsched.online.day import Day

MOST_ROWS: Final = 30  # of one table
MOST_FUNCTIONS: Final = 12


def day_shown(day: Day) -> tuple[dict[str, Any], list[ConsoleRenderable]]:
    """Return what is in a day, as JSON and in tables."""
    facts = _day_facts(day)
    tasks = f"{counted(day.tasks, 'task')} of {counted(len(day.task_types), 'type')}"
    machines = f"{counted(day.machines, 'machine')} of {counted(len(day.machine_types), 'type')}"
    cells = day.seconds.rows * day.seconds.columns
    rows = [
        ("times", f"{facts['pairs']:,} of {counted(cells, 'pair')} of task type and machine type can run"),
        ("arrivals", _span(facts)),
        ("load", f"{percent(facts['load'])} of the machines' time while tasks arrive"),
        ("utility", _utility(facts)),
        *_counted(day.period, facts),
    ]
    of_machines = [
        (machine.name, f"{machine.count:,}", f"{machine.modes:,}" if machine.p_states is not None else "-")
        for machine in day.machine_types
    ]
    of_tasks = []
    for i, task in enumerate(day.task_types):
        quickest = min((cell for cell in day.seconds.row(i) if cell is not None), default=None)
        count = facts["task_types"][task.name]
        of_tasks.append((task.name, f"{count:,}", duration(day.mean_seconds(i)), duration(quickest)))
    return facts, [
        fitted(f"{day.name}: {tasks} arriving at {machines}"),
        table(("", ""), rows),
        *full_columns(("machine type", "machines", "P-states"), of_machines, MOST_ROWS),
        *full_columns(("task type", "tasks", "mean time", "fastest"), of_tasks, MOST_ROWS),
        *_functions(facts),
        hash_table(day),
    ]


def _day_facts(day: Day) -> dict[str, Any]:
    of_type = Counter(day.arriving.type_numbers.tolist())
    first, last = day.arriving.arrival_seconds[0], day.arriving.arrival_seconds[-1]
    work = math.fsum(count * (day.mean_seconds(i) or 0.0) for i, count in of_type.items())
    return {
        "tasks": day.tasks,
        "machines": day.machines,
        "machine_types": {machine.name: machine.count for machine in day.machine_types},
        "task_types": {task.name: of_type[i] for i, task in enumerate(day.task_types)},
        "pairs": day.seconds.rows * day.seconds.columns - len(day.seconds.absent()),
        "first_arrival_seconds": first,
        "last_arrival_seconds": last,
        "load": work / day.machines / (last - first) if last > first else None,
        "utility_at_most": _utility_at_most(day),
        "functions": len(day.functions),
        "told": _specified(day),
        **_noted(day),
    }


def _utility_at_most(instance: Day | Clusters) -> float:
    of_function = Counter(memoryview(instance.function_numbers).cast("q").tolist())
    return math.fsum(count * instance.functions[f].at(0.0) for f, count in of_function.items())


def _specified(instance: Day | Clusters) -> dict[str, int]:
    counts, tasks = Counter[str](), Counter(instance.arriving.utility_numbers.tolist())
    for u, each in enumerate(instance.arriving.declared):
        counts[each if isinstance(each, str) else " / ".join(each)] += tasks[u]
    return dict(counts.most_common())


def _noted(instance: Day | Clusters) -> dict[str, Any]:
    return {
        "period": None if instance.period.is_whole else instance.period.model_dump(),
        "made_by": None if instance.made_by is None else written_note(instance.made_by),
    }


def _functions(facts: dict[str, Any]) -> list[ConsoleRenderable]:
    rows = [(name, f"{count:,}") for name, count in facts["told"].items()]
    return full_columns(("utility function", "tasks"), rows, MOST_FUNCTIONS)


def _span(facts: dict[str, Any]) -> str:
    return f"{duration(facts['first_arrival_seconds'])} to {duration(facts['last_arrival_seconds'])}"


def _utility(facts: dict[str, Any]) -> str:
    return f"at most {upper_text(facts['utility_at_most'])}, of {counted(facts['functions'], 'function')}"


def _counted(period: Period, facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what counts, and the generator with its seed."""
    rows = [] if facts["period"] is None else [("counted", period_words(period))]
    if facts["made_by"] is not None:
        made = dict(facts["made_by"])
        seed = f", seed {made.pop('seed')}" if "seed" in made else ""
        options = f" and {counted(len(made) - 1, 'option')} (--json has all)" if len(made) > 1 else ""
        rows.append(("generated by", f"{made.get('generator', '')}{seed}{options}"))
    return rows


def period_words(period: Period) -> str:
    """Return which part of a day counts.

    >>> from lpsched.online.parts import Period
    >>> period_words(Period(7200.0, 86400.0, "completed", 1.8e9))
    'from 2 h to 1 d 2 h, only tasks that end within; energy at most 500 kWh'
    >>> period_words(Period(energy_constraint_joules=0.0))
    'from 0 s on; energy at most 0 Wh'
    """
    words = f"from {duration(period.begins_at)}"
    if period.length_seconds is None:
        words += " on"
    else:
        cut = "tasks prorated at its ends" if period.edge == PRORATED else "only tasks that end within"
        words += f" to {duration(period.ends_at)}, {cut}"
    most = period.energy_constraint_joules
    return words if most is None else f"{words}; energy at most {energy_text(most)}"


def clusters_shown(clusters: Clusters) -> tuple[dict[str, Any], list[ConsoleRenderable]]:
    """Return what is in clusters, as JSON and in tables."""
    facts = _cluster_facts(clusters)
    least, middle, most = (number(facts["cores_asked"][key]) for key in ("least", "median", "most"))
    waiting = clusters.waiting
    judged = ("utility", _utility(facts)) if waiting is None else ("cost of waiting", waiting_words(waiting))
    word = UNIT_WORDS[clusters.unit]
    asked = "core" if clusters.unit == "node" else word  # what tasks ask for
    nodes = counted(clusters.nodes, word)
    nodes += f" with {counted(clusters.cores, 'core')}" if clusters.unit == "node" else ""
    tasks = f"{counted(clusters.tasks, 'task')} of {counted(len(clusters.task_types), 'type')}"
    rows = [
        ("task kinds", f"{facts['kinds']:,}, different in type, cores, work or time requested"),
        (f"{asked}s requested", f"{least} to {most}, median {middle}"),
        ("time requested", f"{number(facts['requested_per_run'], 3)} times the actual run time (median)"),
        ("arrivals", _span(facts)),
        *([] if clusters.epoch is None else [("second 0", clusters.epoch)]),
        *([("log", "its own starts are known")] if facts["has_logged_starts"] else []),
        ("load", f"{percent(facts['load'])} of all {asked}s, if each task ran where it is fastest"),
        judged,
        ("power", "given in watts" if facts["has_watts"] else "not given: energy is unknown"),
        *_counted(clusters.period, facts),
    ]
    parts: list[tuple[str, ...]] = []
    for c, each in enumerate(clusters.clusters):
        counts = (f"{count:,}" for count in (each.nodes, each.cores_per_node, each.cores))
        states = "-" if each.p_states is None else f"{each.modes:,}"
        parts.append((each.name, *counts, states, f"{_able(clusters, c):,}"))
    heading = f"{clusters.name}: {tasks} arriving at {nodes} in {counted(len(clusters.clusters), 'cluster')}"
    of_clusters: tuple[str, ...] = ("cluster", f"{word}s", f"cores/{word}", "cores", "P-states", "task types")
    if clusters.unit != "node":  # then a task asks for these, one by one
        of_clusters, parts = (*of_clusters[:2], *of_clusters[4:]), [(*row[:2], *row[4:]) for row in parts]
    of_types = ("task type", "tasks", f"{asked}s, median", "fastest, mean")
    return facts, [
        fitted(heading),
        table(("", ""), rows),
        *full_columns(of_clusters, parts, MOST_ROWS),
        *full_columns(of_types, _type_rows(clusters, facts["task_types"]), MOST_ROWS),
        *_functions(facts),
        hash_table(clusters),
    ]


def _cluster_facts(clusters: Clusters) -> dict[str, Any]:
    tasks = clusters.arriving
    of_type = Counter(tasks.type_numbers.tolist())
    asked = tasks.core_counts.tolist()
    requests = (high / low for low, high in zip(tasks.work_factors, tasks.requested_factors, strict=True))
    return {
        "tasks": clusters.tasks,
        "nodes": clusters.nodes,
        "cores": clusters.cores,
        "clusters": {
            each.name: {
                "nodes": each.nodes,
                "cores_per_node": each.cores_per_node,
                "p_states": None if each.p_states is None else list(each.p_states),
            }
            for each in clusters.clusters
        },
        "task_types": {task.name: of_type[i] for i, task in enumerate(clusters.task_types)},
        "cores_asked": {"least": min(asked), "median": median(asked), "most": max(asked)},
        "first_arrival_seconds": tasks.arrival_seconds[0],
        "last_arrival_seconds": tasks.arrival_seconds[-1],
        "load": _load(clusters),
        "kinds": len(clusters.kinds),
        "requested_per_run": median(requests),
        "has_watts": clusters.watts is not None,
        "has_jobs": tasks.jobs is not None,
        "has_logged_starts": tasks.logged_starts is not None,
        "unit": clusters.unit,
        "epoch": clusters.epoch,
        "utility_at_most": _utility_at_most(clusters) if clusters.waiting is None else None,
        "functions": len(clusters.functions),
        "told": _specified(clusters),
        "waiting": None if clusters.waiting is None else clusters.waiting.model_dump(),
        **_noted(clusters),
    }


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
    """Return the core-seconds of a kind where it is fastest."""
    runs = zip(clusters.modes, clusters.runs(kind.task_type, kind.cores), strict=True)
    seconds, cores = min(
        (run.seconds, run.nodes * clusters.clusters[c].cores_per_node) for (c, _), run in runs if run is not None
    )
    return kind.work * seconds * cores


def waiting_words(waiting: WaitingCost) -> str:
    """Return how the cost of waiting is measured.

    >>> from lpsched.online.utility import WaitingCost
    >>> waiting_words(WaitingCost()), waiting_words(WaitingCost("seconds", "cores"))
    ('bounded slowdown (runs of at least 10 s)', 'seconds, by cores')
    """
    words = waiting.measure.replace("-", " ")
    if waiting.measure == BOUNDED:
        words += f" (runs of at least {number(waiting.at_least_seconds)} s)"
    return words if waiting.weight == TASK else f"{words}, by {waiting.weight}"


def _able(clusters: Clusters, c: int) -> int:
    """Count the task types that can run on a cluster."""
    own = [column for column, (cluster, _) in enumerate(clusters.modes) if cluster == c]
    return sum(any(row[column] is not None for column in own) for row in clusters.seconds.cells)


def _type_rows(clusters: Clusters, counts: dict[str, int]) -> list[tuple[str, ...]]:
    """Return one row for each task type; means are over its tasks."""
    of_kind = Counter(memoryview(clusters.kind_numbers).cast("q").tolist())
    seconds: list[list[float]] = [[] for _ in clusters.task_types]
    cores: list[list[int]] = [[] for _ in clusters.task_types]
    for k, kind in enumerate(clusters.kinds):
        seconds[kind.task_type].append(of_kind[k] * (clusters.fastest_seconds(kind) or 0.0))
        cores[kind.task_type] += [kind.cores] * of_kind[k]
    rows: list[tuple[str, ...]] = []
    for i, (name, count) in enumerate(counts.items()):
        middle = number(median(cores[i])) if cores[i] else "-"
        rows.append((name, f"{count:,}", middle, duration(math.fsum(seconds[i]) / count) if seconds[i] else "-"))
    return rows
