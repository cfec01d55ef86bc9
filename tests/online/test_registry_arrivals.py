"""Names of heuristics for days: found, refused, added, taken back."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from lpsched import plugins as named
from lpsched.errors import InstanceError
from lpsched.online.heuristics import OF_DAYS, forget_for_days, heuristic_for_days, names_for_days, register_for_days
from lpsched.online.schedule import DaySchedule


def mine(day, rng, *, drop_below=None):  # noqa: ARG001
    return DaySchedule(())


def test_a_registered_heuristic_is_known_by_its_name_until_it_is_forgotten():
    assert register_for_days("mine-2", mine) is mine
    assert heuristic_for_days("mine-2") is mine
    assert names_for_days()[-1] == "mine-2"
    forget_for_days("mine-2")
    with pytest.raises(InstanceError, match="'mine-2', expected one of min-energy, "):
        heuristic_for_days("mine-2")


@pytest.mark.parametrize("name", ["min-min", "nsga2", "all", "lp", "Mine", "a--b", "", "a b", 3])
def test_a_name_that_is_taken_or_odd_is_refused(name):
    with pytest.raises(InstanceError, match="choose"):
        register_for_days(name, mine)
    assert name not in names_for_days() or name == "min-min"


def test_what_is_no_function_is_refused():
    with pytest.raises(InstanceError, match="str under the name 'mine', expected a function of a day"):
        register_for_days("mine", "text")  # type: ignore[call-overload]


def test_a_mistaken_name_is_answered_with_the_nearest():
    with pytest.raises(InstanceError, match="did you mean 'max-utility'"):
        heuristic_for_days("max-utlity")


@pytest.fixture
def announced(monkeypatch):
    """Let a package announce one heuristic that there is, and one that there is not."""
    here = "lpsched.online.heuristics"
    group = "lpsched.day_heuristics"
    points = [
        EntryPoint("theirs", f"{here}:min_min", group),
        EntryPoint("broken", f"{here}:no_such_thing", group),
        EntryPoint("mct", f"{here}:min_min", group),
    ]
    monkeypatch.setattr(named, "entry_points", lambda group: points if group == OF_DAYS.group else [])
    vars(OF_DAYS).pop("announced", None)  # looked up once in a process
    yield
    vars(OF_DAYS).pop("announced", None)


@pytest.mark.usefixtures("announced")
def test_a_package_announces_a_heuristic_but_does_not_replace_ours():
    assert names_for_days()[-2:] == ("theirs", "broken")
    assert heuristic_for_days("theirs") is heuristic_for_days("min-min")
    assert heuristic_for_days("mct") is not heuristic_for_days("min-min")


@pytest.mark.usefixtures("announced")
def test_a_package_that_cannot_be_loaded_is_named():
    with pytest.raises(InstanceError, match=r"announces as lpsched.*:no_such_thing: AttributeError"):
        heuristic_for_days("broken")
