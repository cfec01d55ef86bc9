"""Measurements of one type of machine by a bench.

    head            name, machine_type, machine, meters, idle power, clocks
    applications    a list of {name, command, count, memory_class ...}, or of names
    seconds, watts  the columns ETC and APC, by application: a number, or a list of one for each clock
    degradation     PD: how much longer a takes for each core that runs b, as a share of its own time; by memory class,
                    as a facility has it, and in full by application
    evidence        measured, failed, savings, additive: lists of settings with what was found

These are what a bag or a facility needs, and the evidence for it: every setting with its spread, the meters by name,
what failed, and how well the additive model predicts larger groups. What was not measured is absent. Only name,
applications and seconds must be there. `measure/` makes a file of it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import pairwise, zip_longest
from typing import Annotated, ClassVar, Final, TypeAlias

from pydantic import BeforeValidator, Field

from lpsched.errors import InputIssue, quote
from lpsched.facility.parts import check_degradation
from lpsched.measure import evidence
from lpsched.measure.bench import MOST_APPLICATIONS, names_differ, unknown_names
from lpsched.model.base import Entries, Instance, OpenPart, Rule
from lpsched.model.fields import Amount, Count, FrozenDict, Name, OneOf, Several, Watts, Whole, plain_hash

BY_MISSES: Final = "misses per instruction"
BY_SLOWDOWN: Final = "slowdown beside companions"
NOT_GIVEN: Final = "not told"  # of a machine or a clock, in a file written by hand
USUAL_CONFIDENCE: Final = 0.95
MOST_ENTRIES: Final = 1_000_000  # of the evidence
MOST_SENTENCES: Final = 1_000


# Single values and tables.
def _measured_only(raw: object) -> object:
    """Leave out what was not measured."""
    return {key: each for key, each in raw.items() if each is not None} if isinstance(raw, Mapping) else raw


def _first_ones(raw: object) -> object:
    """Return places as they are; a number of cores stands for the first ones."""
    cores = raw if isinstance(raw, list | tuple) else evidence.read_cores(raw)
    return [[number] for number in range(cores)] if isinstance(cores, int) else cores


WITHOUT_NONE: Final = BeforeValidator(_measured_only)
Share = Annotated[float, evidence.Exact("a share")]
Degraded = Annotated[float, check_degradation]
ByCorunner = Annotated[
    FrozenDict[Name, Degraded],
    Several(most=MOST_APPLICATIONS),
    BeforeValidator(
        lambda raw: {} if raw is None else _measured_only(raw), json_schema_input_type=dict[str, Degraded | None] | None
    ),
]
Degradation: TypeAlias = Annotated[
    FrozenDict[Name, ByCorunner], Several(most=MOST_APPLICATIONS, piece=1)
]  # of whom, beside whom


# The parts of a file of measurements besides its evidence.
class MeasuredApplication(OpenPart):
    """An application and how memory-intensive it is.

    `intensity` is that alone, the mean over clocks. `suffers` is the slowdown beside the memory probe and `causes` that
    of the probe beside the application, both compared with the compute probe in its place, as a share of what the
    memory probe does to itself.
    """

    NEEDED: ClassVar[str] = "a name, or a mapping such as {name: sort, count: 100, memory_class: II}"
    name: evidence.ApplicationName = Field(description="a name")
    command: evidence.OptionalCommand = Field(default=(), description=evidence.PROGRAM)
    count: Count = 1
    memory_class: Name | None = None  # where it is known
    classified_by: Annotated[str, OneOf((BY_MISSES, BY_SLOWDOWN))] | None = None
    intensity: Annotated[float, Amount("misses per instruction")] | None = None
    suffers: Share | None = None
    causes: Share | None = None


class Meters(OpenPart):
    """What was measured with, by name; `None` where nothing was."""

    NEEDED: ClassVar[str] = "a mapping such as {time: a clock, energy: a meter}"
    time: evidence.FreeText = NOT_GIVEN
    energy: evidence.FreeText | None = None
    energy_covers: evidence.FreeText = ""
    counters: evidence.FreeText | None = None
    frequencies: evidence.FreeText | None = None


class MeasuredMachine(OpenPart):
    """The machine that was measured, and the places where applications ran."""

    NEEDED: ClassVar[str] = "a mapping such as {processor: a name, cores: 4}"
    processor: evidence.FreeText = NOT_GIVEN
    system: evidence.FreeText = NOT_GIVEN
    cores: Annotated[
        evidence.Places,
        BeforeValidator(
            _first_ones, json_schema_input_type=Annotated[int, Whole(1, evidence.MOST_PLACES)] | evidence.Places
        ),
    ] = ()


# What ties the fields together.
#
# The columns are what the evidence says: where a file has the setting of an application alone, its `seconds` are the
# mean of that setting, its `watts` the energy of it by its time; and `idle_watts` are the mean of before and after.
_is_close: Final = partial(math.isclose, rel_tol=1e-9)
OTHERS: Final = "correct it; to use other numbers than those measured, remove the evidence"
Issues: TypeAlias = Iterator[InputIssue]
Column: TypeAlias = Mapping[str, tuple[float, ...]]
Applications: TypeAlias = tuple[MeasuredApplication, ...]


def _clocks_fall_and_differ(frequencies_mhz: tuple[float, ...]) -> Issues:
    for index, (faster, slower) in enumerate(pairwise(frequencies_mhz), 1):
        if slower >= faster or f"{slower:g}" == f"{faster:g}":
            found = f"{slower!r} after {faster!r}"
            needed = "clocks from fast to slow that differ in six digits"
            yield InputIssue(("frequencies_mhz", index), found, needed, "sort them, and their columns")


def _degradation_is_of_applications(degradation_in_full: Degradation, applications: Applications) -> Issues:
    key, names = "degradation_in_full", {each.name for each in applications}
    rows = degradation_in_full.items()
    yield from _unknown([(key, a) for a, _ in rows], applications)
    yield from _unknown(((key, a, b) for a, row in rows if a in names for b in row), applications)


def _unknown(paths: Iterable[tuple[str, ...]], applications: Applications) -> Issues:
    """Find paths that do not end in the name of an application."""
    names = {each.name: None for each in applications}
    return unknown_names(((path, path[-1]) for path in paths), names, "add it to applications, or remove it")


def _miscounted(key: str, column: Column, frequencies_mhz: tuple[float, ...]) -> Issues:
    clocks = len(frequencies_mhz)
    needed = f"a list of {clocks}, one for each clock" if clocks else "one number: there are no clocks"
    for name, row in column.items():
        if len(row) != (clocks or 1):
            found = f"{len(row)} numbers" if len(row) > 1 else "1 number"
            yield InputIssue((key, name), found, needed, "give one for each of frequencies_mhz")


def _idle_power_is_what_was_measured(
    idle_watts: float | None, idle_watts_before: float | None, idle_watts_after: float | None
) -> Issues:
    seen = [each for each in (idle_watts_before, idle_watts_after) if each is not None]
    if not seen:
        return
    mean = sum(seen) / len(seen)
    if idle_watts is None or not _is_close(idle_watts, mean):
        found = "nothing" if idle_watts is None else repr(idle_watts)
        needed = f"{mean!r}, the mean of idle_watts_before and idle_watts_after"
        yield InputIssue(("idle_watts",), found, needed, OTHERS)


def _columns_are_what_the_evidence_says(
    frequencies_mhz: tuple[float, ...], seconds: Column, watts: Column, measured: tuple[evidence.Measured, ...]
) -> Issues:
    clocks: tuple[float | None, ...] = frequencies_mhz or (None,)
    for each in measured:
        if each.beside or each.mhz not in clocks:
            continue
        index = clocks.index(each.mhz)
        drawn = None if each.joules is None else each.joules.mean / each.seconds.mean
        for key, column, value in (("seconds", seconds, each.seconds.mean), ("watts", watts, drawn)):
            row = column.get(each.application)
            if row is None or len(row) != len(clocks) or value is None or _is_close(row[index], value):
                continue
            found, needed = repr(row[index]), f"{value!r}, as measured for {quote(str(each.setting))}"
            place = (key, each.application, index) if frequencies_mhz else (key, each.application)
            yield InputIssue(place, found, needed, OTHERS)


def _each_setting_stands_once(measured: tuple[evidence.Measured, ...], failed: tuple[evidence.Failed, ...]) -> Issues:
    seen = set()
    lists: tuple[tuple[str, tuple[evidence.OfSetting, ...]], ...] = (("measured", measured), ("failed", failed))
    for key, entries in lists:
        for index, each in enumerate(entries):
            if each.setting in seen:
                found = f"{quote(str(each.setting))} once more"
                yield InputIssue((key, index), found, "each setting once", "remove one of the two")
            seen.add(each.setting)


class Measurements(Instance):
    """Measured times, powers and degradations of one type of machine.

    `seconds` and `watts` are by application, one number for each clock (one in all where there are none); `watts` are
    those of all that the meter sees, idle power included. `frequencies_mhz` are the clocks, fastest first, each a
    P-state; without them there is one mode, at the machine's own clock. `idle_watts` are the mean of before and after.
    `degradation` by memory class is the mean over the pairs measured; in full, a pair that was not measured is absent.
    `measured` and `failed` have every setting; in a file without them nothing is drawn.
    """

    FORMAT: ClassVar[str] = "lpsched-measurements/1"
    RULES: ClassVar[tuple[Rule, ...]] = (
        names_differ,
        lambda machine: evidence.processors_twice(machine.cores, ("machine", "cores")),
        _clocks_fall_and_differ,
        lambda seconds, applications: _unknown([("seconds", name) for name in seconds], applications),
        lambda watts, applications: _unknown([("watts", name) for name in watts], applications),
        _degradation_is_of_applications,
        lambda seconds, frequencies_mhz: _miscounted("seconds", seconds, frequencies_mhz),
        lambda watts, frequencies_mhz: _miscounted("watts", watts, frequencies_mhz),
        _idle_power_is_what_was_measured,
        _columns_are_what_the_evidence_says,
        _each_setting_stands_once,
    )
    name: Name
    applications: Annotated[
        tuple[
            Annotated[
                MeasuredApplication,
                BeforeValidator(
                    lambda raw: {"name": raw} if isinstance(raw, str) else raw,
                    json_schema_input_type=evidence.ApplicationName | MeasuredApplication,
                ),
            ],
            ...,
        ],
        Entries("application", most=MOST_APPLICATIONS, stand_in={}),
    ] = Field(description="a list of applications, at least one")
    seconds: Annotated[
        FrozenDict[Name, evidence.SecondsByClock], Several(1, MOST_APPLICATIONS, piece=10), WITHOUT_NONE
    ] = Field(description="a mapping of applications to seconds, at least one")
    description: evidence.FreeText = ""
    machine_type: Name = Field(default_factory=lambda known: known.get("name", ""))  # its column in a bag
    taken: evidence.FreeText = ""  # date and time, ISO 8601
    lpsched: evidence.FreeText = ""  # the version that measured
    machine: MeasuredMachine = MeasuredMachine()
    meters: Meters = Meters()
    absent: Annotated[tuple[evidence.FreeText, ...], Several(most=MOST_SENTENCES)] = Field(
        default=(), description=f"a list of at most {MOST_SENTENCES:,} sentences"
    )  # what was asked for and could not be measured, with its reason
    idle_watts: Watts | None = None
    idle_watts_before: Watts | None = None
    idle_watts_after: Watts | None = None
    frequencies_mhz: Annotated[tuple[evidence.Megahertz, ...], Several(most=evidence.MOST_CLOCKS)] = Field(
        default=(),
        description=f"a list of at most {evidence.MOST_CLOCKS} clocks in MHz, fastest first, such as [3400, 1700]",
    )
    watts: Annotated[
        FrozenDict[Name, evidence.WattsByClock], Several(most=MOST_APPLICATIONS, piece=10), WITHOUT_NONE
    ] = Field(default=FrozenDict({}), description="a mapping of applications to watts")
    degradation: Degradation = Field(default=FrozenDict({}), description="a mapping of classes to mappings")
    degradation_in_full: Degradation = Field(
        default=FrozenDict({}), description="a mapping of applications to mappings"
    )
    confidence: evidence.Confidence = USUAL_CONFIDENCE
    measured: Annotated[tuple[evidence.Measured, ...], Entries("setting", least=0, most=MOST_ENTRIES)] = Field(
        default=(), description="a list of settings with what was measured"
    )
    failed: Annotated[tuple[evidence.Failed, ...], Entries("setting", least=0, most=MOST_ENTRIES)] = Field(
        default=(), description="a list of settings with the reason"
    )
    savings: Annotated[tuple[evidence.Saving, ...], Entries("saving", least=0, most=MOST_ENTRIES)] = Field(
        default=(), description="a list of savings"
    )
    additive: Annotated[tuple[evidence.AdditiveCheck, ...], Entries("check", least=0, most=MOST_ENTRIES)] = Field(
        default=(), description="a list of settings with what was measured and predicted"
    )

    @property
    def p_states(self) -> tuple[str, ...] | None:
        """Names of the P-states; `None` where no clock was set."""
        return tuple(f"{mhz:g}MHz" for mhz in self.frequencies_mhz) or None

    @property
    def content_hash(self) -> str:
        """The SHA-256, in hexadecimal, of everything that they say."""
        content = self.model_dump()
        del content["format"]
        content["class_degradation"] = content.pop("degradation")
        content["degradation"] = content.pop("degradation_in_full")
        for key, entries in (("measured", self.measured), ("failed", self.failed), ("additive", self.additive)):
            for each, entry in zip(content[key], entries, strict=True):
                each["setting"] = {part: each.pop(part) for part in asdict(entry.setting)}
        for each in content["measured"]:
            each["intensity"] = each.pop("misses_per_instruction")
        return plain_hash(content, self.FORMAT)

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but suspect: power of work below that of doing nothing."""
        idle = self.idle_watts
        return tuple(
            f"the watts of {quote(name)} ({min(row):g}) are below idle_watts ({idle:g})"
            for name, row in self.watts.items()
            if idle is not None and min(row) < idle
        )


