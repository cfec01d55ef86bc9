"""Bounds of whole tasks, interval by interval of makespans, and scores of patterns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.arrays import Items, items_of
from lpsched.bag.certificate.bounds import Prover
from lpsched.bag.cost import exact_cost_model
from lpsched.bag.proving import prover_of
from lpsched.lp.knapsack import surely_most
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lpsched.bag.model import Bag
    from lpsched.bag.packing import Prices
    from lpsched.bag.problem import Question
    from lpsched.model.arrays import Floats, Integers


# Scores of an objective: what patterns are searched by, in exact numbers, in doubles, and back again.
#
#     profit     score = profit rate + K, in money per second      made of kappa and N
#     energy     score = -E, in joules                             made of d, and I a second
#     makespan   score = -t, in seconds                            made of nothing, and 1 a second
#
# To wait for ever earns -K, a score of 0. Where no deadline forbids that, the last interval of makespans has
# no end, and no bound of it is less.
@dataclass(frozen=True, slots=True)
class Scoring:
    """One question's scores."""

    maximise: bool
    standing: Fraction  # K: what the score of a profit has more than the profit
    prover: PackingProver
    items: Items
    rounded: Callable[[Fraction], Fraction]  # to what whole tasks can take, where something is minimised

    def of_value(self, value: float) -> float:
        """Return the score of what a schedule achieves."""
        return value / SECONDS_PER_HOUR + float(self.standing) if self.maximise else -value

    def to_value(self, score: float) -> float:
        """Return what the objective calls a score."""
        return (score - float(self.standing)) * SECONDS_PER_HOUR if self.maximise else -score

    def to_bound(self, score: Fraction) -> float:
        """Return the bound that a proved bound of the score is, rounded to the side that stays true."""
        if not self.maximise:
            return rounded_down(self.rounded(-score))
        return rounded_up(SECONDS_PER_HOUR * (score - self.standing))


def scoring_of(question: Question) -> Scoring:
    """Return the scores of a question."""
    bag, name = question.bag, question.objective.name
    known, nothing = prover_of(bag), Fraction(0)
    per_joule = {"profit": known.per_joule, "energy": Fraction(1)}.get(name, nothing)
    per_second = {"energy": known.idle_watts, "makespan": Fraction(1)}.get(name, nothing)
    income = known.income() if name == "profit" else None
    wear = name == "profit"
    prover = PackingProver(bag, per_joule=per_joule, wear=wear, income=income, per_second=per_second)
    return Scoring(
        maximise=question.objective.maximise,
        standing=known.standing() if name == "profit" else nothing,
        prover=prover,
        items=_items(bag, prover),
        rounded=known.whole_joules if name == "energy" else known.whole_seconds,
    )


def _items(bag: Bag, prover: PackingProver) -> Items:
    """Return the items in doubles, as the prover counts them."""
    return items_of(
        bag,
        per_joule=float(prover.per_joule),
        wear=prover.wear,
        income=None if prover.income is None else float(prover.income),
        per_second=float(prover.per_second),
        headroom=None if prover.headroom is None else float(prover.headroom),
    )


