"""Prices where waiting has a cost: mean busy times, the soft sum over all starts, and where both lead."""

from __future__ import annotations

import math

import numpy as np
import pulp
import pytest

from lpsched.cancellation import CancelToken
from lpsched.online.bound import choices as waiting_choices
from lpsched.online.bound import waiting as waiting_module
from lpsched.online.bound.no_waiting import no_wait_reference
from lpsched.online.bound.offers import ArrivalPrices, offers_of
from lpsched.online.bound.prices import crowded_slots, proved_by
from lpsched.online.bound.solve import arrival_bound, certificate_of
from lpsched.online.bound.waiting import AllStarts, busy_time_prices, served, served_prices, waiting_prices
from lpsched.online.certificate.claim import check, proved_parts
from lpsched.online.parts import WHOLE
from lpsched.online.utility import WaitingCost
from models.clusters import most_earned, ways
from models.front import solve
from tests.online.bound.test_arrivals_formulations import in_python
from tests.parallel import Task, simple_clusters

SECONDS = WaitingCost("seconds")
COSTS = [
    SECONDS,
    WaitingCost(),
    WaitingCost("slowdown", "core-seconds"),
    WaitingCost("points", points=((0.0, 0.0), (7.0, 1.0), (30.0, 9.0))),
]


def crowd(waiting, seed=0, tasks=14):
    """Return tasks of all widths on two clusters, more than there is room for."""
    rng = np.random.default_rng(seed)
    rows = [
        Task(at, int(rng.integers(1, 9)), work=float(rng.integers(1, 5)))
        for at in np.sort(rng.uniform(0.0, 60.0, tasks)).round(1).tolist()
    ]
    return simple_clusters([[10.0, 14.0]], [8, 5], rows, waiting=waiting)


def served_by_rate(arrivals, seconds, rates):
    """Return begins, ends and tasks of what is served, and prices as that begins."""
    arrivals, seconds, rates = (np.array(each, dtype=float) for each in (arrivals, seconds, rates))
    begins, ends, tasks = served(arrivals, seconds, rates, np.argsort(arrivals, kind="stable"))
    return begins, ends, tasks, served_prices(begins, ends, tasks, rates)


def test_a_task_is_interrupted_by_one_that_costs_more_for_its_size():
    # One node. A takes 4 s from 0 on, B 2 s from 1 on; a second of waiting costs 1, so rates are 1/4 and 1/2. A is served
    # until 1, B until 3, A until 6. A's price is 0 at 6, 0.75 at 3, 1.25 at 1 and 1.5 at 0; B's is 0.75 at 3, 1.75 at 1.
    begins, ends, tasks, tops = served_by_rate([0.0, 1.0], [4.0, 2.0], [0.25, 0.5])
    assert (begins.tolist(), ends.tolist(), tasks.tolist()) == ([0.0, 1.0, 3.0], [1.0, 3.0, 6.0], [0, 1, 0])
    assert tops.tolist() == pytest.approx([1.5, 1.75, 0.75])


def test_what_ends_as_another_arrives_has_the_price_of_what_would_have_followed():
    # A takes 2 s at the rate 1/2 and C 4 s at 1/4, both from 0 on; B 1 s at the rate 1, from 2 on, just as A ends. C is
    # served from 3 to 7: its price is 1 at 3. B's is 2 at 2. Without B, C would follow A: A's line, too, is 1 at 3, and
    # so 2.5 at 0; a line through B's 2 at 2 would be above what C is served at.
    begins, ends, tasks, tops = served_by_rate([0.0, 2.0, 0.0], [2.0, 1.0, 4.0], [0.5, 1.0, 0.25])
    some = ends > begins
    assert (begins[some].tolist(), tasks[some].tolist()) == ([0.0, 2.0, 3.0], [0, 1, 2])
    assert tops[some].tolist() == pytest.approx([2.5, 2.0, 1.0])


def test_prices_are_nothing_where_nothing_is_served():
    # Two nodes: 20 s of one node take 10 s of both, from 0 and again from 50. Prices fall from 10 / 20 to 0.
    clusters = simple_clusters([[20.0]], [2], [Task(0.0), Task(50.0)], waiting=SECONDS)
    found = busy_time_prices(offers_of(clusters), np.array([0.0, 5.0, 10.0, 50.0, 55.0, 60.0, 90.0]))
    assert found.per_second.tolist()[0] == pytest.approx([0.375, 0.125, 0.0, 0.375, 0.125, 0.0])


def test_clusters_are_served_each_on_its_own():
    both = simple_clusters([[20.0, 20.0]], [2, 1], [Task(0.0), Task(0.0)], waiting=SECONDS)
    edges = np.array([0.0, 10.0, 20.0, 40.0])
    assert busy_time_prices(offers_of(both), edges).per_second[1].tolist() == [0.0, 0.0, 0.0]
    apart = simple_clusters([[20.0, None], [None, 20.0]], [2, 1], [Task(0.0), Task(0.0, task_type=1)], waiting=SECONDS)
    found = busy_time_prices(offers_of(apart), edges).per_second
    assert found.tolist() == [pytest.approx([0.25, 0.0, 0.0]), pytest.approx([0.75, 0.25, 0.0])]


