"""Run a bench: plan the settings, run them, summarise them, and warn."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain, combinations_with_replacement
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import InstanceError, MeasureError
from lpsched.io.documents import read_document
from lpsched.io.instance_files import made_of
from lpsched.measure import summary
from lpsched.measure.bench import Bench, Repeats, each_once
from lpsched.measure.evidence import COMPUTE_PROBE, MEMORY_PROBE, PROBES, Measured, Sample, Setting
from lpsched.measure.files import SampleLines, head_of
from lpsched.measure.machine import MachineTestBed, issues_here, require_linux

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken
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
# M and C are the memory-bound and the compute-bound interference probe. They run where cache misses are not counted, or
# where the bench says always, and only as often as the classes need (`measure/summary.py`); at the fastest clock, where
# memory is the worst bottleneck. What needs more places than the bench has is left out.
def settings_of(bench: Bench, *, frequencies_mhz: Sequence[float], energy: bool, counters: bool) -> tuple[Setting, ...]:
    """Return every setting once, in the order above.

    The clocks are those that can be set, fastest first, if none the machine's own; `energy` and `counters` say whether
    energy is measured, and whether cache misses are counted.
    """
    clocks: tuple[float | None, ...] = tuple(frequencies_mhz) or (None,)
    found = [setting for mhz in clocks for setting in _at_clock(bench, mhz, energy=energy)]
    if wants_probes(bench, counters=counters):
        m, c, names = MEMORY_PROBE, COMPUTE_PROBE, [each.name for each in bench.applications]
        pairs = [(m, m), (m, c), *(pair for a in names for pair in ((a, m), (a, c), (m, a)))]
        found += [Setting(one, (other,), clocks[0]) for one, other in pairs]
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


def wants_probes(bench: Bench, *, counters: bool) -> bool:
    """Return whether applications run beside interference probes, if there is a second place."""
    return bench.companions == "always" or (bench.companions == "auto" and not counters)


def programs_of(settings: Iterable[Setting]) -> tuple[str, ...]:
    """Return the names of all that these settings run: applications in order, then probes."""
    names = dict.fromkeys(name for each in settings for name in (each.application, *each.beside))
    return tuple(sorted(names, key=PROBES.__contains__))


def run_counts(bench: Bench, settings: Sequence[Setting]) -> tuple[int, int]:
    """Return how many measured runs these settings take, at least and at most."""
    return bench.repeats.least * len(settings), bench.repeats.most * len(settings)


def left_out(bench: Bench, *, energy: bool, counters: bool) -> tuple[str, ...]:
    """Return what the bench asks for and the plan has not, each in a sentence with its reason."""
    found = []
    places = bench.at_once
    crowds = [*pairs_of(bench), *each_once(bench.groups)]
    probes = wants_probes(bench, counters=counters)
    if places == 1 and (crowds or probes):
        found.append(
            "one place only: applications run alone, and neither degradation nor the slowdown beside "
            "interference probes is measured; give the bench at least two cores"
        )
    if bench.batches and not energy and any(len(crowd) <= places for crowd in crowds):
        found.append("no energy is measured, so what running together saves is not measured either")
    if not probes and not counters:
        found.append(
            "cache misses are not counted and interference probes are off, so memory classes are not known; "
            "write 'companions: auto' to turn them on"
        )
    return tuple(found)


# Run a bench: every setting as often as it takes, in random order, each run kept as soon as it has ended.
#
#     warm up    each program once or more, unmeasured; settings of a program that fails now have failed
#     idle       the power of doing nothing, before
#     rounds     in each, every setting that needs another run is run once, in an order drawn anew, so that
#                whatever drifts (heat, neighbours, the time of day) drifts through all settings alike
#     idle       again, after
#
# A setting needs another run until its mean time is known well enough, or it was run often enough
# (`measure/summary.py`). One that failed is not run again. Runs that are on file count as if they had been made now,
# but for those that failed: resuming tries them again. Tests use a test bed whose numbers are known.
@dataclass(frozen=True, slots=True)
class BenchRun:
    """What a bench came to."""

    samples: tuple[Sample, ...]  # of all runs, those from before first
    idle_before: float | None
    idle_after: float | None
    unfinished: tuple[Setting, ...]  # would have been run again if there had been time, or for the first time


def run_bench(
    bench: Bench, test_bed: MachineTestBed, settings: Sequence[Setting], kept: SampleLines, cancel: CancelToken
) -> BenchRun:
    """Run these settings until each is known well enough, or the token or the bench's own limit has expired."""
    if bench.limit_seconds is not None:
        cancel = cancel.part(bench.limit_seconds)
    runs = _Runs(settings, bench.repeats, kept)
    if runs.needed():
        _warm_up(bench, test_bed, runs, cancel)
    idle_before = kept.idle_watts_before
    if idle_before is None and not cancel.expired():
        cancel.report("idle power, before")
        idle_before = test_bed.idle_watts(cancel)
        if idle_before is not None:
            kept.add_idle_before(idle_before)
    _rounds(bench, test_bed, runs, cancel)
    idle_after = None
    if not cancel.expired():
        cancel.report("idle power, after", done=runs.made, total=runs.made)
        idle_after = test_bed.idle_watts(cancel)
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
        if len(seconds) < len(samples) or summary.enough(seconds, self.repeats):
            return 0
        return max(1, self.repeats.least - len(samples))


