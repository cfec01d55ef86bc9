"""Two speeds of the tests: some repetitions of every kind of evidence, or all of them.

`scripts/test` runs the quick suite; `scripts/test --all` sets LPSCHED_TESTS=all and runs everything. The quick suite

- leaves out tests marked `slow`: processes that are killed, Dask, browsers, benchmarks, figures, compiled loops as Python
  runs them;
- of a test that is parametrised by `seed`, runs a few seeds, of one marked `rotate(n)`, n of its cases, and of a
  module marked `rotate_tests(n)`, n of its tests. The day decides which. In a module of 6 tests marked `rotate_tests(2)`
  with 10 seeds each, all have been run after 3 x 5 days. LPSCHED_ROTATION=NUMBER repeats the choice of another day;
- of a property test, draws a few examples only. These are the same each time.
"""

from __future__ import annotations

import math
import os
import time
from collections import defaultdict
from typing import Any, Final

import pytest
from hypothesis import settings

ALL: Final = os.environ.get("LPSCHED_TESTS") == "all"
SEEDS: Final = 2  # of a test, at a time
EXAMPLES: Final = 5  # of a property test
PLAIN: Final = pytest.param("plain", marks=pytest.mark.slow)  # compiled loops once more, as Python runs them
SECONDS_PER_DAY: Final = 86_400
# Test processes inherit the number from the one that starts them, so that midnight does not come between them.
ROTATION: Final = int(os.environ.setdefault("LPSCHED_ROTATION", str(int(time.time()) // SECONDS_PER_DAY)))


def taken(cases: int, few: int, rotation: int) -> list[int]:
    """Return the places of about `few` of the cases, spread evenly; consecutive rotations take them all.

    >>> [taken(7, 3, day) for day in range(3)]
    [[0, 3, 6], [1, 4], [2, 5]]
    """
    portions = math.ceil(cases / few)
    return list(range(rotation % portions, cases, portions))


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the quick suite in the list, and fewer examples of property tests."""
    modules: dict[str, dict[str, list[pytest.Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        if item.get_closest_marker("slow") is None:
            test = item.nodeid.partition("[")[0]
            modules[test.partition("::")[0]][test].append(item)
    chosen = set()
    for tests in modules.values():
        some, rounds = _some_tests(tests)
        chosen |= {case for test in some for case in _some_cases(test, ROTATION // rounds)}
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]
    for item in items:
        draw_few(getattr(item, "obj", None))


def _some_tests(tests: dict[str, list[pytest.Item]]) -> tuple[list[list[pytest.Item]], int]:
    """Return the tests of one module that this rotation takes, each with its cases, and the number of portions."""
    every = list(tests.values())
    mark = every[0][0].get_closest_marker("rotate_tests")
    if mark is None:
        return every, 1
    return [every[place] for place in taken(len(every), mark.args[0], ROTATION)], math.ceil(len(every) / mark.args[0])


def _some_cases(cases: list[pytest.Item], rotation: int) -> list[pytest.Item]:
    """Return the cases of one test that a rotation takes."""
    mark = cases[0].get_closest_marker("rotate")
    if mark is not None:
        return [cases[place] for place in taken(len(cases), mark.args[0], rotation)]
    seeds = [getattr(case, "callspec", None) and case.callspec.params.get("seed") for case in cases]  # type: ignore[attr-defined]
    different = list(dict.fromkeys(seeds))
    few = {different[place] for place in taken(len(different), SEEDS, rotation)}
    return [case for case, seed in zip(cases, seeds, strict=True) if seed is None or seed in few]


def draw_few(test: Any) -> None:
    """Let a property test draw a few examples only."""
    own = getattr(test, "_hypothesis_internal_use_settings", None)
    if own is not None and own.max_examples > EXAMPLES:
        test = getattr(test, "__func__", test)
        test._hypothesis_internal_use_settings = settings(own, max_examples=EXAMPLES)  # noqa: SLF001 - no other way
