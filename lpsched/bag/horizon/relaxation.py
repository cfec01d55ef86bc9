"""The work relaxation of a bag over a horizon, and the prices that prove its bound.

A task may be done in parts, in any slots and modes. x_ijkh tasks' worth of work of type i are done in mode
(j, k) during slot h, machines of type j are on and idle for y_jh seconds, and D_s is the peak of site s.

    min   sum (e (a c_jh + wear_j) + tau_ij) x_ijkh  +  sum b_j c_jh y_jh  +  sum d_s D_s
    s.t.  sum_jkh x_ijkh                 =  n_i          for each task type                        (task value v_i)
          sum_ik e x_ijkh + y_jh         =  m_j L_h      for each machine type and slot            (price pi_jh)
          sum a e x_ijkh + sum_j b_j y_jh  <=  P_sh L_h  for each site and slot with a cap         (price mu_sh)
          sum a e x_ijkh + sum_j b_j y_jh  <=  D_s L_h   for each site with a demand charge        (price nu_sh)

Where a machine type may be off, its second row is an inequality; where switching on costs f_j, the right-hand side is
L_h u_jh with u_jh <= m_j machines that are on, and u_jh - u_j,h-1 of them are switched on. Where tasks are optional,
the first row is an inequality and each task earns its price.

It is a relaxation of every plan: a plan gives x, y and D with its cost. That a task runs in one piece is added by
`runs.py`. The program is not written out, columns are generated: one is what a machine does in all slots of a *class*
of slots with similar prices. At given task values each slot is best used by one pair, so pairs x slots is never formed,
and a year of hours has as many rows as a week.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.lp.columns import ColumnGeneration, Priced
from lpsched.lp.program import Columns, LpBuilder

if TYPE_CHECKING:
    from lpsched.bag.horizon.arrays import HorizonArrays
    from lpsched.cancellation import CancelToken
    from lpsched.lp.program import LinearProgram, Solver
    from lpsched.model.table import Floats, Integers, Mask

LEVELS: Final = (4, 24)  # classes of slots over which task values are found first, at mean prices
CLASSES: Final = 96  # of slots, in the program of work
GAP: Final = 1e-6  # between program and bound
OVER: Final = 1e6  # what all power of a site above its cap costs in programs, so that they always have a solution
USUAL: Final = 1e4  # what all tasks cost in programs: their solver counts a millionth as nothing


@dataclass(frozen=True, slots=True)
class Prices:
    """Multipliers: what they mean is in the head of this module; those of power are per joule at the machines."""

    task_values: Floats  # T
    machine_prices: Floats | None  # M x H: of a machine's second, at least -b C and, where it may be off, at least 0
    cap_prices: Floats  # S x H
    peak_prices: Floats  # S x H

    def scaled(self, factor: float) -> Prices:
        """Return the prices in another unit of money."""
        machines = None if self.machine_prices is None else self.machine_prices * factor
        return Prices(self.task_values * factor, machines, self.cap_prices * factor, self.peak_prices * factor)

    @property
    def power_prices(self) -> Floats:
        """S x H: what a joule at the machines costs beside its energy."""
        return self.cap_prices + self.peak_prices


@dataclass(frozen=True, slots=True)
class Relaxed:
    """The best prices found, the bound that they prove up to rounding, and what the program's solution costs."""

    prices: Prices
    bound: float
    value: float  # of the program: the bound is within a gap of it unless time ran out
    peaks: Floats  # S: watts of the highest slot averages that are paid for
    fine_prices: Floats | None = None  # M x parts of slots: machine prices that prove more than those of slots
    grams: float | None = None  # of CO2 of the solution of the work relaxation; the value may count them too


def full_costs(arrays: HorizonArrays, prices: Prices) -> Floats:
    """Return C, M x H: what a joule at a machine costs, with prices of power."""
    return arrays.joule_costs + prices.power_prices[arrays.site_of]


IDLE: Final = -1  # in place of a pair: on, and running nothing
OFF: Final = -2


@dataclass(frozen=True, slots=True)
class Choices:
    """The most that a second of a machine earns in each slot, M x H, and by what: a flat pair, IDLE or OFF."""

    rates: Floats
    pairs: Integers


