"""A bag: machine types, task types, seconds and watts of each pair, prices, and the limits of the site.

    n_i   tasks of type i                e_ijk  seconds of one such task on machine type j in P-state k
    m_j   machines of type j             a_ijk  watts while it runs
    b_j   watts of an idle machine       an absent pair (i, j, k) cannot run

Units are in the names. Files use hours and kWh; the maths turns them into SI units. A bag is immutable and validated on
construction. This module imports no NumPy; the array views that the numerics use are in `arrays.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeVar

from pydantic import Field, field_serializer

from lpsched.bag.parts import NO_PRICES, PLAIN_SITE, RULES, MachineType, MachineTypes, Prices, Site, TaskType, TaskTypes
from lpsched.errors import InputIssue, InstanceError, quote
from lpsched.model.base import Entries, Instance, Part, Rule
from lpsched.model.fields import FrozenDict, Name, check_seconds, check_watts, describe, little_endian, numbered
from lpsched.model.table import Cells, Table, rows_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lpsched.model.problems import AnyPart


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
    RULES: ClassVar[tuple[Rule, ...]] = RULES

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
        <Bag 'bag': 13 tasks on 5 machines (2 task types, 2 machine types)>
        """
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
        kinds = [_type(MachineType, each) for each in types_from(machines, "machines", "machine")]
        types = [_type(TaskType, each) for each in types_from(tasks, "tasks", "task")]
        rows, columns = [each.name for each in types], [label for each in kinds for label in each.columns]
        tables = {
            key: table_from(aligned(frame, key, rows, columns), key)
            for key, frame in (("seconds", seconds), ("watts", watts))
            if frame is not None
        }
        return cls(name, tuple(kinds), tuple(types), **tables, prices=_type(Prices, prices), site=_type(Site, site))

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
        """The SHA-256 of the content of the bag, in hexadecimal.

        Equal bags have equal hashes: key order, file format, table form and spelled-out defaults do not matter, because
        the hash is taken after reading. The order of types does. Defaults are left out, so that a key added to the
        format later leaves the hashes of existing bags as they are.
        """
        said = {
            "name": self.name,
            "machine_types": [machine.model_dump(exclude_defaults=True) for machine in self.machine_types],
            "task_types": [task.model_dump(exclude_defaults=True) for task in self.task_types],
            "prices": self.prices.model_dump(exclude_defaults=True),
            "site": self.site.model_dump(exclude_defaults=True),
        }
        digest = hashlib.sha256(FORMAT.encode())
        digest.update(json.dumps(said, sort_keys=True, separators=(",", ":")).encode())
        for table in (self.seconds, self.watts):
            digest.update(b"table" if table is not None else b"none")
            if table is not None:
                digest.update(little_endian("d", table.packed))
        return digest.hexdigest()

    def remarks(self) -> tuple[str, ...]:
        """Return warnings about what is legal but unusual, in sentences."""
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
        """Join task types that are equal in everything but name and count, then machine types.

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
                "seconds": part_of(self.seconds, list(tasks), kept),
                "watts": None if self.watts is None else part_of(self.watts, list(tasks), kept),
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


def part_of(table: Table, rows: Iterable[int], columns: list[int]) -> Table:
    """Return some rows and columns of a table."""
    return Table.of([[row[c] for c in columns] for row in (table.row(i) for i in rows)])


def bag_from_dict(raw: object, *, source: str = "bag") -> Bag:
    """Return the bag that a mapping with the keys of a bag file describes.

    The same as `Bag.read`: an error, which begins with `source`, lists every problem in the order of `raw`.

    Examples
    --------
    >>> bag_from_dict({"format": "lpsched-bag/1", "name": "b", "machine_types": [{"name": "cpu", "count": 2}],
    ...     "task_types": [{"name": "zip", "count": 9}], "seconds": {"zip": {"cpu": 1.5}}}).seconds[0, 0]
    1.5
    """
    return Bag.read(raw, source)


# Arrays and data frames as input, of NumPy, pandas and polars, without depending on them.
# A frame of pandas has its names in index and columns, one of polars, which has no index, in its first column.
DIMENSIONS: Final = 2


def table_from(values: ArrayLike, key: str) -> Table:
    """Return a table of numbers as NumPy reads them; NaN and masked cells are pairs that cannot run.

    >>> table_from([[1, float("nan")]], "seconds").row(0)
    [1.0, None]
    """
    import numpy as np  # noqa: PLC0415 - what reads files does not load it

    filled = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan) if np.ma.isMaskedArray(values) else values
    try:
        cells = np.asarray(filled, dtype=float) + 0.0
    except (TypeError, ValueError) as error:
        needed = "an array of numbers, NaN where a pair cannot run"
        raise _rejected(key, f"no numbers ({str(error).partition('.')[0]})", needed) from None
    if cells.ndim != DIMENSIONS:
        needed = "an array of two dimensions: task types x machine types"
        raise _rejected(key, f"an array of {cells.ndim} dimensions", needed)
    cells[np.isnan(cells)] = np.nan  # always with the same bytes
    rows, columns = cells.shape
    return Table(rows, columns, cells.tobytes())


def types_from(given: Any, key: str, word: str) -> list[Any]:  # noqa: ANN401 - many kinds of objects
    """Return types as a file lists them: from counts by name, counts in order, types, or a frame.

    >>> types_from({"cpu": 4}, "machines", "machine"), types_from([4, 2], "machines", "machine")
    ([{'name': 'cpu', 'count': 4}], [{'name': 'machine-1', 'count': 4}, {'name': 'machine-2', 'count': 2}])
    """
    if hasattr(given, "columns") and len(getattr(given, "shape", ())) == DIMENSIONS:
        columns, names, rows = framed(given)
        return [{"name": name} | dict(zip(columns, row, strict=True)) for name, row in zip(names, rows, strict=True)]
    if hasattr(given, "items") and hasattr(given, "tolist"):  # a series of pandas
        given = {str(name): count for name, count in zip(given.index, given.tolist(), strict=True)}
    if isinstance(given, Mapping):
        return [{"name": str(name), "count": count} for name, count in given.items()]
    for method in ("tolist", "to_list"):  # arrays of NumPy, series of polars
        given = getattr(given, method)() if hasattr(given, method) else given
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise _rejected(key, describe(given), f"counts by name, counts in the order of the table, or {word} types")
    names = numbered(word, len(given))
    return [
        each if isinstance(each, Part | Mapping) else {"name": name, "count": each}
        for name, each in zip(names, given, strict=True)
    ]


def framed(frame: Any) -> tuple[list[str], list[str], list[list[Any]]]:  # noqa: ANN401 - of pandas or polars
    """Return the names of the columns, the names of the rows, and the cells of a frame."""
    if hasattr(frame, "get_columns"):  # polars
        first, *columns = frame.columns
        rows = [list(row) for row in frame.select(columns).rows()]
        return [*map(str, columns)], [str(each) for each in frame[first].to_list()], rows
    columns, names = frame.columns.tolist(), frame.index.tolist()
    return [*map(str, columns)], [*map(str, names)], frame.to_numpy().tolist()


def aligned(frame: Any, key: str, rows: Sequence[str], columns: Sequence[str]) -> list[list[Any]]:  # noqa: ANN401
    """Return the cells of a frame in the order of these rows and columns."""
    found_columns, found_rows, cells = framed(frame)
    places = []
    for word, found, wanted in (("row", found_rows, rows), ("column", found_columns, columns)):
        position = {name: index for index, name in enumerate(found)}
        lacks = [f"no {word} {quote(name)}" for name in wanted if name not in position]
        lacks += [f"a {word} {quote(name)}, which is no type" for name in position if name not in wanted]
        lacks += [f"a {word} {quote(name)} twice" for name in position if found.count(name) > 1]
        if lacks:
            needed = f"one {word} for each of {', '.join(map(quote, wanted[:5]))}"
            raise _rejected(key, lacks[0], needed, "compare the names")
        places.append([position[name] for name in wanted])
    return [[cells[i][j] for j in places[1]] for i in places[0]]


def _rejected(key: str, found: str, needed: str, do: str = "see help(lpsched.Bag.from_arrays)") -> InstanceError:
    return InstanceError("bag", (InputIssue((key,), found, needed, do),))
