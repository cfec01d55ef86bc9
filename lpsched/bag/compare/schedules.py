"""Schedules of others against the bound."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import Entry, Validation
from lpsched.bag.compare.schedulers import LP, NSGA2, Ran, checked, failed, read_and_checked, run, spelled_out
from lpsched.bag.heuristics import Heuristic, heuristic, names
from lpsched.bag.model import Bag
from lpsched.bag.problem import Question, ask
from lpsched.bag.proving import prove
from lpsched.bag.risk import bag_risk
from lpsched.bag.solve import DEFAULT_GAP, effort_named, find
from lpsched.bag.terms import Terms
from lpsched.bag.verify import Examined, examine
from lpsched.cancellation import Watch
from lpsched.errors import InfeasibleError, InstanceError, InvalidScheduleError, NotFoundError, SolverError
from lpsched.io.rows import NOT_RUN, reason
from lpsched.lp.solvers import default_solver
from lpsched.model.provenance import provenance_of, relative_gap

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from lpsched.bag.result import Effort
    from lpsched.bag.schedule import Schedule, TaskRow
    from lpsched.bag.verify import Measurement
    from lpsched.lp.program import Solver
    from lpsched.model.risk import RiskOptions


# Other schedulers against the bound: run them, check what they wrote, measure it, tell how far off it is.
#
# Names of schedulers: the heuristics of `bag/heuristics.py`; `lp`, which is our own `solve`; `nsga2`,
# the genetic algorithm. Every number in the table is the verifier's, every distance is from the proved bound.
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
    watch: Watch | None = None,
    solver: Solver | None = None,
) -> Validation:
    """Check schedules of a bag, run schedulers, measure all, and tell their distance from the bound.

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
    watch
        A watch over all of it, that others may stop: schedulers that have not begun by then are not run.
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
    >>> from lpsched.bag.model import Bag
    >>> from lpsched.bag.parts import MachineType, TaskType
    >>> from lpsched.model.table import Table
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=3)
    >>> result = validate(Bag("b", (cpu,), (render,), Table.of([[3.0]])), heuristics=["mct"])
    >>> result.bound, result.entries[0].value
    (6.0, 6.0)
    """
    bag = Bag.given(bag)
    solver, watch = solver if solver is not None else default_solver(), watch or Watch()
    tried = effort_named(effort)
    schedulers = [_scheduler(each) for each in spelled_out(bag, heuristics)]
    question = ask(bag, Terms(objective, price, profit_ratio, power_cap, deadline), solver)
    asked = _Asked(question, solver, seed, generations, time_limit, watch)
    watch.tell("bound")
    bound, ours = _solved(asked, tried)
    entries = _brought(asked, schedules)
    for place, each in enumerate(schedulers):
        watch.tell(each.name, done=place, total=len(schedulers))
        entries.append(_of_scheduler(asked, each, ours))
    judged = [_entry(question, each, bound) for each in entries]
    return Validation(
        objective=question.objective.name,
        unit=question.objective.unit(bag),
        bound=bound,
        entries=tuple(_sampled(question, each, risk, seed) for each in judged),
        provenance=provenance_of(bag, solver.name),
        currency=bag.prices.currency,
        seed=seed,
        effort=tried,
    )


@dataclass(frozen=True, slots=True)
class _Scheduler:
    name: str
    kind: str
    function: Heuristic | None  # none: one of those that need more than the bag


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of all schedulers."""

    question: Question
    solver: Solver
    seed: int
    generations: int | None
    time_limit: float | None
    watch: Watch

    @property
    def may_wait(self) -> bool:
        """Whether running nothing is an answer."""
        return self.question.objective.maximise and self.question.bag.site.deadline_seconds is None

    def limited(self) -> Watch:
        """Return a watch over one scheduler."""
        return self.watch if self.time_limit is None else self.watch.part(self.time_limit)


@dataclass(frozen=True, slots=True)
class _Judged:
    name: str
    kind: str
    ran: Ran


def _scheduler(each: str | Heuristic) -> _Scheduler:
    """Find a scheduler before anything is run."""
    if not isinstance(each, str):
        return _Scheduler(getattr(each, "__name__", type(each).__name__), "function", each)
    if each == NSGA2:
        from lpsched.evolve.running import require_evolution  # noqa: PLC0415 - loads pymoo and a compiler

        require_evolution()
    if each in (LP, NSGA2):
        return _Scheduler(each, "heuristic", None)
    return _Scheduler(each, "heuristic", _when_run(each) if each in names() else heuristic(each))


