"""The cost model of a bag of tasks: what the bag brings, what its tasks cost, and what its machines cost.

    p        what the bag sells for: its price, and the prices of its tasks
    N        p - overhead: what a bag brings before anything runs
    c PUE    what a joule at the machines costs: a kWh at the meter, times the power usage effectiveness
    wear_j   what a busy second wears off a machine of type j
    own_j    c PUE b_j + purchase_j / life_j: what a second of a machine costs that idles at b_j watts
    K        c PUE I + sum_j m_j purchase_j / life_j: what a second costs, whatever runs, I = sum_j m_j b_j
    kappa    c PUE d + wear_j e: what a task costs that takes e seconds, and d joules above idle

    profit per hour  =  3600 (N - c PUE E - sum_j wear_j s_j) / t  -  sum_j m_j purchase_j / life_j

of a schedule of makespan t in which machines of type j are busy for s_j seconds, and which takes E joules,
those of idle machines included.

This is the one statement for programs, searches, prices and samples. Each formula holds for exact fractions
and for doubles; in doubles the order of the operations is part of it, because results are compared to the
last bit. The verifier (`bag/verify.py`) and the certificate (`bag/certificate/bounds.py`) state the model
again, each on its own, and a test holds the three together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from lpsched.units import JOULES_PER_KWH, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.parts import MachineType
    from lpsched.model.table import Floats

Number = TypeVar("Number", float, Fraction)
Amount = TypeVar("Amount", Fraction, "Floats")


@dataclass(frozen=True, slots=True)
class CostModel(Generic[Number]):
    """The prices of one bag, in one kind of numbers."""

    bag: Bag
    number: Callable[[float], Number]

    @property
    def revenue(self) -> Number:
        """The price p of the whole bag."""
        prices = self.bag.prices
        revenue = self.number(prices.per_bag or 0.0)
        if not prices.per_task:
            return revenue
        return revenue + sum(
            task.count * self.number(prices.per_task.get(task.name, 0.0)) for task in self.bag.task_types
        )

    @property
    def income(self) -> Number:
        """N: what a bag brings before anything runs."""
        return self.income_at(self.revenue)

    def income_at(self, price: Number) -> Number:
        """Return N at another price of the bag."""
        return price - self.number(self.bag.prices.overhead_per_bag)

    def price_at(self, income: Number) -> Number:
        """Return the price of the bag at which this is N."""
        return income + self.number(self.bag.prices.overhead_per_bag)

    @property
    def energy_price(self) -> Number:
        """What a joule at the machines costs."""
        return self.joule_price(self.number(self.bag.prices.electricity_per_kwh or 0.0))

    def joule_price(self, per_kwh: Number) -> Number:
        """Return what a joule at the machines costs if a kWh at the meter costs `per_kwh`."""
        return self.metered_kwh(per_kwh)  # money per kWh becomes money per joule by the same factor

    def metered_kwh(self, joules: Number) -> Number:
        """Return the kWh at the meter of joules at the machines."""
        return joules / JOULES_PER_KWH * self.number(self.bag.site.pue)

    def kwh_price(self, per_joule: Number) -> Number:
        """Return what a kWh at the meter costs if a joule at the machines costs `per_joule`."""
        return per_joule * JOULES_PER_KWH / self.number(self.bag.site.pue)

    def wear(self, machine: MachineType) -> Number:
        """Return what a busy second wears off a machine."""
        return self.number(machine.wear_per_busy_hour) / SECONDS_PER_HOUR

    def depreciation(self, machine: MachineType, machines: int = 1, *, per: int = 1) -> Number:
        """Return the value that machines of a type lose in 1 / `per` of an hour."""
        if machine.mean_hours_to_failure is None:
            return self.number(0.0)
        return machines * self.number(machine.purchase_price) / (self.number(machine.mean_hours_to_failure) * per)

    def own_rate(self, machine: MachineType) -> Number:
        """Return own_j: what a second of one machine costs, whatever it runs."""
        lost = self.depreciation(machine, per=SECONDS_PER_HOUR)
        return self.energy_price * self.number(machine.idle_watts) + lost

    def fixed_rate(self, idle_watts: Number) -> Number:
        """Return K: what a second costs, whatever runs; the idle watts are those of all machines."""
        lost = sum(self.depreciation(each, each.count, per=SECONDS_PER_HOUR) for each in self.bag.machine_types)
        return self.energy_price * idle_watts + lost

    @property
    def idle_watts(self) -> Number:
        """I: what all machines draw when idle."""
        return self.number(0.0) + sum(each.count * self.number(each.idle_watts) for each in self.bag.machine_types)

    @property
    def meter(self) -> Number:
        """The watts where the power cap is measured, for each watt at the machines."""
        return self.number(self.bag.site.pue if self.bag.site.cap_measured_at == "facility" else 1.0)

    @property
    def headroom(self) -> Number | None:
        """P - I: the watts that the power cap leaves above the idle floor; `None` without a cap."""
        cap = self.bag.site.average_power_cap_watts
        return None if cap is None else self.number(cap) / self.meter - self.idle_watts


def cost_model(bag: Bag) -> CostModel[float]:
    """Return the cost model of a bag in doubles."""
    return CostModel(bag, float)


def exact_cost_model(bag: Bag) -> CostModel[Fraction]:
    """Return the cost model of a bag in exact fractions."""
    return CostModel(bag, Fraction)


def exact_pair(bag: Bag, i: int, column: int) -> tuple[Fraction, Fraction]:
    """Return the seconds of a task in a column that can run it, and its joules above idle: 0 without watts."""
    seconds = bag.seconds[i, column]
    assert seconds is not None, "only pairs that can run get tasks"
    exact = Fraction(seconds)
    if bag.watts is None:
        return exact, Fraction(0)
    idle_watts = bag.machine_types[bag.modes[column][0]].idle_watts
    return exact, exact * (Fraction(bag.watts[i, column] or 0.0) - Fraction(idle_watts))


def has_price(bag: Bag) -> bool:
    """Return whether the bag has a price."""
    return bag.prices.per_bag is not None or bool(bag.prices.per_task)


def has_rate(bag: Bag) -> bool:
    """Return whether electricity has a price, and one for all machines."""
    return bag.prices.electricity_per_kwh is not None and not bag.sites


def profit_per_hour(
    costs: CostModel[Any], seconds: Amount, joules: Amount | None, busy: Iterable[Amount]
) -> Amount | None:
    """Return the profit per hour of a schedule, or of many samples; `None` where the bag does not say enough.

    The costs are exact for fractions, in doubles for arrays. `seconds` is the makespan, `joules` `None` if the bag has
    no watts; `busy` has for each machine type the seconds that all its machines work.
    """
    if not has_price(costs.bag) or not has_rate(costs.bag) or (joules is None and costs.energy_price):
        return None
    machines = costs.bag.machine_types
    left = costs.income if joules is None else costs.income - costs.energy_price * joules
    for machine, worked in zip(machines, busy, strict=True):
        left = left - costs.wear(machine) * worked
    lost = sum(costs.depreciation(machine, machine.count) for machine in machines)
    profit: Amount = SECONDS_PER_HOUR * left / seconds - lost
    return profit
