from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpsched.measure.bench import Repeats
from lpsched.measure.measurements import BY_MISSES, BY_SLOWDOWN, class_of, class_rank
from lpsched.model.provenance import student
from tests.measure.known_runs import OWN, C, M, bench_of, beside_companions, runs, summed_up

TABLE_8_2 = {"canneal": 2.25e-2, "streamcluster": 1.64e-2, "blackscholes": 2.29e-5, "bodytrack": 7.44e-6}


def told(bench, *samples, **more):
    return {each.name: each for each in summed_up(bench, *samples, **more).applications}


def test_table_8_2_comes_out_of_its_misses_per_instruction():
    counted = [runs(name, 1.0, 1.0, misses=share * 1e12, instructions=1e12) for name, share in TABLE_8_2.items()]
    found = told(bench_of(*TABLE_8_2), *counted)
    assert {name: each.memory_class for name, each in found.items()} == {
        "canneal": "III",
        "streamcluster": "III",
        "blackscholes": "II",
        "bodytrack": "I",
    }
    assert {each.classified_by for each in found.values()} == {BY_MISSES}
    assert {name: each.intensity for name, each in found.items()} == pytest.approx(TABLE_8_2)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (0.0, "I"),
        (math.nextafter(1e-5, 0), "I"),
        (1e-5, "II"),
        (math.nextafter(1e-3, 0), "II"),
        (1e-3, "III"),
        (1.0, "III"),
    ],
)
def test_a_value_equal_to_a_bound_is_of_the_upper_class(value, name):
    assert class_of(value, (1e-5, 1e-3)) == name


def test_as_many_bounds_as_wanted_make_classes_and_none_makes_one():
    assert class_of(5.0, ()) == "I"
    names = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"]
    assert [class_of(value, range(1, 10)) for value in range(10)] == names
    assert class_of(48.5, range(60)) == "L"


@given(number=st.integers(1, 399))
def test_a_class_ranks_by_its_number(number):
    assert class_rank(class_of(number, range(2, 400))) == number


def test_misses_are_the_mean_over_clocks_of_runs_alone():
    found = told(
        bench_of("a"),
        runs("a", 1.0, mhz=2000.0, misses=1.0, instructions=1000.0),
        runs("a", 1.0, mhz=2000.0, misses=3.0, instructions=1000.0),  # 2 in a thousand at this clock
        runs("a", 1.0, mhz=1000.0, misses=8.0, instructions=1000.0),  # 8 at this
        runs("a|a", 1.0, mhz=1000.0, misses=900.0, instructions=1000.0),  # not alone
        clocks=(2000.0, 1000.0),
    )
    assert found["a"].intensity == pytest.approx(0.005)


def test_runs_without_instructions_tell_no_intensity():
    found = told(bench_of("a"), runs("a", 1.0, misses=5.0, instructions=0.0), runs("a", 1.0, misses=5.0))
    assert (found["a"].intensity, found["a"].memory_class) == (None, None)


# own = 14 / 10 - 1 = 0.4


@pytest.mark.parametrize(
    ("by_memory", "on_memory", "suffers", "causes", "name"),
    [
        (5.0, 10.0, 0.0, 0.0, "I"),
        (6.0, 10.0, 0.5, 0.0, "III"),  # (6 / 5 - 1) / 0.4: it only suffers
        (5.0, 12.0, 0.0, 0.5, "III"),  # (12 / 10 - 1) / 0.4: it only causes
        (5.1, 10.2, 0.05, 0.05, "I"),
        (5.4, 10.2, 0.2, 0.05, "II"),
        (4.9, 11.0, -0.05, 0.25, "II"),
        (7.0, 14.0, 1.0, 1.0, "III"),
    ],
)
def test_without_counters_the_larger_of_what_it_suffers_and_causes_tells(by_memory, on_memory, suffers, causes, name):
    found = told(bench_of("a"), OWN, beside_companions("a", by_memory=by_memory, by_compute=5.0, on_memory=on_memory))[
        "a"
    ]
    assert (found.suffers, found.causes) == pytest.approx((suffers, causes))
    assert (found.memory_class, found.classified_by) == (name, BY_SLOWDOWN)


