"""From a relaxation to a verified schedule: round, place, end, verify; the best of what passes.

A deadline may be met by the relaxation and missed by the whole tasks it is rounded to. In order, until one
schedule is found that meets it:

    relaxation   rounded and placed; if that is too late, its loads balanced,
                 then single tasks exchanged between machines of all types (`bag/recovery/exchange.py`)
    ladder       the same for relaxations that give a machine type which is too late that much less time
                 (`bag/recovery/deadline.py`), repeatedly; once a schedule is in time, the times between
                 those of the last two are bisected
    fastest      the same for the fastest relaxation
    search       where tasks are few, assignments one by one (`bag/recovery/deadline.py`)

What a relaxation costs rises as times get shorter, so the longest ones in time are nearly the best; all that
were in time are compared. All work is counted, none is timed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.arrays import Items, items_of
from lpsched.bag.cost import cost_model
from lpsched.bag.problem import ENERGY, Objective, Problem, proved_makespan
from lpsched.bag.recovery.deadline import Shortened, ShorterDeadlines, search, shorter_deadlines
from lpsched.bag.recovery.exchange import Exchange, load_balanced
from lpsched.bag.recovery.plans import Plan, ended, plan_of_schedule
from lpsched.bag.recovery.rounding import (
    AT_ONCE,
    Known,
    Usage,
    ease,
    moves_of,
    place,
    place_all,
    round_all,
    round_shares,
)
from lpsched.bag.schedule import NOTHING, Schedule, numbered
from lpsched.bag.verify import Examined, Measurement, Tables, examine
from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, InvalidScheduleError, NotFoundError, SolverError
from lpsched.model.provenance import relative_gap
from lpsched.units import lower_text, number, upper_text

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.relaxation import Point, Relaxation
    from lpsched.lp.program import Solver
    from lpsched.model.table import Floats

LIMITS: Final = {"after-deadline", "over-power-cap"}  # a schedule may miss these without a bug of ours
MOST_CELLS: Final = 200_000  # machines x task types and P-states, for exchanges of single tasks
LEAST_CUT: Final = 1e-5  # of the deadline, beyond what a machine type was too late
OVERLOAD: Final = 40.0  # times what a machine costs a second: one above the limit
ROUNDING: Final = 1e-9
LITTLE: Final = 1e-3
MOST_RUNGS: Final = 16
EVEN_RUNGS: Final = 6  # from then on, more is cut each time
BISECTIONS: Final = 3
FAR_BISECTIONS: Final = 8  # where the last cut was too much for any way


@dataclass(frozen=True, slots=True)
class Recovered:
    """A schedule that broke no rule, and what it was measured to take."""

    schedule: Schedule
    measured: Measurement


@dataclass(frozen=True, slots=True)
class Searching:
    """How to search for better schedules and bounds: until the token has expired, or both are as near as the gap."""

    solver: Solver
    cancel: CancelToken
    gap: float
    rng: np.random.Generator
    seed: int = 0
    is_thorough: bool = False  # whether compiled code may be used, which is compiled once


@dataclass(frozen=True, slots=True)
class _Missed:
    """No schedule was found within the limits."""

    sentence: str  # how the first one missed a limit
    shortest: float | None = None  # the least makespan of those that were tried, if a deadline was missed
    is_proved: bool = False  # whether all assignments were searched, so that there is none


def recover(bag: Bag, objective: Objective, relaxation: Relaxation, solver: Solver) -> Recovered:
    """Return the best verified schedule that comes of the relaxation."""
    found = _found(bag, objective, relaxation, solver)
    if not isinstance(found, _Missed):
        return best_of(objective, found)
    deadline, shortest = bag.site.deadline_seconds, found.shortest
    if deadline is None or shortest is None:
        raise NotFoundError(
            f"{bag.name}: no schedule was found within the limits, and none proved impossible: {found.sentence}"
        )
    if not found.is_proved:
        raise too_late(bag, shortest, proved_makespan(bag, solver))
    under = " under the power cap" if bag.site.average_power_cap_watts is not None else ""
    reached = f"; the shortest schedule found{under} takes {number(shortest)} s" if shortest < math.inf else ""
    raise InfeasibleError(
        f"{bag.name}: the deadline is {number(deadline)} s, but no schedule of whole tasks ends by then"
        f"{under} (proved: all assignments were searched){reached}; "
        "give it more time, more machines or fewer tasks"
    )


def best_of(objective: Objective, found: Sequence[Recovered]) -> Recovered:
    """Return the best schedule; of equally good ones the first."""
    sign = 1 if objective.maximise else -1
    return max(found, key=lambda each: sign * objective.value(each.measured))


def gap_of(problem: Problem, found: Recovered | None, bound: float) -> float | None:
    """Return the relative gap between a schedule and the bound; `None` if it is not known."""
    return None if found is None else relative_gap(problem.objective.value(found.measured), bound)


def is_close(problem: Problem, found: Recovered | None, bound: float, gap: float) -> bool:
    """Return whether a schedule is known to be as near to the bound as the gap."""
    distance = gap_of(problem, found, bound)
    return distance is not None and distance <= gap


def candidates(bag: Bag, objective: Objective, relaxation: Point, solver: Solver) -> list[Recovered] | str:
    """Return verified schedules, the same at any price, with do-not-run if allowed; or the limit that all miss."""
    found = _found(bag, objective, relaxation, solver)
    return found.sentence if isinstance(found, _Missed) else found


def _found(bag: Bag, objective: Objective, relaxation: Point, solver: Solver) -> list[Recovered] | _Missed:
    """Return verified schedules, or how they missed a limit."""
    if bag.site.deadline_seconds is not None:
        return _within_deadline(bag, objective, relaxation, solver)
    found = verified_schedule(bag, relaxation)
    if isinstance(found, str):
        return _Missed(found)
    earns = (found.measured.profit_per_hour or 0.0) > 0  # the do-not-run schedule never does
    return [found, do_not_run_schedule(bag)] if objective.maximise and not earns else [found]


def do_not_run_schedule(bag: Bag) -> Recovered:
    """Return the schedule that runs nothing, where no deadline forces the work."""
    return Recovered(NOTHING, _valid(examine(bag, NOTHING, may_wait=True)))


class Memory:
    """What many schedules of one bag have in common: machine types placed before, and the tables read."""

    def __init__(self, bag: Bag) -> None:
        self.placed: Known = {}
        self.tables = Tables(bag)


def verified_schedule(bag: Bag, relaxation: Point, *, memory: Memory | None = None) -> Recovered | str:
    """Return the schedule of a relaxation, or the limit that it misses."""
    memory = memory if memory is not None else Memory(bag)
    schedule = ended(bag, place(bag, _rounded(bag, relaxation), memory.placed), late=False)
    return examined_schedule(bag, schedule, memory.tables)


def verified_schedules(bag: Bag, points: Sequence[Point], memory: Memory) -> Iterator[Recovered | str]:
    """Return what `verified_schedule` returns for each of many relaxations; their tasks are placed together."""
    tasks, size = [task.count for task in bag.task_types], max(1, AT_ONCE // (bag.seconds.rows * bag.seconds.columns))
    for start in range(0, len(points), size):
        some = points[start : start + size]
        for schedule in place_all(bag, len(some), round_all([point.shares for point in some], tasks)):
            yield examined_schedule(bag, ended(bag, schedule, late=False), memory.tables)


def vertex_schedules(bag: Bag, vertices: Sequence[Point], solver: Solver, memory: Memory) -> list[Recovered | str]:
    """Return each vertex's schedule, or the limit it misses; if a deadline, the least energy found within it."""
    found: list[Recovered | str] = []
    for vertex, own in zip(vertices, verified_schedules(bag, vertices, memory), strict=True):
        if isinstance(own, str) and bag.site.deadline_seconds is not None:
            within = _within_deadline(bag, ENERGY, vertex, solver)
            found.append(own if isinstance(within, _Missed) else best_of(ENERGY, within))
        else:
            found.append(own)
    return found


