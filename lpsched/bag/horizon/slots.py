"""The slots of a horizon: when each begins and ends, and what electricity costs in it at each site.

    h, T_0 = 0 < T_1 < ... < T_H   slots and their edges, in seconds from the start of the horizon
    s(j)                           the site of machine type j

Everything that is given over time is constant within a slot: a slot ends where any series of any site changes. This is
data, stated once for the program, the verifier and the certificate: no NumPy, and nothing is worked out here but edges.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.parts import NamedSite, Site
from lpsched.errors import InfeasibleError, InputIssue, InstanceError, Place, quote
from lpsched.model.fields import check_seconds, describe, is_in_parts
from lpsched.model.series import KINDS, LATEST, Series, moment_text, span_text
from lpsched.units import KILO, counted, duration, power_text

if TYPE_CHECKING:
    from lpsched.bag.model import Bag

MOST_SLOTS: Final = 100_000
PLAIN_NAME: Final = "site"  # of the one site of a bag that names none
ADD_START: Final = "give it (--start), or write it into the bag (site.start)"


@dataclass(frozen=True, slots=True)
class SiteSlots:
    """What one site pays and may draw in each slot; electricity is counted at its meter, after the PUE."""

    name: str
    tariff: tuple[float, ...]  # market price: money per kWh at the meter; may be negative
    carbon: tuple[float, ...] | None = None  # grams of CO2 per kWh at the meter
    cap_watts: tuple[float, ...] | None = None  # the most watts, on average over each slot
    pue: float = 1.0  # watts at the meter for each watt at the machines
    cap_pue: float = 1.0  # watts where the cap is measured, for each watt at the machines: the PUE, or 1
    demand_charge: float = 0.0  # money per kW at the meter of the slot with the highest average power
    moving_costs: tuple[float, ...] = ()  # money for each task of each type that runs here; empty: none
    fee: float = 0.0  # money per kWh at the meter, on top of the market price in every slot


@dataclass(frozen=True, slots=True)
class Slots:
    """All slots of a horizon, and the sites of a bag."""

    edges: tuple[float, ...]  # T_0 = 0, ..., T_H: one more than there are slots
    sites: tuple[SiteSlots, ...]
    site_of: tuple[int, ...]  # of each machine type
    start: int | None = None  # of the horizon, in seconds since 1970 UTC; `None` if nothing depends on the date

    @property
    def count(self) -> int:
        """How many slots there are."""
        return len(self.edges) - 1

    @property
    def horizon(self) -> float:
        """The seconds from the start to the end."""
        return self.edges[-1]

    def cut(self, parts: int) -> Slots:
        """Return the same with each slot cut into some parts; its edges stay."""

        def repeated(row: tuple[float, ...] | None) -> tuple[float, ...] | None:
            return None if row is None else tuple(each for each in row for _ in range(parts))

        steps = [k / parts for k in range(parts)]
        edges = [start + (end - start) * step for start, end in pairwise(self.edges) for step in steps]
        sites = tuple(
            replace(
                site,
                tariff=repeated(site.tariff) or (),
                carbon=repeated(site.carbon),
                cap_watts=repeated(site.cap_watts),
            )
            for site in self.sites
        )
        return replace(self, edges=(*edges, self.horizon), sites=sites)


@dataclass(frozen=True, slots=True)
class Weights:
    """What is minimised: a weighted sum of money and grams of CO2, less what finished tasks earn if they are optional.

    `optional`: tasks may be left out, and each one that runs earns its price per task (times `money`); else all run.
    """

    money: float = 1.0
    grams: float = 0.0
    optional: bool = False


# From a bag to its slots.
def slots_of(
    bag: Bag, *, horizon: float, start: int | None = None, need: Collection[str] = ("tariff",), join: bool = True
) -> Slots:
    """Return the slots of a bag from the start until `horizon` seconds later.

    `need` says which of `tariff` and `carbon` every site must have. A tariff that is neither given nor needed is 0.
    Neighbouring slots in which everything is the same are joined (`join`), unless power is averaged over each (a cap, a
    demand charge).

    Raises
    ------
    InstanceError
        If something is missing, or a series does not cover the horizon.
    InfeasibleError
        If a power cap is below what machines take that must stay on.
    """
    if not (isinstance(horizon, int | float) and check_seconds.least <= horizon <= LATEST):
        issue = InputIssue(("horizon",), describe(horizon), "seconds: a positive number", "correct it")
        raise InstanceError("", (issue,))
    placed = list(_placed(bag))
    begin = _start(bag, placed, start)
    issues = [*_missing(bag, placed, need), *_uncovered(placed, begin, horizon)]
    if issues:
        raise InstanceError(bag.name, tuple(issues))
    moments = sorted({0, *_changes(placed, begin or 0, horizon)})
    sites = [_site_slots(bag, site, begin or 0, moments) for _, site in placed]
    if join and all(site.cap_watts is None and not site.demand_charge for site in sites):
        moments, sites = _joined(moments, sites)
    if len(moments) > MOST_SLOTS:
        found, do = f"{len(moments):,} slots", "shorten the horizon, or use longer steps"
        raise InstanceError(bag.name, (InputIssue(("horizon",), found, f"at most {MOST_SLOTS:,}", do),))
    number = {site.name: s for s, site in enumerate(sites)}
    site_of = tuple(number[machine.site or PLAIN_NAME] for machine in bag.machine_types)
    slots = Slots((*map(float, moments), float(horizon)), tuple(sites), site_of, begin)
    require_idle_power(bag, slots)
    return slots


def moment_of(bag: Bag, start: int | str | datetime | None) -> int | None:
    """Return a start in seconds since 1970; without a zone it is in the site's, or in UTC."""
    if start is None or isinstance(start, int):
        return start
    issue = InputIssue(("start",), describe(start), "a date and a time, to the second", "write it as 2024-07-01T00:00Z")
    if isinstance(start, str) and is_in_parts(start):
        raise InstanceError("", (issue,))
    try:
        moment = start if isinstance(start, datetime) else datetime.fromisoformat(start)
        if moment.tzinfo is None:
            from zoneinfo import ZoneInfo  # noqa: PLC0415 - rarely

            moment = moment.replace(tzinfo=UTC if bag.site.time_zone is None else ZoneInfo(bag.site.time_zone))
        return int(moment.timestamp())
    except (ValueError, OverflowError):
        raise InstanceError("", (issue,)) from None


