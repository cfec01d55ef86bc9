"""From a bag to a proved bound: the problem, its objectives, and whether anything is feasible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag import front
from lpsched.bag.arrays import BagArrays, arrays_of, usable_arrays, usable_bag
from lpsched.bag.certificate.bounds import Multipliers, Prover, Shortest
from lpsched.bag.column_generation import is_huge, least_by_columns, rate_by_columns
from lpsched.bag.cost import cost_model, has_price
from lpsched.bag.model import Bag, Terms, check_ratio
from lpsched.bag.relaxation import Relaxation, least_makespan
from lpsched.bag.search.frontier import best_rate, least_cost
from lpsched.cancellation import CancelToken, timed
from lpsched.errors import InfeasibleError, InfeasibleProgramError, InputIssue, InstanceError, NotFoundError
from lpsched.lp.sweep import is_consistent
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.problems import checked
from lpsched.units import SECONDS_PER_HOUR, lower_text, number

if TYPE_CHECKING:
    from lpsched.bag.verify import Measurement
    from lpsched.lp.program import Solver


@dataclass(frozen=True, slots=True)
class Problem:
    """A bag under its terms, and the objective."""

    given: Bag  # as in the file; its hash is the one reported
    bag: Bag  # under the terms
    terms: Terms
    objective: Objective


def build_problem(bag: Bag, terms: Terms, solver: Solver) -> Problem:
    """Return the problem of a bag: its objective, and the bag under its terms."""
    objective = terms.objective
    if objective is not None and objective not in OBJECTIVES:
        raise ValueError(f"objective is {objective!r}, expected one of {', '.join(OBJECTIVES)}")
    if terms.price is not None and terms.profit_ratio is not None:
        issue = InputIssue(("price",), "a price and a profit ratio", "one of them", "leave one out")
        raise InstanceError("", (issue,))
    terms = with_price(bag, terms, solver)
    changed = terms.applied_to(bag)
    if objective is None:
        objective = "profit" if has_price(changed) else "makespan"
    issues = missing_data(changed, objective)
    if issues:
        raise InstanceError(bag.name, issues)
    return Problem(bag, changed, terms, OBJECTIVES[objective])


def missing_data(bag: Bag, objective: str) -> tuple[InputIssue, ...]:
    """Return the issues of a bag that lacks what this objective needs."""
    prices, issues = bag.prices, []
    if bag.sites and objective != "makespan":
        found, needed = f"{len(bag.sites)} of them", f"none: {objective} counts with one PUE and one price"
        do = "plan over a horizon (--horizon), or drop the sites"
        issues.append(InputIssue(("sites",), found, needed, do))
    if bag.watts is None:
        power = "the watts of every pair that can run"
        if objective in ("energy", "front"):
            issues.append(InputIssue(("watts",), "none", power, f"add them: {objective} counts joules"))
        elif objective == "profit" and cost_model(bag).energy_price:
            do = "add them, or set electricity_per_kwh to 0"
            issues.append(InputIssue(("watts",), "none", f"{power}, since electricity has a price", do))
        if bag.site.average_power_cap_watts is not None:
            do = "add them, or drop the power cap"
            issues.append(InputIssue(("watts",), "none", f"{power}, since there is a power cap", do))
    if objective == "profit":
        if not has_price(bag):
            do = "add it, or give a price (--price) or a profit ratio (--profit-ratio)"
            issues.append(InputIssue(("prices", "per_bag"), "none", "what a bag sells for", do))
        if prices.electricity_per_kwh is None:
            do = "add it; write 0 if you do not pay for it"
            if bag.site.tariff is not None:
                do = "add what it costs at all times, or plan over a horizon (--horizon)"
            issues.append(InputIssue(("prices", "electricity_per_kwh"), "none", "what a kWh costs", do))
    return tuple(issues)


def energy_cost(bag: Bag, solver: Solver) -> float:
    """Return c PUE E_min: what the least energy costs, without cap and deadline, of split tasks as in the papers."""
    prices = bag.prices
    issues = list(missing_data(bag, "energy"))
    if prices.electricity_per_kwh is None:
        needed = "what a kWh costs, since a profit ratio is a multiple of the energy's cost"
        issues.append(InputIssue(("prices", "electricity_per_kwh"), "none", needed, "add it, or give a price instead"))
    if issues:
        raise InstanceError(bag.name, tuple(issues))
    least = relaxed_front(bag.without_limits(), front.ENERGY, solver, whole=False).energy_joules
    assert least is not None
    cost = cost_model(bag).energy_price * least
    if cost <= 0:
        place = ("prices", "electricity_per_kwh") if least > 0 else ("watts",)
        needed = "energy that costs something, since a profit ratio is a multiple of that"
        raise InstanceError(bag.name, (InputIssue(place, "0", needed, "give a price instead"),))
    return cost


def with_price(bag: Bag, terms: Terms, solver: Solver) -> Terms:
    """Return the terms with a price in place of a profit ratio, which is in costs of the least energy."""
    ratio = checked("profit_ratio", terms.profit_ratio, check_ratio)
    return terms if ratio is None else replace(terms, price=ratio * energy_cost(bag, solver), profit_ratio=None)


# The objectives: each relaxes, proves and reads its own value.
#
#     makespan   least seconds        energy   least joules        profit   most money per hour
#
# Where several points are equally good, the relaxation of the first two takes the one that is best in the
# other: of all ways with the least makespan, the one with least energy.
TIE: Final = 1e-7  # what the other criterion counts where the first one ties


@dataclass(frozen=True, slots=True)
class Objective:
    """One objective; values and bounds are doubles in its unit, rounded to the side that stays true."""

    name: str
    weights: front.Weights | None = None  # of energy and makespan, which are to be small; `None`: of profit, most

    @property
    def maximise(self) -> bool:
        """Whether more is better."""
        return self.weights is None

    def unit(self, bag: Bag) -> str:
        """Return the unit of value and bound."""
        return {"makespan": "seconds", "energy": "joules"}.get(self.name) or f"{bag.prices.currency}/hour"

    def relax(self, bag: Bag, solver: Solver, cancel: CancelToken | None = None) -> Relaxation:
        """Solve the linear program."""
        if self.weights is not None:
            return relaxed_front(bag, self.weights, solver, cancel)
        chosen = rate_by_columns(bag, solver, cancel) if is_huge(bag) else None
        return best_rate(bag, solver, cancel=cancel)[0] if chosen is None else chosen

    def prove(self, prover: Prover, prices: Multipliers) -> float:
        """Return the bound that these prices prove."""
        if self.weights is None:
            return rounded_up(SECONDS_PER_HOUR * prover.rate(prices))
        return rounded_down(prover.energy(prices) if self.weights.joules else prover.makespan(prices))

    def value(self, measured: Measurement) -> float:
        """Return what a verified schedule achieves."""
        least = {"makespan": measured.makespan_seconds, "energy": measured.energy_joules}
        value = least.get(self.name, measured.profit_per_hour)
        assert value is not None
        return value


PROFIT: Final = Objective("profit")
MAKESPAN: Final = Objective("makespan", front.MAKESPAN)
ENERGY: Final = Objective("energy", front.ENERGY)
OBJECTIVES: Final = {each.name: each for each in (PROFIT, MAKESPAN, ENERGY)}


def relaxed_front(
    bag: Bag, weights: front.Weights, solver: Solver, cancel: CancelToken | None = None, *, whole: bool = True
) -> Relaxation:
    """Relax a weighted sum of energy and makespan, for `whole` tasks or split ones."""
    chosen = least_by_columns(bag, weights, solver, cancel, whole=whole) if is_huge(bag) else None
    if chosen is not None:
        return chosen
    scaling, solution = least_cost(bag, weights, solver, cancel=cancel, whole=whole)
    best = front.read_solution(scaling, weights, solution)
    if not best.optimal or scaling.joules is None:
        return best
    tied = front.Weights(
        weights.joules or TIE * scaling.seconds / (scaling.least_joules or 1.0),
        weights.seconds or TIE * scaling.least_joules / scaling.seconds,
    )
    again = solver.solve(solution.program.with_costs(front.all_costs(scaling, tied)), cancel=cancel)
    if not is_consistent(again):
        return best
    among = front.point_of(scaling, again)
    return replace(
        best, shares=among.shares, makespan_seconds=among.makespan_seconds, energy_joules=among.energy_joules
    )


# Which pairs can matter in a proof: found in doubles, with their rounding accounted for.
#
# A term e (alpha a + beta_j), worked out in doubles from alpha and beta as doubles, is off by less than
#
#     8 u e (|alpha| a + |beta_j|) + 1e-300,        u = 2^-53,
#
# since each of its five roundings is off by at most u, relative. A pair whose term, less that, is above some
# other term, plus that, is not the cheapest of its task type: exact arithmetic need not look at it. One or
# two pairs of each task type are left. Where a double overflows, all pairs are.
MANY: Final = 100_000  # pairs: up to here a proof looks at every one of them
CELLS: Final = 1 << 18  # pairs at a time
ROUNDING: Final = 8 * 2.0**-53
LEAST: Final = 1e-300
NEAR: Final = 2.0**-42


@dataclass(frozen=True, slots=True)
class PairScreen:
    """Lets through the pairs of a bag that can be cheapest."""

    arrays: BagArrays

    def cheapest(self, alpha: Fraction, beta: Sequence[Fraction]) -> list[list[int]]:
        """Return, for each task type, columns that surely hold the least e (alpha a + beta_j)."""
        arrays = self.arrays
        types, width = arrays.can_run.shape
        a = _double(alpha)
        b = np.array([_double(each) for each in beta])[arrays.machine_of]
        found: list[list[int]] = []
        height = max(1, CELLS // width)
        for start in range(0, types, height):
            rows = slice(start, start + height)
            e, can_run = arrays.seconds[rows], arrays.can_run[rows]
            watts = arrays.watts[rows] if arrays.watts is not None and a else 0.0
            with np.errstate(over="ignore", invalid="ignore"):
                terms = e * (a * watts + b)
                off = ROUNDING * e * (abs(a) * watts + np.abs(b)) + LEAST
                most = np.where(can_run, terms + off, np.inf).min(axis=1)
                keep = can_run & ~(terms - off > most[:, np.newaxis])
            sure = np.isfinite(np.where(can_run, terms + off, 0.0)).all(axis=1)
            keep[~sure] = True
            row, column = np.nonzero(keep)
            splits = np.cumsum(np.bincount(row, minlength=len(keep)))[:-1]
            found += [each.tolist() for each in np.split(column, splits)]
        return found

    def scarcest(self) -> int:
        """Return the task type that all machines together finish slowest."""
        arrays = self.arrays
        speeds = np.where(arrays.can_run, 1.0 / np.where(arrays.can_run, arrays.seconds, 1.0), 0.0)
        rates = np.maximum.reduceat(speeds, arrays.firsts, axis=1) @ arrays.machine_counts / arrays.task_counts
        return int(rates.argmin())


def near_cheapest(
    bag: Bag, prices: Sequence[Multipliers], joules_weights: Sequence[float], *, wear: bool = False
) -> Iterator[list[list[int]]]:
    """Yield, for each of many prices and weights wE, columns as `Prover.cost` takes them: a screen for all of them.

    With `wear`, what a busy second wears off a machine is added to its price.

    beta_j = pi_j - alpha b_j may cancel, and pi_j may be lowered by 2^-45 of it: a term is then off by less than
    2^-42 e (alpha a + pi_j + alpha b_j), with room to spare.
    """
    arrays = arrays_of(bag)
    assert arrays.watts is not None, "energy needs watts"
    e, a, idle = arrays.seconds, arrays.watts, arrays.idle_watts[arrays.machine_of]
    worn = [cost_model(bag).wear(each) if wear else 0.0 for each in bag.machine_types]
    types, width = e.shape
    height = max(1, CELLS // e.size)
    for start in range(0, len(prices), height):
        own = prices[start : start + height]
        pi = (np.array([each.machines for each in own], dtype=float) + worn)[:, np.newaxis, arrays.machine_of]
        alpha = np.array([each.cap for each in own], dtype=float) + joules_weights[start : start + height]
        alpha = alpha[:, np.newaxis, np.newaxis]
        with np.errstate(over="ignore", invalid="ignore"):
            terms = e * (alpha * a + (pi - alpha * idle))
            off = NEAR * e * (alpha * a + (pi + alpha * idle)) + LEAST
            most = np.where(arrays.can_run, terms + off, np.inf).min(axis=2, keepdims=True)
            keep = ~(terms - off > most)
        keep[~np.isfinite(terms + off).all(axis=2)] = True
        keep &= arrays.can_run
        found: list[list[int]] = [[] for _ in range(len(own) * types)]
        rows, columns = np.nonzero(keep.reshape(-1, width))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            found[row].append(column)
        yield from (found[row : row + types] for row in range(0, len(found), types))


def screen_of(bag: Bag) -> PairScreen | None:
    """Return a screen for a bag of very many pairs, `None` for any other."""
    return PairScreen(usable_arrays(bag)) if len(bag.task_types) * len(bag.modes) > MANY else None


def _double(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return np.inf


# The first two stages: relax, and prove what the prices of the relaxation say.
@dataclass(frozen=True, slots=True)
class Proved:
    """A bound and the prices that prove it; no relaxation where the bag is better not run."""

    relaxed: Relaxation | None
    prices: Multipliers
    bound: float


def prover_of(bag: Bag) -> Prover:
    """Return a prover that knows what whole tasks imply, and is spared the pairs that cannot matter."""
    return Prover(bag, screen_of(bag), Shortest(*least_makespan(bag)))


def proved_makespan(bag: Bag, solver: Solver, cancel: CancelToken | None = None) -> float:
    """Return a makespan that no schedule of a bag undercuts, whatever its deadline is."""
    free = bag.without_deadline()
    return MAKESPAN.prove(prover_of(free), MAKESPAN.relax(free, solver, cancel).multipliers)


def prove(
    problem: Problem, solver: Solver, *, cancel: CancelToken | None = None, timings: dict[str, float] | None = None
) -> Proved:
    """Relax the problem, and prove its bound."""
    timings = {} if timings is None else timings
    with timed(timings, "relax"):
        prover = prover_of(problem.bag)
        relaxed = _relax(problem, prover, solver, cancel)
    with timed(timings, "prove"):
        # Where the bag is better not run, nothing is scarce: that alone proves it.
        prices = Multipliers.zero(problem.bag) if relaxed is None else relaxed.multipliers
        bound = problem.objective.prove(prover, prices)
    return Proved(relaxed, prices, bound)


def _relax(problem: Problem, prover: Prover, solver: Solver, cancel: CancelToken | None) -> Relaxation | None:
    """Return the relaxation; `None` if the bag is better not run, which needs no linear program."""
    bag, objective = problem.bag, problem.objective
    require_power(prover)
    if objective.maximise and bag.site.deadline_seconds is None and prover.income() <= prover.least_running_cost():
        return None
    fastest = require_time(prover, solver, cancel)
    if fastest is not None and objective.name == "makespan":
        return fastest
    try:
        return objective.relax(bag, solver, cancel)
    except InfeasibleProgramError as error:
        if fastest is None:
            raise
        least = lower_text(fastest.makespan_seconds)
        raise NotFoundError(
            f"{bag.name}: the deadline is {number(bag.site.deadline_seconds)} s, the least makespan of the "
            f"relaxation {least} s; that is too close for the solver to decide; give it a little more time"
        ) from error


# Is there any schedule at all? A cap below the idle floor, a deadline too short: rejected with a proof.
def require_power(prover: Prover) -> None:
    """Reject a cap that leaves nothing above the idle floor, unless tasks draw less than idle."""
    headroom = prover.headroom
    if headroom is None or headroom > 0:
        return
    least = (
        prover.least_joules_above_idle()
    )  # with H = P - I: if H < 0, some D(x) must be negative; if H = 0, none positive
    if least < 0 or (least == 0 and headroom == 0):
        return
    site = prover.bag.site
    allowed = f"{number(site.average_power_cap_watts)} W"
    if site.cap_measured_at == "facility" and site.pue != 1:
        allowed += f" at the facility, which leaves {number(float(headroom + prover.idle_watts))} W for the machines"
    short = "nothing" if headroom == 0 else f"{number(-rounded_down(headroom))} W too little"
    raise InfeasibleError(
        f"{prover.bag.name}: the power cap is {allowed}, but idle machines alone draw "
        f"{number(float(prover.idle_watts))} W: that leaves {short}; raise the cap, or switch machines off"
    )


def require_time(prover: Prover, solver: Solver, cancel: CancelToken | None = None) -> Relaxation | None:
    """Reject a deadline that no schedule meets; return the relaxation that shows one might be met."""
    deadline = prover.bag.site.deadline_seconds
    if deadline is None and (prover.headroom is None or prover.headroom > 0):
        return None
    usable = usable_bag(prover.bag)
    try:
        relaxed = MAKESPAN.relax(usable, solver, cancel)
    except InfeasibleProgramError as error:
        if prover.headroom is None or prover.headroom > 0:
            raise
        floor, left = float(prover.idle_watts), float(prover.headroom + prover.idle_watts)
        raise InfeasibleError(
            f"{prover.bag.name}: the power cap leaves {number(left)} W for the machines, which draw "
            f"{number(floor)} W idle, and no tasks draw that much less; raise the cap"
        ) from error
    if deadline is not None and prover.makespan(relaxed.multipliers) > deadline:
        under = " under the power cap" if prover.headroom is not None else ""
        # That proof is about schedules without a task beyond the deadline; what is reported, about all schedules.
        least = proved_makespan(prover.bag, solver, cancel)
        why = f"no schedule takes less than {lower_text(least)} s"
        if least <= deadline:
            least = rounded_down(prover.makespan(relaxed.multipliers))
            why = f"on machines that finish a task by then, no schedule takes less than {lower_text(least)} s"
        raise InfeasibleError(
            f"{prover.bag.name}: the deadline is {number(deadline)} s, but {why}{under}; "
            "give it more time, more machines or fewer tasks"
        )
    return relaxed
