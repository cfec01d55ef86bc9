"""Two speeds of the tests: some repetitions of every kind of evidence, or all of them.

`scripts/test` runs the quick suite; `scripts/test --all` sets LPSCHED_TESTS=all and runs everything. The quick suite

- leaves out tests marked `slow`: processes that are killed, clusters, browsers, benchmarks, figures;
- of a test that is parametrised by `seed`, runs a few seeds, and of one marked `rotate(n)`, n of its cases. Which
  ones follows from the day: all come round within as many days as there are portions. LPSCHED_ROTATION=NUMBER
  repeats the choice of another day;
- of a property test, draws the first examples only. These are the same each time.
"""

from __future__ import annotations

import math
import os
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from hypothesis import settings

if TYPE_CHECKING:
    import pytest

ALL: Final = os.environ.get("LPSCHED_TESTS") == "all"
SEEDS: Final = 2  # of a test, at a time
EXAMPLES: Final = 8  # of a property test
SECONDS_PER_DAY: Final = 86_400
# Test processes inherit the number from the one that starts them, so that midnight does not come between them.
ROTATION: Final = int(os.environ.setdefault("LPSCHED_ROTATION", str(int(time.time()) // SECONDS_PER_DAY)))


def taken(cases: int, few: int, rotation: int) -> list[int]:
    """Return which of so many cases one rotation takes; consecutive rotations take them all.

    >>> [taken(7, 3, day) for day in range(3)]
    [[0, 3, 6], [1, 4], [2, 5]]
    """
    portions = math.ceil(cases / few)
    return list(range(rotation % portions, cases, portions))


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the quick suite in the list, and fewer examples of property tests."""
    families = defaultdict(list)
    for item in items:
        families[item.nodeid.partition("[")[0]].append(item)
    kept, left_out = [], []
    for family in families.values():
        chosen = _chosen(family)
        for item in family:
            (kept if item in chosen and item.get_closest_marker("slow") is None else left_out).append(item)
    for item in kept:
        draw_few(getattr(item, "obj", None))
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def _chosen(family: list[pytest.Item]) -> set[pytest.Item]:
    """Return the cases of one test that this rotation takes."""
    mark = family[0].get_closest_marker("rotate")
    if mark is not None:
        return {family[place] for place in taken(len(family), mark.args[0], ROTATION)}
    seeds = [getattr(item, "callspec", None) and item.callspec.params.get("seed") for item in family]  # type: ignore[attr-defined]
    different = list(dict.fromkeys(seeds))
    few = {different[place] for place in taken(len(different), SEEDS, ROTATION)}
    return {item for item, seed in zip(family, seeds, strict=True) if seed is None or seed in few}


def draw_few(test: Any) -> None:
    """Let a property test draw its first examples only."""
    own = getattr(test, "_hypothesis_internal_use_settings", None)
    if own is not None and own.max_examples > EXAMPLES:
        test = getattr(test, "__func__", test)
        test._hypothesis_internal_use_settings = settings(own, max_examples=EXAMPLES)  # noqa: SLF001 - no other way
