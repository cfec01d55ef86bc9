"""The page of measurements: a summary in sentences, figures and tables."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from lpsched.measure.evidence import Measured, Saving, Setting
from lpsched.report import measured_tables as tables
from lpsched.report.figures import degradation
from lpsched.report.figures.measured import drawn_applications, has_clocks, measure_figure, measure_tooltips
from lpsched.report.html.page import PageFigure, Paragraph, Part, Section, Table, from_terminal, page
from lpsched.report.tables import FoldingTable
from lpsched.units import counted

if TYPE_CHECKING:
    from lpsched.measure.measurements import Measurements


# Measurements in a few sentences: what was measured, which slows most, what saves most, what is absent.
#
# A slowdown is clear of noise where, at some clock, the confidence interval of the time beside the other lies
# above that of the time alone; a saving, where that of the energy together lies below the sum of the lower ends
# alone. Only what is clear is put first. Without settings in the file noise is not known, and its numbers count.
def measure_summary(measurements: Measurements) -> str:
    """Return the answer."""
    clocks, applications = len(measurements.frequencies_mhz), counted(len(measurements.seconds), "application")
    at = f" at {clocks} clocks" if clocks > 1 else ""
    what = "Times and powers" if measurements.watts else "Times"
    sentences = [f"{what} of {applications}{at} on {measurements.machine_type}."]
    found = {each.setting: each for each in measurements.measured}
    sentences += _slowdown(measurements, found)
    sentences += _saving(measurements, found)
    sentences += [] if measurements.meters.energy else ["No energy was measured."]
    sentences += [] if measurements.meters.counters else ["Cache misses were not counted."]
    return " ".join(sentences)


def _slowdown(measurements: Measurements, found: dict[Setting, Measured]) -> list[str]:
    pairs = [(share, a, b) for a, row in measurements.degradation_in_full.items() for b, share in row.items()]
    clocks = measurements.frequencies_mhz or (None,)
    clear = [pair for pair in pairs if pair[0] > 0 and (not found or any(_slower(found, *pair[1:], c) for c in clocks))]
    if not pairs:
        return []
    if not clear:
        return ["No slowdown beside another is clear of noise." if found else "None takes longer beside another."]
    share, name, other = max(clear, key=lambda pair: pair[0])
    beside = "a copy of it" if name == other else other
    return [f"{name} slows most: it takes {tables.share_text(share)} longer for each core that runs {beside}."]


def _saving(measurements: Measurements, found: dict[Setting, Measured]) -> list[str]:
    clear = [each for each in measurements.savings if each.share_saved > 0 and (not found or _less(found, each))]
    if clear:
        best = max(clear, key=lambda saving: saving.share_saved)
        share = tables.share_text(best.share_saved)
        return [f"{tables.in_counts(best.together)} together save the most energy: {share}."]
    return ["No saving by running together is clear of noise."] if measurements.savings else []


def _slower(found: dict[Setting, Measured], name: str, other: str, mhz: float | None) -> bool:
    """Whether the time beside another is clearly longer."""
    alone, pair = found.get(Setting(name, (), mhz)), found.get(Setting(name, (other,), mhz))
    if alone is None or pair is None:
        return False
    high, low = alone.seconds.high, pair.seconds.low
    return high is not None and low is not None and low > high


def _less(found: dict[Setting, Measured], saving: Saving) -> bool:
    """Whether the energy together is clearly less."""
    alone = [found.get(Setting(name, (), saving.mhz)) for name in saving.together]
    lows = [each.joules.low for each in alone if each is not None and each.joules is not None]
    known = [low for low in lows if low is not None]
    batch = found.get(Setting(saving.together[0], saving.together[1:], saving.mhz, batch=True))
    high = None if batch is None or batch.joules is None else batch.joules.high
    return high is not None and high < sum(known)  # what is not known only adds to it


# The page of measurements: what applications take, which slows which, what running together saves, how sure.
MOST_ROWS: Final = 250  # of a table: the page stays small enough for mail
MOST_DRAWN: Final = 6  # applications, each in a figure of its own
MOST_MATRIX: Final = 40  # applications of a degradation matrix as a table
ENERGY: Final = (
    "Energy is that of everything the meter measures, co-running applications included, from the start of the "
    "application until it has ended."
)
LONGER: Final = (
    "How much longer the application of a row takes for each core that runs the one of the column, "
    "as a share of its time alone; between classes, the mean over their pairs."
)
MODEL: Final = (
    "A group is predicted by adding, for each core that runs another application, the degradation measured "
    "with that one in pairs. Times are multiples of the time alone; a negative error means that the group "
    "was slower."
)
MEANINGS: Final = {
    "seconds": "From the start of the application until it ended.",
    "watts": "Mean power of all that the meter sees while the application runs alone, idle power included.",
    "misses per instruction": "Last-level cache misses of the application alone, by its instructions.",
    "class": "I is calm; higher classes use memory more intensively.",
    "suffers": "Slowdown beside the memory probe, as a share of what two memory probes do to each other.",
    "causes": "Slowdown of the memory probe beside the application, as the same share.",
    "apart, Wh": "Energy one after another.",
    "together, Wh": "Energy all at once, until the last has ended.",
}
SAVED: Final = (
    "Static power is paid for as long as anything runs: one after another for the sum of the times, together "
    "for the longest only. The prediction takes idle power for as long as the group runs, and adds what each "
    "application takes above it when alone."
)


def measure_page(measurements: Measurements) -> str:
    """Return the page of measurements as HTML."""
    times = _cut(tables.times_table(measurements), tables.classes_table(measurements))
    sections = [Section("Times, powers and memory intensity", times)]
    sections += _together(measurements)
    sections += _degradation(measurements)
    sections += _savings(measurements)
    if measurements.additive:
        words = Paragraph(f"{tables.additive_in_words(measurements)} {MODEL}")
        sections.append(Section("How well pairs predict groups", (words, *_cut(tables.additive_table(measurements)))))
    if measurements.failed or measurements.absent:
        notes = (Paragraph(_sentence(words)) for words in measurements.absent)
        failures = _cut(tables.failures_table(measurements))
        sections.append(Section("What could not be measured", (*notes, *failures)))
    sections.append(_how(measurements))
    if measurements.measured:
        sections.append(Section("Every setting", _cut(tables.settings_table(measurements))))
    headers = {name for each in sections for part in each.parts if isinstance(part, Table) for name in part.headers}
    half = f"Half the width of the {tables.share_text(measurements.confidence)} confidence interval of the mean"
    meanings = [("±", f"{half}, by Student's distribution.")] if measurements.measured else []
    meanings += [(name, meaning) for name, meaning in MEANINGS.items() if name in headers]
    sections.append(Section("What the columns mean", (Table(("column", "meaning"), tuple(meanings)),)))
    footer = f"{measurements.name}: measured by lpsched {measurements.lpsched}." if measurements.lpsched else ""
    title = ": ".join(dict.fromkeys((measurements.name, measurements.machine_type)))
    return page(title, measure_summary(measurements), sections, footer=footer)


def _together(measurements: Measurements) -> list[Section]:
    """Show each application alone and together, in a figure of its own."""
    drawn = drawn_applications(measurements, MOST_DRAWN)
    if not drawn:
        return []
    notes = [
        f"{'Marks' if has_clocks(measurements) else 'Bars'} are means.",
        f"Whiskers are {tables.share_text(measurements.confidence)} confidence intervals of the mean;",
        "where several settings are joined, they go from the lowest end of these to the highest.",
    ]
    notes.append(ENERGY if measurements.meters.energy else "No energy was measured, so none is drawn.")
    if not measurements.meters.counters:
        notes.append("Cache misses were not counted, so memory intensity is not drawn.")
    if len(measurements.applications) > len(drawn):
        notes.append(f"Drawn are the {len(drawn)} applications that slow most beside others; the tables have all.")
    each = "along the clock" if has_clocks(measurements) else "a bar for each kind of co-running applications"
    along = f"alone and together: what was measured of memory intensity, time and energy, {each}"
    figures = [
        PageFigure(
            measure_figure(measurements, name), f"{name} {along}.", tooltips=measure_tooltips(measurements, name)
        )
        for name in (each.name for each in drawn)
    ]
    return [Section("Alone and together", (Paragraph(" ".join(notes)), *figures))]


def _degradation(measurements: Measurements) -> list[Section]:
    if not measurements.degradation_in_full and not measurements.degradation:
        return []
    parts: list[Part] = [Paragraph(LONGER)]
    shown = degradation.mapped(measurements)
    if shown:
        every = len(degradation.mapped(measurements, None))
        notes = ["Hatched pairs were not measured."] if degradation.has_gaps(measurements) else []
        notes += [f"Drawn are {len(shown):,} of {every:,} applications."] if every > len(shown) else []
        words = "How much longer each application takes beside each other one, in percent."
        drawn, tooltips = degradation.degradation_map(measurements), degradation.degradation_tooltips(measurements)
        parts.append(PageFigure(drawn, words, " ".join(notes), tooltips=tooltips))
    full = tables.degradation_table(measurements)
    matrices = [full] if len(full.headers) <= MOST_MATRIX + 1 else []
    parts += _cut(*matrices, tables.class_degradation_table(measurements))
    return [Section("Slowdown beside others", tuple(parts))]


def _savings(measurements: Measurements) -> list[Section]:
    drawn = degradation.drawn_savings(measurements)
    if not drawn:
        return []
    static = [degradation.static_joules(measurements, each) for each in drawn]
    left = len(measurements.savings) - len(drawn)
    caption = f"Drawn are those that save most and least; the table has {left:,} more." if left else ""
    words = "Energy of groups of applications one after another and all at once."
    tooltips = degradation.savings_tooltips(drawn, static)
    figure = PageFigure(degradation.savings_figure(drawn, static), words, caption, tooltips=tooltips)
    numbers = _cut(tables.savings_table(measurements))
    return [Section("What running together saves", (Paragraph(SAVED), figure, *numbers))]


def _how(measurements: Measurements) -> Section:
    """Show machine, meters and commands."""
    about = (Paragraph(measurements.description),) if measurements.description else ()
    commands = tuple((each.name, shlex.join(each.command)) for each in measurements.applications if each.command)
    programs = FoldingTable(("application", "command"), commands, has_numbers=False)
    return Section("How it was measured", (*about, *_cut(tables.meters_table(measurements), programs)))


def _sentence(words: str) -> str:
    """Return words as a sentence.

    >>> _sentence("no energy: there is no meter"), _sentence("")
    ('No energy: there is no meter.', '')
    """
    return f"{words[:1].upper()}{words[1:].removesuffix('.')}." if words else ""


def _cut(*several: FoldingTable) -> tuple[Part, ...]:
    """Return tables with as many rows as a page bears; nothing of those that have none."""
    return tuple(part for each in several for part in from_terminal(each.shortened(MOST_ROWS)))
