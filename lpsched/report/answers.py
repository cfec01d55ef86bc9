"""Results about bags in tables: fronts, prices, comparisons; and bags. `report/solution.py` has those of `solve`."""

from __future__ import annotations

from dataclasses import asdict, astuple
from typing import TYPE_CHECKING, Final

from lpsched.auditing import claim_text
from lpsched.bag.arrays import Heterogeneity, heterogeneity
from lpsched.model.results import without_empty
from lpsched.model.terms import words_of
from lpsched.report.tables import FoldingTable, compared_tables, hash_table, line, table
from lpsched.units import counted, duration, number, power_text

if TYPE_CHECKING:
    from typing import Any

    from rich.console import ConsoleRenderable

    from lpsched.bag.certificate.claim import Certificate
    from lpsched.bag.compare.result import Validation
    from lpsched.bag.model import Bag


# Answers in tables: value and bound first, then what each part is worth, then what was done.
MOST_TYPES: Final = 12  # task types of a bag that are shown
ONE_MACHINE_TYPE: Final = "fewer than two machine types can run any task"
NO_AFFINITY: Final = "fewer than two machine types can run all task types, or there is one task type"
QUANTITIES: Final = {"profit": "profit_per_hour", "makespan": "makespan_seconds", "energy": "energy_joules"}


def validation_tables(result: Validation) -> list[ConsoleRenderable]:
    """Return each schedule with its gap, and the rules that the invalid ones break."""
    ran = any(entry.seconds is not None for entry in result.entries)
    seed = f"; seed {result.seed}" if ran else ""
    heading = f"{result.provenance.instance_name}: {result.objective} of schedules{seed}"
    return compared_tables(result, heading, quantities=(QUANTITIES[result.objective],), what="scheduler")


def certificate_line(certificate: Certificate, path: str) -> str:
    """Return what a certificate claims, in one line."""
    claim = claim_text(certificate.objective, certificate.bound, certificate.unit)
    given = certificate.terms
    terms = {"power_cap_watts": given.power_cap_watts, "deadline_seconds": given.deadline_seconds}
    if certificate.objective == "profit":
        terms = {"price": given.price, **terms}
    under, options = words_of(
        {key: value for key, value in terms.items() if value is not None}, certificate.unit.removesuffix("/hour")
    )
    about = f"{certificate.instance_name}{under}"
    return f"{path}: {claim} is proved for {about}; check it with 'lpsched verify{options}'"


# What is in a bag, for `lpsched show`.
def bag_shown(bag: Bag) -> tuple[dict[str, Any], list[ConsoleRenderable]]:
    """Return what is in a bag, and how heterogeneous it is, as JSON and in tables."""
    measures = heterogeneity(bag)
    content = {
        "tasks": bag.tasks,
        "task_types": {task.name: task.count for task in bag.task_types},
        "machines": bag.machines,
        "machine_types": {machine.name: machine.count for machine in bag.machine_types},
        "pairs": bag.seconds.rows * bag.seconds.columns - len(bag.seconds.absent()),
        "has_watts": bag.watts is not None,
        "prices": bag.prices.model_dump(),
        "site": bag.site.model_dump(),
        "heterogeneity": asdict(measures),
    }
    return content, bag_tables(bag, measures)


