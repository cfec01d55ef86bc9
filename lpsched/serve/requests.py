"""Bodies of requests: a document with the keys of a file, and the options of a command.

A body is a mapping: `{"bag": {...}, "effort": "fast"}`. A document by itself (it has a `format`) does as well, in
JSON or YAML; the options then have their defaults. Documents are read by the readers of files, so that the messages
are those of the command line; a document that names another file is rejected. Nothing here opens a file.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, TypeVar

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from lpsched.errors import InputIssue, InstanceError, LpschedWarning, nearest, quote
from lpsched.io.content import as_text
from lpsched.io.documents import Document, read_json, read_yaml
from lpsched.io.instance_files import made_of
from lpsched.model.base import Part
from lpsched.model.fields import Accepted, Amount, Checked, Message, OneOf, Several, Text, Whole, describe
from lpsched.model.kinds import INSTANCES, KINDS, Kind, format_of, name_of
from lpsched.model.provenance import version_of_lpsched
from lpsched.units import EXPECTED, Quantity, parse_quantity

SOURCE: Final = "the request"
MOST_FILES: Final = 100  # schedules or proofs of one request
MOST_POINTS: Final = 10_000
MOST_SEED: Final = 2**63 - 1
OF_DOCUMENT: Final = "format"  # a body that has this key is a document by itself
Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Measure(Checked[float]):
    """A time or power: a number of seconds or watts, or a text with a unit."""

    kind: Quantity
    least: float = 0.0

    def core(self) -> CoreSchema:
        """Return the check."""
        return core_schema.no_info_plain_validator_function(self._read)

    def _read(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError("neither a number nor a text")  # noqa: TRY004 - for Pydantic
        read = parse_quantity(value, self.kind, least=self.least) if isinstance(value, str) else float(value)
        if not self.least <= read < float("inf"):
            raise ValueError("out of range")
        return read

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        return describe(value), f"{EXPECTED[self.kind]}, of at least {self.least:g}", "correct it"

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe both forms."""
        return {"anyOf": [{"type": "number", "minimum": self.least}, {"type": "string", "examples": ["5h", "30kW"]}]}


class AnyNumber(Checked[float]):
    """A finite number; the library checks its range."""

    __slots__ = ()

    def core(self) -> CoreSchema:
        """Return a finite float."""
        return core_schema.float_schema(strict=True, allow_inf_nan=False)

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        return describe(value), "a number", "write it as a plain number"


Number = Annotated[float, AnyNumber()]
Seconds = Annotated[float, Measure("time")]
Watts = Annotated[float, Measure("power")]
Share = Annotated[float, Amount("a share", 0.0, 1.0)]
Flag = Annotated[bool, Accepted(core_schema.bool_schema(strict=True), "true or false", "write one of the two")]
Seed = Annotated[int, Whole(0, MOST_SEED)]
Names = Annotated[tuple[Annotated[str, Text(200, 1)], ...], Several(0, MOST_FILES, needed="a list of names")]
Effort = Annotated[str, OneOf(("fast", "balanced", "auto", "tight"))]
Marginals = Annotated[str, OneOf(("lp", "top", "proved"))]
Objective = Annotated[str, OneOf(("profit", "makespan", "energy"))]


class Options(Part):
    """Options of a request; those of the command with the same name, with its defaults."""

    KEY: ClassVar[str] = "bag"  # of the body for the instance
    TAKEN: ClassVar[tuple[str, ...]] = ("bag",)  # kinds that it may be of
    NAMED: ClassVar[str] = ""  # key of the body for documents by name: schedules or proofs


class _Terms(Options):
    """What replaces the prices and limits of a bag."""

    price: Number | None = Field(None, description="Price of the whole bag; replaces the prices of the document.")
    profit_ratio: Number | None = Field(
        None, description="Price of the bag as a multiple of the cost of its least energy."
    )
    power_cap: Watts | None = Field(None, description="Average-power cap in watts, or with a unit: '30kW'.")
    deadline: Seconds | None = Field(None, description="Deadline in seconds, or with a unit: '5h'.")
    effort: Effort = Field("auto", description="How hard to search for a schedule and a bound.")
    seed: Seed = Field(0, description="Random seed; the same seed gives the same answer.")

    def terms(self) -> dict[str, Any]:
        """Return the terms as the library's functions take them."""
        return {key: getattr(self, key) for key in ("price", "profit_ratio", "power_cap", "deadline")}


