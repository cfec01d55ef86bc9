from __future__ import annotations

import pytest

from lpsched.measure.bench import Repeats
from lpsched.measure.evidence import Sample, Setting
from lpsched.measure.session import warnings_of
from tests.measure.known_runs import OWN, C, M, bench_of, beside_companions, runs, summed_up

CALM = beside_companions("a", by_memory=5.0, by_compute=5.0, on_memory=10.0)  # class I, beyond doubt


def remarks(bench, *samples, **more):
    return list(warnings_of(bench, summed_up(bench, *samples, **more)))


def test_a_bench_without_faults_has_no_remarks():
    found = remarks(
        bench_of("a"),
        OWN,
        CALM,
        runs("a", 1.0, 1.0, joules=20.0),
        runs("a|a", 1.0, 1.0),
        idle_before=10.0,
        idle_after=10.5,
    )
    assert found == []


def failing(name, why):
    return [Sample(Setting(name), None, failure=why)]


def test_failures_are_told_by_reason():
    found = remarks(bench_of("a", "b", "c"), failing("a", "why"), failing("b", "other"), failing("c", "why"))
    assert found == [
        "failed: a alone; c alone: why",
        "failed: b alone: other",
        "no time alone at every clock, so left out of the columns: a, b, c",
    ]


def test_many_failures_are_counted_and_so_are_many_reasons():
    names = list("abcdefghij")
    same = remarks(bench_of(*names), *(failing(name, "why") for name in names))
    assert same == [
        "failed: 10 settings: why",
        "no time alone at every clock, so left out of the columns: a, b, c, d and 6 more",
    ]
    different = remarks(bench_of(*names), *(failing(name, f"why {name}") for name in names))
    assert different[7:9] == ["failed: h alone: why h", "settings failed for 2 more reasons; the file has them all"]


def test_applications_that_the_meter_missed_are_named():
    found = remarks(
        bench_of("a", "b"),
        runs("a", 1.0, 1.0, joules=20.0, misses=0.0, instructions=9.0),
        runs("b", 1.0, 1.0, misses=0.0, instructions=9.0),
    )
    assert found == ["the meter reported no energy of b, so they have no watts"]


def test_means_that_are_not_narrow_are_told_the_widest_first():
    # two runs m - d and m + d at a confidence of 0.5 have a half width of d
    bench = bench_of("a", "b", "c", repeats=Repeats(least=2, most=2, within=0.1, confidence=0.5))
    counted = {"misses": 0.0, "instructions": 9.0}
    found = remarks(
        bench, runs("a", 8.0, 12.0, **counted), runs("b", 5.0, 15.0, **counted), runs("c", 9.5, 10.5, **counted)
    )
    assert found == [
        "not within 10 % after 2 runs: b alone (± 50 %), a alone (± 20 %); quiet the machine, let each run take longer, or raise repeats.most"
    ]


def test_settings_that_were_cut_short_are_told_apart():
    counted = {"misses": 0.0, "instructions": 9.0}
    bench = bench_of("a", "b", repeats=Repeats(least=2, most=3, within=0.1, confidence=0.5))
    found = remarks(bench, runs("a", 8.0, 12.0, **counted), runs("b", 5.0, **counted))
    assert found == ["not within 10 % when the bench ended: b alone (one run), a alone (± 20 %); go on with --resume"]


@pytest.mark.parametrize(("after", "told"), [(95.0, False), (94.9, True), (105.2, False), (105.3, True)])
def test_idle_power_that_moved_by_more_than_a_twentieth_is_told(after, told):
    counted = {"misses": 0.0, "instructions": 9.0}
    found = remarks(bench_of("a"), runs("a", 1.0, 1.0, **counted), idle_before=100.0, idle_after=after)
    sentence = (
        f"idle power was 100 W before and {after:.4g} W after the runs; the machine was not at rest, "
        "or something else drew power: measure again when it is quiet"
    )
    assert found == ([sentence] if told else [])


def test_an_application_that_draws_less_than_idle_is_told():
    found = remarks(
        bench_of("a"),
        runs("a", 2.0, 2.0, joules=19.0, misses=0.0, instructions=9.0),  # 9.5 W
        idle_before=10.0,
    )
    assert found == ["the watts of 'a' (9.5) are below idle_watts (10)"]


