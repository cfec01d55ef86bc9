"""No schedule of a tiny bag is better than what intervals prove, whatever their prices; nor than what is written."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.certificate.claim import check
from lpsched.bag.certificate.patterns import Interval, IntervalProver, LeastMakespan, proved_by
from lpsched.bag.certify import certificate_of
from lpsched.bag.model import Terms
from lpsched.bag.problem import build_problem, prove
from lpsched.bag.search.makespan_intervals import IntervalSearch, scoring_of
from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.lp.solvers import HighsSolver
from lpsched.model.fields import FrozenDict
from tests.property.tiny import Case, Ledger, cases

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.problem import Problem, Proved
    from lpsched.bag.search.makespan_intervals import Leaf

OBJECTIVES = ("makespan", "energy", "profit")
SHARES = st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0, 2.0, 50.0]) | st.floats(0.0, 3.0)


def is_true(case: Case, objective: str, proved: Fraction) -> bool:
    """Tell whether no way is better than a bound."""
    best = case.best(objective)
    if best is None:
        return True
    return proved >= 3600 * best if objective == "profit" else proved <= best


@st.composite
def priced(draw, case: Case, objective: str) -> tuple[LeastMakespan | None, list[Interval]]:
    """Draw intervals that cut between the makespans of ways, with prices of the size of what tasks cost."""
    bag, ledger = case.bag, Ledger(case.bag)
    loads = sorted({way.load for way in case.ways})
    near = st.sampled_from(loads).flatmap(
        lambda load: st.sampled_from([load, load * (1 - Fraction(1, 10**6)), load * Fraction(11, 10), load / 2])
    )
    cuts = sorted({cut for cut in draw(st.lists(near, max_size=3)) if cut > 0})
    least = None
    if draw(st.booleans()):
        types = draw(st.lists(st.sampled_from([t.name for t in bag.task_types]), min_size=1, unique=True))
        least = LeastMakespan(draw(near), tuple(types))
    size = {"makespan": Fraction(1), "energy": max(abs(way.joules) for way in case.ways)}.get(
        objective, abs(ledger.income) + max(abs(ledger.left(way)) for way in case.ways)
    )
    size = size or Fraction(1)
    intervals, start = [], Fraction(0) if least is None else least.seconds / draw(st.sampled_from([1, 2]))
    for end in [*(cut for cut in cuts if cut > start), None]:
        deadline = ledger.deadline
        packed = (end is not None or deadline is not None) and draw(st.booleans())
        tasks = {task.name: size * Fraction(draw(SHARES) - 0.05) for task in bag.task_types}
        machines = {m.name: size / max(loads) * Fraction(draw(SHARES)) for m in bag.machine_types}
        capped = ledger.headroom is not None and bag.watts is not None
        joules = max(abs(way.joules) for way in case.ways) or Fraction(1)
        cap = size / joules * Fraction(draw(SHARES)) if capped else Fraction(0)
        cells = draw(st.sampled_from([1, 7, 100, 10**6])) if packed else 0
        prices = FrozenDict(tasks) if packed else None
        intervals.append(Interval(start, end, prices, FrozenDict(machines), cap, cells))
        start = end
    return least, intervals


def scores_within(case: Case, prover: IntervalProver, interval: Interval) -> list[Fraction]:
    """Return the scores of all ways, ended at the earliest and the latest makespan that the interval allows.

    Where nothing is gained by waiting, only ways that do not wait are asked for.
    """
    ledger, found = Ledger(case.bag), []
    for way in case.ways:
        ends = ledger.ends(way)
        if ends is None:
            continue
        lasts = [each for each in (ends[1], interval.end) if each is not None]
        first, last = max(ends[0], interval.start), min(lasts, default=None)
        if last is not None and first > last:
            continue
        if prover.unit is not None:
            times = [first] if first == ends[0] else []
        else:
            times = [first] if last is None else [first, last]
        for t in times:
            joules = way.joules + ledger.idle * t
            found.append({"makespan": -t, "energy": -joules}.get(prover.objective, ledger.left(way) / t))
    return found


def check_each_interval(case: Case, prover: IntervalProver, intervals: list[Interval]) -> None:
    """Check what each interval says of the ways that end in it."""
    for interval in intervals:
        deadline = prover.known.deadline
        ends = [each for each in (interval.end, deadline) if each is not None]
        within = replace(interval, end=min(ends, default=None))
        if within.end is not None and within.start > within.end:
            continue
        scores = scores_within(case, prover, within)
        line = prover.line(within, within.end)
        try:
            most = None if line is None else prover.score(line, within.start, within.end)
        except ZeroDivisionError:
            continue
        if most is None:
            assert not scores
        else:
            assert all(score <= most for score in scores)


def check_any_prices(data) -> None:
    case = data.draw(cases())
    objective = data.draw(st.sampled_from(OBJECTIVES if case.bag.watts is not None else ("makespan", "profit")))
    least, intervals = data.draw(priced(case, objective))
    prover = IntervalProver(case.bag, objective)
    check_each_interval(case, prover, intervals)
    proved = proved_by(prover, least, intervals)
    if isinstance(proved, Fraction):
        assert is_true(case, objective, proved)
    if least is not None and "shorter than" not in str(proved):
        ends = [Ledger(case.bag).ends(way) for way in case.ways]
        assert all(end is None or end[0] >= least.seconds for end in ends)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_no_way_is_better_than_what_intervals_prove(data):
    check_any_prices(data)


def searched(case: Case, objective: str, steps: int) -> tuple[Problem, Proved, IntervalSearch] | None:
    """Return what a search has found after some steps; `None` if there is nothing to search."""
    solver = HighsSolver()
    try:
        question = build_problem(case.bag, Terms(objective=objective), solver)
        proved = prove(question, solver)
    except (InfeasibleError, NotFoundError):
        return None
    scoring, high = scoring_of(question), case.bag.site.deadline_seconds or math.inf
    low = float(max(min(each.seconds for each in row) for row in scoring.prover.tasks))
    if proved.relaxed is None or low >= high:
        return None
    search = IntervalSearch(scoring.items, scoring.prover, solver, low, high, cells=500)
    for _ in range(steps):
        if search.refine(-math.inf, 0.0, CancelToken(0.5)) is None:
            break
    return question, proved, search


def as_interval(bag: Bag, leaf: Leaf, cells: int) -> Interval:
    """Return the makespans of a leaf with its prices, of tasks too where it has an end."""
    prices = leaf.proof.prices
    v = {task.name: Fraction(each) for task, each in zip(bag.task_types, prices.tasks.tolist(), strict=True)}
    machines = zip(bag.machine_types, map(Fraction, prices.machines.tolist()), strict=True)
    omega = FrozenDict({machine.name: each for machine, each in machines})
    if math.isinf(leaf.end):
        return Interval(Fraction(leaf.start), None, None, omega)
    return Interval(Fraction(leaf.start), Fraction(leaf.end), FrozenDict(v), omega, cells=cells)


def check_written(case: Case, objective: str, steps: int, cells: int) -> None:
    found = searched(case, objective, steps)
    if found is None:
        return
    question, proved, search = found
    prover = IntervalProver(case.bag, objective)
    leaves = search.all_leaves()
    check_each_interval(case, prover, [as_interval(case.bag, leaf, cells) for leaf in leaves])
    if search.bound is None or case.best(objective) is None:  # whole tasks may miss a deadline that others keep
        return
    profit, score = objective == "profit", scoring_of(question).to_bound(search.bound)
    bound = min(proved.bound, score) if profit else max(proved.bound, score)
    made = certificate_of(question, proved, leaves, bound, search.solver)
    verdict = check(case.bag, made)
    assert verdict.accepted, verdict.reasons
    assert is_true(case, objective, verdict.proved)
    assert made.bound <= bound if profit else made.bound >= bound  # nothing of it is lost
    more = certificate_of(question, proved, leaves, bound - abs(bound) if profit else 1.1 * bound, search.solver)
    assert check(case.bag, more).accepted  # of what it proves, where that is less than what was asked for
    assert more.bound <= bound if profit else more.bound >= bound
    tighter = replace(made, bound=verdict.proved + (-1 if profit else 1) * Fraction(1, 10**9))
    assert not check(case.bag, tighter).accepted


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_what_is_written_proves_the_bound_of_the_search_and_is_true(data):
    case = data.draw(cases())
    objective = data.draw(st.sampled_from(OBJECTIVES if case.bag.watts is not None else ("makespan", "profit")))
    check_written(case, objective, data.draw(st.integers(0, 3)), data.draw(st.sampled_from([7, 100, 10**6])))
