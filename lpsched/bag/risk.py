"""The risk of a schedule of a bag: samples of makespan, energy and profit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.arrays import BagArrays, arrays_of
from lpsched.bag.cost import cost_model, profit_per_hour
from lpsched.errors import Fault, InstanceError
from lpsched.model.fields import column_numbers
from lpsched.model.risk import SOURCE, SPREADS, Risk, RiskOptions, Spread, spread_of, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lpsched.bag.model import Bag
    from lpsched.bag.schedule import Schedule
    from lpsched.bag.verify import Measurement
    from lpsched.model.arrays import Floats, Mask


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
# Machines of a group differ in luck, so each is drawn. Cost: machines x pairs x samples, whatever the tasks.
#
# Common random numbers: the draws for a machine and a pair come from a stream of their own, which only
# depends on the seed, the pair, and the machine's number. Where two schedules agree, so do their samples.
MOST_DRAWS: Final = 200_000_000  # some ten seconds
CELLS: Final = 1 << 18  # drawn at once: 2 MiB
CERTAIN: Final = 1e-34  # a variance below the square of a double's rounding
SAME_END: Final = 1e-12  # an end that differs from the last task's by rounding only is no waiting


@dataclass(frozen=True, slots=True, eq=False)
class BagSamples:
    """S samples; energy is `None` without watts, profit where the bag's prices do not tell it."""

    makespan_seconds: Floats
    energy_joules: Floats | None
    profit_per_hour: Floats | None


@dataclass(frozen=True, slots=True)
class _Crew:
    """Machines that run the same, and how many tasks of each pair (row, column) each of them runs."""

    machine_type: int
    first: int  # its first machine's number among those of the type
    machines: int
    counts: Mapping[tuple[int, int], int]


def sample_bag(bag: Bag, schedule: Schedule, spread: Spread, *, samples: int, seed: int) -> BagSamples:
    """Draw what a valid schedule takes, `samples` times."""
    arrays, crews = arrays_of(bag), list(_crews(bag, schedule))
    _require_few_draws(crews, spread, samples)
    tally = _Tally(arrays, spread, samples, seed)
    for crew in crews:
        tally.take(crew)
    makespan = tally.longest
    if schedule.makespan_seconds is not None:
        planned = max(sum(n * arrays.seconds[pair] for pair, n in crew.counts.items()) for crew in crews)
        if schedule.makespan_seconds > planned * (1.0 + SAME_END):
            makespan = np.maximum(makespan, schedule.makespan_seconds)
    energy = None
    if arrays.watts is not None:
        energy = tally.above_idle + float(arrays.idle_watts @ arrays.machine_counts) * makespan
    with np.errstate(divide="ignore", over="ignore"):  # a single task may, by chance, take next to no time
        profits = profit_per_hour(cost_model(bag), makespan, energy, tally.busy)
    return BagSamples(makespan, energy, profits)


class _Tally:
    """Adds up what crews draw."""

    def __init__(self, arrays: BagArrays, spread: Spread, samples: int, seed: int) -> None:
        self.arrays, self.spread, self.samples, self.seed = arrays, spread, samples, seed
        self.longest = np.zeros(samples)
        self.above_idle = np.zeros(samples)  # joules
        self.busy = np.zeros((len(arrays.machine_counts), samples))  # seconds of all machines of a type

    def take(self, crew: _Crew) -> None:
        """Draw for all machines of a crew; those whose times are certain all take the same."""
        if all(self.spread.seconds_cov[pair] == 0.0 for pair in crew.counts):
            self._take_block(crew, crew.first, 1, alike=crew.machines)
            return
        block = max(1, CELLS // self.samples)
        for start in range(0, crew.machines, block):
            self._take_block(crew, crew.first + start, min(block, crew.machines - start), alike=1)

    def _take_block(self, crew: _Crew, first: int, machines: int, *, alike: int) -> None:
        """Draw for some machines, each of which stands for `alike` ones."""
        load = np.zeros((machines, self.samples))
        idle = self.arrays.idle_watts[crew.machine_type]
        for pair, count in crew.counts.items():
            stream = np.random.default_rng((self.seed, *pair, first))
            v, w = self.spread.seconds_cov[pair], self.spread.watts_cov[pair]
            seconds = count * self.arrays.seconds[pair] * _around_one(stream, v * v / count, load.shape)
            load += seconds
            if self.arrays.watts is not None:
                ratio = (1.0 + v * v) / (count * alike + v * v)  # (k + 1) / (n k + 1)
                watts = self.arrays.watts[pair] * _around_one(stream, w * w * ratio, load.shape)
                self.above_idle += alike * (seconds * (watts - idle)).sum(axis=0)
        self.longest = np.maximum(self.longest, load.max(axis=0))
        self.busy[crew.machine_type] += alike * load.sum(axis=0)


def _around_one(stream: np.random.Generator, variance: float, shape: tuple[int, ...]) -> Floats:
    """Draw gamma numbers of mean 1; those that could not be told from 1 are certain."""
    if variance < CERTAIN:
        return np.ones(shape)
    return stream.standard_gamma(1.0 / variance, shape) * variance


def _crews(bag: Bag, schedule: Schedule) -> Iterator[_Crew]:
    """Yield the groups with tasks of a pair counted together: a sum does not depend on their order."""
    row = {task.name: i for i, task in enumerate(bag.task_types)}
    number = {machine.name: j for j, machine in enumerate(bag.machine_types)}
    columns = column_numbers(bag.machine_types)
    used: Counter[str] = Counter()
    for group in schedule.groups:
        counts: Counter[tuple[int, int]] = Counter()
        for run in group.runs:
            counts[row[run.task_type], columns[group.machine_type, run.p_state]] += run.count
        yield _Crew(number[group.machine_type], used[group.machine_type], group.machines, counts)
        used[group.machine_type] += group.machines


def _require_few_draws(crews: list[_Crew], spread: Spread, samples: int) -> None:
    """Refuse what would take minutes."""
    draws = sum(
        2 * len(crew.counts) * crew.machines
        for crew in crews
        if any(spread.seconds_cov[pair] > 0.0 for pair in crew.counts)
    )
    if draws * samples <= MOST_DRAWS:
        return
    most = MOST_DRAWS // draws
    found = f"{samples:,} samples of {draws:,} times and powers"
    do = f"ask for {most:,} samples" if most > 1 else "scale the bag down: each machine is drawn"
    raise InstanceError(SOURCE, (Fault(("samples",), found, f"at most {MOST_DRAWS:,} draws", do),))


# The risk of a schedule of a bag: drawn, and told in means, percentiles and chances.
ROUNDING: Final = 1e-9  # of the cap: a schedule that is planned to keep it exactly, and certain, keeps it


def bag_risk(bag: Bag, schedule: Schedule, planned: Measurement, options: RiskOptions, seed: int) -> Risk:
    """Sample a schedule that is known to be valid, and what it was measured to take."""
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
        most = site.average_power_cap_watts * (1.0 + ROUNDING) * drawn.makespan_seconds
        events["over_power_cap"] = cost_model(bag).meter * drawn.energy_joules > most
    return events
