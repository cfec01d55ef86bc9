"""From a mapping, as files hold it, to a bag; and the JSON Schema of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.model import FORMAT, Bag, MachineType, Parts, Prices, Site, TaskType, broken_rules
from lpsched.errors import LONGEST_NAME, InstanceError
from lpsched.model.fields import LARGEST, SMALLEST, check_seconds, check_watts
from lpsched.model.reading import Reading, table_schema
from lpsched.model.table import Axes

if TYPE_CHECKING:
    from pydantic import BaseModel

    from lpsched.model.reading import TableFileReader


# The door: data as it stands in a file becomes a bag, or a list of everything that is wrong with it.
#
# Every part is checked by itself first; then the rules between parts, as far as their parts are sound.
# Faults come in file order.
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


def bag_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) that every bag file satisfies.

    What ties the parts together (names that match, shapes, totals) is beyond JSON Schema; reading the
    file checks that too.
    """
    parts = {
        key: model.model_json_schema(ref_template=f"#/$defs/{key}/$defs/{{model}}") for key, model in MODELS.items()
    }
    properties = {
        "format": {"const": FORMAT},
        "name": {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
        "machine_types": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/machine_types"}},
        "task_types": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/task_types"}},
        "seconds": table_schema({"type": "number", "minimum": SMALLEST, "maximum": LARGEST}),
        "watts": {"anyOf": [table_schema({"type": "number", "minimum": 0, "maximum": LARGEST}), {"type": "null"}]},
        "prices": {"anyOf": [{"$ref": "#/$defs/prices"}, {"type": "null"}]},
        "site": {"anyOf": [{"$ref": "#/$defs/site"}, {"type": "null"}]},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lpsched bag",
        "type": "object",
        "additionalProperties": False,
        "required": ["format", "name", "machine_types", "task_types", "seconds"],
        "properties": {key: properties[key] for key in KEYS},
        "$defs": parts,
    }
