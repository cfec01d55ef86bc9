"""No room for idle nodes: the facility's fault, or the steps'."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.facility.genetic import Breeder
from lpsched.facility.solve import facility as solve_facility
from tests.paper_facility import paper_facility
from tests.property.odd_facilities import odd_facility


def begin(facility):
    return Breeder(facility, np.random.default_rng(0), colocation=True)


def test_redlines_and_cap_that_no_outlets_keep_are_infeasible():
    # The unit draws in air of T + 1.2, so its redline of 18 C asks for 16.8 C; there 120 (1 + 10 / 16.8) = 191.4 W.
    paper = paper_facility(cap=190.0)
    facility = paper.model_copy(
        update={"crac_units": (paper.crac_units[0].model_copy(update={"redline_celsius": 18.0}),)}
    )
    message = r"idle nodes draw 120 W, and by their redlines no CRAC unit may blow hotter than 16\.800 °C, so that nodes and cooling take at least 191\.4 W, but the cap is 190 W; raise the cap or the redlines"
    with pytest.raises(InfeasibleError, match=message):
        begin(facility)


def test_where_only_whole_degrees_are_at_fault_nothing_is_called_impossible():
    # Steps are 25.5 C, too hot for idle nodes (25.2 C is not), and 24.5 C, where 120 (1 + 10 / 24.5) = 168.98 W; at
    # 25.2 C it is 167.62 W.
    message = r"no outlet temperature that all units share, in steps of one degree from 25\.5 down to 10 °C, keeps redlines, cooling and the cap of 168 W, even if all nodes are idle; other temperatures may: use the method 'lp'"
    with pytest.raises(NotFoundError, match=message):
        begin(paper_facility(cap=168.0))
    assert begin(paper_facility(cap=169.0)).at_random().outlets.tolist() == [24.5]


@pytest.mark.parametrize("seed", [37, 566, 728, 780, 801, 964])
def test_what_is_called_impossible_is_impossible_for_the_linear_program_too(seed):
    facility = odd_facility(np.random.default_rng(seed))
    with pytest.raises(InfeasibleError, match="idle nodes draw"):
        begin(facility)
    with pytest.raises(InfeasibleError):
        solve_facility(facility, gap=0.01)
