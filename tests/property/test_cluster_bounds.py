"""No schedule of tiny clusters earns more than any prices prove, however bad the prices; waiting or utility."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.online.bound import offers as arrival_offers
from lpsched.online.bound.offers import ArrivalPrices, grid_of, offers_of
from lpsched.online.bound.prices import Looker, proved_by
from lpsched.online.bound.solve import arrival_bound, certificate_of
from lpsched.online.certificate import claim as arrival_gains
from lpsched.online.certificate.claim import check
from models.clusters import most_earned
from tests.property.cluster_grids import columns_of, most_on_grid, share, starts_of, utility, waiting_cost
from tests.property.parallel import UTILITY, WAITING, parallel_clusters

MOST_STARTS = 8
few = settings(max_examples=25, deadline=None)
TIMES = st.integers(0, 60).map(float) | st.floats(0.0, 80.0)
PER_SECOND = st.sampled_from([0.0, 0.0, 0.05, 0.3]) | st.floats(0.0, 2.0)
LISTED = st.sampled_from([0, 3])  # tasks of a kind for which corners are not listed
judged = pytest.mark.parametrize("judged", [UTILITY, WAITING])


@st.composite
def prices_of(draw, clusters) -> ArrivalPrices:
    """Draw any prices on any slots; a price of energy only where there is a constraint."""
    edges = sorted(draw(st.sets(TIMES, min_size=2, max_size=5)))
    per_second = [[draw(PER_SECOND) for _ in edges[1:]] for _ in clusters.clusters]
    limited = clusters.period.energy_constraint_joules is not None
    per_joule = draw(st.sampled_from([0.0, 1e-3, 0.02]) | st.floats(0.0, 0.1)) if limited else 0.0
    return ArrivalPrices(np.array(edges), np.array(per_second), per_joule)


@st.composite
def priced(draw, judged, most_tasks=3):
    """Draw tiny clusters and prices."""
    clusters = draw(parallel_clusters(most_tasks=most_tasks, most_clusters=2, most_nodes=3, judged=judged))
    return clusters, draw(prices_of(clusters))


def proved(clusters, prices, listed=3):
    with patch.object(arrival_offers, "FEW", listed):
        return proved_by(offers_of(clusters), prices)


@few
@judged
@given(data=st.data(), extra=st.lists(TIMES, max_size=3), listed=LISTED)
def test_no_schedule_on_a_grid_of_starts_earns_more_than_any_prices_prove(judged, data, extra, listed):
    clusters, prices = data.draw(priced(judged))
    grid = [starts_of(clusters, task, extra, MOST_STARTS) for task in range(clusters.tasks)]
    most = most_on_grid(clusters, grid)
    assert most is not None
    assert most <= proved(clusters, prices, listed)


@few
@judged
@given(data=st.data(), place=st.floats(0.0, 1.0), listed=LISTED)
def test_no_start_of_a_task_gains_more_than_its_best_choice(judged, data, place, listed):
    clusters, prices = data.draw(priced(judged, most_tasks=2))
    with patch.object(arrival_offers, "FEW", listed):
        best = Looker(offers_of(clusters), prices.edges).best(prices).best
    for task in range(clusters.tasks):
        arrival = Fraction(clusters.arriving.arrival_seconds[task])
        for column in columns_of(clusters, task):
            for start in tried_starts(clusters, task, prices, place):
                assert gain(clusters, prices, task, column, max(arrival, start)) <= best[task]


@few
@judged
@given(data=st.data(), listed=LISTED)
def test_the_dual_prices_of_the_written_out_program_prove_its_optimum(judged, data, listed):
    clusters, prices = data.draw(priced(judged, most_tasks=4))
    best = most_earned(clusters, prices.edges.tolist())
    dual = ArrivalPrices(prices.edges, np.array(best.per_second), best.per_joule)
    unit = max(1.0, abs(best.utility))
    assert proved(clusters, prices, listed) >= best.utility - 1e-7 * unit
    assert proved(clusters, dual, listed) >= best.utility - 1e-7 * unit
    hair = float(grid_of(dual.edges, dual).hair.sum())  # much, if a second of a tiny slot costs much
    rounding = clusters.tasks * max(cluster.nodes for cluster in clusters.clusters) * hair
    assert proved(clusters, dual, listed) <= best.utility + 1e-6 * unit + rounding


@few
@judged
@given(data=st.data(), listed=LISTED)
def test_plain_whole_numbers_prove_what_the_compiled_loops_do(judged, data, listed):
    clusters, prices = data.draw(priced(judged))
    bound = proved(clusters, prices)
    with patch.object(arrival_gains, "FEW", listed):
        verdict = check(clusters, certificate_of(clusters, prices, bound))
    assert verdict.accepted, verdict
    assert math.isclose(float(verdict.proved), bound, rel_tol=1e-9, abs_tol=1e-9)


def gain(clusters, prices, task, column, start) -> float:
    """Return what a task gains at these prices: the formula, in fractions."""
    arrival = Fraction(clusters.arriving.arrival_seconds[task])
    c, nodes, e, joules = column
    end = start + e
    cost = nodes * sum(
        Fraction(price) * max(Fraction(0), min(end, Fraction(b)) - max(start, Fraction(a)))
        for price, (a, b) in zip(prices.per_second[c].tolist(), pairwise(prices.edges.tolist()), strict=True)
    )
    if clusters.waiting is not None:
        return float(-waiting_cost(clusters, task, start - arrival) - cost)
    part = share(clusters, start, end)
    worth = Fraction(utility(clusters, task, end - arrival)) - Fraction(prices.per_joule) * joules
    return float(part * worth - cost)


def tried_starts(clusters, task, prices, place) -> list[Fraction]:
    """Return starts near everything that can matter, and between."""
    near = [*prices.edges.tolist(), clusters.period.begins_at]
    near += [clusters.period.ends_at] if math.isfinite(clusters.period.ends_at) else []
    lengths = [Fraction(0), *(e for _, _, e, _ in columns_of(clusters, task))]
    arrival = clusters.arriving.arrival_seconds[task]
    if clusters.waiting is None:
        function = clusters.functions[memoryview(clusters.function_numbers).cast("q")[task]]
        near += [arrival + each.after_seconds for each in function.intervals]
    else:
        near += [arrival + after for after, _ in clusters.waiting.points] + [arrival + 5.0, arrival + 90.0]
    starts = sorted({Fraction(each) - e for each in near for e in lengths})
    hair = Fraction(1, 10**12)
    between = [a + (b - a) * Fraction(place) for a, b in pairwise(starts)]
    return [each + off for each in starts for off in (-hair, 0, hair)] + between


@few
@given(data=st.data(), extra=st.lists(TIMES, max_size=3))
def test_no_schedule_waits_less_than_the_bound_that_is_found(data, extra):
    clusters = data.draw(parallel_clusters(most_tasks=4, most_clusters=2, most_nodes=3, judged=WAITING))
    found = arrival_bound(clusters)
    assert check(clusters, certificate_of(clusters, found.prices, found.bound)).accepted
    assert found.bound <= found.naive + 1e-9 * abs(found.naive)
    most = most_on_grid(clusters, [starts_of(clusters, task, extra, MOST_STARTS) for task in range(clusters.tasks)])
    assert most is not None
    assert most <= found.bound
    least = most_earned(clusters, found.prices.edges.tolist()).utility
    unit = max(1.0, abs(least))
    assert least - 1e-6 * unit <= found.bound
    if found.by_cluster is not None:
        assert math.isclose(sum(found.by_cluster), found.bound, rel_tol=1e-12, abs_tol=1e-12)
