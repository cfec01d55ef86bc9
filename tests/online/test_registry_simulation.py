"""Policies by name: ours with their numbers, own ones, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lpsched import jit as compiled
from lpsched.errors import InstanceError, MissingExtraError
from lpsched.online import policies as registry
from lpsched.online.policies import forget, names, policy, register
from lpsched.online.simulate.days import simulate_day
from lpsched.online.simulate.options import SimulationOptions
from lpsched.online.simulate.state import Assignment, PartialSchedule
from tests.days import decaying, simple_day
from tests.online.states import drawn_state


@pytest.fixture
def _mine():
    yield
    forget("mine")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("weighted-util:1.1", "a weight of energy from 0 to 1 after the colon"),
        ("weighted-upt:nan", "a weight of energy from 0 to 1 after the colon"),
        ("weighted-upe:", "a weight of energy from 0 to 1 after the colon"),
        ("weighted-util:-0.1", "a weight of energy from 0 to 1 after the colon"),
        ("k-best-types:0", "a whole number from 1 on after the colon"),
        ("k-best-types:1.5", "a whole number from 1 on after the colon"),
        ("min-min:2", "write min-min"),
        ("max-max-utp", "max-max-upt"),
    ],
)
def test_what_is_no_policy_is_refused_with_the_way_out(name, found):
    with pytest.raises(InstanceError) as refused:
        policy(name)
    assert found in str(refused.value)


def test_a_number_behind_the_colon_is_the_weight_of_energy():
    # Two machines: 10 s and 100 J, or 20 s and 1 J. The task earns 8 wherever it runs: at w = 0 the soonest end
    # wins; at w = 0.5 the scores are 0.5 - 0.5 * 100 / 100 = 0 and 0.5 - 0.5 * 1 / 100 = 0.495.
    day = simple_day([[10.0, 20.0]], [[10.0, 0.05]], [1, 1], [(0.0, 0, decaying(8.0))])
    used = {}
    for weight in ("0", "0.5"):
        done = simulate_day(day, policy(f"weighted-util:{weight}"), np.random.default_rng(0), SimulationOptions())
        used[weight] = done.schedule.placed[0].machine_type
    assert used == {"0": "m0", "0.5": "m1"}


@pytest.mark.usefixtures("_mine")
def test_an_own_policy_is_known_by_its_name_and_maps_a_day():
    @register("mine")
    def latest_first(state, _rng):
        draft = PartialSchedule(state)
        for place in reversed(range(len(state.tasks))):
            if choices := draft.choices(place):
                draft.take(place, *max(choices, key=lambda choice: draft.utility(place, *choice)))
        return draft.assignments

    assert "mine" in names()
    assert policy("mine").choose is latest_first
    assert not policy("mine").immediate
    day = simple_day([[10.0]], [[1.0]], [1], [(0.0, 0, decaying(1.0)), (1.0, 0, decaying(1.0))])
    done = simulate_day(day, policy("mine"), np.random.default_rng(0), SimulationOptions(every_seconds=30.0))
    assert {each.task: each.start_seconds for each in done.schedule.placed} == {1: 30.0, 0: 40.0}
    forget("mine")
    assert "mine" not in names()


@pytest.mark.usefixtures("_mine")
def test_an_own_policy_of_immediate_mode_is_asked_at_each_arrival():
    asked = []

    @register("mine", immediate=True)
    def at_once(state, _rng):
        asked.append(state.now)
        return [Assignment(int(task), 0, 0) for task in state.tasks]

    day = simple_day([[10.0]], [[1.0]], [1], [(2.0, 0, decaying(1.0)), (5.0, 0, decaying(1.0))])
    assert policy("mine").immediate
    done = simulate_day(day, policy("mine"), np.random.default_rng(0), SimulationOptions())
    assert asked == [2.0, 5.0]
    assert [each.start_seconds for each in done.schedule.placed] == [2.0, 12.0]
    register("mine", at_once)  # the same function again, of batch mode now
    assert not policy("mine").immediate


def test_a_package_may_announce_a_policy_of_immediate_mode(monkeypatch):
    def theirs(_state, _rng):
        return []

    announced = SimpleNamespace(name="theirs", value="package:theirs", dist=None, load=lambda: theirs)
    monkeypatch.setitem(vars(registry.POLICIES), "announced", {"theirs": announced})
    assert not policy("theirs").immediate
    vars(theirs)["immediate"] = True
    assert policy("theirs").immediate


@pytest.mark.parametrize("name", ["fcfs", "prices"])
def test_our_names_cannot_be_taken(name):
    with pytest.raises(InstanceError, match="a name that lpsched does not use itself"):
        register(name, lambda _state, _rng: [])


@pytest.mark.parametrize("name", ["min-min", "fcfs", "random", "sufferage", "max-upt", "random-batch"])
def test_without_the_compiler_whoever_asks_is_told_what_to_install(name, monkeypatch):
    monkeypatch.setattr(compiled, "numba", None)
    state = drawn_state(np.random.default_rng(0))
    with pytest.raises(MissingExtraError, match="needs the extra 'simulate'"):
        policy(name).choose(state, np.random.default_rng(0))
