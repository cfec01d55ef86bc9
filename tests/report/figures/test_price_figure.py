from __future__ import annotations

import math
import sys
from dataclasses import replace

import pytest

from lpsched.bag.relaxation import Regime
from lpsched.errors import MissingExtraError
from lpsched.io.figure_files import figure_bytes
from lpsched.report.figures.prices import price_figure, price_tooltips
from tests.report.bags import curve, piece, usual

BOUND = "no schedule earns more, proved"


def drawn(result):
    return price_figure(result).axes


def line(axes, label):
    return next(each for each in axes.lines if each.get_label() == label)


def points(axes, label):
    return [tuple(map(float, pair)) for pair in line(axes, label).get_xydata()]


def words(axes):
    return [text.get_text() for text in axes.texts]


def test_the_bound_is_one_line_over_the_price_and_schedules_have_a_stroke_for_each_piece():
    (axes,) = drawn(usual(4.0))
    assert points(axes, BOUND) == [(0.0, -5.0), (1.0, -5.0), (2.0, 0.0), (3.0, 20.0), (4.0, 40.0)]
    strokes = [spot for spot in points(axes, "verified schedules") if not math.isnan(spot[0])]
    assert strokes[2:6] == [(1.0, -5.0), (2.0, -1.0), (2.0, -1.0), (3.0, 15.0)]
    gaps = [place for place, spot in enumerate(points(axes, "verified schedules")) if math.isnan(spot[0])]
    assert gaps == [2, 5, 8, 11]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("price, USD", "profit, USD/h")


def test_breakpoints_are_dots_and_both_prices_that_matter_are_named():
    (axes,) = drawn(usual(4.0))
    assert points(axes, "breakpoint") == [(1.0, -5.0), (2.0, 0.0), (3.0, 20.0)]
    assert line(axes, "best not to run up to (proved): 1 USD").get_xdata()[0] == pytest.approx(1.0)
    assert line(axes, "break-even price at least (proved): 2 USD").get_xdata()[0] == pytest.approx(2.0)


def test_the_current_price_is_always_seen_in_the_figure():
    (axes,) = price_figure(usual(4.0), current=9.0).axes
    assert line(axes, "current price: 9 USD").get_xdata()[0] == 9.0
    assert axes.get_xlim() == (0.0, 9.0)
    # Of a curve up to 100, 6 is so near the axis that the panel of the changes shows it, and 60 is not.
    for current, shown in ((6.0, True), (60.0, False)):
        _, near = price_figure(usual(100.0), current=current).axes
        assert (near.get_xlim()[1] > current) == shown


def test_dots_are_at_the_breakpoints_of_the_curve_itself():
    first, second, _, last = usual(4.0).pieces
    (axes,) = price_figure(usual(4.0), own=curve(first, second, last)).axes
    assert points(axes, "breakpoint") == [(1.0, -5.0), (3.0, 20.0)]
    assert points(axes, BOUND) == points(drawn(usual(4.0))[0], BOUND)


def test_each_regime_has_its_band_with_its_words():
    (axes,) = drawn(usual(4.0))
    bands = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches]
    assert bands == [(0.0, 1.0), (1.0, 2.0), (2.0, 4.0)]
    assert len({(patch.get_facecolor(), patch.get_hatch()) for patch in axes.patches}) == 3
    assert words(axes) == ["best not to run", "loss", "profit possible"]


def test_profit_ratios_stand_along_the_top_unless_energy_is_free():
    (axes,) = drawn(usual(4.0))
    (top,) = axes.child_axes
    axes.figure.draw_without_rendering()
    assert top.get_xlabel() == "profit ratio"
    assert top.get_xlim() == pytest.approx((0.0, 2.0))  # a ratio of 1 is a price of 2
    (free,) = drawn(usual(4.0, gamma=None))
    assert free.get_xlabel() == "price, USD"
    assert not free.child_axes


