"""Files of answers: schedules, allocations, certificates, proofs.

Such a file is declared by data classes (`AnswerPart`) and a model of the whole (`Answer`, `Sealed`); Pydantic
reads them, and `problems.py` says what is wrong. Only the kind of a value is checked here: whether a number makes
sense is for a verifier or a checker to say.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from lpsched.errors import InputIssue, InstanceError
from lpsched.model.base import Instance, Part, with_few_keys
from lpsched.model.fields import LARGEST, SMALLEST, Accepted, FrozenDict, Several, describe, whole
from lpsched.model.results import JsonObject

_DECIMAL: Final = re.compile(r"-?[0-9]{1,309}(\.[0-9]{1,1200})?")  # a double, with room to spare
_INTEGER: Final = core_schema.int_schema(strict=True)
_WHOLE: Final = core_schema.union_schema(  # most are integers, which Pydantic alone is quick with
    [_INTEGER, core_schema.no_info_before_validator_function(whole, _INTEGER)], mode="left_to_right"
)
_NUMBER: Final = core_schema.float_schema(strict=True, allow_inf_nan=False)


def _exact(value: object) -> Fraction:
    """Read an exact decimal in quotes, so that every reader has the same number."""
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
        raise ValueError("no exact decimal")
    exact = Fraction(value)
    if abs(exact) > sys.float_info.max:
        raise ValueError("too large")
    return exact


def _double(value: object) -> float:
    """Read the exact decimal of a double that may stand in an instance."""
    exact = _exact(value)
    if Fraction(float(exact)) != exact or (exact > 0 and not SMALLEST <= exact <= LARGEST):
        raise ValueError("no double of an instance")
    return float(exact)


_EXACT: Final = core_schema.no_info_plain_validator_function(_exact)
_DOUBLE: Final = core_schema.no_info_plain_validator_function(_double)
_DOUBLES: Final = f"the exact decimal, in quotes, of 0 or of a double from {SMALLEST:g} to {LARGEST:g}"
AnyName = Annotated[str, Accepted(core_schema.str_schema(strict=True), "a name", "put it in quotes")]
AnyWhole = Annotated[int, Accepted(_WHOLE, "a whole number", "correct it")]
AnyNumber = Annotated[float, Accepted(_NUMBER, "a number", "correct it")]
AnyNumbers = Annotated[tuple[AnyNumber, ...], Several()]
Exact = Annotated[Fraction, Accepted(_EXACT, "an exact decimal in quotes, such as '12.5'", "certify again")]
Double = Annotated[float, Accepted(_DOUBLE, _DOUBLES, "certify again")]
Exacts = Annotated[tuple[Exact, ...], Several(needed="a list of exact decimals")]
ExactPrices = Annotated[FrozenDict[str, Exact], Several(needed="a mapping from names to exact decimals")]


class AnswerPart(JsonObject):
    """Base of the data classes that stand in files of answers; their fields are of the types above."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Make Pydantic check the number of keys first."""
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
            changed = InputIssue(
                ("checksum",), describe(made.checksum), expected, "the file was changed: certify again"
            )
            raise InstanceError(source, (changed,))
        return made


def checksum(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of everything else in a file, in a canonical form, to detect changes."""
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
