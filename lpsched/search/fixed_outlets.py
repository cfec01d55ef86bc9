"""The best allocation of a facility at given outlet temperatures, and its bound.

Column generation over patterns of nodes (`formulations/facility.py`). It begins with the patterns that take
most power, so that some mixture of them and idling keeps the air within its limits if anything does.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.formulations.facility import FixedOutlets
from lpsched.formulations.facility_relaxation import FacilityRelaxation
from lpsched.formulations.node_market import KILO, NodeMarket
from lpsched.heat import crac_inlets, inlets, total_watts
from lpsched.lp.columns import ColumnGeneration
from lpsched.lp.program import LpStatus, require_optimal
from lpsched.search.alike_nodes import alike_centre

if TYPE_CHECKING:
    from lpsched.formulations.facility_relaxation import FacilityPrices, NodePattern
    from lpsched.formulations.node_market import Run
    from lpsched.heat import HeatMap
    from lpsched.instance.array_types import Floats
    from lpsched.instance.facility_arrays import FacilityArrays
    from lpsched.lp.columns import Generated
    from lpsched.lp.master import Master
    from lpsched.lp.program import LpSolution, Solver
    from lpsched.watch import Watch

GAP: Final = 1e-6
ROUNDED: Final = 1e-9  # relative: what floating point may do to a bound is less
NOTHING: Final = 1e-12  # a share of the time that is none
COOLER: Final = 1e-9  # kelvin
STOPPED: Final = 1e-7  # how far the point of a solver that was stopped may leave its rows
OVER: Final = 1e-7  # kilowatts above the cap, or kelvin too hot or too cold, that are the solver's rounding


@dataclass(slots=True)
class Pool:
    """What earlier programs of the same facility found: patterns of nodes, for others to begin with."""

    market: NodeMarket
    runs: dict[tuple[int, int], tuple[int, NodePattern]] = field(default_factory=dict)

    def note(self, runs: list[tuple[int, NodePattern]]) -> None:
        """Remember what a program made use of."""
        for v, pattern in runs:
            self.runs[v, id(pattern)] = (v, pattern)


def best_at(  # noqa: PLR0913 - a facility, its air, and how to solve it
    arrays: FacilityArrays,
    heat: HeatMap,
    outlets: Floats,
    *,
    solver: Solver,
    gap: float = GAP,
    watch: Watch | None = None,
    pool: Pool | None = None,
) -> FacilityRelaxation:
    """Return the best mix of patterns at these outlet temperatures, within the relative gap of its bound.

    Raises
    ------
    InfeasibleError
        If redlines, cap or cooling cannot be kept even by idle nodes, with the numbers.
    NotFoundError
        If the watch was over before there was any allocation, and nodes may not all be idle.
    SolverError
        If the solver fails.
    """
    market = NodeMarket(arrays) if pool is None else pool.market
    _refuse_what_idling_breaks(arrays, heat, outlets)
    program = FixedOutlets(market, heat, outlets)
    runs = market.first_runs()
    if pool is not None:
        runs += pool.runs.values()
    master, labels = market.begun(program.master(), runs)
    columns = ColumnGeneration(solver, master, program, labels, program)
    found = columns.run(gap=gap, watch=watch, centre=alike_centre(program, solver))
    if found.status is LpStatus.OPTIMAL and found.solution["over"].max() > OVER:
        # a redline with hardly any room may be worth more than what breaking it costs
        if not _can_be_kept(columns.master, program):
            raise InfeasibleError(_heating(arrays, heat, outlets))
        found = columns.run(gap=gap, watch=watch, centre=found.multipliers)
    if found.status is not LpStatus.LIMIT:
        require_optimal(found.solution)
    if found.status is LpStatus.LIMIT and not _is_a_point(found.solution):
        found.solution = _idle(program, found.solution)
    answer = _read(program, found)
    if pool is not None:
        pool.note([(v, pattern) for v, own in enumerate(answer.shares) for _, pattern in own])
    return answer


def _read(program: FixedOutlets, found: Generated[Run]) -> FacilityRelaxation:
    """Return shares, prices, and the value that the shares bring."""
    market = program.market
    shares: list[list[tuple[float, NodePattern]]] = [[] for _ in market.overhead]
    # columns that came after the last solve are not in the point
    for share, run in zip(found.solution.values, found.labels, strict=False):
        if run is not None and share > NOTHING:
            shares[run[0]].append((float(share), run[1]))
    rates = np.zeros(len(market.flow))
    for own in shares:
        total = max(1.0, sum(share for share, _ in own))
        for share, pattern in own:
            rates += share / total * pattern.rates
    value = float(market.arrays.rewards @ np.minimum(rates, market.arrays.arrivals))
    bound = -found.bound * market.unit
    return FacilityRelaxation(
        outlets=program.outlets,
        value=value,
        bound=max(value, bound * (1.0 + ROUNDED)),
        shares=tuple(tuple(own) for own in shares),
        prices=_prices(program, found.multipliers),
        priced=found.status is LpStatus.OPTIMAL,
    )


def _can_be_kept(master: Master, program: FixedOutlets) -> bool:
    """Tell whether cap and air can be kept at all; if so, what breaks them is not for sale any more."""
    over, costs = master.program.blocks["over"], master.program.costs
    for column in np.flatnonzero(costs).tolist():
        master.change_cost(column, 1.0 if column in over else 0.0)
    while (rows := program.broken(solution := require_optimal(master.solve()))) is not None:
        master.add_rows(rows)
    for column in np.flatnonzero(costs).tolist():
        master.change_cost(column, float(costs[column]))
    upper = master.program.upper.copy()
    upper[over] = OVER
    master.change_limits(upper, master.program.row_lower, master.program.row_upper)
    return bool(solution["over"].max() <= OVER)


def _is_a_point(solution: LpSolution) -> bool:
    kept = solution.program.infeasibility(solution.values) <= STOPPED
    return bool(kept and solution["over"].max() <= OVER)


def _idle(program: FixedOutlets, solution: LpSolution) -> LpSolution:
    """Return the point of idle nodes, for a solver that was stopped too early to have one."""
    arrays, outlets = program.market.arrays, program.outlets
    if (crac_inlets(program.heat, arrays.overhead_watts[arrays.node_type], outlets) < outlets - COOLER).any():
        raise NotFoundError(
            "no allocation was found in time: idle nodes do not warm the air enough for every CRAC unit to "
            "cool; allow more time"
        )
    return replace(solution, values=np.zeros_like(solution.values))


def node_watts(arrays: FacilityArrays, point: FacilityRelaxation) -> Floats:
    """Return what every node draws."""
    busy = [sum(share * pattern.watts for share, pattern in own) for own in point.shares]
    watts: Floats = arrays.overhead_watts[arrays.node_type] + np.array(busy)
    return watts


def _prices(program: FixedOutlets, multipliers: Floats) -> FacilityPrices:
    """Return the multipliers that prove the bound, in reward per second and per unit of each limit."""
    market = program.market
    worths, mu, air, prices = program.prices(multipliers)
    nodes, units = len(market.overhead), len(program.outlets)
    return market.prices(
        worths=worths,
        cap=mu,
        redlines=air[:nodes],
        crac_redlines=air[nodes : nodes + units],
        cooling=air[nodes + units :] * KILO / program.heat.crac_watts_per_kelvin,
        nodes=prices,
    )


def _refuse_what_idling_breaks(arrays: FacilityArrays, heat: HeatMap, outlets: Floats) -> None:
    """Raise an error if idle nodes are too hot, or draw more than the cap."""
    idle = arrays.overhead_watts[arrays.node_type]
    for name, air, redline in (
        ("node", inlets(heat, idle, outlets), arrays.redline),
        ("CRAC unit", crac_inlets(heat, idle, outlets), arrays.crac_redline),
    ):
        worst = int((air - redline).argmax())
        if air[worst] > redline[worst] + COOLER:
            raise InfeasibleError(
                f"{name} {worst} draws in air of {air[worst]:.3f} C even if all nodes are idle, and its "
                f"redline is {redline[worst]:g} C; lower the outlet temperatures ({outlets.min():g} to "
                f"{outlets.max():g} C) or raise the redline"
            )
    drawn = total_watts(arrays, heat, idle, outlets)
    if drawn > arrays.cap_watts and not (crac_inlets(heat, idle, outlets) < outlets).any():
        raise InfeasibleError(
            f"idle nodes and their cooling draw {drawn:.1f} W, {drawn - arrays.cap_watts:.1f} W more than "
            f"the cap of {arrays.cap_watts:g} W; raise the cap or the outlet temperatures"
        )


def _heating(arrays: FacilityArrays, heat: HeatMap, outlets: Floats) -> str:
    idle = arrays.overhead_watts[arrays.node_type]
    short = outlets - crac_inlets(heat, idle, outlets)
    unit = int(short.argmax())
    return (
        f"no allocation keeps cap, redlines and cooling at once: with idle nodes CRAC unit {unit} blows at "
        f"{outlets[unit]:g} C but draws in air that is {short[unit]:.3f} K cooler, so it would have to heat; "
        "set outlet temperatures that are closer together, or raise the cap"
    )
