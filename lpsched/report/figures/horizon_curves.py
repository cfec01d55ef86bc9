"""Curves of plans over a horizon: cost against carbon or the deadline, offers of less power, profit against prices.

Blue lines are proved: no plan is below them (of profit: above), which is shaded. Rings are verified plans, dots the
vertices of the linear program. Nothing is solved here: the numbers are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.horizon.result import mass_text
from lpsched.model.results import along
from lpsched.report.figures import style
from lpsched.report.figures.style import Tooltip, Unit
from lpsched.units import duration, lower_text, money_text, number, upper_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.bag.horizon.curves import DeadlineCurve, HorizonFront, OfferCurve
    from lpsched.bag.horizon.level_curve import LevelCurve
    from lpsched.bag.horizon.result import PlanCosts

INCHES: Final = 3.8
MASSES: Final = (Unit("g", 1.0), Unit("kg", 1e3), Unit("t", 1e6), Unit("kt", 1e9))
POWERS: Final = (Unit("W", 1e-3), Unit("kW", 1.0), Unit("MW", 1e3), Unit("GW", 1e6))  # sizes in kW
NARROW: Final = 1e-3  # relative: less carbon between both ends is not enlarged
WORDS: Final = 0.12  # of the height, for words below a curve
PLANS: Final[style.Look] = {"ms": 4.5, "mfc": "white", "mec": style.OURS, "zorder": 4, "label": "verified plans"}


def front_figure(front: HorizonFront, own: PlanCosts | None = None) -> Figure:
    """Draw cost over carbon: what is proved, the vertices of the linear program, and verified plans; or one plan."""
    plans = front.measured() if own is None else (own,)
    corners, points = front.bound_corners(), [(each.cost, each.carbon_grams) for each in front.vertices]
    found = [(each.cost, each.carbon_grams or 0.0) for each in plans]
    unit = style.fitting(MASSES, most_grams(front, plans))
    with style.one_panel(INCHES) as (figure, axes):
        dots, marks, line = (
            [(grams / unit.size, cost) for cost, grams in each] for each in (points, found, list(corners))
        )
        highest = max(y for _, y in [*dots, *marks])  # the line may go up further, where little more can be saved
        everything = [*dots, *marks, *(each for each in line if each[1] <= highest)]
        least, most = min(x for x, _ in everything), max(x for x, _ in everything)
        if most - least < NARROW * most:  # one vertex: what is proved of it is as good as the same
            everything += [(x, highest) for x in (least - NARROW * most, most + NARROW * most)]
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
        if own is None:
            style.draw_dots(axes, dots, ".", style.INK, ms=3, zorder=3, label="vertices of the linear program")
        if marks:
            style.draw_dots(axes, marks, "o", None, **PLANS | ({} if own is None else {"label": "this plan"}))
        axes.annotate("no plan is here", (0.015, 0.02), xycoords="axes fraction", **style.ASIDE)
        axes.set(xlabel=f"carbon, {unit.name} of CO2", ylabel=f"cost, {style.lettered(front.currency)}")
        style.write_numbers(axes.xaxis, axes.yaxis)
        style.legend_above(figure, axes)
        return figure


def most_grams(front: HorizonFront, plans: Sequence[PlanCosts]) -> float:
    """Return the most grams that the figure shows, by which its unit is chosen."""
    return max(*(each.carbon_grams for each in front.vertices), *(each.carbon_grams or 0.0 for each in plans), 0.0)


def front_tooltips(front: HorizonFront) -> tuple[Tooltip, ...]:
    """Return the text at each verified plan and at some vertices."""
    unit, money = style.fitting(MASSES, most_grams(front, front.measured())), front.currency
    found = []
    for each in front.measured():
        text = f"verified plan\n{number(each.cost)} {money}\n{mass_text(each.carbon_grams)} of CO2"
        found.append(Tooltip((each.carbon_grams or 0.0) / unit.size, each.cost, text))
    for place in along(len(front.vertices), style.MOST_TOOLTIPS - len(found)):
        vertex = front.vertices[place]
        proved = f"proved at that CO2: at least {lower_text(front.cost_bound(vertex.carbon_grams))} {money}"
        lines = (f"LP: {number(vertex.cost)} {money}", f"{mass_text(vertex.carbon_grams)} of CO2", proved)
        best = f"best at {vertex.price_text()} {money} per t of CO2 (LP)"
        found.append(Tooltip(vertex.carbon_grams / unit.size, vertex.cost, "\n".join((*lines, best))))
    return tuple(found)


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


def deadline_tooltips(curve: DeadlineCurve) -> tuple[Tooltip, ...]:
    """Return the text at some deadlines, and at each that has a verified plan."""
    unit, money = style.fitting(style.SECONDS, curve.points[-1].deadline_seconds), curve.currency
    made = {place for place, each in enumerate(curve.points) if each.value is not None}
    found = []
    for place in sorted({*along(len(curve.points), style.MOST_TOOLTIPS - len(made)), *made}):
        each = curve.points[place]
        lines = [duration(each.deadline_seconds), f"at least {lower_text(each.bound)} {money} (proved)"]
        lines += [] if each.value is None else [f"a verified plan costs {upper_text(each.value)} {money}"]
        y = each.bound if each.value is None else each.value
        found.append(Tooltip(each.deadline_seconds / unit.size, y, "\n".join(lines)))
    return tuple(found)


def offer_tooltips(offers: OfferCurve) -> tuple[Tooltip, ...]:
    """Return the text at each breakpoint."""
    unit, money, found = style.fitting(POWERS, offers.points[-1].kw), offers.currency, []
    for place in along(len(offers.points), style.MOST_TOOLTIPS):
        each = offers.points[place]
        lines = [
            f"{number(each.kw)} kW less",
            f"at least {money_text(lower_text(each.at_least))} {money} more (proved)",
        ]
        lines += [] if each.at_most is None else [f"at most {offers.at_most_text(each)} {money} (verified plan)"]
        lines.append(f"LP: {money_text(number(each.lp_extra))} {money}")
        found.append(Tooltip(each.kw / unit.size, each.lp_extra, "\n".join(lines)))
    return tuple(found)


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
        where: dict[str, Any] = {"xycoords": ("data", "axes fraction")}
        axes.annotate("no plan is here ", (xs[-1], 0.95), **style.ASIDE | {"ha": "right"} | where)
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