def _warm_up(bench: Bench, test_bed: MachineTestBed, runs: _Runs, cancel: CancelToken) -> None:
    """Run every program that is still needed; settings of one that fails have failed."""
    for name in programs_of(runs.needed()):
        for _ in range(bench.repeats.warm_ups):
            if cancel.expired():
                return
            cancel.report(f"warm-up of {name}", done=runs.made, total=runs.total())
            failure = test_bed.warm_up(name, cancel)
            if failure is not None and not cancel.expired():
                for setting in runs.needed():
                    if name in setting.together:
                        runs.add(Sample(setting, None, failure=f"{name}, when it was warmed up, {failure}"))
                break


def _rounds(bench: Bench, test_bed: MachineTestBed, runs: _Runs, cancel: CancelToken) -> None:
    order = np.random.default_rng([bench.seed, runs.made])  # a resumed bench draws another order
    while needed := runs.needed():
        for index in order.permutation(len(needed)):
            setting = needed[int(index)]
            cancel.report(str(setting), done=runs.made, total=runs.total())
            sample = None if cancel.expired() else test_bed.perform(setting, cancel)
            if sample is None:
                return
            runs.add(sample)


# Warnings about measurements, for stderr.
IDLE_DIFFERENCE: Final = 0.05  # of idle power before and after, as a share of the larger
CLASS_RANGE: Final = 0.1  # of degradations within a pair of classes
MOST_NAMED: Final = 4  # in one sentence
MOST_REASONS: Final = 8  # of failures


