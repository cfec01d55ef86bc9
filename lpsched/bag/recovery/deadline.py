"""Schedules that end by a deadline."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from lpsched.bag.cost import exact_cost_model, exact_pair
from lpsched.bag.profit import profit_model
from lpsched.bag.recovery.plans import grouped
from lpsched.bag.relaxation import LARGEST_COST, SLACK, Point, Scaling, scaling_of
from lpsched.lp.program import LinearProgram, LpBuilder, LpSolution, Master, Solver
from lpsched.lp.sweep import is_consistent

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.schedule import Schedule
    from lpsched.model.table import Floats


# Shorter deadlines: the cheapest way to split the tasks within a part of the time there is.
#
# Schedules of whole tasks take a little longer than the relaxation they are rounded from. So the relaxation
# of a deadline is often rounded to a schedule that misses it, and that of a slightly shorter one is not.
#
# With n, m, e, d and x of `bag/front.py`, x_ijk = 0 where e_ijk > D, and besides
#
#     D      deadline                      H  P - I, what the power cap leaves above the idle floor
#     kappa  what a task costs: money, joules or nothing, as the objective counts
#     f_j, g the shares of the deadline and of the joules under the cap that may be used
#
#     min   kappa x
#     s.t.  sum_jk x_ijk        =  n_i          for each task type i      (demand)
#           sum_ik e_ijk x_ijk  <= m_j f_j D    for each machine type j   (capacity)
#           sum d_ijk x_ijk     <= g H D                                  (cap)
#           x >= 0
#
# The fastest way has t in place of f_j D, and is the least t. Only limits change from one f to the next, so
# each solve starts from the basis of the last one. A whole task may be longer than f_j D as long as it is not
# longer than D: that is why this is not the program of a bag with a shorter deadline.
#
# Nothing is proved by it: it only suggests schedules. A cap below the idle floor (H < 0) is stricter the
# longer a schedule takes; there g is the longest share of the deadline that the schedule may end at.
NAME: Final = "shorter deadline"
OVERLOAD: Final = 10.0  # times the largest price: what is taken beyond a limit
TIE: Final = 1e-6  # of the cost, where the time is minimised: of all fastest ways, a cheap one


@dataclass(frozen=True, slots=True)
class Shortened(Point):
    """The cheapest way within a share of the deadline, and what leaving it would cost."""

    reduced_costs: Floats  # of a task of each type in each column, 0 or more but for rounding; inf if it cannot run
    machine_prices: tuple[float, ...]  # of the time of all machines of each type up to the deadline
    weight: float  # more than any of these prices, and than that of all joules under the cap


@dataclass(slots=True)
class ShorterDeadlines:
    """The program of one bag with a deadline, solved for one share of the deadline after the other."""

    scaling: Scaling
    program: LinearProgram
    solver: Solver
    costs: Floats  # of one task of each type in each column; infinite where it cannot run by the deadline
    _master: Master | None = None

    def limits(self, shares: Floats) -> Floats:
        """Return what may be taken of each limit: shares of the machine types' time, and last of the cap."""
        cap = self.scaling.cap
        return shares[:-1] if cap is None else np.append(shares[:-1], cap.headroom * shares[-1])

    def cheapest(self, shares: Floats) -> Shortened | None:
        """Return the cheapest way within these shares of deadline and cap; `None` if there is none."""
        program = self.program
        if self._master is None:
            self._master = self.solver.master(program)
        upper, row_upper = program.upper.copy(), program.row_upper.copy()
        upper[-1] = 0.0
        row_upper[self.costs.shape[0] :] = self.limits(shares)
        self._master.change_limits(upper, program.row_lower, row_upper)
        solution = self._master.solve()
        if not is_consistent(solution):  # as infeasible ones are; hot starts have been seen to go wrong as well
            self._master = None
            return None
        return self._shortened(solution)

    def fastest(self) -> Shortened | None:
        """Return the fastest way under the cap; `None` if none ends by the deadline."""
        size = float(np.abs(self.program.costs).max()) or 1.0
        costs = TIE / size * self.program.costs
        costs[-1] = 1.0
        solution = self.solver.solve(self.program.with_costs(costs))
        return self._shortened(solution) if is_consistent(solution) else None

    def _shortened(self, solution: LpSolution) -> Shortened:
        scaling, arrays, y = self.scaling, self.scaling.arrays, solution.multipliers
        types, machines = self.costs.shape[0], len(arrays.machine_counts)
        point = scaling.point(scaling.shares_of(solution["y"]))
        prices = np.maximum(-y[types:], 0.0)
        own = self.costs * arrays.task_counts[:, np.newaxis] + prices[arrays.machine_of] * scaling.loads
        if scaling.cap is not None:
            own += prices[-1] * scaling.cap.loads
        return Shortened(
            point.shares,
            point.makespan_seconds,
            point.energy_joules,
            reduced_costs=(own - y[:types, np.newaxis]) / arrays.task_counts[:, np.newaxis],
            machine_prices=tuple(prices[:machines].tolist()),
            weight=OVERLOAD * (float(prices.max(initial=0.0)) or 1.0),
        )


