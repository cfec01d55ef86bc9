"""What is asked of a bag: objective, price, limits; and what each objective means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from lpsched.bag import front
from lpsched.bag.certificate.bounds import Multipliers, Prover
from lpsched.bag.column_generation import is_huge, least_by_columns, rate_by_columns
from lpsched.bag.cost import cost_model, has_price
from lpsched.bag.front import ENERGY
from lpsched.bag.search.objectives import best_rate, least_cost
from lpsched.bag.terms import Terms, check_ratio, checked
from lpsched.errors import Fault, InstanceError
from lpsched.lp.program import LpStatus, Solver
from lpsched.lp.sweep import is_sound
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.relaxation import Relaxation
    from lpsched.bag.verify import Measurement
    from lpsched.cancellation import Watch


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
    least = relaxed_front(bag.without_limits(), ENERGY, solver, whole=False).relaxation.energy_joules
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
class Relaxed:
    """A relaxation, and whether its linear program was solved to the end."""

    relaxation: Relaxation
    optimal: bool = True

    @property
    def multipliers(self) -> Multipliers:
        """The prices, for the certificate."""
        return Multipliers(self.relaxation.machine_prices, self.relaxation.cap_price)


class Objective(Protocol):
    """One question; the answers are doubles in its unit, rounded to the side that stays true."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def maximise(self) -> bool:
        """Whether more is better."""

    def unit(self, bag: Bag) -> str:
        """Return what value and bound are told in."""

    def relax(self, bag: Bag, solver: Solver, watch: Watch | None = None) -> Relaxed:
        """Solve the linear program."""

    def prove(self, prover: Prover, prices: Multipliers) -> float:
        """Return the bound that these prices prove."""

    def value(self, measured: Measurement) -> float:
        """Return what a verified schedule achieves."""


@dataclass(frozen=True, slots=True)
class Makespan:
    """The least seconds."""

    name: str = "makespan"
    maximise: bool = False

    def unit(self, bag: Bag) -> str:  # noqa: ARG002, D102
        return "seconds"

    def relax(self, bag: Bag, solver: Solver, watch: Watch | None = None) -> Relaxed:  # noqa: D102
        return relaxed_front(bag, front.MAKESPAN, solver, watch)

    def prove(self, prover: Prover, prices: Multipliers) -> float:  # noqa: D102
        return rounded_down(prover.makespan(prices))

    def value(self, measured: Measurement) -> float:  # noqa: D102
        assert measured.makespan_seconds is not None
        return measured.makespan_seconds


@dataclass(frozen=True, slots=True)
class Energy:
    """The least joules."""

    name: str = "energy"
    maximise: bool = False

    def unit(self, bag: Bag) -> str:  # noqa: ARG002, D102
        return "joules"

    def relax(self, bag: Bag, solver: Solver, watch: Watch | None = None) -> Relaxed:  # noqa: D102
        return relaxed_front(bag, front.ENERGY, solver, watch)

    def prove(self, prover: Prover, prices: Multipliers) -> float:  # noqa: D102
        return rounded_down(prover.energy(prices))

    def value(self, measured: Measurement) -> float:  # noqa: D102
        assert measured.energy_joules is not None
        return measured.energy_joules


@dataclass(frozen=True, slots=True)
class Profit:
    """The most money per hour."""

    name: str = "profit"
    maximise: bool = True

    def unit(self, bag: Bag) -> str:  # noqa: D102
        return f"{bag.prices.currency}/hour"

    def relax(self, bag: Bag, solver: Solver, watch: Watch | None = None) -> Relaxed:  # noqa: D102
        chosen = rate_by_columns(bag, solver, watch) if is_huge(bag) else None
        if chosen is not None:
            return Relaxed(chosen.relaxation, chosen.optimal)
        rated = best_rate(bag, solver, watch=watch)
        return Relaxed(rated.relaxation, rated.optimal)

    def prove(self, prover: Prover, prices: Multipliers) -> float:  # noqa: D102
        return rounded_up(SECONDS_PER_HOUR * prover.rate(prices))

    def value(self, measured: Measurement) -> float:  # noqa: D102
        assert measured.profit_per_hour is not None
        return measured.profit_per_hour


OBJECTIVES: Final[dict[str, Objective]] = {objective.name: objective for objective in (Profit(), Makespan(), Energy())}


def relaxed_front(
    bag: Bag, weights: front.Weights, solver: Solver, watch: Watch | None = None, *, whole: bool = True
) -> Relaxed:
    """Relax a weighted sum of energy and makespan, for `whole` tasks or split ones."""
    chosen = least_by_columns(bag, weights, solver, watch, whole=whole) if is_huge(bag) else None
    if chosen is not None:
        return Relaxed(chosen.relaxation, chosen.optimal)
    scales, solution = least_cost(bag, weights, solver, watch=watch, whole=whole)
    best = front.read_solution(scales, weights, solution)
    if solution.status is LpStatus.LIMIT:
        return Relaxed(best, optimal=False)
    if scales.joules is None:
        return Relaxed(best)
    tied = front.Weights(
        weights.joules or TIE * scales.seconds / (scales.least_joules or 1.0),
        weights.seconds or TIE * scales.least_joules / scales.seconds,
    )
    again = solver.solve(solution.program.with_costs(front.all_costs(scales, tied)), watch=watch)
    if not is_sound(again):
        return Relaxed(best)
    among = front.point_of(scales, again)
    return Relaxed(
        replace(best, shares=among.shares, makespan_seconds=among.makespan_seconds, energy_joules=among.energy_joules)
    )
