"""Where applications run: the logical processors of each place.

A bench names them, or says how many it wants. Then each place is one logical processor: the first of each
core, in the order of the cores; only when there are more places than cores the second of each, and so on.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from lpsched.errors import Fault
from lpsched.measure.meters.machine_facts import PROCESSORS, physical_cores

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from lpsched.instance.bench import Bench

Places = tuple[tuple[int, ...], ...]


def choose_places(bench: Bench, allowed: Collection[int], root: Path = PROCESSORS) -> Places:
    """Return the places of a bench, those that it names or the first ones; fewer where there are too few.

    Parameters
    ----------
    allowed
        The logical processors that this process may use.
    """
    if bench.cores:
        return bench.cores
    rows = zip_longest(*physical_cores(allowed, root))
    return tuple((number,) for row in rows for number in row if number is not None)[: bench.places]


def faults_of_places(bench: Bench, allowed: Collection[int]) -> Iterator[Fault]:
    """Tell what a bench asks for that this process may not use."""
    usable = f"at most {len(allowed)}, which is what this process may use (see 'taskset -p $$')"
    if bench.places > len(allowed):
        yield Fault(("cores",), f"{bench.places}", usable, "ask for fewer, or allow more")
    for index, place in enumerate(bench.cores):
        for number in place:
            if number not in allowed:
                needed = f"one of {_listed(allowed)}, which this process may use (see 'taskset -p $$')"
                yield Fault(("cores", index), f"the processor {number}", needed, "name others, or allow it")


def shared_cores(places: Places, root: Path = PROCESSORS) -> Iterator[str]:
    """Say which places are on one core: what runs there shares more than memory."""
    cores = physical_cores([number for place in places for number in place], root)
    for core in cores:
        sharing = [place for place in places if not set(place).isdisjoint(core)]
        if len(sharing) > 1:
            numbers = ", ".join(str(number) for place in sharing for number in place)
            yield (
                f"the processors {numbers} share a core: what runs on one slows down what runs on the other "
                "not by memory alone"
            )


def _listed(numbers: Collection[int]) -> str:
    """Write numbers as the kernel does.

    >>> _listed({0, 1, 2, 5})
    '0-2, 5'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
