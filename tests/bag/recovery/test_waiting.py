"""When a schedule ends: as soon as the cap allows, or as late as the deadline does."""

from __future__ import annotations

from fractions import Fraction

import pytest

from lpsched.bag.parts import Site
from lpsched.bag.recovery.plans import ended
from lpsched.bag.recovery.rounding import place
from lpsched.bag.verify import violations
from lpsched.model.table import Table
from tests.support import simple_bag

# Four tasks of 3 s at 100 W on two machines that idle at 20 W: 6 s, 4 x 3 x 80 = 960 J above idle.
BAG = simple_bag([[3.0]], [4], [2], watts=[[100.0]], idle=[20.0])
COUNTS = [{0: 4}]


def end(bag, *, late=False):
    return ended(bag, place(bag, COUNTS), late=late).makespan_seconds


def test_without_limits_a_schedule_ends_with_its_last_task():
    assert end(BAG) is None


@pytest.mark.parametrize(
    ("site", "seconds"),
    [
        (Site(average_power_cap_watts=80.0, cap_measured_at="it"), 24.0),  # 960 J / (80 - 40) W
        (Site(average_power_cap_watts=160.0, pue=2.0), 24.0),
        (Site(average_power_cap_watts=300.0), 6.0),  # 200 W busy: the cap does not bind
    ],
)
def test_the_shortest_end_that_keeps_the_cap(site, seconds):
    assert end(BAG.model_copy(update={"site": site})) == seconds


def test_a_loss_is_spread_until_the_deadline():
    assert end(BAG.model_copy(update={"site": Site(deadline_seconds=50.0)}), late=True) == 50.0
    assert end(BAG.model_copy(update={"site": Site(deadline_seconds=50.0)})) is None


def test_an_end_after_the_deadline_stays_so_that_the_verifier_sees_it():
    assert end(BAG.model_copy(update={"site": Site(deadline_seconds=5.0)}), late=True) == 6.0


def test_tasks_that_draw_less_than_idle_must_not_wait_beyond_what_they_save():
    # 10 W instead of 20: 4 x 3 x 10 = 120 J saved; a cap of 35 W, 5 W below the idle floor, lasts 24 s.
    thrifty = BAG.model_copy(update={"watts": Table.of([[10.0]])})
    site = Site(average_power_cap_watts=35.0, cap_measured_at="it", deadline_seconds=100.0)
    assert end(thrifty.model_copy(update={"site": site}), late=True) == 24.0
    sooner = site.model_copy(update={"deadline_seconds": 20.0})
    assert end(thrifty.model_copy(update={"site": sooner}), late=True) == 20.0


@pytest.mark.parametrize("cap", [41.0, 47.3, 63.1, 77.7])
def test_the_rounded_end_keeps_the_cap_exactly(cap):
    bag = BAG.model_copy(update={"site": Site(average_power_cap_watts=cap)})
    schedule = ended(bag, place(bag, COUNTS), late=False)
    assert violations(bag, schedule) == ()
    exact = Fraction(960) / (Fraction(cap) - 40)
    assert 0 <= Fraction(schedule.makespan_seconds) - exact <= Fraction(schedule.makespan_seconds) / 2**52
