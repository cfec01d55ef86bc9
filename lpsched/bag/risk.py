"""The risk of a schedule of a bag: samples of makespan, energy and profit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.arrays import BagArrays, arrays_of, covs_of
from lpsched.bag.cost import cost_model, profit_per_hour
from lpsched.bag.schedule import Schedule, numbered
from lpsched.errors import InputIssue, InstanceError
from lpsched.model.risk import SPREADS, Risk, RiskOptions, Spread, risk_of_samples, spread_of

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.verify import Measurement
    from lpsched.model.table import Floats


# What a schedule of a bag takes, drawn again and again: makespan, energy and profit of each sample.
#
#    e, a   the tables' seconds and watts of a pair, which are means; b the idle watts of the machine type
#    v, w   coefficients of variation of seconds and watts;   k = 1 / v^2, the shape of the gamma distribution
#
# A machine that runs n tasks of a pair is busy for S, the sum of n independent gamma times: that is a gamma
# time itself, of shape n k and scale e / k. So one draw does for n tasks, exactly, however many they are.
# Their joules are S W, with W the power averaged over that time. The shares of the tasks in S have a
# Dirichlet distribution and do not depend on S, so neither does W, and
#
#     mean of W  =  a            (sd of W / mean of W)^2  =  w^2 (k + 1) / (n k + 1)
#
# W is drawn as a gamma number with this mean and this deviation. That is exact for a single task, and for any
# number of tasks whose times are certain; else means, variances and covariances are exact, and only the
# skewness of W is somewhat too small (by less than half, and it vanishes as n grows).
#
#     makespan  t  =  the largest sum of S of a machine, or the schedule's own end where it waits for it
#     energy    E  =  sum S (W - b)  +  I t,    I the idle watts of all machines
#     profit    by the cost model (`cost.py`), in money per hour
#
# Each machine of a group is drawn on its own. Cost: machines x pairs x samples, whatever the tasks.
#
# Common random numbers: the draws for a machine and a pair come from a stream of their own, which only
# depends on the seed, the pair, and the machine's number. Where two schedules agree, so do their samples.
MOST_DRAWS: Final = 200_000_000  # some ten seconds
CELLS: Final = 1 << 18  # drawn at once: 2 MiB
CERTAIN: Final = 1e-34  # a variance below the square of a double's rounding
SAME_END: Final = 1e-12  # an end that differs from the last task's by rounding only is no waiting


@dataclass(frozen=True, slots=True, eq=False)
class BagSamples:
    """S samples; energy is `None` without watts, profit where the bag's prices are incomplete."""

    makespan_seconds: Floats
    energy_joules: Floats | None
    profit_per_hour: Floats | None


@dataclass(frozen=True, slots=True)
class _Batch:
    """Machines that run the same, and how many tasks of each pair (row, column) each of them runs."""

    machine_type: int
    first: int  # its first machine's number among those of the type
    machines: int
    counts: Mapping[tuple[int, int], int]


def sample_bag(bag: Bag, schedule: Schedule, spread: Spread, *, samples: int, seed: int) -> BagSamples:
    """Draw what a valid schedule takes, `samples` times."""
    arrays, batches = arrays_of(bag), list(_batches(bag, schedule))
    _require_few_draws(batches, spread, samples)
    tally = _Tally(arrays, spread, samples, seed)
    for batch in batches:
        tally.take(batch)
    makespan = tally.longest
    if schedule.makespan_seconds is not None:
        planned = max(sum(n * arrays.seconds[pair] for pair, n in batch.counts.items()) for batch in batches)
        if schedule.makespan_seconds > planned * (1.0 + SAME_END):
            makespan = np.maximum(makespan, schedule.makespan_seconds)
    energy = None
    if arrays.watts is not None:
        energy = tally.above_idle + float(arrays.idle_watts @ arrays.machine_counts) * makespan
    with np.errstate(divide="ignore", over="ignore"):  # a single task may, by chance, take next to no time
        profits = profit_per_hour(cost_model(bag), makespan, energy, tally.busy)
    return BagSamples(makespan, energy, profits)


