from __future__ import annotations

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import MissingExtraError
from lpsched.model.fixed_point import rounded_up
from lpsched.online.bound.offers import offers_of
from lpsched.online.bound.prices import crowded_slots, proved_by
from lpsched.online.bound.solve import arrival_bound, certificate_of, certify
from lpsched.online.certificate.claim import check
from lpsched.online.parts import Period
from lpsched.online.utility import WaitingCost
from models.clusters import most_earned
from tests.days import decaying
from tests.parallel import Task, simple_clusters


def busy(waiting=None, *, tasks=10, nodes=(8, 5), period=None, watts=50.0):
    """Return tasks of all widths on two clusters, more than there is room for."""
    rng = np.random.default_rng(7)
    rows = [
        Task(at, int(rng.integers(1, 6)), None if waiting else decaying(float(rng.integers(1, 9)), 0.02))
        for at in np.sort(rng.uniform(0.0, 60.0, tasks)).round(1).tolist()
    ]
    made = simple_clusters([[20.0, 30.0]], nodes, rows, watts=[[watts, watts]], waiting=waiting)
    return made if period is None else made.model_copy(update={"period": period})


def test_the_bound_of_utility_is_what_its_prices_prove_to_the_plain_checker():
    clusters = busy(period=Period(10.0, 60.0, "prorated", 5000.0))
    found = arrival_bound(clusters)
    verdict = check(clusters, certificate_of(clusters, found.prices, found.bound))
    assert found.bound == rounded_up(verdict.proved)
    assert found.bound == pytest.approx(proved_by(offers_of(clusters), found.prices), rel=1e-10)
    assert 0.0 < found.bound < 0.8 * found.naive
    assert len(found.per_machine_hour) == 2


def test_the_bound_of_waiting_is_a_cost_that_nobody_can_stay_below():
    clusters = busy(WaitingCost("seconds"), tasks=12)
    found = arrival_bound(clusters)
    least = most_earned(clusters, crowded_slots(offers_of(clusters), 12).tolist()).utility
    assert found.naive == 0.0
    assert found.bound < 0.98 * least < -3.0  # of a few slots, the written-out program
    assert check(clusters, certificate_of(clusters, found.prices, found.bound)).accepted
    assert arrival_bound(clusters).bound == found.bound


def test_without_time_nobody_waits():
    clusters, stopped = busy(WaitingCost("slowdown")), CancelToken()
    stopped.stop()
    for found in (arrival_bound(clusters, time_limit=0.0), arrival_bound(clusters, cancel=stopped)):
        assert found.bound == pytest.approx(-10.0)


def test_bounds_of_waiting_are_told_with_what_not_waiting_costs():
    clusters, told = busy(WaitingCost("slowdown"), tasks=12), []
    found = arrival_bound(clusters, cancel=CancelToken(listener=lambda progress: told.append(progress.stage)))
    assert found.bound < -13.0
    assert (told[0], told[-1]) == ("bound -12", f"bound {found.bound:,.0f}")


STEADY = decaying(5.0)


@pytest.mark.parametrize(
    ("clusters", "most"),
    [
        pytest.param(busy(period=Period(0.0, 60.0, "prorated", 0.0)), 1e-3, id="no-energy"),
        pytest.param(busy(period=Period(5000.0, 1.0, "completed")), 200.0, id="a-period-after-all"),
        pytest.param(busy(watts=0.0), 200.0, id="zero-watts"),
        pytest.param(busy(nodes=(10**6, 5)), 200.0, id="a-million-nodes"),
        pytest.param(busy(tasks=1), 9.0, id="one-task"),
        pytest.param(simple_clusters([[1.0]], [1], [Task(0.0, 1, decaying(0.0))]), 0.0, id="utility-0"),
        pytest.param(
            simple_clusters([[1.0]], [1], [Task(9.0, 1, STEADY)], period=Period(0.0, 5.0)), 0.0, id="all-after-the-end"
        ),
        pytest.param(simple_clusters([[1.0]], [1], [Task(9.0)], waiting=WaitingCost()), -1.0, id="waits-1"),
        pytest.param(busy(WaitingCost("seconds"), nodes=(10**6, 5)), 0.0, id="nobody-needs-to-wait"),
        pytest.param(
            busy(WaitingCost("points", points=((0.0, 3.0),)), tasks=9), -27.0, id="waiting-costs-always-the-same"
        ),
        pytest.param(
            simple_clusters([[1e-9]], [1], [Task(1e9, 1), Task(1e9, 1)], waiting=WaitingCost("slowdown")),
            -2.0,
            id="short-and-late",
        ),
        pytest.param(
            simple_clusters([[1.0]], [2], [Task(0.0, 2)] * 5, waiting=WaitingCost("seconds", "core-seconds")),
            -10.0,  # waits of 0 to 4 s by 2 core-seconds are 20; slots cannot see all of it
            id="all-at-once",
        ),
    ],
)
def test_odd_clusters_have_a_bound(clusters, most):
    found = arrival_bound(clusters)
    assert found.bound <= most + 1e-9 * abs(most)
    assert check(clusters, certificate_of(clusters, found.prices, found.bound)).accepted


def test_a_certificate_of_clusters_claims_the_bound():
    clusters = busy(WaitingCost(), tasks=6)
    made = certify(clusters)
    assert float(made.bound) == arrival_bound(clusters).bound
    assert check(clusters, made).accepted


def test_a_machine_without_the_compiler_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr("lpsched.jit.numba", None)
    with pytest.raises(MissingExtraError, match=r"the bound of clusters.*needs the extra 'simulate'"):
        arrival_bound(busy())
