"""Random bags of a given bag's mix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lpsched.bag.files import read_bag
from lpsched.bag.parts import Prices
from lpsched.errors import InstanceError
from lpsched.generate.bags import resampled
from tests.support import simple_bag

PROFIT = read_bag(Path(__file__).parents[2] / "instances" / "profit-30x9.yaml")


def test_counts_are_near_the_mix_and_everything_else_stays():
    # 3,600,000 tasks, 379 of 11,000 of the first type: 124,036 expected, 346 is the standard deviation.
    drawn = resampled(PROFIT, 3_600_000, np.random.default_rng(5))
    assert drawn.tasks == 3_600_000
    assert drawn.task_types[0].count == pytest.approx(3_600_000 * 379 / 11_000, abs=4 * 346)
    assert drawn.task_types[0].count != 124_036
    assert (drawn.machine_types, drawn.seconds, drawn.watts) == (PROFIT.machine_types, PROFIT.seconds, PROFIT.watts)
    assert drawn.prices == PROFIT.prices


def test_a_type_that_is_not_drawn_is_left_out_with_its_rows_and_its_price():
    bag = simple_bag(
        [[1.0, 2.0], [3.0, None], [None, 5.0]], [10**9, 1, 10**9], [1, 1], watts=[[9.0, 8.0], [7.0, None], [None, 6.0]]
    )
    names = [task.name for task in bag.task_types]
    bag = bag.model_copy(update={"prices": Prices(per_task={names[1]: 7.0, names[2]: 8.0})})
    drawn = resampled(bag, 50, np.random.default_rng(0))
    assert [task.name for task in drawn.task_types] == [names[0], names[2]]
    assert list(drawn.seconds) == [[1.0, 2.0], [None, 5.0]]
    assert list(drawn.watts) == [[9.0, 8.0], [None, 6.0]]
    assert dict(drawn.prices.per_task) == {names[2]: 8.0}


def test_the_same_seed_draws_the_same_bag_and_another_one_another():
    one, same, other = (resampled(PROFIT, 360, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one == same
    assert one.content_hash == same.content_hash
    assert one != other


@pytest.mark.parametrize("tasks", [0, -1, 10**15 + 1])
def test_a_bag_without_tasks_or_with_too_many_is_refused(tasks):
    with pytest.raises(InstanceError, match=r"tasks: got .*, expected a number from 1 to 1e\+15"):
        resampled(PROFIT, tasks, np.random.default_rng(0))
