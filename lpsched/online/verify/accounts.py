"""What verifiers of days and of clusters share: exact times, what counts within a period, accounts of tasks."""

from __future__ import annotations

import math
import statistics
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from lpsched.model.violation import LONGEST, UNIT, Violation, rounded_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lpsched.model.table import Column
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.parts import DeclaredUtility, Period
    from lpsched.online.schedule import PlacedOnNodes, PlacedTask


# Times as whole numbers of 2^-160, and rounded starts.
#
# Every time in a day, being 0 or at least 1e-30, is such a number, so ends are exact sums of integers. Watts are, too.
#
# Start times are decimal numbers that someone rounded, so a task may start before its arrival, or before the
# end of the one before it, by a billionth of that time.
ROUNDING: Final = 10**9  # one part in this many of a time is rounding
MOST: Final = 1000  # violations of one schedule


def whole(number: float) -> int:
    """Return how many 2^-160 a number is: exactly, for 0 and from 1e-30 up; rounded down below."""
    numerator, denominator = number.as_integer_ratio()
    return numerator * UNIT // denominator


def seconds_of(time: int) -> float:
    """Return an exact time in seconds, rounded up; integers divide without a second rounding."""
    rounded = time / UNIT
    numerator, denominator = rounded.as_integer_ratio()
    return rounded if numerator * UNIT >= time * denominator else math.nextafter(rounded, math.inf)


def clearly_before(time: int, limit: int) -> bool:
    """Return whether a time is before a limit by more than rounding."""
    return ROUNDING * (limit - time) > limit


def broken_start(task: int, start: float, arrival: float, ends_at: float) -> tuple[str, str] | None:
    """Return the rule that a start breaks by itself, and a sentence; nothing may start at `ends_at`."""
    if not 0 <= start <= LONGEST:
        return "bad-start", f"task {task} starts at {start!r} s, where 0 to {LONGEST:g} s are times"
    if start < arrival and clearly_before(whole(start), whole(arrival)):
        return "before-arrival", f"task {task} starts at {start!r} s, but arrives at {arrival!r} s"
    if start >= ends_at:
        over = f"the period that counts ends at {ends_at!r} s"
        return "starts-after-the-day", f"task {task} starts at {start!r} s, but {over}"
    return None


# What counts of the runs of a day or of clusters, exactly.
#
# Of a task that arrives at a and runs from s to f on machines that take w watts meanwhile, the part from s'
# to f' counts (`online/parts.py`):
#     prorated    s' = max(s, begin), f' = min(f, end)      nothing, if that is no time at all
#     completed   s' = s, f' = f                            nothing, unless begin < f <= end
#     utility     U(f - a) (f' - s') / (f - s)              U: the task's utility function
#     energy      w (f' - s')                               idle machines take none
# Times and watts are whole numbers of 2^-160, so that energy is exact. Utilities are doubles, of a time since
# arrival that is rounded up; the part that counts is rounded down.
class Run(NamedTuple):
    """A task as it really ran; times and watts are whole numbers of 2^-160."""

    task: int
    place: int  # the number of its machine type, or of its cluster
    machine: int  # which one of the type; 0 of a cluster
    nodes: int  # how many nodes of a cluster it takes; one machine of a type
    start: int
    end: int
    watts: int  # in all


class Counted(NamedTuple):
    """A run of which something counts, from `start` to `end`."""

    run: Run
    start: int
    end: int

    @property
    def joules(self) -> int:
        """The energy that counts, in UNIT * UNIT."""
        return self.run.watts * (self.end - self.start)


