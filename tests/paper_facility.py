"""A facility with one node and one CRAC unit, whose answers fit on a sheet of paper.

Air of 1,000 J/(m3 K) at 0.1 m3/s: 100 W warm it by one kelvin, in the node and in the unit. The node draws in
80 % cooled air and 20 % of its own; the unit draws in 80 % of the node's air and 20 % of its own. So with the
node's power P and the outlet temperature T

    inlet of the node  t = 0.2 (t + P / 100) + 0.8 T     that is  T + P / 400
    inlet of the unit  s = 0.8 (t + P / 100) + 0.2 T     that is  T + P / 100, so it takes out P, all of it
    CoP = T / 10, so the total is P (1 + 10 / T)

Two cores; a task of the only type takes 1 s and 50 W and earns 1; beside another one it takes 50 % longer.
So one core earns 1 a second for 50 W, two cores 2 / 1.5 = 4/3 for 100 W; overhead 120 W.

Redline 25.5 C and cap 280 W: T = 25.5 - P / 400 is best, and P (1 + 10 / T) = 280 has the solution P = 200, T = 25.
Above its overhead the node has 80 W: 0.4 of the time one core, 0.6 both, earns 0.4 + 0.6 x 4/3 = 1.2 a second.
"""

from __future__ import annotations

from lpsched.facility.model import Air, ArrivingType, CracUnit, Facility, Mixing, NodeType, SparseMatrix
from lpsched.model.table import Table


def paper_facility(*, cap: float = 280.0, redline: float = 25.5, arrivals: float = 10.0, nodes: int = 1) -> Facility:
    """Return the facility; several nodes are copies that share the unit's air evenly, each with 0.1 m3/s."""
    rows = [[(v, 0.2), (nodes, 0.8)] for v in range(nodes)]
    rows.append([*((v, 0.8 / nodes) for v in range(nodes)), (nodes, 0.2)])
    kind = NodeType(name="node", cores=2, overhead_watts=120.0, airflow_m3_per_second=0.1, redline_celsius=redline)
    unit = CracUnit(name="crac", airflow_m3_per_second=0.1 * nodes, outlet_celsius=(10.0, 30.0), cop=(0.0, 0.1, 0.0))
    task = ArrivingType(name="task", arrivals_per_second=arrivals, reward=1.0, memory_class="any")
    return Facility(
        name="paper",
        node_types=(kind,),
        nodes=(0,) * nodes,
        crac_units=(unit,),
        task_types=(task,),
        speeds=Table.of([[1.0]]),
        watts=Table.of([[50.0]]),
        mixing=Mixing(form="inlet_mix", matrix=SparseMatrix.of(rows, nodes + 1)),
        power_cap_watts=cap,
        memory_classes=("any",),
        degradation=Table.of([[0.5]]),
        air=Air(density_kg_per_m3=1.0, joules_per_kg_kelvin=1000.0),
    )
