"""The best allocation at given temperatures: by hand, when nothing is possible, and when there is no time."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.facility.air import facility_arrays, heat_map
from lpsched.facility.model import CracUnit, Mixing, SparseMatrix
from lpsched.facility.outlets.fixed import Pool, best_at, node_watts
from lpsched.facility.patterns import NodeMarket
from lpsched.lp.solvers import HighsSolver
from tests.paper_facility import paper_facility


def best(facility, *outlets, **options):
    arrays, heat = facility_arrays(facility), heat_map(facility)
    return best_at(arrays, heat, np.array(outlets), solver=HighsSolver(), **options)


def test_a_colder_unit_leaves_less_power_for_the_node():
    # At 24 C the total is P (1 + 10 / 24), so 280 W leave P = 197.647: 77.647 W above the overhead. A share s of
    # the time both cores, 50 + 50 s W, so s = 0.55294; both earn 4/3, one earns 1: 1 + s / 3.
    found = best(paper_facility(), 24.0)
    assert found.value == pytest.approx(1.0 + 0.552941176 / 3.0, rel=1e-8)
    assert found.value <= found.bound <= found.value * (1.0 + 1e-6)
    assert node_watts(facility_arrays(paper_facility()), found) == pytest.approx([280.0 / (1.0 + 10.0 / 24.0)])
    assert sorted((round(share, 6), q.watts) for share, q in found.shares[0]) == [(0.447059, 50.0), (0.552941, 100.0)]


def test_the_prices_are_what_one_more_of_each_limit_brings():
    # A watt of the node earns 1/3 / 50, and costs 1 + 10 / 24 of the cap. Time: at that price p = 1/150, both cores
    # gain 4/3 - 100 p = 2/3, and so does one: 1 - 50 p.
    prices = best(paper_facility(), 24.0).prices
    assert prices.cap == pytest.approx(1.0 / 150.0 / (1.0 + 10.0 / 24.0))
    assert prices.nodes == pytest.approx([2.0 / 3.0])
    assert prices.tasks == pytest.approx([1.0])
    assert prices.arrivals == pytest.approx([0.0], abs=1e-9)
    assert prices.redlines == pytest.approx([0.0], abs=1e-9)


def test_a_redline_that_binds_has_a_price_and_the_cap_has_none():
    # At 25.1 C the inlet 25.1 + P / 400 <= 25.5 allows P = 160 W, which takes 160 (1 + 10 / 25.1) = 224 W. A kelvin
    # more is 400 W; 40 W above the overhead are 0.8 of the time one core, at 1/50 for each watt.
    found = best(paper_facility(), 25.1)
    assert found.value == pytest.approx(0.8)
    assert found.prices.redlines == pytest.approx([400.0 / 50.0])
    assert found.prices.cap == pytest.approx(0.0, abs=1e-9)


def test_few_arrivals_bind_before_power_does():
    found = best(paper_facility(arrivals=0.5), 24.0)
    assert found.value == pytest.approx(0.5)
    assert found.prices.arrivals == pytest.approx([1.0])


def test_idle_nodes_that_are_too_hot_are_told_with_their_temperature():
    # Idle: 26 + 120 / 400 = 26.3 C.
    with pytest.raises(InfeasibleError, match=r"node 0 draws in air of 26\.300 °C .* redline is 25\.5 °C; lower"):
        best(paper_facility(), 26.0)


def test_idle_nodes_that_draw_more_than_the_cap_are_told_with_the_watts():
    # Idle at 20 C: 120 (1 + 10 / 20) = 180 W.
    with pytest.raises(InfeasibleError, match=r"draw 180\.0 W, 10\.0 W more than the cap of 170 W; raise"):
        best(paper_facility(cap=170.0), 20.0)


def two_units(cap=10_000.0):
    """Return the paper's facility with a second unit that draws in 30 % of the first one's air."""
    plain = paper_facility(cap=cap)
    rows = [[(0, 0.2), (1, 0.4), (2, 0.4)], [(0, 0.8), (1, 0.2)], [(0, 0.8), (2, 0.2)]]
    unit = plain.crac_units[0].model_copy(update={"airflow_m3_per_second": 0.05})
    units = (unit, CracUnit("second", 0.05, unit.outlet_celsius, unit.cop))
    return plain.model_copy(update={"crac_units": units, "mixing": Mixing("inlet_mix", SparseMatrix.of(rows, 3))})


def test_a_unit_that_would_have_to_heat_is_told_with_the_kelvins():
    # t = 0.2 (t + P / 100) + 0.4 (10 + 25): t = 17.5 + P / 400. The unit at 25 C draws in 0.8 (t + P / 100) + 5
    # = 19 + P / 100 C: idle nodes leave it 4.8 K short, and P = 600 W it cannot get.
    with pytest.raises(InfeasibleError, match=r"CRAC unit 1 blows at 25 °C but draws in air that is 4\.800 K cooler"):
        best(two_units(), 10.0, 25.0)


def test_a_unit_that_only_busy_nodes_let_cool_forces_them_to_be_busy():
    # At 18 and 20 C: t = 19 + P / 400, and unit 1 draws in 0.8 (19 + P / 80) + 4 = 19.2 + P / 100 >= 20: P >= 80 W.
    # At 14 and 18 C: t = 16 + P / 400, 0.8 * 16 + 3.6 + P / 100 = 16.4 + P / 100 >= 18: P >= 160 W, 40 above idle.
    facility = two_units().model_copy(
        update={"task_types": (two_units().task_types[0].model_copy(update={"arrivals_per_second": 0.1}),)}
    )
    found = best(facility, 14.0, 18.0)
    assert node_watts(facility_arrays(facility), found) >= 160.0 - 1e-6
    with pytest.raises(NotFoundError, match="no allocation was found in time"):
        best(facility, 14.0, 18.0, cancel=CancelToken(0.0))


def test_no_time_still_gives_idle_nodes_and_a_bound_that_holds():
    found = best(paper_facility(), 24.0, cancel=CancelToken(0.0))
    assert 0.0 <= found.value <= 1.1843137 <= found.bound < np.inf


def test_what_other_temperatures_found_does_not_change_the_answer():
    facility = paper_facility(nodes=3, cap=800.0)
    pool = Pool(NodeMarket(facility_arrays(facility)))
    for outlet in (20.0, 24.0, 24.5):
        assert best(facility, outlet, pool=pool).value == pytest.approx(best(facility, outlet).value, rel=1e-9)
    assert pool.runs
