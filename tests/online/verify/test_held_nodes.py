"""Who held which node last: pieces against a plain list of nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.online.verify import clusters as held_nodes
from lpsched.online.verify.clusters import NOBODY, HeldNodes, Piece


def test_a_range_in_the_middle_of_another_leaves_both_its_ends():
    held = HeldNodes(9)
    assert held.take(2, 8, 0) == []
    assert held.take(4, 5, 1) == [Piece(4, 5, 0)]
    assert held.take(1, 9, 2) == [Piece(2, 3, 0), Piece(4, 5, 1), Piece(6, 8, 0)]
    assert held.take(9, 9, 3) == [Piece(9, 9, 2)]


def plain(nodes, taken):
    """Take ranges node by node, and return who had each node before."""
    holders, found = [NOBODY] * (nodes + 1), []
    for number, (first, last) in enumerate(taken):
        found.append([holders[node] for node in range(first, last + 1)])
        holders[first : last + 1] = [number] * (last + 1 - first)
    return found


def spread(pieces, first, last):
    """Return the holder of each node of a range."""
    holders = dict.fromkeys(range(first, last + 1), NOBODY)
    for piece in pieces:
        assert first <= piece.first <= piece.last <= last
        for node in range(piece.first, piece.last + 1):
            assert holders[node] == NOBODY
            holders[node] = piece.holder
    return list(holders.values())


@settings(max_examples=40)
@given(st.integers(1, 12), st.lists(st.tuples(st.integers(1, 12), st.integers(0, 12)), max_size=30))
def test_holders_are_those_of_a_plain_list(nodes, drawn):
    taken = [(min(first, nodes), min(first + more, nodes)) for first, more in drawn]
    held = HeldNodes(nodes)
    found = [spread(held.take(*pair, n), *pair) for n, pair in enumerate(taken)]
    assert found == plain(nodes, taken)


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_small_chunks_tell_the_same(monkeypatch, chunk):
    monkeypatch.setattr(held_nodes, "CHUNK", chunk)
    pairs = np.sort(np.random.default_rng(chunk).integers(1, 61, size=(200, 2)), axis=1).tolist()
    pairs += [(node, node) for node in range(1, 61)]  # as many pieces as nodes
    pairs += [(1, 60), (30, 31), (1, 60)]
    held = HeldNodes(60)
    found = [spread(held.take(first, last, n), first, last) for n, (first, last) in enumerate(pairs)]
    assert found == plain(60, pairs)


def test_chunks_are_cut_as_pieces_get_many(monkeypatch):
    monkeypatch.setattr(held_nodes, "CHUNK", 4)
    held = HeldNodes(1000)
    for node in range(1000, 0, -1):
        held.take(node, node, node)
    assert max(len(firsts) for firsts, _ in held._chunks) < 8  # noqa: SLF001 - nothing else shows it
    assert held.take(1, 1000, 0) == [Piece(node, node, node) for node in range(1, 1001)]
