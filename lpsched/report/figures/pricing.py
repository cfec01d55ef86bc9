"""Sensitivities, alone and below the price curve."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import along
from lpsched.io.pictures import drawing_style
from lpsched.report.figures.prices import INCHES, draw_bands, draw_price
from lpsched.report.figures.style import (
    BLUE,
    CURVE_LINE,
    INK,
    MOST_SPOTS,
    SMALL_LETTERS,
    VERMILION,
    blank_picture,
    draw_grid,
    legend_above,
    lettered,
    write_numbers,
)
from lpsched.report.html.page import Spot
from lpsched.units import number, upper_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from lpsched.bag.pricing.result import ElectricityNeed, MachineNeed, PriceCurve, Sensitivity


# What the most profit depends on: the price of electricity, and the number of machines of each type.
#
#     electricity   the bound over the price of a kilowatt-hour: it falls, straight between breakpoints; bands
#                   say what is best, lines where that changes
#     machines      the bound over the number of machines of a type, all others as they are: it bends down, so
#                   that each more adds less, and ends where it is highest
#
# A ring is the bag as it is; a diamond is a verified schedule with more machines that earns more than any
# now. Panels of machine types stand in the order of what one more adds, with one scale of profit.
COLUMNS: Final = 4
MOST_PANELS: Final = 12
ELECTRICITY_INCHES: Final = 2.8
ROW_INCHES: Final = 1.6
AROUND_INCHES: Final = 0.5
BEYOND: Final = 1.12  # times the last breakpoint: what is best from there on goes on for ever
FAR: Final = 3.0  # times the last breakpoint: beyond, the price as it is would leave no room for the line
MOST_TICKS: Final = 6
ROOM: Final = 0.1  # of the height, below and above
LONGEST_NAME: Final = 20  # letters of a machine type
Line = list[tuple[float, float]]


def electricity_line(need: ElectricityNeed, bound: float | None) -> Line:
    """Return the bound at the breakpoints of the price of electricity, and at the present price beyond them.

    `bound` is that at the present price.
    """
    line = [(piece.from_price_per_kwh, piece.bound_at_from) for piece in need.pieces]
    last = need.pieces[-1]
    if last.to_price_per_kwh is not None and last.bound_at_to is not None:
        line.append((last.to_price_per_kwh, last.bound_at_to))
    elif bound is not None and need.price_per_kwh > last.from_price_per_kwh:
        far = FAR * last.from_price_per_kwh or math.inf
        line += [(need.price_per_kwh, bound)] if need.price_per_kwh <= far else []
    return line


def machine_line(need: MachineNeed) -> Line:
    """Return the bound at the breakpoints of the number of machines of a type, and where it is highest."""
    line = [(piece.from_count, piece.bound_at_from) for piece in need.pieces]
    last = need.pieces[-1]
    end = last.bound_at_from + (last.to_count - last.from_count) * last.adds_per_hour
    return [*line, (last.to_count, end)]


def shown_machines(sensitivity: Sensitivity) -> tuple[MachineNeed, ...]:
    """Return the machine types that are drawn: those of which more raise the bound, the best first."""
    known = [need for need in sensitivity.machines if need.pieces]
    return tuple(sorted(known, key=lambda need: -(need.adds_per_hour or 0.0))[:MOST_PANELS])


def sensitivity_picture(sensitivity: Sensitivity) -> Figure | None:
    """Draw what the most profit depends on; nothing without a price, for then there is no profit.

    The first axes of the figure show the price of electricity, if that is known; the others machine types.
    """
    inches = sensitivity_inches(sensitivity)
    if not inches:
        return None
    with drawing_style():
        figure = blank_picture(inches)
        draw_sensitivity(figure, sensitivity)
        return figure


def sensitivity_inches(sensitivity: Sensitivity) -> float:
    """Return how high the picture is; 0 where there is none."""
    heights = _heights(sensitivity)
    return sum(heights) + AROUND_INCHES if heights else 0.0


def _heights(sensitivity: Sensitivity) -> list[float]:
    rows = -(-len(shown_machines(sensitivity)) // COLUMNS)
    return [ELECTRICITY_INCHES] * (sensitivity.electricity is not None) + [ROW_INCHES] * rows


def draw_sensitivity(figure: Figure | SubFigure, sensitivity: Sensitivity) -> None:
    """Draw all panels into a picture or a part of one."""
    heights = _heights(sensitivity)
    grid = figure.add_gridspec(len(heights), COLUMNS, height_ratios=heights)
    several = []
    if sensitivity.electricity is not None:
        several.append(figure.add_subplot(grid[0, :]))
        _draw_electricity(several[0], sensitivity, sensitivity.electricity)
    first, needs = len(several), shown_machines(sensitivity)
    for place, need in enumerate(needs):
        axes = figure.add_subplot(grid[first + place // COLUMNS, place % COLUMNS])
        _draw_machines(axes, need)
        several.append(axes)
    _share_scale(several[first:], sensitivity, needs)
    legend_above(figure, *several)


def _draw_electricity(axes: Axes, sensitivity: Sensitivity, need: ElectricityNeed) -> None:
    """Draw the bound over the price of electricity, where it is now, and where what is best changes."""
    line = electricity_line(need, sensitivity.bound)
    _draw_line(axes, line, "no schedule earns more, proved")
    for words, price, style in (
        ("no schedule earns from", need.no_profit_from, "--"),
        ("waiting is best from", need.do_not_run_from, ":"),
        ("waiting is best to", need.do_not_run_to, ":"),
    ):
        if price is not None:
            label = f"{words} {number(price, 4)} {lettered(sensitivity.currency)}/kWh"
            axes.axvline(price, color=INK, linewidth=1.0, linestyle=style, zorder=2, label=label)
    last, _ = line[-1]
    if sensitivity.bound is not None and need.price_per_kwh <= last:
        _ring(axes, need.price_per_kwh, sensitivity.bound)
    axes.set_xlim(0.0, BEYOND * last or 1.0)
    axes.locator_params(axis="x", nbins=MOST_TICKS)
    ends = [math.inf if (to := piece.to_price_per_kwh) is None else to for piece in need.pieces]
    starts = [(piece.regime, piece.from_price_per_kwh) for piece in need.pieces]
    draw_bands(axes, [(*start, end) for start, end in zip(starts, ends, strict=True)])
    axes.set_xlabel(f"electricity, {lettered(sensitivity.currency)}/kWh")
    axes.set_ylabel(f"profit, {lettered(sensitivity.unit)}")
    axes.set_title("If electricity costs more or less")
    _finish(axes)


def _draw_machines(axes: Axes, need: MachineNeed) -> None:
    """Draw the bound over the number of machines of a type."""
    line = machine_line(need)
    _draw_line(axes, line, "no schedule earns more, proved")
    _ring(axes, *line[0])
    if need.sure_more and need.value_at_sure is not None:
        axes.plot(
            need.count + need.sure_more,
            need.value_at_sure,
            linestyle="none",
            marker="D",
            markersize=5,
            color=VERMILION,
            markeredgecolor=INK,
            markeredgewidth=0.5,
            zorder=4,
            label="a verified schedule with more, worthwhile",
        )
    axes.set_title(lettered(need.name, LONGEST_NAME), fontsize=SMALL_LETTERS + 1)
    axes.set_xlabel(_more_in_words(need), fontsize=SMALL_LETTERS)
    axes.locator_params(axis="x", nbins=4, integer=True)
    axes.locator_params(axis="y", nbins=4)
    _finish(axes)


def _more_in_words(need: MachineNeed) -> str:
    """Return how many more machines are worthwhile, in words."""
    if need.sure_more == need.most_more:
        return f"machines; worthwhile: {need.most_more:,} more"
    if need.most_more is None:
        return f"machines; worthwhile: {need.sure_more:,} more or above"
    return f"machines; worthwhile: {need.sure_more:,} to {need.most_more:,} more"


def _draw_line(axes: Axes, line: Line, label: str) -> None:
    axes.plot(
        [x for x, _ in line],
        [y for _, y in line],
        color=BLUE,
        linewidth=CURVE_LINE,
        marker="o",
        markersize=2.6,
        zorder=3,
        label=label,
    )


def _ring(axes: Axes, x: float, y: float) -> None:
    axes.plot(
        x,
        y,
        linestyle="none",
        marker="o",
        markersize=7,
        markerfacecolor="none",
        markeredgecolor=INK,
        zorder=4,
        label="as it is",
    )


def _finish(axes: Axes) -> None:
    write_numbers(axes.xaxis)
    write_numbers(axes.yaxis)
    draw_grid(axes, "y")


def _share_scale(panels: Sequence[Axes], sensitivity: Sensitivity, needs: Sequence[MachineNeed]) -> None:
    """Give all panels of machines one scale, and write it at the left ones only."""
    if not panels:
        return
    heights = [y for need in needs for _, y in machine_line(need)]
    heights += [need.value_at_sure for need in needs if need.sure_more and need.value_at_sure is not None]
    low, high = min(heights), max(heights)
    room = ROOM * (high - low) or ROOM * abs(high) or 1.0
    for place, axes in enumerate(panels):
        axes.set_ylim(low - room, high + room)
        if place % COLUMNS:
            axes.tick_params(labelleft=False)
        else:
            axes.set_ylabel(f"profit, {lettered(sensitivity.unit)}", fontsize=SMALL_LETTERS)


def sensitivity_spots(sensitivity: Sensitivity) -> tuple[Spot, ...]:
    """Return what to tell about each breakpoint."""
    unit, electricity = sensitivity.unit, sensitivity.electricity
    spots: list[Spot] = []
    if electricity is not None:
        line = electricity_line(electricity, sensitivity.bound)
        for x, y in (line[place] for place in along(len(line), MOST_SPOTS // 2)):
            price = f"electricity at {number(x, 4)} {sensitivity.currency}/kWh"
            spots.append(Spot(x, y, f"{price}: at most {upper_text(y, 5)} {unit}"))
    needs = shown_machines(sensitivity)
    for panel, need in enumerate(needs, start=len(spots) > 0):
        for place in along(len(need.pieces), max(2, MOST_SPOTS // 2 // len(needs))):
            piece = need.pieces[place]
            adds = f"one more adds {number(piece.adds_per_hour, 4)} {unit} to the bound"
            most = f"at most {upper_text(piece.bound_at_from, 5)} {unit}"
            told = f"{number(piece.from_count, 4)} of {need.name}: {most}; {adds}"
            spots.append(Spot(piece.from_count, piece.bound_at_from, told, panel))
    return tuple(spots)


def pricing_picture(curve: PriceCurve, sensitivity: Sensitivity) -> Figure:
    """Draw a price curve; where a price is known, also what electricity may cost and which machines pay."""
    with drawing_style():
        heights = INCHES, sensitivity_inches(sensitivity)
        figure = blank_picture(sum(heights))
        if not heights[1]:
            draw_price(figure, curve)
            return figure
        above, below = figure.subfigures(2, 1, height_ratios=heights, squeeze=False)[:, 0]
        draw_price(above, curve)
        draw_sensitivity(below, sensitivity)
        return figure
