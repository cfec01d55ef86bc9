"""Bounds by whole tasks, on paper; and certificates with one rule broken each, refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpsched.auditing import audit
from lpsched.bag import certify
from lpsched.bag.certificate import patterns
from lpsched.bag.certificate.claim import Certificate, check
from lpsched.bag.certificate.knapsacks import Item
from lpsched.bag.certificate.patterns import Interval, IntervalProver, LeastMakespan
from lpsched.bag.files import certificate_as_dict, certificate_of, read_bag
from lpsched.bag.model import Terms
from lpsched.bag.packing import Prices as PackingPrices
from lpsched.bag.parts import Prices, Site
from lpsched.bag.problem import build_problem, prove
from lpsched.bag.search.makespan_intervals import Leaf, Proof
from lpsched.errors import InstanceError
from lpsched.io.documents import Document
from lpsched.lp.solvers import HighsSolver
from lpsched.model.answers import checksum
from lpsched.model.fields import FrozenDict
from tests.support import simple_bag

HOUR = Fraction(3600)
FREE = FrozenDict({"m0": Fraction(0)})

# Three tasks of an hour on two machines of 10 W idle and 100 W busy; 60 USD a bag, 0.20 USD a kWh.
THREE = simple_bag([[3600.0]], [3], [2], watts=[[100.0]], idle=[10.0]).model_copy(
    update={"prices": Prices(per_bag=60.0, electricity_per_kwh=0.2)}
)


def certificate(bag, objective, bound, least=None, intervals=None, *, terms=None):
    """Return a certificate whose multipliers prove next to nothing."""
    unit = {"makespan": "seconds", "energy": "joules"}.get(objective, "USD/hour")
    nothing = FrozenDict({machine.name: Fraction(0) for machine in bag.machine_types})
    return Certificate(
        instance_name=bag.name,
        instance_hash=bag.content_hash,
        objective=objective,
        unit=unit,
        bound=Fraction(bound),
        terms=terms or Terms(),
        machine_prices=nothing,
        cap_price=Fraction(0),
        least_makespan=least,
        intervals=None if intervals is None else tuple(intervals),
    )


def whole(start, end, price=60, cells=1000):
    """Return an interval in which a task is worth so much, and a machine's time nothing."""
    return Interval(Fraction(start), Fraction(end), FrozenDict({"t0": Fraction(price)}), FREE, cells=cells)


def plain(start, end=None, price=0):
    ends = None if end is None else Fraction(end)
    return Interval(Fraction(start), ends, None, FrozenDict({"m0": Fraction(price)}))


def test_three_long_tasks_on_two_machines_take_as_long_as_two():
    # Tasks of 2 s, 2 s, 2 s and 0.5 s: split, they take 6.5 / 2 = 3.25 s, in steps of 0.5 s at least 3.5 s. But a
    # machine that works for 3.75 s or less runs one long task at most. At 1 for a long task and 0 for the
    # short one, phi = 1 and A = 3 - 2 x 1 = 1 > 0 = t B: no schedule is as short. From there on it is 4 s.
    bag = simple_bag([[2.0], [0.5]], [3, 1], [2])
    long_ones = FrozenDict({"t0": Fraction(1), "t1": Fraction(0)})
    first = Interval(Fraction(0), Fraction("3.75"), long_ones, FREE, cells=7)
    verdict = check(bag, certificate(bag, "makespan", 4, intervals=[first, plain("3.75")]))
    assert verdict.accepted
    assert verdict.proved == 4
    without = check(bag, certificate(bag, "makespan", 4, intervals=[plain(0, price=1)]))
    assert (without.accepted, without.proved) == (False, Fraction(7, 2))


def test_two_machines_that_are_full_only_if_tasks_are_split():
    # Tasks of 3 s, 3 s and 2 s fill two machines for 4 s, each second worth 1: A = 8 - 2 x 4 = 0. But a machine runs
    # one of them in 4 s, worth 3 at most: A = 8 - 2 x 3 > 0, until 5 s. With the 5 s in the interval, 3 + 2 fit.
    bag = simple_bag([[3.0], [2.0]], [2, 1], [2])
    worth = FrozenDict({"t0": Fraction(3), "t1": Fraction(2)})
    for end, proved in (("4.5", 5), (4, 4), (5, 0)):
        first = Interval(Fraction(0), Fraction(end), worth, FREE, cells=10)
        verdict = check(bag, certificate(bag, "makespan", proved, intervals=[first, plain(end)]))
        assert verdict.accepted
        assert verdict.proved == proved
        assert not check(bag, certificate(bag, "makespan", proved + 1, intervals=[first, plain(end)])).accepted


