"""Profit over the price, with its regimes; with its sensitivities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.pricing.result import PROFITABLE, STATUS
from lpsched.model.results import along, short_unit
from lpsched.report.figures import style
from lpsched.report.figures.style import Tooltip
from lpsched.units import lower_text, number, upper_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from lpsched.bag.pricing.result import (
        ElectricityBreakEven,
        MachineSensitivity,
        PriceCurve,
        PriceCurveSegment,
        Sensitivity,
    )


# Bands behind a curve, by what the bound says: best not to run, loss, or profit possible.
#
# Each has a pale shade, a hatch where it is not to run, and its words where there is room for them: flat in a
# broad band, upright in a narrow one.
BANDS: Final = {"do-not-run": ("#fae3d6", "//"), "loss": ("#fdf3cf", ""), "profit": ("#ffffff", "")}  # shade, hatch
UPRIGHT, FLAT = 0.035, 0.28  # of the width, from which on a band has words, and from which on they lie flat


def draw_bands(axes: Axes, segments: Iterable[tuple[str, float, float | None]]) -> None:
    """Draw bands behind what is drawn: each regime, where it begins and where it ends if it does, left to right."""
    left, right = axes.get_xlim()
    joined: dict[str, list[float]] = {}
    for regime, begin, end in segments:
        joined.setdefault(regime, []).extend((begin, math.inf if end is None else end))
    for regime, ends in joined.items():
        start, stop = max(left, ends[0]), min(right, ends[-1])
        if stop > start:
            words, (shade, hatch) = STATUS[regime], BANDS[regime]
            axes.axvspan(start, stop, facecolor=shade, edgecolor="white", hatch=hatch, linewidth=0, zorder=0)
            share = (stop - start) / (right - left)
            if share > UPRIGHT:
                look: style.Look = {"rotation": 0 if share > FLAT else 90, "bbox": style.paper(0.2, alpha=0.85)}
                at, across = ((start + stop) / 2, 0.97), ("data", "axes fraction")
                axes.annotate(words, at, xycoords=across, ha="center", va="top", **style.ASIDE, **look, zorder=5)


# The most profit at every price: the bound as a line, verified schedules below it, and where running pays.
#
#     bound   convex and made of straight segments; a dot at each breakpoint
#     value   what the best schedule of each segment earns: a line within the segment
#     ratio   above: the price as a multiple of what the least energy of the bag costs, where that costs anything
#
# Bands behind the lines are the regimes by the bound. If the prices at which that changes are only a small part of
# all, they have a panel of their own beside the whole. A segment without an end is drawn as far as the curve's
# sampled points go.
#
# Source: Tarplee, Maciejewski and Siegel (2014), section V, where the ratio is swept in steps.
INCHES: Final = 3.6
MOST_PIECES, MOST_DOTS = 600, 120  # more are closer together than a line or a dot is wide
NARROW: Final = 0.25  # of the width: below it the changes get a panel of their own
AROUND: Final = 0.35  # of the break-even price, drawn on both sides of the changes
MARGIN: Final = 0.15  # of the current price, drawn on both sides of it
ROOM: Final = 0.05  # of the height, below and above
Dots = list[tuple[float, float]]


def ratio_of(curve: PriceCurve) -> float | None:
    """Return the price at the profit ratio 1; `None` where energy costs nothing."""
    known = (
        (price, ratio)
        for piece in curve.pieces
        for price, ratio in ((piece.from_price, piece.from_ratio), (piece.to_price, piece.to_ratio))
    )
    return next((price / ratio for price, ratio in known if price and ratio), None)


def price_figure(curve: PriceCurve, current: float | None = None, own: PriceCurve | None = None) -> Figure:
    """Draw the most profit over the price; `current` is the price now, if there is one.

    The first axes of the figure show the whole curve; the second, if any, the prices at which what is best
    changes. Breakpoints are those of `own`, where the curve has a piece for each schedule.
    """
    return style.stacked((INCHES, lambda figure: draw_price(figure, curve, current, own or curve)))


def draw_price(figure: Figure | SubFigure, curve: PriceCurve, current: float | None, own: PriceCurve) -> None:
    """Draw the curve into a figure or a part of one."""
    near = _near(curve, current)
    panels = figure.add_gridspec(1, 1 if near is None else 2)
    several = [figure.add_subplot(panels[0, -1])]
    _draw(several[0], curve, _whole(curve, current), current, own)
    if near is not None:
        several.append(figure.add_subplot(panels[0, 0]))
        _draw(several[1], curve, near, current, own)
        several[0].set(title="The whole curve", ylabel="")
        several[1].set_title("Near the break-even price")
    style.legend_above(figure, *reversed(several))


def price_tooltips(curve: PriceCurve, current: float | None = None) -> tuple[Tooltip, ...]:
    """Return the text at each breakpoint, in both panels."""
    panels = [(0, _whole(curve, current)), *([] if (near := _near(curve, current)) is None else [(1, near)])]
    found: list[Tooltip] = []
    for panel, (low, high) in panels:
        inside = [piece for piece in curve.pieces if low <= piece.from_price <= high]
        few = (inside[place] for place in along(len(inside), style.MOST_TOOLTIPS // len(panels)))
        found += [Tooltip(each.from_price, each.bound_at_from, _words(curve, each), panel) for each in few]
    return tuple(found)


def _words(curve: PriceCurve, piece: PriceCurveSegment) -> str:
    """Return a breakpoint in a sentence."""
    value, unit = "no schedule is known", short_unit(curve.unit)
    if piece.value_at_from is not None:
        value = f"a schedule earns {number(piece.value_at_from)} {unit}"
    largest = max(abs(each.bound_at_from) for each in curve.pieces)
    bound = f"at most {upper_text(piece.bound_at_from, largest=largest)} {unit}"
    earns = piece.value_at_from is not None and piece.value_at_from > 0  # only then it is to run for profit
    proved = PROFITABLE if earns else STATUS[piece.regime]
    ratio = "" if piece.from_ratio is None else f" (profit ratio {number(piece.from_ratio)})"
    return f"price {number(piece.from_price)} {curve.currency}{ratio}: {proved}; {bound}, {value}"


def _whole(curve: PriceCurve, current: float | None) -> tuple[float, float]:
    """Return where the curve begins and ends; the current price is on it."""
    prices = [curve.pieces[0].from_price, *(point.price for point in curve.points), *([current] if current else [])]
    prices += [price for piece in curve.pieces for price in (piece.from_price, piece.to_price) if price]
    low, high = min(prices), max(prices)
    return low, high if high > low else low + 1.0


def _near(curve: PriceCurve, current: float | None) -> tuple[float, float] | None:
    """Return the prices about which what is best changes, with the current one, if they are a small part of all."""
    changes = [after.from_price for after in curve.pieces if after.regime is not curve.pieces[0].regime][:1]
    changes += [] if curve.break_even_price is None else [curve.break_even_price]
    if not changes:
        return None
    (low, high), even = _whole(curve, current), max(changes)
    prices = [min(changes) - AROUND * even, even * (1.0 + 2.0 * AROUND)]
    if current is not None and current < NARROW * (high - low):  # above, it is seen on the whole curve
        prices += [(1.0 - MARGIN) * current, (1.0 + MARGIN) * current]
    first, last = max(low, min(prices)), min(high, max(prices))
    return (first, last) if 0.0 < last - first < NARROW * (high - low) else None


def _draw(axes: Axes, curve: PriceCurve, ends: tuple[float, float], current: float | None, own: PriceCurve) -> None:
    """Draw one panel: bands, changes, bound, schedules."""
    low, high = ends
    seen = [
        piece
        for piece in curve.pieces
        if piece.from_price <= high and (piece.to_price is None or piece.to_price >= low)
    ]
    pieces = [seen[place] for place in along(len(seen), MOST_PIECES)]
    bound, value = _bound_line(curve, pieces), _value_line(curve, pieces)
    look: style.Look = {"color": style.BLUE, "linewidth": style.CURVE_LINE, "zorder": 3}
    axes.plot(*zip(*bound, strict=True), label="no schedule earns more, proved", **look)
    dots = [(each.from_price, each.bound_at_from) for each in own.pieces if max(low, 0) < each.from_price <= high]
    dots = [dots[place] for place in along(len(dots), MOST_DOTS)]
    if dots:
        style.draw_dots(axes, dots, "o", style.BLUE, ms=2.6, zorder=3, label="breakpoint")
    look = {"color": style.VERMILION, "linewidth": 1.0, "linestyle": (0, (4, 2)), "zorder": 4}
    axes.plot(*zip(*value, strict=True), label="verified schedules", **look)
    _set_ends(axes, ends, [bound, value])
    _draw_changes(axes, curve, current)
    draw_bands(axes, ((each.regime, each.from_price, each.to_price) for each in curve.pieces))
    style.write_numbers(axes.xaxis, axes.yaxis, grid="y")
    axes.set(
        xlabel=f"price, {style.lettered(curve.currency)}", ylabel=f"profit, {style.lettered(short_unit(curve.unit))}"
    )
    gamma = ratio_of(curve)
    if gamma is not None:
        _add_ratios(axes, gamma)


def _bound_line(curve: PriceCurve, pieces: Sequence[PriceCurveSegment]) -> Dots:
    """Return the bound: convex, so that the line between any two of its points bounds what is between."""
    dots = [(piece.from_price, piece.bound_at_from) for piece in pieces]
    last = pieces[-1]
    if last.to_price is not None and last.bound_at_to is not None:
        dots.append((last.to_price, last.bound_at_to))
    else:
        dots += [(point.price, point.bound) for point in curve.points if point.price > last.from_price]
    return dots


def _value_line(curve: PriceCurve, pieces: Sequence[PriceCurveSegment]) -> Dots:
    """Return what the schedules earn: a stroke for each segment, with a gap between two."""
    dots: Dots = []
    for piece in pieces:
        ends = [(piece.from_price, piece.value_at_from), (piece.to_price, piece.value_at_to)]
        if piece.to_price is None:
            ends += [(point.price, point.value) for point in curve.points if point.price > piece.from_price]
        dots += [(price, value) for price, value in ends if price is not None and value is not None]
        dots.append((math.nan, math.nan))
    return dots


def _draw_changes(axes: Axes, curve: PriceCurve, current: float | None) -> None:
    """Draw the prices that matter most."""
    currency = style.lettered(curve.currency)
    changes = (
        ("best not to run up to (proved)", curve.least_price_to_run, lower_text, ":"),
        ("break-even price at least (proved)", curve.break_even_price, lower_text, "--"),
        ("current price", current, number, "-"),
    )
    for name, price, text, line in changes:
        if price is not None:
            label = f"{name}: {text(price)} {currency}"
            look: style.Look = {"color": style.RED if price is current else style.INK, "linestyle": line}
            axes.axvline(price, linewidth=1.0, zorder=2, label=label, **look)


def _set_ends(axes: Axes, ends: tuple[float, float], lines: Sequence[Dots]) -> None:
    """Let the axes end where the panel does, with some room below and above what is seen."""
    low, high = ends
    seen = [_height(line, place) for line in lines for place in ends]
    seen += [y for line in lines for x, y in line if low <= x <= high]
    known = [y for y in seen if y is not None and math.isfinite(y)] or [0.0]
    bottom, top = min(*known, 0.0), max(*known, 0.0)
    room = ROOM * (top - bottom) or 1.0
    axes.set(xlim=(low, high), ylim=(bottom - room, top + room))


def _height(line: Dots, place: float) -> float | None:
    """Return a line's height at a place, or none where it is not."""
    for (left, low), (right, high) in itertools.pairwise(line):
        if left <= place <= right:
            return low if right == left else low + (high - low) * (place - left) / (right - left)
    return None


