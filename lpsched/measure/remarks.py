"""Warnings about measurements, for stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.measure.degradation import additive_error, raw_degradation, widest
from lpsched.measure.fields import COMPANIONS
from lpsched.measure.summary import intensities_of, is_narrow, is_told, own_interference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lpsched.measure.bench import Bench
    from lpsched.measure.evidence import Measured, Setting
    from lpsched.measure.measurements import Measurements

IDLE_DIFFERENCE: Final = 0.05  # of idle power before and after, as a share of the larger
CLASS_RANGE: Final = 0.1  # of degradations within a pair of classes
MOST_NAMED: Final = 4  # in one sentence
MOST_REASONS: Final = 8  # of failures


def remarks_of(bench: Bench, measurements: Measurements) -> tuple[str, ...]:
    """Return every remark, the gravest kind first."""
    kinds: tuple[Callable[[Bench, Measurements], Iterator[str]], ...] = (
        _failures,
        _missing_columns,
        _not_narrow,
        _idle_power,
        _suspect,
        _negative,
        _classes,
        _class_range,
        _additive,
    )
    return tuple(remark for kind in kinds for remark in kind(bench, measurements))


def _failures(_: Bench, measurements: Measurements) -> Iterator[str]:
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


def _with_width(measured: Sequence[Measured]) -> list[str]:
    """Name settings, those known worst first."""
    widths = {each.setting: _width(each) for each in measured}
    order = sorted(widths, key=lambda setting: (-widths[setting], str(setting)))
    return [f"{each} ({_percent(widths[each])})" for each in order]


def _width(measured: Measured) -> float:
    spread = measured.seconds
    return float("inf") if spread.high is None else (spread.high - spread.mean) / spread.mean


def _percent(width: float) -> str:
    return "one run" if width == float("inf") else f"+- {100 * width:.3g} %"


def _idle_power(_: Bench, measurements: Measurements) -> Iterator[str]:
    before, after = measurements.idle_watts_before, measurements.idle_watts_after
    if before is None or after is None:
        return
    if abs(before - after) > IDLE_DIFFERENCE * max(before, after):
        yield (
            f"idle power was {before:.4g} W before and {after:.4g} W after the runs; the machine was not at "
            "rest, or something else drew power: measure again when it is quiet"
        )


def _suspect(_: Bench, measurements: Measurements) -> Iterator[str]:
    yield from measurements.remarks()


def _negative(_: Bench, measurements: Measurements) -> Iterator[str]:
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


def _class_range(_: Bench, measurements: Measurements) -> Iterator[str]:
    classes = {each.name: each.memory_class for each in measurements.applications if each.memory_class is not None}
    found = widest(measurements.degradation_in_full, classes)
    if found is not None and found.most - found.least > CLASS_RANGE:
        yield (
            f"degradation by class hides differences: of class {found.own} beside {found.other} the "
            f"{found.pairs} pairs range from {found.least:.3g} to {found.most:.3g}; "
            "degradation in full keeps them apart"
        )


def _additive(_: Bench, measurements: Measurements) -> Iterator[str]:
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
