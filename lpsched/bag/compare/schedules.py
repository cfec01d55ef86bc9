"""Schedules of others against the bound: schedulers run or read, checked, measured, with their gaps."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from lpsched.bag.compare.result import Entry, Validation
from lpsched.bag.files import SUFFIXES as ROWS
from lpsched.bag.files import read_rows, read_schedule
from lpsched.bag.heuristics import Heuristic, heuristic, min_energy, min_min, names
from lpsched.bag.model import Bag, Terms
from lpsched.bag.problem import Problem, build_problem, prove
from lpsched.bag.recovery.plans import ended
from lpsched.bag.risk import bag_risk
from lpsched.bag.schedule import MachineGroup, Run, Schedule, TaskRow
from lpsched.bag.solve import DEFAULT_GAP, effort_named, find
from lpsched.bag.verify import Examined, examine, gather
from lpsched.cancellation import CancelToken
from lpsched.errors import (
    InfeasibleError,
    InstanceError,
    InvalidScheduleError,
    MissingExtraError,
    NotFoundError,
    SolverError,
)
from lpsched.io.rows import FAILED, NOT_RUN, plain_words, reason, unreadable
from lpsched.lp.solvers import default_solver
from lpsched.model.provenance import provenance_of, relative_gap
from lpsched.model.violation import Violation

if TYPE_CHECKING:
    from lpsched.bag.result import Effort
    from lpsched.lp.program import Solver
    from lpsched.model.risk import RiskOptions


# Running other people's schedulers: whatever they hand back is checked, whatever they raise is written down.
#
# A heuristic may hand back a compact schedule, or single tasks with or without starts. It is a stranger: its
# numbers are made plain first, the verifier judges the rest, and an exception of its is an entry like any
# other.
#
# Waiting is free for any mapping: where one draws more than the average-power cap allows, it stays on idle
# until it no longer does, as our own schedules do (`bag/recovery/plans.py`).
CAPPED: Final = {"over-power-cap"}
Converted = TypeVar("Converted")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a scheduler handed back, checked; and how long it took."""

    examined: Examined
    seconds: float | None
    schedule: Schedule | None = None


def run(bag: Bag, scheduler: Heuristic, *, seed: int, may_wait: bool) -> Ran:
    """Run a scheduler, with a generator of its own, and check what it hands back."""
    began = time.perf_counter()
    try:
        given = _plain(scheduler(bag, np.random.default_rng(seed)), bag.tasks)
    except Exception as error:  # noqa: BLE001 - a user's scheduler may raise anything
        return failed(reason(error), time.perf_counter() - began)
    return checked(bag, given, time.perf_counter() - began, may_wait=may_wait)


def failed(sentence: str, seconds: float | None = None, code: str = FAILED) -> Ran:
    """Return what there is of a scheduler that has no schedule."""
    return Ran(Examined((Violation(code, plain_words(sentence)),), None), seconds)


def checked(bag: Bag, given: Schedule | list[TaskRow], seconds: float, *, may_wait: bool) -> Ran:
    """Check a schedule; one that draws too much waits, where waiting helps."""
    ran = _examined(bag, given, seconds, may_wait=may_wait)
    schedule = ran.schedule
    if schedule is not None and {each.code for each in ran.examined.violations} == CAPPED:
        later = ended(bag, schedule, late=False)  # the earliest end that the cap allows
        again = examine(bag, later)
        if not again.violations and (later.makespan_seconds or 0.0) >= (schedule.makespan_seconds or 0.0):
            return Ran(again, seconds, later)
    return ran


def _examined(bag: Bag, given: Schedule | Iterable[TaskRow], seconds: float | None, *, may_wait: bool) -> Ran:
    """Check a schedule as it is; rows are put together first."""
    if not isinstance(given, Schedule):
        gathered = gather(bag, given)
        if gathered.violations:
            return Ran(Examined(gathered.violations, None), seconds)
        given = gathered.schedule
    return Ran(examine(bag, given, may_wait=may_wait), seconds, given)


