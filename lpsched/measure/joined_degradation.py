"""PD of several machines as one table: by memory class, or in full by application.

    PD[x][y] = mean over the files that measured it

A facility has one table for all its node types. By class there is one only if every application has a class,
the same in all files; else it is in full. Which pairs must be known: those that can meet, because some node
type of two cores or more runs both. Of pairs that never meet the table says 0, and nothing depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING, Literal

from lpsched.errors import Fault, InstanceError, quote
from lpsched.instance.memory_classes import class_rank
from lpsched.instance.table import Table
from lpsched.measure.joining import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lpsched.instance.measurements import Degradation, Measurements

Form = Literal["classes", "full"]
MOST_FAULTS = 100  # pairs that a message names


@dataclass(frozen=True, slots=True)
class JoinedDegradation:
    """Classes of the table (memory classes or applications; none: no degradation), and that of each task."""

    classes: tuple[str, ...]
    table: Table | None
    class_of: Mapping[str, str | None]  # `None`: the application is its own
    remarks: tuple[str, ...]


def joined_degradation(
    name: str,
    measurements: Sequence[Measurements],
    *,
    applications: Iterable[str],
    cores: Mapping[str, int],
    form: Form | None,
) -> JoinedDegradation:
    """Return one table for all.

    Parameters
    ----------
    applications
        Those that the facility has.
    cores
        Of a node of each machine type.
    form
        `None`: by class where that can be, else in full, which is said.

    Raises
    ------
    InstanceError
        If pairs that can meet were not measured, or classes are asked for and not known.
    """
    names = tuple(applications)
    plain = dict.fromkeys(names)
    if all(cores[each.machine_type] == 1 for each in measurements):
        told = "one core everywhere, so nothing runs beside anything: no degradation"
        return JoinedDegradation((), None, plain, (told,))
    unclear = _unclear_classes(measurements, names)
    if unclear and form == "classes":
        do = "choose '--degradation full', or measure with companions"
        raise InstanceError(
            name, (Fault(("memory_class",), "; ".join(unclear), "one for each application", do),)
        )
    if form == "full" or unclear:
        own = {each: each for each in names}
        classes, tables = names, [each.degradation for each in measurements]
        remarks = [] if form == "full" else [f"degradation is in full, by application: {'; '.join(unclear)}"]
    else:
        own = _classes(measurements, names)
        classes = tuple(sorted(set(own.values()), key=lambda each: (class_rank(each), each)))
        tables = [each.class_degradation for each in measurements]
        remarks = []
    meeting = {
        (own[a], own[b])
        for each in measurements
        if cores[each.machine_type] > 1
        for a in names
        for b in names
        if a in each.seconds and b in each.seconds
    }
    table, differ = _mean_table(name, classes, meeting, tables)
    class_of = {each: None if own[each] == each else own[each] for each in names}
    return JoinedDegradation(classes, table, class_of, (*remarks, *differ))


def _classes(measurements: Sequence[Measurements], names: Sequence[str]) -> dict[str, str]:
    """Return the class of each application, as the first file says it."""
    found: dict[str, str] = {}
    for each in measurements:
        for application in each.applications:
            if application.name in names and application.memory_class is not None:
                found.setdefault(application.name, application.memory_class)
    return found


def _unclear_classes(measurements: Sequence[Measurements], names: Sequence[str]) -> list[str]:
    """Say which applications have no class, or several."""
    known = _classes(measurements, names)
    without = [each for each in names if each not in known]
    differ = {
        application.name
        for each in measurements
        for application in each.applications
        if application.memory_class not in {None, known.get(application.name)}
    }
    unclear = [f"no memory class of {listed(without)}"] if without else []
    several = [each for each in names if each in differ]
    return unclear + ([f"files differ in the memory class of {listed(several)}"] if several else [])


def _mean_table(
    name: str, classes: Sequence[str], meeting: set[tuple[str, str]], tables: Sequence[Degradation]
) -> tuple[Table, list[str]]:
    rows, missing, widest = [], [], (0.0, "", "")
    for a in classes:
        row = []
        for b in classes:
            found = [table[a][b] for table in tables if a in table and b in table[a]]
            if not found and (a, b) in meeting:
                missing.append((a, b))
            elif found:
                widest = max(widest, (max(found) - min(found), a, b))
            row.append(mean(found) if found else 0.0)
        rows.append(row)
    if missing:
        faults = [
            Fault(
                ("degradation", a, b),
                "nothing",
                f"how much longer {quote(a)} takes beside {quote(b)}",
                "measure that pair: 'pairs: all' in the bench",
            )
            for a, b in missing[:MOST_FAULTS]
        ]
        raise InstanceError(name, tuple(faults))
    apart, a, b = widest
    remarks = []
    if apart > 0:
        remarks.append(
            "degradation is the mean of the files; they differ the most, "
            f"by {apart:.3g}, in {quote(a)} beside {quote(b)}"
        )
    return Table.of(rows), remarks
