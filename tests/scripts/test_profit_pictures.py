"""Figures of the Profit paper's figures: what they say, and odd numbers and names."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.result import Point
from lpsched.io.figure_files import write_figure
from scripts.figures.shared.distributions import Violin, ViolinPanel, distributions_figure
from scripts.figures.shared.profit_contours import ProfitPanel, ProfitPlane, profit_contours_figure
from scripts.figures.shared.profit_curves import ProfitCurve, profit_curves_figure
from scripts.figures.shared.profit_sweep import Sweep, SweepPoint, profit_sweep_figure

FRONT = (Point(6600.0, 30.0), Point(8400.0, 12.0))
FAST = SweepPoint(2.0, FRONT[1], Point(8500.0, 13.0), 1.2)
SLOW = SweepPoint(0.9, FRONT[0], Point(6700.0, 31.0), -0.4)
WAITS = SweepPoint(0.5, None, None, -0.144)
ODD = "$<script>alert(1)</script>"


def texts(axes):
    return [each.get_text() for each in axes.texts]


def legend(figure):
    return [each.get_text() for each in figure.legends[0].get_texts()]


def bars(axes):
    """Return how long each bar is, up or down."""
    wide = [line for line in axes.lines if line.get_linewidth() == 5.0]
    return [float(np.diff(line.get_ydata())[0]) for line in wide]


def test_bars_are_as_long_as_profits_and_losses_hang_down():
    figure = profit_sweep_figure(Sweep(FRONT, (SLOW, FAST), "USD/hour"))
    down, up = bars(figure.axes[0])
    assert up > 0 > down
    assert down / up == pytest.approx(-0.4 / 1.2)
    assert texts(figure.axes[0]) == ["0.9", "2"]
    assert {"loss", "profit (longest bar: 1.2 USD/hour)"} < set(legend(figure))
    only_loss = profit_sweep_figure(Sweep(FRONT, (SLOW,), "USD/hour"))
    assert "loss (longest bar: 0.4 USD/hour)" in legend(only_loss)


def test_what_is_not_run_has_no_mark_and_squares_that_cover_each_other_one_label():
    near = SweepPoint(2.1, Point(8401.0, 12.0), Point(8500.0, 13.0), 1.3)
    figure = profit_sweep_figure(Sweep(FRONT, (WAITS, SLOW, FAST, near), "USD/hour"))
    assert texts(figure.axes[0]) == ["0.9", "2, 2.1"]
    assert len(bars(figure.axes[0])) == 3


def test_a_cap_is_the_line_of_its_watts():
    figure = profit_sweep_figure(Sweep(FRONT, (FAST,), "USD/hour", cap_watts=500.0))
    (line,) = [each for each in figure.axes[0].lines if each.get_linestyle() == "--"]
    kilojoules, seconds = line.get_data()
    assert np.asarray(kilojoules) * 1e3 / np.asarray(seconds) == pytest.approx([500.0, 500.0])


@pytest.mark.parametrize(
    "sweep",
    [
        Sweep(FRONT[:1], (WAITS,), ODD),
        Sweep(FRONT[:1], (SweepPoint(1.0, FRONT[0], FRONT[0], 0.0),), ODD, border=FRONT),
        Sweep((Point(1e15, 1e9),), (SweepPoint(1e9, Point(1e15, 1e9), None, 0.0),), ODD, cap_watts=1e6),
    ],
)
def test_sweeps_of_nothing_and_of_one_point_are_drawn(sweep, tmp_path):
    write_figure(profit_sweep_figure(sweep), tmp_path / "odd.svg")
    assert "<script>" not in (tmp_path / "odd.svg").read_text(encoding="utf-8")


def test_a_violin_has_its_median_in_per_cent_and_nothing_at_all_is_drawn_lowest(tmp_path):
    panel = ViolinPanel("ratio", (("10", (Violin("a", (0.01, 0.02, 0.04)), Violin("b", (0.0, 0.0)))),))
    figure = distributions_figure([panel], x_label="tasks a machine", y_label=ODD)
    assert texts(figure.axes[0]) == ["2 %", "0.0001 %"]
    assert [each.get_text() for each in figure.axes[0].get_xticklabels()] == ["10"]
    assert len(figure.axes[0].collections) == 1  # two equal numbers have a median and no width
    assert legend(figure) == ["a", "b"]
    write_figure(figure, tmp_path / "odd.svg")
    assert "<script>" not in (tmp_path / "odd.svg").read_text(encoding="utf-8")


def test_a_method_without_numbers_is_left_out():
    panel = ViolinPanel("ratio", (("10", (Violin("a", (0.01, 0.02)), Violin(ODD, ()))),))
    assert len(texts(distributions_figure([panel], x_label="x", y_label="y").axes[0])) == 1


def test_curves_are_drawn_as_given_and_marks_tell_their_ratio():
    curves = [ProfitCurve("direct", (0.5, 1.0, 2.0), (-0.1, 0.0, 2.0)), ProfitCurve(ODD, (0.5, 2.0), (-1.0, 2.0))]
    figure = profit_curves_figure(curves, [("below:", 0.998899)], unit="USD/hour")
    drawn = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 3]
    assert list(drawn[0].get_ydata()) == [-0.1, 0.0, 2.0]
    assert texts(figure.axes[0]) == ["below:\n0.9989"]


PLANE = ProfitPlane((*FRONT, Point(15600.0, 30.0)), 40.0, 1e-6, "USD/hour")


def test_lines_of_equal_profit_stay_inside_the_region_and_the_best_has_a_star():
    panels = [ProfitPanel(2.0, 0.0132, FRONT[1], 1.44), ProfitPanel(0.5, 0.0033, None, -0.144)]
    earning, waiting = profit_contours_figure(PLANE, panels).axes
    assert "best: 1.44 USD/hour" in texts(earning)
    assert "best: to wait, -0.144 USD/hour" in texts(waiting)
    (star,) = [line for line in earning.lines if line.get_marker() == "*"]
    assert np.ravel(star.get_data()).tolist() == [8.4, 12.0]
    assert not [line for line in waiting.lines if line.get_marker() == "*"]
    for contours in (each for each in earning.collections if hasattr(each, "levels")):
        for path in contours.get_paths():
            kilojoules, seconds = np.array(path.vertices, dtype=float).T
            above_idle = kilojoules - 0.04 * seconds
            assert np.all(seconds >= 12.0 - 0.3)
            assert np.all((above_idle >= 5.4 - 0.1) & (above_idle <= 14.4 + 0.1))


def test_a_region_of_one_corner_is_drawn(tmp_path):
    plane = ProfitPlane(FRONT[:1], 0.0, 0.0, ODD)
    write_figure(profit_contours_figure(plane, [ProfitPanel(1.0, 0.0, FRONT[0], 0.0)]), tmp_path / "odd.svg")
    assert "<script>" not in (tmp_path / "odd.svg").read_text(encoding="utf-8")
