"""Generators in studies, and checking that values fit the options of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np

from lpsched.bag.model import Bag
from lpsched.errors import Fault, InstanceError, nearest
from lpsched.facility.model import Facility
from lpsched.generate.cluster_options import MachovecOptions
from lpsched.generate.clusters import machovec_clusters
from lpsched.generate.cov import CovOptions, cov_bag
from lpsched.generate.day import EsscOptions, day_of, essc_day
from lpsched.generate.facility import PLATFORMS, FacilityOptions, facility_of
from lpsched.generate.grow import GrowOptions, grow, resampled
from lpsched.model.fields import describe
from lpsched.online.clusters import Clusters
from lpsched.online.day import Day

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


# Whether values that a study gives fit the fields of a dataclass of options: names and types, not ranges.
#
# Ranges are the dataclass's own to refuse, when it is made.
WORDS = {int: "a whole number", float: "a number", str: "a word", bool: "true or false", type(None): "null"}


def names_of(options: type) -> tuple[str, ...]:
    """Return what may be given."""
    return tuple(each.name for each in fields(options))


def misfits(given: Mapping[str, Any], options: type, others: Iterable[str] = ()) -> Iterator[Fault]:
    """Find unknown names, and values of another type than the field has; `others` are known as well."""
    types, known = get_type_hints(options), (*names_of(options), *others)
    for name, value in given.items():
        if name not in known:
            yield unknown(name, known)
        elif name in types and not _fits(value, types[name]):
            yield Fault((name,), describe(value), _needed(types[name]), "correct it")


def unknown(name: str, known: Iterable[str]) -> Fault:
    """Return the fault of a name that nobody knows."""
    known = tuple(known)
    needed = "one of " + ", ".join(known) if known else "no options at all"
    return Fault((name,), "an unknown name", needed, nearest(name, known) or "remove it")


def _fits(value: object, type_: Any) -> bool:  # noqa: ANN401 - what an annotation is
    if get_origin(type_) is tuple:
        return isinstance(value, tuple) and all(_fits(each, get_args(type_)[0]) for each in value)
    if get_args(type_):
        return any(_fits(value, each) for each in get_args(type_))
    if type_ is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, type_) and (type_ is bool or not isinstance(value, bool))


def _needed(type_: Any) -> str:  # noqa: ANN401 - what an annotation is
    if get_origin(type_) is tuple:
        return f"a list, each {WORDS[get_args(type_)[0]]}"
    parts = get_args(type_) or (type_,)
    return " or ".join(WORDS.get(each) or _needed(each) for each in parts)


# The generators of a study, by name: those of `lpsched generate`, with the same options and the same seeds.
#
# bag        by coefficients of variation; with `method: grow` and `from: FILE` like the tables of a small bag
# resampled  a random bag of another's task types: `from: FILE` and `tasks`, or `tasks_per_machine`
# facility   a platform of the Heat paper
# day        the thesis's day; with `from: FILE` and `minutes` tasks that arrive for the machines of a bag
# clusters   those of the Jobs paper
Instance: TypeAlias = Bag | Facility | Day | Clusters
Options: TypeAlias = Mapping[str, Any]
FROM: Final = "from"
GROW: Final = "grow"
METHODS: Final = ("cov", GROW)


@dataclass(frozen=True, slots=True)
class Generator:
    """What it makes, what is wrong with options, and how an instance is made of sound ones and a seed.

    `make` gets the bag that `from` names as well, where it names one.
    """

    kind: str
    faults: Callable[[Options], Iterator[Fault]]
    make: Callable[[Options, int, Bag | None], Instance]


@dataclass(frozen=True, slots=True)
class _Resampling:
    tasks: int | None = None
    tasks_per_machine: float | None = None


@dataclass(frozen=True, slots=True)
class _Arriving:
    tasks: int
    minutes: float


def _without(options: Options, *names: str) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}


def _made(options: Options, make: Callable[..., object]) -> Iterator[Fault]:
    """Find what the options' own class refuses."""
    try:
        make(**options)
    except InstanceError as error:
        yield from error.faults


def _needs(options: Options, *names: str) -> Iterator[Fault]:
    for name in names:
        if name not in options:
            yield Fault((name,), "nothing", f"the key {name!r}", "add it")


