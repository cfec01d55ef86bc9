"""The engine: owns the clock and the truth, asks a policy, checks every answer, and keeps what happened.

Of equal times: tasks end; then pending tasks start and virtual queues move up; then tasks arrive; then comes
the mapping event, which sees all of that. The clock stands still while a policy thinks.

What a mapping event does is in `batches.py`, for policies that map all tasks that wait, and in
`one_by_one.py`, for those that map each task as it comes. What would break the energy constraint, or start
after the day's end, is not done, whatever the policy says: the task waits.

Source: Friese, thesis of 2015, 2.4, 3.3 and 4.3. There, mapping that takes longer than a minute delays the
next event, and a task that fits nowhere is not looked at again before the next day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.errors import Fault, InstanceError
from lpsched.simulation.batches import run_in_batches
from lpsched.simulation.happened import Fate, SimulatedDay
from lpsched.simulation.one_by_one import run_one_by_one
from lpsched.simulation.options import POLLED
from lpsched.simulation.running import RunningDay
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from lpsched.instance.day import Day
    from lpsched.simulation.options import SimulationOptions
    from lpsched.simulation.policy import Policy

__all__ = ["Fate", "SimulatedDay", "simulate_day"]


def simulate_day(
    day: Day,
    policy: Policy,
    rng: np.random.Generator,
    options: SimulationOptions,
    *,
    watch: Watch | None = None,
) -> SimulatedDay:
    """Run a day under a policy.

    Raises
    ------
    InstanceError
        If the options do not fit the policy or the day.
    PolicyError
        If the policy answers with something that cannot be; the error names the policy and the decision.
    StalledError
        If the policy maps nothing all day, though there was something to map.
    """
    faults = tuple(_misfits(day, policy, options))
    if faults:
        raise InstanceError("simulating the day", faults)
    running = RunningDay(day, policy, rng, options, watch if watch is not None else Watch())
    is_whole = run_one_by_one(running) if policy.immediate else run_in_batches(running)
    if is_whole:
        running.raise_if_stalled()
    return running.happened.simulated(day, running.system, is_whole=is_whole)


def _misfits(day: Day, policy: Policy, options: SimulationOptions) -> Iterator[Fault]:
    """Find options that do not fit the policy or the day."""
    if policy.immediate:
        if options.machines == POLLED:
            found, needed = (
                f"policy {policy.name!r}, which maps each task as it comes",
                "machines with queues",
            )
            yield Fault(("machines",), found, needed, "choose queued machines, or a policy of batch mode")
    elif options.every_arrivals is None and (options.every_seconds or 0.0) >= day.period.ends_at:
        found, needed = f"{options.every_seconds!r} s", f"less than the day has, {day.period.ends_at!r} s"
        yield Fault(("every_seconds",), found, needed, "shorten it: there would be no mapping event")
