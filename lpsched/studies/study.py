"""A declared study: what its file says, and the JSON Schema of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic_core import PydanticCustomError

from lpsched.errors import LONGEST_NAME, MOST_FAULTS, Fault, InstanceError, nearest
from lpsched.io.documents import read_document
from lpsched.io.instance_files import made_of
from lpsched.model.fields import Amount, FrozenDict, check_count, check_name, describe
from lpsched.model.provenance import LARGEST_SEED
from lpsched.model.reading import MOST_KEYS, Reading, in_file_order, too_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lpsched.errors import Place


# A declared study: instances, methods, parameters, seeds and limits; every combination of them is one run.
#
# What a method or a generator takes is known where it is run (`studies/`); here is what a study file may say.
FORMAT: Final = "lpsched-study/1"


def _nothing() -> FrozenDict[str, Any]:
    return FrozenDict({})


@dataclass(frozen=True, slots=True)
class InstanceSource:
    """Where instances come from: a file, or a generator and its seeds.

    Attributes
    ----------
    file
        Relative to the study's own folder; `None` if they are generated.
    generate
        The generator's name; `None` of a file.
    options
        Of the generator, as the study declares them; `from` is a file too.
    seeds
        One instance each.
    """

    file: str | None = None
    generate: str | None = None
    options: FrozenDict[str, Any] = field(default_factory=_nothing)
    seeds: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """A method, and what only it is given: values of parameters, all combinations of them, and limits."""

    name: str
    parameters: FrozenDict[str, tuple[Any, ...]] = field(default_factory=_nothing)
    limits: FrozenDict[str, Any] | None = None  # None: those of the study


@dataclass(frozen=True, slots=True)
class Study:
    """What a study file says.

    `parameters` go to every method that knows them, and `seeds` to those that leave something to chance.
    """

    name: str
    instances: tuple[InstanceSource, ...]
    methods: tuple[MethodChoice, ...]
    parameters: FrozenDict[str, tuple[Any, ...]] = field(default_factory=_nothing)
    seeds: tuple[int, ...] = (0,)
    limits: FrozenDict[str, Any] = field(default_factory=_nothing)
    description: str = ""

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but suspect: nothing, so far."""
        return ()


# Reading a study as it stands in a file: its shape, with every fault at once.
#
# instances    a list of {file: PATH} and {generate: NAME, seeds: ..., options of the generator}
# methods      a list of names and {name: NAME, limits: ..., own parameters}
# parameters   of each name one value or a list of them
# seeds        a list of whole numbers, or {from: FIRST, count: HOW MANY}
# limits       {seconds: NUMBER}
KEYS: Final = ("format", "name", "description", "instances", "methods", "parameters", "seeds", "limits")
MOST_RUNS: Final = 1_000_000
LONGEST_TEXT: Final = 4_000
Plain = str | int | float | bool | None
Checked = TypeVar("Checked")
check_limit: Final = Amount("seconds", least=1e-3, most=1e9)


def study_from(raw: object, source: str = "study") -> Study:
    """Return the study that a mapping declares."""
    reading = Reading.begin(raw, FORMAT, KEYS, source)
    door = _Door(reading)
    name = door.checked(reading.raw.get("name"), check_name, ("name",))
    study = Study(
        name or "study",
        tuple(door.listed("instances", door.source, "a list of files and generators")),
        tuple(door.listed("methods", door.method, "a list of methods")),
        door.parameters(reading.raw.get("parameters"), ("parameters",)),
        door.seeds(reading.raw.get("seeds", [0]), ("seeds",)),
        door.limits(reading.raw.get("limits", {}), ("limits",)),
        door.text(reading.raw.get("description", "")),
    )
    if reading.faults:
        raise InstanceError(source, in_file_order(reading.faults, reading.raw))
    return study


