"""A certificate for a day or for clusters: the bound of what is earned, and the prices that prove it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.pipeline.arrivals import arrival_bound, certificate_of, cluster_bound

if TYPE_CHECKING:
    from lpsched.certificate.arrivals import DayCertificate
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
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
