"""Machines that cost more than they add, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, TaskType
from lpsched.bag.pricing.one_more import with_fewer
from lpsched.bag.solve import solve
from lpsched.model.table import Table


def idle_rest(spare: int) -> Bag:
    """Return one task of an hour that sells for 10, on machines that lose 1 an hour each."""
    own = MachineType(name="own", count=1 + spare, purchase_price=10.0, mean_hours_to_failure=10.0)
    prices = Prices(per_bag=10.0, electricity_per_kwh=0.0)
    return Bag("b", (own,), (TaskType(name="t", count=1),), Table.of([[3600.0]]), None, prices)


def test_machines_without_a_task_are_better_not_there():
    # Four machines: 10 - 4 = 6 an hour; one: 10 - 1 = 9.
    result = with_fewer(solve(idle_rest(3)))
    assert result.value == pytest.approx(6.0)
    found = result.fewer_machines
    assert found.machine_types == {"own": 1}
    assert found.change.at_least == pytest.approx(3.0)
    assert found.change.at_least <= 3.0 <= found.change.at_most
    assert result.to_dict()["fewer_machines"]["machine_types"] == {"own": 1}


def test_nothing_is_said_where_all_machines_are_needed_or_nothing_is_proved():
    assert with_fewer(solve(idle_rest(0))).fewer_machines is None
    far = replace(solve(idle_rest(3)), bound=9.5)  # a bound that leaves room: 9 with fewer is no more than that
    assert with_fewer(far).fewer_machines is None
    assert with_fewer(solve(idle_rest(3), objective="makespan")).fewer_machines is None
    assert with_fewer(solve(idle_rest(3), price=0.0)).fewer_machines is None  # nothing runs


def test_solve_tells_where_fewer_machines_earn_more():
    assert solve(idle_rest(3)).fewer_machines is None
    found = solve(idle_rest(3), marginals="top").fewer_machines
    assert found == with_fewer(solve(idle_rest(3))).fewer_machines
    assert found is not None
