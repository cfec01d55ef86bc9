"""The best allocation of a facility at given outlet temperatures, and its bound.

Column generation over patterns of nodes (`formulations/facility.py`). It begins with the patterns that take
most power, so that some mixture of them and idling keeps the air within its limits if anything does.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import InfeasibleError
from lpsched.formulations.facility import FixedOutlets
from lpsched.formulations.node_market import NodeMarket
from lpsched.heat import HeatMap, crac_inlets, inlets, total_watts
from lpsched.lp.columns import ColumnGeneration
from lpsched.lp.master import with_columns
from lpsched.lp.program import LpStatus, require_optimal
from lpsched.relaxation import FacilityPrices, FacilityRelaxation

if TYPE_CHECKING:
    from lpsched.formulations.node_market import Run
    from lpsched.instance.arrays import Floats
    from lpsched.instance.facility_arrays import FacilityArrays
    from lpsched.lp.columns import Generated
    from lpsched.lp.program import Solver
    from lpsched.relaxation import NodePattern
    from lpsched.watch import Watch

GAP: Final = 1e-6
ROUNDED: Final = 1e-9  # relative: what floating point may do to a bound is less
DEARER: Final = (1e2, 1e4)  # times the first price of what breaks cap or air
COARSE: Final = 1e-4
NOTHING: Final = 1e-12  # a share of the time that is none
COOLER: Final = 1e-9  # kelvin
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
    SolverError
        If the solver fails.
    """
    market = NodeMarket(arrays) if pool is None else pool.market
    _refuse_what_idling_breaks(arrays, heat, outlets)
    program = FixedOutlets(market, heat, outlets)
    runs = market.first_runs()
    if pool is not None:
        runs += pool.runs.values()
    master = with_columns(program.master(), market.columns(runs))
    labels: list[Run] = [*[None] * (len(master.costs) - len(runs)), *runs]
    columns = ColumnGeneration(solver, master, program, labels, program)
    found = columns.run(gap=gap, watch=watch, centre=centre_of(program, solver))
    for dearer in DEARER:  # a redline without any room may be worth more than the first price
        if found.solution["over"].max() <= OVER:
            break
        for column in found.solution.program.blocks["over"].tolist():
            columns.master.change_cost(column, dearer * master.costs[column])
        found = columns.run(gap=gap, watch=watch)
    if found.status is not LpStatus.LIMIT:
        require_optimal(found.solution)
    if found.solution["over"].max() > OVER:
        raise InfeasibleError(_heating(arrays, heat, outlets))
    answer = _read(program, found)
    if pool is not None:
        pool.note([(v, pattern) for v, own in enumerate(answer.shares) for _, pattern in own])
    return answer


def centre_of(program: FixedOutlets, solver: Solver) -> Floats:
    """Return multipliers near good ones: those of a facility whose nodes of a type are all alike."""
    coarse = coarsened(program)
    runs = coarse.market.first_runs()
    master = with_columns(coarse.master(), coarse.market.columns(runs))
    labels: list[Run] = [*[None] * (len(master.costs) - len(runs)), *runs]
    found = ColumnGeneration(solver, master, coarse, labels, coarse, stage=None).run(gap=COARSE)
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
    return FixedOutlets(NodeMarket(alike, copies), air, program.outlets)


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
    )


def node_watts(arrays: FacilityArrays, point: FacilityRelaxation) -> Floats:
    """Return what every node draws."""
    busy = [sum(share * pattern.watts for share, pattern in own) for own in point.shares]
    watts: Floats = arrays.overhead_watts[arrays.node_type] + np.array(busy)
    return watts


def _prices(program: FixedOutlets, multipliers: Floats) -> FacilityPrices:
    """Return the multipliers that prove the bound, in reward per second and per unit of each limit."""
    market, arrays = program.market, program.market.arrays
    worths, mu, air, prices = program.prices(multipliers)
    gains, _ = market.best(worths, prices)
    nodes = len(arrays.node_type)
    per_watt = market.unit / 1000.0
    units = np.where(air[nodes:] > 0, air[nodes:], 0.0)
    return FacilityPrices(
        arrivals=np.maximum(arrays.rewards - worths * market.unit, 0.0),
        tasks=worths * market.unit,
        cap=mu * per_watt,
        redlines=np.maximum(-air[:nodes], 0.0) * market.unit,
        crac_redlines=np.maximum(-air[nodes:], 0.0) * market.unit,
        cooling=units * market.unit / program.heat.crac_watts_per_kelvin,
        nodes=gains * market.unit,
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
