"""Types of fields and their checks; mappings and tables that cannot change; plain hashes."""

from __future__ import annotations

import hashlib
import json
import math
import operator
import re
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Final, Generic, NoReturn, Protocol, TypeVar, get_args

from pydantic import FailFast, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError, core_schema

from lpsched.errors import LONGEST_NAME, MOST_ISSUES, quote

Value = TypeVar("Value")
Message = tuple[str, str, str]  # what was found, what is needed, what to do
SMALLEST: Final = 1e-30
LARGEST: Final = 1e30
LARGEST_COV: Final = 5.0  # beyond, nearly all times are nearly 0 and a few are enormous
MOST: Final = 10**15  # tasks or machines in total: sums stay exact in a double


def describe(value: object) -> str:  # noqa: PLR0911 - one for each kind of value
    """Say briefly what a value is, as the user would recognise it.

    >>> describe("2.5 W"), describe(True), describe(None), describe([1, 2])
    ("the text '2.5 W'", 'true (a yes/no value)', 'nothing (null)', 'a list of 2')
    """
    match value:
        case None:
            return "nothing (null)"
        case bool():
            return f"{str(value).lower()} (a yes/no value)"
        case str():
            return f"the text {quote(value)}"
        case int() | float():
            return shown_number(value)
        case dict():
            return f"a mapping of {len(value)}"
        case list() | tuple():
            return f"a list of {len(value)}"
    return f"a value of type {type(value).__name__}"


def shown_number(value: float) -> str:
    """Write a number for a message, in words where it is no number and briefly where it is huge."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "infinity" if value > 0 else "minus infinity"
    if isinstance(value, int) and abs(value) >= 10**30:
        return f"a whole number near {'-' if value < 0 else ''}10^{int(value.bit_length() * math.log10(2))}"
    return repr(value)


def rejection(found: str, needed: str, do: str) -> PydanticCustomError:
    """Return the error that Pydantic carries out to where an `InputIssue` is made of it."""
    context = {"got": found, "expected": needed, "hint": do}
    return PydanticCustomError("issue", "got {got}, expected {expected}; {hint}", context)


class Checked(Generic[Value]):
    """Metadata of a field type: Pydantic checks a value, and `message` says what is wrong with one that fails."""

    __slots__ = ()

    def core(self) -> CoreSchema:
        """Return what Pydantic checks."""
        raise NotImplementedError

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        raise NotImplementedError

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return what Pydantic checks; its error carries this object to where the message is written."""
        carried: dict[str, Any] = {"of": self}
        return core_schema.custom_error_schema(
            self.core(), "field", custom_error_message="is not valid", custom_error_context=carried
        )

    def __call__(self, value: object) -> Value:
        """Return a single value, if it is valid."""
        try:
            checked: Value = _adapter(self).validate_python(value)
        except ValidationError:
            raise rejection(*self.message(value)) from None
        return checked


@cache
def _adapter(check: Checked[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(Annotated[Any, check])


@dataclass(frozen=True, slots=True)
class Amount(Checked[float]):
    """A number of `unit` from `least` to `most`; 0, or not below SMALLEST.

    >>> Amount("watts")(2)
    2.0
    """

    unit: str
    least: float = 0.0
    most: float = LARGEST

    @property
    def needed(self) -> str:
        """What a value must be, for a message."""
        return f"{self.unit}: a number from {self.least:g} to {self.most:g}"

    def core(self) -> CoreSchema:
        """Return a finite float in the range; whole numbers are floats, too, but yes and no are not."""
        number = core_schema.float_schema(strict=True, allow_inf_nan=False, ge=self.least, le=self.most)
        return core_schema.no_info_after_validator_function(_tidy, number)

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return describe(value), self.needed, "write it as a plain number"
        if not self.least <= value <= self.most:  # false for NaN too
            return shown_number(value), self.needed, "correct it"
        return shown_number(value), f"0, or at least {SMALLEST:g} {self.unit}", "correct the unit"

    def cells(self, rows: Sequence[Sequence[object]]) -> array[float] | None:
        """Return rows of numbers or `None` as one array, NaN for `None`; nothing if any is not valid.

        Pydantic checks all of them in one call.
        """
        try:
            checked: list[list[float | None]] = _rows_adapter(self).validate_python(rows)
        except ValidationError:
            return None
        cells = [math.nan if cell is None else cell + 0.0 for row in checked for cell in row]
        if cells and not min(cells) >= SMALLEST and any(0.0 < cell < SMALLEST for cell in cells):
            return None  # `min` is quick, and not below SMALLEST where there are neither zeros nor NaN
        return array("d", cells)


@cache
def _rows_adapter(check: Amount) -> TypeAdapter[Any]:
    cell = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=check.least, le=check.most)]
    row = Annotated[list[cell | None], FailFast()]
    return TypeAdapter(Annotated[list[row], FailFast()])


