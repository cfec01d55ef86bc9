from __future__ import annotations

import pytest

from lpsched.measure.bench import Repeats, size_of
from lpsched.measure.evidence import Setting
from lpsched.measure.session import left_out, programs_of, run_counts, settings_of
from tests.measure.known_runs import C, M, bench_of


def planned(bench, *, clocks=(), energy=False, counters=True):
    return [str(each) for each in settings_of(bench, frequencies_mhz=clocks, energy=energy, counters=counters)]


def test_every_pair_runs_both_ways_and_with_a_copy_of_itself():
    assert planned(bench_of("a", "b")) == ["a alone", "b alone", "a beside a", "a beside b", "b beside a", "b beside b"]


def test_pairs_that_are_listed_are_all_the_pairs_there_are():
    assert planned(bench_of("a", "b", "c", pairs=(("c", "a"), ("a", "c"), ("b", "b")))) == [
        "a alone",
        "b alone",
        "c alone",
        "a beside c",
        "c beside a",
        "b beside b",
    ]


def test_no_pairs_leave_applications_alone():
    assert planned(bench_of("a", "b", pairs=())) == ["a alone", "b alone"]


def test_each_application_of_a_group_is_measured_once_beside_the_others():
    # of table 8.4: one canneal, one blackscholes, two bodytrack
    bench = bench_of("bl", "bo", "ca", pairs=(), groups=(("ca", "bl", "bo", "bo"),))
    assert planned(bench)[3:] == ["bl beside bo, bo, ca", "bo beside bl, bo, ca", "ca beside bl, bo, bo"]


def test_batches_run_once_for_each_pair_and_group_where_energy_is_measured():
    bench = bench_of("b", "a", pairs=(("b", "a"),), groups=(("b", "a", "b"),))
    batches = [each for each in planned(bench, energy=True) if "until" in each]
    assert batches == ["a with b, until all have ended", "a with b, b, until all have ended"]
    assert not [each for each in planned(bench) if "until" in each]
    assert not [each for each in planned(bench_of("a", batches=False), energy=True) if "until" in each]


def test_all_runs_at_every_clock_but_companions_at_the_fastest_only():
    bench = bench_of("a", pairs=())
    assert planned(bench, clocks=(3400.0, 1700.0), counters=False) == [
        "a alone at 3400 MHz",
        "a alone at 1700 MHz",
        f"{M} beside {M} at 3400 MHz",
        f"{M} beside {C} at 3400 MHz",
        f"a beside {M} at 3400 MHz",
        f"a beside {C} at 3400 MHz",
        f"{M} beside a at 3400 MHz",
    ]


@pytest.mark.parametrize(
    ("companions", "counters", "runs"),
    [
        ("auto", True, False),
        ("auto", False, True),
        ("always", True, True),
        ("always", False, True),
        ("never", True, False),
        ("never", False, False),
    ],
)
def test_companions_run_where_misses_are_not_counted_or_always(companions, counters, runs):
    bench = bench_of("a", pairs=(), companions=companions)
    settings = settings_of(bench, frequencies_mhz=(), energy=False, counters=counters)
    assert (M in programs_of(settings)) is runs
    assert len(settings) == (6 if runs else 1)


def test_one_place_has_applications_alone_and_says_why():
    bench = bench_of("a", "b", cores=1, groups=())
    assert planned(bench, energy=True, counters=False) == ["a alone", "b alone"]
    assert left_out(bench, energy=True, counters=False) == (
        "one place only: applications run alone, and neither degradation nor the slowdown beside interference probes is measured; give the bench at least two cores",
    )


def test_listed_cores_count_as_places():
    bench = bench_of("a", cores=((0,), (2, 3)))
    assert planned(bench) == ["a alone", "a beside a"]
    assert left_out(bench, energy=True, counters=True) == ()


def test_what_no_meter_and_no_companion_can_tell_is_said():
    bench = bench_of("a", companions="never")
    assert left_out(bench, energy=False, counters=False) == (
        "no energy is measured, so what running together saves is not measured either",
        "cache misses are not counted and interference probes are off, so memory classes are not known; write 'companions: auto' to turn them on",
    )
    assert left_out(bench_of("a", pairs=()), energy=False, counters=False) == ()


def test_runs_are_counted_at_least_and_at_most():
    bench = bench_of("a", "b", repeats=Repeats(least=3, most=9))
    settings = settings_of(bench, frequencies_mhz=(), energy=False, counters=True)
    assert run_counts(bench, settings) == (18, 54)  # 2 alone and 4 pairs, 3 to 9 times


def test_programs_are_those_that_run_anywhere_companions_last():
    settings = [Setting(M, ("b",)), Setting("a", (C,)), Setting("b")]
    assert programs_of(settings) == ("b", "a", M, C)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"cores": 1},
        {"pairs": (("a", "b"), ("c", "c")), "groups": (("a", "b", "b"), ("c", "a", "b", "c"))},
        {"frequencies_mhz": (3.0, 2.0, 1.0), "pairs": (), "groups": (("a", "a", "a"),)},
        {"batches": False, "companions": "never"},
        {"companions": "always", "frequencies_mhz": (2.0, 1.0)},
    ],
)
def test_as_many_settings_are_planned_as_the_bench_says_at_most_and_at_least(changes):
    bench = bench_of("a", "b", "c", **changes)
    size = size_of(bench)
    most = planned(bench, clocks=bench.frequencies_mhz, energy=True, counters=False)
    least = planned(bench, clocks=bench.frequencies_mhz, energy=False, counters=True)
    assert (len(least), len(most)) == (size.least_settings, size.most_settings)
