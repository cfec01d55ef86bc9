"""The plan of a study: its generators and files, and every combination of instance, method, parameters and seed."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from pydantic_core import PydanticCustomError

from lpsched.bag.model import Bag
from lpsched.errors import InputIssue, InstanceError, LpschedWarning, Place, nearest, quote
from lpsched.facility.model import Facility
from lpsched.generate.bags import cov_bag, grow, resampled
from lpsched.generate.clusters import machovec_clusters
from lpsched.generate.day import day_of, essc_day
from lpsched.generate.facility import facility_of
from lpsched.generate.options import (
    PLATFORMS,
    CovOptions,
    EsscOptions,
    FacilityOptions,
    GrowOptions,
    MachovecOptions,
    Options,
    unknown,
)
from lpsched.instances import read_instance
from lpsched.model.fields import FrozenDict
from lpsched.model.kinds import INSTANCES, kind_of
from lpsched.online.clusters import Clusters
from lpsched.online.day import Day
from lpsched.studies.executors import Task
from lpsched.studies.methods import Method, find_method, method_names
from lpsched.studies.study import MOST_RUNS, InstanceSource, MethodChoice, Study

# The generators of a study, by name: those of `lpsched generate`, with the same options and the same seeds.
#
# bag        by coefficients of variation; with `method: grow` and `from: FILE` like the tables of a small bag
# resampled  a random bag of another's task types: `from: FILE` and `tasks`, or `tasks_per_machine`
# facility   a platform of the Heat paper
# day        the thesis's day; with `from: FILE` and `minutes` tasks that arrive for the machines of a bag
# clusters   those of the Jobs paper
Instance: TypeAlias = Bag | Facility | Day | Clusters
Spec: TypeAlias = Mapping[str, Any]  # the options of a generator as a study declares them
FROM: Final = "from"
GROW: Final = "grow"
BAG_METHODS: Final = ("cov", GROW)


@dataclass(frozen=True, slots=True)
class Generator:
    """What it makes, how options are checked, and how an instance is made from valid options and a seed.

    `make` gets the bag that `from` names as well, where it names one.
    """

    kind: str
    issues: Callable[[Spec], Iterator[InputIssue]]
    make: Callable[[Spec, int, Bag | None], Instance]


class _Resampling(Options):
    tasks: int | None = None
    tasks_per_machine: float | None = None

    def at_odds(self, *, in_range: bool) -> Iterator[InputIssue]:
        del in_range
        given = [each for each in (self.tasks, self.tasks_per_machine) if each is not None]
        if len(given) != 1:
            yield InputIssue(("tasks",), "both or neither", "tasks or tasks_per_machine", "give one of them")
        if not all(0 < each < math.inf for each in given):
            yield InputIssue(("tasks",), "a number that is not above 0", "a number above 0", "correct it")


class _Arriving(Options):
    tasks: int
    minutes: float


def _without(options: Spec, *names: str) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}


def _issues(
    model: type[Options], options: Spec, others: tuple[str, ...] = (), *, needs_from: bool = False
) -> Iterator[InputIssue]:
    """Yield unknown names and invalid values of options; names in `others` are known as well."""
    known = (*model.model_fields, *others)
    if needs_from and FROM not in options:
        yield InputIssue((FROM,), "nothing", f"the key {FROM!r}", "add it")
    yield from (unknown(name, known) for name in options if name not in known)
    try:
        model(**{name: value for name, value in options.items() if name in model.model_fields})
    except InstanceError as error:
        yield from error.issues


def _meaningless(options: Spec, name: str, needed: str) -> Iterator[InputIssue]:
    if name in options:
        yield InputIssue((name,), "a key that has no meaning here", needed, "remove it")


def _bag_issues(options: Spec) -> Iterator[InputIssue]:
    method = options.get("method", "cov")
    if method not in BAG_METHODS:
        yield InputIssue(("method",), repr(method), f"one of {', '.join(BAG_METHODS)}", "choose one")
    elif method == GROW:
        yield from _issues(GrowOptions, options, ("method", FROM), needs_from=True)
    else:
        yield from _meaningless(options, FROM, "it only with method: grow")
        yield from _issues(CovOptions, options, ("method", FROM))


def _bag(options: Spec, seed: int, base: Bag | None) -> Bag:
    own, rng = _without(options, "method", FROM), np.random.default_rng(seed)
    if base is None:
        return cov_bag(f"cov-{seed}", rng, CovOptions(**own))
    return grow(f"grow-{seed}", base, rng, GrowOptions(**own)).bag


def _resampled(options: Spec, seed: int, base: Bag | None) -> Bag:
    assert base is not None
    tasks = options.get("tasks")
    if tasks is None:
        tasks = max(1, round(options["tasks_per_machine"] * base.machines))
    return resampled(base, tasks, np.random.default_rng(seed))


def _day_issues(options: Spec) -> Iterator[InputIssue]:
    if FROM in options:
        yield from _issues(_Arriving, options, (FROM,))
    else:
        yield from _meaningless(options, "minutes", "it only with from")
        yield from _issues(EsscOptions, options, (FROM, "minutes"))


def _day(options: Spec, seed: int, base: Bag | None) -> Day:
    if base is None:
        return essc_day(f"day-{seed}", seed, EsscOptions(**options))
    rng = np.random.default_rng(seed)
    return day_of(f"day-{seed}", base, rng, tasks=options["tasks"], minutes=options["minutes"])


def _clusters(options: Spec, seed: int, _base: Bag | None) -> Clusters:
    return machovec_clusters(f"clusters-{seed}", seed, MachovecOptions(**options))


def _facility_issues(options: Spec) -> Iterator[InputIssue]:
    platform = options.get("platform", "small")
    if platform in PLATFORMS:
        yield from _issues(FacilityOptions, PLATFORMS[platform].model_dump() | dict(options), ("platform",))
    else:
        yield InputIssue(("platform",), repr(platform), f"one of {', '.join(PLATFORMS)}", "choose one")


def _facility(options: Spec, seed: int, _base: Bag | None) -> Facility:
    platform = options.get("platform", "small")
    chosen = PLATFORMS[platform].model_copy(update=_without(options, "platform"))
    return facility_of(f"{platform}-{seed}", np.random.default_rng(seed), chosen)


GENERATORS: Final[dict[str, Generator]] = {
    "bag": Generator("bag", _bag_issues, _bag),
    "resampled": Generator("bag", partial(_issues, _Resampling, others=(FROM,), needs_from=True), _resampled),
    "facility": Generator("facility", _facility_issues, _facility),
    "day": Generator("day", _day_issues, _day),
    "clusters": Generator("clusters", partial(_issues, MachovecOptions), _clusters),
}


# The files that a study names, read once: workers elsewhere are sent what they say, and need no disk.
@dataclass(frozen=True, slots=True)
class Gathered:
    """What the files say, by the names that the study has for them, and what is wrong with some."""

    instances: Mapping[str, Instance]
    issues: tuple[InputIssue, ...]


def gather(study: Study, folder: Path) -> Gathered:
    """Read every file that a study names, relative to its own folder."""
    instances: dict[str, Instance] = {}
    issues: list[InputIssue] = []
    for number, source in enumerate(study.instances):
        key, file = (FROM, source.options.get(FROM)) if source.file is None else ("file", source.file)
        place: Place = ("instances", number, key)
        if file is None:
            continue
        if not isinstance(file, str):
            issues.append(InputIssue(place, repr(file), "the name of a file", "correct it"))
            continue
        try:
            if file not in instances:
                with warnings.catch_warnings(action="ignore", category=LpschedWarning):  # they are for 'lpsched show'
                    instances[file] = read_instance(folder / file)
            if key == FROM and not isinstance(base := instances[file], Bag):
                issues.append(InputIssue(place, f"a file of the kind {kind_of(base).name!r}", "a bag", "name one"))
        except InstanceError as error:
            found = f"{quote(file)}, which cannot be used: {error.issues[0]}"
            issues.append(InputIssue(place, found, "a valid instance", f"see 'lpsched show {file}'"))
    return Gathered(instances, tuple(issues))


# From a study to its runs: every combination of instance, method, parameters and seed, each with its key.
#
# A parameter of the study goes to the methods that know it; one that is the method's own comes before it.
# Seeds go to methods that leave something to chance, limits to those that heed them: others would only do the
# same again. A run's key is the SHA-256 digest of what decides its outcome, written as canonical JSON: the
# hash of what the instance's file says, or the generator with its options and seed; method, parameters, seed,
# limits.
@dataclass(frozen=True, slots=True)
class _Block:
    """A source of instances and a method for them: all combinations of what varies besides."""

    source: InstanceSource
    method: Method
    values: Mapping[str, Sequence[Any]]
    seeds: Sequence[int]
    limits: FrozenDict[str, Any]

    @property
    def runs(self) -> int:
        combinations = math.prod(len(each) for each in self.values.values())
        return max(1, len(self.source.seeds)) * combinations * len(self.seeds)


def plan(study: Study, gathered: Gathered) -> tuple[Task, ...]:
    """Return every run of a study once, in the order of its instances."""
    issues = tuple(issues_of(study, gathered))
    if issues:
        raise InstanceError(study.name, issues)
    found: dict[str, Task] = {}
    for _, blocks in itertools.groupby(_blocks(study, gathered), key=lambda block: id(block.source)):
        found |= {task.key: task for task in _tasks(study, gathered, list(blocks))}
    return tuple(found.values())


def issues_of(study: Study, gathered: Gathered) -> Iterator[InputIssue]:
    """Find what a study says that cannot be run."""
    yield from gathered.issues
    for number, source in enumerate(study.instances):
        yield from _source_issues(source, ("instances", number))
    kinds = _kinds(study, gathered)
    if None in kinds:  # reported above; no methods are known for it
        return
    known = {kind for kind in kinds if kind is not None}
    places = enumerate(study.methods)
    invalid = [issue for number, each in places for issue in _method_issues(each, known, ("methods", number))]
    yield from invalid or _unserved(study, kinds)
    methods = [method for each in study.methods for kind in known if (method := find_method(each.name, kind))]
    if methods:
        yield from _value_issues(study.parameters, methods, ("parameters",), "the methods of this study")
    yield from _clashes(study, known)
    runs = sum(block.runs for block in _blocks(study, gathered))
    if runs > MOST_RUNS:
        yield InputIssue((), f"{runs:,} runs", f"at most {MOST_RUNS:,}", "divide the study")


def _source_issues(source: InstanceSource, place: Place) -> Iterator[InputIssue]:
    if source.generate in GENERATORS:
        for issue in GENERATORS[source.generate].issues(source.options):
            yield InputIssue((*place, *issue.path), issue.got, issue.expected, issue.hint)
    elif source.generate is not None:
        advice = nearest(source.generate, GENERATORS) or "choose one"
        yield InputIssue((*place, "generate"), quote(source.generate), f"one of {', '.join(GENERATORS)}", advice)


def _kinds(study: Study, gathered: Gathered) -> list[str | None]:
    """Return the kind of instance of each source; `None` where it is not known."""
    made = {name: generator.kind for name, generator in GENERATORS.items()}
    read = {file: kind_of(instance).name for file, instance in gathered.instances.items()}
    return [made.get(each.generate or "") if each.file is None else read.get(each.file) for each in study.instances]


def _method_issues(choice: MethodChoice, kinds: set[str], place: Place) -> Iterator[InputIssue]:
    methods = [method for kind in INSTANCES if kind in kinds and (method := find_method(choice.name, kind))]
    if methods:
        yield from _value_issues(choice.parameters, methods, place, choice.name)
    else:
        known = tuple(dict.fromkeys(name for kind in INSTANCES if kind in kinds for name in method_names(kind)))
        advice = nearest(choice.name, known) or "choose one"
        yield InputIssue(place, quote(choice.name), f"one of {', '.join(known)}", advice)


def _value_issues(
    parameters: Mapping[str, Sequence[Any]], methods: Sequence[Method], place: Place, whose: str
) -> Iterator[InputIssue]:
    """Yield parameters that no method has, and values that one of them rejects."""
    known = tuple(dict.fromkeys(name for method in methods for name in method.takes))
    for name, values in parameters.items():
        checks = [method.takes[name] for method in methods if name in method.takes]
        if not checks:
            needed = f"a parameter of {whose}: {', '.join(known) or 'it has none'}"
            yield InputIssue((*place, name), "an unknown name", needed, nearest(name, known) or "remove it")
        for index, value in enumerate(values if checks else ()):
            try:
                _canonical(value, checks[0])
            except PydanticCustomError as error:
                where = (*place, name, index) if len(values) > 1 else (*place, name)
                yield InputIssue(where, **(error.context or {}))


def _clashes(study: Study, kinds: set[str]) -> Iterator[InputIssue]:
    """Find parameters of which a run can have one only, and would have several."""
    for number, choice in enumerate(study.methods):
        for method in (find_method(choice.name, kind) for kind in INSTANCES if kind in kinds):
            values = study.parameters | choice.parameters
            apart = method.apart if method else ()
            several = [name for name in apart if any(value is not None for value in values.get(name, ()))]
            if len(several) > 1:
                needed, do = f"one of them for {choice.name}", "drop one"
                yield InputIssue(("methods", number), " and ".join(several), needed, do)
                break


def _unserved(study: Study, kinds: Sequence[str | None]) -> Iterator[InputIssue]:
    """Find instances that no method of the study is for."""
    for number, kind in enumerate(kinds):
        if kind is None or any(find_method(choice.name, kind) for choice in study.methods):
            continue
        needed = f"a method for it: {', '.join(method_names(kind))}"
        yield InputIssue(("instances", number), f"a source of the kind {kind!r}", needed, "add one, or drop the source")


def _blocks(study: Study, gathered: Gathered) -> Iterator[_Block]:
    for source, kind in zip(study.instances, _kinds(study, gathered), strict=True):
        for choice in study.methods:
            method = find_method(choice.name, kind or "")
            if method is not None:
                shared = {name: values for name, values in study.parameters.items() if name in method.takes}
                limits = choice.limits if choice.limits is not None else study.limits
                yield _Block(
                    source,
                    method,
                    shared | choice.parameters,
                    study.seeds if method.seeded else (0,),
                    limits.given() if method.limited else FrozenDict({}),
                )


def _tasks(study: Study, gathered: Gathered, blocks: Sequence[_Block]) -> Iterator[Task]:
    """Yield the runs of one source's blocks, those of one instance after another."""
    origin = blocks[0].source
    source, decides = _source(origin, gathered)
    file = origin.file or origin.options.get(FROM)
    instance = gathered.instances.get(file) if file is not None else None
    combinations = [(block, parameters, seed) for block in blocks for parameters, seed in _combinations(block)]
    for instance_seed in origin.seeds or (None,):
        for block, parameters, seed in combinations:
            method = block.method
            run: dict[str, Any] = {"parameters": parameters, "limits": block.limits, "seed": seed}
            what = {"instance": decides | {"seed": instance_seed}, "method": [method.kind, method.name], **run}
            yield Task(
                study=study.name,
                key=digest(what),
                source=source,
                method=method.name,
                instance_seed=instance_seed,
                instance=instance,
                **run,
            )


