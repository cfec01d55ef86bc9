"""Random benches against models that look every mean up again; units and order of runs."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lpsched.measure.evidence import Sample
from lpsched.measure.files import read_measurements, write_measurements
from lpsched.measure.session import settings_of
from models.colocation import Runs
from tests.measure.known_runs import C, M, bench_of, summed_up

few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CLASSES = (None, "I", "II", "III")


@st.composite
def benches_with_runs(draw):
    """Draw a bench and runs of it: some settings never ran, some runs failed, some meters told nothing."""
    names = draw(st.sampled_from([("a",), ("a", "b"), ("b", "c", "a")]))
    groups = draw(st.lists(st.lists(st.sampled_from(names), min_size=3, max_size=4).map(tuple), max_size=2))
    bench = bench_of(*names, groups=tuple(groups), companions="always")
    clocks = draw(st.sampled_from([(), (2000.0,), (2000.0, 1000.0)]))
    counters = draw(st.booleans())
    generator = random.Random(draw(st.integers(0, 10**6)))  # noqa: S311 - one number to draw, not hundreds
    lucky = draw(st.sampled_from([0.8, 1.0]))
    misses = {name: generator.choice([1.0, 1e3, 1e5]) for name in (*names, M)}
    samples = []
    for setting in settings_of(bench, frequencies_mhz=clocks, energy=True, counters=counters):
        slow = generator.choice([0.0, 1.0, 4.0]) if M in setting.together else 0.0
        slow = {(M, M): 8.0, (C, M): 0.0}.get(setting.together, slow)
        for _ in range(generator.choice([2, 3, 3, 3, 1 if lucky < 1 else 3])):
            fine = generator.random() < lucky
            told = generator.random() < lucky
            samples.append(
                Sample(
                    setting,
                    4.0 + slow + generator.random() if fine else None,
                    joules=20.0 + generator.random() if told else None,
                    misses=misses[setting.application] if counters else None,
                    instructions=1e7 if counters else None,
                    failure=None if fine else "was killed",
                )
            )
    gone = {sample.setting for sample in samples if generator.random() > lucky**0.5}
    return bench, clocks, [sample for sample in samples if sample.setting not in gone]


def of_random(bench, clocks, samples):
    return summed_up(bench, samples, clocks=clocks, idle_before=1.0, idle_after=2.0)


def second_road(case):
    bench, clocks, samples = case
    return Runs(bench, samples, clocks or (None,))


def same(told, expected):
    """Tell whether both are unknown, or equal but for the last digits."""
    if told is None or math.isnan(expected):
        return told is None and math.isnan(expected)
    return told == pytest.approx(expected, rel=1e-11, abs=1e-13)


@given(case=benches_with_runs())
@few
def test_a_second_road_finds_the_same_columns(case):
    found, again = of_random(*case), second_road(case)
    for name in again.names:
        times = [again.seconds(name, (), mhz) for mhz in again.clocks]
        watts = [again.watts(name, mhz) for mhz in again.clocks]
        for told, expected in ((found.seconds, times), (found.watts, watts)):
            assert (name in told) is not any(map(math.isnan, expected))
            assert name not in told or told[name] == pytest.approx(expected, rel=1e-12)


@given(case=benches_with_runs())
@few
def test_a_second_road_finds_the_same_classes_and_degradation(case):
    found, again = of_random(*case), second_road(case)
    for each in found.applications:
        assert same(each.intensity, again.misses_per_instruction(each.name))
        assert same(each.suffers, again.suffers(each.name))
        assert same(each.causes, again.causes(each.name))
        assert each.memory_class == CLASSES[again.memory_class(each.name)]
    for a, b in product(again.names, repeat=2):
        assert same(found.degradation_in_full.get(a, {}).get(b), again.degradation(a, b))
    for x, y in product((1, 2, 3), repeat=2):
        told = found.degradation.get(CLASSES[x], {}).get(CLASSES[y])
        assert same(told, again.class_degradation(x, y))


@given(case=benches_with_runs())
@few
def test_a_second_road_finds_the_same_savings_and_predictions(case):
    found, again = of_random(*case), second_road(case)
    savings = {(each.together, each.mhz): each for each in found.savings}
    for setting in {sample.setting for sample in case[2] if sample.setting.batch}:
        crowd, mhz = setting.together, setting.mhz
        apart, together = again.apart(crowd, mhz), again.together(crowd, mhz)
        saving = savings.get((crowd, mhz))
        assert (saving is None) == math.isnan(apart + together)
        if saving is not None:
            assert (saving.joules_apart, saving.joules_together) == pytest.approx((apart, together), rel=1e-12)
            assert same(saving.joules_predicted, again.predicted_together(crowd, mhz, 1.5))
    checks = {each.setting: each for each in found.additive}
    for setting in {sample.setting for sample in case[2] if len(sample.setting.beside) > 1}:
        measured, predicted = again.additive(setting.application, setting.beside, setting.mhz)
        check = checks.get(setting)
        assert (check is None) == (setting.batch or math.isnan(measured + predicted))
        assert check is None or (check.measured, check.predicted) == pytest.approx((measured, predicted), rel=1e-12)


@given(case=benches_with_runs(), power=st.integers(-20, 20))
@few
def test_another_unit_of_time_scales_seconds_and_nothing_without_a_unit(case, power):
    bench, clocks, samples = case
    unit = 2.0**power
    scaled = [replace(each, seconds=each.seconds and unit * each.seconds) for each in samples]
    plain, other = of_random(*case), of_random(bench, clocks, scaled)
    assert other.seconds == {name: tuple(unit * each for each in row) for name, row in plain.seconds.items()}
    assert other.watts == {name: tuple(each / unit for each in row) for name, row in plain.watts.items()}
    assert other.degradation_in_full == plain.degradation_in_full
    assert other.degradation == plain.degradation
    assert other.applications == plain.applications
    assert other.additive == plain.additive


@given(case=benches_with_runs(), generator=st.randoms(use_true_random=False))
@few
def test_the_order_of_runs_does_not_matter(case, generator):
    bench, clocks, samples = case
    shuffled = list(samples)
    generator.shuffle(shuffled)
    assert of_random(bench, clocks, shuffled) == of_random(*case)


@given(case=benches_with_runs())
@settings(few, max_examples=8)
def test_what_a_bench_found_is_the_same_after_a_file(case, tmp_path_factory):
    found = of_random(*case)
    assume(found.seconds)
    path = tmp_path_factory.mktemp("found") / "node.yaml"
    write_measurements(found, path)
    assert read_measurements(path) == found
