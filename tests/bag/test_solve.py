"""Every stage together: by hand, in all regimes, and what happens when a part lies."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lpsched
from lpsched.bag.files import read_bag
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.problem import MAKESPAN, prover_of
from lpsched.bag.recovery import stages as recovering
from lpsched.bag.relaxation import Regime
from lpsched.bag.schedule import Schedule
from lpsched.errors import InfeasibleError, InstanceError, InvalidScheduleError, SolverError
from lpsched.lp.program import LinearProgram, LpStatus
from lpsched.lp.solvers import HighsSolver
from lpsched.model.provenance import relative_gap
from lpsched.model.table import Table
from tests.support import bags, half_full, simple_bag

# The papers' method: what is tested here is about the relaxation, not about how hard is searched.
solve = partial(lpsched.solve, effort="fast")

INSTANCES = Path(__file__).parent.parent.parent / "instances"
TINY = read_bag(INSTANCES / "tiny.yaml")
SMALL = st.integers(1, 9).map(float) | st.floats(0.125, 9)


def test_tiny_has_the_makespan_on_paper():
    result = solve(TINY, objective="makespan")
    assert result.value == 12.0
    assert result.bound == pytest.approx(12.0, rel=1e-15)  # the prices 2 and 1 come scaled, in doubles
    assert result.bound <= 12.0
    assert result.measured.energy_joules == 8400.0
    assert result.status.value == "optimal"
    assert (result.regime, result.worth) == (None, None)


def test_tiny_has_the_energy_on_paper():
    result = solve(TINY, objective="energy")
    assert (result.value, result.measured.makespan_seconds) == (6600.0, 30.0)
    assert result.bound == pytest.approx(6600.0, rel=1e-15)


def test_tiny_has_the_profit_on_paper_and_profit_is_what_a_price_asks_for():
    result = solve(TINY)
    assert (result.objective, result.unit, result.regime) == ("profit", "USD/hour", Regime.PROFIT)
    assert result.value == pytest.approx(3.48, rel=1e-12)
    assert result.bound == pytest.approx(3.48, rel=1e-12)
    assert result.value <= result.bound


def test_without_a_price_the_makespan_is_asked_for():
    assert solve(TINY.model_copy(update={"prices": Prices()})).objective == "makespan"
    assert solve(TINY.model_copy(update={"prices": Prices(electricity_per_kwh=3.6)}), price=0.02).objective == "profit"


# In tiny, the joules above idle are at least 5,400: a price up to 0.0054 USD is not worth running for. It breaks
# even at the energy of the thrifty end, 6,600 J: 0.0066 USD.
@pytest.mark.parametrize(
    ("price", "regime", "rate"),
    [
        (0.0, Regime.DO_NOT_RUN, -0.144),  # 40 W idle at 1 USD a megajoule, an hour: 0.144 USD
        (0.005, Regime.DO_NOT_RUN, -0.144),
        (0.006, Regime.LOSS, (0.006 - 0.0066) / 30 * 3600),
        (0.0095, Regime.PROFIT, (0.0095 - 0.0066) / 30 * 3600),
        (0.0097, Regime.PROFIT, (0.0097 - 0.0084) / 12 * 3600),
    ],
)
def test_tiny_is_run_at_a_profit_at_a_loss_or_not_at_all(price, regime, rate):
    result = solve(TINY, price=price)
    assert (result.regime, result.bound_regime) == (regime, regime)
    assert result.value == pytest.approx(rate, rel=1e-12)
    assert result.bound == pytest.approx(rate, rel=1e-12)


def test_what_is_not_run_has_neither_makespan_nor_energy_and_no_schedule():
    result = solve(TINY, price=0.001)
    assert (result.measured.makespan_seconds, result.measured.energy_joules) == (None, None)
    assert result.schedule.groups == ()
    assert result.gap == 0.0 or result.gap == pytest.approx(0, abs=1e-15)
    assert result.status.value == "optimal"


def test_a_deadline_forces_the_work_and_the_loss_is_spread_until_then():
    # At a price of 0 the least energy above idle costs 0.0054 USD; spread over 100 s that is 0.1944 USD an
    # hour, and 40 W of idling another 0.144.
    result = solve(TINY, price=0.0, deadline=100.0)
    assert result.regime is Regime.LOSS
    assert result.value == pytest.approx(-(0.0054 / 100 * 3600 + 0.144), rel=1e-12)
    assert result.bound == pytest.approx(result.value, rel=1e-12)
    assert result.schedule.makespan_seconds == 100.0


def test_a_deadline_on_the_front_costs_the_energy_of_its_point():
    # The front from (6,600 J, 30 s) to (8,400 J, 12 s): 100 J for each second saved; at 21 s 7,500 J.
    result = solve(TINY, objective="energy", deadline=21.0)
    assert result.bound == pytest.approx(7500.0, rel=1e-12)
    assert result.measured.makespan_seconds <= 21.0
    assert result.value >= 7500.0


def test_a_deadline_shorter_than_the_bound_is_infeasible_and_both_numbers_are_named():
    with pytest.raises(InfeasibleError, match=r"the deadline is 11\.9 s, but no schedule takes less than 12 s"):
        solve(TINY, deadline=11.9)


def test_a_deadline_that_only_split_tasks_meet_is_infeasible_where_all_assignments_can_be_searched():
    # 4 s if tasks could be split, 6 s as they are.
    with pytest.raises(InfeasibleError, match=r"deadline is 5 s"):
        solve(half_full(), deadline=5.0)


def test_a_deadline_that_the_first_schedule_misses_is_met_by_another():
    # Energy first would put all on the thrifty machine; the deadline lets just one task stay there.
    bag = simple_bag([[1.0, 3.0]], [4], [1, 1], watts=[[300.0, 10.0]], idle=[0.0, 0.0])
    result = solve(bag, objective="energy", deadline=3.5)
    assert result.measured.makespan_seconds == 3.0
    assert result.value == 930.0


@pytest.mark.parametrize(
    ("site", "message"),
    [
        pytest.param(
            Site(average_power_cap_watts=52.0, pue=1.3),
            "is 52 W at the facility, which leaves 40 W for the machines, but idle machines alone draw 40 W",
            id="at-the-idle-floor",
        ),
        pytest.param(
            Site(average_power_cap_watts=30.0, cap_measured_at="it"),
            "is 30 W, but idle machines alone draw 40 W: that leaves 10 W too little",
            id="below-the-idle-floor",
        ),
    ],
)
def test_a_cap_at_or_below_the_idle_floor_is_infeasible_and_both_numbers_are_named(site, message):
    with pytest.raises(InfeasibleError, match=message):
        solve(TINY.model_copy(update={"site": site}), objective="makespan")


def test_a_cap_at_the_idle_floor_is_enough_for_tasks_that_draw_no_more():
    bag = simple_bag([[2.0]], [3], [1], watts=[[50.0]], idle=[50.0])
    assert solve(bag, power_cap=50.0).value == 6.0


def test_a_cap_below_the_idle_floor_is_enough_for_tasks_that_draw_less():
    # Two tasks of 1 s at 10 W, one after the other, never idle: 10 W on average.
    bag = simple_bag([[1.0]], [2], [1], watts=[[10.0]], idle=[50.0])
    assert solve(bag, power_cap=10.0).value == 2.0
    with pytest.raises(InfeasibleError, match="leaves 9 W for the machines, which draw 50 W idle"):
        solve(bag, power_cap=9.0)


def test_a_cap_is_kept_by_waiting():
    # 110 W leave 70 W above idle. The thrifty end takes 5,400 J above idle: 77.1 s; the front's other end more.
    result = solve(TINY, objective="makespan", power_cap=110.0)
    assert result.bound == pytest.approx(5400 / 70, rel=1e-12)
    assert result.value == pytest.approx(5400 / 70, rel=1e-12)
    assert result.schedule.makespan_seconds == result.value
    assert result.measured.energy_joules == pytest.approx(110 * 5400 / 70, rel=1e-12)


def test_the_worth_of_a_kilowatt_is_told_where_the_cap_is_measured():
    facility = TINY.model_copy(update={"site": Site(average_power_cap_watts=220.0, pue=2.0)})
    machines = TINY.model_copy(update={"site": Site(average_power_cap_watts=110.0, pue=2.0, cap_measured_at="it")})
    one, two = solve(facility), solve(machines)
    assert one.value == pytest.approx(two.value, rel=1e-9)
    assert one.worth.kilowatt_per_hour == pytest.approx(two.worth.kilowatt_per_hour / 2, rel=1e-9)
    assert solve(TINY).worth.kilowatt_per_hour is None


def paid_bag(**changes) -> Bag:
    """Return a bag with many tasks and machines, so that one more of anything is a small step."""
    machines = [
        lpsched.MachineType(
            name="a",
            count=1000,
            idle_watts=30.0,
            wear_per_busy_hour=0.01,
            purchase_price=900,
            mean_hours_to_failure=30000,
        ),
        lpsched.MachineType(name="b", count=700, idle_watts=20.0, p_states=("P0", "P1")),
    ]
    tasks = [lpsched.TaskType(name="x", count=90_000), lpsched.TaskType(name="y", count=70_000)]
    bag = Bag(
        "paid",
        tuple(machines),
        tuple(tasks),
        lpsched.Table.of([[40.0, 70.0, 90.0], [80.0, 55.0, 75.0]]),
        lpsched.Table.of([[200.0, 150.0, 100.0], [210.0, 160.0, 110.0]]),
        Prices(per_bag=300.0, electricity_per_kwh=0.2, overhead_per_bag=5.0),
        Site(pue=1.2, average_power_cap_watts=250_000.0),
    )
    return bag.model_copy(update=changes)


def with_count(bag: Bag, kind: str, place: int, more: int) -> Bag:
    types = list(getattr(bag, kind))
    types[place] = types[place].model_copy(update={"count": types[place].count + more})
    return bag.model_copy(update={kind: tuple(types)})


@pytest.mark.parametrize("place", [0, 1])
def test_the_worth_of_a_machine_is_the_difference_of_two_solves(place):
    bag = paid_bag()
    base = solve(bag)
    worth = list(base.worth.machine_types.values())[place]
    more = solve(with_count(bag, "machine_types", place, 1)).bound - base.bound
    fewer = base.bound - solve(with_count(bag, "machine_types", place, -1)).bound
    assert more <= worth + 1e-9 <= fewer + 2e-9  # one-sided: at most, and at least
    assert more == pytest.approx(worth, rel=1e-3)


def test_the_worth_of_a_kilowatt_is_the_difference_of_two_solves():
    bag = paid_bag()
    base = solve(bag)
    more = solve(bag, power_cap=250_001.0).bound - base.bound
    assert more * 1000 == pytest.approx(base.worth.kilowatt_per_hour, rel=1e-3)
    assert base.worth.kilowatt_per_hour > 0


@pytest.mark.parametrize("place", [0, 1])
def test_one_more_task_leaves_the_profit_as_it_is_at_the_price_that_it_is_worth(place):
    bag = paid_bag()
    base = solve(bag)
    worth = list(base.worth.task_types.values())[place]
    more = with_count(bag, "task_types", place, 10)
    assert solve(more, price=300.0 + 10 * worth).bound == pytest.approx(base.bound, rel=1e-7)
    assert solve(more, price=300.0 + 9 * worth).bound < base.bound < solve(more, price=300.0 + 11 * worth).bound


@pytest.mark.parametrize("bag", [paid_bag(), paid_bag(site=Site(deadline_seconds=10_000.0))])
def test_the_worths_of_all_tasks_add_up_to_what_the_bag_brings(bag):
    worth = solve(bag).worth
    total = sum(task.count * worth.task_types[task.name] for task in bag.task_types)
    assert total == pytest.approx(bag.prices.per_bag - bag.prices.overhead_per_bag, rel=1e-9)
    assert worth.one_fewer.task_types == worth.task_types  # the program is not degenerate


def test_per_task_prices_add_to_the_price_of_the_bag():
    each = TINY.model_copy(
        update={"prices": TINY.prices.model_copy(update={"per_bag": None, "per_task": {"scan": 0.02 / 6}})}
    )
    assert solve(each).value == pytest.approx(3.48, rel=1e-12)
    assert solve(each, price=0.02).value == pytest.approx(3.48, rel=1e-12)  # in place of them


def test_a_profit_ratio_is_a_multiple_of_what_the_least_energy_costs():
    # 6,600 J cost 0.0066 USD.
    assert solve(TINY, profit_ratio=2.0).bound == pytest.approx(solve(TINY, price=0.0132).bound, rel=1e-9)


@pytest.mark.parametrize(
    ("bag", "options", "message"),
    [
        (
            TINY.model_copy(update={"watts": None}),
            {"objective": "energy"},
            "watts: got none, expected the watts of every pair",
        ),
        (
            TINY.model_copy(update={"watts": None}),
            {},
            "since electricity has a price; add them, or set electricity_per_kwh to 0",
        ),
        (
            TINY.model_copy(update={"watts": None}),
            {"objective": "makespan", "power_cap": 9.0},
            "since there is a power cap",
        ),
        (
            TINY.model_copy(update={"prices": Prices()}),
            {"objective": "profit"},
            "prices.per_bag: got none, expected what a bag",
        ),
        (
            TINY.model_copy(update={"prices": Prices(per_bag=1.0)}),
            {},
            "prices.electricity_per_kwh: got none, expected what a kWh",
        ),
        (TINY, {"price": 1.0, "profit_ratio": 2.0}, "got a price and a profit ratio, expected one of them"),
        (TINY, {"price": -1.0}, "price: got -1.0, expected money: a number from 0"),
        (TINY, {"power_cap": 0.0}, "power_cap: got 0.0, expected watts"),
        (TINY, {"deadline": math.nan}, "deadline: got NaN, expected seconds"),
        (TINY, {"profit_ratio": math.inf}, "profit_ratio: got infinity, expected a profit ratio"),
        (
            TINY.model_copy(update={"prices": Prices(per_bag=1.0, electricity_per_kwh=0.0)}),
            {"profit_ratio": 2.0},
            "prices.electricity_per_kwh: got 0, expected energy that costs something",
        ),
    ],
)
def test_what_is_missing_or_unsound_is_named(bag, options, message):
    with pytest.raises(InstanceError, match=message):
        solve(bag, **options)


def test_an_unknown_objective_is_refused():
    with pytest.raises(ValueError, match="objective is 'speed', expected one of profit, makespan, energy"):
        solve(TINY, objective="speed")


def test_free_electricity_needs_no_watts():
    # 4 tasks of 3 s on 2 machines, 6 USD a bag: 6 s, so 3,600 USD an hour.
    free = simple_bag([[3.0]], [4], [2]).model_copy(update={"prices": Prices(per_bag=6.0, electricity_per_kwh=0.0)})
    result = solve(free)
    assert (result.value, result.bound) == (3600.0, 3600.0)
    assert result.measured.energy_joules is None


@settings(deadline=None, max_examples=25)
@given(bags(most_types=4, most_tasks=50, most_machines=5, amounts=SMALL), st.integers(-7, 7))
def test_scaling_all_times_scales_the_bound(bag, power):
    factor = 2.0**power  # exact: bounds by whole tasks look for a common unit of all times
    bag = bag.without_limits()
    rows = [[None if cell is None else cell * factor for cell in row] for row in bag.seconds]
    scaled = bag.model_copy(update={"seconds": type(bag.seconds).of(rows)})
    expected = factor * solve(bag, objective="makespan").bound
    assert solve(scaled, objective="makespan").bound == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("factor", [1e-3, 8.0, 1e4])
def test_scaling_all_times_is_dividing_price_and_overhead(factor):
    bag = paid_bag(site=Site(pue=1.2))
    rows = [[cell * factor for cell in row] for row in bag.seconds]
    scaled = bag.model_copy(update={"seconds": type(bag.seconds).of(rows)})
    prices = bag.prices.model_copy(update={"per_bag": 300.0 / factor, "overhead_per_bag": 5.0 / factor})
    divided = bag.model_copy(update={"prices": prices})
    assert solve(scaled).bound == pytest.approx(solve(divided).bound, rel=1e-9)


@settings(deadline=None, max_examples=25)
@given(bags(most_types=4, most_tasks=50, most_machines=5, amounts=SMALL), st.sampled_from(["makespan", "energy"]))
def test_the_order_of_types_does_not_matter_to_the_bound(bag, objective):
    bag = bag.without_limits()
    if bag.watts is None:
        objective = "makespan"
    columns = [c for j in reversed(range(len(bag.machine_types))) for c, (own, _) in enumerate(bag.modes) if own == j]

    turned = bag.model_copy(
        update={"machine_types": bag.machine_types[::-1], "task_types": bag.task_types[::-1]}
        | bag.tables_of(range(len(bag.task_types))[::-1], columns)
    )
    one, two = solve(bag, objective=objective), solve(turned, objective=objective)
    assert two.bound == pytest.approx(one.bound, rel=1e-7)


@pytest.mark.parametrize("objective", ["profit", "makespan", "energy"])
def test_splitting_a_task_type_in_two_equal_ones_changes_no_bound(objective):
    bag = paid_bag()
    half = [lpsched.TaskType(name=f"x{k}", count=45_000) for k in (1, 2)]
    rows, powers = list(bag.seconds), list(bag.watts)
    split = bag.model_copy(
        update={
            "task_types": (*half, bag.task_types[1]),
            "seconds": type(bag.seconds).of([rows[0], rows[0], rows[1]]),
            "watts": type(bag.seconds).of([powers[0], powers[0], powers[1]]),
        }
    )
    assert solve(split, objective=objective).bound == pytest.approx(solve(bag, objective=objective).bound, rel=1e-9)


@pytest.mark.parametrize("tasks", [10, 10**6, 10**12, 3 * 10**14])
@pytest.mark.parametrize("objective", ["makespan", "energy", "profit"])
def test_the_gap_of_a_large_bag_is_the_rounding_of_a_few_tasks(tasks, objective):
    rng = np.random.default_rng(5)
    seconds, watts = rng.gamma(8.0, size=(3, 3)).tolist(), (100 * rng.gamma(8.0, size=(3, 3))).tolist()
    bag = simple_bag(seconds, [tasks] * 3, [2, 3, 4], watts=watts, idle=[50.0, 60.0, 70.0])
    bag = bag.model_copy(update={"prices": Prices(per_bag=1.0 * tasks, electricity_per_kwh=0.2)})
    result = solve(bag, objective=objective)
    assert result.gap is not None
    assert result.gap * tasks < 20  # each machine type is off by a task or two, of 3 tasks / 9 machines each


def test_the_same_bag_gives_the_same_schedule_twice():
    bag = read_bag(INSTANCES / "video-transcoding.yaml")
    assert solve(bag).schedule == solve(bag).schedule


@settings(deadline=None, max_examples=25)
@given(bags(most_types=3, most_tasks=40, most_machines=6, amounts=st.floats(0.1, 10)))
def test_the_bound_reported_is_the_exact_proof_rounded_down(bag):
    bag = bag.without_limits()
    exact = prover_of(bag).makespan(MAKESPAN.relax(bag, HighsSolver()).multipliers)
    bound = solve(bag, objective="makespan").bound
    assert Fraction(bound) <= exact < Fraction(math.nextafter(bound, math.inf))


def test_a_result_can_be_pickled_and_shows_itself_in_a_notebook():
    result = solve(read_bag(INSTANCES / "video-transcoding.yaml"))
    again = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
    assert again == result
    assert again.to_dict() == result.to_dict()
    shown = result._repr_html_()
    assert "<td>bound</td>" in shown
    assert "USD/h" in shown


@dataclass(frozen=True)
class Liar:
    """A solver that gives back HiGHS's answer with something changed, hot or cold."""

    name: str = "liar"
    multipliers: float = 1.0
    values: float = 1.0
    bound: float = 1.0
    status: LpStatus = LpStatus.OPTIMAL
    replaced: float | None = None

    def solve(self, program, *, cancel=None):
        honest = HighsSolver().solve(program, cancel=cancel)
        noise = np.random.default_rng(1).random(len(honest.multipliers))
        multipliers = honest.multipliers * (1 + (self.multipliers - 1) * noise)
        if self.replaced is not None:
            multipliers = np.full_like(multipliers, self.replaced)
        return replace(
            honest,
            status=self.status,
            values=honest.values * self.values,
            bound=honest.bound * self.bound,
            multipliers=multipliers,
        )

    def sweep(self, program):
        return LiarSweep(self, program)


