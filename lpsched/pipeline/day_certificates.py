"""A certificate for a day or for clusters: the bound of what is earned, and the prices that prove it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.certificate.arrivals import DayCertificate, machines_of, objective_of, of_clusters
from lpsched.instance.clusters import Clusters
from lpsched.instance.frozen import FrozenDict
from lpsched.pipeline.arrivals import arrival_bound, cluster_bound

if TYPE_CHECKING:
    from lpsched.instance.day import Day
    from lpsched.relaxation import ArrivalPrices
    from lpsched.watch import Watch


def certify_day(day: Day, *, time_limit: float | None = None, watch: Watch | None = None) -> DayCertificate:
    """Find a bound that no schedule of the day can pass, and the prices that prove it.

    Raises
    ------
    MissingExtraError
        If Numba is not installed; who checks the certificate needs none.
    """
    found = arrival_bound(day, time_limit=time_limit, watch=watch)
    return certificate_of(day, found.prices, found.bound)


def certify_clusters(
    clusters: Clusters, *, time_limit: float | None = None, watch: Watch | None = None
) -> DayCertificate:
    """Find a bound that no schedule of tasks on the clusters can pass, and the prices that prove it.

    Raises
    ------
    MissingExtraError
        If Numba is not installed; who checks the certificate needs none.
    """
    found = cluster_bound(clusters, time_limit=time_limit, watch=watch)
    return certificate_of(clusters, found.prices, found.bound)


def certificate_of(instance: Day | Clusters, prices: ArrivalPrices, bound: float) -> DayCertificate:
    """Return the certificate that these prices make, claiming so much."""
    rows = (tuple(Fraction(each) for each in row) for row in prices.per_second.tolist())
    day = DayCertificate(
        instance_name=instance.name,
        instance_hash=instance.content_hash,
        bound=Fraction(bound),
        edges=tuple(Fraction(each) for each in prices.edges.tolist()),
        machine_prices=FrozenDict(zip(machines_of(instance), rows, strict=True)),
        per_joule=Fraction(prices.per_joule),
    )
    return of_clusters(day, objective_of(instance)) if isinstance(instance, Clusters) else day
