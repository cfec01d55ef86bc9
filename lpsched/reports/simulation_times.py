"""What machines ran under a policy, and when (`timeline.py`); or nodes of clusters (`node_picture.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.instance.day import Day
from lpsched.reports.node_picture import node_picture
from lpsched.reports.node_times import node_times
from lpsched.reports.timeline import timeline_of, timeline_picture
from lpsched.schedule.day import DaySchedule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lpsched.instance.clusters import Clusters
    from lpsched.result.policy_entry import PolicyEntry


def times_picture(instance: Day | Clusters, entry: PolicyEntry) -> Figure:
    """Draw the schedule of a policy, which it has.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    assert entry.schedule is not None, "asked only where there is one"
    if isinstance(instance, Day):
        assert isinstance(entry.schedule, DaySchedule), "of a day"
        return timeline_picture(timeline_of(instance, entry.schedule), entry.name)
    assert not isinstance(entry.schedule, DaySchedule), "of clusters"
    return node_picture(node_times(instance, entry.schedule), entry.name)
