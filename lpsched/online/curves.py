"""Curves over numbers of nodes: seconds and watts of tasks on clusters, and how a file writes them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from lpsched.errors import MOST_ISSUES, InputIssue, Place, nearest, quote
from lpsched.model.base import INVALID, Reader
from lpsched.model.fields import MOST, Amount, describe
from lpsched.model.problems import MOST_ADVISED

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler

    from lpsched.online.parts import Cluster, DayTaskType

Points: TypeAlias = tuple[tuple[int, float], ...]  # (nodes, value), by rising nodes


# Seconds or watts by task type, cluster, P-state and number of nodes. A cell has values for some numbers of nodes,
# rising. Between two of them the value is on the straight line (the double nearest to it); outside them it is not
# known. A pair without a cell cannot run.
# Source: Machovec et al., "Dynamic Resource Management for Parallel Tasks in an Oversubscribed Energy-Constrained
# Heterogeneous Environment" (2016), section II.B and figure 2.
@dataclass(frozen=True, slots=True)
class NodeCurves:
    """Cells by task type i and column (cluster and P-state); `None` where a pair cannot run.

    >>> curves = NodeCurves((((((1, 100.0), (2, 70.0), (4, 50.0))), None),))
    >>> curves.at(0, 0, 3), curves.at(0, 0, 5), curves.at(0, 1, 1)
    (60.0, None, None)
    """

    cells: tuple[tuple[Points | None, ...], ...]

    def at(self, i: int, column: int, nodes: int) -> float | None:
        """Return the value for a number of nodes; `None` where it is not known."""
        points = self.cells[i][column]
        if points is None or not points[0][0] <= nodes <= points[-1][0]:
            return None
        place = bisect_left(points, nodes, key=lambda point: point[0])
        right, high = points[place]
        if right == nodes:
            return high
        left, low = points[place - 1]
        (low_top, low_bottom), (high_top, high_bottom) = low.as_integer_ratio(), high.as_integer_ratio()
        top = low_top * high_bottom * (right - nodes) + high_top * low_bottom * (nodes - left)
        return top / (low_bottom * high_bottom * (right - left))  # of whole numbers, which Python rounds once

    def by_cluster(self, i: int, clusters: Sequence[Cluster]) -> Iterator[tuple[Cluster, tuple[Points | None, ...]]]:
        """Yield each cluster with its cells of a task type, one for each P-state."""
        first = 0
        for cluster in clusters:
            yield cluster, self.cells[i][first : first + cluster.modes]
            first += cluster.modes

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        """Let Pydantic know the type; `Curves` reads one from a file."""
        return core_schema.is_instance_schema(cls)

    def said(self) -> list[list[list[list[float]] | None]]:
        """Return the cells as lists, for a hash: 8 and 8.0 are one, as are 0.0 and -0.0."""
        return [
            [None if cell is None else [[n, value + 0.0] for n, value in cell] for cell in row] for row in self.cells
        ]


# Curves as they stand in a file: by task type, cluster and number of nodes.
#     seconds:
#       flow:
#         thin: {1: 800, 4: 200, 8: 120}                 # a cluster without P-states
#         fat: {1: [300, 500], 2: [180, null]}           # with two; null: not given for this number of nodes
#         any: 60                                        # the same for any number of nodes the cluster has
# What is not named cannot run.
MOST_CURVE_POINTS: Final = 100_000  # of one cell
MOST_DIGITS: Final = 16


@dataclass(frozen=True)
class Curves:
    """Metadata of curves in a file; `check` is what a single value must pass."""

    check: Amount

    def read_field(self, reader: Reader, key: str, raw: object) -> object:
        """Return the curves; `INVALID` if they or their lists have problems."""
        clusters, types = reader.valid.get("clusters"), reader.valid.get("task_types")
        if clusters is None or types is None:
            return INVALID  # the lists have problems, which are reported; without names curves mean nothing
        if isinstance(raw, NodeCurves):
            shape = len(types), sum(cluster.modes for cluster in clusters)
            found = list(islice(_problems_of(raw, key, shape, self.check), MOST_ISSUES))
            reader.problems += found
            return INVALID if found else raw
        cells = _Cells(self.check, reader.hint)
        rows = cells.rows(raw, key, clusters, types)
        reader.problems += cells.issues
        return INVALID if cells.issues else NodeCurves(tuple(rows))

    def as_written(self, problem: InputIssue, raw: Mapping[str, Any]) -> InputIssue:
        """Return a problem that a rule found with the names that the file uses, instead of numbers."""
        match problem.path:
            case (str(key), int(i), int(c), *more) if isinstance(raw.get(key), Mapping):
                entries = raw["task_types"][i], raw["clusters"][c]
                names = [each["name"] if isinstance(each, Mapping) else each.name for each in entries]
                return replace(problem, path=(key, *names, *more))
        return problem

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of curves by name."""
        number = {"type": "number", "minimum": self.check.least, "maximum": self.check.most}
        states = {"type": "array", "items": {"anyOf": [number, {"type": "null"}]}, "minItems": 1}
        value = {"anyOf": [number, states]}
        curve = {
            "description": "by number of nodes; in place of a number a list, one for each P-state",
            "type": "object",
            "propertyNames": {"pattern": "^[0-9]+$"},
            "minProperties": 1,
            "additionalProperties": value,
        }
        cells = {"type": "object", "additionalProperties": {"anyOf": [curve, *value["anyOf"], {"type": "null"}]}}
        return {
            "description": "task type -> cluster -> number of nodes -> number; what is not named cannot run",
            "type": "object",
            "additionalProperties": {"anyOf": [cells, {"type": "null"}]},
        }


