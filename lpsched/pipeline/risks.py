"""The risk of a schedule: drawn, and told in means, percentiles, covariances and chances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.errors import Fault, InstanceError
from lpsched.instance import Bag
from lpsched.risk.bag_risk import bag_risk
from lpsched.risk.day_risk import day_risk
from lpsched.risk.options import PERCENTILES, RiskOptions
from lpsched.schedule.bag import Schedule
from lpsched.verify import day as day_verifier
from lpsched.verify.bag import examine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.day import Day
    from lpsched.result.risk import Risk
    from lpsched.risk.options import Cov
    from lpsched.schedule.day import DaySchedule
    from lpsched.verify.violation import Violation


def risk_of(  # noqa: PLR0913 - options are keyword-only
    instance: Bag | Day,
    schedule: Schedule | DaySchedule,
    *,
    samples: int = 1000,
    cov: Cov = 0.3,
    power_cov: Cov | None = None,
    percentiles: Sequence[float] = PERCENTILES,
    drop_below: float | None = None,
    seed: int = 0,
) -> Risk:
    """Sample what a schedule takes if tasks do not take what the tables say.

    Parameters
    ----------
    instance, schedule
        A bag with a schedule of it, or a day with one.
    samples
        How often every time and power is drawn.
    cov, power_cov
        Coefficients of variation of seconds and watts: a number, or a pair (low, high) from which each pair
        and P-state draws its own. Powers scatter as times do, if nothing else is said.
    percentiles
        Which ones to tell.
    drop_below
        Of a day: tasks that are expected to earn less, when their turn comes, do not run.
    seed
        The same seed, the same answer; and the same luck for whatever two schedules have in common.

    Raises
    ------
    InstanceError
        If an option is not sound, the schedule is not valid, a day does not count as a whole, or there were
        too much to draw.

    Examples
    --------
    >>> from lpsched.instance import Bag, MachineType, Table, TaskType
    >>> from lpsched.schedule.bag import MachineGroup, Run, Schedule
    >>> cpu, render = MachineType(name="cpu", count=1), TaskType(name="render", count=100)
    >>> bag = Bag("b", (cpu,), (render,), Table.of([[3.0]]))
    >>> schedule = Schedule((MachineGroup("cpu", 1, (Run("render", 100),)),))
    >>> makespan = risk_of(bag, schedule, cov=0.5).quantities["makespan_seconds"]
    >>> makespan.planned, round(makespan.mean), round(makespan.standard_deviation)  # 0.5 x 3 x sqrt(100)
    (300.0, 300, 15)
    """
    options = RiskOptions(samples, cov, power_cov, tuple(percentiles))
    if isinstance(instance, Bag) and isinstance(schedule, Schedule):
        of_bag = examine(instance, schedule)
        _require_valid(instance.name, of_bag.violations)
        assert of_bag.measured is not None
        return bag_risk(instance, schedule, of_bag.measured, options, seed)
    if isinstance(instance, Bag) or isinstance(schedule, Schedule):
        found, needed = f"a {type(schedule).__name__}", f"a schedule of a {type(instance).__name__.lower()}"
        raise InstanceError(instance.name, (Fault(("schedule",), found, needed, "give one of its own kind"),))
    of_day = day_verifier.examine(instance, schedule)
    _require_valid(instance.name, of_day.violations)
    assert of_day.measured is not None
    return day_risk(instance, schedule, of_day.measured, options, seed, drop_below=drop_below)


def _require_valid(name: str, violations: Sequence[Violation]) -> None:
    """Refuse a schedule that breaks rules."""
    do = "see what 'lpsched verify' says of it"
    faults = [Fault(("schedule",), each.sentence, "a valid schedule", do) for each in violations]
    if faults:
        raise InstanceError(name, tuple(faults))