class SolveOptions(_Terms):
    """Options of `lpsched solve`; with a horizon or the objective cost or carbon, a plan over time."""

    objective: Annotated[str, OneOf(("profit", "makespan", "energy", "cost", "carbon"))] | None = Field(
        None, description="What to optimise; by default profit where a price is known, else makespan."
    )
    gap: Share = Field(1e-4, description="Relative gap at which the search stops: the status is then optimal.")
    marginals: Marginals = Field("top", description="Marginal values of the linear program, or proved effects, too.")
    time_limit: Seconds | None = Field(None, description="Time limit; then the best answer so far.")
    horizon: Seconds | None = Field(None, description="Plan over a horizon, in seconds or with a unit: '24h'.")
    start: Annotated[str, Text(64, 1)] | None = Field(None, description="When the horizon begins.")
    carbon_price: Annotated[float, Amount("money per tonne")] | None = Field(
        None, description="Money for each tonne of CO2, as a part of the cost of a plan."
    )
    switch_off: Flag | None = Field(None, description="Whether idle machines of a plan may be off.")


class FrontOptions(Options):
    """Options of `lpsched front`."""

    sample: Annotated[int, Whole(0, 1000)] = Field(0, description="Number of weights to sample as well.")
    power_cap: Watts | None = Field(None, description="Average-power cap in watts, or with a unit: '30kW'.")
    deadline: Seconds | None = Field(None, description="Deadline in seconds, or with a unit: '5h'.")
    effort: Effort = Field("auto", description="How hard to search for schedules and bounds.")
    seed: Seed = Field(0, description="Random seed; the same seed gives the same answer.")


class PriceOptions(_Terms):
    """Options of `lpsched price`."""

    from_ratio: Number | None = Field(None, description="First profit ratio of the curve; by default a price of 0.")
    to_ratio: Number | None = Field(None, description="Last profit ratio of the curve; by default there is none.")
    points: Annotated[int, Whole(0, MOST_POINTS)] = Field(0, description="Number of evenly spaced points to add.")
    lifetime: Seconds | None = Field(None, description="Lifetime of machines without one in the document: '1500d'.")
    marginals: Marginals = Field("top", description="As in solve, for machines that are worthwhile.")
    sensitivity: Flag = Field(
        True,  # noqa: FBT003
        description="Whether to find which machines and prices of electricity are worthwhile, too.",
    )


class WhatIfOptions(_Terms):
    """Options of `lpsched whatif` for a bag."""

    changes: Annotated[
        dict[Annotated[str, Text(400, 1)], Annotated[str, Text(100, 1)] | Number | None],
        Several(1, 1000, needed="a mapping of names and values"),
    ] = Field(alias="set", description="new values by name, or changes: {'H100': '+1', 'price': '-10%'}")
    objective: Objective | None = Field(None, description="What to optimise, for both.")
    time_limit: Seconds | None = Field(None, description="Time limit of each of the two solves.")


class ValidateOptions(_Terms):
    """Options of `lpsched validate`; those of a bag are rejected for other kinds."""

    KEY = "instance"
    TAKEN = INSTANCES
    NAMED = "schedules"

    schedulers: Names = Field((), description="Names of schedulers to run; by default those of the command.")
    objective: Objective | None = Field(None, description="What to compare by; of bags.")
    generations: Annotated[int, Whole(0, 10**6)] | None = Field(None, description="nsga2, ga: generation limit.")
    drop_below: Annotated[float, Amount("utility")] | None = Field(None, description="Days: drop tasks that earn less.")
    time_limit: Seconds | None = Field(None, description="Time limit of each scheduler.")


