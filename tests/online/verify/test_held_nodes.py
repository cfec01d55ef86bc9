"""Who held which node last: pieces against a plain list of nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.online.verify import clusters as held_nodes
from lpsched.online.verify.clusters import NO_HOLDER, NodeAllocation, Segment


def test_a_range_in_the_middle_of_another_leaves_both_its_ends():
    allocation = NodeAllocation(9)
    assert allocation.take(2, 8, 0) == []
    assert allocation.take(4, 5, 1) == [Segment(4, 5, 0)]
    assert allocation.take(1, 9, 2) == [Segment(2, 3, 0), Segment(4, 5, 1), Segment(6, 8, 0)]
    assert allocation.take(9, 9, 3) == [Segment(9, 9, 2)]


def plain(nodes, taken):
    """Take ranges node by node, and return who had each node before."""
    holders, found = [NO_HOLDER] * (nodes + 1), []
    for number, (first, last) in enumerate(taken):
        found.append([holders[node] for node in range(first, last + 1)])
        holders[first : last + 1] = [number] * (last + 1 - first)
    return found


def spread(pieces, first, last):
    """Return the holder of each node of a range."""
    holders = dict.fromkeys(range(first, last + 1), NO_HOLDER)
    for segment in pieces:
        assert first <= segment.first <= segment.last <= last
        for node in range(segment.first, segment.last + 1):
            assert holders[node] == NO_HOLDER
            holders[node] = segment.holder
    return list(holders.values())


@settings(max_examples=40)
@given(st.integers(1, 12), st.lists(st.tuples(st.integers(1, 12), st.integers(0, 12)), max_size=30))
def test_holders_are_those_of_a_plain_list(nodes, drawn):
    taken = [(min(first, nodes), min(first + more, nodes)) for first, more in drawn]
    allocation = NodeAllocation(nodes)
    found = [spread(allocation.take(*pair, n), *pair) for n, pair in enumerate(taken)]
    assert found == plain(nodes, taken)


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_small_chunks_tell_the_same(monkeypatch, chunk):
    monkeypatch.setattr(held_nodes, "CHUNK", chunk)
    pairs = np.sort(np.random.default_rng(chunk).integers(1, 61, size=(200, 2)), axis=1).tolist()
    pairs += [(node, node) for node in range(1, 61)]  # as many pieces as nodes
    pairs += [(1, 60), (30, 31), (1, 60)]
    allocation = NodeAllocation(60)
    found = [spread(allocation.take(first, last, n), first, last) for n, (first, last) in enumerate(pairs)]
    assert found == plain(60, pairs)


def test_chunks_are_cut_as_pieces_get_many(monkeypatch):
    monkeypatch.setattr(held_nodes, "CHUNK", 4)
    allocation = NodeAllocation(1000)
    for node in range(1000, 0, -1):
        allocation.take(node, node, node)
    assert max(len(firsts) for firsts, _ in allocation._chunks) < 8  # noqa: SLF001 - nothing else shows it
    assert allocation.take(1, 1000, 0) == [Segment(node, node, node) for node in range(1, 1001)]
