"""Schedulers and schedules of a day against the bound without waiting: one table, all measured or proved.

Names of schedulers: the heuristics of `heuristics/arrivals/`, and `nsga2`, the genetic algorithm, which makes
two entries: of its front, the schedule that earns the most, and the one that earns the most for a joule.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.compare.day_schedulers import run_on_day
from lpsched.compare.outside import FAILED, NOT_RUN, unreadable
from lpsched.errors import Fault, InstanceError, InvalidScheduleError
from lpsched.files.day_schedules import read_day_schedule
from lpsched.formulations.no_waiting import no_waiting_front
from lpsched.heuristics.arrivals import DayHeuristic, heuristic_for_days
from lpsched.instance.period import require_whole
from lpsched.result.day_validation import DayEntry, DayValidation
from lpsched.result.provenance import provenance_of
from lpsched.risk.day_risk import day_risk
from lpsched.verify.day import examine
from lpsched.verify.violation import Violation
from lpsched.watch import Watch

if TYPE_CHECKING:
    from lpsched.formulations.no_waiting import NoWaitingFront
    from lpsched.instance.day import Day
    from lpsched.risk.options import RiskOptions
    from lpsched.schedule.day import DaySchedule

NSGA2: Final = "nsga2"
NO_SOLVER: Final = "exact arithmetic"


def validate_day(  # noqa: PLR0913 - options are keyword-only
    day: Day,
    schedules: Mapping[str, DaySchedule] | Sequence[Path | str] = (),
    *,
    heuristics: Sequence[str | DayHeuristic] = (),
    seed: int = 0,
    generations: int | None = None,
    time_limit: float | None = None,
    drop_below: float | None = None,
    risk: RiskOptions | None = None,
    watch: Watch | None = None,
) -> DayValidation:
    """Check schedules of a day, run schedulers, measure all, and tell their distance from the bound.

    Parameters
    ----------
    schedules
        Schedules by name, or files with one row per task (`.csv`, `.parquet`). A file that cannot be read is
        an entry with a violation, not an error.
    heuristics
        Names of heuristics for days, or `nsga2`; or functions `(day, rng, *, drop_below) -> DaySchedule`. One
        that fails is an entry with the reason.
    seed
        Of what is left to chance: each scheduler gets a generator of its own, made from it.
    generations, time_limit
        How many generations, and how many seconds, `nsga2` may take; 60 s if neither is given.
    drop_below
        Schedulers drop a task that would earn less than this; `None` drops none.
    risk
        What to sample, if it is asked how valid schedules fare when times and powers scatter.
    watch
        A watch over all of it, that others may stop: schedulers that have not begun by then are not run.

    Raises
    ------
    InstanceError
        If there is no such heuristic, `drop_below` is not a utility, or the day has a period and `nsga2` or
        samples are asked for, which know of none.
    MissingExtraError
        If a package that `nsga2` needs is not installed.
    InvalidScheduleError
        If a valid schedule is above the bound, which is a bug of ours.
    """
    if drop_below is not None and not 0.0 <= drop_below < math.inf:
        fault = Fault(("drop_below",), repr(drop_below), "a utility: a number from 0 up", "correct it")
        raise InstanceError("validate", (fault,))
    _require_no_period(day, heuristics, risk)
    asked = _Asked(day, seed, generations, time_limit, drop_below, watch or Watch())
    schedulers = [_scheduler(each) for each in heuristics]
    asked.watch.tell("bound")
    front = no_waiting_front(day)
    entries = _brought(day, schedules)
    for number, each in enumerate(schedulers):
        asked.watch.tell(each.name, done=number, total=len(schedulers))
        entries += _run(asked, each, front)
    judged = [_against(front, entry) for entry in entries]
    return DayValidation(
        period=day.period,
        naive_bound=front.highest_utility,
        naive_joules=front.energies[-1],
        least_joules=front.least_joules,
        seed=seed,
        drop_below=drop_below,
        entries=tuple(_sampled(asked, entry, risk) for entry in judged),
        provenance=provenance_of(day, NO_SOLVER),
    )


def _require_no_period(day: Day, heuristics: Sequence[str | DayHeuristic], risk: RiskOptions | None) -> None:
    if NSGA2 in heuristics:
        require_whole(day.name, day.period, "NSGA-II")
    if risk is not None:
        require_whole(day.name, day.period, "sampling")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of all schedulers."""

    day: Day
    seed: int
    generations: int | None
    time_limit: float | None
    drop_below: float | None
    watch: Watch


@dataclass(frozen=True, slots=True)
class _Scheduler:
    name: str
    kind: str
    function: DayHeuristic | None  # none: the genetic algorithm


