"""Utility earned and energy taken by the policies as the period goes on; or what waiting has cost.

A line for each policy, with marks that tell it apart without colour; over several trials the mean, and its
95 % confidence interval as a band. The bound on utility and the energy constraint are dashed lines. Of many
policies those that earn most are drawn. Where nobody knows the energy, there is only the left half.

Source: Friese, thesis of 2015, figures of cumulative utility and energy in chapters 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.files.pictures import drawing_style
from lpsched.reports.front_marks import JOULES, MARKS, OURS, SECONDS, Unit, fitting, legend_above
from lpsched.reports.pictures import (
    CURVE_LINE,
    LIMIT_LINE,
    RED,
    blank_picture,
    draw_grid,
    lettered,
    write_numbers,
)
from lpsched.result.confidence import estimate_of
from lpsched.result.policy_columns import Judged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from lpsched.result.confidence import Estimate
    from lpsched.result.policy_entry import PolicyEntry
    from lpsched.result.policy_run import Traces
    from lpsched.result.simulation import Simulation

MOST_LINES: Final = len(MARKS)
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
    """Draw utility and energy counted by each time of the period.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        figure = blank_picture(INCHES)
        draw_traces(figure, result)
        return figure


def draw_traces(figure: Figure | SubFigure, result: Simulation) -> None:
    """Draw utility on the left and energy on the right, into a picture or a part of one."""
    entries = [entry for entry in drawn_policies(result) if entry.traces is not None]
    every = [trace for entry in entries for trace in _traces(entry)]
    span = fitting(SECONDS, max((trace.seconds[-1] for trace in every), default=0.0))
    known = any(entry.mean("energy_joules") is not None for entry in entries) or not entries
    panels = figure.subplots(1, 2 if known else 1, squeeze=False)[0]
    _draw_earned(panels[0], result, entries, span)
    if known:
        _draw_energy(panels[1], result, entries, span)
    legend_above(figure, *panels)


def _draw_earned(axes: Axes, result: Simulation, entries: Sequence[PolicyEntry], span: Unit) -> None:
    """Draw the utility earned so far, or the cost."""
    costs = result.judged is Judged.WAITING
    unit = Unit("", -1.0 if costs else 1.0)
    for place, entry in enumerate(entries):
        _draw(axes, _Line(entry, place, lambda trace: trace.utility), span, unit)
    if result.bound is not None:
        label = "no schedule below, proved" if costs else "bound, proved"
        height = result.bound.mean / unit.size
        axes.axhline(height, color=OURS, linestyle="--", linewidth=LIMIT_LINE, label=label)
    _name_axes(axes, "cost of the tasks done so far" if costs else "utility earned so far", span)


def _draw_energy(axes: Axes, result: Simulation, entries: Sequence[PolicyEntry], span: Unit) -> None:
    """Draw the energy taken so far."""
    limit = result.energy_constraint_joules
    lasts = [trace.energy_joules[-1] for entry in entries for trace in _traces(entry)]
    joules = fitting(JOULES, max([*lasts, limit or 0.0]))
    for place, entry in enumerate(entries):
        _draw(axes, _Line(entry, place, lambda trace: trace.energy_joules), span, joules)
    if limit is not None:
        height = limit / joules.size
        axes.axhline(height, color=RED, linestyle="--", linewidth=LIMIT_LINE, label="energy constraint")
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


def _draw(axes: Axes, line: _Line, span: Unit, unit: Unit) -> None:
    """Draw the line of one policy, its band, and marks that begin elsewhere on each line."""
    traces = _traces(line.entry)
    estimates = [estimate_of(values) for values in zip(*map(line.number_of, traces), strict=True)]
    times = [seconds / span.size for seconds in traces[0].seconds]
    colour, mark = MARKS[line.place % len(MARKS)]
    step = max(1, len(times) // MARKS_ON_A_LINE)
    axes.plot(
        times,
        [each.mean / unit.size for each in estimates],
        color=colour,
        linewidth=CURVE_LINE,
        marker=mark,
        markersize=4,
        markevery=((line.place * step) // MOST_LINES, step),
        label=lettered(line.entry.name),
    )
    if len(traces) > 1:
        low, high = zip(*(_interval(each, unit) for each in estimates), strict=True)
        axes.fill_between(times, low, high, color=colour, alpha=BAND, linewidth=0)


def _interval(estimate: Estimate, unit: Unit) -> tuple[float, float]:
    half, mean = (estimate.half_width or 0.0) / abs(unit.size), estimate.mean / unit.size
    return mean - half, mean + half


def _name_axes(axes: Axes, label: str, span: Unit) -> None:
    axes.set_xlabel(f"{span.name} of the period")
    axes.set_ylabel(label)
    axes.margins(x=0.0)
    axes.set_ylim(bottom=0.0)
    write_numbers(axes.yaxis)
    draw_grid(axes, "both")
    quarters(axes, span, axes.get_xlim()[1])


def quarters(axes: Axes, unit: Unit, end: float) -> None:
    """Let the hours of a day be marked at 6, 12, 18 and 24, not at 5 and 10."""
    if unit.name == "hours" and end >= HALF_A_DAY:
        axes.locator_params(axis="x", steps=[1, 2, 3, 6, 10])
