"""The room in one picture: how warm the nodes are, where the power goes, and what the cores run.

    top      the air that each node draws in, in the order of the file, below its redline; beside it the air
             that each CRAC unit blows out, within its range
    middle   watts of each node type, overhead and cores, and of the cooling; all together below the cap
    bottom   which task types share which cores (`core_shares.py`)

The numbers are those of the verifier. Bars begin at 0; temperatures do not, for 0 celsius means nothing here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from lpsched.files.pictures import drawing_style
from lpsched.reports.core_shares import draw_core_shares, shares_legend
from lpsched.reports.pictures import blank_picture
from lpsched.reports.room_air import draw_inlets, draw_outlets
from lpsched.reports.room_power import draw_power, power_rows
from lpsched.reports.shown_nodes import shown_nodes
from lpsched.reports.task_marks import task_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from lpsched.instance.facility import Facility
    from lpsched.schedule.facility import CoreAllocation


class Measured(Protocol):
    """What the verifier measures; see `lpsched.verify.facility.Measurement`."""

    @property
    def node_watts(self) -> Sequence[float]: ...  # noqa: D102 - the verifier says what they are
    @property
    def node_inlets_celsius(self) -> Sequence[float]: ...  # noqa: D102
    @property
    def cooling_watts(self) -> Sequence[float]: ...  # noqa: D102


def room_picture(facility: Facility, measured: Measured, cores: CoreAllocation) -> Figure:
    """Draw the room of an allocation.

    Parameters
    ----------
    measured
        What the verifier measured.
    cores
        The allocation core by core; its outlet temperatures are those of the room.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        marks, nodes = task_marks(facility), shown_nodes(facility, cores)
        legend = shares_legend([cores], nodes, marks)
        rows = power_rows(facility, measured.node_watts, measured.cooling_watts)
        heights = [2.3, 0.6 + 0.22 * len(rows), 2.2]
        figure = blank_picture(sum(heights) + 0.4 + legend.height_inches)
        grid = figure.add_gridspec(3, 2, height_ratios=heights, width_ratios=[5.5, 1.0])
        inlets = figure.add_subplot(grid[0, 0])
        draw_outlets(figure.add_subplot(grid[0, 1], sharey=inlets), facility, cores.outlets_celsius)
        draw_inlets(inlets, facility, measured.node_inlets_celsius, coolest=min(cores.outlets_celsius))
        draw_power(figure.add_subplot(grid[1, :]), rows, facility.power_cap_watts)
        shares = figure.add_subplot(grid[2, :])
        draw_core_shares(shares, facility, cores, nodes, marks)
        shares.set_title("Which task types share which cores")
        legend.draw(figure)
        return figure
