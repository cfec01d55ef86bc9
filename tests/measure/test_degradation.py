from __future__ import annotations

import pytest

from lpsched.measure.summary import class_degradation_of, widest
from lpsched.model.fields import FrozenDict
from tests.measure.known_runs import OWN, C, M, bench_of, runs, summed_up


def table(found):
    return {a: dict(row) for a, row in found.items()}


def test_degradation_is_the_time_beside_over_the_time_alone_less_one():
    found = summed_up(
        bench_of("a", "b"),
        runs("a", 9.0, 11.0),  # 10 s in the mean
        runs("b", 4.0),
        runs("a|b", 14.0, 16.0),  # 15 s
        runs("b|a", 5.0),
        runs("a|a", 20.0),
    )
    assert table(found.degradation_in_full) == {"a": {"a": 1.0, "b": 0.5}, "b": {"a": 0.25}}


def test_what_ran_faster_together_is_zero_in_the_table_and_stays_in_the_evidence():
    found = summed_up(bench_of("a"), runs("a", 10.0), runs("a|a", 9.0))
    assert table(found.degradation_in_full) == {"a": {"a": 0.0}}
    assert [each.seconds.mean for each in found.measured] == [10.0, 9.0]


def test_clocks_are_averaged_before_noise_is_cut_off():
    # -0.2 at one clock and +0.4 at the other: 0.1, not the 0.2 of a mean of 0 and 0.4
    found = summed_up(
        bench_of("a"),
        runs("a", 10.0, mhz=2000.0),
        runs("a|a", 8.0, mhz=2000.0),
        runs("a", 20.0, mhz=1000.0),
        runs("a|a", 28.0, mhz=1000.0),
        clocks=(2000.0, 1000.0),
    )
    assert found.degradation_in_full["a"]["a"] == pytest.approx(0.1)


def test_a_pair_that_failed_at_one_clock_has_the_degradation_of_the_other():
    found = summed_up(
        bench_of("a"),
        runs("a", 10.0, mhz=2000.0),
        runs("a|a", None, mhz=2000.0),
        runs("a", 20.0, mhz=1000.0),
        runs("a|a", 28.0, mhz=1000.0),
        clocks=(2000.0, 1000.0),
    )
    assert found.degradation_in_full["a"]["a"] == pytest.approx(0.4)


def test_batches_groups_companions_and_applications_not_measured_alone_have_no_degradation():
    found = summed_up(
        bench_of("a", "b"),
        runs("a", 10.0),
        runs("a|b", 30.0, batch=True),
        runs("a|b b", 30.0),
        runs(f"a|{M}", 30.0),
        runs(f"{M}|a", 30.0),
        runs(M, 10.0),
        runs("b|a", 30.0),
    )
    assert found.degradation_in_full == {}


def test_by_class_it_is_the_mean_over_the_pairs_measured():
    full = FrozenDict(
        {
            "a": FrozenDict({"a": 0.5, "b": 0.25, "c": 0.125}),
            "b": FrozenDict({"a": 1.0, "c": 0.375}),  # b beside b was not measured
            "c": FrozenDict({"a": 0.0625}),
        }
    )
    found = class_degradation_of(full, {"a": "III", "b": "III", "c": "I"})
    # III beside III: (0.5 + 0.25 + 1) / 3; III beside I: (0.125 + 0.375) / 2; I beside I was not measured
    assert table(found) == {"I": {"III": 0.0625}, "III": {"I": 0.25, "III": pytest.approx(1.75 / 3)}}
    assert list(found) == ["I", "III"]


def test_applications_without_a_class_are_in_no_class_mean():
    full = FrozenDict({"a": FrozenDict({"a": 0.5, "b": 9.0}), "b": FrozenDict({"a": 9.0, "b": 9.0})})
    assert table(class_degradation_of(full, {"a": "II"})) == {"II": {"II": 0.5}}
    assert class_degradation_of(full, {}) == {}


def test_classes_sort_by_number_not_by_letter():
    names = ["II", "IX", "V", "I"]
    full = FrozenDict({name: FrozenDict(dict.fromkeys(names, 0.5)) for name in names})
    assert list(class_degradation_of(full, {name: name for name in names})) == ["I", "II", "V", "IX"]


def test_the_widest_class_pair_is_the_one_whose_pairs_differ_the_most():
    full = FrozenDict(
        {
            "a": FrozenDict({"a": 0.5, "b": 0.25, "c": 0.0}),
            "b": FrozenDict({"a": 1.0, "b": 0.5, "c": 0.125}),
            "c": FrozenDict({"c": 9.0}),
        }
    )
    assert widest(full, {"a": "III", "b": "III", "c": "I"}) == ("III", "III", 4, 0.25, 1.0)
    assert widest(full, {"a": "I", "c": "III"}) is None  # a single pair each


def test_the_table_by_class_follows_from_the_one_in_full():
    found = summed_up(
        bench_of("a", "b"),
        OWN,
        *(runs(f"{name}|{M}", 7.0, 7.0) for name in "ab"),
        *(runs(f"{name}|{C}", 5.0, 5.0) for name in "ab"),
        *(runs(f"{M}|{name}", 14.0, 14.0) for name in "ab"),
        runs("a", 10.0),
        runs("b", 10.0),
        runs("a|a", 15.0),
        runs("a|b", 9.0),  # 0 in the table
        runs("b|a", 11.0),
        runs("b|b", 12.0),
    )
    assert [each.memory_class for each in found.applications] == ["III", "III"]
    assert found.degradation["III"]["III"] == pytest.approx((0.5 + 0 + 0.1 + 0.2) / 4)
