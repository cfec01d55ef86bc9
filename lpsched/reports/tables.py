"""The one table style: no lines, a bold header, numbers to the right, texts exactly as they stand.

Cells are made `Text`, so that a name such as ``[red]x`` or ``:smile:`` is printed and not interpreted.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance import Bag
    from lpsched.instance.heterogeneity import Heterogeneity, Spread
    from lpsched.result import Result


SMALL: Final = 1e-3
LARGE: Final = 1e15
JOULES_PER_KWH: Final = 3.6e6


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> Table:
    """Return a table; the columns in `numbers` are set to the right. Empty headers show no header line."""
    made = Table(
        box=None, show_header=any(headers), header_style="bold", pad_edge=False, padding=(0, 2, 0, 0)
    )
    for index, header in enumerate(headers):
        made.add_column(Text(header), justify="right" if index in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def number(value: float | None, digits: int = 6) -> str:
    """Write a number with at least `digits` significant digits and separated thousands.

    >>> number(1234567.891), number(0.000012345), number(None), number(12.0), number(1234.5678)
    ('1,234,568', '1.2345e-05', '-', '12', '1,234.57')
    """
    if value is None:
        return "-"
    if value != 0 and not SMALL <= abs(value) < LARGE:
        return f"{value:.{digits}g}"
    decimals = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
    plain = f"{value:,.{max(0, decimals)}f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def percent(share: float | None) -> str:
    """Write a share as a percentage.

    >>> percent(0.01234), percent(None)
    ('1.234 %', '-')
    """
    return "-" if share is None else f"{number(100 * share, 4)} %"


def result_tables(result: Result) -> list[Table | Text]:
    """Return value and bound of a solve, and where the tasks went."""
    measured = result.measured
    name, tasks_and_machines = (
        result.provenance.instance_name,
        f"{result.tasks:,} tasks on {result.machines:,} machines",
    )
    facts = [
        (
            "bound",
            f"{number(result.bound)} {result.unit}",
            f"proved: no schedule has a smaller {result.objective}",
        ),
        ("value", f"{number(result.value)} {result.unit}", "verified: this schedule"),
        ("gap", percent(result.gap), result.status.value),
    ]
    if measured.energy_joules is not None:
        kwh = measured.energy_joules / JOULES_PER_KWH
        facts.append(("energy", f"{number(measured.energy_joules)} joules", f"measured: {number(kwh)} kWh"))
    machines: dict[str, int] = defaultdict(int)
    tasks: dict[str, int] = defaultdict(int)
    for group in result.schedule.groups:
        machines[group.machine_type] += group.machines
        tasks[group.machine_type] += group.machines * sum(run.count for run in group.runs)
    used = [(name, f"{machines[name]:,}", f"{tasks[name]:,}") for name in machines]
    headers = ("machine type", "machines used", "tasks")
    heading = Text(f"{name}: {tasks_and_machines}")
    return [heading, table(("", "", ""), facts), table(headers, used, numbers=(1, 2))]


def bag_tables(bag: Bag, measures: Heterogeneity) -> list[Table | Text]:
    """Return what is in a bag, and how heterogeneous it is."""
    cells = bag.seconds.rows * bag.seconds.columns
    power = "no" if bag.watts is None else "yes"
    facts = [
        ("bag", bag.name),
        ("hash", bag.content_hash),
        ("tasks", f"{bag.tasks:,} of {len(bag.task_types):,} types"),
        ("machines", f"{bag.machines:,} of {len(bag.machine_types):,} types"),
        ("pairs", f"{cells - len(bag.seconds.absent()):,} of {cells:,} can run; watts: {power}"),
        ("price", _price(bag)),
        ("site", _site(bag)),
    ]
    types = [
        (
            machine.name,
            f"{machine.count:,}",
            number(machine.idle_watts),
            ", ".join(machine.p_states or ()) or "-",
        )
        for machine in bag.machine_types
    ]
    spreads = [
        ("across task types", *_spread(measures.across_task_types)),
        ("across machine types", *_spread(measures.across_machine_types)),
    ]
    indices = [
        ("machine performance homogeneity", number(measures.machine_performance_homogeneity, 4)),
        ("task difficulty homogeneity", number(measures.task_difficulty_homogeneity, 4)),
        ("task-machine affinity", number(measures.task_machine_affinity, 4)),
    ]
    return [
        table(("", ""), facts),
        table(("machine type", "machines", "idle watts", "P-states"), types, numbers=(1, 2)),
        table(("spread of seconds", "variation", "skewness", "kurtosis"), spreads, numbers=(1, 2, 3)),
        table(("heterogeneity", ""), indices, numbers=(1,)),
    ]


def _spread(spread: Spread) -> tuple[str, str, str]:
    return (
        number(spread.coefficient_of_variation, 4),
        number(spread.skewness, 4),
        number(spread.kurtosis, 4),
    )


def _price(bag: Bag) -> str:
    prices = bag.prices
    parts = []
    if prices.per_bag is not None:
        parts.append(f"{number(prices.per_bag)} {prices.currency} per bag")
    if prices.per_task:
        parts.append(f"{len(prices.per_task):,} task types priced")
    if prices.electricity_per_kwh is not None:
        parts.append(f"{number(prices.electricity_per_kwh)} {prices.currency} per kWh")
    return ", ".join(parts) or "not given"


def _site(bag: Bag) -> str:
    site = bag.site
    parts = [f"PUE {number(site.pue)}"]
    if site.average_power_cap_watts is not None:
        parts.append(f"cap {number(site.average_power_cap_watts)} W ({site.cap_measured_at})")
    if site.deadline_seconds is not None:
        parts.append(f"deadline {number(site.deadline_seconds)} s")
    return ", ".join(parts)
