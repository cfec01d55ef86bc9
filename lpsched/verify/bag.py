"""Is this a schedule of that bag, and what does it take? By plain loops and exact arithmetic.

Shares nothing with the code that makes schedules. Every amount in a bag, being 0 or at least 1e-30, is a
whole number of 2^-160, so loads and energies are sums of integers. They are rounded once, at the end, to the
worse side: a measured makespan or energy is never less than the true one, a measured profit never more.

    energy  =  sum over tasks of seconds * watts
               + sum over machines of (makespan - busy seconds) * idle watts
    profit  =  (revenue - overhead - electricity - wear) / makespan  -  depreciation
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.verify.violation import LONGEST, UNIT, Violation, rounded_up

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.schedule.bag import MachineGroup, Schedule


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a valid schedule takes and earns.

    Makespan and energy are `None` if nothing runs; energy also if the bag has no watts. The profit is `None`
    if the bag's prices do not tell it.
    """

    makespan_seconds: float | None
    energy_joules: float | None
    profit_per_hour: float | None = None


@dataclass(frozen=True, slots=True)
class Examined:
    """Every broken rule; if there is none, what the schedule takes."""

    violations: tuple[Violation, ...]
    measured: Measurement | None


def examine(
    bag: Bag, schedule: Schedule, *, may_wait: bool = False, tables: Tables | None = None
) -> Examined:
    """Check a schedule against every rule, and measure it if it breaks none.

    With `may_wait`, running nothing at all is a schedule too. `tables` is for many schedules of one bag.
    """
    if may_wait and not schedule.groups and schedule.makespan_seconds is None:
        return Examined((), Measurement(None, None, _profit(bag, None)))
    tally = _Tally(bag, tables if tables is not None else Tables(bag))
    found = list(tally.take(schedule))
    if found:
        return Examined(tuple(found), None)
    makespan = tally.longest
    if schedule.makespan_seconds is not None:
        if not 0 < schedule.makespan_seconds <= LONGEST:
            sentence = f"the schedule ends at {schedule.makespan_seconds!r} s"
            return Examined((Violation("bad-number", sentence),), None)
        makespan = _whole(schedule.makespan_seconds)
        if makespan < tally.longest:
            busy = rounded_up(Fraction(tally.longest, UNIT))
            sentence = (
                f"the schedule ends at {schedule.makespan_seconds!r} s, but a machine works for {busy!r} s"
            )
            found.append(Violation("ends-too-early", sentence))
    seconds = Fraction(makespan, UNIT)
    joules = tally.joules(makespan)
    found += _broken_limits(bag, seconds, joules)
    if found:
        return Examined(tuple(found), None)
    profit = _profit(bag, _Done(seconds, joules, tally.worn()))
    measured = Measurement(rounded_up(seconds), None if joules is None else rounded_up(joules), profit)
    return Examined((), measured)


def violations(bag: Bag, schedule: Schedule) -> tuple[Violation, ...]:
    """Return every broken rule; an empty tuple means that the schedule is valid."""
    return examine(bag, schedule).violations


def measure(bag: Bag, schedule: Schedule) -> Measurement:
    """Measure a valid schedule."""
    measured = examine(bag, schedule).measured
    assert measured is not None, "only valid schedules are measured"
    return measured


class Tables:
    """What a task takes, by names: each pair is looked up and turned into whole numbers once."""

    def __init__(self, bag: Bag) -> None:
        self.bag = bag
        self.sound: dict[tuple[str, str, str | None], tuple[int, int]] = {}
        self.row = {task.name: i for i, task in enumerate(bag.task_types)}
        self.column: dict[tuple[str, str | None], int] = {}
        for machine in bag.machine_types:
            for state in machine.p_states if machine.p_states is not None else (None,):
                self.column[machine.name, state] = len(self.column)

    def cell(self, task_type: str, machine_type: str, p_state: str | None) -> tuple[int, int] | Violation:
        """Return seconds and joules of one task, in UNIT and in UNIT * UNIT; or the rule that it breaks."""
        key = (task_type, machine_type, p_state)
        known = self.sound.get(key)
        if known is not None:
            return known
        if task_type not in self.row:
            return Violation("unknown-task-type", f"there is no task type {task_type!r}")
        if (machine_type, p_state) not in self.column:
            return Violation("unknown-p-state", f"{machine_type!r} has no P-state {p_state!r}")
        place = (self.row[task_type], self.column[machine_type, p_state])
        value = self.bag.seconds[place]
        if value is None:
            state = "" if p_state is None else f" in P-state {p_state!r}"
            return Violation("cannot-run", f"{task_type!r} on {machine_type!r} cannot run{state}")
        seconds = _whole(value)
        watts = 0 if self.bag.watts is None else _whole(self.bag.watts[place] or 0.0)
        self.sound[key] = (seconds, seconds * watts)
        return self.sound[key]


