"""The fields of bench and measurement files, and the evidence: settings, their runs, and their results."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, TypeAdapter
from pydantic import model_validator as validator
from pydantic_core import CoreSchema, core_schema

from lpsched.errors import LONGEST_NAME, InputIssue, quote
from lpsched.errors import Place as PathInFile
from lpsched.facility.parts import MOST_CORES
from lpsched.model import fields
from lpsched.model.base import OpenPart
from lpsched.model.fields import Amount, Count, Message, Name, Seconds, Several, Text, Watts, Whole, describe, rejection
from lpsched.model.problems import problems

MEMORY_PROBE: Final = "memory-companion"
COMPUTE_PROBE: Final = "compute-companion"
PROBES: Final = (MEMORY_PROBE, COMPUTE_PROBE)  # names that no application may have
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
def _not_a_probe(name: str) -> str:
    if name in PROBES:
        raise rejection(quote(name), "a name that no interference probe has", "choose another")
    return name


def _written(value: object) -> object:
    """Return a whole number as it is written; 1.50 and 1e3 are left, since they were read as 1.5 and 1000.0."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_whole and abs(value) < LARGEST_WORD else value  # type: ignore[arg-type]  # a number


def _without_equals(name: str) -> str:
    if "=" in name:
        raise rejection(f"the text {quote(name)}", VARIABLE, "correct it")
    return name


VARIABLE: Final = "the name of an environment variable: not empty, no '='"
PROGRAM: Final = "a list of words or one text: a program and its arguments"
PlainText = Annotated[str, Text(LONGEST_TEXT)]
ApplicationName = Annotated[
    str, fields.check_name, AfterValidator(_not_a_probe), Field(json_schema_extra={"not": {"enum": list(PROBES)}})
]
Folder = Annotated[str, Text(LONGEST_TEXT, 1, "the name of a folder")]
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
        raise rejection(found, "words as a shell would split them", "close it, or write a list") from None


def _of_a_program(words: tuple[str, ...]) -> tuple[str, ...]:
    if words and not words[0]:
        raise rejection("no program", "a program and its arguments", "name the program first")
    return words


def _split(least: int) -> BeforeValidator:
    text, words = Annotated[str, Text(LONGEST_TEXT, 1)], Annotated[list[Word], Several(least, MOST_WORDS)]
    return BeforeValidator(split_command, json_schema_input_type=text | words)


Command = Annotated[tuple[Word, ...], Several(1, MOST_WORDS), AfterValidator(_of_a_program), _split(1)]
OptionalCommand = Annotated[tuple[Word, ...], Several(most=MOST_WORDS), AfterValidator(_of_a_program), _split(0)]

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
        raise rejection(describe(raw), "the numbers of one processor or more", "name them")
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
        raise rejection(describe(raw), HOW_MANY, "write it as a number")
    return Whole(1, MOST_PLACES)(raw)


CoresAsWritten: TypeAlias = Annotated[int, Whole(1, MOST_PLACES)] | Annotated[list[Place], Several(1, MOST_PLACES)]
Cores = Annotated[int | tuple[tuple[int, ...], ...], PlainValidator(read_cores, json_schema_input_type=CoresAsWritten)]


def processors_twice(places: tuple[tuple[int, ...], ...], path: PathInFile) -> Iterator[InputIssue]:
    """Find processors that an earlier place has."""
    taken: set[int] = set()
    for index, place in enumerate(places):
        for each in (number for number in place if number in taken):
            found = f"processor {each} a second time"
            yield InputIssue((*path, index), found, "each processor in one place only", "drop it here")
        taken.update(place)


def _fastest_first(clocks: tuple[float, ...]) -> tuple[float, ...]:
    if len({f"{clock:g}" for clock in clocks}) < len(clocks):  # they name P-states
        raise rejection("a clock twice", "clocks that differ", "drop one of the two")
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


def _by_clock(check: Amount) -> BeforeValidator:
    """Return what reads a single number as a list of it."""
    number: Any = Annotated[float, check]
    return BeforeValidator(
        lambda raw: raw if isinstance(raw, list | tuple) else (check(raw),),
        json_schema_input_type=number | Annotated[list[number], Several(1, MOST_CLOCKS)] | None,
    )


SecondsByClock = Annotated[tuple[Seconds, ...], Several(1, MOST_CLOCKS), _by_clock(fields.check_seconds)]
WattsByClock = Annotated[tuple[Watts, ...], Several(1, MOST_CLOCKS), _by_clock(fields.check_watts)]
Clocks = Annotated[tuple[Megahertz, ...], Several(most=MOST_CLOCKS), AfterValidator(_fastest_first)]
Bounds = Annotated[tuple[Bound, ...], Several(most=MOST_BOUNDS), AfterValidator(_rising)]


