"""The answer of a plan over a horizon in tables, at most 100 columns wide for usual names.

In this order: the headline; what the plan takes; what it pays for; plans to compare with; what one more machine of each
type is worth; the slots in which one more kilowatt under a power cap is worth most. Costs are measured from the
verified plan; what is proved says so, and what is a derivative of the bound is marked as of the linear program (LP).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Final

from lpsched.bag.horizon.result import mass_text
from lpsched.bag.result import Between
from lpsched.model.series import LATEST, zone_named
from lpsched.report.solution import ledger
from lpsched.report.tables import MOST_ROWS, FoldingTable, fitted, line, table
from lpsched.units import DIGITS, KILO, NOISE, ROUNDING, bound_text, counted, duration, money_text, number, percent

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from lpsched.bag.horizon.forecasts.replan_result import ReplanResult
    from lpsched.bag.horizon.result import Baseline, PlanResult, SlotRow

BOUND_DIGITS: Final = 6  # of bounds of horizons that differ by an hour
MOST_SLOTS: Final = 5  # in which a kilowatt is worth most
BETTER: Final = {"cost": "saves", "carbon": "emits less", "profit": "earns more"}  # than a plan to compare with
MARKET_PART: Final = "saves,\nmarket part"
NO_FEES: Final = "Without grid fees and taxes on each kWh (--grid-fee)"
WORDS: Final = {"cost": "cost", "carbon": "carbon", "profit": "profit"}
DERIVATIVE: Final = (
    "The marginal value is the derivative of the bound by the number of machines, and no promise about plans. "
)
ONE_MORE: Final = "Proved: one more machine of the type {} the {} of the best plan by an amount in the last column"
HOURS: Final = (
    "Proved: with that horizon the {} of the best plan changes by an amount in the last column. Nothing follows for "
    "other horizons: this is not convex."
)
KILOWATTS: Final = "Where one more kW under the power cap is worth most: derivatives of the bound (LP), by slot."
NO_KILOWATT: Final = "One more kW under the power cap would not change the bound, in any slot (LP)."


@dataclass(frozen=True, slots=True)
class Calendar:
    """How moments of a horizon are written: as dates in a time zone, or as time from the start where there is none."""

    start: int | None
    zone: tzinfo
    name: str  # of the zone

    def text(self, seconds: float) -> str:
        """Write a moment, in seconds from the start of the horizon.

        >>> Calendar(0, UTC, "UTC").text(5400.0), Calendar(None, UTC, "UTC").text(5400.0)
        ('1970-01-01 01:30', '1 h 30 min')
        """
        if self.start is None:
            return duration(seconds) if seconds else "0"
        return f"{datetime.fromtimestamp(self.start + seconds, self.zone):%Y-%m-%d %H:%M}"

    def span(self, start: float, end: float) -> str:
        """Write from when to when a slot lasts; with the zone's own letters, as an hour may occur twice.

        >>> Calendar(0, UTC, "UTC").span(0.0, 5400.0)
        '1970-01-01 00:00 to 01:30 UTC'
        """
        if self.start is None:
            return f"{self.text(start)} to {self.text(end)}"
        first, last = (datetime.fromtimestamp(self.start + each, self.zone) for each in (start, end))
        until = f"{last:%H:%M}" if last.date() == first.date() else f"{last:%Y-%m-%d %H:%M}"
        changed = "" if f"{first:%Z}" == f"{last:%Z}" else f" {first:%Z}"
        return f"{first:%Y-%m-%d %H:%M}{changed} to {until} {last:%Z}"

    @property
    def header(self) -> str:
        """The header of a column of slots."""
        return "slot, from the start" if self.start is None else f"slot ({self.name})"


def calendar_of(result: PlanResult | ReplanResult) -> Calendar:
    """Return how moments of a plan are written: in the time zone of the site, or of all sites; else in UTC."""
    start, zones = result.start, {site.time_zone for site in result.bag.sites or (result.bag.site,)}
    name = zones.pop() if len(zones) == 1 else None
    has_dates = start is not None and start + result.horizon_seconds <= LATEST
    return Calendar(start if has_dates else None, zone_named(name) or UTC, name or "UTC")


def plan_tables(result: PlanResult) -> list[ConsoleRenderable]:
    """Return the answer of a plan: headline, what it takes, costs, comparison, what more would be worth."""
    parts = [each for part in plan_parts(result).values() for each in part]
    return [fitted(result.headline(), size_text(result)), *parts]


def plan_parts(result: PlanResult, *, most: int = MOST_ROWS) -> dict[str, list[ConsoleRenderable]]:
    """Return what is known of a plan by topic, with at most that number of machine types."""
    return {
        "answer": [table(("", "", ""), result.facts())],
        "costs": _costs(result),
        "compared": _compared(result),
        "machines": _machines(result, most),
        "hours": _hours(result),
        "kilowatts": _kilowatts(result),
    }


def size_text(result: PlanResult) -> str:
    """Return how large the bag is, how much of it runs, and how the search ended."""
    run = sum(result.finished.values())
    some = f"{run:,} of " if run < result.tasks else ""
    size = f"{some}{counted(result.tasks, 'task')} on {counted(result.machines, 'machine')}"
    return f"{result.provenance.instance_name}: {size}, {result.when()}. {result.status_text()}".rstrip()


# What the plan pays for.
def cost_parts(result: PlanResult) -> list[tuple[str, float]]:
    """Return what is paid for, and how much; nothing that is 0."""
    costs, kg = result.costs, (result.costs.carbon_grams or 0.0) / KILO
    priced = 0.0 if result.objective == "carbon" else result.carbon_price_per_kg
    rows = [
        ("electricity at market prices" if costs.fees else "electricity", costs.electricity),
        ("grid fees and taxes", costs.fees),
        ("demand charge", costs.demand),
        ("wear", costs.wear),
        ("moving tasks", costs.moving),
        (f"switching on, {costs.switch_ons:,} times", costs.switching),
        (f"carbon, at {number(priced)} {result.bag.prices.currency}/kg", kg * priced),
    ]
    return [(word, amount) for word, amount in rows if amount]


def _costs(result: PlanResult) -> list[ConsoleRenderable]:
    """Return the costs by part, and their sum; of a profit what is earned, less these."""
    rows, currency = cost_parts(result), result.bag.prices.currency
    if result.is_profit:
        signed = [("revenue", result.costs.revenue), *((word, -amount) for word, amount in rows)]
        rows = [*signed, ("profit", result.value)]
    elif len(rows) > 1:
        rows.append(("sum", result.value if result.objective == "cost" else result.costs.cost))
    if not rows:
        return []
    least = min(abs(amount) for _, amount in rows)  # the last of a ledger has three digits
    texts = _trimmed(ledger([*(amount for _, amount in rows), least])[:-1])
    return [table(("", currency), [(row[0], text) for row, text in zip(rows, texts, strict=True)], numbers=(1,))]


def _trimmed(texts: list[str]) -> list[str]:
    """Return amounts without the decimals that are 0 in all of them.

    >>> _trimmed(["0.1000", "0.2500"]), _trimmed(["3.000", "1.000"]), _trimmed(["10", "20"])
    (['0.10', '0.25'], ['3', '1'], ['10', '20'])
    """
    while all("." in text and text[-1] in "0." for text in texts):
        texts = [text[:-1] for text in texts]
    return texts


# Plans to compare with.
def _compared(result: PlanResult) -> list[ConsoleRenderable]:
    """Return other plans, their costs or emissions, and what this plan saves of them."""
    if not result.baselines:
        return []
    money, known = result.bag.prices.currency, all(each.costs is None or _has_carbon(each) for each in result.baselines)
    header = "carbon" if result.objective == "carbon" else f"{result.objective}, {money}"
    shares = [each.market_saves for each in result.baselines]
    better = BETTER[result.objective] if not any(each is not None for each in shares) else "saves,\nwhole bill"
    columns = {"compared with": ["this plan"], header: [_value_text(result)], better: [""]}
    also = {"cost": "carbon", "carbon": f"cost, {money}"}.get(result.objective)
    if also is not None and known and result.costs.carbon_grams is not None:
        columns[also] = [_also_text(result, result)]
    for each in result.baselines:
        cells = (f"{each.name}: {each.meaning}", _amount_text(result, each.value), saves_text(result, each))
        for column, cell in zip(columns.values(), (*cells, _also_text(result, each)), strict=False):
            column.append(cell)
    if better not in BETTER.values():
        columns[MARKET_PART] = ["", *("-" if each is None else percent(each) for each in shares)]
    rows = list(zip(*columns.values(), strict=True))
    reasons = [fitted(f"No plan '{each.name}': {each.reason.rstrip('.')}.") for each in result.baselines if each.reason]
    return [fitted(table(tuple(columns), rows, numbers=range(1, len(columns)))), *_on_fees(result), *reasons]


def _on_fees(result: PlanResult) -> list[ConsoleRenderable]:
    """Return what savings of money say about fees on each kWh."""
    if result.objective == "carbon":
        return []
    fees = sorted({site.fee for site in result.slots.sites})
    if not fees[-1]:
        smaller = ": they make these savings smaller in percent" if result.objective == "cost" else ""
        return [fitted(f"{NO_FEES}{smaller}.")]
    if result.objective != "cost":
        return []
    money = f"{' to '.join(number(fee) for fee in dict.fromkeys((fees[0], fees[-1])))} {result.unit}/kWh"
    words = f"The market part is electricity without the grid fee of {money}; both savings are of the same plans."
    return [fitted(words)]


def saves_text(result: PlanResult, baseline: Baseline) -> str:
    """Return by how much this plan is better than another: a percentage of it, or of no or a negative amount money."""
    if baseline.value is None:
        return "-"
    if baseline.saves is not None and baseline.value > 0:
        return percent(baseline.saves)
    better = result.value - baseline.value if result.is_profit else baseline.value - result.value
    return mass_text(better) if result.objective == "carbon" else f"{number(better)} {result.unit}"


def _has_carbon(baseline: Baseline) -> bool:
    return baseline.costs is not None and baseline.costs.carbon_grams is not None


def _value_text(result: PlanResult) -> str:
    text = result.texts()[0]
    return text if result.objective == "carbon" else text.removesuffix(f" {result.unit}")


def _amount_text(result: PlanResult, value: float | None) -> str:
    return mass_text(value) if result.objective == "carbon" else number(value)


def _also_text(result: PlanResult, found: PlanResult | Baseline) -> str:
    """Return the carbon of a plan for least cost, or the cost of one for least carbon."""
    if found.costs is None:
        return "-"
    return number(found.costs.cost) if result.objective == "carbon" else mass_text(found.costs.carbon_grams)


# What more would be worth.
def _machines(result: PlanResult, most: int) -> list[ConsoleRenderable]:
    """Return what one more machine of each type is worth: by the bound's derivative, and proved."""
    rows = tuple(
        (each.machine_type, money_text(number(each.marginal)), each.reason or _between_text(result, each.between()))
        for each in result.machine_worth
    )
    if not rows:
        return []
    headers = (
        "one more machine",
        f"marginal value (LP),\n{result.unit} over the horizon",
        f"{'earns' if result.is_profit else 'saves'}\n(proved), {result.unit}",
    )
    proved = ONE_MORE.format("raises" if result.is_profit else "lowers", WORDS[result.objective])
    ends = [end for each in result.machine_worth for end in (each.at_least, each.at_most)]
    rises = "; a negative amount: it rises" if any((end or 0.0) < 0 for end in ends) else ""
    rises = rises.replace("rises", "falls") if result.is_profit else rises
    return [*FoldingTable(headers, rows).shortened(most), fitted(f"{DERIVATIVE}{proved}{rises}.")]


