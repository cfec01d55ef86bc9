"""From samples to a summary: means and their intervals, memory classes, static power."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, hypot
from statistics import mean, stdev
from typing import TYPE_CHECKING, NamedTuple

from lpsched.measure.evidence import PROBES, AdditiveCheck, Failed, Measured, Sample, Saving, Setting, Spread
from lpsched.measure.measurements import BY_MISSES, BY_SLOWDOWN, MeasuredApplication, Measurements, class_of, class_rank
from lpsched.model.fields import FrozenDict
from lpsched.model.provenance import student

if TYPE_CHECKING:
    from lpsched.measure.bench import Bench, Repeats
    from lpsched.measure.measurements import Degradation, MeasuredMachine, Meters


# Repeated measurements of one number: how well their mean is known, and whether there are enough.
#
#     m = (x_1 + ... + x_n) / n             the mean
#     s = sqrt(sum_k (x_k - m)^2 / (n - 1)) the deviation of the sample, for n >= 2
#     h = t s / sqrt(n)                     half the width of the interval [m - h, m + h]
#
# t is Student's: with n - 1 degrees of freedom |T| <= t has the probability asked for (the confidence). Enough
# is measured when h <= within * m and there are at least `least` runs, or when there are `most`.
#
# Mean and deviation are worked out in fractions and rounded once: the order of the runs does not matter, and
# equal ones have a width of exactly 0.
def spread_of(values: Sequence[float], confidence: float) -> Spread:
    """Return mean, deviation and confidence interval of at least one value.

    >>> spread_of([3.0, 5.0], 0.5)  # t = 1 with one degree of freedom
    Spread(mean=4.0, count=2, deviation=1.4142135623730951, low=3.0, high=5.0)
    """
    average = mean(map(float, values))
    if len(values) == 1:
        return Spread(average, 1)
    deviation = stdev(map(float, values))
    half = half_width(deviation, len(values), confidence)
    return Spread(average, len(values), deviation, average - half, average + half)


def half_width(deviation: float, count: int, confidence: float) -> float:
    """Return h of `count` values."""
    return student(confidence, count - 1) * deviation / math.sqrt(count)


def enough(seconds: Sequence[float], repeats: Repeats) -> bool:
    """Return whether a setting with these times needs no more runs."""
    if len(seconds) >= repeats.most:
        return True
    return len(seconds) >= repeats.least and is_narrow(spread_of(seconds, repeats.confidence), repeats)


def is_narrow(spread: Spread, repeats: Repeats) -> bool:
    """Return whether a mean is known as well as specified; false for a single value."""
    if spread.deviation is None:
        return False
    return half_width(spread.deviation, spread.count, repeats.confidence) <= repeats.within * spread.mean


# Memory intensity: by cache misses per instruction, or by what applications and interference probes do to each other.
#
# Counted      the mean over clocks of last-level cache misses per instruction alone, compared with `class_bounds`;
#              this is table 8.2 of the thesis
# Not counted  t(x|y) is the mean time of x beside y, M the memory-bound probe and C the compute-bound one:
#
#            own     = t(M|M) / t(M|C) - 1            what M does to itself
#            suffers = (t(a|M) / t(a|C) - 1) / own    what M does to a
#            causes  = (t(M|a) / t(M|C) - 1) / own    what a does to M
#            share   = max(suffers, causes)           compared with `share_bounds`
#
# C stands where M would: both keep a core busy, so that clocks, heat and the scheduler do the same to either
# time and only memory makes the difference. M itself would suffer and cause 1, and C cause 0.
#
# The larger of both counts, because an application that streams through memory slows others and hardly waits
# itself, and one that lives in a shared cache waits and hardly slows others; their mean would call both
# calm. The price is that two shares that are nearly 0 lean upwards a little, by about half of their noise.
#
# Half widths of confidence intervals, as far as first-order terms go: of a ratio r = m_1 / m_2 of mean times r
# sqrt((h_1 / m_1)^2 + (h_2 / m_2)^2); of a share (r - 1) / own with w and v the half widths of r and own sqrt(w^2 +
# (share v)^2) / own. Where own is not above its half width, M does not slow itself beyond noise, and no class is given.
M, C = PROBES


class Estimate(NamedTuple):
    """A number and half the width of its confidence interval."""

    value: float
    half: float


class Intensity(NamedTuple):
    """How memory-intensive an application is, and how that is known; see `MeasuredApplication`."""

    memory_class: str | None
    classified_by: str | None
    intensity: float | None
    suffers: float | None
    causes: float | None
    doubtful: tuple[str, str] | None = None  # the lower and the upper class of a share's interval, where they differ


def intensities_of(
    bench: Bench, measured: Mapping[Setting, Measured], clocks: Sequence[float | None]
) -> dict[str, Intensity]:
    """Return the intensity of each application; probes are looked for at the first clock."""
    own = own_interference(measured, clocks[0])
    return {
        each.name: _intensity(each.name, bench, measured, clocks, own if is_significant(own) else None)
        for each in bench.applications
    }


def own_interference(measured: Mapping[Setting, Measured], mhz: float | None) -> Estimate | None:
    """Return what the memory probe does to itself; `None` where it was not measured twice."""
    ratio = _ratio(measured.get(Setting(M, (M,), mhz)), measured.get(Setting(M, (C,), mhz)))
    return None if ratio is None else Estimate(ratio.value - 1, ratio.half)


def is_significant(own: Estimate | None) -> bool:
    """Return whether the memory probe slows itself beyond noise."""
    return own is not None and own.value > own.half


def _intensity(
    name: str, bench: Bench, measured: Mapping[Setting, Measured], clocks: Sequence[float | None], own: Estimate | None
) -> Intensity:
    mhz = clocks[0]
    suffers = _share(measured.get(Setting(name, (M,), mhz)), measured.get(Setting(name, (C,), mhz)), own)
    causes = _share(measured.get(Setting(M, (name,), mhz)), measured.get(Setting(M, (C,), mhz)), own)
    shares = (None if suffers is None else suffers.value, None if causes is None else causes.value)
    alone = [each for each in (measured.get(Setting(name, (), mhz)) for mhz in clocks) if each is not None]
    counted = [each.misses_per_instruction.mean for each in alone if each.misses_per_instruction is not None]
    if counted:
        misses = mean(counted)
        return Intensity(class_of(misses, bench.class_bounds), BY_MISSES, misses, *shares)
    if suffers is None or causes is None:
        return Intensity(None, None, None, *shares)
    share = max(suffers, causes)
    lower, upper = (class_of(share.value + half, bench.share_bounds) for half in (-share.half, share.half))
    doubtful = None if lower == upper else (lower, upper)
    return Intensity(class_of(share.value, bench.share_bounds), BY_SLOWDOWN, None, *shares, doubtful)


def _share(slow: Measured | None, fast: Measured | None, own: Estimate | None) -> Estimate | None:
    """Return (t(slow) / t(fast) - 1) / own."""
    ratio = _ratio(slow, fast)
    if ratio is None or own is None:
        return None
    share = (ratio.value - 1) / own.value
    return Estimate(share, hypot(ratio.half, share * own.half) / own.value)


def _ratio(over: Measured | None, under: Measured | None) -> Estimate | None:
    """Return a ratio of two mean times; `None` where one is missing or was taken only once."""
    halves = [None if each is None else relative_half(each.seconds) for each in (over, under)]
    if over is None or under is None or halves[0] is None or halves[1] is None:
        return None
    ratio = over.seconds.mean / under.seconds.mean
    return Estimate(ratio, ratio * hypot(halves[0], halves[1]))


def relative_half(spread: Spread) -> float | None:
    """Return half the width of a mean's interval, as a share of it; `None` of a single value."""
    return None if spread.high is None else (spread.high - spread.mean) / spread.mean


