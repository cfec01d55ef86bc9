"""What is claimed about one more machine or task holds of every schedule of tiny bags; broken claims are found.

`scripts/check_claims.py` holds thousands of bags like these.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from lpsched.bag.parts import Prices
from lpsched.bag.pricing.one_more import with_one_more
from lpsched.bag.result import Between
from tests.property import claims
from tests.property.claims import drawn_bag, false_counts, false_curve, false_prices, false_steps
from tests.support import simple_bag

SEEDS = range(16)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_more_changes_the_best_by_what_is_proved(seed):
    bag = drawn_bag(seed)
    assert not false_steps(bag, effort=("fast", "balanced")[seed % 2])
    assert not false_steps(bag, objective=("makespan", "energy")[seed % 2])


@pytest.mark.parametrize("seed", [*SEEDS, 5578])  # there the bound is level but for rounding
def test_more_machines_than_the_worthwhile_number_never_earn_more(seed):
    assert not false_counts(drawn_bag(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_waiting_is_best_and_nothing_earns_where_that_is_claimed(seed):
    assert not false_prices(drawn_bag(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_and_regimes_over_the_price_hold_of_every_schedule(seed):
    assert not false_curve(drawn_bag(seed))


def test_waiting_is_best_only_between_two_prices_where_tasks_draw_less_than_idle_machines():
    # 1 W running, 3 W idle, 1 s: 2 J saved. 5 uUSD of overhead above a price of 3: run from 1 uUSD a joule on.
    saving = simple_bag([[1.0]], [1], [1], watts=[[1.0]], idle=[3.0]).model_copy(
        update={"prices": Prices(per_bag=3e-6, electricity_per_kwh=0.0, overhead_per_bag=5e-6)}
    )
    assert false_prices(saving) == []


def test_a_wrong_step_is_found(monkeypatch):
    # The LP's derivative in place of the step: the third of two machines, for three tasks, brings more than that.
    bag = simple_bag([[3600.0]], [3], [2], watts=[[100.0]], idle=[10.0]).model_copy(
        update={"prices": Prices(per_bag=60.0, electricity_per_kwh=0.2)}
    )
    assert false_steps(bag) == []

    def wrong(bag, result, **options):
        found = with_one_more(bag, result, **options)
        assert found.one_more is not None
        most = {name: Between(None, value) for name, value in result.worth.machine_types.items()}
        return replace(found, one_more=replace(found.one_more, machine_types=type(found.one_more.machine_types)(most)))

    monkeypatch.setattr(claims, "with_one_more", wrong)
    assert false_steps(bag) != []
