"""Where applications run."""

from __future__ import annotations

import pytest

from lpsched.measure.bench import Application, Bench
from lpsched.measure.machine import choose_places, issues_of_places, shared_cores


@pytest.fixture
def two_threads_a_core(tmp_path):
    """Three cores; 0 and 4, 1 and 5, 2 and 6 share one."""
    for first in range(3):
        for number in (first, first + 4):
            folder = tmp_path / f"cpu{number}" / "topology"
            folder.mkdir(parents=True)
            (folder / "thread_siblings_list").write_text(f"{first},{first + 4}\n")
    return tmp_path


def bench(cores):
    return Bench("b", cores, (Application("a", ("a",)),))


@pytest.mark.parametrize(
    ("places", "expected"), [(2, ((0,), (1,))), (3, ((0,), (1,), (2,))), (5, ((0,), (1,), (2,), (4,), (5,)))]
)
def test_every_core_is_used_once_before_any_is_used_twice(two_threads_a_core, places, expected):
    assert choose_places(bench(places), {0, 1, 2, 4, 5, 6}, two_threads_a_core) == expected


def test_only_processors_that_we_may_use_are_chosen(two_threads_a_core):
    assert choose_places(bench(2), {1, 5, 6}, two_threads_a_core) == ((1,), (6,))


def test_places_that_are_named_stay_as_they_are(two_threads_a_core):
    asked = ((4, 5), (0,))
    assert choose_places(bench(asked), {0, 1, 4, 5}, two_threads_a_core) == asked


def test_more_places_than_processors_are_refused_in_words():
    (issue,) = issues_of_places(bench(3), {0, 7})
    assert str(issue) == (
        "cores: got 3, expected at most 2, which is what this process may use (see 'taskset -p $$'); "
        "ask for fewer, or allow more"
    )


def test_each_processor_that_we_may_not_use_is_told():
    found = list(issues_of_places(bench(((0, 3), (9,))), {0, 1, 2, 8}))
    assert [(issue.path, issue.got) for issue in found] == [
        (("cores", 0), "the processor 3"),
        (("cores", 1), "the processor 9"),
    ]
    assert "one of 0-2, 8, which" in found[0].expected


def test_enough_processors_are_no_fault():
    assert not list(issues_of_places(bench(2), {0, 1}))
    assert not list(issues_of_places(bench(((1,), (0,))), {0, 1}))


def test_places_on_one_core_are_told(two_threads_a_core):
    (told,) = shared_cores(((0,), (1,), (4,)), two_threads_a_core)
    assert told.startswith("the processors 0, 4 share a core: ")
    assert not list(shared_cores(((0, 4), (1, 5)), two_threads_a_core))