def _scheduler(each: str | DayHeuristic) -> _Scheduler:
    """Find a scheduler before anything is run."""
    if not isinstance(each, str):
        return _Scheduler(getattr(each, "__name__", type(each).__name__), "function", each)
    if each == NSGA2:
        from lpsched.evolve.evolving import require_evolution  # noqa: PLC0415 - loads pymoo and a compiler

        require_evolution()
        return _Scheduler(each, "heuristic", None)
    return _Scheduler(each, "heuristic", heuristic_for_days(each))


def _brought(day: Day, schedules: Mapping[str, DaySchedule] | Sequence[Path | str]) -> list[DayEntry]:
    """Check the schedules that were brought."""
    if isinstance(schedules, Mapping):
        return [_checked(day, name, "schedule", each) for name, each in schedules.items()]
    return [_read(day, Path(file)) for file in schedules]


def _read(day: Day, file: Path) -> DayEntry:
    """Check a schedule file; one that cannot be read breaks the first rule of all."""
    try:
        return _checked(day, str(file), "file", read_day_schedule(day, file))
    except InstanceError as error:
        return DayEntry(str(file), "file", None, violations=unreadable(error))


def _run(asked: _Asked, scheduler: _Scheduler, front: NoWaitingFront) -> list[DayEntry]:
    """Run a scheduler, unless the time is up; what it raises is an entry."""
    name, kind, function = scheduler.name, scheduler.kind, scheduler.function
    if asked.watch.is_over():
        return [_without(name, kind, Violation(NOT_RUN, "stopped before"))]
    if function is None:
        return _evolved(asked, front)
    ran = run_on_day(asked.day, function, seed=asked.seed, drop_below=asked.drop_below)
    if isinstance(ran.made, Violation):
        return [_without(name, kind, ran.made, ran.seconds)]
    return [_checked(asked.day, name, kind, ran.made, ran.seconds)]


def _evolved(asked: _Asked, front: NoWaitingFront) -> list[DayEntry]:
    """Run the genetic algorithm, and take two schedules of its front."""
    from lpsched.compare.evolved_days import evolved_day  # noqa: PLC0415 - likewise
    from lpsched.evolve.day_problem import DayProblem  # noqa: PLC0415 - likewise
    from lpsched.evolve.evolving import prepare  # noqa: PLC0415 - loads pymoo and a compiler

    prepare(asked.watch, DayProblem.of_one_task())
    began = time.perf_counter()
    limited = asked.watch if asked.time_limit is None else asked.watch.part(asked.time_limit)
    try:
        found = evolved_day(
            asked.day,
            seed=asked.seed,
            generations=asked.generations,
            drop_below=asked.drop_below,
            watch=limited,
            bound=front.most_utility,
        )
    except InstanceError as error:  # too many tasks for it
        failure = Violation(FAILED, "; ".join(map(str, error.faults)))
        return [_without(NSGA2, "heuristic", failure, time.perf_counter() - began)]
    took = time.perf_counter() - began
    return [_checked(asked.day, f"{NSGA2}, {aim}", "heuristic", each, took) for aim, each in found.items()]


def _sampled(asked: _Asked, entry: DayEntry, risk: RiskOptions | None) -> DayEntry:
    """Tell how a valid schedule fares if times and powers scatter, where that is asked."""
    if risk is None or entry.measured is None or entry.schedule is None:
        return entry
    sampled = day_risk(
        asked.day, entry.schedule, entry.measured, risk, asked.seed, drop_below=asked.drop_below
    )
    return replace(entry, risk=sampled)


def _without(name: str, kind: str, why: Violation, seconds: float | None = None) -> DayEntry:
    return DayEntry(name, kind, None, violations=(why,), seconds=seconds)


def _checked(day: Day, name: str, kind: str, schedule: DaySchedule, seconds: float | None = None) -> DayEntry:
    found = examine(day, schedule)
    return DayEntry(name, kind, found.measured, None, found.violations, seconds, schedule)


def _against(front: NoWaitingFront, entry: DayEntry) -> DayEntry:
    """Tell the bound at the schedule's own energy.

    Raises
    ------
    InvalidScheduleError
        If a valid schedule earns more than the proved bound: one of them is wrong.
    """
    if entry.measured is None:
        return entry
    bound = front.most_utility(entry.measured.energy_joules)
    if entry.measured.utility > bound:
        earned = f"{entry.name} earns {entry.measured.utility!r} with {entry.measured.energy_joules!r} J"
        raise InvalidScheduleError(f"{earned}, more than the bound of {bound!r}")
    return replace(entry, bound=bound)
