"""Curves over numbers of nodes: exact between what is told, nothing outside."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.model.fields import check_seconds
from lpsched.online.curves import NodeCurves, problems_of_cell

FIGURE_2 = ((1, 100.0), (2, 70.0), (4, 50.0), (16, 25.0), (32, 30.0))  # the paper's first task type


@pytest.mark.parametrize(
    ("nodes", "seconds"),
    [
        (1, 100.0),
        (2, 70.0),
        (3, 60.0),  # half way from 70 to 50
        (10, 37.5),  # half way from 50 to 25
        (20, 26.25),  # a quarter of the way from 25 to 30: more nodes may take longer
        (32, 30.0),
        (0, None),
        (33, None),
    ],
)
def test_between_two_numbers_of_nodes_the_value_is_on_the_line(nodes, seconds):
    assert NodeCurves(((FIGURE_2,),)).at(0, 0, nodes) == seconds


def test_one_point_tells_one_number_of_nodes_only():
    curves = NodeCurves(((((4, 9.0),), None),))
    assert [curves.at(0, 0, nodes) for nodes in (3, 4, 5)] == [None, 9.0, None]
    assert curves.at(0, 1, 4) is None


@settings(max_examples=100)
@given(st.floats(1e-30, 1e30), st.floats(0.0, 1e30), st.integers(1, 10**15), st.integers(1, 10**6), st.data())
def test_interpolation_is_the_nearest_double(low, high, left, width, data):
    nodes = data.draw(st.integers(left, left + width))
    share = Fraction(nodes - left, width)
    exact = Fraction(low) + share * (Fraction(high) - Fraction(low))
    curves = NodeCurves(((((left, low), (left + width, high)),),))
    assert curves.at(0, 0, nodes) == float(exact)


@pytest.mark.parametrize(
    ("cell", "issue"),
    [
        ((), "got a list of 0, expected 1 to 100,000 pairs of nodes and a value; leave it out if the pair cannot run"),
        ([(1, 2.0)], "got a list of 1, expected 1 to 100,000 pairs"),
        (((1,),), "[0]: got a list of 1, expected a pair of nodes and a value; complete it"),
        (((0, 1.0),), "[0]: got 0, expected a whole number of nodes from 1 to 10^15; correct it"),
        (((True, 1.0),), "[0]: got true (a yes/no value), expected a whole number of nodes"),
        (((1.0, 1.0),), "[0]: got 1.0, expected a whole number of nodes"),
        (((1, 0.0),), "[0]: got 0.0, expected seconds: a number from 1e-30 to 1e+30; correct it"),
        (((1, float("nan")),), "[0]: got NaN, expected seconds"),
        (((2, 1.0), (2, 1.0)), "[1]: got 2 nodes after 2, expected numbers of nodes that rise; sort or join them"),
        (((2, 1.0), (1, 1.0)), "[1]: got 1 nodes after 2, expected numbers of nodes that rise"),
    ],
)  # fmt: skip
def test_a_cell_that_is_no_curve_is_refused(cell, issue):
    (found,) = problems_of_cell(cell, ("seconds", 0, 0), check_seconds)
    assert issue in str(found)
