"""A bench: which applications to measure on this machine, alone and together, how often, with which meters.

    applications    a list of {name, command, count, timeout_seconds, folder, environment}
    cores           how many places there are, or a list of places: a processor each, or several
    pairs           all, none, or a list of two names each
    groups          a list of three names or more each, no more than there are places
    energy          auto, rapl, none, or {command: ...} or {stream: ...} with every_seconds, covers, idle_seconds

`measure/` runs it. Two interference probes come with lpsched, one bound by memory, one by computing: beside them an
application shows how memory-intensive it is on a machine where cache misses cannot be counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field
from pydantic import model_validator as validator
from pydantic_core import PydanticCustomError

from lpsched.errors import InputIssue, Place, nearest, quote
from lpsched.measure import evidence
from lpsched.model.base import MOST_KEYS, Entries, Instance, OpenPart, Rule
from lpsched.model.fields import (
    Amount,
    Count,
    FrozenDict,
    Name,
    OneOf,
    Several,
    Whole,
    check_yes,
    plain_hash,
    rejection,
)
from lpsched.model.problems import MOST_ADVISED, problems
from lpsched.model.provenance import LARGEST_SEED

CLASS_BOUNDS: Final = (1e-5, 1e-3)  # misses per instruction: I below, II between, III from the last one up
SHARE_BOUNDS: Final = (0.1, 0.5)  # of the memory probe's own interference, where misses are not counted
TIMEOUT_SECONDS: Final = 3600.0
SHELL_SIGNS: Final = frozenset(("|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1", "&>"))
MOST_APPLICATIONS: Final = 1_000
MOST_SETTINGS: Final = 1_000_000
MOST_REPEATS: Final = 10_000
MOST_WARM_UPS: Final = 100
METERS: Final = ("auto", "rapl", "none")
Issues: TypeAlias = Iterator[InputIssue]
Groups: TypeAlias = tuple[tuple[str, ...], ...]
Places: TypeAlias = int | tuple[tuple[int, ...], ...]


# The parts of a bench file.
class Application(OpenPart):
    """A program whose runs are all alike: a task type of the bag to come."""

    NEEDED: ClassVar[str] = "a mapping such as {name: sort, command: [sort, big.txt]}"
    name: evidence.ApplicationName = Field(description="a name")
    command: evidence.Command = Field(description=evidence.PROGRAM)  # no shell reads it
    count: Count = 1  # tasks of this type in a bag
    timeout_seconds: Annotated[float, Amount("seconds", least=1e-3, most=1e9)] = TIMEOUT_SECONDS  # then it is killed
    folder: evidence.Folder | None = None  # relative to the bench file
    environment: Annotated[FrozenDict[evidence.Variable, evidence.Word], Several(most=MOST_KEYS)] = Field(
        default=FrozenDict({}), description=f"a mapping of at most {MOST_KEYS} variables to texts"
    )  # added to the bench's own


class Repeats(OpenPart):
    """How often each setting is run: until the mean is known well enough, or `most` times.

    Where only one of `least` and `most` is given, it moves the other if need be. Enough is when the `confidence`
    interval of the mean time is no wider than the share `within` of it, each way. Warm-ups of each application are not
    measured, and come before all others.
    """

    NEEDED: ClassVar[str] = "a mapping such as {least: 3, most: 9, within: 0.05}"
    least: Annotated[int, Whole(2, MOST_REPEATS)] = 3  # one run has no spread
    most: Annotated[int, Whole(2, MOST_REPEATS)] = 9
    within: Annotated[float, Amount("a share of the mean", least=1e-6, most=1.0)] = 0.05
    confidence: evidence.Confidence = 0.95
    warm_ups: Annotated[int, Whole(0, MOST_WARM_UPS)] = 1

    @validator(mode="before")
    @classmethod
    def _move_the_other_end(cls, raw: object) -> object:
        if not isinstance(raw, Mapping):
            return raw
        ends = {key: raw[key] for key in ("least", "most") if raw.get(key) is not None}
        if len(ends) != 1:
            return raw
        try:
            end = Whole(2, MOST_REPEATS)(*ends.values())
        except PydanticCustomError:
            return raw  # Pydantic says what is wrong with it
        return dict(raw) | {"least": min(3, end), "most": max(9, end)} | ends

    @validator(mode="after")
    def _least_is_not_above_most(self) -> Self:
        if self.least > self.most:
            found = f"{self.least}, but most is {self.most}"
            raise problems([(("least",), found, f"at most {self.most}", "lower it, or raise most")])
        return self


class EnergyChoice(OpenPart):
    """Where energy is read: one of `meter`, `command` and `stream`.

    `auto` is RAPL where it can be read, else none. A command is a program that prints the watts of this moment and
    ends, a stream one that goes on and prints them line by line. What the meter sees is in the user's words, such as
    "the whole node, at the outlet".
    """

    NEEDED: ClassVar[str] = "auto, rapl, none, or {command: ...} or {stream: ...}"
    meter: Annotated[Literal["auto", "rapl", "none"], OneOf(METERS)] | None = None
    command: evidence.Command | None = Field(default=None, description=evidence.PROGRAM)
    stream: evidence.Command | None = Field(default=None, description=evidence.PROGRAM)
    every_seconds: Annotated[float, Amount("seconds", least=0.01, most=3600.0)] = 1.0  # between two calls
    covers: evidence.PlainText = ""
    idle_seconds: Annotated[float, Amount("seconds", least=0.1, most=1e5)] = 10.0  # idle, before all runs and after

    @property
    def kind(self) -> Literal["auto", "rapl", "command", "stream", "none"]:
        """What reads it."""
        return "command" if self.command else "stream" if self.stream else self.meter or "auto"

    @property
    def program(self) -> tuple[str, ...]:
        """The command or the stream; empty where there is neither."""
        return self.command or self.stream or ()

    @validator(mode="after")
    def _is_read_in_one_way(self) -> Self:
        ways = [key for key in ("meter", "command", "stream") if getattr(self, key) is not None]
        if len(ways) > 1:
            raise rejection("the keys " + " and ".join(ways), "one of them", "drop the other")
        return self


# What ties the fields together.
def names_differ(applications: Iterable[Application]) -> Issues:
    """Find names that an earlier application has."""
    seen: set[str] = set()
    for index, each in enumerate(applications):
        if each.name in seen:
            found = f"{quote(each.name)} a second time"
            yield InputIssue(("applications", index, "name"), found, "names that differ", "rename one")
        seen.add(each.name)


def _unknown(key: str, groups: Groups, applications: tuple[Application, ...]) -> Issues:
    names = dict.fromkeys(sorted(each.name for each in applications))
    places = (((key, n, place), name) for n, group in enumerate(groups) for place, name in enumerate(group))
    return unknown_names(places, names, "correct it, or add the application")


def unknown_names(named: Iterable[tuple[Place, str]], known: Collection[str], do: str) -> Issues:
    """Find names that no application has; they come with their places."""
    advised = 0
    for path, name in named:
        if name not in known:
            near = nearest(name, known) if advised < MOST_ADVISED else ""
            yield InputIssue(path, quote(name), "the name of an application", near or do)
            advised += 1


def _too_wide(key: str, groups: Groups, cores: Places) -> Issues:
    places = cores if isinstance(cores, int) else len(cores)
    needed = f"at most {places}, as many as there are cores"
    for index, group in enumerate(groups):
        if len(group) > places:
            found = f"{len(group)} applications at once"
            yield InputIssue((key, index), found, needed, "add cores, or drop some")


def _can_be_run(  # noqa: PLR0913 - all that settings are made of
    *,
    applications: tuple[Application, ...],
    cores: Places,
    frequencies_mhz: tuple[float, ...],
    pairs: Groups | None,
    groups: Groups,
    batches: bool,
    energy: EnergyChoice,
    companions: str,
) -> Issues:
    """Find benches of too many settings."""
    bench = Bench.model_construct(**locals())  # that is, of the parameters
    settings = size_of(bench).most_settings
    if settings > MOST_SETTINGS:
        do = "list the pairs that matter, or divide the bench"
        yield InputIssue(("applications",), f"{settings:,} settings in all", f"at most {MOST_SETTINGS:,}", do)


def each_once(groups: Iterable[tuple[str, ...]]) -> Groups:
    """Return applications that run together in a fixed order, each group once.

    >>> each_once([("zip", "sort"), ("sort", "zip")])
    (('sort', 'zip'),)
    """
    return tuple(dict.fromkeys(tuple(sorted(group)) for group in groups))


class Bench(Instance):
    """Which applications to measure, where, how often and how; see the module.

    `cores` are the places where applications run, one each: the numbers of the logical processors of each place, or
    just how many there are. Batches are pairs and groups that also run until all have ended, to see what sharing static
    power saves; only where energy is measured. `class_bounds` are misses per instruction at which a class of memory
    intensity ends and the next begins; `share_bounds` the same of the slowdown beside interference probes, as a share
    of the memory probe's own.
    """

    FORMAT: ClassVar[str] = "lpsched-bench/1"
    RULES: ClassVar[tuple[Rule, ...]] = (
        names_differ,
        lambda cores: evidence.processors_twice(() if isinstance(cores, int) else cores, ("cores",)),
        lambda pairs, applications: _unknown("pairs", pairs or (), applications),
        lambda groups, applications: _unknown("groups", groups, applications),
        lambda pairs, cores: _too_wide("pairs", pairs or (), cores),
        lambda groups, cores: _too_wide("groups", groups, cores),
        _can_be_run,
    )
    name: Name
    cores: evidence.Cores = Field(description=evidence.HOW_MANY)
    applications: Annotated[
        tuple[Application, ...], Entries("application", most=MOST_APPLICATIONS, stand_in={"command": ("true",)})
    ] = Field(description="a list of applications, at least one")
    description: evidence.PlainText = ""
    machine_type: Name = Field(default_factory=lambda known: known.get("name", ""))  # its column in a bag
    frequencies_mhz: evidence.Clocks = Field(default=(), description="a list of clocks in MHz")  # or the machine's own
    pairs: evidence.Pairs = Field(default=None, description="all, none, or a list of two names each")  # `None`: all
    groups: Annotated[tuple[evidence.Group, ...], Several(most=evidence.MOST_GROUPS, piece=1)] = Field(
        default=(), description="a list of lists of 3 names or more"
    )
    batches: Annotated[bool, check_yes] = True
    repeats: Repeats = Repeats()
    energy: Annotated[
        EnergyChoice,
        BeforeValidator(
            lambda raw: {"meter": raw} if isinstance(raw, str) and raw in METERS else raw,
            json_schema_input_type=Literal["auto", "rapl", "none"] | EnergyChoice,
        ),
    ] = EnergyChoice()
    counters: Annotated[Literal["auto", "none"], OneOf(("auto", "none"))] = "auto"
    companions: Annotated[  # auto: where misses are not counted
        Literal["auto", "always", "never"], OneOf(("auto", "always", "never"))
    ] = "auto"
    class_bounds: evidence.Bounds = Field(default=CLASS_BOUNDS, description="a list of rising bounds between classes")
    share_bounds: evidence.Bounds = Field(default=SHARE_BOUNDS, description="a list of rising bounds between classes")
    seed: Annotated[int, Whole(0, LARGEST_SEED)] = 0
    limit_seconds: Annotated[float, Amount("seconds", least=1.0, most=1e9)] | None = None  # of the whole bench

    @property
    def processors(self) -> tuple[tuple[int, ...], ...]:
        """Those of each place; empty where the file just says how many places there are."""
        return () if isinstance(self.cores, int) else self.cores

    @property
    def at_once(self) -> int:
        """How many applications can run at the same time, one in each place."""
        return self.cores if isinstance(self.cores, int) else len(self.cores)

    @property
    def content_hash(self) -> str:
        """The SHA-256, in hexadecimal, of everything that it says."""
        energy = self.energy.model_dump(exclude={"meter", "command", "stream"})
        content = self.model_dump() | {
            "cores": self.processors,
            "places": 0 if self.processors else self.at_once,
            "pairs": None if self.pairs is None else each_once(self.pairs),
            "groups": each_once(self.groups),
            "energy": energy | {"kind": self.energy.kind, "command": self.energy.program},
        }
        del content["format"]
        return plain_hash(content, self.FORMAT)

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but suspect."""
        remarks = []
        if self.at_once == 1 and self.pairs is None:
            remarks.append("one core: nothing can run together, so there will be no degradation")
        for application in self.applications:
            signs = [word for word in application.command[1:] if word in SHELL_SIGNS]
            if signs:
                remarks.append(
                    f"{application.name!r} is given {signs[0]!r} as a word: no shell reads a command; "
                    "write [sh, -c, '...'] for one"
                )
        return tuple(remarks)