def bag_tables(bag: Bag, measures: Heterogeneity) -> list[ConsoleRenderable]:
    """Return what is in a bag: size, prices and limits, machine and task types, how heterogeneous it is, its hash."""
    tasks = f"{counted(bag.tasks, 'task')} of {counted(len(bag.task_types), 'type')}"
    machines = f"{counted(bag.machines, 'machine')} of {counted(len(bag.machine_types), 'type')}"
    always, currency, types = ("machine type", "count", "idle power, W"), bag.prices.currency, []
    for machine in bag.machine_types:
        costs = (machine.wear_per_busy_hour, machine.purchase_price, machine.mean_hours_to_failure)
        about = (machine.name, f"{machine.count:,}", number(machine.idle_watts))
        types.append(
            (*about, *(number(each) if each else "-" for each in costs), ", ".join(machine.p_states or ()) or "-")
        )
    heads = (f"wear, {currency}\nper busy hour", f"purchase\nprice, {currency}", "life,\nhours", "P-states")
    headers, cells = without_empty((*always, *heads), types, always)
    spreads = ("task types", measures.across_task_types), ("machine types", measures.across_machine_types)
    rows = [(f"across {name}", *map(number, astuple(each))) for name, each in spreads]
    others = [
        ("machine performance homogeneity", number(measures.machine_performance_homogeneity), ONE_MACHINE_TYPE),
        ("task difficulty homogeneity", number(measures.task_difficulty_homogeneity), "there is one task type"),
        ("task-machine affinity", number(measures.task_machine_affinity), NO_AFFINITY),
    ]
    reasons = [(name, value, why if value == "-" else "") for name, value, why in others]
    return [
        line(f"{bag.name}: {tasks} on {machines}"),
        table(("", ""), _terms(bag)),
        *FoldingTable(headers, tuple(cells)).shortened(),
        *_task_types(bag),
        table(("times", "variation", "skewness", "kurtosis"), rows, numbers=(1, 2, 3)),
        table(("", "", ""), reasons, numbers=(1,)),
        hash_table(bag),
    ]


def _task_types(bag: Bag) -> list[ConsoleRenderable]:
    """Return the largest task types: how many tasks, where one is fastest and how long it takes, what it sells for."""
    tasks = sorted(range(len(bag.task_types)), key=lambda i: -bag.task_types[i].count)
    rows, prices = [], bag.prices
    for i in sorted(tasks[:MOST_TYPES]):
        task = bag.task_types[i]
        times = [(seconds, column) for column, seconds in enumerate(bag.seconds.row(i)) if seconds is not None]
        (least, column), most = min(times), max(times)[0]
        kind = bag.machine_types[bag.modes[column][0]]
        state = "" if kind.p_states is None else f" {kind.p_states[bag.modes[column][1]]}"
        able = f"{len({bag.modes[column][0] for _, column in times}):,}"
        price = [number(prices.per_task.get(task.name))] if prices.per_task else []
        rows.append((task.name, f"{task.count:,}", duration(least), kind.name + state, duration(most), able, *price))
    charged = [f"price, {prices.currency}"] if prices.per_task else []
    heads = ("task type", "tasks", "fastest", "on", "slowest", "machine types", *charged)
    left = len(bag.task_types) - MOST_TYPES
    return [
        table(heads, rows, numbers=(1, 2, 4, 5, 6)),
        *([line(f"... and {counted(left, 'smaller type')} (--json has all)")] if left > 0 else []),
    ]


def _terms(bag: Bag) -> list[tuple[str, str]]:
    """Return what a bag sells for, what it costs, the limits of the site, and what can run."""
    prices, site, currency, rows = bag.prices, bag.site, bag.prices.currency, []
    sold = [] if prices.per_bag is None else [f"{number(prices.per_bag)} {currency} per bag"]
    sold += [f"{counted(len(prices.per_task), 'task type')} priced per task"] if prices.per_task else []
    rows.append(("price", ", ".join(sold) or "not given"))
    if prices.overhead_per_bag:
        rows.append(("overhead", f"{number(prices.overhead_per_bag)} {currency} per bag"))
    electricity = prices.electricity_per_kwh
    pue = f", PUE {number(site.pue)}" if site.pue != 1 else ""
    known = "price not given" if electricity is None else f"{number(electricity)} {currency} per kWh"
    rows.append(("electricity", known + pue))
    if site.average_power_cap_watts is not None:
        side = "at the meter" if site.cap_measured_at == "facility" else "at the machines"
        rows.append(("power cap", f"{power_text(site.average_power_cap_watts)} on average, {side}"))
    if site.deadline_seconds is not None:
        rows.append(("deadline", duration(site.deadline_seconds)))
    cells = bag.seconds.rows * bag.seconds.columns
    power = "no watts" if bag.watts is None else "with watts"
    can = f"{cells - len(bag.seconds.absent()):,} of {counted(cells, 'pair')} of task type and machine type can run"
    return [*rows, ("times", f"{can}, {power}")]