class Counting:
    """What counts of runs, by the period of a day or of clusters."""

    def __init__(self, day: Day | Clusters) -> None:
        period = day.period
        self._is_prorated = period.edge == "prorated"
        self._begin = whole(period.begins_at)
        self._end = None if period.length_seconds is None else whole(period.ends_at)
        self._arrivals = day.arriving.arrival_seconds
        self._functions, self._function_of = day.functions, memoryview(day.function_numbers).cast("q")

    def counted(self, runs: Iterable[Run]) -> Iterator[Counted]:
        """Yield what counts of each run, where anything does."""
        for run in runs:
            if self._is_prorated:
                start = max(run.start, self._begin)
                end = run.end if self._end is None else min(run.end, self._end)
                if start < end:
                    yield Counted(run, start, end)
            elif self.ends_within(run):
                yield Counted(run, run.start, run.end)

    def ends_within(self, run: Run) -> bool:
        """Return whether a run ends in the period."""
        return self._begin < run.end and (self._end is None or run.end <= self._end)

    def within(self, run: Run) -> int:
        """Return how much of a run is in the period, whatever counts of it."""
        end = run.end if self._end is None else min(run.end, self._end)
        return max(0, end - max(run.start, self._begin))

    def utility(self, counted: Counted) -> float:
        """Return the utility that counts."""
        run = counted.run
        since_arrival = seconds_of(run.end - whole(self._arrivals[run.task]))
        earned = self._functions[self._function_of[run.task]].at(since_arrival)
        part, all_of_it = counted.end - counted.start, run.end - run.start
        if part == all_of_it:
            return earned
        exact = Fraction(earned) * Fraction(part, all_of_it)
        rounded = float(exact)
        return rounded if rounded <= exact else math.nextafter(rounded, 0.0)


def too_much_energy(period: Period, joules: int) -> Iterator[Violation]:
    """Yield a violation if counted energy, in UNIT * UNIT, is above the constraint by more than rounding."""
    most = period.energy_constraint_joules
    if most is None:
        return
    limit = whole(most) * UNIT
    if ROUNDING * (joules - limit) > limit:
        taken = rounded_up(Fraction(joules, UNIT * UNIT))
        sentence = f"the schedule takes {taken!r} J in the period that counts, of {most!r} J allowed"
        yield Violation("too-much-energy", sentence)


# How much has been credited, or taken, by some times? By plain loops over what rises.
#
# Times and watts are whole numbers of 2^-160, so that energy is exact until it is rounded up.
def credited(amounts: Sequence[tuple[int, float]], times: Sequence[float]) -> dict[float, float]:
    """Return the sum of the amounts credited by each time; both rise."""
    found: dict[float, float] = {}
    total, done = 0.0, 0
    for time in times:
        now, first = whole(time), done
        while done < len(amounts) and amounts[done][0] <= now:
            done += 1
        found[time] = total = math.fsum((total, *(amount for _, amount in amounts[first:done])))
    return found


def taken(turns: Sequence[tuple[int, int]], times: Sequence[float]) -> dict[float, float]:
    """Return the joules taken by each time, where each turn changes the watts; both rise."""
    found: dict[float, float] = {}
    joules = watts = then = done = 0
    for time in times:
        now = whole(time)
        while done < len(turns) and turns[done][0] <= now:
            at, change = turns[done]
            joules, watts, then, done = joules + watts * (at - then), watts + change, at, done + 1
        found[time] = rounded_up(Fraction(joules + watts * (now - then), UNIT * UNIT))
    return found


# What the verifier found for each task: when it really ran, what it took, what counts of what it earned.
class TaskAccount(NamedTuple):
    """One task that ran; joules of the whole run, utility as far as it counts, or minus a cost."""

    start_seconds: float
    end_seconds: float
    joules: float
    earned: float


# Utility of tasks with one declaration, earned and if none had waited.
#
# If none waits: the no-wait reference of Friese's thesis of 2015, 2.7.1; every task starts on arrival where it is
# fastest, and its share counts. A task that arrives when the period is over earns nothing. That is no bound: a task
# of the warm-up that is kept waiting may count for more.
class UtilityTotals(NamedTuple):
    """What tasks with one declared utility earned, and would have if none had waited."""

    declared: DeclaredUtility
    earned: float
    if_none_waits: float


AT_LEAST: Final = 10.0  # seconds: shorter runs do not make a slowdown large


# How long tasks waited, and how much longer they took for it.
#     d   wait of a task: from its arrival to when it really starts
#     r   its run, where it ran
#
#     slowdown           (d + r) / r
#     bounded slowdown   max(1, (d + r) / max(r, 10 s))
# Half of the waits are at most the median (for an even number of tasks the mean of the two in the middle);
# the 95th percentile is the shortest wait that at least 95 % of the waits are not above.
@dataclass(frozen=True, slots=True)
class Waits:
    """Of tasks that arrive in the period that counts, and start."""

    tasks: int
    mean_seconds: float
    median_seconds: float
    percentile_95_seconds: float
    longest_seconds: float
    mean_slowdown: float
    mean_bounded_slowdown: float


