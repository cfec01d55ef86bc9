"""Energy from samples of power, against integrals done by hand."""

from __future__ import annotations

import pytest

from lpsched.measure.meters.power import PowerSamples


def samples(*pairs: tuple[float, float], longest_gap_seconds: float = 5.0) -> PowerSamples:
    made = PowerSamples(longest_gap_seconds)
    for seconds, watts in pairs:
        made.add(seconds, watts)
    return made


def test_power_is_linear_between_samples_and_constant_outside_them():
    # 10..11 s at 100 W, then from 100 to 300 W in 2 s, then 300 W for half a second: 100 + 400 + 150.
    assert samples((11.0, 100.0), (13.0, 300.0)).joules(10.0, 13.5) == 650.0


def test_samples_outside_the_interval_do_not_count():
    # The idle machine before and after draws 20 W; the run draws 100 W for 2 s, wherever its edges lie.
    told = samples((0.9, 20.0), (1.0, 100.0), (2.0, 100.0), (3.0, 100.0), (3.1, 20.0))
    assert told.joules(1.0, 3.0) == 200.0


def test_one_sample_inside_is_enough():
    assert samples((1.0, 20.0), (2.0, 100.0), (3.0, 20.0)).joules(1.5, 2.5) == 100.0


def test_an_interval_between_two_samples_has_no_energy():
    assert samples((1.0, 100.0), (2.0, 100.0)).joules(1.1, 1.9) is None


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        pytest.param(4.0, 11.0, id="before-the-first"),
        pytest.param(10.0, 13.0, id="between"),
        pytest.param(10.0, 16.0, id="after-the-last"),
    ],
)
def test_a_silence_longer_than_allowed_leaves_no_energy(begin, end):
    silent = samples((10.0, 50.0), (11.0, 50.0), (13.0, 50.0), longest_gap_seconds=1.5)
    assert silent.joules(begin, end) is None


def test_a_silence_as_long_as_allowed_is_no_silence():
    assert samples((10.0, 50.0), (11.5, 50.0), longest_gap_seconds=1.5).joules(10.0, 11.5) == 75.0


def test_intervals_in_order_are_all_answered_though_the_past_is_forgotten():
    told = samples(*((float(k), 10.0 * k) for k in range(1, 8)))
    assert told.joules(1.0, 3.0) == 40.0
    assert told.joules(3.0, 5.0) == 80.0
    assert told.within(0.0, 9.0)[0] == (3.0, 30.0)


def test_a_sample_that_is_not_later_than_the_last_is_left_out():
    assert samples((1.0, 10.0), (1.0, 99.0), (0.5, 99.0), (2.0, 10.0)).joules(1.0, 2.0) == 10.0
