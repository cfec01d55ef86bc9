"""A declared study: instances, methods, parameters, seeds and limits; every combination of them is one run.

What a method or a generator takes is known where it is run (`studies/`); here is what a study file may say.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from lpsched.instance.frozen import FrozenDict

FORMAT: Final = "lpsched-study/1"


def _nothing() -> FrozenDict[str, Any]:
    return FrozenDict({})


@dataclass(frozen=True, slots=True)
class InstanceSource:
    """Where instances come from: a file, or a generator and its seeds.

    Attributes
    ----------
    file
        Relative to the study's own folder; `None` if they are generated.
    generate
        The generator's name; `None` of a file.
    options
        Of the generator, as the study declares them; `from` is a file too.
    seeds
        One instance each.
    """

    file: str | None = None
    generate: str | None = None
    options: FrozenDict[str, Any] = field(default_factory=_nothing)
    seeds: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """A method, and what only it is given: values of parameters, all combinations of them, and limits."""

    name: str
    parameters: FrozenDict[str, tuple[Any, ...]] = field(default_factory=_nothing)
    limits: FrozenDict[str, Any] | None = None  # None: those of the study


@dataclass(frozen=True, slots=True)
class Study:
    """What a study file says.

    `parameters` go to every method that knows them, and `seeds` to those that leave something to chance.
    """

    name: str
    instances: tuple[InstanceSource, ...]
    methods: tuple[MethodChoice, ...]
    parameters: FrozenDict[str, tuple[Any, ...]] = field(default_factory=_nothing)
    seeds: tuple[int, ...] = (0,)
    limits: FrozenDict[str, Any] = field(default_factory=_nothing)
    description: str = ""

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but suspect: nothing, so far."""
        return ()
