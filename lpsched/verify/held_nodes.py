"""Who held each node of a cluster last? By pieces of nodes that one holder took, never node by node.

The pieces lie side by side from node 1 to the last one, in chunks of some hundred, so that taking a range
costs as much as the pieces that it covers and the chunks at its ends, however many nodes there are. A taken
range leaves at most two pieces more than there were, so no range is looked at more often than it was cut.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final, NamedTuple

NOBODY: Final = -1
CHUNK: Final = 512  # pieces; a chunk of twice as many is cut in two


class Piece(NamedTuple):
    """Nodes `first` to `last`, and who held them."""

    first: int
    last: int
    holder: int


class HeldNodes:
    """The last holder of each node; at first nobody.

    >>> held = HeldNodes(10)
    >>> held.take(3, 6, holder=0), held.take(5, 9, holder=1)
    ([], [Piece(first=5, last=6, holder=0)])
    """

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._heads = [1]  # the first node of each chunk
        self._chunks: list[tuple[list[int], list[int]]] = [([1], [NOBODY])]  # first nodes, and holders

    def take(self, first: int, last: int, holder: int) -> list[Piece]:
        """Let somebody hold the nodes from first to last; return who held them before, by node."""
        c, d = bisect_right(self._heads, first) - 1, bisect_right(self._heads, last) - 1
        firsts, holders = self._joined(c, d)
        a, b = bisect_right(firsts, first) - 1, bisect_right(firsts, last) - 1
        found = [
            Piece(max(first, firsts[p]), firsts[p + 1] - 1 if p < b else last, holders[p])
            for p in range(a, b + 1)
            if holders[p] != NOBODY
        ]
        following = firsts[b + 1] if b + 1 < len(firsts) else self._begin_of(d + 1)
        is_left, leaves = firsts[a] < first, last + 1 < following  # whether a piece is left before, and after
        own, after = slice(a + is_left, b + 1), holders[b]
        firsts[own] = [first, last + 1] if leaves else [first]
        holders[own] = [holder, after] if leaves else [holder]
        self._put(c, d, firsts, holders)
        return found

    def _begin_of(self, c: int) -> int:
        return self._heads[c] if c < len(self._heads) else self._nodes + 1

    def _joined(self, c: int, d: int) -> tuple[list[int], list[int]]:
        """Return the pieces of some chunks; of one chunk its own lists."""
        if c == d:
            return self._chunks[c]
        chunks = self._chunks[c : d + 1]
        return [each for firsts, _ in chunks for each in firsts], [each for _, own in chunks for each in own]

    def _put(self, c: int, d: int, firsts: list[int], holders: list[int]) -> None:
        """Put pieces in the place of some chunks."""
        if c == d and len(firsts) < 2 * CHUNK:
            return  # they have been changed in their place
        cuts = range(0, len(firsts), CHUNK)
        self._chunks[c : d + 1] = [(firsts[k : k + CHUNK], holders[k : k + CHUNK]) for k in cuts]
        self._heads[c : d + 1] = [firsts[k] for k in cuts]