def _tidy(value: float) -> float:
    """Reject what is lost in rounding; turn -0.0 into 0.0, so that equal instances have equal hashes."""
    if 0 < value < SMALLEST:
        raise ValueError("too small")
    return value + 0.0


@dataclass(frozen=True, slots=True)
class Whole(Checked[int]):
    """A whole number from `least` to `most`; an integral float such as 1e3 counts as whole.

    >>> Whole(2, 9)(3.0)
    3
    """

    least: int
    most: int
    do: str = "correct it"

    @property
    def needed(self) -> str:
        """What a value must be, for a message."""
        power = (self.most + 1).bit_length() - 1
        most = f"2^{power} - 1" if self.most >= 10**9 and self.most + 1 == 2**power else f"{self.most:,}"
        return f"a whole number from {self.least} to {most}"

    def core(self) -> CoreSchema:
        """Return an integer in the range."""
        number = core_schema.int_schema(strict=True, ge=self.least, le=self.most)
        return core_schema.no_info_before_validator_function(whole, number)

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return describe(value), self.needed, "write it as a number"
        return shown_number(value), self.needed, self.do


def whole(value: object) -> object:
    """Return an integer for an integral float and for the integers of NumPy."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, bool | int | str) or not hasattr(value, "__index__"):
        return value
    return operator.index(value)


@dataclass(frozen=True, slots=True)
class _Count(Whole):
    """A number of tasks or machines."""

    def message(self, value: object) -> Message:
        needed = "a whole number from 1 to 10^15"
        if isinstance(value, bool) or not isinstance(value, int | float):
            return describe(value), needed, "write it as a number"
        if isinstance(value, float) and not value.is_integer():  # NaN and infinity are not either
            return describe(value), needed, "round it"
        return describe(value), needed, "correct it, or drop the entry" if value < 1 else "scale the instance down"


@dataclass(frozen=True, slots=True)
class _Name(Checked[str]):
    """A name that can be printed, compared and found again."""

    def core(self) -> CoreSchema:
        text = core_schema.str_schema(strict=True, min_length=1, max_length=LONGEST_NAME)
        return core_schema.no_info_after_validator_function(_visible, text)

    def message(self, value: object) -> Message:
        needed = f"a name: 1 to {LONGEST_NAME} printable characters, no blank at either end"
        if not isinstance(value, str):
            return describe(value), needed, "put it in quotes" if isinstance(value, int | float) else "give it a name"
        if not value:
            return "an empty name", needed, "give it a name"
        if len(value) > LONGEST_NAME:
            return f"a name of {len(value)} characters", needed, "shorten it"
        if not value.isprintable():
            return f"{quote(value)}, with control or invisible characters", needed, "remove them"
        return f"{quote(value)}, with a blank at its end", needed, "remove the blank"


def _visible(value: str) -> str:
    if not value.isprintable() or value != value.strip():
        raise ValueError("invisible characters, or a blank at an end")
    return value


@dataclass(frozen=True, slots=True)
class Text(Checked[str]):
    """A text of `least` to `most` characters that a file and a program can be given."""

    most: int
    least: int = 0
    needed: str = ""

    def core(self) -> CoreSchema:
        """Return a text of a valid length."""
        text = core_schema.str_schema(strict=True, min_length=self.least, max_length=self.most)
        return core_schema.no_info_after_validator_function(_plain_text, text)

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        needed = self.needed or f"a text of at most {self.most:,} characters"
        if not isinstance(value, str):
            return describe(value), needed, "put it in quotes" if isinstance(value, int | float) else "write a text"
        if len(value) > self.most:
            return f"{len(value):,} characters", needed, "shorten it"
        if len(value) < self.least:
            return "an empty text", needed, "write it, or drop the key"
        return f"{quote(value)}, which no program can be given", "plain text", "remove such characters"


def _plain_text(value: str) -> str:
    value.encode()  # raises a ValueError if it is half a character
    if "\0" in value:
        raise ValueError("no text")
    return value


@dataclass(frozen=True, slots=True)
class _Moment(Checked[str]):
    """A date and time of day with its zone, as ISO 8601 writes them; kept in UTC."""

    is_whole: bool = False  # without parts of a second

    def core(self) -> CoreSchema:
        text = core_schema.str_schema(strict=True, max_length=LONGEST_NAME)
        return core_schema.no_info_after_validator_function(_whole_in_utc if self.is_whole else _in_utc, text)

    def message(self, value: object) -> Message:
        needed = "a date and time with its zone, such as 2024-01-31T08:00:00Z"
        if self.is_whole and isinstance(value, str) and is_in_parts(value):
            return describe(value), "a whole second", "round it"
        return describe(value), needed, "write it so; Z is UTC, +01:00 an hour ahead of it"


def is_in_parts(moment: str) -> bool:
    """Return whether a moment has parts of a second: also those below a microsecond, which Python leaves out.

    >>> is_in_parts("2024-01-31T08:00:00.0000001Z"), is_in_parts("2024-01-31T08:00:00.000Z")
    (True, False)
    """
    found = re.search(r"[.,]([0-9]+)", moment)
    return found is not None and found[1].strip("0") != ""


def _whole_in_utc(text: str) -> str:
    if is_in_parts(text):
        raise ValueError("no whole second")
    return _in_utc(text)


def _in_utc(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("no zone")
    try:
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:
        raise ValueError("outside the years 1 to 9999") from None


@dataclass(frozen=True, slots=True, eq=False)
class Accepted(Checked[Value]):
    """What a schema of Pydantic accepts; `needed` and `do` are the same for every value that it rejects."""

    schema: CoreSchema
    needed: str
    do: str

    def core(self) -> CoreSchema:
        """Return the schema."""
        return self.schema

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        return describe(value), self.needed, self.do


@dataclass(frozen=True, slots=True)
class OneOf(Checked[str]):
    """One of a few words."""

    words: tuple[str, ...]
    do: str = "choose one"

    def core(self) -> CoreSchema:
        """Return one of the words."""
        return core_schema.literal_schema(list(self.words))

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        return describe(value), "one of " + ", ".join(self.words), self.do


@dataclass(frozen=True, slots=True)
class Several:
    """Metadata of a list or mapping: how many items it has, which is checked before they are.

    The items are checked in pieces, so that a list of junk costs no more than its first problems.
    """

    least: int = 0
    most: int | None = None
    needed: str = ""  # for a message, where no description of a field says it
    piece: int = 1_000  # how many items are checked at once; fewer where an item has many problems

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return how Pydantic checks a value."""
        return core_schema.no_info_wrap_validator_function(self._in_pieces, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema with the limits."""
        schema = dict(handler(core))
        for each in (one for one in (schema, *schema.get("anyOf", ())) if one.get("type") in {"array", "object"}):
            word = "Items" if each["type"] == "array" else "Properties"
            limits = {f"min{word}": self.least, f"max{word}": self.most}
            each.update({key: limit for key, limit in limits.items() if limit})
        return schema

    def _in_pieces(self, raw: object, check: Callable[[object], Any]) -> Any:  # noqa: ANN401 - what is checked
        if not isinstance(raw, list | tuple | Mapping):
            return check(raw)  # Pydantic says that it is neither
        if not self.least <= len(raw) <= (self.most if self.most is not None else len(raw)):
            raise PydanticCustomError("count", "too few or too many", {"of": self})
        if len(raw) <= self.piece:
            return check(raw)
        is_mapping = isinstance(raw, Mapping)
        items: Any = list(raw.items()) if isinstance(raw, Mapping) else raw
        found, errors = [], []
        for start in range(0, len(raw), self.piece):
            piece = items[start : start + self.piece]
            try:
                checked = check(dict(piece) if is_mapping else piece)
                found += checked.items() if is_mapping else checked
            except ValidationError as error:
                errors += [_moved(each, 0 if is_mapping else start) for each in error.errors(include_url=False)]
            if len(errors) >= MOST_ISSUES:
                break
        if errors:
            raise ValidationError.from_exception_data("items", errors)
        return FrozenDict(found) if is_mapping else tuple(found)


def _moved(detail: ErrorDetails, start: int) -> InitErrorDetails:
    """Return an error in a piece of a list as one in the list."""
    kind: Any = detail["type"]
    if kind not in KNOWN_ERRORS:
        kind = PydanticCustomError(kind, "is not valid", detail.get("ctx"))
    loc = detail["loc"]
    if loc and isinstance(loc[0], int):
        loc = (loc[0] + start, *loc[1:])
    return InitErrorDetails(type=kind, loc=loc, input=detail["input"], ctx=detail.get("ctx", {}))


KNOWN_ERRORS: Final = frozenset(get_args(core_schema.ErrorType))
check_name: Final = _Name()
check_moment: Final = _Moment()
check_yes: Final[Accepted[bool]] = Accepted(
    core_schema.bool_schema(strict=True), "true or false", "write one of these, without quotes"
)
check_count: Final = _Count(1, MOST)


def numbered(word: str, count: int) -> list[str]:
    """Return names for things that have none, sorted as they are counted.

    >>> numbered("task", 10)[:2]
    ['task-01', 'task-02']
    """
    return [f"{word}-{number:0{len(str(count))}}" for number in range(1, count + 1)]


check_seconds: Final = Amount("seconds", least=SMALLEST)
check_watts: Final = Amount("watts")
check_cov: Final = Amount("a coefficient of variation", most=LARGEST_COV)
check_money: Final = Amount("money")
check_power: Final = Amount("watts", least=SMALLEST)
Name = Annotated[str, check_name]
Moment = Annotated[str, check_moment]
WholeMoment = Annotated[str, _Moment(is_whole=True)]
Count = Annotated[int, check_count]
Money = Annotated[float, check_money]
Watts = Annotated[float, check_watts]
PositiveWatts = Annotated[float, check_power]
Seconds = Annotated[float, check_seconds]
Hours = Annotated[float, Amount("hours", least=SMALLEST)]
Ratio = Annotated[float, Amount("a ratio", least=1.0)]


# What types with P-states have in common: ways to run a task, and the columns of tables.
MOST_P_STATES: Final = 100


class HasStates(Protocol):
    """A type with a name, and with the names of its P-states if it has any."""

    @property
    def name(self) -> str: ...  # noqa: D102 - the class says it
    @property
    def p_states(self) -> tuple[str, ...] | None: ...  # noqa: D102 - the class says it


class WithPStates:
    """A machine or node type that may have P-states."""

    __slots__ = ()

    @property
    def modes(self: HasStates) -> int:
        """How many ways there are to run a task on it: the number of P-states, or 1."""
        return len(self.p_states) if self.p_states is not None else 1

    @property
    def columns(self: HasStates) -> tuple[str, ...]:
        """The labels of its columns in a table file: its name, or name:P-state for each P-state."""
        if self.p_states is None:
            return (self.name,)
        return tuple(f"{self.name}:{state}" for state in self.p_states)


def column_numbers(types: Iterable[HasStates]) -> dict[tuple[str, str | None], int]:
    """Return the column of each type's name and P-state; the P-state is `None` where a type has none."""
    modes = ((each.name, state) for each in types for state in each.p_states or (None,))
    return {mode: column for column, mode in enumerate(modes)}


PStates = Annotated[tuple[Name, ...], Several(1, MOST_P_STATES, f"a list of 1 to {MOST_P_STATES} P-state names")]


# A dictionary that cannot be changed: equal to a plain one, hashable, and it survives pickling.
Key = TypeVar("Key")


class FrozenDict(dict[Key, Value]):
    """A mapping for immutable data.

    >>> prices = FrozenDict({"zip": 0.5})
    >>> prices["zip"], prices == {"zip": 0.5}
    (0.5, True)
    >>> prices["zip"] = 1.0
    Traceback (most recent call last):
    ...
    TypeError: this mapping cannot be changed
    """

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping cannot be changed")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        """Hash the content, whatever its order."""
        return hash(frozenset(self.items()))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of a mapping that is written as a plain one."""
        checked = handler.generate_schema(dict[get_args(source)] if get_args(source) else dict[str, Any])  # type: ignore[misc]
        plain = core_schema.plain_serializer_function_ser_schema(dict)
        return core_schema.no_info_after_validator_function(cls, checked, serialization=plain)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by content, because unpickling must not set items one by one."""
        return FrozenDict, (dict(self),)


class Frozen:
    """Metadata of a mapping that is kept as a `FrozenDict`; for type checkers any mapping can be given."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema by which Pydantic makes one."""
        return handler.generate_schema(FrozenDict[get_args(source)])  # type: ignore[misc]


# Columns of numbers as the bytes of C doubles or 64-bit integers: immutable, compact, hashed at once.
def little_endian(code: str, packed: bytes) -> bytes:
    r"""Return packed numbers as a little-endian machine has them, so that hashes are the same everywhere.

    >>> little_endian("q", array("q", [1]).tobytes())
    b'\x01\x00\x00\x00\x00\x00\x00\x00'
    """
    if sys.byteorder == "little":
        return packed
    cells = array(code, packed)
    cells.byteswap()
    return cells.tobytes()


def plain_hash(content: Mapping[str, Any], format: str) -> str:  # noqa: A002 - what the key is called
    """Return the SHA-256 of a format and its content, in hexadecimal."""
    digest = hashlib.sha256(format.encode())
    digest.update(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())
    return digest.hexdigest()
