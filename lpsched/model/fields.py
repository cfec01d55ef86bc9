"""Types of fields and their checks; mappings and tables that cannot change; plain hashes."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from array import array
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, Protocol, TypeVar

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from lpsched.errors import LONGEST_NAME, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from _typeshed import DataclassInstance


SMALLEST: Final = 1e-30
LARGEST: Final = 1e30
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


def refusal(found: str, needed: str, do: str) -> PydanticCustomError:
    """Return the error that Pydantic carries out to where a `Fault` is made of it."""
    context = {"found": found, "needed": needed, "do": do}
    return PydanticCustomError("fault", "found {found}, needs {needed}; {do}", context)


def check_name(value: object) -> str:
    """Return a name that can be printed, compared and found again."""
    needed = f"a name: 1 to {LONGEST_NAME} printable characters, no blank at either end"
    if not isinstance(value, str):
        hint = "put it in quotes" if isinstance(value, int | float) else "give it a name"
        raise refusal(describe(value), needed, hint)
    if not value:
        raise refusal("an empty name", needed, "give it a name")
    if len(value) > LONGEST_NAME:
        raise refusal(f"a name of {len(value)} characters", needed, "shorten it")
    if not value.isprintable():
        raise refusal(f"{quote(value)}, with control or invisible characters", needed, "remove them")
    if value != value.strip():
        raise refusal(f"{quote(value)}, with a blank at its end", needed, "remove the blank")
    return value


def check_count(value: object) -> int:
    """Return a whole number from 1 to 10^15; an integral float such as 1e9 counts as whole."""
    needed = "a whole number from 1 to 10^15"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refusal(describe(value), needed, "write it as a number")
    if isinstance(value, float) and not value.is_integer():  # NaN and infinity are not either
        raise refusal(shown_number(value), needed, "round it")
    if value < 1:
        raise refusal(shown_number(value), needed, "correct it, or drop the entry")
    if value > MOST:
        raise refusal(shown_number(value), needed, "scale the instance down")
    return int(value)


@dataclass(frozen=True, slots=True)
class Amount:
    """The check for an amount of `unit`: from `least` to `most`, and 0 or not below SMALLEST.

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

    def __call__(self, value: object) -> float:
        """Return the amount, if it is one."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise refusal(describe(value), self.needed, "write it as a plain number")
        if not self.least <= value <= self.most:  # false for NaN too
            raise refusal(shown_number(value), self.needed, "correct it")
        if 0 < value < SMALLEST:
            raise refusal(shown_number(value), f"0, or at least {SMALLEST:g} {self.unit}", "correct the unit")
        return float(value) + 0.0  # turns -0.0 into 0.0, so that equal instances have equal hashes


def numbered(word: str, count: int) -> list[str]:
    """Return names for things that have none, sorted as they are counted.

    >>> numbered("task", 10)[:2]
    ['task-01', 'task-02']
    """
    return [f"{word}-{number:0{len(str(count))}}" for number in range(1, count + 1)]


check_seconds: Final = Amount("seconds", least=SMALLEST)
check_watts: Final = Amount("watts")


def number_field(check: Callable[[Any], float], **schema: float) -> Any:  # noqa: ANN401 - type metadata
    """Return what makes an annotated type of a check: how to validate, and the JSON Schema."""
    return PlainValidator(check), WithJsonSchema({"type": "number", **schema})


Name = Annotated[
    str, PlainValidator(check_name), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LONGEST_NAME})
]
Count = Annotated[int, PlainValidator(check_count), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MOST})]
check_money: Final = Amount("money")
check_power: Final = Amount("watts", least=SMALLEST)

Money = Annotated[float, *number_field(check_money, minimum=0, maximum=LARGEST)]
Watts = Annotated[float, *number_field(check_watts, minimum=0, maximum=LARGEST)]
PositiveWatts = Annotated[float, *number_field(check_power, minimum=SMALLEST, maximum=LARGEST)]
Seconds = Annotated[float, *number_field(check_seconds, minimum=SMALLEST, maximum=LARGEST)]
Hours = Annotated[float, *number_field(Amount("hours", least=SMALLEST), minimum=SMALLEST, maximum=LARGEST)]
Ratio = Annotated[float, *number_field(Amount("a ratio", least=1.0), minimum=1, maximum=LARGEST)]


# What types with P-states have in common: ways to run a task, and the columns of tables.
MOST_P_STATES: Final = 100


class _HasStates(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def p_states(self) -> tuple[str, ...] | None: ...


class WithPStates:
    """A machine or node type that may have P-states."""

    __slots__ = ()

    @property
    def modes(self: _HasStates) -> int:
        """How many ways there are to run a task on it: the number of P-states, or 1."""
        return len(self.p_states) if self.p_states is not None else 1

    @property
    def columns(self: _HasStates) -> tuple[str, ...]:
        """The labels of its columns in a table file: its name, or name:P-state for each P-state."""
        if self.p_states is None:
            return (self.name,)
        return tuple(f"{self.name}:{state}" for state in self.p_states)


def column_numbers(types: Iterable[_HasStates]) -> dict[tuple[str, str | None], int]:
    """Return the column of each type's name and P-state; the P-state is `None` where a type has none."""
    modes = ((each.name, state) for each in types for state in each.p_states or (None,))
    return {mode: column for column, mode in enumerate(modes)}


def check_p_states(value: object) -> object:
    """Return the names of P-states as a tuple."""
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_P_STATES:
        needed = f"a list of 1 to {MOST_P_STATES} P-state names"
        raise refusal(describe(value), needed, "name them, or drop the key")
    return tuple(value)


# A dictionary that cannot be changed: equal to a plain one, hashable, and it survives pickling.
Key = TypeVar("Key")
Value = TypeVar("Value")


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

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by content, because unpickling must not set items one by one."""
        return FrozenDict, (dict(self),)


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


def plain_hash(part: DataclassInstance, format: str) -> str:  # noqa: A002 - what the key is called
    """Return the SHA-256, in hexadecimal."""
    told: dict[str, Any] = asdict(part)
    digest = hashlib.sha256(format.encode())
    digest.update(json.dumps(told, sort_keys=True, separators=(",", ":")).encode())
    return digest.hexdigest()