def _refuses(options: Options, name: str, needed: str) -> Iterator[Fault]:
    if name in options:
        yield Fault((name,), "a key that has no meaning here", needed, "remove it")


def _bag_faults(options: Options) -> Iterator[Fault]:
    own, method = _without(options, "method", FROM), options.get("method", "cov")
    if method not in METHODS:
        yield Fault(("method",), repr(method), f"one of {', '.join(METHODS)}", "choose one")
        return
    yield from (_needs(options, FROM) if method == GROW else _refuses(options, FROM, "it only with method: grow"))
    class_ = GrowOptions if method == GROW else CovOptions
    found = tuple(misfits(own, class_, ("method", FROM)))
    yield from found or (_made(own, CovOptions) if method != GROW else ())


def _bag(options: Options, seed: int, base: Bag | None) -> Bag:
    own, rng = _without(options, "method", FROM), np.random.default_rng(seed)
    if base is None:
        return cov_bag(f"cov-{seed}", rng, CovOptions(**own))
    return grow(f"grow-{seed}", base, rng, GrowOptions(**own)).bag


def _resampled_faults(options: Options) -> Iterator[Fault]:
    own = _without(options, FROM)
    yield from _needs(options, FROM)
    yield from misfits(own, _Resampling, (FROM,))
    if ("tasks" in own) == ("tasks_per_machine" in own):
        yield Fault(("tasks",), "both or neither", "tasks or tasks_per_machine", "give one of them")
    if any(isinstance(value, int | float) and not 0 < value < np.inf for value in own.values()):
        yield Fault(("tasks",), "a number that is not above 0", "a number above 0", "correct it")


def _resampled(options: Options, seed: int, base: Bag | None) -> Bag:
    assert base is not None
    tasks = options.get("tasks")
    if tasks is None:
        tasks = max(1, round(options["tasks_per_machine"] * base.machines))
    return resampled(base, tasks, np.random.default_rng(seed))


def _day_faults(options: Options) -> Iterator[Fault]:
    if FROM in options:
        own = _without(options, FROM)
        yield from _needs(own, "tasks", "minutes")
        yield from misfits(own, _Arriving, (FROM,))
        return
    found = tuple(misfits(options, EsscOptions, (FROM, "minutes")))
    yield from _refuses(options, "minutes", "it only with from")
    yield from found or _made(_without(options, "minutes"), EsscOptions)


def _day(options: Options, seed: int, base: Bag | None) -> Day:
    if base is None:
        return essc_day(f"day-{seed}", seed, EsscOptions(**options))
    rng = np.random.default_rng(seed)
    return day_of(f"day-{seed}", base, rng, tasks=options["tasks"], minutes=options["minutes"])


def _clusters_faults(options: Options) -> Iterator[Fault]:
    found = tuple(misfits(options, MachovecOptions))
    yield from found or _made(options, MachovecOptions)


def _clusters(options: Options, seed: int, _base: Bag | None) -> Clusters:
    return machovec_clusters(f"clusters-{seed}", seed, MachovecOptions(**options))


def _facility_faults(options: Options) -> Iterator[Fault]:
    own, platform = _without(options, "platform"), options.get("platform", "small")
    found = list(misfits(own, FacilityOptions, ("platform",)))
    if platform not in PLATFORMS:
        found.append(Fault(("platform",), repr(platform), f"one of {', '.join(PLATFORMS)}", "choose one"))
    yield from found or _made(own, lambda **given: replace(PLATFORMS[platform], **given))


def _facility(options: Options, seed: int, _base: Bag | None) -> Facility:
    platform = options.get("platform", "small")
    chosen = replace(PLATFORMS[platform], **_without(options, "platform"))
    return facility_of(f"{platform}-{seed}", np.random.default_rng(seed), chosen)


GENERATORS: Final[dict[str, Generator]] = {
    "bag": Generator("bag", _bag_faults, _bag),
    "resampled": Generator("bag", _resampled_faults, _resampled),
    "facility": Generator("facility", _facility_faults, _facility),
    "day": Generator("day", _day_faults, _day),
    "clusters": Generator("clusters", _clusters_faults, _clusters),
}
