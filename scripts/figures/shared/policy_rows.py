"""Policies in rows, what each earns in several cases as marks: numbers that a study brings, with intervals.

A row for each policy. In it a mark for each case (a dropping threshold, a kind of queue), whose shape and
colour say which, each a little lower than the last so that none hides another, with a whisker for the 95 %
confidence interval. Several panels, as of two priorities, stand side by side and share their rows. What no
policy can pass is a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.io.figure_files import drawing_style
from lpsched.report.figures.style import (
    INK,
    LIMIT_LINE,
    RED,
    RULE,
    STYLES,
    blank_figure,
    draw_grid,
    legend_above,
    lettered,
    write_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.model.provenance import Estimate

ROW_INCHES: Final = 0.18
CASE_INCHES: Final = 0.07
AROUND_INCHES: Final = 1.0
LONGEST_NAME: Final = 30  # letters
LANES: Final = 0.74  # of the room of a policy


@dataclass(frozen=True, slots=True)
class Marks:
    """One case: an estimate for each policy, `None` where there is none."""

    name: str
    estimates: tuple[Estimate | None, ...]


@dataclass(frozen=True, slots=True)
class RowPanel:
    """What one panel shows: its axis, its cases, and a line that nothing passes."""

    label: str
    cases: tuple[Marks, ...]
    limit: tuple[str, float] | None = None


def policy_rows_figure(names: Sequence[str], panels: Sequence[RowPanel]) -> Figure:
    """Draw policies in rows; every panel has the same cases, and an estimate of each for every policy.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        cases = max(len(panel.cases) for panel in panels)
        figure = blank_figure(AROUND_INCHES + len(names) * (ROW_INCHES + CASE_INCHES * cases))
        several = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, panel in zip(several, panels, strict=True):
            _draw_panel(axes, len(names), panel)
        several[0].set_yticks(range(len(names)), [lettered(name, LONGEST_NAME) for name in names])
        several[0].set_ylim(len(names) - 0.5, -0.5)
        legend_above(figure, *several)
        return figure


def _draw_panel(axes: Axes, rows: int, panel: RowPanel) -> None:
    count = len(panel.cases)
    for place, case in enumerate(panel.cases):
        _draw_case(axes, case, LANES * ((place + 0.5) / count - 0.5), STYLES[place % len(STYLES)])
    for row in range(1, rows):
        axes.axhline(row - 0.5, color=RULE, linewidth=0.6, zorder=0)
    if panel.limit is not None:
        name, height = panel.limit
        axes.axvline(height, color=RED, linestyle="--", linewidth=LIMIT_LINE, label=lettered(name))
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(left=0.0)
    axes.set_xlabel(panel.label)
    write_numbers(axes.xaxis)
    draw_grid(axes, "x")


def _draw_case(axes: Axes, case: Marks, lane: float, style: tuple[str, str]) -> None:
    """Draw the marks of a case, with whiskers where there is an interval."""
    colour, mark = style
    known = [(row + lane, each) for row, each in enumerate(case.estimates) if each is not None]
    axes.errorbar(
        [each.mean for _, each in known],
        [height for height, _ in known],
        xerr=[each.half_width or 0.0 for _, each in known],
        linestyle="none",
        marker=mark,
        markersize=4.5,
        color=colour,
        markeredgecolor=INK,
        markeredgewidth=0.4,
        elinewidth=0.9,
        ecolor=INK,
        capsize=1.5,
        label=lettered(case.name),
    )
