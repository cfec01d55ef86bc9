"""The best pattern at every price is the best of all patterns, and brings and takes what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lpsched.facility.air import facility_arrays
from lpsched.facility.patterns import NodeKind, alike, upper_lines
from tests.property.tiny_facilities import patterns, rates, tiny_facility, watts


def kind_of(seed, cores):
    rng = np.random.default_rng(seed)
    facility = tiny_facility(rng)
    kinds = tuple(kind.model_copy(update={"cores": cores}) for kind in facility.node_types)
    return facility.model_copy(update={"node_types": kinds}), rng


@pytest.mark.parametrize("seed", range(20))
def test_the_upper_lines_are_the_highest_everywhere(seed):
    rng = np.random.default_rng(seed)
    values, slopes = rng.integers(0, 8, (2, 12)).astype(float)  # with ties
    q = rng.uniform(-3.0, 9.0, 300)
    lines = upper_lines(values, slopes)
    at = lines.at(q)
    highest = (values - q[:, None] * slopes).max(axis=1)
    assert lines.values[at] - q * lines.slopes[at] == pytest.approx(highest, abs=1e-12)
    assert np.array_equal(values[lines.origins], lines.values)
    assert (np.diff(lines.slopes) < 0).all()


@pytest.mark.parametrize("seed", range(30))
def test_no_pattern_is_better_at_any_price_than_the_one_on_the_envelope(seed):
    # Up to 3 cores and 6 ways to run a task: at most 84 patterns, each worked out by the slow rules of the tests.
    facility, rng = kind_of(seed, cores=1 + seed % 3)
    task_values = rng.uniform(0.0, 2.0, len(facility.task_types)) * (rng.random(len(facility.task_types)) < 0.8)
    prices = rng.uniform(-0.01, 0.15, 50)
    for j in range(len(facility.node_types)):
        kind = NodeKind(facility_arrays(facility), j)
        envelope = kind.envelope(task_values, prices.min(), prices.max())
        every = [
            (task_values @ rates(facility, pattern), watts(facility, pattern)) for pattern in patterns(facility, j)
        ]
        best = [max(worth - p * drawn for worth, drawn in every) for p in prices]
        at = envelope.at(prices)
        assert envelope.values[at] - prices * envelope.slopes[at] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_a_pattern_brings_and_takes_what_the_envelope_says(seed):
    facility, rng = kind_of(seed, cores=1 + seed % 3)
    task_values = rng.uniform(0.0, 2.0, len(facility.task_types))
    for j in range(len(facility.node_types)):
        kind = NodeKind(facility_arrays(facility), j)
        envelope = kind.envelope(task_values, -0.01, 0.15)
        for code, worth, drawn in zip(envelope.origins, envelope.values, envelope.slopes, strict=True):
            found = kind.pattern(code)
            slow = [(i, column) for i, column, cores in found.runs for _ in range(cores)]
            assert len(slow) <= facility.node_types[j].cores
            assert found.rates == pytest.approx(rates(facility, slow), abs=1e-12)
            assert found.watts == pytest.approx(watts(facility, slow)) == pytest.approx(drawn)
            assert task_values @ found.rates == pytest.approx(worth, abs=1e-12)
            assert kind.pattern(code) is found


def test_classes_that_slow_down_and_are_slowed_down_alike_are_one():
    # b and c do the same to everybody, themselves included; a is slowed down more.
    arrays = replace(
        facility_arrays(tiny_facility(np.random.default_rng(3))),
        class_of=np.array([0, 1, 2, 1]),
        degradation=np.array([[1.0, 0.5, 0.5], [0.2, 0.1, 0.1], [0.2, 0.1, 0.1]]),
    )
    class_of, degradation = alike(arrays)
    assert class_of.tolist() == [0, 1, 1, 1]
    assert degradation.tolist() == [[1.0, 0.5], [0.2, 0.1]]
    # Now b and c slow down each other more than themselves; then only b differs: three classes each time.
    arrays.degradation[1:, 1:] = [[0.1, 0.3], [0.3, 0.1]]
    assert len(alike(arrays)[1]) == 3
    arrays.degradation[1:, 1:] = [[0.3, 0.1], [0.1, 0.1]]
    assert len(alike(arrays)[1]) == 3
