"""More effort: better schedules and better bounds than one rounded linear program gives.

In order, each starting from the best so far:

    neighbours    the relaxations of somewhat higher and lower incomes round differently; one may be better
    patterns      bounds and schedules that know that tasks are whole (`pipeline/tightening.py`)
    single tasks  for the makespan, tasks moved from machine to machine (`recovery/makespan.py`)

Bound and value only ever get better, so the work may end at any time.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from lpsched.errors import SolverError
from lpsched.formulations.profit import revenue_of
from lpsched.pipeline.recovering import Recovered, best_of, examined_schedule, verified_schedule
from lpsched.pipeline.tightening import fits_patterns, tighten
from lpsched.recovery.makespan import fits_single_tasks, shorten
from lpsched.result.solve import Effort, relative_gap
from lpsched.search.choosing import is_huge
from lpsched.search.profit_rate import best_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from lpsched.lp.program import Solver
    from lpsched.pipeline.proving import Proved
    from lpsched.pipeline.questions import Question
    from lpsched.relaxation import Relaxation
    from lpsched.watch import Watch

SECONDS: Final = 30.0  # where no time limit is given
INCOMES: Final = (0.7, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25, 1.5)
WITH_PATTERNS: Final = 0.6  # of the time, where single tasks can be moved as well
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
    """Tell whether more effort is likely to bring value and bound closer."""
    small = fits_patterns(question.bag) or _moves_single_tasks(question)
    return distance is not None and distance > max(gap, WORTHWHILE) and small


def try_harder(  # noqa: PLR0913, PLR0917 - what the fast pipeline knows, and the options of `solve`
    question: Question,
    proved: Proved,
    found: Recovered,
    solver: Solver,
    watch: Watch,
    gap: float,
    rng: np.random.Generator,
) -> tuple[float, Recovered]:
    """Return a bound and a verified schedule, both at least as good as those given.

    Raises
    ------
    InvalidScheduleError
        If a schedule breaks a rule, which is a bug of ours.
    """
    bag, asked = question.bag, question.objective
    if proved.relaxed is None:  # better not run, and that is proved
        return proved.bound, found
    watch = watch.part(SECONDS) if watch.left() is None else watch
    bound = proved.bound
    for relaxation in _neighbours(question, solver, watch):
        rounded = verified_schedule(bag, relaxation)
        found = best_of(asked, [found, rounded]) if isinstance(rounded, Recovered) else found
    moves = _moves_single_tasks(question)
    if fits_patterns(bag) and not _is_close(question, found, bound, gap):
        left = watch.left() or 0.0
        part = watch.part(WITH_PATTERNS * left if moves else left)
        bound, found = tighten(question, proved, found, solver, part, gap, rng)
    if moves and not _is_close(question, found, bound, gap):
        shorter = shorten(bag, proved.relaxed.relaxation, found.schedule, watch, rng)
        moved = examined_schedule(bag, shorter)
        found = best_of(asked, [found, moved]) if isinstance(moved, Recovered) else found
    return bound, found


def _moves_single_tasks(question: Question) -> bool:
    return question.objective.name == "makespan" and fits_single_tasks(question.bag)


def _is_close(question: Question, found: Recovered, bound: float, gap: float) -> bool:
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
        with suppress(SolverError):  # what there is will do
            yield best_rate(bag, solver, income=share * income, watch=watch).relaxation
