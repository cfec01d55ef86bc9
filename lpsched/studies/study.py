"""A declared study: what its file says, and the lines of its runs.

    instances    a list of {file: PATH} and {generate: NAME, seeds: ..., options of the generator}
    methods      a list of names and {name: NAME, limits: ..., own parameters}
    parameters   of each name one value or a list of them
    seeds        a list of whole numbers, or {from: FIRST, count: HOW MANY}
    limits       {seconds: NUMBER}

Every combination of them is one run. What a method or a generator takes is known where it is run (`plan.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, TypeAlias, cast

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, TypeAdapter
from pydantic_core import core_schema

from lpsched.errors import InputIssue, InstanceError
from lpsched.io.content import AddedLines, LineKind, read_lines
from lpsched.io.documents import read_document
from lpsched.io.instance_files import made_of
from lpsched.model.base import Entries, Instance, Part
from lpsched.model.fields import Accepted, Amount, FrozenDict, Name, Several, Text, Whole, describe, rejection
from lpsched.model.problems import part_from
from lpsched.model.provenance import LARGEST_SEED, frozen_note, version_of_lpsched
from lpsched.model.results import json_of

MOST_RUNS: Final = 1_000_000
LONGEST_TEXT: Final = 4_000
MOST_PARAMETERS: Final = 100
PlainValue: TypeAlias = str | float | bool | None


def _plain(value: object) -> object:
    if value is not None and not isinstance(value, str | int | float):
        raise ValueError("not plain")
    return value


def _option(value: object) -> object:
    is_list = isinstance(value, list | tuple) and all(isinstance(each, int | float) for each in value)
    return tuple(cast("list[float]", value)) if is_list else _plain(value)


def _accepted(check: Callable[[object], object], kind: Any, needed: str) -> Accepted[Any]:  # noqa: ANN401 - a type
    described: TypeAdapter[Any] = TypeAdapter(kind)
    schema = core_schema.no_info_plain_validator_function(check, json_schema_input_schema=described.core_schema)
    return Accepted(schema, needed, "")


check_plain: Final = _accepted(_plain, PlainValue, "a number, a word, yes or no, or null")
check_option: Final = _accepted(_option, PlainValue | list[float], "a number, a word or a list of numbers")


class SeedRange(Part):
    """Seeds from one number on."""

    count: Annotated[int, Whole(1, MOST_RUNS)]
    first: Annotated[int, Whole(0, LARGEST_SEED)] = Field(default=0, alias="from")


def _each_seed(raw: object) -> object:
    if not isinstance(raw, Mapping):
        return raw
    seeds = part_from(SeedRange, raw)
    return tuple(range(seeds.first, seeds.first + seeds.count))


def _listed(value: object) -> object:
    return value if isinstance(value, list | tuple) else (value,)


Seed = Annotated[int, Whole(0, LARGEST_SEED)]
Seeds = Annotated[
    tuple[Seed, ...],
    Several(1, MOST_RUNS),
    AfterValidator(lambda seeds: tuple(dict.fromkeys(seeds))),
    BeforeValidator(_each_seed, json_schema_input_type=list[Seed] | SeedRange),
]
Values = Annotated[
    tuple[Annotated[Any, check_plain], ...],
    Several(1, MOST_RUNS, "a value, or a list of them"),
    BeforeValidator(_listed, json_schema_input_type=PlainValue | Annotated[list[PlainValue], Several(1, MOST_RUNS)]),
]
Parameters: TypeAlias = FrozenDict[str, Values]
SEEDS_NEEDED: Final = "a list of whole numbers from 0 up, or {from: 0, count: 100}"


class Limits(Part):
    """What a run may take."""

    NEEDED: ClassVar[str] = "a mapping such as {seconds: 30}"
    seconds: Annotated[float, Amount("seconds", least=1e-3, most=1e9)] | None = None

    def given(self) -> FrozenDict[str, Any]:
        """Return those that are set."""
        return FrozenDict(self.model_dump(exclude_none=True))


class FileSource(Part):
    """An instance in a file, relative to the study's own folder."""

    file: Annotated[str, Text(LONGEST_TEXT, 1, "the name of a file")]
    generate: ClassVar[None] = None
    options: ClassVar[FrozenDict[str, Any]] = FrozenDict({})
    seeds: ClassVar[tuple[int, ...]] = ()


