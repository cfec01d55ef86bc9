"""What planning a bag over a horizon returns: a verified plan, a proved bound, and what it saves."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final

from lpsched.bag.result import Between
from lpsched.model.provenance import Provenance, Status
from lpsched.model.results import JsonObject, optimal_words, stopped_words
from lpsched.model.series import moment_text
from lpsched.units import MASSES, duration, energy_text, gap_text, html_table, number, paired, plain_text, power_text

if TYPE_CHECKING:
    from lpsched.bag.horizon.certificate import HorizonCertificate
    from lpsched.bag.horizon.schedule import Plan
    from lpsched.bag.horizon.slots import Slots
    from lpsched.bag.model import Bag
    from lpsched.model.fields import FrozenDict

AT_ONCE: Final = "all at once"
MEAN: Final = "at the mean price"
BASELINES: Final = {
    AT_ONCE: "the shortest schedule, from the start",
    MEAN: "a plan that knows only the mean of each series, as early as possible",
}


def mass_text(grams: float | Fraction | None, *, upper: bool | None = None, finer: int = 0) -> str:
    """Write grams of CO2 with a unit that fits.

    >>> mass_text(512.0), mass_text(2_350_000.0), mass_text(None)
    ('512 g', '2.35 t', '-')
    """
    if grams is None:
        return "-"
    size, unit = next((each for each in MASSES if abs(float(grams)) >= each[0]), MASSES[-1])
    exact = Fraction(grams) / Fraction(size)
    return f"{plain_text(exact, upper=upper, finer=finer)} {unit}"


@dataclass(frozen=True, slots=True)
class PlanCosts(JsonObject):
    """What a verified plan costs and emits, as doubles that are no smaller than the exact sums."""

    cost: float
    electricity: float  # at market prices
    fees: float  # grid fees and taxes on each kWh
    demand: float
    wear: float
    moving: float
    switching: float
    carbon_grams: float | None
    energy_kwh: float  # at the meters
    revenue: float
    last_end_seconds: float
    peak_watts: float  # at the machines: the highest average over a slot of each site, added up
    highest_watts: float  # likewise, at any moment
    switch_ons: int


@dataclass(frozen=True, slots=True)
class Baseline(JsonObject):
    """Another verified plan to compare with: what the objective has there, or why there is none."""

    name: str
    meaning: str
    value: float | None
    costs: PlanCosts | None
    saves: float | None = None  # of its value, as a share; negative where this plan is worse
    reason: str = ""
    market_saves: float | None = None  # likewise, of electricity at market prices; only of cost, where there are fees


@dataclass(frozen=True, slots=True)
class MachineWorth(JsonObject):
    """What one more machine of a type is worth over the horizon; negative where it costs more than it saves."""

    machine_type: str
    marginal: float  # the derivative of the bound: no promise about plans
    at_most: float | None  # the best plan with one more is better than the best without it by no more, proved
    at_least: float | None = None  # and by no less, proved; `None`: nothing is known
    reason: str | None = None  # why there is no interval

    def between(self) -> Between:
        """Return the interval."""
        return Between(self.at_least, self.at_most)


@dataclass(frozen=True, slots=True)
class OtherHorizon(JsonObject):
    """What is proved if the horizon ends at another time: the bound, and by how much the best value changes."""

    horizon_seconds: float
    bound: float | None  # `None` where there is no plan, or no data
    at_least: float | None  # the change of the best value, as are the next; `None`: nothing is known
    at_most: float | None
    reason: str = ""  # why there is no bound

    def between(self) -> Between:
        """Return the interval."""
        return Between(self.at_least, self.at_most)


@dataclass(frozen=True, slots=True)
class SlotRow(JsonObject):
    """One slot of one site: what the plan draws there, and what a kilowatt more would be worth."""

    site: str
    start_seconds: float
    end_seconds: float
    tariff: float
    carbon: float | None
    average_watts: float
    cap_watts: float | None
    kilowatt: float | None  # the derivative of the bound by a kW more of the cap in this slot; `None` without a cap


@dataclass(frozen=True, slots=True)
class PlanResult(JsonObject):
    """A verified plan over a horizon, what it costs, and the bound that no plan can pass."""

    objective: str  # cost, carbon or profit
    unit: str
    status: Status
    value: float
    bound: float
    gap: float | None  # relative to the bound
    gross_gap: float | None  # relative to all that is spent, where earnings of negative prices do not cancel it
    horizon_seconds: float
    start: int | None
    carbon_price_per_kg: float
    tasks: int
    machines: int
    finished: FrozenDict[str, int]
    costs: PlanCosts
    baselines: tuple[Baseline, ...]
    machine_worth: tuple[MachineWorth, ...]
    other_horizons: tuple[OtherHorizon, ...]
    timings: FrozenDict[str, float]
    provenance: Provenance
    plan: Plan = field(repr=False)
    slots: Slots = field(repr=False)
    slot_rows: tuple[SlotRow, ...] = field(repr=False)
    certificate: HorizonCertificate = field(repr=False)
    bag: Bag = field(repr=False, compare=False)
    task_watts: tuple[tuple[float, ...], ...] = field(default=(), repr=False)  # of each task type and slot, on average
    idle_watts: tuple[float, ...] = field(default=(), repr=False)
    stopped: str = ""

    _FORMAT: ClassVar = "lpsched-horizon/1"
    _KEYS: ClassVar = (
        "objective status value bound unit gap gross_gap start_time horizon_seconds carbon_price_per_kg tasks machines "
        "finished costs baselines machine_worth other_horizons slots=slot_rows timings"
    )

    @property
    def start_time(self) -> str | None:
        """When the horizon begins, in UTC."""
        return None if self.start is None else moment_text(self.start)

    @property
    def is_profit(self) -> bool:
        """Whether more is better."""
        return self.objective == "profit"

    def texts(self) -> tuple[str, str]:
        """Write value and bound, with as many digits as their gap needs, and units."""
        if self.objective == "carbon":
            return paired(self.value, self.bound, upper=False, write=mass_text)
        value, bound = paired(self.value, self.bound, upper=self.is_profit)
        return f"{value} {self.unit}", f"{bound} {self.unit}"

    def headline(self) -> str:
        """Return value, bound and gap in one sentence."""
        value, bound = self.texts()
        verb = {"cost": "Costs", "carbon": "Emits", "profit": "Earns"}[self.objective]
        limit = f"at most {bound} possible" if self.is_profit else f"at least {bound} in any plan"
        return f"{verb} {value}, {limit} (gap {gap_text(self.gap)}, proved)."

    def status_text(self) -> str:
        """Return how the search ended, in one line."""
        if self.status is Status.LIMIT:
            return stopped_words(self.stopped)
        return optimal_words(self.gap) if self.status is Status.OPTIMAL else ""

    def when(self) -> str:
        """Return the horizon in words."""
        begin = "" if self.start is None else f" from {self.start_time}"
        return f"{duration(self.horizon_seconds)}{begin}"

    def facts(self) -> list[tuple[str, str, str]]:
        """Return the answer in rows: a word, a number with its unit, where it comes from."""
        value, bound = self.texts()
        best = {"cost": "costs less", "carbon": "emits less", "profit": "earns more"}[self.objective]
        costs, money = self.costs, self.bag.prices.currency
        rows = [
            (self.objective, value, "verified: this plan"),
            ("bound", bound, f"proved: no plan {best}"),
            ("gap", gap_text(self.gap), self.status_text()),
        ]
        if self.gap is not None and self.gross_gap is not None and self.gross_gap < 0.5 * self.gap:
            rows.append(
                ("", gap_text(self.gross_gap), "of all that is spent: earnings at negative prices not taken off")
            )
        if self.objective != "cost":
            rows.append(("cost", f"{number(costs.cost)} {money}", "measured"))
        if self.objective != "carbon" and costs.carbon_grams is not None:
            rows.append(("carbon", mass_text(costs.carbon_grams), "measured"))
        rows.append(("energy", energy_text(costs.energy_kwh * 3.6e6), "measured at the meter"))
        rows.append(("horizon", self.when(), f"the last task ends after {duration(costs.last_end_seconds)}"))
        each = "at the machines, the highest average of a slot"
        each += " of each site, added up" if len(self.slots.sites) > 1 else ""
        peak = f"{each}; at any moment {power_text(costs.highest_watts)}"
        rows.append(("peak power", power_text(costs.peak_watts), peak))
        return rows

    def _repr_html_(self) -> str:
        return html_table((self.provenance.instance_name, "", ""), self.facts())
