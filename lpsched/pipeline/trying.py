"""More effort: better schedules and better bounds than one rounded linear program gives.

In order, each starting from the best so far:

    neighbours    the relaxations of somewhat higher and lower incomes round differently; one may be better
    whole counts  where machines run many tasks, an integer program by machine types (`pipeline/counting.py`)
    patterns      bounds and schedules that know that tasks are whole (`pipeline/tightening.py`)
    single tasks  for the makespan, tasks moved from machine to machine (`recovery/makespan.py`)

Bound and value only ever get better, so the work may end at any time. It is counted, not timed: the same seed
gives the same answer, unless a time limit or a stop signal cuts it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.errors import SolverError
from lpsched.formulations.profit import revenue_of
from lpsched.pipeline.counting import fits_counting, recount
from lpsched.pipeline.recovering import Recovered, best_of, examined_schedule, verified_schedule
from lpsched.pipeline.tightening import fits_patterns, tighten
from lpsched.recovery.makespan import fits_single_tasks, shorten
from lpsched.result.solve import Effort
from lpsched.result.status import relative_gap
from lpsched.search.choosing import is_huge
from lpsched.search.profit_rate import best_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from lpsched.lp.program import Solver
    from lpsched.pipeline.objectives import Objective, Relaxed
    from lpsched.pipeline.questions import Question
    from lpsched.relaxation import Relaxation
    from lpsched.search.makespan_intervals import IntervalSearch
    from lpsched.watch import Watch

TIGHT: Final = 30.0  # seconds of counted work, where no time limit is given
AUTO: Final = 1.0  # likewise, by default
INCOMES: Final = (0.7, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25, 1.5)
RELAXING: Final = 2.5e-5  # seconds of work counted for each pair, whenever a relaxation is solved
COUNTING: Final = 0.5  # of the work, where machines run many tasks
WITH_PATTERNS: Final = 0.6  # of the work, where single tasks can be moved as well
WORTHWHILE: Final = 1e-3  # a gap above this, and above the one asked for


def effort_named(name: str) -> Effort:
    """Return the effort of a name.

    Raises
    ------
    ValueError
        If there is no such effort.
    """
    if name not in {each.value for each in Effort}:
        raise ValueError(f"effort is {name!r}, needs one of {', '.join(Effort)}")
    return Effort(name)


def is_worthwhile(question: Question, distance: float | None, gap: float) -> bool:
    """Tell whether a search is likely to bring value and bound closer; without a value it always is."""
    small = fits_patterns(question.bag) or _moves_single_tasks(question)
    return small and (distance is None or distance > max(gap, WORTHWHILE))


@dataclass(frozen=True, slots=True)
class Tried:
    """A bound and a verified schedule, if there is one; and the search by patterns, if that was made."""

    bound: float
    found: Recovered | None
    search: IntervalSearch | None = None
    is_cut: bool = False  # whether the clock ended a part of the work


def try_harder(  # noqa: PLR0913, PLR0917 - what is known already, and the options of `solve`
    question: Question,
    relaxed: Relaxed,
    bound: float,
    found: Recovered | None,
    solver: Solver,
    watch: Watch,
    gap: float,
    rng: np.random.Generator,
) -> Tried:
    """Return a bound and a verified schedule, both at least as good as those given.

    `watch` says how much work to count.

    Raises
    ------
    InvalidScheduleError
        If a schedule breaks a rule, which is a bug of ours.
    """
    bag, asked = question.bag, question.objective
    for relaxation in _neighbours(question, solver, watch):
        rounded = verified_schedule(bag, relaxation)
        found = _better(asked, found, rounded)
    if found is not None and fits_counting(bag) and not _is_close(question, found, bound, gap):
        with suppress(SolverError):  # what there is will do
            found = recount(question, found, solver, watch.share(COUNTING * watch.work_left()))
    moves, search, is_cut = _moves_single_tasks(question), None, False
    if fits_patterns(bag) and not _is_close(question, found, bound, gap):
        part, seconds = watch.share((WITH_PATTERNS if moves else 1.0) * watch.work_left()), watch.left()
        if moves and seconds is not None:  # on a slow machine, too, single tasks get their turn
            part = part.part(WITH_PATTERNS * seconds)
        bound, found, search = tighten(question, bound, found, solver, part, gap, rng)
        is_cut = part.is_cut()
    if moves and found is not None and not _is_close(question, found, bound, gap):
        shorter = shorten(bag, relaxed.relaxation, found.schedule, watch, rng)
        found = _better(asked, found, examined_schedule(bag, shorter))
    return Tried(bound, found, search, is_cut)


def _better(asked: Objective, found: Recovered | None, other: Recovered | str) -> Recovered | None:
    """Return the better of two schedules, either of which may be missing."""
    if isinstance(other, str):
        return found
    return other if found is None else best_of(asked, [found, other])


def _moves_single_tasks(question: Question) -> bool:
    return question.objective.name == "makespan" and fits_single_tasks(question.bag)


def _is_close(question: Question, found: Recovered | None, bound: float, gap: float) -> bool:
    if found is None:
        return False
    distance = relative_gap(question.objective.value(found.measured), bound)
    return distance is not None and distance <= gap


def _neighbours(question: Question, solver: Solver, watch: Watch) -> Iterator[Relaxation]:
    """Yield the relaxations of other incomes: neighbouring points of the energy/makespan front."""
    bag = question.bag
    if not question.objective.maximise or is_huge(bag) or bag.site.deadline_seconds is not None:
        return
    income = revenue_of(bag) - bag.prices.overhead_per_bag
    for share in INCOMES:
        if watch.is_over():
            return
        watch.count(RELAXING * len(bag.task_types) * len(bag.modes))
        with suppress(SolverError):  # what there is will do
            yield best_rate(bag, solver, income=share * income, watch=watch).relaxation
