"""The door: data as it stands in a file becomes a bag, or a list of everything that is wrong with it.

Every part is checked by itself first; then the rules between parts, as far as their parts are sound.
Faults come in file order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.errors import InstanceError
from lpsched.instance.bag import FORMAT, Bag
from lpsched.instance.fields import check_seconds, check_watts
from lpsched.instance.parts import MachineType, Prices, Site, TaskType
from lpsched.instance.reading import Reading
from lpsched.instance.rules import Parts, broken_rules
from lpsched.instance.table import Axes

if TYPE_CHECKING:
    from pydantic import BaseModel

    from lpsched.instance.reading import TableFileReader

KEYS: Final = ("format", "name", "machine_types", "task_types", "seconds", "watts", "prices", "site")
MODELS: Final[dict[str, type[BaseModel]]] = {
    "machine_types": MachineType,
    "task_types": TaskType,
    "prices": Prices,
    "site": Site,
}


def bag_from_dict(raw: object, *, source: str = "bag", read_file: TableFileReader | None = None) -> Bag:
    """Make a bag of a mapping with the keys of a bag file.

    Parameters
    ----------
    raw
        The mapping; tables by name or as lists of rows.
    source
        What the error's headline calls it.
    read_file
        Reads a table given as ``{file: NAME}``: called with the name, the table's key, and what its rows and
        columns belong to. Without it such a table is refused.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in the order of `raw`.

    Examples
    --------
    >>> bag_from_dict({"format": "lpsched-bag/1", "name": "b", "machine_types": [{"name": "cpu", "count": 2}],
    ...     "task_types": [{"name": "zip", "count": 9}], "seconds": {"zip": {"cpu": 1.5}}}).seconds[0, 0]
    1.5
    """
    reading = Reading.begin(raw, FORMAT, KEYS, source)
    machines = reading.entries("machine_types", MachineType, {"count": 1})
    tasks = reading.entries("task_types", TaskType, {"count": 1})
    prices, site = reading.section("prices", Prices), reading.section("site", Site)
    axes = Axes(tasks, machines) if tasks is not None and machines is not None else None
    seconds = reading.table("seconds", check_seconds, axes, read_file)
    watts = None
    if reading.raw.get("watts") is not None:
        watts = reading.table("watts", check_watts, axes, read_file)
    parts = Parts(reading.raw.get("name"), machines, tasks, seconds, watts, prices, site)
    if reading.faults:
        reading.faults += broken_rules(parts)
    else:
        try:
            return Bag.of(parts)
        except InstanceError as error:
            reading.faults += error.faults
    raise reading.error(source, ("task_types", "machine_types"))
