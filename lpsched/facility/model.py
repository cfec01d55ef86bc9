"""A facility: nodes, the air between them, the units that cool it, and the tasks that arrive.

    N nodes v of types j      cores, overhead watts O_j, airflow f_j, redline R_v of the air they draw in
    U CRAC units u            airflow, range of outlet temperatures, CoP as a polynomial of the outlet
    I task types i            arrivals per second, reward, deadline, memory class
    speeds s_ijk, watts a_ijk of a core of node type j that runs task type i in P-state k; absent = cannot run
    PD[a][b]                  how much longer a task of class a takes for each other core that runs class b

Places of the air are numbered nodes first, then CRAC units; so are rows and columns of the mixing matrix.

A facility is immutable, and sound from birth: whoever holds one need not check it again. `reading.py`
makes one of data as it stands in a file, and tells all faults at once. This module imports no NumPy; the
array views that the numerics use are in `air.py`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import InstanceError
from lpsched.facility.cooling_rules import broken_cooling_rules
from lpsched.facility.parts import Air, ArrivingType, CracUnit, Mixing, MixingForm, NodeType
from lpsched.facility.rules import FacilityParts, broken_air_rules, broken_rules
from lpsched.model.fields import little_endian
from lpsched.model.table import SparseMatrix

if TYPE_CHECKING:
    from lpsched.model.table import Table

__all__ = ["FORMAT", "Air", "ArrivingType", "CracUnit", "Facility", "Mixing", "MixingForm", "NodeType", "SparseMatrix"]

FORMAT: Final = "lpsched-facility/1"
PLAIN_AIR: Final = Air()


@dataclass(frozen=True)
class Facility:
    """Nodes, CRAC units, tasks that arrive, and how air mixes.

    Raises
    ------
    InstanceError
        If the parts do not fit together, or no allocation could ever be allowed; the error lists every fault.

    Examples
    --------
    Two nodes and one CRAC unit; a tenth of the air that a node draws in has passed a node before:

    >>> from lpsched.model.table import Table
    >>> blade = NodeType("blade", 2, 20.0, 0.1, 30.0)
    >>> unit = CracUnit("crac", 0.2, (15.0, 25.0))
    >>> shares = [[(0, 0.1), (2, 0.9)], [(1, 0.1), (2, 0.9)], [(0, 0.45), (1, 0.45), (2, 0.1)]]
    >>> Facility("two", (blade,), (0, 0), (unit,), (ArrivingType("render", 1.0, 5.0),), Table.of([[0.25]]),
    ...     Table.of([[40.0]]), Mixing("inlet_mix", SparseMatrix.of(shares, 3)), power_cap_watts=300.0)
    Facility('two': 2 nodes with 4 cores, 1 CRAC units; 1 task types, 1 node types)
    """

    name: str
    node_types: tuple[NodeType, ...]
    nodes: tuple[int, ...]  # the type of each node
    crac_units: tuple[CracUnit, ...]
    task_types: tuple[ArrivingType, ...]
    speeds: Table  # tasks per second of one core: a row per task type, a column per node type and P-state
    watts: Table  # of that core
    mixing: Mixing
    power_cap_watts: float
    classes: tuple[str, ...] = ()  # memory classes, or the names of the task types; empty: no degradation
    degradation: Table | None = None  # classes x classes
    air: Air = PLAIN_AIR
    description: str = ""

    def __post_init__(self) -> None:
        """Refuse parts that are not sound, or do not fit together."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        faults = broken_rules(FacilityParts(**own)) or broken_air_rules(self) or broken_cooling_rules(self)
        if faults:
            raise InstanceError(str(self.name), faults)

    def __repr__(self) -> str:
        """Name the facility and its size; the whole would fill the screen."""
        size = f"{len(self.nodes)} nodes with {self.cores} cores, {len(self.crac_units)} CRAC units"
        kinds = f"{len(self.task_types)} task types, {len(self.node_types)} node types"
        return f"Facility({self.name!r}: {size}; {kinds})"

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
        if not self.classes:
            return ()
        return tuple(self.classes.index(task.memory_class or task.name) for task in self.task_types)

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 of everything the facility says but its description, in hexadecimal.

        It is taken after reading, so that the form of the file does not matter; the form of the mixing
        matrix and the order of the lists do. Defaults are left out, so that a key added to the format one
        day leaves the hashes of today's facilities as they are.
        """
        digest = hashlib.sha256(FORMAT.encode())
        digest.update(json.dumps(self._said(), sort_keys=True, separators=(",", ":")).encode())
        for table in (self.speeds, self.watts, self.degradation):
            digest.update(b"table" if table is not None else b"none")
            if table is not None:
                digest.update(little_endian("d", table.packed))
        matrix = self.mixing.matrix
        for code, packed in (("q", matrix.starts), ("q", matrix.places), ("d", matrix.packed)):
            digest.update(little_endian(code, packed))
        return digest.hexdigest()

    def _said(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "node_types": [said(each) for each in self.node_types],
            "nodes": self.nodes,
            "crac_units": [said(each) for each in self.crac_units],
            "task_types": [said(each) for each in self.task_types],
            "classes": self.classes,
            "mixing": self.mixing.form,
            "power_cap_watts": self.power_cap_watts,
            "air": said(self.air),
        }

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but worth a second look, in sentences."""
        used = set(self.nodes)
        remarks = [f"no node is of type {kind.name!r}" for j, kind in enumerate(self.node_types) if j not in used]
        remarks += [
            f"no task type is of memory class {name!r}" for a, name in enumerate(self.classes) if a not in self.class_of
        ]
        if not self.classes:
            remarks += [
                f"task type {task.name!r} has a memory class, but there is no degradation"
                for task in self.task_types
                if task.memory_class is not None
            ]
        return tuple(remarks)


def said(part: NodeType | CracUnit | ArrivingType | Air) -> dict[str, Any]:
    """Return what a part says beyond its defaults, tuples as lists."""
    found: dict[str, Any] = {}
    for each in fields(part):
        value = getattr(part, each.name)
        if value != each.default:
            found[each.name] = list(value) if isinstance(value, tuple) else value
    return found