def _between_text(result: PlanResult, between: Between) -> str:
    """Write an interval of changes of the best plan; what is only the rounding of its value is 0."""
    low, high = (
        0.0 if each is not None and abs(each) <= ROUNDING * abs(result.value) else each
        for each in (between.at_least, between.at_most)
    )
    return Between(low, high).text()


def _hours(result: PlanResult) -> list[ConsoleRenderable]:
    """Return what is proved if the horizon ends an hour earlier or later."""
    if not result.other_horizons:
        return []

    def amount(value: float | None) -> str:
        if result.objective == "carbon":
            return mass_text(value, upper=False, finer=BOUND_DIGITS - DIGITS)
        return money_text(bound_text(value, upper=result.is_profit, digits=BOUND_DIGITS))

    rows = [(result.horizon_seconds, (f"{duration(result.horizon_seconds)}, as now", amount(result.bound), ""))]
    for each in result.other_horizons:
        cells = (
            ("-", each.reason) if each.bound is None else (amount(each.bound), _between_text(result, each.between()))
        )
        rows.append((each.horizon_seconds, (duration(each.horizon_seconds), *cells)))
    headers = (
        "if the horizon is",
        f"bound (proved), {result.unit}",
        f"the best plan\nchanges by (proved), {result.unit}",
    )
    if result.objective == "carbon":
        headers = (headers[0], "bound (proved)", headers[2])
    found = table(headers, [cells for _, cells in sorted(rows)], numbers=(1, 2))
    return [found, fitted(HOURS.format(WORDS[result.objective]))]


def _kilowatts(result: PlanResult) -> list[ConsoleRenderable]:
    """Return the slots with a power cap in which one more kilowatt is worth most; nothing without a cap."""
    capped = [row for row in result.slot_rows if row.kilowatt is not None]
    if not capped:
        return []
    best = sorted(capped, key=lambda row: -(row.kilowatt or 0.0))[:MOST_SLOTS]
    best = [row for row in best if (row.kilowatt or 0.0) > NOISE]
    if not best:
        return [line(NO_KILOWATT)]
    calendar, money, several = calendar_of(result), result.bag.prices.currency, len(result.slots.sites) > 1
    first = (calendar.header, "site") if several else (calendar.header,)
    headers = (*first, f"tariff,\n{money}/kWh", f"one more kW\n(LP), {result.unit}")

    def cells(row: SlotRow) -> tuple[str, ...]:
        site = [row.site] if several else []
        worth = money_text(number(row.kilowatt))
        return calendar.span(row.start_seconds, row.end_seconds), *site, money_text(number(row.tariff)), worth

    return [fitted(KILOWATTS), FoldingTable(headers, tuple(map(cells, best)), labels=len(first))]