def depends_on_date(bag: Bag) -> bool:
    """Return whether it matters when a horizon begins: some site has a series."""
    return any(True for _ in _series(list(_placed(bag))))


def with_series(
    bag: Bag,
    *,
    tariff: float | Series | None = None,
    carbon: float | Series | None = None,
    power_cap: float | Series | None = None,
    grid_fee: float | None = None,
) -> Bag:
    """Return the bag with other numbers or series of its one site; a power cap that is a number is in kW."""
    given = {"tariff": tariff, "carbon": carbon, "power_cap": power_cap, "grid_fee_per_kwh": grid_fee}
    update = {key: value for key, value in given.items() if value is not None}
    if not update:
        return bag
    if bag.sites:
        found = f"one for all of {counted(len(bag.sites), 'site')}"
        issues = [InputIssue((key,), found, "one for each", "put them into the file (sites)") for key in update]
        raise InstanceError("", tuple(issues))
    fields = {key: getattr(bag.site, key) for key in Site.model_fields}
    return bag.model_copy(update={"site": Site(**fields | update)})


def with_switch_off(bag: Bag, allowed: bool | None) -> Bag:  # noqa: FBT001 - what all machine types say
    """Return the bag with machines that all may be off when idle, or must all stay on; `None` leaves it as it is."""
    if allowed is None:
        return bag
    changes: dict[str, Any] = {"may_be_off": allowed} | ({} if allowed else {"switch_on_cost": 0.0})
    return bag.model_copy(
        update={"machine_types": tuple(each.model_copy(update=changes) for each in bag.machine_types)}
    )


_Placed = list[tuple[Place, Site | NamedSite]]


def _placed(bag: Bag) -> Iterator[tuple[Place, Site | NamedSite]]:
    """Yield the sites, each with where it stands in a file."""
    if not bag.sites:
        yield ("site",), bag.site
    for s, site in enumerate(bag.sites):
        yield ("sites", s), site


def _series(placed: _Placed) -> Iterator[tuple[Place, Series]]:
    for place, site in placed:
        for key in KINDS:
            if isinstance(value := getattr(site, key), Series):
                yield (*place, key), value


def _start(bag: Bag, placed: _Placed, start: int | None) -> int | None:
    """Return when the horizon begins, in seconds since 1970; `None` if nothing depends on it."""
    if start is None and bag.site.start is not None:
        return int(datetime.fromisoformat(bag.site.start).timestamp())
    if start is not None and (isinstance(start, bool) or not isinstance(start, int)):
        issue = InputIssue(("start",), describe(start), "whole seconds since 1970 UTC", "round it")
        raise InstanceError("", (issue,))
    given = [series for _, series in _series(placed)]
    if start is None and given:
        first, last = max(each.start for each in given), min(each.end for each in given)
        which = "the series" if len(given) == 1 else "all series"
        known = f"; {which} reach from {span_text(first, last)}" if first < last else ""
        issue = InputIssue(("start",), "nothing", f"when the horizon begins{known}", ADD_START)
        raise InstanceError(bag.name, (issue,))
    return start