def _add_ratios(axes: Axes, gamma: float) -> None:
    """Write profit ratios along the top."""
    top = axes.secondary_xaxis("top", functions=(lambda x: np.divide(x, gamma), lambda x: np.multiply(x, gamma)))
    top.set_xlabel("profit ratio", fontsize=style.SMALL_LETTERS, color=style.GREY)
    top.tick_params(labelsize=style.SMALL_LETTERS, colors=style.GREY)
    top.spines["top"].set(color=style.GREY, visible=True)
    style.write_numbers(top.xaxis)


# What the most profit depends on: the price of electricity, and the number of machines of each type.
#
#     electricity   the bound over the price of a kilowatt-hour: it falls, straight between breakpoints; bands
#                   say what is best, lines where that changes
#     machines      the bound over the number of machines of a type, all others as they are: it bends down, so
#                   that each more adds less, and ends where it is highest
#
# A ring is the current number or price; a diamond is a verified schedule with more machines that earns more than any
# now. Panels of machine types stand in the order of the gain of one more, each with its own scale of profit.
COLUMNS, MOST_PANELS = 3, 12
ELECTRICITY_INCHES, ROW_INCHES, AROUND_INCHES = 2.8, 1.75, 0.5
BEYOND: Final = 1.12  # times the last breakpoint: the last segment has no end
FAR: Final = 3.0  # times the last breakpoint: beyond, the price as it is would leave no room for the line
MOST_TICKS: Final = 6
HEIGHT_ROOM: Final = 0.1  # of the height, below and above
LONGEST_NAME: Final = 28  # letters of a machine type