def least_cost(arrivals, seconds, rates):
    """Return the optimum of the program in `waiting.py`, on slots of a second."""
    model, end = pulp.LpProblem("busy", pulp.LpMinimize), max(arrivals) + sum(seconds)
    y = {
        (n, t): model.add_variable(f"y_{n}_{t}", lowBound=0.0, upBound=1.0)
        for n, arrival in enumerate(arrivals)
        for t in range(arrival, end)
    }
    model += pulp.lpSum(rates[n] * (t + 0.5) * part for (n, t), part in y.items())
    for n, length in enumerate(seconds):
        model += pulp.lpSum(part for (m, _), part in y.items() if m == n) == length
    for t in range(end):
        model += pulp.lpSum(part for (_, s), part in y.items() if s == t) <= 1.0
    solve(model)
    return float(pulp.value(model.objective))


@pytest.mark.parametrize("seed", range(12))
def test_served_by_rate_is_the_optimum_of_the_program_and_its_prices_are_the_dual(seed):
    rng = np.random.default_rng(seed)
    arrivals = np.sort(rng.integers(0, 20, 7)).tolist()
    seconds, rates = rng.integers(1, 7, 7).tolist(), rng.integers(1, 9, 7).astype(float).tolist()
    begins, ends, tasks, tops = served_by_rate(arrivals, seconds, rates)
    rate = np.array(rates)[tasks]
    cost = float((rate * (ends**2 - begins**2) / 2.0).sum())
    assert cost == pytest.approx(least_cost(arrivals, seconds, rates), rel=1e-7)
    # The dual: prices are straight lines while a task is served; of all times those at the ends of these matter.
    lows = tops - rate * (ends - begins)
    dual = -float((0.5 * (tops + lows) * (ends - begins)).sum())
    for n, arrival in enumerate(arrivals):
        later = [(time, price) for time, price in zip(begins, tops, strict=True) if time >= arrival]
        later += [(time, price) for time, price in zip(ends, lows, strict=True) if time > arrival]
        later += [
            (end, 0.0) for end, begin in zip(ends, [*begins[1:], math.inf], strict=True) if arrival <= end < begin
        ]
        dual += seconds[n] * min(rates[n] * time + price for time, price in later)
    assert dual == pytest.approx(cost, rel=1e-9)


def soft_sum(clusters, at, temperature):
    """Return the soft sum by its definition, over all starts that the written-out program has."""
    total = sum(
        cluster.nodes * float(row @ np.diff(at.edges))
        for cluster, row in zip(clusters.clusters, at.per_second, strict=True)
    )
    for n in range(clusters.tasks):
        values = []
        for way in ways(clusters, n, at.edges.tolist()):
            begin, end = np.clip(
                [float(way.start), float(way.end)], at.edges[:-1, np.newaxis], at.edges[1:, np.newaxis]
            ).T
            values.append(way.utility - way.width * float(at.per_second[way.j] @ (end - begin)))
        best = max(values)
        total += best + temperature * math.log(sum(math.exp((each - best) / temperature) for each in values))
    return total


@pytest.mark.parametrize("waiting", COSTS)
def test_the_soft_sum_is_over_all_starts_and_its_slope_is_right(waiting):
    clusters = crowd(waiting, tasks=6)
    offers, edges = offers_of(clusters), np.array([3.0, 10.0, 22.5, 40.0, 61.0])
    at = ArrivalPrices(edges, np.array([[0.05, 0.2, 0.1, 0.01], [0.0, 0.15, 0.02, 0.3]]), 0.0)
    soft = AllStarts(offers, edges)
    for temperature in (0.5, 5.0):
        value, slope, _ = soft.at(at.per_second, 0.0, temperature)
        # starts in two lists, edges and edges less e, may be equal: no more than twice the weight
        assert value - clusters.tasks * temperature * math.log(2.0) <= soft_sum(clusters, at, temperature) + 1e-9
        assert value >= soft_sum(clusters, at, temperature) - 1e-9
        for place in np.ndindex(slope.shape):
            step = np.zeros_like(at.per_second)
            step[place] = 1e-5
            higher, lower = (soft.at(at.per_second + way * step, 0.0, temperature)[0] for way in (1.0, -1.0))
            assert slope[place] == pytest.approx((higher - lower) / 2e-5, abs=1e-3)
    assert soft.at(at.per_second, 0.0, 1e-9)[0] == pytest.approx(proved_by(offers, at), rel=1e-6)


