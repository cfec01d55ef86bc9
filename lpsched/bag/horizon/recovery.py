"""From prices to a plan: timelines of machines, combined by a program, fixed in groups, then exchanged.

    lambda_p   machines that follow timeline p, which costs k_p and runs t_ip tasks of type i on machine type j(p)

    min  sum_p k_p lambda_p + sum_i z_i u_i    s.t.    sum_p t_ip lambda_p + u_i = n_i,    sum_{p of j} lambda_p <= m_j

with a price z_i, a little above the task value, for tasks u_i that are left for later; caps add a row for each slot.
Timelines are generated at the program's task values. Then a **dive**: whole machines of the program's solution are
fixed, timelines for the rest are generated, and so on until no machine or no task is left. Where the program has only
parts of machines, one machine follows the timeline of the largest part as far as tasks suffice, or a mixture of all
parts (`mixtures.py`), whichever loses less. Tasks that are left go into gaps, where they cost least. At last
**exchanges**: the timelines of a few machines are taken away and made anew from their tasks; what is cheaper is kept. A
few dozen groups describe thousands of machines.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.horizon.mixtures import mixed
from lpsched.bag.horizon.relaxation import Prices, full_costs
from lpsched.bag.horizon.runs import least_machine_prices, run_costs
from lpsched.bag.horizon.timelines import Timeline, TimelineMaker
from lpsched.errors import NotFoundError
from lpsched.jit import is_there
from lpsched.lp.program import Columns, LpBuilder, LpStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.horizon.arrays import HorizonArrays
    from lpsched.cancellation import CancelToken
    from lpsched.lp.program import Solver
    from lpsched.model.table import Floats, Mask

NEAR: Final = 0.05  # pairs are tried whose cheapest run costs that much more than another of the task type
# Dives, in turn: by how much a task that is left for later costs more than its value, and whether mixtures are tried.
DIVES: Final = ((0.04, True), (0.02, False), (0.07, True))
PLACING: Final = 1.0  # times the work: that of exchanges until all tasks have a place
MISSING: Final = 100.0  # times its value that a task without a place costs in the search
ROUNDS: Final = 150  # of generating timelines for the whole program
DIVE_ROUNDS: Final = 8  # of generating timelines between two fixings
CLOSE: Final = 3e-4  # gap of the program at which it is solved well enough
MIXED: Final = 0.3
RISES: Final = (0.02, 0.06, 0.15, 0.4, 1.0, 3.0, 10.0, 100.0, 1e4, 1e6)  # what tasks without a place may cost more
PER_STEP: Final = 1e-8 if is_there() else 6e-7  # counted seconds of a batch at a step
PER_PROGRAM: Final = 4e-3  # counted seconds of solving the program
PER_EXCHANGE: Final = 3e-3  # counted seconds of an exchange, beside its batches
MOST_TAKEN: Final = 3  # machines whose timelines are exchanged at a time
HELPERS: Final = 4  # further machines whose gaps are tried for their tasks
SHARE: Final = 1e-6  # of a machine, that the solver counts as nothing
PEAKS: Final = (1.0, 1.1, 1.3, 1.7, 2.5, 5.0, 20.0, 1e9)  # multiples of the best peak that are tried in turn
FOR_DIVES: Final = 0.4  # of the work must be left for another dive
MOST_OTHERS: Final = 300  # pairs that are kept beside the best, so that each task type has several machine types
FEWEST: Final = 2
WHOLE: Final = 0.3  # of the exchanges take whole timelines, the others what begins within a window of time
MOST_WINDOWS: Final = 6
WINDOW: Final = (0.05, 0.4)  # of the horizon
SPARE: Final = 3  # machines of a type without tasks that exchanges may use


@dataclass(frozen=True, slots=True)
class Recovered:
    """A plan as groups of machines with the same timeline, and what made them."""

    groups: tuple[tuple[int, Timeline], ...]
    maker: TimelineMaker


@dataclass(slots=True)
class _State:
    """What is fixed, and what is left: tasks of each type, machines of each type, joules of each site and slot."""

    tasks: Floats
    machines: Floats
    headroom: Floats | None
    groups: list[tuple[int, Timeline]]

    def copy(self) -> _State:
        """Return the same, to be changed on its own."""
        room = None if self.headroom is None else self.headroom.copy()
        return _State(self.tasks.copy(), self.machines.copy(), room, list(self.groups))

    def most(self, timeline: Timeline, site: int) -> int:
        """Return how many machines can follow a timeline."""
        most = self.machines[timeline.j]
        used = timeline.tasks > 0
        if used.any():
            most = min(most, (self.tasks[used] / timeline.tasks[used]).min())
        if self.headroom is not None and (drawn := timeline.joules > 0).any():
            most = min(most, (self.headroom[site][drawn] / timeline.joules[drawn]).min())
        return int(most + 1e-9)

    def fix(self, count: int, timeline: Timeline, site: int) -> None:
        """Let some machines follow a timeline."""
        self.groups.append((count, timeline))
        self.tasks -= count * timeline.tasks
        self.machines[timeline.j] -= count
        if self.headroom is not None:
            self.headroom[site] -= count * timeline.joules


class _Recovery:
    """One recovery: what does not change while it goes on."""

    def __init__(  # noqa: PLR0913, PLR0917 - see `recover`
        self,
        arrays: HorizonArrays,
        prices: Prices,
        solver: Solver,
        cancel: CancelToken,
        work: float,
        maker: TimelineMaker | None,
    ) -> None:
        self.arrays, self.prices, self.solver = arrays, prices, solver
        # A dive that has begun is cut by the clock alone.
        self.work, self.clock, self.cancel = work, cancel, cancel.share(work)
        found = run_costs(arrays, prices)
        self.values = found.least(len(arrays.task_counts))
        self.values = np.where(np.isfinite(self.values), self.values, prices.task_values)
        self.later = arrays.earnings  # what a task costs that is left out, where tasks are optional
        self.sizes = np.abs(self.values) + 0.05 * np.abs(self.values).mean() + 1e-12 * arrays.usual_cost
        assert prices.machine_prices is not None
        wages = np.maximum(prices.machine_prices - least_machine_prices(arrays, prices), 0.0)
        self.maker = maker or TimelineMaker(arrays, near_best(arrays, prices), wages)
        self.counted = 0
        self.pool: list[Timeline] = []
        self.rise, self.mixes = DIVES[0]

    def power(self, prices: Floats | None, j: int) -> Floats | None:
        """Return the prices of power of a machine type's site, if there are any."""
        return None if prices is None else prices[self.arrays.site_of[j]]

    def count(self, seconds: float = 0.0) -> None:
        """Count the work since the last call."""
        self.cancel.count(self.work_done() + seconds)

    def work_done(self) -> float:
        """Return the counted seconds of timelines since the last call."""
        done, self.counted = (self.maker.steps - self.counted) * PER_STEP, self.maker.steps
        return done

    def combine(self, state: _State) -> tuple[Floats, Floats, Floats, Floats | None, float]:
        """Solve the program: machines of each timeline, task values, values of machines, prices of power, the value."""
        arrays, pool = self.arrays, self.pool
        types, machines = len(arrays.task_counts), len(arrays.machine_counts)
        limited = state.headroom is not None
        unit = float((state.tasks @ self.sizes) or 1.0) / 1e4
        counts = np.maximum(state.tasks, 1.0)
        lp = LpBuilder("timelines")
        later = lp.variables("later", upper=(state.tasks > 0).astype(float))
        paid = self.values + self.rise * self.sizes if self.later is None else self.later
        lp.objective([(later, state.tasks * paid / unit)])
        needed = (state.tasks > 0).astype(float)
        lp.between_each([f"tasks[{i}]" for i in range(types)], [(np.arange(types), later, 1.0)], needed, needed)
        lp.at_most_each([f"machines[{j}]" for j in range(machines)], [], np.maximum(state.machines, 0.0))
        scale = np.ones(0)
        if state.headroom is not None:
            scale = np.maximum(np.where(np.isfinite(arrays.caps), arrays.caps, 1.0) * arrays.lengths, 1.0).ravel()
            rows = [f"power[{row}]" for row in range(len(scale))]
            lp.at_most_each(rows, [], np.maximum(state.headroom.ravel() / scale, 0.0))
        cells = [self._column(timeline, counts, scale if limited else None) for timeline in pool]
        costs = np.array([timeline.cost for timeline in pool]) / unit
        upper = np.array([arrays.machine_counts[timeline.j] for timeline in pool])
        solution = self.solver.solve(lp.build().with_columns(Columns.of(costs.tolist(), upper, cells)))
        self.count(PER_PROGRAM)
        if solution.status is not LpStatus.OPTIMAL:
            raise NotFoundError("no plan was found: the program of timelines has no solution")
        y = solution.multipliers
        power = None
        if limited:
            power = np.maximum(-y[types + machines :] * unit / scale, 0.0).reshape(arrays.caps.shape)
        values = np.where(state.tasks > 0, y[:types] * unit / counts, self.values)
        return solution.values[types:], values, -y[types : types + machines] * unit, power, solution.value * unit

    def _column(self, timeline: Timeline, counts: Floats, scale: Floats | None) -> dict[int, float]:
        used = np.flatnonzero(timeline.tasks)
        cells = dict(zip(used.tolist(), (timeline.tasks[used] / counts[used]).tolist(), strict=True))
        cells[len(counts) + timeline.j] = 1.0
        if scale is not None:
            first = self.arrays.site_of[timeline.j] * len(self.arrays.lengths)
            for h in np.flatnonzero(timeline.joules).tolist():
                row = int(first + h)
                cells[len(counts) + len(self.arrays.machine_counts) + row] = timeline.joules[h] / scale[row]
        return cells

    def generate(self, state: _State) -> Floats:
        """Generate timelines for the whole program until it is nearly solved; return task values."""
        machines = range(len(self.arrays.machine_counts))
        start = None if self.prices.power_prices.max(initial=0.0) == 0 else self.prices.power_prices
        for share in (1.0, 1.05, 0.95):
            self.pool += [self.maker.best(j, share * self.values, power=self.power(start, j)) for j in machines]
        centre, best = self.values, -np.inf
        for _ in range(ROUNDS):
            _, values, wages, power, value = self.combine(state)
            fresh = 0
            for share in (MIXED, 1.0):
                asked = centre + share * (values - centre)
                bound = float(state.tasks @ asked)
                if power is not None and state.headroom is not None:
                    bound -= float((power * np.where(np.isfinite(state.headroom), state.headroom, 0.0)).sum())
                for j in machines:
                    found = self.maker.best(j, asked, power=self.power(power, j))
                    paid = self._paid(found, power)
                    bound -= state.machines[j] * max(float(asked @ found.tasks) - found.cost - paid, 0.0)
                    if float(values @ found.tasks) - found.cost - paid > wages[j] + 1e-9 * abs(value):
                        self.pool.append(found)
                        fresh += 1
                if bound > best:
                    best, centre = bound, asked
                if fresh:
                    break
            self.count()
            if not fresh or value - best <= CLOSE * abs(value) or self.cancel.expired():
                break
        return centre

    def _paid(self, timeline: Timeline, power: Floats | None) -> float:
        return 0.0 if power is None else float(power[self.arrays.site_of[timeline.j]] @ timeline.joules)

    def dive(self, state: _State) -> None:
        """Fix whole machines, largest shares first, and generate timelines for the rest."""
        sites = self.arrays.site_of
        while state.machines.sum() >= 1 and state.tasks.any():
            shares, values, wages, power, value = self.combine(state)
            for _ in range(DIVE_ROUNDS):
                fresh, asked = 0, np.where(state.tasks > 0, values, -1e9 * self.sizes)
                for j in np.flatnonzero(state.machines >= 1).tolist():
                    room = None if state.headroom is None else state.headroom[sites[j]]
                    own = self.power(power, j)
                    for limit, free in ((None, None), (state.tasks, room)):
                        found = self.maker.best(j, asked, limit=limit, power=own, headroom=free)
                        earned = float(values @ found.tasks) - found.cost - self._paid(found, power)
                        if earned > wages[j] + 1e-7 * abs(value) / max(state.machines.sum(), 1.0):
                            self.pool.append(found)
                            fresh += 1
                self.count()
                if not fresh:
                    break
                shares, values, wages, power, value = self.combine(state)
            if not self._fix(state, shares, values, wages, power):
                break
            self.pool = [each for each in self.pool if state.machines[each.j] >= 1]
            if self.clock.expired():
                break

    def _fix(self, state: _State, shares: Floats, values: Floats, wages: Floats, power: Floats | None) -> bool:
        """Fix the whole parts of shares; where there are none, one machine of the largest, as far as tasks suffice."""
        sites, fixed, pool = self.arrays.site_of, False, self.pool
        order = [k for k in np.argsort(-shares, kind="stable").tolist() if shares[k] > SHARE and pool[k].tasks.any()]
        for k in order:
            count = min(int(shares[k] + SHARE), state.most(pool[k], sites[pool[k].j]))
            if count >= 1:
                state.fix(count, pool[k], sites[pool[k].j])
                fixed = True
        if fixed:
            return True
        for k in order:
            j = pool[k].j
            room = None if state.headroom is None else state.headroom[sites[j]]
            parts = [(shares[n] / state.machines[j], pool[n]) for n in order if pool[n].j == j]
            made = [
                self.maker.fitted(each, values, limit=state.tasks, power=self.power(power, j), headroom=room)
                for each in ([pool[k], mixed(self.maker, parts, state.tasks)] if self.mixes else [pool[k]])
            ]
            lost = [wages[j] - (float(values @ each.tasks) - each.cost - self._paid(each, power)) for each in made]
            best = made[int(np.argmin(lost))]
            if best.tasks.any():
                state.fix(1, best, sites[j])
                return True
        return False

    def insert(self, singles: list[Timeline], state: _State, among: Sequence[int]) -> list[Timeline]:
        """Return timelines with tasks that are left in their gaps, where they cost least; `state` is updated."""
        singles, sites = list(singles), self.arrays.site_of
        for rise in RISES if self.later is None else (0.0,):
            values = self.values + rise * self.sizes if self.later is None else self.later
            # What a machine can earn does not rise while the others take tasks: only the best is looked at again.
            earned, made = dict.fromkeys(among, np.inf), dict(enumerate(singles))
            fresh: set[int] = set()
            while state.tasks.any() and (k := max(earned, key=earned.__getitem__, default=-1)) >= 0:
                own = singles[k]
                if k in fresh:
                    state.tasks -= made[k].tasks - own.tasks
                    if state.headroom is not None:
                        state.headroom[sites[own.j]] -= made[k].joules - own.joules
                    singles[k] = own = made[k]
                    fresh.clear()
                room = None if state.headroom is None else state.headroom[sites[own.j]]
                made[k] = self.maker.best(own.j, values, limit=state.tasks, given=own, headroom=room)
                earned[k] = float(values @ (made[k].tasks - own.tasks)) - (made[k].cost - own.cost)
                fresh.add(k)
                if earned[k] <= 0.0 or made[k].tasks.sum() <= own.tasks.sum():
                    del earned[k]
                self.count()
            if not state.tasks.any():
                break
        return singles

    def dived(self, state: _State) -> tuple[list[Timeline], list[tuple[int, Timeline]]]:
        """Return single timelines and groups of a dive, with all tasks in gaps that find a place."""
        self.dive(state)
        singles = [timeline for _, timeline in state.groups]
        groups = [(count - 1, timeline) for count, timeline in state.groups if count > 1]
        for j, left in enumerate(state.machines.tolist()):
            singles += [self.maker.empty(j)] * int(min(left, SPARE))
        singles = self.insert(singles, state, range(len(singles)))
        while state.tasks.any() and groups and self.later is None:  # one more machine of each group by itself
            singles, groups = singles + [each for _, each in groups], [(n - 1, each) for n, each in groups if n > 1]
            singles = self.insert(singles, state, range(len(singles)))
        return singles, groups

    def cost(self, singles: list[Timeline], left: Floats) -> float:
        """Return what single timelines cost, and tasks that are left out; many times their value where all must run."""
        paid = self.values + MISSING * self.sizes if self.later is None else self.later
        return sum(each.cost for each in singles) + float(paid @ left)

    def exchange(
        self, singles: list[Timeline], state: _State, values: Floats, rng: np.random.Generator, enough: float
    ) -> list[Timeline]:
        """Return timelines that cost less, if not `enough`: a few are made anew from their tasks, again and again."""
        sites, cost = self.arrays.site_of, self.cost(singles, state.tasks)
        placing = self.later is None and state.tasks.any()
        # For a place for all tasks there is more work.
        budget = self.clock.share(PLACING * self.work) if placing else self.cancel
        while not budget.expired() and singles and cost > enough and (state.tasks.any() or not placing):
            whole = rng.random() < WHOLE
            size = int(rng.integers(1, MOST_TAKEN + 1)) if whole else int(rng.integers(2, MOST_WINDOWS + 1))
            taken = rng.choice(len(singles), size=min(size, len(singles)), replace=False)
            width = 1.0 if whole else rng.uniform(*WINDOW)
            begin = 0.0 if whole else rng.uniform(-width, 1.0)
            rests = {k: self.maker.without(singles[k], begin, begin + width) for k in taken.tolist()}
            helpers = rng.choice(len(singles), size=min(HELPERS, len(singles)), replace=False)
            asked = values + rng.random() * 0.1 * self.sizes
            asked = asked + 0.03 * rng.standard_normal(len(values)) * self.sizes
            room = None if state.headroom is None else state.headroom.copy()
            trial, own = list(singles), _State(state.tasks.copy(), state.machines, room, [])
            for k, rest in rests.items():
                own.tasks += singles[k].tasks - rest.tasks
                if own.headroom is not None:
                    own.headroom[sites[singles[k].j]] += singles[k].joules - rest.joules
            for k in taken.tolist():
                j = singles[k].j
                free = None if own.headroom is None else own.headroom[sites[j]]
                trial[k] = self.maker.best(j, asked, limit=own.tasks, given=rests[k], headroom=free)
                own.tasks -= trial[k].tasks - rests[k].tasks
                if own.headroom is not None:
                    own.headroom[sites[j]] -= trial[k].joules - rests[k].joules
            if own.tasks.any():
                trial = self.insert(trial, own, list(dict.fromkeys([*taken.tolist(), *helpers.tolist()])))
            budget.count(self.work_done() + PER_EXCHANGE)
            changed = self.cost(trial, own.tasks)
            if own.headroom is not None and (own.headroom < 0.0).any():
                continue
            if changed < cost - 1e-12 * abs(cost):
                singles, cost = trial, changed
                state.headroom, state.tasks = own.headroom, own.tasks
        return singles


