"""The relaxation of runs: a task runs in one piece.

The columns are pairs and starts, and take the seconds that they overlap each slot; the rows are those of the work
relaxation (`relaxation.py`). The cheapest start of a pair, at any prices, has its start or end at the edge of a slot.
What it proves is never less than what the work relaxation proves, and more where tasks are as long as slots.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.bag.horizon.arrays import HorizonArrays, Integral
from lpsched.bag.horizon.certificate import MOST_PARTS
from lpsched.bag.horizon.relaxation import (
    OVER,
    USUAL,
    Prices,
    Relaxed,
    best_choices,
    cost_of_caps,
    cost_of_tasks,
    full_costs,
    limited_sites,
    most_watts,
    penalties,
    valid_power_prices,
)
from lpsched.lp.columns import ColumnGeneration, Priced
from lpsched.lp.program import Columns, LpBuilder

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken
    from lpsched.lp.program import LinearProgram, Solver
    from lpsched.model.table import Floats, Integers

RUNS_GAP: Final = 1e-4  # between program and bound
STARTS: Final = 6  # of each pair that are tried at a time
Label = tuple[int, int, float]  # task type, mode and start


@dataclass(frozen=True, slots=True)
class RunCosts:
    """What runs cost at some prices: for each pair that can run, candidates for the start and the cost of each."""

    tasks: Integers  # of each pair
    modes: Integers
    starts: Floats  # pairs x candidates
    costs: Floats  # infinite where a run would not fit

    def least(self, types: int) -> Floats:
        """Return the cheapest run of each task type; infinite where none fits."""
        least = np.full(types, np.inf)
        np.minimum.at(least, self.tasks, self.costs.min(axis=1))
        return least


def run_costs(arrays: HorizonArrays, prices: Prices) -> RunCosts:
    """Return what each run costs that begins or ends at the edge of a slot."""
    assert prices.machine_prices is not None
    i, mode = np.nonzero(arrays.can_run)
    e, a, edges = arrays.seconds[i, mode][:, np.newaxis], arrays.watts[i, mode][:, np.newaxis], arrays.edges
    starts = np.concatenate((np.broadcast_to(edges[:-1], (len(i), len(edges) - 1)), edges[1:] - e), axis=1)
    fits = (starts >= 0.0) & (starts + e <= edges[-1])
    fits[:, -1] = True  # that it ends with the horizon is not a matter of rounding
    starts = np.clip(starts, 0.0, np.maximum(edges[-1] - e, 0.0))
    ends = starts + e
    spent, machine = np.empty(starts.shape), arrays.machine_of[mode]
    costs = full_costs(arrays, prices)
    for j in np.unique(machine).tolist():
        own = machine == j
        energy, time = Integral(edges, costs[j]), Integral(edges, prices.machine_prices[j] + arrays.wear[j])
        spent[own] = (
            a[own] * (energy.at(ends[own]) - energy.at(starts[own])) + time.at(ends[own]) - time.at(starts[own])
        )
    spent += arrays.moving[i, machine][:, np.newaxis]
    return RunCosts(i, mode, starts, np.where(fits, spent, np.inf))


def runs_bound(arrays: HorizonArrays, prices: Prices, run_costs: Floats) -> float:
    """Return what machine prices and prices of power prove by the relaxation of runs; `run_costs` are the cheapest."""
    assert prices.machine_prices is not None
    paid = float(arrays.machine_counts @ (prices.machine_prices @ arrays.lengths))
    return cost_of_tasks(arrays, run_costs) - paid - cost_of_caps(arrays, prices)


def overlaps(edges: Floats, starts: Floats, ends: Floats) -> Floats:
    """Return how many seconds of each slot lie between each start and its end."""
    clipped = np.clip(edges, starts[:, np.newaxis], ends[:, np.newaxis])
    return np.diff(clipped, axis=1)


class _RunOracle:
    """Prices the runs of all pairs; rows are shares of the tasks of a type and of the machine seconds of a slot."""

    def __init__(self, arrays: HorizonArrays) -> None:
        self.arrays = arrays
        self.power = len(arrays.task_counts) + arrays.joule_costs.size
        self.limited = limited_sites(arrays)
        self.watts = most_watts(arrays)
        self.seconds = arrays.machine_counts[:, np.newaxis] * arrays.lengths

    def program(self) -> LinearProgram:
        """Return the program without any runs."""
        arrays, types = self.arrays, len(self.arrays.task_counts)
        (machines, slots), sites = arrays.joule_costs.shape, len(arrays.caps)
        lp = LpBuilder("runs")
        missing, idle = lp.variables("missing", np.ones(types)), lp.variables("idle", np.ones((machines, slots)))
        peak = lp.variables("peak", np.ones(sites))
        earned = 0.0 if arrays.earnings is None else -float(arrays.task_counts @ arrays.earnings)
        lost = arrays.task_counts * penalties(arrays)
        idle_costs = arrays.idle_watts[:, np.newaxis] * arrays.joule_costs * self.seconds
        over = lp.variables("over", upper=np.ones((sites, slots) if any(each.any() for each in self.limited) else 0))
        costs: list[Any] = [(missing, lost), (idle, idle_costs), (peak, arrays.peak_costs * self.watts), (over, OVER)]
        lp.objective(costs, offset=earned)
        lp.equal_each([f"tasks[{i}]" for i in range(types)], [(np.arange(types), missing, 1.0)], 1.0)
        rows = np.arange(machines * slots).reshape(machines, slots)
        least = np.where(arrays.may_be_off, -np.inf, 1.0)[:, np.newaxis] + 0.0 * self.seconds
        names = [f"machines[{j},{h}]" for j in range(machines) for h in range(slots)]
        lp.between_each(names, [(rows, idle, 1.0)], least.ravel(), np.ones(least.size))
        if any(each.any() for each in self.limited):
            names = [f"{word}[{s},{h}]" for word in ("cap", "peak") for s in range(sites) for h in range(slots)]
            peaks = np.where(self.limited[1][:, np.newaxis], 0.0, np.inf) + 0 * arrays.lengths
            limits = np.append((arrays.caps / self.watts[:, np.newaxis]).ravel(), peaks.ravel())
            site = arrays.site_of[:, np.newaxis] * slots + np.arange(slots)
            drawn = (arrays.idle_watts * arrays.machine_counts / self.watts[arrays.site_of])[:, np.newaxis]
            terms: list[Any] = [(peak_rows(sites, slots), peak[:, np.newaxis], -1.0)]
            terms.append((np.arange(sites * slots).reshape(sites, slots), over, -1.0))
            for number, limited in enumerate(self.limited):
                terms.append(
                    (
                        number * sites * slots + site,
                        idle,
                        drawn * limited[arrays.site_of][:, np.newaxis] + 0 * self.seconds,
                    )
                )
            lp.at_most_each(names, terms, limits)
        return lp.build()

    def prices(self, multipliers: Floats) -> Prices:
        """Return prices with the right signs: a machine's second costs at least what being idle or off would save."""
        arrays, types = self.arrays, len(self.arrays.task_counts)
        power = -multipliers[self.power :]
        shape = arrays.caps.shape
        cap = peak = np.zeros(shape)
        if len(power):
            cap, peak = power.reshape(2, *shape) / (self.watts[:, np.newaxis] * arrays.lengths)
        cap, peak = valid_power_prices(arrays, cap, peak)
        plain = Prices(multipliers[:types] / arrays.task_counts, None, cap, peak)
        asked = -multipliers[types : self.power].reshape(self.seconds.shape) / self.seconds
        return replace(plain, machine_prices=np.maximum(asked, least_machine_prices(arrays, plain)))

    def multipliers(self, prices: Prices) -> Floats:
        """Return what `prices` reads back."""
        assert prices.machine_prices is not None
        parts = [prices.task_values * self.arrays.task_counts, -(prices.machine_prices * self.seconds).ravel()]
        if any(each.any() for each in self.limited):
            scale = self.watts[:, np.newaxis] * self.arrays.lengths
            parts += [-(prices.cap_prices * scale).ravel(), -(prices.peak_prices * scale).ravel()]
        return np.concatenate(parts)

    def price(self, multipliers: Floats) -> Priced[Label]:
        """Return the cheapest runs of each pair."""
        arrays, prices = self.arrays, self.prices(multipliers)
        found = run_costs(arrays, prices)
        least = found.least(len(arrays.task_counts))
        bound = runs_bound(arrays, prices, np.where(np.isfinite(least), least, penalties(arrays)))
        values = np.maximum(prices.task_values, least)  # at least the best run of each task type
        order = np.argsort(found.costs, axis=1)[:, :STARTS]
        pair = np.repeat(np.arange(len(order)), order.shape[1])
        place = order.ravel()
        improves = found.costs[pair, place] <= values[found.tasks[pair]] + 1e-12 * abs(least[found.tasks[pair]])
        pair, place = pair[improves], place[improves]
        i, mode, starts = found.tasks[pair], found.modes[pair], found.starts[pair, place]
        labels = list(zip(i.tolist(), mode.tolist(), starts.tolist(), strict=True))
        return Priced(self._columns(i, mode, starts), labels, bound)

    def _columns(self, i: Integers, mode: Integers, starts: Floats) -> Columns:
        arrays, types, slots = self.arrays, len(self.arrays.task_counts), len(self.arrays.lengths)
        j, count = arrays.machine_of[mode], arrays.task_counts[i]
        seconds = overlaps(arrays.edges, starts, starts + arrays.seconds[i, mode])
        owner, h = np.nonzero(seconds)
        used, of = seconds[owner, h] * count[owner], j[owner]
        cells = [(np.arange(len(i)), i, np.ones(len(i))), (owner, types + of * slots + h, used / self.seconds[of, h])]
        site, drawn = arrays.site_of[of], used * arrays.watts[i, mode][owner]
        for number, limited in enumerate(self.limited):
            kept = limited[site]
            row = self.power + (number * len(arrays.caps) + site[kept]) * slots + h[kept]
            cells.append((owner[kept], row, drawn[kept] / (self.watts[site[kept]] * arrays.lengths[h[kept]])))
        owners, rows, values = (np.concatenate(each) for each in zip(*cells, strict=True))
        order = np.argsort(owners, kind="stable")
        begin = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=len(i)))))
        energy = np.bincount(owner, weights=drawn * arrays.joule_costs[of, h], minlength=len(i))
        costs = energy + count * (arrays.wear[j] * arrays.seconds[i, mode] + arrays.moving[i, j])
        return Columns(costs, np.ones(len(i)), begin.astype(np.int32), rows[order].astype(np.int32), values[order])


