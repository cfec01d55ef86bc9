"""The value of plans over a horizon that no plan undercuts, straight from the maths: two relaxations.

    min   w_money (electricity + demand + wear + moving + switching - prices of optional tasks) + w_grams grams
    s.t.  E_sh  =  sum of a * busy_ijkh over pairs at site s  +  sum of b_j idle_jh           joules in slot h
          sum_ik busy_ijkh + idle_jh  =  y_jh L_h                                             seconds of machines
          y_jh  =  m_j for machines that must stay on;  0 <= y_jh <= m_j where they may be off
          sigma_jh  >=  y_jh - y_j,h-1,  y_j,-1 = 0                                           switch-ons
          E_sh  <=  P_sh L_h / cap_pue_s                                                      caps
          E_sh  <=  peak_s L_h                                                                demand charge
          tasks_i  =  n_i,  or <= n_i and each earns its price                                task types

    work   busy_ijkh = e_ijk x_ijkh, tasks_i = sum_jkh x_ijkh: pieces of tasks in slots
    runs   busy_ijkh = sum_t x_ijkt * seconds of [t, t + e] in slot h, tasks_i = sum_jkt x_ijkt: whole tasks that start
           at t, where t or t + e is the edge of a slot; no switch-on cost

A pair that is longer than the horizon has no variable. Tests choose numbers of moderate size: nothing is scaled here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pulp

from models.front import OPTIMAL, OPTIONS

if TYPE_CHECKING:
    from lpsched.bag.horizon.slots import Slots, Weights
    from lpsched.bag.model import Bag

JOULES_PER_KWH: Final = 3.6e6
WATTS_PER_KW: Final = 1e3
SECONDS_PER_HOUR: Final = 3600.0
TOLERANCE: Final = 1e-9


@dataclass(frozen=True)
class Relaxed:
    """The least value, and its shadow prices: of tasks, of machine seconds, of joules under caps and at peaks."""

    value: float
    task_values: tuple[float, ...]
    machine_prices: tuple[tuple[float, ...], ...]
    cap_prices: tuple[tuple[float, ...], ...]
    peak_prices: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Piece:
    """A variable: some tasks of a type in a mode, and how many seconds each of them is busy in which slots."""

    i: int
    j: int
    watts: float
    seconds: dict[int, float]
    tasks: Any


def least_by_work(bag: Bag, slots: Slots, weights: Weights) -> Relaxed | None:
    """Return the work relaxation; `None` if it has no solution."""
    model = pulp.LpProblem("work", pulp.LpMinimize)
    pieces = [
        Piece(i, j, a, {h: e}, model.add_variable(f"x_{i}_{j}_{k}_{h}", lowBound=0))
        for i, j, k, e, a in _pairs(bag, slots)
        for h in range(slots.count)
    ]
    return _Model(model, bag, slots, weights).least(pieces, switching=True)


def least_by_runs(bag: Bag, slots: Slots, weights: Weights) -> Relaxed | None:
    """Return the runs relaxation; `None` if it has no solution."""
    model, pieces, edges = pulp.LpProblem("runs", pulp.LpMinimize), [], slots.edges
    for i, j, k, e, a in _pairs(bag, slots):
        starts = sorted({t for edge in edges for t in (edge, edge - e) if t >= 0 and t + e <= slots.horizon})
        for number, t in enumerate(starts):
            inside = {h: min(t + e, edges[h + 1]) - max(t, edges[h]) for h in range(slots.count)}
            busy = {h: seconds for h, seconds in inside.items() if seconds > 0}
            pieces.append(Piece(i, j, a, busy, model.add_variable(f"x_{i}_{j}_{k}_{number}", lowBound=0)))
    return _Model(model, bag, slots, weights).least(pieces, switching=False)


def _pairs(bag: Bag, slots: Slots) -> list[tuple[int, int, int, float, float]]:
    """Return i, j, k, e and a of the pairs that fit into the horizon."""
    assert bag.watts is not None
    return [
        (i, j, k, e, a)
        for i in range(len(bag.task_types))
        for column, (j, k) in enumerate(bag.modes)
        if (e := bag.seconds[i, column]) is not None and (a := bag.watts[i, column]) is not None and e <= slots.horizon
    ]


class _Model:
    """Everything but the pieces."""

    def __init__(self, model: Any, bag: Bag, slots: Slots, weights: Weights) -> None:  # noqa: ANN401 - PuLP 3 has no types
        self.model, self.bag, self.slots, self.weights = model, bag, slots, weights
        self.numbers = range(slots.count)
        self.lengths = [slots.edges[h + 1] - slots.edges[h] for h in self.numbers]
        kinds, sites = range(len(bag.machine_types)), range(len(slots.sites))
        self.joules: dict[tuple[int, int], list[Any]] = {(s, h): [] for s in sites for h in self.numbers}
        self.busy: dict[tuple[int, int], list[Any]] = {(j, h): [] for j in kinds for h in self.numbers}
        self.tasks: list[list[Any]] = [[] for _ in bag.task_types]
        self.goal: list[Any] = []
        self.rows: dict[tuple[str, int, int], Any] = {}

    def least(self, pieces: list[Piece], *, switching: bool) -> Relaxed | None:
        """Write all rows, solve, and read the shadow prices."""
        for piece in pieces:
            self._take(piece)
        for j in range(len(self.bag.machine_types)):
            self._write_machines(j, switching=switching)
        for s in range(len(self.slots.sites)):
            self._write_site(s)
        for i in range(len(self.tasks)):
            self._write_tasks(i)
        self.model += pulp.lpSum(self.goal)
        strict = {"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE}
        outcome = self.model.solve(pulp.HiGHS(msg=False, **OPTIONS, **strict))
        if int(getattr(outcome, "status", outcome)) != OPTIMAL:
            return None
        sites, kinds = range(len(self.slots.sites)), range(len(self.bag.machine_types))
        return Relaxed(
            float(pulp.value(self.model.objective)),
            tuple(self._dual("tasks", i) + self._price(i) for i in range(len(self.tasks))),
            tuple(tuple(self._machine_price(j, h) for h in self.numbers) for j in kinds),
            tuple(tuple(self._dual("cap", s, h) for h in self.numbers) for s in sites),
            tuple(tuple(self._dual("peak", s, h) for h in self.numbers) for s in sites),
        )

    def _take(self, piece: Piece) -> None:
        s, wear = self.slots.site_of[piece.j], self.bag.machine_types[piece.j].wear_per_busy_hour / SECONDS_PER_HOUR
        self.tasks[piece.i].append(piece.tasks)
        for h, seconds in piece.seconds.items():
            self.joules[s, h].append(piece.watts * seconds * piece.tasks)
            self.busy[piece.j, h].append(seconds * piece.tasks)
        moved = self.slots.sites[s].moving_costs[piece.i] if self.slots.sites[s].moving_costs else 0.0
        self.goal.append(self.weights.money * (wear * sum(piece.seconds.values()) + moved) * piece.tasks)

    def _write_machines(self, j: int, *, switching: bool) -> None:
        machine, before = self.bag.machine_types[j], 0.0
        for h in self.numbers:
            idle = self.model.add_variable(f"idle_{j}_{h}", lowBound=0)
            self.joules[self.slots.site_of[j], h].append(machine.idle_watts * idle)
            y: Any = machine.count
            if machine.may_be_off:
                y = self.model.add_variable(f"y_{j}_{h}", lowBound=0, upBound=machine.count)
                begun = self.model.add_variable(f"sigma_{j}_{h}", lowBound=0)
                self.model += begun - y + before >= 0
                self.goal.append((self.weights.money * machine.switch_on_cost if switching else 0.0) * begun)
                before = y
            self._add("machines", j, h, pulp.lpSum(self.busy[j, h]) + idle - self.lengths[h] * y == 0)

    def _write_site(self, s: int) -> None:
        site, peak = self.slots.sites[s], self.model.add_variable(f"peak_{s}", lowBound=0)
        self.goal.append(self.weights.money * site.demand_charge * site.pue / WATTS_PER_KW * peak)
        for h, length in enumerate(self.lengths):
            drawn = pulp.lpSum(self.joules[s, h])
            self.goal.append(_joule_price(self.slots, self.weights, s, h) * drawn)
            if site.cap_watts is not None:
                self._add("cap", s, h, -drawn >= -site.cap_watts[h] * length / site.cap_pue)
            if site.demand_charge:
                self._add("peak", s, h, length * peak - drawn >= 0)

    def _write_tasks(self, i: int) -> None:
        done, count = pulp.lpSum(self.tasks[i]), self.bag.task_types[i].count
        self._add("tasks", i, 0, done <= count if self.weights.optional else done == count)
        self.goal.append(-self._price(i) * done)

    def _price(self, i: int) -> float:
        """Return what an optional task earns."""
        price = self.bag.prices.per_task.get(self.bag.task_types[i].name, 0.0)
        return self.weights.money * price if self.weights.optional else 0.0

    def _machine_price(self, j: int, h: int) -> float:
        """Return pi: by how much the row of a machine type and slot is worth more than not running."""
        s, machine = self.slots.site_of[j], self.bag.machine_types[j]
        per_joule = _joule_price(self.slots, self.weights, s, h) + self._dual("cap", s, h) + self._dual("peak", s, h)
        standing = machine.idle_watts * per_joule
        q = min(0.0, standing) if machine.may_be_off else standing
        return max(0.0, q - self._dual("machines", j, h))

    def _add(self, kind: str, one: int, other: int, row: Any) -> None:  # noqa: ANN401 - PuLP 3 has no types
        self.rows[kind, one, other] = row
        self.model += row, f"{kind}_{one}_{other}"

    def _dual(self, kind: str, one: int, other: int = 0) -> float:
        row = self.rows.get((kind, one, other))
        return 0.0 if row is None else float(row.pi or 0.0)


def _joule_price(slots: Slots, weights: Weights, s: int, h: int) -> float:
    """Return c: what a joule at the machines of a site costs in a slot."""
    site = slots.sites[s]
    per_kwh = weights.money * (site.tariff[h] + site.fee) + (weights.grams * site.carbon[h] if site.carbon else 0.0)
    return per_kwh * site.pue / JOULES_PER_KWH
