"""One program for all boxes of outlet temperatures: what is found for one box serves the next.

Patterns do not depend on temperatures, so their columns stay; rows of air stay as well; planes stay where the
next box lies in the one they were made for. Only limits and costs change from box to box.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.formulations.outlet_box import Goal, OutletProgram
from lpsched.lp.columns import MOST_ROUNDS, ColumnGeneration

if TYPE_CHECKING:
    from lpsched.formulations.cooling_envelope import Planes, Ranges
    from lpsched.formulations.facility_relaxation import FacilityRelaxation
    from lpsched.formulations.node_market import NodeMarket, Run
    from lpsched.heat import HeatMap
    from lpsched.instance.array_types import Floats
    from lpsched.lp.columns import Generated
    from lpsched.lp.program import Solver
    from lpsched.watch import Watch


class BoxSolver:
    """The growing program."""

    def __init__(self, market: NodeMarket, heat: HeatMap, solver: Solver) -> None:
        self.market = market
        self.centre: Floats | None = None
        self._counted = 0
        self.program = OutletProgram(market, heat)
        master, labels = market.begun(self.program.master(), market.first_runs())
        self.columns = ColumnGeneration(solver, master, self.program, labels, self.program, stage=None)

    def begin_at(self, point: FacilityRelaxation) -> None:
        """Take over patterns, hot places and prices of a point at fixed temperatures."""
        program, master = self.program, self.columns.master
        self._note()
        runs = [(v, pattern) for v, own in enumerate(point.shares) for _, pattern in own]
        fresh = [run for run in runs if (run[0], id(run[1])) not in program.known]
        if fresh:
            master.add_columns(self.market.columns(fresh))
            self.columns.labels += fresh
        air = np.concatenate((point.prices.redlines, point.prices.crac_redlines))
        rows = program.rows.air(np.flatnonzero(air), master.program)
        if rows is not None:
            master.add_rows(rows)
        self.centre = program.centre(point)

    def _note(self) -> None:
        """Let the oracle know which columns are there."""
        new = self.columns.labels[self._counted :]
        self.program.known.update((run[0], id(run[1])) for run in new if run is not None)
        self._counted = len(self.columns.labels)

    def solve(  # noqa: PLR0913 - a box, what to make large on it, and when to stop
        self,
        box: Ranges,
        *,
        gap: float,
        goal: Goal | None = None,
        tangents: Planes | None = None,
        watch: Watch | None = None,
        enough: float = np.inf,
        most: int = MOST_ROUNDS,
    ) -> Generated[Run]:
        """Return the answer on a box, with its bound as a minimum: signs are turned.

        Raises
        ------
        SolverError
            If the solver fails.
        """
        program, master = self.program, self.columns.master
        program.box, program.goal, program.tangents = box, goal or Goal(), tangents
        costs = program.costs(master.program)
        for column in np.flatnonzero(costs != master.program.costs).tolist():
            master.change_cost(column, float(costs[column]))
        master.change_limits(*program.limits(master.program))
        self._note()
        centre = None
        if program.goal.reward and self.centre is not None:
            centre = np.append(self.centre, np.zeros(len(master.program.row_names) - len(self.centre)))
        found = self.columns.run(gap=gap, watch=watch, centre=centre, slack=gap, enough=enough, most=most)
        if program.goal.reward:
            self.centre = found.multipliers
        return found
