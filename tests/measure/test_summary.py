from __future__ import annotations

import random

import pytest

from lpsched.measure.bench import Repeats
from lpsched.measure.evidence import Failed, Sample, Setting, Spread
from tests.measure.known_runs import MACHINE, C, M, bench_of, runs, summed_up


def test_columns_are_means_alone_one_for_each_clock():
    found = summed_up(
        bench_of("a", "b"),
        runs("a", 1.0, 3.0, mhz=2000.0, joules=50.0),
        runs("a", 4.0, mhz=1000.0, joules=60.0),
        runs("b", 5.0, mhz=2000.0, joules=55.0),
        runs("b", 8.0, mhz=1000.0, joules=72.0),
        runs("a|b", 99.0, mhz=2000.0, joules=1.0),
        clocks=(2000.0, 1000.0),
    )
    assert found.seconds == {"a": (2.0, 4.0), "b": (5.0, 8.0)}
    assert found.watts == {"a": (25.0, 15.0), "b": (11.0, 9.0)}  # 50 / 2, 60 / 4, 55 / 5, 72 / 8
    assert found.frequencies_mhz == (2000.0, 1000.0)


def test_without_clocks_there_is_one_number_each():
    found = summed_up(bench_of("a"), runs("a", 2.0, joules=50.0))
    assert (found.seconds, found.watts, found.frequencies_mhz) == ({"a": (2.0,)}, {"a": (25.0,)}, ())


def test_what_the_bench_and_the_machine_are_is_kept():
    bench = bench_of("a", description="a test", repeats=Repeats(confidence=0.9))
    found = summed_up(
        bench, runs("a", 2.0), taken="2014-05-26T10:00:00+00:00", lpsched="0.1.0", absent=["no meter: none is there"]
    )
    assert (found.name, found.machine_type, found.description) == ("bench", "node", "a test")
    assert (found.machine, found.meters.time) == (MACHINE, "a clock")
    assert found.absent == ("no meter: none is there",)
    assert (found.taken, found.lpsched, found.confidence) == ("2014-05-26T10:00:00+00:00", "0.1.0", 0.9)
    assert (found.applications[0].command, found.applications[0].count) == (("a", "--go"), 1)


@pytest.mark.parametrize(
    ("before", "after", "idle"), [(10.0, 14.0, 12.0), (10.0, None, 10.0), (None, 14.0, 14.0), (None, None, None)]
)
def test_idle_power_is_the_mean_of_what_is_known_of_before_and_after(before, after, idle):
    found = summed_up(bench_of("a"), runs("a", 2.0), idle_before=before, idle_after=after)
    assert (found.idle_watts, found.idle_watts_before, found.idle_watts_after) == (idle, before, after)


def test_an_application_that_failed_alone_has_no_column_and_is_told():
    found = summed_up(bench_of("a", "b"), runs("a", None), runs("b", 1.0), runs("a|b", 2.0))
    assert found.seconds == {"b": (1.0,)}
    assert found.failed == (Failed.of(Setting("a"), "exit code 1"),)
    assert found.degradation_in_full == {}
    assert [each.name for each in found.applications] == ["a", "b"]


def test_a_setting_of_which_some_runs_failed_has_failed():
    found = summed_up(bench_of("a"), runs("a", 1.0, None, 2.0, None))
    assert found.seconds == {}
    assert found.measured == ()
    assert found.failed == (Failed.of(Setting("a"), "2 of 4 runs failed: exit code 1"),)


def test_different_reasons_are_all_told_once():
    samples = [Sample(Setting("a"), None, failure=why) for why in ("was killed", "took longer", "was killed")]
    assert summed_up(bench_of("a"), samples).failed == (Failed.of(Setting("a"), "took longer; was killed"),)


def test_one_clock_that_failed_takes_the_application_out_of_the_columns():
    found = summed_up(
        bench_of("a"), runs("a", 1.0, mhz=2000.0, joules=5.0), runs("a", None, mhz=1000.0), clocks=(2000.0, 1000.0)
    )
    assert (found.seconds, found.watts) == ({}, {})
    assert [str(each.setting) for each in found.measured] == ["a alone at 2000 MHz"]


def test_energy_that_some_runs_do_not_tell_is_the_mean_of_those_that_do():
    found = summed_up(bench_of("a"), runs("a", 2.0, joules=50.0), runs("a", 2.0), runs("a", 2.0, joules=70.0))
    assert (found.measured[0].joules.mean, found.measured[0].joules.count) == (60.0, 2)
    assert found.watts == {"a": (30.0,)}


def test_an_application_without_energy_has_a_time_and_no_watts():
    found = summed_up(bench_of("a", "b"), runs("a", 2.0, joules=50.0), runs("b", 2.0))
    assert (found.seconds, found.watts) == ({"a": (2.0,), "b": (2.0,)}, {"a": (25.0,)})


def test_intensity_is_the_mean_of_shares_not_the_share_of_means():
    samples = [*runs("a", 1.0, misses=1.0, instructions=10.0), *runs("a", 1.0, misses=3.0, instructions=100.0)]
    found = summed_up(bench_of("a"), samples)
    assert found.measured[0].misses_per_instruction.mean == pytest.approx((0.1 + 0.03) / 2)


def test_evidence_is_in_order_fastest_clock_first_alone_before_together():
    texts = ["b", "a", f"{M}|{C}", "a|b", "b|a", "a|a b", f"a|{M}"]
    samples = [each for mhz in (1000.0, 2000.0) for text in texts for each in runs(text, 1.0, mhz=mhz)]
    samples += runs("a|b", 1.0, mhz=2000.0, batch=True)
    random.Random(1).shuffle(samples)  # noqa: S311 - any order
    found = summed_up(bench_of("b", "a"), samples, clocks=(2000.0, 1000.0))
    at_2000 = [str(each.setting).removesuffix(" at 2000 MHz") for each in found.measured[:8]]
    assert at_2000 == [
        "b alone",
        "a alone",
        "b beside a",
        "a beside b",
        f"a beside {M}",
        f"{M} beside {C}",
        "a beside a, b",
        "a with b, until all have ended",
    ]
    assert {each.setting.mhz for each in found.measured[8:]} == {1000.0}


def test_runs_of_what_the_bench_no_longer_has_do_not_count():
    gone = [*runs("b", 1.0), *runs("a|b", 1.0), *runs("b", None), *runs("a", 1.0, mhz=1000.0)]
    assert summed_up(bench_of("a"), runs("a", 2.0), gone) == summed_up(bench_of("a"), runs("a", 2.0))


def test_a_bench_of_which_nothing_ran_has_empty_columns():
    found = summed_up(bench_of("a"))
    assert (found.seconds, found.measured, found.failed) == ({}, (), ())


def test_more_runs_of_the_same_times_narrow_the_interval_and_leave_the_columns():
    once = summed_up(bench_of("a"), runs("a", 1.0, 3.0))
    thrice = summed_up(bench_of("a"), runs("a", 1.0, 3.0) * 3)
    assert once.seconds == thrice.seconds == {"a": (2.0,)}
    wide, narrow = once.measured[0].seconds, thrice.measured[0].seconds
    assert wide.low < narrow.low < 2.0 < narrow.high < wide.high
    assert summed_up(bench_of("a"), runs("a", 2.0, 2.0)).measured[0].seconds == Spread(2.0, 2, 0.0, 2.0, 2.0)
