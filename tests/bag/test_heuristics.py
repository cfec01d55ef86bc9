"""The static heuristics by hand: cases that fit on one hand, and the limits of each rule."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from lpsched.bag import heuristics as random_mapping
from lpsched.bag import heuristics as steps
from lpsched.bag.heuristics import heuristic, k_percent_best
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.bag.ready_machines import PairTimes, shift_of
from lpsched.bag.schedule import MachineGroup, Run
from lpsched.bag.verify import measure, violations
from lpsched.errors import InstanceError
from lpsched.model.table import Table
from tests.bag.one_by_one import REFERENCES, loads_of
from tests.support import simple_bag

CONSISTENT = simple_bag([[2.0, 4.0], [6.0, 12.0]], [2, 1], [1, 1])  # the second machine is half as fast
ON_COUNTS = ("min-min", "met", "mct", "olb", "k-percent-best", "min-energy", "random")


def mapped(name, bag, seed=0):
    schedule = heuristic(name)(bag, np.random.default_rng(seed))
    assert violations(bag, schedule) == ()
    return schedule


def loads(name, bag):
    return {(j, float(load)): count for (j, load), count in loads_of(bag, mapped(name, bag)).items()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Short ones first: 2 on the fast machine, then 4 there or on the slow one: the tie goes to the fast
        # one. The long one would end at 4 + 6 = 10 there, at 12 on the slow one.
        ("min-min", {(0, 10.0): 1}),
        # The long one first, to 6; then the short ones would end at 8 or 4: slow, and again 8 or 8: fast.
        ("max-min", {(0, 8.0): 1, (1, 4.0): 1}),
        # The long one loses 12 - 6, the short ones 4 - 2: long first. Then as above.
        ("sufferage", {(0, 8.0): 1, (1, 4.0): 1}),
        ("met", {(0, 10.0): 1}),
        # In the order of the file: 2 fast; 4 fast by the tie; the long one ends at 10 or 12.
        ("mct", {(0, 10.0): 1}),
        # Whoever is ready first: 2 fast, 4 slow, then the fast one is ready first.
        ("olb", {(0, 8.0): 1, (1, 4.0): 1}),
        ("k-percent-best", {(0, 10.0): 1}),  # a fifth of two machines is the fastest one
    ],
)
def test_each_rule_on_paper(name, expected):
    assert loads(name, CONSISTENT) == expected


def test_a_machine_type_that_joins_late_still_wins_a_tie_by_its_place_in_the_file():
    # m0 runs t1 until 1 and then t0 until 1 + 3 = 4; m1 runs t0 until 2, and would end the second at 4 as well.
    bag = simple_bag([[3.0, 2.0], [1.0, None]], [2, 1], [1, 1])
    assert loads("min-min", bag) == {(0, 4.0): 1, (1, 2.0): 1}


def test_max_min_does_not_hand_out_past_a_tie_with_an_earlier_type():
    # t2 first, m0 until 5. Then t1 would end later than t0 (9 against 7) and goes to m0 until 9, and again (9
    # against 7) to m1 until 9. Now both would end at 13 on m0: t0 is the lower one, and t1 ends at 17 behind it.
    bag = simple_bag([[4.0, 7.0], [4.0, 9.0], [5.0, None]], [1, 3, 1], [1, 1])
    assert loads("max-min", bag) == {(0, 17.0): 1, (1, 9.0): 1}


def test_min_energy_takes_the_fewest_joules_then_the_fastest_way():
    # Joules of the first type: 10 * 3 = 30, 2 * 20 = 40; of the second: 4 * 5 = 20, 2 * 10 = 20: the tie goes
    # to the faster way.
    bag = simple_bag([[10.0, 2.0], [4.0, 2.0]], [1, 3], [1, 1], watts=[[3.0, 20.0], [5.0, 10.0]])
    assert loads("min-energy", bag) == {(0, 10.0): 1, (1, 6.0): 1}


def test_min_energy_needs_watts():
    with pytest.raises(InstanceError, match=r"watts: got none, expected the watts of every pair .* min-energy"):
        mapped("min-energy", CONSISTENT)


def test_min_energy_chooses_the_p_state_and_the_others_the_fastest():
    gpu = MachineType(name="gpu", count=1, p_states=("slow", "fast", "hot"))
    task = TaskType(name="t", count=2)
    bag = Bag("b", (gpu,), (task,), Table.of([[5.0, 2.0, 2.0]]), Table.of([[1.0, 10.0, 9.0]]))
    thrifty = mapped("min-energy", bag)  # 5, 20, 18 joules
    assert thrifty.groups == (MachineGroup("gpu", 1, (Run("t", 2, "slow"),)),)
    quick = mapped("mct", bag)  # two ways of 2 s: the one that draws less
    assert quick.groups == (MachineGroup("gpu", 1, (Run("t", 2, "hot"),)),)
    assert mapped("mct", bag.model_copy(update={"watts": None})).groups[0].runs == (Run("t", 2, "fast"),)


def test_machines_run_their_tasks_in_the_order_they_were_given():
    # Max-min: the long one (6 s) first, then the two short ones behind it as one run.
    bag = simple_bag([[2.0], [6.0]], [2, 1], [1])
    assert mapped("max-min", bag).groups == (MachineGroup("m0", 1, (Run("t1", 1), Run("t0", 2))),)
    assert mapped("min-min", bag).groups == (MachineGroup("m0", 1, (Run("t0", 2), Run("t1", 1))),)


def test_k_percent_best_goes_from_met_to_mct():
    bag = simple_bag([[1.0, 2.0, 9.0]], [30], [1, 1, 8])
    rng = np.random.default_rng(0)
    first, most = k_percent_best(bag, rng, percent=10), k_percent_best(bag, rng, percent=100)
    assert {group.machine_type for group in first.groups} == {"m0"}  # one of ten machines is enough
    assert {group.machine_type for group in k_percent_best(bag, rng, percent=11).groups} == {"m0", "m1"}
    assert loads_of(bag, most) == REFERENCES["mct"](bag)


def test_a_task_that_one_machine_alone_can_run_suffers_most():
    # t0 would lose 100 s, but t1 has no second machine at all: it goes first, t0 behind it on the same machine
    # would end at 51, on the other at 101.
    bag = simple_bag([[1.0, 101.0], [50.0, None]], [1, 1], [1, 1])
    assert mapped("sufferage", bag).groups[0].runs == (Run("t1", 1), Run("t0", 1))


@pytest.mark.parametrize("name", ON_COUNTS)
def test_a_trillion_tasks_on_a_thousand_machines_are_mapped_exactly(name):
    rows = [[3.0, 7.0], [0.1, 11.0], [5.0, None]]
    bag = simple_bag(rows, [10**12, 7 * 10**11, 3], [600, 400], watts=rows)
    schedule = mapped(name, bag)  # the verifier counts the tasks exactly
    assert len(schedule.groups) <= 1000
    if name != "random":
        assert len(schedule.groups) <= 5  # two machine types, and a split for each task type


def test_max_min_works_on_counts_where_machines_agree_which_task_is_longest():
    bag = simple_bag([[1.0, 2.0], [3.0, 5.0]], [10**12, 10**12], [10, 10**6])
    assert len(mapped("max-min", bag).groups) <= 4


def test_rules_that_go_step_by_step_refuse_what_would_take_for_ever():
    # Each machine type is slow at what the other is fast at; a step hands out one task.
    bag = simple_bag([[1.0, 9.0], [9.0, 1.0]], [10**9, 10**9], [1, 1])
    with pytest.raises(InstanceError, match=r"sufferage takes at least 1,000,000,000 steps, expected at most 500,000"):
        mapped("sufferage", bag)


def test_steps_are_counted_and_expected(monkeypatch):
    monkeypatch.setattr(steps, "BETWEEN_LOOKS", 10)
    monkeypatch.setattr(steps, "HOPELESS", 100)
    bag = simple_bag([[2.0, 3.0], [3.0, 2.0]], [300, 300], [1, 1])
    with pytest.raises(InstanceError, match=r"600 tasks, for which max-min takes about \d+ steps"):
        mapped("max-min", bag)
    monkeypatch.setattr(steps, "HOPELESS", 10**9)
    mapped("max-min", bag)
    monkeypatch.setattr(steps, "MOST_STEPS", 50)
    with pytest.raises(InstanceError, match="take min-min or mct, which hand out any number of equal tasks"):
        mapped("max-min", bag)


def test_random_is_even_over_machines_and_then_over_p_states():
    machines = (MachineType(name="a", count=3), MachineType(name="b", count=1, p_states=("P0", "P1")))
    bag = Bag("b", machines, (TaskType(name="t", count=80_000),), Table.of([[1.0, 1.0, 1.0]]))
    ran: Counter[tuple[str, str | None]] = Counter()
    for group in mapped("random", bag).groups:
        for run in group.runs:
            ran[group.machine_type, run.p_state] += group.machines * run.count
    # 3 of 4 machines: 60,000 +- 5 * sqrt(80,000 * 3/16) = 612; a state of the last one: 10,000 +- 468.
    assert ran["a", None] == pytest.approx(60_000, abs=612)
    assert ran["b", "P0"] == pytest.approx(10_000, abs=468)
    assert sum(ran.values()) == 80_000


def test_random_draws_tasks_where_machines_are_more_and_refuses_where_both_are_many():
    few = simple_bag([[1.0, None]], [5], [10**12, 3])
    assert measure(few, mapped("random", few)).makespan_seconds >= 1.0
    assert mapped("random", few, seed=1) == mapped("random", few, seed=1)
    many = simple_bag([[1.0]], [10**12], [10**9])
    with pytest.raises(InstanceError, match=r"random draws 1,000,000,000 numbers, expected at most 2,000,000"):
        random_mapping.random_mapping(many, np.random.default_rng(0))


def test_no_random_task_falls_on_a_pair_that_cannot_run():
    # The last pair is absent; what rounding leaves over must not go there.
    row = [0.1] * 9 + [None]
    bag = simple_bag([row], [10**15], [1] * 10)
    assert "m9" not in {group.machine_type for group in mapped("random", bag).groups}


def test_ticks_are_exact():
    seconds = np.array([0.1, 3.0, 1e-30, 1e30])
    shift = shift_of(seconds)
    for each in seconds.tolist():
        assert Fraction(int(math.ldexp(each, shift)), 1 << shift) == Fraction(each)
    assert shift_of(np.array([8.0, 1024.0])) == 0
    assert PairTimes.of(simple_bag([[0.5, None]], [1], [1, 1])).seconds.tolist() == [[0.5, math.inf]]


def test_of_two_p_states_the_faster_one_counts():
    gpu = MachineType(name="gpu", count=1, p_states=("P0", "P1"))
    times = PairTimes.of(Bag("b", (gpu,), (TaskType(name="t", count=1),), Table.of([[1.5, 0.75]])))
    assert (times.columns[0, 0], times.shift, times.way(0, 0).ticks) == (1, 2, 3)  # 0.75 s are 3 ticks of 1/4 s


@pytest.mark.parametrize("name", REFERENCES)
def test_who_is_ready_first_is_known_again_after_many_tasks_at_once(name):
    # A bag on which max-min, which hands out several tasks at once, would else go on with a busy machine.
    bag = simple_bag([[1.0, 1.5], [0.5, 2.0], [None, 1.0]], [2, 4, 1], [1, 2])
    assert loads_of(bag, mapped(name, bag)) == REFERENCES[name](bag)


@pytest.fixture(params=["consistent", "inconsistent"])
def braun(request):
    """Times as the Braun instances have them: 40 tasks of their own on 8 machines of their own."""
    rng = np.random.default_rng(7)
    times = rng.uniform(1, 3000, (40, 1)) * rng.uniform(1, 1000, (40, 8))
    if request.param == "consistent":
        times.sort(axis=1)
    return simple_bag(times.tolist(), [1] * 40, [1] * 8)


@pytest.mark.parametrize("name", REFERENCES)
def test_rows_of_single_tasks_are_mapped_as_one_by_one(name, braun):
    assert loads_of(braun, mapped(name, braun)) == REFERENCES[name](braun)