def test_two_leaves_become_a_certificate_of_two_intervals(monkeypatch):
    # The same tasks: one leaf by prices of tasks until 4 s, a plain one from there on; each knapsack once here, once in
    # the check of what is written.
    bag, solver, ends = simple_bag([[3.0], [2.0]], [2, 1], [2]), HighsSolver(), []
    problem = build_problem(bag, Terms(objective="makespan"), solver)
    line = (Fraction(2), Fraction(0))
    packed = Proof(PackingPrices(np.array([3.0, 2.0]), np.zeros(1)), 0.0, 4.0, line, 10**6)
    rest = Proof(PackingPrices(np.zeros(2), np.ones(1)), 4.0, math.inf, line)
    leaves = [Leaf(0.0, 4.0, None, 2, packed), Leaf(4.0, math.inf, Fraction(-5), 0, rest)]
    phi = IntervalProver._phi  # noqa: SLF001 - to be counted

    def counted(self, *given):
        ends.append(given[2])  # the last unit of time
        return phi(self, *given)

    monkeypatch.setattr(IntervalProver, "_phi", counted)
    made = certify.certificate_of(problem, prove(problem, solver), leaves, 5.0, solver)
    assert ends == [4, 4]
    assert made.bound == 5
    assert made.intervals is not None
    first, last = made.intervals
    assert (first.end, last.end) == (last.start, None)
    assert 4 < last.start < 5
    assert check(bag, made).accepted
    assert not check(bag, replace(made, bound=Fraction(5) + Fraction(1, 10**9))).accepted
    later = (replace(first, end=Fraction(5)), replace(last, start=Fraction(5)))  # 3 s and 2 s fit in 5 s
    for wrong in ((last,), (replace(first, cells=1), last), later):
        assert not check(bag, replace(made, intervals=wrong)).accepted


@pytest.mark.parametrize(("objective", "price"), [("energy", 0), ("makespan", 1)])
def test_where_more_is_better_knapsacks_are_exact(objective, price):
    # Four tasks of 3 s and one of 2 s, at 100 more each than they cost (their joules, or their seconds). A machine runs
    # one of them in 4 s: A = 14 + 500 - 2 x 100. That A > 0 is known before: in 4 s, 5 / 3 of a task are worth 167.
    watts = [[1.0], [1.0]] if objective == "energy" else None
    bag, worth = simple_bag([[3.0], [2.0]], [4, 1], [2], watts), {"t0": Fraction(103), "t1": Fraction(102)}
    priced = FrozenDict({"m0": Fraction(price)})
    interval = Interval(Fraction(0), Fraction(4), FrozenDict(worth), priced, cells=4)
    line = IntervalProver(bag, objective).line(interval, interval.end)
    assert (line.a, line.b) == (314, 2 * price)


def test_the_energy_of_three_tasks_on_two_machines():
    # Three tasks take 3 x 90 Wh above idle. In less than 2 h two machines do not run three of them: a task is
    # worth 10^9 J, phi is that less 90 Wh, and A = 10^9 J + 180 Wh. From 2 h on, 20 W are idle: 310 Wh.
    intervals = [whole(0, 2 * HOUR - 1, 10**9), plain(2 * HOUR - 1)]
    verdict = check(THREE, certificate(THREE, "energy", 310 * 3600, intervals=intervals))
    assert verdict.accepted
    assert verdict.proved == 310 * 3600


def test_energy_comes_in_units():
    # d = 7 J and 11 J, no idle power, times of 1 s: energy is a whole number of joules. At 0.5 J for a second, until
    # 3.2 s: A = 2 x 7.5 + 11.5 = 26.5 J, less 0.5 J for each of at most 3 whole seconds: 25 J.
    bag = simple_bag([[1.0], [1.0]], [2, 1], [1], watts=[[7.0], [11.0]]).model_copy(
        update={"site": Site(deadline_seconds=3.2)}
    )
    priced = [plain(0, price="0.5")]
    assert check(bag, certificate(bag, "energy", 25, intervals=priced)).proved == 25
    # Prices that prove only 24.4 J prove 25 J.
    assert IntervalProver(bag, "energy").to_bound(Fraction("-24.4")) == 25
    # With 2 W idle and times of 0.5 s, I u = 1 J and d = 2.5 J and 4.5 J: halves of a joule.
    idle = simple_bag([[0.5], [0.5]], [2, 1], [1], watts=[[7.0], [11.0]], idle=[2.0])
    assert IntervalProver(idle, "energy").joules == Fraction(1, 2)