def electricity_line(need: ElectricityBreakEven, bound: float | None) -> Dots:
    """Return the bound at the breakpoints of the price of electricity, and at the current price beyond them.

    `bound` is that at the current price.
    """
    line = [(piece.from_price_per_kwh, piece.bound_at_from) for piece in need.pieces]
    last = need.pieces[-1]
    if last.to_price_per_kwh is not None and last.bound_at_to is not None:
        line.append((last.to_price_per_kwh, last.bound_at_to))
    elif bound is not None and need.price_per_kwh > last.from_price_per_kwh:
        far = FAR * last.from_price_per_kwh or math.inf
        line += [(need.price_per_kwh, bound)] if need.price_per_kwh <= far else []
    return line


def machine_line(need: MachineSensitivity) -> Dots:
    """Return the bound at the breakpoints of the number of machines of a type, and where it is highest."""
    last = need.pieces[-1]
    end = last.bound_at_from + (last.to_count - last.from_count) * last.adds_per_hour
    return [*((piece.from_count, piece.bound_at_from) for piece in need.pieces), (last.to_count, end)]


def shown_machines(sensitivity: Sensitivity) -> tuple[MachineSensitivity, ...]:
    """Return the machine types that are drawn: those of which more raise the bound, the best first."""
    known = [need for need in sensitivity.machines if need.pieces]
    return tuple(sorted(known, key=lambda need: -(need.adds_per_hour or 0.0))[:MOST_PANELS])