def recover(  # noqa: PLR0913 - options are keyword-only
    arrays: HorizonArrays,
    prices: Prices,
    solver: Solver,
    cancel: CancelToken,
    *,
    work: float,
    seed: int = 0,
    enough: float = -np.inf,
    peaks: Floats | None = None,
    below: float = 1.0,
    maker: TimelineMaker | None = None,
) -> Recovered:
    """Return groups of machines with their timelines; `work` are counted seconds, `enough` ends the search before.

    `peaks` are the highest slot averages of each site that are worth their charge: they are kept like caps. `below` is
    the share of caps to keep: sums are rounded here, and the verifier is exact. `maker` makes the timelines, if
    it is given.

    Raises
    ------
    NotFoundError
        If some tasks found no place.
    """
    if peaks is not None and arrays.peak_costs.any():
        return _below_peaks(arrays, prices, solver, cancel, peaks, work=work, seed=seed, enough=enough, below=below)
    recovery = _Recovery(arrays, prices, solver, cancel, work, maker)
    budget = recovery.cancel
    headroom = None
    if arrays.has_limits:
        floor = arrays.floor_watts[:, np.newaxis]
        headroom = (arrays.caps * below - floor) * arrays.lengths
    state = _State(arrays.task_counts.copy(), arrays.machine_counts.copy(), headroom, [])
    values = recovery.generate(state)
    idle = np.where(arrays.switch_on > 0, 0.0, arrays.idle_costs @ arrays.lengths)
    fixed = float(arrays.machine_counts @ idle)
    if arrays.earnings is not None:
        fixed -= float(arrays.task_counts @ arrays.earnings)
    best, cost, generated = None, np.inf, list(recovery.pool)
    for recovery.rise, recovery.mixes in DIVES:
        recovery.pool = list(generated)
        tried = state.copy()
        singles, groups = recovery.dived(tried)
        found = recovery.cost(singles, tried.tasks) + sum(count * each.cost for count, each in groups)
        if best is None or found < cost:
            best, cost = (tried, singles, groups), found
        if cancel.expired() or cost + fixed <= enough or budget.work_left() < FOR_DIVES * work:
            break
    assert best is not None, "there is a dive"
    state, singles, groups = best
    fixed += sum(count * each.cost for count, each in groups)
    rng = np.random.default_rng(seed)
    for _ in range(2 if state.tasks.any() else 1):  # first for a place for all tasks
        singles = recovery.exchange(singles, state, values, rng, enough - fixed)
    if arrays.earnings is None and state.tasks.any():
        raise NotFoundError(f"no plan was found: {int(state.tasks.sum()):,} tasks have no place in the horizon")
    if state.headroom is not None and (state.headroom < 0.0).any():
        raise NotFoundError("no plan was found that keeps the power caps")
    alike = groups + [(1, timeline) for timeline in singles]
    return Recovered(tuple(each for each in alike if each[0]), recovery.maker)


