"""Tables of a file of measurements: columns by application, and degradation by class or by application.

What is not named was not measured. Where the names of applications, or the clocks, are not sound themselves,
any name and any number of them will do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.errors import quote
from lpsched.instance.bench_entry import Entry
from lpsched.instance.facility_parts import check_degradation
from lpsched.instance.fields import check_name, describe, refusal
from lpsched.instance.frozen import FrozenDict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from lpsched.errors import Place
    from lpsched.instance.fields import Amount
    from lpsched.instance.measurements import Degradation
    from lpsched.instance.reading import Reading


def column_from(
    reading: Reading, key: str, check: Amount, known: Collection[str] | None, clocks: int | None
) -> FrozenDict[str, tuple[float, ...]]:
    """Read the numbers of each application, one for each clock."""
    found = {}
    for entry, name in _rows(reading, reading.raw.get(key), (key,), known):
        row = entry.value(name, _numbers(check, clocks), None)
        if row is not None:
            found[name] = row
    return FrozenDict(found)


def _numbers(check: Amount, clocks: int | None) -> Callable[[object], tuple[float, ...]]:
    def checked(value: object) -> tuple[float, ...]:
        if not clocks and not isinstance(value, list | tuple):
            return (check(value),)
        wanted = 1 if clocks == 0 else clocks
        if not isinstance(value, list | tuple) or wanted not in (None, len(value)):
            needed = (
                f"a list of {clocks}, one for each clock" if clocks else "one number: there are no clocks"
            )
            raise refusal(describe(value), needed, "give one for each of frequencies_mhz")
        return tuple(map(check, value))

    return checked


def degradation_from(reading: Reading, key: str, known: Collection[str] | None) -> Degradation:
    """Read who is slowed by whom, and by how much."""
    found = {}
    for entry, name in _rows(reading, reading.raw.get(key), (key,), known):
        row = {}
        for inner, other in _rows(reading, entry.raw[name], (key, name), known):
            share = inner.value(other, check_degradation, None)
            if share is not None:
                row[other] = share
        found[name] = FrozenDict(row)
    return FrozenDict(found)


def _rows(
    reading: Reading, raw: object, place: Place, known: Collection[str] | None
) -> Iterator[tuple[Entry, str]]:
    """Yield the names that a mapping has, with the mapping; refuse those that nobody knows."""
    entry = Entry(reading, raw, place)
    for name in entry.raw:
        if known is None or not isinstance(name, str):
            if entry.checked(name, check_name, str(name)) is not None:
                yield entry, name
        elif name in known:
            yield entry, name
        else:
            do = entry.advice(name, known) or "add it to applications, or remove it"
            entry.refuse((name,), quote(name), "the name of an application", do)
