"""The quick suite: within as many days as there are portions every test has had its turn, and slow ones never do."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from tests import selection
from tests.selection import leave_out, taken


class Item:
    """A test as pytest collects it: a name, a seed perhaps, and marks."""

    def __init__(self, nodeid, seed=None, **marks):
        self.nodeid, self.marks = nodeid, marks
        self.callspec = SimpleNamespace(params={} if seed is None else {"seed": seed})

    def get_closest_marker(self, name):
        return SimpleNamespace(args=self.marks[name]) if name in self.marks else None


ITEMS = [
    Item("a.py::test_once"),
    Item("a.py::test_killed", slow=()),
    *(Item(f"a.py::test_seeds[{seed}-{way}]", seed) for seed in range(5) for way in "xy"),
    *(Item(f"b.py::test_cases[{case}]", rotate=(3,)) for case in range(7)),
    *(Item(f"c.py::test_{name}[{case}]", rotate_tests=(1,)) for name in ("one", "two") for case in range(2)),
    *(Item(f"d.py::test_{name}[{n}]", n, rotate_tests=(1,)) for name in ("three", "four") for n in range(4)),
]


def kept(rotation, monkeypatch):
    monkeypatch.setattr(selection, "ROTATION", rotation)
    items = list(ITEMS)
    left_out = []
    config = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda *, items: left_out.extend(items)))
    leave_out(config, items)
    assert sorted(item.nodeid for item in [*items, *left_out]) == sorted(item.nodeid for item in ITEMS)
    return [item.nodeid for item in items]


@pytest.mark.parametrize("few", [1, 2, 3, 50])
def test_every_case_has_its_turn_once_in_a_round(few):
    for cases in range(1, 40):
        portions = math.ceil(cases / few)
        turns = [place for rotation in range(9, 9 + portions) for place in taken(cases, few, rotation)]
        assert sorted(turns) == list(range(cases))
        assert all(1 <= len(taken(cases, few, rotation)) <= few for rotation in range(portions))


def test_one_day_has_two_seeds_three_cases_and_one_test_of_a_module_and_nothing_slow(monkeypatch):
    assert kept(0, monkeypatch) == [
        "a.py::test_once",
        # of 5 seeds in 3 portions the first one has 0 and 3, each with both of its ways
        "a.py::test_seeds[0-x]",
        "a.py::test_seeds[0-y]",
        "a.py::test_seeds[3-x]",
        "a.py::test_seeds[3-y]",
        # of 7 cases in 3 portions
        "b.py::test_cases[0]",
        "b.py::test_cases[3]",
        "b.py::test_cases[6]",
        # of 2 tests in 2 portions
        "c.py::test_one[0]",
        "c.py::test_one[1]",
        # likewise, and of 4 seeds in 2 portions
        "d.py::test_three[0]",
        "d.py::test_three[2]",
    ]


def test_all_but_the_slow_ones_run_within_six_days(monkeypatch):
    run = {nodeid for rotation in range(6) for nodeid in kept(rotation, monkeypatch)}
    assert run == {item.nodeid for item in ITEMS if "slow" not in item.marks}
