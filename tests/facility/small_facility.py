"""One node, one CRAC unit: a facility whose heat can be worked out on paper.

Air takes 1,000 J to warm a cubic metre by a kelvin, and 0.1 of them pass the node in a second: 100 W a kelvin. Of
what the node draws in, 0.2 left the node itself and 0.8 the unit, so with P watts and the unit at T celsius

    node inlet   t = 0.2 (t + P / 100) + 0.8 T     =  T + P / 400
    unit inlet   s = 0.8 (t + P / 100) + 0.2 T     =  T + P / 100,   and 100 W/K * (s - T) = P is taken out.

CoP(20) = 2 + 0.1 * 20 = 4: cooling takes P / 4.
"""

from __future__ import annotations

from lpsched.facility.model import Air, ArrivingType, CracUnit, Facility, Mixing, NodeType, SparseMatrix
from lpsched.model.table import Table

INLET_MIX = Mixing("inlet_mix", SparseMatrix.of([[(0, 0.2), (1, 0.8)], [(0, 0.8), (1, 0.2)]], 2))

SMALL = Facility(
    name="paper",
    node_types=(NodeType("blade", 2, 100.0, 0.1, 25.0, ("P0", "P1", "P2")),),
    nodes=(0,),
    crac_units=(CracUnit("north", 0.1, (10.0, 30.0), (2.0, 0.1, 0.0), 40.0),),
    task_types=(ArrivingType("render", 10.0, 2.0, 3.0, "heavy"), ArrivingType("zip", 1.0, 1.0, None, "light")),
    speeds=Table.of([[1.0, 0.4, 0.25], [2.0, None, 1.0]]),  # render takes 4 s in P2: too long
    watts=Table.of([[40.0, 10.0, 5.0], [30.0, None, 20.0]]),
    mixing=INLET_MIX,
    power_cap_watts=250.0,
    memory_classes=("heavy", "light"),
    degradation=Table.of([[1.0, 0.5], [0.25, 0.0]]),
    air=Air(1.0, 1000.0),
)


def small(**changes) -> Facility:
    return SMALL.model_copy(update=changes)
