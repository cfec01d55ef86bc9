"""The energy filters of clusters, node by node.

Source: Machovec et al. (2016), section III.G, equations 6 to 9.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.model.table import Mask
    from lpsched.online.arrays import ClusterArrays
    from models.cluster_nodes import PlainNodes


def resources_left(arrays: ClusterArrays, nodes: PlainNodes, span: tuple[float, float]) -> float:
    """Return the time that no task has on each node, times its cores, over all nodes (equation 6)."""
    now, end = span
    left = 0.0
    for c, cluster in enumerate(nodes.lists):
        for held in cluster:
            taken = sum(max(0.0, min(end, each.end) - max(now, each.start)) for each in held)
            left += (end - now - taken) * float(arrays.cores_per_node[c])
    return left


def offered(  # noqa: PLR0913, PLR0917 - what the equations have
    arrays: ClusterArrays, nodes: PlainNodes, span: tuple[float, float], energy: float, which: str, leniency: float
) -> Mask:
    """Return which kinds and columns pass: all of them if no time is left on any node."""
    left = resources_left(arrays, nodes, span)
    if left <= 1e-9 * span[1]:
        return arrays.can_run
    cores = arrays.nodes * arrays.cores_per_node[arrays.column_cluster]
    resources = arrays.requested_seconds * cores
    if which == "per-resource":
        passes: Mask = arrays.joules <= leniency * energy / left * resources
        return arrays.can_run & passes
    mean_resources = float(resources[arrays.can_run].mean())
    mean_joules = float(arrays.joules[arrays.can_run].mean())
    tasks = min(left / mean_resources, energy / mean_joules if mean_joules > 0.0 else math.inf)
    fair = energy / tasks if tasks > 0.0 else mean_joules
    within: Mask = arrays.joules <= leniency * fair
    return arrays.can_run & within
