"""Facilities and benches in tables: what `lpsched show` prints of a file, and what was found."""

from __future__ import annotations

import shlex
import textwrap
from collections import Counter
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from lpsched.facility.result import UNIT, FacilityResult, FacilityValidation, FacilityWorth, MethodResult
from lpsched.facility.rules import airflows, inlet_shares
from lpsched.measure.bench import Bench, BenchSize, size_of
from lpsched.report.tables import UNFINISHED, compared_tables, table
from lpsched.units import number, percent

if TYPE_CHECKING:
    from rich.table import Table

    from lpsched.facility.model import Facility


# What is in a facility, for `lpsched show`.
#
# pairs, pairs_in_time   of task types and P-states: how many can run, and how many of those meet their deadline
# idle_watts             what all nodes draw when no core is busy, cooling not counted
# recirculation          the share of the air drawn in by nodes that left nodes; unknown for a recirculation matrix
WIDTH = 100  # characters of a line of the description


def facility_shown(facility: Facility) -> tuple[dict[str, Any], list[Table | Text]]:
    """Return what is in a facility, as JSON and in tables."""
    facts = _facility_facts(facility)
    mixing = f"{facts['mixing']}, {facts['mixing_entries']:,} entries"
    if facts["recirculation"] is not None:
        mixing += f"; {percent(facts['recirculation'])} of the nodes' air left nodes"
    rows = [
        ("facility", facility.name),
        ("hash", facility.content_hash),
        ("nodes", f"{facts['nodes']:,} of {len(facility.node_types):,} types, {facility.cores:,} cores"),
        ("CRAC units", f"{facts['crac_units']:,}"),
        ("pairs", f"{facts['pairs']:,} can run, {facts['pairs_in_time']:,} of them in time"),
        ("power cap", f"{number(facility.power_cap_watts)} W; idle nodes draw {number(facts['idle_watts'])} W"),
        ("mixing", mixing),
        ("degradation", ", ".join(facility.memory_classes) or "none"),
    ]
    nodes, tasks = [], []
    for kind in facility.node_types:
        counts = f"{facts['nodes_of_types'][kind.name]:,}", f"{kind.cores:,}"
        numbers = map(number, (kind.overhead_watts, kind.airflow_m3_per_second, kind.redline_celsius))
        nodes.append((kind.name, *counts, *numbers, f"{kind.modes:,}" if kind.p_states is not None else "-"))
    for task, row in zip(facility.task_types, facility.speeds, strict=True):
        quickest = 1.0 / max(cell for cell in row if cell is not None)
        numbers = map(number, (task.arrivals_per_second, task.reward, task.deadline_seconds, quickest))
        tasks.append((task.name, *numbers, task.memory_class or "-"))
    of_nodes = ("node type", "nodes", "cores", "overhead W", "m3/s", "redline C", "P-states")
    of_tasks = ("task type", "arrivals/s", "reward", "deadline s", "quickest s", "class")
    made: list[Table | Text] = [
        table(("", ""), rows),
        table(of_nodes, nodes, numbers=range(1, 7)),
        table(("CRAC units", "number", "m3/s", "outlet C", "redline C"), _file_units(facility), numbers=(1, 2, 4)),
        table(of_tasks, tasks, numbers=range(1, 5)),
    ]
    if facility.description:
        made.append(Text(textwrap.fill(facility.description, WIDTH)))
    return facts, made


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
    """Return a row for each run of units that are alike but in name."""
    rows: list[tuple[str, ...]] = []
    for (flow, outlets, _, redline), units in groupby(
        facility.crac_units,
        key=lambda unit: (unit.airflow_m3_per_second, unit.outlet_celsius, unit.cop, unit.redline_celsius),
    ):
        names = [unit.name for unit in units]
        name = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        rows.append((name, f"{len(names):,}", number(flow), "{:g} to {:g}".format(*outlets), number(redline)))
    return rows


# What a bench asks for, for `lpsched show`: what will run, how often, and with which meters.
LONGEST_COMMAND = 100  # characters that are shown


def bench_shown(bench: Bench) -> tuple[dict[str, Any], list[Table | Text]]:
    """Return what a bench asks for, as JSON and in tables: the bench, its settings, its applications."""
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
    facts = [
        ("bench", bench.name),
        ("machine type", bench.machine_type),
        ("cores", f"{bench.at_once}{f': processors {places}' if bench.processors else ', chosen when it runs'}"),
        ("clocks", ", ".join(f"{mhz:g} MHz" for mhz in bench.frequencies_mhz) or "the machine's own"),
        ("each setting", f"{often} at {percent(repeats.confidence)} confidence"),
        ("warm-ups", f"{repeats.warm_ups} of each program"),
        ("energy", _energy(bench)),
        ("cache misses", "where perf may count them" if bench.counters == "auto" else "not counted"),
        ("time limit", "none" if bench.limit_seconds is None else f"{number(bench.limit_seconds)} s in all"),
    ]
    headers = ("application", "tasks", "time limit", "folder", "command")
    rows = [
        (each.name, f"{each.count:,}", f"{number(each.timeout_seconds)} s", each.folder or ".", _shown(each.command))
        for each in bench.applications
    ]
    return content, [table(("", ""), facts), _settings(bench, size), table(headers, rows, numbers=(1, 2))]