def _plain(found: object, tasks: int) -> Schedule | list[TaskRow]:
    """Return what was handed back with Python's own numbers (NumPy's overflow); no more rows than needed."""
    if isinstance(found, Schedule):
        groups = tuple(
            MachineGroup(
                _text(each.machine_type),
                operator.index(each.machines),
                tuple(
                    Run(_text(run.task_type), operator.index(run.count), _or_none(_text, run.p_state))
                    for run in each.runs
                ),
            )
            for each in found.groups
        )
        return Schedule(groups, _or_none(float, found.makespan_seconds))
    if not isinstance(found, Iterable):
        raise TypeError(f"it handed back {type(found).__name__}, where a Schedule or TaskRows are needed")
    return [_row(each) for each in islice(found, tasks + 1)]


def _row(row: object) -> TaskRow:
    if not isinstance(row, TaskRow):
        raise TypeError(f"it handed back {type(row).__name__} where a TaskRow is needed")
    names = _text(row.task_type), _text(row.machine_type)
    return TaskRow(
        *names, operator.index(row.machine), _or_none(_text, row.p_state), _or_none(float, row.start_seconds)
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"it handed back {type(value).__name__} where a name is needed")
    return str(value)


def _or_none(convert: Callable[[Any], Converted], value: object) -> Converted | None:
    return None if value is None else convert(value)


# The names of schedulers of a bag: heuristics, `lp`, `nsga2`; and `all` of those that can run.
ALL, LP, NSGA2 = "all", "lp", "nsga2"
COUNT_JOULES: Final = ("min-energy", NSGA2)


@dataclass(frozen=True, slots=True)
class Everything:
    """All schedulers that can run, and why others were left out."""

    names: tuple[str, ...]
    left_out: tuple[str, ...]


def everything(bag: Bag) -> Everything:
    """Return the names that `all` stands for."""
    from lpsched.evolve.nsga2 import require_evolution  # noqa: PLC0415 - loads pymoo and a compiler

    found, left_out = (LP, *names(), NSGA2), []
    try:
        require_evolution()
    except MissingExtraError as error:
        found, left_out = found[:-1], [str(error)]
    if bag.watts is None:
        lacking = [name for name in COUNT_JOULES if name in found]
        found = tuple(name for name in found if name not in lacking)
        left_out.append(f"no joules without watts, so no {' and no '.join(lacking)}")
    return Everything(found, tuple(left_out))


def spelled_out(bag: Bag, given: Sequence[str | Heuristic]) -> list[str | Heuristic]:
    """Return the schedulers asked for, with `all` written out and no name twice."""
    asked: list[str | Heuristic] = []
    for each in given:
        if not isinstance(each, str):
            asked.append(each)
            continue
        asked += [name for name in (everything(bag).names if each == ALL else (each,)) if name not in asked]
    return asked


def read_and_checked(bag: Bag, path: Path, *, may_wait: bool = False) -> Ran:
    """Return the schedule in a file, checked; one that cannot be read breaks the first rule of all."""
    try:
        given = read_rows(path) if path.suffix.lower() in ROWS else read_schedule(path)
        return _examined(bag, given, None, may_wait=may_wait)  # rows are read here
    except InstanceError as error:
        return Ran(Examined(unreadable(error), None), None)


# Comparison of schedulers with the bound: run, verify, measure, and compute the gap.
#
# Names of schedulers: the heuristics of `bag/heuristics.py`; `lp`, which is our own `solve`; `nsga2`, the genetic
# algorithm, seeded with what min-min and min-energy find (Friese, thesis of 2015, section 6.5.1.2). Without a limit it
# runs 1,000 generations, or a minute if they take longer: the same seed then gives the same answer wherever a minute
# is enough. Every number in the table is the verifier's, every distance is from the proved bound.
FAILURES: Final = (InfeasibleError, InstanceError, NotFoundError, SolverError)
ROUNDING: Final = 1e-9