class _Tally:
    """Counts what a schedule does: tasks by type, machines by type, busy time, energy while busy."""

    def __init__(self, bag: Bag, tables: Tables) -> None:
        self.bag, self.tables = bag, tables
        self.longest = 0
        self.busy_joules = 0  # in UNIT * UNIT
        self.busy: dict[str, int] = {machine.name: 0 for machine in bag.machine_types}
        self.broken: set[Violation] = set()  # each is told once

    def take(self, schedule: Schedule) -> list[Violation]:
        """Go through all groups; return the rules that they break."""
        found: list[Violation] = []
        available = {machine.name: machine.count for machine in self.bag.machine_types}
        used: Counter[str] = Counter()
        done: Counter[str] = Counter()
        for group in schedule.groups:
            if group.machine_type not in available:
                found.append(
                    Violation("unknown-machine-type", f"there is no machine type {group.machine_type!r}")
                )
                continue
            if group.machines < 1:
                sentence = f"a group of {group.machine_type!r} has {group.machines} machines"
                found.append(Violation("bad-number", sentence))
            used[group.machine_type] += group.machines
            found += self._take_runs(group, done)
        for name, count in used.items():
            if count > available[name]:
                sentence = f"{count} machines of type {name!r} are used, but there are {available[name]}"
                found.append(Violation("no-such-machine", sentence))
        for task in self.bag.task_types:
            if done[task.name] != task.count:
                sentence = f"{done[task.name]} tasks of type {task.name!r} run, but there are {task.count}"
                found.append(Violation("wrong-count", sentence))
        return found

    def _take_runs(self, group: MachineGroup, done: Counter[str]) -> list[Violation]:
        """Count what each machine of a group runs."""
        found: list[Violation] = []
        load = 0
        for run in group.runs:
            cell = self.tables.cell(run.task_type, group.machine_type, run.p_state)
            if isinstance(cell, Violation):
                found += [] if cell in self.broken else [cell]
                self.broken.add(cell)
                cell = (0, 0)
            if run.count < 1:
                pair = f"{run.task_type!r} on {group.machine_type!r}"
                found.append(Violation("bad-number", f"a run of {pair} has {run.count} tasks"))
            seconds, joules = cell
            load += run.count * seconds
            self.busy_joules += group.machines * run.count * joules
            done[run.task_type] += group.machines * run.count
        self.busy[group.machine_type] += group.machines * load
        self.longest = max(self.longest, load)
        return found

    def joules(self, makespan: int) -> Fraction | None:
        """Return the energy up to the makespan, idle machines included; `None` without watts."""
        if self.bag.watts is None:
            return None
        idle = 0
        for machine in self.bag.machine_types:
            idle += (machine.count * makespan - self.busy[machine.name]) * _whole(machine.idle_watts)
        return Fraction(self.busy_joules + idle, UNIT * UNIT)

    def worn(self) -> Fraction:
        """Return the money that busy hours wear off."""
        worn = 0
        for machine in self.bag.machine_types:
            worn += self.busy[machine.name] * _whole(machine.wear_per_busy_hour)
        return Fraction(worn, 3600 * UNIT * UNIT)


def _broken_limits(bag: Bag, seconds: Fraction, joules: Fraction | None) -> list[Violation]:
    """Return whether the deadline or the power cap of the site is broken."""
    site = bag.site
    found = []
    if site.deadline_seconds is not None and seconds > Fraction(site.deadline_seconds):
        sentence = (
            f"the schedule ends at {rounded_up(seconds)!r} s, but the deadline is {site.deadline_seconds!r} s"
        )
        found.append(Violation("after-deadline", sentence))
    if site.average_power_cap_watts is not None:
        cap = Fraction(site.average_power_cap_watts)
        meter = Fraction(site.pue) if site.cap_measured_at == "facility" else 1
        if joules is None:
            found.append(Violation("unknown-power", "the site has a power cap, but the bag has no watts"))
        elif joules * meter > cap * seconds:
            drawn = f"{rounded_up(joules * meter / seconds)!r} W on average, but the cap is {float(cap)!r} W"
            found.append(Violation("over-power-cap", f"the schedule draws {drawn}"))
    return found


@dataclass(frozen=True, slots=True)
class _Done:
    seconds: Fraction
    joules: Fraction | None
    worn: Fraction


def _profit(bag: Bag, done: _Done | None) -> float | None:
    """Return money per hour, rounded down; if nothing was done, what it costs to wait."""
    prices = bag.prices
    if (prices.per_bag is None and not prices.per_task) or prices.electricity_per_kwh is None:
        return None
    per_joule = Fraction(prices.electricity_per_kwh) / 3_600_000 * Fraction(bag.site.pue)
    lost_per_hour = Fraction(0)
    for machine in bag.machine_types:
        if machine.purchase_price and machine.mean_hours_to_failure is not None:
            lost_per_hour += (
                machine.count * Fraction(machine.purchase_price) / Fraction(machine.mean_hours_to_failure)
            )
    if done is None:
        idle_watts = sum(machine.count * Fraction(machine.idle_watts) for machine in bag.machine_types)
        return 0.0 - rounded_up(3600 * per_joule * idle_watts + lost_per_hour)
    if done.joules is None and per_joule:
        return None
    revenue = Fraction(prices.per_bag or 0.0)
    for task in bag.task_types if prices.per_task else ():
        revenue += task.count * Fraction(prices.per_task.get(task.name, 0.0))
    left = revenue - Fraction(prices.overhead_per_bag) - per_joule * (done.joules or 0) - done.worn
    return 0.0 - rounded_up(lost_per_hour - 3600 * left / done.seconds)


def _whole(number: float) -> int:
    """Return how many 2^-160 a number is: exactly, for 0 and from 1e-30 up; rounded down below."""
    numerator, denominator = number.as_integer_ratio()
    return numerator * UNIT // denominator
