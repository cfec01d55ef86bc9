"""From runs to what is known: columns, classes, degradation, savings, and the evidence for them.

    seconds[a]    the mean time of a alone, one for each clock
    watts[a]      its mean energy alone / its mean time alone: all that the meter sees, idle power included
    idle_watts    the mean of idle power before and after; the one that is known where the other is not

A setting of which any run failed has failed: the times of the runs that did not are those of a program that
sometimes does something else. An application without a time at every clock is left out of the columns.
"""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from lpsched.instance.bench import COMPANIONS
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.measurements import Failed, Measured, MeasuredApplication, Measurements
from lpsched.instance.setting import Setting
from lpsched.measure.additive import checks_of
from lpsched.measure.classes import intensities_of
from lpsched.measure.degradation import class_degradation_of, degradation_of
from lpsched.measure.spreads import spread_of
from lpsched.measure.static_power import savings_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lpsched.instance.bench import Bench
    from lpsched.instance.measurements import MeasuredMachine, Meters, Spread
    from lpsched.instance.setting import Sample


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
    """Return what the runs of a bench tell; in which order they were made does not matter.

    Parameters
    ----------
    frequencies_mhz
        The clocks that were set, fastest first.
    samples
        All runs; those at other clocks, or of applications that the bench no longer has, do not count.
    idle_before, idle_after
        Watts of the idle machine, where they were measured.
    taken, lpsched
        Date and time, and the version that measured.
    absent
        What was asked for and could not be measured, each in a sentence with its reason.
    """
    clocks: tuple[float | None, ...] = tuple(frequencies_mhz) or (None,)
    names = tuple(each.name for each in bench.applications)
    programs = {*names, *COMPANIONS}
    counted = [
        each for each in samples if each.setting.mhz in clocks and programs.issuperset(each.setting.together)
    ]
    measured, failed = evidence_of(counted, bench)
    known = {each.setting: each for each in measured}
    told = intensities_of(bench, known, clocks)
    classes = {name: each.memory_class for name, each in told.items() if each.memory_class is not None}
    idle = [watts for watts in (idle_before, idle_after) if watts is not None]
    idle_watts = mean(idle) if idle else None
    degradation = degradation_of(measured, names)
    return Measurements(
        name=bench.name,
        machine_type=bench.machine_type,
        machine=machine,
        meters=meters,
        applications=tuple(
            MeasuredApplication(
                name=each.name,
                command=each.command,
                count=each.count,
                memory_class=told[each.name].memory_class,
                classified_by=told[each.name].classified_by,
                intensity=told[each.name].intensity,
                suffers=told[each.name].suffers,
                causes=told[each.name].causes,
            )
            for each in bench.applications
        ),
        seconds=_columns(names, clocks, {setting: each.seconds.mean for setting, each in known.items()}),
        watts=_columns(names, clocks, _watts(known)),
        frequencies_mhz=tuple(frequencies_mhz),
        idle_watts=idle_watts,
        idle_watts_before=idle_before,
        idle_watts_after=idle_after,
        degradation=degradation,
        class_degradation=class_degradation_of(degradation, classes),
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
        return (
            -(setting.mhz or 0.0),
            setting.batch,
            len(setting.beside),
            places,
            setting.application,
            setting.beside,
        )

    measured, failed = [], []
    for setting in sorted(runs, key=order):
        reason = _failure(runs[setting])
        if reason is None:
            measured.append(_measured(setting, runs[setting], bench.repeats.confidence))
        else:
            failed.append(Failed(setting, reason))
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
        told = [value for value in values if value is not None]
        return spread_of(told, confidence) if told else None

    seconds = spread(run.seconds for run in runs)
    assert seconds is not None, "a setting without times has failed"
    intensity = spread(
        run.misses / run.instructions for run in runs if run.misses is not None and run.instructions
    )
    return Measured(setting, seconds, spread(run.joules for run in runs), intensity)


def _watts(known: Mapping[Setting, Measured]) -> dict[Setting, float]:
    return {
        setting: each.joules.mean / each.seconds.mean
        for setting, each in known.items()
        if each.joules is not None
    }


def _columns(
    names: Iterable[str], clocks: Sequence[float | None], means: Mapping[Setting, float]
) -> FrozenDict[str, tuple[float, ...]]:
    """Return the numbers of each application alone by clock, of those that have one at every clock."""
    found = {name: [means.get(Setting(name, (), mhz)) for mhz in clocks] for name in names}
    whole = {name: tuple(each for each in row if each is not None) for name, row in found.items()}
    return FrozenDict({name: row for name, row in whole.items() if len(row) == len(clocks)})