# From runs to what is known: columns, classes, degradation, savings, and the evidence for them.
#
#     seconds[a]    the mean time of a alone, one for each clock
#     watts[a]      its mean energy alone / its mean time alone: all that the meter sees, idle power included
#     idle_watts    the mean of idle power before and after; the one that is known where the other is not
#
# A setting of which any run failed has failed: the times of the runs that did not are those of a program that
# sometimes does something else. An application without a time at every clock is left out of the columns.
def measurements_of(  # noqa: PLR0913 - all that a file of measurements says
    bench: Bench,
    *,
    machine: MeasuredMachine,
    meters: Meters,
    frequencies_mhz: Sequence[float],
    samples: Iterable[Sample],
    idle_before: float | None = None,
    idle_after: float | None = None,
    taken: str = "",
    lpsched: str = "",
    absent: Iterable[str] = (),
) -> Measurements:
    """Return what the runs of a bench show; their order does not matter.

    Runs at other clocks than those that were set, or of applications that the bench no longer has, do not count. The
    other parameters are as in `Measurements`.
    """
    clocks: tuple[float | None, ...] = tuple(frequencies_mhz) or (None,)
    names = tuple(each.name for each in bench.applications)
    programs = {*names, *PROBES}
    counted = [each for each in samples if each.setting.mhz in clocks and programs.issuperset(each.setting.together)]
    measured, failed = evidence_of(counted, bench)
    known = {each.setting: each for each in measured}
    intensities = intensities_of(bench, known, clocks)
    classes = {name: each.memory_class for name, each in intensities.items() if each.memory_class is not None}
    idle = [watts for watts in (idle_before, idle_after) if watts is not None]
    idle_watts = mean(idle) if idle else None
    degradation = degradation_of(measured, names)
    return Measurements.model_construct(  # not validated: perhaps nothing could be measured
        name=bench.name,
        machine_type=bench.machine_type,
        machine=machine,
        meters=meters,
        applications=tuple(
            MeasuredApplication(each.name, each.command, each.count, *intensities[each.name][:5])
            for each in bench.applications
        ),
        seconds=_columns(names, clocks, {setting: each.seconds.mean for setting, each in known.items()}),
        watts=_columns(
            names,
            clocks,
            {setting: x.joules.mean / x.seconds.mean for setting, x in known.items() if x.joules is not None},
        ),
        frequencies_mhz=tuple(frequencies_mhz),
        idle_watts=idle_watts,
        idle_watts_before=idle_before,
        idle_watts_after=idle_after,
        degradation=class_degradation_of(degradation, classes),
        degradation_in_full=degradation,
        measured=measured,
        failed=failed,
        savings=savings_of(measured, idle_watts),
        additive=checks_of(measured, degradation),
        confidence=bench.repeats.confidence,
        taken=taken,
        lpsched=lpsched,
        description=bench.description,
        absent=tuple(absent),
    )


