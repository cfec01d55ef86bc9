"""Schedules of others against the bound of a day or of clusters. Policies are in `simulations.py`."""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.errors import InputIssue, InstanceError, InvalidScheduleError
from lpsched.io.rows import FAILED, NOT_RUN, unreadable
from lpsched.model.fields import column_numbers
from lpsched.model.provenance import provenance_of
from lpsched.model.violation import Violation
from lpsched.online.bound.no_waiting import NoWaitingFront, no_waiting_front
from lpsched.online.clusters import Clusters
from lpsched.online.day import Day
from lpsched.online.files import read_clusters_schedule, read_day_schedule
from lpsched.online.heuristics import DayHeuristic, heuristic_for_days
from lpsched.online.parts import require_whole
from lpsched.online.result.comparisons import ClustersValidation, DayValidation, ScheduleEntry
from lpsched.online.risk import day_risk
from lpsched.online.schedule import ClustersSchedule, DaySchedule, PlacedTask
from lpsched.online.verify import clusters as verify_clusters
from lpsched.online.verify.day import examine

if TYPE_CHECKING:
    from lpsched.model.risk import RiskOptions
    from lpsched.model.table import Floats
    from lpsched.online.result.comparisons import DayEntry


# Schedulers that know of no period, on a day that has one: in the order of their starts, tasks are left out that would
# start when the period is over, or whose energy, as far as it counts, would break its energy constraint.
def within_period(day: Day, schedule: DaySchedule) -> DaySchedule:
    """Return what the day's period allows of a schedule; one that breaks other rules stays as it is."""
    if day.period.is_whole:
        return schedule
    ends_at = day.period.ends_at
    begun = DaySchedule(tuple(each for each in schedule.placed if not each.start_seconds >= ends_at))
    broken = {each.code for each in examine(day, begun).violations}
    if not broken:
        return begun
    return _within_energy(day, begun) if broken == {"too-much-energy"} else schedule


def _within_energy(day: Day, schedule: DaySchedule) -> DaySchedule:
    most = day.period.energy_constraint_joules
    assert most is not None, "only days with a constraint have too much energy"
    column = column_numbers(day.machine_types)
    types = day.arriving.type_numbers
    taken = 0.0
    kept: list[PlacedTask] = []
    for placed in sorted(schedule.placed, key=lambda each: (each.start_seconds, each.task)):
        cell = types[placed.task], column[placed.machine_type, placed.p_state]
        seconds, watts = day.seconds[cell] or 0.0, day.watts[cell] or 0.0
        start = placed.start_seconds
        joules = seconds * watts * day.period.share(start, start + seconds)
        if taken + joules <= most:
            taken += joules
            kept.append(placed)
    return DaySchedule(tuple(kept))


def run_on_day(
    day: Day, function: DayHeuristic, *, seed: int, drop_below: float | None
) -> tuple[DaySchedule | Violation, float]:
    """Run a user's scheduler; return what the day's period allows of its schedule, or its error, and the seconds."""
    began = time.perf_counter()
    made: DaySchedule | Violation
    try:
        made = within_period(day, _plain(function(day, np.random.default_rng(seed), drop_below=drop_below)))
    except Exception as error:  # noqa: BLE001 - a user's scheduler may raise anything
        made = Violation(FAILED, f"{type(error).__name__}: {error}")
    return made, time.perf_counter() - began


def _plain(found: object) -> DaySchedule:
    """Return a user's schedule with Python's own numbers."""
    if not isinstance(found, DaySchedule):
        raise TypeError(f"it handed back {type(found).__name__}, where a DaySchedule is needed")

    def plain(each: PlacedTask) -> PlacedTask:
        state = None if each.p_state is None else str(each.p_state)
        numbers = operator.index(each.machine), float(each.start_seconds)
        return PlacedTask(operator.index(each.task), str(each.machine_type), *numbers, state)

    return DaySchedule(tuple(map(plain, found.placed)))


# Schedulers of a day: the heuristics of `online/heuristics.py`, and `nsga2`, the genetic algorithm, seeded with the
# four heuristics of the thesis. It makes two entries: of its front, the schedule that earns the most, and the one that
# earns the most for a joule.
# Source: Friese, thesis of 2015, section 5.5.2 for the seeds, 5.6 for utility per energy.
NSGA2: Final = "nsga2"
SEEDS: Final = ("min-energy", "max-utility", "utility-per-energy", "min-min")
NO_SOLVER: Final = "exact arithmetic"


