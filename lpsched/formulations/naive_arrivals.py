"""The thesis's own figure: what would be earned if every task started as it arrives, on its fastest column.

    naive  =  sum over tasks of share(arrival, arrival + e) U(e),      e the least of the task's seconds

That passes over two things, so it is a yardstick and no bound. A task on its fastest column takes the most
power as a rule, and all of them together need more machines than there are: real schedules earn less. But
only the tasks that would run in the period at once count in it: one that arrives in the warm-up can be kept
waiting until the period has begun, and then earns something there. `arrivals.py` bounds that as well.

Where tasks cost what they wait it is a bound, and a simple one: nobody waits.

Source: Friese, thesis of 2015, section 2.7.1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lpsched.formulations.arrival_offers import offers_of

if TYPE_CHECKING:
    from lpsched.formulations.arrival_offers import Offers
    from lpsched.instance.day import Day
    from lpsched.instance.period import Period


def naive_utility(day: Day) -> float:
    """Return what all tasks would earn, each at once on a machine of its own.

    Examples
    --------
    Two tasks of 40 seconds worth 8 each, the second of which is cut in half by the end of the period:

    >>> from lpsched.instance import Table
    >>> from lpsched.instance.day import ArrivingTasks, DayMachineType, DayTaskType, Day
    >>> from lpsched.instance.period import Period
    >>> from lpsched.instance.utility import Interval, UtilityFunction
    >>> steady = UtilityFunction((Interval(0.0, 8.0, 8.0, 0.0),))
    >>> tasks = ArrivingTasks.of([0.0, 30.0], [0, 0], ["steady", "steady"])
    >>> day = Day("two", (DayMachineType("cpu", 1),), (DayTaskType("render"),), Table.of([[40.0]]),
    ...     Table.of([[100.0]]), tasks, utility_functions={"steady": steady}, period=Period(0.0, 50.0))
    >>> naive_utility(day)
    12.0
    """
    return naive_of(offers_of(day), day.period)


def naive_of(offers: Offers, period: Period) -> float:
    """Return what all offers would earn, each at once on machines of its own."""
    if offers.waits:
        return math.fsum(offers.worths(np.zeros(offers.count)).tolist())
    fastest = offers.fastest_seconds
    earned, ends = offers.worths(fastest), offers.arrivals + fastest
    shares = (period.share(*run) for run in zip(offers.arrivals.tolist(), ends.tolist(), strict=True))
    return math.fsum(share * each for share, each in zip(shares, earned.tolist(), strict=True))
