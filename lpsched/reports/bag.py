"""What is in a bag, for `lpsched show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.display import number
from lpsched.reports.tables import table

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from lpsched.instance import Bag
    from lpsched.instance.heterogeneity import Heterogeneity, Spread


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