class _Cells:
    """Reads cells and collects problems; one for each table of curves."""

    def __init__(self, check: Amount, hint: str) -> None:
        self.check, self.hint = check, hint
        self.issues: list[InputIssue] = []

    def rows(
        self, raw: object, key: str, clusters: Sequence[Cluster], types: Sequence[DayTaskType]
    ) -> list[tuple[Points | None, ...]]:
        if not isinstance(raw, Mapping):
            needed = "a mapping from task types to clusters to numbers of nodes"
            self._issue((key,), describe(raw), needed, self.hint)
            return []
        self._known(raw, (key,), [task.name for task in types], "task type")
        return [self._row(raw.get(task.name), (key, task.name), clusters) for task in types]

    def _row(self, raw: object, place: Place, clusters: Sequence[Cluster]) -> tuple[Points | None, ...]:
        if raw is not None and not isinstance(raw, Mapping):
            self._issue(place, describe(raw), "a mapping from clusters to numbers of nodes", self.hint)
            return ()
        own = raw if raw is not None else {}
        self._known(own, place, [cluster.name for cluster in clusters], "cluster")
        cells = (self._cells(own.get(cluster.name), (*place, cluster.name), cluster) for cluster in clusters)
        return tuple(chain.from_iterable(cells))

    def _cells(self, raw: object, place: Place, cluster: Cluster) -> list[Points | None]:
        if raw is None:
            return [None] * cluster.modes
        if not isinstance(raw, Mapping):
            constant = self._values(raw, place, cluster)
            ends = sorted({1, cluster.nodes})
            return [None if each is None else tuple((n, each) for n in ends) for each in constant]
        if not 1 <= len(raw) <= MOST_CURVE_POINTS:
            needed = f"1 to {MOST_CURVE_POINTS:,} numbers of nodes"
            self._issue(place, describe(raw), needed, "leave it out if the pair cannot run")
            return []
        points: dict[int, list[float | None]] = {}
        for key, value in raw.items():
            if len(self.issues) >= MOST_ISSUES:
                return []
            nodes = self._nodes(key, place)
            if nodes and nodes in points:
                self._issue((*place, str(key)), f"{nodes:,} nodes once more", "each number once", "drop one")
            points[nodes] = self._values(value, (*place, str(key)), cluster)
        if self.issues:
            return []
        counts = sorted(points)
        curves = [
            tuple((n, value) for n in counts if (value := points[n][k]) is not None) for k in range(cluster.modes)
        ]
        return [curve or None for curve in curves]

    def _nodes(self, key: object, place: Place) -> int:
        text = str(key)
        whole = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
        if isinstance(key, bool) or not whole or not 1 <= int(text) <= MOST:
            needed = "a whole number of nodes from 1 to 10^15"
            self._issue((*place, text), f"{quote(text)} as a number of nodes", needed, "correct it")
            return 0
        return int(text)

    def _values(self, raw: object, place: Place, cluster: Cluster) -> list[float | None]:
        if cluster.p_states is None:
            return [self._value(raw, place)]
        if isinstance(raw, list | tuple) and len(raw) == cluster.modes:
            return [None if each is None else self._value(each, (*place, k)) for k, each in enumerate(raw)]
        needed = f"a list of {cluster.modes}, one number per P-state of {quote(cluster.name)}"
        self._issue(place, describe(raw), needed, "write null where it is not known")
        return [None] * cluster.modes

    def _value(self, raw: object, place: Place) -> float | None:
        try:
            return self.check(raw)
        except PydanticCustomError as refused:
            why = refused.context or {}
            self._issue(place, why["got"], why["expected"], f"{why['hint']}; leave it out if it is not known")
            return None

    def _known(self, entries: Mapping[str, object], place: Place, names: Sequence[str], kind: str) -> None:
        known = set(names)
        for name in entries:
            if len(self.issues) >= MOST_ISSUES:
                break
            if name not in known:
                advice = nearest(str(name), names) if len(self.issues) < MOST_ADVISED else ""
                needed, do = f"a {kind} of the file's list", advice or "correct or remove it"
                self._issue((*place, str(name)), f"no {kind} of that name", needed, do)

    def _issue(self, place: Place, found: str, needed: str, do: str) -> None:
        if len(self.issues) < MOST_ISSUES:
            self.issues.append(InputIssue(place, found, needed, do))


