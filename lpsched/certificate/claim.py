"""A certificate: a claim about a bag, and the prices that prove it. Here it is checked, from nothing else.

It is accepted exactly when it speaks of this very bag (its hash), its prices have the right signs, and its
claim is not tighter than what they prove. Other prices are another proof; a claim that says less is true as
well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.certificate.bounds import SECONDS_PER_HOUR, Multipliers, Prover
from lpsched.errors import InstanceError

if TYPE_CHECKING:
    from fractions import Fraction

    from lpsched.instance import Bag
    from lpsched.instance.frozen import FrozenDict
    from lpsched.instance.terms import Terms

FORMAT: Final = "lpsched-certificate/1"
OBJECTIVES: Final = ("profit", "makespan", "energy")


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is claimed, under which terms, and by which prices.

    The bound is in seconds, joules, or money per hour; the prices are those of `bounds.Multipliers`: per
    second of a machine, and per joule above idle.
    """

    instance_name: str
    instance_hash: str
    objective: str
    unit: str
    bound: Fraction
    terms: Terms
    machine_prices: FrozenDict[str, Fraction]
    cap_price: Fraction


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a certificate is accepted; if not, why. `proved` is what its prices prove, where they can."""

    claimed: Fraction
    proved: Fraction | None
    reasons: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        """Whether the claim is proved."""
        return not self.reasons


def check(bag: Bag, certificate: Certificate) -> Verdict:
    """Derive the bound again, from the bag and the prices alone."""
    reasons = list(_objections(bag, certificate))
    if reasons:
        return Verdict(certificate.bound, None, tuple(reasons))
    prices = Multipliers(
        tuple(certificate.machine_prices[machine.name] for machine in bag.machine_types),
        certificate.cap_price,
    )
    prover = Prover(certificate.terms.applied_to(bag))
    if certificate.cap_price and prover.headroom is None:
        return Verdict(certificate.bound, None, ("it has a price of the power cap, but there is no cap",))
    counts_joules = certificate.objective == "energy" or certificate.cap_price
    if bag.watts is None and (counts_joules or (certificate.objective == "profit" and prover.per_joule)):
        return Verdict(certificate.bound, None, ("it counts energy, but the bag has no watts",))
    if certificate.objective == "profit":
        proved = SECONDS_PER_HOUR * prover.rate(prices)
        tighter = certificate.bound < proved
    else:
        energy = certificate.objective == "energy"
        proved = prover.cost(prices, 1.0, 0.0) if energy else prover.makespan(prices)
        tighter = certificate.bound > proved
    reason = "it claims more than its prices prove"
    return Verdict(certificate.bound, proved, (reason,) if tighter else ())


def _objections(bag: Bag, certificate: Certificate) -> list[str]:
    """Return what is wrong with a certificate before any number is worked out."""
    found = []
    if certificate.instance_hash != bag.content_hash:
        found.append(
            f"it is about another bag: its hash is {certificate.instance_hash}, not {bag.content_hash}"
        )
    if certificate.objective not in OBJECTIVES:
        found.append(f"its objective is {certificate.objective!r}, not one of {', '.join(OBJECTIVES)}")
    elif certificate.unit != unit_of(bag, certificate.objective):
        found.append(f"its unit is {certificate.unit!r}, not {unit_of(bag, certificate.objective)!r}")
    names = {machine.name for machine in bag.machine_types}
    priced = set(certificate.machine_prices)
    found += [f"it has no price for machine type {name!r}" for name in sorted(names - priced)]
    found += [f"it prices machine type {name!r}, which the bag has not" for name in sorted(priced - names)]
    for name, price in certificate.machine_prices.items():
        if price < 0:
            found.append(f"its price for machine type {name!r} is negative")
    if certificate.cap_price < 0:
        found.append("its price of the power cap is negative")
    try:
        certificate.terms.applied_to(bag)
    except InstanceError as error:
        found += [str(fault) for fault in error.faults]
    return found


def unit_of(bag: Bag, objective: str) -> str:
    """Return what a bound of this objective is told in."""
    return {"makespan": "seconds", "energy": "joules"}.get(objective, f"{bag.prices.currency}/hour")
