"""A bag: machine types, task types, seconds and watts of each pair, prices, and the limits of the site.

    n_i   tasks of type i                e_ijk  seconds of one such task on machine type j in P-state k
    m_j   machines of type j             a_ijk  watts while it runs
    b_j   watts of an idle machine       an absent pair (i, j, k) cannot run

Units are in the names. Files speak of hours and kWh, because people do; the maths turns them into SI units. A bag is
immutable and valid: whoever holds one need not check it again. This module imports no NumPy; the array views that the
numerics use are in `arrays.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, TypeVar

from pydantic import Field, field_serializer

from lpsched.errors import MOST_FAULTS, Fault, Place, nearest, quote
from lpsched.model.base import MOST_ADVISED, AnyPart, Entries, Instance, Part, Rule, repeats
from lpsched.model.fields import (
    MOST,
    Count,
    FrozenDict,
    Hours,
    Money,
    Name,
    OneOf,
    PositiveWatts,
    PStates,
    Ratio,
    Seconds,
    Several,
    Watts,
    WithPStates,
    check_seconds,
    check_watts,
    little_endian,
)
from lpsched.model.table import Cells, Table, rows_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from numpy.typing import ArrayLike


class MachineType(WithPStates, Part):
    """Identical machines: how many, and what they cost when idle, worn and replaced."""

    name: Name
    count: Count
    idle_watts: Watts = 0.0
    wear_per_busy_hour: Money = 0.0
    purchase_price: Money = 0.0
    mean_hours_to_failure: Hours | None = None
    p_states: PStates | None = None


class TaskType(Part):
    """Identical tasks: how many."""

    name: Name
    count: Count


class Prices(Part):
    """What a bag earns and what electricity costs. A missing price is unknown, not zero."""

    per_bag: Money | None = None
    per_task: Annotated[FrozenDict[str, Money], Several()] = Field(
        default=FrozenDict({}), description="a mapping from task types to money"
    )
    electricity_per_kwh: Money | None = None
    overhead_per_bag: Money = 0.0
    currency: Name = "USD"


class Site(Part):
    """The building: its power usage effectiveness, its average-power cap, its service agreement."""

    pue: Ratio = 1.0
    average_power_cap_watts: PositiveWatts | None = None
    cap_measured_at: Annotated[
        Literal["facility", "it"], OneOf(("facility", "it"), "say on which side of the PUE the cap is")
    ] = "facility"
    deadline_seconds: Seconds | None = None


# What the fields of a bag must satisfy together: one small function per rule, named for the rule.
MachineTypes = tuple[MachineType, ...]
TaskTypes = tuple[TaskType, ...]


def p_states_differ(machine_types: MachineTypes) -> Iterator[Fault]:
    """Check the names of P-states."""
    for j, machine in enumerate(machine_types):
        yield from repeats(machine.p_states or (), ("machine_types", j, "p_states"), ())


def machine_types_have_names_of_their_own(machine_types: MachineTypes) -> Iterator[Fault]:
    """Check the names of machine types."""
    return repeats([each.name for each in machine_types], ("machine_types",), ("name",))


def task_types_have_names_of_their_own(task_types: TaskTypes) -> Iterator[Fault]:
    """Check the names of task types."""
    return repeats([each.name for each in task_types], ("task_types",), ("name",))


def column_labels_differ(machine_types: MachineTypes) -> Iterator[Fault]:
    """Check that a P-state does not have the label of another machine type."""
    labels = Counter(label for machine in machine_types for label in set(machine.columns))
    for j, machine in enumerate(machine_types):
        for label in machine.columns:
            if machine.p_states is not None and labels[label] > 1:
                found = f"{quote(label)}, which names a P-state here and another machine type"
                yield Fault(("machine_types", j), found, "labels that differ", "rename one")


def machines_can_be_counted(machine_types: MachineTypes) -> Iterator[Fault]:
    """Check that the number of machines is exact in a double."""
    return _countable("machine_types", "machines", sum(each.count for each in machine_types))


def tasks_can_be_counted(task_types: TaskTypes) -> Iterator[Fault]:
    """Check that the number of tasks is exact in a double."""
    return _countable("task_types", "tasks", sum(each.count for each in task_types))


def _countable(key: str, word: str, total: int) -> Iterator[Fault]:
    if total > MOST:
        yield Fault((key,), f"{total:,} {word} in total", "at most 10^15", "scale the instance down")


def depreciation_has_price_and_life(machine_types: MachineTypes) -> Iterator[Fault]:
    """Check that what is bought has a life."""
    for j, machine in enumerate(machine_types):
        if machine.purchase_price > 0 and machine.mean_hours_to_failure is None:
            found = f"a purchase price but no life of {quote(machine.name)}"
            do = "add mean_hours_to_failure, or drop purchase_price"
            yield Fault(("machine_types", j, "purchase_price"), found, "both", do)


def every_task_type_can_run(seconds: Table, task_types: TaskTypes) -> Iterator[Fault]:
    """Check that each row has a time."""
    absent = Counter(flat // seconds.columns for flat in seconds.absent())
    for i, task in enumerate(task_types):
        if absent[i] == seconds.columns:
            found = f"no machine type that can run task type {quote(task.name)} ({task.count} tasks)"
            yield Fault(("seconds", i), found, "at least one time", "give one a time, or drop the task type")


def times_and_powers_go_together(
    seconds: Table, watts: Table | None, machine_types: MachineTypes, task_types: TaskTypes
) -> Iterator[Fault]:
    """Check that the tables have the same cells."""
    lonely = set(seconds.absent()) ^ set(watts.absent()) if watts is not None else set()
    places = [(j, k) for j, machine in enumerate(machine_types) for k in range(machine.modes)]
    for flat in islice(sorted(lonely), MOST_FAULTS):
        i, column = divmod(flat, len(places))
        j, k = places[column]
        machine, task = machine_types[j], task_types[i]
        pair = f"{quote(task.name)} on {quote(machine.name)}"
        if machine.p_states is not None:
            pair += f" at {quote(machine.p_states[k])}"
        has, lacks, word = ("time", "power", "watts")
        if seconds[i, column] is None:
            has, lacks, word = ("power", "time", "seconds")
        path: Place = (word, i, j) if machine.p_states is None else (word, i, j, k)
        do = f"give it {word}, or remove its {has}"
        yield Fault(path, f"a {has} but no {lacks} for {pair}", "both or neither", do)


def priced_tasks_exist(prices: Prices, task_types: TaskTypes) -> Iterator[Fault]:
    """Check that prices are of task types that there are."""
    names = [task.name for task in task_types]
    for number, unknown in enumerate(sorted(set(prices.per_task) - set(names))):
        advice = nearest(unknown, names) if number < MOST_ADVISED else ""
        path = ("prices", "per_task", unknown)
        yield Fault(path, "no task type of that name", "one of task_types", advice or "correct or remove it")


NO_PRICES: Final = Prices()
PLAIN_SITE: Final = Site()
FORMAT: Final = "lpsched-bag/1"

Type = TypeVar("Type", MachineType, TaskType)


class Bag(Instance):
    """Task types, machine types and the tables between them.

    Raises
    ------
    InstanceError
        If a field is not valid, or the fields do not fit together; the error lists every problem.

    Examples
    --------
    >>> cpu, render = MachineType("cpu", 2), TaskType("render", 10)
    >>> bag = Bag("two", (cpu,), (render,), seconds=Table.of([[3.0]]))
    >>> bag.tasks, bag.machines, bag.seconds[0, 0]
    (10, 2, 3.0)
    >>> Bag.model_validate(bag.model_dump()) == bag
    True
    """

    FORMAT: ClassVar[str] = FORMAT
    RULES: ClassVar[tuple[Rule, ...]] = (
        p_states_differ,
        machine_types_have_names_of_their_own,
        task_types_have_names_of_their_own,
        column_labels_differ,
        machines_can_be_counted,
        tasks_can_be_counted,
        depreciation_has_price_and_life,
        every_task_type_can_run,
        times_and_powers_go_together,
        priced_tasks_exist,
    )

    name: Name
    machine_types: Annotated[MachineTypes, Entries("machine type", stand_in={"count": 1})] = Field(
        description="a list of machine types"
    )
    task_types: Annotated[TaskTypes, Entries("task type", stand_in={"count": 1})] = Field(
        description="a list of task types"
    )
    seconds: Annotated[Table, Cells(check_seconds)] = Field(description="a table of seconds")
    watts: Annotated[Table | None, Cells(check_watts)] = None
    prices: Prices = NO_PRICES
    site: Site = PLAIN_SITE

    @field_serializer("seconds", "watts")
    def _as_rows(self, table: Table | None) -> list[list[Any]] | None:
        return None if table is None else rows_of(table, self.machine_types)

    @classmethod
    def from_arrays(  # noqa: PLR0913 - options are keyword-only
        cls,
        seconds: ArrayLike,
        watts: ArrayLike | None = None,
        *,
        tasks: object,
        machines: object,
        prices: Prices | Mapping[str, Any] = NO_PRICES,
        site: Site | Mapping[str, Any] = PLAIN_SITE,
        name: str = "bag",
    ) -> Bag:
        """Return a bag of NumPy arrays, or whatever NumPy reads as one.

        Parameters
        ----------
        seconds, watts
            Task types x machine types; NaN where a pair cannot run. A machine type with P-states has a column for each.
        tasks, machines
            How many of each type: counts in the order of the table, counts by name, or `TaskType` and `MachineType`.

        Examples
        --------
        >>> import numpy as np
        >>> seconds = np.array([[62.0, np.nan], [80.5, 4.0]])
        >>> Bag.from_arrays(seconds, tasks={"render": 10, "train": 3}, machines={"cpu": 4, "gpu": 1})
        Bag('bag': 13 tasks on 5 machines; 2 task types, 2 machine types)
        """
        from lpsched.model.frames import table_from, types_from  # noqa: PLC0415 - loads NumPy

        return cls.model_validate(
            {
                "name": name,
                "machine_types": types_from(machines, "machines", "machine"),
                "task_types": types_from(tasks, "tasks", "task"),
                "seconds": table_from(seconds, "seconds"),
                "watts": None if watts is None else table_from(watts, "watts"),
                "prices": prices,
                "site": site,
            }
        )

    @classmethod
    def from_frames(  # noqa: PLR0913 - options are keyword-only
        cls,
        seconds: Any,  # noqa: ANN401 - a frame of pandas or polars
        watts: Any = None,  # noqa: ANN401 - likewise
        *,
        tasks: object,
        machines: object,
        prices: Prices | Mapping[str, Any] = NO_PRICES,
        site: Site | Mapping[str, Any] = PLAIN_SITE,
        name: str = "bag",
    ) -> Bag:
        """Return a bag of frames of pandas or polars.

        Parameters
        ----------
        seconds, watts
            A row for each task type, a column for each machine type (for each P-state: "name:P-state"); NaN or null
            where a pair cannot run. The names are those of index and columns; in polars the first column has the
            names of the task types. Rows and columns may come in any order.
        tasks, machines
            How many of each type: a series or mapping of counts by name, or a frame with a column `count` and further
            ones such as `idle_watts`.
        """
        from lpsched.model.frames import aligned, table_from, types_from  # noqa: PLC0415 - loads NumPy

        kinds = [_type(MachineType, each) for each in types_from(machines, "machines", "machine")]
        types = [_type(TaskType, each) for each in types_from(tasks, "tasks", "task")]
        rows, columns = [each.name for each in types], [label for each in kinds for label in each.columns]
        tables = {
            key: table_from(aligned(frame, key, rows, columns), key)
            for key, frame in (("seconds", seconds), ("watts", watts))
            if frame is not None
        }
        return cls(name, tuple(kinds), tuple(types), **tables, prices=_type(Prices, prices), site=_type(Site, site))

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
        return self.model_copy(update={"site": self.site.model_copy(update={"deadline_seconds": None})})

    def without_limits(self) -> Bag:
        """Return the same bag with neither power cap nor deadline."""
        site = self.site.model_copy(update={"average_power_cap_watts": None, "deadline_seconds": None})
        return self if site == self.site else self.model_copy(update={"site": site})

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
            (*map(tuple, row), per_task.get(task.name)) for task, row in zip(self.task_types, rows, strict=True)
        )
        columns = list(zip(*(self.seconds.row(i) for i in tasks), strict=True))
        powers = list(zip(*(self.watts.row(i) for i in tasks), strict=True)) if self.watts else columns
        of_machine: dict[int, list[int]] = {}
        for column, (j, _) in enumerate(self.modes):
            of_machine.setdefault(j, []).append(column)
        machines = _alike(
            (machine.model_copy(update={"name": "", "count": 1}), *((columns[c], powers[c]) for c in of_machine[j]))
            for j, machine in enumerate(self.machine_types)
        )
        kept = [column for j in machines for column in of_machine[j]]
        prices = {name: per_task[name] for i in tasks if (name := self.task_types[i].name) in per_task}
        return self.model_copy(
            update={
                "machine_types": tuple(_joined(self.machine_types, members) for members in machines.values()),
                "task_types": tuple(_joined(self.task_types, members) for members in tasks.values()),
                "seconds": _part_of(self.seconds, list(tasks), kept),
                "watts": None if self.watts is None else _part_of(self.watts, list(tasks), kept),
                "prices": self.prices.model_copy(update={"per_task": FrozenDict(prices)}),
            }
        )


def _type(kind: type[AnyPart], given: Any) -> AnyPart:  # noqa: ANN401 - such a part, or a mapping with its fields
    return given if isinstance(given, kind) else kind(**given)


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


def bag_from_dict(raw: object, *, source: str = "bag") -> Bag:
    """Return the bag that a mapping with the keys of a bag file describes.

    Parameters
    ----------
    source
        What the headline of an error calls it.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every problem in the order of `raw`.

    Examples
    --------
    >>> bag_from_dict({"format": "lpsched-bag/1", "name": "b", "machine_types": [{"name": "cpu", "count": 2}],
    ...     "task_types": [{"name": "zip", "count": 9}], "seconds": {"zip": {"cpu": 1.5}}}).seconds[0, 0]
    1.5
    """
    return Bag.read(raw, source)
