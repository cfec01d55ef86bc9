"""How much each policy earned of what the tasks of each priority would earn if none waited.

A row for each policy, a mark for each priority: its shape and its colour say which, its place says which
share its tasks earned of the naive figure, that is of what they would earn if each began on arrival where it
is quickest. More than all of it can be earned: by tasks of the warm-up that run in the period.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.files.pictures import drawing_style
from lpsched.reports.front_marks import legend_above
from lpsched.reports.pictures import INK, blank_picture, draw_grid, lettered
from lpsched.reports.policy_lanes import draw_lanes, lanes_of
from lpsched.reports.priority_marks import SHAPES, priority_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from lpsched.reports.priority_marks import PriorityMark
    from lpsched.result.policy_entry import PolicyEntry
    from lpsched.result.simulation import Simulation

MOST_PRIORITIES: Final = len(SHAPES)
ROW_INCHES: Final = 0.3
LANES: Final = 0.62  # of the room of a policy
AROUND_INCHES: Final = 1.2


def priorities_of(result: Simulation) -> tuple[str, ...]:
    """Return the priorities, or names of own functions, that can earn something; of many, the first."""
    names = {each.name: None for entry in result.policies for each in entry.earned if each.share is not None}
    return tuple(names)[:MOST_PRIORITIES]


def priorities_picture(result: Simulation) -> Figure:
    """Draw the share that each policy earned of the naive figure of each priority.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        figure = blank_picture(inches(result))
        draw_priorities(figure, result)
        return figure


def inches(result: Simulation) -> float:
    """Return how high the picture is."""
    return AROUND_INCHES + ROW_INCHES * max(4, len(lanes_of(result)))


def draw_priorities(figure: Figure | SubFigure, result: Simulation) -> None:
    """Draw a row for each policy, into a picture or a part of one."""
    entries = lanes_of(result)
    axes = figure.subplots()
    names = priorities_of(result)
    for place, (name, mark) in enumerate(zip(names, priority_marks(len(names)), strict=True)):
        lane = LANES * ((place + 0.5) / len(names) - 0.5)  # each a little lower, so that none hides another
        _draw_priority(axes, name, mark, lane, entries)
    draw_lanes(axes, entries)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("utility earned, % of what the tasks of each priority earn if none waits")
    draw_grid(axes, "x")
    legend_above(figure, axes)


def _draw_priority(
    axes: Axes, name: str, mark: PriorityMark, lane: float, entries: Sequence[PolicyEntry]
) -> None:
    shares = [next((each.share for each in entry.earned if each.name == name), None) for entry in entries]
    spots = [(100.0 * share, row + lane) for row, share in enumerate(shares) if share is not None]
    axes.plot(
        [x for x, _ in spots],
        [y for _, y in spots],
        linestyle="none",
        marker=mark.shape,
        markersize=5,
        color=mark.colour,
        markeredgecolor=INK,
        markeredgewidth=0.4,
        label=lettered(name),
        clip_on=False,
    )


def priority_rows(result: Simulation) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the same as a table: headers, and a row for each policy."""
    names = priorities_of(result)
    rows = []
    for entry in result.policies:
        share = {each.name: each.share for each in entry.earned}
        if entry.answers:
            rows.append((entry.name, *(_percent(share.get(name)) for name in names)))
    return ("policy", *names), rows


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"
