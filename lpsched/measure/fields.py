"""Types of fields of bench and measurement files: commands, places, clocks, groups and bounds."""

from __future__ import annotations

import shlex
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, TypeAdapter

from lpsched.errors import LONGEST_NAME, Fault, quote
from lpsched.facility.parts import MOST_CORES
from lpsched.model.fields import Amount, Several, Text, Whole, check_name, describe, refusal
from lpsched.model.problems import problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.errors import Place as PathInFile

MEMORY_COMPANION: Final = "memory-companion"
COMPUTE_COMPANION: Final = "compute-companion"
COMPANIONS: Final = (MEMORY_COMPANION, COMPUTE_COMPANION)  # names that no application may have
LONGEST_TEXT: Final = 4_000
MOST_GROUPS: Final = 10_000  # pairs or groups that are listed
MOST_WORDS: Final = 1_000  # of a command
LARGEST_WORD: Final = 10**30  # of whole numbers that need no quotes
MOST_PLACES: Final = MOST_CORES  # a facility takes no more
LAST_PROCESSOR: Final = 65_535
MOST_CLOCKS: Final = 100
MOST_BOUNDS: Final = 20
PAIR: Final = 2


# Single values: names, words and commands.
def _of_no_companion(name: str) -> str:
    if name in COMPANIONS:
        raise refusal(quote(name), "a name that no companion has", "choose another")
    return name


def _written(value: object) -> object:
    """Return a whole number as it is written.

    Other numbers are not taken: 1.50 and 1e3 have been read as 1.5 and 1000.0 before anybody looks at them.
    """
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_whole and abs(value) < LARGEST_WORD else value  # type: ignore[arg-type]  # a number


def _without_equals(name: str) -> str:
    if "=" in name:
        raise refusal(f"the text {quote(name)}", VARIABLE, "correct it")
    return name


VARIABLE: Final = "the name of an environment variable: not empty, no '='"
PROGRAM: Final = "a list of words or one text: a program and its arguments"
PlainText = Annotated[str, Text(LONGEST_TEXT)]
ApplicationName = Annotated[
    str, check_name, AfterValidator(_of_no_companion), Field(json_schema_extra={"not": {"enum": list(COMPANIONS)}})
]
Variable = Annotated[str, Text(LONGEST_TEXT, 1, VARIABLE), AfterValidator(_without_equals)]
Word = Annotated[str, Text(LONGEST_TEXT), BeforeValidator(_written, json_schema_input_type=PlainText | int)]


def split_command(command: object) -> object:
    """Return the words of a command that is written as one text, split as a shell would.

    >>> split_command("sort -k '2 3' big.txt")
    ['sort', '-k', '2 3', 'big.txt']
    """
    if not isinstance(command, str):
        return command
    text = Text(LONGEST_TEXT)(command)
    try:
        return shlex.split(text) or [""]
    except ValueError as error:
        found = f"{quote(text)}: {str(error).lower()}"
        raise refusal(found, "words as a shell would split them", "close it, or write a list") from None


def _of_a_program(words: tuple[str, ...]) -> tuple[str, ...]:
    if words and not words[0]:
        raise refusal("no program", "a program and its arguments", "name the program first")
    return words


def _split(least: int) -> BeforeValidator:
    text, words = Annotated[str, Text(LONGEST_TEXT, 1)], Annotated[list[Word], Several(least, MOST_WORDS)]
    return BeforeValidator(split_command, json_schema_input_type=text | words)


Command = Annotated[tuple[Word, ...], Several(1, MOST_WORDS), AfterValidator(_of_a_program), _split(1)]
CommandIfTold = Annotated[tuple[Word, ...], Several(most=MOST_WORDS), AfterValidator(_of_a_program), _split(0)]


# Places, clocks, groups and bounds.
Processor = Annotated[int, Whole(0, LAST_PROCESSOR)]
Megahertz = Annotated[float, Amount("megahertz", least=1.0, most=1e6)]
Confidence = Annotated[float, Amount("a share", least=0.5, most=0.9999)]
Bound = Annotated[float, Amount("a bound", least=1e-12, most=1e12)]
HOW_MANY: Final = "how many applications run at once, such as 2, or a list of processors for each place"


