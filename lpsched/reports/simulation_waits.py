"""How long tasks waited on clusters: a row for each policy, marks for median, mean, 95 % and longest.

Waits go from nothing to weeks, so the axis is even up to a minute and logarithmic from there. Over several
trials the marks are means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.display import number
from lpsched.files.pictures import drawing_style
from lpsched.reports.front_marks import MARKS, legend_above
from lpsched.reports.pictures import INK, blank_picture, draw_grid
from lpsched.reports.policy_lanes import draw_lanes, lanes_of
from lpsched.result.policy_columns import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from lpsched.result.policy_entry import PolicyEntry
    from lpsched.result.simulation import Simulation

ROW_INCHES: Final = 0.3
LANES: Final = 0.62  # of the room of a policy
AROUND_INCHES: Final = 1.2
KINDS: Final = (
    ("median", "median"),
    ("mean", "mean"),
    ("p95", "95 % wait no longer"),
    ("longest", "longest"),
)
MINUTE: Final = 60.0
TICKS: Final = (
    (0.0, "0"),
    (60.0, "1 min"),
    (600.0, "10 min"),
    (3600.0, "1 h"),
    (21_600.0, "6 h"),
    (86_400.0, "1 day"),
    (604_800.0, "1 week"),
    (2_592_000.0, "30 days"),
    (31_536_000.0, "1 year"),
    (3.1536e9, "100 years"),
)


def waits_picture(result: Simulation) -> Figure:
    """Draw how long tasks waited.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        figure = blank_picture(waits_inches(result))
        draw_waits(figure, result)
        return figure


def waits_inches(result: Simulation) -> float:
    """Return how high the picture is."""
    return AROUND_INCHES + ROW_INCHES * max(3, len(lanes_of(result)))


def draw_waits(figure: Figure | SubFigure, result: Simulation) -> None:
    """Draw a row for each policy, into a picture or a part of one."""
    entries = lanes_of(result)
    axes = figure.subplots()
    longest = 0.0
    for place, (kind, label) in enumerate(KINDS):
        longest = max(longest, _draw_kind(axes, entries, place, kind, label))
    draw_lanes(axes, entries)
    axes.set_xscale("symlog", linthresh=MINUTE)
    axes.set_xlim(0.0, max(1.3 * longest, MINUTE))
    ticks = [(at, label) for at, label in TICKS if at <= max(1.3 * longest, MINUTE)]
    axes.set_xticks([at for at, _ in ticks], [label for _, label in ticks])
    axes.minorticks_off()
    axes.set_xlabel("wait from arrival to start")
    draw_grid(axes, "x")
    legend_above(figure, axes)


def _draw_kind(axes: Axes, entries: list[PolicyEntry], place: int, kind: str, label: str) -> float:
    """Draw one mark in each row; return the rightmost."""
    lane = LANES * ((place + 0.5) / len(KINDS) - 0.5)  # each a little lower, so that none hides another
    means = [(row + lane, entry.mean(f"wait_seconds.{kind}")) for row, entry in enumerate(entries)]
    spots = [(mean.mean, height) for height, mean in means if mean is not None]
    colour, mark = MARKS[place]
    axes.plot(
        [x for x, _ in spots],
        [y for _, y in spots],
        linestyle="none",
        marker=mark,
        markersize=5,
        color=colour,
        markeredgecolor=INK,
        markeredgewidth=0.4,
        label=label,
        clip_on=False,
    )
    return max((x for x, _ in spots), default=0.0)


def wait_rows(result: Simulation) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the same as a table: headers, and a row for each policy."""
    headers = ("policy", *(f"{label}, s" for _, label in KINDS), "mean bounded slowdown")
    rows = []
    for entry in result.policies:
        if entry.answers:
            waits = (shown(entry.mean(f"wait_seconds.{kind}"), digits=4) for kind, _ in KINDS)
            rows.append((entry.name, *waits, shown(entry.mean("mean_bounded_slowdown"), digits=4)))
    return headers, rows


def waits_in_words(result: Simulation) -> str:
    """Return what the picture shows, for those who do not see it."""
    means = [(entry.name, entry.mean("wait_seconds.mean")) for entry in result.policies]
    return "; ".join(
        f"{name} {number(mean.mean, 4)} s on average" for name, mean in means if mean is not None
    )