def _when_run(name: str) -> Heuristic:
    """Load a heuristic only when it is run: that it cannot be loaded is then its own fault, and told so."""

    def load_and_run(bag: Bag, rng: np.random.Generator) -> Schedule | Iterable[TaskRow]:
        return heuristic(name)(bag, rng)

    return load_and_run


def _brought(asked: _Asked, schedules: Mapping[str, Schedule] | Sequence[Path | str]) -> list[_Judged]:
    """Check the schedules that were brought."""
    bag, waits = asked.question.bag, asked.may_wait
    if isinstance(schedules, Mapping):
        return [
            _Judged(name, "schedule", Ran(examine(bag, each, may_wait=waits), None, each))
            for name, each in schedules.items()
        ]
    return [_Judged(str(file), "file", read_and_checked(bag, Path(file), may_wait=waits)) for file in schedules]


def _of_scheduler(asked: _Asked, scheduler: _Scheduler, ours: Ran) -> _Judged:
    """Run a scheduler, unless the time is up; ours has run already."""
    if scheduler.function is None and scheduler.name == LP:
        return _Judged(LP, scheduler.kind, ours)
    if asked.watch.is_over():
        return _Judged(scheduler.name, scheduler.kind, failed("stopped before", code=NOT_RUN))
    if scheduler.function is not None:
        ran = run(asked.question.bag, scheduler.function, seed=asked.seed, may_wait=asked.may_wait)
    else:
        ran = _evolved(asked)
    return _Judged(scheduler.name, scheduler.kind, ran)


def _solved(asked: _Asked, effort: Effort) -> tuple[float, Ran]:
    """Return bound and schedule of our own `solve`; where it fails, the bound of the linear program."""
    question, solver, watch = asked.question, asked.solver, asked.limited()
    began = time.perf_counter()
    try:
        best = find(question, solver, gap=DEFAULT_GAP, watch=watch, effort=effort, seed=asked.seed)
    except FAILURES as error:
        took = time.perf_counter() - began
        return prove(question, solver, watch=watch).bound, failed(reason(error), took)
    took = time.perf_counter() - began
    return best.bound, Ran(Examined((), best.found.measured), took, best.found.schedule)


def _evolved(asked: _Asked) -> Ran:
    """Run the genetic algorithm, and take the schedule of its front that is best for what is asked."""
    from lpsched.bag.compare.evolved import evolved_schedules  # noqa: PLC0415 - loads pymoo, a compiler
    from lpsched.bag.evolve import BagProblem  # noqa: PLC0415 - likewise
    from lpsched.evolve.running import prepare  # noqa: PLC0415 - likewise

    bag = asked.question.bag
    prepare(asked.watch, BagProblem.of_one_task())
    began = time.perf_counter()
    try:
        found = evolved_schedules(bag, seed=asked.seed, generations=asked.generations, watch=asked.limited())
    except FAILURES as error:
        return failed(reason(error), time.perf_counter() - began)
    took = time.perf_counter() - began
    judged = [checked(bag, each, took, may_wait=asked.may_wait) for each in found]
    sound = [each for each in judged if each.examined.measured is not None]
    if not sound:
        return judged[0]
    objective = asked.question.objective
    sign = 1.0 if objective.maximise else -1.0
    return max(sound, key=lambda each: sign * objective.value(_measured(each)))


def _sampled(question: Question, entry: Entry, risk: RiskOptions | None, seed: int) -> Entry:
    """Tell how a valid schedule fares if times and powers scatter, where that is asked."""
    if risk is None or entry.measured is None or entry.schedule is None or not entry.schedule.groups:
        return entry
    return replace(entry, risk=bag_risk(question.bag, entry.schedule, entry.measured, risk, seed))


def _measured(ran: Ran) -> Measurement:
    assert ran.examined.measured is not None
    return ran.examined.measured


def _entry(question: Question, judged: _Judged, bound: float) -> Entry:
    """Tell the distance from the bound."""
    name, kind, ran = judged.name, judged.kind, judged.ran
    if ran.examined.measured is None:
        return Entry(name, None, None, None, ran.examined.violations, kind, ran.seconds, ran.schedule)
    value = question.objective.value(ran.examined.measured)
    ahead = value - bound if question.objective.maximise else bound - value
    if ahead > ROUNDING * abs(bound):
        raise InvalidScheduleError(f"{name} reaches {value!r}, better than the bound of {bound!r}")
    gap = relative_gap(value, bound)
    return Entry(name, value, gap, ran.examined.measured, (), kind, ran.seconds, ran.schedule)
