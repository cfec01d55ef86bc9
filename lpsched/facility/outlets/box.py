"""Bounds within a box of outlet temperatures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from lpsched.facility.outlets.envelope import CoolingCurve, Planes, Ranges, edges, planes
from lpsched.facility.outlets.fixed import RowCells, joined, most_broken
from lpsched.facility.patterns import HOTTEST, PENALTY, SLACK, FacilityRelaxation, NodeMarket, Run
from lpsched.lp.columns import MOST_ROUNDS, ColumnGeneration, Generated, Priced
from lpsched.units import KILO

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken
    from lpsched.facility.air import HeatMap
    from lpsched.lp.program import LinearProgram, LpSolution, Rows, Solver
    from lpsched.model.table import Floats, Integers

# The rows that a program with free outlet temperatures gets when they are broken: air, and cooling power.
#
#     air[v]      (G P + H T)_v  <=  R_v            of a node,      Q_u / k_u + T_u  <=  R_u     of a unit
#     cooling[u]  w_u  >=  a Q_u + b T_u + c        a plane below Q_u g_u(T_u), on the box it was made for
#
# Rows of air hold on every box. A plane holds on a box that lies in its own; on others it is switched off. In an ascent
# tangents take the place of planes, and only the last ones count. T is counted from the coldest outlet.
BELOW: Final = 1e-7  # kilowatts of cooling that may be missing before a plane is added


@dataclass(frozen=True, slots=True)
class _Plane:
    unit: int
    of: Ranges | Planes  # the box on which it holds, or the tangents that it is one of
    constant: float


def _holds(plane: _Plane, box: Ranges, tangents: Planes | None) -> bool:
    if tangents is not None or isinstance(plane.of, Planes):
        return plane.of is tangents
    unit, own = plane.unit, plane.of
    return bool(
        own.low[unit] <= box.low[unit]
        and box.high[unit] <= own.high[unit]
        and own.least[unit] <= box.least[unit]
        and box.most[unit] <= own.most[unit]
        and own.cool[unit] <= box.cool[unit]
        and box.warm[unit] <= own.warm[unit]
    )


# Outlet temperatures as variables: what no allocation exceeds while outlets, heat and inlets stay in a box.
#
# The program of `fixed.py` with T free from l to h; unit u takes out the heat Q_u and draws w_u:
#
#     max   sum_i r_i a_i z_i
#     s.t.  demand, node and power as there
#           sum_v P_v + sum_u w_u  <=  cap                                    (cap)
#           Q_u  =  k_u (Gc P + Hc T - T)_u                                   (heat)
#           l_u <= T_u <= h_u,   Q1_u <= Q_u <= Q2_u                          (outlet, range)
#           s1_u <= T_u + Q_u / k_u <= s2_u                                   (inlet)
#           G P + H T  <=  R,    Q_u / k_u + T_u  <=  R_u                     (air, added when broken)
#           w_u  >=  planes below Q_u g_u(T_u) on the box                     (cooling, added when broken)
#
# All rows but the last are exact, and the last are below the truth (`envelope.py`), so it bounds. That
# a unit cools is Q1 >= 0. What breaks cap, air or heat costs more than anything can earn, so that
# the program of every box has a solution; one without any shows by a bound below what is known.
#
# With multipliers y of demand, mu of cap, s of air, c of the units' air and theta of heat, a node pays
#
#     p_v  =  mu + sum of s over rows times G + sum_u theta_u k_u Gc_uv      for a watt,
#
# and what is left for each unit is a problem of two variables. It is solved over the truth, not over planes,
#
#     max over its box of   theta_u Q - mu Q g_u(T) - c_u (Q / k_u + T) - (the rest of T_u's coefficient) T,
#
# which for a given T is linear in Q, and along each edge on which Q is least or most concave in T: four
# searches. So the bound does not depend on which planes the program has; it is valid for any multipliers of
# the right signs. The same holds for other goals than reward: with lambda times reward, plus the weight of
# one outlet, heat or inlet, and a reward of at least some value asked for, it proves how far that one can go.
NAME: Final = "outlet-box"
FEW_UNITS: Final = 12  # whose inlets are limited from the beginning


@dataclass(frozen=True, slots=True)
class Goal:
    """What is maximised: reward (a share of all arrivals'), or an outlet or heat while reward is at least a value."""

    reward: float = 1.0
    outlets: Floats | None = None
    heat: Floats | None = None
    least_reward: float = -np.inf


@dataclass(slots=True)
class BoxPrices:
    """Multipliers of the box program, of the right sign, in shares of reward and kilowatts."""

    task_values: Floats
    reward: float
    cap: float
    air: Floats  # N + U
    heat: Floats  # theta, U
    nodes: Floats  # p, N


Limit: TypeAlias = Literal["low", "high", "least", "most", "cool", "warm"]
RecordedStep: TypeAlias = tuple[Limit, int, BoxPrices]  # a range that was narrowed, and the prices that prove it


class OutletProgram:
    """The program on a box, which may be changed; its oracle and its separator."""

    def __init__(self, market: NodeMarket, heat: HeatMap) -> None:
        arrays = market.arrays
        self.market, self.floor, self.per_kelvin = market, arrays.outlet_low, heat.crac_watts_per_kelvin / KILO
        self.curve = CoolingCurve(arrays, self.per_kelvin)
        self.nodes, self.units, self.types = len(arrays.node_type), len(arrays.cop), len(market.flow)
        self.warms, self.mixes = heat.from_power * KILO, heat.from_outlets  # G, H
        self.redlines = np.concatenate((arrays.redline, arrays.crac_redline))
        self.room = self.redlines - np.concatenate((self.mixes @ self.floor, self.floor))
        self.late: list[int | _Plane] = []  # places of air, and planes, whose rows were added, in this order
        per_kelvin = self.per_kelvin[:, None]
        self.heats = per_kelvin * heat.crac_from_power * KILO  # of each unit by each node's kilowatts
        self.shifts = per_kelvin * (heat.crac_from_outlets - np.eye(self.units))  # by each outlet's kelvins
        self.cap = arrays.cap_watts / KILO
        self.goal = Goal()
        self.known: set[tuple[int, int]] = set()  # node and pattern of columns that need no second look
        self.tangents: Planes | None = None  # in place of planes below the truth: an estimate, no bound
        low, high = arrays.outlet_low, arrays.outlet_high
        # a unit may have to take out what nodes at full power warm at the worst outlets, never more than the cap
        rise = np.where(self.shifts > 0, self.shifts * high, self.shifts * low).sum(axis=1)
        most: Floats = np.clip(self.heats @ market.most + rise, 0.0, self.cap)
        cool, warm = low, high + most / self.per_kelvin  # what the other ranges say already
        if self.units <= FEW_UNITS:
            mixed, warmed = heat.crac_from_outlets, heat.crac_from_power * KILO
            cool, warm = mixed @ low + warmed @ market.overhead, mixed @ high + warmed @ market.most
        self.box = Ranges(low, high, np.zeros(self.units), most, cool, warm)
        self.largest = self.box
        self.first_row = self.types + 2 * self.nodes + 2 + 4 * self.units

    def first_ranges(self) -> list[RecordedStep]:
        """Return the prices that prove the most heat, and the inlets, that each unit begins with.

        Either its own heat is counted by the watts of the nodes, all at full power; or all heat of all units is, and
        with it the cap. Its inlet is counted by the watts of nodes at full power, or idle; where there are many units,
        the planes that this makes higher cost more than they bring.
        """
        nothing, no_air = np.zeros(self.types), np.zeros(self.nodes + self.units)
        found: list[RecordedStep] = []
        for unit in range(self.units):
            own = np.arange(self.units) == unit
            of_cap = self.largest.most[unit] >= self.cap
            theta = np.where(of_cap | own, -1.0, 0.0)
            cap = 1.0 if of_cap else 0.0
            found.append(("most", unit, BoxPrices(nothing, 0.0, cap, no_air, theta, cap + theta @ self.heats)))
            if self.units > FEW_UNITS:
                continue
            theta = own / self.per_kelvin
            found.append(("cool", unit, BoxPrices(nothing, 0.0, 0.0, no_air, theta, theta @ self.heats)))
            found.append(("warm", unit, BoxPrices(nothing, 0.0, 0.0, no_air, -theta, -theta @ self.heats)))
        return found

    def master(self) -> LinearProgram:
        """Return the program without patterns, air and planes."""
        market, units, width = self.market, self.units, self.largest.high - self.floor
        lp, z, power = market.program(NAME)
        t = lp.variables("t", upper=width)
        q = lp.variables("Q", upper=SLACK * self.largest.most)
        w = lp.variables("w", upper=np.full(units, self.cap))
        over = lp.variables("over", upper=np.array([self.cap, HOTTEST]))  # kilowatts, kelvin
        apart = lp.variables("apart", upper=np.full((2, units), SLACK * self.largest.most.max()))
        penalty = PENALTY * market.most_per_kilowatt()
        lp.objective([(z, -market.earns / market.unit), (over, penalty), (apart, penalty)])
        lp.at_most("cap", [(power, 1.0), (w, 1.0), (over[:1], -1.0)], self.cap)
        lp.between("reward", [(z, market.earns / market.unit)], -np.inf, np.inf)
        for u in range(units):
            terms = [(q[u : u + 1], 1.0), (power, -self.heats[u]), (t, -self.shifts[u])]
            terms += [(apart[0, u : u + 1], 1.0), (apart[1, u : u + 1], -1.0)]
            lp.equal(f"heat[{u}]", terms, float(self.shifts[u] @ self.floor))
        for u in range(units):
            lp.between(f"outlet[{u}]", [(t[u : u + 1], 1.0)], 0.0, float(width[u]))
        for u in range(units):
            lp.between(f"range[{u}]", [(q[u : u + 1], 1.0)], 0.0, float(self.largest.most[u]))
        for u in range(units):
            terms = [(q[u : u + 1], 1.0 / self.per_kelvin[u]), (t[u : u + 1], 1.0)]
            lp.between(f"inlet[{u}]", terms, -np.inf, np.inf)
        return lp.build()

    def costs(self, program: LinearProgram) -> Floats:
        """Return the costs of the goal, which is minimised with its sign turned."""
        costs = program.costs.copy()
        costs[program.blocks["z"]] = -self.goal.reward * self.market.earns / self.market.unit
        for block, weights in (("t", self.goal.outlets), ("Q", self.goal.heat)):
            costs[program.blocks[block]] = 0.0 if weights is None else -weights
        return costs

    def limits(self, program: LinearProgram) -> tuple[Floats, Floats, Floats]:
        """Return the limits of variables and rows for the box and the goal; planes of other boxes are off."""
        lower, upper = program.row_lower.copy(), program.row_upper.copy()
        first = self.types + 2 * self.nodes + 1
        lower[first] = self.goal.least_reward
        floors = (self.floor, np.zeros(self.units), self.floor)
        for place, ((low, high), floor) in enumerate(zip(self.box.ends, floors, strict=True), start=1):
            rows = slice(first + 1 + place * self.units, first + 1 + (place + 1) * self.units)  # after those of heat
            lower[rows], upper[rows] = low - floor, high - floor
        lower[self.first_row :] = [
            what.constant if isinstance(what, _Plane) and _holds(what, self.box, self.tangents) else -np.inf
            for what in self.late
        ]
        return program.upper, lower, upper

    def price(self, multipliers: Floats) -> Priced[Run]:
        """Return the patterns that the nodes would run at these multipliers, and what those prove."""
        market, prices = self.market, self.prices(multipliers)
        gains, runs = market.best(prices.task_values, prices.nodes)
        runs = [run for run in runs if (run[0], id(run[1])) not in self.known]
        share = market.earns / market.unit
        left = (self.goal.reward + prices.reward) * share - prices.task_values * market.flow
        demanded = prices.reward * self.goal.least_reward if prices.reward else 0.0
        on = prices.air > 0
        bound = (
            float(np.maximum(left, 0.0)[market.earns > 0].sum())
            - demanded
            + prices.cap * self.cap
            + float(prices.air[on] @ self.redlines[on])
            + float(gains.sum() - prices.nodes @ market.overhead)
            + self.cooled(prices)
        )
        if self.goal.outlets is not None:  # the program counts them from the floor
            bound -= float(self.goal.outlets @ self.floor)
        return Priced(market.columns(runs), runs, -bound)

    def prices(self, multipliers: Floats) -> BoxPrices:
        """Return multipliers by their names."""
        market, types, nodes = self.market, self.types, self.nodes
        y = np.where(np.isfinite(multipliers), multipliers, 0.0)
        first = types + 2 * nodes
        reward = max(float(y[first + 1]), 0.0) if np.isfinite(self.goal.least_reward) else 0.0
        cap = max(-float(y[first]), 0.0)
        theta = y[first + 2 : first + 2 + self.units]
        air = np.zeros(len(self.redlines))
        for multiplier, what in zip(y[self.first_row :].tolist(), self.late, strict=False):
            if not isinstance(what, _Plane):
                air[what] = max(-multiplier, 0.0)
        air[~np.isfinite(self.redlines)] = 0.0
        hot = np.flatnonzero(air[:nodes])
        return BoxPrices(
            task_values=np.maximum(-y[:types], 0.0) / market.flow,
            reward=reward,
            cap=cap,
            air=air,
            heat=theta,
            nodes=cap + air[hot] @ self.warms[hot] + theta @ self.heats,
        )

    def cooled(self, prices: BoxPrices) -> float:
        """Return the most that all units may add to the bound, with heat and temperatures in their boxes."""
        box, goal = self.box, self.goal
        air, units_air = prices.air[: self.nodes], prices.air[self.nodes :]
        per_heat = prices.heat - units_air / self.per_kelvin
        per_outlet = -(air @ self.mixes) - units_air - prices.heat @ self.shifts
        if goal.heat is not None:
            per_heat = per_heat + goal.heat
        if goal.outlets is not None:
            per_outlet = per_outlet + goal.outlets
        if self.tangents is not None:
            per_heat = per_heat - prices.cap * self.tangents.heat
            per_outlet = per_outlet - prices.cap * self.tangents.outlet
            vertices = np.maximum(per_heat * box.least, per_heat * box.most)
            vertices += np.maximum(per_outlet * box.low, per_outlet * box.high)
            return float(vertices.sum() - prices.cap * self.tangents.constant.sum())
        ends = edges(self.curve, box)
        lost = self.curve.lowest(
            prices.cap * ends.heat, per_heat * ends.tilt + per_outlet, ends.low, ends.high, prices.cap * ends.tilt
        )
        return float((per_heat * ends.heat - lost).max(axis=0).sum())

    def broken(self, solution: LpSolution) -> Rows | None:
        """Return rows of air and planes of cooling power that the point breaks most."""
        box, blocks = self.box, solution.program.blocks
        power, t, heat, watts = (solution[block] for block in ("P", "t", "Q", "w"))
        air = np.concatenate((self.warms @ power + self.mixes @ t, heat / self.per_kelvin + t))
        excess = air - self.room - solution["over"][1]
        excess[self._places()] = -np.inf
        rows, outlets = self._air(most_broken(excess), solution.program), self.floor + t
        found = self.tangents
        if found is None:
            found = planes(self.curve, box, np.clip(heat, box.least, box.most), outlets)
        for unit in np.flatnonzero(found.at(heat, outlets) > watts + BELOW).tolist():
            constant = float(found.constant[unit] + found.outlet[unit] * self.floor[unit])
            columns = np.array([blocks[block][unit] for block in ("w", "Q", "t")])
            values = np.array([1.0, -found.heat[unit], -found.outlet[unit]])
            rows.append(RowCells(f"cooling[{unit}]", constant, np.inf, columns, values))
            self.late.append(_Plane(unit, self.tangents or box, constant))
        return joined(rows)

    def air(self, places: Integers, program: LinearProgram) -> Rows | None:
        """Return the rows of air at these places that are not there yet."""
        return joined(self._air(places[~np.isin(places, self._places())].tolist(), program))

    def _places(self) -> list[int]:
        return [what for what in self.late if not isinstance(what, _Plane)]

    def _air(self, places: list[int], program: LinearProgram) -> list[RowCells]:
        blocks, found = program.blocks, []
        for place in places:
            if place < self.nodes:
                near = np.flatnonzero(self.warms[place])
                columns = np.concatenate((blocks["P"][near], blocks["t"], blocks["over"][1:]))
                values = np.concatenate((self.warms[place, near], self.mixes[place], [-1.0]))
            else:
                unit = place - self.nodes
                columns = np.array([blocks["Q"][unit], blocks["t"][unit], blocks["over"][1]])
                values = np.array([1.0 / self.per_kelvin[unit], 1.0, -1.0])
            found.append(RowCells(f"air[{place}]", -np.inf, float(self.room[place]), columns, values))
            self.late.append(place)
        return found

    def centre(self, point: FacilityRelaxation) -> Floats:
        """Return the multipliers of a point at fixed temperatures, as those of this program."""
        prices, unit = point.prices, self.market.unit
        heat = (prices.cap * self.curve.at(point.outlets) - prices.cooling) * KILO
        first = self.types + 2 * self.nodes
        y = np.zeros(self.first_row)
        y[: self.types] = -prices.tasks * self.market.flow
        y[first] = -prices.cap * KILO
        y[first + 2 : first + 2 + self.units] = heat + prices.crac_redlines / self.per_kelvin
        air = np.concatenate((prices.redlines, prices.crac_redlines))
        late = np.array([0.0 if isinstance(what, _Plane) else -air[what] for what in self.late])
        return np.concatenate((y, late)) / unit


# One program for all boxes of outlet temperatures: what is found for one box serves the next.
#
# Patterns do not depend on temperatures, so their columns stay; rows of air stay as well; planes stay where
# the next box lies in the one they were made for. Only limits and costs change from box to box.
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
        rows = program.air(np.flatnonzero(air), master.program)
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
        cancel: CancelToken | None = None,
        enough: float = np.inf,
        most: int = MOST_ROUNDS,
    ) -> Generated[Run]:
        """Return the answer on a box, with its bound as a minimum: signs are turned."""
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
        found = self.columns.run(gap=gap, cancel=cancel, centre=centre, slack=gap, enough=enough, most=most)
        if program.goal.reward:
            self.centre = found.multipliers
        return found
