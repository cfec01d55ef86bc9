"""A bag of tasks: what there is to run, what it can run on, and what it earns.

    n_i   tasks of type i                e_ijk  seconds of one such task on machine type j in P-state k
    m_j   machines of type j             a_ijk  watts while it runs
    b_j   watts of an idle machine       an absent pair (i, j, k) cannot run

A bag is immutable, and sound from birth: whoever holds one need not check it again. `door.py` makes one
of data as it stands in a file, and tells all faults at once. This module imports no NumPy; the array
views that the numerics use are in `arrays.py`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from lpsched.errors import InstanceError
from lpsched.instance.packed import little_endian
from lpsched.instance.parts import MachineType, Prices, Site, TaskType
from lpsched.instance.rules import Parts, broken_rules
from lpsched.instance.table import Table

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

FORMAT: Final = "lpsched-bag/1"

NO_PRICES: Final = Prices()
PLAIN_SITE: Final = Site()

Type = TypeVar("Type", MachineType, TaskType)


@dataclass(frozen=True)
class Bag:
    """Task types, machine types and the tables between them.

    Raises
    ------
    InstanceError
        If the parts do not fit together; the error lists every fault.

    Examples
    --------
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=10)
    >>> bag = Bag("two", (cpu,), (render,), seconds=Table.of([[3.0]]))
    >>> bag.tasks, bag.machines, bag.seconds[0, 0]
    (10, 2, 3.0)
    """

    name: str
    machine_types: tuple[MachineType, ...]
    task_types: tuple[TaskType, ...]
    seconds: Table
    watts: Table | None = None
    prices: Prices = NO_PRICES
    site: Site = PLAIN_SITE

    def __post_init__(self) -> None:
        """Refuse parts that are not sound, or do not fit together."""
        tables = (self.seconds, self.watts)
        faults = broken_rules(
            Parts(self.name, self.machine_types, self.task_types, *tables, self.prices, self.site)
        )
        if faults:
            raise InstanceError(str(self.name), faults)

    @classmethod
    def of(cls, parts: Parts) -> Bag:
        """Make a bag of parts that are all there.

        Raises
        ------
        InstanceError
            If they do not fit together.
        """
        assert parts.machine_types is not None
        assert parts.task_types is not None
        assert parts.seconds is not None
        return cls(
            cast("str", parts.name),  # the rules look whether it is one
            parts.machine_types,
            parts.task_types,
            parts.seconds,
            parts.watts,
            parts.prices or NO_PRICES,
            parts.site or PLAIN_SITE,
        )

    def __repr__(self) -> str:
        """Name the bag and its size; the whole would fill the screen."""
        kinds = f"{len(self.task_types)} task types, {len(self.machine_types)} machine types"
        return f"Bag({self.name!r}: {self.tasks} tasks on {self.machines} machines; {kinds})"

    @property
    def tasks(self) -> int:
        """How many tasks there are in all."""
        return sum(task.count for task in self.task_types)

    @property
    def machines(self) -> int:
        """How many machines there are in all."""
        return sum(machine.count for machine in self.machine_types)

    @cached_property
    def modes(self) -> tuple[tuple[int, int], ...]:
        """Machine type and P-state (j, k) of each column of the tables."""
        return tuple((j, k) for j, machine in enumerate(self.machine_types) for k in range(machine.modes))

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 of everything the bag says, in hexadecimal.

        Equal bags have equal hashes: key order, file format, table form and spelled-out defaults do not
        matter, because the hash is taken after reading. The order of types does. Defaults are left out, so
        that a key added to the format one day leaves the hashes of today's bags as they are.
        """
        digest = hashlib.sha256(FORMAT.encode())
        digest.update(json.dumps(self._said(), sort_keys=True, separators=(",", ":")).encode())
        for table in (self.seconds, self.watts):
            digest.update(b"table" if table is not None else b"none")
            if table is not None:
                digest.update(little_endian("d", table.packed))
        return digest.hexdigest()

    def _said(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "machine_types": [machine.model_dump(exclude_defaults=True) for machine in self.machine_types],
            "task_types": [task.model_dump(exclude_defaults=True) for task in self.task_types],
            "prices": self.prices.model_dump(exclude_defaults=True),
            "site": self.site.model_dump(exclude_defaults=True),
        }

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but worth a second look, in sentences."""
        if self.watts is None:
            return ()
        remarks = []
        whole = not self.watts.absent()
        for column, (j, _) in enumerate(self.modes):
            idle = self.machine_types[j].idle_watts
            cells = self.watts.cells[column :: len(self.modes)].tolist()
            if idle == 0 or (whole and min(cells) >= idle):  # `min` goes wrong on a NaN
                continue
            below = [i for i, x in enumerate(cells) if x < idle]
            if below:
                first, others = self.task_types[below[0]].name, len(below) - 1
                more = f" and {others} other task types" if others else ""
                machine = self.machine_types[j].name
                remarks.append(f"{machine!r} draws less running {first!r}{more} than idle ({idle:g} W)")
        return tuple(remarks)

    def without_deadline(self) -> Bag:
        """Return the same bag with no deadline."""
        if self.site.deadline_seconds is None:
            return self
        return replace(self, site=self.site.model_copy(update={"deadline_seconds": None}))

    def without_limits(self) -> Bag:
        """Return the same bag with neither power cap nor deadline."""
        site = self.site.model_copy(update={"average_power_cap_watts": None, "deadline_seconds": None})
        return self if site == self.site else replace(self, site=site)

    def merged(self) -> Bag:
        """Join task types that are alike in everything but name and count, then machine types.

        The joined type keeps the first one's name and place, and has the sum of the counts. What the
        machines can do stays the same, and so do the bounds; the LP gets smaller.

        >>> one, two = TaskType(name="a", count=3), TaskType(name="b", count=4)
        >>> cpu = MachineType(name="cpu", count=2)
        >>> Bag("pair", (cpu,), (one, two), Table.of([[5.0], [5.0]])).merged().task_types
        (TaskType(name='a', count=7),)
        """
        rows = list(zip(self.seconds, self.watts or [[]] * len(self.task_types), strict=True))
        per_task = self.prices.per_task
        tasks = _alike(
            (*map(tuple, row), per_task.get(task.name))
            for task, row in zip(self.task_types, rows, strict=True)
        )
        columns = list(zip(*(self.seconds.row(i) for i in tasks), strict=True))
        powers = list(zip(*(self.watts.row(i) for i in tasks), strict=True)) if self.watts else columns
        of_machine: dict[int, list[int]] = {}
        for column, (j, _) in enumerate(self.modes):
            of_machine.setdefault(j, []).append(column)
        machines = _alike(
            (
                machine.model_copy(update={"name": "", "count": 1}),
                *((columns[c], powers[c]) for c in of_machine[j]),
            )
            for j, machine in enumerate(self.machine_types)
        )
        kept = [column for j in machines for column in of_machine[j]]
        return replace(
            self,
            machine_types=tuple(_joined(self.machine_types, members) for members in machines.values()),
            task_types=tuple(_joined(self.task_types, members) for members in tasks.values()),
            seconds=_part_of(self.seconds, list(tasks), kept),
            watts=None if self.watts is None else _part_of(self.watts, list(tasks), kept),
            prices=self.prices.model_copy(
                update={
                    "per_task": {
                        name: per_task[name] for i in tasks if (name := self.task_types[i].name) in per_task
                    }
                }
            ),
        )


def _alike(signatures: Iterable[Hashable]) -> dict[int, list[int]]:
    """Group positions by signature: first position of each group -> all its positions."""
    first: dict[Hashable, int] = {}
    groups: dict[int, list[int]] = {}
    for position, signature in enumerate(signatures):
        groups.setdefault(first.setdefault(signature, position), []).append(position)
    return groups


def _joined(types: tuple[Type, ...], members: list[int]) -> Type:
    return types[members[0]].model_copy(update={"count": sum(types[k].count for k in members)})


def _part_of(table: Table, rows: list[int], columns: list[int]) -> Table:
    return Table.of([[row[c] for c in columns] for row in (table.row(i) for i in rows)])
