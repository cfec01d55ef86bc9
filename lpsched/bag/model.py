"""A bag: machine types, task types, seconds and watts of each pair, prices, and the limits of the site."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, Place, nearest, quote
from lpsched.model.base import MOST_ADVISED
from lpsched.model.fields import (
    LARGEST,
    MOST,
    Count,
    FrozenDict,
    Hours,
    Money,
    Name,
    PositiveWatts,
    Ratio,
    Seconds,
    Watts,
    WithPStates,
    check_money,
    check_p_states,
    check_seconds,
    check_watts,
    describe,
    little_endian,
    refusal,
)
from lpsched.model.reading import repeats, unnamed, unsound
from lpsched.model.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator


# The parts of a bag as users write them: machine types, task types, prices and the site.
#
# Units are in the names. Files speak of hours and kWh, because people do; the maths turns them into SI units.
MONEY_SCHEMA: Final = {"type": "number", "minimum": 0, "maximum": LARGEST}


def _check_meter(value: object) -> str:
    if value not in ("facility", "it"):
        raise refusal(describe(value), "'facility' or 'it'", "say on which side of the PUE the cap is")
    return str(value)


def _check_per_task(value: object) -> FrozenDict[str, float]:
    """Check every price; the faults of all of them come in one error, each with its place."""
    if not isinstance(value, Mapping):
        raise refusal(describe(value), "a mapping from task types to money", "see 'lpsched schema bag'")
    sound, refused = {}, []
    for name, price in value.items():
        try:
            sound[name] = check_money(price)
        except PydanticCustomError as error:
            refused.append(((name,), dict(error.context or {})))
            if len(refused) == MOST_FAULTS:
                break
    if refused:
        context = {"count": len(refused), "inner": refused}
        raise PydanticCustomError("faults", "{count} prices are refused", context)
    return FrozenDict(sound)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class MachineType(WithPStates, _Part):
    """Identical machines: how many, and what they cost when idle, worn and replaced."""

    name: Name
    count: Count
    idle_watts: Watts = 0.0
    wear_per_busy_hour: Money = 0.0
    purchase_price: Money = 0.0
    mean_hours_to_failure: Hours | None = None
    p_states: Annotated[tuple[Name, ...], BeforeValidator(check_p_states)] | None = None


class TaskType(_Part):
    """Identical tasks: how many."""

    name: Name
    count: Count


class Prices(_Part):
    """What a bag earns and what electricity costs. A missing price is unknown, not zero."""

    per_bag: Money | None = None
    per_task: Annotated[
        Mapping[str, float],
        PlainValidator(_check_per_task),
        PlainSerializer(dict),
        WithJsonSchema({"type": "object", "additionalProperties": MONEY_SCHEMA}),
    ] = Field(default_factory=FrozenDict)
    electricity_per_kwh: Money | None = None
    overhead_per_bag: Money = 0.0
    currency: Name = "USD"


class Site(_Part):
    """The building: its power usage effectiveness, its average-power cap, its service agreement."""

    pue: Ratio = 1.0
    average_power_cap_watts: PositiveWatts | None = None
    cap_measured_at: Annotated[
        Literal["facility", "it"], PlainValidator(_check_meter), WithJsonSchema({"enum": ["facility", "it"]})
    ] = "facility"
    deadline_seconds: Seconds | None = None


# What the parts of a bag must satisfy together: one small function per rule, named for the rule.
#
# Each rule returns every fault of its kind. `broken_rules` applies a rule as soon as the parts that it
# speaks of are sound, so that one bad number elsewhere does not hide what else is wrong.
@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a bag that are sound by themselves; `None` where one is not, or is not given."""

    name: object
    machine_types: tuple[MachineType, ...] | None
    task_types: tuple[TaskType, ...] | None
    seconds: Table | None
    watts: Table | None
    prices: Prices | None
    site: Site | None


def broken_rules(parts: Parts) -> tuple[Fault, ...]:
    """Return the faults of every rule, at most MOST_FAULTS of each."""
    faults = list(islice(_tables_fit_and_are_sound(parts), MOST_FAULTS))
    if faults:  # a table that is not sound itself says nothing about the rest
        parts = replace(parts, seconds=None, watts=None)
    for rule in RULES:
        faults += islice(rule(parts), MOST_FAULTS)
    return tuple(faults)


def _the_bag_has_a_name(parts: Parts) -> Iterator[Fault]:
    return unnamed(parts.name)


def _tables_fit_and_are_sound(parts: Parts) -> Iterator[Fault]:
    """Check the shape of every table, and the cells of those that no reader has checked."""
    if parts.machine_types is None or parts.task_types is None:
        return
    shape = (len(parts.task_types), sum(machine.modes for machine in parts.machine_types))
    yield from unsound("seconds", parts.seconds, shape, "task types x columns", check_seconds)
    yield from unsound("watts", parts.watts, shape, "task types x columns", check_watts)


def _names_are_unique(parts: Parts) -> Iterator[Fault]:
    for j, machine in enumerate(parts.machine_types or ()):
        yield from repeats(machine.p_states or (), ("machine_types", j, "p_states"), ())
    for key, types in (("machine_types", parts.machine_types), ("task_types", parts.task_types)):
        yield from repeats([each.name for each in types or ()], (key,), ("name",))


