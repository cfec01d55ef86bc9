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
solution, and one that has none without paying is known by it. Time not in any pattern is idle. That a CRAC unit draws in air at least as warm as it blows out says that it
cools. With multipliers y of demand, mu of cap and s of the air, every node sees one price of a watt,

    p_v  =  mu (1 + sum_u k_u Gc_uv / CoP_u)  +  sum of s over the rows of air times their coefficient at v,

so the multipliers of power are not asked for, and every reward rate is at most

    sum_i max(0, r_i - y_i) a_i  +  mu cap'  +  s air'  +  sum_v (phi_v(p_v) - p_v O_v),

whatever the multipliers are, as long as their signs are right.

Why it is real: a node can run its patterns one after the other, so every point of the program is a schedule.
Units inside: kilowatts, and rewards in shares of what all arrivals together would bring.

Source: Oxley and others, section III; patterns instead of fractions of independent cores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.node_patterns import NodeKind
from lpsched.heat import cop
from lpsched.lp.builder import LpBuilder
from lpsched.lp.columns import Priced
from lpsched.lp.master import Columns, Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.heat import HeatMap
    from lpsched.instance.arrays import Floats, Integers
    from lpsched.instance.facility_arrays import FacilityArrays
    from lpsched.lp.program import LinearProgram, LpSolution
    from lpsched.relaxation import NodePattern

NAME: Final = "facility"
KILO: Final = 1000.0
BROKEN: Final = 1e-9  # kelvin
AT_ONCE: Final = 60  # rows of air added in a round
SLACK: Final = 1.01  # between what a variable can be and its upper limit
PENALTY: Final = 100.0  # times the largest worth of a kilowatt
HOTTEST: Final = 1000.0  # kelvin: more than any air is too hot or too cold
NEIGHBOURS: Final = 1  # patterns on each side of the best that a node is offered as well

Run = tuple[int, "NodePattern"] | None  # a node and its pattern; `None` for the columns of z and P


class NodeMarket:
    """The nodes as buyers of watts: what each does at its price. Shared by all programs of a facility."""

    def __init__(self, arrays: FacilityArrays, copies: Floats | None = None) -> None:
        self.arrays = arrays
        self.copies = np.ones(len(arrays.node_type)) if copies is None else copies  # of each node, all alike
        self.kinds = [NodeKind(arrays, j) for j in range(len(arrays.cores))]
        self.members = [np.flatnonzero(arrays.node_type == j) for j in range(len(self.kinds))]
        self.overhead = self.copies * arrays.overhead_watts[arrays.node_type] / KILO
        self.earns = arrays.rewards * arrays.arrivals
        self.unit = float(self.earns.sum()) or 1.0
        self.flow = np.where(arrays.arrivals > 0, arrays.arrivals, 1.0)
        self.hungriest = [self._hungriest(kind) for kind in self.kinds]
        hungry = np.array([q.watts for q in self.hungriest])[arrays.node_type] / KILO
        self.most = self.overhead + self.copies * hungry

    def _hungriest(self, kind: NodeKind) -> NodePattern:
        envelope = kind.envelope(np.zeros_like(self.arrays.rewards), -1.0, -1.0)
        return kind.pattern(envelope.codes[0])

    def best(self, worths: Floats, prices: Floats) -> tuple[Floats, list[tuple[int, NodePattern]]]:
        """Return what each node gains at its price of a kilowatt, and the patterns it would run there."""
        gains = np.zeros(len(prices))
        runs: list[tuple[int, NodePattern]] = []
        for kind, nodes in zip(self.kinds, self.members, strict=True):
            if not len(nodes):
                continue
            own = prices[nodes] / KILO
            low, high = float(own.min()), float(own.max())
            margin = 0.1 * (high - low) + 0.05 * max(abs(low), abs(high))
            envelope = kind.envelope(worths, low - margin, high + margin)
            piece = envelope.at(own)
            gains[nodes] = envelope.worths[piece] - own * envelope.watts[piece]
            last = len(envelope.worths) - 1
            patterns = [kind.pattern(code) for code in envelope.codes]
            for step in range(-NEIGHBOURS, NEIGHBOURS + 1):
                near = piece + step
                runs += [
                    (v, patterns[q])
                    for v, q in zip(nodes.tolist(), near.tolist(), strict=True)
                    if 0 <= q <= last and patterns[q].runs
                ]
        return gains, runs

    def dearest(self) -> float:
        """Return what a kilowatt could be worth at most: a core's best reward for it."""
        arrays = self.arrays
        runs = (arrays.speeds > 0) & (arrays.watts > 0)
        per_watt = np.where(runs, arrays.rewards[:, None] * arrays.speeds, 0.0) / np.where(
            runs, arrays.watts, 1.0
        )
        return float(per_watt.max(initial=0.0)) * KILO / self.unit or 1.0

    def columns(self, runs: Sequence[tuple[int, NodePattern]]) -> Columns:
        """Return patterns of nodes as columns: rows are demand, node and power, in that order."""
        types, nodes = len(self.flow), len(self.overhead)
        rows, values, starts = [], [], [0]
        cells: dict[int, tuple[list[int], list[float]]] = {}
        for v, pattern in runs:
            if id(pattern) not in cells:
                use = np.flatnonzero(pattern.rates)
                cells[id(pattern)] = (use.tolist(), (-pattern.rates[use] / self.flow[use]).tolist())
            at, rates = cells[id(pattern)]
            rows += [*at, types + v, types + nodes + v]
            values += [*rates, 1.0, -pattern.watts / KILO]
            starts.append(len(rows))
        return Columns(
            costs=np.zeros(len(runs)),
            upper=SLACK * self.copies[[v for v, _ in runs]],
            starts=np.array(starts, dtype=np.int32),
            rows=np.array(rows, dtype=np.int32),
            values=np.array(values, dtype=float),
        )


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