class VerifyOptions(Options):
    """Options of `lpsched verify`."""

    KEY = "instance"
    TAKEN = INSTANCES
    NAMED = "files"

    switch_off: Flag | None = Field(None, description="As when a plan over a horizon was made.")
    price: Number | None = Field(None, description="Price of the whole bag that certificates must be about.")
    power_cap: Watts | None = Field(None, description="Likewise the average-power cap: watts, or '30kW'.")
    deadline: Seconds | None = Field(None, description="Likewise the deadline: seconds, or '5h'.")
    horizon: Seconds | None = Field(None, description="Of plans: the horizon, by default the deadline.")
    start: Annotated[str, Text(64, 1)] | None = Field(None, description="Of plans: when the horizon begins.")
    carbon_price: Annotated[float, Amount("money per tonne")] | None = Field(
        None, description="Of plans: money for each tonne of CO2."
    )
    outlets: Annotated[tuple[Number, ...], Several(1, 1000, needed="temperatures in Celsius")] | None = Field(
        None, description="Of facilities: fixed outlet temperatures in Celsius; one for all."
    )


class FacilityOptions(Options):
    """Options of `lpsched facility`."""

    KEY = "facility"
    TAKEN = ("facility",)

    scheduler: Annotated[str, OneOf(("lp", "greedy", "ga", "nlp"))] = Field(
        "lp", description="lp: ours, with its bound. The others are of the literature, compared with it."
    )
    colocation: Flag = Field(True, description="Whether cores of a node slow each other down.")  # noqa: FBT003
    outlets: Annotated[tuple[Number, ...], Several(1, 1000, needed="temperatures in Celsius")] | None = Field(
        None, description="Fixed outlet temperatures of the CRAC units in Celsius; one for all."
    )
    gap: Share = Field(0.001, description="Relative gap at which the search stops.")
    generations: Annotated[int, Whole(0, 10**6)] | None = Field(None, description="ga: generation limit.")
    seed: Seed = Field(0, description="Random seed.")
    time_limit: Seconds | None = Field(None, description="Time limit; then the best answer so far.")


class SimulateOptions(Options):
    """Options of `lpsched simulate` for days and clusters."""

    KEY = "instance"
    TAKEN = ("day", "clusters")

    schedulers: Names = Field((), description="Names of policies; by default those of the command.")
    bound: Flag = Field(False, description="Whether to prove a bound.")  # noqa: FBT003
    offline: Flag = Field(False, description="Whether to make a schedule that knows all tasks beforehand.")  # noqa: FBT003
    trials: Annotated[int, Whole(1, 1000)] = Field(1, description="Number of draws, by the generator of the document.")
    seed: Seed = Field(0, description="Random seed.")
    time_limit: Seconds | None = Field(None, description="Time limit of each bound.")


class ConvertOptions(Options):
    """No options: the document is checked, and answered as JSON and YAML."""

    KEY = "instance"
    TAKEN = INSTANCES


class ShowOptions(ConvertOptions):
    """No options: sizes, heterogeneity and load of the document."""


@dataclass(frozen=True, slots=True)
class Given:
    """A request as it was read: options, the instance and its kind, other documents by name, and warnings."""

    options: Any
    instance: Any
    kind: Kind
    named: Mapping[str, Document]
    warnings: tuple[str, ...]
    written: str = (
        ""  # a hash of the bytes, where other documents are there: verdicts name their lines and doubled keys
    )

    def digest(self, operation: str) -> str:
        """Return a hash of everything that the answer depends on: content of the instance, names, and options."""
        content = [version_of_lpsched(), operation, self.kind.name, self.instance.name, self.instance.content_hash]
        if self.kind.name != "bag" and isinstance(self.options, ValidateOptions):
            content += sorted(self.options.model_fields_set)  # options of bags are rejected, even at their defaults
        content += [self.warnings, getattr(self.instance, "made_by", None)]  # they are no part of the hash
        said = json.dumps([*content, self.options.model_dump(mode="json"), self.written], default=str)
        return hashlib.sha256(said.encode()).hexdigest()


