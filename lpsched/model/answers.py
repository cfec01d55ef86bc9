"""Files of answers: schedules, allocations, certificates, proofs.

What stands in such a file is declared by data classes (`Piece`) and a model of the whole (`Answer`, `Sealed`); Pydantic
reads them, and `problems.py` says what is wrong. Only the kind of a value is checked here: whether a number makes
sense is for a verifier or a checker to say.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Self

from pydantic import ConfigDict, Field
from pydantic_core import core_schema

from lpsched.errors import Fault, InstanceError
from lpsched.model.base import Instance, Part, with_few_keys
from lpsched.model.fields import LARGEST, SMALLEST, Checked, FrozenDict, Several, describe, whole
from lpsched.model.results import JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

    from lpsched.model.fields import Message

_DECIMAL: Final = re.compile(r"-?[0-9]{1,309}(\.[0-9]{1,1200})?")  # a double, with room to spare
_INTEGER: Final = core_schema.int_schema(strict=True)
_KINDS: Final[dict[str, CoreSchema]] = {
    "a name": core_schema.str_schema(strict=True),
    "a whole number": core_schema.union_schema(  # most are integers, which Pydantic alone is quick with
        [_INTEGER, core_schema.no_info_before_validator_function(whole, _INTEGER)], mode="left_to_right"
    ),
    "a number": core_schema.float_schema(strict=True, allow_inf_nan=False),
}


@dataclass(frozen=True, slots=True)
class _Any(Checked[Any]):
    """Any value of one kind."""

    needed: str

    def core(self) -> CoreSchema:
        """Return what Pydantic checks."""
        return _KINDS[self.needed]

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        return describe(value), self.needed, "put it in quotes" if self.needed == "a name" else "correct it"


class _Exact(Checked[Fraction]):
    """A number that is written as an exact decimal in quotes, so that every reader has the same number."""

    __slots__ = ()

    def core(self) -> CoreSchema:
        """Return what Pydantic checks."""
        return core_schema.no_info_plain_validator_function(_exact)

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        return describe(value), "an exact decimal in quotes, such as '12.5'", "certify again"


class _Double(Checked[float]):
    """An exact decimal that is the double that stands in an instance."""

    __slots__ = ()

    def core(self) -> CoreSchema:
        """Return what Pydantic checks."""
        return core_schema.no_info_plain_validator_function(_double)

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        needed = f"the exact decimal, in quotes, of 0 or of a double from {SMALLEST:g} to {LARGEST:g}"
        return describe(value), needed, "certify again"


def _exact(value: object) -> Fraction:
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
        raise ValueError("no exact decimal")
    exact = Fraction(value)
    if abs(exact) > sys.float_info.max:
        raise ValueError("too large")
    return exact


def _double(value: object) -> float:
    exact = _exact(value)
    if Fraction(float(exact)) != exact or (exact > 0 and not SMALLEST <= exact <= LARGEST):
        raise ValueError("no double of an instance")
    return float(exact)


AnyName = Annotated[str, _Any("a name")]
AnyWhole = Annotated[int, _Any("a whole number")]
AnyNumber = Annotated[float, _Any("a number")]
AnyNumbers = Annotated[tuple[AnyNumber, ...], Several()]
Exact = Annotated[Fraction, _Exact()]
Double = Annotated[float, _Double()]
Exacts = Annotated[tuple[Exact, ...], Several(needed="a list of exact decimals")]
ExactPrices = Annotated[FrozenDict[str, Exact], Several(needed="a mapping from names to exact decimals")]


class Piece(JsonObject):
    """Base of the data classes that stand in files of answers; their fields are of the types above."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Tell Pydantic to look at the number of keys first."""
        return core_schema.no_info_before_validator_function(with_few_keys, handler(source))


class About(Part):
    """Which instance an answer is about."""

    name: AnyName
    hash: AnyName


class Answer(Instance):
    """A whole file; programs of others need not say what wrote it, and for which instance."""

    lpsched: Any = Field(None, kw_only=True)
    instance: Any = Field(None, kw_only=True)


class Sealed(Answer):
    """A file that lpsched wrote, with a checksum against accidents."""

    HINT: ClassVar[str] = "certify again"

    lpsched: Any = Field(kw_only=True)
    instance: About = Field(kw_only=True)
    checksum: AnyName = Field(kw_only=True)

    @classmethod
    def read(cls, raw: object, source: str = "", *, context: object = None) -> Self:
        """Return what a mapping says, if it is as it was written."""
        made = super().read(raw, source, context=context)
        if isinstance(raw, dict) and made.checksum != (expected := checksum(raw)):
            changed = Fault(("checksum",), describe(made.checksum), expected, "the file was changed: certify again")
            raise InstanceError(source, (changed,))
        return made


def checksum(content: Mapping[str, Any]) -> str:
    """Return what tells whether a file was changed: the SHA-256 of all else in it, in a canonical form."""
    rest = {key: value for key, value in content.items() if key != "checksum"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def answer_head(format: str, version: str, name: str, content_hash: str) -> dict[str, Any]:  # noqa: A002 - the key
    """Return the keys that a file of an answer begins with."""
    return {"format": format, "lpsched": version, "instance": {"name": name, "hash": content_hash}}


def answer_text(content: Mapping[str, Any], rows: str = "") -> bytes:
    """Return the bytes of a JSON file; of the list that comes last and is called `rows`, an entry to a line."""
    if not content.get(rows):
        return f"{json.dumps(content, indent=2, ensure_ascii=False)}\n".encode()
    rest = {key: value for key, value in content.items() if key != rows}
    head = json.dumps(rest, indent=2, ensure_ascii=False).removesuffix("\n}")
    lines = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in content[rows])
    return f'{head},\n  "{rows}": [\n{lines}\n  ]\n}}\n'.encode()
