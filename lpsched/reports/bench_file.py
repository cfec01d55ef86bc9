"""What a bench asks for, for `lpsched show`: what will run, how often, and with which meters."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lpsched.display import number, percent
from lpsched.instance.bench_size import size_of
from lpsched.reports.tables import table

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from lpsched.instance.bench import Bench
    from lpsched.instance.bench_size import BenchSize

LONGEST_COMMAND = 100  # characters that are shown


def bench_facts(bench: Bench) -> dict[str, Any]:
    """Return what a bench asks for as it appears in JSON."""
    return {
        "machine_type": bench.machine_type,
        "at_once": bench.at_once,
        "cores": [list(place) for place in bench.cores] or None,
        "frequencies_mhz": list(bench.frequencies_mhz),
        "applications": {each.name: list(each.command) for each in bench.applications},
        "repeats": asdict(bench.repeats),
        "energy": bench.energy.kind,
        "counters": bench.counters,
        "companions": bench.companions,
        "limit_seconds": bench.limit_seconds,
    } | asdict(size_of(bench))


def bench_tables(bench: Bench) -> list[Table | Text]:
    """Return the same as tables: the bench, its settings, its applications."""
    repeats, size = bench.repeats, size_of(bench)
    often = (
        f"{repeats.least} to {repeats.most} times, until the mean is known within {percent(repeats.within)}"
    )
    limit = "none" if bench.limit_seconds is None else f"{number(bench.limit_seconds)} s in all"
    facts = [
        ("bench", bench.name),
        ("machine type", bench.machine_type),
        ("cores", _cores(bench)),
        ("clocks", ", ".join(f"{mhz:g} MHz" for mhz in bench.frequencies_mhz) or "the machine's own"),
        ("each setting", f"{often} at {percent(repeats.confidence)} confidence"),
        ("warm-ups", f"{repeats.warm_ups} of each program"),
        ("energy", _energy(bench)),
        ("cache misses", "where perf may count them" if bench.counters == "auto" else "not counted"),
        ("time limit", limit),
    ]
    headers = ("application", "tasks", "time limit", "folder", "command")
    rows = [
        (
            each.name,
            f"{each.count:,}",
            f"{number(each.timeout_seconds)} s",
            each.folder or ".",
            _shown(each.command),
        )
        for each in bench.applications
    ]
    return [table(("", ""), facts), _settings(bench, size), table(headers, rows, numbers=(1, 2))]


def _cores(bench: Bench) -> str:
    if not bench.cores:
        return f"{bench.places}, chosen when it runs"
    return f"{len(bench.cores)}: processors " + ", ".join("+".join(map(str, place)) for place in bench.cores)


def _energy(bench: Bench) -> str:
    energy = bench.energy
    ways = {
        "auto": "RAPL where it can be read",
        "rapl": "RAPL",
        "none": "not measured",
        "command": f"'{_shown(energy.command)}' every {number(energy.every_seconds)} s",
        "stream": f"lines of '{_shown(energy.command)}'",
    }
    return ways[energy.kind] + (f" ({energy.covers})" if energy.covers else "")


def _settings(bench: Bench, size: BenchSize) -> Table:
    """Return settings by kind, with a word on what it depends on whether they run."""
    metered = bench.energy.kind in {"command", "stream"}
    rows = [
        ("alone", f"{size.alone:,}", ""),
        ("pairs", f"{size.pairs:,}", ""),
        ("groups", f"{size.groups:,}", ""),
        ("until all have ended", f"{size.batches:,}", "" if metered else "only where energy is measured"),
        (
            "beside companions",
            f"{size.companions:,}",
            "" if bench.companions != "auto" else "only where misses cannot be counted",
        ),
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
