"""A bag as it is and with changes: two results, and a proved range of the difference."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched import InfeasibleError, InstanceError, solve, what_if
from lpsched.bag.model import bag_from_dict, with_machines
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
    ("changes", "message"),
    [
        ({"tpu": 1}, r"tpu: got an unknown name, expected one of cpu, gpu, price, .*zip; did you mean 'gpu'\?"),
        ({"price.zap": 1}, r"price\.zap: got an unknown name, expected one of render, zip; did you mean 'zip'\?"),
        ({"cpu": -1}, r"changes\.cpu: got -1, expected a whole number from 0 to 10\^15; correct it"),
        ({"cpu": "-3"}, r"changes\.cpu: got -1, expected a whole number from 0 to 10\^15; correct it"),
        ({"cpu": True}, r"changes\.cpu: got .*, expected a whole number from 0"),
        ({"cpu": "2.5"}, r"changes\.cpu: got 2\.5, expected a whole number from 0 to 10\^15; round it"),
        ({"cpu": 0, "gpu": 0}, "changes: got no machines, expected at least one; leave some"),
        ({"render": 0, "zip": 0}, "changes: got no tasks, expected at least one; leave some"),
        ({"price": "10%"}, r"price: got '10%', expected a sign before a percentage; write \+10% or -10%"),
        ({"price": "-3"}, r"price: got -1\.?0?, expected money: a number from 0"),
        ({"electricity": "2kW"}, "electricity: got '2kW', expected an amount such as 8, or a change such as"),
        ({"power-cap": "+1kW"}, "power-cap: got no current value, expected a value to change"),
        ({"deadline": "5 hours"}, r"deadline: got '5 hours', expected an amount .* with a unit \(ms, d, h, min, s\)"),
        ({"electricity": None}, "electricity: got nothing"),
        ({"cpu": "+1e400%"}, r"changes\.cpu: got infinity, expected a whole number from 0"),
        ({"cpu": "1" * 50}, r"changes\.cpu: got '1+\.*', expected an amount"),
        ({"price": "-150%"}, "price"),
    ],
)
def test_what_no_file_could_say_is_rejected(two_types, changes, message):
    with pytest.raises(InstanceError, match=message):
        what_if(two_types, changes)


def test_all_errors_are_listed(two_types):
    with pytest.raises(InstanceError) as error:
        what_if(two_types, {"tpu": 1, "deadline": "soon", "cpu": "x"})
    assert len(error.value.issues) == 3


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"cpu": "+4"}, {"machine_types": [{"name": "cpu", "count": 6, "idle_watts": 5}, sound()["machine_types"][1]]}),
        ({"render": "+25%"}, {"task_types": [{"name": "render", "count": 50}, {"name": "zip", "count": 5}]}),
        (
            {"tasks.zip": 0},  # with its times, its watts and its price
            {
                "task_types": [{"name": "render", "count": 40}],
                "seconds": {"render": sound()["seconds"]["render"]},
                "watts": {"render": sound()["watts"]["render"]},
                "prices": {"per_bag": 2.0, "electricity_per_kwh": 0.1},
            },
        ),
        ({"price": 3}, {"prices": {"per_bag": 3.0, "electricity_per_kwh": 0.1}}),
        ({"price": "+1"}, {"prices": {"per_bag": 3.0, "per_task": {"zip": 0.5}, "electricity_per_kwh": 0.1}}),
        ({"price": "+10%"}, {"prices": {"per_bag": 2.2, "per_task": {"zip": 0.55}, "electricity_per_kwh": 0.1}}),
        ({"price.zip": "-0.2"}, {"prices": {"per_bag": 2.0, "per_task": {"zip": 0.3}, "electricity_per_kwh": 0.1}}),
        ({"electricity": "+50%"}, {"prices": {"per_bag": 2.0, "per_task": {"zip": 0.5}, "electricity_per_kwh": 0.15}}),
        ({"power-cap": "0.5kW"}, {"site": {"pue": 1.5, "average_power_cap_watts": 500.0}}),
        ({"deadline": "2 min"}, {"site": {"pue": 1.5, "deadline_seconds": 120.0}}),
    ],
    ids=str,
)
def test_every_change_gives_the_bag_that_a_file_would(two_types, changes, expected):
    found = what_if(two_types, changes)
    assert found.after.provenance.instance_hash == bag_from_dict(sound(**expected)).content_hash


def test_a_change_is_relative_to_an_option_and_takes_its_place(two_types):
    found = what_if(two_types, {"price": "-50%", "deadline": "none"}, price=8.0, deadline=500.0)
    assert [(each.before, each.after, each.unit) for each in found.changes] == [(8.0, 4.0, "USD"), (500.0, None, "s")]
    assert found.before.bound == solve(two_types, price=8.0, deadline=500.0).bound
    assert found.after.bound == solve(two_types, price=4.0).bound
    assert str(found.changes[1]) == "deadline from 8 min 20 s to none"


def test_a_bag_without_a_price_is_compared_as_one_that_sells_for_nothing():
    bag = bag_from_dict(sound(prices={"electricity_per_kwh": 0.1}))
    found = what_if(bag, {"price": 3})
    assert [(each.before, each.after, each.unit) for each in found.changes] == [(None, 3.0, "USD")]
    assert found.before.objective == found.after.objective == "profit"
    assert found.before.bound == solve(bag, price=0.0).bound
    assert found.after.value == solve(bag, price=3.0).value > 0
    assert str(found.changes[0]) == "price from none to 3 USD"
    of_tasks = what_if(bag, {"price.zip": "0.5"})
    assert (of_tasks.before.objective, of_tasks.changes[0].before, of_tasks.changes[0].after) == ("profit", None, 0.5)
    assert what_if(bag, {"price": 3}, objective="makespan").before.objective == "makespan"
    assert what_if(bag, {"cpu": "+1"}).before.objective == "makespan"


@pytest.mark.parametrize("value", ["+10%", "-10%", "+3", "-3"])
def test_a_price_that_is_not_there_cannot_be_changed_by_an_amount(value):
    needed = re.escape("price: got no current value, expected a value to change; give the new value itself")
    with pytest.raises(InstanceError, match=needed):
        what_if(bag_from_dict(sound(prices={"electricity_per_kwh": 0.1})), {"price": value})


def test_both_solves_have_the_same_objective():
    # Only zip has a price: without it there is no profit to compare.
    prices = {"per_task": {"zip": 0.5}, "electricity_per_kwh": 0.1}
    with pytest.raises(InstanceError, match=r"prices\.per_bag: got none"):
        what_if(bag_from_dict(sound(prices=prices)), {"zip": 0})


def test_no_price_of_a_task_becomes_negative():
    prices = {"per_task": {"zip": 0.5}, "electricity_per_kwh": 0.1}
    with pytest.raises(InstanceError, match=r"price\.zip: got -0\.25, expected money"):
        what_if(bag_from_dict(sound(prices=prices)), {"price": "-150%"})


def test_the_former_name_of_the_changes_still_works(two_types):
    assert what_if(two_types, machines={"gpu": 2}).counts_after == {"cpu": 2, "gpu": 2}


def test_the_sentence_rounds_outwards_and_has_the_unit_of_the_objective(two_types):
    # Two machines take 335 s of work in 168 s; four in 84, if split. Of energy nothing is idle time saved.
    found = what_if(two_types, {"gpu": 0, "cpu": 4}, objective="makespan")
    least, most = found.best_changes_by()
    assert found.sentence().startswith("with gpu from 1 to 0 machines, cpu from 2 to 4 machines, the best possible")
    assert least <= found.after.value - found.before.value <= most
    assert found.sentence().endswith("s (proved)")


def test_a_profit_ratio_is_one_price_for_both(two_types):
    # The least energy changes with the machines; what customers pay does not.
    found = what_if(two_types, {"gpu": 0}, profit_ratio=2.0)
    other = with_machines(two_types, {"gpu": 0})
    assert found.before.bound == pytest.approx(solve(two_types, profit_ratio=2.0).bound)
    assert found.after.bound != pytest.approx(solve(other, profit_ratio=2.0).bound)


def test_an_infeasible_change_says_with_which_machines(two_types):
    with pytest.raises(InfeasibleError, match=r"^[^:]*, with gpu=0: "):
        what_if(two_types, {"gpu": 0}, objective="makespan", deadline=100.0)
    with pytest.raises(InfeasibleError, match=r"^[^:]*, without the changes: "):
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
