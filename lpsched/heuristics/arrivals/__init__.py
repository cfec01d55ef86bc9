"""Static heuristics for days: tasks that arrive over time and are worth less the later they end.

    single_stage    tasks in the order of arrival, each where it scores best: min-energy, max-utility, ...
    min_min         of all tasks the one that can end first
    two_stage       of each minute's tasks the best pair of task and machine: max-max-...

All arrivals are known beforehand, and a queue is never changed. (Rules that see only the present, and change
their minds, need a simulator.) Every task is run, unless `drop_below` says which are not worth it.
"""

from lpsched.heuristics.arrivals.registry import (
    DayHeuristic,
    forget_for_days,
    heuristic_for_days,
    names_for_days,
    register_for_days,
)

__all__ = ["DayHeuristic", "forget_for_days", "heuristic_for_days", "names_for_days", "register_for_days"]
