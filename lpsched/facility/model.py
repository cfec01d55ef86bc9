"""A facility: nodes, the air between them, the units that cool it, and the tasks that arrive.

    N nodes v of types j      cores, overhead watts O_j, airflow f_j, redline R_v of the air they draw in
    U CRAC units u            airflow, range of outlet temperatures, CoP as a polynomial of the outlet
    I task types i            arrivals per second, reward, deadline, memory class
    speeds s_ijk, watts a_ijk of a core of node type j that runs task type i in P-state k; absent = cannot run
    PD[a][b]                  how much longer a task of class a takes for each other core that runs class b

Places of the air are numbered nodes first, then CRAC units; so are rows and columns of the mixing matrix.

A facility is immutable and valid: it need not be checked again. This module imports no NumPy; the
array views that the numerics use are in `air.py`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Final, TypeAlias

from pydantic import Field, field_serializer

from lpsched.errors import InputIssue, Place, nearest, quote
from lpsched.facility import parts
from lpsched.facility.parts import Air, ArrivingType, CracUnit, Mixing, MixingForm, NodeType, PowerCap
from lpsched.facility.reading import Degradation, MixingMatrix, Nodes, Units
from lpsched.facility.rules import air_is_conserved_and_cooled, cooling_can_be_set, the_matrix_fits
from lpsched.model.base import Entries, Instance, Part, Rule
from lpsched.model.fields import Name, Several, Text, little_endian
from lpsched.model.problems import MOST_ADVISED, repeats
from lpsched.model.table import Axes, Cells, SparseMatrix, Table, rows_of

__all__ = ["FORMAT", "Air", "ArrivingType", "CracUnit", "Facility", "Mixing", "MixingForm", "NodeType", "SparseMatrix"]

FORMAT: Final = "lpsched-facility/1"
PLAIN_AIR: Final = Air()
MOST_PATTERNS: Final = 200_000  # ways to divide a node's cores among memory classes
LONGEST_DESCRIPTION: Final = 10_000

# Rules between fields: one small function per rule, named for the rule. Those about air and heat are in `rules.py`;
# they run last, when everything else is valid.
Issues: TypeAlias = "Iterator[InputIssue]"
NodeTypes = tuple[NodeType, ...]
CracUnits = tuple[CracUnit, ...]
TaskTypes = tuple[ArrivingType, ...]


def the_description_can_be_shown(description: str) -> Issues:
    """Check the description, which may have several lines."""
    if not all(line.isprintable() for line in description.split("\n")):
        yield InputIssue(("description",), "control or invisible characters", "plain text", "remove them")


def node_types_and_p_states_have_names_of_their_own(node_types: NodeTypes) -> Issues:
    """Check their names, and that a P-state does not have the label of another node type."""
    yield from repeats([each.name for each in node_types], ("node_types",), ("name",))
    labels = Counter(label for kind in node_types for label in set(kind.columns))
    for j, kind in enumerate(node_types):
        yield from repeats(kind.p_states or (), ("node_types", j, "p_states"), ())
        for label in kind.columns:
            if kind.p_states is not None and labels[label] > 1:
                found = f"{quote(label)}, which names a P-state here and another node type"
                yield InputIssue(("node_types", j), found, "labels that differ", "rename one")


def nodes_are_of_known_types(nodes: tuple[int, ...], node_types: NodeTypes) -> Issues:
    """Check nodes that are given by number."""
    for place, j in enumerate(nodes):
        if not 0 <= j < len(node_types):
            needed = f"a number from 0 to {len(node_types) - 1}, of a node type"
            yield InputIssue(("nodes", place), str(j), needed, "correct it")


def speeds_and_powers_go_together(speeds: Table, watts: Table, node_types: NodeTypes, task_types: TaskTypes) -> Issues:
    """Check that the tables have the same cells."""
    columns = [(j, k) for j, kind in enumerate(node_types) for k in range(kind.modes)]
    for flat in sorted(set(speeds.absent()) ^ set(watts.absent())):
        i, column = divmod(flat, len(columns))
        j, k = columns[column]
        kind, task = node_types[j], task_types[i]
        has, lacks, word = ("power", "speed", "speeds") if speeds[i, column] is None else ("speed", "power", "watts")
        path: Place = (word, i, j) if kind.p_states is None else (word, i, j, k)
        found = f"a {has} but no {lacks} for {quote(task.name)} on {_mode(kind, k)}"
        yield InputIssue(path, found, "both or neither", f"give it {word}, or remove its {has}")


def every_task_type_can_be_done_in_time(speeds: Table, node_types: NodeTypes, task_types: TaskTypes) -> Issues:
    """Check that some P-state is quick enough; equation 3 forbids 1 / speed >= deadline."""
    columns = [(kind, k) for kind in node_types for k in range(kind.modes)]
    for i, task in enumerate(task_types):
        speed, column = max(((x or 0.0, -c) for c, x in enumerate(speeds.row(i))), default=(0.0, 0))
        if speed == 0.0:
            found = f"no node type that can run task type {quote(task.name)}"
            yield InputIssue(("speeds", i), found, "at least one speed", "give one a speed, or drop the task type")
        elif task.deadline_seconds is not None and 1.0 / speed >= task.deadline_seconds:
            quickest = f"{1.0 / speed:.6g} s where it is quickest, on {_mode(*columns[-column])}"
            found = f"{task.deadline_seconds:.6g} s, but {quote(task.name)} takes {quickest}"
            needed, do = f"a deadline later than {1.0 / speed:.6g} s", "extend it, speed it up, or drop the task type"
            yield InputIssue(("task_types", i, "deadline_seconds"), found, needed, do)


def _mode(kind: NodeType, k: int) -> str:
    return quote(kind.name) + (f" at {quote(kind.p_states[k])}" if kind.p_states is not None else "")


def classes_and_degradation_go_together(memory_classes: tuple[str, ...], degradation: Table | None) -> Issues:
    """Check that there are both or neither, and a number for each pair of classes."""
    if bool(memory_classes) != (degradation is not None):
        found = "classes but no table" if memory_classes else "a table but no classes"
        yield InputIssue(("degradation",), found, "both or neither", "add the one, or drop the other")
    elif degradation is not None:
        for flat in degradation.absent():
            path: Place = ("degradation", *divmod(flat, degradation.columns))
            yield InputIssue(path, "nothing", "a number", "write 0 where one does not slow the other")


def every_class_has_its_degradation(
    memory_classes: tuple[str, ...], degradation: Table | None, task_types: TaskTypes
) -> Issues:
    """Check that task types are of classes that there are."""
    known, advised = set(memory_classes), 0
    for i, task in enumerate(task_types if degradation is not None and known else ()):
        if (task.memory_class or task.name) in known:
            continue
        path: Place = ("task_types", i)
        if task.memory_class is None:
            found = f"no memory class, and no degradation of {quote(task.name)} itself"
            yield InputIssue(path, found, "one of " + ", ".join(memory_classes[:20]), "give it a memory_class")
        else:
            advice = nearest(task.memory_class, memory_classes) if advised < MOST_ADVISED else ""
            advised += 1
            do = advice or "correct it, or add it to degradation"
            yield InputIssue((*path, "memory_class"), quote(task.memory_class), "a class that degradation knows", do)


def patterns_can_be_counted(degradation: Table | None, task_types: TaskTypes, node_types: NodeTypes) -> Issues:
    """Check that a node's cores can be divided among the classes in not too many ways."""
    if degradation is None:
        return
    used = len({task.memory_class or task.name for task in task_types})
    for j, kind in enumerate(node_types):
        patterns = math.comb(kind.cores + used, used)
        if patterns > MOST_PATTERNS:
            ways = f"about 10^{len(str(patterns)) - 1}" if patterns > 10**12 else f"{patterns:,}"
            found = f"{kind.cores} cores and {used} classes: {ways} ways to divide the one among the other"
            do = "join memory classes, or split the node into sockets"
            yield InputIssue(("node_types", j, "cores"), found, f"at most {MOST_PATTERNS:,}", do)


