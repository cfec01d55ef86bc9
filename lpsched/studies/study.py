"""A declared study: what its file says.

    instances    a list of {file: PATH} and {generate: NAME, seeds: ..., options of the generator}
    methods      a list of names and {name: NAME, limits: ..., own parameters}
    parameters   of each name one value or a list of them
    seeds        a list of whole numbers, or {from: FIRST, count: HOW MANY}
    limits       {seconds: NUMBER}

Every combination of them is one run. What a method or a generator takes is known where it is run (`plan.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, TypeAlias, cast

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, TypeAdapter
from pydantic_core import core_schema

from lpsched.errors import InputIssue, InstanceError
from lpsched.io.documents import read_document
from lpsched.io.instance_files import made_of
from lpsched.model.base import Entries, Instance, Part
from lpsched.model.fields import Accepted, Amount, FrozenDict, Name, Several, Text, Whole, describe, refusal
from lpsched.model.problems import part_from
from lpsched.model.provenance import LARGEST_SEED

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
        raise refusal(describe(raw), "{file: PATH} or {generate: NAME, seeds: ...}", "")
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
