"""Other machines for the same bag: two answers, one price, and a proved range of the difference."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched import InfeasibleError, InstanceError, bag_from_dict, solve, what_if
from lpsched.bag.terms import with_machines
from tests.property.tiny import case_of
from tests.support import simple_bag, sound


@pytest.fixture
def two_types():
    # "render" takes 8 s on cpu and 1 or 2 s on gpu, "zip" 3 s on cpu only.
    return bag_from_dict(sound())


def test_the_answers_are_those_of_solving_either_bag(two_types):
    found = what_if(two_types, {"gpu": 3})
    other = bag_from_dict(
        sound(
            machine_types=[
                {"name": "cpu", "count": 2, "idle_watts": 5},
                {"name": "gpu", "count": 3, "p_states": ["P0", "P1"]},
            ]
        )
    )
    assert (found.before.value, found.before.bound) == (solve(two_types).value, solve(two_types).bound)
    assert (found.after.value, found.after.bound) == (solve(other).value, solve(other).bound)
    assert found.after.provenance.instance_hash == other.content_hash


def test_a_type_set_to_0_is_gone_with_its_columns(two_types):
    less = with_machines(
        bag_from_dict(
            sound(machine_types=[{"name": "gpu", "count": 1, "p_states": ["P0", "P1"]}, {"name": "cpu", "count": 2}])
        ),
        {"gpu": 0},
    )
    assert [machine.name for machine in less.machine_types] == ["cpu"]
    assert list(map(list, less.seconds)) == [[8.0], [3.0]]
    assert list(map(list, less.watts)) == [[50.0], [40.0]]
    found = what_if(two_types, {"gpu": 0}, objective="makespan")
    assert found.counts_after == {"cpu": 2, "gpu": 0}
    # 40 tasks of 8 s and 5 of 3 s on two machines: 335 s of work, and whole seconds.
    assert found.after.bound == 168.0


def test_a_task_type_that_could_run_nowhere_is_refused(two_types):
    with pytest.raises(InstanceError, match="task type 'zip'"):
        what_if(two_types, {"cpu": 0})


@pytest.mark.parametrize(
    ("machines", "message"),
    [
        ({"tpu": 1}, r"machine_types\.tpu: found no machine type of this name, needs one of cpu, gpu; name it"),
        ({"cpu": -1}, r"machine_types\.cpu: found -1, needs a whole number from 0 to \d+; correct it"),
        ({"cpu": True}, r"machine_types\.cpu: found .*, needs a whole number from 0"),
        ({"cpu": 0, "gpu": 0}, "machine_types: found none left, needs at least one machine; leave some"),
    ],
)
def test_what_no_file_could_say_is_refused(two_types, machines, message):
    with pytest.raises(InstanceError, match=message):
        what_if(two_types, machines)


def test_a_profit_ratio_is_one_price_for_both(two_types):
    # The least energy changes with the machines; what customers pay does not.
    found = what_if(two_types, {"gpu": 0}, profit_ratio=2.0)
    other = with_machines(two_types, {"gpu": 0})
    assert found.before.bound == pytest.approx(solve(two_types, profit_ratio=2.0).bound)
    assert found.after.bound != pytest.approx(solve(other, profit_ratio=2.0).bound)


def test_an_infeasible_change_says_with_which_machines(two_types):
    with pytest.raises(InfeasibleError, match=r"^with gpu=0: "):
        what_if(two_types, {"gpu": 0}, objective="makespan", deadline=100.0)
    with pytest.raises(InfeasibleError, match=r"^with the machines there are: "):
        what_if(two_types, {"gpu": 100}, objective="makespan", deadline=1.0)


@settings(deadline=None)
@given(
    seconds=st.lists(st.lists(st.integers(1, 9), min_size=2, max_size=2), min_size=1, max_size=2),
    tasks=st.lists(st.integers(1, 2), min_size=2, max_size=2),
    more=st.integers(1, 3),
)
def test_the_best_possible_changes_within_the_proved_range(seconds, tasks, more):
    bag = simple_bag([[float(e) for e in row] for row in seconds], tasks[: len(seconds)], [1, 2])
    found = what_if(bag, {"m0": more}, objective="makespan")
    best = [case_of(each).best("makespan") for each in (bag, with_machines(bag, {"m0": more}))]
    change = best[1] - best[0]
    least, most = found.best_changes_by()
    assert least <= change <= most
