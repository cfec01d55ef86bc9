"""Figures of comparisons: schedulers of a validation against the bound, and the groups of a study."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.model.results import short_unit
from lpsched.report.figures import style
from lpsched.report.figures.style import Tooltip
from lpsched.report.studies import in_words, plainly, shown, shown_half, titled, titled_axis, word
from lpsched.studies.report import GAP, Group, StudyReport
from lpsched.units import gap_text, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.model.provenance import Estimate
    from lpsched.model.results import Comparison


# Schedulers against the bound: a mark for what each achieves, and a line to the bound.
#
# The longer the line, the further is a schedule from the bound; the words beside it say how far. A schedule
# that breaks a rule has no mark but the word.
MOST_ROWS: Final = 50
ROW_INCHES, AROUND_INCHES = 0.24, 1.15
ROOM, WORDS_ROOM = 0.04, 0.34  # of the width, left and right of all marks
MOST_TICKS: Final = 6
UNITS: Final = {"seconds": style.SECONDS, "joules": style.ENERGIES}  # of which one fits the numbers


@dataclass(frozen=True, slots=True)
class Verdict:
    """One scheduler, in a unit of the axis. It has no value where it breaks a rule or found nothing."""

    name: str
    value: float | None
    bound: float | None
    words: str  # what it achieves and its gap, or why there is no value
    bound_words: str = ""  # rounded to the side on which it stays true


def verdicts_of(result: Comparison[Any]) -> tuple[Verdict, ...]:
    """Return what a validation says of each scheduler: of rules that are broken, the first and how many more."""
    rows, size = [], _unit(result).size
    for each in result.entries:
        (value, bound, gap), codes = result.score(each), [rule.code for rule in each.violations]
        failure, more = getattr(each, "failure", None), f" and {len(codes) - 1:,} more" if len(codes) > 1 else ""
        words = f"invalid: {codes[0]}{more}" if codes else "no answer" + (f": {failure}" if failure else "")
        if value is not None:
            words = result.amount_text(value) + result.unit_text + ("" if gap is None else f", gap {gap_text(gap)}")
        limit = "" if bound is None else result.amount_text(bound, upper=result.is_upper) + result.unit_text
        scaled = tuple(None if x is None else x / size for x in (value, bound))
        rows.append(Verdict(each.name, scaled[0], scaled[1], words, limit))
    return tuple(rows)


def _unit(result: Comparison[Any]) -> style.Unit:
    name = result.quantity.partition(", ")[2]
    several = [abs(x or 0.0) for entry in result.entries for x in result.score(entry)[:2]]
    units = UNITS.get(name, (style.Unit(short_unit(name), 1.0),))
    return style.fitting(units, max([*several, result.common_bound or 0.0]))


def validation_figure(result: Comparison[Any]) -> Figure:
    """Draw what each scheduler achieves, and how far it is from the bound."""
    verdicts, unit = verdicts_of(result), _unit(result)
    shown, bound = verdicts[:MOST_ROWS], result.common_bound
    with style.one_panel(AROUND_INCHES + ROW_INCHES * max(2, len(shown))) as (figure, axes):
        common = None if bound is None else bound / unit.size
        _set_ends(axes, common, shown)
        _draw_bounds(axes, common, shown)
        for row, verdict in enumerate(shown):
            _draw_row(axes, row, verdict)
        axes.set_yticks(range(len(shown)), [style.lettered(each.name) for each in shown])
        axes.set_ylim(max(1, len(shown)) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        left = len(verdicts) - len(shown)
        label = ", ".join(filter(None, (result.quantity.partition(", ")[0], unit.name)))
        axes.set_xlabel(style.lettered(label, 60) + (f"; {left:,} more are not drawn" if left else ""))
        style.legend_above(figure, axes)
        return figure


def validation_tooltips(result: Comparison[Any]) -> tuple[Tooltip, ...]:
    """Return the text at each mark."""
    return tuple(
        Tooltip(each.value, row, f"{each.name}: {each.words}; bound {each.bound_words}")
        for row, each in enumerate(verdicts_of(result)[:MOST_ROWS])
        if each.value is not None
    )


def _set_ends(axes: Axes, bound: float | None, rows: Sequence[Verdict]) -> None:
    """Let the axis hold all marks, with room for words on the right; logarithmic where marks are far."""
    known = [x for each in rows for x in (each.value, each.bound) if each.value is not None and x is not None]
    known += [] if bound is None else [bound]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if low > 0.0 and high > style.FAR * low:
        axes.set_xscale("log")
        span = high / low
        axes.set_xlim(low / span**ROOM, high * span ** (WORDS_ROOM / (1 - WORDS_ROOM)))
    else:
        span = high - low or abs(high) or 1.0
        axes.set_xlim(low - ROOM * span, high + span * WORDS_ROOM / (1 - WORDS_ROOM))
        axes.locator_params(axis="x", nbins=MOST_TICKS)
        style.write_numbers(axes.xaxis)
    style.draw_grid(axes, "x")


def _draw_bounds(axes: Axes, bound: float | None, rows: Sequence[Verdict]) -> None:
    """Draw the bound as a line through all rows, or each row's own."""
    label = "bound, proved"
    if bound is not None:
        axes.axvline(bound, color=style.BLUE, linewidth=style.CURVE_LINE, zorder=2, label=label)
        return
    own = [(each.bound, row) for row, each in enumerate(rows) if each.bound is not None and each.value is not None]
    look: style.Look = {"ms": 11, "mew": style.CURVE_LINE, "zorder": 2, "label": f"{label}, at the same energy"}
    style.draw_dots(axes, own, "|", style.BLUE, **look)


