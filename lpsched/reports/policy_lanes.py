"""A lane for each policy, one below the other: what pictures of priorities and of waits have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.reports.pictures import RULE, lettered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lpsched.result.policy_entry import PolicyEntry
    from lpsched.result.simulation import Simulation

MOST_LANES: Final = 40


def lanes_of(result: Simulation) -> list[PolicyEntry]:
    """Return the policies that have an answer; of many, the first."""
    return [entry for entry in result.policies if entry.answers][:MOST_LANES]


def draw_lanes(axes: Axes, entries: list[PolicyEntry]) -> None:
    """Name the lanes, and draw a line between each two."""
    for row in range(1, len(entries)):
        axes.axhline(row - 0.5, color=RULE, linewidth=0.6, zorder=0)
    axes.set_yticks(range(len(entries)), [lettered(entry.name) for entry in entries])
    axes.set_ylim(max(1, len(entries)) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
