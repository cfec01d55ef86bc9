"""Checks of what bench files hold; the JSON Schemas of bench and measurement files."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any, Final

from lpsched.errors import LONGEST_NAME, quote
from lpsched.facility.parts import MOST_CORES
from lpsched.model.fields import Amount, describe, refusal, shown_number

# Single values of a bench file: texts, commands, choices, names of variables and processors, and amounts.
LONGEST_TEXT: Final = 4_000
MOST_APPLICATIONS: Final = 1_000
MOST_GROUPS: Final = 10_000  # pairs or groups that are listed
MOST_SETTINGS: Final = 1_000_000
MOST_WORDS: Final = 1_000  # of a command
LARGEST_WORD: Final = 10**30  # of whole numbers that need no quotes
MOST_PLACES: Final = MOST_CORES  # a facility takes no more
LAST_PROCESSOR: Final = 65_535
MOST_CLOCKS: Final = 100
MOST_BOUNDS: Final = 20
MOST_REPEATS: Final = 10_000
MOST_WARM_UPS: Final = 100

check_timeout: Final = Amount("seconds", least=1e-3, most=1e9)
check_limit: Final = Amount("seconds", least=1.0, most=1e9)
check_mhz: Final = Amount("megahertz", least=1.0, most=1e6)
check_within: Final = Amount("a share of the mean", least=1e-6, most=1.0)
check_confidence: Final = Amount("a share", least=0.5, most=0.9999)
check_every: Final = Amount("seconds", least=0.01, most=3600.0)
check_idle: Final = Amount("seconds", least=0.1, most=1e5)
check_bound: Final = Amount("a bound", least=1e-12, most=1e12)


@dataclass(frozen=True, slots=True)
class Whole:
    """The check for a whole number from `least` to `most`; an integral float such as 1e3 counts as whole.

    >>> Whole(2, 9)(3.0)
    3
    """

    least: int
    most: int

    @property
    def needed(self) -> str:
        """What a value must be, for a message."""
        most = f"{self.most:,}" if self.most < 10**9 else f"{float(self.most):.3g}"
        return f"a whole number from {self.least} to {most}"

    def __call__(self, value: object) -> int:
        """Return the number, if it is one."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise refusal(describe(value), self.needed, "write it as a number")
        if not self.least <= value <= self.most or value != int(value):
            raise refusal(shown_number(value), self.needed, "correct it")
        return int(value)


@dataclass(frozen=True, slots=True)
class OneOf:
    """The check for one of a few words."""

    words: tuple[str, ...]

    def __call__(self, value: object) -> str:
        """Return the word, if it is one of them."""
        if not isinstance(value, str) or value not in self.words:
            raise refusal(describe(value), "one of " + ", ".join(self.words), "choose one")
        return value


def check_yes(value: object) -> bool:
    """Return yes or no."""
    if not isinstance(value, bool):
        raise refusal(describe(value), "true or false", "write one of these, without quotes")
    return value


def check_text(value: object) -> str:
    """Return a text of at most LONGEST_TEXT characters, which a program can be given."""
    needed = f"a text of at most {LONGEST_TEXT:,} characters"
    if not isinstance(value, str):
        raise refusal(describe(value), needed, "put it in quotes")
    if len(value) > LONGEST_TEXT:
        raise refusal(f"{len(value):,} characters", needed, "shorten it")
    if "\0" in value or not _is_utf8(value):
        raise refusal(f"{quote(value)}, which no program can be given", "plain text", "remove such characters")
    return value


def _is_utf8(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_word(value: object) -> str:
    """Return a word of a command, or the value of a variable; a whole number is taken as it is written.

    Other numbers are not: 1.50 and 1e3 have been read as 1.5 and 1000.0 before anybody looks at them.
    """
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST_WORD:
        return str(value)
    return check_text(value)


def check_folder(value: object) -> str:
    """Return the name of a folder."""
    folder = check_text(value)
    if not folder:
        raise refusal("an empty text", "the name of a folder", "write it, or drop the key")
    return folder


def check_variable(value: object) -> str:
    """Return the name of an environment variable."""
    needed = "the name of an environment variable: not empty, no '='"
    if not isinstance(value, str) or not value or "=" in value or len(value) > LONGEST_TEXT:
        raise refusal(describe(value), needed, "correct it")
    return check_text(value)


def split_command(text: str) -> tuple[str, ...]:
    """Return the words of a command that is written as one text, split as a shell would.

    >>> split_command("sort -k '2 3' big.txt")
    ('sort', '-k', '2 3', 'big.txt')
    """
    text = check_text(text)
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        found = f"{quote(text)}: {str(error).lower()}"
        raise refusal(found, "words as a shell would split them", "close it, or write a list") from None


# The words that schemas of benches and measurements are made of.
NAME: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
TEXT: Final = {"type": "string", "maxLength": LONGEST_TEXT}
WORD: Final = {"anyOf": [TEXT, {"type": "integer"}]}
PROCESSOR: Final = {"type": "integer", "minimum": 0, "maximum": LAST_PROCESSOR}
COMMAND: Final = {
    "anyOf": [TEXT | {"minLength": 1}, {"type": "array", "items": WORD, "minItems": 1, "maxItems": MOST_WORDS}]
}
NOTHING: Final = {"type": "null"}


def optional(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that also takes null, for a key without a value."""
    return {"anyOf": [schema, NOTHING]}


def list_of(item: dict[str, Any], most: int) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": item, "maxItems": most}


def amount(check: Amount) -> dict[str, Any]:
    """Return the schema of an amount."""
    return {"type": "number", "minimum": check.least, "maximum": check.most}


def whole(least: int, most: int) -> dict[str, Any]:
    """Return the schema of a whole number."""
    return {"type": "integer", "minimum": least, "maximum": most}


def names(least: int, most: int) -> dict[str, Any]:
    """Return the schema of a list of names."""
    return {"type": "array", "items": NAME, "minItems": least, "maxItems": most}


def mapping(properties: dict[str, Any], *needed: str) -> dict[str, Any]:
    """Return the schema of a mapping with these keys and no others."""
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return schema | ({"required": list(needed)} if needed else {})


def cores() -> dict[str, Any]:
    """Return the schema of places: how many, or the processors of each."""
    several = {"type": "array", "items": PROCESSOR, "minItems": 1}
    places = list_of({"anyOf": [PROCESSOR, several]}, MOST_PLACES) | {"minItems": 1}
    return {"anyOf": [whole(1, MOST_PLACES), places]}
