"""The best allocation at fixed outlet temperatures: a linear program with columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.facility.air import FacilityArrays, HeatMap, cop, crac_inlets, inlets, total_watts
from lpsched.facility.patterns import HOTTEST, PENALTY, SLACK, FacilityRelaxation, NodeMarket, NodePattern, Run
from lpsched.lp.columns import ColumnGeneration, Generated, Priced
from lpsched.lp.program import LinearProgram, LpSolution, LpStatus, Master, Rows, Solver, require_optimal
from lpsched.units import KILO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.cancellation import CancelToken
    from lpsched.model.table import Floats

# Fixed outlet temperatures: the most reward a facility can earn, over patterns of its nodes.
#
# Data       r_i, a_i       reward and arrivals per second of task type i
#            q              a pattern of a node: rate_iq tasks per second, w_q watts (`facility/patterns.py`)
#            O_v, R_v       overhead watts of node v, and the highest temperature of the air it draws in
#            T, G, H, Gc, Hc, k   outlet temperatures and the heat map (`facility/air.py`)
# Variables  z_i            the share of the arrivals that is done, x_vq the share of its time that v runs q
#            P_v            watts of node v, over: kilowatts above the cap, kelvin too hot or too cold
#
#     max   sum_i r_i a_i z_i
#     s.t.  a_i z_i  <=  sum_vq rate_iq x_vq                                  (demand)
#           sum_q x_vq  <=  1                                                 (node)
#           P_v  =  O_v + sum_q w_q x_vq                                      (power)
#           sum_v P_v + sum_u k_u (Gc P + Hc T - T)_u / CoP_u(T_u)  <=  cap   (cap)
#           G P + H T  <=  R,      T  <=  Gc P + Hc T  <=  R_u                (air, added when broken)
#
# What breaks cap or air costs more than anything can earn (over), so that every program has a solution, and one that
# has none without paying is known by it. Time not in any pattern is idle. That a CRAC
# unit draws in air at least as warm as it blows out says that it cools. With multipliers y of demand, mu of
# cap and s of the air, every node sees one price of a watt,
#
#     p_v  =  mu (1 + sum_u k_u Gc_uv / CoP_u)  +  sum of s over the rows of air times their coefficient at v,
#
# so the multipliers of power are not asked for, and every reward rate is at most
#
#     sum_i max(0, r_i - y_i) a_i  +  mu cap'  +  s air'  +  sum_v (phi_v(p_v) - p_v O_v),
#
# whatever the multipliers are, as long as their signs are right.
#
# Why it is real: a node can run its patterns one after the other, so every point of the program is a schedule.
#
# Source: Oxley and others, section III; patterns instead of fractions of independent cores.
NAME: Final = "facility"
BROKEN: Final = 1e-9  # kelvin
AT_ONCE: Final = 60  # rows of air added in a round


class FixedOutlets:
    """The program at some outlet temperatures: its oracle and its separator."""

    def __init__(self, market: NodeMarket, heat: HeatMap, outlets: Floats) -> None:
        self.market, self.heat, self.outlets = market, heat, outlets
        self.rows: list[int] = []  # of the air that are in the master
        arrays = market.arrays
        per_kelvin = heat.crac_watts_per_kelvin / cop(arrays, outlets)
        returned = heat.crac_from_outlets @ outlets
        self.weights = 1.0 + per_kelvin @ heat.crac_from_power  # of the nodes' power under the cap
        self.room = (arrays.cap_watts - float(per_kelvin @ (returned - outlets))) / KILO  # kilowatts under the cap
        nodes = arrays.redline - heat.from_outlets @ outlets
        # of the air: kelvins that the nodes' power may add
        self.most = np.concatenate((nodes, arrays.crac_redline - returned, returned - outlets))

    def warms(self, place: int) -> Floats:
        """Return by how many kelvin each node's kilowatt warms the air at a place.

        Places are the nodes, the units for their redlines, and, with the sign turned, the units for cooling.
        """
        nodes, units = self.heat.from_power, self.heat.crac_from_power
        if place < len(nodes):
            row: Floats = nodes[place] * KILO
        else:
            row = units[(place - len(nodes)) % len(units)] * (KILO if place < len(nodes) + len(units) else -KILO)
        return row

    def master(self) -> LinearProgram:
        """Return the program with z and P alone."""
        market = self.market
        lp, z, power = market.program(NAME)
        drawn = SLACK * float(self.weights @ market.most) + abs(self.room)  # more cannot break the cap
        over = lp.variables("over", upper=np.array([drawn, HOTTEST]))
        lp.objective([(z, -market.earns / market.unit), (over, PENALTY * market.most_per_kilowatt())])
        lp.at_most("cap", [(power, self.weights), (over[:1], -1.0)], self.room)
        return lp.build()

    def price(self, multipliers: Floats) -> Priced[Run]:
        """Return the patterns that the nodes would run at these multipliers, and what those prove."""
        market = self.market
        task_values, mu, air, prices = self.prices(multipliers)
        gains, runs = market.best(task_values, prices)
        left = market.earns / market.unit - task_values * market.flow
        on = air > 0
        terms = (
            float(np.maximum(left, 0.0)[market.earns > 0].sum()),
            mu * self.room,
            float(air[on] @ self.most[on]),
            float(gains @ market.copies),
            -float(prices @ market.overhead),
        )
        return Priced(market.columns(runs), runs, -sum(terms))

    def prices(self, multipliers: Floats) -> tuple[Floats, float, Floats, Floats]:
        """Return the prices of tasks, a kilowatt under the cap, air at all places, and nodes' kilowatts."""
        market = self.market
        types, nodes = len(market.flow), len(market.overhead)
        y = np.where(np.isfinite(multipliers), multipliers, 0.0)
        task_values = np.maximum(-y[:types], 0.0) / market.flow
        mu = max(-float(y[types + 2 * nodes]), 0.0)
        air = np.zeros(len(self.most))
        late = y[types + 2 * nodes + 1 :]
        air[self.rows[: len(late)]] = np.maximum(-late, 0.0)
        air[~np.isfinite(self.most)] = 0.0
        prices = mu * self.weights
        for place in np.flatnonzero(air).tolist():
            prices = prices + air[place] * self.warms(place)
        return task_values, mu, air, prices

    def broken(self, solution: LpSolution) -> Rows | None:
        """Return the rows of air that are broken most."""
        watts = solution["P"] * KILO
        units = self.heat.crac_from_power @ watts
        excess = np.concatenate((self.heat.from_power @ watts, units, -units)) - solution["over"][1] - self.most
        excess[self.rows] = -np.inf
        blocks, found = solution.program.blocks, []
        for place in most_broken(excess):
            row = self.warms(place)
            near = np.flatnonzero(row)
            columns, values = np.append(blocks["P"][near], blocks["over"][1]), np.append(row[near], -1.0)
            found.append(RowCells(f"air[{place}]", -np.inf, float(self.most[place]), columns, values))
            self.rows.append(place)
        return joined(found)


