from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.arrays import items_of
from lpsched.bag.recovery.exchange import Exchange, local_search
from lpsched.bag.recovery.plans import Plan, plan_of
from lpsched.bag.verify import violations
from lpsched.cancellation import CancelToken
from tests.support import bags, simple_bag

WEIGHT = 1000.0


def items_for(bag, **aim):
    return items_of(bag, per_joule=1.0 if bag.watts is not None else 0.0, wear=False, **aim)


def work_on(bag, rows, **aim) -> Exchange:
    """Return exchanges on machines that run these counts."""
    own = items_for(bag, **(aim or {"per_second": 1.0}))
    kinds = np.repeat(np.arange(len(own.machines)), own.machines)
    return Exchange(Plan(own, kinds, np.array(rows)), CancelToken(10.0), np.random.default_rng(0))


def never(_: Plan) -> bool:
    return False


@settings(deadline=None, max_examples=30)
@given(bags(most_tasks=12, most_machines=3, amounts=st.floats(0.5, 20.0)), st.floats(0.5, 60.0))
def test_exchanges_keep_every_task_and_the_books(bag, limit):
    plan = plan_of(items_for(bag, per_second=1.0), [], limit)
    work = Exchange(plan, CancelToken(0.2), np.random.default_rng(0))
    before = work.merit(limit, WEIGHT)
    work.repair(limit, WEIGHT)
    work.cheapen(limit, WEIGHT)
    assert work.merit(limit, WEIGHT) <= before + 1e-9 * abs(before)
    work.fill(limit, WEIGHT)
    assert violations(bag.without_limits(), plan.schedule(bag)) == ()
    assert work.loads == pytest.approx(plan.loads)
    assert work.cost == pytest.approx(plan.cost, abs=1e-6)


@settings(deadline=None, max_examples=20)
@given(bags(most_tasks=12, most_machines=3, amounts=st.floats(0.5, 20.0)))
def test_a_polished_plan_is_a_schedule_and_no_worse(bag):
    plan = plan_of(items_for(bag, income=100.0), [], 5.0)
    better = local_search(plan, 5.0, never, CancelToken(0.2), np.random.default_rng(0))
    assert better.score >= plan.score
    assert violations(bag.without_limits(), better.schedule(bag)) == ()


def test_two_tasks_for_one_repair_a_machine_that_is_too_long():
    # 3 + 2 + 2 and 3 + 2: neither a move nor a swap of single tasks gives 6 and 6, but 2 + 2 for 3 does.
    work = work_on(simple_bag([[3.0], [2.0]], [2, 3], [2]), [[1, 2], [1, 1]])
    assert work.loads.tolist() == [7.0, 5.0]
    assert work.repair(6.0, WEIGHT)
    assert work.loads.tolist() == [6.0, 6.0]


def test_what_cannot_be_repaired_is_said_so():
    work = work_on(simple_bag([[3.0]], [3], [2]), [[2], [1]])
    assert not work.repair(5.0, WEIGHT)
    assert sorted(work.loads.tolist()) == [3.0, 6.0]


def test_a_task_moves_where_it_is_cheaper_only_if_there_is_time():
    # 2 s for 2 J on the first machine, 1 s for 5 J on the second.
    bag = simple_bag([[2.0, 1.0]], [2], [1, 1], watts=[[1.0, 5.0]])
    for limit, cost in ((4.0, 4.0), (3.0, 7.0), (2.0, 7.0)):
        work = work_on(bag, [[0], [2]])
        work.cheapen(limit, WEIGHT)
        assert work.cost == cost


def test_slack_in_pieces_is_gathered_until_a_task_fits():
    # Two thrifty machines with 7 s: 3 + 3 and 2 + 2 + 2 leave 1 s each. 3 + 2 + 2 and 3 + 2 leave 2 s in one piece,
    # for the task of 2 s that a dear machine runs.
    watts = [[1.0, 9.0], [1.0, 9.0]]
    bag = simple_bag([[3.0, 3.0], [2.0, 2.0]], [2, 4], [2, 1], watts=watts)
    work = work_on(bag, [[2, 0], [0, 3], [0, 1]])
    work.fill(7.0, WEIGHT)
    assert work.loads.tolist()[2] == 0.0
    assert max(work.loads) == 7.0


def test_a_plan_that_is_good_enough_is_not_polished_for_long():
    bag = simple_bag([[3.0], [2.0]], [2, 3], [2])
    own = items_for(bag, per_second=1.0)
    plan = Plan(own, np.array([0, 0]), np.array([[1, 2], [1, 1]]))
    cancel = CancelToken(30.0)
    better = local_search(plan, 6.0, lambda each: each.score >= -6.0, cancel, np.random.default_rng(0))
    assert better.score == -6.0
    assert cancel.remaining() > 25.0


def test_a_plan_after_its_deadline_is_worth_less_than_any_other():
    bag = simple_bag([[3.0]], [2], [2])
    own = items_of(bag, per_joule=0.0, wear=False, income=9.0)
    late = Plan(type(own)(**{**vars(own), "latest": 4.0}), np.array([0, 0]), np.array([[2], [0]]))
    assert late.score == -np.inf
    better = local_search(late, 3.0, never, CancelToken(0.5), np.random.default_rng(0))
    assert better.score == pytest.approx(3.0)


def test_a_repair_that_costs_more_than_it_brings_is_not_kept():
    # 4 J and 4 s leave (10 - 4) / 4. A second above the limit counts 40 times that: one task goes to the fast
    # machine to save 3 s, for 100 J more than the bag brings.
    bag = simple_bag([[2.0, 1.0]], [2], [1, 1], watts=[[1.0, 100.0]])
    plan = Plan(items_for(bag, income=10.0), np.array([0, 1]), np.array([[2], [0]]))
    work = Exchange(plan.copy(), CancelToken(1.0), np.random.default_rng(0))
    work.repair(1.0, 40 * 1.5)
    assert work.score < plan.score
    assert local_search(plan, 1.0, never, CancelToken(0.3), np.random.default_rng(0)).score == plan.score == 1.5