def _processors(raw: object) -> object:
    """Return one processor as a list of it."""
    if not isinstance(raw, list | tuple):
        return (Whole(0, LAST_PROCESSOR)(raw),)
    if not 1 <= len(raw) <= LAST_PROCESSOR:
        raise refusal(describe(raw), "the numbers of one processor or more", "name them")
    return raw


Place = Annotated[
    tuple[Processor, ...],
    Several(),
    AfterValidator(lambda place: tuple(dict.fromkeys(place))),
    BeforeValidator(_processors, json_schema_input_type=Processor | Annotated[list[Processor], Several(1)]),
]
Places = Annotated[tuple[Place, ...], Several(most=MOST_PLACES, piece=1)]
_PLACES: Final[TypeAdapter[tuple[tuple[int, ...], ...]]] = TypeAdapter(Places)


def read_cores(raw: object) -> int | tuple[tuple[int, ...], ...]:
    """Return how many places there are, or the processors of each."""
    if isinstance(raw, list | tuple) and raw:
        return _PLACES.validate_python(raw)
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise refusal(describe(raw), HOW_MANY, "write it as a number")
    return Whole(1, MOST_PLACES)(raw)


CoresAsWritten: TypeAlias = Annotated[int, Whole(1, MOST_PLACES)] | Annotated[list[Place], Several(1, MOST_PLACES)]
Cores = Annotated[int | tuple[tuple[int, ...], ...], PlainValidator(read_cores, json_schema_input_type=CoresAsWritten)]


def processors_twice(places: tuple[tuple[int, ...], ...], path: PathInFile) -> Iterator[Fault]:
    """Refuse a processor that a place before has."""
    taken: set[int] = set()
    for index, place in enumerate(places):
        for each in (number for number in place if number in taken):
            found = f"processor {each} a second time"
            yield Fault((*path, index), found, "each processor in one place only", "drop it here")
        taken.update(place)


def _fastest_first(clocks: tuple[float, ...]) -> tuple[float, ...]:
    if len({f"{clock:g}" for clock in clocks}) < len(clocks):  # they name P-states
        raise refusal("a clock twice", "clocks that differ", "drop one of the two")
    return tuple(sorted(clocks, reverse=True))


def _rising(bounds: tuple[float, ...]) -> tuple[float, ...]:
    found = [
        ((index,), f"{high:g} after {low:g}", "a larger bound than the one before", "put them in order")
        for index, (low, high) in enumerate(pairwise(bounds), 1)
        if high <= low
    ]
    if found:
        raise problems(found)
    return bounds


Clocks = Annotated[tuple[Megahertz, ...], Several(most=MOST_CLOCKS), AfterValidator(_fastest_first)]
Bounds = Annotated[tuple[Bound, ...], Several(most=MOST_BOUNDS), AfterValidator(_rising)]


def _so_many(least: int, most: int, needed: str) -> BeforeValidator:
    def check(raw: object) -> object:
        if not isinstance(raw, list | tuple) or not least <= len(raw) <= most:
            raise refusal(describe(raw), needed, "a copy is named again: [a, a]")
        return raw

    return BeforeValidator(check, json_schema_input_type=Annotated[list[Known], Several(least, most)])


Known = Annotated[str, Text(LONGEST_NAME, needed="the name of an application")]
Pair = Annotated[tuple[Known, ...], _so_many(PAIR, PAIR, "a list of two names")]
Group = Annotated[tuple[Known, ...], _so_many(PAIR + 1, MOST_PLACES, "a list of 3 names or more")]


def _as_pairs(raw: object) -> object:
    return {"all": None, "none": ()}.get(raw, raw) if isinstance(raw, str) else raw


Pairs = Annotated[
    tuple[Pair, ...] | None,
    Several(most=MOST_GROUPS),
    BeforeValidator(
        _as_pairs,
        json_schema_input_type=Literal["all", "none"] | Annotated[list[Pair], Several(most=MOST_GROUPS)] | None,
    ),
]