@dataclass(frozen=True)
class LiarSweep:
    liar: Liar
    program: LinearProgram = field(repr=False)

    def solve(self, costs, *, cancel=None):
        return self.liar.solve(replace(self.program, costs=costs), cancel=cancel)


LIARS = [
    Liar(multipliers=1e6),
    Liar(multipliers=-5.0),
    Liar(values=0.5),
    Liar(values=1.5),
    Liar(values=0.0),
    Liar(bound=9.0),
    Liar(replaced=math.nan),
    Liar(replaced=-math.inf),
    Liar(replaced=1e30),
]


@pytest.mark.parametrize("liar", LIARS, ids=repr)
@pytest.mark.parametrize("objective", ["makespan", "energy", "profit"])
def test_a_solver_that_lies_costs_quality_and_never_truth(liar, objective):
    bag = paid_bag()
    sign = -1 if objective == "profit" else 1
    honest, lied = solve(bag, objective=objective), solve(bag, objective=objective, solver=liar)
    assert sign * lied.bound <= sign * honest.bound + 1e-9 * abs(honest.bound)
    assert sign * lied.bound <= sign * lied.value
    assert lied.provenance.solver == "liar"


@pytest.mark.parametrize("objective", ["makespan", "energy", "profit"])
def test_when_the_time_is_up_there_is_still_a_schedule_and_a_bound(objective):
    result = solve(paid_bag(), objective=objective, solver=Liar(status=LpStatus.LIMIT, values=0.0), time_limit=1.0)
    assert result.status.value == "limit"
    best = solve(paid_bag(), objective=objective)
    sign = -1 if objective == "profit" else 1
    assert sign * result.value >= sign * best.bound - 1e-9 * abs(best.bound)


