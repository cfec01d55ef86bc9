"""What a price curve calls loss and profit is what its bounds prove, also where a search has bettered them."""

from __future__ import annotations

import itertools

import pytest

from lpsched.bag.model import Bag
from lpsched.bag.overview import schedule_segments
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.relaxation import Regime
from lpsched.bag.solve import solve
from lpsched.model.table import Table
from lpsched.report.html.bag import NOTES, PROVED

pytestmark = pytest.mark.rotate_tests(2)

# Sixteen tasks on five machines: whole tasks need some 3.5 % more for profit than split ones.
MID = Bag(
    "mid",
    (
        MachineType(name="a", count=3, idle_watts=40.0),
        MachineType(name="b", count=2, idle_watts=90.0, purchase_price=3000.0, mean_hours_to_failure=30000.0),
    ),
    (TaskType(name="t", count=7), TaskType(name="u", count=5), TaskType(name="v", count=4)),
    Table.of([[31.7, 17.3], [47.1, 29.9], [83.3, 41.9]]),
    Table.of([[140.0, 310.0], [150.0, 290.0], [160.0, 333.0]]),
    Prices(per_bag=0.05, electricity_per_kwh=0.9),
)
ROUNDING = 1e-12


@pytest.fixture(scope="module")
def curve():
    return price_curve(MID)


def assert_true_regimes(pieces):
    for piece in pieces:
        ends = [end for end in (piece.bound_at_from, piece.bound_at_to) if end is not None]
        if piece.regime is Regime.PROFIT:
            assert min(ends) >= -ROUNDING
            assert len(ends) == 1 or max(ends) > 0
        else:
            assert max(ends) <= ROUNDING


def test_no_piece_contradicts_its_bound(curve):
    assert_true_regimes(curve.pieces)
    assert [piece.regime for piece in curve.pieces[-2:]] == [Regime.PROFIT, Regime.PROFIT]  # cut at its own price
    assert all(one.to_price == two.from_price for one, two in itertools.pairwise(curve.pieces))


def test_no_profit_is_proved_up_to_the_break_even_price(curve):
    split = price_curve(MID, effort="fast").break_even_price
    assert split == pytest.approx(0.0377495, rel=1e-5)
    assert curve.break_even_price > 1.03 * split
    (first,) = [piece for piece in curve.pieces if piece.bound_at_to and piece.bound_at_from == pytest.approx(0)]
    assert first.from_price == pytest.approx(curve.break_even_price, rel=1e-12)
    # Nor does a schedule earn there: the value that is found says the same.
    assert first.value_at_from < 0
    for share in (1.0, 0.99):
        assert solve(MID, price=share * curve.break_even_price).value <= 0


def test_along_the_slider_neither_bound_nor_value_contradicts_its_regime(curve):
    stretches = schedule_segments(MID, curve)
    for each in stretches:
        assert (each.bound_at_from + each.bound_at_to > 0) == (each.bound_regime is Regime.PROFIT)
        assert min(each.bound_at_from * each.bound_at_to, 0.0) > -ROUNDING  # no change of sign
        assert each.bound_at_from >= each.value_at_from
        assert each.bound_at_to >= each.value_at_to


def test_a_loss_at_the_own_price_is_one_on_the_curve():
    # At 0.038 the linear program leaves room for profit, and the search does not.
    found = price_curve(MID.model_copy(update={"prices": Prices(per_bag=0.038, electricity_per_kwh=0.9)}))
    assert_true_regimes(found.pieces)
    assert found.break_even_price > 0.038


def test_under_a_deadline_too():
    found = price_curve(MID.model_copy(update={"site": Site(deadline_seconds=150.0)}))
    assert_true_regimes(found.pieces)
    assert found.least_price_to_run is None


def test_outside_the_range_there_is_no_break_even_price():
    ratio = 0.05 / 0.0313767  # beyond it there is profit only
    assert price_curve(MID, from_ratio=ratio, effort="fast").break_even_price is None
    assert price_curve(MID, to_ratio=1.0, effort="fast").break_even_price is None


def test_the_slider_does_not_promise_what_solve_says_at_another_price(curve):
    price = 0.044  # between two breakpoints: there the bound is a line, and a search of its own proves less
    (stretch,) = [each for each in schedule_segments(MID, curve) if each.from_price <= price < each.to_price]
    share = (price - stretch.from_price) / (stretch.to_price - stretch.from_price)
    shown = (1 - share) * stretch.bound_at_from + share * stretch.bound_at_to
    assert solve(MID, price=price).bound < shown * (1 - 1e-6)
    assert "At other prices than the current one, 'lpsched solve' may prove a lower bound" in NOTES
    assert "exact" not in PROVED + NOTES