def _draw_row(axes: Axes, row: int, verdict: Verdict) -> None:
    """Draw one scheduler: its mark, its distance, and the words."""
    axes.axhline(row, color=style.RULE, linewidth=0.4, zorder=0)
    if verdict.value is None:
        place, colour = axes.get_xlim()[0] if verdict.bound is None else verdict.bound, style.RED
    else:
        if verdict.bound is not None:
            axes.plot([verdict.bound, verdict.value], [row, row], color=style.VERMILION, linewidth=2.0, zorder=1)
        look: style.Look = {"ms": 5, "mec": style.INK, "mew": 0.5, "zorder": 3, "label": "what a schedule achieves"}
        style.draw_dots(axes, [(verdict.value, row)], "o", style.VERMILION, **look)
        place, colour = max(verdict.value, verdict.bound or verdict.value), style.INK
    words = style.lettered(verdict.words, 60)
    style.write_beside(axes, words, (place, row), 7, color=colour, bbox=style.paper(0.15), zorder=4)


# The figure of a study: the first quantity of its report, along a parameter or group by group.
#
# Where a parameter takes three numbers or more, a line for each of the other groups leads along it: means, with
# the 95 % confidence interval about them. Else every group is a row: a thin line from the least run to the
# most, a bar over the middle half of them, a tick at the median, a diamond at the mean, and the runs themselves
# as dots.
FEWEST: Final = 3  # numbers of a parameter that make a line
MOST_LINES: Final = 8
MOST_GROUPS: Final = 40
MOST_DOTS: Final = 300  # of one row
FAR_GROUPS: Final = 300.0  # times the least; then the axis is logarithmic
LONGEST: Final = 80  # letters of a group's name
LINE_INCHES, GROUP_INCHES, AROUND_GROUPS_INCHES = 3.6, 0.32, 1.0
COLOURS: Final = (style.BLUE, *(colour for colour, _ in style.MARKS[:5]), style.BROWN, style.INK)
MARKS: Final = ("o", "s", "^", "D", "v", "P", "X", "*")
QUARTERS: Final = 4
SIGNS: Final = "dots: runs, thin line: least to most, bar: middle half, tick: median, diamond: mean"
NOTHING: Final = "no run has a number to draw"


def study_figure(report: StudyReport) -> Figure:
    """Draw the first quantity of a report."""
    parameter, rows = swept(report), drawn_groups(report)
    inches = LINE_INCHES if parameter else AROUND_GROUPS_INCHES + GROUP_INCHES * max(2, len(rows))
    with style.one_panel(inches) as (figure, axes):
        if parameter:
            _draw_lines(axes, report, parameter)
            style.legend_above(figure, axes)
        elif rows:
            _draw_rows(axes, report, rows)
        else:
            axes.set_axis_off()
            axes.text(0.5, 0.5, NOTHING, ha="center", va="center", transform=axes.transAxes)
        return figure


def swept(report: StudyReport) -> str | None:
    """Return the parameter that the figure goes along, if one takes enough numbers."""
    taken = {name: {group.by[name] for group in _known(report)} for name in report.by}
    numbers = [name for name, values in taken.items() if {type(value) for value in values} <= {int, float}]
    enough = [name for name in numbers if len(taken[name]) >= FEWEST]
    return max(enough, key=lambda name: len(taken[name]), default=None)


def study_tooltips(report: StudyReport) -> tuple[Tooltip, ...]:
    """Return what each mark of the figure says when it is pointed at."""
    quantity, parameter = report.quantities[0], swept(report)
    tooltips = []
    for row, group in enumerate(_known(report) if parameter else drawn_groups(report)):
        mean, unit = group.mean(quantity), group.unit
        if mean is None:
            continue
        summary = group.to_dict()["quantities"][quantity]
        half = "" if not mean.half_width else f" ± {shown_half(quantity, mean.half_width, unit)}"
        lines = [f"{plainly(name)}: {word(value)}" for name, value in group.by.items()]
        lines.append(f"mean {quantity}: {shown(quantity, mean.mean, unit)}{half}, of {summary['runs']:,} runs")
        least, most = (shown(quantity, summary[each], unit) for each in ("least", "most"))
        lines.append(f"median {shown(quantity, summary['median'], unit)}, from {least} to {most}")
        at = _scaled(quantity, mean.mean)
        place = (float(group.by[parameter]), at) if parameter else (at, float(row))
        tooltips.append(Tooltip(*place, "\n".join(lines)))
    return tuple(tooltips[: style.MOST_TOOLTIPS])