class _Door:
    """Reads the parts, and notes the faults on the way."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def refuse(self, place: Place, found: object, needed: str, do: str = "") -> None:
        if len(self.reading.faults) < MOST_FAULTS:
            told = found if isinstance(found, str) else describe(found)
            self.reading.faults.append(Fault(place, told, needed, do or self.reading.hint))

    def checked(self, value: object, check: Callable[[object], Checked], place: Place) -> Checked | None:
        try:
            return check(value)
        except PydanticCustomError as refused:
            self.reading.faults.append(Fault(place, **(refused.context or {})))
            return None

    def text(self, value: object) -> str:
        if isinstance(value, str) and len(value) <= LONGEST_TEXT:
            return value
        self.refuse(("description",), describe(value), f"a text of at most {LONGEST_TEXT:,} characters")
        return ""

    def listed(self, key: str, read: Callable[[object, Place], Checked | None], needed: str) -> list[Checked]:
        """Read a list that is not empty, entry by entry."""
        value = self.reading.raw.get(key)
        if not isinstance(value, list | tuple) or not value:
            self.refuse((key,), "nothing" if value is None else describe(value), f"{needed}, at least one")
            return []
        if len(value) > MOST_RUNS:
            self.reading.faults.append(too_many((key,), len(value), MOST_RUNS))
            return []
        found = (read(entry, (key, index)) for index, entry in enumerate(value))
        return [each for each in found if each is not None]

    def source(self, entry: object, place: Place) -> InstanceSource | None:
        """Read a file or a generator."""
        needed = "{file: PATH} or {generate: NAME, seeds: ...}"
        if not isinstance(entry, Mapping) or ("file" in entry) == ("generate" in entry):
            self.refuse(place, describe(entry), needed)
            return None
        if "file" in entry:
            for key in entry:
                if key != "file":
                    advice = "options and seeds go with a generator; remove it"
                    self.refuse((*place, str(key)), "an unknown key", "nothing beside file", advice)
            file = self._words(entry["file"], (*place, "file"), "the name of a file")
            return None if file is None else InstanceSource(file=file)
        name = self._words(entry["generate"], (*place, "generate"), "the name of a generator")
        if "seeds" not in entry:
            self.refuse((*place, "seeds"), "nothing", "the key 'seeds'", "add it: one instance for each")
        seeds = self.seeds(entry.get("seeds", [0]), (*place, "seeds"))
        own = {key: value for key, value in entry.items() if key not in ("generate", "seeds")}
        options = self._options(own, place)
        return None if name is None else InstanceSource(None, name, FrozenDict(options), seeds)

    def _options(self, given: Mapping[str, object], place: Place) -> dict[str, Any]:
        """Read options of a generator: plain values and lists of numbers."""
        found: dict[str, Any] = {}
        for key, value in given.items():
            if isinstance(value, list | tuple) and all(isinstance(each, int | float) for each in value):
                found[str(key)] = tuple(value)
            elif isinstance(value, Plain):
                found[str(key)] = value
            else:
                self.refuse((*place, str(key)), value, "a number, a word or a list of numbers")
        return found

    def _words(self, value: object, place: Place, needed: str) -> str | None:
        if isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT and "\0" not in value:
            return value
        self.refuse(place, describe(value), needed)
        return None

    def method(self, entry: object, place: Place) -> MethodChoice | None:
        """Read a method."""
        if isinstance(entry, str):
            return MethodChoice(entry)
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            self.refuse(place, describe(entry), "a name, or {name: NAME, own parameters}")
            return None
        own = {key: value for key, value in entry.items() if key not in ("name", "limits")}
        limits = self.limits(entry["limits"], (*place, "limits")) if "limits" in entry else None
        return MethodChoice(entry["name"], self.parameters(own, place), limits)

    def parameters(self, given: object, place: Place) -> FrozenDict[str, tuple[Any, ...]]:
        """Read parameters, each with one value or several."""
        if given is None:
            return FrozenDict({})
        if not isinstance(given, Mapping) or len(given) > MOST_KEYS:
            self.refuse(place, describe(given), f"a mapping of at most {MOST_KEYS} parameters")
            return FrozenDict({})
        return FrozenDict({str(key): self._values(value, (*place, str(key))) for key, value in given.items()})

    def _values(self, value: object, place: Place) -> tuple[Any, ...]:
        values = value if isinstance(value, list | tuple) else (value,)
        if not values:
            self.refuse(place, "an empty list", "a value, or a list of them")
        if len(values) > MOST_RUNS:
            self.reading.faults.append(too_many(place, len(values), MOST_RUNS))
            return ()
        for index, each in enumerate(values):
            if not isinstance(each, Plain):
                self.refuse((*place, index), describe(each), "a number, a word, yes or no, or null")
        return tuple(values)

    def seeds(self, value: object, place: Place) -> tuple[int, ...]:
        """Read seeds: each of them, or how many from which on."""
        needed = "a list of whole numbers from 0 up, or {from: 0, count: 100}"
        if isinstance(value, Mapping):
            return self._range(value, place)
        if not isinstance(value, list | tuple) or not value:
            self.refuse(place, describe(value), needed)
            return ()
        if len(value) > MOST_RUNS:
            self.reading.faults.append(too_many(place, len(value), MOST_RUNS))
            return ()
        for index, each in enumerate(value):
            if not _is_seed(each):
                self.refuse((*place, index), describe(each), "a whole number from 0 to 2^128 - 1", "correct it")
        return tuple(dict.fromkeys(each for each in value if _is_seed(each)))

    def _range(self, value: Mapping[str, object], place: Place) -> tuple[int, ...]:
        for key in value:
            if key not in ("from", "count"):
                advice = nearest(str(key), ("from", "count")) or "remove it"
                self.refuse((*place, str(key)), "an unknown key", "from and count", advice)
        first = value.get("from", 0)
        if not _is_seed(first) or not isinstance(first, int):
            self.refuse((*place, "from"), describe(first), "a whole number from 0 up", "correct it")
            first = 0
        count = self.checked(value.get("count"), check_count, (*place, "count"))
        if count is not None and count > MOST_RUNS:
            self.reading.faults.append(too_many((*place, "count"), count, MOST_RUNS))
            count = None
        return tuple(range(first, first + (count or 1)))

    def limits(self, value: object, place: Place) -> FrozenDict[str, Any]:
        """Read limits: seconds, so far."""
        if not isinstance(value, Mapping):
            self.refuse(place, describe(value), "a mapping such as {seconds: 30}")
            return FrozenDict({})
        for key in value:
            if key != "seconds":
                self.refuse((*place, str(key)), "an unknown key", "seconds", "remove it")
        if "seconds" not in value:
            return FrozenDict({})
        seconds = self.checked(value["seconds"], check_limit, (*place, "seconds"))
        return FrozenDict({} if seconds is None else {"seconds": seconds})


def _is_seed(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_SEED


# The JSON Schema of a study file.
NAME: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
TEXT: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}
SEED: Final = {"type": "integer", "minimum": 0, "maximum": LARGEST_SEED}
VALUE: Final = {"type": ["string", "number", "boolean", "null"]}
VALUES: Final = {"anyOf": [VALUE, {"type": "array", "items": VALUE, "minItems": 1, "maxItems": MOST_RUNS}]}
OPTION: Final = {"anyOf": [VALUE, {"type": "array", "items": {"type": "number"}}]}
LIMITS: Final = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"seconds": {"type": "number", "minimum": check_limit.least, "maximum": check_limit.most}},
}


def study_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) that every study file satisfies.

    Which generators, methods and parameters there are is beyond it; running the study checks that too.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lpsched study",
        "type": "object",
        "additionalProperties": False,
        "required": ["format", "name", "instances", "methods"],
        "properties": {
            "format": {"const": FORMAT},
            "name": NAME,
            "description": {"type": "string", "maxLength": LONGEST_TEXT},
            "instances": _list_of({"anyOf": [_file(), _generator()]}),
            "methods": _list_of({"anyOf": [{"type": "string"}, _method()]}),
            "parameters": {"anyOf": [{"type": "object", "additionalProperties": VALUES}, {"type": "null"}]},
            "seeds": _seeds(),
            "limits": LIMITS,
        },
    }


def _list_of(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1, "maxItems": MOST_RUNS}


def _file() -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": ["file"], "properties": {"file": TEXT}}


def _generator() -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["generate", "seeds"],
        "not": {"required": ["file"]},
        "properties": {"generate": TEXT, "seeds": _seeds()},
        "additionalProperties": OPTION,
    }


def _method() -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "limits": LIMITS},
        "additionalProperties": VALUES,
    }


def _seeds() -> dict[str, Any]:
    counted = {
        "type": "object",
        "additionalProperties": False,
        "required": ["count"],
        "properties": {"from": SEED, "count": {"type": "integer", "minimum": 1, "maximum": MOST_RUNS}},
    }
    listed = {"type": "array", "items": SEED, "minItems": 1, "maxItems": MOST_RUNS}
    return {"anyOf": [listed, counted]}


def read_study(path: Path | str, check: Callable[[Study], Iterable[Fault]] | None = None) -> Study:
    """Read a study from a YAML or JSON file.

    Parameters
    ----------
    check
        Finds what else is wrong with a study of sound shape, so that it is told with the line it stands in.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in file order.
    """
    path = Path(path)

    def make(raw: object) -> Study:
        study = study_from(raw, str(path))
        faults = tuple(check(study)) if check is not None else ()
        if faults:
            raise InstanceError(str(path), faults)
        return study

    return made_of(read_document(path), path, make)
