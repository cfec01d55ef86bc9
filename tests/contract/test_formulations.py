"""What every formulation must do, on every small instance."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from lpsched.certificate.makespan import proved_makespan
from lpsched.formulations import makespan
from lpsched.instance import bag_from_dict
from lpsched.lp.highs import HighsSolver
from lpsched.recovery.lpt import place
from lpsched.recovery.rounding import round_shares
from lpsched.verify.bag import measure, violations
from tests.support import SOUND, simple_bag

FORMULATIONS = [makespan]
BAGS = {
    "p-states-and-absent-pairs": bag_from_dict(SOUND),
    "one-of-everything": simple_bag([[3.0]], [1], [1]),
    "a-useless-machine": simple_bag([[1.0, 1e20]], [1000], [2, 5]),
    "huge-counts": simple_bag([[1.0, 2.0], [3.0, 1.0]], [10**14, 10**14], [7, 10**12]),
    "a-machine-priced-at-next-to-nothing": simple_bag([[1.0, 1e7], [1.0, 1e13]], [1, 1], [1, 1]),
    "unequal-scales": simple_bag([[1e-12, 1e9], [1e12, 1e-9]], [10**9, 3], [1, 1000]),
}


@pytest.fixture(params=FORMULATIONS, ids=lambda formulation: formulation.NAME)
def formulation(request):
    return request.param


@pytest.fixture(params=BAGS.values(), ids=list(BAGS))
def bag(request):
    return request.param


def test_compiling_twice_gives_the_same_program_and_leaves_the_bag_alone(formulation, bag):
    before = copy.deepcopy(bag)
    one, two = formulation.compile_lp(bag), formulation.compile_lp(bag)
    assert bag == before
    assert one.row_names == two.row_names
    for name in ("costs", "upper", "row_lower", "row_upper", "starts", "columns", "values"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


def test_every_coefficient_is_of_the_order_of_one(formulation, bag):
    program = formulation.compile_lp(bag)
    assert np.all(np.abs(program.values) <= 1.0)
    assert np.all(program.upper <= 1.0)


def test_rows_carry_the_names_of_tasks_and_machines(formulation, bag):
    text = " ".join(formulation.compile_lp(bag).row_names)
    for each in (*bag.task_types, *bag.machine_types):
        assert f"[{each.name}]" in text


def test_the_prices_prove_what_the_program_says(formulation, bag):
    relaxation = formulation.read_solution(bag, HighsSolver().solve(formulation.compile_lp(bag)))
    assert float(proved_makespan(bag, relaxation.machine_prices)) == pytest.approx(relaxation.bound, rel=1e-7)


def test_recovery_passes_verification_and_stays_on_its_side_of_the_bound(formulation, bag):
    solution = HighsSolver().solve(formulation.compile_lp(bag))
    relaxation = formulation.read_solution(bag, solution)
    counts = round_shares(relaxation.shares, [task.count for task in bag.task_types])
    assert [sum(row.values()) for row in counts] == [task.count for task in bag.task_types]
    schedule = place(bag, counts)
    assert violations(bag, schedule) == ()
    assert measure(bag, schedule).makespan_seconds >= relaxation.bound * (1 - 1e-9)
    assert relaxation.makespan_seconds == pytest.approx(relaxation.bound, rel=1e-7)