def _energy(bench: Bench) -> str:
    energy = bench.energy
    ways = {
        "auto": "RAPL where it can be read",
        "rapl": "RAPL",
        "none": "not measured",
        "command": f"'{_shown(energy.program)}' every {number(energy.every_seconds)} s",
        "stream": f"lines of '{_shown(energy.program)}'",
    }
    return ways[energy.kind] + (f" ({energy.covers})" if energy.covers else "")


def _settings(bench: Bench, size: BenchSize) -> Table:
    """Return settings by kind, with a word on what it depends on whether they run."""
    metered = bench.energy.kind in {"command", "stream"}
    misses = "" if bench.companions != "auto" else "only where misses cannot be counted"
    rows = [
        ("alone", f"{size.alone:,}", ""),
        ("pairs", f"{size.pairs:,}", ""),
        ("groups", f"{size.groups:,}", ""),
        ("until all have ended", f"{size.batches:,}", "" if metered else "only where energy is measured"),
        ("beside companions", f"{size.companions:,}", misses),
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


# The answer for a facility in tables: value and bound, CRAC units, and marginal values of its limits.
MOST_UNITS: Final = 12  # CRAC units in a table; beyond, their range
ONE_MORE: Final = "marginal value of one more (LP)"
SMALL_CHANGES: Final = (
    "(LP): derivatives of the linear program's bound, for small changes; a whole one more may bring far less."
)


def facility_tables(instance: Facility, result: FacilityResult | MethodResult) -> list[Table | Text]:
    """Return value and bound, outlets and heat of the CRAC units, and marginal values where there are any."""
    counts = ((len(instance.nodes), "node"), (instance.cores, "core"), (len(instance.crac_units), "CRAC unit"))
    sizes = ", ".join(f"{count:,} {word}{'s' if count > 1 else ''}" for count, word in counts)
    worth, limits = result.worth if isinstance(result, FacilityResult) else None, []
    if worth is not None:
        kilowatt = ("kilowatt", number(worth.kilowatt), "under the cap")
        kelvin = ("kelvin", number(worth.redline_kelvin), "at every node's redline")
        limits.append(table(("", f"{ONE_MORE}, {UNIT}", ""), (kilowatt, kelvin), numbers=(1,)))
    return [
        Text(f"{instance.name}: {sizes}"),
        table(("", "", ""), result.facts()),
        _units(result),
        *limits,
        _nodes(instance, result, worth),
        _tasks(instance, result, worth),
        *([Text(UNFINISHED if worth is None else SMALL_CHANGES)] if isinstance(result, FacilityResult) else []),
    ]


def methods_tables(result: FacilityValidation) -> list[Table | Text]:
    """Return each method or allocation beside the bound, why some found nothing, and the rules broken."""
    name, cap = result.provenance.instance_name, number(result.cap_watts)
    heading = f"{name}: allocations against the bound, {UNIT}; cap {cap} W, seed {result.seed}"
    ended = [(entry.name, entry.failure or entry.ended) for entry in result.entries]
    told = [each for each in ended if each[1]]
    notes = [table(("method", "how it ended"), told)] if told else []
    return compared_tables(result, heading, *notes, what="allocation")


def _units(result: FacilityResult | MethodResult) -> Table | Text:
    measured, outlets = result.measured, result.allocation.outlets_celsius
    if len(outlets) > MOST_UNITS:
        span = f"{number(min(outlets), 4)} to {number(max(outlets), 4)} C"
        return Text(f"{len(outlets)} CRAC units blow at {span} (--json has all)")
    columns = outlets, measured.crac_inlets_celsius, measured.heat_removed_watts, measured.cooling_watts
    numbers = zip(*([number(each, 5) for each in column] for column in columns), strict=True)
    rows = [(name, *several) for name, several in zip(result.unit_names, numbers, strict=True)]
    return table(("CRAC unit", "outlet, C", "inlet, C", "takes out, W", "draws, W"), rows, numbers=range(1, 5))


def _nodes(instance: Facility, result: FacilityResult | MethodResult, worth: FacilityWorth | None) -> Table:
    watts = result.measured.node_watts
    rows = []
    for j, kind in enumerate(instance.node_types):
        own = [each for v, each in enumerate(watts) if instance.nodes[v] == j]
        mean = number(sum(own) / len(own), 5) if own else "-"
        brings = () if worth is None else (number(worth.node_types.get(kind.name)),)
        rows.append((kind.name, f"{len(own):,}", number(kind.overhead_watts), mean, *brings))
    last = () if worth is None else (f"{ONE_MORE}, {UNIT}",)
    headers = ("node type", "nodes", "overhead, W", "mean power, W", *last)
    return table(headers, rows, numbers=(1, 2, 3, 4))


def _tasks(instance: Facility, result: FacilityResult | MethodResult, worth: FacilityWorth | None) -> Table:
    rows = []
    for task, rate in zip(instance.task_types, result.rates, strict=True):
        numbers = (number(each, 5) for each in (task.arrivals_per_second, rate, task.reward))
        brings = () if worth is None else (number(worth.task_types[task.name]),)
        rows.append((task.name, *numbers, *brings))
    last = () if worth is None else (f"{ONE_MORE}, reward",)
    headers = ("task type", "arrive, 1/s", "done, 1/s", "reward", *last)
    return table(headers, rows, numbers=(1, 2, 3, 4))
