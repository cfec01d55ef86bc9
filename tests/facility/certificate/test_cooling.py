"""What a CRAC unit can add to a bound: against a grid over its box."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lpsched.facility.certificate.cooling import Cooler, OutletBox
from lpsched.facility.model import CracUnit
from lpsched.model.fixed_point import ONE, fixed


def test_a_reciprocal_of_the_cop_that_is_not_convex_is_refused():
    usual = CracUnit(name="u", airflow_m3_per_second=1.0, outlet_celsius=(4.5, 25.0))
    assert not Cooler(usual).is_convex()  # convex above 4.7 C only
    assert Cooler(usual.model_copy(update={"outlet_celsius": (4.8, 25.0)})).is_convex()


@pytest.mark.parametrize("seed", range(20))
def test_a_unit_adds_no_less_than_it_does_anywhere_in_its_box_and_not_much_more(seed):
    rng = np.random.default_rng(seed)
    unit = CracUnit(name="u", airflow_m3_per_second=1.0, outlet_celsius=(10.0, 25.0))
    low, high = np.sort(rng.uniform(10.0, 25.0, 2))
    least, most = np.sort(rng.uniform(0.0, 1e4, 2))
    outlet, heat, cap = rng.normal() * 10, rng.normal() * 0.3, rng.exponential(0.5)
    coldest, hottest = low + least / 1000.0, high + most / 1000.0  # 1,000 W warm its air by a kelvin
    cool, warm = coldest + rng.uniform([-0.2, 0.5], [0.5, 1.2]) * (hottest - coldest)  # the middle is in
    t, share = np.meshgrid(np.linspace(low, high, 400), np.linspace(0.0, 1.0, 50))
    floor, ceiling = np.maximum(least, 1000.0 * (cool - t)), np.minimum(most, 1000.0 * (warm - t))
    q = np.where(floor <= ceiling, floor + share * (ceiling - floor), np.nan)
    best = np.nanmax(outlet * t + heat * q - cap * q / (0.458 + 0.0008 * t + 0.0068 * t * t))
    box = OutletBox(low, high, Fraction(least), Fraction(most), Fraction(cool), Fraction(warm), Fraction(1000))
    found = Cooler(unit).most(fixed(outlet) * ONE**2, fixed(heat), fixed(cap), box) / ONE
    assert best <= found + 1e-9
    assert found == pytest.approx(best, abs=5e-3 * max(1.0, abs(best), cap * most))
