"""The risk of a schedule of a bag: drawn, and told in means, percentiles and chances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.result.risk import Risk, told
from lpsched.risk.bag_samples import sample_bag
from lpsched.risk.spreads import spread_of

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Mask
    from lpsched.risk.bag_samples import BagSamples
    from lpsched.risk.options import RiskOptions
    from lpsched.schedule.bag import Schedule
    from lpsched.verify.bag import Measurement

SPREADS: Final = 1  # beside the seed, so that drawing coefficients of variation moves no other draw


ROUNDING: Final = 1e-9  # of the cap: a schedule that is planned to keep it exactly, and certain, keeps it


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
