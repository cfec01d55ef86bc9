"""Proofs that no schedule does better: prices, and one sum in exact arithmetic.

Let pi_j >= 0 be any price of a second on a machine of type j, and mu >= 0 any price of a joule above idle.
Take a schedule of makespan t that runs x_ijk tasks of type i on machine type j in P-state k. Its machines of
type j work at most m_j t seconds, and under an average-power cap P it uses D(x) <= (P - I) t joules above the
idle floor I = sum_j m_j b_j. So what it uses, at these prices, costs at most S t, where

    S = sum_j m_j pi_j + mu (P - I),        D(x) = sum x_ijk d_ijk,      d_ijk = e_ijk (a_ijk - b_j).

Each task of type i costs at least the minimum over j, k, wherever it runs. Write

    g[f] = sum_i n_i min_jk (f_ijk + e_ijk pi_j + mu d_ijk)  <=  sum f_ijk x_ijk + S t.

    makespan      t            >=  g[0] / S                                 where S > 0
    cost          wE E + wt t  >=  g[wE d] + (wE I + wt - S) t              since E = D(x) + I t
                  kappa x + K t  >=  g[kappa] + (K - S) t                   what a bag costs in all
    profit rate   R            <=  S + (p - overhead - g[kappa]) / t - K    since R = (N - kappa x) / t - K,
                                                                            N = p - overhead

    kappa_ijk = c PUE d_ijk + wear_j e_ijk,         K = c PUE I + sum_j m_j purchase_j / life_j.

The last two still hold t. A deadline gives t <= deadline; the fastest that any task type can be done gives
1 / t <= r_max = min_i (sum_j m_j / min_k e_ijk) / n_i; the worst t in that range is taken. Without a
deadline, prices with S > wE I + wt are first scaled down to equality.

That much holds if tasks are split. Whole tasks imply more (`Shortest` asks for it):

    t >= L         because in less than L seconds a machine of type j finishes at most ceil(L / e_jS) - 1
                   tasks of the task types S, e_jS being their shortest time there, and all machines
                   together fewer than there are; so cost gains (wE I + wt - S) L, and r_max <= 1 / L
    e <= deadline  for every pair that is used: the others are left out of the minimum
    units          without a cap, no schedule is better for waiting: t is then the load of a machine, a
                   multiple of the common unit u of all seconds, and E = D(x) + I t one of the common unit
                   of all d and I u; bounds of t and E are rounded up to the next multiple

The doubles are taken as the exact fractions that they are, brought to a common denominator, and summed as
integers; money per kWh and per hour stays rational. Where the prices came from does not matter: bad ones
prove less, never something false.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import repeat
from operator import add, mul
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lpsched.bag.model import Bag
    from lpsched.model.table import Table

Number: TypeAlias = float | Fraction
Cells: TypeAlias = list[list[int | None]]
JOULES_PER_KWH: Final = 3_600_000
SECONDS_PER_HOUR: Final = 3600
SHADE: Final = Fraction(1, 2**45)


@dataclass(frozen=True, slots=True)
class Multipliers:
    """Prices of a second on a machine of each type, and of a joule above idle; none is negative."""

    machines: tuple[Number, ...]
    cap: Number = 0.0

    @classmethod
    def zero(cls, bag: Bag) -> Multipliers:
        """Return the prices at which nothing is scarce."""
        return cls((0.0,) * len(bag.machine_types))


@dataclass(frozen=True, slots=True)
class Shortest:
    """A claim about whole tasks: no schedule takes less than these seconds, because of these task types."""

    seconds: Number
    task_types: tuple[int, ...]

    def holds(self, bag: Bag) -> bool:
        """Return whether fewer tasks of these types than there are can be finished in any shorter time."""
        limit, chosen = Fraction(self.seconds), set(self.task_types)
        if not chosen <= set(range(len(bag.task_types))):  # from behind, a type would be counted twice
            return False
        quickest: dict[int, float] = {}
        for i in chosen:
            for (j, _), seconds in zip(bag.modes, bag.seconds.row(i), strict=True):
                if seconds is not None:
                    quickest[j] = min(seconds, quickest.get(j, seconds))
        finished = sum(
            bag.machine_types[j].count * (-(-limit // Fraction(seconds)) - 1) for j, seconds in quickest.items()
        )
        return limit <= 0 or finished < sum(bag.task_types[i].count for i in chosen)


class Screen(Protocol):
    """Spares a prover of a huge bag the pairs that cannot matter; a checker does without one."""

    def cheapest(self, alpha: Fraction, beta: Sequence[Fraction]) -> Sequence[Sequence[int]]:
        """Return, for each task type, columns that surely hold the least e (alpha a + beta_j)."""

    def scarcest(self) -> int:
        """Return the task type that the machines finish slowest; any type would be right."""


class Prover:
    """Evaluates the formulas above for one bag, as it stands: with its prices, cap and deadline.

    With a `screen`, only the pairs that it lets through are looked at; the sums are as exact. With `shortest`, a claim
    that is checked first, the rules of whole tasks are used too; without, tasks may be split.

    >>> from lpsched.bag.model import Bag
    >>> from lpsched.bag.parts import MachineType, TaskType
    >>> from lpsched.model.table import Table
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=5)
    >>> Prover(Bag("b", (cpu,), (render,), Table.of([[3.0]]))).makespan(Multipliers((1.0,)))
    Fraction(15, 2)
    """

    def __init__(self, bag: Bag, screen: Screen | None = None, shortest: Shortest | None = None) -> None:
        assert shortest is None or shortest.holds(bag), "a schedule may be shorter than that"
        self.bag, self.screen = bag, screen
        self.shortest = None if shortest is None else Fraction(shortest.seconds)
        self._machine_of = [j for j, _ in bag.modes]
        self._counts = [task.count for task in bag.task_types]
        usable: Sequence[Sequence[int]] = [range(len(bag.modes))] * len(bag.task_types)
        if self.shortest is not None and bag.site.deadline_seconds is not None and screen is None:
            usable = [_within(bag.seconds.row(i), bag.site.deadline_seconds) for i in range(len(usable))]
        self._has_all = screen is None and all(len(own) == len(bag.modes) for own in usable)
        self._all = _Cells(bag, () if screen is not None else usable)
        self._idle, self._idle_unit = _on_one_denominator(each.idle_watts for each in bag.machine_types)  # b_j
        worn = (Fraction(each.wear_per_busy_hour) / SECONDS_PER_HOUR for each in bag.machine_types)
        self._worn, self._worn_unit = _on_one_denominator(worn)  # wear_j
        self._not_worn = [0] * len(self._worn)
        idle = sum(each.count * b for each, b in zip(bag.machine_types, self._idle, strict=True))
        self.idle_watts = Fraction(idle, self._idle_unit)
        site = bag.site
        pue = Fraction(site.pue)
        self.deadline = None if site.deadline_seconds is None else Fraction(site.deadline_seconds)
        self.headroom: Fraction | None = None  # P - I
        if site.average_power_cap_watts is not None:
            meter = pue if site.cap_measured_at == "facility" else 1
            self.headroom = Fraction(site.average_power_cap_watts) / meter - self.idle_watts
        self.per_joule = pue * Fraction(bag.prices.electricity_per_kwh or 0.0) / JOULES_PER_KWH  # c PUE

    def at_electricity(self, per_kwh: float) -> Prover:
        """Return a prover of the same bag at another price of electricity; the tables are not read again."""
        other = copy(self)
        other.per_joule = Fraction(self.bag.site.pue) * Fraction(per_kwh) / JOULES_PER_KWH
        return other

    def makespan(self, prices: Multipliers) -> Fraction:
        """Return a makespan, in seconds, below which no schedule stays; 0 if nothing is proved."""
        supply, proved = self._supply(prices), self.shortest or Fraction(0)
        if supply > 0:
            proved = max(proved, self._cheapest(prices, Fraction(0)) / supply)
        return self.whole_seconds(proved)

    def energy(self, prices: Multipliers) -> Fraction:
        """Return the joules that every schedule takes at least."""
        return self.whole_joules(self.cost(prices, 1.0, 0.0))

    def whole_seconds(self, proved: Fraction) -> Fraction:
        """Return the least makespan of whole tasks that is not below one that is proved."""
        return _multiple_above(proved, self._unit)

    def whole_joules(self, proved: Fraction) -> Fraction:
        """Return the least energy of whole tasks that is not below one that is proved."""
        return _multiple_above(proved, self._joules_unit)

    def cost(
        self,
        prices: Multipliers,
        joules_weight: Number,
        seconds_weight: Number,
        *,
        wear: bool = False,
        near: Sequence[Sequence[int]] | None = None,
    ) -> Fraction:
        """Return what wE E + wt t is at least; with `wear`, what that and the wear of the machines is.

        `near` spares many proofs of one bag the pairs that cannot matter, as a screen does: for each task type, columns
        that surely hold the least wE d + e pi_j + mu d at these prices, and at prices lower by up to SHADE of them.
        """
        weight, supply = Fraction(joules_weight), self._supply(prices)
        allowed = weight * self.idle_watts + Fraction(seconds_weight)
        soonest = self.shortest or Fraction(0)
        if supply <= allowed:
            proved = self._cheapest(prices, weight, wear=wear, near=near) + (allowed - supply) * soonest
        else:
            factor = max(Fraction(0), allowed) / supply
            is_near = near is not None and 1 - factor <= SHADE
            proved = self._cheapest(_scaled(prices, factor), weight, wear=wear, near=near if is_near else None)
            if self.deadline is not None:
                all_time = (allowed - supply) * self.deadline
                proved = max(proved, self._cheapest(prices, weight, wear=wear) + all_time)
        if proved > 0:
            return proved
        idle = tuple(weight * Fraction(each.idle_watts) for each in self.bag.machine_types)
        drawn = self._cheapest(Multipliers(idle), weight, wear=wear)  # S = wE I: what the tasks draw, at least
        return max(proved, drawn + Fraction(seconds_weight) * soonest)

    def rate(
        self, prices: Multipliers, income: Fraction | None = None, *, near: Sequence[Sequence[int]] | None = None
    ) -> Fraction:
        """Return the money per second that no schedule exceeds, at `income` (p - overhead) or that of the bag.

        Without a deadline, not to run the bag is one of them. `near` is as for `cost`, with the wear of the machines.
        """
        income = self.income() if income is None else income
        left = income - self._cheapest(prices, self.per_joule, wear=True, near=near)
        fixed_rate = self.fixed_rate()
        proved = self._supply(prices) - fixed_rate
        if left > 0:
            most = self._most_bags_per_second
            proved += left * (min(most, 1 / self.shortest) if self.shortest else most)
        elif self.deadline is not None:
            proved += left / self.deadline
        return proved if self.deadline is not None else max(proved, -fixed_rate)

    def income(self) -> Fraction:
        """Return p - overhead: what a bag brings before any task runs."""
        return self.revenue(self.bag) - Fraction(self.bag.prices.overhead_per_bag)

    @staticmethod
    def revenue(bag: Bag) -> Fraction:
        """Return p: what a bag sells for."""
        prices = bag.prices
        revenue = Fraction(prices.per_bag or 0.0)
        if prices.per_task:
            for task in bag.task_types:
                revenue += task.count * Fraction(prices.per_task.get(task.name, 0.0))
        return revenue

    def fixed_rate(self) -> Fraction:
        """Return K: what a second costs even if nothing runs."""
        lost = (
            each.count * Fraction(each.purchase_price) / Fraction(each.mean_hours_to_failure)
            for each in self.bag.machine_types
            if each.purchase_price and each.mean_hours_to_failure is not None
        )
        return self.per_joule * self.idle_watts + sum(lost, Fraction(0)) / SECONDS_PER_HOUR

    def break_even(self, prices: Multipliers) -> Fraction:
        """Return an income p - overhead up to which no schedule earns: what energy, wear and loss cost."""
        lost = self.fixed_rate() - self.per_joule * self.idle_watts
        return self.cost(prices, self.per_joule, lost, wear=True)

    def least_joules_above_idle(self) -> Fraction:
        """Return the least D(x) of all ways to run the bag."""
        return self._cheapest(Multipliers.zero(self.bag), Fraction(1))

    def least_running_cost(self) -> Fraction:
        """Return sum_i n_i min_jk kappa_ijk: below it, and without a deadline, the bag is better not run."""
        return self._cheapest(Multipliers.zero(self.bag), self.per_joule, wear=True)

    def _supply(self, prices: Multipliers) -> Fraction:
        """Return S."""
        assert len(prices.machines) == len(self.bag.machine_types), "one price for each machine type"
        assert min(*prices.machines, prices.cap) >= 0, "prices are not negative"
        assert prices.cap == 0 or self.headroom is not None, "a price of the cap needs a cap"
        parts = [price.as_integer_ratio() for price in prices.machines]
        common = math.lcm(*(denominator for _, denominator in parts))
        supply = 0
        for machine, (numerator, denominator) in zip(self.bag.machine_types, parts, strict=True):
            supply += machine.count * numerator * (common // denominator)
        supplied = Fraction(supply, common)
        return supplied + Fraction(prices.cap) * self.headroom if prices.cap and self.headroom else supplied

    def _cheapest(
        self,
        prices: Multipliers,
        per_joule: Fraction,
        *,
        wear: bool = False,
        near: Sequence[Sequence[int]] | None = None,
    ) -> Fraction:
        """Return g[f] for f = per_joule d + wear e.

        The term in brackets is e (alpha a + beta_j) = alpha e a + beta_j e with alpha = per_joule + mu and
        beta_j = wear_j + pi_j - alpha b_j: alpha and beta go on one denominator.
        """
        alpha = per_joule + Fraction(prices.cap) if prices.cap else per_joule
        assert alpha == 0 or self.bag.watts is not None, "a price of energy needs watts"
        parts = [price.as_integer_ratio() for price in prices.machines]
        worn = self._worn if wear else self._not_worn
        of_idling = alpha.denominator * self._idle_unit
        denominator = math.lcm(of_idling, self._worn_unit if wear else 1, *(each for _, each in parts))
        a_factor = alpha.numerator * (denominator // alpha.denominator)
        idle_factor, worn_factor = alpha.numerator * (denominator // of_idling), denominator // self._worn_unit
        beta = [
            top * (denominator // bottom) + w * worn_factor - b * idle_factor
            for (top, bottom), w, b in zip(parts, worn, self._idle, strict=True)
        ]
        cells = self._all
        if self.screen is not None:
            exact = [Fraction(each, denominator) for each in beta]
            cells = _Cells(self.bag, self.screen.cheapest(alpha, exact))
        shift = cells.watts_shift
        constant_of = [beta[j] << shift for j in self._machine_of]
        total = 0
        if near is not None and self._has_all and cells.watts is not None:
            for count, e, a, chosen in zip(self._counts, cells.seconds, cells.watts, near, strict=True):
                # Pairs that are chosen can run: e and a are there.
                total += count * min([e[c] * (a_factor * a[c] + constant_of[c]) for c in chosen])  # type: ignore[operator]
            return Fraction(total, denominator << (cells.seconds_shift + shift))
        for count, pairs in zip(self._counts, cells.drawing if a_factor else cells.timed, strict=True):
            own = constant_of if pairs.columns is None else [constant_of[column] for column in pairs.columns]
            terms = map(mul, pairs.seconds, own)
            total += count * min(map(add, terms, map(mul, pairs.joules, repeat(a_factor))) if a_factor else terms)
        return Fraction(total, denominator << (cells.seconds_shift + shift))

    @cached_property
    def _most_bags_per_second(self) -> Fraction:
        """Return r_max, rounded up: doubles find the type that allows the least, its rate is worked out."""
        counts = [task.count for task in self.bag.task_types]
        machines = [machine.count for machine in self.bag.machine_types]
        if self.screen is not None:
            least = self.screen.scarcest()
            (seconds,), shift = _integers([self.bag.seconds.row(least)])
            scarce = self._quickest(seconds, range(len(self._machine_of)))
        else:
            quickest, shift = (
                [self._quickest(*row) for row in zip(self._all.seconds, self._all.columns, strict=True)],
                self._all.seconds_shift,
            )
            rates = [
                sum(machines[j] / e for j, e in own.items()) / count
                for own, count in zip(quickest, counts, strict=True)
            ]
            least = rates.index(min(rates))
            scarce = quickest[least]
        fine = shift + 64
        tasks = sum((machines[j] << (fine + shift)) // e + 1 for j, e in scarce.items())
        return Fraction(tasks, counts[least] << fine)

    def _quickest(self, seconds: list[int | None], columns: Sequence[int]) -> dict[int, int]:
        """Return for each machine type its shortest time among its P-states."""
        quickest: dict[int, int] = {}
        for column, e in zip(columns, seconds, strict=True):
            if e is not None:
                j = self._machine_of[column]
                quickest[j] = min(e, quickest.get(j, e))
        return quickest

    @cached_property
    def _unit(self) -> Fraction:
        """Return the common unit of all seconds; 0 where a makespan need not be a multiple of it."""
        if self.shortest is None or self.headroom is not None or self.screen is not None:
            return Fraction(0)
        whole = math.gcd(*(e for row in self._all.seconds for e in row if e is not None))
        return Fraction(whole, 1 << self._all.seconds_shift)

    @cached_property
    def _joules_unit(self) -> Fraction:
        """Return the common unit of all energies; 0 where that of seconds is."""
        cells, unit = self._all, self._unit * self.idle_watts
        if not self._unit or cells.watts is None:
            return Fraction(0)
        idle = [Fraction(machine.idle_watts) for machine in self.bag.machine_types]
        common = math.lcm(1 << cells.watts_shift, *(each.denominator for each in idle))
        found, scale = 0, common >> cells.watts_shift
        floor = [int(idle[j] * common) for j in self._machine_of]
        for seconds, watts, columns in zip(cells.seconds, cells.watts, cells.columns, strict=True):
            for e, a, column in zip(seconds, watts, columns, strict=True):
                if e is not None and a is not None:
                    found = math.gcd(found, e * (a * scale - floor[column]))
        drawn = Fraction(found, common << cells.seconds_shift)
        down = math.lcm(drawn.denominator, unit.denominator)
        return Fraction(math.gcd(int(drawn * down), int(unit * down)), down)


class _Cells:
    """Seconds and watts of some columns of each task type, as whole numbers."""

    def __init__(self, bag: Bag, columns: Sequence[Sequence[int]]) -> None:
        self.columns, self.width = columns, len(bag.modes)
        self.seconds, self.seconds_shift = _integers(_chosen(bag.seconds, i, own) for i, own in enumerate(columns))
        self.watts: Cells | None = None
        self.watts_shift = 0
        table = bag.watts
        if table is not None:
            self.watts, self.watts_shift = _integers(_chosen(table, i, own) for i, own in enumerate(columns))

    @cached_property
    def timed(self) -> list[_Pairs]:
        """Of each task type, the pairs with seconds."""
        return [self._pairs(row, [0] * len(row), own) for row, own in zip(self.seconds, self.columns, strict=True)]

    @cached_property
    def drawing(self) -> list[_Pairs]:
        """Of each task type, the pairs with seconds and watts."""
        assert self.watts is not None, "only a bag with watts"
        return list(map(self._pairs, self.seconds, self.watts, self.columns))

    def _pairs(self, seconds: list[int | None], watts: Sequence[int | None], columns: Sequence[int]) -> _Pairs:
        own = [
            (c, e, e * a) for c, e, a in zip(columns, seconds, watts, strict=True) if e is not None and a is not None
        ]
        everywhere = len(own) == self.width
        return _Pairs(
            None if everywhere else [c for c, _, _ in own], [e for _, e, _ in own], [joules for *_, joules in own]
        )


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The pairs of a task type: columns (`None`: all of them), e, and e a."""

    columns: list[int] | None
    seconds: list[int]
    joules: list[int]


