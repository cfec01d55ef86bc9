"""Two roads to one number: lpsched's fast programs, and the same maths written down once more in models/."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from lpsched.errors import NotFoundError
from lpsched.lp.highs import HighsSolver
from lpsched.pipeline import certify, front, price_curve, solve
from lpsched.relaxation import Regime
from lpsched.search.frontier import frontier
from models.front import least_cost, least_energy_then_makespan, least_makespan_then_energy
from models.makespan import least_makespan
from models.profit import best_rate, break_even_price, standing
from tests.property.bags import ORDINARY, UNEQUAL, limited_bags, plain_bags, priced_bags

CLOSE = 1e-7
NUDGE = 1e-7  # relative
thorough = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
scales = pytest.mark.parametrize("ranges", [ORDINARY, UNEQUAL], ids=["ordinary", "unequal"])


def bound_of(bag, objective) -> float:
    try:
        return solve(bag, objective=objective).bound
    except NotFoundError:  # whole tasks may miss a deadline that split ones meet
        return float(certify(bag, objective=objective).bound)
