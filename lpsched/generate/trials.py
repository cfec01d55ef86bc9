"""Another draw of the same kind: trial t of a day, or of clusters, that a generator made.

Trial 0 is the instance itself. Trial t is made by its generator with its options, from random numbers of
its own: new tables, new tasks. The period is the instance's as it stands, so that an energy constraint that
was put in later holds in all trials. Trials of a trial are other draws again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_origin

from lpsched.errors import Fault, InstanceError, quote
from lpsched.generate import clusters
from lpsched.generate import day as essc
from lpsched.generate.options import EsscOptions, MachovecOptions
from lpsched.online.clusters import Clusters
from lpsched.online.day import Day

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


Arriving = TypeVar("Arriving", Day, Clusters)

COUNT: Final = "a whole number from 0"
COUNTS: Final = "a list of whole numbers from 0"
NUMBER: Final = "a number"
WORD: Final = "a word"
KINDS: Final = {int: COUNT, tuple: COUNTS, float: NUMBER, Literal: WORD}  # of an option's type
ADVICE: Final = "correct it, or drop made_by"


@dataclass(frozen=True, slots=True)
class Maker:
    """A generator: the name that it notes, what it is called for, its options, and how it is asked."""

    name: str
    noun: str  # as in `lpsched generate NOUN`
    options: type[EsscOptions | MachovecOptions]
    make: Callable[[str, int, Any, tuple[int, ...]], Day | Clusters]
    machines: str

    @property
    def no_trials(self) -> str:
        """What to do with an instance that was not generated."""
        what = f"generate {'a day' if self.noun == 'day' else self.noun}"
        return f"run it alone, or {what} with `lpsched generate {self.noun} --tasks N --seed S -o FILE`"

    @property
    def kinds(self) -> dict[str, str]:
        """Of what kind each entry of its note is."""
        options = {name: KINDS[get_origin(kind) or kind] for name, kind in self.options.types().items()}
        return {"generator": WORD, "seed": COUNT, "trial": COUNTS} | options


OF_DAYS: Final = Maker(essc.NAME, "day", EsscOptions, essc.essc_day, "machine types")
OF_CLUSTERS: Final = Maker(clusters.NAME, "clusters", MachovecOptions, clusters.machovec_clusters, "clusters")


def another_day(given: Arriving, trial: int) -> Arriving:
    """Return trial number `trial` of a day or of clusters."""
    if trial == 0:
        return given
    maker = OF_DAYS if isinstance(given, Day) else OF_CLUSTERS
    made_by = _sound(given, maker)
    before: tuple[int, ...] = tuple(made_by.get("trial", ()))
    options = {name: made_by[name] for name in maker.options.model_fields if name in made_by}
    name = given.name.removesuffix(_suffix(before))
    made = maker.make(name, made_by["seed"], maker.options(**options), (*before, trial))
    assert isinstance(made, type(given))
    if _machines(made) != _machines(given) or made.task_types != given.task_types:
        found = f"{maker.machines} or task types that were changed later"
        advice = f"generate {'a day' if maker is OF_DAYS else 'clusters'} with the machines it should have"
        raise InstanceError(given.name, (Fault(("made_by",), found, "those of the generator", advice),))
    return made.model_copy(update={"name": name + _suffix((*before, trial)), "period": given.period})


def _machines(given: Day | Clusters) -> tuple[object, ...]:
    return given.machine_types if isinstance(given, Day) else given.clusters


def _suffix(trial: tuple[int, ...]) -> str:
    return f"-trial-{'-'.join(map(str, trial))}" if trial else ""


def _sound(given: Day | Clusters, maker: Maker) -> dict[str, Any]:
    """Return what an instance says of how it was made, with tuples for lists."""
    if given.made_by is None:
        fault = Fault(("made_by",), "nothing", "a generator, which makes others like it", maker.no_trials)
        raise InstanceError(given.name, (fault,))
    if given.made_by.get("generator") != maker.name:
        found = quote(str(given.made_by.get("generator")))
        fault = Fault(("made_by", "generator"), found, quote(maker.name), maker.no_trials)
        raise InstanceError(given.name, (fault,))
    kinds = maker.kinds
    faults = tuple(_bad_values(given.made_by, kinds))
    if faults:
        raise InstanceError(given.name, faults)
    return {key: tuple(value) if kinds[key] == COUNTS else value for key, value in given.made_by.items()}


def _bad_values(made_by: Mapping[str, Any], kinds: Mapping[str, str]) -> Iterator[Fault]:
    for key, value in made_by.items():
        if key not in kinds:
            yield Fault(("made_by", key), "a key that this generator does not know", "none such", ADVICE)
        elif not _is(kinds[key], value):
            yield Fault(("made_by", key), quote(str(value)), kinds[key], ADVICE)


def _is(kind: str, value: object) -> bool:
    """Return whether a value is of a kind; true and false are no numbers."""
    if kind == WORD:
        return isinstance(value, str)
    if kind == NUMBER:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == COUNTS:
        return isinstance(value, list | tuple) and all(_is(COUNT, each) for each in value)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
