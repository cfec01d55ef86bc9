"""What every formulation must do, on every small instance."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lpsched.bag import front, profit
from lpsched.bag.certificate.bounds import Multipliers
from lpsched.bag.model import Bag, bag_from_dict
from lpsched.bag.parts import Prices, Site
from lpsched.bag.problem import prover_of
from lpsched.bag.recovery.plans import ended
from lpsched.bag.recovery.rounding import place, round_shares
from lpsched.bag.relaxation import scaling_of
from lpsched.bag.verify import measure, violations
from lpsched.lp.solvers import HighsSolver
from lpsched.model.table import Table
from tests.support import simple_bag, sound

if TYPE_CHECKING:
    from lpsched.bag.relaxation import Relaxation

MIXED = front.Weights(1e-3, 2.0)


@dataclass(frozen=True)
class Case:
    """One formulation with sample options."""

    name: str

    def compile_lp(self, bag: Bag):
        scaling = scaling_of(bag)
        if self.name == "profit":
            return profit.compile_lp(scaling, profit.profit_model(scaling))
        return front.compile_lp(front.scaling_for(bag, self.weights), self.weights)

    def relax(self, bag: Bag) -> Relaxation:
        solution = HighsSolver().solve(self.compile_lp(bag))
        scaling = scaling_of(bag) if self.name == "profit" else front.scaling_for(bag, self.weights)
        if self.name == "profit":
            return profit.read_solution(scaling, profit.profit_model(scaling), solution)
        return front.read_solution(scaling, self.weights, solution)

    def proved(self, bag: Bag, relaxation: Relaxation) -> float:
        prices = Multipliers(relaxation.machine_prices, relaxation.cap_price)
        if self.name == "profit":
            return float(prover_of(bag).rate(prices))
        return float(prover_of(bag).cost(prices, self.weights.joules, self.weights.seconds))

    def standing(self, bag: Bag) -> float:
        return float(prover_of(bag).fixed_rate()) if self.name == "profit" else 0.0

    @property
    def weights(self) -> front.Weights:
        return {"makespan": front.MAKESPAN, "energy": front.ENERGY, "mixed": MIXED}[self.name]


CASES = [Case(name) for name in ("makespan", "energy", "mixed", "profit")]
PAID = {"per_bag": 9.0, "per_task": {"zip": 0.5}, "electricity_per_kwh": 0.2, "overhead_per_bag": 0.25}


def _powered(bag: Bag, watts: float = 100.0) -> Bag:
    """Give a bag of plain rows watts and prices, so that every formulation has what it needs."""
    rows = [[None if cell is None else watts + 7.0 * j for j, cell in enumerate(row)] for row in bag.seconds]
    prices = Prices(per_bag=1e9, electricity_per_kwh=0.1)
    return bag.model_copy(update={"watts": type(bag.seconds).of(rows), "prices": prices})


BAGS = {
    "p-states-and-absent-pairs": bag_from_dict(sound(prices=PAID)),
    "capped-at-the-facility": bag_from_dict(sound(prices=PAID, site={"pue": 1.5, "average_power_cap_watts": 200.0})),
    "capped-at-the-machines": bag_from_dict(
        sound(prices=PAID, site={"average_power_cap_watts": 60.0, "cap_measured_at": "it"})
    ),
    "watts-below-idle": bag_from_dict(
        sound(prices=PAID, machine_types=[{"name": "cpu", "count": 2, "idle_watts": 70}, sound()["machine_types"][1]])
    ),
    "worn-and-depreciated": bag_from_dict(
        sound(
            prices=PAID,
            machine_types=[
                {
                    "name": "cpu",
                    "count": 2,
                    "idle_watts": 5,
                    "wear_per_busy_hour": 0.3,
                    "purchase_price": 1000,
                    "mean_hours_to_failure": 10000,
                },
                sound()["machine_types"][1],
            ],
        )
    ),
    "a-furnace-under-a-cap": _powered(simple_bag([[1.0, 1.0], [2.0, 1.0]], [5, 5], [1, 1])).model_copy(
        update={"watts": Table.of([[100.0, 1e9], [100.0, 1e12]]), "site": Site(average_power_cap_watts=150.0)}
    ),
    "due": bag_from_dict(sound(prices=PAID, site={"deadline_seconds": 40.0})),
    "one-of-everything": _powered(simple_bag([[3.0]], [1], [1])),
    "a-useless-machine": _powered(simple_bag([[1.0, 1e20]], [1000], [2, 5])),
    "huge-counts": _powered(simple_bag([[1.0, 2.0], [3.0, 1.0]], [10**14, 10**14], [7, 10**12])),
    "a-machine-priced-at-next-to-nothing": _powered(simple_bag([[1.0, 1e7], [1.0, 1e13]], [1, 1], [1, 1])),
    "unequal-scales": _powered(simple_bag([[1e-12, 1e9], [1e12, 1e-9]], [10**9, 3], [1, 1000])),
}


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request):
    return request.param


@pytest.fixture(params=BAGS.values(), ids=list(BAGS))
def bag(request):
    return request.param


def test_compiling_twice_gives_the_same_program_and_leaves_the_bag_alone(case, bag):
    before = copy.deepcopy(bag)
    one, two = case.compile_lp(bag), case.compile_lp(bag)
    assert bag == before
    assert one.row_names == two.row_names
    for name in ("costs", "upper", "row_lower", "row_upper", "starts", "columns", "values"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


def test_every_coefficient_is_of_the_order_of_one(case, bag):
    program = case.compile_lp(bag)
    assert np.all(np.abs(program.values) <= 1.0)
    assert np.all(np.isfinite(program.upper))


def test_rows_carry_the_names_of_tasks_and_machines(case, bag):
    text = " ".join(case.compile_lp(bag).row_names)
    for each in (*bag.task_types, *bag.machine_types):
        assert f"[{each.name}]" in text


def test_the_prices_prove_what_the_program_says(case, bag):
    relaxation, standing = case.relax(bag), case.standing(bag)
    assert case.proved(bag, relaxation) + standing == pytest.approx(relaxation.bound + standing, rel=1e-7)


def test_recovery_passes_verification(case, bag):
    free = bag.model_copy(update={"site": bag.site.model_copy(update={"deadline_seconds": None})})
    counts = round_shares(case.relax(bag).shares, [task.count for task in bag.task_types])
    assert [sum(row.values()) for row in counts] == [task.count for task in bag.task_types]
    schedule = ended(free, place(free, counts), late=False)
    assert violations(free, schedule) == ()


def test_the_schedule_stays_on_its_side_of_the_bound(case, bag):
    free = bag.model_copy(update={"site": bag.site.model_copy(update={"deadline_seconds": None})})
    relaxation = case.relax(free)
    counts = round_shares(relaxation.shares, [task.count for task in bag.task_types])
    measured = measure(free, ended(free, place(free, counts), late=False))
    if case.name == "profit":
        assert measured.profit_per_hour <= 3600 * case.proved(free, relaxation)
    else:
        cost = case.weights.joules * measured.energy_joules + case.weights.seconds * measured.makespan_seconds
        assert cost >= case.proved(free, relaxation) * (1 - 1e-15)


def test_the_scale_does_not_change_the_answer(case, bag):
    if case.name == "profit":
        scaling = scaling_of(bag, seconds=7.0 * scaling_of(bag).seconds)
        money = profit.profit_model(scaling)
        other = profit.read_solution(scaling, money, HighsSolver().solve(profit.compile_lp(scaling, money)))
    else:
        scaling = scaling_of(bag, seconds=7.0 * front.scaling_for(bag, case.weights).seconds)
        solution = HighsSolver().solve(front.compile_lp(scaling, case.weights))
        other = front.read_solution(scaling, case.weights, solution)
    standing = case.standing(bag)
    assert other.bound + standing == pytest.approx(case.relax(bag).bound + standing, rel=1e-7)
