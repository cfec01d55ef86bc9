"""Which settings a bench asks for.

    for each clock      every application alone
                        of every pair: a beside b, and b beside a
                        of every group: each of its applications beside the others
                        batches of pairs and groups, where energy is measured
    at the fastest      M beside M, M beside C
                        of every application: a beside M, a beside C, M beside a

M and C are the memory-bound and the compute-bound companion. They run where cache misses are not counted, or
are always asked for, and only as much as the classes need (`classes.py`); at the fastest clock, where memory
is the most in the way. Whatever needs more places than the bench has is left out.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from lpsched.instance.bench import COMPANIONS, COMPUTE_COMPANION, MEMORY_COMPANION
from lpsched.instance.setting import Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lpsched.instance.bench import Bench


def settings_of(
    bench: Bench, *, frequencies_mhz: Sequence[float], energy: bool, counters: bool
) -> tuple[Setting, ...]:
    """Return every setting once, in the order above.

    Parameters
    ----------
    frequencies_mhz
        The clocks that can be set, fastest first; empty: the machine's own.
    energy, counters
        Whether energy is measured, and whether cache misses are counted.
    """
    clocks: tuple[float | None, ...] = tuple(frequencies_mhz) or (None,)
    found = [setting for mhz in clocks for setting in _at_clock(bench, mhz, energy=energy)]
    if wants_companions(bench, counters=counters):
        found += _beside_companions(bench, clocks[0])
    return tuple(dict.fromkeys(each for each in found if len(each.together) <= bench.at_once))


def _at_clock(bench: Bench, mhz: float | None, *, energy: bool) -> Iterator[Setting]:
    for application in bench.applications:
        yield Setting(application.name, (), mhz)
    crowds = [*pairs_of(bench), *bench.groups]
    for crowd in crowds:
        yield from (Setting(each, _others(crowd, each), mhz) for each in crowd)
    if energy and bench.batches:
        for crowd in crowds:
            first = min(crowd)
            yield Setting(first, _others(crowd, first), mhz, batch=True)


def _beside_companions(bench: Bench, mhz: float | None) -> Iterator[Setting]:
    yield Setting(MEMORY_COMPANION, (MEMORY_COMPANION,), mhz)
    yield Setting(MEMORY_COMPANION, (COMPUTE_COMPANION,), mhz)
    for application in bench.applications:
        yield Setting(application.name, (MEMORY_COMPANION,), mhz)
        yield Setting(application.name, (COMPUTE_COMPANION,), mhz)
        yield Setting(MEMORY_COMPANION, (application.name,), mhz)


def _others(crowd: Iterable[str], one: str) -> tuple[str, ...]:
    """Return all but one of these, sorted."""
    rest = sorted(crowd)
    rest.remove(one)
    return tuple(rest)


def pairs_of(bench: Bench) -> tuple[tuple[str, str], ...]:
    """Return which two run together: those asked for, or every two and each with a copy of itself."""
    if bench.pairs is not None:
        return bench.pairs
    return tuple(combinations_with_replacement([each.name for each in bench.applications], 2))


def wants_companions(bench: Bench, *, counters: bool) -> bool:
    """Tell whether applications run beside companions, if there is a place beside them."""
    return bench.companions == "always" or (bench.companions == "auto" and not counters)


def programs_of(settings: Iterable[Setting]) -> tuple[str, ...]:
    """Return the names of all that these settings run: applications in order, then companions."""
    names = dict.fromkeys(name for each in settings for name in (each.application, *each.beside))
    return tuple(sorted(names, key=COMPANIONS.__contains__))


def run_counts(bench: Bench, settings: Sequence[Setting]) -> tuple[int, int]:
    """Return how many measured runs these settings take, at least and at most."""
    return bench.repeats.least * len(settings), bench.repeats.most * len(settings)


def left_out(bench: Bench, *, energy: bool, counters: bool) -> tuple[str, ...]:
    """Return what the bench asks for and the plan has not, each in a sentence with its reason."""
    found = []
    places = bench.at_once
    crowds = [*pairs_of(bench), *bench.groups]
    companions = wants_companions(bench, counters=counters)
    if places == 1 and (crowds or companions):
        found.append(
            "one place only: applications run alone, and neither degradation nor the slowdown beside "
            "companions is measured; give the bench at least two cores"
        )
    elif wide := [crowd for crowd in crowds if len(crowd) > places]:
        found.append(
            f"{len(wide)} of the groups have more applications than the {places} places and are left out, "
            f"such as {', '.join(wide[0])}; give the bench more cores"
        )
    if bench.batches and not energy and any(len(crowd) <= places for crowd in crowds):
        found.append("no energy is measured, so what running together saves is not measured either")
    if not companions and not counters:
        found.append(
            "cache misses are not counted and no companions are wanted, so no memory class is told; "
            "write 'companions: auto'"
        )
    return tuple(found)