def best_choices(arrays: HorizonArrays, prices: Prices) -> Choices:
    """Return what a machine does best in each slot at these task values, off only where that is free to choose.

    What a pair earns is a line in the cost of a joule: its upper envelope is worked out once for each machine type.
    """
    costs = full_costs(arrays, prices)
    rates, pairs = np.empty(costs.shape), np.empty(costs.shape, dtype=np.int64)
    values = (prices.task_values[:, np.newaxis] - arrays.moving[:, arrays.machine_of]) / _divisors(arrays)
    values -= arrays.wear[arrays.machine_of]
    for j in range(len(costs)):
        i, column = np.nonzero(arrays.can_run & (arrays.machine_of == j))
        names = np.append(i * len(arrays.machine_of) + column, IDLE)
        earned, watts = np.append(values[i, column], 0.0), np.append(arrays.watts[i, column], arrays.idle_watts[j])
        if arrays.may_be_off[j] and not arrays.switch_on[j]:
            names, earned, watts = np.append(names, OFF), np.append(earned, 0.0), np.append(watts, 0.0)
        kept, turns = _envelope(earned, watts)
        chosen = kept[np.searchsorted(turns, costs[j])]
        rates[j], pairs[j] = earned[chosen] - watts[chosen] * costs[j], names[chosen]
    return Choices(rates, pairs)


def _divisors(arrays: HorizonArrays) -> Floats:
    return np.where(arrays.can_run, arrays.seconds, 1.0)


def _envelope(earned: Floats, watts: Floats) -> tuple[Integers, Floats]:
    """Return the lines earned - watts * C that are highest somewhere, by rising C, and where each hands over."""
    order = np.lexsort((earned, -watts)).tolist()  # for low C the steepest line is best, of equal ones the highest
    own, drawn = earned.tolist(), watts.tolist()
    kept: list[int] = []
    turns: list[float] = []
    for line in order:
        if kept and drawn[line] == drawn[kept[-1]]:
            kept.pop()
            if turns:
                turns.pop()
        while kept:
            turn = (own[kept[-1]] - own[line]) / (drawn[kept[-1]] - drawn[line])
            if not turns or turn > turns[-1]:
                turns.append(turn)
                break
            kept.pop()
            turns.pop()
        kept.append(line)
    return np.array(kept), np.array(turns)


def machine_values(arrays: HorizonArrays, rates: Floats) -> Floats:
    """Return, for each machine type, the most that one machine earns over the horizon at these rates."""
    earned = rates * arrays.lengths
    values = earned.sum(axis=1)
    for j in np.flatnonzero(arrays.switch_on > 0).tolist():
        on, switches = when_on(earned[j], arrays.switch_on[j])
        values[j] = earned[j][on].sum() - switches * arrays.switch_on[j]
    return np.asarray(values)


def when_on(earned: Floats, cost: float) -> tuple[Mask, int]:
    """Return in which slots a machine is best on, if switching on costs something, and how often it is switched on."""
    off, on = 0.0, -np.inf
    steps = []
    for step in earned.tolist():
        stays = on >= off - cost
        on = max(on, off - cost) + step
        steps.append((stays, on > off))
        off = max(off, on)
    used, switches, is_on = np.zeros(len(earned), dtype=bool), 0, False
    for h in range(len(earned) - 1, -1, -1):
        stays, ends = steps[h]
        if is_on or ends:
            used[h] = True
            is_on = stays
            switches += not stays
    return used, switches


def work_bound(arrays: HorizonArrays, prices: Prices) -> float:
    """Return what task values and prices of power prove, up to rounding, by the work relaxation."""
    return work_bound_of(arrays, prices, best_choices(arrays, prices).rates)


def work_bound_of(arrays: HorizonArrays, prices: Prices, rates: Floats) -> float:
    """Return that, with the most that machines earn at these prices."""
    values = machine_values(arrays, rates)
    return (
        cost_of_tasks(arrays, prices.task_values) - float(arrays.machine_counts @ values) - cost_of_caps(arrays, prices)
    )


def cost_of_tasks(arrays: HorizonArrays, values: Floats) -> float:
    """Return the least that all tasks cost, if one of a type costs its value, less what it earns if optional."""
    if arrays.earnings is not None:
        values = np.minimum(values - arrays.earnings, 0.0)
    return float(arrays.task_counts @ values)


def cost_of_caps(arrays: HorizonArrays, prices: Prices) -> float:
    """Return what all energy below the caps costs at its prices."""
    watts = np.where(np.isfinite(arrays.caps), arrays.caps, 0.0)
    return float((prices.cap_prices * watts) @ arrays.lengths @ np.ones(len(watts)))


