"""Seeded facilities after the three platforms of Oxley and others (thin first form)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.instance.facility import (
    Air,
    ArrivingType,
    CracUnit,
    Facility,
    Mixing,
    NodeType,
    SparseMatrix,
)
from lpsched.instance.table import Table

if TYPE_CHECKING:
    from lpsched.instance.arrays import Floats

PLATFORMS: Final = {"small": (150, 3, 8, 2), "medium": (500, 4, 10, 3), "large": (5000, 60, 16, 4)}
# name, overhead watts, cores, P-states, watts of a core in P-state 0 (table II)
NODES: Final = (
    ("tx140", 18.9, 4, 14, 9.1),
    ("x3200", 75.2, 2, 4, 20.9),
    ("rx100", 35.0, 4, 11, 22.4),
    ("at110", 21.3, 4, 16, 18.55),
)
# name, memory class, how much of the time scales with the clock
TASKS: Final = (
    ("lbm", "heavy", 0.30), ("bwaves", "heavy", 0.45), ("sphinx3", "medium", 0.60), ("milc", "heavy", 0.40),
    ("cactusADM", "medium", 0.65), ("calculix", "light", 0.95), ("wrf", "medium", 0.70), ("tonto", "light", 0.90),
    ("povray", "light", 1.00), ("dealII", "light", 0.80), ("zeusmp", "medium", 0.65), ("gromacs", "light", 0.95),
    ("leslie3d", "heavy", 0.40), ("namd", "light", 0.98), ("soplex", "heavy", 0.45), ("GemsFDTD", "heavy", 0.40),
)  # fmt: skip
CLASSES: Final = ("heavy", "medium", "light")
DEGRADATION: Final = ((1.00, 0.30, 0.05), (0.50, 0.20, 0.03), (0.06, 0.04, 0.01))
RACK: Final = 25
LOWEST_CLOCK: Final = 0.4
STATIC: Final = 0.1
FLOW_PER_WATT: Final = 7.55e-5  # m3/s: 160 cubic feet a minute for a kilowatt


def generate_facility(
    platform: str, rng: np.random.Generator, *, recirculation: float = 0.2, cap_share: float = 0.6
) -> Facility:
    nodes, units, tasks, kinds = PLATFORMS[platform]
    return make(
        rng, nodes, units, tasks, kinds, recirculation=recirculation, cap_share=cap_share, name=platform
    )


def make(rng, nodes, units, tasks, kinds, *, recirculation=0.2, cap_share=0.6, name="facility", rack=RACK):
    from lpsched.heat import heat_map, hottest_common_outlet, total_watts
    from lpsched.instance.facility_arrays import facility_arrays

    air = Air()
    full = [over + cores * watts for _, over, cores, _, watts in NODES[:kinds]]
    types = tuple(
        NodeType(each, cores, over, FLOW_PER_WATT * most, 25.0, tuple(f"P{k}" for k in range(states)))
        for (each, over, cores, states, _), most in zip(NODES, full, strict=False)
    )
    of_node = rng.integers(kinds, size=nodes)
    of_node[:kinds] = np.arange(kinds) if nodes >= kinds else of_node[:kinds]
    flow = np.array([types[j].airflow_m3_per_second for j in of_node])
    cracs = tuple(CracUnit(f"crac-{u}", flow.sum() / units, (10.0, 25.0)) for u in range(units))
    mix = mixing(flow, np.full(units, flow.sum() / units), recirculation, rack)
    base = rng.uniform(200.0, 600.0, tasks)[:, None] * rng.gamma(1 / 0.15**2, 0.15**2, (tasks, kinds))
    base = base * rng.uniform(0.8, 1.25, kinds)
    speeds, watts = [], []
    for i in range(tasks):
        bound = TASKS[i][2]
        row_s, row_w = [], []
        for j in range(kinds):
            for clock in np.linspace(1.0, LOWEST_CLOCK, NODES[j][3]):
                row_s.append(1.0 / (base[i, j] * (1 + bound * (1 / clock - 1))))
                row_w.append(NODES[j][4] * (STATIC + (1 - STATIC) * clock**3) * (0.75 + 0.25 * bound))
        speeds.append(row_s)
        watts.append(row_w)
    first = np.cumsum([0] + [NODES[j][3] for j in range(kinds)])[:-1]
    cores = np.array([sum(types[j].cores for j in of_node if j == each) for each in range(kinds)])
    capacity = (np.array(speeds)[:, first] * cores).sum(axis=1) / tasks
    arrivals = rng.uniform(0.5, 1.5, tasks) * capacity
    rewards = rng.uniform(0.5, 1.0, tasks)
    deadlines = rng.uniform(1.5, 3.0, tasks) * base.mean(axis=1)
    arriving = tuple(
        ArrivingType(TASKS[i][0], float(arrivals[i]), float(rewards[i]), float(deadlines[i]), TASKS[i][1])
        for i in range(tasks)
    )
    facility = Facility(
        name, types, tuple(map(int, of_node)), cracs, arriving, Table.of(speeds), Table.of(watts), mix, 1e12,
        CLASSES, Table.of(DEGRADATION), air,
    )  # fmt: skip
    arrays, heat = facility_arrays(facility), heat_map(facility)
    most = np.array(
        [o + c * max(w[k] for w in watts) for (_, o, c, _, _), k in zip(NODES, first, strict=False)]
    )
    powers = most[of_node]
    outlet = np.full(units, hottest_common_outlet(arrays, heat, powers))
    return replace(facility, power_cap_watts=cap_share * total_watts(arrays, heat, powers, outlet))


def mixing(flow: Floats, crac_flow: Floats, recirculation: float, rack: int = RACK) -> Mixing:
    nodes, units = len(flow), len(crac_flow)
    racks = -(-nodes // rack)
    rows = max(2, 2 * round(np.sqrt(racks / 3) / 2)) if racks > 1 else 1
    length = -(-racks // rows)
    at = np.arange(nodes)
    row, along, height = at // rack // length, at // rack % length, (at % rack + 0.5) / rack
    x = along * 0.6
    y = row * 2.4
    cold = np.where(row % 2 == 0, 0.6, -0.6)  # rows 0 and 1 face each other
    inlet = np.column_stack((x, y + cold, 2 * height))
    outlet = np.column_stack((x, y - cold, 2 * height))
    angle = (np.arange(units) + 0.5) / units
    perimeter = np.column_stack(_around(angle, x.max(), y.max()))
    share = recirculation * (0.5 + height)
    kernel = np.exp(-_distances(inlet, outlet) / 0.8)
    keep = np.zeros_like(kernel, dtype=bool)
    few = min(nodes, 30)
    nearest = np.argpartition(-kernel, few - 1, axis=1)[:, :few]
    keep[np.arange(nodes)[:, None], nearest] = True
    keep |= keep.T | np.eye(nodes, dtype=bool)
    among = balanced(np.where(keep, kernel, 0.0), share * flow, share * flow)
    moved, total = (share * flow).sum(), flow.sum()
    past = crac_flow * moved / total
    down = balanced(np.exp(-_distances(inlet, perimeter) / 4.0), (1 - share) * flow, crac_flow - past)
    back = balanced(np.exp(-_distances(perimeter, outlet) / 4.0), crac_flow - past, (1 - share) * flow)
    bypass = balanced(np.exp(-_distances(perimeter, perimeter) / 4.0), past, past)
    flows = np.block([[among, down], [back, bypass]])
    shares = flows / np.concatenate((flow, crac_flow))[:, None]
    return Mixing(
        "inlet_mix",
        SparseMatrix.of([[(int(u), float(r[u])) for u in np.flatnonzero(r)] for r in shares], nodes + units),
    )


def _around(angle, width, depth):
    along = angle * 2 * (width + depth + 4)
    side = np.searchsorted(np.cumsum([width + 2, depth + 2, width + 2]), along, side="right")
    start = np.array([0, width + 2, width + depth + 4, 2 * width + depth + 6])[side]
    d = along - start
    x = np.choose(side, [d - 1, np.full_like(d, width + 1), width + 1 - d, np.full_like(d, -1.0)])
    y = np.choose(side, [np.full_like(d, -1.0), d - 1, np.full_like(d, depth + 1), depth + 1 - d])
    return x, y, np.zeros_like(x)


def _distances(to, source):
    return np.sqrt(((to[:, None, :] - source[None, :, :]) ** 2).sum(axis=2))


def balanced(kernel: Floats, rows: Floats, columns: Floats) -> Floats:
    """Scale rows and columns of a kernel until they sum to what is asked."""
    a, b = np.ones(len(rows)), np.ones(len(columns))
    for _ in range(20000):
        b = columns / (kernel.T @ a)
        sums = kernel @ b
        if np.abs(a * sums / rows - 1).max() < 1e-14:
            break
        a = rows / sums
    return a[:, None] * kernel * b
