"""Kinds of tasks: by priority or own function; numbered ones are one where there are many."""

from __future__ import annotations

import pytest

from lpsched.online.parts import Levels
from lpsched.online.result.simulation import kinds_by_worth, kinds_of
from lpsched.online.utility import UtilityLevels
from tests.days import decaying, simple_day


class Instance:
    """What is asked of an instance."""

    def __init__(self, priorities):
        self.levels = UtilityLevels(priorities=priorities)
        self.arriving = self
        self.declared = tuple(Levels(name, "soon", "A") for name in priorities)
        self.utility_functions = {}


@pytest.mark.parametrize(
    ("priorities", "kinds"),
    [
        pytest.param({"low-1": 1.0, "high-2": 4.0}, ("high-2", "low-1"), id="few-keep-their-names"),
        pytest.param(
            {f"low-{n:03}": 1.0 + n for n in range(5)} | {f"high-{n:03}": 3.0 + n for n in range(5)},
            ("high", "low"),  # 7 and 5 at most
            id="of-many-the-numbered-are-one",
        ),
        pytest.param(
            {f"{n}": float(n + 1) for n in range(9)},
            tuple(f"{n}" for n in reversed(range(9))),
            id="a-name-that-is-a-number-stays",
        ),
    ],
)
def test_kinds_are_priorities_from_the_one_worth_most(priorities, kinds):
    instance = Instance(priorities)
    assert kinds_by_worth(instance) == kinds
    assert set(kinds_of(instance)) == set(kinds)
    assert len(kinds_of(instance)) == len(priorities)


def test_own_functions_are_kinds_too():
    day = simple_day([[1.0]], [[1.0]], [1], [(0.0, 0, decaying(1.0)), (0.0, 0, decaying(9.0))])
    assert kinds_by_worth(day) == ("own function u1", "own function u0")
