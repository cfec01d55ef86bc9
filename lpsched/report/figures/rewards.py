"""What methods earn, in bars, as the paper's figure 2.

Bars: the reward rate of each method with co-location (CRR) plain, and without (RR) hatched where it is given;
both as shares of what all arrivals would bring, as means of several trials with 95 % confidence intervals.
The bound is a line that no verified allocation passes. Nothing is solved here: the numbers are given.

Source: Oxley and others, section VI, figure 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.io.pictures import drawing_style
from lpsched.report.figures.style import BLUE, INK, LIMIT_LINE, ORANGE, SKY, SMALL_LETTERS, blank_picture, lettered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.model.provenance import Estimate

BAR: Final = 0.36  # of the room of a method
COLOCATED: Final = SKY
PLAIN: Final = ORANGE


@dataclass(frozen=True, slots=True)
class MethodReward:
    """What one method earns, as a share of what all arrivals would bring."""

    name: str
    colocated: Estimate  # CRR
    plain: Estimate | None = None  # RR


def reward_bars_picture(methods: Sequence[MethodReward], *, bound: Estimate | None = None) -> Figure:
    """Draw what methods earn as bars, and the bound (of the co-located reward rate) as a line."""
    with drawing_style():
        figure = blank_picture(3.4)
        axes = figure.subplots()
        pairs = [(place, each.plain) for place, each in enumerate(methods) if each.plain is not None]
        paired = {place for place, _ in pairs}
        single = [(place + (BAR / 2 if place in paired else 0.0), each.colocated) for place, each in enumerate(methods)]
        shifted = [(place - BAR / 2, plain) for place, plain in pairs]
        if shifted:
            _draw_bars(axes, shifted, PLAIN, "////", "reward rate as if cores did not slow each other (RR)")
        _draw_bars(axes, single, COLOCATED, "", "co-located reward rate (CRR)")
        if bound is not None:
            draw_bound(axes, bound, "bound of the co-located reward rate")
        axes.set_xticks(range(len(methods)), [lettered(each.name, 16) for each in methods])
        axes.tick_params(axis="x", length=0)
        axes.set_ylim(bottom=0.0)
        axes.set_ylabel("reward rate, % of what all arrivals bring")
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}")
        figure.legend(loc="outside upper left", ncols=1)
        return figure


def _draw_bars(axes: Axes, bars: Sequence[tuple[float, Estimate]], colour: str, hatch: str, label: str) -> None:
    """Draw some bars with their intervals, and the mean at its foot."""
    means = [each.mean for _, each in bars]
    widths = [each.half_width or 0.0 for _, each in bars]
    axes.bar(
        [place for place, _ in bars],
        means,
        BAR,
        color=colour,
        hatch=hatch,
        edgecolor=INK,
        linewidth=0.5,
        label=label,
        yerr=widths if any(widths) else None,
        capsize=3,
        error_kw={"elinewidth": 0.8, "ecolor": INK},
    )
    paper = {"facecolor": "white", "edgecolor": "none", "boxstyle": "round,pad=0.15"}
    for place, each in bars:  # at the foot, where neither interval nor bound is
        text, above = f"{100 * each.mean:.3g}", (0, 6)
        axes.annotate(
            text, (place, 0.0), above, textcoords="offset points", ha="center", fontsize=SMALL_LETTERS, bbox=paper
        )


def draw_bound(axes: Axes, bound: Estimate, label: str) -> None:
    """Draw a bound as a line, with its interval."""
    if bound.half_width:
        axes.axhspan(bound.mean - bound.half_width, bound.mean + bound.half_width, color=BLUE, alpha=0.15, linewidth=0)
    axes.axhline(bound.mean, color=BLUE, linestyle="--", linewidth=LIMIT_LINE, label=label)