def peak_rows(sites: int, slots: int) -> Integers:
    """Return the places of the rows of peaks, after those of caps."""
    return sites * slots + np.arange(sites * slots).reshape(sites, slots)


def least_machine_prices(arrays: HorizonArrays, prices: Prices) -> Floats:
    """Return -q at full costs, M x H: no less is proved by any price of a machine's second."""
    return -arrays.idle_costs_at(full_costs(arrays, prices))


def machine_prices_of(arrays: HorizonArrays, prices: Prices) -> Floats:
    """Return what a second of a machine is worth in each slot at these task values: what it earns at best."""
    return np.maximum(best_choices(arrays, prices).rates, least_machine_prices(arrays, prices))


def relax_runs(
    arrays: HorizonArrays, work: Relaxed, solver: Solver, cancel: CancelToken | None = None, *, gap: float = RUNS_GAP
) -> Relaxed:
    """Solve the relaxation of runs, from the prices of the work relaxation; what it proves is never less."""
    begin = replace(work.prices, machine_prices=machine_prices_of(arrays, work.prices))
    return _relaxed(arrays, begin, solver, cancel, gap)


def refined(arrays: HorizonArrays, runs: Relaxed, solver: Solver, cancel: CancelToken | None, rows: int) -> Relaxed:
    """Return the relaxation of runs with machine prices for parts of slots, as long as there are few rows.

    Within a slot, machines may be busy at no moment more than there are: the finer the parts, the more of that counts.
    The prices of power stay.
    """
    prices, paid = runs.prices, cost_of_caps(arrays, runs.prices)
    best, fine, parts = runs, prices.machine_prices, 2
    while parts <= MOST_PARTS and arrays.joule_costs.size * parts <= rows and fine is not None:
        cut = arrays.cut(parts, full_costs(arrays, prices))
        nothing = np.zeros(cut.caps.shape)
        begin = Prices(prices.task_values, np.repeat(fine, 2, axis=1), nothing, nothing)
        found = _relaxed(cut, begin, solver, cancel, RUNS_GAP)
        if found.bound - paid > best.bound:
            best = replace(runs, bound=found.bound - paid, fine_prices=found.prices.machine_prices)
        fine, parts = found.prices.machine_prices, 2 * parts
    return best


def _relaxed(arrays: HorizonArrays, prices: Prices, solver: Solver, cancel: CancelToken | None, gap: float) -> Relaxed:
    """Solve the relaxation of runs from some prices."""
    unit = arrays.usual_cost * float(arrays.task_counts.sum()) / USUAL
    oracle = _RunOracle(arrays.scaled(1.0 / unit))
    begin = prices.scaled(1.0 / unit)
    program = oracle.program()
    generation = ColumnGeneration(solver, program, oracle, [(-1, -1, 0.0)] * len(program.costs), stage="relaxing runs")
    found = generation.run(gap=gap, cancel=cancel, centre=oracle.multipliers(begin))
    made, peaks = oracle.prices(found.multipliers), found.solution["peak"] * oracle.watts
    return Relaxed(made.scaled(unit), found.bound * unit, found.solution.value * unit, peaks)