def the_inverse_of_cop_falls_and_is_convex(crac_units: CracUnits) -> Issues:
    """Check that 1 / CoP is positive, falling and convex over the outlet range: the bound rests on that.

    With c = a + b T + q T^2 and c' = b + 2 q T: 1 / c falls where c' >= 0, and is convex where c'^2 >= q c,
    that is 3 q^2 T^2 + 3 b q T + b^2 - q a >= 0. For q > 0 that rises with T where c' >= 0, and
    for q <= 0 it holds wherever c > 0; so the ends of the range suffice.
    """
    for u, unit in enumerate(crac_units):
        low, high = unit.outlet_celsius
        a, b, q = (*unit.cop, 0.0, 0.0)[:3]
        path, do = ("crac_units", u, "cop"), "correct the coefficients, or outlet_celsius"
        worst = min((low, high), key=unit.performance)
        if unit.performance(worst) <= 0:
            found = f"a CoP of {unit.performance(worst):.6g} at {worst:g} °C"
            yield InputIssue(path, found, "more than 0 over outlet_celsius", do)
        elif low == high:
            continue
        elif min(b + 2 * q * low, b + 2 * q * high) < 0:
            found = f"a CoP that falls with warmer outlets between {low:g} and {high:g} °C"
            yield InputIssue(path, found, "one that rises: warm air is cheaper to make", do)
        elif q > 0 and 3 * q * q * low * low + 3 * b * q * low + b * b - q * a < 0:
            convex_from = (-3 * b * q + math.sqrt(12 * a * q**3 - 3 * b * b * q * q)) / (6 * q * q)
            found = f"1 / CoP that is not convex at {low:g} °C, where outlet_celsius begins"
            needed = f"a range from {convex_from:.4g} °C up, where it is"
            yield InputIssue(path, found, needed, "raise the lower end of outlet_celsius")


