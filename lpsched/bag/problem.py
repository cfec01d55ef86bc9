"""What is asked of a bag: objective, price, limits; and what each objective means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lpsched.bag import front
from lpsched.bag.column_generation import is_huge, least_by_columns, rate_by_columns
from lpsched.bag.cost import cost_model, has_price
from lpsched.bag.search.frontier import best_rate, least_cost
from lpsched.bag.terms import Terms, check_ratio, checked
from lpsched.errors import Fault, InstanceError
from lpsched.lp.sweep import is_sound
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.bag.certificate.bounds import Multipliers, Prover
    from lpsched.bag.model import Bag
    from lpsched.bag.relaxation import Relaxation
    from lpsched.bag.verify import Measurement
    from lpsched.cancellation import Watch
    from lpsched.lp.program import Solver


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of which bag."""

    given: Bag  # as the user brought it; its hash is the one reported
    bag: Bag  # under the terms
    terms: Terms
    objective: Objective


def ask(bag: Bag, terms: Terms, solver: Solver) -> Question:
    """Settle the objective and the terms."""
    objective = terms.objective
    if objective is not None and objective not in OBJECTIVES:
        raise ValueError(f"objective is {objective!r}, needs one of {', '.join(OBJECTIVES)}")
    if terms.price is not None and terms.profit_ratio is not None:
        fault = Fault(("price",), "a price and a profit ratio", "one of them", "leave one out")
        raise InstanceError("the terms", (fault,))
    terms = with_price(bag, terms, solver)
    asked = terms.applied_to(bag)
    if objective is None:
        objective = "profit" if has_price(asked) else "makespan"
    faults = missing_data(asked, objective)
    if faults:
        raise InstanceError(bag.name, faults)
    return Question(bag, asked, terms, OBJECTIVES[objective])


def missing_data(bag: Bag, objective: str) -> tuple[Fault, ...]:
    """Return what the bag does not say, and this objective needs."""
    prices, faults = bag.prices, []
    if bag.watts is None:
        power = "the watts of every pair that can run"
        if objective in ("energy", "front"):
            faults.append(Fault(("watts",), "none", power, f"add them: {objective} counts joules"))
        elif objective == "profit" and cost_model(bag).energy_price:
            do = "add them, or set electricity_per_kwh to 0"
            faults.append(Fault(("watts",), "none", f"{power}, since electricity has a price", do))
        if bag.site.average_power_cap_watts is not None:
            do = "add them, or drop the power cap"
            faults.append(Fault(("watts",), "none", f"{power}, since there is a power cap", do))
    if objective == "profit":
        if not has_price(bag):
            do = "add it, or give a price (--price) or a profit ratio (--profit-ratio)"
            faults.append(Fault(("prices", "per_bag"), "none", "what a bag sells for", do))
        if prices.electricity_per_kwh is None:
            do = "add it; write 0 if you do not pay for it"
            faults.append(Fault(("prices", "electricity_per_kwh"), "none", "what a kWh costs", do))
    return tuple(faults)


def energy_cost(bag: Bag, solver: Solver) -> float:
    """Return c PUE E_min: what the least energy of the bag costs, without the cap and the deadline.

    The profit ratio is that of the papers: their E_min is the one of split tasks.
    """
    prices = bag.prices
    faults = list(missing_data(bag, "energy"))
    if prices.electricity_per_kwh is None:
        needed = "what a kWh costs, since a profit ratio is a multiple of the energy's cost"
        faults.append(Fault(("prices", "electricity_per_kwh"), "none", needed, "add it, or give a price instead"))
    if faults:
        raise InstanceError(bag.name, tuple(faults))
    least = relaxed_front(bag.without_limits(), front.ENERGY, solver, whole=False).energy_joules
    assert least is not None
    cost = cost_model(bag).energy_price * least
    if cost <= 0:
        place = ("prices", "electricity_per_kwh") if least > 0 else ("watts",)
        needed = "energy that costs something, since a profit ratio is a multiple of that"
        raise InstanceError(bag.name, (Fault(place, "0", needed, "give a price instead"),))
    return cost


def with_price(bag: Bag, terms: Terms, solver: Solver) -> Terms:
    """Return the terms with a price in place of a profit ratio: so many times the cost of the least energy."""
    ratio = checked("profit_ratio", terms.profit_ratio, check_ratio)
    return terms if ratio is None else replace(terms, price=ratio * energy_cost(bag, solver), profit_ratio=None)


# What can be asked of a bag: each objective relaxes, proves and reads its own value.
#
#     makespan   least seconds        energy   least joules        profit   most money per hour
#
# Where several points are equally good, the relaxation of the first two takes the one that is best in the
# other: of all ways to be done as soon, the thriftiest.
TIE: Final = 1e-7  # what the other criterion counts where the first one ties


@dataclass(frozen=True, slots=True)
class Objective:
    """One question; the answers are doubles in its unit, rounded to the side that stays true."""

    name: str
    weights: front.Weights | None = None  # of energy and makespan, which are to be small; `None`: of profit, most

    @property
    def maximise(self) -> bool:
        """Whether more is better."""
        return self.weights is None

    def unit(self, bag: Bag) -> str:
        """Return what value and bound are told in."""
        return {"makespan": "seconds", "energy": "joules"}.get(self.name) or f"{bag.prices.currency}/hour"

    def relax(self, bag: Bag, solver: Solver, watch: Watch | None = None) -> Relaxation:
        """Solve the linear program."""
        if self.weights is not None:
            return relaxed_front(bag, self.weights, solver, watch)
        chosen = rate_by_columns(bag, solver, watch) if is_huge(bag) else None
        return best_rate(bag, solver, watch=watch)[0] if chosen is None else chosen

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
    bag: Bag, weights: front.Weights, solver: Solver, watch: Watch | None = None, *, whole: bool = True
) -> Relaxation:
    """Relax a weighted sum of energy and makespan, for `whole` tasks or split ones."""
    chosen = least_by_columns(bag, weights, solver, watch, whole=whole) if is_huge(bag) else None
    if chosen is not None:
        return chosen
    scales, solution = least_cost(bag, weights, solver, watch=watch, whole=whole)
    best = front.read_solution(scales, weights, solution)
    if not best.optimal or scales.joules is None:
        return best
    tied = front.Weights(
        weights.joules or TIE * scales.seconds / (scales.least_joules or 1.0),
        weights.seconds or TIE * scales.least_joules / scales.seconds,
    )
    again = solver.solve(solution.program.with_costs(front.all_costs(scales, tied)), watch=watch)
    if not is_sound(again):
        return best
    among = front.point_of(scales, again)
    return replace(
        best, shares=among.shares, makespan_seconds=among.makespan_seconds, energy_joules=among.energy_joules
    )
