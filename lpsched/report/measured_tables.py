"""Measurements in tables: times and powers, slowdowns, savings, meters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from lpsched.measure.evidence import Saving, Setting, Spread
from lpsched.measure.files import as_dict
from lpsched.model.results import without_empty
from lpsched.report.tables import FoldingTable, cut_table, fitted, hash_table, line, table
from lpsched.units import DIGITS, SECONDS_PER_HOUR, counted, number, power_text

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from lpsched.measure.measurements import Degradation, Measurements


# How measured numbers, settings and groups are written, in tables and figures.
NOTHING: Final = "-"
SHARE_DIGITS: Final = 3


def in_counts(names: Sequence[str]) -> str:
    """Return names, each once with how often it is there.

    >>> in_counts(("canneal", "bodytrack", "canneal"))
    'bodytrack + 2 canneal'
    """
    counts = Counter(sorted(names))
    return " + ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())


def in_words(setting: Setting) -> str:
    """Return a setting in words, equal corunners counted.

    >>> from lpsched.measure.evidence import Setting
    >>> in_words(Setting("a", ("b", "c", "c"), 1700.0)), in_words(Setting("a"))
    ('a beside b + 2 c at 1,700 MHz', 'a alone')
    """
    clock = at_clock(setting.mhz)
    if setting.batch:
        return f"{in_counts(setting.together)}{clock}, until all have ended"
    beside = f"beside {in_counts(setting.beside)}" if setting.beside else "alone"
    return f"{setting.application} {beside}{clock}"


def at_clock(mhz: float | None) -> str:
    """Return the clock as the end of a phrase; nothing where none was set."""
    return "" if mhz is None else f" at {number(mhz)} MHz"


def share_text(share: float | None) -> str:
    """Write a measured share in percent, with three digits.

    >>> share_text(0.123456), share_text(-0.02), share_text(-1e-17), share_text(None)
    ('12.3 %', '-2 %', '0 %', '-')
    """
    if share is None:
        return NOTHING
    return f"{number(round(100 * share, SHARE_DIGITS) + 0.0, SHARE_DIGITS)} %"  # no sign before a zero


def with_half(spread: Spread | None, digits: int = DIGITS, size: float = 1.0) -> str:
    """Write a mean with the half width of its confidence interval, in a unit of that size.

    >>> from lpsched.measure.evidence import Spread
    >>> with_half(Spread(12.0, 3, 0.5, 10.75, 13.25)), with_half(Spread(12.0, 1)), with_half(None)
    ('12 ± 1.2', '12', '-')
    """
    if spread is None:
        return NOTHING
    mean = number(spread.mean / size, digits)
    if spread.low is None or spread.high is None:
        return mean
    return f"{mean} ± {number((spread.high - spread.low) / 2 / size, 2)}"


# Measurements in rows of texts, for tables in a terminal and on a page.
#
# A number that was not measured is a dash; a column of dashes is left out. A mean has the half width of its confidence
# interval, but for a single run.
SUFFERS: Final = "takes longer beside"  # the corner of a degradation matrix: rows are slowed down


def times_table(measurements: Measurements) -> FoldingTable:
    """Return the columns ETC and APC: a row for each application, and each clock where there are some."""
    found = {each.setting: each for each in measurements.measured}
    clocks = measurements.frequencies_mhz or (None,)
    rows = []
    for application in measurements.applications:
        name = application.name
        for place, mhz in enumerate(clocks):
            measured = found.get(Setting(name, (), mhz))
            seconds, watts = measurements.seconds.get(name), measurements.watts.get(name)
            runs, took = NOTHING, number(seconds[place] if seconds else None, DIGITS)
            if measured is not None:
                runs, took = f"{measured.seconds.count:,}", with_half(measured.seconds)
            about = name, application.memory_class or NOTHING, number(mhz)
            rows.append((*about, runs, took, number(watts[place] if watts else None)))
    return _full(("application", "class", "MHz", "runs", "seconds", "watts"), rows, kept=("seconds",))


def classes_table(measurements: Measurements) -> FoldingTable:
    """Return the measured memory intensity of each application; no rows where nothing was measured."""
    rows = []
    for each in measurements.applications:
        words = each.name, each.memory_class or NOTHING, each.classified_by or NOTHING
        rows.append((*words, number(each.intensity, 3), share_text(each.suffers), share_text(each.causes)))
    headers = ("application", "class", "classified by", "misses per instruction", "suffers", "causes")
    made = _full(headers, rows)
    return FoldingTable(made.headers, ()) if set(made.headers) <= {"application", "class"} else made


def degradation_table(measurements: Measurements) -> FoldingTable:
    """Return how much longer each application takes for each core that runs another one."""
    return _matrix(measurements.degradation_in_full, [each.name for each in measurements.applications], "")


def class_degradation_table(measurements: Measurements) -> FoldingTable:
    """Return the same by memory class."""
    return _matrix(measurements.degradation, (), "class ")


def _matrix(degradation: Degradation, first: Iterable[str], word: str) -> FoldingTable:
    """Return a matrix; rows and columns without any number are left out."""
    beside = {name for row in degradation.values() for name in row}
    order = list(dict.fromkeys((*first, *degradation, *sorted(beside))))
    suffering, running = [n for n in order if degradation.get(n)], [n for n in order if n in beside]
    rows = tuple(
        (f"{word}{name}", *(share_text(degradation[name].get(other)) for other in running)) for name in suffering
    )
    return FoldingTable((SUFFERS, *(f"{word}{name}" for name in running)), rows)


def savings_table(measurements: Measurements) -> FoldingTable:
    """Return the energy of applications one after another and all at once, by falling saving."""
    rows = [
        (
            f"{in_counts(each.together)}{at_clock(each.mhz)}",
            *map(_watt_hours, (each.joules_apart, each.joules_together, each.joules_saved)),
            share_text(each.share_saved),
            _watt_hours(each.joules_predicted),
            share_text(prediction_error(each)),
        )
        for each in sorted(measurements.savings, key=lambda saving: -saving.share_saved)
    ]
    headers = ("energy of", "apart, Wh", "together, Wh", "saved, Wh", "saved", "predicted, Wh", "error")
    return _full(headers, rows)


def _watt_hours(joules: float | None) -> str:
    return number(None if joules is None else joules / SECONDS_PER_HOUR)


def prediction_error(saving: Saving) -> float | None:
    """Return the error of the predicted energy, as a share of what was measured; positive: too much."""
    if saving.joules_predicted is None or not saving.joules_together:
        return None
    return saving.joules_predicted / saving.joules_together - 1


def additive_table(measurements: Measurements) -> FoldingTable:
    """Return measured times of larger groups beside sums of pairs, as multiples of those alone; largest error first."""
    rows = [
        (in_words(each.setting), number(each.measured), number(each.predicted), share_text(each.error))
        for each in sorted(measurements.additive, key=lambda check: -abs(check.error))
    ]
    return FoldingTable(("times the time alone", "measured", "predicted", "error"), tuple(rows))


def additive_in_words(measurements: Measurements) -> str:
    """Return the errors of the additive model in a sentence; nothing where it was not checked."""
    errors = [abs(each.error) for each in measurements.additive]
    if not errors:
        return ""
    mean, most = share_text(fmean(errors)), share_text(max(errors))
    return (
        f"Sums of pairs miss the times of {counted(len(errors), 'larger group')} by {mean} on average, {most} at most."
    )


def failures_table(measurements: Measurements) -> FoldingTable:
    """Return what could not be measured."""
    rows = tuple((in_words(each.setting), each.reason) for each in measurements.failed)
    return FoldingTable(("not measured", "because"), rows, has_numbers=False)


def meters_table(measurements: Measurements) -> FoldingTable:
    """Return what was measured, and with what."""
    machine, meters = measurements.machine, measurements.meters
    energy = meters.energy
    if energy is not None and meters.energy_covers:
        energy = f"{energy} ({meters.energy_covers})"
    clocks = ", ".join(number(mhz) for mhz in measurements.frequencies_mhz)
    rows = [
        ("machine type", measurements.machine_type),
        ("processor", machine.processor),
        ("system", machine.system),
        ("places", _places(machine.cores)),
        ("time", meters.time),
        ("energy", energy or "not measured"),
        ("cache misses", meters.counters or "not counted"),
        ("clocks", f"{clocks} MHz, {meters.frequencies or 'set'}" if clocks else "the machine's own"),
    ]
    if measurements.idle_watts is not None:
        rows.append(("idle power", _idle(measurements)))
    rows.append(("taken", measurements.taken))
    return FoldingTable(("what", "how"), tuple(row for row in rows if row[1]), has_numbers=False)


def settings_table(measurements: Measurements) -> FoldingTable:
    """Return every setting that was measured."""
    rows = []
    for each in measurements.measured:
        energy = with_half(each.joules, size=SECONDS_PER_HOUR)
        numbers = with_half(each.seconds), energy, with_half(each.misses_per_instruction)
        rows.append((in_words(each.setting), f"{each.seconds.count:,}", *numbers))
    return _full(("setting", "runs", "seconds", "Wh", "misses per instruction"), rows)


def _full(headers: Sequence[str], rows: Sequence[Sequence[str]], kept: Sequence[str] = ()) -> FoldingTable:
    names, full = without_empty(headers, rows, kept)
    return FoldingTable(names, tuple(full))


def _idle(measurements: Measurements) -> str:
    before, after = measurements.idle_watts_before, measurements.idle_watts_after
    mean = power_text(measurements.idle_watts)
    if before is None or after is None:
        return mean
    return f"{mean}: {power_text(before)} before all runs, {power_text(after)} after them"


def _places(cores: Sequence[Sequence[int]]) -> str:
    """Return where applications ran: how many places, and the logical processors of each, where known.

    >>> _places(((0, 4), (1, 5))), _places(((), ()))
    ('2 (processors 0+4, 1+5)', '2')
    """
    if not any(cores):
        return f"{len(cores)}" if cores else ""
    return f"{len(cores)} (processors {', '.join('+'.join(map(str, place)) for place in cores)})"


# Measurements in the terminal: times and powers, degradation, savings, how well pairs predict, meters.
MOST_GROUPS: Final = 12  # applications that ran together
MOST_APPLICATIONS: Final = 16  # of a degradation matrix; more do not fit a screen
WORDS: Final = {"class", "classified by"}  # headers of columns without numbers, after the first
ABOVE: Final = "Slowdown, as a share of the time alone, for each core that runs another application:"


def measurements_shown(measurements: Measurements) -> tuple[dict[str, Any], list[ConsoleRenderable]]:
    """Return measurements as JSON and in tables."""
    found = as_dict(measurements)
    measured_by = found.pop("lpsched", None)  # the output has a key of that name for the version that printed it
    content = {key: value for key, value in found.items() if key not in ("format", "name")}
    return content | {"measured_by_lpsched": measured_by}, [*measure_tables(measurements), hash_table(measurements)]


def measure_tables(measurements: Measurements) -> list[ConsoleRenderable]:
    """Return a headline and tables of a type of machine; what was not measured has no table."""
    return [
        fitted(_headline(measurements)),
        *_listed(times_table(measurements)),
        *_listed(classes_table(measurements)),
        *_degradation(measurements),
        *savings_table(measurements).shortened(MOST_GROUPS),
        *additive_table(measurements).shortened(MOST_GROUPS),
        *([line(additive_in_words(measurements))] if measurements.additive else []),
        *_listed(failures_table(measurements)),
        table(("", ""), meters_table(measurements).rows),
    ]


def _headline(measurements: Measurements) -> str:
    applications = counted(len(measurements.seconds), "application")
    what = f"times and powers of {applications}" if measurements.watts else f"times of {applications}, no energy"
    failed = f"; {counted(len(measurements.failed), 'setting')} failed" if measurements.failed else ""
    return f"{measurements.machine_type}: {what}{failed}."


def _listed(rows: FoldingTable) -> list[ConsoleRenderable]:
    """Return a table of as many rows as a screen or two take."""
    if not rows.rows:
        return []
    numbers = [place for place, header in enumerate(rows.headers) if place and header not in WORDS]
    return [*cut_table(rows.headers, rows.rows, numbers=numbers if rows.has_numbers else ())]


def _degradation(measurements: Measurements) -> list[ConsoleRenderable]:
    """Return both matrices; the one in full only of few applications."""
    full = degradation_table(measurements)
    tables = full.shortened()
    if full.rows and max(len(full.rows), len(full.headers) - 1) > MOST_APPLICATIONS:
        pairs = sum(len(row) for row in measurements.degradation_in_full.values())
        tables = [line(f"slowdowns of {counted(pairs, 'pair')} (--json and --report have all)")]
    tables += class_degradation_table(measurements).shortened()
    return [line(ABOVE), *tables] if tables else []