def validate(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    schedules: Mapping[str, Schedule] | Sequence[Path | str] = (),
    *,
    heuristics: Sequence[str | Heuristic] = (),
    objective: str | None = None,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    effort: str = "auto",
    seed: int = 0,
    generations: int | None = None,
    time_limit: float | None = None,
    risk: RiskOptions | None = None,
    cancel: CancelToken | None = None,
    solver: Solver | None = None,
) -> Validation:
    """Check schedules of a bag, run schedulers, measure all, and compute their gaps.

    Parameters
    ----------
    bag
        A bag, or the path of its file.
    schedules
        Schedules by name, or files: compact (`.json`, `.yaml`) or one row per task (`.csv`, `.parquet`).
        A file that cannot be read is an entry with a violation, not an error.
    heuristics
        Names of registered heuristics, `lp`, `nsga2`, or `all`; or functions from a bag and a random
        generator to a schedule. One that fails is an entry with the reason. Where the site has an
        average-power cap, their schedules may wait for it.
    seed
        Of what is left to chance: each scheduler gets a generator of its own, made from it.
    generations
        How many `nsga2` may take.
    effort
        How hard to try for the bound, and for the schedule of `lp`: both are what `solve` finds with the same
        effort and seed. Where it finds no schedule, the bound is that of the linear program.
    time_limit
        Seconds of the bound, with which `lp` is found as well, and of `nsga2`, each.
    risk
        What to sample, if it is asked how valid schedules fare when times and powers scatter; all get the
        same luck where they have something in common.
    cancel
        A token over all of it, that others may stop: schedulers that have not begun by then are not run.
    objective, price, profit_ratio, power_cap, deadline, solver
        As in `solve`.

    Raises
    ------
    ValueError, InstanceError, InfeasibleError, SolverError
        As `solve` does; also if there is no such heuristic.
    MissingExtraError
        If a package that `nsga2` needs is not installed.
    InvalidScheduleError
        If a valid schedule is better than the bound, which is a bug of ours.

    Examples
    --------
    >>> from lpsched import Bag, MachineType, Table, TaskType
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=3)
    >>> result = validate(Bag("b", (cpu,), (render,), Table.of([[3.0]])), heuristics=["mct"])
    >>> result.bound, result.entries[0].value
    (6.0, 6.0)
    """
    bag = Bag.given(bag)
    solver, cancel = solver if solver is not None else default_solver(), cancel or CancelToken()
    tried = effort_named(effort)
    schedulers = [_scheduler(each) for each in spelled_out(bag, heuristics)]
    question = build_problem(bag, Terms(objective, price, profit_ratio, power_cap, deadline), solver)
    asked = _Asked(question, solver, seed, generations, time_limit, cancel)
    cancel.report("bound")
    bound, ours = _solved(asked, tried)
    entries = [_entry(question, *each, bound) for each in _brought(asked, schedules)]
    for place, (name, kind, function) in enumerate(schedulers):
        cancel.report(name, done=place, total=len(schedulers))
        entries.append(_entry(question, name, kind, _ran(asked, name, function, ours), bound))
    return Validation(
        objective=question.objective.name,
        unit=question.objective.unit(bag),
        bound=bound,
        entries=tuple(_sampled(question, each, risk, seed) for each in entries),
        provenance=provenance_of(bag, solver.name),
        currency=bag.prices.currency,
        seed=seed,
        effort=tried,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of all schedulers."""

    question: Problem
    solver: Solver
    seed: int
    generations: int | None
    time_limit: float | None
    cancel: CancelToken

    @property
    def may_wait(self) -> bool:
        """Whether running nothing is an answer."""
        return self.question.objective.maximise and self.question.bag.site.deadline_seconds is None

    def limited(self) -> CancelToken:
        """Return a token over one scheduler."""
        return self.cancel if self.time_limit is None else self.cancel.part(self.time_limit)


def _scheduler(each: str | Heuristic) -> tuple[str, str, Heuristic | None]:
    """Find a scheduler before anything is run: name, kind, and function, unless it needs more than the bag."""
    if not isinstance(each, str):
        return getattr(each, "__name__", type(each).__name__), "function", each
    if each == NSGA2:
        from lpsched.evolve.nsga2 import require_evolution  # noqa: PLC0415 - loads pymoo and a compiler

        require_evolution()
    if each in (LP, NSGA2):
        return each, "heuristic", None
    # Loaded only when it is run: a missing package is then reported as the failure of this scheduler.
    return each, "heuristic", partial(_loaded, each) if each in names() else heuristic(each)


def _loaded(name: str, bag: Bag, rng: np.random.Generator) -> Schedule | Iterable[TaskRow]:
    return heuristic(name)(bag, rng)


def _brought(asked: _Asked, schedules: Mapping[str, Schedule] | Sequence[Path | str]) -> Iterator[tuple[str, str, Ran]]:
    """Yield the schedules that were brought, checked: name, kind, and what is found."""
    bag, waits = asked.question.bag, asked.may_wait
    if isinstance(schedules, Mapping):
        for name, each in schedules.items():
            yield name, "schedule", Ran(examine(bag, each, may_wait=waits), None, each)
    else:
        for file in schedules:
            yield str(file), "file", read_and_checked(bag, Path(file), may_wait=waits)


def _ran(asked: _Asked, name: str, function: Heuristic | None, ours: Ran) -> Ran:
    """Run a scheduler, unless the time is up; ours has run already."""
    if function is None and name == LP:
        return ours
    if asked.cancel.expired():
        return failed("stopped before", code=NOT_RUN)
    if function is None:
        return _evolved(asked)
    return run(asked.question.bag, function, seed=asked.seed, may_wait=asked.may_wait)


def _solved(asked: _Asked, effort: Effort) -> tuple[float, Ran]:
    """Return bound and schedule of our own `solve`; where it fails, the bound of the linear program."""
    question, solver, cancel = asked.question, asked.solver, asked.limited()
    began = time.perf_counter()
    try:
        best = find(question, solver, gap=DEFAULT_GAP, cancel=cancel, effort=effort, seed=asked.seed)
    except FAILURES as error:
        took = time.perf_counter() - began
        return prove(question, solver, cancel=cancel).bound, failed(reason(error), took)
    took = time.perf_counter() - began
    return best.bound, Ran(Examined((), best.found.measured), took, best.found.schedule)


def _evolved(asked: _Asked) -> Ran:
    """Run the genetic algorithm, and take the schedule of its front that is best for what is asked."""
    from lpsched.bag.evolve import BagProblem  # noqa: PLC0415 - loads pymoo and a compiler
    from lpsched.evolve.nsga2 import evolve_front, limits, prepare  # noqa: PLC0415 - likewise

    bag, rng = asked.question.bag, np.random.default_rng(asked.seed)
    prepare(asked.cancel, BagProblem.of_one_task())
    began = time.perf_counter()
    try:
        generations, cancel = limits(asked.generations, asked.limited())
        seeds = () if bag.watts is None else (min_min(bag, rng), min_energy(bag, rng))
        front = evolve_front(BagProblem(bag), rng=rng, seeds=seeds, generations=generations, cancel=cancel)
        found = list(front.schedules())
    except FAILURES as error:
        return failed(reason(error), time.perf_counter() - began)
    took = time.perf_counter() - began
    judged = [checked(bag, each, took, may_wait=asked.may_wait) for each in found]
    objective = asked.question.objective
    sign = 1.0 if objective.maximise else -1.0
    measured = ((each, each.examined.measured) for each in judged)
    sound = [(sign * objective.value(found), each) for each, found in measured if found is not None]
    return max(sound, key=lambda pair: pair[0])[1] if sound else judged[0]


def _sampled(question: Problem, entry: Entry, risk: RiskOptions | None, seed: int) -> Entry:
    """Return an entry with the risk of its schedule, where that is requested and the schedule is valid."""
    if risk is None or entry.measured is None or entry.schedule is None or not entry.schedule.groups:
        return entry
    return replace(entry, risk=bag_risk(question.bag, entry.schedule, entry.measured, risk, seed))


def _entry(question: Problem, name: str, kind: str, ran: Ran, bound: float) -> Entry:
    """Return an entry with its gap."""
    if ran.examined.measured is None:
        return Entry(name, None, None, None, ran.examined.violations, kind, ran.seconds, ran.schedule)
    value = question.objective.value(ran.examined.measured)
    ahead = value - bound if question.objective.maximise else bound - value
    if ahead > ROUNDING * abs(bound):
        raise InvalidScheduleError(f"{name} reaches {value!r}, better than the bound of {bound!r}")
    gap = relative_gap(value, bound)
    return Entry(name, value, gap, ran.examined.measured, (), kind, ran.seconds, ran.schedule)
