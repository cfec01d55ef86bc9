"""Verify a schedule of a bag: every rule, by sums without rounding. No code is shared with what it checks."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Final

from lpsched.bag.schedule import MachineGroup, Run, Schedule, TaskRow
from lpsched.model.violation import LONGEST, UNIT, Violation, rounded_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lpsched.bag.model import Bag


@dataclass(frozen=True, slots=True)
class Earnings:
    """What a valid schedule earns at any price of the bag, exactly: money per hour, a line in the price."""

    hourly_cost: Fraction  # also what is lost while nothing runs
    bags_per_hour: Fraction

    def at(self, price: float | Fraction) -> float:
        """Return the profit per hour if the whole bag sells for this price, rounded down."""
        return 0.0 - rounded_up(self.hourly_cost - self.bags_per_hour * Fraction(price))


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a valid schedule takes and earns.

    Makespan and energy are `None` if nothing runs; energy also if the bag has no watts. The profit is `None`
    if the bag's prices are incomplete; the earnings at other prices, if what it costs is not known.
    """

    makespan_seconds: float | None
    energy_joules: float | None
    profit_per_hour: float | None = None
    earnings: Earnings | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Examined:
    """Every broken rule; if there is none, what the schedule takes."""

    violations: tuple[Violation, ...]
    measured: Measurement | None


def examine(bag: Bag, schedule: Schedule, *, may_wait: bool = False, tables: Tables | None = None) -> Examined:
    """Check a schedule against every rule, and measure it if it breaks none.

    With `may_wait`, running nothing at all is a schedule too. `tables` is for many schedules of one bag.
    """
    if may_wait and not schedule.groups and schedule.makespan_seconds is None:
        earnings = _earnings(bag, None)
        return Examined((), Measurement(None, None, _profit(bag, earnings), earnings))
    tally = _Tally(bag, tables if tables is not None and tables.fit(bag) else Tables(bag))
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
            sentence = f"the schedule ends at {schedule.makespan_seconds!r} s, but a machine works for {busy!r} s"
            found.append(Violation("ends-too-early", sentence))
    seconds = Fraction(makespan, UNIT)
    joules = tally.joules(makespan)
    found += _broken_limits(bag, seconds, joules)
    if found:
        return Examined(tuple(found), None)
    earnings = _earnings(bag, (seconds, joules, tally.worn()))
    energy = None if joules is None else rounded_up(joules)
    return Examined((), Measurement(rounded_up(seconds), energy, _profit(bag, earnings), earnings))


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
        self.tasks = {task.name: task.count for task in bag.task_types}
        self.machines = {machine.name: machine.count for machine in bag.machine_types}
        self.idle_watts = {machine.name: _whole(machine.idle_watts) for machine in bag.machine_types}  # in UNIT
        self.row = {task.name: i for i, task in enumerate(bag.task_types)}
        self.column: dict[tuple[str, str | None], int] = {}
        for machine in bag.machine_types:
            for state in machine.p_states if machine.p_states is not None else (None,):
                self.column[machine.name, state] = len(self.column)

    def fit(self, bag: Bag) -> bool:
        """Return whether these are the tables of a bag: the same one, but for prices and limits."""
        parts = ((own.machine_types, own.task_types, own.seconds, own.watts) for own in (self.bag, bag))
        return all(one is other for one, other in zip(*parts, strict=True))

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

    def seconds(self, task_type: str, machine_type: str, p_state: str | None) -> Fraction:
        """Return how long a task takes; one that cannot run takes no time here, and breaks a rule elsewhere."""
        cell = self.cell(task_type, machine_type, p_state)
        return Fraction(0) if isinstance(cell, Violation) else Fraction(cell[0], UNIT)


@dataclass(slots=True)
class _PairTally:
    """How many tasks of one pair run, and the seconds and joules of each; nothing where it breaks a rule."""

    task_type: str
    seconds: int
    joules: int
    tasks: int = 0


