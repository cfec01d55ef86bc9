from __future__ import annotations

import sys

import pytest

from lpsched.errors import MissingExtraError
from lpsched.io.figure_files import figure_bytes
from lpsched.model.provenance import Estimate
from lpsched.report.figures.facility import MethodReward, reward_bars_figure
from scripts.figures.shared.reward_curves import RewardCurve, reward_over_time_figure

METHODS = (
    MethodReward("greedy", Estimate(0.4, 0.02), Estimate(0.5, 0.01)),
    MethodReward("GACL", Estimate(0.45, 0.03)),
    MethodReward("$ours$", Estimate(0.55)),
)
CURVES = (
    RewardCurve("greedy", ((2.0, 0.4),)),
    RewardCurve("GACL", ((5.0, 0.2), (50.0, 0.3), (700.0, 0.45))),
    RewardCurve("<ours>", ((8.0, 0.55),)),
)


@pytest.fixture
def bars():
    (axes,) = reward_bars_figure(METHODS, bound=Estimate(0.56, 0.005)).axes
    return axes


def heights(axes) -> dict[str, list[tuple[float, float]]]:
    """Return the middle and the height of the bars of each label."""
    return {
        each.get_label(): [(round(bar.get_x() + bar.get_width() / 2, 9), bar.get_height()) for bar in each.patches]
        for each in named(axes)
    }


def test_bars_are_the_means_with_rr_hatched_beside_crr_plain(bars):
    drawn = heights(bars)
    # Beside each other where there are both, else in the middle: bars are 0.36 broad.
    assert drawn["co-located reward rate (CRR)"] == [(0.18, 0.4), (1.0, 0.45), (2.0, 0.55)]
    assert drawn["reward rate as if cores did not slow each other (RR)"] == [(-0.18, 0.5)]
    hatches = {str(each.get_label())[-4:]: each.patches[0].get_hatch() for each in named(bars)}
    assert hatches == {"CRR)": "", "(RR)": "////"}


def named(axes):
    return [each for each in axes.containers if each.get_label() and hasattr(each, "patches")]


def test_whiskers_are_the_confidence_intervals_and_a_single_trial_has_none(bars):
    spans = [tuple(segment[:, 1]) for lines in bars.collections for segment in lines.get_segments()]
    assert spans == [pytest.approx(each) for each in [(0.49, 0.51), (0.38, 0.42), (0.42, 0.48), (0.55, 0.55)]]


def test_the_bound_is_a_line_with_its_own_interval(bars):
    line = next(each for each in bars.lines if each.get_label() == "bound of the co-located reward rate")
    assert set(line.get_ydata()) == {0.56}
    band = bars.patches[-1]
    assert (band.get_y(), band.get_height()) == pytest.approx((0.555, 0.01))


def test_bars_begin_at_0_and_are_told_in_percent(bars):
    assert bars.get_ylim()[0] == 0.0
    assert [text.get_text() for text in bars.texts] == ["50", "40", "45", "55"]
    assert bars.get_ylabel() == "reward rate, % of what all arrivals bring"
    assert bars.yaxis.get_major_formatter()(0.25, None) == "25"
    assert [label.get_text() for label in bars.get_xticklabels()] == ["greedy", "GACL", r"\$ours\$"]


def test_bars_need_neither_bound_nor_rr_nor_intervals():
    (axes,) = reward_bars_figure([MethodReward("ours", Estimate(0.0))]).axes
    assert list(heights(axes)) == ["co-located reward rate (CRR)"]
    assert not axes.lines


def test_a_method_that_answers_once_is_a_point_and_one_that_gets_better_a_line_of_steps():
    (axes,) = reward_over_time_figure(CURVES, bound=0.56).axes
    greedy, gacl, ours, bound = axes.lines
    assert greedy.get_xydata().tolist() == [[2.0, 0.4]]
    assert gacl.get_xydata().tolist() == [[5.0, 0.2], [50.0, 0.3], [700.0, 0.45]]
    assert (greedy.get_linestyle(), gacl.get_linestyle(), gacl.get_drawstyle()) == ("None", "--", "steps-post")
    assert len({line.get_marker() for line in (greedy, gacl, ours)}) == 3
    assert set(bound.get_ydata()) == {0.56}
    assert axes.get_ylim()[0] == 0.0


@pytest.mark.parametrize(
    ("seconds", "names"),
    [
        ((2.0, 700.0), ["1 s", "10 s", "1 min", "10 min", "1 h"]),
        ((0.03, 0.2), ["0.01 s", "0.1 s", "1 s"]),
        ((60.0, 60.0), ["10 s", "1 min", "10 min"]),
        ((0.0, 1e7), ["0.001 s", "0.01 s", "0.1 s", "1 s", "10 s", "1 min", "10 min", "1 h", "12 h", "1 week"]),
        ((1e7, 2e7), ["1 week"]),
    ],
)
def test_times_have_names_and_the_axis_holds_all_of_them(seconds, names):
    curve = RewardCurve("one", tuple((at, 0.5) for at in seconds))
    (axes,) = reward_over_time_figure([curve]).axes
    assert axes.get_xscale() == "log"
    low, high = axes.get_xlim()
    assert low < max(min(seconds), 1e-3)  # a logarithm has no 0
    assert max(seconds) < high
    assert [label.get_text() for label in axes.get_xticklabels()] == names
    assert axes.get_xlabel() == "run time of the method"


def test_both_pictures_can_be_written():
    for figure in (
        reward_bars_figure(METHODS, bound=Estimate(0.56)),
        reward_over_time_figure(CURVES, bound=0.56, unit="reward/second"),
    ):
        assert figure_bytes(figure, ".svg") == figure_bytes(figure, ".svg")


@pytest.mark.parametrize("draw", [lambda: reward_bars_figure(METHODS), lambda: reward_over_time_figure(CURVES)])
def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, draw):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="needs the extra 'report'"):
        draw()
