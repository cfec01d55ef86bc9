"""Proofs that know that a task is whole, for one interval of makespans after the other; checked here.

Take a schedule whose makespan t is in [t1, t2]. A machine of type j runs a *pattern*: whole tasks that together take at
most t2 seconds. Let v_i be any price of a task, omega_j >= 0 any price of a machine's second, mu >= 0 any price of a
joule above idle (0 without a power cap), and phi_j the largest value of a pattern of machine type j: the sum of v_i -
f_ijk - omega_j e_ijk - mu d_ijk over its tasks, for any costs f. Over all machines, every task is in there once, the
machines of type j work at most m_j t seconds, and the cap leaves at most (P - I) t joules above idle. So the tasks cost

    sum f x  >=  A - t B,       A = sum n_i v_i - sum m_j phi_j,      B = sum m_j omega_j + mu (P - I)

    makespan   f = 0        A - t B <= 0: no such t, no schedule in the interval
    energy     f = d        E >= A + t (I - B)
    profit     f = kappa    R <= (N - A) / t + B - K            letters as in `bounds.py`

Energy and profit are monotone in t: the worse end of the interval counts. An interval without an end needs a
*plain* proof: v_i = min (f + omega e + mu d) over all pairs with e <= t2, which makes every phi 0. In it,
prices with B > I are first scaled down to equality for energy. Together the intervals cover all makespans
from one that no schedule undercuts (`LeastMakespan`) up to the deadline, and the worst of them counts.

phi_j is a knapsack (`knapsacks.py`). Times are rounded down to cells, t2 / cells seconds each, unless the cells are
as fine as the unit of the times, and values up to a common unit, so that what comes out is no less than phi_j.

Where there is no power cap, a schedule may as well not wait: that makes makespan and energy no larger, and
profit no smaller if it is above -K. Then t is a multiple of the common unit u of all times, and only
such t count; E = D(x) + I t is a multiple of the common unit of all d and of I u. Where a deadline forces
tasks that lose money, waiting loses less, so that for profit with a deadline u is not used.

Only whole numbers and fractions of them. No code is shared with the search that finds the prices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from pydantic import BeforeValidator, Field

from lpsched.bag.certificate.bounds import SECONDS_PER_HOUR, Multipliers, Prover
from lpsched.bag.certificate.knapsacks import Item, Knapsack
from lpsched.model.answers import AnswerPart, AnyName, AnyWhole, Exact, ExactPrices
from lpsched.model.fields import Several

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lpsched.bag.model import Bag

MOST_CELLS: Final = 10**18  # finer than doubles: knapsacks take no longer for it
MOST_STEPS: Final = 4 * 10**7  # of the knapsacks of a certificate, a state each: some 30 seconds
BITS: Final = 40  # of the largest value in a knapsack
FIRST: Final = 24  # bits: what is first tried to be taken off a value is smaller by as much,
LARGEST_FIRST: Final = 4  # or by as much where more is needed
FEW_STEPS: Final = 500  # and two for each item: after no more, the next try is four times as large


@dataclass(frozen=True, slots=True)
class LeastMakespan(AnswerPart):
    """Seconds that no schedule undercuts, because of all tasks of some types, or at some prices.

    The tasks of the types S: in less than L seconds a machine of type j finishes at most ceil(L / e) - 1 of
    them, e the least time of one there; if that is fewer than there are on all machines together, no
    schedule is shorter than L. The prices are those of the plain bound of the makespan (`bounds.py`).
    """

    seconds: Exact
    task_types: Annotated[tuple[AnyName, ...], Several(needed="null, or a list of names")] | None = None
    machine_prices: ExactPrices | None = None
    cap_price: Exact = Fraction(0)


@dataclass(frozen=True, slots=True)
class Interval(AnswerPart):
    """Makespans from `start` to `end`, or from there on; a plain proof has no task prices and no cells."""

    _KEYS: ClassVar[str] = "from=start to=end task_prices machine_prices cap_price cells=written_cells"

    start: Annotated[Exact, Field(alias="from")]
    end: Annotated[Exact | None, Field(alias="to")]
    task_prices: ExactPrices | None
    machine_prices: ExactPrices
    cap_price: Exact = Fraction(0)
    cells: Annotated[AnyWhole, BeforeValidator(lambda cells: 0 if cells is None else cells)] = 0  # null in files

    @property
    def written_cells(self) -> int | None:
        """The number of cells in a file: null for a plain proof."""
        return self.cells or None


@dataclass(frozen=True, slots=True)
class Line:
    """All tasks of a schedule of makespan t cost at least a - t b."""

    a: Fraction
    b: Fraction


class TooManyStepsError(Exception):
    """The knapsacks of a certificate would take too long."""


class IntervalProver:
    """Evaluates the formulas above for one bag under its terms, and one objective.

    A score is the profit rate and K, or minus the joules, or minus the seconds: more is better.
    """

    def __init__(self, bag: Bag, objective: str, known: Prover | None = None) -> None:
        known = Prover(bag) if known is None else known
        nothing, profit = Fraction(0), objective == "profit"
        self.bag, self.objective, self.known, self.steps_left = bag, objective, known, MOST_STEPS
        self.counts = [task.count for task in bag.task_types]
        self.machines = [machine.count for machine in bag.machine_types]
        self.per_joule = {"profit": known.per_joule, "energy": Fraction(1)}.get(objective, nothing)
        self.per_second = known.idle_watts if objective == "energy" else nothing
        self.income = known.income() if profit else nothing
        hourly = [Fraction(each.wear_per_busy_hour) if profit else nothing for each in bag.machine_types]
        self.wear = [each / SECONDS_PER_HOUR for each in hourly]
        self._read(bag)
        self.grain = math.gcd(*(e for row in self.rows for _, e, _ in row))
        may_wait = known.headroom is not None or (profit and known.deadline is not None)
        self.unit = None if may_wait else Fraction(self.grain, self.per_time)

    def _read(self, bag: Bag) -> None:
        """Make whole numbers of all times and of d = e (a - b): j, e, d of each pair, by task type."""
        used = [cell for row in bag.seconds for cell in row if cell is not None]
        self.per_time = math.lcm(*(Fraction(cell).denominator for cell in used))
        idle = [machine.idle_watts for machine in bag.machine_types]
        drawn = [] if bag.watts is None else [cell for row in bag.watts for cell in row if cell is not None]
        per_watt = math.lcm(*(Fraction(each).denominator for each in (*drawn, *idle)))
        self.per_joule_above = self.per_time * per_watt
        whole_idle = [_whole(each, per_watt) for each in idle]
        machine_of = [j for j, _ in bag.modes]
        self.rows: list[list[tuple[int, int, int]]] = []
        for i in range(len(bag.task_types)):
            row = []
            for column, j in enumerate(machine_of):
                cell = bag.seconds[i, column]
                if cell is None:
                    continue
                e, watts = _whole(cell, self.per_time), None if bag.watts is None else bag.watts[i, column]
                above = 0 if watts is None else _whole(watts, per_watt) - whole_idle[j]
                row.append((j, e, e * above))
            self.rows.append(row)

    def line(self, interval: Interval, end: Fraction | None) -> Line | None:
        """Return what the prices of an interval prove for all makespans up to `end`; `None`: there are none.

        Raises `TooManyStepsError` if the knapsacks would take too long.
        """
        omega = [interval.machine_prices[machine.name] for machine in self.bag.machine_types]
        mu = interval.cap_price
        b = sum((m * price for m, price in zip(self.machines, omega, strict=True)), Fraction(0))
        b += mu * (self.known.headroom or 0)
        if end is None and self.objective == "energy" and b > self.per_second:
            omega, mu = [each * self.per_second / b for each in omega], mu * self.per_second / b
            b = self.per_second
        alpha, beta = self.per_joule + mu, [worn + each for worn, each in zip(self.wear, omega, strict=True)]
        given = interval.task_prices
        v = [] if given is None else [given[task.name] for task in self.bag.task_types]
        denominator = math.lcm(*(each.denominator for each in (alpha, *beta, *v)))
        scale = denominator * self.per_joule_above  # of all costs from here on
        per_d = int(alpha * denominator)
        per_e = [int(each * denominator) * (self.per_joule_above // self.per_time) for each in beta]
        last = None if end is None else math.floor(end * self.per_time / self.grain) * self.grain
        paid = [[(j, e, e * per_e[j] + d * per_d) for j, e, d in row if last is None or e <= last] for row in self.rows]
        if not all(paid):
            return None  # some task takes longer than that wherever it runs
        if given is None or last is None:
            a = sum(n * min(cost for _, _, cost in row) for n, row in zip(self.counts, paid, strict=True))
            return Line(Fraction(a, scale), b)
        worth = [int(each * scale) for each in v]
        a = sum(n * each for n, each in zip(self.counts, worth, strict=True))
        stops = self.objective == "makespan" and b <= 0  # A > 0 says all; elsewhere more is better
        a -= self._phi(paid, worth, last, interval.cells, a if stops else None)
        return Line(Fraction(a, scale), b)

    def score(self, line: Line, start: Fraction, end: Fraction | None) -> Fraction | None:
        """Return the score that no schedule of these makespans exceeds; `None`: there are none.

        Raises `ZeroDivisionError` if it is unbounded.
        """
        start = self._not_before(start)
        if self.unit is not None and end is not None:
            end = math.floor(end / self.unit) * self.unit
        if self.objective == "makespan" and line.a > start * line.b:
            if line.b <= 0:
                return None
            start = self._not_before(line.a / line.b)
        if end is not None and start > end:
            return None
        if self.objective == "makespan":
            return -start
        if self.objective == "energy":
            slope = line.b - self.per_second  # not above 0 where there is no end
            return max(slope * t for t in (start, start if end is None else end)) - line.a
        left = self.income - line.a
        if left > 0:
            return left / start + line.b
        return line.b + (0 if end is None else left / end)

    def _not_before(self, seconds: Fraction) -> Fraction:
        return seconds if self.unit is None else math.ceil(seconds / self.unit) * self.unit

    def to_bound(self, score: Fraction) -> Fraction:
        """Return the bound of the objective that a bound of the score means; of energy, in whole units."""
        if self.objective == "profit":
            return SECONDS_PER_HOUR * (score - self.known.fixed_rate())
        return -score if self.joules is None else math.ceil(-score / self.joules) * self.joules

    @cached_property
    def joules(self) -> Fraction | None:
        """The common unit of all d and of I u, where energy is asked for and nothing is gained by waiting."""
        if self.objective != "energy" or self.unit is None:
            return None
        idle = self.known.idle_watts * self.unit * self.per_joule_above  # of one u; may be no whole number
        above = (d * idle.denominator for row in self.rows for _, _, d in row)
        common = math.gcd(idle.numerator, *above)
        return Fraction(common, idle.denominator * self.per_joule_above) if common else None

    def _phi(
        self, paid: list[list[tuple[int, int, int]]], worth: list[int], last: int, cells: int, enough: int | None
    ) -> int:
        """Return no less than sum m_j phi_j; exact values, unless less than `enough` is proved before."""
        items: list[list[Item]] = [[] for _ in self.machines]
        for i, row in enumerate(paid):
            for j, e, cost in row:
                if worth[i] > cost:
                    items[j].append(Item(e, worth[i] - cost, min(self.counts[i], last // e)))
        most = [_Most(m, each, last, cells, self._spend) for m, each in zip(self.machines, items, strict=True) if each]
        total = sum(each.total for each in most)
        if enough is not None:
            for each in most:
                each.begin_with((total - enough) // (4 * sum(self.machines)))
        while enough is None or total >= enough:
            inexact = [each for each in most if not each.knapsack.exact]
            if not inexact:
                break
            for each in inexact:
                each.refine()
            total = sum(each.total for each in most)
        return total

    def _spend(self, steps: int) -> None:
        self.steps_left -= steps
        if self.steps_left < 0:
            raise TooManyStepsError


class _Most:
    """No less than what the patterns of all machines of a type are worth together; by cells and in whole units.

    A grid that is no coarser than the times rounds nothing.
    """

    def __init__(self, machines: int, items: list[Item], last: int, cells: int, spend: Callable[[int], None]) -> None:
        kept, highest = list[Item](), 0  # without items that take no less and are worth no more than a plentiful one
        for e, worth, limit in sorted(items, key=lambda item: (item.size, -item.value)):
            if worth > highest:
                kept.append(Item(e, worth, limit))
                highest = worth if limit == last // e else highest
        grain = math.gcd(*(item.size for item in kept))
        per, over, room = (1, grain, last // grain) if cells >= last // grain else (cells, last, cells)
        self.machines, self.shift = machines, max(0, max(item.value for item in kept).bit_length() - BITS)
        whole = [Item(e * per // over, -(-worth >> self.shift), limit) for e, worth, limit in kept]
        self.free = sum(item.value * item.limit for item in whole if item.size == 0)
        self.steps, self.spend = 0, spend
        self.knapsack = Knapsack([item for item in whole if item.size], room, self._spend)
        self.by = self.knapsack.most >> FIRST

    @property
    def total(self) -> int:
        """Of all machines of the type."""
        return self.machines * (self.free + self.knapsack.most << self.shift)

    def begin_with(self, by: int) -> None:
        """Try this much at first, if it is more, but only a small part of the value."""
        self.by = max(self.by, min(by >> self.shift, self.knapsack.most >> LARGEST_FIRST))

    def refine(self) -> None:
        """Prove a little less than was known at first, and more each time, with care once that takes many steps."""
        before = self.steps
        self.knapsack.refine(self.by)
        few = self.steps - before < FEW_STEPS + 2 * len(self.knapsack.items)
        self.by = 4 * self.by + 1 if few else self.by + self.by // 2 + 1

    def _spend(self, steps: int) -> None:
        self.steps += steps
        self.spend(steps)


def _whole(number: float, per_one: int) -> int:
    numerator, denominator = number.as_integer_ratio()
    return numerator * (per_one // denominator)


def proved_by(prover: IntervalProver, least: LeastMakespan | None, intervals: Sequence[Interval]) -> Fraction | str:
    """Return the bound that intervals prove, or why they prove none."""
    begin, deadline = Fraction(0) if least is None else least.seconds, prover.known.deadline
    if least is not None and not _is_least(prover, least):
        return f"it does not prove that no schedule is shorter than {float(begin):g} seconds"
    if intervals[0].start > begin:
        return f"its intervals begin at {float(intervals[0].start):g} seconds, and schedules may be shorter"
    last = intervals[-1].end
    if last is not None and (deadline is None or last < deadline):
        return f"its intervals end at {float(last):g} seconds, and schedules may be longer"
    try:
        scores = [_score(prover, interval, begin) for interval in intervals]
    except TooManyStepsError:
        return f"its grids are too fine: checking takes more than {MOST_STEPS:,} steps"
    except ZeroDivisionError:
        return "it has an interval from 0 seconds on, where the profit may be anything"
    if prover.objective == "profit" and deadline is None:
        scores.append(Fraction(0))  # nothing is run
    known = [score for score in scores if score is not None]
    return prover.to_bound(max(known)) if known else "its intervals leave no schedule at all, and so no bound"


def _score(prover: IntervalProver, interval: Interval, begin: Fraction) -> Fraction | None:
    """Return the score that no schedule exceeds in what an interval has of all makespans."""
    start, ends = max(interval.start, begin), [interval.end, prover.known.deadline]
    end = min((each for each in ends if each is not None), default=None)
    if end is not None and start > end:
        return None
    line = prover.line(interval, end)
    return None if line is None else prover.score(line, start, end)


def _is_least(prover: IntervalProver, least: LeastMakespan) -> bool:
    """Return whether no schedule is shorter, as is claimed."""
    bag, seconds = prover.bag, least.seconds
    if least.machine_prices is not None:
        prices = tuple(least.machine_prices[machine.name] for machine in bag.machine_types)
        if seconds <= prover.known.makespan(Multipliers(prices, least.cap_price)):
            return True
    if least.task_types is None:
        return False
    deadline = prover.known.deadline
    last = None if deadline is None else deadline * prover.per_time
    tasks, shortest = 0, dict[int, int]()
    for task, row in zip(bag.task_types, prover.rows, strict=True):
        if task.name in least.task_types:
            tasks += task.count
            for j, e, _ in row:
                if last is None or e <= last:
                    shortest[j] = min(e, shortest.get(j, e))
    done = [prover.machines[j] * (math.ceil(seconds * prover.per_time / e) - 1) for j, e in shortest.items()]
    return sum(done) < tasks
