"""Figures of a simulation: priorities, waits, and utility and energy over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from lpsched.model.provenance import estimate_of
from lpsched.online.result.policy import Judged, PolicyEntry, Traces, shown, shown_time
from lpsched.report.figures import style
from lpsched.units import SECONDS_PER_DAY, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from lpsched.online.result.simulation import Simulation


# A lane for each policy, one below the other: what figures of priorities and of waits have in common.
MOST_LANES: Final = 40
LANES: Final = 0.62  # of the room of a policy
_Series: TypeAlias = "tuple[str, str, str, list[float | None]]"  # label, mark, colour, a number for each policy


def lanes_of(result: Simulation) -> list[PolicyEntry]:
    """Return the policies that have an answer; of many, the first."""
    return [entry for entry in result.policies if entry.answers][:MOST_LANES]


def _draw_lanes(figure: Figure | SubFigure, names: Sequence[str], series: Sequence[_Series]) -> Axes:
    """Draw the marks of each series, and name the lanes, with a line between each two; return the axes."""
    axes = figure.subplots()
    for place, (label, mark, colour, values) in enumerate(series):
        lane = LANES * ((place + 0.5) / len(series) - 0.5)  # each a little lower, so that none hides another
        dots = [(value, row + lane) for row, value in enumerate(values) if value is not None]
        style.draw_dots(axes, dots, mark, colour, ms=5, mec=style.INK, mew=0.4, label=label, clip_on=False)
    for row in range(1, len(names)):
        axes.axhline(row - 0.5, color=style.RULE, linewidth=0.6, zorder=0)
    axes.set_yticks(range(len(names)), [style.lettered(name) for name in names])
    axes.set_ylim(max(1, len(names)) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    style.draw_grid(axes, "x")
    style.legend_above(figure, axes)
    return axes


# How much each policy earned of what the tasks of each priority would earn if none waited.
#
# A row for each policy, a mark for each priority: its shape and its colour say which, its place says which
# share its tasks earned of the naive figure, that is of what they would earn if each began on arrival where
# it is quickest. More than all of it can be earned: by tasks of the warm-up that run in the period.
MOST_PRIORITIES: Final = len(style.SHAPES)
ROW_INCHES, AROUND_INCHES = 0.3, 1.2


def priorities_of(result: Simulation) -> tuple[str, ...]:
    """Return the priorities, or names of own functions, that can earn something; of many, the first."""
    names = {each.name: None for entry in result.policies for each in entry.earned if each.share is not None}
    return tuple(names)[:MOST_PRIORITIES]


def priorities_figure(result: Simulation) -> Figure:
    """Draw the share that each policy earned of the naive figure of each priority."""
    return style.stacked((inches(result), lambda figure: draw_priorities(figure, result)))


def inches(result: Simulation, least: int = 4) -> float:
    """Return how high the figure is: room for that many policies at least."""
    return AROUND_INCHES + ROW_INCHES * max(least, len(lanes_of(result)))


def draw_priorities(figure: Figure | SubFigure, result: Simulation) -> None:
    """Draw a row for each policy, into a figure or a part of one."""
    entries, names = lanes_of(result), priorities_of(result)
    series: list[_Series] = []
    for name, mark in zip(names, style.priority_marks(len(names)), strict=True):
        shares = [next((each.share for each in entry.earned if each.name == name), None) for entry in entries]
        percents = [None if share is None else 100.0 * share for share in shares]
        series.append((style.lettered(name), mark.shape, mark.colour, percents))
    axes = _draw_lanes(figure, [entry.name for entry in entries], series)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("utility earned, % of what the tasks of each priority earn if none waits")


def priority_rows(result: Simulation) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the same as a table: headers, and a row for each policy."""
    names = priorities_of(result)
    rows = []
    for entry in (entry for entry in result.policies if entry.answers):
        share = {each.name: "-" if each.share is None else f"{100 * each.share:.1f} %" for each in entry.earned}
        rows.append((entry.name, *(share.get(name, "-") for name in names)))
    return ("scheduler", *names), rows


# How long tasks waited on clusters: a row for each policy, marks for median, mean, 95 % and longest.
#
# Waits go from nothing to weeks, so the axis is even up to a minute and logarithmic from there. Over several
# trials the marks are means.
KINDS: Final = (("median", "median"), ("mean", "mean"), ("p95", "95 % wait no longer"), ("longest", "longest"))
MINUTE: Final = 60.0
TICKS: Final = (
    (0.0, "0"),
    (60.0, "1 min"),
    (600.0, "10 min"),
    (SECONDS_PER_HOUR, "1 h"),
    (21_600.0, "6 h"),
    (SECONDS_PER_DAY, "1 day"),
    (604_800.0, "1 week"),
    (2_592_000.0, "30 days"),
    (31_536_000.0, "1 year"),
    (3.1536e9, "100 years"),
)


