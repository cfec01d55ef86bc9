"""Measurements of several machines as a bag: a machine type per file, a task type per application.

    per node     a machine runs one task at a time, as it was measured alone: seconds e, watts a, idle b
    per core     each of the c places is a machine: e, watts b/c + (a - b), idle b/c

Per core, c machines that all run draw b + sum (a - b): static power is shared, and paid once. What neighbours
cost in time is not in these numbers; a facility has it (`facilities.py`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from lpsched.bag.model import Bag, MachineType, TaskType
from lpsched.errors import quote
from lpsched.measure.joining import (
    Joined,
    about_meters,
    column_table,
    counts_for,
    listed,
    places_of,
    require_machine_types,
    sound_part,
    timed_applications,
    without_watts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.measure.measurements import Measurements


def bag_of(
    measurements: Sequence[Measurements],
    *,
    name: str,
    counts: Mapping[str, int] | None = None,
    tasks: Mapping[str, int] | None = None,
    per: Literal["node", "core"] = "node",
) -> Joined[Bag]:
    """Return a bag of what was measured, with what to know about it.

    Parameters
    ----------
    counts
        Nodes of each machine type; 1 where it is not said.
    tasks
        Tasks of each application; those of the file where it is not said.
    per
        What a machine is.
    """
    require_machine_types(name, measurements)
    applications, remarks = timed_applications(name, measurements)
    nodes = counts_for(name, counts or {}, {each.machine_type: 1 for each in measurements}, "count", "a machine type")
    usual = {key: each.count for key, each in applications.items()}
    numbers = counts_for(name, tasks or {}, usual, "tasks", "an application")
    shares = [places_of(each) if per == "core" else 1 for each in measurements]
    remarks += _about_cores(measurements, per)
    missing = _why_no_watts(measurements, per)
    remarks += missing or about_meters(measurements)
    if not missing:
        remarks += [remark for each in measurements for remark in _about_idle(each, per)]
    machines = [
        {
            "name": each.machine_type,
            "count": nodes[each.machine_type] * share,
            "idle_watts": 0.0 if missing else (each.idle_watts or 0.0) / share,
            "p_states": each.p_states,
        }
        for each, share in zip(measurements, shares, strict=True)
    ]
    bag = Bag(
        name,
        tuple(sound_part(name, "machine_types", partial(MachineType.model_validate, each)) for each in machines),
        tuple(TaskType(name=key, count=count) for key, count in numbers.items()),
        seconds=column_table(applications, measurements, [each.seconds for each in measurements]),
        watts=None
        if missing
        else column_table(
            applications, measurements, [_watts(each, share) for each, share in zip(measurements, shares, strict=True)]
        ),
    )
    return Joined(bag, tuple(remarks))


def _watts(measurements: Measurements, share: int) -> Mapping[str, Sequence[float]]:
    """Return what a machine draws while it runs each application."""
    known = {name: measurements.watts[name] for name in measurements.seconds}
    if share == 1:
        return known
    idle = measurements.idle_watts or 0.0
    return {name: [idle / share + max(0.0, watts - idle) for watts in column] for name, column in known.items()}


def _about_cores(measurements: Sequence[Measurements], per: str) -> list[str]:
    several = [each.machine_type for each in measurements if places_of(each) > 1]
    if not several:
        return []
    if per == "core":
        return [f"each core of {listed(several)} is a machine; what neighbours cost in time is not in the bag"]
    return [f"{listed(several)}: one task at a time on a node, other cores idle; --per core makes each a machine"]


def _why_no_watts(measurements: Sequence[Measurements], per: str) -> list[str]:
    """Say why the bag has no powers, if it has none: all cells have one, or there are none."""
    for each in measurements:
        lacking = without_watts(each)
        if lacking:
            what = "anything" if len(lacking) == len(each.seconds) else listed(lacking)
            return [f"no power of {what} on {quote(each.machine_type)}, so the bag has no watts: makespan only"]
        if each.idle_watts is None and per == "core" and places_of(each) > 1:
            kind = quote(each.machine_type)
            return [f"the idle power of {kind} is not known and cannot be divided, so the bag has no watts"]
    return []


def _about_idle(measurements: Measurements, per: str) -> list[str]:
    kind, idle = quote(measurements.machine_type), measurements.idle_watts
    if idle is None:
        return [f"the idle power of {kind} is not known: 0 W in the bag"]
    below = [name for name, column in measurements.watts.items() if min(column) < idle]
    if below and per == "core" and places_of(measurements) > 1:
        return [f"{kind} draws less running {listed(below)} than idle; raised to its share of idle power"]
    return []
