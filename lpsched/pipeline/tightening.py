"""Tight answers for bags with few tasks a machine: bounds by patterns, schedules by patterns and exchanges.

The fast pipeline splits tasks. With few of them a machine, that leaves a gap: a machine cannot run half a
task. Here the makespans are searched by intervals, best first (`search/makespan_intervals.py`); each time a
narrow interval is the best one left, schedules of its makespan are looked for, and verified like any other.
Both sides only ever get better than what the fast pipeline found, so the work may end at any time.

A power cap is left out of the patterns: without it the bound is still a bound. Schedules have to keep it.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lpsched.certificate.bounds import SECONDS_PER_HOUR, Prover, rounded_down, rounded_up
from lpsched.errors import SolverError
from lpsched.instance.items import Items, items_of
from lpsched.pipeline.objectives import Makespan
from lpsched.pipeline.packing_proofs import packing_prover
from lpsched.search.makespan_intervals import IntervalSearch

if TYPE_CHECKING:
    import numpy as np

    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.pipeline.packing_proofs import PackingProver
    from lpsched.pipeline.proving import Proved
    from lpsched.pipeline.questions import Question
    from lpsched.pipeline.recovering import Recovered
    from lpsched.watch import Watch

MOST_MACHINES: Final = 5_000
MOST_TYPES: Final = 400
MOST_TASKS: Final = 1_000_000


@dataclass(slots=True)
class Tightening:
    """The best bound and the best schedule so far, and the search for better ones."""

    question: Question
    bound: float
    found: Recovered
    solver: Solver
    watch: Watch
    rng: np.random.Generator

    def run(self, gap: float) -> None:
        """Search until bound and value meet, time is up, or nothing more is to be gained."""
        bag = self.question.bag
        prover = packing_prover(bag, self.question.objective.name)
        items = _items(bag, prover)
        low, high = self._least_makespan(prover), bag.site.deadline_seconds or math.inf
        if low >= high:
            return
        search = IntervalSearch(items, prover, self.solver, low, high)
        while True:
            leaf = search.refine(self._score(), gap, self.watch)
            self._take(search.bound)
            if leaf is None:
                return

    def _least_makespan(self, prover: PackingProver) -> float:
        """Return a makespan that no schedule undercuts: the plain one, or that of the longest task."""
        bag = self.question.bag.without_deadline()
        prices = Makespan().relax(bag, self.solver, self.watch).multipliers
        return rounded_down(max(Prover(bag).makespan(prices), prover.longest))

    def _score(self) -> float:
        """Return the score of the best schedule."""
        asked = self.question.objective
        value = asked.value(self.found.measured)
        if asked.maximise:
            return value / SECONDS_PER_HOUR + float(Prover(self.question.bag).standing())
        return -value

    def _take(self, score: Fraction | None) -> None:
        """Take a bound of the score, if it is better than what is known."""
        if score is None:
            return
        bag = self.question.bag
        if self.question.objective.maximise:
            if bag.site.deadline_seconds is None:
                score = max(score, Fraction(0))  # to wait
            rate = SECONDS_PER_HOUR * (score - Prover(bag).standing())
            self.bound = min(self.bound, rounded_up(rate))
        else:
            self.bound = max(self.bound, rounded_down(-score))


def tighten(  # noqa: PLR0913, PLR0917 - what the fast pipeline knows, and the options of `solve`
    question: Question,
    proved: Proved,
    found: Recovered,
    solver: Solver,
    watch: Watch,
    gap: float,
    rng: np.random.Generator,
) -> tuple[float, Recovered]:
    """Return a bound and a verified schedule, both at least as good as those given."""
    if proved.relaxed is None or _is_too_large(question.bag):
        return proved.bound, found
    tightening = Tightening(question, proved.bound, found, solver, watch, rng)
    with suppress(SolverError):  # what there is stays true
        tightening.run(gap)
    return tightening.bound, tightening.found


def _is_too_large(bag: Bag) -> bool:
    return bag.machines > MOST_MACHINES or len(bag.task_types) > MOST_TYPES or bag.tasks > MOST_TASKS


def _items(bag: Bag, prover: PackingProver) -> Items:
    """Return the items in doubles, as the prover counts them."""
    return items_of(
        bag,
        per_joule=float(prover.per_joule),
        wear=prover.wear,
        income=None if prover.income is None else float(prover.income),
        per_second=float(prover.per_second),
    )
