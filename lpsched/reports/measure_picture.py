"""Applications alone and together: memory intensity, time and energy, after figures 8.1 to 8.4 of the thesis.

A row of panels for each application. Where clocks were set, they are the x axis, and every kind of companions
is a line of marks; else every kind is a bar. The colour says how many run at once: one, two or more; marks
and words say beside whom. Energy is that of everything the meter sees until the application has ended, and so
that of its companions, too. What was not measured has no panel.

Source: Friese, thesis of 2015, section 8.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.files.pictures import drawing_style
from lpsched.reports.measured_panels import Panel, bars_picture, lines_picture, panels_of
from lpsched.reports.measured_series import quantities_of, series_of
from lpsched.reports.page_picture import Spot
from lpsched.reports.pictures import MOST_SPOTS, blank_picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from lpsched.instance.measurements import MeasuredApplication, Measurements
    from lpsched.reports.measured_series import Series

MOST_APPLICATIONS: Final = 12  # in one picture
NOTHING_INCHES: Final = 1.0
NOTHING: Final = "the file has no setting to draw"


def measure_picture(measurements: Measurements, application: str | None = None) -> Figure:
    """Draw one application, or all; of many, those that companions slow most.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        rows = _rows(measurements, application)
        if not rows:
            figure = blank_picture(NOTHING_INCHES)
            figure.text(0.5, 0.5, NOTHING, ha="center", va="center")
            return figure
        draw = lines_picture if has_clocks(measurements) else bars_picture
        return draw(measurements, rows)


def measure_spots(measurements: Measurements, application: str | None = None) -> tuple[Spot, ...]:
    """Return what each mark of the picture says when it is pointed at."""
    clocks = has_clocks(measurements)
    panels = [panel for row in _rows(measurements, application) for panel in row]
    spots = []
    for axes, panel in enumerate(panels):
        for series, mhz, point in panel.points(measurements):
            value = point.mean / panel.unit.size
            bar = value, float(panel.series.index(series))
            x, y = (panel.across(measurements, series, mhz), value) if clocks else bar
            spots.append(Spot(x, y, point.words, axes))
    return tuple(spots[:MOST_SPOTS])


def drawn_applications(
    measurements: Measurements, most: int = MOST_APPLICATIONS
) -> tuple[MeasuredApplication, ...]:
    """Return the applications that are drawn; of many, those that companions slow most."""
    slowed = {each.name: _slowed(series_of(measurements, each.name)) for each in measurements.applications}
    known = [each for each in measurements.applications if slowed[each.name]]
    chosen = sorted(known, key=lambda each: -slowed[each.name])[:most]
    return tuple(each for each in known if each in chosen)


def has_clocks(measurements: Measurements) -> bool:
    """Whether clocks make an axis."""
    return len(measurements.frequencies_mhz) > 1


def _rows(measurements: Measurements, application: str | None) -> list[tuple[Panel, ...]]:
    """Return the panels of each application."""
    chosen: Sequence[MeasuredApplication] = drawn_applications(measurements)
    if application is not None:
        chosen = [each for each in measurements.applications if each.name == application]
    quantities = quantities_of(measurements)
    rows = [panels_of(each, series_of(measurements, each.name), quantities) for each in chosen]
    return [row for row in rows if any(panel.series for panel in row)]


def _slowed(several: Sequence[Series]) -> float:
    """Return the longest mean time as a multiple of the shortest at the same clock; 0 without any."""
    found: dict[float | None, list[float]] = {}
    for series in several:
        for each in series.measured:
            found.setdefault(each.setting.mhz, []).append(each.seconds.mean)
    return max((max(times) / min(times) for times in found.values() if min(times)), default=0.0)
