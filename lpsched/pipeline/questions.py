"""A question about a bag: the bag under its terms, and what is asked; refused at once if data are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lpsched.errors import Fault, InstanceError
from lpsched.formulations.front import ENERGY
from lpsched.formulations.profit import energy_price
from lpsched.instance.terms import Terms, check_ratio, checked
from lpsched.pipeline.objectives import OBJECTIVES, Objective, relaxed_front

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of which bag."""

    given: Bag  # as the user brought it; its hash is the one reported
    bag: Bag  # under the terms
    terms: Terms
    objective: Objective


def ask(  # noqa: PLR0913 - the options of `solve`
    bag: Bag,
    *,
    solver: Solver,
    objective: str | None = None,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
) -> Question:
    """Settle the objective and the terms.

    Raises
    ------
    InstanceError
        If an option is not sound, or the bag lacks what the objective needs.
    """
    if objective is not None and objective not in OBJECTIVES:
        raise ValueError(f"objective is {objective!r}, needs one of {', '.join(OBJECTIVES)}")
    if price is not None and profit_ratio is not None:
        fault = Fault(("price",), "a price and a profit ratio", "one of them", "leave one out")
        raise InstanceError("the terms", (fault,))
    if profit_ratio is not None:
        price = price_at_ratio(bag, profit_ratio, solver)
    terms = Terms(price, power_cap, deadline)
    asked = terms.applied_to(bag)
    if objective is None:
        known = asked.prices.per_bag is not None or asked.prices.per_task
        objective = "profit" if known else "makespan"
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
        elif objective == "profit" and prices.electricity_per_kwh:
            do = "add them, or set electricity_per_kwh to 0"
            faults.append(Fault(("watts",), "none", f"{power}, since electricity has a price", do))
        if bag.site.average_power_cap_watts is not None:
            do = "add them, or drop the power cap"
            faults.append(Fault(("watts",), "none", f"{power}, since there is a power cap", do))
    if objective == "profit":
        if prices.per_bag is None and not prices.per_task:
            do = "add it, or give a price (--price) or a profit ratio (--profit-ratio)"
            faults.append(Fault(("prices", "per_bag"), "none", "what a bag sells for", do))
        if prices.electricity_per_kwh is None:
            do = "add it; write 0 if you do not pay for it"
            faults.append(Fault(("prices", "electricity_per_kwh"), "none", "what a kWh costs", do))
    return tuple(faults)


def energy_cost(bag: Bag, solver: Solver) -> float:
    """Return c PUE E_min: what the least energy of the bag costs, without the cap and the deadline.

    The profit ratio is that of the papers: their E_min is the one of split tasks.

    Raises
    ------
    InstanceError
        If the bag has no watts or no price of electricity, or the energy costs nothing.
    """
    prices = bag.prices
    faults = list(missing_data(bag, "energy"))
    if prices.electricity_per_kwh is None:
        needed = "what a kWh costs, since a profit ratio is a multiple of the energy's cost"
        faults.append(
            Fault(("prices", "electricity_per_kwh"), "none", needed, "add it, or give a price instead")
        )
    if faults:
        raise InstanceError(bag.name, tuple(faults))
    least = relaxed_front(bag.without_limits(), ENERGY, solver, whole=False).relaxation.energy_joules
    assert least is not None
    cost = energy_price(bag) * least
    if cost <= 0:
        place = ("prices", "electricity_per_kwh") if least > 0 else ("watts",)
        needed = "energy that costs something, since a profit ratio is a multiple of that"
        raise InstanceError(bag.name, (Fault(place, "0", needed, "give a price instead"),))
    return cost


def price_at_ratio(bag: Bag, ratio: float, solver: Solver) -> float:
    """Return the price that is `ratio` times the cost of the least energy.

    Raises
    ------
    InstanceError
        If the ratio is not sound, or the bag lacks what it is a ratio of.
    """
    sound = checked("profit_ratio", ratio, check_ratio)
    assert sound is not None
    return sound * energy_cost(bag, solver)
