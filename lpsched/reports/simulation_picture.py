"""A simulation in one picture: utility and energy over the period, and below what each priority earned.

Where tasks are judged by what they wait: its cost over time, and below how long they waited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.files.pictures import drawing_style
from lpsched.reports.pictures import blank_picture
from lpsched.reports.simulation_priorities import draw_priorities, inches
from lpsched.reports.simulation_traces import INCHES, draw_traces
from lpsched.reports.simulation_waits import draw_waits, waits_inches
from lpsched.result.policy_columns import Judged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lpsched.result.simulation import Simulation


def simulation_picture(result: Simulation) -> Figure:
    """Draw the policies of a simulation.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        waits = result.judged is Judged.WAITING
        heights = INCHES, waits_inches(result) if waits else inches(result)
        figure = blank_picture(sum(heights))
        parts = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)
        draw_traces(parts[0, 0], result)
        (draw_waits if waits else draw_priorities)(parts[1, 0], result)
        return figure
