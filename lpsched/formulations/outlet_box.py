"""Outlet temperatures as variables: what no allocation exceeds while temperatures and heat stay in a box.

The program of `facility.py` with T free from l to h; Q_u is the heat that unit u takes out, w_u what it draws:

    max   sum_i r_i a_i z_i
    s.t.  demand, node and power as there
          sum_v P_v + sum_u w_u  <=  cap                                    (cap)
          Q_u  =  k_u (Gc P + Hc T - T)_u                                   (heat)
          l_u <= T_u <= h_u,   Q1_u <= Q_u <= Q2_u                          (outlet, range)
          G P + H T  <=  R,    Q_u / k_u + T_u  <=  R_u                     (air, added when broken)
          w_u  >=  planes below Q_u g_u(T_u) on the box                     (cooling, added when broken)

All rows but the last are exact, and the last are below the truth (`cooling_envelope.py`), so it bounds. That
a unit cools is Q1 >= 0. What breaks cap, air or heat is paid for at a price that nothing is worth, so that
the program of every box has a solution; one without any shows by a bound below what is known.

With multipliers y of demand, mu of cap, s of air, c of the units' air and theta of heat, a node pays

    p_v  =  mu + sum of s over rows times G + sum_u theta_u k_u Gc_uv      for a watt,

and what is left for each unit is a problem of two variables. It is solved over the truth, not over planes,

    max over its box of   theta_u Q - mu Q g_u(T) - c_u (Q / k_u + T) - (the rest of T_u's coefficient) T,

which for a given T is linear in Q and for a given Q concave in T: two searches. So the bound does not depend
on which planes the program has; it is valid for any multipliers of the right signs. The same holds for other
goals than reward: with lambda times reward, plus the weight of one outlet or one heat, and a reward of at
least some value asked for, it proves how far that temperature or heat can go.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.cooling_envelope import CoolingCurve, Planes, Ranges, planes
from lpsched.formulations.facility import AT_ONCE, BROKEN, HOTTEST, KILO, PENALTY, SLACK
from lpsched.lp.builder import LpBuilder
from lpsched.lp.columns import Priced
from lpsched.lp.master import Rows

if TYPE_CHECKING:
    from lpsched.formulations.facility import NodeMarket, Run
    from lpsched.heat import HeatMap
    from lpsched.instance.arrays import Floats, Integers
    from lpsched.lp.program import LinearProgram, LpSolution
    from lpsched.relaxation import FacilityRelaxation

NAME: Final = "outlet-box"
BELOW: Final = 1e-7  # kilowatts of cooling that may be missing before a plane is added


@dataclass(frozen=True, slots=True)
class Goal:
    """What is made as large as possible: reward, or some temperature or heat while reward is at least a value.

    Rewards are in shares of what all arrivals bring.
    """

    reward: float = 1.0
    outlets: Floats | None = None
    heat: Floats | None = None
    least_reward: float = -np.inf


@dataclass(frozen=True, slots=True)
class _Plane:
    unit: int
    of: Ranges | Planes  # the box on which it holds, or the tangents that it is one of
    constant: float


@dataclass(slots=True)
class BoxPrices:
    """Multipliers of the box program, of the right sign, in shares of reward and kilowatts."""

    worths: Floats
    reward: float
    cap: float
    air: Floats  # N + U
    heat: Floats  # theta, U
    nodes: Floats  # p, N


class OutletProgram:
    """The program on a box, which may be changed; its oracle and its separator."""

    def __init__(self, market: NodeMarket, heat: HeatMap) -> None:
        arrays = market.arrays
        self.market, self.curve = market, CoolingCurve(arrays)
        self.nodes, self.units, self.types = len(arrays.node_type), len(arrays.cop), len(market.flow)
        self.floor = arrays.outlet_low
        self.per_kelvin = heat.crac_watts_per_kelvin / KILO
        self.warms = heat.from_power * KILO  # G
        self.mixes = heat.from_outlets  # H
        self.heats = (
            self.per_kelvin[:, None] * heat.crac_from_power * KILO
        )  # of each unit by each node's watts
        self.shifts = self.per_kelvin[:, None] * (heat.crac_from_outlets - np.eye(self.units))
        self.redlines = np.concatenate((arrays.redline, arrays.crac_redline))
        self.room = self.redlines - np.concatenate((self.mixes @ self.floor, self.floor))  # for t = T - floor
        self.cap = arrays.cap_watts / KILO
        self.goal = Goal()
        self.known: set[tuple[int, int]] = set()  # node and pattern of columns that need no second look
        self.rows: list[int | _Plane] = []  # of air or cooling, in the order in which they came
        self.tangents: Planes | None = None  # in place of planes below the truth: an estimate, no bound
        low, high = arrays.outlet_low, arrays.outlet_high
        self.box = Ranges(low, high, np.zeros(self.units), self._most_heat(low, high))
        self.largest = self.box
        self.first_row = self.types + 2 * self.nodes + 2 + 3 * self.units

    def _most_heat(self, low: Floats, high: Floats) -> Floats:
        """Return what each unit may have to take out at most: never more than the cap."""
        rise = np.where(self.shifts > 0, self.shifts * high, self.shifts * low).sum(axis=1)
        most: Floats = np.clip(self.heats @ self.market.most + rise, 0.0, self.cap)
        return most

    def master(self) -> LinearProgram:
        """Return the program without patterns, air and planes."""
        market, lp = self.market, LpBuilder(NAME)
        types, nodes, units = self.types, self.nodes, self.units
        width = self.largest.high - self.floor
        z = lp.variables("z", upper=np.where(market.earns > 0, 1.0, 0.0))
        power = lp.variables("P", upper=SLACK * market.most)
        t = lp.variables("t", upper=width)
        q = lp.variables("Q", upper=SLACK * self.largest.most)
        w = lp.variables("w", upper=np.full(units, self.cap))
        over = lp.variables("over", upper=np.array([self.cap, HOTTEST]))  # kilowatts, kelvin
        apart = lp.variables("apart", upper=np.full((2, units), SLACK * self.largest.most.max()))
        dear = PENALTY * market.dearest()
        lp.objective([(z, -market.earns / market.unit), (over, dear), (apart, dear)])
        lp.at_most_each([f"demand[{i}]" for i in range(types)], [(np.arange(types), z, 1.0)], 0.0)
        lp.at_most_each([f"node[{v}]" for v in range(nodes)], [], 1.0)
        for v in range(nodes):
            lp.equal(f"power[{v}]", [(power[v : v + 1], 1.0)], market.overhead[v])
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
        outlet = slice(first + 1 + self.units, first + 1 + 2 * self.units)
        lower[outlet], upper[outlet] = self.box.low - self.floor, self.box.high - self.floor
        heat = slice(first + 1 + 2 * self.units, first + 1 + 3 * self.units)
        lower[heat], upper[heat] = self.box.least, self.box.most
        for row, what in enumerate(self.rows, start=self.first_row):
            if isinstance(what, _Plane):
                lower[row] = what.constant if self._holds(what) else -np.inf
        return program.upper, lower, upper

    def _holds(self, plane: _Plane) -> bool:
        if self.tangents is not None or isinstance(plane.of, Planes):
            return plane.of is self.tangents
        return bool(self.box.within(plane.of)[plane.unit])

    def price(self, multipliers: Floats) -> Priced[Run]:
        """Return the patterns that the nodes would run at these multipliers, and what those prove."""
        market, prices = self.market, self.prices(multipliers)
        gains, runs = market.best(prices.worths, prices.nodes)
        runs = [run for run in runs if (run[0], id(run[1])) not in self.known]
        share = market.earns / market.unit
        left = (self.goal.reward + prices.reward) * share - prices.worths * market.flow
        asked = prices.reward * self.goal.least_reward if prices.reward else 0.0
        on = prices.air > 0
        bound = (
            float(np.maximum(left, 0.0)[market.earns > 0].sum())
            - asked
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
        market, types, nodes, units = self.market, self.types, self.nodes, self.units
        y = np.where(np.isfinite(multipliers), multipliers, 0.0)
        first = types + 2 * nodes
        reward = max(float(y[first + 1]), 0.0) if np.isfinite(self.goal.least_reward) else 0.0
        cap = max(-float(y[first]), 0.0)
        theta = y[first + 2 : first + 2 + units]
        air = np.zeros(nodes + units)
        for value, what in zip(y[self.first_row :].tolist(), self.rows, strict=False):
            if not isinstance(what, _Plane):
                air[what] = max(-value, 0.0)
        air[~np.isfinite(self.room)] = 0.0
        hot = np.flatnonzero(air[:nodes])
        return BoxPrices(
            worths=np.maximum(-y[:types], 0.0) / market.flow,
            reward=reward,
            cap=cap,
            air=air,
            heat=theta,
            nodes=cap + air[hot] @ self.warms[hot] + theta @ self.heats,
        )

    def cooled(self, prices: BoxPrices) -> float:
        """Return the most that all units together may add to the bound: heat and temperatures in their boxes."""
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
            ends = np.maximum(per_heat * box.least, per_heat * box.most)
            ends += np.maximum(per_outlet * box.low, per_outlet * box.high)
            return float(ends.sum() - prices.cap * self.tangents.constant.sum())
        both = np.stack((box.least, box.most))
        lost = self.curve.lowest(prices.cap * both, per_outlet, box.low, box.high)
        return float((per_heat * both - lost).max(axis=0).sum())

    def broken(self, solution: LpSolution) -> Rows | None:
        """Return rows of air and planes of cooling power that the point breaks most."""
        power, t, heat, watts = (solution[block] for block in ("P", "t", "Q", "w"))
        air = np.concatenate((self.warms @ power + self.mixes @ t, heat / self.per_kelvin + t))
        excess = air - self.room - solution["over"][1]
        known = [what for what in self.rows if not isinstance(what, _Plane)]
        excess[known] = -np.inf
        worst = np.argsort(-excess, kind="stable")[:AT_ONCE]
        chosen = worst[excess[worst] > BROKEN]
        outlets = self.floor + t
        found = self.tangents
        if found is None:
            found = planes(self.curve, self.box, np.clip(heat, self.box.least, self.box.most), outlets)
        missing = np.flatnonzero(found.at(heat, outlets) > watts + BELOW)
        return self._written(chosen, found, missing, solution.program)

    def air(self, places: Integers, program: LinearProgram) -> Rows | None:
        """Return rows of air at these places that are not there yet, and note them."""
        fresh = places[~np.isin(places, [what for what in self.rows if not isinstance(what, _Plane)])]
        none = np.zeros(self.units)
        return self._written(fresh, Planes(none, none, none), np.zeros(0, dtype=np.int64), program)

    def centre(self, point: FacilityRelaxation) -> Floats:
        """Return the multipliers of a point at fixed temperatures, as those of this program."""
        prices, unit = point.prices, self.market.unit
        y = np.zeros(self.first_row + len(self.rows))
        first = self.types + 2 * self.nodes
        y[: self.types] = -prices.tasks * self.market.flow / unit
        y[first] = -prices.cap * KILO / unit
        heat = prices.cap * self.curve.at(point.outlets) - prices.cooling
        y[first + 2 : first + 2 + self.units] = (
            heat * KILO + prices.crac_redlines / self.per_kelvin
        ) / unit
        air = np.concatenate((prices.redlines, prices.crac_redlines)) / unit
        for row, what in enumerate(self.rows, start=self.first_row):
            if not isinstance(what, _Plane):
                y[row] = -air[what]
        return y

    def _written(
        self, air: Integers, found: Planes, missing: Integers, program: LinearProgram
    ) -> Rows | None:
        """Return rows of the master, and note which they are."""
        blocks = program.blocks
        cells: list[tuple[list[int], list[float]]] = []
        lower, upper, names = [], [], []
        for place in air.tolist():
            if place < self.nodes:
                use = np.flatnonzero(self.warms[place])
                columns = [*blocks["P"][use].tolist(), *blocks["t"].tolist()]
                values = [*self.warms[place, use].tolist(), *self.mixes[place].tolist()]
            else:
                u = place - self.nodes
                columns, values = [int(blocks["Q"][u]), int(blocks["t"][u])], [1.0 / self.per_kelvin[u], 1.0]
            cells.append(([*columns, int(blocks["over"][1])], [*values, -1.0]))
            names.append(f"air[{place}]")
            lower.append(-np.inf)
            upper.append(float(self.room[place]))
            self.rows.append(place)
        for u in missing.tolist():
            constant = float(found.constant[u] + found.outlet[u] * self.floor[u])
            columns = [int(blocks["w"][u]), int(blocks["Q"][u]), int(blocks["t"][u])]
            cells.append((columns, [1.0, -float(found.heat[u]), -float(found.outlet[u])]))
            names.append(f"cooling[{u}]")
            lower.append(constant)
            upper.append(np.inf)
            self.rows.append(_Plane(u, self.tangents or self.box, constant))
        if not cells:
            return None
        return Rows(
            names=tuple(names),
            lower=np.array(lower),
            upper=np.array(upper),
            starts=np.cumsum([0, *(len(columns) for columns, _ in cells)]).astype(np.int32),
            columns=np.array([each for columns, _ in cells for each in columns], dtype=np.int32),
            values=np.array([each for _, values in cells for each in values]),
        )
