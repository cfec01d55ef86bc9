"""Verify and measure a plan over a horizon, by exact sums. No code is shared with what it checks.

The cost model. A machine draws a_ijk watts while it runs a task and b_j watts while it is on and idle. One that must
stay on (`may_be_off` false) is on during the whole horizon, also if it is in no group; one that may be off is on while
it runs tasks and in its idle spans, which may overlap its runs: then it runs. It is switched on once for each of its
longest spans of being on: spans that touch are one, and a span that begins at 0 counts too.

    kWh_sh    PUE_s * joules at the machines of site s in slot h / 3.6e6: electricity at the meter
    money     sum_sh kWh_sh (tariff_sh + fee_s)
              + sum_s demand charge_s * (highest average kW at the meter of all slots)
              + wear per busy hour * busy hours  +  moving costs of the site for each task that runs there
              + switch-on cost for each time that a machine is switched on
    grams     sum_sh kWh_sh carbon_sh
    cap       average watts at the machines of site s in slot h * cap_pue_s  <=  cap_watts_sh
    value     w_money money + w_grams grams, less w_money * (price of each finished task) where tasks are optional

Every double is a whole number of 2^-z for some z, so sums of times and of joules are sums of whole numbers. A run is
one span of constant power, whatever the number of its tasks and machines, and a span adds to the slots that it fills by
where it begins and ends: the work is in proportion to the runs and the slots.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

from lpsched.model.violation import Violation, rounded_up

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.bag.horizon.schedule import Plan, PlanGroup, TimedRun
    from lpsched.bag.horizon.slots import Slots, Weights
    from lpsched.bag.model import Bag

JOULES_PER_KWH: Final = 3_600_000
WATTS_PER_KW: Final = 1000
SECONDS_PER_HOUR: Final = 3600
IDLE: Final = -1  # in place of a task type
MOST: Final = 1000  # violations of one plan


@dataclass(frozen=True, slots=True)
class PlanMeasurement:
    """What a plan costs, emits, draws and earns, without rounding; joules and watts are at the machines."""

    electricity: Fraction  # at market prices; money, as are the next five
    fees: Fraction
    demand: Fraction
    wear: Fraction
    moving: Fraction
    switching: Fraction
    grams: Fraction | None  # of CO2; `None` where a site has no carbon intensity
    energy_joules: Fraction
    kwh: Fraction  # at the meters
    joules: tuple[tuple[Fraction, ...], ...]  # of each site and slot
    highest_average_watts: tuple[Fraction, ...]  # of each site: of the slot with the highest average
    highest_watts: tuple[Fraction, ...]  # of each site: at any moment
    task_joules: tuple[tuple[Fraction, ...], ...]  # of each task type and slot
    idle_joules: tuple[Fraction, ...]  # of each slot
    finished: tuple[int, ...]  # tasks of each type
    revenue: Fraction  # the prices of finished tasks
    last_end: Fraction  # when the last task ends, in seconds; 0 if nothing runs
    switch_ons: int

    @property
    def money(self) -> Fraction:
        """What the plan costs in money."""
        return self.electricity + self.fees + self.demand + self.wear + self.moving + self.switching

    def value(self, weights: Weights) -> Fraction:
        """Return what is minimised."""
        assert self.grams is not None or not weights.grams, "grams need a carbon intensity at each site"
        money = self.money - (self.revenue if weights.optional else 0)
        return Fraction(weights.money) * money + Fraction(weights.grams) * (self.grams or 0)


def verify_plan(bag: Bag, slots: Slots, plan: Plan, *, optional: bool = False) -> tuple[Violation, ...]:
    """Return every broken rule; an empty tuple means that the plan is valid.

    With `optional`, tasks may be left out; else each of them must run.
    """
    if bag.watts is None:
        return (Violation("unknown-power", "energy is paid by the slot, but the bag has no watts"),)
    tally = _Tally(bag, slots, plan)
    found = [*tally.found, *_wrong_counts(bag, tally.finished, optional=optional)]
    if not tally.found:
        found += tally.over_caps()
    return tuple(found[:MOST])


def measure_plan(bag: Bag, slots: Slots, plan: Plan) -> PlanMeasurement:
    """Measure a plan; power caps and the number of tasks that it runs do not matter here."""
    tally = _Tally(bag, slots, plan)
    assert not tally.found, "only valid plans are measured"
    return tally.measured()


def _wrong_counts(bag: Bag, finished: list[int], *, optional: bool) -> Iterable[Violation]:
    for task, done in zip(bag.task_types, finished, strict=True):
        if done > task.count or (done < task.count and not optional):
            sentence = f"{done} tasks of type {task.name!r} run, but there are {task.count}"
            yield Violation("wrong-count", sentence)


@dataclass(frozen=True, slots=True)
class _Span:
    """When a machine draws constant power, in whole time units; `task` is a task type, or IDLE."""

    start: int
    end: int
    watts: int
    task: int
    count: int = 0
    words: str = ""


class _Profile:
    """Joules in each slot, from spans of constant power."""

    def __init__(self, edges: list[int]) -> None:
        self.edges = edges
        self.partly = [0] * (len(edges) - 1)
        self.steps = [0] * len(edges)  # by how much the power in slots that are filled rises

    def add(self, start: int, end: int, watts: int) -> None:
        """Add a span within the horizon."""
        edges = self.edges
        first, last = bisect_right(edges, start) - 1, bisect_right(edges, end) - 1
        if first == last:
            self.partly[first] += watts * (end - start)
            return
        if start > edges[first]:
            self.partly[first] += watts * (edges[first + 1] - start)
            first += 1
        if end > edges[last]:
            self.partly[last] += watts * (end - edges[last])
        self.steps[first] += watts
        self.steps[last] -= watts

    def joules(self) -> list[int]:
        """Return the joules in each slot."""
        lengths = (end - start for start, end in pairwise(self.edges))
        return [
            part + watts * length
            for part, watts, length in zip(self.partly, accumulate(self.steps), lengths, strict=False)
        ]


class _Tally:
    """Goes through a plan once; has the rules that it breaks, and the sums that it is measured by."""

    def __init__(self, bag: Bag, slots: Slots, plan: Plan) -> None:
        self.bag, self.slots, self.found = bag, slots, list[Violation]()
        table = bag.watts
        assert table is not None, "only bags with watts"
        times = [*slots.edges, *(cell for row in bag.seconds for cell in row if cell is not None)]
        times += [run.start_seconds for group in plan.groups for run in group.runs]
        times += [at for group in plan.groups for span in group.idle for at in (span.start_seconds, span.end_seconds)]
        watts = [*(cell for row in table for cell in row if cell is not None)]
        self.time_places, self.watt_places = (
            _places(times),
            _places([*watts, *(m.idle_watts for m in bag.machine_types)]),
        )
        self.edges = [self._time(edge) for edge in slots.edges]
        self.row = {task.name: i for i, task in enumerate(bag.task_types)}
        self.kind = {machine.name: j for j, machine in enumerate(bag.machine_types)}
        self.column: dict[tuple[int, str | None], int] = {}
        for j, machine in enumerate(bag.machine_types):
            for state in machine.p_states if machine.p_states is not None else (None,):
                self.column[j, state] = len(self.column)
        self.idle_watts = [_whole(machine.idle_watts, self.watt_places) for machine in bag.machine_types]
        self.profiles: dict[tuple[int, int], _Profile] = {}  # of each site and task type, or IDLE
        self.rises: list[dict[int, int]] = [{} for _ in slots.sites]  # by how much the power of a site rises, and when
        self.finished = [0] * len(bag.task_types)
        self.moved: dict[tuple[int, int], int] = {}  # tasks of each site and type
        self.busy = [0] * len(bag.machine_types)
        self.switched = [0] * len(bag.machine_types)
        self.last_end = 0
        for j, machine in enumerate(bag.machine_types):
            if not machine.may_be_off:
                self._draw(j, _Span(0, self.edges[-1], self.idle_watts[j], IDLE), machine.count)
        used = [0] * len(bag.machine_types)
        for group in plan.groups:
            self._take(group, used)
        for machine, count in zip(bag.machine_types, used, strict=True):
            if count > machine.count:
                sentence = f"{count} machines of type {machine.name!r} are used, but there are {machine.count}"
                self.found.append(Violation("no-such-machine", sentence))

    def _time(self, seconds: float) -> int:
        return _whole(seconds, self.time_places)

    def _seconds(self, time: int) -> Fraction:
        return Fraction(time, 1 << self.time_places)

    def _breaks(self, code: str, sentence: str) -> None:
        self.found.append(Violation(code, sentence))

    def _take(self, group: PlanGroup, used: list[int]) -> None:  # noqa: C901 - one rule after the other
        """Add what the machines of a group do, or the rules that they break."""
        name = group.machine_type
        if name not in self.kind:
            self._breaks("unknown-machine-type", f"there is no machine type {name!r}")
            return
        j, before = self.kind[name], len(self.found)
        used[j] += group.machines
        if group.machines < 1:
            self._breaks("bad-number", f"a group of {name!r} has {group.machines} machines")
        spans = [span for run in group.runs if (span := self._run(j, run)) is not None]
        for span in spans:
            self.finished[span.task] += max(0, group.machines) * span.count
        idle_spans = self._idle_spans(j, group)
        for each in (spans, idle_spans):
            each.sort(key=lambda span: (span.start, span.end))
            self._check_times(name, each)
        if len(self.found) > before:
            return
        for span in idle_spans:
            self._draw(j, span, group.machines)
        for start, end in _common(spans, idle_spans):
            self._draw(j, _Span(start, end, -self.idle_watts[j], IDLE), group.machines)
        may_be_off, idle = self.bag.machine_types[j].may_be_off, self.idle_watts[j]
        for span in spans:
            self._draw(j, span, group.machines)
            if span.task != IDLE:
                self.busy[j] += group.machines * (span.end - span.start)
                self.last_end = max(self.last_end, span.end)
                place = (self.slots.site_of[j], span.task)
                self.moved[place] = self.moved.get(place, 0) + group.machines * span.count
                if not may_be_off and idle:
                    self._draw(j, _Span(span.start, span.end, -idle, IDLE), group.machines)
        if may_be_off:
            self.switched[j] += group.machines * _beginnings([*spans, *idle_spans])

    def _run(self, j: int, run: TimedRun) -> _Span | None:
        """Return when a run takes place; `None` if it breaks a rule by itself."""
        machine, before = self.bag.machine_types[j], len(self.found)
        words = f"a run of {run.task_type!r} on {machine.name!r}"
        if run.count < 1:
            self._breaks("bad-number", f"{words} has {run.count} tasks")
        if not math.isfinite(run.start_seconds):
            self._breaks("bad-number", f"{words} starts at {run.start_seconds!r} s")
        if run.task_type not in self.row:
            self._breaks("unknown-task-type", f"there is no task type {run.task_type!r}")
        if (j, run.p_state) not in self.column:
            self._breaks("unknown-p-state", f"{machine.name!r} has no P-state {run.p_state!r}")
        if len(self.found) > before or self.bag.watts is None:
            return None
        i, column = self.row[run.task_type], self.column[j, run.p_state]
        seconds, watts = self.bag.seconds[i, column], self.bag.watts[i, column]
        if seconds is None or watts is None:
            state = "" if run.p_state is None else f" in P-state {run.p_state!r}"
            self._breaks("cannot-run", f"{run.task_type!r} on {machine.name!r} cannot run{state}")
            return None
        start = self._time(run.start_seconds)
        end = start + run.count * self._time(seconds)
        return _Span(start, end, _whole(watts, self.watt_places), i, run.count, words)

    def _idle_spans(self, j: int, group: PlanGroup) -> list[_Span]:
        spans, name = [], group.machine_type
        if group.idle and not self.bag.machine_types[j].may_be_off:
            self._breaks("must-stay-on", f"a group of {name!r} has idle spans, but this machine type must stay on")
            return []
        for each in group.idle:
            if not -math.inf < each.start_seconds < each.end_seconds < math.inf:
                sentence = f"an idle span of {name!r} is from {each.start_seconds!r} s to {each.end_seconds!r} s"
                self._breaks("bad-number", sentence)
                continue
            start, end = self._time(each.start_seconds), self._time(each.end_seconds)
            spans.append(_Span(start, end, self.idle_watts[j], IDLE, 0, f"an idle span of {name!r}"))
        return spans

    def _check_times(self, name: str, spans: list[_Span]) -> None:
        """Check that spans are within the horizon and do not overlap, with no tolerance."""
        latest: _Span | None = None
        for span in spans:
            if span.start < 0:
                sentence = f"{span.words} starts at {float(self._seconds(span.start))!r} s, before the horizon"
                self._breaks("before-horizon", sentence)
            if span.end > self.edges[-1]:
                late = f"{span.words} ends at {rounded_up(self._seconds(span.end))!r} s"
                self._breaks("after-horizon", f"{late}, but the horizon ends at {self.slots.horizon!r} s")
            if latest is not None and span.start < latest.end:
                ends = f"but {latest.words} ends at {rounded_up(self._seconds(latest.end))!r} s"
                starts = f"{span.words} starts at {float(self._seconds(span.start))!r} s"
                self._breaks("overlap", f"on a machine of type {name!r} {starts}, {ends}")
            latest = span if latest is None or span.end > latest.end else latest

    def _draw(self, j: int, span: _Span, machines: int) -> None:
        """Add the power of a span of some machines."""
        site, watts = self.slots.site_of[j], machines * span.watts
        if (site, span.task) not in self.profiles:
            self.profiles[site, span.task] = _Profile(self.edges)
        self.profiles[site, span.task].add(span.start, span.end, watts)
        rises = self.rises[site]
        rises[span.start] = rises.get(span.start, 0) + watts
        rises[span.end] = rises.get(span.end, 0) - watts

    def _joules(self) -> tuple[list[list[int]], list[list[int]]]:
        """Return the joules of each site and slot, and those of each task type (idling: the last) and slot."""
        count = self.slots.count
        of_sites = [[0] * count for _ in self.slots.sites]
        of_tasks = [[0] * count for _ in range(len(self.finished) + 1)]
        for (site, task), profile in self.profiles.items():
            joules = profile.joules()
            of_sites[site] = [old + new for old, new in zip(of_sites[site], joules, strict=True)]
            of_tasks[task] = [old + new for old, new in zip(of_tasks[task], joules, strict=True)]
        return of_sites, of_tasks

    def over_caps(self) -> Iterable[Violation]:
        """Yield the slots in which the average power is above a cap."""
        for site, drawn in zip(self.slots.sites, self._joules()[0], strict=True):
            if site.cap_watts is None:
                continue
            for h, (joules, cap) in enumerate(zip(drawn, site.cap_watts, strict=True)):
                length = self.edges[h + 1] - self.edges[h]
                watts = Fraction(joules, length << self.watt_places) * Fraction(site.cap_pue)
                if watts > Fraction(cap):
                    when = f"in slot {h} ({self.slots.edges[h]!r} to {self.slots.edges[h + 1]!r} s)"
                    average = f"{rounded_up(watts)!r} W on average {when}, but its cap is {cap!r} W"
                    yield Violation("over-power-cap", f"site {site.name!r} draws {average}")

    def measured(self) -> PlanMeasurement:
        """Return all sums in seconds, joules and money."""
        slots, bag, unit = self.slots, self.bag, 1 << (self.time_places + self.watt_places)
        of_sites, of_tasks = self._joules()
        joules = tuple(tuple(Fraction(each, unit) for each in drawn) for drawn in of_sites)
        lengths = [self._seconds(end - start) for start, end in pairwise(self.edges)]
        averages = tuple(max(each / length for each, length in zip(drawn, lengths, strict=True)) for drawn in joules)
        electricity, fees, demand, kwh, grams = Fraction(0), Fraction(0), Fraction(0), Fraction(0), Fraction(0)
        for site, drawn, highest in zip(slots.sites, joules, averages, strict=True):
            meter = Fraction(site.pue)
            electricity += meter * _weighed(site.tariff, drawn) / JOULES_PER_KWH
            grams += meter * _weighed(site.carbon or (), drawn) / JOULES_PER_KWH
            kwh += meter * sum(drawn) / JOULES_PER_KWH
            fees += Fraction(site.fee) * meter * sum(drawn) / JOULES_PER_KWH
            demand += Fraction(site.demand_charge) * meter * highest / WATTS_PER_KW
        prices = [Fraction(bag.prices.per_task.get(task.name, 0.0)) for task in bag.task_types]
        return PlanMeasurement(
            electricity=electricity,
            fees=fees,
            demand=demand,
            wear=sum(
                (
                    Fraction(machine.wear_per_busy_hour) * self._seconds(busy) / SECONDS_PER_HOUR
                    for machine, busy in zip(bag.machine_types, self.busy, strict=True)
                ),
                Fraction(0),
            ),
            moving=sum(
                (
                    tasks * Fraction(slots.sites[site].moving_costs[i])
                    for (site, i), tasks in self.moved.items()
                    if slots.sites[site].moving_costs
                ),
                Fraction(0),
            ),
            switching=sum(
                (
                    times * Fraction(machine.switch_on_cost)
                    for machine, times in zip(bag.machine_types, self.switched, strict=True)
                ),
                Fraction(0),
            ),
            grams=None if any(site.carbon is None for site in slots.sites) else grams,
            energy_joules=Fraction(sum(map(sum, of_sites)), unit),
            kwh=kwh,
            joules=joules,
            highest_average_watts=averages,
            highest_watts=tuple(Fraction(_highest(rises), 1 << self.watt_places) for rises in self.rises),
            task_joules=tuple(tuple(Fraction(each, unit) for each in drawn) for drawn in of_tasks[:IDLE]),
            idle_joules=tuple(Fraction(each, unit) for each in of_tasks[IDLE]),
            finished=tuple(self.finished),
            revenue=sum((done * price for done, price in zip(self.finished, prices, strict=True)), Fraction(0)),
            last_end=self._seconds(self.last_end),
            switch_ons=sum(self.switched),
        )


def _weighed(series: tuple[float, ...], joules: tuple[Fraction, ...]) -> Fraction:
    return sum((Fraction(each) * drawn for each, drawn in zip(series, joules, strict=False)), Fraction(0))


def _common(runs: list[_Span], idle: list[_Span]) -> Iterable[tuple[int, int]]:
    """Yield when a machine runs during one of its idle spans; both are in the order of time, without overlaps."""
    first = 0
    for run in runs:
        while first < len(idle) and idle[first].end <= run.start:
            first += 1
        at = first
        while at < len(idle) and idle[at].start < run.end:
            yield max(run.start, idle[at].start), min(run.end, idle[at].end)
            at += 1


def _beginnings(spans: list[_Span]) -> int:
    """Return how many spans are left when those that touch or overlap are one."""
    count, end = 0, -1
    for span in sorted(spans, key=lambda span: span.start):
        count += span.start > end
        end = max(end, span.end)
    return count


def _highest(rises: dict[int, int]) -> int:
    """Return the highest power at any moment; what ends when something else begins does not add to it."""
    return max(accumulate(rises[at] for at in sorted(rises)), default=0)


def _places(numbers: Iterable[float]) -> int:
    """Return a z such that each number is a whole number of 2^-z."""
    finite = (number for number in numbers if math.isfinite(number))
    return max((number.as_integer_ratio()[1].bit_length() - 1 for number in finite), default=0)


def _whole(number: float, places: int) -> int:
    """Return how many 2^-places a number is: exactly."""
    numerator, denominator = number.as_integer_ratio()
    return (numerator << places) // denominator
