"""Balanced answers: a rounded linear program whose loads are evened out, in some milliseconds.

What a rounded program loses, it loses mostly where tasks are placed one by one on machines of a type: where
each runs few, the longest machine works for longer than the others, and everything waits for it. In order,
each starting from the best so far:

    level      tasks change places between machines of a type, at no cost (`bag/recovery/levelling.py`)
    exchange   single tasks change places between machines of all types, until none is longer than the mean
               of the fullest type and a little (`bag/recovery/exchange.py`); then level again

The bound stays as it is, and the value only ever gets better. All work is counted, none is timed: a rerun
gives the same schedule on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.recovery.exchange import OVERLOAD
from lpsched.bag.recovery.levelling import levelled
from lpsched.bag.recovery.plans import ended, plan_of_schedule
from lpsched.bag.recovery.stages import Recovered, best_of, examined_schedule, fits_exchanges, repaired
from lpsched.bag.schedule import task_counts
from lpsched.bag.search.packing_proofs import scoring_of
from lpsched.model.status import relative_gap

if TYPE_CHECKING:
    from lpsched.bag.questions import Question
    from lpsched.bag.schedule import Schedule
    from lpsched.cancellation import Watch

ABOVE: Final = 1.003  # times the mean load of the fullest machine type: what exchanges aim at


def balance(question: Question, found: Recovered, bound: float, gap: float, watch: Watch) -> Recovered:
    """Return a verified schedule that is at least as good as the one given."""
    bag, asked = question.bag, question.objective

    def is_enough() -> bool:
        distance = relative_gap(asked.value(found.measured), bound)
        return watch.is_over() or (distance is not None and distance <= gap)

    if not found.schedule.groups or is_enough():  # no groups: waiting is best
        return found
    level = levelled(bag, found.schedule)
    found = better_ending(question, found, level)
    if is_enough() or not fits_exchanges(bag):
        return found
    exchanged = _exchanged(question, level)
    return found if exchanged is None else better_ending(question, found, levelled(bag, exchanged))


def better_ending(question: Question, found: Recovered, schedule: Schedule) -> Recovered:
    """Return the better of two schedules; the second has yet to be ended and verified."""
    bag, asked = question.bag, question.objective
    counts = task_counts(bag, schedule)
    forced = asked.maximise and bag.site.deadline_seconds is not None
    tried = [
        examined_schedule(bag, ended(bag, counts, schedule, late=late))
        for late in ((False, True) if forced else (False,))
    ]
    return best_of(asked, [found, *(each for each in tried if isinstance(each, Recovered))])


def _exchanged(question: Question, schedule: Schedule) -> Schedule | None:
    """Return the schedule after exchanges between machines of all types; `None` if none is too long."""
    bag, items = question.bag, scoring_of(question).items
    plan = plan_of_schedule(bag, items, schedule)
    means = np.bincount(plan.kinds, weights=plan.loads) / items.machines
    limit = ABOVE * float(means.max())
    if plan.loads.max() <= limit:
        return None
    return repaired(bag, plan, limit, OVERLOAD * items.second_worth(plan.cost, limit))
