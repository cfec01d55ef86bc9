"""Fixed outlet temperatures: the most reward a facility can earn, over patterns of its nodes.

Data       r_i, a_i       reward and arrivals per second of task type i
           q              a pattern of a node: rate_iq tasks per second, w_q watts (`node_patterns.py`)
           O_v, R_v       overhead watts of node v, and the highest temperature of the air it draws in
           T, G, H, Gc, Hc, k   outlet temperatures and the heat map (`heat.py`)
Variables  z_i            the share of the arrivals that is done, x_vq the share of its time that v runs q
           P_v            watts of node v, over: kilowatts above the cap, kelvin too hot or too cold

    max   sum_i r_i a_i z_i
    s.t.  a_i z_i  <=  sum_vq rate_iq x_vq                                  (demand)
          sum_q x_vq  <=  1                                                 (node)
          P_v  =  O_v + sum_q w_q x_vq                                      (power)
          sum_v P_v + sum_u k_u (Gc P + Hc T - T)_u / CoP_u(T_u)  <=  cap   (cap)
          G P + H T  <=  R,      T  <=  Gc P + Hc T  <=  R_u                (air, added when broken)

What breaks cap or air is paid for at a price that nothing is worth (over), so that every program has a
solution, and one that has none without paying is known by it. Time not in any pattern is idle. That a CRAC
unit draws in air at least as warm as it blows out says that it cools. With multipliers y of demand, mu of cap
and s of the air, every node sees one price of a watt,

    p_v  =  mu (1 + sum_u k_u Gc_uv / CoP_u)  +  sum of s over the rows of air times their coefficient at v,

so the multipliers of power are not asked for, and every reward rate is at most

    sum_i max(0, r_i - y_i) a_i  +  mu cap'  +  s air'  +  sum_v (phi_v(p_v) - p_v O_v),

whatever the multipliers are, as long as their signs are right.

Why it is real: a node can run its patterns one after the other, so every point of the program is a schedule.

Source: Oxley and others, section III; patterns instead of fractions of independent cores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.node_market import HOTTEST, KILO, PENALTY, SLACK
from lpsched.heat import cop
from lpsched.lp.builder import LpBuilder
from lpsched.lp.columns import Priced
from lpsched.lp.master import Rows

if TYPE_CHECKING:
    from lpsched.formulations.node_market import NodeMarket, Run
    from lpsched.heat import HeatMap
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.lp.program import LinearProgram, LpSolution

NAME: Final = "facility"
BROKEN: Final = 1e-9  # kelvin
AT_ONCE: Final = 60  # rows of air added in a round


@dataclass(slots=True)
class FixedOutlets:
    """The program at some outlet temperatures: its oracle and its separator."""

    market: NodeMarket
    heat: HeatMap
    outlets: Floats
    rows: list[int] = field(default_factory=list)  # of the air that are in the master
    weights: Floats = field(init=False)  # of the nodes' power under the cap
    room: float = field(init=False)  # kilowatts under the cap
    most: Floats = field(init=False)  # of the air: kelvins that the nodes' power may add

    def __post_init__(self) -> None:
        """Work out cap and air at these temperatures."""
        heat, arrays, outlets = self.heat, self.market.arrays, self.outlets
        per_kelvin = heat.crac_watts_per_kelvin / cop(arrays, outlets)
        returned = heat.crac_from_outlets @ outlets
        self.weights = 1.0 + per_kelvin @ heat.crac_from_power
        self.room = (arrays.cap_watts - float(per_kelvin @ (returned - outlets))) / KILO
        nodes = arrays.redline - heat.from_outlets @ outlets
        self.most = np.concatenate((nodes, arrays.crac_redline - returned, returned - outlets))

    def warms(self, place: int) -> Floats:
        """Return by how many kelvin each node's kilowatt warms the air at a place.

        Places are the nodes, the units for their redlines, and, with the sign turned, the units for cooling.
        """
        nodes, units = self.heat.from_power, self.heat.crac_from_power
        if place < len(nodes):
            row: Floats = nodes[place] * KILO
        else:
            row = units[(place - len(nodes)) % len(units)] * (
                KILO if place < len(nodes) + len(units) else -KILO
            )
        return row

    def master(self) -> LinearProgram:
        """Return the program with z and P alone."""
        market, lp = self.market, LpBuilder(NAME)
        types, nodes = len(market.flow), len(market.overhead)
        z = lp.variables("z", upper=np.where(market.earns > 0, 1.0, 0.0))
        power = lp.variables("P", upper=SLACK * market.most)
        drawn = SLACK * float(self.weights @ market.most) + abs(self.room)  # more cannot break the cap
        over = lp.variables("over", upper=np.array([drawn, HOTTEST]))
        lp.objective([(z, -market.earns / market.unit), (over, PENALTY * market.dearest())])
        lp.at_most_each([f"demand[{i}]" for i in range(types)], [(np.arange(types), z, 1.0)], 0.0)
        for v in range(nodes):
            lp.at_most(f"node[{v}]", [], market.copies[v])
        for v in range(nodes):
            lp.equal(f"power[{v}]", [(power[v : v + 1], 1.0)], market.overhead[v])
        lp.at_most("cap", [(power, self.weights), (over[:1], -1.0)], self.room)
        return lp.build()

    def price(self, multipliers: Floats) -> Priced[Run]:
        """Return the patterns that the nodes would run at these multipliers, and what those prove."""
        market = self.market
        worths, mu, air, prices = self.prices(multipliers)
        gains, runs = market.best(worths, prices)
        left = market.earns / market.unit - worths * market.flow
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
        worths = np.maximum(-y[:types], 0.0) / market.flow
        mu = max(-float(y[types + 2 * nodes]), 0.0)
        air = np.zeros(len(self.most))
        late = y[types + 2 * nodes + 1 :]
        air[self.rows[: len(late)]] = np.maximum(-late, 0.0)
        air[~np.isfinite(self.most)] = 0.0
        prices = mu * self.weights
        for place in np.flatnonzero(air).tolist():
            prices = prices + air[place] * self.warms(place)
        return worths, mu, air, prices

    def broken(self, solution: LpSolution) -> Rows | None:
        """Return the rows of air that are broken most."""
        watts = solution["P"] * KILO
        units = self.heat.crac_from_power @ watts
        excess = (
            np.concatenate((self.heat.from_power @ watts, units, -units)) - solution["over"][1] - self.most
        )
        excess[self.rows] = -np.inf
        worst = np.argsort(-excess, kind="stable")[:AT_ONCE]
        return self._rows(worst[excess[worst] > BROKEN], solution.program)

    def _rows(self, chosen: Integers, program: LinearProgram) -> Rows | None:
        if not len(chosen):
            return None
        self.rows += chosen.tolist()
        columns, values = [], []
        for place in chosen.tolist():
            row = self.warms(place)
            near = np.flatnonzero(row)
            columns.append(np.append(program.blocks["P"][near], program.blocks["over"][1]))
            values.append(np.append(row[near], -1.0))
        return Rows(
            names=tuple(f"air[{place}]" for place in chosen),
            lower=np.full(len(chosen), -np.inf),
            upper=self.most[chosen],
            starts=np.cumsum([0, *map(len, columns)]).astype(np.int32),
            columns=np.concatenate(columns).astype(np.int32),
            values=np.concatenate(values),
        )
