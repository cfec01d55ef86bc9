"""Good multipliers to begin with: those of a facility whose nodes of a type are all alike.

One node with copies stands for each node type; its power takes the mean of what theirs take of the cap, and
redlines of nodes are left out. Its program has a handful of rows and is solved in milliseconds. At its prices
most nodes of the real facility are offered the patterns that they will run in the end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.facility import FixedOutlets
from lpsched.formulations.node_market import NodeMarket
from lpsched.heat import HeatMap
from lpsched.lp.columns import ColumnGeneration

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats
    from lpsched.lp.program import Solver

ALIKE_GAP: Final = 1e-4


def alike_centre(program: FixedOutlets, solver: Solver) -> Floats:
    """Return multipliers near good ones: those of a facility whose nodes of a type are all alike."""
    coarse = coarsened(program)
    runs = coarse.market.first_runs()
    master, labels = coarse.market.begun(coarse.master(), runs)
    found = ColumnGeneration(solver, master, coarse, labels, coarse, stage=None).run(gap=ALIKE_GAP)
    types, kinds, nodes = len(program.market.flow), len(runs), len(program.market.overhead)
    centre = np.zeros(types + 2 * nodes + 1)
    centre[:types] = found.multipliers[:types]
    centre[-1] = found.multipliers[types + 2 * kinds]
    return centre


def coarsened(program: FixedOutlets) -> FixedOutlets:
    """Return the program with one node for all of a type, and no redlines of nodes."""
    arrays, heat = program.market.arrays, program.heat
    kinds = len(arrays.cores)
    members = arrays.node_type[:, None] == np.arange(kinds)
    copies = members.sum(axis=0).astype(float)
    alike = replace(arrays, node_type=np.arange(kinds), redline=np.zeros(0))
    air = HeatMap(
        np.zeros((0, kinds)),
        np.zeros((0, len(program.outlets))),
        heat.crac_from_power @ members / np.maximum(copies, 1.0),
        heat.crac_from_outlets,
        heat.crac_watts_per_kelvin,
    )
    return FixedOutlets(NodeMarket(alike, copies, program.market.kinds), air, program.outlets)
