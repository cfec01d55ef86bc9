"""The availability profile of a cluster, by hand."""

from __future__ import annotations

import math

import pytest

from lpsched.online.nodes.reservations import Profile
from tests.online.nodes.cluster_states import run_plainly
from tests.selection import PLAIN


@pytest.fixture(autouse=True, params=["compiled", PLAIN])
def both_ways(request, monkeypatch):
    if request.param == "plain":
        run_plainly(monkeypatch)


def busy(nodes, *tasks):
    """Return a profile with tasks of (start, end, ranges)."""
    profile = Profile(nodes)
    for task, (start, end, *ranges) in enumerate(tasks):
        profile.insert(task, float(start), float(end), tuple(ranges))
    return profile


def test_the_nodes_of_figure_5_are_taken():
    # Ten nodes n1 to n10, here 0 to 9. A task needs three for 4 s; from 5 s on n3 to n6 (here 2 to 5) are free:
    #   n3 from 3 s to 12 s, n4 from 2 s to 12 s: two voids each, and n3 is in the smaller opening
    #   n5 from 4 s to 9 s: one void, before it; n6 from 5 s to 9 s: none
    profile = busy(
        10,
        (0, 20, (0, 2), (6, 10)),
        (0, 3, (2, 3)),
        (0, 2, (3, 4)),
        (0, 4, (4, 5)),
        (0, 5, (5, 6)),
        (12, 20, (2, 4)),
        (9, 20, (4, 6)),
    )
    assert profile.earliest(3, 5.0, 0.0) == 4.0  # n3, n4 and n5, to the second
    assert profile.earliest(4, 4.0, 0.0) == 5.0
    assert profile.choose(1, 4.0, 5.0) == ((5, 6),)
    assert profile.choose(2, 4.0, 5.0) == ((4, 6),)
    assert profile.choose(3, 4.0, 5.0) == ((2, 3), (4, 6))
    assert profile.choose(4, 4.0, 5.0) == ((2, 6),)


def test_of_equal_openings_the_lowest_nodes_are_taken():
    profile = busy(9, (0, 5, (2, 3)), (0, 5, (6, 7)))
    profile.forget_before(1.0)
    # Five nodes are in use at no time; all are free for ever from now on, and make no void.
    assert profile.choose(5, 10.0, 1.0) == ((0, 2), (3, 6))


def test_fewer_voids_go_before_lower_nodes():
    # From 5 s on, node 0 has been free for a second: a void. Nodes 1 and 2 get free right then.
    profile = busy(3, (0, 4, (0, 1)), (0, 5, (1, 3)))
    assert profile.choose(1, 9.0, 5.0) == ((1, 2),)
    # Node 1 is free for ever, node 2 only as long as needed: neither makes a void, but that is smaller.
    profile.insert(7, 14.0, 20.0, ((2, 3),))
    assert profile.choose(1, 9.0, 5.0) == ((2, 3),)
    # For a second less, it would leave a void behind it there.
    assert profile.choose(1, 8.0, 5.0) == ((1, 2),)


def test_of_equal_openings_the_lowest_nodes_are_taken_in_whatever_order_they_got_free():
    profile = busy(3, (0, 9, (0, 3)))
    profile.shorten(0, 5.0)
    profile.insert(1, 5.0, 8.0, ((0, 1),))  # what is behind it comes after the others in the list
    profile.insert(2, 5.0, 8.0, ((1, 3),))
    profile.insert(3, 8.0, 9.0, ((2, 3),))
    profile.insert(4, 8.0, 9.0, ((0, 2),))
    assert profile.choose(1, 2.0, 9.0) == ((0, 1),)


def test_a_task_that_just_fits_between_others_does():
    # 0.1 + 0.2 is above 0.3 in doubles, by the last bit.
    profile = busy(1, (0.0, 0.1, (0, 1)), (0.1 + 0.2, 1.0, (0, 1)))
    assert profile.earliest(1, 0.2, 0.0) == 0.1
    profile.insert(7, 0.1, 0.1 + 0.2, ((0, 1),))
    assert profile.earliest(1, 1e-9, 0.0) == 1.0
    assert busy(1, (0.0, 0.1, (0, 1)), (0.3, 1.0, (0, 1))).earliest(1, 0.2, 0.0) == 1.0


def test_the_same_nodes_have_to_be_free_all_the_time():
    # One of two nodes is free at any time, but neither for 4 s before 4 s.
    profile = busy(2, (0, 2, (0, 1)), (2, 4, (1, 2)))
    assert profile.earliest(1, 2.0, 0.0) == 0.0
    assert profile.earliest(1, 3.0, 0.0) == 2.0
    assert profile.choose(1, 3.0, 2.0) == ((0, 1),)
    assert profile.earliest(2, 1.0, 0.0) == 4.0


