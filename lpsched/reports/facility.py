"""The answer for a facility in tables: value and bound, CRAC units, and what each limit is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from lpsched.display import number
from lpsched.reports.tables import table

if TYPE_CHECKING:
    from rich.table import Table

    from lpsched.instance.facility import Facility
    from lpsched.result.facility import FacilityResult

MOST_UNITS: Final = 12  # CRAC units in a table; beyond, their range


def facility_tables(instance: Facility, result: FacilityResult) -> list[Table | Text]:
    """Return value and bound, outlets and heat of the CRAC units, and the worths."""
    counts = (
        (len(instance.nodes), "node"),
        (instance.cores, "core"),
        (len(instance.crac_units), "CRAC unit"),
    )
    sizes = ", ".join(f"{count:,} {word}{'s' if count > 1 else ''}" for count, word in counts)
    return [
        Text(f"{instance.name}: {sizes}"),
        table(("", "", ""), result.facts()),
        _units(result),
        table(("one more", "brings", ""), _limits(result)),
        _nodes(instance, result),
        _tasks(instance, result),
    ]


def _units(result: FacilityResult) -> Table | Text:
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
    return table(
        ("CRAC unit", "outlet, C", "inlet, C", "takes out, W", "draws, W"), rows, numbers=(1, 2, 3, 4)
    )


def _limits(result: FacilityResult) -> list[tuple[str, str, str]]:
    worth = result.worth
    return [
        ("kilowatt", f"{number(worth.kilowatt)} reward/second", "under the cap"),
        ("kelvin", f"{number(worth.redline_kelvin)} reward/second", "at every node's redline"),
    ]


def _nodes(instance: Facility, result: FacilityResult) -> Table:
    watts = result.measured.node_watts
    rows = []
    for j, kind in enumerate(instance.node_types):
        own = [each for v, each in enumerate(watts) if instance.nodes[v] == j]
        mean = number(sum(own) / len(own), 5) if own else "-"
        worth = number(result.worth.node_types.get(kind.name))
        rows.append((kind.name, f"{len(own):,}", number(kind.overhead_watts), mean, worth))
    headers = ("node type", "nodes", "overhead, W", "mean power, W", "one more brings, reward/second")
    return table(headers, rows, numbers=(1, 2, 3, 4))


def _tasks(instance: Facility, result: FacilityResult) -> Table:
    rows = [
        (
            task.name,
            number(task.arrivals_per_second, 5),
            number(rate, 5),
            number(task.reward, 5),
            number(result.worth.task_types[task.name]),
        )
        for task, rate in zip(instance.task_types, result.rates, strict=True)
    ]
    headers = ("task type", "arrive, 1/s", "done, 1/s", "reward", "one more brings, reward")
    return table(headers, rows, numbers=(1, 2, 3, 4))
