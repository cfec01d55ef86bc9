"""Heuristics by name: ours, one's own, those of installed packages."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from lpsched import plugins as named
from lpsched.bag import heuristics as registry
from lpsched.bag.heuristics import forget, heuristic, names, register
from lpsched.bag.schedule import NOTHING
from lpsched.errors import InstanceError


@pytest.fixture(autouse=True)
def clean():
    """Leave no trace of what a test registers or announces."""
    yield
    for name in ("mine", "other"):
        forget(name)
    vars(registry.OF_BAGS).pop("announced", None)


def announce(monkeypatch, *points):
    monkeypatch.setattr(named, "entry_points", lambda group: points if group == "lpsched.heuristics" else ())
    vars(registry.OF_BAGS).pop("announced", None)  # looked up once in a process


def nothing(bag, rng):  # noqa: ARG001
    return NOTHING


def test_a_function_is_registered_by_a_call_or_as_a_decorator():
    assert register("mine", nothing) is nothing
    assert heuristic("mine") is nothing

    @register("other")
    def decorated(bag, rng):  # noqa: ARG001
        return NOTHING

    assert heuristic("other") is decorated
    assert names()[-2:] == ("mine", "other")


@pytest.mark.parametrize("name", ["", "Min", "my_rule", "-a", "a-", "a--b", "a b", "ä", 3, "a,b"])
def test_names_are_lower_case_letters_digits_and_hyphens(name):
    with pytest.raises(InstanceError, match="lower-case letters and digits, with single hyphens"):
        register(name, nothing)


@pytest.mark.parametrize("name", ["all", "lp", "nsga2", "min-min", "max-utility", "utility-per-energy"])
def test_names_of_ours_are_taken(name):
    with pytest.raises(InstanceError, match="expected a name that lpsched does not use itself; choose another"):
        register(name, nothing)


def test_a_name_is_given_once_but_a_new_version_of_the_same_function_may_replace_it():
    def made():
        def rule(bag, rng):  # noqa: ARG001
            return NOTHING

        return rule

    first, again = made(), made()
    register("mine", first)
    assert register("mine", again) is again
    assert heuristic("mine") is again
    with pytest.raises(InstanceError, match="'mine', expected a name that is not registered yet"):
        register("mine", nothing)


def test_what_is_no_function_is_not_registered():
    with pytest.raises(InstanceError, match="got int under the name 'mine', expected a function of a bag"):
        register("mine", 3)  # type: ignore[call-overload]


def test_an_unknown_name_is_told_with_all_that_are_known_and_the_nearest():
    with pytest.raises(InstanceError, match="got 'minmin', expected one of min-min, max-min") as raised:
        heuristic("minmin")
    assert str(raised.value).endswith("did you mean 'min-min'?")


def test_rules_about_utility_need_a_day():
    with pytest.raises(InstanceError, match="got 'max-utility' for a bag, expected a day, whose tasks have arrivals"):
        heuristic("max-utility")


def test_installed_packages_announce_theirs(monkeypatch):
    announce(
        monkeypatch,
        EntryPoint("mine", f"{__name__}:nothing", "lpsched.heuristics"),
        EntryPoint("min-min", f"{__name__}:nothing", "lpsched.heuristics"),
        EntryPoint("Bad Name", f"{__name__}:nothing", "lpsched.heuristics"),
    )
    monkeypatch.setitem(sys.modules, __name__, SimpleNamespace(nothing=nothing))
    assert names()[-1] == "mine"
    assert heuristic("mine") is nothing
    assert heuristic("min-min") is not nothing
    assert "Bad Name" not in names()


def test_a_broken_package_is_named_only_when_its_heuristic_is_asked_for(monkeypatch):
    broken = EntryPoint("mine", "no_such_module_anywhere:rule", "lpsched.heuristics")
    vars(broken)["dist"] = SimpleNamespace(name="fancy-rules")
    announce(monkeypatch, broken, EntryPoint("other", "math:pi", "lpsched.heuristics"))
    assert {"mine", "other"} <= set(names())
    assert callable(heuristic("mct"))
    with pytest.raises(
        InstanceError,
        match=r"'mine', which package 'fancy-rules' announces as no_such_module_anywhere:rule: ModuleNotFoundError",
    ):
        heuristic("mine")
    with pytest.raises(
        InstanceError, match="expected a function of a bag and a random generator; fix an installed package"
    ):
        heuristic("other")