# Classes of slots.
def _classes(arrays: HorizonArrays, wanted: int) -> Integers:
    """Return the class of each slot, at most about as many as are wanted: similar prices and caps at all sites."""
    count = len(arrays.lengths)
    if count <= wanted:
        return np.arange(count)
    # Split the class with the widest spread at its middle, until there are enough.
    features = np.concatenate((arrays.joule_costs, np.where(np.isfinite(arrays.caps), arrays.caps, 0.0)))
    spans = np.ptp(features, axis=1, keepdims=True)
    features = features[(spans > 0).ravel()] / spans[spans > 0][:, np.newaxis]
    if not len(features):
        return np.zeros(count, dtype=np.int64)
    order, classes = np.argsort(features[0], kind="stable"), np.zeros(count, dtype=np.int64)
    parts = [order]
    spreads = [_spread(features, order)]
    while len(parts) < wanted and max(each[0] for each in spreads) > 0:
        widest = int(np.argmax([each[0] for each in spreads]))
        own, feature = parts.pop(widest), spreads.pop(widest)[1]
        own = own[np.argsort(features[feature, own], kind="stable")]
        low, high = features[feature, own[0]], features[feature, own[-1]]
        cut = int(np.clip(np.searchsorted(features[feature, own], 0.5 * (low + high)), 1, len(own) - 1))
        for part in (own[:cut], own[cut:]):
            parts.append(part)
            spreads.append(_spread(features, part))
    for number, part in enumerate(parts):
        classes[part] = number
    return classes


def _spread(features: Floats, slots: Integers) -> tuple[float, int]:
    spans = np.ptp(features[:, slots], axis=1) * np.sqrt(len(slots))
    return float(spans.max()), int(spans.argmax())


def _merged(arrays: HorizonArrays, classes: Integers) -> HorizonArrays:
    """Return the arrays over classes of slots: lengths are added up, prices and caps are means."""
    count = int(classes.max()) + 1
    lengths = np.bincount(classes, weights=arrays.lengths, minlength=count).astype(float)

    def mean(rows: Floats) -> Floats:
        return np.array([np.bincount(classes, weights=row * arrays.lengths, minlength=count) / lengths for row in rows])

    capped = np.isfinite(arrays.caps)
    caps = np.where(capped.any(axis=1, keepdims=True), mean(np.where(capped, arrays.caps, 0.0)), np.inf)
    return replace(
        arrays,
        lengths=lengths,
        edges=np.concatenate(([0.0], np.cumsum(lengths))),
        joule_costs=mean(arrays.joule_costs),
        caps=caps,
        joule_grams=None,
    )