# What prices prove about the makespans of an interval, in exact arithmetic.
#
# Let v_i be any price of a task, omega_j >= 0 any price of a machine's second, mu >= 0 any price of a joule
# above idle under an average-power cap P, and phi_j at least the most that a pattern of machine type j is
# worth which takes no longer than t2: the sum of v_i - f_ijk - omega_j e_ijk - mu d_ijk over its tasks. A
# machine of a schedule whose makespan t is in [t1, t2] runs such a pattern. Added up over all machines, every
# task is in there once, the machines of type j work at most m_j t seconds, and all tasks take at most (P - I)
# t joules above idle:
#
#     sum of f over all tasks  >=  A - t B,     A = sum n_i v_i - sum m_j phi_j,
#                                               B = sum m_j omega_j + mu (P - I)
#
#     profit   f = kappa,    (N - cost) / t     <=  (N - A) / t + B
#     cost     f = wE d,     -(cost + t L)      <=  -A + t (B - L)        with L = wE I + wt
#
# Both are monotone in t, so the worse end of the interval decides; if there is no last makespan, what comes
# of t without end (where B > L, prices are first scaled down to equality). With v_i = min_jk (f_ijk + omega_j
# e_ijk) over what is done within t2, no pattern is worth anything, and phi = 0: the plain proof. Otherwise
# phi is a knapsack (`lp/knapsack.py`), in whole numbers, of values that are rounded up.
#
# Sums are exact: doubles are taken as the fractions that they are. Where doubles are compared or rounded
# instead, it is to the side that stays true, by far more than their rounding (`SURE`).
SURE: Final = 1e-13


@dataclass(frozen=True, slots=True)
class Task:
    """One task type in one column: its machine type, its seconds and what it costs above idle."""

    machine: int
    seconds: Fraction
    cost: Fraction
    joules: Fraction  # above idle