def test_the_profit_of_three_tasks_on_two_machines():
    # A task costs 0.2 x 0.09 = 0.018 USD. In less than 2 h, at 60 USD a task, phi = 60 - 0.018 and A = 60 + 2 x
    # 0.018 > 60: a loss. From 2 h on (60 - 3 x 0.018) / 2 h, less 0.2 x 0.02 USD an hour idle: 29.969 USD/hour.
    least = LeastMakespan(HOUR, ("t0",))
    two = 2 * HOUR - Fraction(1, 1024)
    intervals = [whole(HOUR, two), plain(two, 4 * HOUR)]
    best = (60 - 3 * Fraction("0.018")) / 2 - Fraction("0.004")
    within = Terms(deadline_seconds=4 * 3600.0)
    verdict = check(THREE, certificate(THREE, "profit", best, least, intervals, terms=within))
    assert float(verdict.proved) == pytest.approx(float(best), rel=1e-6)  # of the second that is missing to 2 h
    # Without a deadline a schedule that earns need not wait, so it ends after whole hours: just that.
    free = [whole(HOUR, two), plain(two)]
    verdict = check(THREE, certificate(THREE, "profit", Fraction(30), least, free))
    assert float(verdict.proved) == pytest.approx(float(best), rel=1e-15)  # 0.2 is a double
    assert verdict.accepted


def test_a_deadline_that_forces_a_loss_may_end_between_units():
    # Sold for nothing, three tasks lose 0.054 USD, and least per hour if that is spread over all 2.5 h. A bound that
    # counted whole hours only would say that 0.054 / 2 h is lost at least.
    loss = THREE.model_copy(
        update={"prices": Prices(per_bag=0.0, electricity_per_kwh=0.2), "site": Site(deadline_seconds=9000.0)}
    )
    verdict = check(loss, certificate(loss, "profit", 1, LeastMakespan(HOUR, ("t0",)), [plain(HOUR, 9000)]))
    assert float(verdict.proved) == pytest.approx(-0.054 / 2.5 - 0.004, rel=1e-15)


def test_a_price_of_the_cap_counts_in_an_interval():
    # 110 W leave 90 W above idle; three tasks take 3 x 90 Wh above idle: 3 h. At a price of 1 for a joule above idle
    # A = 270 Wh and B = 90 W. With a price of a task beside it, phi = v - 90 Wh, for v = 100 Wh: A = 300 - 20 Wh,
    # of one task a machine.
    capped = THREE.model_copy(update={"site": Site(average_power_cap_watts=110.0)})
    priced = replace(plain(0), cap_price=Fraction(1))
    assert check(capped, certificate(capped, "makespan", 3 * HOUR, intervals=[priced])).proved == 3 * HOUR
    patterned = replace(whole(0, 2 * HOUR - 1, 100 * 3600), cap_price=Fraction(1))
    line = IntervalProver(capped, "makespan").line(patterned, patterned.end)
    assert (line.a, line.b) == (280 * 3600, 90)


def test_under_a_cap_waiting_may_end_between_units():
    # 128 W leave 108 W above idle: 270 Wh take 2.5 h, half an hour of it waiting; not 3 h.
    capped = THREE.model_copy(update={"site": Site(average_power_cap_watts=128.0)})
    priced = replace(plain(0), cap_price=Fraction(1))
    assert check(capped, certificate(capped, "makespan", 9000, intervals=[priced])).proved == 9000


def test_prices_above_the_idle_floor_are_scaled_down_where_there_is_no_end():
    # At 40 W for each of two machines, A = 3 x (90 + 40) Wh = 390 Wh and B = 80 W, four times the idle floor; a
    # schedule of 3 h takes 330 Wh, of 2 h 310 Wh. At 10 W, A = 300 Wh, whatever the makespan.
    dear = certificate(THREE, "energy", 300 * 3600, intervals=[plain(0, price=40)])
    assert check(THREE, dear).proved == 300 * 3600
    # By 4 h they need no scaling: 390 - 60 x 4 = 150 Wh, less than the 270 Wh of the multipliers.
    late = replace(dear, terms=Terms(deadline_seconds=4 * 3600.0))
    assert check(THREE, late).proved == 270 * 3600


