"""Random facilities small enough to go through what their nodes can do: up to three nodes with two cores.

Air is drawn first; redlines and the cap then between what idle and what busy nodes need, because random ones would
nearly always be out of reach or without effect. Idle nodes at outlets of 12 celsius are always allowed.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from lpsched.facility.air import facility_arrays, heat_map, hottest_common_outlet, inlets, total_watts
from lpsched.facility.model import ArrivingType, CracUnit, Facility, Mixing, NodeType, SparseMatrix
from lpsched.facility.parts import CoreRun, GangAllocation, PatternShare
from lpsched.model.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.facility.patterns import FacilityRelaxation

COOL, WARM = 12.0, 22.0  # celsius of outlets at which everybody may idle, and at which nobody need be idle
FORMS = ("inlet_mix", "alpha", "recirculation")
JOULES = 1.205 * 1005.0  # to warm a cubic metre of air by a kelvin


def tiny_facility(
    rng: np.random.Generator, *, form: str | None = None, degraded: bool = True, most_nodes: int = 3
) -> Facility:
    """Draw a facility: absent pairs, P-states or none, classes or a full table, any form of mixing."""
    form = form or str(rng.choice(FORMS))
    kinds = int(rng.integers(1, 3))
    of_node = rng.integers(kinds, size=int(rng.integers(1, most_nodes + 1)))
    units = 1 if form == "recirculation" else int(rng.integers(1, 3))
    tasks = int(rng.integers(1, 4))
    states = [int(rng.integers(0, 3)) for _ in range(kinds)]
    shape = tasks, sum(max(1, each) for each in states)
    speeds = rng.uniform(0.2, 2.0, shape)
    watts = rng.uniform(5.0, 60.0, shape)
    absent = rng.random(shape) < 0.2
    absent[np.arange(tasks), rng.integers(shape[1], size=tasks)] = False
    overhead = rng.uniform(10.0, 60.0, kinds)
    airflow = (overhead + 100.0) / (JOULES * rng.uniform(5.0, 15.0, kinds))
    slowest = np.where(absent, np.inf, speeds).min(axis=1)
    fastest = np.where(absent, 0.0, speeds).max(axis=1)
    deadlines = [
        None if rng.random() < 0.5 else float(rng.uniform(1.01 / high, 1.5 / low))
        for high, low in zip(fastest, slowest, strict=True)
    ]
    classes, of_task, table = _degradation(rng, tasks, degraded=degraded)
    crac_flow = airflow[of_node].sum() * rng.uniform(1.0, 1.5) / units
    facility = Facility(
        name="tiny",
        node_types=tuple(
            NodeType(f"n{j}", int(rng.integers(1, 3)), float(overhead[j]), float(airflow[j]), 150.0, _named(states[j]))
            for j in range(kinds)
        ),
        nodes=tuple(map(int, of_node)),
        crac_units=tuple(CracUnit(f"c{u}", float(crac_flow), (10.0, 25.0)) for u in range(units)),
        task_types=tuple(
            ArrivingType(f"t{i}", float(rng.uniform(0.2, 4.0)), float(rng.uniform(0.5, 2.0)), deadlines[i], of_task[i])
            for i in range(tasks)
        ),
        speeds=_table(speeds, absent),
        watts=_table(watts, absent),
        mixing=_mixing(rng, form, airflow[of_node], np.full(units, crac_flow)),
        power_cap_watts=1e6,
        memory_classes=classes,
        degradation=table,
    )  # fmt: skip
    return _limited(rng, facility)


def _named(states: int) -> tuple[str, ...] | None:
    return tuple(f"P{k}" for k in range(states)) or None


def _table(cells: Any, absent: Any) -> Table:
    rows = zip(cells.tolist(), absent.tolist(), strict=True)
    return Table.of([[None if off else cell for cell, off in zip(*row, strict=True)] for row in rows])


def _degradation(
    rng: np.random.Generator, tasks: int, *, degraded: bool
) -> tuple[tuple[str, ...], list[str | None], Table | None]:
    """Draw memory classes, or a row for each task type, or nothing."""
    kind = rng.integers(3) if degraded else 0
    if kind == 0:
        return (), [None] * tasks, None
    names = ("heavy", "light") if kind == 1 else tuple(f"t{i}" for i in range(tasks))
    of_task = [str(rng.choice(names)) if kind == 1 else None for _ in range(tasks)]
    return names, of_task, Table.of(rng.uniform(0.0, 1.5, (len(names), len(names))).tolist())


def _mixing(rng: np.random.Generator, form: str, flow: Any, crac_flow: Any) -> Mixing:
    """Draw where air goes; flows are conserved."""
    nodes, flows = len(flow), np.concatenate((flow, crac_flow))
    if form == "recirculation":
        return Mixing("recirculation", _sparse(rng.uniform(0.0, 0.03, (nodes, nodes))))
    kernel = rng.uniform(0.0, 1.0, (len(flows), len(flows))) ** 2 + 1e-3
    kernel[:nodes, :nodes] *= rng.uniform(0.0, 1.0)
    for _ in range(5000):  # to row sums and column sums that are the flows
        kernel *= flows / kernel.sum(axis=0)
        kernel *= (flows / kernel.sum(axis=1))[:, None]
    return Mixing(form, _sparse(kernel / flows[:, None] if form == "inlet_mix" else (kernel / flows).T))


def _sparse(matrix: Any) -> SparseMatrix:
    return SparseMatrix.of([list(enumerate(row)) for row in matrix.tolist()], matrix.shape[1])


def _limited(rng: np.random.Generator, facility: Facility) -> Facility:
    """Draw redlines and a cap that may bind."""
    arrays, heat = facility_arrays(facility), heat_map(facility)
    idle = arrays.overhead_watts[arrays.node_type]
    busy = idle + 60.0 * arrays.cores[arrays.node_type]
    cool, warm = np.full(len(facility.crac_units), COOL), np.full(len(facility.crac_units), WARM)
    least, most = inlets(heat, idle, cool).max(), inlets(heat, busy, warm).max()
    redline = min(150.0, float(rng.uniform(least + 0.01, most)))  # the door allows no more
    low, high = total_watts(arrays, heat, idle, cool), total_watts(arrays, heat, busy, warm)
    cap = float(rng.uniform(1.001 * low, max(1.002 * low, high)))
    kinds = tuple(kind.model_copy(update={"redline_celsius": redline}) for kind in facility.node_types)
    return facility.model_copy(update={"node_types": kinds, "power_cap_watts": cap})


def some_outlets(rng: np.random.Generator, facility: Facility) -> Any:
    """Draw outlet temperatures; nearly always idle nodes keep their redlines, and units may be at odds."""
    arrays, heat = facility_arrays(facility), heat_map(facility)
    hottest = hottest_common_outlet(arrays, heat, arrays.overhead_watts[arrays.node_type])
    apart = rng.choice([0.0, 0.5, 2.0])
    around = rng.uniform(10.0, max(10.0, hottest)) + apart * rng.uniform(-1.0, 1.0, len(facility.crac_units))
    return np.clip(around, 10.0, 25.0)


Item = tuple[int, int]  # task type and column of the tables


def items(facility: Facility, j: int) -> list[Item]:
    """Return what a core of node type j can run in time."""
    found = []
    for i, task in enumerate(facility.task_types):
        for column, (own, _) in enumerate(facility.modes):
            speed = facility.speeds[i, column]
            if own == j and speed and (task.deadline_seconds is None or 1.0 / speed < task.deadline_seconds):
                found.append((i, column))
    return found


def patterns(facility: Facility, j: int) -> list[tuple[Item, ...]]:
    """Return everything that the cores of node type j can run at once, the empty pattern first."""
    choices = items(facility, j)
    return [
        chosen
        for cores in range(facility.node_types[j].cores + 1)
        for chosen in combinations_with_replacement(choices, cores)
    ]


def rates(facility: Facility, pattern: Sequence[Item]) -> Any:
    """Return the tasks of each type that a pattern does in a second."""
    done = np.zeros(len(facility.task_types))
    for place, (i, column) in enumerate(pattern):
        others = [other for at, (other, _) in enumerate(pattern) if at != place]
        slower = 0.0
        if facility.degradation is not None:
            own = facility.class_of
            slower = sum(facility.degradation[own[i], own[other]] or 0.0 for other in others)
        done[i] += (facility.speeds[i, column] or 0.0) / (1.0 + slower)
    return done


def watts(facility: Facility, pattern: Sequence[Item]) -> float:
    """Return what its cores draw."""
    return sum(facility.watts[item] or 0.0 for item in pattern)


def share_of(facility: Facility, share: float, pattern: Sequence[Item]) -> PatternShare:
    """Return a pattern in the words of an allocation."""
    return PatternShare(
        share, tuple(CoreRun(facility.task_types[i].name, 1, state_of(facility, c)) for i, c in pattern)
    )


def state_of(facility: Facility, column: int) -> str | None:
    """Return the name of the P-state of a column."""
    j, k = facility.modes[column]
    states = facility.node_types[j].p_states
    return None if states is None else states[k]


def gang_of(facility: Facility, relaxed: FacilityRelaxation) -> GangAllocation:
    """Return the patterns of a relaxation as an allocation, a hair less than a solver's tolerance lets slip."""
    nodes = []
    for own in relaxed.shares:
        total = max(1.0, sum(share for share, _ in own)) * (1.0 + 1e-7)
        nodes.append(
            tuple(
                PatternShare(
                    share / total,
                    tuple(CoreRun(facility.task_types[i].name, n, state_of(facility, c)) for i, c, n in q.runs),
                )
                for share, q in own
            )
        )
    return GangAllocation(tuple(map(float, relaxed.outlets)), tuple(nodes))
