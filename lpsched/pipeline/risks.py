"""The risk of a schedule: drawn, and told in means, percentiles, covariances and chances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.instance import Bag
from lpsched.instance.day_arrays import day_arrays
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.period import require_whole
from lpsched.result.risk import Chance, Distribution, Risk
from lpsched.risk.bag_samples import sample_bag
from lpsched.risk.day_samples import sample_day
from lpsched.risk.options import PERCENTILES, RiskOptions, written
from lpsched.risk.spreads import spread_of
from lpsched.risk.task_draws import task_draws
from lpsched.schedule.bag import Schedule
from lpsched.verify import day as day_verifier
from lpsched.verify.bag import examine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.instance.arrays import Floats, Mask
    from lpsched.instance.day import Day
    from lpsched.risk.bag_samples import BagSamples
    from lpsched.risk.options import Cov
    from lpsched.schedule.day import DaySchedule
    from lpsched.verify.bag import Measurement, Violation
    from lpsched.verify.day import DayMeasurement

SPREADS: Final = 1  # beside the seed, so that drawing coefficients of variation moves no other draw
ROUNDING: Final = 1e-9  # of the cap: a schedule that is planned to keep it exactly, and certain, keeps it


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


def bag_risk(bag: Bag, schedule: Schedule, planned: Measurement, options: RiskOptions, seed: int) -> Risk:
    """Sample a schedule that is known to be valid, and what it was measured to take.

    Raises
    ------
    InstanceError
        If there were too much to draw.
    """
    shape = (len(bag.task_types), len(bag.modes))
    spread = spread_of(shape, options, np.random.default_rng((seed, SPREADS)))
    drawn = sample_bag(bag, schedule, spread, samples=options.samples, seed=seed)
    named = {
        "profit_per_hour": (planned.profit_per_hour, drawn.profit_per_hour),
        "makespan_seconds": (planned.makespan_seconds, drawn.makespan_seconds),
        "energy_joules": (planned.energy_joules, drawn.energy_joules),
    }
    known = {name: (plan, each) for name, (plan, each) in named.items() if each is not None}
    return told(known, _chances(bag, drawn), options, seed, currency=bag.prices.currency)


def day_risk(  # noqa: PLR0913 - what was asked
    day: Day,
    schedule: DaySchedule,
    planned: DayMeasurement,
    options: RiskOptions,
    seed: int,
    *,
    drop_below: float | None = None,
) -> Risk:
    """Sample a schedule of a day that is known to be valid, and what it was measured to take.

    Raises
    ------
    InstanceError
        If there were too much to draw, or the day does not count as a whole.
    """
    require_whole(day.name, day.period, "sampling")
    arrays = day_arrays(day)
    draws = task_draws(day.tasks, arrays.seconds, arrays.watts, options, seed)
    drawn = sample_day(day, schedule, draws, drop_below=drop_below)
    quantities = {
        "utility": (planned.utility, drawn.utility),
        "energy_joules": (planned.energy_joules, drawn.energy_joules),
        "makespan_seconds": (planned.makespan_seconds, drawn.makespan_seconds),
        "dropped_tasks": (float(planned.dropped), drawn.dropped_tasks.astype(float)),
    }
    return told(quantities, {}, options, seed)


def told(
    quantities: Mapping[str, tuple[float | None, Floats]],
    events: Mapping[str, Mask],
    options: RiskOptions,
    seed: int,
    *,
    currency: str = "",
) -> Risk:
    """Sum up samples: quantities with what was planned, and events that happened in some."""
    with np.errstate(over="ignore", invalid="ignore"):
        matrix = np.atleast_2d(np.cov(np.stack([drawn for _, drawn in quantities.values()])))
        distributions = {name: _distribution(*each, options.percentiles) for name, each in quantities.items()}
    return Risk(
        samples=options.samples,
        seed=seed,
        cov=written(options.cov),
        power_cov=written(options.powers),
        quantities=FrozenDict(distributions),
        covariance=tuple(tuple(map(_finite, row)) for row in matrix.tolist()),
        chances=FrozenDict(
            {name: Chance.of(int(met.sum()), options.samples) for name, met in events.items()}
        ),
        currency=currency,
    )


def _chances(bag: Bag, drawn: BagSamples) -> dict[str, Mask]:
    """Return which samples lose money, and which break a limit of the site."""
    site, events = bag.site, {}
    if drawn.profit_per_hour is not None:
        events["loss"] = drawn.profit_per_hour < 0.0
    if site.deadline_seconds is not None:
        events["after_deadline"] = drawn.makespan_seconds > site.deadline_seconds
    if site.average_power_cap_watts is not None and drawn.energy_joules is not None:
        meter = site.pue if site.cap_measured_at == "facility" else 1.0
        most = site.average_power_cap_watts * (1.0 + ROUNDING) * drawn.makespan_seconds
        events["over_power_cap"] = meter * drawn.energy_joules > most
    return events


def _distribution(planned: float | None, drawn: Floats, percentiles: Sequence[float]) -> Distribution:
    deviation = float(drawn.std(ddof=1))
    values = np.percentile(drawn, percentiles).tolist()
    return Distribution(
        planned=planned,
        mean=_finite(float(drawn.mean())),
        standard_deviation=_finite(deviation),
        standard_error=_finite(deviation / len(drawn) ** 0.5),
        percentiles=FrozenDict(zip(percentiles, map(_finite, values), strict=True)),
    )


def _finite(number: float) -> float | None:
    return number if np.isfinite(number) else None
