"""How much a bench asks for: settings by kind, and runs, before anything is known about the machine.

With n applications, K clocks (1 where none are asked for), pairs P and groups G that run together:

    alone        n K
    pairs        2 K for each pair of two applications, K for a pair of copies
    groups       K for each application of a group, copies once
    batches      K for each pair and group; only where energy is measured
    companions   3 for each application and 2 for themselves, at one clock; only on two places or more

Companions run for sure where they are asked for, and perhaps where the machine decides. Each setting is run
from `least` to `most` times, and each program `warm_ups` times before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.instance.bench import Bench


@dataclass(frozen=True, slots=True)
class BenchSize:
    """Settings by kind; `batches` and `companions` may turn out not to run."""

    alone: int
    pairs: int
    groups: int
    batches: int
    companions: int
    least_settings: int
    most_settings: int
    least_runs: int
    most_runs: int


def size_of(bench: Bench) -> BenchSize:
    """Return how much a bench asks for."""
    clocks = max(1, len(bench.frequencies_mhz))
    count = len(bench.applications)
    together = bench.at_once > 1
    pairs = distinct = 0
    if together and bench.pairs is None:
        pairs, distinct = count * count, count * (count + 1) // 2
    elif together and bench.pairs is not None:
        pairs, distinct = sum(len(set(pair)) for pair in bench.pairs), len(bench.pairs)
    groups = sum(len(set(group)) for group in bench.groups)
    wanted = bench.batches and bench.energy.kind != "none"
    batches = clocks * (distinct + len(bench.groups)) if wanted else 0
    companions = 3 * count + 2 if together and bench.companions != "never" else 0
    sure = clocks * (count + pairs + groups)
    least = sure + (batches if bench.energy.kind in {"command", "stream"} else 0)
    least += companions if bench.companions == "always" else 0
    most = sure + batches + companions
    return BenchSize(
        alone=clocks * count,
        pairs=clocks * pairs,
        groups=clocks * groups,
        batches=batches,
        companions=companions,
        least_settings=least,
        most_settings=most,
        least_runs=bench.repeats.least * least + bench.repeats.warm_ups * _programs(bench, sure=True),
        most_runs=bench.repeats.most * most + bench.repeats.warm_ups * _programs(bench, sure=False),
    )


def _programs(bench: Bench, *, sure: bool) -> int:
    """Return how many programs are warmed up, those that surely run or all that may."""
    companions = bench.at_once > 1 and bench.companions in (("always",) if sure else ("always", "auto"))
    return len(bench.applications) + (2 if companions else 0)
