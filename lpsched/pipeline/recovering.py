"""From a relaxation to a verified schedule: round, place, end, verify; the best of what passes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lpsched.errors import InvalidScheduleError, NotFoundError, SolverError
from lpsched.pipeline.objectives import Makespan
from lpsched.recovery.lpt import place
from lpsched.recovery.rounding import round_shares
from lpsched.recovery.waiting import ended
from lpsched.schedule.bag import NOTHING, Schedule
from lpsched.verify.bag import Examined, Measurement, Tables, examine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.pipeline.objectives import Objective
    from lpsched.recovery.lpt import Known
    from lpsched.relaxation import Point, Relaxation

LIMITS: Final = {"after-deadline", "over-power-cap"}  # broken by bad luck, not by a bug


@dataclass(frozen=True, slots=True)
class Recovered:
    """A schedule that broke no rule, and what it was measured to take."""

    schedule: Schedule
    measured: Measurement


def recover(bag: Bag, objective: Objective, relaxation: Relaxation, solver: Solver) -> Recovered:
    """Return the best verified schedule that comes of the relaxation.

    A deadline may be met by the relaxation and missed by whole tasks: then the relaxation of a shorter
    deadline is tried, and at last the fastest one.

    Raises
    ------
    NotFoundError
        If none of these meets the deadline.
    InvalidScheduleError
        If a schedule breaks any other rule, which is a bug of ours.
    """
    found = choices(bag, objective, relaxation, solver)
    if isinstance(found, str):
        raise NotFoundError(
            f"{bag.name}: no schedule was found within the limits, and none proved impossible: {found}"
        )
    return best_of(objective, found)


def best_of(objective: Objective, found: Sequence[Recovered]) -> Recovered:
    """Return the best schedule; of equally good ones the first."""
    sign = 1 if objective.maximise else -1
    return max(found, key=lambda each: sign * objective.value(each.measured))


def choices(bag: Bag, objective: Objective, relaxation: Relaxation, solver: Solver) -> list[Recovered] | str:
    """Return verified schedules to choose from, waiting included where it may be; or the limit all miss."""
    waits = objective.maximise and bag.site.deadline_seconds is None
    ends = (False, True) if objective.maximise and not waits else (False,)
    missed = ""
    for each in _relaxations(bag, objective, relaxation, solver):
        tried = [verified_schedule(bag, each, late=late) for late in ends]
        found = [one for one in tried if isinstance(one, Recovered)]
        if found:
            earns = any((one.measured.profit_per_hour or 0.0) > 0 for one in found)  # waiting never does
            return [*found, waiting(bag)] if waits and not earns else found
        missed = next(one for one in tried if isinstance(one, str))
    return missed


def waiting(bag: Bag) -> Recovered:
    """Return the schedule that runs nothing, where no deadline forces the work."""
    return Recovered(NOTHING, _sound(examine(bag, NOTHING, may_wait=True)))


class Memory:
    """What many schedules of one bag have in common: machine types placed before, and the tables read."""

    def __init__(self, bag: Bag) -> None:
        self.placed: Known = {}
        self.tables = Tables(bag)


def verified_schedule(
    bag: Bag, relaxation: Point, *, late: bool = False, memory: Memory | None = None
) -> Recovered | str:
    """Return the schedule of a relaxation, or the limit that it misses.

    Raises
    ------
    InvalidScheduleError
        If it breaks any other rule.
    """
    memory = memory if memory is not None else Memory(bag)
    counts = round_shares(relaxation.shares, [task.count for task in bag.task_types])
    schedule = ended(bag, counts, place(bag, counts, memory.placed), late=late)
    return examined_schedule(bag, schedule, memory.tables)


def examined_schedule(bag: Bag, schedule: Schedule, tables: Tables | None = None) -> Recovered | str:
    """Return a schedule with its measurement, or the limit that it misses.

    Raises
    ------
    InvalidScheduleError
        If it breaks any other rule.
    """
    examined = examine(bag, schedule, tables=tables)
    if examined.violations and {each.code for each in examined.violations} <= LIMITS:
        return examined.violations[0].sentence
    return Recovered(schedule, _sound(examined))


def _sound(examined: Examined) -> Measurement:
    """Return the measurement of a schedule that breaks no rule; one that does is never an answer."""
    if examined.measured is None:
        raise InvalidScheduleError("; ".join(each.sentence for each in examined.violations[:9]))
    return examined.measured


def _relaxations(
    bag: Bag, objective: Objective, relaxation: Relaxation, solver: Solver
) -> Iterator[Relaxation]:
    """Yield the relaxation, and if it is asked for more: one for a shorter deadline, and the fastest."""
    yield relaxation
    deadline = bag.site.deadline_seconds
    if deadline is None:
        return
    free = bag.without_deadline()
    first = verified_schedule(free, relaxation)
    if isinstance(first, Recovered) and first.measured.makespan_seconds is not None:
        shorter = deadline * deadline / first.measured.makespan_seconds
        with suppress(SolverError):  # nobody can be done so soon
            yield objective.relax(_due(bag, shorter), solver).relaxation
    yield Makespan().relax(free, solver).relaxation


def _due(bag: Bag, deadline: float) -> Bag:
    return replace(bag, site=bag.site.model_copy(update={"deadline_seconds": deadline}))
