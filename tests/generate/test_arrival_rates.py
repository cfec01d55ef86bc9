from __future__ import annotations

import numpy as np
import pytest

from lpsched.generate.arrivals import Bursts, Waves, draw_arrivals, draw_bursts, draw_waves

DAY = 86_400.0
HOUR = 3_600.0


def drawn(draw, number=200, day=DAY):
    rng = np.random.default_rng(1)
    return [draw(rng, day) for _ in range(number)]


@pytest.mark.parametrize("draw", [draw_waves, draw_bursts])
def test_the_mean_over_the_day_is_one(draw):
    # A mean over a grid of ten seconds: at most ten intervals' edges are off by half of that.
    times = np.arange(5.0, DAY, 10.0)
    for rates in drawn(draw, 50):
        assert rates.at(times).mean() == pytest.approx(1.0, abs=1e-3)
        assert rates.at(times).max() <= rates.most
        assert rates.at(times).min() > 0


@pytest.mark.parametrize("draw", [draw_waves, draw_bursts])
def test_the_hours_before_the_day_are_like_its_last(draw):
    times = np.linspace(1.0, 5 * HOUR, 1_001)
    for rates in drawn(draw, 20):
        assert rates.at(-times) == pytest.approx(rates.at(DAY - times), abs=1e-9)


def test_waves_have_whole_cycles_of_at_least_an_hour_and_amplitudes_of_the_thesis():
    waves = drawn(draw_waves, 2_000)
    assert {each.cycles for each in waves} == set(range(1, 25))
    amplitudes = [each.amplitude for each in waves]
    assert 0.25 <= min(amplitudes) < 0.26
    assert 0.89 < max(amplitudes) <= 0.9
    phases = np.array([each.phase for each in waves])
    assert np.histogram(phases, bins=4, range=(0, 2 * np.pi))[0] == pytest.approx([500] * 4, abs=100)
    assert {each.cycles for each in drawn(draw_waves, 50, HOUR / 2)} == {1}


def test_bursts_alternate_with_baselines_of_the_lengths_and_rates_of_the_thesis():
    for bursts in drawn(draw_bursts):
        lengths = np.diff([*bursts.begins, DAY]) / HOUR
        scale = bursts.rates / bursts.rates[0]  # all are divided by the same mean
        quiet, busy = slice(0, None, 2), slice(1, None, 2)
        whole = np.arange(len(lengths)) < len(lengths) - 1  # the last one is cut
        assert (lengths[quiet][whole[quiet]] >= 3).all()
        assert (lengths[quiet] <= 5).all()
        assert (lengths[busy][whole[busy]] >= 0.5).all()
        assert (lengths[busy] <= 1.5).all()
        # The first baseline was 0.5 to 0.75 before the division, others at most 1.5 times as high or low.
        assert (scale[quiet] <= 1.5).all()
        assert (scale[quiet] >= 1 / 1.5).all()
        assert (scale[busy] >= 1.25 / 0.75).all()
        assert (scale[busy] <= 1.5 / 0.5).all()


def test_intervals_have_all_the_lengths_of_the_thesis_alike():
    # 400 first baselines from 3 to 5 hours, and 400 first bursts from 0.5 to 1.5: means within four deviations.
    lengths = np.array([np.diff(each.begins[:3]) / HOUR for each in drawn(draw_bursts, 400)])
    assert lengths.mean(axis=0) == pytest.approx([4.0, 1.0], abs=4 * (2 / 12**0.5) / 20)
    assert lengths.min(axis=0) == pytest.approx([3.0, 0.5], abs=0.05)
    assert lengths.max(axis=0) == pytest.approx([5.0, 1.5], abs=0.05)


def test_an_interval_begins_where_it_says_and_the_clock_goes_around():
    # The day begins at 50 of the clock: 25 s until the burst, 25 s of it, then the baseline again.
    bursts = Bursts(100.0, np.array([0.0, 75.0]), np.array([0.8, 1.6]), 50.0)
    times = np.array([0.0, 24.9, 25.0, 49.9, 50.0, 124.9, 125.0, -50.0, -75.0, -75.1])
    assert bursts.at(times).tolist() == [0.8, 0.8, 1.6, 1.6, 0.8, 0.8, 1.6, 0.8, 1.6, 0.8]


def test_baselines_and_bursts_are_as_high_as_the_thesis_says_before_they_are_divided():
    # Baselines of 4 hours at 0.625, bursts of one at 1.375: a mean of (2.5 + 1.375) / 5 = 0.775.
    bursts = drawn(draw_bursts, 400)
    quiet = np.mean([each.rates[0] for each in bursts])
    busy = np.mean([each.rates[1] for each in bursts])
    assert quiet == pytest.approx(0.625 / 0.775, rel=0.02)
    assert busy == pytest.approx(1.375 / 0.775, rel=0.02)


def test_the_clock_of_bursts_begins_anywhere():
    offsets = np.array([each.offset_seconds for each in drawn(draw_bursts, 400)])
    assert np.histogram(offsets, bins=4, range=(0, DAY))[0] == pytest.approx([100] * 4, abs=45)


def test_a_day_shorter_than_a_baseline_is_even():
    for bursts in drawn(draw_bursts, 5, 2 * HOUR):
        assert bursts.rates == pytest.approx([1.0])


def test_arrivals_follow_the_rate_hour_by_hour():
    # 40,000 tasks: at three quarters of the time 0.8, then 1.6 times as often: 4 of 24,000 and 1 of 16,000.
    bursts = Bursts(DAY, np.array([0.0, 0.75 * DAY]), np.array([0.8, 1.6]), 0.0)
    found = draw_arrivals(np.random.default_rng(2), bursts, per_second=40_000 / DAY, begin=0.0, end=DAY)
    assert (found >= 0).all()
    assert (found < DAY).all()
    in_quarters = np.histogram(found, bins=4, range=(0, DAY))[0]
    expected = np.array([8_000, 8_000, 8_000, 16_000])
    assert in_quarters == pytest.approx(expected, abs=5 * 16_000**0.5)
    assert (np.abs(in_quarters - expected) < 5 * np.sqrt(expected)).all()


def test_waves_put_arrivals_into_their_crests():
    # One cycle: the first half has 1/2 + amplitude / pi of all tasks.
    waves = Waves(DAY, 1, 0.9, 0.0)
    found = draw_arrivals(np.random.default_rng(3), waves, per_second=20_000 / DAY, begin=0.0, end=DAY)
    share = 0.5 + 0.9 / np.pi
    assert (found < DAY / 2).sum() == pytest.approx(20_000 * share, abs=5 * (20_000 * share) ** 0.5)


@pytest.mark.parametrize("draw", [draw_waves, draw_bursts])
@pytest.mark.parametrize("number", [2.0, 330.0])
def test_the_mean_number_of_tasks_is_the_one_asked_for(draw, number):
    # 400 task types: the sum is Poisson with mean 400 n, so its deviation is sqrt(400 n).
    rng = np.random.default_rng(5)
    found = sum(
        len(draw_arrivals(rng, draw(rng, DAY), per_second=number / DAY, begin=0.0, end=DAY)) for _ in range(400)
    )
    assert found == pytest.approx(400 * number, abs=4 * (400 * number) ** 0.5)
