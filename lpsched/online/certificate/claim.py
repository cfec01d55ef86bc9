"""A certificate of a day or of clusters, checked from its prices alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

from lpsched.errors import quote, quoted_hash
from lpsched.model.fixed_point import ONE, PLACES, Verdict, fixed
from lpsched.online.certificate.runs import (
    Column,
    Falling,
    Rising,
    Run,
    Slots,
    Span,
    Steps,
    TooManyStepsError,
    joule_price,
)
from lpsched.online.clusters import Clusters
from lpsched.online.parts import COMPLETED, Period

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.model.fields import FrozenDict
    from lpsched.online.day import Day


# Tasks that run equally long are looked at together, and their most promising columns first.
FEW: Final = 3  # tasks for which corners are not listed
MOST_LISTED: Final = 2_000_000  # corners of a task type on all columns, some 160 bytes each; more are not listed either
NOTHING: Final = -(1 << 4096)  # less than any gain: for tasks that must run


def gains(instance: Day | Clusters, slots: list[Slots], per_joule: int) -> Iterator[tuple[int | None, int]]:
    """Yield the one machine type (or cluster) that can run a task, if it is one, and what the task gains at most."""
    if isinstance(instance, Clusters):
        yield from _of_clusters(instance, slots, per_joule)
    else:
        yield from ((None, gain) for gain in _of_day(instance, slots, per_joule))


def _of_day(day: Day, slots: list[Slots], per_joule: int) -> Iterator[int]:
    span, listed = _span(day.period), _fit(slots, len(day.modes))
    functions = memoryview(day.function_numbers).cast("q")
    for i, by_function in _alike(day.arriving.arrival_seconds, day.arriving.type_numbers, functions).items():
        columns = [
            Column(slots[j], Run(fixed(e), joule_price(per_joule, e, a)), span, listed=listed)
            for (j, _), e, a in zip(day.modes, day.seconds.row(i), day.watts.row(i), strict=True)
            if e is not None and a is not None
        ]
        for f, arrivals in by_function.items():
            yield from _gains_of(Falling(day.functions[f]), columns, arrivals, 0)


def _of_clusters(clusters: Clusters, slots: list[Slots], per_joule: int) -> Iterator[tuple[int | None, int]]:
    span, waiting, fit = _span(clusters.period), clusters.waiting, _fit(slots, len(clusters.modes))
    kinds = memoryview(clusters.kind_numbers).cast("q")
    functions = kinds if waiting is not None else memoryview(clusters.function_numbers).cast("q")
    for i, by_function in _alike(clusters.arriving.arrival_seconds, kinds, functions).items():
        kind = clusters.kinds[i]
        listed = fit and sum(len(arrivals) for arrivals in by_function.values()) > FEW
        columns, fastest, places = [], float("inf"), set()
        for column, (c, _) in enumerate(clusters.modes):
            seconds, nodes = clusters.seconds_of(kind, column), clusters.nodes_of(kind, column)
            if seconds is None or nodes is None:
                continue
            fastest = min(fastest, seconds)
            places.add(c)
            price = joule_price(per_joule, seconds, clusters.watts_of(kind, column) or 0.0)
            run = Run(fixed(seconds), price, nodes, waiting is not None)
            columns.append(Column(slots[c], run, span, listed=listed))
        place = min(places) if len(places) == 1 else None
        for f, arrivals in by_function.items():
            if waiting is None:
                found = _gains_of(Falling(clusters.functions[f]), columns, arrivals, 0)
            else:
                found = _gains_of(Rising(waiting, fastest, kind.cores), columns, arrivals, NOTHING)
            yield from ((place, gain) for gain in found)


def _fit(slots: list[Slots], columns: int) -> bool:
    """Return whether the corners of a task type on all columns can be listed: two for each edge."""
    return 2 * len(slots[0].edges) * columns <= MOST_LISTED


def _span(period: Period) -> Span:
    end = None if period.length_seconds is None else fixed(period.ends_at)
    return Span(fixed(period.begins_at), end, period.edge == COMPLETED)


def _alike(
    arrivals: memoryview[float], types: memoryview[int], functions: memoryview[int]
) -> dict[int, dict[int, list[int]]]:
    """Return the arrivals of tasks by their type, then by their utility function."""
    found: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for arrival, i, f in zip(arrivals, types, functions, strict=True):
        found[i][f].append(fixed(arrival))
    return found


def _gains_of(utility: Falling | Rising, columns: list[Column], arrivals: list[int], nothing: int) -> Iterator[int]:
    """Yield what tasks of one type and utility function gain at most; `nothing` if they do not run."""
    most = [column.top(utility) for column in columns]
    ranked = sorted(
        zip((m - each.cheapest for m, each in zip(most, columns, strict=True)), columns, strict=True),
        key=lambda pair: -pair[0],
    )
    for arrival in arrivals:
        best = nothing
        for top, column in ranked:
            if top <= best:
                break
            best = column.whole_runs(arrival, utility, best)
        for top, column in zip(most, columns, strict=True):
            if top > best:
                best = column.cut_runs(arrival, utility, best)
        yield best


# A certificate of a day or of clusters: a claim about what is earned, and the prices that prove it; checked.
#
# Take any prices: w_j(t) >= 0 of a second on a machine of type j (a node of cluster j), the same within each
# slot of time and 0 elsewhere, and lambda >= 0 of a joule. Machines are busy no longer than there is time,
# and no more than E joules are taken; so no schedule earns more than
#     sum over tasks of max(0, most gain at these prices)  +  sum_j m_j integral w_j  +  lambda E,
# where a task's gain is what counts of its utility, less what counts of its joules at lambda, less what its machines'
# time costs (`runs.py`). Where tasks cost what they wait, all of them must run: there is no max with 0, a gain is minus
# a cost, and so is what is earned. E is the energy constraint and the billionth by which sums of doubles may be above
# it; without a constraint lambda is 0. A task runs for as long as it really takes, whatever was requested for it.
#
# It is accepted exactly when it is about this very day or these clusters (their hash), its slots follow each other, its
# prices are not negative, and its claim is not below what they prove. `gains` looks at every task.
FORMAT: Final = "lpsched-day-certificate/1"
CLUSTERS_FORMAT: Final = "lpsched-clusters-certificate/1"
FORMATS: Final = (FORMAT, CLUSTERS_FORMAT)
OBJECTIVE: Final = "utility"
WAITING: Final = "waiting"  # minus what it costs
MOST_STEPS: Final = 100_000_000  # corners that a certificate is checked at: ten minutes; ours take some million
MOST_NUMBERS: Final = 1_000_000  # edges and prices; ours have some ten thousand
MOST_REASONS: Final = 20  # for a rejection


@dataclass(frozen=True, slots=True)
class DayCertificate:
    """What is claimed, and by which prices: utility for a second of a machine, and for a joule."""

    instance_name: str
    instance_hash: str
    bound: Fraction
    edges: tuple[Fraction, ...]  # of the slots, in seconds
    machine_prices: FrozenDict[str, tuple[Fraction, ...]]  # in each slot
    per_joule: Fraction

    def __repr__(self) -> str:
        """Return the claim."""
        return f"<{type(self).__name__} of {self.instance_name!r}: {float(self.bound)}>"


@dataclass(frozen=True, slots=True)
class ClustersCertificate(DayCertificate):
    """Likewise of clusters: the prices are those of a node's second in each cluster."""

    objective: str = OBJECTIVE
    __repr__ = DayCertificate.__repr__


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
    reasons = tuple(islice(_objections(instance, certificate), MOST_REASONS))
    if reasons:
        return Verdict(certificate.bound, None, reasons)
    try:
        proved, _ = proved_parts(instance, certificate, Steps(MOST_STEPS))
    except TooManyStepsError:
        reason = f"its slots are too many: checking takes more than {MOST_STEPS:,} steps"
        return Verdict(certificate.bound, None, (reason,))
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
    return proved_parts(instance, certificate)[0]


