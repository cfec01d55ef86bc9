"""Tiny bags with every schedule they have, and what each takes, in plain fractions.

A way is one assignment of single tasks to single machines and P-states. With t the makespan, which may be later
than the largest load, since waiting is allowed:

    energy  D + I t         power  D <= H t,  H = P - I         profit per second  (N - c D - worn) / t - K
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

from hypothesis import strategies as st

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.model.fields import LARGEST, SMALLEST
from lpsched.model.table import Table

BAGS = [(1,), (2,), (1, 1), (3,), (2, 1), (1, 1, 1), (4,), (1, 3), (2, 1, 1), (5,), (2, 3), (1, 2, 2)]
MOST_WAYS = 1500  # before those that are alike are joined
AMOUNTS = st.integers(1, 9).map(float) | st.floats(0.125, 9.0) | st.sampled_from([0.1, 0.3, 50.0, 1000.0])
PER_KWH = st.sampled_from([0.0, 0.12, 3.6e6, 1e6]) | st.floats(1e4, 1e7)  # 3.6e6 per kWh is 1 per joule
PER_HOUR = st.sampled_from([0.0, 3600.0, 360.0]) | st.floats(1.0, 1e5)


@dataclass(frozen=True)
class Way:
    """What an assignment takes: its largest load, its joules above idle, and the money that wears off."""

    load: Fraction
    joules: Fraction
    worn: Fraction


@dataclass(frozen=True)
class Ledger:
    """The numbers of a bag that do not depend on where tasks run."""

    bag: Bag

    @cached_property
    def idle(self) -> Fraction:
        return sum((each.count * Fraction(each.idle_watts) for each in self.bag.machine_types), Fraction(0))

    @cached_property
    def per_joule(self) -> Fraction:
        return Fraction(self.bag.prices.electricity_per_kwh or 0.0) * Fraction(self.bag.site.pue) / 3_600_000

    @cached_property
    def lost(self) -> Fraction:
        return sum(
            (
                each.count * Fraction(each.purchase_price) / Fraction(each.mean_hours_to_failure) / 3600
                for each in self.bag.machine_types
                if each.mean_hours_to_failure is not None
            ),
            Fraction(0),
        )

    @cached_property
    def standing(self) -> Fraction:
        return self.per_joule * self.idle + self.lost

    @cached_property
    def income(self) -> Fraction:
        prices = self.bag.prices
        tasks = [each.count * Fraction(prices.per_task.get(each.name, 0.0)) for each in self.bag.task_types]
        return Fraction(prices.per_bag or 0.0) + sum(tasks) - Fraction(prices.overhead_per_bag)

    @cached_property
    def headroom(self) -> Fraction | None:
        site = self.bag.site
        if site.average_power_cap_watts is None:
            return None
        meter = Fraction(site.pue) if site.cap_measured_at == "facility" else 1
        return Fraction(site.average_power_cap_watts) / meter - self.idle

    @cached_property
    def deadline(self) -> Fraction | None:
        seconds = self.bag.site.deadline_seconds
        return None if seconds is None else Fraction(seconds)

    def kappa(self, i: int, column: int) -> Fraction | None:
        """Return what one task costs in a column; `None` if it cannot run there."""
        seconds = self.bag.seconds[i, column]
        if seconds is None:
            return None
        machine = self.bag.machine_types[self.bag.modes[column][0]]
        cost = Fraction(seconds) * Fraction(machine.wear_per_busy_hour) / 3600
        if self.bag.watts is not None:
            watts = self.bag.watts[i, column]
            assert watts is not None
            cost += self.per_joule * Fraction(seconds) * (Fraction(watts) - Fraction(machine.idle_watts))
        return cost

    def least_running_cost(self) -> Fraction:
        columns = range(len(self.bag.modes))
        rows = [[self.kappa(i, column) for column in columns] for i in range(len(self.bag.task_types))]
        cheapest = [min(cost for cost in row if cost is not None) for row in rows]
        return sum((task.count * cost for task, cost in zip(self.bag.task_types, cheapest, strict=True)), Fraction(0))

    def ends(self, way: Way) -> tuple[Fraction, Fraction | None] | None:
        """Return the earliest and the latest makespan that the limits allow; `None` if they allow none."""
        first, last, room = way.load, self.deadline, self.headroom
        if room is not None and room > 0:
            first = max(first, way.joules / room)
        if room == 0 and way.joules > 0:
            return None
        if room is not None and room < 0:
            stop = way.joules / room
            last = stop if last is None else min(last, stop)
        return None if last is not None and first > last else (first, last)

    def left(self, way: Way) -> Fraction:
        """Return N - kappa x."""
        return self.income - self.per_joule * way.joules - way.worn

    def rate(self, way: Way, seconds: Fraction) -> Fraction:
        return self.left(way) / seconds - self.standing


@dataclass(frozen=True)
class Case:
    """A bag, and every way to run it."""

    bag: Bag
    ways: tuple[Way, ...]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002, FBT001 - IPython's protocol
        """Write the bag as code, so that a failure can be pasted."""
        bag = self.bag
        tables = f"Table.of({list(map(list, bag.seconds))}), {bag.watts and f'Table.of({list(map(list, bag.watts))})'}"
        types = f"{bag.machine_types!r}, {bag.task_types!r}"
        printer.text(f"case_of(Bag({bag.name!r}, {types}, {tables}, {bag.prices!r}, {bag.site!r}))")

    def best(self, objective: str, income: Fraction | None = None) -> Fraction | None:
        """Return the best seconds, joules or money per second; `None` if no tasks can run within the limits.

        Without a deadline, doing nothing earns -K. `income` is p - overhead, where it is not to be the bag's.
        """
        ledger = Ledger(self.bag)
        if income is not None:
            ledger.__dict__["income"] = income
        found = []
        for way in self.ways:
            ends = ledger.ends(way)
            if ends is None:
                continue
            first, last = ends
            if objective == "makespan":
                found.append(first)
            elif objective == "energy":
                found.append(way.joules + ledger.idle * first)
            elif ledger.left(way) >= 0 or last is None:  # without a last one, nothing is better than a loss
                found.append(ledger.rate(way, first))
            else:
                found.append(ledger.rate(way, last))
        if not found:
            return None
        if objective != "profit":
            return min(found)
        return max(found) if ledger.deadline is not None else max(*found, -ledger.standing)

    def least_cost(self, joules_weight: Fraction, seconds_weight: Fraction) -> Fraction | None:
        """Return the least wE E + wt t."""
        ledger = Ledger(self.bag)
        ends = [(way, ledger.ends(way)) for way in self.ways]
        costs = [
            joules_weight * (way.joules + ledger.idle * end[0]) + seconds_weight * end[0] for way, end in ends if end
        ]
        return min(costs, default=None)

    def under(self, **site: Any) -> Case:
        """Return the same ways under other limits."""
        return Case(self.bag.model_copy(update={"site": self.bag.site.model_copy(update=site)}), self.ways)


def case_of(bag: Bag) -> Case:
    """Return a bag with all its ways."""
    return Case(bag, all_ways(bag))


def all_ways(bag: Bag) -> tuple[Way, ...]:
    """Enumerate every assignment; machines of a type are alike, so their loads are kept sorted."""
    machines = bag.machine_types
    states: set[tuple[tuple[tuple[Fraction, ...], ...], Fraction]] = {
        (tuple((Fraction(0),) * each.count for each in machines), Fraction(0))
    }
    for i in (i for i, task in enumerate(bag.task_types) for _ in range(task.count)):
        grown = set()
        for (loads, joules), (column, (j, _)) in product(states, enumerate(bag.modes)):
            cell = bag.seconds[i, column]
            if cell is None:
                continue
            seconds, more = Fraction(cell), Fraction(0)
            if bag.watts is not None:
                watts = bag.watts[i, column]
                assert watts is not None
                more = seconds * (Fraction(watts) - Fraction(machines[j].idle_watts))
            for one in range(machines[j].count):
                own = sorted([*loads[j][:one], loads[j][one] + seconds, *loads[j][one + 1 :]])
                grown.add(((*loads[:j], tuple(own), *loads[j + 1 :]), joules + more))
        states = grown
    ways = {
        Way(
            max(max(own) for own in loads),
            joules,
            sum(
                (
                    sum(own) * Fraction(each.wear_per_busy_hour) / 3600
                    for own, each in zip(loads, machines, strict=True)
                ),
                Fraction(0),
            ),
        )
        for loads, joules in states
    }
    return tuple(sorted(ways, key=lambda way: (way.load, way.joules, way.worn)))


def near(exact: Fraction) -> st.SearchStrategy[float]:
    """Draw amounts that a file may say, at a threshold or about it: one double off, and further."""
    at = float(exact)
    steps = [at, math.nextafter(at, math.inf), math.nextafter(at, -math.inf)]
    factors = [at * factor for factor in (0.5, 0.9, 1 - 1e-6, 1 - 1e-10, 1 + 1e-10, 1 + 1e-6, 1.1, 1.5, 3.0)]
    return st.sampled_from(steps) | st.sampled_from(factors) | st.floats(0.5, 2.0).map(lambda by: at * by)


def sound(amount: float, least: float = 0.0) -> float:
    """Return the nearest amount that the door lets in."""
    return min(max(amount, least), LARGEST) if amount >= SMALLEST else least


@st.composite
def tiny_bags(draw, *, watts: bool | None = None) -> Bag:
    """Draw at most 5 tasks and 4 machines: absent pairs, P-states, idle power, watts below idle, wear, prices."""
    counts = draw(st.sampled_from([(1,), (2,), (3,), (1, 1), (2, 1), (1, 2), (2, 2), (1, 1, 1), (1, 2, 1)]))
    machines = []
    for j, count in enumerate(counts):
        states = draw(st.sampled_from([None, None, 1, 2]))
        life = draw(st.none() | st.sampled_from([1.0, 3.0, 40000.0]))
        machines.append(
            MachineType(
                name=f"m{j}",
                count=count,
                idle_watts=draw(st.just(0.0) | AMOUNTS),
                wear_per_busy_hour=draw(st.just(0.0) | PER_HOUR),
                purchase_price=0.0 if life is None else draw(PER_HOUR),
                mean_hours_to_failure=life,
                p_states=None if states is None else tuple(f"P{k}" for k in range(states)),
            )
        )
    columns = sum(each.modes for each in machines)
    choices = sum(each.modes * each.count for each in machines)
    most = max(1, min(5, int(math.log(MOST_WAYS) / math.log(choices)))) if choices > 1 else 5
    tasks = draw(st.sampled_from([each for each in BAGS if sum(each) <= most]))
    present = []
    for _ in tasks:
        row = draw(st.lists(st.sampled_from([True, True, True, False]), min_size=columns, max_size=columns))
        row[draw(st.integers(0, columns - 1))] = True
        present.append(row)

    def cells(amounts: st.SearchStrategy[float]) -> Table:
        return Table.of([[draw(amounts) if there else None for there in row] for row in present])

    seconds = cells(AMOUNTS)
    powered = draw(st.sampled_from([True, True, True, False])) if watts is None else watts
    names = [f"t{i}" for i in range(len(tasks))]
    return Bag(
        "tiny",
        tuple(machines),
        tuple(TaskType(name=name, count=count) for name, count in zip(names, tasks, strict=True)),
        seconds,
        cells(st.just(0.0) | AMOUNTS) if powered else None,
        Prices(
            per_task={name: draw(AMOUNTS) for name in names if draw(st.booleans())},
            electricity_per_kwh=draw(PER_KWH) if powered else 0.0,
            overhead_per_bag=draw(st.just(0.0) | AMOUNTS),
        ),
        Site(pue=draw(st.just(1.0) | st.floats(1.0, 3.0)), cap_measured_at=draw(st.sampled_from(["it", "facility"]))),
    )


@st.composite
def cases(draw, *, watts: bool | None = None, limits: bool = True) -> Case:
    """Draw a tiny bag, sold near its marginal cost or a break-even, with limits near what its ways take."""
    bag = draw(tiny_bags(watts=watts))
    ways = all_ways(bag)
    some = st.sampled_from(ways)
    ledger = Ledger(bag)
    site: dict[str, Any] = {}
    if limits and bag.watts is not None and draw(st.booleans()):
        way = draw(some)
        average = way.joules / (way.load * draw(st.sampled_from([1, 1, 2]))) + ledger.idle
        meter = Fraction(bag.site.pue) if bag.site.cap_measured_at == "facility" else 1
        watts_at = draw(near(meter * draw(st.sampled_from([average, average, ledger.idle]))))
        site["average_power_cap_watts"] = sound(watts_at, SMALLEST)
    if limits and draw(st.booleans()):
        ends = Ledger(bag.model_copy(update={"site": bag.site.model_copy(update=site)})).ends(way := draw(some))
        site["deadline_seconds"] = sound(draw(near(ends[0] if ends is not None else way.load)), SMALLEST)
    way = draw(some)
    running = ledger.per_joule * way.joules + way.worn
    marginal = ledger.least_running_cost()
    even = running + ledger.standing * way.load
    other = ledger.income  # less than what per-task prices and overhead already come to
    price = draw(near(draw(st.sampled_from([marginal, marginal, even, even, running])) - other))
    prices = bag.prices.model_copy(update={"per_bag": sound(price)})
    return Case(bag.model_copy(update={"prices": prices, "site": bag.site.model_copy(update=site)}), ways)
