"""A certificate of a day: a claim about its utility, and the prices that prove it. Here it is checked.

Take any prices: w_j(t) >= 0 of a second on a machine of type j, the same within each slot of time and 0
elsewhere, and lambda >= 0 of a joule. Machines are busy no longer than there is time, and no more than E
joules are taken; so no schedule earns more than

    sum over tasks of max(0, most gain at these prices)  +  sum_j m_j integral w_j  +  lambda E,

where a task's gain is what counts of its utility, less what counts of its joules at lambda, less what its
machine's time costs (`arrival_runs.py`). E is the energy constraint and the billionth by which sums of
doubles may be above it; without a constraint lambda is 0.

It is accepted exactly when it speaks of this very day (its hash), its slots follow each other, its prices
are not negative, and its claim is not below what they prove. Every task is looked at; of its columns, those
on which it could gain more than on another.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from lpsched.certificate.arrival_runs import Column, Falling, Slots, joule_price
from lpsched.certificate.claim import Verdict
from lpsched.certificate.fixed_point import ONE, PLACES, fixed
from lpsched.instance.period import COMPLETED

if TYPE_CHECKING:
    from lpsched.instance.day import Day
    from lpsched.instance.frozen import FrozenDict

FORMAT: Final = "lpsched-day-certificate/1"
OBJECTIVE: Final = "utility"


@dataclass(frozen=True, slots=True)
class DayCertificate:
    """What is claimed, and by which prices: utility for a second of a machine, and for a joule."""

    instance_name: str
    instance_hash: str
    bound: Fraction
    edges: tuple[Fraction, ...]  # of the slots, in seconds
    machine_prices: FrozenDict[str, tuple[Fraction, ...]]  # in each slot
    per_joule: Fraction


def check(day: Day, certificate: DayCertificate) -> Verdict:
    """Derive the bound again, from the day and the prices alone."""
    reasons = tuple(_objections(day, certificate))
    if reasons:
        return Verdict(certificate.bound, None, reasons)
    proved = proved_bound(day, certificate)
    tighter = certificate.bound < proved
    return Verdict(certificate.bound, proved, ("it claims more than its prices prove",) if tighter else ())


def proved_bound(day: Day, certificate: DayCertificate) -> Fraction:
    """Return the utility that no schedule exceeds."""
    edges = [_down(each) for each in certificate.edges]
    slots = [
        Slots(edges, [_down(each) for each in certificate.machine_prices[machine.name]])
        for machine in day.machine_types
    ]
    per_joule = _down(certificate.per_joule)
    total = sum(machine.count * own.sums[-1] for machine, own in zip(day.machine_types, slots, strict=True))
    if per_joule:
        total += per_joule * fixed(day.period.most_joules)
    total += sum(_gains(day, slots, per_joule)) << PLACES
    return Fraction(total, ONE * ONE)


def _gains(day: Day, slots: list[Slots], per_joule: int) -> list[int]:
    """Return what every task gains at most."""
    end = None if day.period.length_seconds is None else fixed(day.period.ends_at)
    alike: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    functions = memoryview(day.function_numbers).cast("q")
    for arrival, i, f in zip(day.arriving.arrival_seconds, day.arriving.type_numbers, functions, strict=True):
        alike[i][f].append(fixed(arrival))
    gains = []
    for i, by_function in alike.items():
        columns = [
            Column(
                slots[j],
                fixed(e),
                joule_price(per_joule, e, a),
                (fixed(day.period.begins_at), end),
                completed=day.period.edge == COMPLETED,
            )
            for (j, _), e, a in zip(day.modes, day.seconds.row(i), day.watts.row(i), strict=True)
            if e is not None and a is not None
        ]
        for f, arrivals in by_function.items():
            gains += _gains_of(Falling(day.functions[f]), columns, arrivals)
    return gains


def _gains_of(utility: Falling, columns: list[Column], arrivals: list[int]) -> list[int]:
    """Return what tasks of one type and utility function gain at most, the most promising columns first."""
    most = [utility.most(utility.interval(each.seconds), each.seconds) - each.price for each in columns]
    ranked = sorted(
        zip((m - each.cheapest for m, each in zip(most, columns, strict=True)), columns, strict=True),
        key=lambda pair: -pair[0],
    )
    gains = []
    for arrival in arrivals:
        best = 0
        for top, column in ranked:
            if top <= best:
                break
            best = column.whole_runs(arrival, utility, best)
        for top, column in zip(most, columns, strict=True):
            if top > best:
                best = column.cut_runs(arrival, utility, best)
        gains.append(best)
    return gains


def _down(exact: Fraction) -> int:
    return (exact.numerator << PLACES) // exact.denominator


def _objections(day: Day, certificate: DayCertificate) -> list[str]:
    """Return what is wrong with a certificate before any number is worked out."""
    found = []
    if certificate.instance_hash != day.content_hash:
        found.append(
            f"it is about another day: its hash is {certificate.instance_hash}, not {day.content_hash}"
        )
    edges, priced = certificate.edges, certificate.machine_prices
    if len(edges) <= 1 or any(one >= other for one, other in pairwise(edges)):
        found.append("its slots are none, or do not follow each other")
    names = {machine.name for machine in day.machine_types}
    found += [f"it has no prices for machine type {name!r}" for name in sorted(names - set(priced))]
    found += [
        f"it prices machine type {name!r}, which the day has not" for name in sorted(set(priced) - names)
    ]
    for name, prices in priced.items():
        if len(prices) != len(edges) - 1:
            found.append(f"it has {len(prices)} prices for machine type {name!r}, for {len(edges) - 1} slots")
        if any(price < 0 for price in prices):
            found.append(f"a price for machine type {name!r} is negative")
    if certificate.per_joule < 0:
        found.append("its price of a joule is negative")
    if certificate.per_joule > 0 and day.period.energy_constraint_joules is None:
        found.append("it has a price of a joule, but energy is not limited")
    return found