def evidence_of(samples: Iterable[Sample], bench: Bench) -> tuple[tuple[Measured, ...], tuple[Failed, ...]]:
    """Return each setting with its spreads, or with why it failed; fastest clock and fewest places first."""
    runs: dict[Setting, list[Sample]] = {}
    for sample in samples:
        runs.setdefault(sample.setting, []).append(sample)
    position = {each.name: number for number, each in enumerate(bench.applications)}
    last = len(position)

    def order(setting: Setting) -> tuple[object, ...]:
        places = [position.get(name, last) for name in (setting.application, *setting.beside)]
        return (-(setting.mhz or 0.0), setting.batch, len(setting.beside), places, setting.application, setting.beside)

    measured, failed = [], []
    for setting in sorted(runs, key=order):
        reason = _failure(runs[setting])
        if reason is None:
            measured.append(_measured(setting, runs[setting], bench.repeats.confidence))
        else:
            failed.append(Failed.of(setting, reason))
    return tuple(measured), tuple(failed)


def _failure(runs: Sequence[Sample]) -> str | None:
    """Return why a setting failed, and how often where some of its runs did not; `None` if none failed."""
    reasons = sorted(run.failure or "no time was taken" for run in runs if run.seconds is None)
    if not reasons:
        return None
    some = f"{len(reasons)} of {len(runs)} runs failed: " if len(reasons) < len(runs) else ""
    return some + "; ".join(dict.fromkeys(reasons))


def _measured(setting: Setting, runs: Sequence[Sample], confidence: float) -> Measured:
    def spread(values: Iterable[float | None]) -> Spread | None:
        given = [value for value in values if value is not None]
        return spread_of(given, confidence) if given else None

    seconds = spread(run.seconds for run in runs)
    assert seconds is not None, "a setting without times has failed"
    intensity = spread(run.misses / run.instructions for run in runs if run.misses is not None and run.instructions)
    return Measured.of(setting, seconds, spread(run.joules for run in runs), intensity)


def _columns(
    names: Iterable[str], clocks: Sequence[float | None], means: Mapping[Setting, float]
) -> FrozenDict[str, tuple[float, ...]]:
    """Return the numbers of each application alone by clock, of those that have one at every clock."""
    found = {name: [means.get(Setting(name, (), mhz)) for mhz in clocks] for name in names}
    whole = {name: tuple(each for each in row if each is not None) for name, row in found.items()}
    return FrozenDict({name: row for name, row in whole.items() if len(row) == len(clocks)})


# What running together saves: static power runs for as long as anything does, and is shared.
#
#     E_i, t_i   energy and time of application i alone         P_0   idle power
#     E, T       energy and time of all at once, until the last has ended
#
#     apart      sum_i E_i                        one after another
#     together   E                                measured
#     predicted  P_0 T + sum_i (E_i - P_0 t_i)    static power once, and each one's own energy as if alone
#
# The prediction leaves out what running together costs besides time, so it shows whether static power
# explains the saving. Source: section 8.5 and table 8.5 of the thesis.
def savings_of(measured: Iterable[Measured], idle_watts: float | None) -> tuple[Saving, ...]:
    """Return the saving of each batch whose energy, and that of its applications alone, is known."""
    known = {each.setting: (each.joules.mean, each.seconds.mean) for each in measured if each.joules is not None}
    found = []
    for setting, (joules, seconds) in known.items():
        alone = [known.get(Setting(name, (), setting.mhz)) for name in setting.together]
        apart = [each for each in alone if each is not None]
        if setting.batch and len(apart) == len(alone):
            own = fsum(energy for energy, _ in apart)
            predicted = None
            if idle_watts is not None:
                predicted = fsum([idle_watts * seconds, *(energy - idle_watts * time for energy, time in apart)])
            found.append(Saving(setting.together, own, joules, predicted, setting.mhz))
    return tuple(found)