def shorter_deadlines(bag: Bag, objective: str, solver: Solver) -> ShorterDeadlines | None:
    """Return the program for an objective of a bag with a deadline; `None` if a task is longer than that."""
    deadline = bag.site.deadline_seconds
    assert deadline is not None, "a deadline is what is shortened"
    scaling = scaling_of(bag, seconds=deadline)
    usable = scaling.in_model & (scaling.arrays.seconds <= deadline)
    if not usable.any(axis=1).all():
        return None
    costs, units = _costs(scaling, objective), np.where(usable, scaling.units, 0.0)
    # The program above with t up to D in place of f D; t is in units of D, x in units u of n.
    lp = LpBuilder(NAME)
    y = lp.variables("y", upper=np.where(usable, SLACK / scaling.units, 0.0))
    t = lp.variables("t", upper=np.ones(1))
    lp.objective([(y, costs * scaling.units)])
    demand, capacity = scaling.row_names
    machine, own = np.arange(len(capacity)), scaling.arrays.machine_of[np.newaxis]
    lp.equal_each(demand, [(np.arange(len(demand))[:, np.newaxis], y, units)], 1.0)
    lp.at_most_each(capacity, [(own, y, scaling.loads * units), (machine, t, -1.0)], 0.0)
    if scaling.cap is not None:
        lp.at_most("cap", [(y, scaling.cap.loads * units)], scaling.cap.headroom)
    one = np.where(usable, costs / scaling.arrays.task_counts[:, np.newaxis], np.inf)
    return ShorterDeadlines(scaling, lp.build(), solver, one)


def _costs(scaling: Scaling, objective: str) -> Floats:
    """Return what all tasks of a type cost in each column, as a share of what the whole bag costs."""
    if objective == "profit":
        costs = np.where(scaling.arrays.can_run, profit_model(scaling).costs, 0.0)
    elif scaling.joules is not None:
        costs = scaling.joules
    else:
        return np.zeros_like(scaling.loads)
    cheapest = np.where(scaling.arrays.can_run, np.abs(costs), np.inf).min(axis=1)
    unit = float(cheapest.sum()) or float(np.abs(costs).max()) or 1.0
    return np.minimum(costs / unit, LARGEST_COST)


# A small exact search: assignments of single tasks to single machines that end by the deadline.
#
# Tasks are assigned one by one, the ones that are shortest to run last. What has been assigned is remembered only by
#
#     the loads of the machines of each type, sorted, since machines of a type are alike
#     the least that tasks with these loads cost (joules above idle, where a power cap counts them)
#
# so assignments that leave the rest the same choices are one *state*. A state is dropped if
#
#     a load is longer than the deadline, or
#     the tasks left cannot fit: each where it is shortest, they take more time than is left, or
#     under a power cap: each where it takes least, they bring the joules above what the cap allows.
#
# If nothing else was dropped, every schedule was looked at, and no state at the end means that none ends by
# the deadline. Where states get too many for `MOST_STEPS`, those with the least load by given prices of the
# machines' time are kept, and the search proves nothing.
#
# Seconds, joules and the deadline are whole multiples of one fraction each, so all sums are exact.
MOST_STEPS: Final = 150_000  # times that a task is tried on a machine: some tenths of a second
MOST_TASKS: Final = 400
MOST_KEPT: Final = 8  # schedules that are returned
EVEN: Final = 0.1  # of the load by prices: how much the squares of the loads count

Loads: TypeAlias = tuple[tuple[int, ...], ...]  # of each machine type, sorted


@dataclass(frozen=True, slots=True)
class Searched:
    """Schedules by the deadline, the cheapest first; if there is none, whether that is proved."""

    schedules: list[Schedule]
    is_complete: bool


class _Option(NamedTuple):
    """A column that a task may run in: whole numbers of seconds and joules, and a cost."""

    column: int
    machine: int
    seconds: int
    joules: int
    cost: float


class _State(NamedTuple):
    """The cheapest way to the same loads: its last step leads back to the state before."""

    rank: tuple[float, float]  # what is to be small: the cost, or where a cap counts them first the joules
    cost: float
    joules: int
    before: _State | None = None
    step: tuple[int, int, int, int, int] | None = None  # task type, column, machine type, load before, after


def search(bag: Bag, costs: Floats, machine_prices: Sequence[float]) -> Searched:
    """Search a bag with a deadline, unless it is too large; nothing is proved then. Prices are of a machine's time."""
    deadline = bag.site.deadline_seconds
    assert deadline is not None, "only a deadline can be missed"
    for row in bag.seconds:
        if min(each for each in row if each is not None) > deadline:  # it takes longer wherever it runs
            return Searched([], is_complete=True)
    if bag.tasks > MOST_TASKS or bag.tasks * bag.machines > MOST_STEPS:
        return Searched([], is_complete=False)
    return _Search(bag, costs, machine_prices).run()


