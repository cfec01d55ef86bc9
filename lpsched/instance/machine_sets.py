"""Other machines for the same bag: more of a type, fewer, or none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lpsched.errors import Fault, InstanceError
from lpsched.instance.fields import MOST, describe
from lpsched.instance.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lpsched.instance.bag import Bag


def with_machines(bag: Bag, counts: Mapping[str, int]) -> Bag:
    """Return the bag with other counts of some machine types; a type of which there are none is dropped.

    Raises
    ------
    InstanceError
        If there is no such type, a count is not sound, or a task type can run nowhere then.

    Examples
    --------
    >>> from lpsched.instance import Bag, MachineType, TaskType
    >>> cpu, old = MachineType(name="cpu", count=2), MachineType(name="old", count=9)
    >>> bag = Bag("b", (cpu, old), (TaskType(name="render", count=4),), Table.of([[3.0, 30.0]]))
    >>> with_machines(bag, {"cpu": 5, "old": 0}).machine_types
    (MachineType(name='cpu', count=5, idle_watts=0.0, wear_per_busy_hour=0.0, purchase_price=0.0, \
mean_hours_to_failure=None, p_states=None),)
    """
    _check(bag, counts)
    wanted = [counts.get(machine.name, machine.count) for machine in bag.machine_types]
    if not any(wanted):
        fault = Fault(("machine_types",), "none left", "at least one machine", "leave some")
        raise InstanceError(bag.name, (fault,))
    columns = [column for column, (j, _) in enumerate(bag.modes) if wanted[j]]
    machines = tuple(
        machine.model_copy(update={"count": count})
        for machine, count in zip(bag.machine_types, wanted, strict=True)
        if count
    )
    watts = None if bag.watts is None else _columns(bag.watts, columns)
    return replace(bag, machine_types=machines, seconds=_columns(bag.seconds, columns), watts=watts)


def _check(bag: Bag, counts: Mapping[str, int]) -> None:
    """Refuse machine types that there are not, and counts that no file could say."""
    known = [machine.name for machine in bag.machine_types]
    faults = [
        Fault(
            ("machine_types", name), "no machine type of this name", f"one of {', '.join(known)}", "name it"
        )
        for name in counts
        if name not in known
    ]
    faults += [
        Fault(("machine_types", name), describe(count), f"a whole number from 0 to {MOST}", "correct it")
        for name, count in counts.items()
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST
    ]
    if faults:
        raise InstanceError(bag.name, tuple(faults))


def _columns(table: Table, columns: list[int]) -> Table:
    return Table.of([[row[column] for column in columns] for row in map(list, table)])