def examined_schedule(bag: Bag, schedule: Schedule, tables: Tables | None = None) -> Recovered | str:
    """Return a schedule with its measurement, or the limit that it misses."""
    examined = examine(bag, schedule, tables=tables)
    if examined.violations and {each.code for each in examined.violations} <= LIMITS:
        return examined.violations[0].sentence
    return Recovered(schedule, _valid(examined))


def _valid(examined: Examined) -> Measurement:
    """Return the measurement of a schedule that breaks no rule; one that does is never an answer."""
    if examined.measured is None:
        raise InvalidScheduleError("; ".join(each.sentence for each in examined.violations[:9]))
    return examined.measured


@dataclass(slots=True)
class _Attempts:
    """Schedules of whole tasks under a deadline: those that were in time, and how the first missed it."""

    bag: Bag
    deadline: float
    items: Items
    late_too: bool  # a loss is spread until the deadline: a second ending to try
    memory: Memory
    excess: Floats  # of the last one, by machine type, and in the last entry by idling for the cap
    found: list[Recovered] = field(default_factory=list)
    missed: str = ""
    shortest: float = math.inf  # the makespan that came nearest
    missing: Schedule | None = None  # the last schedule that was too late

    def attempt(self, counts: Sequence[dict[int, int]]) -> bool:
        """Place tasks, balance the loads where that is too late, and keep what is in time; return whether it is."""
        schedule = place(self.bag, counts, self.memory.placed)
        if max(self._loads(schedule)) > self.deadline:
            schedule = load_balanced(self.bag, schedule, self.deadline)
        return self.keep(schedule)

    def exchange(self) -> None:
        """Exchange single tasks of the last schedule that was too late, and keep it if it then is in time."""
        bag, schedule = self.bag, self.missing
        if schedule is not None and self.excess[:-1].any() and fits_exchanges(bag):
            plan = plan_of_schedule(bag, self.items, schedule)
            second = (abs(plan.cost) or 1.0) / (self.deadline * bag.machines)
            self.keep(load_balanced(bag, repaired(bag, plan, self.deadline, OVERLOAD * second), self.deadline))

    def keep(self, schedule: Schedule) -> bool:
        """Verify a schedule with its endings, and keep those in time; return whether there is one."""
        loads = self._loads(schedule)
        longest = max(loads)
        self.excess = np.maximum(0.0, np.append(loads, 0.0) / self.deadline - 1.0)
        capped = self.bag.site.average_power_cap_watts is not None
        if self.excess.max() > ROUNDING and self.missed and not capped:  # no need to look exactly
            self.missing, self.shortest = schedule, min(self.shortest, longest)
            return False
        kept = False
        for late in (False, True) if self.late_too else (False,):
            ending = ended(self.bag, schedule, late=late)
            examined = examined_schedule(self.bag, ending, self.memory.tables)
            if isinstance(examined, Recovered):
                self.found.append(examined)
                kept = True
            elif not kept and not late:
                end = ending.makespan_seconds or longest
                self.excess[-1] = max(0.0, end / self.deadline - 1.0) if end > longest else 0.0
                self.missed = self.missed or examined
                self.missing, self.shortest = schedule, min(self.shortest, end)
        return kept

    def _loads(self, schedule: Schedule) -> list[float]:
        """Return the largest load of each machine type, in doubles."""
        largest = [0.0] * len(self.bag.machine_types)
        for j, _, runs in numbered(self.bag, schedule):
            load = sum(count * (self.bag.seconds[i, column] or 0.0) for i, column, count in runs)
            largest[j] = max(load, largest[j])
        return largest


