"""The cost model is stated three times, each on its own: for programs, verifier and certificate. They agree exactly."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lpsched.bag.breakdown import breakdown
from lpsched.bag.certificate.bounds import Prover
from lpsched.bag.cost import cost_model, exact_cost_model, profit_per_hour
from lpsched.bag.parts import Prices, Site
from lpsched.bag.schedule import NOTHING, MachineGroup, Run, Schedule
from lpsched.bag.search.curves import with_electricity
from lpsched.bag.verify import examine
from lpsched.model.fixed_point import rounded_up
from tests.property.bags import ORDINARY, UNEQUAL, plain_bags

if TYPE_CHECKING:
    from lpsched.bag.model import Bag

thorough = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MONEY = st.just(0.0) | st.floats(0.01, 1e4)


@st.composite
def sold_bags(draw) -> Bag:
    """Draw a bag whose every term of the cost model may be there or not; no limit that a schedule could break."""
    bag: Bag = draw(plain_bags(draw(st.sampled_from([ORDINARY, UNEQUAL]))))
    prices = Prices(
        per_bag=draw(MONEY),
        per_task=draw(st.dictionaries(st.sampled_from([task.name for task in bag.task_types]), MONEY)),
        electricity_per_kwh=draw(MONEY),
        overhead_per_bag=draw(MONEY),
    )
    pue = draw(st.just(1.0) | st.floats(1.0, 2.0))
    cap, meter = draw(st.none() | st.just(1e30)), draw(st.sampled_from(["facility", "it"]))
    return bag.model_copy(
        update={"prices": prices, "site": Site(pue=pue, average_power_cap_watts=cap, cap_measured_at=meter)}
    )


class OnFirsts:
    """The schedule that runs all tasks of a type in one column, on the first machine of that type, added up by hand."""

    def __init__(self, bag: Bag, pick: int) -> None:
        runs, self.busy, self.above = defaultdict(list), [Fraction(0) for _ in bag.machine_types], Fraction(0)
        self.kappa = Fraction(0)
        costs = exact_cost_model(bag)
        assert bag.watts is not None
        for i, task in enumerate(bag.task_types):
            present = [column for column, cell in enumerate(bag.seconds.row(i)) if cell is not None]
            column = present[pick % len(present)]
            j, k = bag.modes[column]
            machine = bag.machine_types[j]
            runs[j].append(Run(task.name, task.count, machine.p_states[k] if machine.p_states else None))
            seconds = task.count * Fraction(bag.seconds[i, column])
            joules = seconds * (Fraction(bag.watts[i, column]) - Fraction(machine.idle_watts))
            self.busy[j] += seconds
            self.above += joules
            self.kappa += costs.energy_price * joules + costs.wear(machine) * seconds
        names = [machine.name for machine in bag.machine_types]
        self.schedule = Schedule(tuple(MachineGroup(names[j], 1, tuple(each)) for j, each in runs.items()))
        self.seconds = max(self.busy)
        self.joules = self.above + costs.idle_watts * self.seconds


def down(exact: Fraction) -> float:
    return 0.0 - rounded_up(-exact)


@thorough
@given(bag=sold_bags(), pick=st.integers(0, 100))
def test_the_verifier_measures_the_profit_of_the_cost_model(bag, pick):
    way, costs = OnFirsts(bag, pick), exact_cost_model(bag)
    profit = profit_per_hour(costs, way.seconds, way.joules, way.busy)
    assert examine(bag, way.schedule).measured.profit_per_hour == down(profit)
    # R = (N - kappa x) / t - K, the form of programs and certificates, is the same number
    assert profit == 3600 * ((costs.income - way.kappa) / way.seconds - costs.fixed_rate(costs.idle_watts))
    waiting = examine(bag, NOTHING, may_wait=True).measured.profit_per_hour
    assert waiting == down(-3600 * costs.fixed_rate(costs.idle_watts))
    # and so do the parts of the breakdown, each rounded once
    assert breakdown(bag, way.schedule).per_hour.profit == float(profit)
    assert breakdown(bag, NOTHING).per_hour.profit == float(-3600 * costs.fixed_rate(costs.idle_watts))


@thorough
@given(bag=sold_bags(), per_kwh=MONEY)
def test_the_certificate_counts_with_the_numbers_of_the_cost_model(bag, per_kwh):
    prover, costs = Prover(bag), exact_cost_model(bag)
    assert prover.income() == costs.income
    assert prover.per_joule == costs.energy_price
    assert prover.fixed_rate() == costs.fixed_rate(costs.idle_watts)
    assert (prover.idle_watts, prover.headroom) == (costs.idle_watts, costs.headroom)
    assert prover.least_running_cost() == sum(task.count * min(kappas(bag, i)) for i, task in enumerate(bag.task_types))
    other = with_electricity(bag, per_kwh)
    assert prover.at_electricity(per_kwh).per_joule == exact_cost_model(other).energy_price


def kappas(bag: Bag, i: int) -> list[Fraction]:
    """Return what one task costs in each column where it can run."""
    costs, found = exact_cost_model(bag), []
    for (j, _), seconds, watts in zip(bag.modes, bag.seconds.row(i), bag.watts.row(i), strict=True):
        if seconds is not None:
            machine = bag.machine_types[j]
            above = Fraction(seconds) * (Fraction(watts) - Fraction(machine.idle_watts))
            found.append(costs.energy_price * above + costs.wear(machine) * Fraction(seconds))
    return found


@thorough
@given(bag=sold_bags(), money=MONEY)
def test_doubles_are_the_fractions_but_for_rounding(bag, money):
    doubles, exact = cost_model(bag), exact_cost_model(bag)

    def same(one: float, other: Fraction, size: float = 0.0) -> bool:
        return one == pytest.approx(float(other), rel=1e-12, abs=1e-12 * size)

    size = doubles.revenue + bag.prices.overhead_per_bag
    assert same(doubles.income, exact.income, size)
    assert same(doubles.price_at(doubles.income), exact.revenue, size)
    assert same(doubles.energy_price, exact.energy_price)
    assert same(doubles.kwh_price(doubles.joule_price(money)), Fraction(money))
    assert same(doubles.fixed_rate(doubles.idle_watts), exact.fixed_rate(exact.idle_watts))
    for machine in bag.machine_types:
        assert same(doubles.own_rate(machine), exact.own_rate(machine))
        assert same(doubles.wear(machine), exact.wear(machine))
    # what all machines cost that there are, is what a second costs
    assert sum(each.count * exact.own_rate(each) for each in bag.machine_types) == exact.fixed_rate(exact.idle_watts)
