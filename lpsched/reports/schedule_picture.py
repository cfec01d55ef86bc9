"""A schedule of a bag in one picture: when machines are done, what they take, and which tasks run where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.files.pictures import drawing_style
from lpsched.reports.loads_picture import bag_loads, draw_loads, loads_inches
from lpsched.reports.pictures import blank_picture
from lpsched.reports.share_map import draw_map, map_inches, shares_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lpsched.instance.bag import Bag
    from lpsched.schedule.bag import Schedule


def schedule_picture(bag: Bag, schedule: Schedule) -> Figure:
    """Draw a valid schedule.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        loads, shares = bag_loads(bag, schedule), shares_of(bag, schedule)
        heights = loads_inches(loads), map_inches(shares)
        figure = blank_picture(sum(heights))
        above, below = figure.subfigures(2, 1, height_ratios=heights, squeeze=False)[:, 0]
        draw_loads(above, loads)
        draw_map(below, shares)
        return figure
