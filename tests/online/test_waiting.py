"""What waiting costs: each measure by hand, and what is no cost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError
from lpsched.online.utility import WaitingCost, waiting_has_what_its_measure_needs
from tests.property.parallel import waiting_costs


@pytest.mark.parametrize(
    ("waiting", "waited", "cost"),
    [
        (WaitingCost("seconds"), 30.0, 30.0),
        (WaitingCost("seconds", "cores"), 30.0, 90.0),  # 3 cores
        (WaitingCost("slowdown"), 30.0, 8.5),  # (30 + 4) / 4
        (WaitingCost("slowdown", "core-seconds"), 30.0, 102.0),  # 12 x (30 + 4) / 4
        (WaitingCost(), 30.0, 3.4),  # (30 + 4) / 10
        (WaitingCost(), 5.0, 1.0),  # (5 + 4) / 10 is below 1
        (WaitingCost(at_least_seconds=2.0), 30.0, 8.5),
        (WaitingCost("points", points=((0.0, 1.0), (10.0, 1.0), (20.0, 3.0))), 0.0, 1.0),
        (WaitingCost("points", points=((0.0, 1.0), (10.0, 1.0), (20.0, 3.0))), 15.0, 2.0),
        (WaitingCost("points", points=((0.0, 1.0), (10.0, 1.0), (20.0, 3.0))), 30.0, 5.0),  # the slope goes on
        (WaitingCost("points", points=((0.0, 7.0),)), 1e9, 7.0),
    ],
)  # fmt: skip
def test_a_run_of_4_s_on_3_cores_costs_this(waiting, waited, cost):
    assert waiting.cost(waited, 4.0, cores=3) == pytest.approx(cost)


@settings(max_examples=60)
@given(waiting_costs(), st.floats(0.1, 100.0), st.integers(1, 100), st.data())
def test_costs_are_continuous_and_never_fall(waiting, fastest, cores, data):
    pieces = waiting.segments(fastest, cores=cores)
    assert pieces[0].after_seconds == 0.0
    for one, following in pairwise(pieces):
        reached = one.cost + one.per_second * (following.after_seconds - one.after_seconds)
        assert following.cost == pytest.approx(reached)
    one, later = sorted(data.draw(st.lists(st.floats(0.0, 200.0), min_size=2, max_size=2)))
    low, high = (waiting.cost(each, fastest, cores=cores) for each in (one, later))
    assert low <= high * (1 + 1e-12)
    assert not list(waiting_has_what_its_measure_needs(waiting))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"measure": "wait"}, "got the text 'wait', expected one of seconds, slowdown, bounded-slowdown, points"),
        ({"weight": "nodes"}, "got the text 'nodes', expected one of task, cores, core-seconds"),
        ({"at_least_seconds": 0}, "got 0, expected seconds: a number from 1e-30"),
        ({"points": 3}, "got 3, expected a list of at most 100 points"),
        ({"points": [[0, 0]] * 101}, "got a list of 101, expected a list of at most 100 points"),
        ({"points": [[0, -1], 3]}, "(?s)points.0..1.: got -1, .*points.1.: got 3, expected .seconds waited, cost."),
        ({"more": 3}, "more: got an unknown key"),
    ],
)  # fmt: skip
def test_what_is_no_cost_is_refused_at_birth(given, message):
    with pytest.raises(InstanceError, match=message):
        WaitingCost(**given)


@pytest.mark.parametrize(
    ("waiting", "issue"),
    [
        (WaitingCost("points"), "waiting.points: got no points, expected at least one, at 0 seconds; add it"),
        (WaitingCost("points", points=((1.0, 0.0),)), "waiting.points[0]: got a first point at 1.0 s, expected 0, the arrival; begin with one there"),
        (WaitingCost("points", points=((0.0, 0.0), (0.0, 1.0))), "waiting.points[1]: got 0.0 s, not after the 0.0 s of the one before, expected points by rising seconds; sort or join them"),
        (WaitingCost("points", points=((0.0, 2.0), (1.0, 1.0))), "waiting.points[1]: got a cost of 1.0, below the 2.0 of the one before, expected a cost that never falls; raise it"),
        (WaitingCost("seconds", points=((0.0, 2.0),)), "waiting.points: got 1 points, besides the measure seconds, expected the measure points; drop them"),
        (WaitingCost("slowdown", at_least_seconds=3.0), "waiting.at_least_seconds: got 3.0 s, besides the measure slowdown, expected the measure bounded-slowdown; drop it"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_told(waiting, issue):
    assert [str(each) for each in waiting_has_what_its_measure_needs(waiting)] == [issue]
