"""What was measured of a schedule of clusters, as it appears in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.clusters import Cluster
    from lpsched.verify.clusters import ClustersMeasurement


def facts_of(measured: ClustersMeasurement | None) -> dict[str, Any]:
    """Return how busy clusters were and how long tasks waited; every value is `None` if nobody knows."""
    waits = None if measured is None else measured.waits
    return {
        "utilisation": None if measured is None else measured.utilisation,
        "wait_seconds": None
        if waits is None
        else {
            "mean": waits.mean_seconds,
            "median": waits.median_seconds,
            "p95": waits.percentile_95_seconds,
            "longest": waits.longest_seconds,
        },
        "mean_slowdown": None if waits is None else waits.mean_slowdown,
        "mean_bounded_slowdown": None if waits is None else waits.mean_bounded_slowdown,
    }


def busy_of(measured: ClustersMeasurement | None, clusters: Sequence[Cluster]) -> dict[str, float] | None:
    """Return the utilisation of each cluster by its name."""
    if measured is None or not measured.utilisation_by_cluster:
        return None
    names = (cluster.name for cluster in clusters)
    return dict(zip(names, measured.utilisation_by_cluster, strict=True))