def proved_parts(
    instance: Day | Clusters, certificate: DayCertificate, steps: Steps | None = None
) -> tuple[Fraction, tuple[Fraction, ...] | None]:
    """Return what no schedule exceeds, and likewise what the tasks of each cluster earn, if each can run in one only.

    Such parts are a bound each, by the same proof for one cluster; there are none where energy, which is shared, has a
    price, and none of a day.
    """
    edges = [_down(each) for each in certificate.edges]
    counts = machines_of(instance)
    slots = [Slots(edges, [_down(each) for each in certificate.machine_prices[name]], steps) for name in counts]
    per_joule = _down(certificate.per_joule)
    parts = [count * own.sums[-1] for count, own in zip(counts.values(), slots, strict=True)]
    shared = per_joule * fixed(instance.period.most_joules) if per_joule else 0
    is_apart = isinstance(instance, Clusters) and not per_joule
    for place, gain in gains(instance, slots, per_joule):
        is_apart = is_apart and place is not None
        parts[place or 0] += gain << PLACES
    apart = tuple(Fraction(part, ONE * ONE) for part in parts)
    return Fraction(sum(parts) + shared, ONE * ONE), apart if is_apart else None


def _down(exact: Fraction) -> int:
    return (exact.numerator << PLACES) // exact.denominator


def _objections(instance: Day | Clusters, certificate: DayCertificate) -> Iterator[str]:
    """Yield what is wrong with a certificate before any number is worked out."""
    many = isinstance(instance, Clusters)
    whole, part, do = ("clusters", "cluster", "do") if many else ("day", "machine type", "does")
    if many != isinstance(certificate, ClustersCertificate):
        yield f"it is not about {'clusters' if many else 'a day'}"
    elif certificate.instance_hash != instance.content_hash:
        other = "other clusters" if many else "another day"
        yield f"it is about {other}: its hash is {quoted_hash(certificate.instance_hash)}, not {instance.content_hash}"
    if isinstance(certificate, ClustersCertificate) and certificate.objective != objective_of(instance):
        yield f"its objective is {quote(certificate.objective)}, not {objective_of(instance)!r}"
    names, priced = set(machines_of(instance)), certificate.machine_prices
    yield from (f"it has no prices for {part} {name!r}" for name in sorted(names - set(priced)))
    for name in sorted(set(priced) - names):
        yield f"it prices {part} {quote(name)}, which the {whole} {do} not have"
    yield from _objections_to_prices(certificate, part)
    if certificate.per_joule > 0 and instance.period.energy_constraint_joules is None:
        yield "it has a price of a joule, but energy is not limited"


def _objections_to_prices(certificate: DayCertificate, part: str) -> Iterator[str]:
    edges, priced = certificate.edges, certificate.machine_prices
    if (numbers := len(edges) + sum(map(len, priced.values()))) > MOST_NUMBERS:
        yield f"it has {numbers:,} edges and prices, where at most {MOST_NUMBERS:,} are checked"
    if len(edges) <= 1 or any(one >= other for one, other in pairwise(edges)):
        yield "its slots are none, or do not follow each other"
    for name, prices in priced.items():
        if len(prices) != len(edges) - 1:
            yield f"it has {len(prices)} prices for {part} {quote(name)}, for {len(edges) - 1} slots"
        if any(price < 0 for price in prices):
            yield f"a price for {part} {quote(name)} is negative"
    if certificate.per_joule < 0:
        yield "its price of a joule is negative"
