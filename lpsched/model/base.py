"""The base of everything that users bring: Pydantic models, rules between their fields, and one reader of all files.

A `Part` is a piece of a file, an `Instance` a whole one. Both are immutable Pydantic models. A rule of an instance is a
function whose parameters name the fields that it needs:

    def priced_tasks_exist(prices: Prices, task_types: tuple[TaskType, ...]) -> Iterator[InputIssue]: ...

The reader validates field by field, runs each rule whose fields are valid, and reports every problem at once, in the
order of the file. `problems.py` translates Pydantic's errors into our messages.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Protocol, Self, cast, dataclass_transform, get_args
from typing import runtime_checkable as checkable

from pydantic import BaseModel, ConfigDict, FailFast, Field, TypeAdapter, ValidationError, model_serializer
from pydantic import model_validator as validator
from pydantic.json_schema import GenerateJsonSchema

from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, Place, nearest, quote
from lpsched.model.fields import Checked, describe, rejection
from lpsched.model.kinds import HINTS, name_of, size_of
from lpsched.model.problems import MOST_ADVISED, field_at, in_file_order, names_of, problems_of, too_many
from lpsched.units import html_table

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler, SerializerFunctionWrapHandler
    from pydantic._internal._model_construction import ModelMetaclass
    from pydantic.fields import FieldInfo
    from pydantic_core import CoreSchema

    @dataclass_transform(kw_only_default=False, field_specifiers=(Field,))
    class _Positional(ModelMetaclass):
        """For type checkers: models may be constructed with positional arguments."""
else:
    _Positional = type(BaseModel)

MOST_KEYS: Final = 100  # of one entry of a list, or of a section
MOST_LISTED: Final = 12  # entries of a list in a notebook
SCHEMA: Final = "https://json-schema.org/draft/2020-12/schema"
Rule = Callable[..., Iterable[InputIssue]]


class Part(BaseModel, metaclass=_Positional):
    """A piece of a file: an immutable model with no other keys than its fields.

    Raises
    ------
    InstanceError
        If a value is not valid; it lists every problem.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    NEEDED: ClassVar[str] = "a mapping"  # what a message says where something else stands in its place

    if not TYPE_CHECKING:

        def __init__(self, *values: object, **named: object) -> None:
            try:
                super().__init__(**_by_name(type(self), values, named))
            except ValidationError as error:
                name = type(self).__name__
                raise InstanceError(name, tuple(problems_of(error, type(self), (), f"see help({name})"))) from None

        __init__.__pydantic_base_init__ = True  # parts of parts are made without a call of it

    @validator(mode="before")
    @classmethod
    def _has_few_keys(cls, raw: object) -> object:
        return with_few_keys(raw)