def validate_day(  # noqa: PLR0913 - options are keyword-only
    day: Day | Path | str,
    schedules: Mapping[str, DaySchedule] | Sequence[Path | str] = (),
    *,
    heuristics: Sequence[str | DayHeuristic] = (),
    seed: int = 0,
    generations: int | None = None,
    time_limit: float | None = None,
    drop_below: float | None = None,
    risk: RiskOptions | None = None,
    cancel: CancelToken | None = None,
) -> DayValidation:
    """Check schedules of a day, run schedulers, measure all, and compare them with the bound.

    Parameters
    ----------
    day
        A day, or the path of its file.
    schedules
        Schedules by name, or files with one row per task (`.csv`, `.parquet`). A file that cannot be read is
        an entry with a violation, not an error.
    heuristics
        Names of heuristics for days, or `nsga2`; or functions `(day, rng, *, drop_below) -> DaySchedule`. One
        that fails is an entry with the reason.
    seed
        Random seed; each scheduler gets a generator of its own, made from it.
    generations, time_limit
        Limits of `nsga2` in generations and seconds; 60 s if neither is given.
    drop_below
        Schedulers drop a task that would earn less than this; `None` drops none.
    risk
        How to sample times and powers for the risk of valid schedules; `None`: no risk.
    cancel
        Cancels the rest: schedulers that have not begun by then are not run.

    Raises
    ------
    InstanceError
        If there is no such heuristic, `drop_below` is not a utility, or the day has a period, which `nsga2` and
        samples do not support.
    MissingExtraError
        If a package that `nsga2` needs is not installed.
    InvalidScheduleError
        If a valid schedule is above the bound, which is a bug.
    """
    day = Day.given(day)
    if drop_below is not None and not 0.0 <= drop_below < math.inf:
        issue = InputIssue(("drop_below",), repr(drop_below), "a utility: a number from 0 up", "correct it")
        raise InstanceError("", (issue,))
    for is_used, what in ((NSGA2 in heuristics, "NSGA-II"), (risk is not None, "sampling")):
        if is_used:
            require_whole(day.name, day.period, what)
    options = _Options(day, seed, generations, time_limit, drop_below, cancel or CancelToken())
    schedulers = [_scheduler(each) for each in heuristics]
    options.cancel.report("bound")
    front = no_waiting_front(day)
    entries = _external(day, schedules, read_day_schedule, examine)
    for number, (name, kind, function) in enumerate(schedulers):
        options.cancel.report(name, done=number, total=len(schedulers))
        entries += _run(options, name, kind, function, front)
    judged = [_against(front, entry) for entry in entries]
    return DayValidation(
        period=day.period,
        naive_bound=front.highest_utility,
        naive_joules=front.energies[-1],
        least_joules=front.least_joules,
        seed=seed,
        drop_below=drop_below,
        entries=tuple(_sampled(options, entry, risk) for entry in judged),
        provenance=provenance_of(day, NO_SOLVER),
    )


@dataclass(frozen=True, slots=True)
class _Options:
    """Options of all schedulers."""

    day: Day
    seed: int
    generations: int | None
    time_limit: float | None
    drop_below: float | None
    cancel: CancelToken


def _scheduler(each: str | DayHeuristic) -> tuple[str, str, DayHeuristic | None]:
    """Return name and kind of a scheduler, and its function, unless it is the genetic algorithm."""
    if not isinstance(each, str):
        return getattr(each, "__name__", type(each).__name__), "function", each
    if each == NSGA2:
        from lpsched.evolve.nsga2 import require_evolution  # noqa: PLC0415 - loads pymoo and a compiler

        require_evolution()
        return each, "heuristic", None
    return each, "heuristic", heuristic_for_days(each)


def _external(
    instance: Any,  # noqa: ANN401 - a day or clusters, as the next three
    schedules: Mapping[str, Any] | Sequence[Path | str],
    read: Callable[[Any, Path], Any],
    examine: Callable[[Any, Any], Any],
) -> list[ScheduleEntry[Any, Any]]:
    """Return the entries of given schedules; a file that cannot be read is an entry with a violation."""
    if isinstance(schedules, Mapping):
        return [_checked(examine(instance, each), name, "schedule", each) for name, each in schedules.items()]
    entries: list[ScheduleEntry[Any, Any]] = []
    for file in map(Path, schedules):
        try:
            made = read(instance, file)
            entries.append(_checked(examine(instance, made), str(file), "file", made))
        except InstanceError as error:
            entries.append(ScheduleEntry(str(file), "file", None, unreadable(error)))
    return entries


def _checked(found: Any, name: str, kind: str, schedule: Any, seconds: float | None = None) -> ScheduleEntry[Any, Any]:  # noqa: ANN401 - an account, and its schedule
    return ScheduleEntry(name, kind, found.measured, found.violations, schedule, seconds)


def _run(
    options: _Options, name: str, kind: str, function: DayHeuristic | None, front: NoWaitingFront
) -> list[DayEntry]:
    """Run a scheduler, unless the time is up; an exception of it is an entry."""
    if options.cancel.expired():
        return [ScheduleEntry(name, kind, None, (Violation(NOT_RUN, "stopped before"),))]
    if function is None:
        return _evolved(options, front)
    made, seconds = run_on_day(options.day, function, seed=options.seed, drop_below=options.drop_below)
    if isinstance(made, Violation):
        return [ScheduleEntry(name, kind, None, (made,), seconds=seconds)]
    return [_checked(examine(options.day, made), name, kind, made, seconds)]