class _Tally:
    """Counts what a schedule does: tasks by type, machines by type, busy time, energy while busy."""

    def __init__(self, bag: Bag, tables: Tables) -> None:
        self.bag, self.tables = bag, tables
        self.longest = 0
        self.busy_joules = 0  # in UNIT * UNIT
        self.busy: dict[str, int] = dict.fromkeys(tables.machines, 0)
        self.broken: set[Violation] = set()  # each is reported once
        # By machine types, then by task types, with their P-states if any.
        self.pairs: dict[str, dict[object, _PairTally]] = {name: {} for name in tables.machines}

    def take(self, schedule: Schedule) -> list[Violation]:
        """Go through all groups; return the rules that they break."""
        found: list[Violation] = []
        available, loads = self.tables.machines, [0]
        used = dict.fromkeys(available, 0)
        for group in schedule.groups:
            name, machines = group.machine_type, group.machines
            if name not in available:
                found.append(Violation("unknown-machine-type", f"there is no machine type {name!r}"))
                continue
            if machines < 1:
                found.append(Violation("bad-number", f"a group of {name!r} has {machines} machines"))
            used[name] += machines
            loads.append(self._take_runs(name, machines, group.runs, found))
        self.longest = max(loads)
        for name, count in used.items():
            if count > available[name]:
                sentence = f"{count} machines of type {name!r} are used, but there are {available[name]}"
                found.append(Violation("no-such-machine", sentence))
        done = self._add_up()
        for name, count in self.tables.tasks.items():
            if done[name] != count:
                sentence = f"{done[name]} tasks of type {name!r} run, but there are {count}"
                found.append(Violation("wrong-count", sentence))
        return found

    def _take_runs(self, name: str, machines: int, runs: tuple[Run, ...], found: list[Violation]) -> int:
        """Count what machines of a type run, and return when each is done; add the rules that are broken."""
        load, pairs = 0, self.pairs[name]
        for run in runs:
            count, state = run.count, run.p_state
            pair = pairs.get(run.task_type if state is None else (run.task_type, state))
            if pair is None:
                pair = self._pair(name, run, found)
            if count < 1:
                found.append(Violation("bad-number", f"a run of {run.task_type!r} on {name!r} has {count} tasks"))
            load += count * pair.seconds
            pair.tasks += machines * count
        return load

    def _pair(self, machine_type: str, run: Run, found: list[Violation]) -> _PairTally:
        """Begin to count the tasks of a pair; add the rule that it breaks."""
        cell = self.tables.cell(run.task_type, machine_type, run.p_state)
        if isinstance(cell, Violation):
            if cell not in self.broken:
                self.broken.add(cell)
                found.append(cell)
            cell = (0, 0)
        pair = _PairTally(run.task_type, *cell)
        self.pairs[machine_type][run.task_type if run.p_state is None else (run.task_type, run.p_state)] = pair
        return pair

    def _add_up(self) -> Counter[str]:
        """Return how many tasks of each type run; add up how long machines are busy, and what they draw meanwhile."""
        done: Counter[str] = Counter()
        for machine_type, pairs in self.pairs.items():
            for pair in pairs.values():
                done[pair.task_type] += pair.tasks
                self.busy[machine_type] += pair.tasks * pair.seconds
                self.busy_joules += pair.tasks * pair.joules
        return done

    def joules(self, makespan: int) -> Fraction | None:
        """Return the energy up to the makespan, idle machines included; `None` without watts."""
        if self.bag.watts is None:
            return None
        idle = 0
        for name, count in self.tables.machines.items():
            idle += (count * makespan - self.busy[name]) * self.tables.idle_watts[name]
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
        sentence = f"the schedule ends at {rounded_up(seconds)!r} s, but the deadline is {site.deadline_seconds!r} s"
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


def _earnings(bag: Bag, done: tuple[Fraction, Fraction | None, Fraction] | None) -> Earnings | None:
    """Return what the seconds, joules and money worn off of a schedule earn; of nothing: what waiting does."""
    prices = bag.prices
    if prices.electricity_per_kwh is None or bag.sites:
        return None  # several sites have no common price of a joule
    per_joule = Fraction(prices.electricity_per_kwh) / 3_600_000 * Fraction(bag.site.pue)
    lost_per_hour = Fraction(0)
    for machine in bag.machine_types:
        if machine.purchase_price and machine.mean_hours_to_failure is not None:
            lost_per_hour += machine.count * Fraction(machine.purchase_price) / Fraction(machine.mean_hours_to_failure)
    if done is None:
        idle_watts = sum(machine.count * Fraction(machine.idle_watts) for machine in bag.machine_types)
        return Earnings(3600 * per_joule * idle_watts + lost_per_hour, Fraction(0))
    seconds, joules, worn = done
    if joules is None and per_joule:
        return None
    bags_per_hour = 3600 / seconds
    cost = Fraction(prices.overhead_per_bag) + per_joule * (joules or 0) + worn
    return Earnings(lost_per_hour + cost * bags_per_hour, bags_per_hour)


def _profit(bag: Bag, earnings: Earnings | None) -> float | None:
    """Return the profit per hour at the bag's own price; `None` if it has none."""
    prices = bag.prices
    if earnings is None or (prices.per_bag is None and not prices.per_task):
        return None
    revenue = Fraction(prices.per_bag or 0.0)
    for task in bag.task_types if prices.per_task else ():
        revenue += task.count * Fraction(prices.per_task.get(task.name, 0.0))
    return earnings.at(revenue)


