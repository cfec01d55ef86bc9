from __future__ import annotations

import numpy as np
import pytest

from lpsched.evolve.fronts import FrontEntry
from lpsched.io.figure_files import figure_bytes
from lpsched.model.provenance import Provenance
from lpsched.model.violation import Violation
from lpsched.online.result.comparisons import DayFront, UtilityPoint
from lpsched.online.schedule import DaySchedule
from lpsched.report.figures.day_fronts import NamedFront, Panel, day_front_figure, peak_figure, populations_figure
from lpsched.report.html.comparisons import day_front_page
from tests.report.html_reader import Reader

pytestmark = pytest.mark.rotate_tests(2)

Entry = FrontEntry[UtilityPoint, DaySchedule]
ENVELOPE = (UtilityPoint(0.0, 0.0), UtilityPoint(7.2e6, 40.0), UtilityPoint(14.4e6, 60.0))
# Utility per kilowatt hour: 20, 18, 12; the peak is the first.
POINTS = (UtilityPoint(3.6e6, 20.0), UtilityPoint(7.2e6, 36.0), UtilityPoint(14.4e6, 48.0))


def spots(axes, label):
    line = next(each for each in axes.lines if each.get_label() == label)
    return [tuple(map(float, pair)) for pair in line.get_xydata()]


def test_fronts_of_a_day_are_below_a_shaded_envelope():
    result = DayFront(ENVELOPE, 0, (FrontEntry("nsga2", POINTS),), Provenance("0", "none", "day", "x"))
    (axes,) = day_front_figure(result).axes
    assert spots(axes, "nsga2") == [(1.0, 20.0), (2.0, 36.0), (4.0, 48.0)]
    line = spots(axes, "no schedule is above, proved")
    assert line[:3] == [(0.0, 0.0), (2.0, 40.0), (4.0, 60.0)]
    assert line[3][1] == 60.0  # level beyond the last corner
    path = axes.collections[0].get_paths()[0]
    assert path.contains_point((3.0, 51.0))  # the envelope is at 50 there
    assert not path.contains_point((3.0, 49.0))
    assert axes.get_ylim()[1] > 60.0  # what is proved at the energies drawn is in the figure
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("energy, kWh", "utility")
    assert spots(axes, "most utility per energy") == [(1.0, 20.0)]


def test_panels_share_one_legend_and_unused_places_stay_empty():
    panels = [
        Panel(f"{count} generations", (NamedFront("random", POINTS), NamedFront("min-min", POINTS[:1])))
        for count in (1, 10, 100)
    ]
    figure = populations_figure(panels)
    assert [axes.get_title(loc="left") for axes in figure.axes[:3]] == [
        "1 generations",
        "10 generations",
        "100 generations",
    ]
    assert not figure.axes[3].axison
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["random", "min-min", "most utility per energy"]


def test_the_peak_of_utility_per_energy_is_in_all_three_panels():
    a, b, c = peak_figure(NamedFront("utility-per-energy", POINTS)).axes
    circles = [
        tuple(float(x) for x in np.asarray(line.get_xydata())[0])
        for axes in (a, b, c)
        for line in axes.lines
        if line.get_marker() == "o"
    ]
    # (energy, utility), (utility, utility per kWh), (energy, utility per kWh)
    assert circles == [(1.0, 20.0), (20.0, 20.0), (1.0, 20.0)]
    dashed = [
        [float(np.asarray(line.get_xdata())[0]) for line in axes.lines if line.get_linestyle() == "--"]
        for axes in (a, b, c)
    ]
    assert dashed == [[1.0], [], [1.0]]
    assert b.get_ylabel() == "utility per kWh"


def test_a_front_without_points_or_energy_can_be_drawn():
    for points in ((), (UtilityPoint(0.0, 3.0),)):
        assert figure_bytes(peak_figure(NamedFront("<none>", points)), ".svg")
        result = DayFront(ENVELOPE[:1], 0, (FrontEntry("x", points),), Provenance("0", "none", "day", "x"))
        assert figure_bytes(day_front_figure(result), ".svg")


def test_the_page_of_a_day_tells_what_is_proved_who_earns_most_and_every_point():
    hostile = "</script><b>"
    broken: Entry = FrontEntry("mine", (), violations=(Violation("overlap", "two at once"),))
    entries: tuple[Entry, ...] = (FrontEntry(hostile, POINTS), broken)
    reader = Reader(day_front_page(DayFront(ENVELOPE, 0, entries, Provenance("0", "none", "day", "x"))))
    assert reader.issues == []
    assert reader.of("p")[0] == f"No schedule of this day earns more than 60, proved; {hostile} earns most, 48."
    assert reader.of("h2") == ["Utility against energy", "All points"]
    cells = reader.of("td")
    broken_at = cells.index("overlap")
    assert cells[broken_at - 1 : broken_at + 2] == ["mine", "overlap", "two at once"]
    at = cells.index("the line, proved")  # the first of its three corners, after the three points
    assert cells[at - 9 : at + 9 : 3] == [hostile] * 3 + ["the line, proved"] * 3
    assert cells[at - 3 : at + 6] == [hostile, "4", "48", "the line, proved", "0", "0", "the line, proved", "2", "40"]
    assert f"{hostile}: 1 kWh, utility 20" in reader.of("li")
    nothing = DayFront(ENVELOPE, 0, (broken,), Provenance("0", "none", "day", "x"))
    assert "; no method found a schedule." in day_front_page(nothing)
