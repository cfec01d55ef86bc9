"""The answer for a facility in tables: value and bound, CRAC units, and marginal values of its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from lpsched.bag.pricing.worth import UNFINISHED
from lpsched.facility.result import HEADERS, UNIT, FacilityResult
from lpsched.report.answers import broken_rules, table
from lpsched.units import number

if TYPE_CHECKING:
    from rich.table import Table

    from lpsched.facility.model import Facility
    from lpsched.facility.result import FacilityValidation, FacilityWorth, MethodResult

MOST_UNITS: Final = 12  # CRAC units in a table; beyond, their range
ONE_MORE: Final = "marginal value of one more (LP)"
SMALL_CHANGES: Final = (
    "(LP): derivatives of the linear program's bound, for small changes; a whole one more may bring far less."
)


def facility_tables(instance: Facility, result: FacilityResult | MethodResult) -> list[Table | Text]:
    """Return value and bound, outlets and heat of the CRAC units, and marginal values where there are any."""
    counts = ((len(instance.nodes), "node"), (instance.cores, "core"), (len(instance.crac_units), "CRAC unit"))
    sizes = ", ".join(f"{count:,} {word}{'s' if count > 1 else ''}" for count, word in counts)
    worth = result.worth if isinstance(result, FacilityResult) else None
    return [
        Text(f"{instance.name}: {sizes}"),
        table(("", "", ""), result.facts()),
        _units(result),
        *([] if worth is None else [table(("", f"{ONE_MORE}, {UNIT}", ""), _limits(worth), numbers=(1,))]),
        _nodes(instance, result, worth),
        _tasks(instance, result, worth),
        *([Text(UNFINISHED if worth is None else SMALL_CHANGES)] if isinstance(result, FacilityResult) else []),
    ]


def methods_tables(result: FacilityValidation) -> list[Table | Text]:
    """Return each method or allocation beside the bound, why some found nothing, and the rules broken."""
    name, cap = result.provenance.instance_name, number(result.cap_watts)
    heading = Text(f"{name}: allocations against the bound, {UNIT}; cap {cap} W, seed {result.seed}")
    tables: list[Table | Text] = [heading, table(HEADERS, result.rows(), numbers=range(1, len(HEADERS)))]
    ended = [(entry.name, entry.failure or entry.ended) for entry in result.entries]
    told = [each for each in ended if each[1]]
    if told:
        tables.append(table(("method", "how it ended"), told))
    broken = [(entry.name, each.code, each.sentence) for entry in result.entries for each in entry.violations]
    return [*tables, *broken_rules("allocation", broken)]


def _units(result: FacilityResult | MethodResult) -> Table | Text:
    measured, outlets = result.measured, result.allocation.outlets_celsius
    if len(outlets) > MOST_UNITS:
        span = f"{number(min(outlets), 4)} to {number(max(outlets), 4)} C"
        return Text(f"{len(outlets)} CRAC units blow at {span} (--json has all)")
    rows = [
        (name, number(outlet, 5), number(inlet, 5), number(heat, 5), number(watts, 5))
        for name, outlet, inlet, heat, watts in zip(
            result.unit_names,
            outlets,
            measured.crac_inlets_celsius,
            measured.heat_removed_watts,
            measured.cooling_watts,
            strict=True,
        )
    ]
    return table(("CRAC unit", "outlet, C", "inlet, C", "takes out, W", "draws, W"), rows, numbers=(1, 2, 3, 4))


def _limits(worth: FacilityWorth) -> list[tuple[str, str, str]]:
    return [
        ("kilowatt", number(worth.kilowatt), "under the cap"),
        ("kelvin", number(worth.redline_kelvin), "at every node's redline"),
    ]


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
    rows = [
        (
            task.name,
            number(task.arrivals_per_second, 5),
            number(rate, 5),
            number(task.reward, 5),
            *(() if worth is None else (number(worth.task_types[task.name]),)),
        )
        for task, rate in zip(instance.task_types, result.rates, strict=True)
    ]
    last = () if worth is None else (f"{ONE_MORE}, reward",)
    headers = ("task type", "arrive, 1/s", "done, 1/s", "reward", *last)
    return table(headers, rows, numbers=(1, 2, 3, 4))