@pytest.mark.parametrize("status", [LpStatus.FAILED, LpStatus.UNBOUNDED, LpStatus.INFEASIBLE])
def test_a_solver_that_fails_is_an_error(status):
    with pytest.raises(SolverError, match=f"ended as {status.value}, not optimal"):
        solve(simple_bag([[1.0]], [1], [1]), solver=Liar(status=status))


def test_a_schedule_that_fails_verification_is_never_an_answer(monkeypatch):
    monkeypatch.setattr(recovering, "place", lambda *_: Schedule(()))
    with pytest.raises(InvalidScheduleError, match="0 tasks of type 't0' run, but there are 1"):
        solve(simple_bag([[1.0]], [1], [1]))


def test_the_gap_asked_for_decides_what_is_called_optimal():
    bag = half_full()  # bound 4, value 6: gap 1/2
    assert solve(bag, gap=0.6).status.value == "optimal"
    assert solve(bag, gap=0.5).status.value == "optimal"
    assert solve(bag, gap=0.4).status.value == "feasible"


def test_the_relative_gap():
    assert relative_gap(12.0, 10.0) == pytest.approx(0.2)
    assert relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(1.0, 0.0) is None


def test_a_schedule_that_loses_more_than_waiting_is_not_run():
    # One task, 6 USD. 'fast' takes 1 s and wears off 10 USD, 'slow' 2 s and 1 USD. Split, most of it runs on
    # 'fast'; whole, all of it does, at a loss of 4 USD.
    machines = (
        lpsched.MachineType(name="fast", count=1, wear_per_busy_hour=36_000),
        lpsched.MachineType(name="slow", count=1, wear_per_busy_hour=1_800),
    )
    tasks = (lpsched.TaskType(name="t", count=1),)
    prices = Prices(per_bag=6.0, electricity_per_kwh=0.0)
    result = solve(Bag("one", machines, tasks, lpsched.Table.of([[1.0, 2.0]]), prices=prices))
    assert result.value >= 0.0
    if result.value == 0.0:
        assert (result.regime, result.bound_regime) == (Regime.DO_NOT_RUN, Regime.PROFIT)
        assert "The bound leaves room for profit" in {row[0]: row[2] for row in result.facts()}["gap"]


