"""Compiling before the clock starts: some ten seconds at the first use, nothing where the code is on disk."""

from __future__ import annotations

import numpy as np

from lpsched.compiled import require_compiler
from lpsched.evolve.breeding import Breeder
from lpsched.instance.facility import ArrivingType, CracUnit, Facility, Mixing, NodeType, SparseMatrix
from lpsched.instance.table import Table


def warm_up() -> None:
    """Compile everything that the genetic algorithm runs, by breeding two children of one core.

    Raises
    ------
    MissingExtraError
        If Numba is not installed.
    """
    require_compiler()
    breeder = Breeder(_smallest(), np.random.default_rng(0), colocation=True)
    breeder.children(breeder.at_random(), breeder.at_random())


def _smallest() -> Facility:
    """Return a facility of one core, which draws in nothing but cooled air."""
    return Facility(
        name="one core",
        node_types=(NodeType("node", 1, 10.0, 0.1, 25.0),),
        nodes=(0,),
        crac_units=(CracUnit("crac", 0.1, (15.0, 25.0)),),
        task_types=(ArrivingType("task", 1.0, 1.0),),
        speeds=Table.of([[1.0]]),
        watts=Table.of([[10.0]]),
        mixing=Mixing("inlet_mix", SparseMatrix.of([[(1, 1.0)], [(0, 1.0)]], 2)),
        power_cap_watts=100.0,
    )