def test_a_copy_of_the_memory_companion_suffers_and_causes_one_and_one_of_the_compute_companion_causes_none():
    found = told(
        bench_of("like-memory", "like-compute"),
        OWN,
        beside_companions("like-memory", by_memory=14.0, by_compute=10.0, on_memory=14.0),
        beside_companions("like-compute", by_memory=3.0, by_compute=3.0, on_memory=10.0),
    )
    memory, compute = found["like-memory"], found["like-compute"]
    assert (memory.suffers, memory.causes, memory.memory_class) == (1.0, 1.0, "III")
    assert (compute.suffers, compute.causes, compute.memory_class) == (0.0, 0.0, "I")


def test_misses_tell_the_class_even_where_companions_ran():
    found = told(
        bench_of("a", companions="always"),
        OWN,
        runs("a", 1.0, misses=1.0, instructions=1e9),
        beside_companions("a", by_memory=7.0, by_compute=5.0, on_memory=14.0),
    )["a"]
    assert (found.memory_class, found.classified_by) == ("I", BY_MISSES)
    assert (found.suffers, found.causes) == pytest.approx((1.0, 1.0))


@pytest.mark.parametrize("missing", [f"a|{M}", f"a|{C}", f"{M}|a"])
def test_a_class_needs_all_three_settings_of_an_application(missing):
    samples = beside_companions("a", by_memory=7.0, by_compute=5.0, on_memory=14.0)
    gone = runs(missing, 1.0)[0].setting
    found = told(bench_of("a"), OWN, [each for each in samples if each.setting != gone])["a"]
    assert found.memory_class is None
    assert found.classified_by is None


# Two runs m - d and m + d at a confidence of 0.5 have a half width of d. Beside itself 11 +- d, beside the compute
# companion exactly 10: own = 0.1, and its half width 1.1 d / 11 = 0.1 d.


@pytest.mark.parametrize(("d", "name"), [(0.0, "III"), (0.999, "III"), (1.001, None), (3.0, None)])
def test_nothing_is_told_where_the_memory_companion_does_not_slow_itself_beyond_noise(d, name):
    assert student(0.5, 1) == pytest.approx(1.0)
    found = told(
        bench_of("a", repeats=Repeats(confidence=0.5)),
        runs(f"{M}|{M}", 11 - d, 11 + d),
        runs(f"{M}|{C}", 10.0, 10.0),
        beside_companions("a", by_memory=6.0, by_compute=5.0, on_memory=12.0),
    )["a"]
    assert found.memory_class == name
    assert (found.suffers is None) is (name is None)


def test_noise_beside_the_compute_companion_counts_too():
    # 12 beside itself, 10 +- 2.5 beside the other: own = 0.2, its half width 1.2 x 0.25 = 0.3
    found = told(
        bench_of("a", repeats=Repeats(confidence=0.5)),
        runs(f"{M}|{M}", 12.0, 12.0),
        runs(f"{M}|{C}", 7.5, 12.5),
        beside_companions("a", by_memory=6.0, by_compute=5.0, on_memory=12.0),
    )["a"]
    assert found.memory_class is None


def test_a_companion_that_ran_once_tells_nothing():
    found = told(
        bench_of("a"),
        runs(f"{M}|{M}", 14.0),
        runs(f"{M}|{C}", 10.0),
        beside_companions("a", by_memory=6.0, by_compute=5.0, on_memory=12.0),
    )["a"]
    assert found.memory_class is None


def test_companions_that_speed_each_other_up_tell_nothing():
    found = told(
        bench_of("a"),
        runs(f"{M}|{M}", 9.0, 9.0),
        runs(f"{M}|{C}", 10.0, 10.0),
        beside_companions("a", by_memory=4.0, by_compute=5.0, on_memory=9.0),
    )["a"]
    assert found.memory_class is None