# The program of work: what machines do in classes of slots.
class _WorkOracle:
    """Prices what machines of each type do in each class of slots; types that cost to switch on have one class.

    Variables and rows are shares: of the tasks of a type, of the machines of a type, of the most watts of a site.
    """

    def __init__(self, arrays: HorizonArrays, classes: Integers) -> None:
        self.arrays = arrays
        machines, count = len(arrays.machine_counts), int(classes.max()) + 1
        switching = arrays.switch_on > 0
        starts = np.concatenate(([0], np.cumsum(np.where(switching, 1, count))))
        self.rows = len(arrays.task_counts) + starts[:-1, np.newaxis] + np.where(switching[:, np.newaxis], 0, classes)
        self.owner = np.repeat(np.arange(machines), np.diff(starts))  # the machine type of each row of machines
        self.power = len(arrays.task_counts) + int(starts[-1])
        self.limited = limited_sites(arrays)
        self.watts = most_watts(arrays)
        self.idle = np.zeros(0)  # grams of the program's own columns of machines

    def program(self) -> LinearProgram:
        """Return the program without any work: tasks are left out, which costs more than any run."""
        arrays, types = self.arrays, len(self.arrays.task_counts)
        sites, slots = arrays.caps.shape
        lp = LpBuilder("horizon")
        missing = lp.variables("missing", upper=np.ones(types))
        peak = lp.variables("peak", upper=np.ones(sites))
        earned = 0.0 if arrays.earnings is None else -float(arrays.task_counts @ arrays.earnings)
        lost = arrays.task_counts * penalties(arrays)
        over = lp.variables("over", upper=np.ones((sites, slots) if any(each.any() for each in self.limited) else 0))
        terms: list[Any] = [(missing, lost), (peak, arrays.peak_costs * self.watts), (over, OVER)]
        lp.objective(terms, offset=earned)
        lp.equal_each([f"tasks[{i}]" for i in range(types)], [(np.arange(types), missing, 1.0)], 1.0)
        lp.equal_each([f"machines[{row}]" for row in range(len(self.owner))], [], 1.0)
        if any(each.any() for each in self.limited):
            names = [f"{word}[{s},{h}]" for word in ("cap", "peak") for s in range(sites) for h in range(slots)]
            caps = arrays.caps / self.watts[:, np.newaxis]
            peaks = np.where(self.limited[1][:, np.newaxis], 0.0, np.inf) + 0 * arrays.lengths
            rows = sites * slots + np.arange(sites * slots).reshape(sites, slots)
            limits = np.append(caps.ravel(), peaks.ravel())
            caps_over = (rows - sites * slots, over, -1.0)
            lp.at_most_each(names, [(rows, peak[:, np.newaxis], -1.0), caps_over], limits)
        free = np.zeros(arrays.caps.shape)
        idle = best_choices(
            replace(arrays, can_run=np.zeros_like(arrays.can_run)), Prices(np.zeros(types), None, free, free)
        )
        used = np.where((idle.pairs != OFF) & ~(arrays.switch_on > 0)[:, np.newaxis], arrays.lengths, 0.0)
        columns = self._columns(idle, used, np.zeros(len(self.owner)))
        self.idle = self._grams(idle, used) / columns.upper
        return lp.build().with_columns(columns)

    def prices(self, multipliers: Floats) -> Prices:
        """Return task values, and prices of power with the right signs."""
        arrays = self.arrays
        values = multipliers[: len(arrays.task_counts)] / arrays.task_counts
        power = -multipliers[self.power :]
        if not len(power):
            return Prices(values, None, np.zeros(arrays.caps.shape), np.zeros(arrays.caps.shape))
        cap, peak = power.reshape(2, *arrays.caps.shape) / (self.watts[:, np.newaxis] * arrays.lengths)
        return Prices(values, None, *valid_power_prices(arrays, cap, peak))

    def price(self, multipliers: Floats) -> Priced[float]:
        """Return what a machine of each type does best in each class."""
        arrays, prices = self.arrays, self.prices(multipliers)
        choices = best_choices(arrays, prices)
        earned = choices.rates * arrays.lengths
        used = np.where(choices.pairs != OFF, arrays.lengths, 0.0)
        first = np.zeros(len(self.owner))
        for j in np.flatnonzero(arrays.switch_on > 0).tolist():
            on, switches = when_on(earned[j], arrays.switch_on[j])
            used[j, ~on] = 0.0
            first[self.rows[j, 0] - len(arrays.task_counts)] = switches * arrays.switch_on[j]
        bound = work_bound_of(arrays, prices, choices.rates)
        columns = self._columns(choices, used, first)
        return Priced(columns, (self._grams(choices, used) / columns.upper).tolist(), bound)

    def _grams(self, choices: Choices, used: Floats) -> Floats:
        """Return the grams of CO2 that all machines of each row emit; those of a column are its label."""
        arrays = self.arrays
        if arrays.joule_grams is None:
            return np.zeros(len(self.owner))
        i, mode = np.divmod(np.maximum(choices.pairs, 0), len(arrays.machine_of))
        watts = np.where(choices.pairs >= 0, arrays.watts[i, mode], arrays.idle_watts[:, np.newaxis])
        emitted, owner = used * watts * arrays.joule_grams, self.rows - len(arrays.task_counts)
        per_machine = np.bincount(owner.ravel(), weights=emitted.ravel(), minlength=len(self.owner))
        return np.asarray(arrays.machine_counts[self.owner] * per_machine)

    def _columns(self, choices: Choices, used: Floats, first: Floats) -> Columns:
        """Return one column for each row of machines: `used` seconds in each slot, M x H, and costs that come first."""
        arrays, types = self.arrays, len(self.arrays.task_counts)
        i, mode = np.divmod(np.maximum(choices.pairs, 0), len(arrays.machine_of))
        runs = choices.pairs >= 0
        watts = np.where(runs, arrays.watts[i, mode], arrays.idle_watts[:, np.newaxis])
        tasks = np.where(runs, used / _divisors(arrays)[i, mode], 0.0)
        of = np.arange(len(used))[:, np.newaxis]
        costs = used * watts * arrays.joule_costs + np.where(runs, used * arrays.wear[:, np.newaxis], 0.0)
        costs += tasks * arrays.moving[i, of]
        owner, machines = self.rows - types, arrays.machine_counts[self.owner]
        totals = machines * (first + np.bincount(owner.ravel(), weights=costs.ravel(), minlength=len(self.owner)))
        counted = np.bincount((owner * types + i).ravel(), tasks.ravel(), len(self.owner) * types).astype(float)
        counted = counted.reshape(-1, types) * machines[:, np.newaxis] / arrays.task_counts
        # Machines that could do all tasks thousands of times are counted in smaller units: solvers give up otherwise.
        sizes = np.maximum(counted.max(axis=1), 1.0)
        cells = [(*np.nonzero(counted), counted[counted != 0])]
        cells.append((np.arange(len(self.owner)), types + np.arange(len(self.owner)), np.ones(len(self.owner))))
        for number, limited in enumerate(self.limited):
            j, h = np.nonzero((used * watts > 0) & limited[arrays.site_of][:, np.newaxis])
            row = (number * len(arrays.caps) + arrays.site_of[j]) * used.shape[1] + h
            share = (used * watts)[j, h] * arrays.machine_counts[j]
            cells.append((owner[j, h], self.power + row, share / (self.watts[arrays.site_of[j]] * arrays.lengths[h])))
        owners, rows, values = (np.concatenate(each) for each in zip(*cells, strict=True))
        order = np.argsort(owners, kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=len(self.owner)))))
        rows, values = rows[order].astype(np.int32), (values / sizes[owners])[order]
        return Columns(totals / sizes, sizes, starts.astype(np.int32), rows, values)


