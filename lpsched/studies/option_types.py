"""Whether values that a study gives fit the fields of a dataclass of options: names and types, not ranges.

Ranges are the dataclass's own to refuse, when it is made.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from lpsched.errors import Fault, nearest
from lpsched.instance.fields import describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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