class WaitAndRun(NamedTuple):
    """A task that arrives in the period that counts, and starts; in seconds."""

    task: int
    wait: float
    run: float


def waits_and_runs(clusters: Clusters, runs: Iterable[Run]) -> list[WaitAndRun]:
    """Return how long tasks waited and ran."""
    begin, end = clusters.period.begins_at, clusters.period.ends_at
    arrivals = clusters.arriving.arrival_seconds
    own = (run for run in runs if begin <= arrivals[run.task] < end)
    return [
        WaitAndRun(run.task, seconds_of(run.start - whole(arrivals[run.task])), seconds_of(run.end - run.start))
        for run in own
    ]


def waits_of(own: Sequence[WaitAndRun]) -> Waits | None:
    """Return what is known of some tasks' waits; `None` if there is none."""
    if not own:
        return None
    rising = sorted(each.wait for each in own)
    bounded = (max(1.0, (wait + run) / max(run, AT_LEAST)) for _, wait, run in own)
    return Waits(
        tasks=len(own),
        mean_seconds=math.fsum(rising) / len(own),
        median_seconds=statistics.median(rising),
        percentile_95_seconds=rising[math.ceil(Fraction(95 * len(own), 100)) - 1],
        longest_seconds=rising[-1],
        mean_slowdown=math.fsum((wait + run) / run for _, wait, run in own) / len(own),
        mean_bounded_slowdown=math.fsum(bounded) / len(own),
    )


# Is this a schedule, and when does each task really run? By plain loops, that share nothing with the code that makes
# schedules. Times are exact, and starts may be a little too early, for someone rounded them. That earns nothing: a
# task runs from when it really could.
SomePlaced = TypeVar("SomePlaced", "PlacedTask", "PlacedOnNodes")
Measured = TypeVar("Measured")
Broken = tuple[str, str] | None  # the code of a rule, and a sentence


class PlacedRuns(ABC, Generic[SomePlaced]):
    """Looks at each placed task by itself, then lets those that break no rule run."""

    def __init__(self, instance: Day | Clusters, placed: Iterable[SomePlaced]) -> None:
        self.violations: list[Violation] = []  # every broken rule, as far as it was looked
        self.runs: list[Run] = []  # what ran, machine by machine or cluster by cluster
        self._tasks, self._ends_at = instance.tasks, instance.period.ends_at
        self._arrivals = instance.arriving.arrival_seconds
        machines: Sequence[Column] = instance.runs_on()
        self._number = {each.name: number for number, each in enumerate(machines)}
        self._column: dict[tuple[str, str | None], int] = {}
        for each in machines:
            for state in each.p_states if each.p_states is not None else (None,):
                self._column[each.name, state] = len(self._column)
        self._seen: set[int] = set()
        self._cells: dict[tuple[int, int], tuple[int, int] | None] = {}  # seconds and watts, of what was seen
        valid = []
        for one in placed:
            broken = self._broken_task(one.task) or self._broken(one)
            if broken is None:
                valid.append(one)
                continue
            self.violations.append(Violation(*broken))
            if len(self.violations) >= MOST:
                return
        self._run(valid)

    def _broken_task(self, task: int) -> Broken:
        if not 0 <= task < self._tasks:
            return "unknown-task", f"there is no task {task}, only 0 to {self._tasks - 1}"
        if task in self._seen:
            return "task-twice", f"task {task} is placed more than once"
        self._seen.add(task)
        return None

    @abstractmethod
    def _broken(self, placed: SomePlaced) -> Broken:
        """Return the first rule that a task breaks by itself."""

    @abstractmethod
    def _run(self, valid: list[SomePlaced]) -> None:
        """Let tasks run that break no rule by themselves."""


