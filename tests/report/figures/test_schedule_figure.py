from __future__ import annotations

from dataclasses import replace

from lpsched.report.figures.prices import pricing_figure
from lpsched.report.figures.schedule import schedule_figure
from tests.report.bags import BAG, SCHEDULE, usual
from tests.report.figures.test_sensitivity_figure import ALL


def labels(figure):
    return [axes.get_xlabel() for axes in figure.axes]


def test_a_schedule_has_its_machines_above_and_its_map_below():
    figure = schedule_figure(BAG, SCHEDULE)
    assert labels(figure) == ["time, minutes", "energy, Wh", "", "share of the task type's tasks, %"]
    above, below = figure.subfigs
    assert (figure.axes[0] in above.axes, figure.axes[2] in below.axes) == (True, True)


def test_a_pricing_study_has_its_curve_above_and_what_it_depends_on_below():
    figure = pricing_figure(usual(4.0), ALL)
    first, second, *_ = labels(figure)
    assert (first, second) == ("price, USD", "electricity, USD/kWh")


def test_without_a_price_a_pricing_study_is_its_curve():
    nothing = replace(ALL, electricity=None, machines=(), bound=None)
    assert labels(pricing_figure(usual(4.0), nothing)) == ["price, USD"]
