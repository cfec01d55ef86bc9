"""Plan a bag again at the start of every slot, by the actual price of the slot and a forecast of later ones.

When a slot begins, its actual price is known, and a forecast of those of all later slots (`forecast.py`). Tasks that
have begun go on; all others are planned again. What begins within the slot is done, and so on until the end. The plan
that was made one slot before is kept where the new one is no better by what is known: so there is always a plan that
finishes all tasks, and nothing is lost by planning again without news.

A machine that runs a task is **ready** when that ends. Machines of a type that are ready at nearly the same time are
planned together, from the latest of these times on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.bag.horizon.arrays import HorizonArrays, Integral
from lpsched.bag.horizon.recovery import PEAKS, near_best, recover
from lpsched.bag.horizon.relaxation import relax_work
from lpsched.bag.horizon.runs import least_machine_prices, machine_prices_of, overlaps
from lpsched.bag.horizon.schedule import IdleSpan, Plan, PlanGroup, TimedRun, united
from lpsched.bag.horizon.solve import BELOW, HorizonProblem, idle_spans
from lpsched.bag.horizon.timelines import TICKS, TimelineMaker, batches_of, grid_of
from lpsched.bag.horizon.verify import measure_plan, verify_plan
from lpsched.bag.schedule import run_of
from lpsched.errors import InfeasibleError, NotFoundError, SolverError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.bag.horizon.forecasts.forecast import Knowledge
    from lpsched.bag.horizon.recovery import Recovered
    from lpsched.bag.horizon.relaxation import Prices
    from lpsched.bag.model import Bag
    from lpsched.cancellation import CancelToken
    from lpsched.lp.program import Solver
    from lpsched.model.table import Floats, Integers

POINTS: Final = 1500  # of the grid, about, of a plan that is made again
MOST_READY: Final = 4  # times at which busy machines of a type are taken to be ready
HIGHER: Final = PEAKS[:4]  # multiples of the best peak that are tried in turn


@dataclass(frozen=True, slots=True)
class Begun:
    """Machines of one type, what they have begun, and when they are ready for more."""

    j: int
    count: int
    runs: tuple[TimedRun, ...]
    idle: tuple[IdleSpan, ...]  # until now, where switching on costs something
    ready: Fraction
    is_on: bool  # now


@dataclass(frozen=True, slots=True)
class Replanned:
    """What was done in the end, and how often a new plan was searched for and adopted."""

    plan: Plan
    slots: int  # from the first one on, in which there was time to plan again
    searched: int
    adopted: int


class Replanner:
    """Plans a bag again and again."""

    def __init__(self, knowledge: Knowledge, solver: Solver, cancel: CancelToken, *, work: float, seed: int) -> None:
        self.knowledge, self.solver, self.cancel = knowledge, solver, cancel
        self.work, self.seed = work, seed
        self.bag = knowledge.actual.bag
        self.column = {mode: at for at, mode in enumerate(self.bag.modes)}
        self.row = {task.name: i for i, task in enumerate(self.bag.task_types)}
        self.kind = {machine.name: j for j, machine in enumerate(self.bag.machine_types)}

    def run(self, first: Plan) -> Replanned:
        """Return what is done if `first` is planned at the start, and all else as prices become known."""
        plan, searched, adopted = first, 0, 0
        count = slots = self.knowledge.actual.slots.count
        for k in range(count):
            self.cancel.report("planning again", done=k, total=count)
            problem = self.knowledge.at(k)
            arrays = problem.arrays()
            plan = with_idle(problem.bag, arrays, plan)
            slots = min(slots, k) if self.cancel.is_cut() else slots
            if not k or slots < count or not self.knowledge.is_news(k):
                continue
            begun = self.begun(plan, problem.slots.edges[k])
            made = self.planned(problem, arrays, begun, k, plan)
            searched += 1
            if made is not None and self._is_better(problem, made, plan):
                plan, adopted = made, adopted + 1
        return Replanned(plan, slots, searched, adopted)

    def _is_better(self, problem: HorizonProblem, made: Plan, plan: Plan) -> bool:
        """Return whether a new plan is valid, and better than the old one by what is known."""
        weights = problem.weights
        if verify_plan(problem.bag, problem.slots, made, optional=weights.optional):
            return False
        new, old = (measure_plan(problem.bag, problem.slots, each).value(weights) for each in (made, plan))
        return new < old

    # What has begun.
    def begun(self, plan: Plan, moment: float) -> list[Begun]:
        """Return what all machines have begun before a moment; tasks of a run that have not begun are left out."""
        found, used = [], np.zeros(len(self.bag.machine_types), dtype=np.int64)
        for group in plan.groups:
            j, runs, ready = self.kind[group.machine_type], [], Fraction(0)
            used[j] += group.machines
            for run in group.runs:
                if run.start_seconds >= moment:
                    break
                start, seconds = Fraction(run.start_seconds), Fraction(self.seconds(j, run))
                count = min(run.count, -int(-(Fraction(moment) - start) // seconds))
                runs.append(replace(run, count=count))
                ready = start + count * seconds
            idle = [IdleSpan(each.start_seconds, min(each.end_seconds, moment)) for each in group.idle]
            idle = [each for each in idle if each.start_seconds < each.end_seconds]
            idles = any(each.start_seconds < moment <= each.end_seconds for each in group.idle)
            is_on = (bool(runs) and ready >= moment) or idles
            found.append(Begun(j, group.machines, tuple(runs), tuple(idle), ready, is_on))
        for j, machine in enumerate(self.bag.machine_types):
            if machine.count > used[j]:
                found.append(Begun(j, int(machine.count - used[j]), (), (), Fraction(0), is_on=False))
        return found

    def seconds(self, j: int, run: TimedRun) -> float:
        """Return what one task of a run takes."""
        return self.bag.seconds[self.row[run.task_type], self._column(j, run)] or 0.0

    def _column(self, j: int, run: TimedRun) -> int:
        states = self.bag.machine_types[j].p_states
        return self.column[j, states.index(run.p_state) if states and run.p_state else 0]

    def _left(self, begun: list[Begun]) -> Floats:
        """Return how many tasks of each type have not begun."""
        left = np.array([task.count for task in self.bag.task_types])
        for each in begun:
            for run in each.runs:
                left[self.row[run.task_type]] -= each.count * run.count
        return left.astype(float)

    def _drawn(self, arrays: HorizonArrays, begun: list[Begun], k: int) -> Floats:
        """Return S x later slots: watts that runs still draw, above idle where machines must stay on."""
        edges = arrays.edges[k:] - arrays.edges[k]
        found = np.zeros((len(arrays.caps), len(edges) - 1))
        for each in begun:
            rest = float(each.ready) - arrays.edges[k]
            if rest > 0:
                watts = float(arrays.watts[self.row[each.runs[-1].task_type], self._column(each.j, each.runs[-1])])
                watts -= 0.0 if arrays.may_be_off[each.j] else float(arrays.idle_watts[each.j])
                seconds = overlaps(edges, np.zeros(1), np.array([rest]))[0]
                found[arrays.site_of[each.j]] += each.count * watts * seconds / np.diff(edges)
        return found

    # What is planned.
    def planned(
        self, problem: HorizonProblem, arrays: HorizonArrays, begun: list[Begun], k: int, plan: Plan
    ) -> Plan | None:
        """Return a new plan of all tasks that have not begun; `None` if there are none, or none was found."""
        left = self._left(begun)
        kept = np.flatnonzero(left)
        if not len(kept):
            return None
        drawn = self._drawn(arrays, begun, k)
        rest = remaining(arrays, left, kept, k)
        rest = replace(rest, caps=rest.caps - drawn)
        try:
            relaxed = relax_work(rest, self.solver, self.cancel)
            prices = replace(relaxed.prices, machine_prices=machine_prices_of(rest, relaxed.prices))
            if not rest.peak_costs.any():
                return self._recovered(problem, arrays, rest, prices, begun, kept, k)
            peaks = np.maximum(relaxed.peaks, self._past_peaks(problem, plan, k))
            for rise in HIGHER:
                watts = np.where(rest.peak_costs > 0, rise * peaks, np.inf)[:, np.newaxis]
                below = replace(rest, caps=np.minimum(rest.caps, watts - drawn), peak_costs=np.zeros(len(peaks)))
                try:
                    return self._recovered(problem, arrays, below, prices, begun, kept, k)
                except NotFoundError:
                    continue
        except (NotFoundError, InfeasibleError, SolverError):
            pass
        return None

    def _past_peaks(self, problem: HorizonProblem, plan: Plan, k: int) -> Floats:
        """Return the highest slot averages of each site so far."""
        measured, lengths = measure_plan(problem.bag, problem.slots, plan), np.diff(problem.slots.edges)
        return np.array([max(float(row[h]) / lengths[h] for h in range(k)) for row in measured.joules])

    def _recovered(  # noqa: PLR0913, PLR0917 - what is known of one slot
        self,
        problem: HorizonProblem,
        arrays: HorizonArrays,
        rest: HorizonArrays,
        prices: Prices,
        begun: list[Begun],
        kept: Integers,
        k: int,
    ) -> Plan:
        moment = problem.slots.edges[k]
        points = max(200, round(POINTS * float(rest.edges[-1]) / problem.slots.horizon))
        grid = grid_of(rest, points)
        step_seconds = Fraction(grid.step, TICKS)
        steps = [max(0, -int(-(each.ready - Fraction(moment)) // step_seconds)) for each in begun]
        steps = fewer(begun, steps)
        rows = sorted({(each.j, step) for each, step in zip(begun, steps, strict=True)})
        of = np.array([j for j, _ in rows])
        pairs = near_best(rest, prices)
        batches = [batches_of(rest, grid, j, pairs) for j in range(len(rest.machine_counts))]
        ready = np.array([step for _, step in rows]) * float(step_seconds)
        number = {row: r for r, row in enumerate(rows)}
        members: list[list[Begun]] = [[] for _ in rows]
        for each, step in zip(begun, steps, strict=True):
            members[number[each.j, step]].append(each)
        counts = np.array([float(sum(each.count for each in own)) for own in members])
        grouped, columns = split(rest, of, ready, counts)
        assert prices.machine_prices is not None
        wages = (prices.machine_prices - least_machine_prices(rest, prices))[of]
        maker = TimelineMaker(grouped, pairs[:, columns], wages, points, [batches[j] for j in of.tolist()])
        own_prices = replace(prices, machine_prices=prices.machine_prices[of])
        made = Plan(())
        for below in BELOW if grouped.has_limits else BELOW[:1]:
            options: dict[str, Any] = {"work": self.work, "seed": self.seed, "below": below, "maker": maker}
            found = recover(grouped, own_prices, self.solver, self.cancel, **options)
            made = self._plan_of(arrays, found, members, kept, moment)
            if not verify_plan(problem.bag, problem.slots, made, optional=problem.weights.optional):
                break
        return made

    def _plan_of(
        self, arrays: HorizonArrays, found: Recovered, members: list[list[Begun]], kept: Integers, moment: float
    ) -> Plan:
        """Return the plan of what has begun and what was found: each timeline is of machines that are ready for it."""
        maker, groups = found.maker, []
        free = [[(each, each.count) for each in own] for own in members]
        for count, timeline in found.groups:
            runs, left = [], count
            for begin, i, mode, tasks in maker.runs(timeline):
                run = run_of(self.bag, int(kept[i]), mode, tasks)
                runs.append(TimedRun(moment + begin / TICKS, run.task_type, run.count, run.p_state))
            while left and runs:
                each, machines = free[timeline.j].pop()
                taken = min(left, machines)
                groups.append(self._group(arrays, each, taken, tuple(runs), moment))
                left -= taken
                if taken < machines:
                    free[timeline.j].append((each, machines - taken))
        for own_free in free:
            groups += [self._group(arrays, each, machines, (), moment) for each, machines in own_free]
        return with_idle(self.bag, arrays, Plan(tuple(groups)))

    def _group(
        self, arrays: HorizonArrays, begun: Begun, count: int, runs: tuple[TimedRun, ...], moment: float
    ) -> PlanGroup:
        """Return machines with what they have begun and will run, idle from run to run where that is cheaper."""
        name = self.bag.machine_types[begun.j].name
        idle = begun.idle
        if arrays.switch_on[begun.j] and not arrays.has_limits:
            spans = [(each.start_seconds, each.end_seconds) for each in begun.idle]
            spans += self._bridges(arrays, begun, runs, moment)
            idle = tuple(IdleSpan(*span) for span in united(spans))
        return PlanGroup(name, count, begun.runs + runs, idle)

    def _bridges(
        self, arrays: HorizonArrays, begun: Begun, runs: tuple[TimedRun, ...], moment: float
    ) -> Iterable[tuple[float, float]]:
        """Return from when to when machines idle from now on, because switching them on again would cost more."""
        j = begun.j
        spent = Integral(arrays.edges, arrays.idle_watts[j] * arrays.joule_costs[j])
        # A span begins with the run before it, which may end between two doubles: so nothing is switched off there.
        begin, end = moment, max(float(begun.ready), moment)
        if begun.runs and begun.ready >= moment:
            begin = begun.runs[-1].start_seconds
        is_on = begun.is_on
        for run in runs:
            if is_on and end < run.start_seconds:
                cost = spent.at(np.array([end, run.start_seconds]))
                if cost[1] - cost[0] <= arrays.switch_on[j]:
                    yield begin, run.start_seconds
            begin, is_on = run.start_seconds, True
            end = float(Fraction(begin) + run.count * Fraction(self.seconds(j, run)))


def with_idle(bag: Bag, arrays: HorizonArrays, plan: Plan) -> Plan:
    """Return a plan whose machines are on where idling earns by these prices, if switching them on is free."""
    groups, used = [], dict.fromkeys((machine.name for machine in bag.machine_types), 0)
    spans = {machine.name: idle_spans(arrays, j) for j, machine in enumerate(bag.machine_types)}
    costly = {machine.name for j, machine in enumerate(bag.machine_types) if arrays.switch_on[j]}
    for group in plan.groups:
        made = group if group.machine_type in costly else replace(group, idle=spans[group.machine_type])
        if made.runs or (made.idle and group.machine_type in costly):
            groups.append(made)
            used[group.machine_type] += group.machines
    others = [(each.name, each.count - used[each.name], spans[each.name]) for each in bag.machine_types]
    groups += [PlanGroup(name, count, (), idle) for name, count, idle in others if idle and count]
    return Plan(tuple(groups))


def remaining(arrays: HorizonArrays, left: Floats, kept: Integers, k: int) -> HorizonArrays:
    """Return the arrays from slot k on, of the tasks that are left: those of the types `kept`."""
    edges = arrays.edges[k:] - arrays.edges[k]
    return replace(
        arrays,
        task_counts=left[kept],
        can_run=arrays.can_run[kept] & (arrays.seconds[kept] <= edges[-1]),
        seconds=arrays.seconds[kept],
        watts=arrays.watts[kept],
        moving=arrays.moving[kept],
        earnings=None if arrays.earnings is None else arrays.earnings[kept],
        edges=edges,
        lengths=arrays.lengths[k:],
        joule_costs=arrays.joule_costs[:, k:],
        caps=arrays.caps[:, k:],
        joule_grams=None,
    )


def split(arrays: HorizonArrays, of: Integers, ready: Floats, counts: Floats) -> tuple[HorizonArrays, Integers]:
    """Return arrays whose machine types are those of `of`, some of them ready later; and which mode each mode was."""
    modes = [np.flatnonzero(arrays.machine_of == j) for j in of.tolist()]
    columns = np.concatenate(modes)
    machine_of = np.repeat(np.arange(len(of)), [len(each) for each in modes])
    seconds = arrays.seconds[:, columns]
    made = replace(
        arrays,
        machine_counts=counts,
        machine_of=machine_of,
        can_run=arrays.can_run[:, columns] & (seconds <= arrays.edges[-1] - ready[machine_of]),
        seconds=seconds,
        watts=arrays.watts[:, columns],
        idle_watts=arrays.idle_watts[of],
        wear=arrays.wear[of],
        moving=arrays.moving[:, of],
        switch_on=arrays.switch_on[of],
        may_be_off=arrays.may_be_off[of],
        site_of=arrays.site_of[of],
        joule_costs=arrays.joule_costs[of],
        ready=ready,
    )
    return made, columns


def fewer(begun: list[Begun], steps: list[int]) -> list[int]:
    """Return when machines are ready in fewer different steps, never earlier: of each type, some share of them each."""
    found = list(steps)
    for j in {each.j for each in begun}:
        busy = sorted((step, place) for place, step in enumerate(steps) if step and begun[place].j == j)
        if len({step for step, _ in busy}) <= MOST_READY:
            continue
        machines = np.cumsum([begun[place].count for _, place in busy])
        share = np.minimum((machines - 1) * MOST_READY // machines[-1], MOST_READY - 1)
        for part in range(MOST_READY):
            own = [each for each, number in zip(busy, share.tolist(), strict=True) if number == part]
            for _, place in own:
                found[place] = own[-1][0]
    return found