def _below_peaks(  # noqa: PLR0913 - see `recover`
    arrays: HorizonArrays,
    prices: Prices,
    solver: Solver,
    cancel: CancelToken,
    peaks: Floats,
    *,
    work: float,
    seed: int,
    enough: float,
    below: float,
) -> Recovered:
    """Recover a plan below peaks; where none is found, below higher ones."""
    charged = arrays.peak_costs > 0
    for rise in PEAKS:
        watts = np.where(charged, rise * np.maximum(peaks, arrays.floor_watts), np.inf)
        caps = np.minimum(arrays.caps, watts[:, np.newaxis])
        capped = replace(arrays, caps=caps, peak_costs=np.zeros(len(peaks)))
        paid = float(arrays.peak_costs @ np.where(charged, watts, 0.0))
        try:
            return recover(capped, prices, solver, cancel, work=work, seed=seed, enough=enough - paid, below=below)
        except NotFoundError:
            if rise == PEAKS[-1]:
                raise
    raise AssertionError("the last peak is tried")


def near_best(arrays: HorizonArrays, prices: Prices) -> Mask:
    """Return the pairs whose cheapest run is nearly the cheapest of its task type, and some on other machines."""
    found = run_costs(arrays, prices)
    least = found.least(len(arrays.task_counts))[found.tasks]
    joules = arrays.seconds[found.tasks, found.modes] * arrays.watts[found.tasks, found.modes]
    size = np.abs(least) + np.abs(full_costs(arrays, prices)).mean() * joules
    cheapest = found.costs.min(axis=1)
    near = cheapest <= least + NEAR * size
    kept = np.zeros(arrays.can_run.shape, dtype=bool)
    kept[found.tasks[near], found.modes[near]] = True
    # Where the best machines are full, others take over: the best mode of each task type on its best machine types.
    machines, types = len(arrays.machine_counts), len(arrays.task_counts)
    on_machine = found.tasks * machines + arrays.machine_of[found.modes]
    order = np.lexsort((cheapest, on_machine))
    first = order[np.unique(on_machine[order], return_index=True)[1]]
    ranked = first[np.lexsort((cheapest[first], found.tasks[first]))]
    rank = np.arange(len(ranked)) - np.searchsorted(found.tasks[ranked], found.tasks[ranked])
    others = ranked[rank < max(FEWEST, MOST_OTHERS // types)]
    kept[found.tasks[others], found.modes[others]] = True
    return kept