def test_a_start_is_looked_for_between_two_times():
    profile = busy(3, (0, 10, (0, 3)))
    assert profile.earliest(1, 5.0, 3.0) == 10.0
    assert profile.earliest(1, 5.0, 12.5) == 12.5
    assert profile.earliest(1, 5.0, 0.0, 10.0) == math.inf
    assert profile.earliest(4, 5.0, 0.0) == math.inf


def test_three_tasks_on_a_million_nodes_leave_a_handful_of_openings():
    profile = busy(1_000_000, (0, 60, (0, 400_000)), (0, 90, (400_000, 999_999)))
    assert profile.earliest(2, 1e9, 0.0) == 60.0
    profile.insert(2, 60.0, 1e9, ((0, 250_000), (399_999, 400_000)))
    assert profile.earliest(1_000_000, 1.0, 0.0) == 1e9
    assert profile.free_nodes(0.0) == 1
    assert len(profile.slots.low) <= 8


def test_openings_are_joined_again_when_tasks_are_gone():
    profile = busy(100, *((0, 10 + task, (task, task + 1)) for task in range(0, 100, 2)))
    assert len(profile.slots.low) == 100
    for task in range(25):
        profile.remove(task)
    assert len(profile.slots.low) == 1 + 50
    profile.forget_before(200.0)
    assert len(profile.slots.low) == 1
    assert profile.free_nodes(200.0) == 100


def test_a_task_may_end_earlier_and_free_its_nodes():
    profile = busy(4, (0, 10, (0, 4)), (10, 20, (0, 2)))
    profile.shorten(0, 6.0)
    assert profile.earliest(4, 4.0, 0.0) == 6.0
    assert profile.earliest(2, 40.0, 0.0) == 6.0
    with pytest.raises(ValueError, match=r"task 0 is from 0.0 s to 6.0 s, and cannot end at 7.0 s"):
        profile.shorten(0, 7.0)
    profile.remove(0)
    assert profile.earliest(4, 10.0, 0.0) == 0.0


def test_a_task_that_is_shortened_to_nothing_leaves_no_trace():
    profile = busy(2, (4, 10, (0, 2)))
    profile.shorten(0, 4.0)
    assert len(profile.slots.low) == 1
    profile.remove(0)
    assert profile.earliest(2, 100.0, 0.0) == 0.0


def test_nodes_that_are_busy_cannot_be_reserved():
    profile = busy(4, (0, 10, (0, 2)))
    with pytest.raises(ValueError, match=r"task 5: 1 of 2 nodes are free from 9.0 s to 12.0 s"):
        profile.insert(5, 9.0, 12.0, ((1, 3),))
    with pytest.raises(ValueError, match=r"task 5: 2 of 3 nodes"):  # there is no fifth
        profile.insert(5, 0.0, 1.0, ((2, 5),))
    with pytest.raises(ValueError, match="task 0 has nodes already"):
        profile.insert(0, 20.0, 30.0, ((3, 4),))
    with pytest.raises(ValueError, match=r"2 nodes are free from 0.0 s for 5.0 s, not 3"):
        profile.choose(3, 5.0, 0.0)
    assert profile.choose(2, 5.0, 0.0) == ((2, 4),)


def test_a_task_takes_time():
    with pytest.raises(ValueError, match=r"task 5 cannot be from 3.0 s to 3.0 s"):
        busy(2).insert(5, 3.0, 3.0, ((0, 1),))


def test_a_copy_goes_its_own_way():
    profile = busy(2, (0, 10, (0, 2)))
    other = profile.copy()
    other.remove(0)
    other.insert(3, 0.0, 5.0, ((0, 1),))
    assert profile.earliest(1, 1.0, 0.0) == 10.0
    assert other.earliest(2, 1.0, 0.0) == 5.0
    profile.remove(0)


def test_what_is_over_is_forgotten():
    profile = busy(2, (0, 10, (0, 1)), (0, 20, (1, 2)))
    profile.forget_before(10.0)
    with pytest.raises(KeyError):
        profile.remove(0)
    with pytest.raises(ValueError, match="0 of 1 nodes are free"):
        profile.insert(3, 5.0, 12.0, ((0, 1),))
    profile.forget_before(5.0)  # there is no way back
    assert profile.earliest(1, 1.0, 10.0) == 10.0
    profile.remove(1)
    assert profile.earliest(2, 1.0, 10.0) == 10.0