def _whole(number: float) -> int:
    """Return how many 2^-160 a number is: exactly, for 0 and from 1e-30 up; rounded down below."""
    numerator, denominator = number.as_integer_ratio()
    return numerator * UNIT // denominator


# What each machine of a valid schedule does: when it is done, and the energy that it takes.
#
#     completion  =  seconds of all its tasks, one after the other from 0 on
#     energy      =  sum over its tasks of seconds * watts  +  (makespan - completion) * its idle watts
#
# Machines that do the same are one entry, so that 10^12 of them are a few entries; those that run nothing
# at all are one too. The energies of all machines add up to the schedule's. Plain loops and exact sums, as
# above; every number is rounded up, once.
#
# Source: Friese, thesis of 2015, section 6.4.3, where a machine that is done is switched off (no idle watts).
@dataclass(frozen=True, slots=True)
class MachineLoad:
    """How many machines of a type do the same, and what each of them takes; no energy without watts."""

    machine_type: str
    machines: int
    completion_seconds: float
    energy_joules: float | None


def machine_loads(bag: Bag, schedule: Schedule) -> tuple[MachineLoad, ...]:
    """Return the loads of all machines of a valid schedule, by machine type in the bag's order.

    Within a type those that are done last come first.

    >>> from lpsched.bag.model import Bag
    >>> from lpsched.bag.parts import MachineType, TaskType
    >>> from lpsched.model.table import Table
    >>> from lpsched.bag.schedule import MachineGroup, Run, Schedule
    >>> cpu = MachineType(name="cpu", count=3, idle_watts=1.0)
    >>> bag = Bag("b", (cpu,), (TaskType(name="a", count=4),), Table.of([[2.0]]), Table.of([[5.0]]))
    >>> for load in machine_loads(bag, Schedule((MachineGroup("cpu", 2, (Run("a", 2),)),))):
    ...     print(load.machines, load.completion_seconds, load.energy_joules)
    2 4.0 20.0
    1 0.0 4.0
    """
    tables = Tables(bag)
    busy = [(group.machine_type, group.machines, *_load(tables, group)) for group in schedule.groups]
    makespan = max((seconds for _, _, seconds, _ in busy), default=Fraction(0))
    if schedule.makespan_seconds is not None:
        makespan = Fraction(schedule.makespan_seconds)
    used: Counter[str] = Counter()
    for name, machines, _, _ in busy:
        used[name] += machines
    idle = [
        (each.name, each.count - used[each.name], Fraction(0), Fraction(0))
        for each in bag.machine_types
        if each.count > used[each.name]
    ]
    place = {each.name: (j, Fraction(each.idle_watts)) for j, each in enumerate(bag.machine_types)}
    loads = sorted((*busy, *idle), key=lambda each: (place[each[0]][0], -each[2]))
    return tuple(
        MachineLoad(
            name,
            machines,
            rounded_up(seconds),
            None if bag.watts is None else rounded_up(joules + (makespan - seconds) * place[name][1]),
        )
        for name, machines, seconds, joules in loads
    )


def _load(tables: Tables, group: MachineGroup) -> tuple[Fraction, Fraction]:
    """Return the seconds and the joules of the tasks of one machine of a group."""
    seconds = joules = 0
    for run in group.runs:
        cell = tables.cell(run.task_type, group.machine_type, run.p_state)
        assert not isinstance(cell, Violation), "only valid schedules are looked into"
        seconds, joules = seconds + run.count * cell[0], joules + run.count * cell[1]
    return Fraction(seconds, UNIT), Fraction(joules, UNIT * UNIT)


# Whether a list of single tasks is a schedule of a bag: every machine is checked by itself.
# Rows may come in any order. With start times, a machine may pause between tasks but not run two at once, and the
# makespan is when the last task ends; without, each machine runs its rows in their order, without a pause. Start times
# are rounded decimal numbers, so tasks may overlap by a billionth of the time at which they do.
ROUNDING: Final = Fraction(1, 10**9)
MOST: Final = 1000  # violations of one file


@dataclass(frozen=True, slots=True)
class Gathered:
    """The rows as a compact schedule, and the rules that only single tasks can break."""

    schedule: Schedule
    violations: tuple[Violation, ...]