class PackingProver:
    """Evaluates the formulas above for one bag; `income` is N, or `None` where costs are asked for."""

    def __init__(
        self, bag: Bag, *, per_joule: Fraction, wear: bool, income: Fraction | None, per_second: Fraction
    ) -> None:
        self.bag = bag
        self.counts = [task.count for task in bag.task_types]
        self.machines = [machine.count for machine in bag.machine_types]
        self.per_joule, self.wear = per_joule, wear
        self.income, self.per_second = income, per_second
        self.headroom = Prover(bag).headroom

    @cached_property
    def tasks(self) -> list[list[Task]]:
        """Where each task type can run, and what it costs there."""
        return [_tasks(self.bag, i, self.per_joule, wear=self.wear) for i in range(len(self.counts))]

    @property
    def longest(self) -> Fraction:
        """No schedule is shorter than the task that takes longest, where that is done soonest."""
        return max(min(each.seconds for each in row) for row in self.tasks)

    def line(self, prices: Prices, end: float, cells: int = 0) -> tuple[Fraction, Fraction]:
        """Return A and B for makespans up to an end; by knapsacks, if there is a grid of cells."""
        return self._packed(prices, end, cells) if cells else self._plain(prices, end)

    def score(
        self, a: Fraction, b: Fraction, start: float, end: float, income: Fraction | None = None
    ) -> Fraction | None:
        """Return the score that no schedule of an interval exceeds: its worse end, at N or another income.

        `None` if it may be anything.
        """
        income = self.income if income is None else income
        ends = [Fraction(start)] if math.isinf(end) else [Fraction(start), Fraction(end)]
        if income is not None:
            rates = [(income - a) / t for t in ends]
            return b + max(rates if len(rates) > 1 else [*rates, Fraction(0)])
        if len(ends) == 1 and b > self.per_second:
            return None
        return max((b - self.per_second) * t for t in ends) - a

    def _plain(self, prices: Prices, end: float) -> tuple[Fraction, Fraction]:
        omega, mu = [Fraction(each) for each in prices.machines.tolist()], Fraction(prices.cap)
        supply = self._supply(omega, mu)
        if math.isinf(end) and self.income is None and supply > self.per_second:
            factor = self.per_second / supply
            omega, mu = [each * factor for each in omega], mu * factor
        cost = Fraction(0)
        for count, row in zip(self.counts, self._cheapest(omega, mu, end), strict=True):
            cost += count * min(each.cost + omega[each.machine] * each.seconds + mu * each.joules for each in row)
        return cost, self._supply(omega, mu)

    def _packed(self, prices: Prices, end: float, cells: int) -> tuple[Fraction, Fraction]:
        omega, mu = [Fraction(each) for each in prices.machines.tolist()], Fraction(prices.cap)
        machine, seconds, paid, sizes = self._terms(omega, mu)
        # More than v - f - omega e - mu d, whatever the rounding: see `_cheapest`.
        worth = prices.tasks[:, np.newaxis] - paid + SURE * (sizes + np.abs(prices.tasks)[:, np.newaxis])
        usable = np.isfinite(seconds) & (seconds <= end) & (worth > 0)
        counts = np.broadcast_to(np.array(self.counts)[:, np.newaxis], worth.shape)
        cost = sum(
            (n * Fraction(price) for n, price in zip(self.counts, prices.tasks.tolist(), strict=True)), Fraction(0)
        )
        for j, m in enumerate(self.machines):
            own = usable & (machine == j)
            cost -= m * surely_most(seconds[own], worth[own], counts[own], end, cells)
        return cost, self._supply(omega, mu)

    def _cheapest(self, omega: Sequence[Fraction], mu: Fraction, end: float) -> list[list[Task]]:
        """Return the pairs of each task type that can be its cheapest within the limit.

        The terms are worked out in doubles. Each rounding is off by at most 2^-53 of the sizes of the parts,
        and there are fewer than ten: what is further above the least than `SURE` of them is not the least.
        """
        _, seconds, terms, sizes = self._terms(omega, mu)
        usable = np.isfinite(seconds) & (seconds <= end)
        most = np.where(usable, terms + SURE * sizes, np.inf).min(axis=1, keepdims=True)
        near = usable & (terms - SURE * sizes <= most)
        return [[row[at] for at in np.flatnonzero(own).tolist()] for row, own in zip(self.tasks, near, strict=True)]

    def _terms(self, omega: Sequence[Fraction], mu: Fraction) -> tuple[Integers, Floats, Floats, Floats]:
        """Return machine types, seconds, f + omega e + mu d and the size of its parts, of all pairs."""
        machine, seconds, cost, joules = self._table
        price = np.array([float(each) for each in omega])[machine]
        timed, heated = price * np.where(np.isfinite(seconds), seconds, 0.0), float(mu) * joules
        return machine, seconds, cost + timed + heated, np.abs(cost) + timed + np.abs(heated)

    @cached_property
    def _table(self) -> tuple[Integers, Floats, Floats, Floats]:
        """Machine types, seconds, costs and joules of all pairs; a row a task type, filled up at its end."""
        width = max(len(row) for row in self.tasks)
        machine = np.zeros((len(self.tasks), width), dtype=np.int64)
        seconds, cost, joules = (np.full(machine.shape, fill) for fill in (np.inf, 0.0, 0.0))
        for i, row in enumerate(self.tasks):
            for at, each in enumerate(row):
                machine[i, at], seconds[i, at] = each.machine, float(each.seconds)
                cost[i, at], joules[i, at] = float(each.cost), float(each.joules)
        return machine, seconds, cost, joules

    def _supply(self, omega: Sequence[Fraction], mu: Fraction) -> Fraction:
        """Return B."""
        supply = sum((m * price for m, price in zip(self.machines, omega, strict=True)), Fraction(0))
        return supply + mu * (self.headroom or 0)


def _tasks(bag: Bag, i: int, per_joule: Fraction, *, wear: bool) -> list[Task]:
    """Return where a task type can run, and what it costs there."""
    found, prices = [], exact_cost_model(bag)
    for column, (j, _) in enumerate(bag.modes):
        seconds, machine = bag.seconds[i, column], bag.machine_types[j]
        if seconds is None:
            continue
        per_second = prices.wear(machine) if wear else Fraction(0)
        above = Fraction(0)
        if bag.watts is not None:
            above = Fraction(bag.watts[i, column] or 0.0) - Fraction(machine.idle_watts)
        assert bag.watts is not None or not per_joule, "a price of energy needs watts"
        per_second += per_joule * above
        exact = Fraction(seconds)
        found.append(Task(j, exact, exact * per_second, exact * above))
    return found
