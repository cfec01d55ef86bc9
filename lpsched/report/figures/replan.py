"""A bag that is planned again by a forecast: its power, that with perfect foresight, and the values over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.report.figures import style
from lpsched.report.figures.horizon import POWERS, write_time
from lpsched.report.horizon import calendar_of
from lpsched.units import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.bag.horizon.forecasts.replan_result import ReplanResult
    from lpsched.model.table import Floats

MOST_SITES: Final = 3  # whose values are drawn
POWER_INCHES, VALUE_INCHES, AROUND_INCHES = 2.1, 1.2, 1.0
AGAIN: Final[style.Look] = {"color": style.OURS, "linewidth": style.CURVE_LINE, "label": "planned again"}
FORESIGHT: Final[style.Look] = {
    "color": style.VERMILION,
    "linewidth": style.LIMIT_LINE,
    "linestyle": "--",
    "label": "perfect foresight",
}
ACTUAL: Final[style.Look] = {"color": style.INK, "linewidth": style.LIMIT_LINE, "label": "actual"}
FORECAST: Final[style.Look] = {
    "color": style.GREY,
    "linewidth": style.LIMIT_LINE,
    "linestyle": ":",
    "label": "forecast at the start",
}


def replan_figure(result: ReplanResult) -> Figure:
    """Draw the power of two plans over time, above the actual values and those that were forecast at the start."""
    names = list(dict.fromkeys(row.site for row in result.slot_rows))
    rows = [[row for row in result.slot_rows if row.site == name] for name in names]
    again, foresight = (
        np.array([[getattr(row, key) for row in own] for own in rows]).sum(axis=0)
        for key in ("average_watts", "foresight_watts")
    )
    shown = min(len(names), MOST_SITES)
    heights = [POWER_INCHES, *[VALUE_INCHES] * shown]
    per_kwh = "g/kWh" if result.forecast_of == "carbon" else f"{style.lettered(result.bag.prices.currency)}/kWh"
    with style.begun(sum(heights) + AROUND_INCHES) as figure:
        panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
        unit = style.fitting(style.SECONDS, result.horizon_seconds)
        x = np.array([*(row.start_seconds for row in rows[0]), rows[0][-1].end_seconds]) / unit.size
        watts = style.fitting(POWERS, float(max(again.max(), foresight.max())))
        _draw(panels[0], x, (again / watts.size, AGAIN), (foresight / watts.size, FORESIGHT))
        panels[0].set(ylabel=f"power, {watts.name}", title="Power at the machines, average of each slot")
        for axes, name, own in zip(panels[1:], names, rows, strict=False):
            actual, forecast = (np.array([getattr(row, key) for row in own]) for key in ("actual", "forecast"))
            _draw(axes, x, (actual, ACTUAL), (forecast, FORECAST))
            axes.set_ylabel(f"{result.forecast_of},\n{per_kwh}")
            if len(names) > 1:
                axes.set_title(style.lettered(name))
        panels[-1].set_xlim(x[0], x[-1])
        left = f"; prices of {counted(len(names) - shown, 'site')} are not drawn" if shown < len(names) else ""
        write_time(panels[-1], calendar_of(result), result.horizon_seconds, unit, left)
        figure.align_ylabels(figure.axes)
        style.legend_above(figure, panels[0], panels[1])
        return figure


def _draw(axes: Axes, x: Floats, *curves: tuple[Floats, style.Look]) -> None:
    """Draw steps, from 0 or below."""
    for values, look in curves:
        axes.stairs(values, x, baseline=None, **look)
    least = min(float(values.min()) for values, _ in curves)
    low, high = style.room_about([float(each) for values, _ in curves for each in values])
    axes.set_ylim(low if least < 0.0 else 0.0, max(high, 0.0))
    axes.locator_params(axis="y", nbins=4)
    style.write_numbers(axes.yaxis, grid="y")
