"""Rooms at the edges can be drawn, without a warning and in a valid page."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.errors import InfeasibleError, InstanceError
from lpsched.facility.solve import facility as solve_facility
from lpsched.report.html.facility import room_section
from lpsched.report.html.page import page
from tests.property.odd_facilities import odd_facility
from tests.report.html_reader import Reader


@pytest.mark.parametrize("seed", range(6))
def test_the_answer_for_an_odd_facility_has_a_sound_page(seed):
    try:
        facility = odd_facility(np.random.default_rng(seed))
        result = solve_facility(facility, gap=0.01)
    except (InstanceError, InfeasibleError):
        return  # there is nothing to draw
    text = page(facility.name, "", [room_section(facility, result.measured, result.cores)])
    assert not Reader(text).issues