def repaired(bag: Bag, plan: Plan, limit: float, weight: float) -> Schedule:
    """Return the schedule of a plan after exchanges that lower loads to the limit; a second above it costs `weight`."""
    work = Exchange(plan, CancelToken(), np.random.default_rng(0), most_items=0)
    work.repair(limit, weight)
    return work.plan.schedule(bag)


def fits_exchanges(bag: Bag) -> bool:
    """Return whether a bag is small enough for exchanges of single tasks."""
    return bag.machines * len(bag.task_types) * max(1, len(bag.modes) // len(bag.machine_types)) <= MOST_CELLS


def _within_deadline(bag: Bag, objective: Objective, relaxation: Point, solver: Solver) -> list[Recovered] | _Missed:
    """Return verified schedules that meet the deadline, or how they missed it."""
    deadline = bag.site.deadline_seconds
    assert deadline is not None
    earns = objective.name == "profit"
    per_joule = cost_model(bag).energy_price if earns else float(bag.watts is not None)
    items = items_of(bag, per_joule=per_joule, wear=earns)
    excess = np.zeros(len(bag.machine_types) + 1)
    attempts = _Attempts(bag, deadline, items, objective.maximise, Memory(bag), excess)
    if attempts.attempt(_rounded(bag, relaxation)):
        return attempts.found
    shorter = shorter_deadlines(bag, objective.name, solver)
    fastest = None
    if shorter is not None:
        with suppress(SolverError):  # what there is will do
            _climb_down(attempts, shorter, min(1.0, relaxation.makespan_seconds / deadline))
            fastest = None if attempts.found else shorter.fastest()
    if fastest is not None and not attempts.attempt(_rounded(bag, fastest)):
        attempts.exchange()
    if attempts.found:
        return attempts.found
    costs = np.zeros((bag.seconds.rows, bag.seconds.columns)) if shorter is None else shorter.costs
    prices = np.ones(len(bag.machine_types)) if fastest is None else np.array(fastest.machine_prices)
    per_machine = prices / [machine.count for machine in bag.machine_types]
    searched = search(bag, costs, (per_machine + LITTLE * per_machine.max()).tolist())
    for schedule in searched.schedules:
        attempts.keep(schedule)
    return attempts.found or _Missed(attempts.missed, attempts.shortest, searched.is_complete)


def _climb_down(attempts: _Attempts, shorter: ShorterDeadlines, top: float) -> None:
    """Give the machine types that are too late less time, and again, until none is; then a little more."""
    cut = too_long = more = np.zeros_like(attempts.excess)

    def is_in_time(cut: Floats) -> bool | None:
        """Return whether a schedule with that much less time is in time; `None` if the program has no solution."""
        shares = top * (1.0 - cut)
        point = shorter.cheapest(shares)
        return None if point is None else attempts.attempt(_eased(attempts.bag, shorter, point, shares))

    met: bool | None = False
    for rung in range(MOST_RUNGS):
        met = is_in_time(cut)
        late = attempts.excess > 0
        if met is not False or not late.any():
            break
        # A machine type that stays late, because it is left with the same whole tasks, loses ever more.
        least = 2.0 * more if rung > EVEN_RUNGS else 0.0
        more = np.where(late, np.maximum(attempts.excess + LEAST_CUT, least), 0.0)
        too_long, cut = cut, cut + more
    attempts.exchange()
    for _ in range((BISECTIONS if met else FAR_BISECTIONS) if cut.any() else 0):
        between = 0.5 * (cut + too_long)
        if is_in_time(between) is False:
            too_long = between
        else:
            cut = between


def _rounded(bag: Bag, point: Point) -> list[dict[int, int]]:
    return round_shares(point.shares, [task.count for task in bag.task_types])


def _eased(bag: Bag, shorter: ShorterDeadlines, point: Shortened, shares: Floats) -> list[dict[int, int]]:
    """Round, then move tasks that cost little to move until no machine type has more than its share."""
    scaling, arrays, cap = shorter.scaling, shorter.scaling.arrays, shorter.scaling.cap
    counts, tasks = _rounded(bag, point), arrays.task_counts[:, np.newaxis]
    under_cap = None if cap is None else cap.loads / tasks
    usage = Usage(scaling.loads / tasks, arrays.machine_of, len(arrays.machine_counts), under_cap)
    excess = usage.all_of(counts) - shorter.limits(shares)
    if excess.max() <= 0:
        return counts
    return ease(counts, moves_of(counts, shorter.costs, point.reduced_costs, usage), excess, point.weight)


def too_late(bag: Bag, shortest: float, least: float) -> InfeasibleError | NotFoundError:
    """Return the error where the shortest schedule found is too late; `least` is proved."""
    deadline = bag.site.deadline_seconds
    assert deadline is not None
    under = " under the power cap" if bag.site.average_power_cap_watts is not None else ""
    enough = upper_text(shortest)
    if least > deadline:
        return InfeasibleError(
            f"{bag.name}: the deadline is {number(deadline)} s, but no schedule{under} takes less than "
            f"{lower_text(least)} s (proved); the shortest schedule found takes {enough} s; "
            f"try a deadline of {enough} s, more machines or fewer tasks"
        )
    return NotFoundError(
        f"{bag.name}: no schedule was found that ends by the deadline of {number(deadline)} s, but there may "
        f"be one: the shortest schedule found{under} takes {enough} s, and no schedule takes less than "
        f"{lower_text(least)} s (proved); try a deadline of {enough} s, more machines or fewer tasks"
    )
