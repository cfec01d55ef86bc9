"""What joining measurements of several machines has to settle, whether a bag or a facility comes of it.

A machine type is a file, and its name must be its own. A task type is an application that has a time
somewhere; applications of one name are taken for the same, and it is said where their commands or counts
differ. Then the first file that knows it has its word.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import ValidationError

from lpsched.errors import Fault, InstanceError, nearest, quote
from lpsched.instance.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lpsched.instance.measurements import MeasuredApplication, Measurements

Instance = TypeVar("Instance")
Part = TypeVar("Part")
MOST_NAMED = 10  # in one sentence


@dataclass(frozen=True, slots=True)
class Joined(Generic[Instance]):
    """An instance made of measurements, and what to know before relying on it, in sentences."""

    instance: Instance
    remarks: tuple[str, ...]


def refused(name: str, key: str, found: str, needed: str, do: str) -> InstanceError:
    """Return the error of something that joining cannot settle."""
    return InstanceError(name, (Fault((key,), found, needed, do),))


def sound_part(name: str, key: str, make: Callable[[], Part]) -> Part:
    """Make a part of an instance.

    Raises
    ------
    InstanceError
        If a number is beyond what such an instance takes.
    """
    try:
        return make()
    except ValidationError as error:
        faults = [
            Fault((key, *detail["loc"]), **detail["ctx"])
            if detail["type"] == "fault"
            else Fault((key, *detail["loc"]), "something else", detail["msg"], "measure again")
            for detail in error.errors(include_url=False)
        ]
    raise InstanceError(name, tuple(faults))


def require_machine_types(name: str, measurements: Sequence[Measurements]) -> None:
    """Refuse no file at all, and two of the same machine type, since nobody knows whose times count.

    Raises
    ------
    InstanceError
        If there are such.
    """
    if not measurements:
        raise refused(name, "measurements", "nothing", "at least one file", "measure something first")
    counts = Counter(each.machine_type for each in measurements)
    faults = [
        Fault(
            ("machine_type",),
            f"{quote(kind)} in {count} files",
            "a machine type of its own in each",
            "measure with 'lpsched measure --machine-type NAME', or correct machine_type in one file",
        )
        for kind, count in counts.items()
        if count > 1
    ]
    if faults:
        raise InstanceError(name, tuple(faults))


def counts_for(
    name: str, given: Mapping[str, int], usual: Mapping[str, int], option: str, kind: str
) -> dict[str, int]:
    """Return how many there are of each, as given or else as usual.

    Raises
    ------
    InstanceError
        If one is given of which nothing was measured.
    """
    faults = [
        Fault(
            (option,),
            quote(each),
            f"{kind} that was measured: {listed(usual)}",
            nearest(each, usual) or "correct it",
        )
        for each in given
        if each not in usual
    ]
    if faults:
        raise InstanceError(name, tuple(faults))
    return {each: given.get(each, count) for each, count in usual.items()}


def timed_applications(
    name: str, measurements: Sequence[Measurements]
) -> tuple[dict[str, MeasuredApplication], list[str]]:
    """Return every application that has a time, as the first file says it; and what to say about them.

    Raises
    ------
    InstanceError
        If none has.
    """
    known: dict[str, MeasuredApplication] = {}
    source: dict[str, str] = {}
    remarks: list[str] = []
    for each in measurements:
        for application in each.applications:
            first = known.setdefault(application.name, application)
            where = source.setdefault(application.name, each.machine_type)
            if first.command != application.command:
                remarks.append(
                    f"{quote(application.name)} is another command on {quote(each.machine_type)} than on "
                    f"{quote(where)}: are these times of the same task?"
                )
            if first.count != application.count:
                remarks.append(
                    f"{quote(application.name)} counts {first.count:,} on {quote(where)} and "
                    f"{application.count:,} on {quote(each.machine_type)}; the first counts"
                )
    timed = {key: value for key, value in known.items() if any(key in each.seconds for each in measurements)}
    untimed = [key for key in known if key not in timed]
    if untimed:
        remarks.append(f"left out, because no file has a time: {listed(untimed)}")
    if not timed:
        raise refused(name, "seconds", "no time of any application", "at least one", "measure again")
    return timed, remarks


def column_table(
    names: Iterable[str],
    measurements: Sequence[Measurements],
    columns: Sequence[Mapping[str, Sequence[float]]],
) -> Table:
    """Return a table with a row per application and the columns of each file; what is not there is absent."""
    rows: list[list[float | None]] = []
    for name in names:
        row: list[float | None] = []
        for each, column in zip(measurements, columns, strict=True):
            row += column.get(name, [None] * modes_of(each))
        rows.append(row)
    return Table.of(rows)


def modes_of(measurements: Measurements) -> int:
    """Return how many P-states there are, 1 where no clock was set."""
    return len(measurements.frequencies_mhz) or 1


def places_of(measurements: Measurements) -> int:
    """Return on how many cores applications ran at once."""
    return len(measurements.machine.cores) or 1


def without_watts(measurements: Measurements) -> list[str]:
    """Return the applications that have a time and no power there."""
    return [name for name in measurements.seconds if name not in measurements.watts]


def about_meters(measurements: Sequence[Measurements]) -> list[str]:
    """Say where powers of different machines do not mean the same."""
    told = {each.machine_type: each.meters.energy_covers or each.meters.energy or "" for each in measurements}
    if len(set(told.values())) < 2:  # noqa: PLR2004 - two that differ
        return []
    seen = ", ".join(f"{text or 'unknown'} ({kind})" for kind, text in told.items())
    return [f"the meters do not see the same: {seen}; powers can hardly be compared"]


def listed(names: Iterable[str]) -> str:
    """Return names for a sentence, the first few of many.

    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    words = [quote(each) for each in names]
    more = f" and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
    return ", ".join(words[:MOST_NAMED]) + more