def test_a_solver_that_crashes_does_not_make_a_bag_infeasible():
    class Crashing(Liar):
        def solve(self, *_, **__):
            raise SolverError("crashed")

    bag = simple_bag([[1.0]], [2], [1], watts=[[10.0]], idle=[50.0])
    with pytest.raises(SolverError, match="crashed"):
        solve(bag, power_cap=20.0, solver=Crashing())


def test_idle_power_next_to_nothing_is_no_obstacle():
    bag = simple_bag([[1.0, 2.0], [3.0, 1.0]], [5, 7], [1, 1], watts=[[9.0, 5.0], [4.0, 8.0]], idle=[1e-18, 1e-30])
    assert solve(bag, objective="energy").bound == pytest.approx(5 * 9 + 7 * 8, rel=1e-9)


def test_costs_of_very_different_sizes_are_solved_by_presolve():
    # The bag sells for a hair less than its overhead, so what a second of wear costs is 10^12 times more than the rest:
    # HiGHS's simplex gives up on it, with "Solve error". Not running would be best, but the deadline of 1.1 s forces it:
    # in time, t0 and t1 cannot share a machine, so one of them wears m1 for a second, and t2 (0.1 s) does too.
    plain = MachineType(name="m0", count=1)
    worn = MachineType(name="m1", count=1, idle_watts=1.0, wear_per_busy_hour=3600.0, p_states=("P0", "P1"))
    bag = Bag(
        "uneven",
        (plain, worn),
        tuple(TaskType(name=f"t{i}", count=1) for i in range(3)),
        Table.of([[1.0, 1.0, 1.0], [1.0, 1.0, None], [1.0, 1.0, 0.1]]),
        Table.of([[0.0, 0.0, 0.0], [0.0, 0.0, None], [2.0, 0.0, 0.0]]),
        Prices(per_bag=1.0 - 2**-53, electricity_per_kwh=0.0, overhead_per_bag=1.0),
        Site(average_power_cap_watts=1.0, cap_measured_at="it", deadline_seconds=1.1),
    )
    result = solve(bag)
    assert result.value <= result.bound
    assert result.value == pytest.approx(-3600.0 * 1.1 / 1.1, rel=1e-6)  # 1.1 USD of wear in 1.1 s
