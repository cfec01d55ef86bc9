from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.arrays import affinity, heterogeneity
from lpsched.bag.model import bag_from_dict
from tests.support import simple_bag, sound


def test_affinity_of_the_thesis_example_with_high_affinity():
    # Rows are rotations of (25, 10, 5) with sum 40, so the singular values are |25 + 10 w + 5 w^2| / 40 at the
    # cube roots of unity w: 1 and twice sqrt(25^2 + 10^2 + 5^2 - 250 - 125 - 50) / 40 = sqrt(325) / 40.
    speeds = np.array([[25.0, 10.0, 5.0], [5.0, 25.0, 10.0], [10.0, 5.0, 25.0]])
    assert affinity(speeds) == pytest.approx(np.sqrt(325) / 40)


def test_affinity_of_the_thesis_example_with_low_affinity_is_zero():
    value = affinity(np.array([[25.0, 10.0, 5.0]] * 3))
    assert value is not None
    assert value < 1e-14


def test_affinity_is_the_same_whatever_the_units_of_a_row_or_column():
    speeds = np.random.default_rng(1).gamma(16.0, size=(7, 4))
    scaled = speeds * np.array([1.0, 10.0, 1e-3, 5.0]) * np.arange(1.0, 8.0)[:, np.newaxis]
    assert affinity(scaled) == pytest.approx(affinity(speeds), rel=1e-9)


def test_machines_that_are_perfectly_specialised_have_affinity_near_one():
    speeds = np.full((3, 3), 1e-9) + np.eye(3)
    assert affinity(speeds) == pytest.approx(1.0, abs=1e-6)


def test_affinity_of_one_machine_type_is_not_defined():
    assert affinity(np.ones((5, 1))) is None


def test_measures_by_hand():
    # Speeds 1/2, 1/4 and 1/4, 1/8: columns sum to 3/4 and 3/8, rows to 3/4 and 3/8.
    measures = heterogeneity(simple_bag([[2.0, 4.0], [4.0, 8.0]], [1, 1], [1, 1]))
    assert measures.machine_performance_homogeneity == pytest.approx(0.5)
    assert measures.task_difficulty_homogeneity == pytest.approx(0.5)
    assert measures.task_machine_affinity == pytest.approx(0.0, abs=1e-12)
    # Both columns are {x, 2x}: mean 1.5 x, deviation 0.5 x; two points are symmetric and have kurtosis 1.
    spread = measures.across_task_types
    assert spread.coefficient_of_variation == pytest.approx(1 / 3)
    assert spread.skewness == pytest.approx(0.0, abs=1e-12)
    assert spread.kurtosis == pytest.approx(1.0)


def test_skewness_by_hand():
    # {1, 1, 4}: mean 2, deviations -1, -1, 2; m2 = 2, m3 = 2, m4 = 6.
    spread = heterogeneity(simple_bag([[1.0], [1.0], [4.0]], [1, 1, 1], [1])).across_task_types
    assert spread.coefficient_of_variation == pytest.approx(2**0.5 / 2)
    assert spread.skewness == pytest.approx(2 / 2**1.5)
    assert spread.kurtosis == pytest.approx(6 / 4)


def test_special_machines_are_left_out_of_the_affinity_only():
    general = [[2.0, 4.0], [4.0, 3.0], [5.0, 1.0]]
    with_special = [[*row, 0.1 if i == 0 else None] for i, row in enumerate(general)]
    plain = heterogeneity(simple_bag(general, [1] * 3, [1, 1]))
    mixed = heterogeneity(simple_bag(with_special, [1] * 3, [1, 1, 1]))
    assert mixed.task_machine_affinity == plain.task_machine_affinity
    assert mixed.machine_performance_homogeneity != plain.machine_performance_homogeneity


def test_only_the_first_p_state_counts():
    raw = sound(seconds=[[8.0, [1.0, 500.0]], [3.0, [2.0, 900.0]]], watts=...)
    plain = simple_bag([[8.0, 1.0], [3.0, 2.0]], [40, 5], [2, 1])
    assert heterogeneity(bag_from_dict(raw)) == heterogeneity(plain)


def test_homogeneity_is_of_columns_for_machines_and_of_rows_for_tasks():
    # Speeds 1 and 1/4 (columns sum to 2 and 1/2), rows equal.
    measures = heterogeneity(simple_bag([[1.0, 4.0], [1.0, 4.0]], [1, 1], [1, 1]))
    assert measures.machine_performance_homogeneity == pytest.approx(0.25)
    assert measures.task_difficulty_homogeneity == pytest.approx(1.0)


def test_too_few_numbers_have_no_spread():
    one = heterogeneity(simple_bag([[2.0]], [1], [1]))
    assert one.across_task_types.coefficient_of_variation is None
    assert one.machine_performance_homogeneity is None
    equal = heterogeneity(simple_bag([[2.0], [2.0]], [1, 1], [1])).across_task_types
    assert (equal.coefficient_of_variation, equal.skewness, equal.kurtosis) == (0.0, None, None)
