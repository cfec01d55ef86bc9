"""The figure of a plan over a horizon: power by task type over time, under the tariff and the carbon intensity.

Each site has a row of panels with one axis of time. Power is at the machines, on average over each slot, as caps are;
task types are stacked from the one that takes most energy, in the order of the legend, and idle machines are on top.
Where there are more slots than can be seen, means over hours, days or weeks are drawn, and the figure says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.model.results import along
from lpsched.report.figures import style
from lpsched.report.figures.style import Tooltip
from lpsched.report.horizon import Calendar, calendar_of
from lpsched.units import SECONDS_PER_DAY, SECONDS_PER_HOUR, counted, number, power_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.bag.horizon.result import PlanResult
    from lpsched.model.table import Floats

MOST_SITES: Final = 4  # with panels
MOST_TYPES: Final = 8  # task types with a colour
MOST_STEPS: Final = 1_000  # across the figure
MEANS: Final = (  # what is drawn where there are more slots
    (SECONDS_PER_HOUR, "hourly means"),
    (SECONDS_PER_DAY, "daily means"),
    (7 * SECONDS_PER_DAY, "weekly means"),
    (365 * SECONDS_PER_DAY, "yearly means"),
)
LOOKS: Final = (  # of task types: neighbours differ in grey, too
    (style.BLUE, ""),
    (style.ORANGE, "////"),
    (style.GREEN, ""),
    (style.YELLOW, r"\\\\"),
    (style.PURPLE, ""),
    (style.SKY, "////"),
    (style.BROWN, ""),
    (style.VERMILION, r"\\\\"),
)
OTHERS: Final = "all others"
IDLE: Final = "idle, but on"
CAP: Final = "power cap"
FAR_CAP: Final = 2.0  # times the most power: a cap that is higher is not drawn, but named
POWERS: Final = (style.Unit("W", 1.0), style.Unit("kW", 1e3), style.Unit("MW", 1e6))
POWER_INCHES, CURVE_INCHES = (2.3, 1.5), (0.85, 0.7)  # of a panel: of one site, and of several
AROUND_INCHES: Final = 1.0  # the legend, and the dates


@dataclass(frozen=True, slots=True)
class SiteCurves:
    """What one site draws and pays in each step."""

    name: str
    watts: Floats  # of each task type, of all others if there are any, and of idle machines
    tariff: Floats
    carbon: Floats | None
    cap: Floats | None  # watts at the machines


@dataclass(frozen=True, slots=True)
class PlanCurves:
    """What the figure shows: steps between edges, in seconds from the start, and the names of what is stacked."""

    edges: Floats
    names: tuple[str, ...]
    sites: tuple[SiteCurves, ...]
    means: str  # what the steps are; '' where they are the slots
    left_out: int  # sites that draw less
    calendar: Calendar
    currency: str


def plan_curves(result: PlanResult) -> PlanCurves:
    """Return what the figure shows of a plan."""
    slots, tasks = np.array(result.slots.edges), result.bag.task_types
    seconds, means = _cell(slots)
    edges = slots if not seconds else np.append(np.arange(0.0, slots[-1], seconds), slots[-1])

    def drawn(values: Floats) -> Floats:
        """Return the mean of each step, from values of slots."""
        if not seconds:
            return values
        sums = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values * np.diff(slots), axis=-1)], axis=-1)
        at = [np.interp(edges, slots, row) for row in np.atleast_2d(sums)]
        return np.diff(np.array(at)).reshape(*values.shape[:-1], -1) / np.diff(edges)

    by_site = site_watts(result)
    joules = (by_site.sum(axis=0) * np.diff(slots)).sum(axis=1)
    order = sorted((i for i in range(len(tasks)) if joules[i] > 0), key=lambda i: -joules[i])
    shown = order if len(order) <= MOST_TYPES else order[: MOST_TYPES - 1]
    rest = order[len(shown) :]
    named = [*(tasks[i].name for i in shown), *([OTHERS] if rest else []), IDLE]
    averages = np.array([row.average_watts for row in result.slot_rows]).reshape(len(result.slots.sites), -1)
    most = sorted(range(len(averages)), key=lambda s: -float(averages[s] @ np.diff(slots)))[:MOST_SITES]
    sites = []
    for s in sorted(most):
        site, own = result.slots.sites[s], by_site[s]
        idle = np.maximum(averages[s] - own.sum(axis=0), 0.0)
        idle[idle < 1e-9 * averages.max()] = 0.0  # what rounding left
        stack = np.array([*own[shown], *([own[rest].sum(axis=0)] if rest else []), idle])
        sites.append(
            SiteCurves(
                site.name,
                drawn(stack),
                drawn(np.array(site.tariff)),
                None if site.carbon is None else drawn(np.array(site.carbon)),
                None if site.cap_watts is None else drawn(np.array(site.cap_watts)) / site.cap_pue,
            )
        )
    left_out = len(averages) - len(sites)
    return PlanCurves(
        edges, tuple(named), tuple(sites), means, left_out, calendar_of(result), result.bag.prices.currency
    )


def _cell(edges: Floats) -> tuple[int, str]:
    """Return the length of the steps and what they are; 0 where they are the slots."""
    if len(edges) - 1 <= MOST_STEPS:
        return 0, ""
    return next((each for each in MEANS if edges[-1] <= MOST_STEPS * each[0]), MEANS[-1])


def site_watts(result: PlanResult) -> Floats:
    """Return the watts of each site, task type and slot, on average over the slot.

    Until a moment t, a run of constant power from s to e has taken watts * (max(0, t - s) - max(0, t - e)).
    """
    bag, slots, edges = result.bag, result.slots, np.array(result.slots.edges)
    assert bag.watts is not None, "a plan counts energy"
    row = {task.name: i for i, task in enumerate(bag.task_types)}
    column = {mode: at for at, mode in enumerate(bag.modes)}
    kind = {machine.name: j for j, machine in enumerate(bag.machine_types)}
    rises: dict[tuple[int, int], list[tuple[float, float]]] = {}  # by how much power rises, and when
    for group in result.plan.groups:
        j = kind[group.machine_type]
        states = bag.machine_types[j].p_states
        for run in group.runs:
            i, k = row[run.task_type], column[j, states.index(run.p_state) if states and run.p_state else 0]
            seconds, watts = bag.seconds[i, k] or 0.0, group.machines * (bag.watts[i, k] or 0.0)
            steps = rises.setdefault((slots.site_of[j], i), [])
            steps += [(run.start_seconds, watts), (run.start_seconds + run.count * seconds, -watts)]
    found = np.zeros((len(slots.sites), len(bag.task_types), slots.count))
    for (s, i), steps in rises.items():
        times, watts_at = np.array(sorted(steps)).T
        before = np.searchsorted(times, edges, side="right")
        power, moments = (np.concatenate([[0.0], np.cumsum(each)]) for each in (watts_at, watts_at * times))
        joules = edges * power[before] - moments[before]
        watts_of = np.diff(joules) / np.diff(edges)
        found[s, i] = np.where(watts_of > 1e-9 * watts_of.max(), watts_of, 0.0)
    return found


def plan_figure(result: PlanResult) -> Figure:
    """Draw the power of a plan over time by task type, under what electricity costs and emits."""
    drawn = plan_curves(result)
    several = len(drawn.sites) > 1
    tall, low = POWER_INCHES[several], CURVE_INCHES[several]
    heights = [inches for site in drawn.sites for inches in (low, *([low] if site.carbon is not None else []), tall)]
    with style.begun(sum(heights) + AROUND_INCHES) as figure:
        panels = iter(figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0])
        unit = style.fitting(style.SECONDS, float(drawn.edges[-1]))
        x = drawn.edges / unit.size
        powers = []
        for site in drawn.sites:
            first = next(panels)
            first.set_title(style.lettered(site.name) if several else "")
            _draw_curve(first, x, site.tariff, f"tariff,\n{style.lettered(drawn.currency)}/kWh")
            if site.carbon is not None:
                _draw_curve(next(panels), x, site.carbon, "carbon,\ng/kWh")
            powers.append(next(panels))
            _draw_power(powers[-1], drawn, site, x)
        last = figure.axes[-1]
        last.set_xlim(x[0], x[-1])
        left = f"; {counted(drawn.left_out, 'site')} that draw less are not drawn" if drawn.left_out else ""
        write_time(last, drawn.calendar, float(drawn.edges[-1]), unit, left)
        figure.align_ylabels(figure.axes)
        style.legend_above(figure, *powers)
        return figure


def plan_tooltips(result: PlanResult) -> tuple[Tooltip, ...]:
    """Return the text at some steps of each site: when, how much power, which tasks, tariff and carbon intensity."""
    drawn, found, axes = plan_curves(result), [], 0
    steps = along(len(drawn.edges) - 1, style.MOST_TOOLTIPS // len(drawn.sites))
    unit, watts = style.fitting(style.SECONDS, float(drawn.edges[-1])), _power_unit(drawn)
    for site in drawn.sites:
        total = site.watts.sum(axis=0)
        axes += 1 if site.carbon is None else 2
        for h in steps:
            place = float(drawn.edges[h] + drawn.edges[h + 1]) / (2.0 * unit.size)
            found.append(Tooltip(place, float(total[h]) / watts.size, _words(drawn, site, h), axes))
        axes += 1
    return tuple(found)


def _words(drawn: PlanCurves, site: SiteCurves, h: int) -> str:
    """Return a step in lines."""
    lines = [drawn.calendar.span(float(drawn.edges[h]), float(drawn.edges[h + 1]))]
    lines += [site.name] if len(drawn.sites) > 1 else []
    lines.append(f"{power_text(float(site.watts[:, h].sum()))} at the machines")
    largest = sorted(range(len(drawn.names)), key=lambda i: -site.watts[i, h])[:3]
    lines += [f"{drawn.names[i]} {power_text(float(site.watts[i, h]))}" for i in largest if site.watts[i, h] > 0]
    lines.append(f"{number(float(site.tariff[h]))} {drawn.currency}/kWh")
    lines += [] if site.carbon is None else [f"{number(float(site.carbon[h]))} g/kWh"]
    return "\n".join(lines)


def _highest(drawn: PlanCurves) -> float:
    """Return the most watts of any site and step: all panels of power have the same scale."""
    return max(float(site.watts.sum(axis=0).max()) for site in drawn.sites)


def _power_unit(drawn: PlanCurves) -> style.Unit:
    return style.fitting(POWERS, _highest(drawn))


def _draw_power(axes: Axes, drawn: PlanCurves, site: SiteCurves, x: Floats) -> None:
    """Stack the power of task types, and draw the cap as a line."""
    unit = _power_unit(drawn)
    names = style.shortened(drawn.names[: len(drawn.names) - 1])
    looks = [LOOKS[place] for place in range(min(len(names), MOST_TYPES))]
    if OTHERS in drawn.names:
        looks[-1] = (style.GREY, "")
    base = np.zeros(len(x) - 1)
    for label, (colour, hatch), watts in zip([*names, IDLE], [*looks, (style.RULE, "")], site.watts, strict=True):
        top = base + watts / unit.size
        if label != IDLE or any(each.watts[-1].any() for each in drawn.sites):
            look: style.Look = {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.0}
            axes.stairs(top, x, baseline=base, fill=True, label=label, **look)
        base = top
    axes.stairs(base, x, baseline=None, color=style.INK, linewidth=0.6)
    top = _highest(drawn) / unit.size
    if site.cap is not None and float(site.cap.min()) <= FAR_CAP * _highest(drawn):
        axes.stairs(site.cap / unit.size, x, baseline=None, color=style.RED, linewidth=style.LIMIT_LINE, label=CAP)
        top = max(top, min(float(site.cap.max()) / unit.size, FAR_CAP * top))
    elif site.cap is not None:
        words = f"{CAP}: {power_text(float(site.cap.min()))}, far above"
        axes.annotate(words, (0.01, 0.97), xycoords="axes fraction", va="top", **style.ASIDE)
    axes.set_ylim(0.0, (1.0 + style.ROOM) * top or 1.0)
    title = f"Power at the machines by task type, {drawn.means or 'average of each slot'}"
    title = title if len(drawn.sites) == 1 else f"{style.lettered(site.name)}: {title[:1].lower()}{title[1:]}"
    axes.set(ylabel=f"power, {unit.name}", title=title)
    style.write_numbers(axes.yaxis, grid="y")


def _draw_curve(axes: Axes, x: Floats, values: Floats, label: str) -> None:
    """Draw what is given over time."""
    axes.stairs(values, x, baseline=None, color=style.INK, linewidth=style.CURVE_LINE - 0.4)
    if float(values.min()) < 0.0 < float(values.max()):
        axes.axhline(0.0, color=style.GREY, linewidth=0.6)
    low, high = style.room_about(values.tolist())
    axes.set(ylabel=label, ylim=(min(low, 0.0), max(high, 0.0)))
    axes.locator_params(axis="y", nbins=4)
    style.write_numbers(axes.yaxis, grid="y")


# Dates along an axis: hours, days or months at the ticks, and below the first one and each that begins a new day, month
# or year, which one that is. All of them are of the time zone, so that a tick is at its midnight, in summer and winter.
MOST_TICKS: Final = 9


def write_time(axes: Axes, calendar: Calendar, horizon: float, unit: style.Unit, more: str = "") -> None:
    """Write dates of the zone along the axis, or units of time where the plan has no date; and some words more."""
    if calendar.start is None:
        style.write_numbers(axes.xaxis)
        axes.set_xlabel(f"time, {unit.name}{more}")
        return
    moments = date_ticks(calendar, horizon)
    places = [(each.timestamp() - calendar.start) / unit.size for each in moments]
    axes.set_xticks(places, date_texts(moments))
    axes.set_xlabel(f"time zone: {calendar.name}{more}")


def date_ticks(calendar: Calendar, horizon: float) -> list[datetime]:
    """Return round moments of the calendar within a horizon."""
    from matplotlib import dates as untyped  # noqa: PLC0415 - optional

    dates: Any = untyped
    assert calendar.start is not None, "with a date"
    begin, end = (datetime.fromtimestamp(calendar.start + each, calendar.zone) for each in (0.0, horizon))
    locator = dates.AutoDateLocator(tz=calendar.zone, minticks=4, maxticks=MOST_TICKS)
    found = (dates.num2date(value, tz=calendar.zone) for value in locator.tick_values(begin, end))
    return [each for each in found if begin <= each <= end]


def date_texts(moments: Sequence[datetime]) -> list[str]:
    r"""Write moments, each in two lines.

    >>> from datetime import UTC
    >>> date_texts([datetime(2024, 7, 1, hour, tzinfo=UTC) for hour in (12, 18)])
    ['12:00\n1 Jul 2024', '18:00\n']
    >>> date_texts([datetime(2024, 7, day, tzinfo=UTC) for day in (1, 2)])
    ['Mon 1\nJul 2024', 'Tue 2\n']
    """
    steps = [(second - first).total_seconds() for first, second in pairwise(moments)]
    days = all((each.hour, each.minute, each.second) == (0, 0, 0) for each in moments)
    months = days and all(each.day == 1 for each in moments) and len(moments) > 1
    texts, before = [], None
    for each in moments:
        new_year = before is None or each.year != before.year
        year = f" {each.year}" if new_year else ""
        if months:
            above, below = f"{each:%b}", year.strip()
        elif days:
            weekday = f"{each:%a} " if max(steps, default=0.0) <= 2 * SECONDS_PER_DAY else ""
            new = new_year or (before is not None and each.month != before.month)
            above, below = f"{weekday}{each.day}", f"{each:%b}{year}" if new else ""
        else:
            seconds = any(moment.second for moment in moments)
            new = before is None or each.date() != before.date()
            above, below = (
                f"{each:%H:%M:%S}" if seconds else f"{each:%H:%M}",
                f"{each.day} {each:%b}{year}" if new else "",
            )
        texts.append(f"{above}\n{below}")  # all of two lines, so that the first ones are level
        before = each
    return texts
