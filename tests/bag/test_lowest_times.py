"""The n smallest of evenly spaced times, against writing them all down."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.ready_machines import Lowest, Stream, lowest

STREAMS = st.builds(Stream, st.integers(0, 30), st.integers(1, 9) | st.sampled_from([100, 10**6]), st.integers(1, 4))


def written_down(streams, count):
    """Take the times one by one, the earliest first, of equal ones that of the first stream."""
    taken, rounds = [0] * len(streams), [0] * len(streams)
    for _ in range(count):
        time, k = min((each.first + rounds[k] * each.step, k) for k, each in enumerate(streams))
        taken[k] += 1
        if taken[k] == streams[k].machines * (rounds[k] + 1):
            rounds[k] += 1
    split = [(k, taken[k] - each.machines * rounds[k]) for k, each in enumerate(streams)]
    return Lowest(rounds, next((each for each in split if each[1]), None), time)


@settings(max_examples=200, deadline=None)
@given(st.lists(STREAMS, min_size=1, max_size=5), st.integers(1, 120))
def test_the_smallest_times_are_those_of_a_list_of_all(streams, count):
    assert lowest(streams, count) == written_down(streams, count)


def test_a_trillion_times_of_two_streams_are_found_without_counting_them():
    # Steps of 1 and 3 ticks share n times as 3 to 1; 2 machines step at 3: 1/1 + 2/3 = 5/3 times a tick.
    found = lowest([Stream(1, 1, 1), Stream(3, 3, 2)], 5 * 10**12)
    assert found == Lowest([3 * 10**12, 10**12], None, 3 * 10**12)


def test_steps_that_differ_by_thirty_powers_of_ten_end_too():
    # The slow stream's first time comes at 10^30; until then the fast one runs, and at that moment it is first.
    streams = [Stream(10**30, 10**30, 5), Stream(1, 1, 1)]
    assert lowest(streams, 10**15) == Lowest([0, 10**15], None, 10**15)
    assert lowest(streams, 10**30) == Lowest([0, 10**30 - 1], (0, 1), 10**30)
    assert lowest(streams, 10**30 + 5) == Lowest([1, 10**30], None, 10**30)


def test_a_stream_that_would_begin_later_gets_nothing():
    assert lowest([Stream(5, 5, 1), Stream(6, 1, 1)], 1) == Lowest([1, 0], None, 5)
