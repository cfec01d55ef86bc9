"""Figures of a simulation: priorities, waits, and utility and energy over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.io.pictures import drawing_style
from lpsched.model.provenance import estimate_of
from lpsched.online.result.policy import Judged, shown
from lpsched.report.figures import style
from lpsched.units import SECONDS_PER_DAY, SECONDS_PER_HOUR, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from lpsched.model.provenance import Estimate
    from lpsched.online.result.policy import PolicyEntry, Traces
    from lpsched.online.result.simulation import Simulation
    from lpsched.report.figures.style import PriorityMark


# A lane for each policy, one below the other: what pictures of priorities and of waits have in common.
MOST_LANES: Final = 40


def lanes_of(result: Simulation) -> list[PolicyEntry]:
    """Return the policies that have an answer; of many, the first."""
    return [entry for entry in result.policies if entry.answers][:MOST_LANES]


def draw_lanes(axes: Axes, entries: list[PolicyEntry]) -> None:
    """Name the lanes, and draw a line between each two."""
    for row in range(1, len(entries)):
        axes.axhline(row - 0.5, color=style.RULE, linewidth=0.6, zorder=0)
    axes.set_yticks(range(len(entries)), [style.lettered(entry.name) for entry in entries])
    axes.set_ylim(max(1, len(entries)) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


# How much each policy earned of what the tasks of each priority would earn if none waited.
#
# A row for each policy, a mark for each priority: its shape and its colour say which, its place says which
# share its tasks earned of the naive figure, that is of what they would earn if each began on arrival where
# it is quickest. More than all of it can be earned: by tasks of the warm-up that run in the period.
MOST_PRIORITIES: Final = len(style.SHAPES)
ROW_INCHES: Final = 0.3
LANES: Final = 0.62  # of the room of a policy
AROUND_INCHES: Final = 1.2


def priorities_of(result: Simulation) -> tuple[str, ...]:
    """Return the priorities, or names of own functions, that can earn something; of many, the first."""
    names = {each.name: None for entry in result.policies for each in entry.earned if each.share is not None}
    return tuple(names)[:MOST_PRIORITIES]


def priorities_picture(result: Simulation) -> Figure:
    """Draw the share that each policy earned of the naive figure of each priority."""
    with drawing_style():
        figure = style.blank_picture(inches(result))
        draw_priorities(figure, result)
        return figure


def inches(result: Simulation) -> float:
    """Return how high the picture is."""
    return AROUND_INCHES + ROW_INCHES * max(4, len(lanes_of(result)))


def draw_priorities(figure: Figure | SubFigure, result: Simulation) -> None:
    """Draw a row for each policy, into a picture or a part of one."""
    entries = lanes_of(result)
    axes = figure.subplots()
    names = priorities_of(result)
    for place, (name, mark) in enumerate(zip(names, style.priority_marks(len(names)), strict=True)):
        lane = LANES * ((place + 0.5) / len(names) - 0.5)  # each a little lower, so that none hides another
        _draw_priority(axes, name, mark, lane, entries)
    draw_lanes(axes, entries)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("utility earned, % of what the tasks of each priority earn if none waits")
    style.draw_grid(axes, "x")
    style.legend_above(figure, axes)


def _draw_priority(axes: Axes, name: str, mark: PriorityMark, lane: float, entries: Sequence[PolicyEntry]) -> None:
    shares = [next((each.share for each in entry.earned if each.name == name), None) for entry in entries]
    spots = [(100.0 * share, row + lane) for row, share in enumerate(shares) if share is not None]
    axes.plot(
        [x for x, _ in spots],
        [y for _, y in spots],
        linestyle="none",
        marker=mark.shape,
        markersize=5,
        color=mark.colour,
        markeredgecolor=style.INK,
        markeredgewidth=0.4,
        label=style.lettered(name),
        clip_on=False,
    )


def priority_rows(result: Simulation) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the same as a table: headers, and a row for each policy."""
    names = priorities_of(result)
    rows = []
    for entry in result.policies:
        share = {each.name: each.share for each in entry.earned}
        if entry.answers:
            rows.append((entry.name, *(_percent(share.get(name)) for name in names)))
    return ("policy", *names), rows


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


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


def waits_picture(result: Simulation) -> Figure:
    """Draw how long tasks waited."""
    with drawing_style():
        figure = style.blank_picture(waits_inches(result))
        draw_waits(figure, result)
        return figure


def waits_inches(result: Simulation) -> float:
    """Return how high the picture is."""
    return AROUND_INCHES + ROW_INCHES * max(3, len(lanes_of(result)))


