"""Generators in studies, and checking that values fit the options of one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from lpsched.bag.model import Bag
from lpsched.errors import Fault, InstanceError
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
from lpsched.online.clusters import Clusters
from lpsched.online.day import Day

if TYPE_CHECKING:
    from collections.abc import Iterator


# The generators of a study, by name: those of `lpsched generate`, with the same options and the same seeds.
#
# bag        by coefficients of variation; with `method: grow` and `from: FILE` like the tables of a small bag
# resampled  a random bag of another's task types: `from: FILE` and `tasks`, or `tasks_per_machine`
# facility   a platform of the Heat paper
# day        the thesis's day; with `from: FILE` and `minutes` tasks that arrive for the machines of a bag
# clusters   those of the Jobs paper
Instance: TypeAlias = Bag | Facility | Day | Clusters
Given: TypeAlias = Mapping[str, Any]
FROM: Final = "from"
GROW: Final = "grow"
METHODS: Final = ("cov", GROW)


@dataclass(frozen=True, slots=True)
class Generator:
    """What it makes, what is wrong with options, and how an instance is made of sound ones and a seed.

    `make` gets the bag that `from` names as well, where it names one.
    """

    kind: str
    faults: Callable[[Given], Iterator[Fault]]
    make: Callable[[Given, int, Bag | None], Instance]


class _Resampling(Options):
    tasks: int | None = None
    tasks_per_machine: float | None = None

    def at_odds(self, *, in_range: bool) -> Iterator[Fault]:
        del in_range
        given = [each for each in (self.tasks, self.tasks_per_machine) if each is not None]
        if len(given) != 1:
            yield Fault(("tasks",), "both or neither", "tasks or tasks_per_machine", "give one of them")
        if not all(0 < each < math.inf for each in given):
            yield Fault(("tasks",), "a number that is not above 0", "a number above 0", "correct it")


class _Arriving(Options):
    tasks: int
    minutes: float


def _without(options: Given, *names: str) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}


def _faults(model: type[Options], given: Given, others: tuple[str, ...] = ()) -> Iterator[Fault]:
    """Find unknown names, and what the model of the options refuses; `others` are known as well."""
    known = (*model.model_fields, *others)
    yield from (unknown(name, known) for name in given if name not in known)
    try:
        model(**{name: value for name, value in given.items() if name in model.model_fields})
    except InstanceError as error:
        yield from error.faults


def _needs(options: Given, name: str) -> Iterator[Fault]:
    if name not in options:
        yield Fault((name,), "nothing", f"the key {name!r}", "add it")


def _refuses(options: Given, name: str, needed: str) -> Iterator[Fault]:
    if name in options:
        yield Fault((name,), "a key that has no meaning here", needed, "remove it")


def _bag_faults(options: Given) -> Iterator[Fault]:
    own, method = _without(options, "method", FROM), options.get("method", "cov")
    if method not in METHODS:
        yield Fault(("method",), repr(method), f"one of {', '.join(METHODS)}", "choose one")
        return
    yield from (_needs(options, FROM) if method == GROW else _refuses(options, FROM, "it only with method: grow"))
    yield from _faults(GrowOptions if method == GROW else CovOptions, own, ("method", FROM))


def _bag(options: Given, seed: int, base: Bag | None) -> Bag:
    own, rng = _without(options, "method", FROM), np.random.default_rng(seed)
    if base is None:
        return cov_bag(f"cov-{seed}", rng, CovOptions(**own))
    return grow(f"grow-{seed}", base, rng, GrowOptions(**own)).bag


def _resampled_faults(options: Given) -> Iterator[Fault]:
    yield from _needs(options, FROM)
    yield from _faults(_Resampling, options, (FROM,))


def _resampled(options: Given, seed: int, base: Bag | None) -> Bag:
    assert base is not None
    tasks = options.get("tasks")
    if tasks is None:
        tasks = max(1, round(options["tasks_per_machine"] * base.machines))
    return resampled(base, tasks, np.random.default_rng(seed))


def _day_faults(options: Given) -> Iterator[Fault]:
    if FROM in options:
        yield from _faults(_Arriving, options, (FROM,))
    else:
        yield from _refuses(options, "minutes", "it only with from")
        yield from _faults(EsscOptions, options, (FROM, "minutes"))


def _day(options: Given, seed: int, base: Bag | None) -> Day:
    if base is None:
        return essc_day(f"day-{seed}", seed, EsscOptions(**options))
    rng = np.random.default_rng(seed)
    return day_of(f"day-{seed}", base, rng, tasks=options["tasks"], minutes=options["minutes"])


def _clusters_faults(options: Given) -> Iterator[Fault]:
    yield from _faults(MachovecOptions, options)


def _clusters(options: Given, seed: int, _base: Bag | None) -> Clusters:
    return machovec_clusters(f"clusters-{seed}", seed, MachovecOptions(**options))


def _facility_faults(options: Given) -> Iterator[Fault]:
    platform = options.get("platform", "small")
    if platform not in PLATFORMS:
        yield Fault(("platform",), repr(platform), f"one of {', '.join(PLATFORMS)}", "choose one")
        return
    yield from _faults(FacilityOptions, PLATFORMS[platform].model_dump() | dict(options), ("platform",))


def _facility(options: Given, seed: int, _base: Bag | None) -> Facility:
    platform = options.get("platform", "small")
    chosen = PLATFORMS[platform].model_copy(update=_without(options, "platform"))
    return facility_of(f"{platform}-{seed}", np.random.default_rng(seed), chosen)


GENERATORS: Final[dict[str, Generator]] = {
    "bag": Generator("bag", _bag_faults, _bag),
    "resampled": Generator("bag", _resampled_faults, _resampled),
    "facility": Generator("facility", _facility_faults, _facility),
    "day": Generator("day", _day_faults, _day),
    "clusters": Generator("clusters", _clusters_faults, _clusters),
}