def _combinations(block: _Block) -> Iterator[tuple[FrozenDict[str, Any], int]]:
    """Yield every combination of parameters and seed; null is a parameter that is not given."""
    checks = [block.method.takes[name] for name in block.values]
    for combination in itertools.product(*block.values.values()):
        named = zip(block.values, map(_canonical, combination, checks), strict=True)
        parameters = FrozenDict({name: value for name, value in named if value is not None})
        for seed in block.seeds:
            yield parameters, seed


def _canonical(value: object, check: Any) -> Any:  # noqa: ANN401 - a `Check`, and what it returns
    """Return a value as its check has it; null is what is not given."""
    return None if value is None else check(value)


def _source(source: InstanceSource, gathered: Gathered) -> tuple[FrozenDict[str, Any], FrozenDict[str, Any]]:
    """Return a source as runs record it, and the part of it that decides their outcome."""
    if source.file is not None:
        hash_ = gathered.instances[source.file].content_hash
        return FrozenDict({"file": source.file, "hash": hash_}), FrozenDict({"hash": hash_})
    options = {"generate": source.generate, **source.options}
    if FROM in options:
        options["hash"] = gathered.instances[options[FROM]].content_hash
    return FrozenDict(options), FrozenDict(_without(options, FROM))


def digest(what: Mapping[str, Any]) -> str:
    """Return the SHA-256 of something as canonical JSON."""
    text = json.dumps(what, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
