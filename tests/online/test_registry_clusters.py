"""Policies for clusters by name."""

from __future__ import annotations

import pytest

from lpsched.errors import InstanceError
from lpsched.online.cluster_policies import cluster_policy, cluster_policy_names, forget, register
from tests.online.nodes.small import first_come, flat, run

FOUR = ("max-util", "max-upt", "max-upr", "max-upe")


@pytest.fixture
def _forgotten():
    yield
    forget("mine")


def test_published_backfilling_and_the_twelve_policies_of_the_paper_have_names():
    published = ("fcfs", "easy", "conservative", "sjf")
    of_the_paper = ("easy-nodes", "conservative-nodes", "multiple-queues")
    assert cluster_policy_names()[:12] == ("random", *published, *of_the_paper, *FOUR)


@pytest.mark.parametrize("name", FOUR)
def test_the_name_says_which_of_the_four_use_place_holders_and_has_the_last_word(name):
    for text, option, expected in [
        (name, False, False),
        (name, True, True),
        (f"{name}:placeholders", False, True),
        (f"{name}:reservations", True, False),
    ]:
        policy = cluster_policy(text, placeholders=option)
        assert policy.placeholders is expected
        assert policy.name == (f"{name}:placeholders" if expected else name)
        assert policy.drops
        assert policy.needs_utility


def test_max_upe_is_energy_aware_and_not_filtered():
    assert [cluster_policy(name).filtered for name in FOUR] == [True, True, True, False]


@pytest.mark.parametrize("name", ["random", "fcfs", "conservative", "easy", "easy-nodes", "multiple-queues"])
def test_policies_that_come_from_elsewhere_neither_drop_nor_filter_nor_need_utility(name):
    policy = cluster_policy(name, placeholders=True)
    uses = (policy.placeholders, policy.drops, policy.filtered, policy.needs_utility)
    assert uses == (False, False, False, False)


@pytest.mark.parametrize("name", ["easy:placeholders", "max-upe:", "max-upe:something", "max-util:1"])
def test_nothing_else_stands_behind_a_colon(name):
    with pytest.raises(InstanceError, match="placeholders or reservations after max-util, max-upt"):
        cluster_policy(name)


def test_a_name_that_nobody_has_is_refused_with_the_nearest():
    with pytest.raises(InstanceError, match=r"'esay'.*easy"):
        cluster_policy("esay")


@pytest.mark.usefixtures("_forgotten")
def test_own_policies_say_what_they_use():
    register("mine", first_come, placeholders=True, drops=False)
    policy = cluster_policy("mine")
    assert (policy.name, policy.placeholders, policy.drops, policy.filtered) == ("mine", True, False, True)
    assert len(run(flat([(0.0, 1, 1.0)]), policy=policy).schedule.placed) == 1
    forget("mine")
    with pytest.raises(InstanceError, match="'mine'"):
        cluster_policy("mine")


@pytest.mark.usefixtures("_forgotten")
def test_a_decorator_registers_and_returns_the_function():
    @register("mine", needs_utility=True)
    def mine(state, rng):
        return first_come(state, rng)

    assert cluster_policy("mine").place is mine
    assert cluster_policy("mine").needs_utility


def test_names_of_ours_are_taken():
    with pytest.raises(InstanceError, match="a name that lpsched does not use itself"):
        register("easy", first_come)
    with pytest.raises(InstanceError, match="expected a function"):
        register("mine", 3)  # type: ignore[call-overload]