def test_pairs_that_ran_faster_together_are_counted_and_the_worst_is_named():
    counted = {"misses": 0.0, "instructions": 9.0}
    found = remarks(
        bench_of("a", "b"),
        *(runs(name, 10.0, 10.0, **counted) for name in "ab"),
        runs("a|a", 9.9, 9.9),
        runs("a|b", 9.0, 9.0),
        runs("b|a", 10.5, 10.5),
    )
    assert found == [
        "faster together than alone, which is noise and 0 in the degradation table: 2 of the pairs, a beside b the most, by 10 %"
    ]


def test_runs_beside_companions_are_no_pairs_that_ran_faster():
    slower_alone = runs("a", 9.0, 9.0)
    assert remarks(bench_of("a"), OWN, CALM, slower_alone) == []


def test_why_there_is_no_class_is_said_in_each_case():
    alone = runs("a", 1.0, 1.0)
    none = "no memory class of a: no cache misses were counted, and nothing ran beside interference probes"
    some = (
        "no memory class of a: no cache misses were counted, and not all runs beside the interference probes are there"
    )
    assert remarks(bench_of("a"), alone) == [none]
    assert remarks(bench_of("a"), alone, OWN) == [some]
    assert remarks(bench_of("a"), alone, CALM) == [some]
    # own: 11 / 10 - 1 = 10 %; half the width of 11 at a confidence of 0.5 is 2, so 20 % of 10
    bench = bench_of("a", repeats=Repeats(least=2, most=2, within=0.5, confidence=0.5))
    noisy = [*runs(f"{M}|{M}", 9.0, 13.0), *runs(f"{M}|{C}", 10.0, 10.0)]
    assert remarks(bench, alone, noisy, CALM) == [
        "no memory class of a: the memory probe slows itself by 10 % ± 20 %, which may be nothing; places that share no cache do not disturb each other, or a busy machine hides it"
    ]


@pytest.mark.parametrize(("d", "doubtful"), [(0.1, False), (0.25, True)])
def test_a_class_whose_interval_crosses_a_bound_is_doubtful(d, doubtful):
    # own = 0.4 exactly; a takes 5.6 +- d beside the memory companion and 5 beside the other: its share is
    # (1.12 +- 0.2 d - 1) / 0.4 = 0.3 +- 0.5 d. From 0.25 to 0.35 is class II, from 0.175 to 0.425 too ...
    bench = bench_of("a", repeats=Repeats(least=2, most=2, within=0.5, confidence=0.5), share_bounds=(0.2, 0.4))
    found = remarks(
        bench,
        OWN,
        runs("a", 1.0, 1.0),
        runs(f"a|{M}", 5.6 - d, 5.6 + d),
        runs(f"a|{C}", 5.0, 5.0),
        runs(f"{M}|a", 10.0, 10.0),
    )
    sentence = "a is of class II, but its runs fit any from I to III"  # ... which these bounds cut off
    assert found == ([sentence] if doubtful else [])


def test_the_noise_of_the_companion_makes_a_class_doubtful_too():
    # own = 0.4 +- 0.1; a's share is 0.2 / 0.4 = 0.5, exact but for own: 0.5 +- 0.5 x 0.1 / 0.4 = 0.375 to 0.625
    bench = bench_of("a", repeats=Repeats(least=2, most=2, within=0.5, confidence=0.5), share_bounds=(0.1, 0.6))
    noisy = [*runs(f"{M}|{M}", 13.0, 15.0), *runs(f"{M}|{C}", 10.0, 10.0)]
    beside = beside_companions("a", by_memory=6.0, by_compute=5.0, on_memory=10.0)
    assert remarks(bench, noisy, runs("a", 1.0, 1.0), beside) == [
        "a is of class II, but its runs fit any from II to III"
    ]


def test_classes_that_hide_differences_are_told():
    counted = {"misses": 0.0, "instructions": 9.0}
    found = remarks(
        bench_of("a", "b"),
        *(runs(name, 10.0, 10.0, **counted) for name in "ab"),
        runs("a|b", 10.0, 10.0),
        runs("b|a", 15.0, 15.0),
    )
    assert found == [
        "degradation by class hides differences: of class I beside I the 2 pairs range from 0 to 0.5; degradation in full keeps them apart"
    ]


def test_the_additive_model_s_error_is_told():
    found = remarks(
        bench_of("a"),
        runs("a", 10.0, 10.0, misses=0.0, instructions=9.0),
        runs("a|a", 10.0, 10.0),
        runs("a|a a", 12.5, 12.5),  # predicted 1, measured 1.25
        runs("a|a a a", 10.0, 10.0),
    )
    assert found == [
        "sums of pairwise degradations miss the times in larger groups by 10 % in the mean and by 20 % at most (2 measured)"
    ]