# How much a bench asks for: settings by kind, and runs, before anything is known about the machine.
#
# With n applications, K clocks (1 where none are asked for), pairs P and groups G that run together:
#
#     alone        n K
#     pairs        2 K for each pair of two applications, K for a pair of copies
#     groups       K for each application of a group, copies once
#     batches      K for each pair and group; only where energy is measured
#     probes       3 for each application and 2 for themselves, at one clock; only on two places or more
#
# Interference probes surely run where the bench says always, and perhaps where the machine decides. Each setting is run
# from `least` to `most` times, and each program `warm_ups` times before.
@dataclass(frozen=True, slots=True)
class BenchSize:
    """Settings by kind; `batches` and `companions` (interference probes) may turn out not to run."""

    alone: int
    pairs: int
    groups: int
    batches: int
    companions: int
    least_settings: int
    most_settings: int
    least_runs: int
    most_runs: int


def size_of(bench: Bench) -> BenchSize:
    """Return how much a bench asks for."""
    clocks = max(1, len(bench.frequencies_mhz))
    count = len(bench.applications)
    together = bench.at_once > 1
    listed = each_once(bench.pairs or ()) if together else ()
    pairs, distinct = sum(len(set(pair)) for pair in listed), len(listed)
    if together and bench.pairs is None:
        pairs, distinct = count * count, count * (count + 1) // 2
    crowds = each_once(bench.groups)
    groups = sum(len(set(group)) for group in crowds)
    wanted = bench.batches and bench.energy.kind != "none"
    batches = clocks * (distinct + len(crowds)) if wanted else 0
    companions = 3 * count + 2 if together and bench.companions != "never" else 0
    sure = clocks * (count + pairs + groups)
    least = sure + (batches if bench.energy.kind in {"command", "stream"} else 0)
    least += companions if bench.companions == "always" else 0
    most = sure + batches + companions
    least_programs = count + (2 if together and bench.companions == "always" else 0)
    most_programs = count + (2 if companions else 0)
    warm_ups = bench.repeats.warm_ups
    return BenchSize(
        alone=clocks * count,
        pairs=clocks * pairs,
        groups=clocks * groups,
        batches=batches,
        companions=companions,
        least_settings=least,
        most_settings=most,
        least_runs=bench.repeats.least * least + warm_ups * least_programs,
        most_runs=bench.repeats.most * most + warm_ups * most_programs,
    )