def sensitivity_figure(sensitivity: Sensitivity) -> Figure | None:
    """Draw what the most profit depends on; nothing without a price, for then there is no profit.

    The first axes of the figure show the price of electricity, if that is known; the others machine types.
    """
    inches = sensitivity_inches(sensitivity)
    return style.stacked((inches, lambda figure: draw_sensitivity(figure, sensitivity))) if inches else None


def sensitivity_inches(sensitivity: Sensitivity) -> float:
    """Return how high the figure is; 0 where there is none."""
    heights = _heights(sensitivity)
    return sum(heights) + AROUND_INCHES if heights else 0.0


def _heights(sensitivity: Sensitivity) -> list[float]:
    rows = -(-len(shown_machines(sensitivity)) // COLUMNS)
    return [ELECTRICITY_INCHES] * (sensitivity.electricity is not None) + [ROW_INCHES] * rows


def draw_sensitivity(figure: Figure | SubFigure, sensitivity: Sensitivity) -> None:
    """Draw all panels into a figure or a part of one."""
    heights = _heights(sensitivity)
    grid = figure.add_gridspec(len(heights), COLUMNS, height_ratios=heights)
    several = []
    if sensitivity.electricity is not None:
        several.append(figure.add_subplot(grid[0, :]))
        _draw_electricity(several[0], sensitivity, sensitivity.electricity)
    first, needs = len(several), shown_machines(sensitivity)
    names = style.shortened([need.name for need in needs], LONGEST_NAME)
    for place, (need, name) in enumerate(zip(needs, names, strict=True)):
        axes = figure.add_subplot(grid[first + place // COLUMNS, place % COLUMNS])
        _draw_machines(axes, need, name)
        if place % COLUMNS == 0:
            unit = style.lettered(short_unit(sensitivity.unit))
            axes.set_ylabel(f"profit, {unit}", fontsize=style.SMALL_LETTERS)
        several.append(axes)
    style.legend_above(figure, *several)


def _draw_electricity(axes: Axes, sensitivity: Sensitivity, need: ElectricityBreakEven) -> None:
    """Draw the bound over the price of electricity, where it is now, and where what is best changes."""
    line = electricity_line(need, sensitivity.bound)
    _draw_line(axes, line)
    for words, price, text, dashes in (
        ("no schedule earns from", need.no_profit_from, upper_text, "--"),
        ("best not to run from", need.do_not_run_from, upper_text, ":"),
        ("best not to run up to", need.do_not_run_to, lower_text, ":"),
    ):
        if price is not None:
            label = f"{words} {text(price)} {style.lettered(sensitivity.currency)}/kWh"
            axes.axvline(price, color=style.INK, linewidth=1.0, linestyle=dashes, zorder=2, label=label)
    last, _ = line[-1]
    if sensitivity.bound is not None and need.price_per_kwh <= last:
        style.draw_ring(axes, (need.price_per_kwh, sensitivity.bound), ms=7, zorder=4, label="current")
    axes.set_xlim(0.0, BEYOND * last or 1.0)
    axes.locator_params(axis="x", nbins=MOST_TICKS)
    draw_bands(axes, ((each.regime, each.from_price_per_kwh, each.to_price_per_kwh) for each in need.pieces))
    axes.set_xlabel(f"electricity, {style.lettered(sensitivity.currency)}/kWh")
    unit = style.lettered(short_unit(sensitivity.unit))
    axes.set(ylabel=f"profit, {unit}", title="If electricity costs more or less")
    style.write_numbers(axes.xaxis, axes.yaxis, grid="y")


def _draw_machines(axes: Axes, need: MachineSensitivity, name: str) -> None:
    """Draw the bound over the number of machines of a type."""
    line = machine_line(need)
    _draw_line(axes, line)
    style.draw_ring(axes, line[0], ms=7, zorder=4, label="current")
    if need.sure_more and need.value_at_sure is not None:
        dot, words = (need.count + need.sure_more, need.value_at_sure), "a verified schedule with more, worthwhile"
        style.draw_dots(axes, [dot], "D", style.VERMILION, ms=5, mec=style.INK, mew=0.5, zorder=4, label=words)
        line.append(dot)
    axes.set_ylim(style.room_about((y for _, y in line), HEIGHT_ROOM))
    axes.set_title(name, fontsize=style.SMALL_LETTERS + 1)
    more = f"{need.sure_more:,} more or above" if need.most_more is None else f"{need.most_more:,} more"
    if need.most_more is not None and need.sure_more != need.most_more:
        more = f"{need.sure_more:,} to {more}"
    axes.set_xlabel(f"machines\nworthwhile: {more}", fontsize=style.SMALL_LETTERS)
    axes.locator_params(axis="x", nbins=4, integer=True)
    axes.locator_params(axis="y", nbins=4)
    style.write_numbers(axes.xaxis, axes.yaxis, grid="y")


def _draw_line(axes: Axes, line: Dots) -> None:
    look: style.Look = {"color": style.BLUE, "lw": style.CURVE_LINE, "marker": "o", "ms": 2.6, "zorder": 3}
    axes.plot(*zip(*line, strict=True), label="LP bound: no schedule earns more, proved", **look)


def sensitivity_tooltips(sensitivity: Sensitivity) -> tuple[Tooltip, ...]:
    """Return the text at each breakpoint."""
    unit, electricity = short_unit(sensitivity.unit), sensitivity.electricity
    tooltips: list[Tooltip] = []
    if electricity is not None:
        line = electricity_line(electricity, sensitivity.bound)
        for x, y in (line[place] for place in along(len(line), style.MOST_TOOLTIPS // 2)):
            price = f"electricity at {number(x, 4)} {sensitivity.currency}/kWh"
            tooltips.append(Tooltip(x, y, f"{price}: at most {upper_text(y)} {unit}"))
    needs = shown_machines(sensitivity)
    for panel, need in enumerate(needs, start=len(tooltips) > 0):
        for place in along(len(need.pieces), max(2, style.MOST_TOOLTIPS // 2 // len(needs))):
            piece = need.pieces[place]
            adds = f"marginal value of one more {number(piece.adds_per_hour)} {unit}"
            most = f"at most {upper_text(piece.bound_at_from)} {unit}"
            text = f"{need.name}, {number(piece.from_count, 4)} machines (LP): {most}; {adds}"
            tooltips.append(Tooltip(piece.from_count, piece.bound_at_from, text, panel))
    return tuple(tooltips)


def pricing_figure(curve: PriceCurve, sensitivity: Sensitivity) -> Figure:
    """Draw a price curve; where a price is known, also what electricity may cost and which machines pay."""
    return style.stacked(
        (INCHES, lambda figure: draw_price(figure, curve, sensitivity.price, curve)),
        (sensitivity_inches(sensitivity), lambda figure: draw_sensitivity(figure, sensitivity)),
    )