def test_pigeons_and_holes():
    # Four tasks; a machine of 2 s each and one of 3 s each. In less than 6 s they finish 2 and 1. In 6.5 s: 3 and 2.
    bag = simple_bag([[2.0, 3.0]], [4], [1, 1])
    assert check(bag, certificate(bag, "makespan", 6, LeastMakespan(Fraction(6), ("t0",)))).accepted
    verdict = check(bag, certificate(bag, "makespan", 6, LeastMakespan(Fraction(13, 2), ("t0",))))
    assert verdict.reasons == ("it does not prove that no schedule is shorter than 6.5 seconds",)
    # Two types together: 2 + 2 tasks, the quicker one counts on each machine.
    both = simple_bag([[2.0, 4.0], [5.0, 3.0]], [2, 2], [1, 1])
    assert check(both, certificate(both, "makespan", 6, LeastMakespan(Fraction(6), ("t0", "t1")))).accepted
    assert not check(both, certificate(both, "makespan", 6, LeastMakespan(Fraction(6), ("t0",)))).accepted


def test_a_least_makespan_by_prices():
    # 3 h of work on two machines: 1.5 h; more is not proved by any prices.
    prices = FrozenDict({"m0": Fraction(1)})
    least = LeastMakespan(Fraction(5400), None, prices)
    assert check(THREE, certificate(THREE, "makespan", 7200, least)).proved == 7200  # whole hours
    more = replace(least, seconds=Fraction(5401))
    assert not check(THREE, certificate(THREE, "makespan", 7200, more)).accepted


def test_with_a_deadline_pairs_that_take_longer_do_not_count():
    # One task of 9 s on m0 or of 20 s on m1, for nothing; by 10 s only m0 is left.
    bag = simple_bag([[9.0, 20.0]], [1], [1, 1]).model_copy(update={"site": Site(deadline_seconds=10.0)})
    free = FrozenDict({"m0": Fraction(1), "m1": Fraction(0)})
    dear = Interval(Fraction(0), None, None, free)
    assert check(bag, certificate(bag, "makespan", 9, intervals=[dear])).proved == 9
    late = bag.model_copy(update={"site": Site()})
    assert check(late, certificate(late, "makespan", 9, intervals=[dear])).proved == 0


BASE = certificate(
    THREE,
    "profit",
    30,
    LeastMakespan(HOUR, ("t0",)),
    [whole(HOUR, 2 * HOUR - 1), plain(2 * HOUR - 1, 5 * HOUR)],
    terms=Terms(deadline_seconds=4 * 3600.0),
)


def changed(number, **values):
    """Return the certificate with one interval changed."""
    intervals = list(BASE.intervals)
    intervals[number] = replace(intervals[number], **values)
    return replace(BASE, intervals=tuple(intervals))


def test_the_certificate_that_is_forged_below_is_accepted():
    assert check(THREE, BASE).accepted