def _evolved(options: _Options, front: NoWaitingFront) -> list[DayEntry]:
    """Run the genetic algorithm; return the schedules of most utility, and of most utility per joule."""
    from lpsched.evolve.nsga2 import evolve_front, limits, prepare  # noqa: PLC0415 - loads pymoo and a compiler
    from lpsched.online.evolve import DayProblem  # noqa: PLC0415 - likewise

    day, drop_below = options.day, options.drop_below
    prepare(options.cancel, DayProblem.of_one_task())
    began, rng = time.perf_counter(), np.random.default_rng(options.seed)
    limited = options.cancel if options.time_limit is None else options.cancel.part(options.time_limit)
    generations, limited = limits(options.generations, limited)
    try:
        found = evolve_front(
            DayProblem(day, drop_below),
            rng=rng,
            seeds=[heuristic_for_days(name)(day, rng, drop_below=drop_below) for name in SEEDS],
            generations=generations,
            cancel=limited,
            judge=lambda scores: mean_gap(scores, front.most_utility),
        )
    except InstanceError as error:  # too many tasks for it
        failure = Violation(FAILED, "; ".join(map(str, error.issues)))
        return [ScheduleEntry(NSGA2, "heuristic", None, (failure,), seconds=time.perf_counter() - began)]
    joules, utility = np.array(found.points).T
    with np.errstate(divide="ignore", invalid="ignore"):  # without energy: infinite, or nothing at all
        per_joule = np.nan_to_num(utility / joules, nan=0.0, posinf=np.inf)
    aims = {"most utility": np.argmax(utility), "most utility/MJ": np.argmax(per_joule)}
    made = {aim: found.schedule(int(number)) for aim, number in aims.items()}
    took = time.perf_counter() - began
    return [_checked(examine(day, each), f"{NSGA2}, {aim}", "heuristic", each, took) for aim, each in made.items()]


def mean_gap(scores: Floats, bound: Callable[[float], float]) -> float:
    """Return the share of the bound that points (joules, minus utility) do not earn, on average.

    >>> mean_gap(np.array([[1.0, -2.0], [2.0, -6.0]]), lambda joules: 4.0 * joules)
    0.375
    """
    most = np.array([bound(joules) for joules in scores[:, 0].tolist()])
    earned = np.divide(-scores[:, 1], most, out=np.ones_like(most), where=most > 0.0)
    return float(np.mean(1.0 - earned))


def _sampled(options: _Options, entry: DayEntry, risk: RiskOptions | None) -> DayEntry:
    """Add the risk of a valid schedule, if it is wanted."""
    if risk is None or entry.measured is None or entry.schedule is None:
        return entry
    sampled = day_risk(options.day, entry.schedule, entry.measured, risk, options.seed, drop_below=options.drop_below)
    return replace(entry, risk=sampled)


def _against(front: NoWaitingFront, entry: DayEntry) -> DayEntry:
    if entry.measured is None:
        return entry
    bound = front.most_utility(entry.measured.energy_joules)
    if entry.measured.utility > bound:
        earned = f"{entry.name} earns {entry.measured.utility!r} with {entry.measured.energy_joules!r} J"
        raise InvalidScheduleError(f"{earned}, more than the bound of {bound!r}")
    return replace(entry, bound=bound)


def validate_clusters(
    clusters: Clusters | Path | str,
    schedules: Mapping[str, ClustersSchedule] | Sequence[Path | str],
    *,
    time_limit: float | None = None,
    cancel: CancelToken | None = None,
) -> ClustersValidation:
    """Check schedules of clusters, measure them, and compare them with the bound.

    Parameters
    ----------
    clusters
        Clusters, or the path of their file.
    schedules
        Schedules by name, or files with one row per task (`.csv`, `.parquet`). A file that cannot be read is
        an entry with a violation, not an error.
    time_limit
        Seconds that the bound may take; whenever it ends, the bound holds.
    cancel
        Stops the search for the bound.

    Raises
    ------
    MissingExtraError
        If Numba is not installed, which the bound needs.
    InvalidScheduleError
        If a valid schedule is above the bound, which is a bug.
    """
    from lpsched.online.bound.solve import arrival_bound  # noqa: PLC0415 - loads a compiler

    clusters = Clusters.given(clusters)
    entries = _external(clusters, schedules, read_clusters_schedule, verify_clusters.examine)
    found = arrival_bound(clusters, time_limit=time_limit, cancel=cancel)
    for entry in entries:
        if entry.measured is not None and entry.measured.utility > found.bound:
            earned = f"{entry.name} earns {entry.measured.utility!r}"
            raise InvalidScheduleError(f"{earned}, more than the bound of {found.bound!r}")
    return ClustersValidation(
        clusters=clusters.clusters,
        period=clusters.period,
        waiting=clusters.waiting,
        bound=found.bound,
        naive_bound=found.naive,
        bound_seconds=found.seconds,
        entries=tuple(entries),
        provenance=provenance_of(clusters, "prices"),
    )