# PD: how much longer an application takes for each core that runs another one.
#
#     d(a|b) = t(a|b) / t(a) - 1        at one clock, t the mean times beside b and alone
#     PD[a][b] = max(0, mean of d(a|b) over the clocks measured)
#
# Nothing runs faster because something else runs beside it: a mean below 0 is noise, and 0 in the table; the times that
# say so stay in the evidence. Classes x and y of memory intensity have the mean of the table over the pairs measured,
#
#     PD[x][y] = mean of PD[a][b] over a of class x, b of class y
class Range(NamedTuple):
    """The entries of the full table behind one entry by class."""

    own: str
    other: str
    pairs: int
    least: float
    most: float


def time_ratios(measured: Iterable[Measured]) -> dict[Setting, float]:
    """Return t(a|others) / t(a) of settings measured alone at that clock too, without batches and probes."""
    known = {each.setting: each.seconds.mean for each in measured}
    return {
        setting: seconds / alone
        for setting, seconds in known.items()
        if setting.beside and not setting.batch and not set(setting.together) & set(PROBES)
        if (alone := known.get(Setting(setting.application, (), setting.mhz))) is not None
    }


def raw_degradation(measured: Iterable[Measured]) -> dict[tuple[str, str], float]:
    """Return the mean of d(a|b) over clocks for each pair measured, whatever its sign."""
    found: dict[tuple[str, str], list[float]] = {}
    for setting, ratio in time_ratios(measured).items():
        if len(setting.beside) == 1:
            found.setdefault((setting.application, setting.beside[0]), []).append(ratio - 1)
    return {pair: mean(values) for pair, values in found.items()}


def degradation_of(measured: Iterable[Measured], names: Iterable[str]) -> Degradation:
    """Return PD in full, in the order of these names; a pair that was not measured is absent."""
    raw = raw_degradation(measured)
    order = tuple(names)
    rows = {a: FrozenDict({b: max(0.0, raw[a, b]) for b in order if (a, b) in raw}) for a in order}
    return FrozenDict({a: row for a, row in rows.items() if row})


def class_degradation_of(degradation: Degradation, classes: Mapping[str, str]) -> Degradation:
    """Return PD by class from PD in full; applications without a class are no part of it."""
    found = _by_class(degradation, classes)
    order = sorted(set(classes.values()), key=lambda name: (class_rank(name), name))
    rows = {x: FrozenDict({y: mean(found[x, y]) for y in order if (x, y) in found}) for x in order}
    return FrozenDict({x: row for x, row in rows.items() if row})


def widest(degradation: Degradation, classes: Mapping[str, str]) -> Range | None:
    """Return the entry by class whose pairs differ the most; `None` where each has one pair."""
    ranges = [
        Range(x, y, len(values), min(values), max(values))
        for (x, y), values in _by_class(degradation, classes).items()
        if len(values) > 1
    ]
    return max(ranges, key=lambda each: each.most - each.least, default=None)


def _by_class(degradation: Degradation, classes: Mapping[str, str]) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    for a, row in degradation.items():
        for b, value in row.items():
            if a in classes and b in classes:
                found.setdefault((classes[a], classes[b]), []).append(value)
    return found


# Is the time in a larger group what the pairs say? The additive model of a facility, held against groups.
#
#     measured   t(a|B) / t(a)               B the others on the node, two or more
#     predicted  1 + sum_{b in B} PD[a][b]   PD as it stands in the table, one for all clocks
#
# A facility slows every core by this sum. Where three or more share what two had to themselves (caches,
# channels to memory), it may be off; how far is reported, not corrected.
class AdditiveError(NamedTuple):
    """How far predictions are off, as shares of the measured times, without sign."""

    checks: int
    mean: float
    largest: float


def checks_of(measured: Iterable[Measured], degradation: Degradation) -> tuple[AdditiveCheck, ...]:
    """Return a check for each group of three and more whose pairs were all measured."""
    found = []
    for setting, ratio in time_ratios(measured).items():
        row = degradation.get(setting.application, FrozenDict({}))
        if len(setting.beside) > 1 and all(other in row for other in setting.beside):
            predicted = fsum([1.0, *(row[other] for other in setting.beside)])
            found.append(AdditiveCheck.of(setting, ratio, predicted))
    return tuple(found)


def additive_error(checks: Iterable[AdditiveCheck]) -> AdditiveError | None:
    """Return the mean and the largest error; `None` without checks."""
    errors = [abs(check.error) for check in checks]
    return AdditiveError(len(errors), fsum(errors) / len(errors), max(errors)) if errors else None
