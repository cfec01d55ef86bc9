"""Array views of a facility for the numerics: read-only; a pair that cannot run in time has speed 0.

Shapes: N nodes, U CRAC units, I task types, J node types, C columns (node type and P-state), L classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lpsched.facility.model import Facility, SparseMatrix
    from lpsched.model.arrays import Floats, Integers
    from lpsched.model.table import Table


@dataclass(frozen=True, slots=True)
class FacilityArrays:
    """The numbers of a facility; a pair that is absent, or too slow, has speed and watts 0."""

    node_type: Integers  # N
    cores: Integers  # J
    overhead_watts: Floats  # J
    airflow: Floats  # J, cubic metres per second
    redline: Floats  # N, celsius
    crac_airflow: Floats  # U
    outlet_low: Floats  # U, celsius
    outlet_high: Floats  # U
    cop: Floats  # U x 3: constant, linear, quadratic
    crac_redline: Floats  # U, inf where there is none
    arrivals: Floats  # I, per second
    rewards: Floats  # I
    mode_type: Integers  # C: the node type of each column
    speeds: Floats  # I x C, tasks per second of one core
    watts: Floats  # I x C
    class_of: Integers  # I: row of each task type in `degradation`
    degradation: Floats  # L x L; all 0 where the facility has none
    cap_watts: float
    joules_per_m3_kelvin: float  # of air


def facility_arrays(facility: Facility, *, colocation: bool = True) -> FacilityArrays:
    """Return the views; without co-location, cores do not slow each other down."""
    speeds, watts = _cells(facility.speeds), _cells(facility.watts)
    deadlines = np.array([np.inf if t.deadline_seconds is None else t.deadline_seconds for t in facility.task_types])
    with np.errstate(divide="ignore"):
        runs = (np.nan_to_num(speeds) > 0) & (1.0 / np.nan_to_num(speeds) < deadlines[:, None])  # equation 3
    degraded = colocation and facility.degradation is not None
    return FacilityArrays(
        node_type=np.array(facility.nodes, dtype=np.int64),
        cores=np.array([kind.cores for kind in facility.node_types], dtype=np.int64),
        overhead_watts=np.array([kind.overhead_watts for kind in facility.node_types]),
        airflow=np.array([kind.airflow_m3_per_second for kind in facility.node_types]),
        redline=np.array([facility.node_types[j].redline_celsius for j in facility.nodes]),
        crac_airflow=np.array([unit.airflow_m3_per_second for unit in facility.crac_units]),
        outlet_low=np.array([unit.outlet_celsius[0] for unit in facility.crac_units]),
        outlet_high=np.array([unit.outlet_celsius[1] for unit in facility.crac_units]),
        cop=np.array([(*unit.cop, 0.0, 0.0)[:3] for unit in facility.crac_units]),
        crac_redline=np.array(
            [np.inf if u.redline_celsius is None else u.redline_celsius for u in facility.crac_units]
        ),
        arrivals=np.array([task.arrivals_per_second for task in facility.task_types]),
        rewards=np.array([task.reward for task in facility.task_types]),
        mode_type=np.array([j for j, _ in facility.modes], dtype=np.int64),
        speeds=np.where(runs, speeds, 0.0),
        watts=np.where(runs, watts, 0.0),
        class_of=np.array(facility.class_of if degraded else [0] * len(facility.task_types), dtype=np.int64),
        degradation=_cells(facility.degradation) if degraded else np.zeros((1, 1)),
        cap_watts=facility.power_cap_watts,
        joules_per_m3_kelvin=facility.air.density_kg_per_m3 * facility.air.joules_per_kg_kelvin,
    )


def dense(matrix: SparseMatrix) -> Floats:
    """Return the matrix with its zeros."""
    starts = np.frombuffer(matrix.starts, dtype=np.int64)
    full = np.zeros((matrix.rows, matrix.columns))
    full[np.repeat(np.arange(matrix.rows), np.diff(starts)), np.frombuffer(matrix.places, dtype=np.int64)] = (
        np.frombuffer(matrix.packed)
    )
    return full


def _cells(table: Table | None) -> Floats:
    assert table is not None
    return np.frombuffer(table.packed).reshape(table.rows, table.columns)