def waits_figure(result: Simulation) -> Figure:
    """Draw how long tasks waited."""
    return style.stacked((inches(result, 3), lambda figure: draw_waits(figure, result)))


def groups_figure(result: Simulation, by: str) -> Figure:
    """Draw the mean wait of each group of tasks: a row for each group, a mark for each policy."""
    entries = [entry for entry in result.policies if entry.groups][: len(style.MARKS)]
    of_entry = [{each.name: each.mean_wait_seconds for each in entry.groups if each.by == by} for entry in entries]
    names = list(dict.fromkeys(name for found in of_entry for name in found))[:MOST_LANES]
    series: list[_Series] = [
        (style.lettered(entry.name), mark, colour, [found.get(name) for name in names])
        for entry, found, (colour, mark) in zip(entries, of_entry, style.MARKS, strict=False)
    ]

    def draw(figure: Figure | SubFigure) -> None:
        axes = _draw_lanes(figure, names, series)
        _scale_waits(axes, series)
        axes.set_xlabel("mean wait from arrival to start")

    return style.stacked((AROUND_INCHES + ROW_INCHES * max(3, len(names)), draw))


def draw_waits(figure: Figure | SubFigure, result: Simulation) -> None:
    """Draw a row for each policy, into a figure or a part of one."""
    entries = lanes_of(result)
    series: list[_Series] = []
    for (kind, label), (colour, mark) in zip(KINDS, style.MARKS, strict=False):
        means = [entry.mean(f"wait_seconds.{kind}") for entry in entries]
        series.append((label, mark, colour, [None if mean is None else mean.mean for mean in means]))
    _scale_waits(_draw_lanes(figure, [entry.name for entry in entries], series), series)


def _scale_waits(axes: Axes, series: Sequence[_Series]) -> None:
    """Give an axis of waits its scale and its ticks."""
    longest = max((value for *_, values in series for value in values if value is not None), default=0.0)
    end = max(1.3 * longest, MINUTE)
    axes.set_xscale("symlog", linthresh=MINUTE)
    axes.set_xlim(0.0, end)
    axes.set_xticks(*zip(*((at, label) for at, label in TICKS if at <= end), strict=True))
    axes.minorticks_off()
    axes.set_xlabel("wait from arrival to start")


