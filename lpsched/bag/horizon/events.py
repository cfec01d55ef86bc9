"""Events in which less power is drawn: at which site, in which slots, and less than which baseline."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.horizon.answers import at_mean
from lpsched.bag.horizon.curves import WATTS_PER_KW
from lpsched.bag.horizon.solve import HorizonProblem, at_once, verified
from lpsched.errors import InputIssue, InstanceError, NotFoundError, quote
from lpsched.model.fields import describe
from lpsched.model.series import zone_named
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.horizon.schedule import Plan
    from lpsched.bag.horizon.slots import Slots
    from lpsched.cancellation import CancelToken
    from lpsched.lp.program import Solver

BASELINES: Final = {
    "mean": "a plan at the mean price",
    "at-once": "all at once, from the start",
    "plan": "the plan of least cost",
}
RANGE: Final = re.compile(r"(\d{1,2})(?::(\d{2}))?-(\d{1,2})(?::(\d{2}))?")
HOURS_OF_DAY: Final = 24
MINUTES: Final = 60


def site_named(problem: HorizonProblem, name: str | None) -> int:
    """Return the number of a site; the only one needs no name."""
    names = [site.name for site in problem.slots.sites]
    if name is None and len(names) == 1:
        return 0
    if name not in names:
        found = "nothing" if name is None else describe(name)
        issue = InputIssue(("site",), found, f"one of {', '.join(map(quote, names))}", "name the site (--site)")
        raise InstanceError(problem.bag.name, (issue,))
    return names.index(name)


def event_slots(problem: HorizonProblem, hours: str | Sequence[int]) -> tuple[HorizonProblem, list[int]]:
    """Return the problem with slots that end where the given hours do, and the numbers of the chosen slots."""
    slots = problem.slots
    if not isinstance(hours, str):
        chosen = sorted(set(hours))
        if not chosen or chosen[0] < 0 or chosen[-1] >= slots.count:
            issue = InputIssue(
                ("hours",), describe(list(hours)), f"numbers of slots from 0 to {slots.count - 1}", "correct it"
            )
            raise InstanceError(problem.bag.name, (issue,))
        return problem, chosen
    spans = _spans(problem, hours)
    edges = {edge for start, end in spans for edge in (start, end, *np.arange(start, end, SECONDS_PER_HOUR).tolist())}
    if not edges <= set(slots.edges):
        if any(site.cap_watts is not None or site.demand_charge for site in slots.sites):
            issue = InputIssue(
                ("hours",), quote(hours), "times at which slots begin or end", "power is averaged over slots"
            )
            raise InstanceError(problem.bag.name, (issue,))
        slots = split(slots, edges)
    inside = [
        h
        for h in range(slots.count)
        if any(start <= slots.edges[h] and slots.edges[h + 1] <= end for start, end in spans)
    ]
    if not inside:
        issue = InputIssue(("hours",), quote(hours), "some time within the horizon", "change --hours or --start")
        raise InstanceError(problem.bag.name, (issue,))
    return replace(problem, slots=slots), inside


def _spans(problem: HorizonProblem, hours: str) -> list[tuple[float, float]]:
    """Return the given local times of each day as seconds from the start, within the horizon."""
    slots, zone = problem.slots, zone_named(problem.bag.site.time_zone) or UTC
    ranges = []
    for text in hours.split(","):
        found = RANGE.fullmatch(text.strip())
        numbers = [int(each or 0) for each in found.groups()] if found is not None else [HOURS_OF_DAY + 1, 0, 0, 0]
        first, last = numbers[0] * MINUTES + numbers[1], numbers[2] * MINUTES + numbers[3]
        if max(numbers[1], numbers[3]) >= MINUTES or max(first, last) > HOURS_OF_DAY * MINUTES or first == last:
            issue = InputIssue(("hours",), quote(hours), "hours of the day", "write them as 17-20, or 7-9,17:30-20")
            raise InstanceError("", (issue,))
        ranges.append((first, last if last > first else last + HOURS_OF_DAY * MINUTES))
    if slots.start is None:
        issue = InputIssue(
            ("start",), "nothing", "when the horizon begins: hours are times of day", "give it (--start)"
        )
        raise InstanceError(problem.bag.name, (issue,))
    day, spans = datetime.fromtimestamp(slots.start, zone).date() - timedelta(days=1), []
    while (midnight := datetime.combine(day, time(), zone)).timestamp() < slots.start + slots.horizon:
        for minutes in ranges:
            begin, end = (
                (midnight + timedelta(minutes=each)).timestamp() - slots.start for each in minutes
            )  # local clock times: Python adds them as the clock shows them
            if max(begin, 0.0) < min(end, slots.horizon):
                spans.append((max(begin, 0.0), min(end, slots.horizon)))
        day += timedelta(days=1)
    return spans


def split(slots: Slots, edges: set[float]) -> Slots:
    """Return the same slots, but cut at some more edges."""
    cut = sorted({*slots.edges, *edges})
    of = [bisect_left(slots.edges, end) - 1 for end in cut[1:]]

    def some(values: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(values[h] for h in of)

    sites = tuple(
        replace(site, tariff=some(site.tariff), carbon=None if site.carbon is None else some(site.carbon))
        for site in slots.sites
    )
    return replace(slots, edges=tuple(cut), sites=sites)


def baseline_watts(  # noqa: PLR0913, PLR0917 - how to make a plan
    problem: HorizonProblem,
    site: int,
    wanted: str | float,
    solver: Solver,
    cancel: CancelToken,
    best: Plan | None,
    seed: int,
) -> list[float]:
    """Return the average watts at the meter in each slot."""
    slots = problem.slots
    if not isinstance(wanted, str):
        return [wanted * WATTS_PER_KW] * slots.count
    made = (
        best
        if wanted == "plan"
        else at_once(problem, solver)
        if wanted == "at-once"
        else at_mean(problem, solver, cancel, seed)
    )
    if made is None:
        raise NotFoundError(f"{problem.bag.name}: no plan was found for the baseline; try more effort, or give kW")
    joules, pue = verified(problem, made).joules[site], Fraction(slots.sites[site].pue)
    return [float(each * pue / Fraction(slots.edges[h + 1] - slots.edges[h])) for h, each in enumerate(joules)]
