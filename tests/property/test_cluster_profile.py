"""The profile of a cluster against the table of its nodes and seconds, on small clusters."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.online.nodes.reservations import Profile
from models.cluster_profile import SecondBySecond

HORIZON = 60
ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "insert", "insert", "remove", "shorten", "forget"]),
        st.integers(1, 5),
        st.integers(1, 7),
        st.integers(0, 12),
    ),
    min_size=1,
    max_size=14,
)


def ranges_of(nodes):
    """Return single nodes as ranges of neighbours."""
    ranges: list[tuple[int, int]] = []
    for node in nodes:
        if ranges and ranges[-1][1] == node:
            ranges[-1] = (ranges[-1][0], node + 1)
        else:
            ranges.append((node, node + 1))
    return tuple(ranges)


def whole(start):
    return None if start == math.inf else start


class Both:
    """A profile and its twin, which do the same."""

    def __init__(self, nodes):
        self.nodes, self.now, self.tasks = nodes, 0, {}
        self.profile, self.twin = Profile(nodes), SecondBySecond(nodes, HORIZON + 40)

    def insert(self, task, nodes, seconds, later):
        start = self.twin.earliest(nodes, seconds, self.now + later)
        assert whole(self.profile.earliest(nodes, seconds, self.now + later)) == start
        if start is None or start + seconds > HORIZON:
            return
        chosen = self.twin.choose(nodes, seconds, start)
        assert self.profile.choose(nodes, seconds, start) == ranges_of(chosen)
        self.twin.insert(task, start, start + seconds, chosen)
        self.profile.insert(task, start, start + seconds, ranges_of(chosen))
        self.tasks[task] = (start, start + seconds)

    def act(self, task, what, nodes, seconds, later):
        if what == "insert":
            self.insert(task, nodes, seconds, later)
        elif what == "forget":
            self.now += later
            self.tasks = {each: (s, e) for each, (s, e) in self.tasks.items() if e > self.now}
            self.profile.forget_before(self.now)
            self.twin.forget_before(self.now)
        elif self.tasks:
            each = sorted(self.tasks)[later % len(self.tasks)]
            start, end = self.tasks[each]
            if what == "remove" or start + seconds - 1 < self.now or start + seconds > end:
                del self.tasks[each]
                self.profile.remove(each)
                self.twin.remove(each)
            else:
                self.tasks[each] = (start, start + seconds - 1)
                self.profile.shorten(each, start + seconds - 1)
                self.twin.shorten(each, start + seconds - 1)

    def openings_of_the_table(self):
        return {
            (node, *self.twin.stretch(node, second))
            for node in range(self.nodes)
            for second in range(self.now, self.twin.horizon + 1)
            if self.twin.is_free(node, second)
        }


@pytest.mark.parametrize("nodes", [1, 5])
@settings(max_examples=30, deadline=None)
@given(actions=ACTIONS)
def test_the_profile_says_what_the_table_says(nodes, actions):
    both = Both(nodes)
    for task, action in enumerate(actions):
        both.act(task, *action)
        slots = both.profile.slots
        rectangles = [
            (node, begin, end)
            for low, high, begin, end in zip(*(each.tolist() for each in slots), strict=True)
            for node in range(low, high)
        ]
        assert len(rectangles) == len(set(rectangles))
        assert set(rectangles) == both.openings_of_the_table()
        assert both.profile.free_nodes(both.now) == both.twin.free_nodes(both.now)
        for before in (both.now, both.now + 9):
            found = both.profile.earliest(2, 3.0, both.now, before)
            assert whole(found) == both.twin.earliest(2, 3, both.now, before)
