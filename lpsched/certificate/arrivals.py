"""A certificate of a day or of clusters: a claim about what is earned, and the prices that prove it; checked.

Take any prices: w_j(t) >= 0 of a second on a machine of type j (a node of cluster j), the same within each
slot of time and 0 elsewhere, and lambda >= 0 of a joule. Machines are busy no longer than there is time, and
no more than E joules are taken; so no schedule earns more than

    sum over tasks of max(0, most gain at these prices)  +  sum_j m_j integral w_j  +  lambda E,

where a task's gain is what counts of its utility, less what counts of its joules at lambda, less what its
machines' time costs (`arrival_runs.py`). Where tasks cost what they wait, all of them must run: there is no
max with 0, a gain is minus a cost, and so is what is earned. E is the energy constraint and the billionth by
which sums of doubles may be above it; without a constraint lambda is 0. A task runs for as long as it really
takes, whatever was requested for it.

It is accepted exactly when it speaks of this very day or these clusters (their hash), its slots follow each
other, its prices are not negative, and its claim is not below what they prove. `arrival_gains.py` looks at
every task.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from lpsched.certificate.arrival_gains import gains
from lpsched.certificate.arrival_runs import Slots
from lpsched.certificate.fixed_point import ONE, PLACES, Verdict, fixed
from lpsched.instance.clusters import Clusters

if TYPE_CHECKING:
    from lpsched.instance.day import Day
    from lpsched.instance.frozen import FrozenDict

FORMAT: Final = "lpsched-day-certificate/1"
CLUSTERS_FORMAT: Final = "lpsched-clusters-certificate/1"
FORMATS: Final = (FORMAT, CLUSTERS_FORMAT)
OBJECTIVE: Final = "utility"
WAITING: Final = "waiting"  # minus what it costs


@dataclass(frozen=True, slots=True)
class DayCertificate:
    """What is claimed, and by which prices: utility for a second of a machine, and for a joule."""

    instance_name: str
    instance_hash: str
    bound: Fraction
    edges: tuple[Fraction, ...]  # of the slots, in seconds
    machine_prices: FrozenDict[str, tuple[Fraction, ...]]  # in each slot
    per_joule: Fraction


@dataclass(frozen=True, slots=True)
class ClustersCertificate(DayCertificate):
    """Likewise of clusters: the prices are those of a node's second in each cluster."""

    objective: str = OBJECTIVE


def of_clusters(certificate: DayCertificate, objective: str) -> ClustersCertificate:
    """Return the same claim and prices, about clusters."""
    return ClustersCertificate(
        certificate.instance_name,
        certificate.instance_hash,
        certificate.bound,
        certificate.edges,
        certificate.machine_prices,
        certificate.per_joule,
        objective,
    )


def check(instance: Day | Clusters, certificate: DayCertificate) -> Verdict:
    """Derive the bound again, from the instance and the prices alone."""
    reasons = tuple(_objections(instance, certificate))
    if reasons:
        return Verdict(certificate.bound, None, reasons)
    proved = proved_bound(instance, certificate)
    tighter = certificate.bound < proved
    return Verdict(certificate.bound, proved, ("it claims more than its prices prove",) if tighter else ())


def objective_of(instance: Day | Clusters) -> str:
    """Return what a bound of the instance is about."""
    return WAITING if isinstance(instance, Clusters) and instance.waiting is not None else OBJECTIVE


def machines_of(instance: Day | Clusters) -> dict[str, int]:
    """Return how many machines there are of each type, or nodes of each cluster."""
    if isinstance(instance, Clusters):
        return {cluster.name: cluster.nodes for cluster in instance.clusters}
    return {machine.name: machine.count for machine in instance.machine_types}


def proved_bound(instance: Day | Clusters, certificate: DayCertificate) -> Fraction:
    """Return what no schedule exceeds."""
    edges = [_down(each) for each in certificate.edges]
    counts = machines_of(instance)
    slots = [Slots(edges, [_down(each) for each in certificate.machine_prices[name]]) for name in counts]
    per_joule = _down(certificate.per_joule)
    total = sum(count * own.sums[-1] for count, own in zip(counts.values(), slots, strict=True))
    if per_joule:
        total += per_joule * fixed(instance.period.most_joules)
    total += sum(gains(instance, slots, per_joule)) << PLACES
    return Fraction(total, ONE * ONE)


def _down(exact: Fraction) -> int:
    return (exact.numerator << PLACES) // exact.denominator


def _objections(instance: Day | Clusters, certificate: DayCertificate) -> list[str]:
    """Return what is wrong with a certificate before any number is worked out."""
    many = isinstance(instance, Clusters)
    whole, part, has = ("clusters", "cluster", "have") if many else ("day", "machine type", "has")
    found = []
    if many != isinstance(certificate, ClustersCertificate):
        found.append(f"it is not about {'clusters' if many else 'a day'}")
    elif certificate.instance_hash != instance.content_hash:
        other = "other clusters" if many else "another day"
        found.append(
            f"it is about {other}: its hash is {certificate.instance_hash}, not {instance.content_hash}"
        )
    if isinstance(certificate, ClustersCertificate) and certificate.objective != objective_of(instance):
        found.append(f"its objective is {certificate.objective!r}, not {objective_of(instance)!r}")
    edges, priced = certificate.edges, certificate.machine_prices
    if len(edges) <= 1 or any(one >= other for one, other in pairwise(edges)):
        found.append("its slots are none, or do not follow each other")
    names = set(machines_of(instance))
    found += [f"it has no prices for {part} {name!r}" for name in sorted(names - set(priced))]
    found += [
        f"it prices {part} {name!r}, which the {whole} {has} not" for name in sorted(set(priced) - names)
    ]
    for name, prices in priced.items():
        if len(prices) != len(edges) - 1:
            found.append(f"it has {len(prices)} prices for {part} {name!r}, for {len(edges) - 1} slots")
        if any(price < 0 for price in prices):
            found.append(f"a price for {part} {name!r} is negative")
    if certificate.per_joule < 0:
        found.append("its price of a joule is negative")
    if certificate.per_joule > 0 and instance.period.energy_constraint_joules is None:
        found.append("it has a price of a joule, but energy is not limited")
    return found