@pytest.mark.parametrize("waiting", COSTS)
def test_prices_found_for_waiting_are_nearly_as_good_as_the_best(waiting):
    clusters = crowd(waiting)
    offers = offers_of(clusters)
    edges = crowded_slots(offers, 12)
    best, naive = most_earned(clusters, edges.tolist()).utility, no_wait_reference(offers, WHOLE)
    found = waiting_prices(offers.risen(), edges)
    assert best < naive - 1.0  # so that there is something to find
    assert best - 1e-9 * abs(best) <= proved_by(offers, found) <= best + 0.003 * (naive - best)


def test_the_best_prices_are_kept_and_reported():
    offers, heard = offers_of(crowd(SECONDS)).risen(), []
    edges = crowded_slots(offers, 24)
    found = waiting_prices(offers, edges, listener=lambda *each: heard.append(each))
    bounds = [bound for bound, _ in heard]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] == proved_by(offers, busy_time_prices(offers, edges))
    assert (found, bounds[-1]) == (heard[-1][1], proved_by(offers, found))
    stopped = CancelToken()
    stopped.stop()
    assert proved_by(offers, waiting_prices(offers, edges, start=found, cancel=stopped)) == pytest.approx(bounds[-1])


def queue(waiting, *, tasks=150, seed=3):
    """Return a long queue: tasks of one cluster that arrive twice as fast as they can run."""
    rng = np.random.default_rng(seed)
    widths = 2 ** rng.integers(0, 5, tasks)
    runs = np.exp(rng.uniform(0.0, 6.0, tasks)).round(1)
    pace = float((widths * runs).mean()) / 16.0 / 2.0
    rows = [
        Task(at, int(width), work=run)
        for at, width, run in zip(
            np.cumsum(rng.exponential(pace, tasks)).round(1).tolist(), widths, runs.tolist(), strict=True
        )
    ]
    return simple_clusters([[1.0]], [16], rows, waiting=waiting)


@pytest.mark.parametrize("waiting", [SECONDS, WaitingCost(), WaitingCost("slowdown")])
def test_a_long_queue_has_a_bound_of_at_least_the_mean_busy_times(waiting):
    clusters = queue(waiting)
    offers = offers_of(clusters)
    area, rises = offers.least_machine_seconds, offers.rate_per_second[offers.first_interval[offers.function + 1] - 1]
    begins, ends, tasks, _ = served_by_rate(offers.arrivals, area / 16.0, rises / area)
    mean = float(((rises / area)[tasks] * 16.0 * (ends**2 - begins**2) / 2.0).sum())
    waited = mean - float((rises * (offers.arrivals + offers.fastest_seconds / 2.0)).sum())
    found = arrival_bound(clusters)
    assert found.naive - found.bound > waited > 0.0
    assert check(clusters, certificate_of(clusters, found.prices, found.bound)).accepted


def test_each_cluster_has_a_bound_where_tasks_run_in_one_only():
    rng = np.random.default_rng(1)
    rows = [Task(float(at), int(rng.integers(1, 5)), task_type=at % 2) for at in range(20)]
    apart = simple_clusters([[9.0, None], [None, 7.0]], [5, 4], rows, waiting=SECONDS)
    found = arrival_bound(apart)
    assert found.by_cluster is not None
    assert sum(found.by_cluster) == pytest.approx(found.bound)
    for c, nodes in enumerate((5, 4)):  # the same as a cluster of its own
        alone = simple_clusters(
            [[(9.0, 7.0)[c]]],
            [nodes],
            [task._replace(task_type=0) for task in rows if task.task_type == c],
            waiting=SECONDS,
        )
        prices = ArrivalPrices(found.prices.edges, found.prices.per_second[[c]], 0.0)
        proved, parts = proved_parts(alone, certificate_of(alone, prices, 0.0))
        assert parts == (proved,)
        assert found.by_cluster[c] == pytest.approx(float(proved), rel=1e-15)
        assert found.by_cluster[c] >= proved
    assert arrival_bound(crowd(SECONDS)).by_cluster is None  # here tasks have a choice


@pytest.mark.slow
@pytest.mark.parametrize("waiting", COSTS)
def test_compiled_loops_do_what_is_written(monkeypatch, waiting):
    offers = offers_of(crowd(waiting))
    edges = crowded_slots(offers, 8)
    compiled = busy_time_prices(offers, edges)
    soft = AllStarts(offers, edges).at(compiled.per_second, 0.0, 0.3)
    for module in (waiting_choices, waiting_module):
        in_python(monkeypatch, module)
    for name in ("above", "interval_at"):
        monkeypatch.setattr(waiting_module, name, getattr(waiting_choices, name))
    plain = busy_time_prices(offers, edges)
    assert plain.per_second == pytest.approx(compiled.per_second)
    slow = AllStarts(offers, edges).at(plain.per_second, 0.0, 0.3)
    assert slow[0] == pytest.approx(soft[0])
    assert slow[1] == pytest.approx(soft[1])