# stand-ins for values that are not valid, so that the rest can be checked
NODE_TYPE: Final = {"cores": 1, "overhead_watts": 0.0, "airflow_m3_per_second": 1.0, "redline_celsius": 25.0}
CRAC_UNIT: Final = {"airflow_m3_per_second": 1.0, "outlet_celsius": (20.0, 20.0), "cop": (1.0,)}
TASK_TYPE: Final = {"arrivals_per_second": 1.0, "reward": 1.0}
AXES: Final = partial(Axes, kind="facility", column_kind="node type")


class Facility(Instance):
    """Nodes, CRAC units, tasks that arrive, and how air mixes.

    Raises
    ------
    InstanceError
        If the parts do not fit together, or redlines cannot be kept; the error lists every problem.

    Examples
    --------
    Two nodes and one CRAC unit; a tenth of the air that a node draws in has passed a node before:

    >>> from lpsched.model.table import Table
    >>> blade = NodeType("blade", 2, 20.0, 0.1, 30.0)
    >>> unit = CracUnit("crac", 0.2, (15.0, 25.0))
    >>> shares = [[(0, 0.1), (2, 0.9)], [(1, 0.1), (2, 0.9)], [(0, 0.45), (1, 0.45), (2, 0.1)]]
    >>> Facility("two", (blade,), (0, 0), (unit,), (ArrivingType("render", 1.0, 5.0),), Table.of([[0.25]]),
    ...     Table.of([[40.0]]), Mixing("inlet_mix", SparseMatrix.of(shares, 3)), power_cap_watts=300.0)
    <Facility 'two': 2 nodes with 4 cores, 1 CRAC unit (1 task type, 1 node type)>
    """

    FORMAT: ClassVar[str] = FORMAT
    RULES: ClassVar[tuple[Rule, ...]] = (
        the_description_can_be_shown,
        node_types_and_p_states_have_names_of_their_own,
        lambda crac_units: repeats([each.name for each in crac_units], ("crac_units",), ("name",)),
        lambda task_types: repeats([each.name for each in task_types], ("task_types",), ("name",)),
        lambda memory_classes: repeats(memory_classes, ("memory_classes",), ()),
        nodes_are_of_known_types,
        speeds_and_powers_go_together,
        every_task_type_can_be_done_in_time,
        classes_and_degradation_go_together,
        every_class_has_its_degradation,
        patterns_can_be_counted,
        the_inverse_of_cop_falls_and_is_convex,
    )
    LAST_RULES: ClassVar[tuple[Rule, ...]] = (the_matrix_fits, air_is_conserved_and_cooled, cooling_can_be_set)

    name: Name
    node_types: Annotated[NodeTypes, Entries("node type", most=parts.MOST_NODE_TYPES, stand_in=NODE_TYPE)] = Field(
        description="a list of node types"
    )
    nodes: Annotated[tuple[int, ...], Nodes()] = Field(  # the type of each node
        description="a list of node types' names, in the order of the mixing matrix"
    )
    crac_units: Annotated[CracUnits, Units("CRAC unit", stand_in=CRAC_UNIT)] = Field(description="a list of CRAC units")
    task_types: Annotated[TaskTypes, Entries("task type", most=parts.MOST_TASK_TYPES, stand_in=TASK_TYPE)] = Field(
        description="a list of task types"
    )
    # tasks per second of one core, and its watts: a row per task type, a column per node type and P-state
    speeds: Annotated[Table, Cells(parts.check_speed, columns="node_types", axes=AXES)] = Field(
        description="a table of speeds"
    )
    watts: Annotated[Table, Cells(parts.check_facility_watts, columns="node_types", axes=AXES)] = Field(
        description="a table of watts"
    )
    mixing: Annotated[Mixing, MixingMatrix()] = Field(
        description="exactly one of " + ", ".join(parts.MIXING_KEYS.values())
    )
    power_cap_watts: PowerCap
    memory_classes: Annotated[tuple[Name, ...], Several(most=parts.MOST_CLASSES)] = Field(  # or names of task types
        default=(), description="a list of names, in the order of degradation"
    )
    degradation: Annotated[Table | None, Degradation()] = Field(
        default=None, description="how much longer a task of one class takes for each other core that runs another"
    )
    air: Air = PLAIN_AIR
    description: Annotated[str, Text(LONGEST_DESCRIPTION)] = ""

    @field_serializer("nodes")
    def _by_type(self, nodes: tuple[int, ...]) -> list[str]:
        return [self.node_types[j].name for j in nodes]

    @field_serializer("speeds", "watts")
    def _as_rows(self, table: Table) -> list[list[Any]]:
        return rows_of(table, self.node_types)

    @property
    def cores(self) -> int:
        """How many cores there are in all."""
        return sum(self.node_types[j].cores for j in self.nodes)

    @cached_property
    def modes(self) -> tuple[tuple[int, int], ...]:
        """Node type and P-state (j, k) of each column of the tables."""
        return tuple((j, k) for j, kind in enumerate(self.node_types) for k in range(kind.modes))

    def p_state(self, column: int) -> str | None:
        """Return the name of a column's P-state, `None` where its node type has none."""
        j, k = self.modes[column]
        states = self.node_types[j].p_states
        return None if states is None else states[k]

    @cached_property
    def class_of(self) -> tuple[int, ...]:
        """The row of each task type in the degradation table; empty where there is none."""
        if not self.memory_classes:
            return ()
        return tuple(self.memory_classes.index(task.memory_class or task.name) for task in self.task_types)

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 of everything the facility says but its description, in hexadecimal.

        It is taken after reading, so that the form of the file does not matter; the form of the mixing
        matrix and the order of the lists do. Defaults are left out, so that a key added to the format one
        day leaves the hashes of today's facilities as they are.
        """
        content = {
            "name": self.name,
            "node_types": [said(each) for each in self.node_types],
            "nodes": self.nodes,
            "crac_units": [said(each) for each in self.crac_units],
            "task_types": [said(each) for each in self.task_types],
            "classes": self.memory_classes,
            "mixing": self.mixing.form,
            "power_cap_watts": self.power_cap_watts,
            "air": said(self.air),
        }
        digest = hashlib.sha256(FORMAT.encode())
        digest.update(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())
        for table in (self.speeds, self.watts, self.degradation):
            digest.update(b"table" if table is not None else b"none")
            if table is not None:
                digest.update(little_endian("d", table.packed))
        matrix = self.mixing.matrix
        for code, packed in (("q", matrix.starts), ("q", matrix.places), ("d", matrix.packed)):
            digest.update(little_endian(code, packed))
        return digest.hexdigest()

    def remarks(self) -> tuple[str, ...]:
        """Return warnings: what is valid but suspect, in sentences."""
        used = set(self.nodes)
        remarks = [f"no node is of type {kind.name!r}" for j, kind in enumerate(self.node_types) if j not in used]
        names = [name for a, name in enumerate(self.memory_classes) if a not in self.class_of]
        remarks += [f"no task type is of memory class {name!r}" for name in names]
        if not self.memory_classes:
            names = [task.name for task in self.task_types if task.memory_class is not None]
            remarks += [f"task type {name!r} has a memory class, but there is no degradation" for name in names]
        return tuple(remarks)


def said(part: Part) -> dict[str, Any]:
    """Return the fields of a part that are not defaults, as in a file."""
    return part.model_dump(mode="json", exclude_defaults=True)


def facility_from_dict(raw: object, *, source: str = "facility") -> Facility:
    """Return the facility that a mapping with the keys of a facility file describes.

    The same as `Facility.read`: an error, which begins with `source`, lists every problem in the order of `raw`.
    """
    return Facility.read(raw, source)