def wait_rows(result: Simulation) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the same as a table: headers, and a row for each policy."""
    headers = ("scheduler", "median", "mean", "95 %", "longest", "bounded slowdown")
    rows = []
    for entry in result.policies:
        if entry.answers:
            waits = (shown_time(entry.mean(f"wait_seconds.{kind}")) for kind, _ in KINDS)
            rows.append((entry.name, *waits, shown(entry.mean("mean_bounded_slowdown"), digits=4)))
    return headers, rows


# Utility earned and energy taken by the policies as the period goes on; or what waiting has cost.
#
# A line for each policy, with marks that distinguish it without colour; over several trials the mean, and its
# 95 % confidence interval as a band. The bound on utility and the energy constraint are dashed lines. Of many
# policies those that earn most are drawn. Where the energy is not known, there is only the left half.
#
# Source: Friese, thesis of 2015, figures of cumulative utility and energy in chapters 3 and 4.
MOST_LINES: Final = len(style.MARKS)
INCHES: Final = 3.6
MARKS_ON_A_LINE: Final = 8
HALF_A_DAY: Final = 12.0  # hours
KWH: Final = 2  # the place of kWh among the units of energy: tables have no smaller one


def drawn_policies(result: Simulation, most: int = MOST_LINES) -> tuple[PolicyEntry, ...]:
    """Return the policies with an answer, those that earn most where there are many; in their order."""
    known = [(entry, entry.mean("utility")) for entry in result.policies]
    earned = {place: mean.mean for place, (_, mean) in enumerate(known) if mean is not None}
    best = sorted(earned, key=lambda place: -earned[place])[:most]
    return tuple(result.policies[place] for place in sorted(best))


def traces_figure(result: Simulation) -> Figure:
    """Draw utility and energy counted by each time of the period."""
    return style.stacked((INCHES, lambda figure: draw_traces(figure, result)))


def draw_traces(figure: Figure | SubFigure, result: Simulation) -> None:
    """Draw utility, or the cost, on the left and energy on the right, into a figure or a part of one."""
    entries = [entry for entry in drawn_policies(result) if entry.traces is not None]
    every = [trace for entry in entries for trace in _traces(entry)]
    span = style.fitting(style.SECONDS, max((trace.seconds[-1] for trace in every), default=0.0))
    known = any(entry.mean("energy_joules") is not None for entry in entries) or not entries
    panels = figure.subplots(1, 2 if known else 1, squeeze=False)[0]
    costs = result.judged is Judged.WAITING
    unit = style.Unit("", -1.0 if costs else 1.0)
    for place, entry in enumerate(entries):
        _draw(panels[0], entry, place, lambda trace: trace.utility, (span, unit))
    limit = {"linestyle": "--", "linewidth": style.LIMIT_LINE}
    if result.bound is not None:
        label = "no schedule below, proved" if costs else "bound, proved"
        panels[0].axhline(result.bound.mean / unit.size, color=style.OURS, label=label, **limit)
    epoch = result.epoch if costs else None  # then the period begins with second 0
    _name_axes(panels[0], "cost of the tasks done so far" if costs else "utility earned so far", span, epoch)
    if known:
        most = result.energy_constraint_joules
        unit = style.fitting(style.ENERGIES[KWH:], max([*(trace.energy_joules[-1] for trace in every), most or 0.0]))
        for place, entry in enumerate(entries):
            _draw(panels[1], entry, place, lambda trace: trace.energy_joules, (span, unit))
        if most is not None:
            panels[1].axhline(most / unit.size, color=style.RED, label="energy constraint", **limit)
        _name_axes(panels[1], f"energy taken so far, {unit.name}", span, epoch)
    style.legend_above(figure, *panels)


def _traces(entry: PolicyEntry) -> list[Traces]:
    """Return the traces of a policy that are at the same times as its first."""
    known = [run.traces for run in entry.answers if run.traces is not None]
    return [trace for trace in known if trace.seconds == known[0].seconds]


def _draw(
    axes: Axes,
    entry: PolicyEntry,
    place: int,
    numbers_of: Callable[[Traces], Sequence[float]],
    units: tuple[style.Unit, style.Unit],
) -> None:
    """Draw the line of one policy, its band, and marks that begin elsewhere on each line."""
    (span, unit), traces = units, _traces(entry)
    estimates = [estimate_of(values) for values in zip(*map(numbers_of, traces), strict=True)]
    times = [seconds / span.size for seconds in traces[0].seconds]
    colour, mark = style.MARKS[place % len(style.MARKS)]
    step = max(1, len(times) // MARKS_ON_A_LINE)
    means, every = np.array([each.mean for each in estimates]) / unit.size, ((place * step) // MOST_LINES, step)
    label = style.lettered(entry.name)
    axes.plot(times, means, color=colour, lw=style.CURVE_LINE, marker=mark, ms=4, markevery=every, label=label)
    if len(traces) > 1:
        halves = np.array([each.half_width or 0.0 for each in estimates]) / abs(unit.size)
        axes.fill_between(times, means - halves, means + halves, color=colour, alpha=0.18, linewidth=0)


def _name_axes(axes: Axes, label: str, span: style.Unit, epoch: str | None) -> None:
    axes.set(xlabel=f"{span.name} of the period", ylabel=label)
    axes.margins(x=0.0)
    axes.set_ylim(bottom=0.0)
    style.write_numbers(axes.yaxis)
    style.draw_grid(axes, "both")
    quarters(axes, span, axes.get_xlim()[1])
    if epoch is not None:
        axes.set_xlabel(style.write_dates(axes, epoch, span))


def quarters(axes: Axes, unit: style.Unit, end: float) -> None:
    """Let the hours of a day be marked at 6, 12, 18 and 24, not at 5 and 10."""
    if unit.name == "hours" and end >= HALF_A_DAY:
        axes.locator_params(axis="x", steps=[1, 2, 3, 6, 10])


# A simulation in one figure: utility and energy over the period, and below what each priority earned.
#
# Where tasks are judged by what they wait: its cost over time, and below how long they waited.
def simulation_figure(result: Simulation) -> Figure:
    """Draw the policies of a simulation."""
    below = (inches(result), lambda figure: draw_priorities(figure, result))
    if result.judged is Judged.WAITING:
        below = (inches(result, 3), lambda figure: draw_waits(figure, result))
    return style.stacked((INCHES, lambda figure: draw_traces(figure, result)), below)