def _sized(least: int, most: int, needed: str) -> BeforeValidator:
    def check(raw: object) -> object:
        if not isinstance(raw, list | tuple) or not least <= len(raw) <= most:
            raise rejection(describe(raw), needed, "a copy is named again: [a, a]")
        return raw

    return BeforeValidator(check, json_schema_input_type=Annotated[list[Known], Several(least, most)])


Known = Annotated[str, Text(LONGEST_NAME, needed="the name of an application")]
Pair = Annotated[tuple[Known, ...], _sized(PAIR, PAIR, "a list of two names")]
Group = Annotated[tuple[Known, ...], _sized(PAIR + 1, MOST_PLACES, "a list of 3 names or more")]

Pairs = Annotated[
    tuple[Pair, ...] | None,
    Several(most=MOST_GROUPS),
    BeforeValidator(
        lambda raw: {"all": None, "none": ()}.get(raw, raw) if isinstance(raw, str) else raw,
        json_schema_input_type=Literal["all", "none"] | Annotated[list[Pair], Several(most=MOST_GROUPS)] | None,
    ),
]

LONGEST_FREE_TEXT: Final = 100_000  # characters


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing to be measured, several times: the time of an application on the first core.

    Corunners, `beside` it, run on the next cores and are restarted whenever they end, so that the load stays the same;
    they are sorted, so that equal settings are equal. In a `batch` all are started once, and the time is that until the
    last has ended, which shows how much energy running together saves; `application` is then just the first in order.

    >>> Setting("canneal", ("bodytrack", "canneal")).together
    ('bodytrack', 'canneal', 'canneal')
    """

    application: str
    beside: tuple[str, ...] = ()  # empty: it runs alone
    mhz: float | None = None  # the clock of the cores; `None`: whatever the machine chooses
    batch: bool = False

    @property
    def together(self) -> tuple[str, ...]:
        """Everything that runs, sorted."""
        return tuple(sorted((self.application, *self.beside)))

    def __str__(self) -> str:
        """Name it for messages and tables.

        >>> str(Setting("a", ("b", "c"), 1700.0)), str(Setting("a", ("b",), batch=True)), str(Setting("a"))
        ('a beside b, c at 1700 MHz', 'a with b, until all have ended', 'a alone')
        """
        clock = "" if self.mhz is None else f" at {self.mhz:g} MHz"
        if self.batch:
            return f"{self.application} with {', '.join(self.beside)}, until all have ended{clock}"
        beside = f"beside {', '.join(self.beside)}" if self.beside else "alone"
        return f"{self.application} {beside}{clock}"


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of a setting, from the start of the application to its end; what was not measured is `None`."""

    setting: Setting
    seconds: float | None  # `None` if the run failed
    joules: float | None = None  # of everything that the meter sees
    misses: float | None = None  # of the last-level cache, by the measured application alone; likewise instructions
    instructions: float | None = None
    restarts: int = 0  # how often a corunner was started again
    failure: str | None = None  # why there is no time, in words: a time limit, an exit code, a signal, no such program


# Single values: output of programs, numbers of any sign, names.
class _FreeText(fields.Checked[str]):
    """A text, which may be any output of a program, halves of characters too."""

    __slots__ = ()

    def core(self) -> CoreSchema:
        """Return a text as it is."""
        described = core_schema.str_schema(max_length=LONGEST_FREE_TEXT)
        return core_schema.no_info_plain_validator_function(self._text, json_schema_input_schema=described)

    def _text(self, value: object) -> object:
        if not isinstance(value, str) or len(value) > LONGEST_FREE_TEXT:
            raise ValueError("no text")
        return value

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        needed = f"a text of at most {LONGEST_FREE_TEXT:,} characters"
        if isinstance(value, str):
            return f"{len(value):,} characters", needed, "shorten it"
        return describe(value), needed, "put it in quotes"


@dataclass(frozen=True, slots=True)
class Exact(Amount):
    """An amount of any sign, however small."""

    least: float = -fields.LARGEST

    def core(self) -> CoreSchema:
        """Return a finite float in the range."""
        return core_schema.float_schema(strict=True, allow_inf_nan=False, ge=self.least, le=self.most)


FreeText = Annotated[str, _FreeText()]
Joules = Annotated[float, Amount("joules")]
Names = Annotated[tuple[Name, ...], Several(most=MOST_PLACES), AfterValidator(lambda names: tuple(sorted(names)))]


