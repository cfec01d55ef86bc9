"""How long a makespan can be of use, on paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from lpsched.bag.files import read_bag
from lpsched.bag.front import ENERGY, MAKESPAN, Weights, longest_useful
from lpsched.bag.parts import Site
from lpsched.bag.relaxation import scaling_of
from tests.support import simple_bag

TINY = read_bag(Path(__file__).parent.parent.parent / "instances" / "tiny.yaml")


# In tiny the thriftiest way takes 30 s and 5,400 J above idle, the soonest 12 s and 7,920 J; the idle floor is 40 W.
@pytest.mark.parametrize(
    ("weights", "seconds"),
    [
        (None, 30.0),
        (ENERGY, 30.0),  # 12 + 2,520 / 40 would be 75
        (MAKESPAN, 12.0),
        (Weights(1.0, 1000.0), 12 + 2520 / 1040),
    ],
)
def test_the_longest_makespan_of_use_in_tiny(weights, seconds):
    assert longest_useful(scaling_of(TINY), weights) == pytest.approx(seconds)


def test_a_deadline_cuts_it():
    due = TINY.model_copy(update={"site": Site(deadline_seconds=20.0)})
    assert longest_useful(scaling_of(due)) == 20.0


def test_below_the_idle_floor_it_ends_where_the_savings_are_used_up():
    # 10 W instead of 50 W idle for 2 s saves 80 J; 5 W below the floor that lasts 16 s.
    bag = simple_bag([[1.0]], [2], [1], watts=[[10.0]], idle=[50.0])
    capped = bag.model_copy(update={"site": Site(average_power_cap_watts=45.0)})
    assert longest_useful(scaling_of(capped), MAKESPAN) == pytest.approx(16.0)
