"""Results about bags in tables: value and bound first, then marginal values, then what was done; and bags."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from rich.text import Text

from lpsched.bag import result as worths
from lpsched.bag.arrays import Heterogeneity, heterogeneity
from lpsched.bag.compare import result as front_comparison
from lpsched.bag.pricing.result import WHAT_IF_HEADERS
from lpsched.bag.result import FRONT_HEADERS, FrontResult, Result
from lpsched.report.tables import (
    MOST_ROWS,
    UNFINISHED,
    FoldingTable,
    compared_tables,
    cut,
    cut_table,
    front_remarks,
    risk_tables,
    table,
)
from lpsched.units import bound_text, lower_text, number, upper_text

if TYPE_CHECKING:
    from typing import Any

    from rich.table import Table

    from lpsched.bag.certificate.claim import Certificate
    from lpsched.bag.compare.result import FrontComparison, Validation
    from lpsched.bag.model import Bag
    from lpsched.bag.pricing.result import PriceCurve, Sensitivity, WhatIf


# Answers in tables: value and bound first, then what each part is worth, then what was done.
QUANTITIES: Final = {"profit": "profit_per_hour", "makespan": "makespan_seconds", "energy": "energy_joules"}


def result_tables(result: Result) -> list[Table | Text]:
    """Return value and bound of a solve, where the tasks went, marginal values, and what one more changes."""
    name = result.provenance.instance_name
    heading = Text(f"{name}: {result.tasks:,} tasks on {result.machines:,} machines")
    facts = table(("", "", ""), result.facts())
    answer: list[Table | Text] = [heading, facts, *risk_tables(result.risk), _machines(result)]
    worth, steps = result.worth, result.one_more
    if worth is None:
        answer += [Text(UNFINISHED)] if result.regime is not None else []
    else:
        if worth.kilowatt_per_hour is not None:
            answer.append(table(("", ""), [(worths.KILOWATT, f"{worth.kilowatt_text()} {result.unit}")]))
        tasks = [(name, worth.task_text(name)) for name in worth.task_types]
        answer += cut_table(("task type", worths.task_heading(result.unit)), tasks, numbers=(1,))
        answer += [Text(worths.TWO_SIDED)] if worth.is_two_sided else []
    for headers, rows in () if steps is None else (steps.machine_table(), steps.task_table()):
        answer += cut_table(headers, rows, numbers=(1, 2)) if rows else []
    return answer


def _machines(result: Result) -> Table:
    """Return the machine types: how many are used, what they run, and the marginal value of one more."""
    machines: Counter[str] = Counter()
    tasks: Counter[str] = Counter()
    for group in result.schedule.groups:
        machines[group.machine_type] += group.machines
        tasks[group.machine_type] += group.machines * sum(run.count for run in group.runs)
    worth = result.worth
    last = () if worth is None else (worths.machine_heading(result.unit),)
    rows = [
        (name, f"{machines[name]:,}", f"{tasks[name]:,}", *(() if worth is None else (worth.machine_text(name),)))
        for name in (machines if worth is None else worth.machine_types)
    ]
    return table(("machine type", "machines used", "tasks", *last), rows, numbers=(1, 2, 3))


def front_tables(result: FrontResult) -> list[Table | Text]:
    """Return every vertex of a front, and the schedule near it."""
    count = len(result.vertices)
    vertices = f"{count:,} {'vertices' if count > 1 else 'vertex'}"
    name = result.provenance.instance_name
    reach = f"whole tasks may not reach {'them' if count > 1 else 'it'}"
    heading = Text(f"{name}: {vertices} of the linear program, which may split tasks; {reach}")
    proved = "; ".join(each for each in ("no schedule lies below the front", result.least_text()) if each)
    tables: list[Table | Text] = [heading, table(FRONT_HEADERS, result.rows(), numbers=range(6))]
    tables.append(Text(f"proved: {proved}"))
    if result.sample:
        found = f"{result.sampled_vertices():,} of the {vertices}"
        tables.append(Text(f"a sample of {len(result.sample):,} evenly spaced weights finds {found}"))
    return tables


def price_tables(curve: PriceCurve) -> list[Table | Text]:
    """Return the pieces of a profit curve, and the prices at which the regime changes."""
    currency = curve.unit.removesuffix("/hour")
    changes = (
        ("do not run below", curve.least_price_to_run, "waiting is best (proved)"),
        ("no profit below", curve.break_even_price, "no schedule earns (proved)"),
    )
    facts = [(name, f"{lower_text(price)} {currency}", why) for name, price, why in changes if price is not None]
    pieces = f"{len(curve.pieces):,} piece{'s' if len(curve.pieces) > 1 else ''}"
    heading = Text(f"{curve.provenance.instance_name}: profit over the price, {pieces}")
    tables: list[Table | Text] = [heading, *([table(("", "", ""), facts)] if facts else [])]
    tables.append(table(curve.headers(), curve.rows(), numbers=(0, 1, 2, 4, 5)))
    if curve.points:
        sampled = [
            (number(point.ratio), number(point.price), upper_text(point.bound), number(point.value))
            for point in curve.points
        ]
        tables.append(table(("ratio", "price", "bound", "value"), sampled, numbers=range(4)))
    return tables


def what_if_tables(result: WhatIf) -> list[Table | Text]:
    """Return two answers side by side, and the marginal values of machines and tasks in both."""
    name, unit = result.before.provenance.instance_name, result.before.unit
    heading = Text(f"{name}: {result.sentence()}")
    tables: list[Table | Text] = [heading, table(WHAT_IF_HEADERS, result.facts(), numbers=(1, 2, 3))]
    headers: tuple[str, ...] = ("machine type", "machines before", "after")
    rows = result.machines()
    if result.before.worth is None and result.after.worth is None:
        return [*tables, table(headers, [row[:3] for row in rows], numbers=(1, 2))]
    headers = (*headers, f"{worths.machine_heading(unit)}: before", "after")
    prices = result.tasks()
    tasks = (worths.task_heading(unit), *WHAT_IF_HEADERS[1:])
    return [*tables, table(headers, rows, numbers=(1, 2, 3, 4)), *cut_table(tasks, prices, numbers=(1, 2, 3))]


def validation_tables(result: Validation) -> list[Table | Text]:
    """Return each schedule beside the bound, and the rules that the invalid ones break."""
    ran = any(entry.seconds is not None for entry in result.entries)
    seed = f"; seed {result.seed}" if ran else ""
    heading = f"{result.provenance.instance_name}: schedulers against the bound on {result.objective}{seed}"
    return compared_tables(result, heading, quantities=(QUANTITIES[result.objective],), what="scheduler")


def certificate_line(certificate: Certificate, path: str) -> str:
    """Return what a certificate claims, in one line."""
    bound = bound_text(certificate.bound, upper=certificate.objective == "profit")
    claim = f"{certificate.objective} {bound} {certificate.unit}"
    return f"{path}: {claim} is proved for {certificate.instance_name}; check it with 'lpsched verify'\n"


def comparison_tables(result: FrontComparison) -> list[Table | Text]:
    """Return the exact front of a bag, the methods beside it, and what is wrong with some."""
    energy, makespan = number(result.reference.energy_joules), number(result.reference.makespan_seconds)
    heading = Text(
        f"compared with the front of the linear program; hypervolume up to {energy} joules and {makespan} "
        f"seconds, seed {result.seed}"
    )
    answer = table(front_comparison.HEADERS, result.rows(), numbers=range(1, 7))
    return [*front_tables(result.front), heading, answer, *front_remarks(result.entries)]


def sensitivity_tables(result: Sensitivity) -> list[Table | Text | FoldingTable]:
    """Return the answers; pieces of the electricity price are told where there are few."""
    name = result.provenance.instance_name
    answer: list[Table | Text | FoldingTable] = [
        Text(f"{name}: which price is needed for profit?"),
        table(("", "", ""), result.price_rows()),
    ]
    at = "" if result.price is None else f" at a price of {number(result.price)} {result.currency}"
    if result.electricity is not None:
        heading = Text(f"{name}: what may electricity cost{at}?")
        answer += [heading, table(("", "", ""), result.electricity_rows())]
    if result.machines:
        rows = tuple(result.machine_rows())
        answer += [
            Text(f"{name}: how many more machines of a type are worthwhile{at}, all others as now?"),
            FoldingTable(result.machine_headers(), rows[:MOST_ROWS]),
            *cut(rows),
        ]
        answer += [Text(note) for note in result.machine_notes()]
    return [*answer, *(Text(note) for note in result.notes)]


# What is in a bag, for `lpsched show`.
def bag_shown(bag: Bag) -> tuple[dict[str, Any], list[Table | Text]]:
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
        (machine.name, f"{machine.count:,}", number(machine.idle_watts), ", ".join(machine.p_states or ()) or "-")
        for machine in bag.machine_types
    ]
    across = ("task types", measures.across_task_types), ("machine types", measures.across_machine_types)
    spreads = [
        (f"across {name}", *(number(each, 4) for each in (of.coefficient_of_variation, of.skewness, of.kurtosis)))
        for name, of in across
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


def _price(bag: Bag) -> str:
    prices, currency = bag.prices, bag.prices.currency
    parts = [] if prices.per_bag is None else [f"{number(prices.per_bag)} {currency} per bag"]
    parts += [f"{len(prices.per_task):,} task types priced"] if prices.per_task else []
    electricity = prices.electricity_per_kwh
    parts += [] if electricity is None else [f"{number(electricity)} {currency} per kWh"]
    return ", ".join(parts) or "not given"


def _site(bag: Bag) -> str:
    site, cap, deadline = bag.site, bag.site.average_power_cap_watts, bag.site.deadline_seconds
    parts = [f"PUE {number(site.pue)}"]
    parts += [] if cap is None else [f"cap {number(cap)} W ({site.cap_measured_at})"]
    parts += [] if deadline is None else [f"deadline {number(deadline)} s"]
    return ", ".join(parts)