# Settings in a file of measurements.
class Spread(OpenPart):
    """Repeated measurements of one number: their mean, its confidence interval, their deviation and how many.

    `low` and `high` are those of the mean by Student's distribution; `None` of a single measurement, which
    has no deviation either. In a file the mean is enough.
    """

    NEEDED: ClassVar[str] = "a mapping such as {mean: 12.5, low: 12.1, high: 12.9, count: 3}"
    mean: Annotated[float, Amount("a mean")] = Field(description="a number")
    count: Count = 1
    deviation: Annotated[float, Exact("a deviation", least=0.0)] | None = None
    low: Annotated[float, Exact("an end of the interval")] | None = None
    high: Annotated[float, Exact("an end of the interval")] | None = None

    @validator(mode="after")
    def _mean_is_between(self) -> Self:
        low, high = (self.mean if end is None else end for end in (self.low, self.high))
        if not low <= self.mean <= high:
            found = f"{self.low!r} to {self.high!r}, and a mean of {self.mean!r}"
            raise rejection(found, "a mean between low and high", "correct it")
        return self


def _taking_time(spread: Spread) -> Spread:
    if not spread.mean:
        raise problems([(("mean",), *fields.check_seconds.message(spread.mean))])
    return spread


class OfSetting(OpenPart):
    """A setting, and something about it; see `Setting`."""

    application: Name = Field(description="a name")
    beside: Names = Field(default=(), kw_only=True, description="a list of applications, such as [sort, zip]")
    mhz: Megahertz | None = Field(default=None, kw_only=True)
    batch: Annotated[bool, fields.check_yes] = Field(default=False, kw_only=True)

    @classmethod
    def of(cls, setting: Setting, *found: object, **named: Any) -> Self:  # noqa: ANN401 - of the fields' types
        """Return what was found, in the order of the fields, or by name."""
        values: dict[str, Any] = asdict(setting)
        values |= dict(zip((key for key in cls.model_fields if key not in values), found, strict=False))
        return cls(**values, **named)

    @cached_property
    def setting(self) -> Setting:
        """The setting itself."""
        return Setting(self.application, self.beside, self.mhz, self.batch)

    @validator(mode="after")
    def _batches_have_several(self) -> Self:
        if self.batch and not self.beside:
            raise problems([(("batch",), "nothing beside it", "what ran with it", "add 'beside', or leave it out")])
        return self


class Measured(OfSetting):
    """A setting with the results of its runs."""

    NEEDED: ClassVar[str] = "a mapping such as {application: sort, seconds: {mean: 12.5}}"
    seconds: Annotated[Spread, AfterValidator(_taking_time)] = Field(
        description="at least {mean: ...}, or the setting among 'failed'"
    )
    joules: Spread | None = None
    misses_per_instruction: Spread | None = None  # of the last-level cache


class Failed(OfSetting):
    """A setting that could not be measured, and why."""

    NEEDED: ClassVar[str] = "a mapping such as {application: sort, beside: [zip], reason: it ended with exit code 1}"
    reason: FreeText = Field(description="a sentence")


class AdditiveCheck(OfSetting):
    """How well sums of pairwise degradations predict a larger group: times as multiples of the time alone."""

    NEEDED: ClassVar[str] = "a mapping such as {application: sort, beside: [zip, zip], measured: 1.3, predicted: 1.25}"
    measured: Annotated[float, Amount("a multiple of the time alone", least=fields.SMALLEST)]
    predicted: Annotated[float, Exact("a multiple of the time alone")]

    @property
    def error(self) -> float:
        """How far the prediction is off, as a share of the measured time; positive: too slow."""
        return self.predicted / self.measured - 1


class Saving(OpenPart):
    """Energy of applications one after another and all at once.

    The energies apart and together are measured; what is predicted, by the formula of `measure/summary.py`, is `None`
    without idle power.
    """

    NEEDED: ClassVar[str] = "a mapping such as {together: [sort, zip], joules_apart: 300, joules_together: 250}"
    together: Names = Field(description="a list of applications, such as [sort, zip]")
    joules_apart: Joules = Field(description="joules")
    joules_together: Joules = Field(description="joules")
    joules_predicted: Annotated[float, Exact("joules")] | None = None
    mhz: Megahertz | None = None

    @property
    def joules_saved(self) -> float:
        """What running together saves."""
        return self.joules_apart - self.joules_together

    @property
    def share_saved(self) -> float:
        """The same as a share of the energy apart; 0 where the meter saw none."""
        return self.joules_saved / self.joules_apart if self.joules_apart else 0.0