# Names of memory-intensity classes, from calm (I) to intensive.
#
#     bounds u_1 < ... < u_n     below u_1 is class I; from u_k up and below u_{k+1} is class k + 1
#
# A value equal to a bound belongs to the upper class.
NUMERALS: Final = {"C": 100, "XC": 90, "L": 50, "XL": 40, "X": 10, "IX": 9, "V": 5, "IV": 4, "I": 1}
MOST_CLASSES: Final = 399  # what these numerals can write


def class_of(value: float, bounds: Sequence[float]) -> str:
    """Return the class of a value.

    >>> class_of(2.25e-2, (1e-5, 1e-3)), class_of(1e-5, (1e-5, 1e-3)), class_of(7.44e-6, (1e-5, 1e-3))
    ('III', 'II', 'I')
    """
    rest, name = bisect_right(bounds, value) + 1, ""
    assert rest <= MOST_CLASSES, f"{len(bounds)} bounds"
    for numeral, number in NUMERALS.items():
        name += numeral * (rest // number)
        rest %= number
    return name


def class_rank(name: str) -> int:
    """Return the number that a class's name says, to sort by; 0 for a name that is no number.

    >>> [class_rank(name) for name in ("I", "IV", "XII", "calm", "")]
    [1, 4, 12, 0, 0]
    """
    numbers = [NUMERALS.get(letter, 0) for letter in name]
    if not all(numbers):
        return 0
    return sum(-own if own < after else own for own, after in zip_longest(numbers, numbers[1:], fillvalue=0))
