"""Facilities and benches in tables: what `lpsched show` prints of a file, and results."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from lpsched.facility.result import PER_SECOND, FacilityMarginalValues, FacilityResult, FacilityValidation, MethodResult
from lpsched.facility.rules import airflows, inlet_shares
from lpsched.measure.bench import Bench, BenchSize, size_of
from lpsched.report.tables import UNFINISHED, compared_tables, cut_table, fitted, full_columns, hash_table, line, table
from lpsched.units import counted, duration, number, percent, power_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import ConsoleRenderable
    from rich.table import Table

    from lpsched.facility.model import Facility
    from lpsched.report.figures.facility import Measured


# What is in a facility, for `lpsched show`.
#
# pairs, pairs_in_time   of task types and P-states: how many can run, and how many of those meet their deadline
# idle_watts             power of all nodes when no core is busy, without cooling
# recirculation          the share of the air drawn in by nodes that left nodes; unknown for a recirculation matrix


def facility_shown(facility: Facility) -> tuple[dict[str, Any], list[ConsoleRenderable]]:
    """Return what is in a facility, as JSON and in tables."""
    facts = _facility_facts(facility)
    mixing = f"its mixing is given by {facts['mixing']} ({counted(facts['mixing_entries'], 'entry', 'entries')})"
    if facts["recirculation"] is not None:
        mixing += f"; {percent(facts['recirculation'])} of the air that nodes take in comes from nodes"
    nodes_of = f"{counted(facts['nodes'], 'node')} of {counted(len(facility.node_types), 'type')}"
    sizes = f"{nodes_of}, {counted(facility.cores, 'core')}, {counted(facts['crac_units'], 'CRAC unit')}"
    rows = [
        ("power cap", f"{power_text(facility.power_cap_watts)}; idle nodes take {power_text(facts['idle_watts'])}"),
        ("offered", f"{number(facts['offered_reward_rate'])} {PER_SECOND}, if every arriving task were done"),
        ("pairs", f"{facts['pairs']:,} can run, {facts['pairs_in_time']:,} of them by their deadline"),
        ("air", mixing),
        ("memory classes", ", ".join(facility.memory_classes) or "none"),
    ]
    nodes, tasks = [], []
    for kind in facility.node_types:
        counts = f"{facts['nodes_of_types'][kind.name]:,}", f"{kind.cores:,}"
        air = map(number, (kind.airflow_m3_per_second, kind.redline_celsius))
        states = "-" if kind.p_states is None else f"{kind.modes:,}"
        nodes.append((kind.name, *counts, power_text(kind.overhead_watts), *air, states))
    for task, row in zip(facility.task_types, facility.speeds, strict=True):
        quickest = 1.0 / max(cell for cell in row if cell is not None)
        numbers = map(number, (task.arrivals_per_second, task.reward))
        times = map(duration, (task.deadline_seconds, quickest))
        tasks.append((task.name, *numbers, *times, task.memory_class or "-"))
    of_nodes = ("node type", "nodes", "cores", "overhead", "airflow,\nm³/s", "redline,\n°C", "P-states")
    of_units = ("CRAC units", "number", "airflow, m³/s", "outlet, °C", "redline, °C")
    of_tasks = ("task type", "arrivals/s", "reward", "deadline", "fastest", "class")
    return facts, [
        fitted(f"{facility.name}: {sizes}, {counted(len(facility.task_types), 'task type')}"),
        table(("", ""), rows),
        *full_columns(of_nodes, nodes),
        *full_columns(of_units, _file_units(facility)),
        *full_columns(of_tasks, tasks),
        *([fitted(*facility.description.split("\n"))] if facility.description else []),
        hash_table(facility),
    ]


def _facility_facts(facility: Facility) -> dict[str, Any]:
    speeds = [[cell for cell in row if cell is not None] for row in facility.speeds]
    in_time = [
        cell
        for row, task in zip(speeds, facility.task_types, strict=True)
        for cell in row
        if task.deadline_seconds is None or 1.0 / cell < task.deadline_seconds
    ]
    types = Counter(facility.node_types[j].name for j in facility.nodes)
    return {
        "nodes": len(facility.nodes),
        "cores": facility.cores,
        "nodes_of_types": {kind.name: types[kind.name] for kind in facility.node_types},
        "crac_units": len(facility.crac_units),
        "task_types": {task.name: task.arrivals_per_second for task in facility.task_types},
        "pairs": sum(map(len, speeds)),
        "pairs_in_time": len(in_time),
        "offered_reward_rate": sum(task.arrivals_per_second * task.reward for task in facility.task_types),
        "power_cap_watts": facility.power_cap_watts,
        "idle_watts": sum(facility.node_types[j].overhead_watts for j in facility.nodes),
        "mixing": facility.mixing.form,
        "mixing_entries": facility.mixing.matrix.entries,
        "recirculation": _recirculation(facility),
        "memory_classes": list(facility.memory_classes),
    }


def _recirculation(facility: Facility) -> float | None:
    if facility.mixing.form == "recirculation":
        return None
    nodes = len(facility.nodes)
    flows = airflows(facility)[:nodes]
    of_nodes = (
        flow * sum(share for place, share in zip(*row, strict=True) if place < nodes)
        for flow, row in zip(flows, inlet_shares(facility), strict=False)
    )
    return sum(of_nodes) / sum(flows)


def _file_units(facility: Facility) -> list[tuple[str, ...]]:
    """Return a row for each sequence of units that differ only in name."""
    rows: list[tuple[str, ...]] = []
    for (flow, outlets, _, redline), units in groupby(
        facility.crac_units,
        key=lambda unit: (unit.airflow_m3_per_second, unit.outlet_celsius, unit.cop, unit.redline_celsius),
    ):
        names = [unit.name for unit in units]
        name = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        rows.append((name, f"{len(names):,}", number(flow), "{:g} to {:g}".format(*outlets), number(redline)))
    return rows


# What a bench specifies, for `lpsched show`: what will run, how often, and with which meters.
LONGEST_COMMAND = 100  # characters that are shown


def bench_shown(bench: Bench) -> tuple[dict[str, Any], list[ConsoleRenderable]]:
    """Return what a bench specifies, as JSON and in tables: the bench, its settings, its applications."""
    repeats, size = bench.repeats, size_of(bench)
    content = {
        "machine_type": bench.machine_type,
        "at_once": bench.at_once,
        "cores": [list(place) for place in bench.processors] or None,
        "frequencies_mhz": list(bench.frequencies_mhz),
        "applications": {each.name: list(each.command) for each in bench.applications},
        "repeats": bench.repeats.model_dump(),
        "energy": bench.energy.kind,
        "counters": bench.counters,
        "companions": bench.companions,
        "limit_seconds": bench.limit_seconds,
    } | asdict(size)
    places = ", ".join("+".join(map(str, place)) for place in bench.processors)
    often = f"{repeats.least} to {repeats.most} times, until the mean is known within {percent(repeats.within)}"
    heading = f"{bench.name}: measures {counted(len(bench.applications), 'application')} on {bench.machine_type}"
    facts = [
        ("cores", f"{bench.at_once}{f': processors {places}' if bench.processors else ', chosen when it runs'}"),
        ("clocks", ", ".join(f"{mhz:g} MHz" for mhz in bench.frequencies_mhz) or "the machine's own"),
        ("each setting", f"{often} at {percent(repeats.confidence)} confidence"),
        ("warm-ups", f"{repeats.warm_ups} of each program"),
        ("energy", _energy(bench)),
        ("cache misses", "where perf may count them" if bench.counters == "auto" else "not counted"),
        ("time limit", "none" if bench.limit_seconds is None else f"{duration(bench.limit_seconds)} in all"),
    ]
    headers = ("application", "tasks", "time limit", "folder", "command")
    rows = [
        (each.name, f"{each.count:,}", duration(each.timeout_seconds), each.folder or ".", _shown(each.command))
        for each in bench.applications
    ]
    applications = table(headers, rows, numbers=(1, 2))
    return content, [fitted(heading), table(("", ""), facts), _settings(bench, size), applications, hash_table(bench)]


def _energy(bench: Bench) -> str:
    energy = bench.energy
    sources = {
        "auto": "RAPL where it can be read",
        "rapl": "RAPL",
        "none": "not measured",
        "command": f"'{_shown(energy.program)}' every {number(energy.every_seconds)} s",
        "stream": f"lines of '{_shown(energy.program)}'",
    }
    return sources[energy.kind] + (f" ({energy.covers})" if energy.covers else "")


def _settings(bench: Bench, size: BenchSize) -> Table:
    """Return the number of settings of each kind, and under which condition they run."""
    metered = bench.energy.kind in {"command", "stream"}
    misses = "" if bench.companions != "auto" else "only where misses cannot be counted"
    rows = [
        ("alone", f"{size.alone:,}", ""),
        ("pairs", f"{size.pairs:,}", ""),
        ("groups", f"{size.groups:,}", ""),
        ("until all have ended", f"{size.batches:,}", "" if metered else "only where energy is measured"),
        ("interference probes", f"{size.companions:,}", misses),
        ("settings in all", _range(size.least_settings, size.most_settings), ""),
        ("runs in all", _range(size.least_runs, size.most_runs), "warm-ups counted"),
    ]
    kept = [(kind, count, why if count != "0" else "") for kind, count, why in rows]
    return table(("settings", "", ""), kept, numbers=(1,))


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _shown(command: tuple[str, ...]) -> str:
    text = shlex.join(command)
    return text if len(text) <= LONGEST_COMMAND else text[:LONGEST_COMMAND] + "..."


# The result for a facility in tables: value and bound, CRAC units, and marginal values of its limits.
MOST_PAIRS: Final = 12  # of task type and node type, by core time
MOST_UNITS: Final = 12  # CRAC units in a table; beyond, their range
UNITS: Final = ("CRAC unit", "outlet, °C", "inlet, °C", "heat removed", "power")
MARGINAL: Final = "marginal value (LP), "  # and its unit
SMALL_CHANGES: Final = (
    f"Marginal value (LP): derivative of the linear program's bound, in {PER_SECOND} per kW of the cap, K of all node "
    "redlines, or node, and in reward per task. It holds for small changes; one more node or task may bring far less."
)


def facility_tables(instance: Facility, result: FacilityResult | MethodResult) -> list[ConsoleRenderable]:
    """Return the headline, value and bound, the CRAC units, and marginal values where there are any."""
    counts = ((len(instance.nodes), "node"), (instance.cores, "core"), (len(instance.crac_units), "CRAC unit"))
    sizes = ", ".join(counted(count, word) for count, word in counts)
    worth, limits = result.worth if isinstance(result, FacilityResult) else None, []
    if worth is not None:
        rows = (("1 kW more power", number(worth.kilowatt)), ("1 K higher redlines", number(worth.redline_kelvin)))
        limits.append(table(("limit", MARGINAL + PER_SECOND), rows, numbers=(1,)))
    return [
        fitted(result.headline()),
        line(f"{instance.name}: {sizes}"),
        table(("", "", ""), result.facts()),
        _units(instance, result),
        *limits,
        *_nodes(instance, result, worth),
        *_tasks(instance, result, worth),
        *_core_time(result),
        *([fitted(UNFINISHED if worth is None else SMALL_CHANGES)] if isinstance(result, FacilityResult) else []),
    ]


def methods_tables(result: FacilityValidation) -> list[ConsoleRenderable]:
    """Return each method or allocation with its gap, how some ended, and the rules broken."""
    cap = power_text(result.cap_watts)
    heading = f"{result.provenance.instance_name}: allocations; cap {cap}, seed {result.seed}"
    ended = [
        (entry.name, entry.failure or SEARCHES.get(entry.ended, entry.ended))
        for entry in result.entries
        if entry.failure or entry.ended
    ]
    notes: list[ConsoleRenderable] = [fitted(WITHOUT), *([table(("scheduler", "search"), ended)] if ended else [])]
    return compared_tables(result, heading, *notes, what="allocation")


SEARCHES: Final = {"with its bound": "found with the bound", "one core at a time": "assigns one core at a time"}
WITHOUT: Final = f"Without co-location: {PER_SECOND} of the same allocation if cores did not slow each other."


def _units(instance: Facility, result: FacilityResult | MethodResult) -> ConsoleRenderable:
    outlets = result.allocation.outlets_celsius
    if len(outlets) > MOST_UNITS:
        span = f"{number(min(outlets))} to {number(max(outlets))} °C"
        return line(f"{len(outlets)} CRAC units: outlets {span} (--json has all)")
    return units_table(instance, result.measured, outlets)


def units_table(instance: Facility, measured: Measured, outlets: Sequence[float]) -> Table:
    """Return the CRAC units: temperatures, the heat that they remove, and their power."""
    columns = outlets, measured.crac_inlets_celsius, measured.heat_removed_watts, measured.cooling_watts
    rows = [
        (unit.name, number(outlet), number(inlet), power_text(heat), power_text(watts))
        for unit, outlet, inlet, heat, watts in zip(instance.crac_units, *columns, strict=True)
    ]
    return table(UNITS, rows, numbers=range(1, 5))


def _nodes(
    instance: Facility, result: FacilityResult | MethodResult, worth: FacilityMarginalValues | None
) -> list[ConsoleRenderable]:
    watts, rows = result.measured.node_watts, []
    for j, kind in enumerate(instance.node_types):
        own = [each for v, each in enumerate(watts) if instance.nodes[v] == j]
        mean = power_text(sum(own) / len(own) if own else None)
        marginal = "" if worth is None else number(worth.node_types.get(kind.name))
        rows.append((kind.name, f"{len(own):,}", power_text(kind.overhead_watts), mean, marginal))
    return full_columns(("node type", "nodes", "overhead", "mean power", MARGINAL + PER_SECOND), rows)


def _core_time(result: FacilityResult | MethodResult) -> list[ConsoleRenderable]:
    """Return which task types take the most cores of which node types; nothing where nothing runs."""
    largest = sorted(result.core_time, key=lambda each: -each.cores)
    rows = [(each.task_type, each.node_type, number(each.cores), percent(each.share)) for each in largest]
    headers = ("task type", "runs on", "mean cores", "share of its cores")
    return cut_table(headers, rows, numbers=(2, 3), most=MOST_PAIRS) if rows else []


def _tasks(
    instance: Facility, result: FacilityResult | MethodResult, worth: FacilityMarginalValues | None
) -> list[ConsoleRenderable]:
    rows = []
    for task, rate in zip(instance.task_types, result.rates, strict=True):
        marginal = "" if worth is None else number(worth.task_types[task.name])
        rows.append((task.name, *map(number, (task.arrivals_per_second, rate, task.reward)), marginal))
    return full_columns(("task type", "arrivals/s", "done/s", "reward", MARGINAL + "reward"), rows)
