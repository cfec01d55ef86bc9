"""The best outlet temperatures: by hand, against others, stopped early, and where there are none."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError
from lpsched.facility.air import even_outlets, facility_arrays, heat_map, heat_removed
from lpsched.facility.outlets.box import BoxSolver
from lpsched.facility.outlets.fixed import Pool, best_at, node_watts
from lpsched.facility.outlets.search import Ascent, RecordedBox, Tightening, best_outlets
from lpsched.facility.patterns import NodeMarket
from lpsched.generate.facility import generate_facility
from lpsched.lp.solvers import HighsSolver
from lpsched.units import KILO
from tests.paper_facility import paper_facility
from tests.property.tiny_facilities import tiny_facility

pytestmark = pytest.mark.rotate_tests(3)

SOLVER = HighsSolver()


def parts(facility):
    return facility_arrays(facility), heat_map(facility)


def test_the_node_and_its_unit_come_to_what_paper_says():
    # P (1 + 10 / T) = 280 and T = 25.5 - P / 400: P = 200 W at 25 C, which earns 1.2.
    found = best_outlets(*parts(paper_facility()), solver=SOLVER, gap=1e-4)
    assert found.status == "optimal"
    assert found.point.outlets == pytest.approx([25.0], abs=0.05)
    assert found.point.value == pytest.approx(1.2, rel=1e-4)
    assert 1.2 <= found.bound <= found.point.value * (1.0 + 1.1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_no_temperatures_on_a_grid_beat_the_bound(seed):
    facility = tiny_facility(np.random.default_rng(seed), form=("inlet_mix", "alpha")[seed % 2])
    arrays, heat = parts(facility)
    found = best_outlets(arrays, heat, solver=SOLVER, gap=1e-2)
    steps = np.linspace(10.0, 25.0, 16 if len(arrays.cop) == 1 else 6)
    for outlets in product(steps, repeat=len(arrays.cop)):
        try:
            assert best_at(arrays, heat, np.array(outlets), solver=SOLVER).value <= found.bound
        except InfeasibleError:
            continue
    assert found.point.value >= (1.0 - 1e-2) * found.bound


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.2])
def test_a_search_that_is_stopped_still_has_a_bound_that_holds(seconds):
    facility = paper_facility(nodes=4, cap=1120.0)
    arrays, heat = parts(facility)
    best = best_outlets(arrays, heat, solver=SOLVER, gap=1e-4)
    stopped = best_outlets(arrays, heat, solver=SOLVER, gap=1e-7, cancel=CancelToken(seconds))
    assert stopped.point.value <= best.bound
    assert best.point.value <= stopped.bound
    assert stopped.status in {"limit", "optimal"}


def test_a_cap_below_what_idle_nodes_need_at_any_temperature_is_refused_with_the_range():
    # At best 120 (1 + 10 / 25.2) = 167.6 W.
    with pytest.raises(InfeasibleError, match=r"between 10 and 30 °C keep redlines, cooling and the cap of 160 W"):
        best_outlets(*parts(paper_facility(cap=160.0)), solver=SOLVER)


def test_even_outlets_are_the_hottest_at_which_the_cap_is_used_up():
    # One unit, one node: the same two equations, so 25 C.
    assert even_outlets(*parts(paper_facility())) == pytest.approx([25.0], abs=1e-3)


def climbed(outlet):
    arrays, heat = parts(paper_facility())
    market = NodeMarket(arrays)
    ascent = Ascent(BoxSolver(market, heat, SOLVER), heat, Pool(market), SOLVER, gap=1e-6)
    first = ascent.evaluate(np.array([outlet]), CancelToken())
    if first is not None:
        ascent.climb(first, CancelToken())
    else:
        ascent.climb_from(np.array([outlet]), np.array([0.2]), CancelToken())
    return first, ascent


@pytest.mark.parametrize("outlet", [15.0, 20.0, 24.5, 25.2])
def test_an_ascent_ends_at_the_top_wherever_it_begins(outlet):
    first, ascent = climbed(outlet)
    assert ascent.best is not None
    assert first is None or ascent.best.value >= first.value
    assert ascent.best.value == pytest.approx(1.2, rel=1e-4)


def test_an_ascent_that_goes_too_far_comes_back():
    # On the small platform the first step of a kelvin overshoots; shorter ones then bring 0.3459 from 0.3449.
    arrays, heat = parts(generate_facility("small", np.random.default_rng(0)))
    market = NodeMarket(arrays)
    ascent = Ascent(BoxSolver(market, heat, SOLVER), heat, Pool(market), SOLVER, gap=1e-5)
    first = ascent.evaluate(even_outlets(arrays, heat), CancelToken())
    assert first is not None
    ascent.climb(first, CancelToken())
    assert first.value < 0.345
    assert ascent.best.value > 0.34588


def test_an_ascent_may_begin_where_nothing_is_possible():
    # At 26 C even an idle node is too hot; a kelvin less is fine.
    first, ascent = climbed(26.0)
    assert first is None
    assert ascent.best.value == pytest.approx(1.2, rel=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_narrowed_ranges_hold_every_allocation_that_earns_enough(seed):
    rng = np.random.default_rng(seed)
    arrays, heat = parts(tiny_facility(rng, form="inlet_mix"))
    best = best_outlets(arrays, heat, solver=SOLVER, gap=1e-2).point
    boxes = BoxSolver(NodeMarket(arrays), heat, SOLVER)
    least = 0.97 * best.value
    largest = boxes.program.largest
    narrowed = Tightening(boxes, largest, least / boxes.market.unit, RecordedBox())
    box = narrowed.run(list(range(len(arrays.cop))), CancelToken())
    assert box is not None
    for step in [np.zeros(len(arrays.cop)), *rng.uniform(-3.0, 3.0, (10, len(arrays.cop)))]:
        try:
            outlets = np.clip(best.outlets + step, arrays.outlet_low, arrays.outlet_high)
            point = best_at(arrays, heat, outlets, solver=SOLVER)
        except InfeasibleError:
            continue
        if point.value >= least:
            removed = heat_removed(heat, node_watts(arrays, point), outlets) / KILO
            assert (box.low <= outlets + 1e-9).all()
            assert (outlets <= box.high + 1e-9).all()
            assert (box.least <= removed + 1e-9).all()
            assert (removed <= box.most + 1e-9).all()


def test_ranges_are_narrowed_as_far_as_paper_says():
    # To earn 1.1 at least: 0.3 of the time both cores, P >= 185 W, so T <= 25.5 - 185 / 400 = 25.0375 C; the plain
    # redline allows 25.2. The heat is P: at least 185 W. And P (1 + 10 / T) <= 280 asks for T >= 19.47.
    arrays, heat = parts(paper_facility())
    boxes = BoxSolver(NodeMarket(arrays), heat, SOLVER)
    box = boxes.program.largest
    for _ in range(6):
        narrowed = Tightening(boxes, box, 1.1 / boxes.market.unit, RecordedBox()).run([0], CancelToken())
        assert narrowed is not None
        box = narrowed
    assert box.high == pytest.approx([25.0375], abs=1e-3)
    assert box.least == pytest.approx([0.185], abs=1e-5)
    assert 18.0 < box.low[0] <= 19.4738


def test_a_box_in_which_nothing_earns_enough_is_empty_or_bounded_below_that():
    arrays, heat = parts(paper_facility())
    boxes = BoxSolver(NodeMarket(arrays), heat, SOLVER)
    cold = replace(boxes.program.largest, high=np.array([15.0]))
    # At 15 C: P = 168 W, 48 above the overhead, which earns 0.96.
    assert -boxes.solve(cold, gap=1e-6).bound * boxes.market.unit < 1.05