class OpenPart(Part):
    """A part in which a key without a value counts as not given."""

    @validator(mode="before")
    @classmethod
    def _drop_empty_keys(cls, raw: object) -> object:
        if isinstance(raw, Mapping) and None in raw.values():
            known = names_of(cls)
            return {key: value for key, value in raw.items() if value is not None or key not in known}
        return raw

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Let the keys that need not be there be null, too."""
        schema = handler.resolve_ref_schema(handler(core))
        return schema | {"properties": _nullable(schema)}


class Instance(Part):
    """A whole file: its fields are validated one by one, then the rules between them.

    Raises
    ------
    InstanceError
        If anything is wrong; it lists every problem.
    """

    FORMAT: ClassVar[str]
    HINT: ClassVar[str] = ""  # the default hint; if empty, to look at the schema
    RULES: ClassVar[tuple[Rule, ...]] = ()
    LAST_RULES: ClassVar[tuple[Rule, ...]] = ()  # of the whole instance, each applied only if nothing is wrong before

    if not TYPE_CHECKING:

        def __init__(self, *values: object, **named: object) -> None:
            raw = _by_name(type(self), values, named)
            reader = Reader(type(self), raw, str(raw.get("name")))
            self.__setstate__(type(self).model_construct(**reader.values()).__getstate__())

        __init__.__pydantic_base_init__ = True

    @classmethod
    def model_validate(cls, obj: object, **options: Any) -> Self:  # noqa: ANN401 - as Pydantic declares it
        """Return the instance that a mapping with the keys of a file describes; `format` may be left out."""
        if isinstance(obj, Mapping) and "format" not in obj:
            obj = {"format": cls.FORMAT} | dict(obj)
        return cls.read(obj, context=options.get("context"))

    @classmethod
    def read(cls, raw: object, source: str = "", *, context: object = None) -> Self:
        """Return the instance that a mapping with the keys of a file describes.

        `source` is what the headline of an error calls it; `context` reads files that `raw` names, and without it
        such are rejected.
        """
        if isinstance(raw, cls):
            return raw
        name = source or name_of(cls.FORMAT)
        return cls.model_construct(**Reader(cls, _of_format(cls, raw, name), name, context).values(is_file=True))

    @classmethod
    def from_file(cls, path: Path | str) -> Self:
        """Return the instance in a YAML or JSON file, with the files that it names."""
        made: Self = pkgutil.resolve_name("lpsched.io.instance_files:read_as")(cls, path)  # a part above this one
        return made

    @classmethod
    def given(cls, given: Self | Path | str) -> Self:
        """Return the instance, or the one in a file."""
        return given if isinstance(given, cls) else cls.from_file(cast("Path | str", given))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values of some fields; it is validated like a new instance."""
        if not update:
            return super().model_copy(deep=deep)
        return type(self)(**{key: getattr(self, key) for key in type(self).model_fields} | dict(update))

    def __repr__(self) -> str:
        """Name the instance and its size; the whole would fill the screen."""
        return f"<{type(self).__name__} {getattr(self, 'name', '')!r}: {size_of(self)}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        rows = []
        for key in type(self).model_fields:
            value = getattr(self, key)
            if isinstance(value, tuple) and value and all(hasattr(each, "name") for each in value):
                counts = (f" ({each.count:,})" if hasattr(each, "count") else "" for each in value)
                listed = [f"{each.name}{count}" for each, count in zip(value, counts, strict=True)]
                more = f", and {len(listed) - MOST_LISTED:,} more" if len(listed) > MOST_LISTED else ""
                rows.append((key.replace("_", " "), ", ".join(listed[:MOST_LISTED]) + more))
        return html_table((repr(self)[1:-1], ""), rows)

    def remarks(self) -> tuple[str, ...]:
        """Return what is allowed but worth a second look, in sentences."""
        return ()

    @model_serializer(mode="wrap")
    def _with_format(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        return {"format": type(self).FORMAT} | fields

    @validator(mode="wrap")
    @classmethod
    def _by_the_reader(cls, raw: object, handler: object) -> Self:  # noqa: ARG003 - the reader does its work
        return cls.model_validate(raw)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe a file: it begins with its format."""
        schema = handler.resolve_ref_schema(handler(core))
        head = {"title": f"lpsched {name_of(cls.FORMAT)}", "type": "object", "additionalProperties": False}
        needed = ["format", *schema.get("required", ())]
        return head | {"required": needed, "properties": {"format": {"const": cls.FORMAT}} | _nullable(schema)}

    @classmethod
    def model_json_schema(cls, *arguments: Any, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - as Pydantic has it
        """Return the JSON Schema (draft 2020-12) that every file satisfies.

        What ties the fields together (names that match, shapes, totals) is beyond it; reading a file checks that, too.
        """
        schema: dict[str, Any] = super().model_json_schema(*arguments, **{"schema_generator": _Schema} | options)
        for part in schema.get("$defs", {}).values():
            part["description"] = part.get("description", "").partition("\n\n")[0]  # without the examples
        return {"$schema": SCHEMA} | schema


def with_few_keys(raw: object) -> object:
    """Return the input, unless it has more keys than messages about them would fit in memory."""
    if isinstance(raw, dict | Mapping) and len(raw) > MOST_KEYS:  # `dict` is quicker to check, and the usual case
        raise rejection(describe(raw), f"at most {MOST_KEYS} keys", "")
    return raw


class _Schema(GenerateJsonSchema):
    """Without titles that say a key once more."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - as Pydantic calls it
        """Return no."""
        return False


def _nullable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a schema; null is the same as leaving out a key that need not be there."""
    null, needed = {"type": "null"}, schema.get("required", ())
    return {
        key: each if key in needed or null in each.get("anyOf", ()) else {"anyOf": [each, null]}
        for key, each in schema.get("properties", {}).items()
    }


def _by_name(model: type[BaseModel], values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Return positional and named arguments by the keys of files."""
    fields = model.model_fields
    if values:
        keys = [key for key, field in fields.items() if not field.kw_only]
        if len(values) > len(keys) or set(keys[: len(values)]) & named.keys():
            raise TypeError(f"{model.__name__} takes each of {', '.join(keys)} once")
        named = dict(zip(keys, values, strict=False)) | named
    return {(fields[key].alias or key) if key in fields else key: value for key, value in named.items()}


def _of_format(model: type[Instance], raw: object, source: str) -> Mapping[str, Any]:
    """Return the mapping, unless it is none or of a format that this version cannot know."""
    if not isinstance(raw, Mapping):
        needed = f"a mapping that begins with 'format: {model.FORMAT}'"
        do = model.HINT or f"see 'lpsched new {name_of(model.FORMAT)}'"
        raise InstanceError(source, (InputIssue((), describe(raw), needed, do),))
    found = raw.get("format")
    if not isinstance(found, str) or found == model.FORMAT:
        return raw
    kind, _, version = found.partition("/")
    own, _, present = model.FORMAT.partition("/")
    newer = kind == own and version.isascii() and version.isdigit() and version > present
    do = "install a newer lpsched" if newer else "check which file this is"
    if kind != own and kind in HINTS:
        do = HINTS[kind]
    raise InstanceError(source, (InputIssue(("format",), describe(found), f"'{model.FORMAT}'", do),))


@checkable
class FieldReader(Protocol):
    """Metadata of a field that is not read by Pydantic alone, because it needs other fields or files."""

    def read_field(self, reader: Reader, key: str, raw: object) -> object:
        """Return the value, or `INVALID` after adding the problems to those of the reader."""

    def as_written(self, problem: InputIssue, raw: Mapping[str, Any]) -> InputIssue:  # noqa: ARG002 - others translate places
        """Return a problem that a rule found with the place that the file uses."""
        return problem


INVALID: Final = object()  # stands for a field that has problems


class Reader:
    """Reads one mapping as an instance, and collects every problem.

    `valid` has the values of the fields that rules and other fields may use. An entry of a list that is not valid
    but whose name can be read is there, too, in outline, so that more problems are found at once.
    """

    def __init__(self, model: type[Instance], raw: Mapping[str, Any], source: str, context: object = None) -> None:
        self.model, self.raw, self.source, self.context = model, raw, source, context
        self.hint = model.HINT or f"see 'lpsched schema {name_of(model.FORMAT)}'"
        self.problems: list[InputIssue] = []
        self.valid: dict[str, Any] = {}
        # By key, what gives a problem that a rule found its line in another file.
        self.places: dict[str, Callable[[InputIssue], InputIssue]] = {}

    def values(self, *, is_file: bool = False) -> dict[str, Any]:
        """Return the values of all fields; an error has all problems in the order of the mapping."""
        self._look_at_keys(is_file=is_file)
        for key, field in self.model.model_fields.items():
            value = self._field(key, field)
            if value is not INVALID:
                self.valid[key] = value
        for rule in self.model.RULES:
            needed = _parameters(rule)
            if needed <= self.valid.keys():
                self._apply(rule, **{key: self.valid[key] for key in needed})
        for rule in self.model.LAST_RULES:
            if not self.problems:
                self._apply(rule, self.model.model_construct(**self.valid))
        if self.problems:
            raise InstanceError(self.source, in_file_order(self.problems, self.raw))
        return self.valid

    def _apply(self, rule: Rule, *values: object, **named: object) -> None:
        self.problems += [self._as_written(each) for each in islice(rule(*values, **named), MOST_ISSUES)]

    def _as_written(self, problem: InputIssue) -> InputIssue:
        field = field_at(self.model, problem.path[:1])
        if field is not None and (reader := _reader_of(field)) is not None:
            problem = reader.as_written(problem, self.raw)
        place = self.places.get(str(problem.path[0])) if problem.path else None
        return problem if place is None else place(problem)

    def _look_at_keys(self, *, is_file: bool) -> None:
        known = ("format", *names_of(self.model))
        if is_file and not isinstance(self.raw.get("format"), str):
            found = describe(self.raw["format"]) if "format" in self.raw else "no format"
            needed = f"'format: {self.model.FORMAT}'"
            self.problems.append(InputIssue(("format",), found, needed, "write it as the first key"))
        for key in islice((key for key in self.raw if key not in known), MOST_ISSUES):
            advice = nearest(str(key), known) if len(self.problems) < MOST_ADVISED else ""
            self.add((str(key),), "an unknown key", "one of " + ", ".join(known), advice or "remove it")

    def _field(self, key: str, field: FieldInfo) -> object:
        name = field.alias or key
        raw = self.raw.get(name)
        if raw is None and not field.is_required():
            return field.get_default(call_default_factory=True, validated_data=self.valid)
        if raw is None and name in self.raw and type(None) in get_args(field.annotation):
            return None  # the key must be there, its value need not
        if raw is None:
            check = next((each for each in field.metadata if isinstance(each, Checked)), None)
            found, needed, do = check.message(None) if check else ("nothing", _needed(field, key), "add it")
            self.add((name,), found if name in self.raw else "nothing", needed, do)
            return INVALID
        reader = _reader_at(self.model, key)
        return self.validated(key, raw) if reader is None else reader.read_field(self, key, raw)

    def validated(self, key: str, raw: object) -> Any:  # noqa: ANN401 - of the field's type
        """Return what the type of a field makes of a value, or `INVALID` after adding its problems."""
        try:
            return adapter_of(self.model, key).validate_python(raw)
        except ValidationError as error:
            self.problems += problems_of(error, self.model, (key,), self.hint)
            return INVALID

    def add(self, place: Place, found: str, needed: str, do: str = "") -> None:
        """Add a problem."""
        self.problems.append(InputIssue(place, found, needed, do or self.hint))


@dataclass(frozen=True)
class Entries(FieldReader):
    """Metadata of a list of parts, which is read entry by entry once one of them is not valid.

    A list of junk then costs no more than its first problems. Where an entry is not valid but its name can be
    read, the outline that remains, with `stand_in` for what must be there, still serves to check other fields
    and the rules.
    """

    word: str  # for one of them
    least: int = 1
    most: int | None = None
    stand_in: Mapping[str, object] | None = None  # None: no outlines
    needed: tuple[str, ...] = ("name", "p_states")  # without these, no other field can be checked against an entry

    def read_field(self, reader: Reader, key: str, raw: object) -> object:
        """Return the parts, those that are not valid in outline; `INVALID` where one has none."""
        if not isinstance(raw, list | tuple):
            reader.add((key,), describe(raw), _needed(reader.model.model_fields[key], key))
            return INVALID
        if len(raw) < self.least:
            article = "an" if self.word[0] in "aeiou" else "a"
            reader.add((key,), "an empty list", f"at least one {self.word}", f"add {article} {self.word}")
        if self.most is not None and len(raw) > self.most:
            reader.problems.append(too_many((key,), len(raw), self.most))
            return INVALID
        try:
            return adapter_of(reader.model, key, fail_fast=True).validate_python(raw)
        except ValidationError:
            return self._one_by_one(reader, key, raw)

    def _one_by_one(self, reader: Reader, key: str, raw: list[Any] | tuple[Any, ...]) -> object:
        adapter = _adapter(get_args(reader.model.model_fields[key].annotation)[0])
        found: list[Any] = []
        problems: list[InputIssue] = []
        for index, entry in enumerate(raw):
            if len(problems) >= MOST_ISSUES:
                break
            try:
                found.append(adapter.validate_python(entry))
            except ValidationError as error:
                problems += problems_of(error, reader.model, (key, index), reader.hint)
                found += self._outline(adapter, entry)
        reader.problems += problems[:MOST_ISSUES]
        return tuple(found) if len(found) == len(raw) else INVALID

    def _outline(self, adapter: TypeAdapter[Any], entry: object) -> list[Any]:
        """Return what can be used of an entry that is not valid; nothing where its name is not."""
        if self.stand_in is None or not isinstance(entry, Mapping):
            return []
        usable = dict(self.stand_in) | dict(entry)
        for _ in range(2):
            try:
                return [adapter.validate_python(usable)]
            except ValidationError as error:
                for detail in error.errors(include_url=False):
                    key = str(detail["loc"][0]) if detail["loc"] else ""
                    if key in self.needed and detail["type"] != "extra_forbidden":
                        return []
                    usable.pop(key, None)
                usable = dict(self.stand_in) | usable
        return []

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema with the limits."""
        limits = {"minItems": self.least, "maxItems": self.most}
        return dict(handler(core)) | {key: limit for key, limit in limits.items() if limit}


@cache
def _parameters(rule: Rule) -> frozenset[str]:
    return frozenset(inspect.signature(rule).parameters)


@cache
def adapter_of(model: type[BaseModel], key: str, *, fail_fast: bool = False) -> TypeAdapter[Any]:
    """Return the validator of one field of a model; if `fail_fast`, it looks for the first problem only."""
    field = model.model_fields[key]
    metadata = [each for each in field.metadata if not isinstance(each, FieldReader)] + [FailFast()] * fail_fast
    kind: Any = field.annotation
    return TypeAdapter(Annotated[kind, *metadata] if metadata else kind)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - any annotation
    return TypeAdapter(kind)


@cache
def _reader_at(model: type[BaseModel], key: str) -> FieldReader | None:
    return _reader_of(model.model_fields[key])


def _reader_of(field: FieldInfo) -> FieldReader | None:
    return next((each for each in field.metadata if isinstance(each, FieldReader)), None)


def _needed(field: FieldInfo, key: str) -> str:
    return field.description or f"the key {quote(key)}"
