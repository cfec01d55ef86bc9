"""A certificate: a claim about a bag, and the prices that prove it. Here it is checked, from nothing else.

It is accepted exactly when it is about this very bag (its hash), its prices have the right signs, and its claim is not
tighter than what they prove. Other prices are another proof; a claim that says less is true as well. The claim is about
the bag under the certificate's own terms: whether these are the bag's (`terms_of`) is for the caller to compare.

The multipliers alone prove a bound in which tasks may be split (`bounds.py`). A least makespan and intervals
of makespans, if there are any, prove one in which tasks are whole (`patterns.py`); the better of both counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lpsched.bag.certificate.bounds import SECONDS_PER_HOUR, Multipliers, Prover, Shortest
from lpsched.bag.certificate.patterns import MOST_CELLS, Interval, IntervalProver, LeastMakespan, proved_by
from lpsched.bag.model import Bag
from lpsched.errors import InstanceError, quote, quoted_hash
from lpsched.model.fixed_point import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from lpsched.bag.model import Terms
    from lpsched.model.fields import FrozenDict

FORMAT: Final = "lpsched-certificate/2"
FORMATS: Final = ("lpsched-certificate/1", FORMAT)  # the first has neither least makespan nor intervals
OBJECTIVES: Final = ("profit", "makespan", "energy")


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is claimed, under which terms, and by which prices.

    The bound is in seconds, joules, or money per hour; the prices are those of `bounds.Multipliers`: per
    second of a machine, and per joule above idle. Least makespan and intervals are those of `patterns.py`;
    without intervals, the multipliers hold for all makespans from the least one on.
    """

    instance_name: str
    instance_hash: str
    objective: str
    unit: str
    bound: Fraction
    terms: Terms
    machine_prices: FrozenDict[str, Fraction]
    cap_price: Fraction
    least_makespan: LeastMakespan | None = None
    intervals: tuple[Interval, ...] | None = None

    def __repr__(self) -> str:
        """Return the claim."""
        return f"<Certificate of {self.instance_name!r}: {self.objective} {float(self.bound)} {self.unit}>"


def check(bag: Bag | Path | str, certificate: Certificate) -> Verdict:
    """Derive the bound again, from the bag and the prices alone."""
    bag = Bag.given(bag)
    reasons = list(_objections(bag, certificate))
    if reasons:
        return Verdict(certificate.bound, None, tuple(reasons))
    prices = Multipliers(
        tuple(certificate.machine_prices[machine.name] for machine in bag.machine_types), certificate.cap_price
    )
    bag, objective = certificate.terms.applied_to(bag), certificate.objective
    prover = Prover(bag)
    if lacking := _lacking(bag, prover, certificate):
        return Verdict(certificate.bound, None, (lacking,))
    proved = _proved_by_prices(prover, prices, objective)
    if certificate.least_makespan is not None or certificate.intervals is not None:
        by_intervals = _proved_by_intervals(bag, certificate, prover)
        if not isinstance(by_intervals, Fraction):
            return Verdict(certificate.bound, None, by_intervals)
        found = [proved, by_intervals]
        if certificate.least_makespan is not None and certificate.least_makespan.task_types is not None:
            shortest = _shortest(bag, certificate.least_makespan)
            if shortest.holds(bag):
                found.append(_proved_by_prices(Prover(bag, None, shortest), prices, objective))
        proved = min(found) if objective == "profit" else max(found)
    tighter = certificate.bound < proved if objective == "profit" else certificate.bound > proved
    reason = "it claims more than its prices prove"
    return Verdict(certificate.bound, proved, (reason,) if tighter else ())


def _lacking(bag: Bag, prover: Prover, certificate: Certificate) -> str | None:
    """Return what a claim or its prices count, and the bag, under its terms, does not have."""
    is_profit = certificate.objective == "profit"
    if is_profit and terms_of(bag, "profit")["price"] is None:
        return "it is about profit, but the bag has no price"
    if is_profit and (bag.prices.electricity_per_kwh is None or bag.sites):
        return "it is about profit, but electricity has no price, or no single one"
    if certificate.cap_price and prover.headroom is None:
        return "it has a price of the power cap, but there is no cap"
    counts_joules = certificate.objective == "energy" or certificate.cap_price
    if bag.watts is None and (counts_joules or (is_profit and prover.per_joule)):
        return "it counts energy, but the bag has no watts"
    return None


def _proved_by_prices(prover: Prover, prices: Multipliers, objective: str) -> Fraction:
    """Return the bound by prices alone."""
    if objective == "profit":
        return SECONDS_PER_HOUR * prover.rate(prices)
    return prover.energy(prices) if objective == "energy" else prover.makespan(prices)


def _shortest(bag: Bag, least: LeastMakespan) -> Shortest:
    """Return a least makespan by task types, by their places."""
    places = {task.name: i for i, task in enumerate(bag.task_types)}
    return Shortest(least.seconds, tuple(places[name] for name in least.task_types or () if name in places))