TWO = FrozenDict({"m0": Fraction(0), "m1": Fraction(0)})
FORGED = {
    "a-gap": (changed(1, start=2 * HOUR), "interval 2 does not begin where the one before ends"),
    "an-overlap": (changed(1, start=HOUR), "interval 2 does not begin where the one before ends"),
    "no-intervals": (replace(BASE, intervals=()), "it has no intervals"),
    "backwards": (changed(0, end=HOUR), "interval 1 is empty"),
    "begins-late": (changed(0, start=HOUR + 1), "and schedules may be shorter"),
    "begins-late-without-least": (replace(BASE, least_makespan=None), "and schedules may be shorter"),
    "ends-early": (changed(1, end=3 * HOUR), "and schedules may be longer"),
    "before-0": (changed(0, start=Fraction(-1)), "begins before 0"),
    "a-negative-price": (changed(0, machine_prices=FrozenDict({"m0": Fraction(-1, 10**300)})), "negative price"),
    "a-negative-cap-price": (changed(1, cap_price=Fraction(-1)), "negative price"),
    "a-cap-price-without-a-cap": (changed(1, cap_price=Fraction(1)), "there is no cap"),
    "an-unknown-task-type": (
        changed(0, task_prices=FrozenDict({"t0": Fraction(60), "t1": Fraction(1)})),
        "does not price each task type",
    ),
    "a-missing-task-type": (changed(0, task_prices=FrozenDict()), "does not price each task type"),
    "an-unknown-machine-type": (changed(1, machine_prices=TWO), "does not price each machine type"),
    "no-cells": (changed(0, cells=0), "interval 1 needs 1 to 1,000,000,000,000,000,000 cells"),
    "negative-cells": (changed(0, cells=-5), "interval 1 needs 1 to 1,000,000,000,000,000,000 cells"),
    "too-many-cells": (changed(0, cells=10**19), "interval 1 needs 1 to 1,000,000,000,000,000,000 cells"),
    "cells-without-prices": (changed(1, cells=7), "interval 2 needs 0 to 0 cells"),
    "tighter": (replace(BASE, bound=Fraction(29)), "it claims more than its prices prove"),
    "least-too-large": (
        replace(BASE, least_makespan=LeastMakespan(3 * HOUR, ("t0",))),
        "no schedule is shorter than 10800 seconds",
    ),
    "least-of-an-unknown-type": (replace(BASE, least_makespan=LeastMakespan(HOUR, ("x",))), "names no task types"),
    "least-of-a-type-twice": (
        replace(BASE, least_makespan=LeastMakespan(2 * HOUR, ("t0", "t0"))),
        "names no task types, or one twice",
    ),
    "least-of-nothing": (replace(BASE, least_makespan=LeastMakespan(HOUR)), "does not prove that no schedule"),
    "least-by-negative-prices": (
        replace(BASE, least_makespan=LeastMakespan(HOUR, None, FrozenDict({"m0": Fraction(-1)}))),
        "its least makespan has a negative price",
    ),
    "patterns-without-end": (
        replace(BASE, terms=Terms(), intervals=(*BASE.intervals[:1], replace(whole(1, 2), start=2 * HOUR - 1, end=None))),
        "interval 2 has no end",
    ),
    "from-0": (replace(changed(0, start=Fraction(0), task_prices=None, cells=0), least_makespan=None), "from 0 seconds"),
}  # fmt: skip


@pytest.mark.parametrize(("forged", "reason"), FORGED.values(), ids=FORGED)
def test_a_certificate_with_one_rule_broken_is_refused(forged, reason):
    verdict = check(THREE, forged)
    assert not verdict.accepted
    assert any(reason in each for each in verdict.reasons), verdict.reasons


def test_of_intervals_and_multipliers_the_better_bound_counts():
    # At 1 USD a task A = 3 - 2 x (1 - 0.018) = 1.036 USD, and 60 USD less that in one hour are far above 40. But two
    # machines do at most 2/3 of a bag an hour, which is what the multipliers prove: 2/3 x (60 - 0.054) - 0.004.
    weak = check(THREE, changed(0, task_prices=FrozenDict({"t0": Fraction(1)})))
    assert float(weak.proved) == pytest.approx(2 / 3 * 59.946 - 0.004, rel=1e-12)


def test_knapsacks_that_take_too_long_are_refused(monkeypatch):
    # 20 s hold six tasks of 3 or 3.01 s, and three machines 18; split, some 6.6 on each: the price of time is not enough.
    bag, worth = simple_bag([[3.0], [3.01]], [10, 9], [3]), FrozenDict({"t0": Fraction(100), "t1": Fraction(101)})
    intervals = [Interval(Fraction(0), Fraction(20), worth, FREE, cells=10**6), plain(20)]
    made = certificate(bag, "makespan", 20, intervals=intervals)
    assert check(bag, made).accepted
    monkeypatch.setattr(patterns, "MOST_STEPS", 3)
    assert check(bag, made).reasons == ("its grids are too fine: checking takes more than 3 steps",)


def most_of(items, capacity, cells):
    """Return what patterns of one machine are worth at most, on a grid."""
    most = patterns._Most(1, [Item(*item) for item in items], capacity, cells, lambda _: None)  # noqa: SLF001
    while not most.knapsack.exact:
        most.refine()
    return most.total


