"""Which few of many nodes show best how task types share cores.

Five are shown, as in the paper: three of the type with the most cores, two of the next (if there is none,
five of the one). Of a type we take the nodes that run the most task types, then those with the most busy
cores, then the first in the file; a node that runs the same task types as one before it comes only when there
are no others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.facility import Facility
    from lpsched.schedule.facility import CoreAllocation, CoreFraction

FIRST_NODES: Final = 3  # of the type with the most cores
SHOWN_NODES: Final = 5
VISIBLE: Final = 0.001  # of the time; less would be thinner than a line


def shown_nodes(facility: Facility, allocation: CoreAllocation) -> tuple[int, ...]:
    """Return the nodes to show, as places in the file."""
    kinds = sorted(set(facility.nodes), key=lambda j: (-facility.node_types[j].cores, j))
    first = _chosen(facility, allocation, kinds[0])
    if len(kinds) == 1:
        return tuple(sorted(first[:SHOWN_NODES]))
    second = _chosen(facility, allocation, kinds[1])
    return (*sorted(first[:FIRST_NODES]), *sorted(second[: SHOWN_NODES - FIRST_NODES]))


def _chosen(facility: Facility, allocation: CoreAllocation, kind: int) -> tuple[int, ...]:
    """Return the nodes of a type, the most telling first."""
    ranked = []
    for v in (v for v, j in enumerate(facility.nodes) if j == kind):
        names = shown_types(allocation.nodes[v])
        busy = math.fsum(part.fraction for core in allocation.nodes[v] for part in core)
        ranked.append((-len(names), -round(busy, 3), v, names))  # rounding of doubles decides nothing
    ranked.sort(key=lambda each: each[:3])
    seen: set[frozenset[str]] = set()
    fresh: list[int] = []
    others: list[int] = []
    for *_, v, names in ranked:
        (others if names in seen else fresh).append(v)
        seen.add(names)
    return (*fresh, *others)


def shown_types(cores: Sequence[Sequence[CoreFraction]]) -> frozenset[str]:
    """Return the task types that can be seen on some of the cores."""
    return frozenset(
        name for core in cores for name, fraction in fractions(core).items() if fraction >= VISIBLE
    )


def fractions(core: Sequence[CoreFraction]) -> dict[str, float]:
    """Return the fraction of each task type; one may come in several parts."""
    found: dict[str, float] = {}
    for part in core:
        found[part.task_type] = found.get(part.task_type, 0.0) + part.fraction
    return found
