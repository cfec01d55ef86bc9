"""A valid schedule in numbers: what runs where, what the machines do, and the money, part by part.

Measured by plain loops and exact sums, as the verifier measures (`bag/verify.py`); every number is rounded once, to
the nearest. The parts of the money add up to the profit that the verifier measures:

    profit  =  revenue - electricity - wear - depreciation - overhead

Per bag, electricity is the energy of all machines up to the makespan at the meter (PUE times that at the machines),
wear is that of busy hours, and depreciation is what all machines lose in value up to the makespan. Per hour is per
bag, divided by the hours of the makespan. While nothing runs, idle power and depreciation are all that there is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.bag.verify import Tables
from lpsched.model.fields import FrozenDict
from lpsched.model.violation import UNIT, Violation
from lpsched.units import JOULES_PER_KWH, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lpsched.bag.model import Bag
    from lpsched.bag.parts import MachineType
    from lpsched.bag.schedule import Schedule


@dataclass(frozen=True, slots=True)
class MoneySplit:
    """What comes in, what each kind of cost takes, and what is left; `None` where the bag does not give it."""

    revenue: float | None
    electricity: float | None
    wear: float
    depreciation: float
    overhead: float
    profit: float | None


@dataclass(frozen=True, slots=True)
class MachineUse:
    """What the machines of a type do: how many there are, how many run tasks, and for which share of all their time.

    `cost_per_hour` is the fixed cost rate of one machine, idle power and depreciation; `None` where electricity has
    no price.
    """

    count: int
    used: int
    busy_share: float
    tasks: int
    cost_per_hour: float | None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """What a schedule does and costs, measured.

    Attributes
    ----------
    per_hour, per_bag
        Money; none per bag if nothing runs.
    fixed_cost_per_hour
        What all machines cost while nothing runs; `None` where electricity has no price.
    average_watts
        At the machines; `None` without watts.
    machine_types
        What the machines of each type do.
    allocation
        How many tasks of each type run on each machine type; only what is there.
    p_states
        How many tasks run in each P-state of the machine types that have them; only what is there.
    task_seconds
        The machine time that all tasks of a type take.
    """

    per_hour: MoneySplit
    per_bag: MoneySplit | None
    fixed_cost_per_hour: float | None
    average_watts: float | None
    machine_types: FrozenDict[str, MachineUse]
    allocation: FrozenDict[str, FrozenDict[str, int]]
    p_states: FrozenDict[str, FrozenDict[str, int]]
    task_seconds: FrozenDict[str, float]


def breakdown(bag: Bag, schedule: Schedule) -> Breakdown:
    """Return what a valid schedule does and costs, part by part; without groups nothing runs.

    >>> from lpsched.bag.model import Bag
    >>> from lpsched.bag.parts import MachineType, Prices, TaskType
    >>> from lpsched.bag.schedule import MachineGroup, Run, Schedule
    >>> from lpsched.model.table import Table
    >>> cpu, prices = MachineType(name="cpu", count=2), Prices(per_bag=3.0, electricity_per_kwh=0.0)
    >>> bag = Bag("b", (cpu,), (TaskType(name="a", count=3),), Table.of([[1800.0]]), None, prices)
    >>> groups = MachineGroup("cpu", 1, (Run("a", 2),)), MachineGroup("cpu", 1, (Run("a", 1),))
    >>> found = breakdown(bag, Schedule(groups))
    >>> found.machine_types["cpu"].busy_share, found.per_hour.revenue, found.allocation
    (0.75, 3.0, {'a': {'cpu': 3}})
    """
    tables = Tables(bag)
    used: Counter[str] = Counter()
    tasks: Counter[str] = Counter()
    busy: Counter[str] = Counter()  # in UNIT
    placed: dict[str, dict[str, int]] = {task.name: {} for task in bag.task_types}
    states: dict[str, Counter[str]] = {each.name: Counter() for each in bag.machine_types if each.p_states is not None}
    taken: Counter[str] = Counter()  # in UNIT
    longest = busy_joules = 0
    for group in schedule.groups:
        used[group.machine_type] += group.machines if group.runs else 0
        load = 0
        for run in group.runs:
            cell = tables.cell(run.task_type, group.machine_type, run.p_state)
            assert not isinstance(cell, Violation), "only valid schedules are looked into"
            count = group.machines * run.count
            load += run.count * cell[0]
            busy_joules += count * cell[1]
            tasks[group.machine_type] += count
            taken[run.task_type] += count * cell[0]
            own = placed[run.task_type]
            own[group.machine_type] = own.get(group.machine_type, 0) + count
            if run.p_state is not None:
                states[group.machine_type][run.p_state] += count
        busy[group.machine_type] += group.machines * load
        longest = max(longest, load)
    busy_seconds = {machine.name: Fraction(busy[machine.name], UNIT) for machine in bag.machine_types}
    seconds = joules = None
    if schedule.groups:
        ends = schedule.makespan_seconds
        seconds = Fraction(longest, UNIT) if ends is None else Fraction(ends)
        joules = Fraction(busy_joules, UNIT * UNIT)
        for machine in bag.machine_types:
            joules += (machine.count * seconds - busy_seconds[machine.name]) * Fraction(machine.idle_watts)
    money = _Money(bag)
    per_hour, per_bag = money.split(seconds, joules, busy_seconds)
    idle = sum((each.count * Fraction(each.idle_watts) for each in bag.machine_types), Fraction(0))
    drawn = idle if seconds is None or joules is None else joules / seconds
    return Breakdown(
        per_hour,
        per_bag,
        _double(money.fixed()),
        None if bag.watts is None else float(drawn),
        FrozenDict(
            (
                machine.name,
                MachineUse(
                    machine.count,
                    used[machine.name],
                    0.0 if seconds is None else float(busy_seconds[machine.name] / (machine.count * seconds)),
                    tasks[machine.name],
                    _double(money.fixed_of(machine)),
                ),
            )
            for machine in bag.machine_types
        ),
        FrozenDict((name, FrozenDict(each)) for name, each in placed.items()),
        FrozenDict((name, FrozenDict(each)) for name, each in states.items()),
        FrozenDict((task.name, taken[task.name] / UNIT) for task in bag.task_types),
    )


class _Money:
    """The cost model of a bag, in exact fractions."""

    def __init__(self, bag: Bag) -> None:
        self.bag = bag
        prices = bag.prices
        self.sold = prices.per_bag is not None or bool(prices.per_task)
        self.per_joule: Fraction | None = None
        if prices.electricity_per_kwh is not None:
            self.per_joule = Fraction(prices.electricity_per_kwh) * Fraction(bag.site.pue) / JOULES_PER_KWH

    def revenue(self) -> Fraction:
        prices = self.bag.prices
        revenue = Fraction(prices.per_bag or 0.0)
        for task in self.bag.task_types if prices.per_task else ():
            revenue += task.count * Fraction(prices.per_task.get(task.name, 0.0))
        return revenue

    def fixed_of(self, machine: MachineType) -> Fraction | None:
        """Return what one machine costs in an hour, whatever it runs."""
        if self.per_joule is None:
            return None
        return SECONDS_PER_HOUR * self.per_joule * Fraction(machine.idle_watts) + _depreciation(machine)

    def fixed(self) -> Fraction | None:
        """Return what all machines cost in an hour while nothing runs."""
        fixed = Fraction(0)
        for machine in self.bag.machine_types:
            own = self.fixed_of(machine)
            if own is None:
                return None
            fixed += machine.count * own
        return fixed

    def split(
        self, seconds: Fraction | None, joules: Fraction | None, busy_seconds: Mapping[str, Fraction]
    ) -> tuple[MoneySplit, MoneySplit | None]:
        """Return the money per hour, and per bag if it runs: up to the makespan in seconds."""
        machines = self.bag.machine_types
        lost = sum((each.count * _depreciation(each) for each in machines), Fraction(0))  # per hour
        if seconds is None or joules is None:
            idle = self.fixed()
            nothing = Fraction(0) if self.sold else None
            amounts = (nothing, None if idle is None else idle - lost, Fraction(0), lost, Fraction(0))
            return _split(amounts, Fraction(1)), None
        worn = Fraction(0)
        for machine in machines:
            worn += busy_seconds[machine.name] * Fraction(machine.wear_per_busy_hour) / SECONDS_PER_HOUR
        electricity = None if self.per_joule is None else self.per_joule * joules
        if self.bag.watts is None and self.per_joule:  # energy has a price, and how much is taken is not known
            electricity = None
        hours = seconds / SECONDS_PER_HOUR
        revenue, overhead = self.revenue() if self.sold else None, Fraction(self.bag.prices.overhead_per_bag)
        per_bag = (revenue, electricity, worn, lost * hours, overhead)
        return _split(per_bag, hours), _split(per_bag, Fraction(1))


def _depreciation(machine: MachineType) -> Fraction:
    """Return the value that a machine loses in an hour."""
    if machine.mean_hours_to_failure is None:
        return Fraction(0)
    return Fraction(machine.purchase_price) / Fraction(machine.mean_hours_to_failure)


def _split(amounts: tuple[Fraction | None, Fraction | None, Fraction, Fraction, Fraction], by: Fraction) -> MoneySplit:
    """Return amounts divided by a number, and what is left of the first one after all others."""
    revenue, electricity, wear, lost, overhead = amounts
    profit = None
    if revenue is not None and electricity is not None:
        profit = revenue - electricity - wear - lost - overhead
    revenue, electricity, profit = (None if each is None else each / by for each in (revenue, electricity, profit))
    costs = float(wear / by), float(lost / by), float(overhead / by)
    return MoneySplit(_double(revenue), _double(electricity), *costs, _double(profit))


def _double(exact: Fraction | None) -> float | None:
    return None if exact is None else float(exact)
