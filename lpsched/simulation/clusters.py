"""Clusters as their tasks arrive: availability profiles, the engine, and policies for parallel tasks.

`register` makes a function of one's own a policy; see `online/cluster_policies.py`. `PartialSchedule` helps to write
one.
"""

from lpsched.online.cluster_policies import cluster_policy, cluster_policy_names, forget, register
from lpsched.online.nodes.state import ClusterState, Placement
from lpsched.online.nodes.state import PartialClusterSchedule as PartialSchedule

Draft = PartialSchedule  # its former name
__all__ = [
    "ClusterState",
    "Draft",
    "PartialSchedule",
    "Placement",
    "cluster_policy",
    "cluster_policy_names",
    "forget",
    "register",
]
