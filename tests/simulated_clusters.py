"""Small clusters to simulate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lpsched.generate.clusters import machovec_clusters
from lpsched.generate.options import MachovecOptions
from lpsched.online.parts import WHOLE, Period
from lpsched.online.utility import WaitingCost
from tests.days import decaying
from tests.parallel import Task, simple_clusters

if TYPE_CHECKING:
    from lpsched.online.clusters import Clusters


def three_tasks(*, watts: bool = True, **period: Any) -> Clusters:
    """Two nodes, 10 s and 100 W for a task of both; three come at 0, worth 8 if they end before 25 s."""
    worth = decaying(8.0, until=25.0)
    return simple_clusters(
        [[10.0]],
        [2],
        [Task(0.0, 2, worth)] * 3,
        watts=[[100.0]] if watts else None,
        period=Period(**period) if period else WHOLE,
    )


def waiting_tasks(cost: WaitingCost | None = None) -> Clusters:
    """The same on the same two nodes, judged by the seconds that they wait."""
    tasks = [Task(0.0, 2)] * 3
    return simple_clusters([[10.0]], [2], tasks, waiting=cost or WaitingCost("seconds"))


def drawn_clusters(tasks: int = 40, **options: Any) -> Clusters:
    """Three small clusters for half an hour, made by the generator, so that there are more like them."""
    small: dict[str, Any] = {
        "hours": 0.5,
        "warm_up_hours": 0.1,
        "p_states": 2,
        "nodes": (4, 3),
        "cores_per_node": (8, 4),
        "special_nodes": (3,),
        "special_cores_per_node": (4,),
        "general_task_types": 4,
        "special_task_types": 2,
        "core_steps": (2, 4, 8),
        "shortest_hours": 0.05,
        "longest_hours": 0.5,
    }
    return machovec_clusters("drawn", 3, MachovecOptions(tasks=48 * tasks, **(small | options)))