@given(
    st.lists(st.tuples(st.integers(1, 12), st.integers(1, 50), st.integers(1, 4)), min_size=1, max_size=4),
    st.integers(1, 24),
    st.integers(1, 60),
)
def test_no_pattern_is_worth_more_than_its_knapsack(items, capacity, cells):
    fitting = [(e, worth, min(n, capacity // e)) for e, worth, n in items if e <= capacity] or [(1, 1, 1)]
    best = max(
        sum(count * worth for count, (_, worth, _) in zip(counts, fitting, strict=True))
        for counts in product(*(range(n + 1) for _, _, n in fitting))
        if sum(count * e for count, (e, _, _) in zip(counts, fitting, strict=True)) <= capacity
    )
    assert best <= most_of(fitting, capacity, cells)
    assert most_of(fitting, capacity, capacity) == best  # a cell for each unit of time: nothing is rounded


def test_a_grid_as_fine_as_the_times_rounds_nothing():
    # Tasks of 70 (worth 3) and two of 35 (2 each) in 104: both short ones, 4; the long one fits beside none. All are
    # multiples of 35, so 104 // 35 = 2 cells are exact. Rounded down to one cell of 104, all take nothing: 3 + 2 x 2.
    items = [(70, 3, 1), (35, 2, 2)]
    assert [most_of(items, 104, cells) for cells in (1, 2, 104, 10**6)] == [7, 4, 4, 4]


def test_worths_of_many_digits_are_rounded_up():
    worth = (1 << 100) + 1
    found = most_of([(2, worth, 3)], 6, 3)
    assert 3 * worth < found < 3 * worth * (1 + Fraction(1, 1 << 30))


def sealed(content):
    """Return the content of a file with the checksum that it should have."""
    rest = {key: value for key, value in content.items() if key != "checksum"}
    return rest | {"checksum": checksum(rest)}


def test_a_certificate_with_intervals_comes_back_from_its_file():
    content = json.loads(json.dumps(certificate_as_dict(BASE, "1")))
    assert content["format"] == "lpsched-certificate/2"
    assert content["intervals"][1]["cells"] is None
    assert certificate_of(Document(content), Path("c.json")) == BASE


@pytest.mark.parametrize("key", ["from", "to", "task_prices", "machine_prices", "cap_price", "cells"])
@pytest.mark.parametrize("value", [True, 1.5, [], "x", {"t0": 1}, "1e5", -(10**30), 10**400])
def test_odd_values_in_an_interval_are_a_fault_or_refused(key, value):
    content = json.loads(json.dumps(certificate_as_dict(BASE, "1")))
    content["intervals"][0][key] = value
    try:
        assert not check(THREE, certificate_of(Document(sealed(content)), Path("odd"))).accepted
    except InstanceError as error:
        assert error.issues  # noqa: PT017


@pytest.mark.parametrize("key", ["seconds", "task_types", "machine_prices", "cap_price"])
@pytest.mark.parametrize("value", [True, 1.5, "x", [1], {"m0": 1}])
def test_odd_values_in_a_least_makespan_are_faults(key, value):
    content = json.loads(json.dumps(certificate_as_dict(BASE, "1")))
    content["least_makespan"][key] = value
    with pytest.raises(InstanceError, match=key):
        certificate_of(Document(sealed(content)), Path("odd"))


@pytest.mark.parametrize("key", ["least_makespan", "intervals"])
def test_keys_of_format_2_are_needed_in_it_and_unknown_to_format_1(key):
    content = certificate_as_dict(BASE, "1")
    with pytest.raises(InstanceError, match=key):
        certificate_of(Document(sealed({name: each for name, each in content.items() if name != key})), Path("without"))
    with pytest.raises(InstanceError, match=key):
        certificate_of(Document(sealed(content | {"format": "lpsched-certificate/1"})), Path("old"))


def test_certificates_of_format_1_are_still_accepted():
    # Written before there was another: 3.48 USD/hour, and 7,600 J by 20 s (see tests/bag/certificate/test_bounds.py).
    bag, folder = read_bag("instances/tiny.yaml"), Path("tests/data")
    profit, energy = folder / "certificate_1_profit.json", folder / "certificate_1_energy.json"
    checked = audit(bag, [profit]).files + audit(bag, [energy], power_cap=500.0, deadline=20.0).files
    assert [each.accepted for each in checked] == [True, True]
    assert [each.claimed for each in checked] == [pytest.approx(3.48), pytest.approx(7600)]
