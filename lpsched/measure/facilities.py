"""From measurements to a facility: in a machine room that a file describes, or in a default room.

The default room and market are assumed, none of it is measured. There is one CRAC unit, whose air goes to the nodes and
straight back. With P_j the most that a node of type j draws (idle power and the most watts of an application on every
core) and C the joules that warm a cubic metre by a kelvin:

    airflow of a node     P_j / (10 K x C): air leaves it 10 K warmer at full power
    redline, outlet       30 C; 15 to 25 C: no redline ever binds
    power cap             what nodes and cooling draw at full power, the outlet at 25 C: it never binds
    arrivals of a task    as many as all nodes could do, if they ran nothing else and nothing slowed it
    its reward            its seconds alone on the first machine type that runs it, at the fastest clock

So the reward rate counts undisturbed core-seconds of work per second: of n cores of the first type it is n at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.parts import TaskType
from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, nearest, quote
from lpsched.facility.model import LONGEST_DESCRIPTION, PLAIN_AIR, Facility, SparseMatrix
from lpsched.facility.parts import LEAST, MOST, MOST_CORES, MOST_NODES, CracUnit, Mixing, NodeType
from lpsched.io.documents import read_document
from lpsched.io.instance_files import Sidecars, inline_table, made_of
from lpsched.measure import bags

if TYPE_CHECKING:
    from lpsched.measure.measurements import Measurements
    from lpsched.model.table import Table

RISE_KELVIN: Final = 10.0
REDLINE_CELSIUS: Final = 30.0
OUTLET_CELSIUS: Final = (15.0, 25.0)
HEADROOM: Final = 1 + 1e-9  # of the cap, for the rounding of doubles
ASSUMED_ROOM: Final = (
    f"the room is assumed: one CRAC unit, no recirculation, air {RISE_KELVIN:g} K warmer behind a node "
    f"at full power, redline {REDLINE_CELSIUS:g} C, outlet {OUTLET_CELSIUS[0]:g} to {OUTLET_CELSIUS[1]:g} C"
)
ASSUMED_CAP: Final = "the power cap is assumed: what everything draws at full power, cooling included"
ASSUMED_MARKET: Final = (
    "arrivals and rewards are assumed: as many tasks as all nodes could do alone, each worth its seconds "
    "alone on the first machine type, so that the reward rate counts undisturbed core-seconds per second"
)
MARKET_HINT: Final = "check the unit, or give the task types with their arrivals in a room (--room)"
MOST_WATTS: Final = MOST / 100.0  # of a node, so that several of them and their cooling are in the range
HOW_TO_MEASURE: Final = (
    "measure with a meter: 'energy: {command: [...]}' in the bench, a program that prints watts, or RAPL; "
    "without one, make a bag"
)


def _market(measurements: Sequence[Measurements], cores: Mapping[str, int], application: str) -> tuple[float, float]:
    """Return arrivals per second and reward of an application; `cores` are all of each machine type."""
    able = [each for each in measurements if application in each.seconds]
    arrivals = sum(cores[each.machine_type] / min(each.seconds[application]) for each in able)
    return arrivals, able[0].seconds[application][0]


# A facility of measured nodes in a machine room that a file describes: the file has priority, the rest is measured.
#
# A room file is a facility file that may leave out what a bench measures:
#
#     of a node type      cores, overhead_watts, p_states; node types are called as the machine types
#     of a task type      memory_class; task types are called as the applications, and only those named count
#     tables              speeds, watts, degradation
#     nodes, task_types   then there are as many nodes as asked for, and the assumed market
#
# It may say them all the same: 16 cores, of which the bench ran on 2. Everything else must be there.
Raw = dict[str, Any]  # the mapping of the room file, its lists and entries copied


def facility_in(  # noqa: PLR0913 - as `facility_of`, and the room
    room: Path | str,
    measurements: Sequence[Measurements],
    *,
    name: str | None = None,
    nodes: Mapping[str, int] | None = None,
    power_cap_watts: float | None = None,
    degradation: bags.Form | None = None,
) -> bags.Joined[Facility]:
    """Return a facility of what was measured, in the machine room of a file; see `facility_of`."""
    data = measured_facility(measurements, name=name or "measurements")
    path = Path(room)
    sidecar = Sidecars(path, "facility")
    remarks = list(data.remarks)

    def make(value: object) -> Facility:
        if isinstance(value, Mapping):
            raw, remarks[len(data.remarks) :] = _filled(value, data, nodes or {}, degradation)
            asked = {"name": name, "power_cap_watts": power_cap_watts}
            value = raw | {key: each for key, each in asked.items() if each is not None}
        return Facility.read(value, str(path), context=sidecar)

    return bags.Joined(made_of(read_document(path), path, make), tuple(remarks))


def _filled(  # noqa: PLR0913 - a room, and all that it is filled with
    value: Mapping[str, Any],
    data: MeasuredFacility,
    counts: Mapping[str, int],
    form: bags.Form | None,
    assumed: Sequence[str] = (),
    *,
    source: str = "room",
) -> tuple[Raw, list[str]]:
    """Return the machine room with what was measured, and warnings; some of the room may be `assumed`."""
    raw: Raw = dict(value)
    for key in ("node_types", "task_types"):
        raw[key] = entries = value.get(key)
        if isinstance(entries, list):
            raw[key] = [dict(each) if isinstance(each, Mapping) else each for each in entries]
    _check_measured_types(raw, data)
    _fill_node_types(raw, data.measurements)
    _fill_nodes(raw, counts)
    assumed = [*assumed, *_fill_task_types(raw, data)]
    remarks = [*_for_nothing(raw, data), *_fill_degradation(raw, data, form, source), *assumed]
    _fill_tables(raw, data)
    if isinstance(own := raw.get("description", ""), str):
        raw["description"] = f"{own} {description_of(data.measurements, assumed)}".strip()
    return raw, remarks


def _named(raw: Raw, key: str) -> dict[str, Raw]:
    """Return the entries of a list by their names, as far as they have one."""
    entries = raw[key] if isinstance(raw[key], list) else []
    return {each["name"]: each for each in entries if isinstance(each, dict) and isinstance(each.get("name"), str)}


def _check_measured_types(raw: Raw, data: MeasuredFacility) -> None:
    """Reject types of which nothing was measured, where the machine room does not say what they can do."""
    if raw.get("speeds") is not None:
        return
    known = {
        "node_types": ("a machine type that was measured", [each.machine_type for each in data.measurements]),
        "task_types": ("an application that was measured", list(data.applications)),
    }
    issues = [
        InputIssue((key, index, "name"), quote(entry["name"]), f"{what}: {bags.listed(names)}", advice or "drop it")
        for key, (what, names) in known.items()
        for index, entry in enumerate(raw[key] if isinstance(raw[key], list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("name"), str) and entry["name"] not in names
        for advice in (nearest(entry["name"], names),)
    ]
    if issues:
        raise InstanceError("room", tuple(issues[:MOST_ISSUES]))


def _fill_node_types(raw: Raw, measurements: Sequence[Measurements]) -> None:
    entries = _named(raw, "node_types")
    for each in measurements:
        entry = entries.get(each.machine_type, {})
        measured: Raw = {"cores": bags.places_of(each), "overhead_watts": each.idle_watts}
        if each.p_states is not None:
            measured["p_states"] = list(each.p_states)
        entry.update({key: value for key, value in measured.items() if entry.get(key) is None})


def _fill_nodes(raw: Raw, counts: Mapping[str, int]) -> None:
    if raw.get("nodes") is None:
        usual = dict.fromkeys(_named(raw, "node_types"), 1)
        numbers = bags.counts_for("room", counts, usual, "count", "a node type")
        raw["nodes"] = [{"type": kind, "count": count} for kind, count in numbers.items()]
    elif counts:
        do = "drop --count, or nodes in the room"
        raise bags.input_error("room", "nodes", "nodes in the room, and --count", "one of the two", do)


def _fill_task_types(raw: Raw, data: MeasuredFacility) -> list[str]:
    """Fill in the default market where there is none, with a warning."""
    if raw["task_types"] is not None:
        return []
    cores = _cores(raw, data.measurements)
    here = [each for each in data.measurements if each.machine_type in _named(raw, "node_types")]
    able = [name for name in data.applications if any(name in each.seconds for each in here)]
    markets = [(name, *_market(here, cores, name)) for name in able]
    if issues := [
        InputIssue(("seconds", name), f"{arrivals:g} tasks per second on all cores", f"at most {MOST:g}", MARKET_HINT)
        for name, arrivals, _ in markets
        if arrivals > MOST
    ]:
        raise InstanceError(str(raw.get("name")), tuple(issues))
    raw["task_types"] = [dict(zip(("name", "arrivals_per_second", "reward"), each, strict=True)) for each in markets]
    return [ASSUMED_MARKET]


def _cores(raw: Raw, measurements: Sequence[Measurements]) -> dict[str, int]:
    """Return how many cores there are of each machine type, as far as the machine room is valid."""
    nodes: dict[str, int] = {}
    for entry in raw["nodes"] if isinstance(raw["nodes"], list) else []:
        kind, count = (entry.get("type"), entry.get("count", 1)) if isinstance(entry, Mapping) else (entry, 1)
        if isinstance(kind, str) and isinstance(count, int) and 1 <= count <= MOST_NODES:
            nodes[kind] = nodes.get(kind, 0) + count
    return {each.machine_type: nodes.get(each.machine_type, 0) * _cores_each(raw, each) for each in measurements}


def _cores_each(raw: Raw, measurements: Measurements) -> int:
    """Return the cores of a node, as the room says them, or as there were places."""
    cores = _named(raw, "node_types").get(measurements.machine_type, {}).get("cores")
    return cores if isinstance(cores, int) and 1 <= cores <= MOST_CORES else bags.places_of(measurements)


def _for_nothing(raw: Raw, data: MeasuredFacility) -> list[str]:
    """Warn about what was measured and is not in the machine room."""
    measured = {"node": [each.machine_type for each in data.measurements], "task": data.applications}
    absent = {word: [x for x in names if x not in _named(raw, f"{word}_types")] for word, names in measured.items()}
    return [
        f"the room has no {word} type {bags.listed(names)}: measured for nothing"
        for word, names in absent.items()
        if names
    ]


def _fill_degradation(raw: Raw, data: MeasuredFacility, form: bags.Form | None, source: str) -> tuple[str, ...]:
    if raw.get("degradation") is not None:
        return ()
    tasks = _named(raw, "task_types")
    here = [each for each in data.measurements if each.machine_type in _named(raw, "node_types")]
    joined = bags.joined_degradation(
        source,
        here,
        applications=[each for each in data.applications if each in tasks],
        cores={each.machine_type: _cores_each(raw, each) for each in here},
        form=form,
    )
    for task, memory_class in joined.class_of.items():
        if memory_class is not None and tasks[task].get("memory_class") is None:
            tasks[task]["memory_class"] = memory_class
    if joined.table is not None and joined.classes:
        raw["degradation"] = {
            a: dict(zip(joined.classes, row, strict=True)) for a, row in zip(joined.classes, joined.table, strict=True)
        }
    return joined.remarks


def _fill_tables(raw: Raw, data: MeasuredFacility) -> None:
    kinds, tasks = _named(raw, "node_types"), _named(raw, "task_types")
    columns = [NodeType(each.machine_type, 1, 0.0, 1.0, 0.0, each.p_states) for each in data.measurements]
    rows = [TaskType(name=each, count=1) for each in data.applications]
    for key, table in (("speeds", data.speeds), ("watts", data.watts)):
        if raw.get(key) is None:
            by_name = inline_table(table, rows, columns, by_name=True)
            assert isinstance(by_name, dict)
            raw[key] = {
                task: {kind: cell for kind, cell in row.items() if kind in kinds}
                for task, row in by_name.items()
                if task in tasks
            }


# Measurements of several machines as a facility: a node type per file, a task type per application.
#
#     cores              the places of the bench        speeds    1 / seconds alone
#     overhead watts     idle power                     watts     of a core: those measured less idle power
#     degradation        bags.py
#
# With P_0 idle power and P(a) that of a alone, a node whose cores run a, b, ... draws P_0 + sum (P(a) - P_0):
# static power once, dynamic power of each. Room and market are not measured: they come from a room file
# (`facility_in`), or are assumed, which is said.
@dataclass(frozen=True, slots=True)
class MeasuredFacility:
    """The measured part of a facility, and warnings."""

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
    degradation: bags.Form | None = None,
) -> bags.Joined[Facility]:
    """Return a facility of what was measured, in the default room, with warnings.

    `nodes` of each machine type are 1 where it is not said; the cap of nodes and cooling together is by default what
    they draw at full power; `degradation` is by memory class or in full, by default by class where all are known.
    """
    data = measured_facility(measurements, name=name)
    usual = {each.machine_type: 1 for each in measurements}
    counts = bags.counts_for(name, nodes or {}, usual, "count", "a machine type")
    if sum(counts.values()) > MOST_NODES:
        found = f"{sum(counts.values()):,} nodes"
        raise bags.input_error(name, "count", found, f"at most {MOST_NODES:,}", "divide the facility")
    watts = {each.machine_type: _full_watts(name, each) for each in measurements}
    per_kelvin = RISE_KELVIN * PLAIN_AIR.density_kg_per_m3 * PLAIN_AIR.joules_per_kg_kelvin
    airflows = {kind: full / per_kelvin for kind, full in watts.items()}
    order = [kind for kind, count in counts.items() for _ in range(count)]
    moved = sum(airflows[kind] for kind in order)
    air = [[(len(order), 1.0)] for _ in order]  # from the unit to every node, and from there back
    air.append([(node, airflows[kind] / moved) for node, kind in enumerate(order)])
    assumed, cap = [ASSUMED_ROOM], power_cap_watts
    if cap is None:
        warmest = CracUnit("crac", 1.0, OUTLET_CELSIUS).performance(OUTLET_CELSIUS[1])
        cap = sum(watts[kind] for kind in order) * (1.0 + 1.0 / warmest) * HEADROOM
        assumed.append(ASSUMED_CAP)
    room: Raw = {
        "format": Facility.FORMAT,
        "name": name,
        "node_types": [
            {"name": kind, "airflow_m3_per_second": flow, "redline_celsius": REDLINE_CELSIUS}
            for kind, flow in airflows.items()
        ],
        "nodes": order,
        "crac_units": [{"name": "crac", "airflow_m3_per_second": moved, "outlet_celsius": OUTLET_CELSIUS}],
        "mixing": Mixing("inlet_mix", SparseMatrix.of(air, len(order) + 1)),
        "power_cap_watts": cap,
    }
    raw, remarks = _filled(room, data, {}, degradation, assumed, source=name)
    return bags.Joined(Facility.read(raw, name), (*data.remarks, *remarks))


def measured_facility(measurements: Sequence[Measurements], *, name: str) -> MeasuredFacility:
    """Return the measured part of a facility, but for degradation."""
    bags.require_machine_types(name, measurements)
    applications, remarks = bags.timed_applications(name, measurements)
    _require_powers(name, measurements)
    _require_ranges(name, measurements)
    remarks += [*bags.about_meters(measurements), *(message for each in measurements for message in _below_idle(each))]
    speeds = [{key: [1.0 / x for x in column] for key, column in each.seconds.items()} for each in measurements]
    return MeasuredFacility(
        tuple(measurements),
        tuple(applications),
        bags.column_table(applications, measurements, speeds),
        bags.column_table(applications, measurements, [core_watts(each) for each in measurements]),
        tuple(remarks),
    )


def core_watts(measurements: Measurements) -> dict[str, list[float]]:
    """Return what a busy core adds to an idle node, never less than nothing."""
    idle = measurements.idle_watts or 0.0
    return {key: [max(0.0, watts - idle) for watts in measurements.watts[key]] for key in measurements.seconds}


def _require_powers(name: str, measurements: Sequence[Measurements]) -> None:
    """Reject machines whose power is not known: a facility is about power and heat."""
    issues = []
    for each in measurements:
        lacking, kind = bags.without_watts(each), quote(each.machine_type)
        if lacking:
            what = "no power at all" if len(lacking) == len(each.seconds) else f"no power of {bags.listed(lacking)}"
            issues.append(InputIssue(("watts",), f"{what} on {kind}", "watts of every application", HOW_TO_MEASURE))
        elif each.idle_watts is None:
            found = f"no idle power of {kind}"
            issues.append(InputIssue(("idle_watts",), found, "the watts of an idle node", HOW_TO_MEASURE))
    if issues:
        raise InstanceError(name, tuple(issues))


def _require_ranges(name: str, measurements: Sequence[Measurements]) -> None:
    """Reject times and powers that measurements may have, but nothing in a facility."""
    issues = []
    for each in measurements:
        kind = quote(each.machine_type)
        for key, column in each.seconds.items():
            if wrong := [x for x in column if not 1.0 / MOST <= x <= 1.0 / LEAST]:
                found, needed = f"{wrong[0]:g} s on {kind}", f"{1.0 / MOST:g} to {1.0 / LEAST:g} seconds in a facility"
                issues.append(InputIssue(("seconds", key), found, needed, "check the unit"))
        full = _full_watts(name, each)
        if not LEAST <= full <= MOST_WATTS:
            found, needed = f"{full:g} W of {kind} at full power", f"{LEAST:g} to {MOST_WATTS:g} W in a facility"
            issues.append(InputIssue(("watts",), found, needed, "check the unit"))
    if issues:
        raise InstanceError(name, tuple(issues[:MOST_ISSUES]))


def _below_idle(measurements: Measurements) -> list[str]:
    idle = measurements.idle_watts or 0.0
    below = [key for key in measurements.seconds if min(measurements.watts[key]) < idle]
    kind = quote(measurements.machine_type)
    if not below:
        return []
    return [f"{kind} draws less running {bags.listed(below)} than idle; its cores are taken to add 0 W"]


def _full_watts(name: str, measurements: Measurements) -> float:
    """Return the most that a node draws."""
    most = max(max(column) for column in core_watts(measurements).values())
    full = (measurements.idle_watts or 0.0) + bags.places_of(measurements) * most
    if full <= 0:
        found = f"0 W of {quote(measurements.machine_type)}, idle and busy"
        raise bags.input_error(name, "watts", found, "more than that of a running machine", "check the meter")
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
