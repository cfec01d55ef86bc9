"""Curves of plans over a horizon: cost against carbon or the deadline, offers of less power, profit against prices.

Blue lines are proved: no plan is below them (of profit: above), which is shaded. Rings are verified plans, dots the
vertices of the linear program. Nothing is solved here: the numbers are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.report.figures import style
from lpsched.report.figures.style import Unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.bag.horizon.curves import DeadlineCurve, HorizonFront, OfferCurve
    from lpsched.bag.horizon.level_curve import LevelCurve

INCHES: Final = 3.8
MASSES: Final = (Unit("g", 1.0), Unit("kg", 1e3), Unit("t", 1e6), Unit("kt", 1e9))
POWERS: Final = (Unit("W", 1e-3), Unit("kW", 1.0), Unit("MW", 1e3), Unit("GW", 1e6))  # sizes in kW
WORDS: Final = 0.12  # of the height, for words below a curve
PLANS: Final[style.Look] = {"ms": 4.5, "mfc": "white", "mec": style.OURS, "zorder": 4, "label": "verified plans"}


def front_figure(front: HorizonFront) -> Figure:
    """Draw cost over carbon: what is proved, the vertices of the linear program, and verified plans."""
    corners, plans = front.bound_corners(), front.measured()
    points = [(each.cost, each.carbon_grams) for each in front.vertices]
    found = [(each.cost, each.carbon_grams or 0.0) for each in plans]
    unit = style.fitting(MASSES, max(grams for _, grams in [*points, *found]))
    with style.one_panel(INCHES) as (figure, axes):
        dots, marks, line = (
            [(grams / unit.size, cost) for cost, grams in each] for each in (points, found, list(corners))
        )
        everything = [*dots, *marks, *line]
        axes.set_xlim(*style.room_about([x for x, _ in everything]))
        axes.set_ylim(
            style.room_about([y for _, y in everything], WORDS)[0], style.room_about([y for _, y in everything])[1]
        )
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        line = [
            (right, line[0][1]),
            *line,
            (line[-1][0], top),
        ]  # from the right: the least cost, up to the least carbon
        xs, ys = [x for x, _ in line], [y for _, y in line]
        axes.fill_between([*xs, left], [*ys, top], bottom, color=style.FORBIDDEN, linewidth=0, zorder=0)
        axes.plot(xs, ys, color=style.OURS, linewidth=style.CURVE_LINE, zorder=2, label="proved: no plan is below")
        style.draw_dots(axes, dots, ".", style.INK, ms=3, zorder=3, label="vertices of the linear program")
        if marks:
            style.draw_dots(axes, marks, "o", None, **PLANS)
        axes.annotate("no plan is here", (0.015, 0.02), xycoords="axes fraction", **style.ASIDE)
        axes.set(xlabel=f"carbon, {unit.name} of CO2", ylabel=f"cost, {style.lettered(front.currency)}")
        style.write_numbers(axes.xaxis, axes.yaxis)
        style.legend_above(figure, axes)
        return figure


def deadline_figure(curve: DeadlineCurve) -> Figure:
    """Draw the least cost over the deadline: what is proved, as steps, and verified plans."""
    unit = style.fitting(style.SECONDS, curve.points[-1].deadline_seconds)
    ends = [each.deadline_seconds / unit.size for each in curve.points]
    bounds = [each.bound for each in curve.points]
    plans = [(end, each.value) for end, each in zip(ends, curve.points, strict=True) if each.value is not None]
    with style.one_panel(INCHES) as (figure, axes):
        costs = [*bounds, *(value for _, value in plans)]
        shortest = curve.shortest_seconds / unit.size
        left, right = style.room_about([shortest, *ends])
        axes.set_xlim(max(left, 0.0), right)
        axes.set_ylim(style.room_about(costs, WORDS)[0], style.room_about(costs)[1])
        (left, _), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        axes.axvspan(left, shortest, color=style.FORBIDDEN, linewidth=0, zorder=0)
        if curve.never_rises:  # between two deadlines, at least what the later one costs
            xs, ys = [shortest, *ends], [bounds[0], *bounds]
            axes.fill_between(xs, ys, bottom, step="pre", color=style.FORBIDDEN, linewidth=0, zorder=0)
            axes.step(
                xs, ys, where="pre", color=style.OURS, linewidth=style.CURVE_LINE, label="proved: no plan costs less"
            )
            axes.plot([shortest, shortest], [bounds[0], top], color=style.OURS, linewidth=style.CURVE_LINE)
        else:
            style.draw_dots(
                axes, zip(ends, bounds, strict=True), "_", style.OURS, ms=7, mew=1.6, label="proved: no plan costs less"
            )
        if plans:
            style.draw_dots(axes, plans, "o", None, **PLANS)
        if curve.never_rises:
            axes.annotate("no plan is here", (0.015, 0.02), xycoords="axes fraction", **style.ASIDE)
        axes.set(xlabel=f"deadline, {unit.name} after the start", ylabel=f"cost, {style.lettered(curve.currency)}")
        style.write_numbers(axes.xaxis, axes.yaxis)
        style.legend_above(figure, axes)
        return figure


def level_figure(curve: LevelCurve) -> Figure:
    """Draw the most profit over the level of market prices: what is proved, and the verified plans."""
    xs = [each.level for each in curve.points]
    bounds, values = ([curve.bound_at(x) for x in xs], [each.value for each in curve.points])
    with style.one_panel(INCHES) as (figure, axes):
        axes.set_xlim(*style.room_about(xs))
        axes.set_ylim(style.room_about([*bounds, *values])[0], style.room_about([*bounds, *values], WORDS)[1])
        axes.fill_between(xs, bounds, axes.get_ylim()[1], color=style.FORBIDDEN, linewidth=0, zorder=0)
        axes.plot(
            xs, bounds, color=style.OURS, linewidth=style.CURVE_LINE, zorder=2, label="proved: no plan earns more"
        )
        style.draw_dots(axes, zip(xs, values, strict=True), "o", None, **PLANS)
        axes.axvline(1.0, color=style.INK, linewidth=0.6, linestyle=":", zorder=1)
        axes.annotate("no plan is here", (0.985, 0.95), xycoords="axes fraction", **style.ASIDE | {"ha": "right"})
        axes.set(xlabel="level of market prices (1: today)", ylabel=f"profit, {style.lettered(curve.currency)}")
        style.write_numbers(axes.xaxis, axes.yaxis)
        style.legend_above(figure, axes)
        return figure


def offer_figure(offers: OfferCurve) -> Figure:
    """Draw the extra cost over the reduction, between what is proved and what plans achieve, and the price of a kW."""
    unit = style.fitting(POWERS, offers.points[-1].kw)
    with style.begun(INCHES + 1.4) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2.4, 1.0))
        _draw_extra(above, offers, unit)
        xs = [each.kw / unit.size for each in offers.points]
        per_unit = [each.marginal * unit.size for each in offers.points]
        below.step(xs, per_unit, where="post", color=style.OURS, linewidth=style.CURVE_LINE)
        below.set_ylim(0.0, 1.15 * max(per_unit, default=0.0) or 1.0)
        below.set(
            xlabel=f"reduction in the chosen slots, {unit.name} less than the baseline",
            ylabel=f"{style.lettered(offers.currency)} per {unit.name} (LP)",
        )
        style.write_numbers(below.xaxis, below.yaxis)
        style.legend_above(figure, above)
        return figure


def _draw_extra(axes: Axes, offers: OfferCurve, unit: Unit) -> None:
    xs = [each.kw / unit.size for each in offers.points]
    lower = [each.at_least for each in offers.points]
    plans = [(x, each.at_most) for x, each in zip(xs, offers.points, strict=True) if each.at_most is not None]
    highest = max([*lower, *(most for _, most in plans), *(each.lp_extra for each in offers.points)])
    axes.set_ylim(-0.04 * highest or -0.04, 1.08 * highest or 1.0)
    axes.fill_between(xs, lower, axes.get_ylim()[0], step="post", color=style.FORBIDDEN, linewidth=0, zorder=0)
    line: style.Look = {"color": style.OURS, "linewidth": style.CURVE_LINE, "zorder": 2}
    axes.step(xs, lower, where="post", label="proved: costs at least", **line)  # what holds for less holds for more
    axes.plot(
        xs,
        [each.lp_extra for each in offers.points],
        color=style.INK,
        linewidth=0.8,
        linestyle=":",
        zorder=2,
        label="linear program",
    )
    if plans:  # a plan for more is one for less, so it holds up to the next one from the left
        axes.step(
            *zip(*plans, strict=True),
            where="pre",
            color=style.OURS,
            linewidth=0.8,
            linestyle="--",
            zorder=3,
            label="verified plans: at most",
        )
    if offers.full_kw < offers.most_kw and offers.full_kw > 0:
        axes.axvline(offers.full_kw / unit.size, color=style.RULE, linewidth=style.LIMIT_LINE, zorder=1)
        at = (offers.full_kw / unit.size, axes.get_ylim()[0])
        axes.annotate("beyond, some slots reach idle power", at, (3, 4), textcoords="offset points", **style.ASIDE)
    axes.set_ylabel(f"extra cost, {style.lettered(offers.currency)}")
    style.write_numbers(axes.yaxis)
