"""What was made for whole days, on a day with a period: cut, counted, or refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError
from lpsched.evolve.nsga2 import evolve_front
from lpsched.instances import risk_of
from lpsched.model.risk import RiskOptions
from lpsched.online.compare.day_fronts import compare_day_fronts
from lpsched.online.compare.schedules import validate_day, within_period
from lpsched.online.evolve import DayProblem, SampledDayScorer
from lpsched.online.parts import Period
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.verify.day import examine, measure
from tests.days import decaying, simple_day
from tests.property.days import days, periods, schedules_of

# Four tasks at once on one machine: 10 s at 5 W, always worth 8.
WHOLE = simple_day([[10.0]], [[5.0]], [1], [(0.0, 0, decaying(8.0))] * 4)
ALL = tuple(PlacedTask(n, "m0", 1, 10.0 * n) for n in range(4))


def violations(day, schedule):
    return examine(day, schedule).violations


def cut_to(period, placed=ALL):
    return within_period(WHOLE.model_copy(update={"period": period}), DaySchedule(placed)).placed


def test_a_whole_day_leaves_nothing_out():
    assert cut_to(Period()) == ALL
    assert cut_to(Period(15.0, 100.0)) == ALL


def test_what_would_start_when_the_period_is_over_is_left_out():
    assert cut_to(Period(length_seconds=30.0)) == ALL[:3]
    assert cut_to(Period(length_seconds=30.5, edge="completed")) == ALL
    # however many there are: no more than 1,000 errors are told of one schedule
    late = tuple(PlacedTask(0, "m0", 1, 50.0) for _ in range(1500))
    assert cut_to(Period(length_seconds=30.0), (*late, *ALL)) == ALL[:3]


def test_what_would_break_the_energy_constraint_is_left_out_in_the_order_of_starts():
    # From 5 s on: 25, 50, 50 and 50 J count; the order of the rows does not matter.
    assert cut_to(Period(5.0, 100.0, "prorated", 75.0), ALL[::-1]) == ALL[:2]
    assert cut_to(Period(5.0, 100.0, "prorated", 24.0)) == ()
    # A later task that counts less still fits: the last one ends at 40 s, the period at 31 s.
    assert cut_to(Period(length_seconds=31.0, energy_constraint_joules=56.0)) == (ALL[0], ALL[3])


def test_a_schedule_that_breaks_other_rules_stays_as_it_is():
    broken = (PlacedTask(9, "m0", 1, 0.0), PlacedTask(0, "nowhere", 1, 0.0), *ALL)
    assert cut_to(Period(length_seconds=30.0, energy_constraint_joules=1.0), broken) == broken


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_what_is_left_of_a_valid_schedule_is_valid(data):
    whole = data.draw(days())
    schedule = data.draw(schedules_of(whole))
    day = whole.model_copy(update={"period": data.draw(periods())})
    left = within_period(day, schedule)
    assert violations(day, left) == ()
    assert set(left.placed) <= set(schedule.placed)
    if not violations(day, schedule):
        assert left == schedule


def test_heuristics_are_cut_and_counted_by_the_period():
    # Tasks end at 10, 20, 30 s; the last one starts at 30 s, half of it counts until 35 s.
    day = WHOLE.model_copy(update={"period": Period(5.0, 30.0)})
    result = validate_day(day, heuristics=["min-min"])
    (entry,) = result.entries
    assert entry.valid
    # 4 + 8 + 8 + 4 of utility, 25 + 50 + 50 + 25 J, three ends within
    assert entry.measured.utility == pytest.approx(24.0)
    assert entry.measured.energy_joules == 150.0
    assert (entry.measured.completed, entry.measured.dropped) == (3, 0)
    assert entry.bound == pytest.approx(24.0)  # 8 for 50 J
    assert result.to_dict()["period"] == {
        "warm_up_seconds": 5.0,
        "length_seconds": 30.0,
        "edge": "prorated",
        "energy_constraint_joules": None,
    }
    assert validate_day(WHOLE).to_dict()["period"] is None


def test_schedules_that_are_brought_are_not_cut():
    day = WHOLE.model_copy(update={"period": Period(length_seconds=30.0)})
    (entry,) = validate_day(day, {"mine": DaySchedule(ALL)}).entries
    assert [each.code for each in entry.violations] == ["starts-after-the-day"]


def test_a_front_holds_cut_points_below_the_envelope():
    day = WHOLE.model_copy(update={"period": Period(length_seconds=25.0, energy_constraint_joules=130.0)})
    (entry,) = compare_day_fronts(day, ["min-min"]).entries
    # the third one counts for a half: 50 + 50 + 25 J and 20 utility
    (point,) = entry.points
    assert point.energy_joules == 125.0
    assert point.utility == pytest.approx(20.0)
    assert entry.mean_distance == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("run", "what"),
    [
        pytest.param(lambda day: compare_day_fronts(day, ["nsga2"]), "NSGA-II", id="front"),
        pytest.param(lambda day: validate_day(day, heuristics=["mct", "nsga2"]), "NSGA-II", id="validate"),
        pytest.param(lambda day: evolve_front(DayProblem(day), rng=None), "NSGA-II", id="evolution"),
        pytest.param(lambda day: validate_day(day, heuristics=["mct"], risk=RiskOptions()), "sampling", id="risk"),
        pytest.param(lambda day: risk_of(day, DaySchedule(())), "sampling", id="risk-of"),
        pytest.param(lambda day: SampledDayScorer(day, RiskOptions(), seed=0), "sampling", id="percentiles"),
    ],
)
def test_what_knows_of_no_period_says_so_before_any_work(run, what):
    day = WHOLE.model_copy(update={"period": Period(length_seconds=30.0)})
    with pytest.raises(InstanceError, match=f"expected a day that counts as a whole: {what} can do no other"):
        run(day)


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_no_schedule_of_a_day_with_a_period_is_above_the_bound_without_waiting(data):
    whole = data.draw(days())
    schedule = data.draw(schedules_of(whole))
    day = whole.model_copy(update={"period": data.draw(periods())})
    left = within_period(day, schedule)
    (entry,) = validate_day(day, {"drawn": left}).entries  # raises if it is
    assert entry.measured == measure(day, left)