# What does a schedule earn, and what does it take? Utility and energy are the sums of what counts of each task. Energy
# is exact, and rounded up once; the sum of utilities is rounded once.
#
# The counted energy may be above the energy constraint by one part in 10^9, since sums of doubles are
# wrong by less. (A bound must grant as much: `Period.most_joules`.)
class Account(ABC, Generic[Measured]):
    """One schedule, gone through once: every broken rule, or what it earns and takes, and more for reports."""

    def __init__(self, instance: Day | Clusters, ran: PlacedRuns[Any]) -> None:
        self._instance, self._counting, self._runs = instance, Counting(instance), ran.runs
        self._counted = list(self._counting.counted(ran.runs))
        joules = sum(each.joules for each in self._counted)
        self.violations = (*ran.violations, *too_much_energy(instance.period, joules))[:MOST]
        self._earned = [] if self.violations else [self._earned_by(each) for each in self._counted]
        self.measured = None if self.violations else self._measure(joules)

    def _earned_by(self, counted: Counted) -> float:
        """Return what counts of what a run earns."""
        return self._counting.utility(counted)

    @abstractmethod
    def _measure(self, joules: int) -> Measured:
        """Return what the schedule earns and takes, with this energy that counts."""

    def _sums(self, joules: int) -> dict[str, Any]:
        """Return what is measured of every schedule."""
        last_end = max((run.end for run in self._runs), default=None)
        return {
            "utility": math.fsum(self._earned),
            "energy_joules": rounded_up(Fraction(joules, UNIT * UNIT)),
            "makespan_seconds": None if last_end is None else seconds_of(last_end),
            "completed": sum(self._counting.ends_within(run) for run in self._runs),
            "dropped": self._instance.tasks - len(self._runs),
        }

    def require_measured(self) -> Measured:
        """Return what a valid schedule earns and takes."""
        assert self.measured is not None, "only valid schedules are measured"
        return self.measured

    def traces(self, times: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return utility and energy, in joules, that have been counted by each of some times, in any order.

        The utility of a task, or minus its cost, is credited when it ends, or when the period does if that is
        earlier; its energy evenly while the part of it that counts runs. In the end both are as measured, but
        for rounding. Without watts no energy is taken.
        """
        self.require_measured()
        rising = sorted(set(times))
        utility = credited(sorted(zip((each.end for each in self._counted), self._earned, strict=True)), rising)
        turns = [(each.start, each.run.watts) for each in self._counted]
        turns += [(each.end, -each.run.watts) for each in self._counted]
        energy = taken(sorted(turns), rising)
        return tuple(utility[time] for time in times), tuple(energy[time] for time in times)

    def tasks(self) -> dict[int, TaskAccount]:
        """Return the account of each task that ran, by its number."""
        self.require_measured()
        counts = {each.run.task: amount for each, amount in zip(self._counted, self._earned, strict=True)}
        return {
            run.task: TaskAccount(
                seconds_of(run.start),
                seconds_of(run.end),
                rounded_up(Fraction(run.watts * (run.end - run.start), UNIT * UNIT)),
                counts.get(run.task, 0.0),
            )
            for run in self._runs
        }

    def _by_declaration(
        self, kinds: Sequence[int], fastest: Sequence[float]
    ) -> tuple[tuple[UtilityTotals, ...], float]:
        """Return the sums by declared utility, in their order, and what all would earn if none waited.

        `fastest` has the fewest seconds of each kind of task, and `kinds` the kind of each task.
        """
        instance, arriving = self._instance, self._instance.arriving
        functions = memoryview(instance.function_numbers).cast("q")
        earned: list[list[float]] = [[] for _ in arriving.declared]
        for each, amount in zip(self._counted, self._earned, strict=True):
            earned[arriving.utility_numbers[each.run.task]].append(amount)
        naive: list[list[float]] = [[] for _ in arriving.declared]
        at_once: dict[tuple[int, int], float] = {}  # of each pair of a kind and a function
        columns = zip(arriving.arrival_seconds, kinds, arriving.utility_numbers, functions, strict=True)
        for arrival, kind, u, f in columns:
            if (kind, f) not in at_once:
                at_once[kind, f] = instance.functions[f].at(fastest[kind])
            if arrival < instance.period.ends_at:
                naive[u].append(at_once[kind, f] * instance.period.share(arrival, arrival + fastest[kind]))
        declared = tuple(
            UtilityTotals(declared, math.fsum(earned[u]), math.fsum(naive[u]))
            for u, declared in enumerate(arriving.declared)
        )
        return declared, math.fsum(amount for own in naive for amount in own)
