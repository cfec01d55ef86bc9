"""Functions by name: those of lpsched, those that others register, those that installed packages announce.

What installed packages announce is loaded when it is asked for; one that cannot be loaded does not affect the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Generic, TypeVar, cast, overload

from lpsched.errors import InputIssue, InstanceError, nearest

NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
RESERVED: Final = ("all", "lp", "lp-dense", "nsga2", "none")  # of `lpsched validate` and `front`
Function = TypeVar("Function", bound="Callable[..., Any]")


class Named(Generic[Function]):
    """The functions of one kind, of an instance ("bag" or "day"): the heuristics of bags, say.

    Installed packages announce theirs under `entry_points_group`. Names that are known for another kind of instance
    are `elsewhere`, with what to bring for them. `word` is what such a function is called, `needed` what it is, for the
    one who registers something else.
    """

    def __init__(  # noqa: PLR0913 - options are keyword-only
        self,
        instance: str,
        entry_points_group: str,
        built_in: Mapping[str, Function],
        elsewhere: Mapping[str, str] | None = None,
        *,
        word: str = "heuristic",
        needed: str | None = None,
    ) -> None:
        self.instance, self.group = instance, entry_points_group
        self.built_in, self.elsewhere = dict(built_in), dict(elsewhere or {})
        self.word, self.needed = word, needed or f"a function of a {instance} and a random generator"
        self.registered: dict[str, Function] = {}

    @overload
    def register(self, name: str) -> Callable[[Function], Function]: ...

    @overload
    def register(self, name: str, function: Function) -> Function: ...

    def register(self, name: str, function: Function | None = None) -> Function | Callable[[Function], Function]:
        """Let a function be known by a name, in this process; without a function, as a decorator.

        Registering the same function again, or a new version of it from the same module, is no mistake:
        notebooks do.

        Examples
        --------
        >>> rules = Named("bag", "nobodys.entry_points", {})
        >>> @rules.register("lazy")
        ... def lazy(bag, rng):
        ...     return ()
        >>> rules.names()
        ('lazy',)
        """
        if function is None:
            return lambda decorated: self.register(name, decorated)
        if not isinstance(name, str) or not NAME.fullmatch(name):
            needed = "lower-case letters and digits, with single hyphens between them"
            raise self.rejection(repr(name), needed, "choose such a name")
        if name in self._taken:
            raise self.rejection(repr(name), "a name that lpsched does not use itself", "choose another")
        if not callable(function):
            found = f"{type(function).__name__} under the name {name!r}"
            raise self.rejection(found, self.needed, "register a function")
        before = self.registered.get(name)
        if before is not None and _place(before) != _place(function):
            raise self.rejection(repr(name), "a name that is not registered yet", "choose another")
        self.registered[name] = function
        return function

    def forget(self, name: str) -> None:
        """Take back what was registered under a name in this process, if anything was."""
        self.registered.pop(name, None)

    def names(self) -> tuple[str, ...]:
        """Return all names: ours, then those registered, then those of installed packages."""
        return tuple(dict.fromkeys((*self.built_in, *self.registered, *self.announced)))

    def get(self, name: str) -> Function:
        """Return the function of a name."""
        found = self.built_in.get(name) or self.registered.get(name)
        if found is not None:
            return found
        if name in self.announced:
            return self._loaded(self.announced[name])
        if name in self.elsewhere:
            needed, do = self.elsewhere[name], "choose another, or bring one"
            raise self.rejection(f"{name!r} for a {self.instance}", needed, do)
        raise self.unknown(name, self.names())

    @cached_property
    def announced(self) -> dict[str, EntryPoint]:
        """What installed packages announce under a valid name that is not taken; looked up once."""
        found: dict[str, EntryPoint] = {}
        for each in entry_points(group=self.group):
            if NAME.fullmatch(each.name) and each.name not in self._taken:
                found.setdefault(each.name, each)
        return found

    def unknown(self, name: str, known: Sequence[str]) -> InstanceError:
        """Return the error that lists the known names and the nearest one."""
        do = nearest(name, known) or "choose one, or register it"
        return self.rejection(repr(name), f"one of {', '.join(known)}", do)

    def rejection(self, found: str, needed: str, do: str) -> InstanceError:
        """Return the error about a name or a function."""
        return InstanceError("", (InputIssue((self.word,), found, needed, do),))

    @property
    def _taken(self) -> set[str]:
        return {*self.built_in, *RESERVED, *self.elsewhere}

    def _loaded(self, announced: EntryPoint) -> Function:
        package = "an installed package" if announced.dist is None else f"package {announced.dist.name!r}"
        place = f"{announced.name!r}, which {package} announces as {announced.value}"
        do = f"fix {package}, or remove it"
        try:
            found = announced.load()
        except Exception as error:  # whatever another package's code may raise
            why = f"{place}: {type(error).__name__}: {error}"
            raise self.rejection(why, "one that can be loaded", do) from error
        if not callable(found):
            raise self.rejection(place, self.needed, do)
        return cast("Function", found)


def _place(function: Callable[..., Any]) -> tuple[object, object]:
    return getattr(function, "__module__", None), getattr(function, "__qualname__", repr(function))