def _chosen(table: Table, i: int, columns: Sequence[int]) -> list[float | None]:
    """Return some cells of a row, by rising columns."""
    return table.row(i) if len(columns) == table.columns else [table[i, column] for column in columns]


def _on_one_denominator(numbers: Iterable[Number]) -> tuple[list[int], int]:
    """Return whole numbers and a denominator that they have in common."""
    parts = [each.as_integer_ratio() for each in numbers]
    common = math.lcm(*(bottom for _, bottom in parts))
    return [top * (common // bottom) for top, bottom in parts], common


def _within(seconds: Sequence[float | None], deadline: float) -> Sequence[int]:
    """Return the columns in which a task is done by the deadline; all, if it is in none."""
    within = [column for column, each in enumerate(seconds) if each is not None and each <= deadline]
    return within or range(len(seconds))


def _multiple_above(exact: Fraction, unit: Fraction) -> Fraction:
    """Return the least multiple of a unit that is not below a number; the number itself without a unit."""
    return -(-exact // unit) * unit if unit else exact


def _scaled(prices: Multipliers, factor: Fraction) -> Multipliers:
    return Multipliers(tuple(factor * Fraction(each) for each in prices.machines), factor * Fraction(prices.cap))


def _integers(cells: Iterable[Sequence[float | None]]) -> tuple[Cells, int]:
    """Return whole numbers z and a shift s with cell = z / 2^s, exactly; absent cells stay absent.

    A double is a whole number of 2^(exponent - 53), so the smallest exponent serves for all; multiplying a
    double by a power of two is exact.
    """
    rows = list(cells)
    smallest = min((cell for row in rows for cell in row if cell), default=1.0)
    shift = max(0, 53 - math.frexp(smallest)[1])
    return [[None if cell is None else int(math.ldexp(cell, shift)) for cell in row] for row in rows], shift