def described(report: StudyReport) -> str:
    """Describe the figure for readers who do not see it."""
    quantity, parameter = titled(report, report.quantities[0]), swept(report)
    if parameter is not None:
        return f"Mean {quantity} along {parameter}, with 95 % confidence intervals."
    return f"The distribution of {quantity} over the runs of each group."


def drawn_groups(report: StudyReport) -> Sequence[Group]:
    """Return the groups that have rows; the table has all."""
    return _known(report)[:MOST_GROUPS]


def _known(report: StudyReport) -> list[Group]:
    return [group for group in report.groups if any(group.numbers[name] for name in report.quantities[:1])]


def _draw_lines(axes: Axes, report: StudyReport, parameter: str) -> None:
    quantity = report.quantities[0]
    for place, (name, points) in enumerate(lines_of(report)[:MOST_LINES]):
        at, colour, dashes = [x for x, _ in points], COLOURS[place], style.DASHES[place % len(style.DASHES)]
        means = np.array([_scaled(quantity, each.mean) for _, each in points])
        halves = np.array([_scaled(quantity, each.half_width or 0.0) for _, each in points])
        if any(halves):
            axes.fill_between(at, means - halves, means + halves, color=colour, alpha=0.18, linewidth=0)
        mark = MARKS[place] if len(at) <= MOST_GROUPS else ""
        axes.plot(at, means, dashes, marker=mark, markersize=4, lw=style.CURVE_LINE, color=colour, label=name)
    axes.set(xlabel=style.lettered(plainly(parameter), LONGEST), ylabel=f"mean {_label(report)}")
    style.write_numbers(axes.xaxis, axes.yaxis, grid="y")


def lines_of(report: StudyReport) -> list[tuple[str, list[tuple[float, Estimate]]]]:
    """Return the lines along the parameter by their names, each with its points by rising parameter."""
    parameter = swept(report)
    assert parameter is not None
    found: dict[str, list[tuple[float, Estimate]]] = {}
    for group in _known(report):
        mean = group.mean(report.quantities[0])
        name = style.lettered(in_words(group, without=parameter), LONGEST)
        if mean is not None:
            found.setdefault(name, []).append((float(group.by[parameter]), mean))
    return [(name, sorted(points, key=lambda point: point[0])) for name, points in found.items()]


def _draw_rows(axes: Axes, report: StudyReport, rows: Sequence[Group]) -> None:
    quantity = report.quantities[0]
    numbers = [sorted(_scaled(quantity, each) for each in group.numbers[quantity]) for group in rows]
    for row, several in enumerate(numbers):
        _draw_group(axes, row, several)
    axes.set_yticks(range(len(rows)), [_in_two_lines(in_words(group)) for group in rows])
    axes.tick_params(axis="y", length=0, labelsize=style.SMALL_LETTERS)
    axes.set(ylim=(max(1, len(rows)) - 0.4, -0.6), xlabel=_label(report))
    axes.set_title(SIGNS, fontsize=style.SMALL_LETTERS, fontweight="normal")
    least, most = min(several[0] for several in numbers), max(several[-1] for several in numbers)
    if least > 0 and most > FAR_GROUPS * least:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _place: number(value, 3))
    else:
        style.write_numbers(axes.xaxis)
    style.draw_grid(axes, "x")


def _in_two_lines(words: str) -> str:
    lines = textwrap.wrap(words, LONGEST // 2, break_long_words=False) or [words]
    return "\n".join(style.lettered(line, LONGEST // 2) for line in (lines[0], " ".join(lines[1:])) if line)


def _draw_group(axes: Axes, row: int, numbers: Sequence[float]) -> None:
    """Draw the runs of one group."""
    axes.axhline(row + 0.5, color=style.RULE, lw=0.4, zorder=0)
    axes.plot(statistics.fmean(numbers), row, "D", color=style.VERMILION, ms=3.6, mec="white", mew=0.5, zorder=5)
    if len(numbers) == 1:
        return
    dots = numbers[:: math.ceil(len(numbers) / MOST_DOTS)]
    heights = [row + 0.26 * (2.0 * (place * 0.618034 % 1.0) - 1.0) for place in range(len(dots))]
    axes.plot(dots, heights, "o", ms=2.2, color=style.SKY, mec="none", alpha=0.7, zorder=1)
    axes.plot([numbers[0], numbers[-1]], [row, row], color=style.INK, lw=0.8, zorder=2)
    if len(numbers) >= QUARTERS:
        low, _, high = statistics.quantiles(numbers, n=QUARTERS, method="inclusive")
        axes.plot([low, high], [row, row], color=style.BLUE, lw=5, alpha=0.55, solid_capstyle="butt", zorder=3)
    axes.plot(statistics.median(numbers), row, "|", color=style.INK, ms=11, mew=1.6, zorder=4)


def _label(report: StudyReport) -> str:
    quantity = report.quantities[0]
    return "gap to the bound, %" if quantity == GAP else style.lettered(titled_axis(report, quantity), LONGEST)


def _scaled(quantity: str, value: float) -> float:
    return 100.0 * value if quantity == GAP else value
