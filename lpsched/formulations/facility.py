"""Fixed outlet temperatures: the most reward a facility can earn, over patterns of its nodes.

Data       r_i, a_i       reward and arrivals per second of task type i
           q              a pattern of a node: rate_iq tasks per second, w_q watts (`node_patterns.py`)
           O_v, R_v       overhead watts of node v, and the highest temperature of the air it draws in
           T, G, H, Gc, Hc, k   outlet temperatures and the heat map (`heat.py`)
Variables  z_i            the share of the arrivals that is done, x_vq the share of its time that v runs q
           P_v            watts of node v, over: kilowatts above the cap, kelvin too hot, kelvin too cold

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
    from lpsched.instance.arrays import Floats, Integers
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
    warms: Floats = field(init=False)  # air x nodes, kelvin per kilowatt: G above Gc
    least: Floats = field(init=False)
    most: Floats = field(init=False)

    def __post_init__(self) -> None:
        """Work out cap and air at these temperatures."""
        heat, arrays, outlets = self.heat, self.market.arrays, self.outlets
        per_kelvin = heat.crac_watts_per_kelvin / cop(arrays, outlets)
        self.weights = 1.0 + per_kelvin @ heat.crac_from_power
        returned = heat.crac_from_outlets @ outlets
        self.room = (arrays.cap_watts - float(per_kelvin @ (returned - outlets))) / KILO
        self.warms = np.vstack((heat.from_power, heat.crac_from_power)) * KILO
        self.least = np.concatenate((np.full(len(arrays.redline), -np.inf), outlets - returned))
        self.most = np.concatenate(
            (arrays.redline - heat.from_outlets @ outlets, arrays.crac_redline - returned)
        )

    def master(self) -> LinearProgram:
        """Return the program with z and P alone."""
        market, lp = self.market, LpBuilder(NAME)
        types, nodes = len(market.flow), len(market.overhead)
        z = lp.variables("z", upper=np.where(market.earns > 0, 1.0, 0.0))
        power = lp.variables("P", upper=SLACK * market.most)
        over = lp.variables("over", upper=np.array([SLACK * market.most.sum(), HOTTEST, HOTTEST]))
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
        sides = np.where(air > 0, self.least, self.most)
        used = air != 0
        terms = (
            float(np.maximum(left, 0.0)[market.earns > 0].sum()),
            mu * self.room,
            -float(air[used] @ sides[used]),
            float(gains @ market.copies),
            -float(prices @ market.overhead),
        )
        return Priced(market.columns(runs), runs, -sum(terms))

    def prices(self, multipliers: Floats) -> tuple[Floats, float, Floats, Floats]:
        """Return what tasks, a kilowatt under the cap, air at each place, and a kilowatt of each node cost.

        The sign of air says which of its limits holds; it is 0 where there is no such limit.
        """
        market = self.market
        types, nodes = len(market.flow), len(market.overhead)
        y = np.where(np.isfinite(multipliers), multipliers, 0.0)
        worths = np.maximum(-y[:types], 0.0) / market.flow
        mu = max(-float(y[types + 2 * nodes]), 0.0)
        given = y[types + 2 * nodes + 1 :]
        rows = np.array(self.rows[: len(given)], dtype=np.int64)
        sides = np.where(given > 0, self.least[rows], self.most[rows])
        given = np.where(np.isfinite(sides), given, 0.0)
        air = np.zeros(len(self.warms))
        air[rows] = given
        return worths, mu, air, mu * self.weights - given @ self.warms[rows]

    def broken(self, solution: LpSolution) -> Rows | None:
        """Return the rows of air that are broken most."""
        over = solution["over"]
        air = self.warms @ solution["P"] - over[1] + over[2]
        excess = np.maximum(air - self.most, self.least - air)
        excess[self.rows] = -np.inf
        worst = np.argsort(-excess, kind="stable")[:AT_ONCE]
        return self._rows(worst[excess[worst] > BROKEN], solution.program)

    def _rows(self, chosen: Integers, program: LinearProgram) -> Rows | None:
        if not len(chosen):
            return None
        self.rows += chosen.tolist()
        columns, values = [], []
        for place in chosen:
            near = np.flatnonzero(self.warms[place])
            columns.append(np.append(program.blocks["P"][near], program.blocks["over"][1:]))
            values.append(np.append(self.warms[place, near], [-1.0, 1.0]))
        return Rows(
            names=tuple(f"air[{place}]" for place in chosen),
            lower=self.least[chosen],
            upper=self.most[chosen],
            starts=np.cumsum([0, *map(len, columns)]).astype(np.int32),
            columns=np.concatenate(columns).astype(np.int32),
            values=np.concatenate(values),
        )