class _Tally:
    """Adds up what batches draw."""

    def __init__(self, arrays: BagArrays, spread: Spread, samples: int, seed: int) -> None:
        self.arrays, self.spread, self.samples, self.seed = arrays, spread, samples, seed
        self.longest = np.zeros(samples)
        self.above_idle = np.zeros(samples)  # joules
        self.busy = np.zeros((len(arrays.machine_counts), samples))  # seconds of all machines of a type

    def take(self, batch: _Batch) -> None:
        """Draw for all machines of a batch; those whose times are certain all take the same."""
        if all(self.spread.seconds_cov[pair] == 0.0 for pair in batch.counts):
            self._take_block(batch, batch.first, 1, alike=batch.machines)
            return
        block = max(1, CELLS // self.samples)
        for start in range(0, batch.machines, block):
            self._take_block(batch, batch.first + start, min(block, batch.machines - start), alike=1)

    def _take_block(self, batch: _Batch, first: int, machines: int, *, alike: int) -> None:
        """Draw for some machines, each of which stands for `alike` ones."""
        load = np.zeros((machines, self.samples))
        idle = self.arrays.idle_watts[batch.machine_type]
        for pair, count in batch.counts.items():
            stream = np.random.default_rng((self.seed, *pair, first))
            v, w = self.spread.seconds_cov[pair], self.spread.watts_cov[pair]
            seconds = count * self.arrays.seconds[pair] * _around_one(stream, v * v / count, load.shape)
            load += seconds
            if self.arrays.watts is not None:
                ratio = (1.0 + v * v) / (count * alike + v * v)  # (k + 1) / (n k + 1)
                watts = self.arrays.watts[pair] * _around_one(stream, w * w * ratio, load.shape)
                self.above_idle += alike * (seconds * (watts - idle)).sum(axis=0)
        self.longest = np.maximum(self.longest, load.max(axis=0))
        self.busy[batch.machine_type] += alike * load.sum(axis=0)


def _around_one(stream: np.random.Generator, variance: float, shape: tuple[int, ...]) -> Floats:
    """Draw gamma numbers of mean 1; those that could not be distinguished from 1 are certain."""
    if variance < CERTAIN:
        return np.ones(shape)
    return stream.standard_gamma(1.0 / variance, shape) * variance


def _batches(bag: Bag, schedule: Schedule) -> Iterator[_Batch]:
    """Yield the groups with tasks of a pair counted together: a sum does not depend on their order."""
    used: Counter[int] = Counter()
    for j, machines, runs in numbered(bag, schedule):
        counts: Counter[tuple[int, int]] = Counter()
        for i, column, count in runs:
            counts[i, column] += count
        yield _Batch(j, used[j], machines, counts)
        used[j] += machines


def _require_few_draws(batches: list[_Batch], spread: Spread, samples: int) -> None:
    """Reject what would take minutes."""
    draws = sum(
        2 * len(batch.counts) * batch.machines
        for batch in batches
        if any(spread.seconds_cov[pair] > 0.0 for pair in batch.counts)
    )
    if draws * samples <= MOST_DRAWS:
        return
    most = MOST_DRAWS // draws
    found = f"{samples:,} samples of {draws:,} times and powers"
    do = f"ask for {most:,} samples" if most > 1 else "scale the bag down: each machine is drawn"
    raise InstanceError("", (InputIssue(("samples",), found, f"at most {MOST_DRAWS:,} draws", do),))


# The risk of a schedule of a bag: drawn, and reported in means, percentiles and probabilities.
ROUNDING: Final = 1e-9  # of the cap: a schedule that is planned to keep it exactly, and certain, keeps it


def bag_risk(bag: Bag, schedule: Schedule, planned: Measurement, options: RiskOptions, seed: int) -> Risk:
    """Sample a schedule that is known to be valid, and what it was measured to take."""
    shape = (len(bag.task_types), len(bag.modes))
    spread = spread_of(shape, options, np.random.default_rng((seed, SPREADS)), covs_of(bag))
    drawn = sample_bag(bag, schedule, spread, samples=options.samples, seed=seed)
    named = {
        "profit_per_hour": (planned.profit_per_hour, drawn.profit_per_hour),
        "makespan_seconds": (planned.makespan_seconds, drawn.makespan_seconds),
        "energy_joules": (planned.energy_joules, drawn.energy_joules),
    }
    known = {name: (plan, each) for name, (plan, each) in named.items() if each is not None}
    site, events = bag.site, {}  # which samples lose money, and which break a limit of the site
    if drawn.profit_per_hour is not None:
        events["loss"] = drawn.profit_per_hour < 0.0
    if site.deadline_seconds is not None:
        events["after_deadline"] = drawn.makespan_seconds > site.deadline_seconds
    if site.average_power_cap_watts is not None and drawn.energy_joules is not None:
        most = site.average_power_cap_watts * (1.0 + ROUNDING) * drawn.makespan_seconds
        events["over_power_cap"] = cost_model(bag).meter * drawn.energy_joules > most
    return risk_of_samples(known, events, options, seed, currency=bag.prices.currency)
