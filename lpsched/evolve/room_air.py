"""What repairing a chromosome needs to know of air and cooling, in arrays that compiled loops read.

S steps of the outlets, N nodes, U CRAC units; the letters are those of `heat/air.py` and `heat/steps.py`. A
hall is a run of nodes, in the order of the file, whose heat reaches no other node; most facilities are one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.heat import rooms

if TYPE_CHECKING:
    from lpsched.heat import HeatMap, OutletSteps
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.facility_arrays import FacilityArrays

HAIR: Final = 1e-10  # of the cap; the verifier adds up in another order


class Cooling(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """What repair needs to know of air and cooling; row v of a transposed matrix is what a watt of v does."""

    hall_first: Integers  # of each hall its first node, and N at the end
    hall_of: Integers  # N
    from_power: Floats  # N x N: G transposed
    crac_from_power: Floats  # N x U: Gc transposed
    own_kelvin_per_watt: Floats  # N: how much the air that passes a node warms
    mixed: Floats  # S x N: the cooled air in each node's inlet, celsius
    room: Floats  # S x N, kelvin; this and the following as in `OutletSteps`
    crac_room: Floats  # S x U
    least_warming: Floats  # S x U
    watts_per_kelvin: Floats  # S x U
    cap_watts: float
    idle_watts: float  # of all idle nodes together, ...
    idle_warming: Floats  # N: ... their G P, ...
    idle_crac_warming: Floats  # U: ... and Gc P


def cooling_of(arrays: FacilityArrays, heat: HeatMap, steps: OutletSteps) -> Cooling:
    """Return what repair needs, contiguous in the order in which it is read."""
    per_kelvin = arrays.joules_per_m3_kelvin * arrays.airflow[arrays.node_type]
    idle = arrays.overhead_watts[arrays.node_type]
    return Cooling(
        *halls_of(heat),
        np.ascontiguousarray(heat.from_power.T),
        np.ascontiguousarray(heat.crac_from_power.T),
        1.0 / per_kelvin,
        np.ascontiguousarray(steps.outlets @ heat.from_outlets.T),
        np.ascontiguousarray(steps.room),
        np.ascontiguousarray(steps.crac_room),
        np.ascontiguousarray(steps.least_warming),
        np.ascontiguousarray(steps.watts_per_kelvin),
        arrays.cap_watts * (1.0 - HAIR),
        float(idle.sum()),
        heat.from_power @ idle,
        heat.crac_from_power @ idle,
    )


def halls_of(heat: HeatMap) -> tuple[Integers, Integers]:
    """Return the first node of each hall, with their number at the end, and the hall of each node."""
    count = len(heat.from_power)
    groups = rooms(heat.from_power)
    if not np.array_equal(np.concatenate(groups), np.arange(count)):  # not one after the other
        groups = [np.arange(count)]
    sizes = [len(each) for each in groups]
    return np.concatenate(([0], np.cumsum(sizes))), np.repeat(np.arange(len(groups)), sizes)
