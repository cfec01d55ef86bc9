"""What prices prove about the makespans of an interval, in exact arithmetic.

Let v_i be any price of a task, omega_j >= 0 any price of a machine's second, and phi_j at least the most that
a pattern of machine type j is worth which takes no longer than t2: the sum of v_i - f_ijk - omega_j e_ijk
over its tasks. A machine of a schedule whose makespan t is in [t1, t2] runs such a pattern. Added up over
all machines, every task is in there once, and the machines of type j work at most m_j t seconds:

    sum of f over all tasks  >=  A - t B,     A = sum n_i v_i - sum m_j phi_j,     B = sum m_j omega_j

    profit   f = kappa,    (N - cost) / t     <=  (N - A) / t + B
    cost     f = wE d,     -(cost + t L)      <=  -A + t (B - L)        with L = wE I + wt

Both are monotone in t, so the worse end of the interval decides; if there is no last makespan, what comes
of t without end (where B > L, prices are first scaled down to equality). With v_i = min_jk (f_ijk + omega_j
e_ijk) over what is done within t2, no pattern is worth anything, and phi = 0: the plain proof. Otherwise
phi is a knapsack (`lp/knapsack.py`), in whole numbers.

Doubles are taken as the fractions that they are, and nothing is rounded on the way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.certificate.bounds import SECONDS_PER_HOUR
from lpsched.lp.knapsack import proved_most

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.formulations.packing import Prices
    from lpsched.instance import Bag


@dataclass(frozen=True, slots=True)
class Task:
    """One task type in one column: its machine type, its seconds and what it costs above idle."""

    machine: int
    seconds: Fraction
    cost: Fraction


class PackingProver:
    """Evaluates the formulas above for one bag; `income` is N, or `None` where costs are asked for."""

    def __init__(
        self, bag: Bag, *, per_joule: Fraction, wear: bool, income: Fraction | None, per_second: Fraction
    ) -> None:
        self.counts = [task.count for task in bag.task_types]
        self.machines = [machine.count for machine in bag.machine_types]
        self.per_joule, self.wear = per_joule, wear
        self.income, self.per_second = income, per_second
        self.tasks = [_tasks(bag, i, per_joule, wear=wear) for i in range(len(self.counts))]

    @property
    def longest(self) -> Fraction:
        """No schedule is shorter than the task that takes longest, where that is done soonest."""
        return max(min(each.seconds for each in row) for row in self.tasks)

    def plain(self, omega: Sequence[float], start: float, end: float) -> Fraction | None:
        """Return the score that no schedule exceeds in the interval; `None` if it may be anything."""
        prices = [Fraction(each) for each in omega]
        supply = self._supply(prices)
        if math.isinf(end) and self.income is None and supply > self.per_second:
            prices = [each * self.per_second / supply for each in prices]
        cost = Fraction(0)
        for count, row in zip(self.counts, self.tasks, strict=True):
            cost += count * min(
                each.cost + prices[each.machine] * each.seconds for each in row if each.seconds <= end
            )
        return self._score(cost, prices, start, end)

    def packed(self, prices: Prices, start: float, end: float, cells: int) -> Fraction | None:
        """Return the score that no schedule exceeds in the interval, by knapsacks on a grid."""
        v = [Fraction(each) for each in prices.tasks.tolist()]
        omega = [Fraction(each) for each in prices.machines.tolist()]
        sizes: list[list[Fraction]] = [[] for _ in omega]
        worths: list[list[Fraction]] = [[] for _ in omega]
        limits: list[list[int]] = [[] for _ in omega]
        for i, row in enumerate(self.tasks):
            for each in row:
                worth = v[i] - each.cost - omega[each.machine] * each.seconds
                if worth > 0 and each.seconds <= end:
                    sizes[each.machine].append(each.seconds)
                    worths[each.machine].append(worth)
                    limits[each.machine].append(self.counts[i])
        cost = sum((n * price for n, price in zip(self.counts, v, strict=True)), Fraction(0))
        for j, m in enumerate(self.machines):
            cost -= m * proved_most(sizes[j], worths[j], limits[j], Fraction(end), cells)
        return self._score(cost, omega, start, end)

    def _supply(self, omega: Sequence[Fraction]) -> Fraction:
        """Return B."""
        return sum((m * price for m, price in zip(self.machines, omega, strict=True)), Fraction(0))

    def _score(self, a: Fraction, omega: Sequence[Fraction], start: float, end: float) -> Fraction | None:
        """Return the worse of both ends."""
        b = self._supply(omega)
        ends = [Fraction(start)] if math.isinf(end) else [Fraction(start), Fraction(end)]
        if self.income is not None:
            rates = [(self.income - a) / t for t in ends]
            return b + max(rates if len(rates) > 1 else [*rates, Fraction(0)])
        if len(ends) == 1 and b > self.per_second:
            return None
        return max((b - self.per_second) * t for t in ends) - a


def _tasks(bag: Bag, i: int, per_joule: Fraction, *, wear: bool) -> list[Task]:
    """Return where a task type can run, and what it costs there."""
    found = []
    for column, (j, _) in enumerate(bag.modes):
        seconds, machine = bag.seconds[i, column], bag.machine_types[j]
        if seconds is None:
            continue
        per_second = Fraction(machine.wear_per_busy_hour) / SECONDS_PER_HOUR if wear else Fraction(0)
        if per_joule:
            assert bag.watts is not None, "a price of energy needs watts"
            per_second += per_joule * (Fraction(bag.watts[i, column] or 0.0) - Fraction(machine.idle_watts))
        found.append(Task(j, Fraction(seconds), Fraction(seconds) * per_second))
    return found
