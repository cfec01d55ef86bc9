from __future__ import annotations

import json

import numpy as np
import pytest

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.schedule import MachineGroup, Run, Schedule
from lpsched.bag.solve import solve
from lpsched.errors import InstanceError
from lpsched.instances import risk_of
from lpsched.model.risk import RiskOptions
from lpsched.model.table import Table
from lpsched.online.schedule import DaySchedule, PlacedTask
from tests.days import decaying, simple_day


@pytest.fixture
def bag():
    """One machine, one exponential task at best: 10 s, 100 W, sold for 1 a bag at 3.6 a kWh."""
    return Bag(
        "one",
        (MachineType(name="cpu", count=1, idle_watts=10.0),),
        (TaskType(name="a", count=4),),
        Table.of([[10.0]]),
        Table.of([[100.0]]),
        Prices(per_bag=0.005, electricity_per_kwh=3.6),
    )


ALL = Schedule((MachineGroup("cpu", 1, (Run("a", 4),)),))


def test_a_solve_that_asks_gets_the_risk_of_its_own_schedule(bag):
    result = solve(bag, risk=RiskOptions(samples=500, cov=0.5), seed=3)
    assert result.risk == risk_of(bag, result.schedule, samples=500, cov=0.5, seed=3)
    assert result.risk.quantities["profit_per_hour"].planned == result.value
    assert result.risk.quantities["makespan_seconds"].planned == 40.0
    assert result.to_dict()["risk"]["samples"] == 500
    assert "risk" in result.timings


@pytest.mark.parametrize("own", [True, False])
def test_each_pair_scatters_as_the_tables_of_the_file_say(own):
    # Two machines, four tasks each: of 10 s, which do not scatter, and of 5 s with a variation of 0.5.
    tables = {"seconds_cov": Table.of([[0.0, 0.5]]), "watts_cov": Table.of([[0.0, 0.1]])} if own else {}
    machines = (MachineType(name="sure", count=1), MachineType(name="odd", count=1))
    watts = Table.of([[100.0, 100.0]])
    bag = Bag("two", machines, (TaskType(name="a", count=8),), Table.of([[10.0, 5.0]]), watts, **tables)
    on = {name: MachineGroup(name, 1, (Run("a", 4),)) for name in ("sure", "odd")}
    schedule = Schedule(tuple(on.values()))
    if not own:
        with pytest.raises(InstanceError, match=r"cov: got 'file', but no table seconds_cov.*\n.*power-cov"):
            risk_of(bag, schedule, cov="file")
        assert risk_of(bag, schedule, cov=0.1, power_cov=0.0).power_cov == "0"
        return
    risk = risk_of(bag, schedule, samples=4000, cov="file")
    makespan, energy = risk.quantities["makespan_seconds"], risk.quantities["energy_joules"]
    # The machine that scatters has a mean of 20 s and a deviation of 5 x 0.5 x 2 = 5 s: longer than 40 s at 4 deviations.
    assert makespan.percentiles[50.0] == makespan.planned == 40.0
    # 4,000 J are certain; the others deviate by 5 s x 100 W = 500 J, and by their power: 5 x 100 x 0.1 x 1.12 x 2 = 112 J.
    assert energy.standard_deviation == pytest.approx((500.0**2 + 112.0**2) ** 0.5, rel=0.05)
    assert (risk.cov, risk.power_cov) == ("file", "file")
    assert "as in the file's tables" in risk.heading()


def test_a_solve_that_does_not_ask_says_nothing_of_risk(bag):
    result = solve(bag)
    assert result.risk is None
    assert "risk" not in result.to_dict()
    assert "risk" not in result.timings


def test_doing_nothing_has_no_risk(bag):
    result = solve(bag, price=0.0, risk=RiskOptions())
    assert not result.schedule.groups
    assert result.to_dict()["risk"] is None


def test_the_risk_is_that_of_the_price_asked_for(bag):
    cheap, dear = (solve(bag, price=price, risk=RiskOptions(), deadline=1000.0).risk for price in (0.004, 1.0))
    assert cheap.chances["loss"].share > 0.2
    assert dear.chances["loss"].share == 0.0
    assert set(dear.chances) == {"loss", "after_deadline"}


def test_the_chance_of_a_loss_is_the_share_of_samples_that_lose(bag):
    # It costs 3.6 / 3.6e6 = 1e-6 a joule: a loss when more than 5000 J are drawn. 4 tasks of cov 1 have a mean of
    # 4000 J and a standard deviation of 1000 sqrt(4 x 3) = 3464 J: gamma-like, so some 27 %.
    risk = risk_of(bag, ALL, samples=4000, cov=1.0)
    loss = risk.chances["loss"]
    assert loss.low < loss.share < loss.high
    assert 0.2 < loss.share < 0.35
    percentile = 100 * loss.share
    at = risk_of(bag, ALL, samples=4000, cov=1.0, percentiles=[percentile]).quantities["profit_per_hour"]
    assert next(iter(at.percentiles.values())) == pytest.approx(0.0, abs=0.01 * at.standard_deviation)


