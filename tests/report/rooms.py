"""Rooms for tests of figures: small facilities, an allocation, and what was measured of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lpsched.facility.model import ArrivingType, CracUnit, Facility, Mixing, NodeType, SparseMatrix
from lpsched.facility.parts import CoreAllocation, CoreFraction
from lpsched.model.table import Table

AWKWARD_NAMES = (
    "$x_1$",
    "<script>alert(1)</script>",
    "任务",
    "a very long name " * 11 + "!",
    "עברית",
    'a--><b>&amp;"',
    r"\$ \frac",
    "%s{0}",
    "مهمة",
    "_^",
    "http://example.org/",
)


@dataclass(frozen=True)
class Measures:
    """What the figures take of a measurement."""

    node_watts: tuple[float, ...]
    node_inlets_celsius: tuple[float, ...]
    cooling_watts: tuple[float, ...]
    crac_inlets_celsius: tuple[float, ...]
    heat_removed_watts: tuple[float, ...]


def small_room() -> tuple[Facility, Measures, CoreAllocation]:
    """Return a quad and two duals; `scan` harms the others most, then `join`, then `count`."""
    kinds = (NodeType("dual", 2, 10.0, 0.1, 24.0), NodeType("quad", 4, 20.0, 0.1, 25.0))
    tasks = (
        ArrivingType("count", 1.0, 1.0, memory_class="light"),
        ArrivingType("scan", 1.0, 1.0, memory_class="heavy"),
        ArrivingType("join", 1.0, 1.0, memory_class="medium"),
    )
    facility = Facility(
        "small room",
        kinds,
        (0, 1, 0),
        (CracUnit("left", 0.15, (10.0, 25.0)), CracUnit("right", 0.15, (12.0, 20.0))),
        tasks,
        Table.of([[1.0, 1.0]] * 3),
        Table.of([[5.0, 5.0]] * 3),
        mixing(3, 2),
        power_cap_watts=200.0,
        memory_classes=("light", "medium", "heavy"),
        degradation=Table.of([[0.0, 0.1, 0.2], [0.1, 0.2, 0.5], [0.1, 0.3, 0.9]]),
    )
    cores = CoreAllocation(
        (18.0, 19.0),
        (
            ((CoreFraction("scan", 0.75), CoreFraction("count", 0.25)), ()),
            ((CoreFraction("join", 1.0),), (CoreFraction("count", 0.5), CoreFraction("scan", 0.3)), (), ()),
            ((), (CoreFraction("count", 0.4),)),
        ),
    )
    # overheads are 10, 20 and 10 W; nodes together draw 15 + 29 + 12 = 56 W
    return facility, Measures((15.0, 29.0, 12.0), (21.0, 23.5, 22.0), (8.0, 6.0), (21.0, 22.0), (30.0, 26.0)), cores


def plain_room(
    *, nodes: int = 1, units: int = 1, tasks: int = 1, cores: int = 1, kinds: int = 1
) -> tuple[Facility, Measures, CoreAllocation]:
    """Return a room of a given size without degradation; core k of a node runs task type k half of its time."""
    facility = Facility(
        "plain room",
        tuple(NodeType(f"kind {j}", cores, 10.0, 0.1, 25.0 + j) for j in range(kinds)),
        tuple(v % kinds for v in range(nodes)),
        tuple(CracUnit(f"unit {u}", 0.1 * nodes / units, (10.0, 25.0)) for u in range(units)),
        tuple(ArrivingType(f"task {i}", 1.0, 1.0) for i in range(tasks)),
        Table.of([[1.0] * kinds] * tasks),
        Table.of([[5.0] * kinds] * tasks),
        mixing(nodes, units),
        power_cap_watts=100.0 * nodes,
    )
    node = tuple((CoreFraction(f"task {k % tasks}", 0.5),) for k in range(cores))
    allocation = CoreAllocation((15.0,) * units, (node,) * nodes)
    return (
        facility,
        Measures((12.5,) * nodes, (20.0,) * nodes, (5.0,) * units, (24.0,) * units, (12.5,) * units),
        allocation,
    )


def awkward_room() -> tuple[Facility, Measures, CoreAllocation]:
    """Return a room whose every name tries to be something else."""
    count = len(AWKWARD_NAMES)
    facility, measures, cores = plain_room(nodes=count, units=4, tasks=count, cores=count, kinds=count)
    names = iter(AWKWARD_NAMES)
    facility = facility.model_copy(
        update={
            "name": AWKWARD_NAMES[1],
            "node_types": tuple(
                kind.model_copy(update={"name": name})
                for kind, name in zip(facility.node_types, AWKWARD_NAMES, strict=True)
            ),
            "crac_units": tuple(unit.model_copy(update={"name": next(names)}) for unit in facility.crac_units),
            "task_types": tuple(
                task.model_copy(update={"name": name})
                for task, name in zip(facility.task_types, AWKWARD_NAMES, strict=True)
            ),
        }
    )
    node = tuple((CoreFraction(name, 0.5),) for name in AWKWARD_NAMES)
    return facility, measures, replace(cores, nodes=(node,) * count)


def mixing(nodes: int, units: int) -> Mixing:
    """Return air of which nodes draw in 80 % cooled, and units 80 % from the nodes, evenly."""
    cooled = [(nodes + u, 0.8 / units) for u in range(units)]
    warmed = [(v, 0.8 / nodes) for v in range(nodes)]
    bypass = [(nodes + u, 0.2 / units) for u in range(units)]
    rows = [[(v, 0.2), *cooled] for v in range(nodes)] + [[*warmed, *bypass]] * units
    return Mixing("inlet_mix", SparseMatrix.of(rows, nodes + units))