class _Rows:
    """The rows of one machine type, in plain numbers: millions of objects take gigabytes."""

    def __init__(self) -> None:
        self.machines, self.kinds, self.starts = array("q"), array("q"), array("d")

    def by_machine(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each machine, with the places of its rows by start; in their order where they start together."""
        order = sorted(range(len(self.machines)), key=self.starts.__getitem__)
        order.sort(key=self.machines.__getitem__)
        return ((machine, list(own)) for machine, own in groupby(order, key=self.machines.__getitem__))


class _Held:
    """The rows of a schedule so far, the rules that one of them breaks, and how many more there may be."""

    def __init__(self, bag: Bag, tables: Tables) -> None:
        self.found: list[Violation] = []
        self.by_type: dict[str, _Rows] = {}  # of machines
        self.kinds: dict[tuple[str, str | None], int] = {}  # task types and P-states, numbered as they come
        self.timed = self.untimed = 0
        self._bag, self._tables = bag, tables
        self._left = {name: count + MOST for name, count in tables.tasks.items()}
        self._strange = 0

    def take(self, row: TaskRow) -> bool:
        """Hold a row; return whether there may be more."""
        most, start = self._tables.machines.get(row.machine_type), row.start_seconds
        if most is not None and not 1 <= row.machine <= most:
            sentence = f"there is no machine {row.machine} of type {row.machine_type!r}, only 1 to {most}"
            self.found.append(Violation("no-such-machine", sentence))
        if start is not None and not 0 <= start <= LONGEST:
            self.found.append(Violation("bad-start", f"a task of type {row.task_type!r} starts at {start!r} s"))
        if start is None:
            self.untimed += 1
        else:
            self.timed += 1
        if not self._may_be(row):
            return False
        if not self.found:
            own = self.by_type.get(row.machine_type)
            if own is None:
                own = self.by_type[row.machine_type] = _Rows()
            own.machines.append(0 if most is None else row.machine)
            own.kinds.append(self.kinds.setdefault((row.task_type, row.p_state), len(self.kinds)))
            own.starts.append(start or 0.0)
        return len(self.found) < MOST

    def _may_be(self, row: TaskRow) -> bool:
        """Return whether a row is not too much of what breaks a rule that is left to `examine`."""
        if row.task_type in self._left and (row.machine_type, row.p_state) in self._tables.column:
            self._left[row.task_type] -= 1
            if self._left[row.task_type] >= 0:
                return True
            count = self._tables.tasks[row.task_type]
            sentence = f"more than {count + MOST} tasks of type {row.task_type!r} run, but there are {count}"
        else:
            self._strange += 1
            if self._strange <= MOST:
                return True
            sentence = (
                f"more than {MOST} tasks are of types, on machines or in P-states that {self._bag.name!r} has not"
            )
        self.found.append(Violation("wrong-count", sentence))
        return False


def gather(bag: Bag, rows: Iterable[TaskRow]) -> Gathered:
    """Put the rows of each machine together, and machines that run the same into groups.

    No more rows are taken once a thousand are too many. Without rows nothing runs, which `examine` judges.
    """
    tables = Tables(bag)
    held = _Held(bag, tables)
    for row in rows:
        if not held.take(row):
            break
    found, timed, untimed = held.found, held.timed, held.untimed
    if timed and untimed:
        found.append(Violation("missing-start", f"{untimed} tasks have no start, {timed} have one"))
    if found:
        return Gathered(Schedule(()), tuple(found))
    seconds, run_of = cache(tables.seconds), cache(Run)  # many machines run as many tasks of a type
    names, end = list(held.kinds), Fraction(0)
    alike: Counter[tuple[str, tuple[Run, ...]]] = Counter()
    for machine_type, these in held.by_type.items():
        for machine, places in these.by_machine():
            if timed and len(found) < MOST:
                tasks = ((these.starts[n], *names[these.kinds[n]]) for n in places)
                end = max(end, _last_end(seconds, machine_type, machine, tasks, found))
            lengths = ((kind, sum(1 for _ in same)) for kind, same in groupby(map(these.kinds.__getitem__, places)))
            alike[machine_type, tuple(run_of(names[kind][0], count, names[kind][1]) for kind, count in lengths)] += 1
    groups = tuple(MachineGroup(name, number, runs) for (name, runs), number in alike.items())
    loads = (
        sum((run.count * seconds(run.task_type, group.machine_type, run.p_state) for run in group.runs), Fraction(0))
        for group in groups
    )
    finish = rounded_up(max(end, *loads)) if timed else None
    return Gathered(Schedule(groups, finish), tuple(found))


def _last_end(
    seconds: Callable[[str, str, str | None], Fraction],
    machine_type: str,
    machine: int,
    tasks: Iterable[tuple[float, str, str | None]],
    found: list[Violation],
) -> Fraction:
    """Return when a machine's last task ends; add where two of its tasks overlap, up to `MOST`."""
    end, on = Fraction(0), f"machine {machine} of type {machine_type!r}"
    for begin, task_type, state in tasks:
        start = Fraction(begin)
        if start < end - end * ROUNDING:
            early = f"starts at {begin!r} s, but the one before ends at {float(end)!r} s"
            found.append(Violation("overlap", f"on {on} a task of type {task_type!r} {early}"))
            if len(found) >= MOST:
                break
        end = max(end, start + seconds(task_type, machine_type, state))
    return end
