"""Random tiny facilities at the edges: nothing to earn, nothing that arrives, tasks that draw nothing, no room at all.

Made of the facilities of `tiny_facilities.py`. Some cannot be run; the door refuses some others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.facility.air import crac_inlets, facility_arrays, heat_map, total_watts
from lpsched.model.table import Table
from tests.property.tiny_facilities import COOL, tiny_facility

if TYPE_CHECKING:
    from lpsched.facility.model import Facility


def odd_facility(rng: np.random.Generator) -> Facility:
    """Draw a facility, and then what is odd about it; the door may refuse it."""
    facility = _odd_limits(rng, _odd_work(rng, tiny_facility(rng)))
    if rng.random() < 0.4:
        kinds = tuple(kind.model_copy(update={"cores": int(rng.integers(1, 4))}) for kind in facility.node_types)
        facility = facility.model_copy(update={"node_types": kinds})
    return facility


def _odd_work(rng: np.random.Generator, facility: Facility) -> Facility:
    """Draw tasks that earn, arrive or draw nothing, or that are all alike."""
    tasks = []
    for task in facility.task_types:
        reward = rng.choice([task.reward, 0.0, 10.0 ** rng.uniform(-6.0, 6.0)], p=[0.8, 0.1, 0.1])
        arrivals = rng.choice([task.arrivals_per_second, 0.0, 10.0 ** rng.uniform(-6.0, 4.0)], p=[0.8, 0.1, 0.1])
        tasks.append(task.model_copy(update={"reward": float(reward), "arrivals_per_second": float(arrivals)}))
    share = rng.choice([0.0, 0.5, 1.0], p=[0.6, 0.3, 0.1])
    free = [
        [None if watts is None else 0.0 if rng.random() < share else watts for watts in row] for row in facility.watts
    ]
    same = [[None if watts is None else 20.0 for watts in row] for row in facility.watts]
    watts = Table.of(same if rng.random() < 0.2 else free)
    return facility.model_copy(update={"task_types": tuple(tasks), "watts": watts})


def _odd_limits(rng: np.random.Generator, facility: Facility) -> Facility:
    """Draw a cap about where idle nodes are, redlines of the units, and outlets that hardly move."""
    arrays, heat = facility_arrays(facility), heat_map(facility)
    idle, cool = arrays.overhead_watts[arrays.node_type], np.full(len(facility.crac_units), COOL)
    units = facility.crac_units
    if rng.random() < 0.4:
        warm = crac_inlets(heat, idle, cool).tolist()
        units = tuple(
            unit.model_copy(update={"redline_celsius": inlet + rng.uniform(0.01, 15.0)})
            for unit, inlet in zip(units, warm, strict=True)
        )
    if rng.random() < 0.2:
        low, width = float(rng.uniform(5.0, 20.0)), float(rng.choice([0.0, 0.5, 5.0]))
        units = tuple(unit.model_copy(update={"outlet_celsius": (low, low + width)}) for unit in units)
    cap = facility.power_cap_watts
    if rng.random() < 0.3:
        cap = total_watts(arrays, heat, idle, cool) * float(rng.choice([0.9, 1.0001, 1.01, 1.05]))
    return facility.model_copy(update={"crac_units": units, "power_cap_watts": cap})
