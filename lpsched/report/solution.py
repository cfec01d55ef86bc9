"""The answers of `lpsched solve`, `front`, `price` and `whatif` in tables, at most 100 columns wide for usual names.

Of `solve` the decision first, then where it comes from. In this order: the headline; money per hour and per bag;
makespan, energy, power and the limits that are reached; the machine types; which task type runs where, beside its
prices; what is proved about one more; advice, where it is proved. Everything is measured from the verified schedule,
or proved, or marked as of the linear program (LP).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import fields
from typing import TYPE_CHECKING, Final

from lpsched.bag import result as worths
from lpsched.bag.breakdown import MoneySplit
from lpsched.bag.compare import result as front_comparison
from lpsched.bag.pricing.result import WHAT_IF_HEADERS, earned_texts
from lpsched.bag.result import FRONT_HEADERS, FrontResult
from lpsched.model.results import along, short_unit
from lpsched.report.tables import (
    MOST_ROWS,
    UNFINISHED,
    CountTable,
    FoldingTable,
    cut_table,
    fitted,
    front_warnings,
    line,
    named,
    table,
)
from lpsched.units import DIGITS, LARGE, NOISE, counted, duration, energy_text, lower_text, number, power_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from rich.console import ConsoleRenderable

    from lpsched.bag.breakdown import Breakdown
    from lpsched.bag.compare.result import FrontComparison
    from lpsched.bag.model import Bag
    from lpsched.bag.parts import TaskType
    from lpsched.bag.pricing.result import PriceCurve, Sensitivity, TableOfTexts, WhatIf
    from lpsched.bag.result import Result


MOST_TYPES: Final = 12  # task types in the table of what runs where
MOST_PAIRS: Final = 100_000  # of task types and columns: in larger tables no longest task is looked for
MOST_DIGITS: Final = 7  # of the largest amount of a column of money
MOST_NAMED: Final = 6  # machine types in one line
FEW: Final = 3  # task types whose prices fit a line
REACHED: Final = 0.999  # of a limit
BUSY: Final = 0.99  # of the time: machines that limit the schedule
WORTHWHILE: Final = 1e-3  # of the profit: advice about less is not given
FAR_BELOW: Final = 0.5  # of the minimum price of the linear program: a proved one that calls for an explanation
WHOLE_TASKS: Final = (
    "Proved prices far below the min. price (LP): one whole task more may fit into idle time at the end of the "
    "schedule; the linear program, which splits tasks, leaves no such time."
)
BELOW_MINIMUM: Final = "below min. price (LP)"


def result_tables(result: Result) -> list[ConsoleRenderable]:
    """Return the answer of a solve: headline, money, what it takes, machine types, which task runs where, advice."""
    advised = advice(result)
    parts = [each for part in result_parts(result).values() for each in part]
    return [
        line(result.headline(), size_text(result)),
        *parts,
        *([fitted(" ".join(advised))] if advised else []),
        *_without_price(result.bag),
    ]


def size_text(result: Result) -> str:
    """Return how large the bag is, and how the search ended."""
    size = f"{counted(result.tasks, 'task')} on {counted(result.machines, 'machine')}"
    return f"{result.provenance.instance_name}: {size}. {result.status_text()}".rstrip()


def result_parts(result: Result, *, most: int | None = None) -> dict[str, list[ConsoleRenderable]]:
    """Return what is known of an answer by topic; `most` rows of a table, by default as many as suit a terminal."""
    bag, found = result.bag, result.breakdown
    assert bag is not None
    assert found is not None
    money = _money(found, bag.prices.currency) if result.money is not None else []
    tasks = _allocation(result, bag, found, most or MOST_TYPES)
    if result.worth is None and result.regime is not None:
        tasks.append(line(UNFINISHED))
    elif result.worth is not None and result.worth.is_two_sided:
        tasks.append(line(worths.TWO_SIDED))
    return {
        "answer": [*money, table(("", ""), _taken(result, bag, found))],
        "risk": _risk(result),
        "machines": _machines(result, found, most or MOST_ROWS),
        "tasks": [*tasks, *_task_steps(result, most or MOST_ROWS)],
    }


def _without_price(bag: Bag | None) -> list[ConsoleRenderable]:
    """Return how to ask for profit, where the bag has no price; nothing if its energy cannot be counted."""
    assert bag is not None
    prices = bag.prices
    if prices.per_bag is not None or prices.per_task or (bag.watts is None and prices.electricity_per_kwh):
        return []
    first = "" if prices.electricity_per_kwh is not None else "with prices.electricity_per_kwh in the file, "
    words = "--price AMOUNT (what the bag sells for) maximises profit, and 'lpsched price' shows it at every price"
    return [fitted(f"The bag has no price: {first}{words}.")]


def _money(found: Breakdown, currency: str) -> list[ConsoleRenderable]:
    """Return revenue, costs and profit, per hour and per bag; what the bag does not have is left out."""
    columns = [found.per_hour, *([] if found.per_bag is None else [found.per_bag])]
    words = [each.name for each in fields(MoneySplit)]
    amounts = [[getattr(column, word) for word in words] for column in columns]
    signed = [[-x if x and 0 < place < len(words) - 1 else x for place, x in enumerate(each)] for each in amounts]
    texts = [ledger(column) for column in signed]
    rows = [
        (word, *(text[place] for text in texts))
        for place, word in enumerate(words)
        if any(column[place] for column in signed) or (word == "profit" and signed[0][place] is not None)
    ]
    heads = (f"{currency}/h", f"{currency}/bag")[: len(columns)]
    return [table(("", *heads), rows, numbers=(1, 2))]


def ledger(amounts: Sequence[float | None]) -> list[str]:
    """Write amounts of money below each other, with equally many decimals.

    >>> ledger([25.8712, -1.79, None, -0.0123, 0.0]), ledger([10.08, -9.732, 0.3481])
    (['25.871', '-1.790', '-', '-0.012', '0.000'], ['10.080', '-9.732', '0.348'])
    """
    decimals = decimals_of(amounts)
    if decimals is None:
        return [number(each) for each in amounts]
    return ["-" if each is None else f"{round(each, decimals) + 0.0:,.{decimals}f}" for each in amounts]


def decimals_of(amounts: Sequence[float | None]) -> int | None:
    """Return the decimals of amounts below each other; none where there are no amounts, or huge ones.

    The largest has four digits, each of the others at least two and the last one, which is the profit, three; but the
    largest no more than seven.
    """
    sizes = [abs(each) for each in amounts if each is not None and abs(each) >= NOISE]
    if not sizes or max(sizes) >= LARGE:
        return None
    last = abs(amounts[-1] or max(sizes))
    largest, least, profit = (math.floor(math.log10(max(size, NOISE))) for size in (max(sizes), min(sizes), last))
    return max(0, DIGITS - 1 - largest, min(max(1 - least, 2 - profit), MOST_DIGITS - 1 - largest))


def _taken(result: Result, bag: Bag, found: Breakdown) -> list[tuple[str, str]]:
    """Return makespan, energy and power, the limits on them, and which of the limits are reached."""
    makespan, energy, site = result.measured.makespan_seconds, result.measured.energy_joules, bag.site
    rows, cap, worth = [], result.power_cap, result.worth
    at_machines = "" if site.pue == 1 else " at the machines"
    if makespan is not None:
        deadline = "" if site.deadline_seconds is None else f"; deadline {duration(site.deadline_seconds)}"
        rows.append(("makespan", duration(makespan) + deadline))
    if energy is not None:
        metered = f", {energy_text(energy * site.pue)} at the meter (PUE {number(site.pue)})" if at_machines else ""
        rows.append(("energy", energy_text(energy) + at_machines + metered))
    if found.average_watts is not None:
        text = power_text(found.average_watts) + at_machines
        if cap is not None:
            meter = cap["measured_at"] == "facility" and bool(at_machines)
            drawn = f", {power_text(cap['average_watts'])} at the meter" if meter else ""
            text += f"{drawn}; cap {power_text(cap['watts'])}"
        rows.append(("average power" if makespan is not None else "idle power", text))
    if worth is not None and worth.kilowatt_per_hour is not None:
        value = f"{worth.kilowatt_text()} {short_unit(result.unit)}"
        rows.append(("one more kW", f"{value}, marginal value under the cap (LP)"))
    reached = _limits(result, bag, found)
    return [*rows, *([("at the limit", reached)] if reached else [])]


def _risk(result: Result) -> list[ConsoleRenderable]:
    """Return how the schedule fares if times and powers scatter, where that was asked for."""
    risk = result.risk
    if risk is None:
        return []
    chances = [table(("", "", ""), risk.chance_rows())] if risk.chances else []
    return [line(risk.heading()), FoldingTable(risk.headers(), tuple(risk.rows())), *chances]


def _limits(result: Result, bag: Bag, found: Breakdown) -> str:
    """Return which limits the schedule reaches: deadline, cap, longest task, machine types that never idle."""
    makespan, cap = result.measured.makespan_seconds, result.power_cap
    if makespan is None or result.objective == "energy":
        return ""
    deadline, limits = bag.site.deadline_seconds, []
    if deadline is not None and makespan >= REACHED * deadline:
        limits.append("deadline")
    if cap is not None and cap["average_watts"] >= REACHED * cap["watts"]:
        limits.append("power cap")
    if bag.seconds.rows * bag.seconds.columns <= MOST_PAIRS:
        shortest = [min(each for each in row if each is not None) for row in bag.seconds]
        longest = max(shortest)
        if makespan <= longest * (2.0 - REACHED):
            task = bag.task_types[shortest.index(longest)].name
            limits.append(f"longest task ({task}, at least {duration(longest, upper=False)})")
    busy = [name for name, use in found.machine_types.items() if use.busy_share >= BUSY]
    if busy:
        every = len(busy) == len(found.machine_types)
        limits.append(f"{'all machine types' if every else few(busy)} (busy 99 % or more)")
    return "; ".join(limits)


def _machines(result: Result, found: Breakdown, most: int) -> list[ConsoleRenderable]:
    """Return the machine types: what they do, what they cost, and the value of one more."""
    worth, steps, unit, types = result.worth, result.one_more, short_unit(result.unit), found.machine_types
    columns = {
        "machine type": [*types],
        "count": [f"{use.count:,}" for use in types.values()],
        "used": [f"{use.used:,}" for use in types.values()],
        "busy": [f"{number(100 * use.busy_share, 3)} %" for use in types.values()],
        "tasks": [f"{use.tasks:,}" for use in types.values()],
    }
    if any(use.cost_per_hour for use in types.values()):
        currency = "" if result.bag is None else result.bag.prices.currency
        columns[f"fixed cost,\n{currency}/h"] = [number(use.cost_per_hour) for use in types.values()]
    if worth is not None:
        columns[f"marginal value\n(LP), {unit}"] = [worth.machine_text(name) for name in types]
    if steps is not None and steps.machine_types:
        proved = [steps.machine_types.get(name) for name in types]
        header = f"{'gain' if steps.sells else 'change'} of one more\n(proved), {unit}"
        columns[header] = ["" if step is None else step.text() for step in proved]
    rows = list(zip(*columns.values(), strict=True))
    if len(rows) > most:
        rows.sort(key=lambda row: row[2] == "0")
    states = [
        f"{name} {', '.join(f'{state} {count:,}' for state, count in sorted(used.items()))}"
        for name, used in found.p_states.items()
        if used
    ]
    notes = [fitted(f"tasks by P-state: {few(states, '; ')}")] if states else []
    return [*FoldingTable(tuple(columns), tuple(rows)).shortened(most), *notes]


def _allocation(result: Result, bag: Bag, found: Breakdown, most: int) -> list[ConsoleRenderable]:
    """Return which task type runs where, beside its prices: the types that take most time, and where the rest is."""
    worth, prices = result.worth, result.task_prices
    if worth is None and not result.schedule.groups:
        return []
    tasks = sorted(bag.task_types, key=lambda task: -found.task_seconds[task.name])
    chosen = {task.name for task in tasks[:most]}
    shown = [task for task in bag.task_types if task.name in chosen]
    machines = [name for name, use in found.machine_types.items() if any(name in found.allocation[t] for t in chosen)]
    counts, names = [found.allocation[task.name] for task in shown], [task.name for task in shown]
    columns = [("task type", names), ("tasks", [f"{task.count:,}" for task in shown])]
    columns += [(name, [f"{each[name]:,}" if name in each else "-" for each in counts]) for name in machines]
    if worth is not None:
        columns.append((f"min. price\n(LP), {bag.prices.currency}", [worth.task_text(name) for name in names]))
    if prices is not None:
        columns.append((f"charged,\n{bag.prices.currency}", [number(prices[name]["charged"]) for name in names]))
        if any(each["below_cost"] for each in prices.values()):
            columns.append(("", [BELOW_MINIMUM if prices[name]["below_cost"] else "" for name in names]))
    headers, cells = zip(*columns, strict=True)
    made = CountTable(headers, tuple(zip(*cells, strict=True)), (2, 2 + len(machines)), "runs on")
    return [made, *_others(found, tasks[most:], prices)]


def _others(
    found: Breakdown, tasks: Sequence[TaskType], prices: dict[str, dict[str, Any]] | None
) -> list[ConsoleRenderable]:
    """Return where the task types run that the table does not have, in one line."""
    if not tasks:
        return []
    where: Counter[str] = Counter()
    for task in tasks:
        where.update(found.allocation[task.name])
    text = f"{counted(len(tasks), 'smaller type')}, {counted(sum(task.count for task in tasks), 'task')}"
    placed = named([(name, f"{count:,}") for name, count in where.most_common()])
    below = 0 if prices is None else sum(prices[task.name]["below_cost"] for task in tasks)
    sold = f"; {counted(below, 'type')} {BELOW_MINIMUM}" if below else ""
    return [fitted(f"{text}{': ' if placed else ''}{', '.join(placed)}{sold} (--json has all)")]


def _task_steps(result: Result, most: int) -> list[ConsoleRenderable]:
    """Return what is proved about one more task: in one line where it is little."""
    steps = result.one_more
    if steps is None or not steps.task_types:
        return []
    minima = {} if result.worth is None else result.worth.task_types
    pairs = [(step.at_most, minima.get(name)) for name, step in steps.task_types.items()]
    far = any(proved is not None and least is not None and proved < FAR_BELOW * least for proved, least in pairs)
    notes = [fitted(WHOLE_TASKS)] if steps.sells and far else []
    if not steps.sells or len(steps.task_types) > FEW:
        headers, rows = steps.task_table()
        return [*cut_table(headers, rows, numbers=(1, 2), most=most), *notes]
    known = [f"{name} {step.text()}" for name, step in steps.task_types.items() if step.text() != "-"]
    text = f"break-even price of one more task (proved), {result.unit.removesuffix('/hour')}: {', '.join(known)}"
    return [fitted(text), *notes] if known else []


def advice(result: Result) -> list[str]:
    """Return what to change about the machines, as far as it is proved."""
    unit, said, fewer, steps = short_unit(result.unit), [], result.fewer_machines, result.one_more
    gain = 0.0 if fewer is None or fewer.change.at_least is None else fewer.change.at_least
    if fewer is not None and result.breakdown is not None and gain > WORTHWHILE * abs(result.value):
        there, kept = result.breakdown.machine_types, fewer.machine_types
        only = [f"{name} {count:,} of {there[name].count:,}" for name, count in kept.items() if count]
        none = [name for name, count in kept.items() if not count]
        words = [f"with only {few(only)}"] * bool(only) + [f"without {few(none)}"] * bool(none)
        said.append(f"Fewer machines earn more: {' and '.join(words)}, at least +{lower_text(gain)} {unit} (proved).")
    known = {} if steps is None else dict(steps.machine_types)
    lows = {name: step.at_least for name, step in known.items() if step.at_least is not None}
    highs = {name: step.at_most for name, step in known.items() if step.at_most is not None}
    if result.regime is None:
        name = min(highs, key=lambda each: highs[each], default="")
        if name and highs[name] < 0:
            text = duration if result.objective == "makespan" else energy_text
            less = text(-highs[name], upper=False)
            said.append(f"One more {name} takes at least {less} off the {result.objective} (proved).")
        return said
    name = max(lows, key=lambda each: lows[each], default="")
    if name and lows[name] > 0:
        return [*said, f"One more {name} adds at least {lower_text(lows[name])} {unit} (proved)."]
    loses = [f"{name} {lower_text(-high)}" for name, high in highs.items() if high < 0]
    return [*said, *([f"One more machine loses at least (proved), {unit}: {few(loses)}."] if loses else [])]


def few(names: Sequence[str], between: str = ", ") -> str:
    """Return names in one line: the first, and how many others there are.

    >>> few(["a", "b"]), few([*"abcdefgh"])
    ('a, b', 'a, b, c, d, e, f, 2 more')
    """
    more = [f"{len(names) - MOST_NAMED:,} more"] if len(names) > MOST_NAMED else []
    return between.join([*names[:MOST_NAMED], *more])


MOST_SEGMENTS: Final = 12  # rows of tables in a terminal
MOST_VERTICES: Final = 24
MOST_TASKS: Final = 12
GAP: Final = (
    "Above the LP vertex: in energy or makespan, whichever is more. This is not the gap of 'lpsched solve': what is "
    "proved of one criterion alone may be more than the vertices show."
)
SEGMENTS: Final = (
    "bound: no schedule earns more at the first price of the segment (proved); value: a verified schedule earns it"
)
BY_PROGRAM: Final = "(LP): of the linear program, which may split tasks; no promise about schedules"
COUNTS_PROVED: Final = "More than the first number cannot pay for themselves (proved); the second number do (verified)."
NOT_ONE: Final = "No number of further machines of any one type pays for itself (proved)."


def front_tables(result: FrontResult, most: int = MOST_VERTICES) -> list[ConsoleRenderable]:
    """Return the ends of a front, every vertex with the schedule near it, and what is proved."""
    vertices, rows = counted(len(result.vertices), "vertex", "vertices"), result.rows()
    tables: list[ConsoleRenderable] = [
        fitted(*f"{result.provenance.instance_name}: {result.headline()}".split("\n")),
        table(FRONT_HEADERS, [rows[place] for place in along(len(rows), most)], numbers=range(6)),
        *_between(len(rows), most, "vertex", "vertices"),
        fitted(GAP),
    ]
    if result.sample:
        found = f"{result.sampled_vertices():,} of the {vertices}"
        tables.append(line(f"a sample of {counted(len(result.sample), 'evenly spaced weight')} finds {found}"))
    return tables


def _between(count: int, most: int, noun: str, plural: str = "") -> list[ConsoleRenderable]:
    """Return how many rows are left out among those that are shown."""
    left = count - most
    verb = "is" if left == 1 else "are"
    return [line(f"{counted(left, noun, plural)} between these {verb} left out (--json has all)")] if left > 0 else []


def comparison_tables(result: FrontComparison, most: int = MOST_VERTICES) -> list[ConsoleRenderable]:
    """Return the exact front of a bag, the methods compared with it, and their warnings."""
    energy, makespan = energy_text(result.reference.energy_joules), duration(result.reference.makespan_seconds)
    heading = line(
        f"compared with the front of the linear program; hypervolume up to {energy} and {makespan}, seed {result.seed}"
    )
    answer = table(front_comparison.HEADERS, result.rows(), numbers=range(1, 7))
    return [*front_tables(result.front, most), heading, answer, *front_warnings(result.entries)]


def price_tables(curve: PriceCurve, needs: Sensitivity) -> list[ConsoleRenderable]:
    """Return the break-even price, the current one, the segments of the curve; electricity and machines."""
    currency, current = curve.currency, needs.current
    headers = curve.headers(current)
    numbers = [place for place, header in enumerate(headers) if header != "status"]
    segments = counted(len(curve.pieces), "segment")
    first, *others = price_sentences(curve, needs)
    tables: list[ConsoleRenderable] = [
        fitted(f"{curve.provenance.instance_name}: {first}", *others),
        line(f"Profit over the price, {segments}:"),
        table(headers, curve.rows(current, most=MOST_SEGMENTS), numbers=numbers),
        *_between(len(curve.pieces), MOST_SEGMENTS, "segment"),
        fitted(SEGMENTS),
    ]
    if curve.points:
        heads = (f"price, {currency}/bag", "profit ratio", f"bound, {currency}/h", f"value, {currency}/h")
        points = ((number(x.price), number(x.ratio), *earned_texts(x.bound, x.value)) for x in curve.points)
        tables.append(table(heads, [*points], numbers=range(4)))
    return [*tables, *sensitivity_tables(needs)]


def price_sentences(curve: PriceCurve, needs: Sensitivity) -> list[str]:
    """Return the break-even price, the profit at the current price, and up to which price it is best not to run."""
    lines = [needs.headline(proved=curve.break_even_price), needs.current_text()]
    if curve.least_price_to_run is not None:
        lines.append(f"Best not to run {needs.not_run()[0]} (proved).")
    return [each for each in lines if each]


def sensitivity_tables(result: Sensitivity) -> list[ConsoleRenderable]:
    """Return what electricity may cost, how many more machines are worthwhile, and what is left out."""
    notes = [line(note) for note in result.notes]
    return [*electricity_tables(result), *machine_tables(result), *notes]


def electricity_tables(result: Sensitivity) -> list[ConsoleRenderable]:
    """Return what electricity may cost."""
    if result.electricity is None:
        return []
    return [line(f"Price of electricity, {_at(result)}:"), table(("", "", ""), result.electricity_rows())]


def machine_tables(result: Sensitivity, most: int = MOST_ROWS) -> list[ConsoleRenderable]:
    """Return the value of one more machine of a type, and how many more are worthwhile."""
    if not result.machines:
        return []
    answer: list[ConsoleRenderable] = [line(f"One more machine of a type, {_at(result)}:")]
    answer += _folding(result.one_more_table(), most)
    answer += [line(note) for note in (*result.machine_notes(), BY_PROGRAM)]
    if all(need.most_more == 0 for need in result.machines):
        return [*answer, line(NOT_ONE)]
    answer.append(line("How many more machines of a type are worthwhile:"))
    return [*answer, *_folding(result.how_many_table(), most), line(COUNTS_PROVED)]


def _folding(texts: TableOfTexts, most: int) -> list[ConsoleRenderable]:
    headers, rows = texts
    return FoldingTable(headers, tuple(rows)).shortened(most)


def _at(result: Sensitivity) -> str:
    return f"at the price of {number(result.price)} {result.currency} per bag, all else as it is"


def what_if_tables(result: WhatIf) -> list[ConsoleRenderable]:
    """Return two results side by side, and the marginal values of machines and tasks in both."""
    name, unit = result.before.provenance.instance_name, result.before.unit.replace("/hour", "/h")
    tables: list[ConsoleRenderable] = [
        fitted(f"{name}: {result.sentence()}"),
        table(WHAT_IF_HEADERS, result.facts(), numbers=(1, 2, 3)),
    ]
    headers: Sequence[str] = ("machine type", "machines\nbefore", "\nafter")
    rows, prices = result.machines(), result.tasks()
    if result.before.worth is None and result.after.worth is None:
        rows = [row for row in rows if row[1] != row[2]]
        return [*tables, *([table(headers, [row[:3] for row in rows], numbers=(1, 2))] if rows else [])]
    headers = (*headers, f"marginal value of one more\n(LP), {unit}: before", "\nafter")
    tables += [table(headers, rows, numbers=(1, 2, 3, 4))]
    if prices:
        first = f"minimum price for one more\n(LP), {unit.removesuffix('/h')}: before"
        tables += cut_table(("task type", first, "\nafter", "\nchange"), prices, numbers=(1, 2, 3), most=MOST_TASKS)
    two_sided = any(each.worth is not None and each.worth.is_two_sided for each in (result.before, result.after))
    return [*tables, *([line(worths.TWO_SIDED)] if two_sided else []), line(BY_PROGRAM)]
