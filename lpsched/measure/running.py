"""Run a bench: every setting as often as it takes, in random order, each run kept as soon as it has ended.

    warm up    each program once or more, unmeasured; what a program that fails now is part of has failed
    idle       the power of doing nothing, before
    rounds     in each, every setting that needs another run is run once, in an order drawn anew, so that
               whatever drifts (heat, neighbours, the time of day) drifts through all settings alike
    idle       again, after

A setting needs another run until its mean time is known well enough, or it was run often enough
(`spreads.py`). One that failed is not run again. Runs that are on file from before count as if they had been
made now, but for those that failed: whoever goes on has mended something, or tries again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from lpsched.instance.setting import Sample, Setting
from lpsched.measure.plan import programs_of
from lpsched.measure.spreads import enough

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.bench import Bench, Repeats
    from lpsched.measure.stage import Stage
    from lpsched.watch import Watch


class Kept(Protocol):
    """Where runs are kept: `files/sample_lines.py`, or a list."""

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Those made before."""

    @property
    def idle_watts_before(self) -> float | None:
        """The power of the idle machine when the bench began, if that was before."""

    def add(self, sample: Sample) -> None:
        """Keep a run."""

    def add_idle_before(self, watts: float) -> None:
        """Keep the power of the idle machine."""


@dataclass(frozen=True, slots=True)
class BenchRun:
    """What a bench came to.

    Attributes
    ----------
    samples
        All runs, those from before first.
    unfinished
        Settings that would have been run again if there had been time; some may not have been run at all.
    """

    samples: tuple[Sample, ...]
    idle_before: float | None
    idle_after: float | None
    unfinished: tuple[Setting, ...]


def run_bench(bench: Bench, stage: Stage, settings: Sequence[Setting], kept: Kept, watch: Watch) -> BenchRun:
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
    return BenchRun(runs.all_samples(), idle_before, idle_after, runs.needed())


@dataclass(slots=True)
class _Runs:
    """The runs of each setting so far."""

    settings: Sequence[Setting]
    repeats: Repeats
    kept: Kept
    samples: dict[Setting, list[Sample]] = field(init=False)
    missing: dict[Setting, int] = field(init=False)  # how many more runs each setting needs at least
    made: int = 0
    left: int = 0  # the sum of those missing

    def __post_init__(self) -> None:
        self.samples = {setting: [] for setting in self.settings}
        for sample in self.kept.samples:
            if sample.failure is None:  # also of settings that are no longer asked for: they stay evidence
                self.samples.setdefault(sample.setting, []).append(sample)
                self.made += 1
        self.missing = {setting: self._missing(setting) for setting in self.settings}
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
        if any(sample.seconds is None for sample in samples):
            return 0
        if enough([sample.seconds for sample in samples if sample.seconds is not None], self.repeats):
            return 0
        return max(1, self.repeats.least - len(samples))

    def all_samples(self) -> tuple[Sample, ...]:
        return tuple(sample for samples in self.samples.values() for sample in samples)


def _warm_up(bench: Bench, stage: Stage, runs: _Runs, watch: Watch) -> None:
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


def _rounds(bench: Bench, stage: Stage, runs: _Runs, watch: Watch) -> None:
    order = np.random.default_rng([bench.seed, runs.made])  # who goes on draws another order
    while needed := runs.needed():
        for index in order.permutation(len(needed)):
            setting = needed[int(index)]
            watch.tell(str(setting), done=runs.made, total=runs.total())
            sample = None if watch.is_over() else stage.perform(setting, watch)
            if sample is None:
                return
            runs.add(sample)
