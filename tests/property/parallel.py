"""Random tiny clusters that are odd: absent pairs, P-states in no order, requests far above the real run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from lpsched.online.clusters import Clusters, DayTaskType, ParallelTasks
from lpsched.online.curves import NodeCurves
from lpsched.online.parts import WHOLE, Cluster, Levels
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from lpsched.online.utility import BOUNDED, MEASURES, POINTS, WEIGHTS, UtilityLevels, WaitingCost
from tests.property.days import GAPS, SECONDS, WATTS, periods, utility_functions, utility_levels

if TYPE_CHECKING:
    from lpsched.online.curves import Points

UTILITY = "utility"
WAITING = "waiting"
WORK = st.sampled_from([1.0, 1.0, 0.5, 3.0]) | st.floats(0.1, 5.0)
ASKED = st.sampled_from([1.0, 1.0, 1.5, 100.0]) | st.floats(1.0, 3.0)  # requested over work


@st.composite
def curves(draw, nodes: int, amounts: st.SearchStrategy[float]) -> Points:
    """Draw a cell that tells a value for any number of nodes of a cluster, and perhaps for more."""
    counts = {1, nodes, *draw(st.lists(st.integers(1, nodes + 2), max_size=2))}
    return tuple((count, draw(amounts)) for count in sorted(counts))


@st.composite
def waiting_costs(draw) -> WaitingCost:
    """Draw a cost of waiting, of any measure and weight."""
    measure = draw(st.sampled_from(MEASURES))
    if measure != POINTS:
        least = draw(st.sampled_from([10.0, 1.0, 30.0])) if measure == BOUNDED else 10.0
        return WaitingCost(measure, draw(st.sampled_from(WEIGHTS)), least)
    count = draw(st.integers(1, 4))
    after = [0.0, *sorted(draw(st.sets(st.integers(1, 60).map(float), min_size=count - 1, max_size=count - 1)))]
    costs = sorted(draw(st.lists(st.integers(0, 20).map(float), min_size=count, max_size=count)))
    points = tuple(zip(after, costs, strict=True))
    return WaitingCost(measure, draw(st.sampled_from(WEIGHTS)), points=points)


@st.composite
def parallel_clusters(
    draw,
    *,
    most_tasks: int = 6,
    most_types: int = 2,
    most_clusters: int = 3,
    most_nodes: int = 5,
    judged: str | None = None,  # UTILITY or WAITING; `None`: the one or the other
    whole: bool = False,  # whether all of it counts, and energy is free
) -> Clusters:
    """Draw clusters with at most so many tasks, task types, clusters, and nodes of a cluster."""
    parts = tuple(
        Cluster(
            f"c{c}",
            draw(st.integers(1, most_nodes)),
            draw(st.sampled_from([1, 1, 2, 3])),
            draw(st.sampled_from([None, None, ("P0",), ("P0", "P1")])),
        )
        for c in range(draw(st.integers(1, most_clusters)))
    )
    columns = [cluster for cluster in parts for _ in range(cluster.modes)]
    types = draw(st.integers(1, most_types))
    present = [[draw(st.sampled_from([True, True, True, False])) for _ in columns] for _ in range(types)]
    for row in present:
        row[draw(st.integers(0, len(columns) - 1))] = True

    def table(amounts: st.SearchStrategy[float]) -> NodeCurves:
        return NodeCurves(
            tuple(
                tuple(
                    draw(curves(cluster.nodes, amounts)) if there else None
                    for there, cluster in zip(row, columns, strict=True)
                )
                for row in present
            )
        )

    seconds, watts = table(SECONDS), draw(st.sampled_from([True, True, False]))
    powers = table(WATTS) if watts else None
    of_type, cores, work, requested, arrivals, now = [], [], [], [], [], 0.0
    for _ in range(draw(st.integers(1, most_tasks))):
        now += draw(GAPS)
        arrivals.append(now)
        of_type.append(draw(st.integers(0, types - 1)))
        can = [cluster.cores for there, cluster in zip(present[of_type[-1]], columns, strict=True) if there]
        cores.append(draw(st.integers(1, max(can))))
        work.append(draw(WORK))
        requested.append(work[-1] * draw(ASKED))
    names = tuple(DayTaskType(f"t{i}") for i in range(types))
    drawn: dict[str, Any] = {
        "name": "drawn",
        "clusters": parts,
        "task_types": names,
        "seconds": seconds,
        "watts": powers,
    }
    if (judged or draw(st.sampled_from([UTILITY, UTILITY, WAITING]))) == WAITING:
        tasks = ParallelTasks.of(arrivals, of_type, cores, work=work, requested=requested)
        return Clusters(**drawn, tasks=tasks, waiting=draw(waiting_costs()))
    levels = draw(st.just(UtilityLevels()) | utility_levels())
    own = {f"u{f}": draw(utility_functions()) for f in range(1 if levels == UtilityLevels() else 0, 2)}
    ways = [*own, *(Levels(p, "soon", c) for p in levels.priorities for c in levels.utility_classes)]
    told = [draw(st.sampled_from(ways)) for _ in arrivals]
    tasks = ParallelTasks.of(arrivals, of_type, cores, work=work, requested=requested, utilities=told)
    period = WHOLE if whole else draw(st.just(WHOLE) | periods())
    if powers is None and period.energy_constraint_joules is not None:
        period = WHOLE
    return Clusters(**drawn, tasks=tasks, utility_functions=own, period=period, **dict(levels))


@st.composite
def cluster_schedules_of(draw, clusters: Clusters) -> ClustersSchedule:
    """Draw a schedule without overlaps: tasks in any order on any nodes, with pauses.

    Where tasks are worth a utility, some are dropped. The period's end and energy are not looked at.
    """
    free: dict[tuple[int, int], float] = {}
    numbers = memoryview(clusters.kind_numbers).cast("q")
    placed = []
    for task in draw(st.permutations(range(clusters.tasks))):
        if clusters.waiting is None and draw(st.sampled_from([True, False, False])):
            continue
        kind = clusters.kinds[numbers[task]]
        able = [c for c in range(len(clusters.modes)) if clusters.seconds_of(kind, c) is not None]
        column = draw(st.sampled_from(able))
        c, seconds = clusters.modes[column][0], clusters.seconds_of(kind, column)
        count, size = clusters.nodes_of(kind, column), clusters.clusters[c].nodes
        assert count is not None
        assert seconds is not None
        nodes = sorted(draw(st.permutations(range(1, size + 1)))[:count])
        begin = max(clusters.arriving.arrival_seconds[task], *(free.get((c, n), 0.0) for n in nodes))
        start = begin + draw(st.sampled_from([0.0, 0.0, 3.0]))
        free |= {(c, n): start + seconds for n in nodes}
        name, state = clusters.clusters[c].name, clusters.p_state(column)
        placed.append(PlacedOnNodes(task, name, _ranges(nodes), start, state))
    return ClustersSchedule(tuple(placed))


def _ranges(nodes: list[int]) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for node in nodes:
        if found and found[-1][1] == node - 1:
            found[-1] = (found[-1][0], node)
        else:
            found.append((node, node))
    return tuple(found)
