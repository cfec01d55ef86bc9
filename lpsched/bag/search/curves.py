"""The most profit as a function of one number: price, price of electricity, machines of a type."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import numpy as np

from lpsched.bag import profit
from lpsched.bag.certificate.bounds import Multipliers
from lpsched.bag.cost import cost_model
from lpsched.bag.relaxation import SLACK, Point, Relaxation, scaling_of
from lpsched.bag.search.frontier import FAR, FINE, FLAT, Vertex, best_rate, vertices
from lpsched.errors import InfeasibleProgramError
from lpsched.lp.program import Columns, LinearProgram, LpSolution, Rows, Solver, require_optimal
from lpsched.lp.sweep import CheckedSweep

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.model.table import Floats


Found = TypeVar("Found", bound=Point)


@dataclass(frozen=True, slots=True)
class _Best(Generic[Found]):
    """What is best at some price: money (C) or watts (B) used, and bags (r) or money (A) gained, a second."""

    relaxation: Found
    used: float
    gained: float
    runs: bool


class _RateSearch:
    """The profit program of one bag, to be solved at one price after the other; all share one set of rows."""

    def __init__(self, bag: Bag, solver: Solver) -> None:
        self.bag, self._solver = bag, solver
        self._scales = scaling_of(bag)
        self._money = profit.profit_model(self._scales)
        self._sweep = CheckedSweep(solver, profit.compile_lp(self._scales, self._money))
        self._used = np.where(np.isfinite(self._money.costs), self._money.costs, 0.0)

    def _are_apart(self, amounts: Floats) -> bool:
        """Return whether the way with the least of these is so slow that each program needs a T of its own."""
        return self._scales.makespan_of(self._scales.to_least(amounts)) > FAR * self._scales.seconds

    def _spent(self, point: Point) -> float:
        """Return what the tasks of a bag cost."""
        return float((self._used * point.shares).sum())


# The most profit as a function of the price: every segment, exactly.
# At income N = p - overhead the best rate is max over (r, C) of N r - C, where r is bags per second and C the
# money per second that their tasks cost. That is convex and piecewise linear in N; its segments are the vertices
# of the chain of (C, -r), its breakpoints the incomes at which two neighbours tie.
@dataclass(frozen=True, slots=True)
class PriceSegment:
    """A vertex: what is best between two incomes. `None` for the relaxation means: do not run."""

    from_income: float
    to_income: float | None  # None: unbounded
    bags_per_second: float
    cost_per_second: float
    relaxation: Point | None


class PriceSearch(_RateSearch):
    """Solves the profit program of one bag for one income after the other."""

    def __init__(self, bag: Bag, solver: Solver) -> None:
        super().__init__(bag, solver)
        self._kappa = (profit.costs_of(self._money) * self._scales.units).ravel()
        self._apart = self._are_apart(self._money.costs)
        self._solutions: dict[float, tuple[profit.ProfitModel, LpSolution]] = {}  # by rounded incomes

    def at(self, income: float) -> Relaxation:
        """Return what is best at this income."""
        if self._apart:
            return best_rate(self.bag, self._solver, income=income)[0]
        return profit.read_solution(self._scales, *self._solved(1.0, income))

    def prices_at(self, income: float) -> Multipliers:
        """Return the prices that prove what is best at this income; at a breakpoint, those that were found there."""
        if self._apart:
            return self.at(income).multipliers
        known = self._solutions.get(_rounded(income)) or self._solved(1.0, income)
        return Multipliers(*profit.read_prices(self._scales, *known))

    def segments(self, from_income: float, to_income: float | None) -> list[PriceSegment]:
        """Return the segments between two incomes, by rising income."""

        # The first criterion is C - N0 r, with N0 the income to begin at: then all incomes between are positive
        # weights, also those of a price that does not cover the overhead.
        def minimise(cost_weight: float, bags_weight: float) -> Vertex[_Best[Point]]:
            best = self._best(cost_weight, bags_weight + cost_weight * from_income)
            return Vertex(best.used - from_income * best.gained, -best.gained, best)

        left = minimise(1.0, 0.0)
        right = minimise(0.0, 1.0) if to_income is None else minimise(1.0, to_income - from_income)
        if self.bag.site.deadline_seconds is None and left.first >= 0:
            left = Vertex(0.0, 0.0, _Best(left.source.relaxation, 0.0, 0.0, runs=False))  # r = 0, C = 0
        found, _ = vertices(minimise, left, right, flat=FINE if self._apart else FLAT)
        breaks = [
            from_income + (after.first - before.first) / (before.second - after.second)
            for before, after in itertools.pairwise(found)
        ]
        starts, stops = [from_income, *breaks], [*breaks, to_income]
        return [
            PriceSegment(start, stop, best.gained, best.used, best.relaxation if best.runs else None)
            for best, start, stop in zip((each.source for each in found), starts, stops, strict=True)
        ]

    def _best(self, cost_weight: float, bags_weight: float) -> _Best[Point]:
        """Return what is best for cost_weight C - bags_weight r."""
        if self._apart and cost_weight:
            return self._with_rates(*best_rate(self.bag, self._solver, income=bags_weight / cost_weight))
        _, solution = self._solved(cost_weight, bags_weight)
        point = profit.read_point(self._scales, solution)
        return self._with_rates(point, float(solution["rho"][0]) / self._scales.seconds)

    def _solved(self, cost_weight: float, bags_weight: float) -> tuple[profit.ProfitModel, LpSolution]:
        """Solve the program for cost_weight C - bags_weight r; also return its unit of money."""
        size = max(cost_weight * self._money.unit, abs(bags_weight)) or 1.0
        kappa, income = cost_weight * self._money.unit / size, bags_weight / size
        costs = np.empty(len(self._kappa) + 1)
        costs[:-1], costs[-1] = kappa * self._kappa, -income
        solution = self._sweep.solve(costs)
        if not cost_weight:
            return self._money, solution
        solved = replace(self._money, unit=size / cost_weight), solution
        self._solutions[_rounded(bags_weight / cost_weight)] = solved
        return solved

    def _with_rates(self, point: Point, bags: float) -> _Best[Point]:
        return _Best(point, self._spent(point) * bags, bags, runs=bags != 0)


def _rounded(income: float) -> float:
    """Return an income to twelve digits: weights give it only roughly, and prices prove a bound at any income."""
    return float(f"{income:.11e}")


# The most profit as a function of the price of electricity: every segment, exactly.
#
# Let q = c PUE be what a joule at the machines costs. At a fixed income N the best rate is
#
#     max over (r, z)  of  A - q B - K(q),    A = N r - sum wear_j e_ijk z_ijk    money per second, less wear
#                                             B = sum d_ijk z_ijk                 watts above the idle floor I
#                                             K = q I + depreciation
#
# over the rows of `bag/profit.py`, in which no price of energy occurs. So it is convex and piecewise linear in q; its
# segments are the vertices of the chain of (B, -A), its breakpoints the prices at which two neighbours tie. It never
# rises: B + I, the power drawn, is not negative. To do nothing is A = B = 0. Where tasks draw less than idle machines,
# B < 0 at high prices, and doing nothing is best only between two prices, if at all.
@dataclass(frozen=True, slots=True)
class ElectricitySegment:
    """A vertex: what is best between two prices of a kilowatt-hour. No relaxation means: do not run."""

    from_per_kwh: float
    to_per_kwh: float | None  # None: unbounded
    money_per_second: float  # A
    watts_above_idle: float  # B
    relaxation: Relaxation | None
    at_from: Relaxation  # at the price where the segment begins: its prices prove the bound there


class ElectricitySearch(_RateSearch):
    """Solves the profit program of one bag for one price of electricity after the other; it is free at first."""

    def __init__(self, bag: Bag, solver: Solver) -> None:
        super().__init__(with_electricity(bag, 0.0), solver)
        self._costs = cost_model(self.bag)
        assert self._scales.joules is not None, "a price of energy needs watts"
        self._joules = self._scales.joules
        self._apart = self._are_apart(self._joules)

    def at(self, per_kwh: float) -> Relaxation:
        """Return what is best at this price of a kilowatt-hour."""
        return self._best(self._costs.joule_price(per_kwh), 1.0).relaxation

    def segments(self) -> list[ElectricitySegment]:
        """Return the segments by rising price, from free electricity on."""

        def minimise(watts_weight: float, money_weight: float) -> Vertex[_Best[Relaxation]]:
            best = self._best(watts_weight, money_weight)
            return Vertex(best.used, -best.gained, best)

        least_power, free = minimise(1.0, 0.0), minimise(0.0, 1.0)
        if self.bag.site.deadline_seconds is None and least_power.first >= 0:  # nothing draws less than nothing
            least_power = Vertex(0.0, 0.0, _Best(least_power.source.relaxation, 0.0, 0.0, runs=False))
        found, edges = vertices(minimise, least_power, free, flat=FINE if self._apart else FLAT)
        found.reverse()
        edges.reverse()
        breaks = [
            (before.second - after.second) / (after.first - before.first) for before, after in itertools.pairwise(found)
        ]
        starts = [0.0, *(self._costs.kwh_price(each) for each in breaks)]
        sources = [free.source.relaxation]
        for price, joule, edge in zip(starts[1:], breaks, edges, strict=True):
            same = math.isclose(joule, edge.first_weight / edge.second_weight, rel_tol=1e-12)
            sources.append(edge.source.relaxation if same else self.at(price))
        return [
            ElectricitySegment(start, stop, best.gained, best.used, best.relaxation if best.runs else None, source)
            for best, start, stop, source in zip(
                (each.source for each in found), starts, [*starts[1:], None], sources, strict=True
            )
        ]

    def _best(self, watts_weight: float, money_weight: float) -> _Best[Relaxation]:
        """Return what is best for watts_weight B - money_weight A; only how the weights compare matters."""
        per_joule = watts_weight / money_weight if money_weight else 1.0
        if self._apart and money_weight and watts_weight:
            bag = with_electricity(self.bag, self._costs.kwh_price(per_joule))
            return self._with_rates(*best_rate(bag, self._solver))
        worn = self._money.costs if money_weight else np.where(np.isfinite(self._money.costs), 0.0, np.inf)
        costs = worn + (per_joule * self._joules if watts_weight else 0.0)
        income = self._money.income if money_weight else 0.0
        money = replace(self._money, income=income, costs=costs, unit=profit.unit_of(self._scales, income, costs))
        tasks = (profit.costs_of(money) * self._scales.units).ravel()
        solution = self._sweep.solve(np.append(tasks, -income / money.unit))
        relaxation = profit.read_solution(self._scales, money, solution)
        rho = float(solution["rho"][0])
        return self._with_rates(relaxation, rho / self._scales.seconds if rho > profit.SLOWEST else 0.0)

    def _with_rates(self, relaxation: Relaxation, bags: float) -> _Best[Relaxation]:
        watts = float((self._joules * relaxation.shares).sum()) * bags
        return _Best(relaxation, watts, (self._money.income - self._spent(relaxation)) * bags, runs=bags > 0)


def with_electricity(bag: Bag, per_kwh: float) -> Bag:
    """Return the bag at another price of electricity."""
    return bag.model_copy(update={"prices": bag.prices.model_copy(update={"electricity_per_kwh": per_kwh})})


# Profit rate with more machines of one type: how many more are best, or what a number of them brings.
#
# The program of `bag/profit.py`, with v >= 0 more machines of type j than there are:
#
#     max   N r  -  sum kappa z  -  own_j v  -  K
#     s.t.  demand, deadline, other capacities    as there
#           sum_ik e_ijk z_ijk  <= m_j + v        (capacity of machine type j)
#           sum d_ijk z_ijk     <= P - I - b_j v  (cap)
#           r                   <= 1 / l          (longest)
#
#     own_j   what one more costs a second, whatever it runs (`bag/cost.py`)
#     l       max_i min_jk e_ijk: no schedule is done before its longest task, however many machines there are
#
# Without the last row, more machines of a type that runs everything would always pay: two halves of a task, on two
# machines, would be done in half the time.
#
# Why it bounds: take any prices pi, mu >= 0 of machine seconds and joules above idle, and any theta >= 0. A schedule of
# makespan t >= l with v more machines has by `bag/certificate/bounds.py` at an income of N - theta a rate of at most S
# - K + r_max max(0, N - theta - g), and N brings theta / t <= theta / l more. But for r_max, which matters only where
# prices are off by rounding, and is largest at the largest v, that is a line in v:
#
#     slope = pi_j - (c PUE + mu) b_j - purchase_j / life_j.
#
# The most over all schedules is the least of such lines: concave in v, and piecewise linear.
#
# Its breakpoints are the vertices of the chain of (v, -R), R the best rate: where a further machine would cost s more a
# second than it does, v machines are best for which R has the slope s. So `vertices` finds them all, from v = 0 to the
# best number, where R has no slope left; all s share one set of rows. The prices at the edge from one breakpoint to the
# next prove the line between them.
LONGEST: Final = "longest"


def longest_task(bag: Bag) -> float:
    """Return l: the seconds of the longest task, where it is done soonest."""
    return max(min(seconds for seconds in row if seconds is not None) for row in bag.seconds)


@dataclass(frozen=True, slots=True)
class CountPrices:
    """What proves a line: prices of machine seconds and joules above idle, and theta."""

    machines: tuple[float, ...]
    cap: float
    theta: float  # what being faster than the longest task would bring, per bag


@dataclass(frozen=True, slots=True)
class CountSegment:
    """Between how many more machines of a type each brings the same, and the prices that prove it."""

    from_more: float
    to_more: float
    prices: CountPrices


class CountSearch:
    """Solves the program above for one machine type after the other; the unit of time is the best makespan now."""

    def __init__(self, bag: Bag, solver: Solver, *, seconds: float) -> None:
        self.bag, self.solver = bag, solver
        scaling = self._scales = scaling_of(bag, seconds=seconds, whole=False)
        self._money = profit.profit_model(scaling)
        plain = profit.compile_lp(scaling, self._money)
        most = scaling.seconds / longest_task(bag)  # rho can be no more
        wide = np.where(scaling.in_model, SLACK * most / scaling.units, 0.0)
        plain = replace(plain, upper=np.append(wide.ravel(), SLACK * most))
        rho = np.array([len(plain.costs) - 1], dtype=np.int32)
        starts = np.array([0, 1], dtype=np.int32)
        longest = Rows((LONGEST,), np.array([-np.inf]), np.array([most]), starts, rho, np.array([1.0]))
        self._program = plain.with_rows(longest)  # with v = 0
        self._present = require_optimal(solver.solve(self._program))

    def present(self) -> CountPrices:
        """Return the prices with the machines there are."""
        return self._prices(self._present)

    def prices_at(self, j: int, more: float) -> CountPrices | None:
        """Return the prices with `more` machines of type j, at no cost of their own; `None` if no schedule exists."""
        machine, tasks, cap = self.bag.machine_types[j], len(self.bag.task_types), self._scales.cap
        row_upper = self._program.row_upper.copy()
        row_upper[tasks + j] += more / machine.count
        if cap is not None:
            taken = machine.idle_watts * more * self._scales.seconds / cap.joules
            row_upper[tasks + len(self.bag.machine_types)] -= taken
        program = self._program.with_limits(self._program.upper, self._program.row_lower, row_upper)
        try:
            return self._prices(require_optimal(self.solver.solve(program)))
        except InfeasibleProgramError:
            return None

    def best(self, j: int, *, most: int) -> tuple[float, CountPrices]:
        """Return how many more machines of type j are best, `most` at most, and the prices there."""
        solution = require_optimal(self.solver.solve(self._with_more(j, most)))
        return float(solution.values[-1]) * self.bag.machine_types[j].count, self._prices(solution)

    def segments(self, j: int, *, most: int) -> list[CountSegment]:
        """Return the segments from the present number of machines of type j to the best one, or to `most` more."""
        program = self._with_more(j, most)
        sweep, unit = CheckedSweep(self.solver, program), self._price_unit(j)
        count = self.bag.machine_types[j].count

        def minimise(machines_weight: float, money_weight: float) -> Vertex[LpSolution]:
            costs = program.costs.copy()
            costs[-1] += machines_weight / money_weight * unit
            solution = sweep.solve(costs)
            lost = program.value(solution.values) * self._money.unit / self._scales.seconds
            return Vertex(float(solution.values[-1]) * count, lost, solution)

        lost_now = self._present.value * self._money.unit / self._scales.seconds
        now, best = Vertex(0.0, lost_now, self._present), minimise(0.0, 1.0)
        found, edges = vertices(minimise, now, best)
        return [
            CountSegment(before.first, after.first, self._prices(edge.source))
            for (before, after), edge in zip(itertools.pairwise(found), edges, strict=True)
        ]

    def _with_more(self, j: int, most: int) -> LinearProgram:
        """Return the program with v as its last variable, up to `most`; it is counted in m_j."""
        program, scaling = self._program, self._scales
        machine, tasks = self.bag.machine_types[j], len(self.bag.task_types)
        everything = float(scaling.loads[:, scaling.arrays.machine_of == j].max(axis=1).sum())
        useful = SLACK * program.row_upper[-1] * everything  # all that it can run, as soon as the longest task
        cells = {tasks + j: -1.0}
        if scaling.cap is not None:
            drawn = machine.idle_watts * machine.count * scaling.seconds
            cells[tasks + len(self.bag.machine_types)] = drawn / scaling.cap.joules
        cost = cost_model(self.bag).own_rate(machine) * self._price_unit(j)
        return program.with_columns(Columns.of([cost], np.array([min(most / machine.count, useful)]), [cells]))

    def _price_unit(self, j: int) -> float:
        """Return what v costs in the program if one machine costs 1 a second."""
        return self.bag.machine_types[j].count * self._scales.seconds / self._money.unit

    def _prices(self, solution: LpSolution) -> CountPrices:
        place = solution.program.row_names.index(LONGEST)
        theta = max(0.0, -float(solution.multipliers[place])) * self._money.unit
        relaxation = profit.read_solution(self._scales, self._money, solution)
        return CountPrices(relaxation.machine_prices, relaxation.cap_price, theta)
