"""All vertices of a convex chain, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lpsched.bag.search.frontier import Vertex, vertices


def chain_of(points):
    calls = []

    def best(first, second):
        calls.append((first, second))
        x, y = min(points, key=lambda point: first * point[0] + second * point[1])
        return Vertex(x, y, None)

    found, edges = vertices(best, best(1, 0), best(0, 1))
    return [(each.first, each.second) for each in found], edges, len(calls)


def lower_hull(points):
    """Return the vertices by the definition: no other point, and no line between two others, lies below-left."""
    kept: list[tuple[int, int]] = []
    for x, y in sorted(set(points)):
        if kept and y >= kept[-1][1]:
            continue  # dominated
        while len(kept) > 1 and (kept[-1][0] - kept[-2][0]) * (y - kept[-2][1]) <= (kept[-1][1] - kept[-2][1]) * (
            x - kept[-2][0]
        ):
            kept.pop()
        kept.append((x, y))
    return kept


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=40))
def test_every_vertex_is_found_and_nothing_else(points):
    found, edges, calls = chain_of(points)
    assert found == lower_hull(points)
    assert calls <= 2 * len(found) + 1
    assert len(edges) <= max(1, len(found) - 1) + 1


def test_an_end_that_only_ties_is_replaced_by_the_lexicographic_one():
    # Least first criterion: both (0, 9) and (0, 4); least second: both (5, 1) and (8, 1).
    points = [(0.0, 9.0), (0.0, 4.0), (5.0, 1.0), (8.0, 1.0)]
    answers = {(1, 0): points[0], (0, 1): points[3]}

    def best(first, second):
        if (first, second) in answers:
            return Vertex(*answers[first, second], None)
        return Vertex(*min(points, key=lambda point: first * point[0] + second * point[1]), None)

    found, _ = vertices(best, best(1, 0), best(0, 1))
    assert [(each.first, each.second) for each in found] == [(0.0, 4.0), (5.0, 1.0)]
