"""All optimal multipliers of small programs: on paper, and where there are none to tell."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.lp import sweep as dual_face
from lpsched.lp.program import LpBuilder
from lpsched.lp.solvers import HighsSolver

FIRST, BOTH = np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]])


def twice_limited():
    """Return max x with the row x <= 1 twice: as a minimum, y1 + y2 = -1 and neither is positive."""
    lp = LpBuilder("twice")
    x = lp.variables("x", upper=np.array([5.0]))
    lp.objective([(x, -1.0)])
    lp.at_most("one", [(x, 1.0)], 1.0)
    lp.at_most("two", [(x, 1.0)], 1.0)
    return lp.build()


def test_two_equal_limits_share_one_price():
    face = dual_face.dual_face(twice_limited(), np.array([1.0]))
    assert face.degrees == 1
    ((low, high),) = face.ranges(FIRST, HighsSolver())
    assert (low, high) == pytest.approx((-1.0, 0.0), abs=1e-9)
    ((low, high),) = face.ranges(BOTH, HighsSolver())
    assert (low, high) == pytest.approx((-1.0, -1.0), abs=1e-9)


def test_a_limit_that_leaves_no_room_has_a_price_without_end():
    # x = 1 by two rows, x <= 1 and x >= 1: y1 <= 0 and y2 >= 0 with y1 + y2 = -1, so that y1 <= -1 has no least.
    lp = LpBuilder("squeezed")
    x = lp.variables("x", upper=np.array([5.0]))
    lp.objective([(x, -1.0)])
    lp.at_most("most", [(x, 1.0)], 1.0)
    lp.between("least", [(x, 1.0)], 1.0, np.inf)
    face = dual_face.dual_face(lp.build(), np.array([1.0]))
    ((low, high),) = face.ranges(FIRST, HighsSolver())
    assert low is None
    assert high == pytest.approx(-1.0, abs=1e-9)


def test_a_point_that_is_not_optimal_has_no_multipliers():
    assert dual_face.dual_face(twice_limited(), np.array([0.5])) is None


def test_many_rows_are_left_to_the_solver(monkeypatch):
    monkeypatch.setattr(dual_face, "MOST_ROWS", 1)
    assert dual_face.dual_face(twice_limited(), np.array([1.0])) is None
