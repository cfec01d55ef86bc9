"""What planning again by a forecast returns: verified plans at the actual prices, and a proved bound on the loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

from lpsched.bag.horizon.result import AT_ONCE, BASELINES, PlanCosts, mass_text
from lpsched.model.results import JsonObject, stopped_words
from lpsched.model.series import moment_text
from lpsched.units import counted, duration, gap_text, html_table, number, paired, upper_text

if TYPE_CHECKING:
    from lpsched.bag.horizon.certificate import HorizonCertificate
    from lpsched.bag.horizon.schedule import Plan
    from lpsched.bag.horizon.slots import Slots
    from lpsched.bag.model import Bag
    from lpsched.model.fields import FrozenDict
    from lpsched.model.provenance import Provenance, Status

AGAIN: Final = "planned again"
ONCE: Final = "planned once"
FORESIGHT: Final = "perfect foresight"
PLANS: Final = {
    AGAIN: "by the actual value of each slot and a forecast of later ones",
    ONCE: "at the start by the forecast, and never again",
    FORESIGHT: "planned at the start with all actual values",
    AT_ONCE: BASELINES[AT_ONCE],
}
VERBS: Final = {"cost": "costs", "carbon": "emits", "profit": "earns"}


@dataclass(frozen=True, slots=True)
class ForecastPlan(JsonObject):
    """One verified plan, measured with the actual series; or why there is none."""

    name: str
    meaning: str
    value: float | None
    from_bound: float | None  # the distance to the bound: no plan is better by more
    costs: PlanCosts | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ForecastSlot(JsonObject):
    """One slot of one site: the actual value, the forecast at the start of the horizon, and what two plans draw."""

    site: str
    start_seconds: float
    end_seconds: float
    actual: float
    forecast: float
    average_watts: float  # of what was done in the end
    foresight_watts: float  # on average too, of the plan that knew all actual values


@dataclass(frozen=True, slots=True)
class ReplanResult(JsonObject):
    """A bag planned again in every slot by a forecast: what it costs at actual prices, and what no plan can pass."""

    objective: str  # cost, carbon or profit
    unit: str
    status: Status
    value: float  # of what was done in the end, measured with the actual series
    bound: float  # with the actual series, proved: no plan is better, whatever it knows
    gap: float | None  # relative to the bound
    loss_at_most: float  # value and bound apart: the forecast costs no more, proved
    loss_measured: float | None  # against the plan with perfect foresight; negative where that plan is worse
    forecast: str  # of what kind it is, or the name of its file
    forecast_of: str  # tariff or carbon
    mean_error: float  # of the forecast at the start: mean of its absolute errors, per kWh
    slot_count: int
    planned_slots: int  # from the first one on, before the time was up; then the last plan was kept
    searched: int  # slots at whose start there was news, and a new plan was searched for
    adopted: int  # of these, where it was better than the plan before
    horizon_seconds: float
    start: int | None
    carbon_price_per_kg: float
    tasks: int
    machines: int
    finished: FrozenDict[str, int]
    plans: tuple[ForecastPlan, ...]
    timings: FrozenDict[str, float]
    provenance: Provenance
    plan: Plan = field(repr=False)
    slots: Slots = field(repr=False)
    slot_rows: tuple[ForecastSlot, ...] = field(repr=False)
    certificate: HorizonCertificate = field(repr=False)
    bag: Bag = field(repr=False, compare=False)
    stopped: str = ""

    _FORMAT: ClassVar = "lpsched-replan/1"
    _KEYS: ClassVar = (
        "objective status value bound unit gap loss_at_most loss_measured forecast forecast_of mean_error slot_count "
        "planned_slots searched adopted start_time horizon_seconds carbon_price_per_kg tasks machines finished plans "
        "slots=slot_rows timings"
    )

    @property
    def start_time(self) -> str | None:
        """When the horizon begins, in UTC."""
        return None if self.start is None else moment_text(self.start)

    @property
    def is_profit(self) -> bool:
        """Whether more is better."""
        return self.objective == "profit"

    def amount(self, value: float | None, *, upper: bool | None = None) -> str:
        """Write an amount of the objective with its unit."""
        if self.objective == "carbon":
            return mass_text(value, upper=upper)
        if value is None:
            return "-"
        return f"{number(value) if upper is None else upper_text(value)} {self.unit}"

    def texts(self) -> tuple[str, str]:
        """Write value and bound, with as many digits as their gap needs, and units."""
        if self.objective == "carbon":
            return paired(self.value, self.bound, upper=False, write=mass_text)
        value, bound = paired(self.value, self.bound, upper=self.is_profit)
        return f"{value} {self.unit}", f"{bound} {self.unit}"

    def headline(self) -> str:
        """Return what planning again led to, the bound, and the loss in two sentences."""
        value, bound = self.texts()
        limit = f"no plan earns more than {bound}" if self.is_profit else f"no plan {VERBS[self.objective]} less than "
        limit += "" if self.is_profit else bound
        verb = VERBS[self.objective]
        first = f"Planned again {self.how_often()} by the forecast, the bag {verb} {value}; {limit} (proved)."
        return f"{first} The forecast loses at most {self.amount(self.loss_at_most, upper=True)} (proved)."

    def how_often(self) -> str:
        """Return in which slots there was time to plan again."""
        if self.planned_slots == self.slot_count:
            return "every slot"
        return f"in the first {self.planned_slots:,} of {self.slot_count:,} slots"

    def status_text(self) -> str:
        """Return how the planning ended, in one line."""
        return stopped_words(self.stopped) if self.stopped else ""

    def when(self) -> str:
        """Return the horizon in words."""
        begin = "" if self.start is None else f" from {self.start_time}"
        return f"{duration(self.horizon_seconds)}{begin}"

    def facts(self) -> list[tuple[str, str, str]]:
        """Return the answer in rows: a word, a number with its unit, where it comes from."""
        value, bound = self.texts()
        best = {"cost": "costs less", "carbon": "emits less", "profit": "earns more"}[self.objective]
        per_kwh = "g/kWh" if self.forecast_of == "carbon" else f"{self.bag.prices.currency}/kWh"
        known = f"{self.forecast_of}: {self.forecast}"
        news = f"{counted(self.searched, 'new plan')} searched for, {self.adopted:,} of them better by what was known"
        return [
            (
                self.objective,
                value,
                f"verified: planned again {self.how_often()}, measured with the actual {self.forecast_of}",
            ),
            ("bound", bound, f"proved: no plan {best}, whatever it knows"),
            ("gap", gap_text(self.gap), self.status_text()),
            ("loss at most", self.amount(self.loss_at_most, upper=True), "proved: from the bound to this plan"),
            ("loss measured", self.amount(self.loss_measured), "from the plan with perfect foresight to this plan"),
            ("forecast", f"{number(self.mean_error)} {per_kwh}", f"{known}; mean absolute error at the start"),
            ("slots", f"{self.slot_count:,}", news),
            ("horizon", self.when(), ""),
        ]

    def _repr_html_(self) -> str:
        return html_table((self.provenance.instance_name, "", ""), self.facts())
