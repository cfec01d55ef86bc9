from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.compare.fronts import distances
from lpsched.evolve.fronts import Chain, reference_of

CHAIN = Chain(((2.0, 10.0), (4.0, 4.0), (10.0, 1.0)))


@pytest.mark.parametrize(
    ("energy", "makespan"), [(2.0, 10.0), (3.0, 7.0), (4.0, 4.0), (6.0, 3.0), (10.0, 1.0), (99.0, 1.0), (1.9, 10.0)]
)
def test_the_front_is_straight_between_corners_and_level_beyond_them(energy, makespan):
    assert CHAIN.at(energy) == pytest.approx(makespan)


def test_the_reference_is_a_tenth_beyond_the_worst_of_each_criterion():
    # Energies from 1 to 5, makespans from 2 to 9.
    assert reference_of([(1.0, 9.0), (5.0, 2.0), (3.0, 3.0)]) == pytest.approx((5.4, 9.7))


def test_an_area_ratio_by_hand():
    # Up to (12, 11) the front has, over energy from 2 to 4, (1 + 7) / 2 x 2 = 8; from 4 to 10,
    # (7 + 10) / 2 x 6 = 51; from 10 to 12, 10 x 2 = 20: in all 79.
    # (4, 6) and (8, 3) dominate, from 4 to 8, 5 x 4 = 20, and from 8 to 12, 8 x 4 = 32: in all 52.
    assert CHAIN.area_ratio([(4.0, 6.0), (8.0, 3.0)], (12.0, 11.0)) == pytest.approx(52 / 79)
    # A dominated point adds nothing, and neither does one that is level with the reference.
    more = [(4.0, 6.0), (8.0, 3.0), (9.0, 4.0), (12.0, 1.0)]
    assert CHAIN.area_ratio(more, (12.0, 11.0)) == pytest.approx(52 / 79)
    assert CHAIN.area_ratio([(12.0, 11.0)], (12.0, 11.0)) == 0.0
    assert CHAIN.area_ratio([], (12.0, 11.0)) == 0.0


def test_the_only_corner_itself_has_all_of_the_area():
    assert Chain(((2.0, 3.0),)).area_ratio([(2.0, 3.0)], (5.0, 5.0)) == 1.0


def test_what_is_below_the_front_by_rounding_is_on_it():
    corner = Chain(((2.0, 3.0),))
    assert corner.area_ratio([(2.0 - 1e-12, 3.0)], (5.0, 5.0)) == 1.0
    assert distances(corner, [(2.0, 3.0 - 1e-12)]) == (0.0, 0.0)
    assert distances(corner, []) == (None, None)


@pytest.mark.parametrize("reference", [(2.0, 5.0), (5.0, 3.0), (2.0, 3.0), (2.0 * (1 + 1e-15), 5.0)])
def test_where_the_reference_is_level_with_the_front_there_is_no_ratio(reference):
    assert Chain(((2.0, 3.0),)).area_ratio([(2.0, 3.0)], reference) is None


def test_minus_utility_is_a_second_criterion_too():
    # Utility up to 6 at 3 J, then level; reference 5 J and 0: 6 x 3 / 2 + 6 x 2 = 21. The point (4 J, 5) has 5.
    chain = Chain(((0.0, 0.0), (3.0, -6.0)))
    assert chain.area_ratio([(4.0, -5.0)], (5.0, 0.0)) == pytest.approx(5 / 21)


def test_units_do_not_matter():
    points, reference = [(4.0, 6.0), (8.0, 3.0)], (12.0, 11.0)
    small = Chain(tuple((1e-12 * x, 1e9 * y) for x, y in CHAIN.corners))
    scaled = [(1e-12 * x, 1e9 * y) for x, y in points]
    assert small.area_ratio(scaled, (12e-12, 11e9)) == pytest.approx(CHAIN.area_ratio(points, reference))


@given(
    st.lists(st.tuples(st.floats(2.0, 20.0), st.floats(0.0, 3.0)), min_size=1, max_size=12),
    st.floats(0.0, 5.0),
    st.floats(0.0, 5.0),
)
@settings(max_examples=40, deadline=None)
def test_the_area_of_points_is_pymoos_and_never_more_than_the_fronts(raised, right, up):
    hv = pytest.importorskip("pymoo.indicators.hv")
    points = [(energy, CHAIN.at(energy) * (1.0 + above)) for energy, above in raised]
    worst = reference_of([*CHAIN.corners, *points])
    reference = worst[0] + right, worst[1] + up
    ratio = CHAIN.area_ratio(points, reference)
    # The front as many points: pymoo's area of them comes from below, by at most one step of each criterion.
    grid = np.linspace(2.0, reference[0], 20_001)
    fine = np.column_stack([grid, [CHAIN.at(float(each)) for each in grid]])
    measure = hv.HV(ref_point=np.array(reference))
    whole = np.trapezoid(reference[1] - fine[:, 1], fine[:, 0])
    assert ratio is not None
    assert 0.0 <= ratio <= 1.0
    assert ratio == pytest.approx(measure(np.array(points)) / whole, rel=1e-6)
