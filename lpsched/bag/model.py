"""A bag: machine types, task types, seconds and watts of each pair, prices, limits; and its terms.

    n_i   tasks of type i                e_ijk  seconds of one such task on machine type j in P-state k, on average
    m_j   machines of type j             a_ijk  watts while it runs, on average
    b_j   watts of an idle machine       an absent pair (i, j, k) cannot run

Units are in the names. Files use hours and kWh; the maths turns them into SI units. A bag is immutable and validated on
construction. This module imports no NumPy; the array views that the numerics use are in `arrays.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeVar

from pydantic import Field, field_serializer

from lpsched.bag.parts import (
    MOST_SITES,
    NO_PRICES,
    PLAIN_SITE,
    RULES,
    MachineType,
    MachineTypes,
    NamedSite,
    NamedSites,
    Prices,
    Site,
    TaskType,
    TaskTypes,
)
from lpsched.errors import InputIssue, InstanceError, quote
from lpsched.model.base import Entries, Instance, Part, Rule
from lpsched.model.fields import (
    MOST,
    Amount,
    FrozenDict,
    Name,
    check_cov,
    check_money,
    check_power,
    check_seconds,
    check_watts,
    describe,
    little_endian,
    numbered,
)
from lpsched.model.problems import checked
from lpsched.model.series import KINDS, TARIFF, Series, high_price
from lpsched.model.series_reader import OverTime
from lpsched.model.table import Cells, Table, rows_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lpsched.model.problems import AnyPart


FORMAT: Final = "lpsched-bag/1"
COV_TABLES: Final = ("seconds_cov", "watts_cov")
TABLES: Final = ("seconds", "watts", *COV_TABLES)
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
    site: Annotated[Site, OverTime()] = PLAIN_SITE
    seconds_cov: Annotated[Table | None, Cells(check_cov)] = None  # how far single tasks scatter around the means
    watts_cov: Annotated[Table | None, Cells(check_cov)] = None
    sites: Annotated[NamedSites, OverTime(Entries("site", least=0, most=MOST_SITES, stand_in={}))] = Field(
        default=(), description="a list of sites"
    )

    @field_serializer(*TABLES)
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
        sites: Sequence[NamedSite | Mapping[str, Any]] = (),
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
                "sites": sites,
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
        sites: Sequence[NamedSite | Mapping[str, Any]] = (),
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
        tables: dict[str, Any] = {
            key: table_from(aligned(frame, key, rows, columns), key)
            for key, frame in (("seconds", seconds), ("watts", watts))
            if frame is not None
        }
        given: dict[str, Any] = {"prices": _type(Prices, prices), "site": site, "sites": sites}
        return cls(name, tuple(kinds), tuple(types), **tables | given)

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
    def tables(self) -> dict[str, Table]:
        """The tables that there are, by their keys."""
        return {key: table for key in TABLES if (table := getattr(self, key)) is not None}

    def tables_of(self, rows: Sequence[int], columns: list[int]) -> dict[str, Table]:
        """Return some rows and columns of all tables."""
        return {
            key: Table.of([[row[c] for c in columns] for row in map(table.row, rows)])
            for key, table in self.tables.items()
        }

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
            "site": _said(self.site),
        }
        if self.sites:
            said["sites"] = [_said(site) for site in self.sites]
        digest = hashlib.sha256(FORMAT.encode())
        digest.update(json.dumps(said, sort_keys=True, separators=(",", ":")).encode())
        for table in (self.seconds, self.watts):
            digest.update(b"table" if table is not None else b"none")
            if table is not None:
                digest.update(little_endian("d", table.packed))
        for key in COV_TABLES:
            if key in self.tables:
                digest.update(key.encode() + little_endian("d", self.tables[key].packed))
        return digest.hexdigest()

    def remarks(self) -> tuple[str, ...]:
        """Return warnings about what is legal but unusual, in sentences."""
        money, places = self.prices.currency, list[tuple[str, Site | NamedSite]]([("", self.site)])
        places += [(site.name, site) for site in self.sites]
        given: list[tuple[str, str, float | Series | None]] = [("tariff", name, site.tariff) for name, site in places]
        given += [("grid fee", name, site.grid_fee_per_kwh) for name, site in places]
        remarks = [*filter(None, (high_price(price, TARIFF, money, name, word) for word, name, price in given))]
        if self.watts is None:
            return tuple(remarks)
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
        rows = list(zip(*self.tables.values(), strict=True))
        per_task = self.prices.per_task
        tasks = _alike(
            (*map(tuple, row), per_task.get(task.name), *(site.moving_cost(task.name) for site in self.sites))
            for task, row in zip(self.task_types, rows, strict=True)
        )
        columns = list(zip(*(zip(*rows[i], strict=True) for i in tasks), strict=True))
        of_machine: dict[int, list[int]] = {}
        for column, (j, _) in enumerate(self.modes):
            of_machine.setdefault(j, []).append(column)
        machines = _alike(
            (machine.model_copy(update={"name": "", "count": 1}), *(columns[c] for c in of_machine[j]))
            for j, machine in enumerate(self.machine_types)
        )
        kept = [column for j in machines for column in of_machine[j]]
        prices = {name: per_task[name] for i in tasks if (name := self.task_types[i].name) in per_task}
        return self.model_copy(
            update={
                "machine_types": tuple(_joined(self.machine_types, members) for members in machines.values()),
                "task_types": tuple(_joined(self.task_types, members) for members in tasks.values()),
                "prices": self.prices.model_copy(update={"per_task": FrozenDict(prices)}),
                "sites": sites_of(self, list(tasks)),
            }
            | self.tables_of(list(tasks), kept)
        )


def _said(site: Site | NamedSite) -> dict[str, Any]:
    """Return what a site says, for a hash: its series by their digests."""
    series = {key: value.digest for key in KINDS if isinstance(value := getattr(site, key), Series)}
    return site.model_dump(exclude_defaults=True, exclude=set(series)) | series


def sites_of(bag: Bag, tasks: Iterable[int]) -> NamedSites:
    """Return the sites of a bag that has only some of its task types: without what it costs to move the others."""
    names = {bag.task_types[i].name for i in tasks}
    sites = []
    for site in bag.sites:
        cost = site.moving_cost_per_task
        if isinstance(cost, dict):
            cost = FrozenDict({name: money for name, money in cost.items() if name in names})
        sites.append(site.model_copy(update={"moving_cost_per_task": cost}))
    return tuple(sites)


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


# Under which terms a bag is solved: the objective, and another price, power cap or deadline than its file says.
check_ratio: Final = Amount("a profit ratio")


@dataclass(frozen=True, slots=True)
class Terms:
    """The objective, and values in place of the file's own; `None` leaves that as it is.

    Public functions make them of their options. They are checked when they are applied: after the objective, and after
    the price that comes of a profit ratio.
    """

    objective: str | None = None  # profit, makespan or energy; by default profit where a price is known, else makespan
    price: float | None = None  # of the whole bag, in place of the price per bag and all prices per task
    profit_ratio: float | None = None  # the price in costs of the least energy; `problem.py` makes a price of it
    power_cap_watts: float | None = None  # on average, on the side where the file measures it (by default the facility)
    deadline_seconds: float | None = None  # when the bag must be done

    def check(self) -> None:
        """Reject values that a file could not have either."""
        given = {
            "price": (self.price, check_money),
            "power_cap": (self.power_cap_watts, check_power),
            "deadline": (self.deadline_seconds, check_seconds),
        }
        issues: list[InputIssue] = []
        for name, (value, check) in given.items():
            try:
                checked(name, value, check)
            except InstanceError as error:
                issues += error.issues
        if issues:
            raise InstanceError("", tuple(issues))

    def applied_to(self, bag: Bag) -> Bag:
        """Return the bag under these terms; a profit ratio has become a price before."""
        assert self.profit_ratio is None, "the price of a ratio takes a linear program"
        self.check()
        prices, site = bag.prices, bag.site
        if self.price is not None:
            prices = prices.model_copy(update={"per_bag": float(self.price), "per_task": type(prices.per_task)()})
        changes: dict[str, Any] = {}
        if self.power_cap_watts is not None:
            changes["average_power_cap_watts"] = float(self.power_cap_watts)
        if self.deadline_seconds is not None:
            changes["deadline_seconds"] = float(self.deadline_seconds)
        if not changes and prices is bag.prices:
            return bag
        return bag.model_copy(update={"prices": prices, "site": site.model_copy(update=changes)})


def with_machines(bag: Bag, counts: Mapping[str, int]) -> Bag:
    """Return the bag with other counts of some machine types; a type of which there are none is dropped.

    >>> from lpsched.bag.model import Bag
    >>> from lpsched.bag.parts import MachineType, TaskType
    >>> from lpsched.model.table import Table
    >>> cpu, old = MachineType(name="cpu", count=2), MachineType(name="old", count=9)
    >>> bag = Bag("b", (cpu, old), (TaskType(name="render", count=4),), Table.of([[3.0, 30.0]]))
    >>> with_machines(bag, {"cpu": 5, "old": 0}).machine_types
    (MachineType(name='cpu', count=5, idle_watts=0.0, wear_per_busy_hour=0.0, purchase_price=0.0, \
mean_hours_to_failure=None, p_states=None, site=None, may_be_off=False, switch_on_cost=0.0),)
    """
    known = [machine.name for machine in bag.machine_types]
    issues = [
        InputIssue(("machine_types", name), "no machine type of this name", f"one of {', '.join(known)}", "name it")
        for name in counts
        if name not in known
    ]
    issues += [
        InputIssue(("machine_types", name), describe(count), "a whole number from 0 to 10^15", "correct it")
        for name, count in counts.items()
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST
    ]
    if issues:
        raise InstanceError(bag.name, tuple(issues))
    wanted = [counts.get(machine.name, machine.count) for machine in bag.machine_types]
    if not any(wanted):
        issue = InputIssue(("machine_types",), "no machines", "at least one", "leave some")
        raise InstanceError(bag.name, (issue,))
    columns = [column for column, (j, _) in enumerate(bag.modes) if wanted[j]]
    machines = tuple(
        machine.model_copy(update={"count": count})
        for machine, count in zip(bag.machine_types, wanted, strict=True)
        if count
    )
    return bag.model_copy(update={"machine_types": machines} | bag.tables_of(range(len(bag.task_types)), columns))