class RowCells(NamedTuple):
    """A row to be added to a program."""

    name: str
    lower: float
    upper: float
    columns: NDArray[np.integer]
    values: Floats


def joined(rows: list[RowCells]) -> Rows | None:
    """Return rows in the form in which a program takes them; `None` without any."""
    if not rows:
        return None
    return Rows(
        names=tuple(row.name for row in rows),
        lower=np.array([row.lower for row in rows]),
        upper=np.array([row.upper for row in rows]),
        starts=np.cumsum([0, *(len(row.columns) for row in rows)]).astype(np.int32),
        columns=np.concatenate([row.columns for row in rows]).astype(np.int32),
        values=np.concatenate([row.values for row in rows]),
    )


def most_broken(excess: Floats) -> list[int]:
    """Return the rows that are broken most, by how far beyond its limit each is."""
    worst: list[int] = np.argsort(-excess, kind="stable")[:AT_ONCE].tolist()
    return [place for place in worst if excess[place] > BROKEN]


# Good multipliers to begin with: those of a facility whose nodes of a type are all alike.
#
# One node with copies stands for each node type; its power takes the mean of what theirs take of the cap, and
# redlines of nodes are left out. Its program has a handful of rows and is solved in milliseconds. At its
# prices most nodes of the real facility are offered the patterns that they will run in the end.
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


# The best allocation of a facility at given outlet temperatures, and its bound.
#
# Column generation over patterns of nodes (`FixedOutlets`). It begins with the patterns that
# take most power, so that some mixture of them and idling keeps the air within its limits if anything does.
GAP: Final = 1e-6
ROUNDED: Final = 1e-9  # relative: what floating point may do to a bound is less
NOTHING: Final = 1e-12  # a share of the time that is none
COOLER: Final = 1e-9  # kelvin
STOPPED: Final = 1e-7  # how far the point of a solver that was stopped may leave its rows
OVER: Final = 1e-7  # kilowatts above the cap, or kelvin too hot or too cold, that are the solver's rounding


@dataclass(slots=True)
class Pool:
    """Patterns of nodes in the answers of earlier programs of a facility, for others to begin with."""

    market: NodeMarket
    runs: dict[tuple[int, int], tuple[int, NodePattern]] = field(default_factory=dict)