def _problems_of(curves: NodeCurves, key: str, shape: tuple[int, int], check: Amount) -> Iterator[InputIssue]:
    """Return the problems of curves that no file holds: their shape, and what cells say."""
    widths = {len(row) for row in curves.cells}
    if len(curves.cells) != shape[0] or widths - {shape[1]}:
        found = f"cells of {len(curves.cells)} x {max(widths, default=0)}"
        yield InputIssue((key,), found, f"{shape[0]} x {shape[1]}, task types x columns", "fix its shape")
        return
    for i, row in enumerate(curves.cells):
        for column, cell in enumerate(row):
            if cell is not None:
                yield from problems_of_cell(cell, (key, i, column), check)


def problems_of_cell(points: object, place: Place, check: Amount) -> Iterator[InputIssue]:
    """Return the problems of one cell, whatever it is."""
    if not isinstance(points, tuple) or not 1 <= len(points) <= MOST_CURVE_POINTS:
        needed = f"1 to {MOST_CURVE_POINTS:,} pairs of nodes and a value"
        yield InputIssue(place, describe(points), needed, "leave it out if the pair cannot run")
        return
    bad = [issue for k, point in enumerate(points) for issue in _problems_of_point(point, (*place, k), check)]
    yield from bad
    for k, ((nodes, _), (more, _)) in enumerate([] if bad else pairwise(points), start=1):
        if more <= nodes:
            found = f"{more:,} nodes after {nodes:,}"
            yield InputIssue((*place, k), found, "numbers of nodes that rise", "sort or join them")


def _problems_of_point(point: object, place: Place, check: Amount) -> Iterator[InputIssue]:
    if not isinstance(point, tuple) or len(point) != 2:  # noqa: PLR2004 - a pair
        yield InputIssue(place, describe(point), "a pair of nodes and a value", "complete it")
        return
    nodes, value = point
    if isinstance(nodes, bool) or not isinstance(nodes, int) or not 1 <= nodes <= MOST:
        needed = "a whole number of nodes from 1 to 10^15"
        yield InputIssue(place, describe(nodes), needed, "correct it")
    try:
        check(value)
    except PydanticCustomError as refused:
        yield InputIssue(place, **(refused.context or {}))


def written_curves(
    curves: NodeCurves, clusters: Sequence[Cluster], types: Sequence[DayTaskType]
) -> dict[str, dict[str, Any]]:
    """Return curves by names: by rising nodes a number, or a list of one number per P-state."""
    return {
        task.name: {
            cluster.name: _written_cells(cells, cluster)
            for cluster, cells in curves.by_cluster(i, clusters)
            if any(cells)
        }
        for i, task in enumerate(types)
    }


def _written_cells(cells: tuple[Points | None, ...], cluster: Cluster) -> Any:  # noqa: ANN401 - as in the file
    """Return the curves of one cluster; a number alone where it is the same for any number of nodes."""
    ends = tuple(sorted({1, cluster.nodes}))
    declared = [dict(cell) if cell is not None else {} for cell in cells]
    if all(tuple(each) in {(), ends} and len(set(each.values())) <= 1 for each in declared):
        values = [each.get(1) for each in declared]
        return values if cluster.p_states is not None else values[0]
    counts = sorted({nodes for each in declared for nodes in each})
    if cluster.p_states is None:
        return {nodes: declared[0][nodes] for nodes in counts}
    return {nodes: [each.get(nodes) for each in declared] for nodes in counts}
