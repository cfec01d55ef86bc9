"""What is known of a series over time: the actual values up to the present slot, and a forecast of all later ones.

The slots are those of the actual series. A forecast is a series, of which each slot has the mean; a number; or
`previous-day`: the value of the same time of day on the last day of which it is known. The series that the objective
minimises is forecast: the carbon intensity for `carbon`, else the tariff. All else is taken as known: a carbon
intensity that has a price, power caps.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from lpsched.bag.horizon.slots import slots_of
from lpsched.errors import InputIssue, InstanceError
from lpsched.model.series import KINDS, Series, moment_text, span_text
from lpsched.units import SECONDS_PER_DAY, counted

if TYPE_CHECKING:
    from lpsched.bag.horizon.slots import SiteSlots, Slots
    from lpsched.bag.horizon.solve import HorizonProblem
    from lpsched.bag.parts import NamedSite, Site

PREVIOUS_DAY: Final = "previous-day"


def forecast_key(objective: str) -> str:
    """Return which series is forecast."""
    return "carbon" if objective == "carbon" else "tariff"


def mean_between(series: Series, start: float, end: float) -> float:
    """Return the mean of a series between two moments; one value that holds all the time is returned as it is.

    >>> mean_between(Series((0, 3600), 7200, (0.25, 0.5)), 1800, 5400)
    0.375
    """
    first, last = bisect_right(series.times, start) - 1, bisect_right(series.times, math.ceil(end) - 1)
    edges = [start, *series.times[first + 1 : last], end]
    values = series.values[first:last]
    if len(set(values)) == 1:
        return values[0]
    parts = [value * (edges[k + 1] - edges[k]) for k, value in enumerate(values)]
    return math.fsum(parts) / (end - start)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known in each slot of a problem with actual series; see `knowledge_of`."""

    actual: HorizonProblem
    key: str
    given: tuple[tuple[float, ...] | None, ...]  # of each site: a forecast of each slot, made once; `None`: see `days`
    days: tuple[Series | None, ...]  # of each site: the actual series, for `previous-day`

    def at(self, k: int) -> HorizonProblem:
        """Return the problem as it is known when slot k begins: the values of later slots are forecasts."""
        slots = self.actual.slots
        known = [(site, self.values(s, k)) for s, site in enumerate(slots.sites)]
        if self.key == "carbon":
            sites = tuple(replace(site, carbon=values) for site, values in known)
        else:
            sites = tuple(replace(site, tariff=values) for site, values in known)
        return replace(self.actual, slots=replace(slots, sites=sites))

    def values(self, s: int, k: int) -> tuple[float, ...]:
        """Return the values of one site as they are known in slot k."""
        actual, given, series = actual_values(self.actual.slots.sites[s], self.key), self.given[s], self.days[s]
        if given is not None:
            return actual[: k + 1] + given[k + 1 :]
        if series is None:  # one number, always
            return actual
        slots = self.actual.slots
        spans = (_day_before(slots, h, k) for h in range(k + 1, slots.count))
        return actual[: k + 1] + tuple(mean_between(series, *span) for span in spans)

    def is_news(self, k: int) -> bool:
        """Return whether slot k and all later ones are not as they were known one slot before."""
        return any(self.values(s, k)[k:] != self.values(s, k - 1)[k:] for s in range(len(self.given)))

    def mean_error(self) -> float:
        """Return by how much the forecast that is made at the start is wrong, on average over time and sites."""
        edges, errors = self.actual.slots.edges, []
        for s, site in enumerate(self.actual.slots.sites):
            pairs = zip(self.values(s, 0), actual_values(site, self.key), strict=True)
            errors += [abs(one - two) * (edges[h + 1] - edges[h]) for h, (one, two) in enumerate(pairs)]
        return math.fsum(errors) / (edges[-1] * len(self.given))


def actual_values(site: SiteSlots, key: str) -> tuple[float, ...]:
    """Return the tariff or the carbon intensity of a site."""
    values = site.tariff if key == "tariff" else site.carbon
    assert values is not None, "the parser asks for it"
    return values


def _day_before(slots: Slots, h: int, k: int) -> tuple[float, float]:
    """Return when the time of day of slot h was last over, if slot k is the last one that is known."""
    assert slots.start is not None, "a series needs a start"
    start, end, known = slots.edges[h], slots.edges[h + 1], slots.edges[k + 1]
    days = max(1, math.ceil((end - known) / SECONDS_PER_DAY))
    return slots.start + start - days * SECONDS_PER_DAY, slots.start + end - days * SECONDS_PER_DAY


def knowledge_of(problem: HorizonProblem, forecast: float | Series | str) -> Knowledge:
    """Return what is known of a problem by a number, a series or `previous-day`.

    Raises
    ------
    InstanceError
        If nothing changes over time, or the forecast does not cover the horizon.
    """
    key, bag = forecast_key(problem.objective), problem.bag
    sites: tuple[Site | NamedSite, ...] = bag.sites or (bag.site,)
    actual = [value if isinstance(value := getattr(site, key), Series) else None for site in sites]
    if not any(actual):
        found, do = "one number for all times", f"give a series (--{key} FILE): there is nothing to forecast"
        raise InstanceError(bag.name, (InputIssue((key,), found, "values over time", do),))
    need = [name for name, weight in (("tariff", problem.weights.money), ("carbon", problem.weights.grams)) if weight]
    slots = slots_of(bag, horizon=problem.slots.horizon, start=problem.slots.start, need=need, join=False)
    problem = replace(problem, slots=slots)
    if isinstance(forecast, str):
        _require_day_before(problem, actual)
        return Knowledge(problem, key, (None,) * len(actual), tuple(actual))
    if bag.sites:
        found = f"one for all of {counted(len(bag.sites), 'site')}"
        issue = InputIssue(("forecast",), found, PREVIOUS_DAY, f"use --forecast {PREVIOUS_DAY}")
        raise InstanceError("", (issue,))
    values = _given(slots, forecast)
    try:
        for value in values:
            KINDS[key].values(value)
    except PydanticCustomError as error:
        raise InstanceError("", (InputIssue(("forecast",), **(error.context or {})),)) from None
    return Knowledge(problem, key, (values,), (None,))


def _given(slots: Slots, forecast: float | Series) -> tuple[float, ...]:
    """Return the forecast of each slot."""
    if not isinstance(forecast, Series):
        return (float(forecast),) * slots.count
    assert slots.start is not None, "a series needs a start"
    start, end = slots.start, slots.start + slots.horizon
    if start < forecast.start or end > forecast.end:
        needed = f"values for the horizon, {span_text(start, math.ceil(end))}"
        do = "change --start or --horizon, or extend the forecast"
        raise InstanceError("", (InputIssue(("forecast",), f"values from {forecast.span}", needed, do),))
    return tuple(mean_between(forecast, start + slots.edges[h], start + slots.edges[h + 1]) for h in range(slots.count))


def _require_day_before(problem: HorizonProblem, actual: list[Series | None]) -> None:
    """Raise an error if a series does not reach back as far as `previous-day` looks."""
    slots = problem.slots
    first = min((_day_before(slots, h, 0)[0] for h in range(1, slots.count)), default=math.inf)
    for series in actual:
        if series is not None and first < series.start:
            needed = f"values from {moment_text(first)} on, one day before the horizon"
            do = "begin a day later (--start), extend the series, or give a forecast as a file"
            issue = InputIssue((forecast_key(problem.objective),), f"values from {series.span}", needed, do)
            raise InstanceError(problem.bag.name, (issue,))
