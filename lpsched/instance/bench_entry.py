"""Reading one mapping of a bench or of measurements key by key, and noting the faults on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, nearest
from lpsched.instance.bench_checks import MOST_WORDS, check_word, split_command
from lpsched.instance.fields import describe
from lpsched.instance.reading import too_many
from lpsched.instance.table import MOST_ADVISED

if TYPE_CHECKING:
    from lpsched.errors import Place
    from lpsched.instance.reading import Reading

Checked = TypeVar("Checked")


class Entry:
    """A mapping at a place of the file; a key without a value counts as not given.

    Parameters
    ----------
    keys
        Those that it may have; `None`: any.
    """

    def __init__(
        self, reading: Reading, raw: object, place: Place = (), keys: tuple[str, ...] | None = None
    ) -> None:
        self.reading, self.place = reading, place
        self.is_mapping = raw is None or isinstance(raw, Mapping)
        self.raw: Mapping[str, object] = raw if isinstance(raw, Mapping) else {}
        if not self.is_mapping:
            self.refuse(
                (), describe(raw), "a mapping" + (f" with the keys {', '.join(keys)}" if keys else "")
            )
        if keys is not None:
            for key in islice((key for key in self.raw if key not in keys), MOST_FAULTS):
                needed = "one of " + ", ".join(keys)
                self.refuse((str(key),), "an unknown key", needed, self.advice(str(key), keys) or "remove it")

    def refuse(self, inner: Place, found: str, needed: str, do: str = "") -> None:
        """Note a fault."""
        if len(self.reading.faults) < MOST_FAULTS:
            self.reading.faults.append(Fault((*self.place, *inner), found, needed, do or self.reading.hint))

    def advice(self, word: str, known: Iterable[str]) -> str:
        """Return the known word nearest to a mistaken one, for the first faults; finding one takes time."""
        return nearest(word, known) if len(self.reading.faults) < MOST_ADVISED else ""

    def checked(self, value: object, check: Callable[[object], Checked], *inner: str | int) -> Checked | None:
        """Return a value that passes a check; else `None`, and a fault."""
        try:
            return check(value)
        except PydanticCustomError as refused:
            self.refuse(inner, **(refused.context or {}))
            return None

    def value(self, key: str, check: Callable[[object], Checked], default: Checked) -> Checked:
        """Return the value of a key, or what stands for it."""
        if self.raw.get(key) is None:
            return default
        found = self.checked(self.raw[key], check, key)
        return default if found is None else found

    def needed(self, key: str, check: Callable[[object], Checked], what: str) -> Checked | None:
        """Return the value of a key that must be there."""
        if self.raw.get(key) is None:
            if self.is_mapping:  # what is no mapping was told as a whole
                self.refuse((key,), "nothing", what, "add it")
            return None
        return self.checked(self.raw[key], check, key)

    def items(self, key: str, what: str, most: int, *, least: int = 0) -> list[object]:
        """Return a list as it stands, if it is one of a sound length."""
        value = self.raw.get(key)
        if value is None and not least:
            return []
        if not isinstance(value, list | tuple) or len(value) < least:
            found = "nothing" if value is None else describe(value)
            self.refuse((key,), found, f"a list of {what}" + (f", at least {least}" if least else ""))
            return []
        if len(value) > most:
            fault = too_many((*self.place, key), len(value), most)
            self.refuse((key,), fault.found, fault.needed, "divide the bench")
            return []
        return list(value)

    def amounts(self, key: str, check: Callable[[object], float], what: str, most: int) -> tuple[float, ...]:
        """Return a list of numbers; those that are none are left out, with a fault."""
        given = self.items(key, what, most)
        found = (self.checked(each, check, key, index) for index, each in enumerate(given))
        return tuple(each for each in found if each is not None)

    def command(self, key: str) -> tuple[str, ...]:
        """Return a program and its arguments, given as a list or as one text."""
        value = self.raw.get(key)
        if isinstance(value, str):
            words = self.checked(value, lambda text: split_command(str(text)), key)
            if words is None:
                return ()
        else:
            given = self.items(key, "words: a program and its arguments", MOST_WORDS, least=1)
            checked = [self.checked(each, check_word, key, index) for index, each in enumerate(given)]
            words = tuple(each for each in checked if each is not None)
            if len(words) < len(given) or not given:
                return ()
        if not words or not words[0]:
            self.refuse((key,), "no program", "a program and its arguments", "name the program first")
        return words
