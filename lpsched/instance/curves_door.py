"""Curves as they stand in a file: by task type, cluster and number of nodes.

    seconds:
      flow:
        thin: {1: 800, 4: 200, 8: 120}                 # a cluster without P-states
        fat: {1: [300, 500], 2: [180, null]}           # with two; null: not told for this number of nodes
        any: 60                                        # the same for any number of nodes the cluster has

What is not named cannot run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, nearest, quote
from lpsched.instance.curve_rules import MOST_CURVE_POINTS
from lpsched.instance.fields import MOST, describe
from lpsched.instance.node_curves import NodeCurves
from lpsched.instance.table import MOST_ADVISED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.errors import Place
    from lpsched.instance.cluster_parts import Cluster
    from lpsched.instance.day_parts import DayTaskType
    from lpsched.instance.node_curves import Points
    from lpsched.instance.table import Check

HINT: Final = "see 'lpsched schema clusters'"
MOST_DIGITS: Final = 16


def read_curves(
    raw: object, key: str, check: Check, clusters: Sequence[Cluster], types: Sequence[DayTaskType]
) -> tuple[NodeCurves | None, list[Fault]]:
    """Read curves; return them, or the faults that forbid them."""
    reader = _Reader(check)
    rows = reader.rows(raw, key, clusters, types)
    return (None, reader.faults) if reader.faults else (NodeCurves(tuple(rows)), [])


class _Reader:
    """Reads cells and collects faults; one reader per table of curves."""

    def __init__(self, check: Check) -> None:
        self.check = check
        self.faults: list[Fault] = []

    def rows(
        self, raw: object, key: str, clusters: Sequence[Cluster], types: Sequence[DayTaskType]
    ) -> list[tuple[Points | None, ...]]:
        if not isinstance(raw, Mapping):
            needed = "a mapping from task types to clusters to numbers of nodes"
            self._fault((key,), describe(raw), needed, HINT)
            return []
        self._known(raw, (key,), [task.name for task in types], "task type")
        return [self._row(raw.get(task.name), (key, task.name), clusters) for task in types]

    def _row(self, raw: object, place: Place, clusters: Sequence[Cluster]) -> tuple[Points | None, ...]:
        if raw is not None and not isinstance(raw, Mapping):
            self._fault(place, describe(raw), "a mapping from clusters to numbers of nodes", HINT)
            return ()
        own = raw if raw is not None else {}
        self._known(own, place, [cluster.name for cluster in clusters], "cluster")
        row: list[Points | None] = []
        for cluster in clusters:
            row += self._cells(own.get(cluster.name), (*place, cluster.name), cluster)
        return tuple(row)

    def _cells(self, raw: object, place: Place, cluster: Cluster) -> list[Points | None]:
        """Return the curves of each P-state of a cluster."""
        if raw is None:
            return [None] * cluster.modes
        if not isinstance(raw, Mapping):
            constant = self._values(raw, place, cluster)
            ends = sorted({1, cluster.nodes})
            return [None if each is None else tuple((n, each) for n in ends) for each in constant]
        if not 1 <= len(raw) <= MOST_CURVE_POINTS:
            needed = f"1 to {MOST_CURVE_POINTS:,} numbers of nodes"
            self._fault(place, describe(raw), needed, "leave it out if the pair cannot run")
            return []
        points: dict[int, list[float | None]] = {}
        for key, value in raw.items():
            nodes = self._nodes(key, place)
            if nodes and nodes in points:
                self._fault((*place, str(key)), f"{nodes:,} nodes once more", "each number once", "drop one")
            points[nodes] = self._values(value, (*place, str(key)), cluster)
        if self.faults:
            return []
        counts = sorted(points)
        curves = [
            tuple((n, value) for n in counts if (value := points[n][k]) is not None)
            for k in range(cluster.modes)
        ]
        return [curve or None for curve in curves]

    def _nodes(self, key: object, place: Place) -> int:
        text = str(key)
        whole = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
        if isinstance(key, bool) or not whole or not 1 <= int(text) <= MOST:
            needed = "a whole number of nodes from 1 to 10^15"
            self._fault((*place, text), f"{quote(text)} as a number of nodes", needed, "correct it")
            return 0
        return int(text)

    def _values(self, raw: object, place: Place, cluster: Cluster) -> list[float | None]:
        """Return one value for each P-state."""
        if cluster.p_states is None:
            return [self._value(raw, place)]
        if isinstance(raw, list | tuple) and len(raw) == cluster.modes:
            return [None if each is None else self._value(each, (*place, k)) for k, each in enumerate(raw)]
        needed = f"a list of {cluster.modes}, one number per P-state of {quote(cluster.name)}"
        self._fault(place, describe(raw), needed, "write null where it is not told")
        return [None] * cluster.modes

    def _value(self, raw: object, place: Place) -> float | None:
        try:
            return self.check(raw)
        except PydanticCustomError as refused:
            why = refused.context or {}
            self._fault(place, why["found"], why["needed"], f"{why['do']}; leave it out if it is not told")
            return None

    def _known(self, entries: Mapping[str, object], place: Place, names: Sequence[str], kind: str) -> None:
        known = set(names)
        for name in entries:
            if len(self.faults) >= MOST_FAULTS:
                break
            if name not in known:
                advice = nearest(str(name), names) if len(self.faults) < MOST_ADVISED else ""
                needed, do = f"a {kind} of the file's list", advice or "correct or remove it"
                self._fault((*place, str(name)), f"no {kind} of that name", needed, do)

    def _fault(self, place: Place, found: str, needed: str, do: str) -> None:
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(place, found, needed, do))