def _missing(bag: Bag, placed: _Placed, need: Collection[str]) -> Iterator[InputIssue]:
    """Return what is needed but neither given for a site nor for all."""
    for place, site in placed:
        if "tariff" in need and site.tariff is None and bag.prices.electricity_per_kwh is None:
            do = "add it, a number or a series (--tariff), or prices.electricity_per_kwh"
            yield InputIssue((*place, "tariff"), "nothing", "what a kWh costs", do)
        if "carbon" in need and site.carbon is None:
            do = "add it, a number of g/kWh or a series (--carbon)"
            yield InputIssue((*place, "carbon"), "nothing", "the grams of CO2 of a kWh", do)


def _uncovered(placed: _Placed, start: int | None, horizon: float) -> Iterator[InputIssue]:
    """Return the series that do not cover the horizon."""
    for place, series in _series(placed):
        assert start is not None, "a series needs a start"
        if start < series.start or start + horizon > series.end:
            needed = f"values for the horizon, {span_text(start, math.ceil(start + horizon))}"
            do = "change --start or --horizon, or extend the series"
            yield InputIssue(place, f"values from {series.span}", needed, do)


def _changes(placed: _Placed, start: int, horizon: float) -> Iterator[int]:
    """Yield when any series has another value within the horizon, in seconds from the start."""
    for _, series in _series(placed):
        yield from (time - start for time in series.times if start < time < start + horizon)


def _site_slots(bag: Bag, site: Site | NamedSite, start: int, moments: list[int]) -> SiteSlots:
    default = bag.prices.electricity_per_kwh or 0.0
    cap = _values(site.power_cap, start, moments, KILO)
    name, moving = (site.name, site) if isinstance(site, NamedSite) else (PLAIN_NAME, None)
    return SiteSlots(
        name,
        tariff=_values(default if site.tariff is None else site.tariff, start, moments) or (),
        carbon=_values(site.carbon, start, moments),
        cap_watts=cap,
        pue=site.pue,
        cap_pue=site.pue if site.cap_measured_at == "facility" else 1.0,
        demand_charge=site.demand_charge_per_kw,
        moving_costs=tuple(moving.moving_cost(task.name) for task in bag.task_types)
        if moving is not None and moving.moving_cost_per_task
        else (),
        fee=site.grid_fee_per_kwh,
    )


def _values(given: float | Series | None, start: int, moments: list[int], unit: int = 1) -> tuple[float, ...] | None:
    """Return the values from each moment on; a number counts in units of `unit`."""
    if isinstance(given, Series):
        values, at = [], 0
        for moment in moments:
            while at + 1 < len(given.times) and given.times[at + 1] <= start + moment:
                at += 1
            values.append(given.values[at])
        return tuple(values)
    return None if given is None else (given * unit,) * len(moments)


def _joined(moments: list[int], sites: list[SiteSlots]) -> tuple[list[int], list[SiteSlots]]:
    """Join each slot with the one before if everything is the same in both."""
    columns: list[Any] = [values for site in sites for values in (site.tariff, site.carbon) if values is not None]
    kept = [0, *(h for h in range(1, len(moments)) if any(values[h] != values[h - 1] for values in columns))]

    def some(values: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(values[h] for h in kept)

    return [moments[h] for h in kept], [
        replace(site, tariff=some(site.tariff), carbon=None if site.carbon is None else some(site.carbon))
        for site in sites
    ]


def require_idle_power(bag: Bag, slots: Slots) -> None:
    """Raise an error if a cap is below what machines take that must stay on, whatever they do."""
    for s, site in enumerate(slots.sites):
        if site.cap_watts is None:
            continue
        least, machines = Fraction(0), 0
        for j, machine in enumerate(bag.machine_types):
            if slots.site_of[j] == s and not machine.may_be_off:
                least += machine.count * Fraction(_least_watts(bag, j))
                machines += machine.count
        cap = min(site.cap_watts)
        if Fraction(cap) < least * Fraction(site.cap_pue):
            h = site.cap_watts.index(cap)
            when = moment_text(slots.start + slots.edges[h]) if slots.start is not None else duration(slots.edges[h])
            where = f"of {quote(site.name)} " if bag.sites else ""
            taken = float(least * Fraction(site.cap_pue))
            texts = power_text(cap), power_text(taken)
            texts = (f"{cap!r} W", f"{taken!r} W") if texts[0] == texts[1] else texts
            must = f"{counted(machines, 'machine')} that must stay on there {'takes' if machines == 1 else 'take'}"
            raise InfeasibleError(
                f"{bag.name}: the power cap {where}is {texts[0]} in the slot from {when} on, but the {must} at least "
                f"{texts[1]}; raise the cap, or let machines be off when idle (may_be_off: true)"
            )


def _least_watts(bag: Bag, j: int) -> float:
    """Return the watts of a machine that is on: idle, or below that where a task takes less."""
    columns = [column for column, (other, _) in enumerate(bag.modes) if other == j]
    rows = list(bag.watts) if bag.watts is not None else []
    running = [watts for row in rows for column in columns if (watts := row[column]) is not None]
    return min([bag.machine_types[j].idle_watts, *running])