def draw_waits(figure: Figure | SubFigure, result: Simulation) -> None:
    """Draw a row for each policy, into a picture or a part of one."""
    entries = lanes_of(result)
    axes = figure.subplots()
    longest = 0.0
    for place, (kind, label) in enumerate(KINDS):
        longest = max(longest, _draw_kind(axes, entries, place, kind, label))
    draw_lanes(axes, entries)
    axes.set_xscale("symlog", linthresh=MINUTE)
    axes.set_xlim(0.0, max(1.3 * longest, MINUTE))
    ticks = [(at, label) for at, label in TICKS if at <= max(1.3 * longest, MINUTE)]
    axes.set_xticks([at for at, _ in ticks], [label for _, label in ticks])
    axes.minorticks_off()
    axes.set_xlabel("wait from arrival to start")
    style.draw_grid(axes, "x")
    style.legend_above(figure, axes)


def _draw_kind(axes: Axes, entries: list[PolicyEntry], place: int, kind: str, label: str) -> float:
    """Draw one mark in each row; return the rightmost."""
    lane = LANES * ((place + 0.5) / len(KINDS) - 0.5)  # each a little lower, so that none hides another
    means = [(row + lane, entry.mean(f"wait_seconds.{kind}")) for row, entry in enumerate(entries)]
    spots = [(mean.mean, height) for height, mean in means if mean is not None]
    colour, mark = style.MARKS[place]
    axes.plot(
        [x for x, _ in spots],
        [y for _, y in spots],
        linestyle="none",
        marker=mark,
        markersize=5,
        color=colour,
        markeredgecolor=style.INK,
        markeredgewidth=0.4,
        label=label,
        clip_on=False,
    )
    return max((x for x, _ in spots), default=0.0)


