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
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.bag.cost import exact_cost_model, has_price, has_rate
from lpsched.bag.verify import Tables
from lpsched.model.fields import FrozenDict
from lpsched.model.violation import UNIT, Violation
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
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

    >>> from lpsched import Bag, MachineGroup, MachineType, Prices, Run, Schedule, Table, TaskType
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
    placed: dict[str, Counter[str]] = {task.name: Counter() for task in bag.task_types}
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
            placed[run.task_type][group.machine_type] += count
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
    per_hour, per_bag = _money(bag, seconds, joules, busy_seconds)
    costs, is_known = exact_cost_model(bag), has_rate(bag)
    drawn = costs.idle_watts if seconds is None or joules is None else joules / seconds
    return Breakdown(
        per_hour,
        per_bag,
        float(SECONDS_PER_HOUR * costs.fixed_rate(costs.idle_watts)) if is_known else None,
        None if bag.watts is None else float(drawn),
        FrozenDict(
            (
                machine.name,
                MachineUse(
                    machine.count,
                    used[machine.name],
                    0.0 if seconds is None else float(busy_seconds[machine.name] / (machine.count * seconds)),
                    tasks[machine.name],
                    float(SECONDS_PER_HOUR * costs.own_rate(machine)) if is_known else None,
                ),
            )
            for machine in bag.machine_types
        ),
        FrozenDict((name, FrozenDict(each)) for name, each in placed.items()),
        FrozenDict((name, FrozenDict(each)) for name, each in states.items()),
        FrozenDict((task.name, taken[task.name] / UNIT) for task in bag.task_types),
    )


def _money(
    bag: Bag, seconds: Fraction | None, joules: Fraction | None, busy_seconds: Mapping[str, Fraction]
) -> tuple[MoneySplit, MoneySplit | None]:
    """Return the money per hour, and per bag if it runs: up to the makespan in seconds."""
    costs, machines, none = exact_cost_model(bag), bag.machine_types, Fraction(0)
    lost = sum((costs.depreciation(each, each.count) for each in machines), none)  # per hour
    if seconds is None or joules is None:
        idle = SECONDS_PER_HOUR * costs.energy_price * costs.idle_watts if has_rate(bag) else None
        return _split((none if has_price(bag) else None, idle, none, lost, none), Fraction(1)), None
    worn = sum((costs.wear(each) * busy_seconds[each.name] for each in machines), none)
    # Where energy has a price, and how much is taken is not known, neither is what it costs.
    known = has_rate(bag) and (bag.watts is not None or not costs.energy_price)
    hours = seconds / SECONDS_PER_HOUR
    per_bag = (
        costs.revenue if has_price(bag) else None,
        costs.energy_price * joules if known else None,
        worn,
        lost * hours,
        Fraction(bag.prices.overhead_per_bag),
    )
    return _split(per_bag, hours), _split(per_bag, Fraction(1))


def _split(amounts: tuple[Fraction | None, Fraction | None, Fraction, Fraction, Fraction], by: Fraction) -> MoneySplit:
    """Return amounts divided by a number, and what is left of the first one after all others."""
    revenue, electricity, wear, lost, overhead = amounts
    profit = None
    if revenue is not None and electricity is not None:
        profit = revenue - electricity - wear - lost - overhead
    costs = float(wear / by), float(lost / by), float(overhead / by)
    paid, drawn, left = (None if each is None else float(each / by) for each in (revenue, electricity, profit))
    return MoneySplit(paid, drawn, *costs, left)
