"""A dictionary that cannot be changed: equal to a plain one, hashable, and it survives pickling."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class FrozenDict(dict[Key, Value]):
    """A mapping for immutable data.

    >>> prices = FrozenDict({"zip": 0.5})
    >>> prices["zip"], prices == {"zip": 0.5}
    (0.5, True)
    >>> prices["zip"] = 1.0
    Traceback (most recent call last):
    ...
    TypeError: this mapping cannot be changed
    """

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping cannot be changed")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        """Hash the content, whatever its order."""
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by content, because unpickling must not set items one by one."""
        return FrozenDict, (dict(self),)