def wait_rows(result: Simulation) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the same as a table: headers, and a row for each policy."""
    headers = ("policy", *(f"{label}, s" for _, label in KINDS), "mean bounded slowdown")
    rows = []
    for entry in result.policies:
        if entry.answers:
            waits = (shown(entry.mean(f"wait_seconds.{kind}"), digits=4) for kind, _ in KINDS)
            rows.append((entry.name, *waits, shown(entry.mean("mean_bounded_slowdown"), digits=4)))
    return headers, rows


def waits_in_words(result: Simulation) -> str:
    """Return what the picture shows, for those who do not see it."""
    means = [(entry.name, entry.mean("wait_seconds.mean")) for entry in result.policies]
    return "; ".join(f"{name} {number(mean.mean, 4)} s on average" for name, mean in means if mean is not None)


# Utility earned and energy taken by the policies as the period goes on; or what waiting has cost.
#
# A line for each policy, with marks that tell it apart without colour; over several trials the mean, and its
# 95 % confidence interval as a band. The bound on utility and the energy constraint are dashed lines. Of many
# policies those that earn most are drawn. Where nobody knows the energy, there is only the left half.
#
# Source: Friese, thesis of 2015, figures of cumulative utility and energy in chapters 3 and 4.
MOST_LINES: Final = len(style.MARKS)
INCHES: Final = 3.6
MARKS_ON_A_LINE: Final = 8
BAND: Final = 0.18  # opacity
HALF_A_DAY: Final = 12.0  # hours


def drawn_policies(result: Simulation, most: int = MOST_LINES) -> tuple[PolicyEntry, ...]:
    """Return the policies with an answer, those that earn most where there are many; in their order."""
    known = [(entry, entry.mean("utility")) for entry in result.policies]
    earned = {place: mean.mean for place, (_, mean) in enumerate(known) if mean is not None}
    best = sorted(earned, key=lambda place: -earned[place])[:most]
    return tuple(result.policies[place] for place in sorted(best))


def traces_picture(result: Simulation) -> Figure:
    """Draw utility and energy counted by each time of the period."""
    with drawing_style():
        figure = style.blank_picture(INCHES)
        draw_traces(figure, result)
        return figure


def draw_traces(figure: Figure | SubFigure, result: Simulation) -> None:
    """Draw utility on the left and energy on the right, into a picture or a part of one."""
    entries = [entry for entry in drawn_policies(result) if entry.traces is not None]
    every = [trace for entry in entries for trace in _traces(entry)]
    span = style.fitting(style.SECONDS, max((trace.seconds[-1] for trace in every), default=0.0))
    known = any(entry.mean("energy_joules") is not None for entry in entries) or not entries
    panels = figure.subplots(1, 2 if known else 1, squeeze=False)[0]
    _draw_earned(panels[0], result, entries, span)
    if known:
        _draw_energy(panels[1], result, entries, span)
    style.legend_above(figure, *panels)


def _draw_earned(axes: Axes, result: Simulation, entries: Sequence[PolicyEntry], span: style.Unit) -> None:
    """Draw the utility earned so far, or the cost."""
    costs = result.judged is Judged.WAITING
    unit = style.Unit("", -1.0 if costs else 1.0)
    for place, entry in enumerate(entries):
        _draw(axes, _Line(entry, place, lambda trace: trace.utility), span, unit)
    if result.bound is not None:
        label = "no schedule below, proved" if costs else "bound, proved"
        height = result.bound.mean / unit.size
        axes.axhline(height, color=style.OURS, linestyle="--", linewidth=style.LIMIT_LINE, label=label)
    _name_axes(axes, "cost of the tasks done so far" if costs else "utility earned so far", span)


def _draw_energy(axes: Axes, result: Simulation, entries: Sequence[PolicyEntry], span: style.Unit) -> None:
    """Draw the energy taken so far."""
    limit = result.energy_constraint_joules
    lasts = [trace.energy_joules[-1] for entry in entries for trace in _traces(entry)]
    joules = style.fitting(style.JOULES, max([*lasts, limit or 0.0]))
    for place, entry in enumerate(entries):
        _draw(axes, _Line(entry, place, lambda trace: trace.energy_joules), span, joules)
    if limit is not None:
        height = limit / joules.size
        axes.axhline(height, color=style.RED, linestyle="--", linewidth=style.LIMIT_LINE, label="energy constraint")
    _name_axes(axes, f"energy taken so far, {joules.name}", span)


@dataclass(frozen=True, slots=True)
class _Line:
    """One policy, its place among those drawn, and which of its traces."""

    entry: PolicyEntry
    place: int
    number_of: Callable[[Traces], Sequence[float]]


def _traces(entry: PolicyEntry) -> list[Traces]:
    """Return the traces of a policy that are at the same times as its first."""
    known = [run.traces for run in entry.answers if run.traces is not None]
    return [trace for trace in known if trace.seconds == known[0].seconds]


def _draw(axes: Axes, line: _Line, span: style.Unit, unit: style.Unit) -> None:
    """Draw the line of one policy, its band, and marks that begin elsewhere on each line."""
    traces = _traces(line.entry)
    estimates = [estimate_of(values) for values in zip(*map(line.number_of, traces), strict=True)]
    times = [seconds / span.size for seconds in traces[0].seconds]
    colour, mark = style.MARKS[line.place % len(style.MARKS)]
    step = max(1, len(times) // MARKS_ON_A_LINE)
    axes.plot(
        times,
        [each.mean / unit.size for each in estimates],
        color=colour,
        linewidth=style.CURVE_LINE,
        marker=mark,
        markersize=4,
        markevery=((line.place * step) // MOST_LINES, step),
        label=style.lettered(line.entry.name),
    )
    if len(traces) > 1:
        low, high = zip(*(_interval(each, unit) for each in estimates), strict=True)
        axes.fill_between(times, low, high, color=colour, alpha=BAND, linewidth=0)


def _interval(estimate: Estimate, unit: style.Unit) -> tuple[float, float]:
    half, mean = (estimate.half_width or 0.0) / abs(unit.size), estimate.mean / unit.size
    return mean - half, mean + half


def _name_axes(axes: Axes, label: str, span: style.Unit) -> None:
    axes.set_xlabel(f"{span.name} of the period")
    axes.set_ylabel(label)
    axes.margins(x=0.0)
    axes.set_ylim(bottom=0.0)
    style.write_numbers(axes.yaxis)
    style.draw_grid(axes, "both")
    quarters(axes, span, axes.get_xlim()[1])


def quarters(axes: Axes, unit: style.Unit, end: float) -> None:
    """Let the hours of a day be marked at 6, 12, 18 and 24, not at 5 and 10."""
    if unit.name == "hours" and end >= HALF_A_DAY:
        axes.locator_params(axis="x", steps=[1, 2, 3, 6, 10])


# A simulation in one picture: utility and energy over the period, and below what each priority earned.
#
# Where tasks are judged by what they wait: its cost over time, and below how long they waited.
def simulation_picture(result: Simulation) -> Figure:
    """Draw the policies of a simulation."""
    with drawing_style():
        waits = result.judged is Judged.WAITING
        heights = INCHES, waits_inches(result) if waits else inches(result)
        figure = style.blank_picture(sum(heights))
        parts = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)
        draw_traces(parts[0, 0], result)
        (draw_waits if waits else draw_priorities)(parts[1, 0], result)
        return figure
