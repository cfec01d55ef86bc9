"""A bench from its file to what is known about the machine: plan, run, sum up, and warn."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain, combinations_with_replacement
from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import InstanceError, MeasureError
from lpsched.io.documents import read_document
from lpsched.io.instance_files import made_of
from lpsched.measure.bench import Bench, Repeats, each_once
from lpsched.measure.evidence import COMPANIONS, COMPUTE_COMPANION, MEMORY_COMPANION, Measured, Sample, Setting
from lpsched.measure.files import SampleLines, head_of
from lpsched.measure.machine import MachineStage, faults_here, require_linux
from lpsched.measure.summary import (
    additive_error,
    enough,
    intensities_of,
    is_narrow,
    is_told,
    measurements_of,
    own_interference,
    raw_degradation,
    relative_half,
    widest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lpsched.cancellation import Watch
    from lpsched.measure.measurements import Measurements


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
        m, c, names = MEMORY_COMPANION, COMPUTE_COMPANION, [each.name for each in bench.applications]
        asked = [(m, m), (m, c), *(pair for a in names for pair in ((a, m), (a, c), (m, a)))]
        found += [Setting(one, (other,), clocks[0]) for one, other in asked]
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


# Warnings about measurements, for stderr.
IDLE_DIFFERENCE: Final = 0.05  # of idle power before and after, as a share of the larger
CLASS_RANGE: Final = 0.1  # of degradations within a pair of classes
MOST_NAMED: Final = 4  # in one sentence
MOST_REASONS: Final = 8  # of failures


def remarks_of(bench: Bench, measurements: Measurements) -> tuple[str, ...]:
    """Return every remark, the gravest kind first."""
    return (
        *_failures(measurements),
        *_missing_columns(bench, measurements),
        *_not_narrow(bench, measurements),
        *_idle_power(measurements),
        *measurements.remarks(),
        *_negative(measurements),
        *_classes(bench, measurements),
        *_class_range(measurements),
        *_additive(measurements),
    )


def _failures(measurements: Measurements) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for failed in measurements.failed:
        by_reason.setdefault(failed.reason, []).append(str(failed.setting))
    for reason, settings in list(by_reason.items())[:MOST_REASONS]:
        few = len(settings) <= MOST_NAMED
        yield f"failed: {'; '.join(settings) if few else f'{len(settings)} settings'}: {reason}"
    if len(by_reason) > MOST_REASONS:
        yield f"settings failed for {len(by_reason) - MOST_REASONS} more reasons; the file has them all"


def _missing_columns(bench: Bench, measurements: Measurements) -> Iterator[str]:
    names = [each.name for each in bench.applications]
    if missing := [name for name in names if name not in measurements.seconds]:
        yield f"no time alone at every clock, so left out of the columns: {_listed(missing)}"
    bare = [name for name in names if name in measurements.seconds and name not in measurements.watts]
    if measurements.watts and bare:
        yield f"the meter told no energy of {_listed(bare)}, so they have no watts"


def _not_narrow(bench: Bench, measurements: Measurements) -> Iterator[str]:
    wide = [each for each in measurements.measured if not is_narrow(each.seconds, bench.repeats)]
    full = [each for each in wide if each.seconds.count >= bench.repeats.most]
    short = [each for each in wide if each.seconds.count < bench.repeats.most]
    asked = f"{100 * bench.repeats.within:g} %"
    if full:
        yield (
            f"not within {asked} after {bench.repeats.most} runs: {_listed(_with_width(full))}; "
            "quiet the machine, let each run take longer, or raise repeats.most"
        )
    if short:
        yield f"not within {asked} when the bench ended: {_listed(_with_width(short))}; go on with --resume"


def _with_width(measured: Iterable[Measured]) -> list[str]:
    """Name settings, those known worst first."""
    halves = {each.setting: relative_half(each.seconds) for each in measured}
    widths = {setting: inf if half is None else half for setting, half in halves.items()}
    order = sorted(widths, key=lambda setting: (-widths[setting], str(setting)))
    return [f"{each} ({'one run' if widths[each] == inf else f'+- {100 * widths[each]:.3g} %'})" for each in order]


def _idle_power(measurements: Measurements) -> Iterator[str]:
    before, after = measurements.idle_watts_before, measurements.idle_watts_after
    if before is None or after is None:
        return
    if abs(before - after) > IDLE_DIFFERENCE * max(before, after):
        yield (
            f"idle power was {before:.4g} W before and {after:.4g} W after the runs; the machine was not at "
            "rest, or something else drew power: measure again when it is quiet"
        )


def _negative(measurements: Measurements) -> Iterator[str]:
    below = {pair: value for pair, value in raw_degradation(measurements.measured).items() if value < 0}
    if below:
        (a, b), least = min(below.items(), key=lambda each: (each[1], each[0]))
        yield (
            f"faster together than alone, which is noise and 0 in the degradation table: {len(below)} of the "
            f"pairs, {a} beside {b} the most, by {-100 * least:.3g} %"
        )


def _classes(bench: Bench, measurements: Measurements) -> Iterator[str]:
    known = {each.setting: each for each in measurements.measured}
    clocks: tuple[float | None, ...] = measurements.frequencies_mhz or (None,)
    without = [
        each.name
        for each in measurements.applications
        if each.memory_class is None and each.name in measurements.seconds
    ]
    if without:
        yield f"no memory class of {_listed(without)}: {_why_no_class(known, clocks[0])}"
    for name, told in intensities_of(bench, known, clocks).items():
        if told.doubtful is not None:
            lower, upper = told.doubtful
            yield f"{name} is of class {told.memory_class}, but its runs fit any from {lower} to {upper}"


def _why_no_class(known: Mapping[Setting, Measured], mhz: float | None) -> str:
    own = own_interference(known, mhz)
    if own is None:
        beside = any(name in COMPANIONS for setting in known for name in setting.together)
        told = "not all runs beside the companions are there" if beside else "nothing ran beside companions"
        return f"no cache misses were counted, and {told}"
    if not is_told(own):
        return (
            f"the memory companion slows itself by {100 * own.value:.3g} % +- {100 * own.half:.3g} %, which "
            "may be nothing; places that share no cache do not disturb each other, or a busy machine hides it"
        )
    return "no cache misses were counted, and not all runs beside the companions are there"


def _class_range(measurements: Measurements) -> Iterator[str]:
    classes = {each.name: each.memory_class for each in measurements.applications if each.memory_class is not None}
    found = widest(measurements.degradation_in_full, classes)
    if found is not None and found.most - found.least > CLASS_RANGE:
        yield (
            f"degradation by class hides differences: of class {found.own} beside {found.other} the "
            f"{found.pairs} pairs range from {found.least:.3g} to {found.most:.3g}; "
            "degradation in full keeps them apart"
        )


def _additive(measurements: Measurements) -> Iterator[str]:
    error = additive_error(measurements.additive)
    if error is not None:
        yield (
            f"sums of pairwise degradations miss the times in larger groups by {100 * error.mean:.3g} % in "
            f"the mean and by {100 * error.largest:.3g} % at most ({error.checks} measured)"
        )


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return ", ".join(found[:MOST_NAMED]) + more


# From a bench file to what is known about this machine.
MOST_FAILED: Final = 3  # in one message


def read_bench_here(path: Path) -> Bench:
    """Read a bench, and see that this machine has the places and the programs that it names."""
    require_linux()

    def make(raw: object) -> Bench:
        bench = Bench.read(raw, str(path))
        if faults := tuple(faults_here(bench, path.parent)):
            raise InstanceError(str(path), faults)
        return bench

    return made_of(read_document(path), path, make)


@dataclass(frozen=True, slots=True)
class Found:
    """What a session found out; `remarks` are what a user should know before relying on it."""

    measurements: Measurements
    runs: int  # with those of earlier sessions
    unfinished: int  # settings that would have been run again if there had been time
    remarks: tuple[str, ...]

    def require_something(self) -> None:
        """Refuse to go on with nothing."""
        if self.measurements.seconds:
            return
        failed = [f"{each.setting} {each.reason}" for each in self.measurements.failed[:MOST_FAILED]]
        why = "; ".join(failed) or "no application ran to its end at every clock before the time was over"
        raise MeasureError(f"nothing could be measured: {why}")


class Session:
    """A bench about to be run on this machine; `folder` is that of the bench file.

    `absent` says what cannot be measured and why, each in a sentence; it is known before anything is run.
    """

    def __init__(self, bench: Bench, folder: Path) -> None:
        self.bench = bench
        self.stage = MachineStage(bench, folder)
        meters = self.stage.meters
        known = {"energy": meters.energy is not None, "counters": meters.counters is not None}
        self.absent = (*self.stage.absent, *left_out(bench, **known))
        self.settings: tuple[Setting, ...] = settings_of(bench, frequencies_mhz=self.stage.frequencies_mhz, **known)

    @property
    def run_counts(self) -> tuple[int, int]:
        """How many measured runs there will be, at least and at most."""
        return run_counts(self.bench, self.settings)

    def run(self, samples: Path, watch: Watch, *, resume: bool = False) -> Found:
        """Run everything, keeping each run in a file of samples at once; tell what is known in the end.

        When the watch is over, what runs is ended at once, and what was measured by then counts. `resume` goes on with
        a file of samples that is there.
        """
        machine, meters, ours = self.stage.machine, self.stage.meters, version("lpsched")
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        head = head_of(self.bench, machine=machine, meters=meters, lpsched=ours, began=now)
        with SampleLines(samples, head, resume=resume) as lines, self.stage:
            run = run_bench(self.bench, self.stage, self.settings, lines, watch)
            measurements = measurements_of(
                self.bench,
                machine=machine,
                meters=meters,
                frequencies_mhz=self.stage.frequencies_mhz,
                samples=run.samples,
                idle_before=run.idle_before,
                idle_after=run.idle_after,
                taken=lines.head["began"],
                lpsched=ours,
                absent=self.absent,
            )
            remarks = (*self.stage.troubles, *remarks_of(self.bench, measurements))
            return Found(measurements, len(run.samples), len(run.unfinished), remarks)
