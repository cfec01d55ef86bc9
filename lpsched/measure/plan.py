"""The settings of a bench, and running them all in random order, resumable."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from lpsched.measure.bench import each_once
from lpsched.measure.evidence import COMPANIONS, COMPUTE_COMPANION, MEMORY_COMPANION, Sample, Setting
from lpsched.measure.summary import enough

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lpsched.cancellation import Watch
    from lpsched.measure.bench import Bench, Repeats
    from lpsched.measure.files import SampleLines
    from lpsched.measure.machine import MachineStage


# Which settings a bench asks for.
#
#     for each clock      every application alone
#                         of every pair: a beside b, and b beside a
#                         of every group: each of its applications beside the others
#                         batches of pairs and groups, where energy is measured
#     at the fastest      M beside M, M beside C
#                         of every application: a beside M, a beside C, M beside a
#
# M and C are the memory-bound and the compute-bound companion. They run where cache misses are not counted, or
# are always asked for, and only as much as the classes need (`measure/summary.py`); at the fastest clock, where memory
# is the most in the way. Whatever needs more places than the bench has is left out.
def settings_of(bench: Bench, *, frequencies_mhz: Sequence[float], energy: bool, counters: bool) -> tuple[Setting, ...]:
    """Return every setting once, in the order above.

    The clocks are those that can be set, fastest first, if none the machine's own; `energy` and `counters` say whether
    energy is measured, and whether cache misses are counted.
    """
    clocks: tuple[float | None, ...] = tuple(frequencies_mhz) or (None,)
    found = [setting for mhz in clocks for setting in _at_clock(bench, mhz, energy=energy)]
    if wants_companions(bench, counters=counters):
        found += _beside_companions(bench, clocks[0])
    return tuple(dict.fromkeys(each for each in found if len(each.together) <= bench.at_once))


def _at_clock(bench: Bench, mhz: float | None, *, energy: bool) -> Iterator[Setting]:
    for application in bench.applications:
        yield Setting(application.name, (), mhz)
    crowds = [*pairs_of(bench), *each_once(bench.groups)]
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


def pairs_of(bench: Bench) -> tuple[tuple[str, ...], ...]:
    """Return which two run together: those asked for, or every two and each with a copy of itself."""
    if bench.pairs is not None:
        return each_once(bench.pairs)
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
    crowds = [*pairs_of(bench), *each_once(bench.groups)]
    companions = wants_companions(bench, counters=counters)
    if places == 1 and (crowds or companions):
        found.append(
            "one place only: applications run alone, and neither degradation nor the slowdown beside "
            "companions is measured; give the bench at least two cores"
        )
    if bench.batches and not energy and any(len(crowd) <= places for crowd in crowds):
        found.append("no energy is measured, so what running together saves is not measured either")
    if not companions and not counters:
        found.append(
            "cache misses are not counted and no companions are wanted, so no memory class is told; "
            "write 'companions: auto'"
        )
    return tuple(found)


# Run a bench: every setting as often as it takes, in random order, each run kept as soon as it has ended.
#
#     warm up    each program once or more, unmeasured; what a program that fails now is part of has failed
#     idle       the power of doing nothing, before
#     rounds     in each, every setting that needs another run is run once, in an order drawn anew, so that
#                whatever drifts (heat, neighbours, the time of day) drifts through all settings alike
#     idle       again, after
#
# A setting needs another run until its mean time is known well enough, or it was run often enough
# (`measure/summary.py`). One that failed is not run again. Runs that are on file from before count as if they had
# been made now, but for those that failed: whoever goes on has mended something, or tries again. Tests bring a stage
# whose numbers are known.
@dataclass(frozen=True, slots=True)
class BenchRun:
    """What a bench came to."""

    samples: tuple[Sample, ...]  # of all runs, those from before first
    idle_before: float | None
    idle_after: float | None
    unfinished: tuple[Setting, ...]  # would have been run again if there had been time, or for the first time


def run_bench(
    bench: Bench, stage: MachineStage, settings: Sequence[Setting], kept: SampleLines, watch: Watch
) -> BenchRun:
    """Run these settings until each is known well enough, or the watch or the bench's own limit is over."""
    if bench.limit_seconds is not None:
        watch = watch.part(bench.limit_seconds)
    runs = _Runs(settings, bench.repeats, kept)
    if runs.needed():
        _warm_up(bench, stage, runs, watch)
    idle_before = kept.idle_watts_before
    if idle_before is None and not watch.is_over():
        watch.tell("idle power, before")
        idle_before = stage.idle_watts(watch)
        if idle_before is not None:
            kept.add_idle_before(idle_before)
    _rounds(bench, stage, runs, watch)
    idle_after = None
    if not watch.is_over():
        watch.tell("idle power, after", done=runs.made, total=runs.made)
        idle_after = stage.idle_watts(watch)
    return BenchRun(tuple(chain.from_iterable(runs.samples.values())), idle_before, idle_after, runs.needed())


class _Runs:
    """The runs of each setting so far."""

    def __init__(self, settings: Sequence[Setting], repeats: Repeats, kept: SampleLines) -> None:
        self.settings, self.repeats, self.kept = settings, repeats, kept
        self.samples: dict[Setting, list[Sample]] = {setting: [] for setting in settings}
        self.made = 0
        for sample in kept.samples:
            if sample.failure is None:  # also of settings that are no longer asked for: they stay evidence
                self.samples.setdefault(sample.setting, []).append(sample)
                self.made += 1
        self.missing = {setting: self._missing(setting) for setting in settings}  # how many more runs it needs at least
        self.left = sum(self.missing.values())

    def add(self, sample: Sample) -> None:
        self.kept.add(sample)
        self.samples[sample.setting].append(sample)
        self.made += 1
        missing = self._missing(sample.setting)
        self.left += missing - self.missing[sample.setting]
        self.missing[sample.setting] = missing

    def needed(self) -> tuple[Setting, ...]:
        """Return the settings that need another run, in the order of the plan."""
        return tuple(setting for setting in self.settings if self.missing[setting])

    def total(self) -> int:
        """Return how many runs it will be at least."""
        return self.made + self.left

    def _missing(self, setting: Setting) -> int:
        samples = self.samples[setting]
        seconds = [sample.seconds for sample in samples if sample.seconds is not None]
        if len(seconds) < len(samples) or enough(seconds, self.repeats):
            return 0
        return max(1, self.repeats.least - len(samples))


def _warm_up(bench: Bench, stage: MachineStage, runs: _Runs, watch: Watch) -> None:
    """Run every program that is still needed; settings of one that fails have failed."""
    for name in programs_of(runs.needed()):
        for _ in range(bench.repeats.warm_ups):
            if watch.is_over():
                return
            watch.tell(f"warm-up of {name}", done=runs.made, total=runs.total())
            failure = stage.warm_up(name, watch)
            if failure is not None and not watch.is_over():
                for setting in runs.needed():
                    if name in setting.together:
                        runs.add(Sample(setting, None, failure=f"{name}, when it was warmed up, {failure}"))
                break


def _rounds(bench: Bench, stage: MachineStage, runs: _Runs, watch: Watch) -> None:
    order = np.random.default_rng([bench.seed, runs.made])  # who goes on draws another order
    while needed := runs.needed():
        for index in order.permutation(len(needed)):
            setting = needed[int(index)]
            watch.tell(str(setting), done=runs.made, total=runs.total())
            sample = None if watch.is_over() else stage.perform(setting, watch)
            if sample is None:
                return
            runs.add(sample)