def best_at(  # noqa: PLR0913 - a facility, its air, and how to solve it
    arrays: FacilityArrays,
    heat: HeatMap,
    outlets: Floats,
    *,
    solver: Solver,
    gap: float = GAP,
    cancel: CancelToken | None = None,
    pool: Pool | None = None,
) -> FacilityRelaxation:
    """Return the best mix of patterns at these outlet temperatures, within the relative gap of its bound."""
    market = NodeMarket(arrays) if pool is None else pool.market
    _check_idle_nodes(arrays, heat, outlets)
    program = FixedOutlets(market, heat, outlets)
    runs = market.first_runs()
    if pool is not None:
        runs += pool.runs.values()
    master, labels = market.begun(program.master(), runs)
    columns = ColumnGeneration(solver, master, program, labels, program)
    found = columns.run(gap=gap, cancel=cancel, centre=alike_centre(program, solver))
    if found.status is LpStatus.OPTIMAL and found.solution["over"].max() > OVER:
        # a redline with hardly any room may have a higher marginal value than the penalty
        if not _limits_can_be_kept(columns.master, program):
            short = outlets - crac_inlets(heat, arrays.overhead_watts[arrays.node_type], outlets)
            unit = int(short.argmax())
            raise InfeasibleError(
                f"no allocation keeps cap, redlines and cooling at once: with idle nodes CRAC unit {unit} blows at "
                f"{outlets[unit]:g} °C but draws in air that is {short[unit]:.3f} K cooler, so it would have to heat; "
                "set outlet temperatures that are closer together, or raise the cap"
            )
        found = columns.run(gap=gap, cancel=cancel, centre=found.multipliers)
    if found.status is not LpStatus.LIMIT:
        require_optimal(found.solution)
    else:
        found.solution = _point_or_idle(program, found.solution)
    answer = _read(program, found)
    if pool is not None:
        pool.runs |= {(v, id(run)): (v, run) for v, own in enumerate(answer.shares) for _, run in own}
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
    task_values, mu, air, of_nodes = program.prices(found.multipliers)  # they prove the bound
    nodes, units = len(market.overhead), len(program.outlets)
    prices = market.prices(
        tasks=task_values,
        cap=mu,
        redlines=air[:nodes],
        crac_redlines=air[nodes : nodes + units],
        cooling=air[nodes + units :] * KILO / program.heat.crac_watts_per_kelvin,
        nodes=of_nodes,
    )
    bound = -found.bound * market.unit
    return FacilityRelaxation(
        outlets=program.outlets,
        value=value,
        bound=max(value, bound * (1.0 + ROUNDED)),
        shares=tuple(tuple(own) for own in shares),
        prices=prices,
        priced=found.status is LpStatus.OPTIMAL,
    )


def _limits_can_be_kept(master: Master, program: FixedOutlets) -> bool:
    """Return whether cap and air can be kept at all; if so, the program may not break them any more."""
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


def _point_or_idle(program: FixedOutlets, solution: LpSolution) -> LpSolution:
    """Return the point of a solver that was stopped, or that of idle nodes where it was too early to have one."""
    if solution.program.infeasibility(solution.values) <= STOPPED and solution["over"].max() <= OVER:
        return solution
    arrays, outlets = program.market.arrays, program.outlets
    if (crac_inlets(program.heat, arrays.overhead_watts[arrays.node_type], outlets) < outlets - COOLER).any():
        raise NotFoundError(
            "no allocation was found in time: idle nodes do not warm the air enough for every CRAC unit to "
            "cool; allow more time"
        )
    return replace(solution, values=np.zeros_like(solution.values))


def node_watts(arrays: FacilityArrays, point: FacilityRelaxation) -> Floats:
    """Return what every node draws."""
    busy = np.array([sum(share * pattern.watts for share, pattern in own) for own in point.shares])
    watts: Floats = arrays.overhead_watts[arrays.node_type] + busy
    return watts


def _check_idle_nodes(arrays: FacilityArrays, heat: HeatMap, outlets: Floats) -> None:
    """Raise an error if idle nodes are too hot, or draw more than the cap."""
    idle = arrays.overhead_watts[arrays.node_type]
    for name, air, redline in (
        ("node", inlets(heat, idle, outlets), arrays.redline),
        ("CRAC unit", crac_inlets(heat, idle, outlets), arrays.crac_redline),
    ):
        worst = int((air - redline).argmax())
        if air[worst] > redline[worst] + COOLER:
            raise InfeasibleError(
                f"{name} {worst} draws in air of {air[worst]:.3f} °C even if all nodes are idle, and its "
                f"redline is {redline[worst]:g} °C; lower the outlet temperatures ({outlets.min():g} to "
                f"{outlets.max():g} °C) or raise the redline"
            )
    drawn = total_watts(arrays, heat, idle, outlets)
    if drawn > arrays.cap_watts and not (crac_inlets(heat, idle, outlets) < outlets).any():
        raise InfeasibleError(
            f"idle nodes and their cooling draw {drawn:.1f} W, {drawn - arrays.cap_watts:.1f} W more than "
            f"the cap of {arrays.cap_watts:g} W; raise the cap or the outlet temperatures"
        )