def test_chances_to_break_limits_are_told_where_there_are_limits(bag):
    # 40 s planned, deadline 40 s: about half of the samples are late (the median of a gamma is below its mean).
    # 100 W while it runs; powers are certain, so the average is 100 W in all samples: never above a cap of 100 W.
    tight = bag.model_copy(update={"site": Site(deadline_seconds=40.0, average_power_cap_watts=100.0)})
    risk = risk_of(tight, ALL, samples=2000, cov=0.3, power_cov=0.0)
    assert 0.4 < risk.chances["after_deadline"].share < 0.5
    assert risk.chances["over_power_cap"].share == 0.0
    risk = risk_of(tight, ALL, samples=2000, cov=0.3, power_cov=0.3)
    assert 0.4 < risk.chances["over_power_cap"].share < 0.52
    at_facility = tight.model_copy(update={"site": Site(pue=2.0, average_power_cap_watts=200.0)})
    same = risk_of(at_facility, ALL, samples=2000, cov=0.3, power_cov=0.3)
    assert same.chances["over_power_cap"] == risk.chances["over_power_cap"]
    lavish = tight.model_copy(update={"site": Site(deadline_seconds=1e4, average_power_cap_watts=1e4)})
    assert {each.share for name, each in risk_of(lavish, ALL).chances.items() if name != "loss"} == {0.0}


def test_moments_are_those_of_the_samples(bag):
    risk = risk_of(bag, ALL, samples=50, cov=0.4, percentiles=(0, 50, 100))
    names = list(risk.quantities)
    assert names == ["profit_per_hour", "makespan_seconds", "energy_joules"]
    matrix = np.array(risk.covariance)
    assert matrix == pytest.approx(matrix.T)
    for place, name in enumerate(names):
        each = risk.quantities[name]
        assert each.standard_deviation**2 == pytest.approx(matrix[place, place])
        assert each.standard_error == pytest.approx(each.standard_deviation / 50**0.5)
        assert each.percentiles[0] < each.percentiles[50] < each.percentiles[100]
        assert each.percentiles[0] < each.mean < each.percentiles[100]
    assert matrix[1, 2] > 0.0  # who takes longer takes more energy,
    assert matrix[0, 1] < 0.0  # and earns less


def test_a_bag_without_watts_and_prices_tells_the_makespan_only(bag):
    plain = bag.model_copy(update={"watts": None, "prices": Prices()})
    risk = risk_of(plain, ALL, samples=10)
    assert list(risk.quantities) == ["makespan_seconds"]
    assert len(risk.covariance) == 1
    assert not risk.chances


def test_a_mean_that_does_not_exist_is_none_and_not_infinite(bag):
    # The mean of 1 / t does not exist for a single task with so large a spread: some samples take next to no time.
    single = bag.model_copy(update={"task_types": (TaskType(name="a", count=1),)})
    schedule = Schedule((MachineGroup("cpu", 1, (Run("a", 1),)),))
    told = risk_of(single, schedule, samples=1000, cov=5.0).to_dict()
    json.dumps(told, allow_nan=False)
    assert told["makespan_seconds"]["mean"] > 0.0


def test_an_invalid_schedule_is_refused_with_the_rule_it_breaks(bag):
    short = Schedule((MachineGroup("cpu", 1, (Run("a", 3),)),))
    with pytest.raises(InstanceError, match="3 tasks of type 'a' run, but there are 4, expected a valid schedule"):
        risk_of(bag, short)


def test_a_schedule_of_another_kind_is_refused(bag):
    with pytest.raises(InstanceError, match="got a DaySchedule, expected a schedule of a bag"):
        risk_of(bag, DaySchedule(()))
    with pytest.raises(InstanceError, match="got a Schedule, expected a schedule of a day"):
        risk_of(two_tasks(), ALL)


def two_tasks():
    return simple_day([[10.0]], [[100.0]], [1], [(0.0, 0, decaying(8.0, 0.01)), (0.0, 0, decaying(4.0, until=25.0))])


def test_a_day_tells_utility_energy_makespan_and_dropped_tasks():
    schedule = DaySchedule((PlacedTask(0, "m0", 1, 0.0), PlacedTask(1, "m0", 1, 10.0)))
    risk = risk_of(two_tasks(), schedule, samples=300, cov=0.5, drop_below=0.5)
    assert list(risk.quantities) == ["utility", "energy_joules", "makespan_seconds", "dropped_tasks"]
    assert risk.quantities["energy_joules"].planned == 2000.0
    assert risk.quantities["dropped_tasks"].planned == 0.0
    assert 0.0 < risk.quantities["dropped_tasks"].mean < 1.0
    assert risk.covariance[0][2] < 0.0  # who ends later earns less
    assert not risk.chances
    broken = DaySchedule((PlacedTask(0, "m0", 2, 0.0),))
    with pytest.raises(InstanceError, match="expected a valid schedule"):
        risk_of(two_tasks(), broken)