def _proved_by_intervals(bag: Bag, certificate: Certificate, prover: Prover) -> Fraction | tuple[str, ...]:
    """Return the bound by whole tasks, or why there is none; for a bag under its terms."""
    least, intervals = certificate.least_makespan, certificate.intervals
    if intervals is None:
        begin = Fraction(0) if least is None else least.seconds
        intervals = (Interval(begin, None, None, certificate.machine_prices, certificate.cap_price),)
    wrong = [] if least is None else _wrong_least(bag, least)
    wrong += _wrong_intervals(bag, intervals)
    if wrong:
        return tuple(wrong)
    found = proved_by(IntervalProver(bag, certificate.objective, prover), least, intervals)
    return (found,) if isinstance(found, str) else found


def _objections(bag: Bag, certificate: Certificate) -> list[str]:
    """Return what is wrong with a certificate before any number is worked out."""
    found = []
    if certificate.instance_hash != bag.content_hash:
        found.append(
            f"it is about another bag: its hash is {quoted_hash(certificate.instance_hash)}, not {bag.content_hash}"
        )
    if certificate.objective not in OBJECTIVES:
        found.append(f"its objective is {quote(certificate.objective)}, not one of {', '.join(OBJECTIVES)}")
    elif certificate.unit != unit_of(bag, certificate.objective):
        found.append(f"its unit is {quote(certificate.unit)}, not {unit_of(bag, certificate.objective)!r}")
    names = {machine.name for machine in bag.machine_types}
    priced = set(certificate.machine_prices)
    found += [f"it has no price for machine type {name!r}" for name in sorted(names - priced)]
    found += [f"it prices machine type {quote(name)}, which the bag does not have" for name in sorted(priced - names)]
    for name, price in certificate.machine_prices.items():
        if price < 0:
            found.append(f"its price for machine type {quote(name)} is negative")
    if certificate.cap_price < 0:
        found.append("its price of the power cap is negative")
    try:
        certificate.terms.applied_to(bag)
    except InstanceError as error:
        found += [str(issue) for issue in error.issues]
    return found


def _wrong_least(bag: Bag, least: LeastMakespan) -> list[str]:
    """Return what is wrong with the form of a least makespan."""
    found, types, known = [], least.task_types, {task.name for task in bag.task_types}
    if types is not None and (not types or set(types) - known or len(set(types)) < len(types)):
        found.append("its least makespan names no task types, or one twice, or one that the bag does not have")
    if least.machine_prices is not None:
        found += _wrong_prices(bag, "its least makespan", least.machine_prices, least.cap_price)
    return found


def _wrong_intervals(bag: Bag, intervals: Sequence[Interval]) -> list[str]:
    """Return what is wrong with the form of intervals; the bag is under its terms."""
    found = [] if intervals else ["it has no intervals"]
    types = {task.name for task in bag.task_types}
    for number, each in enumerate(intervals, start=1):
        where, packed = f"its interval {number}", each.task_prices is not None
        if number > 1 and each.start != intervals[number - 2].end:
            found.append(f"{where} does not begin where the one before ends")
        if each.start < 0 or (each.end is not None and each.end <= each.start):
            found.append(f"{where} is empty, or begins before 0")
        found += _wrong_prices(bag, where, each.machine_prices, each.cap_price)
        if each.task_prices is not None and set(each.task_prices) != types:
            found.append(f"{where} does not price each task type of the bag, and no other")
        least, most = (1, MOST_CELLS) if packed else (0, 0)
        if not least <= each.cells <= most:
            found.append(f"{where} needs {least} to {most:,} cells")
        if packed and each.end is None and bag.site.deadline_seconds is None:
            found.append(f"{where} has no end, so it must not have task prices")
    return found


def _wrong_prices(bag: Bag, where: str, prices: Mapping[str, Fraction], cap: Fraction) -> list[str]:
    found = []
    if set(prices) != {machine.name for machine in bag.machine_types}:
        found.append(f"{where} does not price each machine type of the bag, and no other")
    if cap < 0 or any(each < 0 for each in prices.values()):
        found.append(f"{where} has a negative price")
    if cap and (bag.site.average_power_cap_watts is None or bag.watts is None):
        found.append(f"{where} has a price of the power cap, but there is no cap, or no watts")
    return found


def terms_of(bag: Bag, objective: str) -> dict[str, Fraction | None]:
    """Return the numbers of a bag that terms replace, as far as a claim depends on them: the price only of profit."""
    site = bag.site
    found = {"power_cap_watts": site.average_power_cap_watts, "deadline_seconds": site.deadline_seconds}
    terms = {key: None if value is None else Fraction(value) for key, value in found.items()}
    if objective != "profit":
        return terms
    has_price = bag.prices.per_bag is not None or bag.prices.per_task
    return {"price": Prover.revenue(bag) if has_price else None, **terms}


def unit_of(bag: Bag, objective: str) -> str:
    """Return the unit of a bound of this objective."""
    return {"makespan": "seconds", "energy": "joules"}.get(objective, f"{bag.prices.currency}/hour")