def test_changes_that_are_a_small_part_of_a_long_curve_have_a_panel_of_their_own():
    whole, near = drawn(usual(100.0))
    assert whole.get_xlim() == pytest.approx((0.0, 100.0))
    low, high = near.get_xlim()
    assert (low < 1.0, 2.0 < high < 0.25 * 100.0) == (True, True)
    assert near.get_position().x0 < whole.get_position().x0
    assert words(near) == ["best not to run", "loss", "profit possible"]
    # The bound in the panel is as high as it is seen: at the right end, 20 + 20 * (high - 3).
    _, top = near.get_ylim()
    assert 20 + 20 * (high - 3) < top < 1.2 * (20 + 20 * (high - 3))


def test_the_panel_of_changes_shows_no_price_that_was_not_asked_for():
    start = piece(1.5, 2.0, Regime.LOSS, (-2.5, 0.0), (-2.5, 0.0))
    _, near = drawn(curve(start, *usual(100.0).pieces[2:], least=None))
    assert near.get_xlim()[0] == pytest.approx(1.5)


def test_a_segment_without_an_end_goes_as_far_as_the_points():
    sampled = ((0.0, 0.0, -5.0, -5.0), (2.25, 4.5, 50.0, 49.0))
    (axes,) = drawn(curve(*usual(None).pieces, points=sampled))
    assert points(axes, BOUND)[-1] == (4.5, 50.0)
    assert axes.get_xlim()[1] == pytest.approx(4.5)
    (without,) = drawn(usual(None))
    assert points(without, BOUND)[-1] == (3.0, 20.0)


def test_pieces_without_a_schedule_have_a_bound_only():
    one = piece(0.0, 2.0, Regime.LOSS, (-5.0, -1.0), (None, None))
    (axes,) = drawn(curve(one, least=None, even=None))
    assert points(axes, BOUND) == [(0.0, -5.0), (2.0, -1.0)]
    assert all(math.isnan(x) for x, _ in points(axes, "verified schedules"))
    assert "no schedule is known" in price_tooltips(curve(one, least=None, even=None))[0].label


def test_a_curve_of_one_price_can_be_drawn():
    one = piece(3.0, None, Regime.PROFIT, (1.0, None), (1.0, None), gamma=None)
    assert figure_bytes(price_figure(curve(one, least=None, even=None)), ".svg").startswith(b"<?xml")


def test_thousands_of_pieces_are_thinned_but_keep_both_ends():
    many = [piece(2.0 + k, 3.0 + k, Regime.PROFIT, (k**2, (k + 1) ** 2), (k**2, (k + 1) ** 2)) for k in range(5000)]
    (axes,) = drawn(curve(*many, least=None, even=None))
    ends = points(axes, BOUND)
    assert len(ends) == 601
    assert (ends[0], ends[-1]) == ((2.0, 0.0), (5002.0, 25e6))
    assert len(price_tooltips(curve(*many, least=None, even=None))) == 250


def test_tooltips_give_price_regime_bound_and_value_in_every_panel_that_shows_them():
    found = price_tooltips(usual(100.0))
    assert (found[1].x, found[1].y, found[1].axes) == (1.0, -5.0, 0)
    assert found[1].label == ("price 1 USD (profit ratio 0.5): loss; at most -5 USD/h, a schedule earns -5 USD/h")
    assert found[2].label == (  # it is called profitable only where a schedule earns
        "price 2 USD (profit ratio 1): profit possible; at most 0 USD/h, a schedule earns -1 USD/h"
    )
    assert ": profitable; at most 20 USD/h, a schedule earns 18 USD/h" in found[3].label
    assert [each.x for each in found if each.axes == 1] == [1.0, 2.0, 3.0]


def test_currencies_with_dollar_signs_are_drawn_as_they_stand():
    (axes,) = drawn(replace(usual(4.0), unit="$<b>/hour"))
    assert axes.get_ylabel() == r"profit, \$<b>/h"


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="needs the extra 'report'"):
        price_figure(usual(4.0))