class _Search:
    """The search for one bag."""

    def __init__(self, bag: Bag, costs: Floats, machine_prices: Sequence[float]) -> None:
        assert bag.site.deadline_seconds is not None
        self.bag, self.prices = bag, machine_prices
        deadline = Fraction(bag.site.deadline_seconds)
        headroom = None if bag.watts is None else exact_cost_model(bag).headroom
        self.capped = headroom is not None
        # Below the idle floor a schedule may end too late for the cap, which this search does not look at.
        self.may_prove = headroom is None or headroom >= 0
        allowed = Fraction(0) if headroom is None else headroom * deadline
        usable = [[c for c, e in enumerate(row) if e is not None and e <= deadline] for row in bag.seconds]
        pairs = [[(c, *exact_pair(bag, i, c)) for c in columns] for i, columns in enumerate(usable)]
        # Without a cap joules do not matter, and need no unit.
        second = _unit([deadline, *(exact for row in pairs for _, exact, _ in row)])
        joule = _unit([allowed, *(joules for row in pairs for _, _, joules in row if self.capped)])
        self.deadline, self.allowed = int(deadline / second), int(allowed / joule)
        self.options = [
            [_Option(c, bag.modes[c][0], int(e / second), int(d / joule), float(costs[i, c])) for c, e, d in row]
            for i, row in enumerate(pairs)
        ]

    def run(self) -> Searched:
        """Assign task after task."""
        bag, cells = self.bag, self.bag.tasks * self.bag.machines
        shortest = [min(each.seconds for each in row) for row in self.options]
        lightest = [min(each.joules for each in row) for row in self.options]
        order = sorted(range(len(bag.task_types)), key=lambda i: (-shortest[i], i))
        tasks = [i for i in order for _ in range(bag.task_types[i].count)]
        empty = tuple((0,) * machine.count for machine in bag.machine_types)
        states, complete = {empty: _State((0, 0), 0.0, 0)}, self.may_prove
        free = bag.machines * self.deadline - sum(shortest[i] for i in tasks)
        allowed = self.allowed - sum(lightest[i] for i in tasks)
        for i in tasks:
            free, allowed = free + shortest[i], allowed + lightest[i]
            if len(states) > MOST_STEPS // cells:
                complete = False
                states = dict(sorted(states.items(), key=self._promise)[: MOST_STEPS // cells])
            states = self._grown(states, i, free, allowed)
        return Searched(list(self._schedules(states)), complete)

    def _grown(self, states: dict[Loads, _State], i: int, most_load: int, most_joules: int) -> dict[Loads, _State]:
        """Return the states after one more task of a type."""
        grown: dict[Loads, _State] = {}
        for loads, state in states.items():
            total = sum(map(sum, loads))
            for option in self.options[i]:
                joules = state.joules + option.joules
                if total + option.seconds > most_load or (self.capped and joules > most_joules):
                    continue
                own, cost = loads[option.machine], state.cost + option.cost
                for load in dict.fromkeys(own):
                    after = load + option.seconds
                    if after > self.deadline:
                        break  # loads are sorted
                    changed = list(own)
                    changed.remove(load)
                    changed.append(after)
                    key = (*loads[: option.machine], tuple(sorted(changed)), *loads[option.machine + 1 :])
                    known, rank = grown.get(key), (joules, cost) if self.capped else (cost, 0)
                    if known is None or rank < known.rank:
                        step = (i, option.column, option.machine, load, after)
                        grown[key] = _State(rank, cost, joules, state, step)
        return grown

    def _promise(self, entry: tuple[Loads, _State]) -> tuple[float, Loads]:
        """Return how much of the machines' time is taken, by their prices; less is better."""
        taken = 0.0
        for price, own in zip(self.prices, entry[0], strict=True):
            taken += price * sum(share + EVEN * share * share for share in (load / self.deadline for load in own))
        return taken, entry[0]

    def _schedules(self, states: dict[Loads, _State]) -> Iterator[Schedule]:
        """Yield the schedules that no other one beats in both cost and makespan, the cheapest first."""
        shortest, kept = math.inf, 0
        for loads, state in sorted(states.items(), key=lambda entry: (entry[1].cost, max(map(max, entry[0])))):
            longest = max(map(max, loads))
            if longest < shortest and kept < MOST_KEPT:
                shortest, kept = longest, kept + 1
                steps = []
                at: _State | None = state
                while at is not None and at.step is not None:
                    steps.append(at.step)
                    at = at.before
                machines: list[tuple[int, list[int], Counter[tuple[int, int]]]] = [
                    (j, [0], Counter())
                    for j, machine in enumerate(self.bag.machine_types)
                    for _ in range(machine.count)
                ]
                for i, column, j, before, after in reversed(steps):  # once more, from the first to the last
                    _, load, cells = next(each for each in machines if each[0] == j and each[1][0] == before)
                    load[0] = after
                    cells[i, column] += 1
                yield grouped(self.bag, [(j, cells) for j, _, cells in machines])


def _unit(amounts: Iterable[Fraction]) -> Fraction:
    """Return a fraction of which all these are whole multiples."""
    return Fraction(1, math.lcm(*(each.denominator for each in amounts)))