def read_request(model: type[Options], body: bytes, *, is_yaml: bool) -> Given:
    """Read a body.

    Raises
    ------
    InstanceError
        If anything is wrong with it; it lists every problem.
    """
    source = Path(SOURCE)
    text = as_text(source, body)
    whole = read_yaml(source, text) if is_yaml else read_json(source, text)
    raw, key, kinds = whole.value, model.KEY, model.TAKEN
    if not isinstance(raw, Mapping):
        needed = f"a mapping with the key {quote(key)}, or a document with its 'format'"
        raise InstanceError(SOURCE, (InputIssue((), describe(raw), needed, "see /docs"),))
    is_document = OF_DOCUMENT in raw
    options, issues = {}, []
    document, of_named = whole, Document({})
    if not is_document:
        document, of_named = _part(whole, key), _part(whole, model.NAMED) if model.NAMED else Document({})
        options = {each: value for each, value in raw.items() if each not in (key, model.NAMED)}
        issues = [each for each in whole.issues if each.path[:1] not in {(key,), (model.NAMED,)}]

    def tried(read: Callable[[], Read]) -> Read | None:
        try:
            return read()
        except InstanceError as error:
            whole_part = () if is_document else (key,)  # where an issue is of the document as such
            issues.extend(
                each if each.path else InputIssue(whole_part, each.got, each.expected, each.hint, each.line)
                for each in error.issues
            )
            return None

    made = tried(lambda: _options(model, options, key))
    found = tried(lambda: _instance(document, key, kinds))
    named = tried(lambda: _named(of_named, model))
    if issues or found is None or named is None:
        raise InstanceError(SOURCE, tuple(issues))
    written = hashlib.sha256(body).hexdigest() if named else ""
    return Given(made, found[0], found[1], named, found[2], written)


def _part(whole: Document, key: str) -> Document:
    """Return a part of the body as a document of its own, with its lines and errors."""
    assert isinstance(whole.value, Mapping)
    lines = {path[1:]: line for path, line in whole.lines.items() if path[:1] == (key,) and len(path) > 1}
    issues = tuple(
        InputIssue(each.path[1:], each.got, each.expected, each.hint, each.line)
        for each in whole.issues
        if each.path[:1] == (key,)
    )
    return Document(whole.value.get(key), issues, lines)


def _options(model: type[Options], given: Mapping[str, Any], key: str) -> Options:
    known = [field.alias or name for name, field in model.model_fields.items()]
    keys = [key, *filter(None, [model.NAMED]), *known]
    unknown = tuple(
        InputIssue((str(each),), "an unknown key", f"one of {', '.join(keys)}", nearest(str(each), keys) or "remove it")
        for each in list(given)[:MOST_FILES]
        if each not in known
    )
    if unknown:
        raise InstanceError(SOURCE, unknown)
    return model(**{name: value for name, value in given.items() if value is not None})


def _instance(document: Document, key: str, kinds: tuple[str, ...]) -> tuple[Any, Kind, tuple[str, ...]]:
    """Read the instance; where it may be of one kind only, its reader says that the format is missing."""
    if document.value is None:
        phrases = " or ".join(KINDS[name].phrase for name in kinds)
        raise InstanceError(SOURCE, (InputIssue((key,), "nothing", f"the document of {phrases}", "add it"),))
    found = format_of(document.value)
    formats = " or ".join(f"'{KINDS[name].load('model').FORMAT}'" for name in kinds)
    if found is None and len(kinds) > 1 and isinstance(document.value, Mapping):
        issue = InputIssue((OF_DOCUMENT,), "no format", formats, "write it as the first key")
        raise InstanceError(SOURCE, (issue,))
    kind = KINDS.get(kinds[0] if found is None else name_of(found))
    if kind is None or kind.name not in kinds:
        raise InstanceError(SOURCE, (InputIssue((OF_DOCUMENT,), describe(found), formats, "check the document"),))
    model = kind.load("model")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LpschedWarning)
        instance = made_of(document, Path(kind.name), lambda raw: model.read(raw, kind.name))
    said = (str(each.message) for each in caught if issubclass(each.category, LpschedWarning))
    return instance, kind, tuple(sentence.partition(": ")[2] for sentence in said)


def _named(of_named: Document, model: type[Options]) -> dict[str, Document]:
    """Return the documents of schedules or proofs by name; a list has the names 1, 2, and so on."""
    raw = of_named.value
    if isinstance(raw, list):
        raw = {str(number): each for number, each in enumerate(raw, start=1)}
    if raw is None:
        return {}
    if not isinstance(raw, Mapping) or len(raw) > MOST_FILES:
        needed = f"a mapping of names and documents, at most {MOST_FILES}"
        raise InstanceError(SOURCE, (InputIssue((model.NAMED,), describe(raw), needed, "correct it"),))
    return {str(name): _part(Document(raw, of_named.issues, of_named.lines), name) for name in raw}