def _there_is_something_to_do(parts: Parts) -> Iterator[Fault]:
    for key, types in (("machine_types", parts.machine_types), ("task_types", parts.task_types)):
        if types is not None and not types:
            word = key.replace("_types", " type")
            yield Fault((key,), "an empty list", f"at least one {word}", f"add a {word}")


def _totals_are_exact_in_a_double(parts: Parts) -> Iterator[Fault]:
    for key, types in (("machine_types", parts.machine_types), ("task_types", parts.task_types)):
        total = sum(each.count for each in types or ())
        if total > MOST:
            word = key.replace("_types", "s")
            yield Fault((key,), f"{total:,} {word} in total", "at most 10^15", "scale the instance down")


def _every_task_type_can_run(parts: Parts) -> Iterator[Fault]:
    if parts.seconds is None or parts.task_types is None:
        return
    absent = Counter(flat // parts.seconds.columns for flat in parts.seconds.absent())
    for i, task in enumerate(parts.task_types):
        if absent[i] == parts.seconds.columns:
            found = f"no machine type that can run task type {quote(task.name)} ({task.count} tasks)"
            yield Fault(("seconds", i), found, "at least one time", "give one a time, or drop the task type")


def _times_and_powers_go_together(parts: Parts) -> Iterator[Fault]:
    if parts.seconds is None or parts.watts is None or parts.machine_types is None or parts.task_types is None:
        return
    lonely = set(parts.seconds.absent()) ^ set(parts.watts.absent())
    places = [(j, k) for j, machine in enumerate(parts.machine_types) for k in range(machine.modes)]
    for flat in islice(sorted(lonely), MOST_FAULTS):
        i, column = divmod(flat, len(places))
        j, k = places[column]
        machine, task = parts.machine_types[j], parts.task_types[i]
        pair = f"{quote(task.name)} on {quote(machine.name)}"
        if machine.p_states is not None:
            pair += f" at {quote(machine.p_states[k])}"
        has, lacks, word = ("time", "power", "watts")
        if parts.seconds[i, column] is None:
            has, lacks, word = ("power", "time", "seconds")
        path: Place = (word, i, j) if machine.p_states is None else (word, i, j, k)
        do = f"give it {word}, or remove its {has}"
        yield Fault(path, f"a {has} but no {lacks} for {pair}", "both or neither", do)


def _depreciation_has_price_and_life(parts: Parts) -> Iterator[Fault]:
    for j, machine in enumerate(parts.machine_types or ()):
        if machine.purchase_price > 0 and machine.mean_hours_to_failure is None:
            found = f"a purchase price but no life of {quote(machine.name)}"
            do = "add mean_hours_to_failure, or drop purchase_price"
            yield Fault(("machine_types", j, "purchase_price"), found, "both", do)


def _priced_tasks_exist(parts: Parts) -> Iterator[Fault]:
    if parts.prices is None or parts.task_types is None:
        return
    names = [task.name for task in parts.task_types]
    for number, unknown in enumerate(sorted(set(parts.prices.per_task) - set(names))):
        advice = nearest(unknown, names) if number < MOST_ADVISED else ""
        path = ("prices", "per_task", unknown)
        yield Fault(path, "no task type of that name", "one of task_types", advice or "correct or remove it")


def _column_labels_are_unique(parts: Parts) -> Iterator[Fault]:
    labels = Counter(label for machine in parts.machine_types or () for label in set(machine.columns))
    for j, machine in enumerate(parts.machine_types or ()):
        for label in machine.columns:
            if machine.p_states is not None and labels[label] > 1:
                found = f"{quote(label)}, which names a P-state here and another machine type"
                yield Fault(("machine_types", j), found, "labels that differ", "rename one")


RULES: Final[tuple[Callable[[Parts], Iterator[Fault]], ...]] = (
    _the_bag_has_a_name,
    _there_is_something_to_do,
    _names_are_unique,
    _column_labels_are_unique,
    _totals_are_exact_in_a_double,
    _depreciation_has_price_and_life,
    _every_task_type_can_run,
    _times_and_powers_go_together,
    _priced_tasks_exist,
)


# A bag of tasks: what there is to run, what it can run on, and what it earns.
#
#     n_i   tasks of type i                e_ijk  seconds of one such task on machine type j in P-state k
#     m_j   machines of type j             a_ijk  watts while it runs
#     b_j   watts of an idle machine       an absent pair (i, j, k) cannot run
#
# A bag is immutable, and sound from birth: whoever holds one need not check it again. `reading.py` makes one
# of data as it stands in a file, and tells all faults at once. This module imports no NumPy; the array
# views that the numerics use are in `arrays.py`.
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
        faults = broken_rules(Parts(self.name, self.machine_types, self.task_types, *tables, self.prices, self.site))
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
        return replace(
            self,
            machine_types=tuple(_joined(self.machine_types, members) for members in machines.values()),
            task_types=tuple(_joined(self.task_types, members) for members in tasks.values()),
            seconds=_part_of(self.seconds, list(tasks), kept),
            watts=None if self.watts is None else _part_of(self.watts, list(tasks), kept),
            prices=self.prices.model_copy(
                update={
                    "per_task": {name: per_task[name] for i in tasks if (name := self.task_types[i].name) in per_task}
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
