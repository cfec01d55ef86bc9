"""Facilities for tests: a small one by hand, random ones by Hypothesis.

The one by hand has two nodes and two CRAC units. Flows into a row's place from a column's, in m3/s:

               blade  tower   left  right
    blade       0.01   0.01   0.06   0.02      0.1
    tower       0.02   0.02   0.02   0.14      0.2
    left        0.03   0.05   0.01   0.01      0.1
    right       0.04   0.12   0.01   0.03      0.2
                0.1    0.2    0.1    0.2
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from hypothesis import strategies as st

from lpsched.facility.model import Air, ArrivingType, CracUnit, Facility, Mixing, NodeType, SparseMatrix
from lpsched.model.table import Table
from tests.documents import replaced
from tests.support import AWKWARD, NAMES

INLET_MIX = [[0.1, 0.1, 0.6, 0.2], [0.1, 0.1, 0.1, 0.7], [0.3, 0.5, 0.1, 0.1], [0.2, 0.6, 0.05, 0.15]]
ALPHA = [[0.1, 0.2, 0.3, 0.4], [0.05, 0.1, 0.25, 0.6], [0.6, 0.2, 0.1, 0.1], [0.1, 0.7, 0.05, 0.15]]
SOUND: dict[str, Any] = {
    "format": "lpsched-facility/1",
    "name": "sound",
    "node_types": [
        {
            "name": "blade",
            "cores": 2,
            "overhead_watts": 20,
            "airflow_m3_per_second": 0.1,
            "redline_celsius": 27,
            "p_states": ["fast", "saving"],
        },
        {"name": "tower", "cores": 1, "overhead_watts": 30, "airflow_m3_per_second": 0.2, "redline_celsius": 27},
    ],
    "nodes": ["blade", "tower"],
    "crac_units": [
        {"name": "left", "airflow_m3_per_second": 0.1, "outlet_celsius": [15, 25]},
        {"name": "right", "airflow_m3_per_second": 0.2, "outlet_celsius": [15, 25], "redline_celsius": 40},
    ],
    "task_types": [
        {"name": "render", "arrivals_per_second": 0.5, "reward": 4.0, "deadline_seconds": 60, "memory_class": "heavy"},
        {"name": "zip", "arrivals_per_second": 1.5, "reward": 1.0, "memory_class": "light"},
    ],
    "speeds": {"render": {"blade": [0.05, 0.03], "tower": 0.04}, "zip": {"blade": [0.2, 0.125]}},
    "watts": {"render": {"blade": [25.0, 12.0], "tower": 30.0}, "zip": {"blade": [22.0, 10.0]}},
    "degradation": {"heavy": {"heavy": 0.4, "light": 0.05}, "light": {"heavy": 0.1, "light": 0.0}},
    "mixing": {"inlet_mix": INLET_MIX},
    "power_cap_watts": 300,
    "air": {"density_kg_per_m3": 1.0, "joules_per_kg_kelvin": 1000.0},
}


def sound_facility(**changes: Any) -> dict[str, Any]:
    """Return the sound facility's mapping with some keys replaced; a value of `...` removes the key."""
    raw = copy.deepcopy(SOUND) | changes
    return {key: value for key, value in raw.items() if value is not ...}


def within(path: str, value: Any) -> dict[str, Any]:
    """Return the change of one value deep inside, such as ``node_types.0.cores``; `...` removes it."""
    key = path.partition(".")[0]
    return replaced({key: SOUND[key]}, {path: value})


SOME = st.just(0.0) | st.floats(0.01, 9)
LETTERS = st.characters(exclude_categories=("C", "Z"))
TEXTS = st.text(LETTERS | st.sampled_from(" \n"), max_size=100)
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=12), min_size=15, max_size=30)
LONG_TEXTS = WORDS.map(" ".join) | WORDS.map("  ".join)


@st.composite
def facilities(draw, *, names=NAMES | AWKWARD) -> Facility:
    """Draw facilities with absent pairs, P-states, deadlines, degradation and all three forms of mixing."""
    kinds = tuple(
        NodeType(
            name,
            draw(st.integers(1, 4)),
            draw(st.just(0.0) | st.floats(0.01, 50)),
            draw(st.floats(0.01, 0.5)),
            redline_celsius=80.0,
            p_states=draw(st.none() | st.integers(1, 3).map(lambda count: tuple("PQR"[:count]))),
        )
        for name in draw(st.lists(names, min_size=1, max_size=3, unique=True))
    )
    nodes = tuple(draw(st.lists(st.integers(0, len(kinds) - 1), min_size=1, max_size=6)))
    units = draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    mixing, flows = draw_mixing(
        draw(st.sampled_from(["inlet_mix", "alpha", "recirculation"])), kinds, nodes, units, rng
    )
    tasks = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    columns = sum(kind.modes for kind in kinds)
    there = rng.random((len(tasks), columns)) < 0.7
    there[np.arange(len(tasks)), rng.integers(columns, size=len(tasks))] = True
    speeds = np.where(there, rng.uniform(0.1, 1.0, there.shape), np.nan)
    classes = draw(st.sampled_from([(), ("heavy", "light"), tuple(tasks)]))
    of_task = [draw(st.sampled_from(classes)) if "heavy" in classes else None for _ in tasks]
    return Facility(
        draw(names),
        kinds,
        nodes,
        tuple(CracUnit(f"u{u}", float(flow), (10.0, 20.0 + u)) for u, flow in enumerate(flows)),
        tuple(
            ArrivingType(name, draw(SOME), draw(SOME), draw(st.none() | st.just(11.0)), kind)
            for name, kind in zip(tasks, of_task, strict=True)
        ),
        Table.of(speeds.tolist()),
        Table.of(np.where(there, rng.uniform(0.0, 50.0, there.shape), np.nan).tolist()),
        mixing,
        power_cap_watts=1e6,
        memory_classes=classes,
        degradation=Table.of(rng.random((len(classes), len(classes))).tolist()) if classes else None,
        air=draw(st.sampled_from([Air(), Air(1.1, 1000.0)])),
        description=draw(TEXTS | LONG_TEXTS),
    )


def draw_mixing(form, kinds, nodes, units, rng) -> tuple[Mixing, list[float]]:
    """Return a mixing with conserved flow, and the airflows of the CRAC units that fit it."""
    flow = np.array([kinds[j].airflow_m3_per_second for j in nodes])
    if form == "recirculation":
        return Mixing(form, sparse(1e-3 * rng.random((len(nodes), len(nodes))))), [float(flow.sum())]
    flows = np.concatenate((flow, np.full(units, flow.sum() / units)))
    exchanged = flows[:, None] * flows / flows.sum()  # symmetric, and its rows sum to the flows
    if form == "inlet_mix":
        return Mixing(form, sparse(exchanged / flows[:, None])), flows[len(nodes) :].tolist()
    return Mixing(form, sparse((exchanged / flows).T)), flows[len(nodes) :].tolist()


def sparse(matrix: Any) -> SparseMatrix:
    """Return a matrix of plain rows, packed."""
    return SparseMatrix.of([[(u, float(x)) for u, x in enumerate(row)] for row in matrix], len(matrix))