class GeneratorSource(Part):
    """Instances of a generator, one for each seed; all other keys are options of the generator."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Annotated[Any, check_option]] = Field(init=False)
    generate: Annotated[str, Text(LONGEST_TEXT, 1, "the name of a generator")]
    seeds: Seeds = Field(description=SEEDS_NEEDED)
    file: ClassVar[None] = None

    @property
    def options(self) -> FrozenDict[str, Any]:
        """Options as the study declares them; `from` is a file."""
        return FrozenDict(self.__pydantic_extra__)


InstanceSource: TypeAlias = FileSource | GeneratorSource


def _source(raw: object) -> InstanceSource:
    if isinstance(raw, InstanceSource):
        return raw
    if not isinstance(raw, Mapping) or ("file" in raw) == ("generate" in raw):
        raise rejection(describe(raw), "{file: PATH} or {generate: NAME, seeds: ...}", "")
    return part_from(FileSource, raw) if "file" in raw else part_from(GeneratorSource, raw)


class MethodChoice(Part):
    """A method; all other keys are parameters that only it is given, in all combinations of their values."""

    NEEDED: ClassVar[str] = "a name, or {name: NAME, own parameters}"
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Values] = Field(init=False)
    name: Annotated[str, Text(LONGEST_TEXT, needed="the name of a method")]
    limits: Limits | None = None  # None: those of the study

    @property
    def parameters(self) -> Parameters:
        """Values of each parameter."""
        return FrozenDict(self.__pydantic_extra__)


def _named(raw: object) -> object:
    return {"name": raw} if isinstance(raw, str) else raw


class Study(Instance):
    """What a study file says.

    `parameters` go to every method that knows them, and `seeds` to those that leave something to chance.
    """

    FORMAT: ClassVar[str] = "lpsched-study/1"
    name: Name
    instances: Annotated[
        tuple[Annotated[InstanceSource, BeforeValidator(_source, json_schema_input_type=InstanceSource)], ...],
        Entries("file or generator", most=MOST_RUNS),
    ] = Field(description="a list of files and generators, at least one")
    methods: Annotated[
        tuple[Annotated[MethodChoice, BeforeValidator(_named, json_schema_input_type=str | MethodChoice)], ...],
        Entries("method", most=MOST_RUNS),
    ] = Field(description="a list of methods, at least one")
    parameters: Annotated[Parameters, Several(most=MOST_PARAMETERS)] = Field(
        default=FrozenDict({}), description=f"a mapping of at most {MOST_PARAMETERS} parameters"
    )
    seeds: Seeds = Field(default=(0,), description=SEEDS_NEEDED)
    limits: Limits = Limits()
    description: Annotated[str, Text(LONGEST_TEXT)] = ""


def read_study(path: Path | str, check: Callable[[Study], Iterable[InputIssue]] | None = None) -> Study:
    """Read a study from a YAML or JSON file.

    `check` yields further errors of a study of valid shape, so that they are reported with their lines.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every error in file order.
    """
    path = Path(path)

    def make(raw: object) -> Study:
        study = Study.read(raw, str(path))
        issues = tuple(check(study)) if check is not None else ()
        if issues:
            raise InstanceError(str(path), issues)
        return study

    return made_of(read_document(path), path, make)


# One run of a study: its options, its outcome and its provenance; one line of JSON.
#
# `key` names the run: a digest of everything that decides its outcome (instance, method, parameters, seed,
# limits), so that a study which goes on knows what it has. `outcome` is a plain object of numbers and words
# that is the same, bit for bit, wherever and whenever the run is made again; what is not (seconds, the machine)
# is in `timings` and `where`. A run that failed has a reason and no outcome.
FORMAT: Final = "lpsched-run/1"
MOST_NUMBER: Final = 1e120  # of a line; no sum of an instance comes near it


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRun:
    """A run that ended, well or not.

    Attributes
    ----------
    source
        The file, or the generator with its options, that the instance came from, as the study declares it.
    instance_name, instance_hash
        Of the instance itself; `None` if it could not be read or made.
    kind
        `bag`, `facility`, `day` or `clusters`; `None` likewise.
    method, parameters, limits
        As declared, for this run.
    instance_seed, seed
        Of the generator (`None` for a file) and of the method.
    outcome
        What `lpsched` answered; `None` if the run failed.
    reason
        Why it failed; `None` if it did not.
    timings
        Seconds by stage; `total` is one of them.
    where
        The machine, the process and when: not part of the result.
    """

    study: str
    key: str
    source: FrozenDict[str, Any]
    instance_name: str | None = None
    instance_hash: str | None = None
    kind: str | None = None
    method: str
    parameters: FrozenDict[str, Any]
    limits: FrozenDict[str, Any]
    instance_seed: int | None
    seed: int
    outcome: FrozenDict[str, Any] | None = None
    reason: str | None
    lpsched: str = field(default_factory=version_of_lpsched)
    solver: str
    timings: FrozenDict[str, float] = field(default_factory=FrozenDict)
    where: FrozenDict[str, Any] = field(default_factory=FrozenDict)

    @property
    def failed(self) -> bool:
        """Whether there is no outcome."""
        return self.outcome is None

    def to_dict(self) -> dict[str, Any]:
        """Return the run as its line says it; keys are stable."""
        keys = (
            "format study key source instance method parameters limits instance_seed seed outcome reason lpsched "
            "solver timings where"
        )
        instance = {"name": self.instance_name, "hash": self.instance_hash, "kind": self.kind}
        return json_of(self, keys, format=FORMAT, instance=instance)


def run_from(line: Mapping[str, Any]) -> StudyRun:
    """Return the run that a line describes."""
    _require_plain(line)
    instance, outcome, reason = line["instance"], line["outcome"], line["reason"]
    keys = ("instance_name", "instance_hash", "kind")
    names: dict[str, Any] = {key: _text_of(instance, key.removeprefix("instance_")) for key in keys}
    if outcome is not None:
        _text_of(outcome, "objective")
    if outcome is None and reason is None:
        reason = "none was written"
    words: dict[str, Any] = {name: str(line[name]) for name in ("study", "key", "method", "lpsched", "solver")}
    objects: dict[str, Any] = {name: FrozenDict(line[name]) for name in ("parameters", "limits", "where")}
    return StudyRun(
        source=FrozenDict(frozen_note(line["source"])),
        instance_seed=line["instance_seed"],
        seed=line["seed"],
        outcome=None if outcome is None else FrozenDict(outcome),
        reason=None if reason is None else str(reason),
        timings=FrozenDict({name: float(each) for name, each in line["timings"].items()}),
        **names,
        **words,
        **objects,
    )


def _text_of(found: Mapping[str, Any], name: str) -> str | None:
    """Return a text or nothing."""
    if not isinstance(text := found.get(name), str | None):
        raise TypeError(f"a text as {name}")
    return text


def _require_plain(value: object, name: str = "") -> None:
    """Check that all numbers of a line make sense: sums and squares of them are numbers."""
    if isinstance(value, int | float) and not abs(value) <= MOST_NUMBER:
        raise ValueError(f"a number that makes sense as {name}")
    if isinstance(value, Mapping):
        for key, each in value.items():
            _require_plain(each, key)
    elif isinstance(value, list):
        for each in value:
            _require_plain(each, name)


# What became of a study that was run: how many runs there are, were there already, were made, failed.
SUMMARY_FORMAT: Final = "lpsched-study-run/1"


@dataclass(frozen=True, slots=True)
class StudySummary:
    """A study after it was run, as far as it got.

    Attributes
    ----------
    lines
        The file with one line for each run.
    runs
        How many the study declares.
    found, made
        Runs whose lines were there before, and that were made now.
    failed
        Of all these, how many have a reason instead of an outcome; `reasons` has the first few.
    others
        Lines in the file that are not of this study as it is now.
    versions
        Of lpsched that made lines found there, other than this one.
    seconds
        From the first run made now to the last.
    """

    study: str
    lines: str
    runs: int
    found: int
    made: int
    failed: int
    reasons: tuple[tuple[str, int], ...]
    others: int
    versions: tuple[str, ...]
    seconds: float
    lpsched: str = field(default_factory=version_of_lpsched)

    @property
    def left(self) -> int:
        """How many runs have not been made."""
        return self.runs - self.found - self.made

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched study run --json` prints; its keys are stable."""
        keys = "format lpsched study lines runs found made left failed reasons others versions seconds"
        reasons = [{"reason": reason, "runs": runs} for reason, runs in self.reasons]
        return json_of(self, keys, format=SUMMARY_FORMAT, reasons=reasons)


# The lines of a study: one JSON object for each run; how they are kept safe is in `io/content.py`.
ENDING: Final = ".runs.jsonl"
RUNS: Final = LineKind("run", "lines of a study", "lpsched study run", (FORMAT,))


def lines_of(study: Path | str) -> Path:
    """Return the default file for the lines of a study: next to the study file.

    >>> lines_of("studies/sweep.yaml").as_posix()
    'studies/sweep.runs.jsonl'
    """
    path = Path(study)
    return path.with_name(path.stem + ENDING)


def read_runs(path: Path | str) -> Iterator[StudyRun]:
    """Yield the runs of a file, of two lines for one run both; a last line that was cut is left out.

    Raises
    ------
    InstanceError
        If it cannot be read, or a line is no run.
    """
    return read_lines(Path(path), RUNS, run_from)


class RunLines(AddedLines):
    """The file of a study that is open for more runs; a context manager."""

    def __init__(self, path: Path, *, resume: bool, overwrite: bool = False) -> None:
        super().__init__(path, RUNS, resume=resume, overwrite=overwrite)

    def add(self, run: StudyRun) -> None:
        """Write a run; it is on the disk when this returns."""
        self.add_line(run.to_dict())
