"""Measurements of several machines as a facility: a node type per file, a task type per application.

    cores              the places of the bench        speeds    1 / seconds alone
    overhead watts     idle power                     watts     of a core: those measured less idle power
    degradation        joined_degradation.py

With P_0 idle power and P(a) that of a alone, a node whose cores run a, b, ... draws P_0 + sum (P(a) - P_0):
static power once, dynamic power of each. Room and market are not measured: they come from a room file
(`rooms.py`), or are plain (`plain_room.py`), which is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from lpsched.errors import Fault, InstanceError, quote
from lpsched.instance.facility import ArrivingType, Facility, NodeType
from lpsched.instance.facility_rules import LONGEST_DESCRIPTION, MOST_NODES
from lpsched.measure import plain_room
from lpsched.measure.joined_degradation import joined_degradation
from lpsched.measure.joining import (
    Joined,
    about_meters,
    column_table,
    counts_for,
    listed,
    places_of,
    refused,
    require_machine_types,
    sound_part,
    timed_applications,
    without_watts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.instance.measurements import Measurements
    from lpsched.instance.table import Table
    from lpsched.measure.joined_degradation import Form


@dataclass(frozen=True, slots=True)
class MeasuredFacility:
    """What measurements tell of a facility, and what to know about it."""

    measurements: tuple[Measurements, ...]
    applications: tuple[str, ...]
    speeds: Table
    watts: Table
    remarks: tuple[str, ...]


def facility_of(
    measurements: Sequence[Measurements],
    *,
    name: str,
    nodes: Mapping[str, int] | None = None,
    power_cap_watts: float | None = None,
    degradation: Form | None = None,
) -> Joined[Facility]:
    """Return a facility of what was measured, in a plain room, with what to know about it.

    Parameters
    ----------
    nodes
        Of each machine type; 1 where it is not said.
    power_cap_watts
        Of nodes and cooling together; `None`: what they draw at full power.
    degradation
        By memory class or in full; `None`: by class where all classes are known.

    Raises
    ------
    InstanceError
        If powers or pairs are missing, files are of the same machine type, or something unknown is counted.
    """
    told = measured_facility(measurements, name=name)
    joined = joined_degradation(
        name,
        measurements,
        applications=told.applications,
        cores={each.machine_type: places_of(each) for each in measurements},
        form=degradation,
    )
    usual = {each.machine_type: 1 for each in measurements}
    counts = counts_for(name, nodes or {}, usual, "count", "a machine type")
    if sum(counts.values()) > MOST_NODES:
        found = f"{sum(counts.values()):,} nodes"
        raise refused(name, "count", found, f"at most {MOST_NODES:,}", "divide the facility")
    full = {each.machine_type: _full_watts(name, each) for each in measurements}
    kinds = tuple(
        sound_part(
            name,
            "node_types",
            partial(
                NodeType,
                each.machine_type,
                places_of(each),
                each.idle_watts or 0.0,
                plain_room.airflow_for(full[each.machine_type]),
                plain_room.REDLINE_CELSIUS,
                each.p_states,
            ),
        )
        for each in measurements
    )
    order = tuple(j for j, kind in enumerate(kinds) for _ in range(counts[kind.name]))
    airflows = [kinds[j].airflow_m3_per_second for j in order]
    unit = plain_room.unit_for(airflows)
    cap = power_cap_watts
    if cap is None:
        cap = plain_room.cap_for(sum(full[kinds[j].name] for j in order), unit)
    cores = {kind.name: kind.cores * counts[kind.name] for kind in kinds}
    assumed = [plain_room.ASSUMED_ROOM, *([plain_room.ASSUMED_CAP] if power_cap_watts is None else [])]
    assumed.append(plain_room.ASSUMED_MARKET)
    facility = Facility(
        name,
        kinds,
        order,
        (unit,),
        tuple(
            ArrivingType(each, *plain_room.market_for(measurements, cores, each), None, joined.class_of[each])
            for each in told.applications
        ),
        told.speeds,
        told.watts,
        plain_room.mixing_for(airflows),
        cap,
        joined.classes,
        joined.table,
        description=description_of(measurements, assumed),
    )
    return Joined(facility, (*told.remarks, *joined.remarks, *assumed))


def measured_facility(measurements: Sequence[Measurements], *, name: str) -> MeasuredFacility:
    """Return what measurements alone tell of a facility, but for degradation.

    Raises
    ------
    InstanceError
        If powers are missing, or files are of the same machine type.
    """
    require_machine_types(name, measurements)
    applications, remarks = timed_applications(name, measurements)
    _require_powers(name, measurements)
    remarks += [*about_meters(measurements), *(said for each in measurements for said in _below_idle(each))]
    speeds = [
        {key: [1.0 / x for x in column] for key, column in each.seconds.items()} for each in measurements
    ]
    return MeasuredFacility(
        tuple(measurements),
        tuple(applications),
        column_table(applications, measurements, speeds),
        column_table(applications, measurements, [core_watts(each) for each in measurements]),
        tuple(remarks),
    )


def core_watts(measurements: Measurements) -> dict[str, list[float]]:
    """Return what a busy core adds to an idle node, never less than nothing."""
    idle = measurements.idle_watts or 0.0
    return {
        key: [max(0.0, watts - idle) for watts in measurements.watts[key]] for key in measurements.seconds
    }


def _require_powers(name: str, measurements: Sequence[Measurements]) -> None:
    """Refuse machines whose power is not known: a facility is about power and heat."""
    faults = []
    for each in measurements:
        lacking, kind = without_watts(each), quote(each.machine_type)
        if lacking:
            what = (
                "no power at all" if len(lacking) == len(each.seconds) else f"no power of {listed(lacking)}"
            )
            faults.append(
                Fault(("watts",), f"{what} on {kind}", "watts of every application", HOW_TO_MEASURE)
            )
        elif each.idle_watts is None:
            found = f"no idle power of {kind}"
            faults.append(Fault(("idle_watts",), found, "the watts of an idle node", HOW_TO_MEASURE))
    if faults:
        raise InstanceError(name, tuple(faults))


HOW_TO_MEASURE = (
    "measure with a meter: 'energy: {command: [...]}' in the bench, a program that prints watts, or RAPL; "
    "without one, make a bag"
)


def _below_idle(measurements: Measurements) -> list[str]:
    idle = measurements.idle_watts or 0.0
    below = [key for key in measurements.seconds if min(measurements.watts[key]) < idle]
    if not below:
        return []
    kind = quote(measurements.machine_type)
    return [f"{kind} draws less running {listed(below)} than idle; its cores are taken to add 0 W"]


def _full_watts(name: str, measurements: Measurements) -> float:
    """Return the most that a node draws."""
    most = max(max(column) for column in core_watts(measurements).values())
    full = (measurements.idle_watts or 0.0) + places_of(measurements) * most
    if full <= 0:
        found = f"0 W of {quote(measurements.machine_type)}, idle and busy"
        raise refused(name, "watts", found, "more than that of a running machine", "check the meter")
    return full


def description_of(measurements: Sequence[Measurements], assumed: Sequence[str]) -> str:
    """Return where the numbers come from, for the facility's file."""
    sentences = []
    for each in measurements:
        taken = f" on {each.taken}" if each.taken else ""
        covers = f" ({each.meters.energy_covers})" if each.meters.energy_covers else ""
        meter = f", energy by {each.meters.energy}{covers}" if each.meters.energy else ""
        sentences.append(f"{each.machine_type}: measured{taken} on {each.machine.processor}{meter}.")
    text = " ".join([*sentences, *(f"{each[0].upper()}{each[1:]}." for each in assumed)])
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(plain.split())[:LONGEST_DESCRIPTION]
