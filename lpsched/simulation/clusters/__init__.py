"""Clusters as their tasks arrive: availability profiles, the engine, and policies for parallel tasks.

`register` makes a function of one's own a policy; see `registry.py`. `Draft` helps to write one.
"""

from lpsched.simulation.clusters.draft import Draft
from lpsched.simulation.clusters.registry import cluster_policy, cluster_policy_names, forget, register
from lpsched.simulation.clusters.state import ClusterState, Placement

__all__ = [
    "ClusterState",
    "Draft",
    "Placement",
    "cluster_policy",
    "cluster_policy_names",
    "forget",
    "register",
]
