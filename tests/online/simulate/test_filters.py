"""The energy filter, dropping and permuting, with their arithmetic."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from lpsched.errors import InstanceError, PolicyError
from lpsched.online.arrays import day_arrays
from lpsched.online.parts import Period
from lpsched.online.simulate.engine import TaskOutcome
from lpsched.online.simulate.options import best_order, orders_of
from lpsched.online.utility import Interval, UtilityFunction
from tests.days import decaying, simple_day
from tests.facility.drawn import plain
from tests.online.small_days import Seen, flat_day, run, run_plainly, starts
from tests.selection import PLAIN

# Two types of tasks on one machine: 10 s and 30 s, 10 W: 100 J and 300 J; means 20 s and 200 J.
PAIRS = simple_day(
    [[10.0], [30.0]], [[10.0], [10.0]], [1],
    [(0.0, 0, decaying(1.0)), (0.0, 1, decaying(1.0)), (61.0, 1, decaying(1.0)), (61.0, 1, decaying(1.0))],
)  # fmt: skip


@pytest.fixture(params=["compiled", PLAIN], autouse=True)
def _both_ways(request, monkeypatch):
    if request.param == "plain":
        run_plainly(monkeypatch)


def allowed(joules, energy_filter, day=PAIRS, **options):
    """Return what each event of a day of 260 s allows."""
    seen = Seen()
    run(day.model_copy(update={"period": Period(0.0, 260.0, energy_constraint_joules=joules)}), seen,
        energy_filter=energy_filter, **options)  # fmt: skip
    return [state.allowed[:, 0].tolist() for state in seen.states]


def test_a_fixed_leniency_allows_what_takes_less_than_its_share():
    # At 60 s, 200 s are left, enough for 200 / 20 = 10 tasks; of 3,000 J each gets 300 J: 300 J is not less.
    assert allowed(3000.0, 1.0)[0] == [True, False]
    assert allowed(3001.0, 1.0)[0] == [True, True]
    assert allowed(1500.0, 2.0)[0] == [True, False]
    assert allowed(1501.0, 2.0)[0] == [True, True]
    assert allowed(999.0, 1.0)[0] == [False, False]


def test_unmovable_tasks_are_charged_and_their_time_is_gone():
    # 60 s: 0 starts and 1 pends, 600 J until 120 s. Then 140 s are left, for 7 tasks on average.
    day = simple_day([[10.0], [30.0]], [[10.0], [10.0]], [1], [(at, 1, decaying(1.0)) for at in (0.0, 0.0, 61.0)])
    # E = 1,501: 2 * 901 / 7 = 257 J, though at 60 s it was 2 * 1,501 / 10 = 300.2 J
    assert allowed(1501.0, 2.0, day)[:2] == [[True, True], [True, False]]
    # E = 1,700: 2 * 1,100 / 7 = 314 J
    assert allowed(1700.0, 2.0, day)[1] == [True, True]


def test_the_adaptive_filter_allows_everything_while_nothing_is_used():
    assert allowed(500.0, "adaptive")[0] == [True, True]


def test_the_adaptive_filter_spreads_energy_over_the_day():
    # At 120 s, used are 400 J; T = 260 s, 140 s are left; tasks left: min(140 / 20, (E - 400) / 200).
    # lambda = (E / 260) / (400 / 120).
    # E = 1,040: lambda = 4 / 3.333 = 1.2; n = min(7, 3.2); budget 1.2 * 640 / 3.2 = 240 J: 300 J do not pass
    assert allowed(1040.0, "adaptive")[1] == [True, False]
    # E = 1,300: lambda = 5 / 3.333 = 1.5; n = 4.5; budget 1.5 * 900 / 4.5 = 300 J: not less
    assert allowed(1300.0, "adaptive")[1] == [True, False]
    # E = 1,310: lambda = 1.51..: 302 J
    assert allowed(1310.0, "adaptive")[1] == [True, True]
    # E = 2,600: lambda = 3; n = min(7, 11) = 7; budget 3 * 2,200 / 7 = 943 J
    assert allowed(2600.0, "adaptive")[1] == [True, True]


def test_what_the_filter_lets_not_pass_is_refused():
    day = PAIRS.model_copy(update={"period": Period(0.0, 260.0, energy_constraint_joules=3000.0)})
    with pytest.raises(PolicyError, match=r"task 1 on machine 0 in column 0 .*energy filter does not let"):
        run(day, lambda *_: [(1, 0, 0)], energy_filter=1.0)


def test_a_day_without_energy_constraint_and_first_hours_have_no_filter():
    assert allowed(None, 1e-9)[0] == [True, True]
    seen = Seen()
    period = Period(100.0, 500.0, energy_constraint_joules=1.0)
    run(PAIRS.model_copy(update={"period": period}), seen, energy_filter=1e-9)
    assert [state.allowed.all() for state in seen.states[:2]] == [True, False]  # at 60 s and at 120 s


def test_a_filter_needs_an_end_over_which_energy_is_spread():
    with pytest.raises(InstanceError, match=r"the energy filter: 1 error\n  period.length_seconds: got a period"):
        run(flat_day([1.0], [0.0], period=Period(0.0, None, energy_constraint_joules=5.0)), energy_filter=1.0)


def test_a_machine_busy_beyond_the_end_has_no_time_left():
    # Two machines; tasks of 340 s (3,400 J) and 30 s (300 J), on average 185 s. At 60 s, 400 s are left: 2.5 * 3,000
    # / (400 / 185) = 3,469 J. 0 starts, beyond the end at 260 s: 2,000 J. At 120 s only the other machine has time,
    # 140 s: 2.5 * 1,000 / (140 / 185) = 3,304 J. Were the 140 s beyond the end taken off, none would be left.
    day = simple_day([[340.0], [30.0]], [[10.0], [10.0]], [2],
                     [(0.0, 0, decaying(1.0)), (61.0, 1, decaying(1.0))])  # fmt: skip
    assert allowed(3000.0, 2.5, day) == [[True, True], [False, True]]


# Dropping.


def by_deadline(seconds):
    return decaying(4.0, until=seconds)


def test_tasks_that_cannot_earn_enough_anywhere_are_dropped_in_batch_mode():
    # One machine, 50 s each. At 60 s every task could end at 110 s: 0, worth 4 before 109 s, is dropped; 1 is not.
    # At 120 s, when 1 runs until 110 s is over, 3 (come at 70 s) could end at 170 s: 100 s after arrival.
    tasks = [(0.0, 0, by_deadline(110.0)), (0.0, 0, by_deadline(110.5)), (70.0, 0, by_deadline(100.0))]
    made = run(simple_day([[50.0]], [[1.0]], [1], tasks), drop_below=0.5)
    assert made.outcomes.tolist() == [TaskOutcome.DROPPED, TaskOutcome.RAN, TaskOutcome.DROPPED]
    assert made.dropped_at[[0, 2]].tolist() == [60.0, 120.0]
    assert np.isnan(made.dropped_at[1])
    assert made.event_at.tolist() == [60.0, 120.0]


def test_a_task_that_earns_just_the_threshold_is_kept():
    tasks = [(0.0, 0, decaying(0.5)), (0.0, 0, decaying(0.4999))]
    made = run(simple_day([[5.0]], [[1.0]], [1], tasks), drop_below=0.5)
    assert made.outcomes.tolist() == [TaskOutcome.RAN, TaskOutcome.DROPPED]


def test_the_most_a_task_could_earn_is_looked_for_on_every_machine_behind_its_unmovable_tasks():
    # Machine types: 100 s and 10 s. At 60 s task 0 goes to the fast one (60 to 70 s), 1 behind it (70 to 80 s).
    # 2 arrives at 61 s; at 120 s both are free. Only the fast one, 130 s, is before its deadline of 131 s.
    tasks = [(0.0, 0, decaying(1.0)), (0.0, 0, decaying(1.0)), (61.0, 0, by_deadline(70.0))]
    day = simple_day([[100.0, 10.0]], [[1.0, 1.0]], [1, 1], tasks)
    assert run(day, drop_below=0.5).outcomes[2] == TaskOutcome.RAN
    slow = simple_day([[100.0, 70.0]], [[1.0, 1.0]], [1, 1], tasks)
    assert run(slow, drop_below=0.5).outcomes[2] == TaskOutcome.DROPPED


def test_the_filter_does_not_matter_for_dropping():
    period = Period(0.0, 600.0, energy_constraint_joules=1.0)
    made = run(flat_day([5.0], [0.0], period=period), drop_below=0.5, energy_filter=1.0)
    assert made.outcomes.tolist() == [TaskOutcome.WAITING]


def test_a_task_of_immediate_mode_that_earns_just_the_threshold_is_kept():
    tasks = [(0.0, 0, decaying(0.5)), (0.0, 0, decaying(0.4999))]
    made = run(simple_day([[5.0]], [[1.0]], [1], tasks), drop_below=0.5, immediate=True)
    assert made.outcomes.tolist() == [TaskOutcome.RAN, TaskOutcome.DROPPED]


def test_in_immediate_mode_a_task_is_dropped_for_what_it_would_earn_where_it_is_put():
    # 10 s each on one machine: 0 ends at 10 s; 1 would end 20 s after arrival, too late; 2 then ends at 20 s.
    tasks = [(0.0, 0, by_deadline(11.0)), (0.0, 0, by_deadline(20.0)), (0.0, 0, by_deadline(21.0))]
    made = run(simple_day([[10.0]], [[1.0]], [1], tasks), immediate=True, drop_below=0.5)
    assert made.outcomes.tolist() == [TaskOutcome.RAN, TaskOutcome.DROPPED, TaskOutcome.RAN]
    assert starts(made)[2] == (1, 10.0)
    assert made.dropped_at[1] == 0.0


# Permuting.


def test_the_head_of_a_virtual_queue_is_put_into_the_order_that_earns_most():
    # 60 s: 0 starts, 1 pends until 260 s. Behind them 2 loses nothing by waiting, 3 must end by 370 s.
    tasks = [(0.0, 0, decaying(1.0)), (0.0, 0, decaying(1.0)), (0.0, 0, decaying(8.0)), (0.0, 0, by_deadline(370.0))]  # fmt: skip
    day = simple_day([[100.0]], [[1.0]], [1], tasks)
    assert starts(run(day)) == {0: (1, 60.0), 1: (1, 160.0), 2: (1, 260.0), 3: (1, 360.0)}
    assert starts(run(day, permute=2)) == {0: (1, 60.0), 1: (1, 160.0), 3: (1, 260.0), 2: (1, 360.0)}


def test_unmovable_tasks_are_not_permuted_and_equal_orders_left_alone():
    # Were 0 and 1 moved, the deadline at 170 s could be met by the second; but both are unmovable at once.
    tasks = [(0.0, 0, decaying(1.0)), (0.0, 0, by_deadline(165.0)), (0.0, 0, decaying(1.0)), (0.0, 0, decaying(1.0))]  # fmt: skip
    day = simple_day([[100.0]], [[1.0]], [1], tasks)
    assert starts(run(day, permute=3)) == {n: (1, 60.0 + 100.0 * n) for n in range(4)}


def test_only_so_many_tasks_of_a_virtual_queue_are_permuted():
    # 60 s: 0 starts, 1 pends until 260 s. Of the three behind them the last has to be the first, or earns nothing.
    tasks = [*[(0.0, 0, decaying(1.0))] * 4, (0.0, 0, by_deadline(370.0))]
    day = simple_day([[100.0]], [[1.0]], [1], tasks)
    assert starts(run(day, permute=2)) == starts(run(day))
    assert starts(run(day, permute=3))[4] == (1, 260.0)


def test_long_queues_keep_their_order_where_nothing_is_gained():
    day = flat_day([7.0, 50.0, 20.0] * 20, [0.0] * 60, machines=2)
    assert starts(run(day, permute=3)) == starts(run(day))


def test_orders_in_which_a_task_starts_too_late_are_not_tried():
    # Behind 0 and 1 (until 80 s): 2 of 10 s, 3 of 100 s. The day ends at 150 s: 3 first would leave 2 without a start,
    # though 3 would then meet its deadline.
    tasks = [(0.0, 0, decaying(1.0)), (0.0, 0, decaying(1.0)), (0.0, 0, decaying(1.0)), (0.0, 1, by_deadline(181.0))]  # fmt: skip
    day = simple_day([[10.0], [100.0]], [[1.0], [1.0]], [1], tasks)
    short = day.model_copy(update={"period": Period(0.0, 150.0)})
    assert starts(run(short, permute=2)) == {0: (1, 60.0), 1: (1, 70.0), 2: (1, 80.0), 3: (1, 90.0)}
    longer = day.model_copy(update={"period": Period(0.0, 200.0)})
    assert starts(run(longer, permute=2))[3] == (1, 80.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_order_is_the_best_of_all_that_are_tried_one_by_one(seed):
    rng = np.random.default_rng(seed)
    functions = [
        UtilityFunction((
            Interval(0.0, 8.0, 4.0, float(rng.uniform(0, 0.2))),
            Interval(float(rng.uniform(5, 60)), 4.0, 0.0, float(rng.uniform(0, 0.2))),
        ))
        for _ in range(5)
    ]  # fmt: skip
    seconds = rng.uniform(1.0, 20.0, 5)
    day = simple_day([[each] for each in seconds], [[1.0]] * 5, [1], [(float(i), i, f) for i, f in enumerate(functions)])  # fmt: skip

    def earned(order):
        ends = 10.0 + np.cumsum(seconds[list(order)])
        return sum(functions[n].at(float(end) - n) for n, end in zip(order, ends, strict=True))

    arrays = day_arrays(day)
    orders = orders_of(5)
    numbers = (orders, 10.0, math.inf, seconds, arrays.function, arrays.arrivals, arrays.curves)
    best = best_order(*numbers)
    assert plain(best_order)(*numbers) == best
    assert earned(tuple(orders[best])) == pytest.approx(max(map(earned, permutations(range(5)))), rel=1e-9)