def warnings_of(bench: Bench, measurements: Measurements) -> tuple[str, ...]:
    """Return every warning, the gravest kind first."""
    return (
        *_failures(measurements),
        *_missing_columns(bench, measurements),
        *_not_narrow(bench, measurements),
        *_idle_power(measurements),
        *measurements.remarks(),
        *_negative(measurements),
        *_classes(bench, measurements),
        *_averages(measurements),
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
        yield f"the meter reported no energy of {_listed(bare)}, so they have no watts"


def _not_narrow(bench: Bench, measurements: Measurements) -> Iterator[str]:
    wide = [each for each in measurements.measured if not summary.is_narrow(each.seconds, bench.repeats)]
    full = [each for each in wide if each.seconds.count >= bench.repeats.most]
    short = [each for each in wide if each.seconds.count < bench.repeats.most]
    wanted = f"{100 * bench.repeats.within:g} %"
    if full:
        yield (
            f"not within {wanted} after {bench.repeats.most} runs: {_listed(_with_width(full))}; "
            "quiet the machine, let each run take longer, or raise repeats.most"
        )
    if short:
        yield f"not within {wanted} when the bench ended: {_listed(_with_width(short))}; go on with --resume"


def _with_width(measured: Iterable[Measured]) -> list[str]:
    """Name settings, those known worst first."""
    halves = {each.setting: summary.relative_half(each.seconds) for each in measured}
    widths = {setting: inf if half is None else half for setting, half in halves.items()}
    order = sorted(widths, key=lambda setting: (-widths[setting], str(setting)))
    return [f"{each} ({'one run' if widths[each] == inf else f'± {100 * widths[each]:.3g} %'})" for each in order]


def _idle_power(measurements: Measurements) -> Iterator[str]:
    before, after = measurements.idle_watts_before, measurements.idle_watts_after
    if before is not None and after is not None and abs(before - after) > IDLE_DIFFERENCE * max(before, after):
        yield (
            f"idle power was {before:.4g} W before and {after:.4g} W after the runs; the machine was not at "
            "rest, or something else drew power: measure again when it is quiet"
        )


def _negative(measurements: Measurements) -> Iterator[str]:
    below = {pair: value for pair, value in summary.raw_degradation(measurements.measured).items() if value < 0}
    if below:
        (a, b), least = min(below.items(), key=lambda each: (each[1], each[0]))
        yield (
            f"faster together than alone, which is noise and 0 in the degradation table: {len(below)} of the "
            f"pairs, {a} beside {b} the most, by {-100 * least:.3g} %"
        )


def _classes(bench: Bench, measurements: Measurements) -> Iterator[str]:
    known = {each.setting: each for each in measurements.measured}
    clocks: tuple[float | None, ...] = measurements.frequencies_mhz or (None,)
    timed = [each for each in measurements.applications if each.name in measurements.seconds]
    without = [each.name for each in timed if each.memory_class is None]
    if without:
        yield f"no memory class of {_listed(without)}: {_why_no_class(known, clocks[0])}"
    for name, found in summary.intensities_of(bench, known, clocks).items():
        if found.doubtful is not None:
            lower, upper = found.doubtful
            yield f"{name} is of class {found.memory_class}, but its runs fit any from {lower} to {upper}"


def _why_no_class(known: Mapping[Setting, Measured], mhz: float | None) -> str:
    own = summary.own_interference(known, mhz)
    if own is None and not any(name in PROBES for setting in known for name in setting.together):
        return "no cache misses were counted, and nothing ran beside interference probes"
    if own is not None and not summary.is_significant(own):
        return (
            f"the memory probe slows itself by {100 * own.value:.3g} % ± {100 * own.half:.3g} %, which "
            "may be nothing; places that share no cache do not disturb each other, or a busy machine hides it"
        )
    return "no cache misses were counted, and not all runs beside the interference probes are there"


def _averages(measurements: Measurements) -> Iterator[str]:
    classes = {each.name: each.memory_class for each in measurements.applications if each.memory_class is not None}
    found = summary.widest(measurements.degradation_in_full, classes)
    if found is not None and found.most - found.least > CLASS_RANGE:
        yield (
            f"degradation by class hides differences: of class {found.own} beside {found.other} the "
            f"{found.pairs} pairs range from {found.least:.3g} to {found.most:.3g}; "
            "degradation in full keeps them apart"
        )
    error = summary.additive_error(measurements.additive)
    if error is not None:
        yield (
            f"sums of pairwise degradations miss the times in larger groups by {100 * error.mean:.3g} % in "
            f"the mean and by {100 * error.largest:.3g} % at most ({error.checks} measured)"
        )


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return ", ".join(found[:MOST_NAMED]) + more


MOST_FAILED: Final = 3  # in one message


def read_bench_here(path: Path) -> Bench:
    """Read a bench, and check that this machine has the places and the programs that it names."""
    require_linux()

    def make(raw: object) -> Bench:
        bench = Bench.read(raw, str(path))
        if issues := tuple(issues_here(bench, path.parent)):
            raise InstanceError(str(path), issues)
        return bench

    return made_of(read_document(path), path, make)


@dataclass(frozen=True, slots=True)
class SessionResult:
    """The measurements of a session; `remarks` are warnings about them."""

    measurements: Measurements
    runs: int  # with those of earlier sessions
    unfinished: int  # settings that would have been run again if there had been time
    remarks: tuple[str, ...]

    def require_something(self) -> None:
        """Raise an error if nothing could be measured."""
        if not self.measurements.seconds:
            failed = [f"{each.setting} {each.reason}" for each in self.measurements.failed[:MOST_FAILED]]
            why = "; ".join(failed) or "no application ran to its end at every clock before the time was over"
            raise MeasureError(f"nothing could be measured: {why}")


class Session:
    """A bench about to be run on this machine; `folder` is that of the bench file.

    `absent` says what cannot be measured and why, each in a sentence; it is known before anything is run.
    """

    def __init__(self, bench: Bench, folder: Path) -> None:
        self.bench = bench
        self.stage = MachineTestBed(bench, folder)
        meters = self.stage.meters
        known = {"energy": meters.energy is not None, "counters": meters.counters is not None}
        self.absent = (*self.stage.absent, *left_out(bench, **known))
        self.settings: tuple[Setting, ...] = settings_of(bench, frequencies_mhz=self.stage.frequencies_mhz, **known)

    @property
    def run_counts(self) -> tuple[int, int]:
        """How many measured runs there will be, at least and at most."""
        return run_counts(self.bench, self.settings)

    def run(
        self, samples: Path, cancel: CancelToken, *, resume: bool = False, overwrite: bool = False
    ) -> SessionResult:
        """Run everything, write each run to a file of samples at once, and return the measurements.

        When the token has expired, running programs are stopped at once and the
        measurements so far are returned. `resume` continues an existing file of samples, else
        `overwrite` begins it anew.
        """
        machine, meters, ours = self.stage.machine, self.stage.meters, version("lpsched")
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        head = head_of(self.bench, machine=machine, meters=meters, lpsched=ours, began=now)
        with SampleLines(samples, head, resume=resume, overwrite=overwrite) as lines, self.stage:
            run = run_bench(self.bench, self.stage, self.settings, lines, cancel)
            measurements = summary.measurements_of(
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
            remarks = (*self.stage.troubles, *warnings_of(self.bench, measurements))
            return SessionResult(measurements, len(run.samples), len(run.unfinished), remarks)
