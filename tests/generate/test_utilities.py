from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.errors import InstanceError
from lpsched.generate.arrivals import CHANCES, THESIS_LEVELS, draw_levels, even_arrivals
from lpsched.generate.bags import cov_bag
from lpsched.generate.day import day_of
from lpsched.generate.options import CovOptions
from lpsched.model.table import Table
from lpsched.online.parts import Levels


def test_the_chances_sum_to_one_and_4_percent_are_critical():
    assert sum(sum(row) for row in CHANCES.values()) == pytest.approx(100.0)
    assert [sum(row) for row in CHANCES.values()] == pytest.approx([4.05, 12.95, 30.0, 53.0])
    # By urgency: 2 + 3.45 extreme, 2 + 5 + 10 high, 0.05 + 1.5 + 10 + 20 medium, 3 + 10 + 33 low.
    assert [sum(column) for column in zip(*CHANCES.values(), strict=True)] == pytest.approx([5.45, 17.0, 31.55, 46.0])


def test_levels_are_as_frequent_as_their_chances():
    # 200,000 draws: the deviation of a share is at most 0.0011; five of them are allowed.
    number = 200_000
    drawn = Counter(draw_levels(np.random.default_rng(1), number))
    for priority, row in CHANCES.items():
        for urgency, percent in zip(THESIS_LEVELS.urgencies, row, strict=True):
            each = [drawn[Levels(priority, urgency, kind)] / number for kind in "ABCD"]
            assert sum(each) == pytest.approx(percent / 100, abs=0.0055)
            assert each == pytest.approx([percent / 400] * 4, abs=0.003)
            assert (sum(each) == 0) == (percent == 0)


def test_a_utility_function_of_the_appendices_by_hand():
    # High priority is worth 4; extreme urgency keeps it for 0.8 of 100 s and then decays by 0.6 x 1.1 a minute
    # in class A, towards 60 % at 5 minutes; there it goes on at 0.6 x 1.15 towards 30 %.
    function = THESIS_LEVELS.function(Levels("high", "extreme", "A"), 100.0)
    assert function.at(79.9) == 4.0
    assert function.at(80 + 60) == pytest.approx(2.4 + 1.6 * np.exp(-0.66))
    assert function.at(80 + 5 * 60) == pytest.approx(2.4)
    assert function.at(80 + 6 * 60) == pytest.approx(1.2 + 1.2 * np.exp(-0.69))
    assert function.at(80 + 10_000 * 60 + 1) == 0.0


@pytest.mark.parametrize(
    ("kind", "minutes", "shares", "rates"),
    [
        ("A", (0, 5, 10, 20, 30, 10000), (100, 60, 30, 20, 10, 0), (1.1, 1.15, 1.2, 1.1, 1.2, 10)),
        ("B", (0, 7, 15, 22.5, 30, 10000), (100, 50, 25, 12, 5, 0), (0.9, 0.9, 0.9, 0.9, 0.9, 10)),
        ("C", (0, 10, 20, 30, 40, 10000), (100, 75, 50, 25, 12, 0), (0.9, 0.85, 0.85, 0.8, 0.8, 10)),
        ("D", (0, 12.5, 25, 37, 50, 10000), (100, 80, 66, 33, 11, 0), (1.2, 1.1, 1.1, 0.9, 0.9, 10)),
    ],
)
def test_the_classes_are_those_of_table_c_1(kind, minutes, shares, rates):
    found = THESIS_LEVELS.utility_classes[kind]
    assert tuple(each.after_minutes for each in found) == minutes
    assert tuple(round(100 * each.share, 9) for each in found) == shares
    assert tuple(each.rate for each in found) == rates


def test_priorities_and_urgencies_are_those_of_section_2_6_2_and_appendix_b():
    assert list(THESIS_LEVELS.priorities.items()) == [("critical", 8), ("high", 4), ("medium", 2), ("low", 1)]
    urgencies = THESIS_LEVELS.urgencies
    assert [each.decay_per_minute for each in urgencies.values()] == [0.6, 0.2, 0.1, 0.01]
    assert [each.steady_share for each in urgencies.values()] == [0.8, 0.9, 1.0, 1.1]
    assert list(urgencies) == ["extreme", "high", "medium", "low"]


def test_arrivals_rise_within_the_span_and_are_even():
    arrivals = even_arrivals(np.random.default_rng(1), 40_000, 900.0)
    assert (np.diff(arrivals) >= 0).all()
    assert (arrivals >= 0).all()
    assert (arrivals <= 900).all()
    tenths = np.histogram(arrivals, bins=10, range=(0, 900))[0]
    assert tenths == pytest.approx(np.full(10, 4_000), abs=300)  # five deviations of 60
    assert (np.round(arrivals, 2) == arrivals).all()


def test_a_day_has_the_bags_machines_and_tables_and_types_as_frequent_as_there():
    small = cov_bag("x", np.random.default_rng(0), CovOptions(task_types=2, machines=(3, 4), tasks=2, p_states=2))
    bag = Bag(
        "x",
        small.machine_types,
        (TaskType(name="often", count=900), TaskType(name="seldom", count=100)),
        small.seconds,
        small.watts,
    )
    day = day_of("d", bag, np.random.default_rng(1), tasks=5_000, minutes=10)
    assert (day.seconds, day.watts) == (bag.seconds, bag.watts)
    assert [(m.name, m.count, m.p_states) for m in day.machine_types] == [
        (m.name, m.count, m.p_states) for m in bag.machine_types
    ]
    assert Counter(day.arriving.type_numbers)[1] == pytest.approx(500, abs=110)  # 5 sqrt(5,000 x 0.09)
    again = day_of("d", bag, np.random.default_rng(1), tasks=5_000, minutes=10)
    assert again == day
    assert day_of("d", bag, np.random.default_rng(2), tasks=5_000, minutes=10) != day


@pytest.mark.parametrize(
    ("options", "issue"),
    [
        ({"tasks": 0}, "tasks: got 0, expected 1 to 10,000,000; change the option"),
        ({"minutes": 0.0}, "minutes: got 0.0, expected above 0, up to 1e+09; change the option"),
        ({"minutes": float("nan")}, "minutes: got nan, expected above 0, up to 1e+09; change the option"),
        ({}, "watts: got none in the bag, expected watts of every pair; add them to the bag"),
    ],
)
def test_what_makes_no_day_is_told(options, issue):
    bag = Bag("x", (MachineType(name="m", count=1),), (TaskType(name="t", count=1),), Table.of([[1.0]]))
    with pytest.raises(InstanceError) as caught:
        day_of("d", bag, np.random.default_rng(1), **({"tasks": 5, "minutes": 1.0} | options))
    assert issue in [str(each) for each in caught.value.issues]


def test_huge_counts_still_make_a_day():
    tasks = (TaskType(name="a", count=10**14), TaskType(name="b", count=1))
    bag = Bag("x", (MachineType(name="m", count=10**12),), tasks, Table.of([[1.0], [2.0]]), Table.of([[1.0], [0.0]]))
    assert day_of("d", bag, np.random.default_rng(1), tasks=10, minutes=1.0).machines == 10**12