def limited_sites(arrays: HorizonArrays) -> tuple[Mask, Mask]:
    """Return which sites have a cap, and which pay for their peak."""
    return np.asarray(np.isfinite(arrays.caps).any(axis=1)), np.asarray(arrays.peak_costs > 0)


def most_watts(arrays: HorizonArrays) -> Floats:
    """Return the most that each site can draw, and 1 W more."""
    drawn = np.where(arrays.can_run, arrays.watts, 0.0).max(axis=0, initial=0.0)
    firsts = np.searchsorted(arrays.machine_of, np.arange(len(arrays.machine_counts)))
    most = np.maximum(arrays.idle_watts, np.maximum.reduceat(drawn, firsts))
    drawn = np.bincount(arrays.site_of, weights=most * arrays.machine_counts, minlength=len(arrays.caps)).astype(float)
    return np.asarray(1.0 + drawn)


def penalties(arrays: HorizonArrays) -> Floats:
    """Return what a task costs that is left out: its price where tasks are optional, else more than any run."""
    if arrays.earnings is not None:
        return arrays.earnings
    of = arrays.machine_of
    dearest = np.abs(arrays.joule_costs).max(axis=1)[of]
    most = arrays.seconds * (arrays.watts * dearest + arrays.wear[of]) + arrays.moving[:, of]
    most = np.where(arrays.can_run, most, 0.0).max(axis=1)
    shared = arrays.peak_costs @ most_watts(arrays) + arrays.switch_on.sum()
    return np.asarray(10.0 * (most + most.mean()) + shared + 1.0)


def valid_power_prices(arrays: HorizonArrays, cap: Floats, peak: Floats) -> tuple[Floats, Floats]:
    """Return prices of caps and peaks, S x H, that prove something: not negative, and peaks within their charge."""
    cap = np.where(np.isfinite(arrays.caps), np.maximum(cap, 0.0), 0.0)
    peak = np.maximum(peak, 0.0)
    charged = peak @ arrays.lengths
    share = np.divide(arrays.peak_costs, charged, out=np.zeros(len(charged)), where=charged > 0)
    return cap, peak * np.minimum(share, 1.0)[:, np.newaxis]


def relax_work(arrays: HorizonArrays, solver: Solver, cancel: CancelToken | None = None) -> Relaxed:
    """Solve the work relaxation: first over few classes of slots at mean prices, then over all slots."""
    unit = arrays.usual_cost * float(arrays.task_counts.sum()) / USUAL
    arrays, centre = arrays.scaled(1.0 / unit), None
    for wanted in (*LEVELS, CLASSES):
        classes = _classes(arrays, wanted)
        over = arrays if wanted == CLASSES else _merged(arrays, classes)
        oracle = _WorkOracle(over, classes if wanted == CLASSES else np.arange(int(classes.max()) + 1))
        program = oracle.program()
        grams = [0.0] * (len(program.costs) - len(oracle.idle)) + oracle.idle.tolist()
        generation = ColumnGeneration(solver, program, oracle, grams, stage="relaxing")
        start = np.zeros(len(program.row_names))
        start[: len(over.task_counts)] = over.task_counts * (penalties(over) if centre is None else centre)
        found = generation.run(gap=GAP if wanted == CLASSES else GAP * 100, cancel=cancel, centre=start)
        prices = oracle.prices(found.multipliers)
        centre = prices.task_values
    peaks = found.solution["peak"] * oracle.watts
    emitted = None if arrays.joule_grams is None else float(np.array(found.labels) @ found.solution.values)
    return Relaxed(prices.scaled(unit), found.bound * unit, found.solution.value * unit, peaks, grams=emitted)
