"""Results in tables: value and bound first, then marginal values, then what was done; and the style of tables."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from lpsched import auditing as audit
from lpsched.bag.compare import result as front_comparison
from lpsched.bag.pricing import what_if_result
from lpsched.bag.pricing import worth as worths
from lpsched.bag.result import FRONT_HEADERS
from lpsched.online.result import fronts as day_front
from lpsched.units import bound_text, lower_text, number, upper_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from rich.console import Console, ConsoleOptions

    from lpsched.auditing import Audit
    from lpsched.bag.certificate.claim import Certificate
    from lpsched.bag.compare.result import FrontComparison, Validation
    from lpsched.bag.pricing.result import PriceCurve, Sensitivity
    from lpsched.bag.pricing.what_if_result import WhatIf
    from lpsched.bag.result import FrontResult, Result
    from lpsched.evolve.fronts import FrontEntry
    from lpsched.model.risk import Risk
    from lpsched.online.result.fronts import DayFront


# The one table style: no lines, a bold header, numbers to the right, texts exactly as they stand.
#
# Cells are made `Text`, so that a name such as ``[red]x`` or ``:smile:`` is printed and not interpreted.
# A table of many columns folds: where the terminal is narrower, its columns stand in several tables.
BETWEEN: Final = 2  # empty places between two columns


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> Table:
    """Return a table; the columns in `numbers` are set to the right. Empty headers show no header line."""
    made = Table(box=None, show_header=any(headers), header_style="bold", pad_edge=False, padding=(0, BETWEEN, 0, 0))
    for index, header in enumerate(headers):
        made.add_column(Text(header), justify="right" if index in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


@dataclass(frozen=True, slots=True)
class FoldingTable:
    """A table whose columns but the first are numbers; each of the tables it folds into has the first too."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | Text]:
        """Fold for the width there is; rows that say nothing in some columns are left out there."""
        for place, columns in enumerate(self.columns_within(options.max_width)):
            if place:
                yield Text()
            kept = [row for row in self.rows if not place or any(row[column] for column in columns)]
            cells = [[row[0], *(row[column] for column in columns)] for row in kept]
            headers = [self.headers[0], *(self.headers[column] for column in columns)]
            yield table(headers, cells, numbers=range(1, len(headers)))

    def columns_within(self, width: int) -> list[list[int]]:
        """Return the columns of each of the tables, as many in each as fit, at least one.

        >>> folding = FoldingTable(("name", "a", "b", "c"), (("four", "1", "22", "3"),))
        >>> folding.columns_within(14), folding.columns_within(13), folding.columns_within(1)
        ([[1, 2, 3]], [[1, 2], [3]], [[1], [2], [3]])
        """
        widths = [max(map(cell_len, column)) for column in zip(self.headers, *self.rows, strict=True)]
        pieces: list[list[int]] = [[]]
        used = widths[0]
        for column in range(1, len(widths)):
            wide = BETWEEN + widths[column]
            if pieces[-1] and used + wide > width:
                pieces.append([])
                used = widths[0]
            pieces[-1].append(column)
            used += wide
        return pieces


# Answers in tables: value and bound first, then what each part is worth, then what was done.
MOST_ROWS: Final = 40  # of task types; a screen or two
QUANTITIES: Final = {"profit": "profit_per_hour", "makespan": "makespan_seconds", "energy": "energy_joules"}


def result_tables(result: Result) -> list[Table | Text]:
    """Return value and bound of a solve, where the tasks went, marginal values, and what one more changes."""
    name = result.provenance.instance_name
    heading = Text(f"{name}: {result.tasks:,} tasks on {result.machines:,} machines")
    facts = table(("", "", ""), result.facts())
    answer: list[Table | Text] = [heading, facts, *risk_tables(result.risk), _machines(result)]
    worth = result.worth
    if worth is None:
        unfinished = [Text(worths.UNFINISHED)] if result.regime is not None else []
        return [*answer, *unfinished, *_steps(result)]
    if worth.kilowatt_per_hour is not None:
        answer.append(table(("", ""), [(worths.KILOWATT, f"{worth.kilowatt_text()} {result.unit}")]))
    tasks = [(name, worth.task_text(name)) for name in worth.task_types]
    shown = table(("task type", worths.task_heading(result.unit)), tasks[:MOST_ROWS], numbers=(1,))
    two = [Text(worths.TWO_SIDED)] if worth.is_two_sided else []
    return [*answer, shown, *_cut(tasks), *two, *_steps(result)]


def _steps(result: Result) -> list[Table | Text]:
    """Return what one whole machine or task more changes, where that was asked."""
    steps = result.one_more
    tables: list[Table | Text] = []
    for headers, rows in () if steps is None else (steps.machine_table(), steps.task_table()):
        if rows:
            tables += [table(headers, rows[:MOST_ROWS], numbers=(1, 2)), *_cut(rows)]
    return tables


def risk_tables(risk: Risk | None) -> list[Table | Text]:
    """Return how a schedule fares if times and powers scatter, or nothing where nobody asked."""
    if risk is None:
        return []
    headers = risk.headers()
    answer: list[Table | Text] = [Text(risk.heading()), table(headers, risk.rows(), numbers=range(1, len(headers)))]
    return [*answer, *([table(("", "", ""), risk.chance_rows())] if risk.chances else [])]


def _machines(result: Result) -> Table:
    """Return the machine types: how many are used, what they run, and the marginal value of one more."""
    machines: dict[str, int] = defaultdict(int)
    tasks: dict[str, int] = defaultdict(int)
    for group in result.schedule.groups:
        machines[group.machine_type] += group.machines
        tasks[group.machine_type] += group.machines * sum(run.count for run in group.runs)
    headers = ("machine type", "machines used", "tasks")
    if result.worth is None:
        rows = [(name, f"{machines[name]:,}", f"{tasks[name]:,}") for name in machines]
        return table(headers, rows, numbers=(1, 2))
    worth = result.worth
    with_worth = [
        (name, f"{machines[name]:,}", f"{tasks[name]:,}", worth.machine_text(name)) for name in worth.machine_types
    ]
    return table((*headers, worths.machine_heading(result.unit)), with_worth, numbers=(1, 2, 3))


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
    facts = []
    if curve.least_price_to_run is not None:
        waits = f"{lower_text(curve.least_price_to_run)} {currency}"
        facts.append(("do not run below", waits, "waiting is best (proved)"))
    if curve.break_even_price is not None:
        even = f"{lower_text(curve.break_even_price)} {currency}"
        facts.append(("no profit below", even, "no schedule earns (proved)"))
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
    tables: list[Table | Text] = [heading, table(what_if_result.HEADERS, result.facts(), numbers=(1, 2, 3))]
    headers: tuple[str, ...] = ("machine type", "machines before", "after")
    rows = result.machines()
    if result.before.worth is None and result.after.worth is None:
        return [*tables, table(headers, [row[:3] for row in rows], numbers=(1, 2))]
    headers = (*headers, f"{worths.machine_heading(unit)}: before", "after")
    prices = result.tasks()
    tasks = (worths.task_heading(unit), *what_if_result.HEADERS[1:])
    shown = table(tasks, prices[:MOST_ROWS], numbers=(1, 2, 3))
    return [*tables, table(headers, rows, numbers=(1, 2, 3, 4)), shown, *_cut(prices)]


def validation_tables(result: Validation) -> list[Table | Text]:
    """Return each schedule beside the bound, and the rules that the invalid ones break."""
    ran = any(entry.seconds is not None for entry in result.entries)
    told = f"{result.provenance.instance_name}: schedulers against the bound on {result.objective}"
    heading = Text(f"{told}; seed {result.seed}" if ran else told)
    broken = [(entry.name, each.code, each.sentence) for entry in result.entries for each in entry.violations]
    headers = result.headers()
    answer = table(headers, result.rows(), numbers=[k for k in range(1, len(headers)) if headers[k] != "valid"])
    risks = [(entry.name, entry.risk) for entry in result.entries]
    sampled = risks_tables(risks, (QUANTITIES[result.objective],))
    return [heading, answer, *sampled, *broken_rules("scheduler", broken)]


def risks_tables(risks: Sequence[tuple[str, Risk | None]], quantities: Sequence[str]) -> list[Table | Text]:
    """Return how schedulers fare if times and powers scatter: a table for each quantity; or nothing."""
    known = [(name, risk) for name, risk in risks if risk is not None]
    if not known:
        return []
    first = known[0][1]
    tables: list[Table | Text] = [Text(first.heading())]
    for quantity in quantities:
        headers = (first.name_of(quantity), *first.heads())
        rows = [(name, *risk.of(quantity)) for name, risk in known]
        tables.append(table(headers, rows, numbers=range(1, len(headers))))
    return tables


def broken_rules(what: str, broken: Sequence[tuple[str, str, str]]) -> list[Table | Text]:
    """Return the rules that schedules or allocations break: name, code, sentence; or nothing."""
    if not broken:
        return []
    return [table((what, "violation", ""), broken[:MOST_ROWS]), *_cut(broken)]


def audit_tables(result: Audit) -> list[Table | Text]:
    """Return the verdict on each file, and why some are refused."""
    tables: list[Table | Text] = [table(audit.HEADERS, [each.row() for each in result.files])]
    reasons = [(each.name, reason) for each in result.files for reason in each.reasons]
    if reasons:
        tables += [table(("refused", "because"), reasons[:MOST_ROWS]), *_cut(reasons)]
    return tables


def certificate_line(certificate: Certificate, path: str) -> str:
    """Return what a certificate claims, in one line."""
    bound = bound_text(certificate.bound, upper=certificate.objective == "profit")
    claim = f"{certificate.objective} {bound} {certificate.unit}"
    return f"{path}: {claim} is proved for {certificate.instance_name}; check it with 'lpsched verify'\n"


def _cut(rows: Sequence[object]) -> list[Text]:
    left = len(rows) - MOST_ROWS
    return [Text(f"... and {left:,} more (--json has all)")] if left > 0 else []


def comparison_tables(result: FrontComparison) -> list[Table | Text]:
    """Return the exact front of a bag, the methods beside it, and what is wrong with some."""
    reference = result.reference
    energy, makespan = number(reference.energy_joules), number(reference.makespan_seconds)
    heading = Text(
        f"compared with the front of the linear program; hypervolume up to {energy} joules and {makespan} "
        f"seconds, seed {result.seed}"
    )
    answer = table(front_comparison.HEADERS, result.rows(), numbers=range(1, 7))
    return [*front_tables(result.front), heading, answer, *_remarks(result.entries)]


def day_front_tables(result: DayFront) -> list[Table | Text]:
    """Return the methods beside the envelope of a day, and what is wrong with some."""
    name, highest = result.provenance.instance_name, result.envelope[-1]
    heading = Text(
        f"{name}: no schedule earns more than {upper_text(highest.utility)}, and none as much with "
        f"less energy than the envelope says (proved, {len(result.envelope):,} corners); seed {result.seed}"
    )
    answer = table(day_front.HEADERS, result.rows(), numbers=range(1, 10))
    return [heading, answer, *_remarks(result.entries)]


def _remarks(entries: Iterable[FrontEntry[Any, Any]]) -> list[Table | Text]:
    """Return how evolutions ended, and what is wrong with the methods that brought nothing or too much."""
    found: list[Table | Text] = []
    broken: list[tuple[str, str, str]] = []
    for entry in entries:
        if entry.generations is not None:
            ended = {"generations": "as many as were wanted", "time": "time was up", "stopped": "stopped"}
            why = ended.get(entry.ended or "", entry.ended or "")
            found.append(Text(f"{entry.name}: {entry.generations:,} generations; {why}"))
        if entry.refused > 1:
            found.append(Text(f"{entry.name}: {entry.refused:,} of its schedules break a rule; the first:"))
        broken += [(entry.name, each.code, each.sentence) for each in entry.violations]
    return [*found, *broken_rules("method", broken)]


def sensitivity_tables(result: Sensitivity) -> list[Table | Text | FoldingTable]:
    """Return the answers; pieces of the electricity price are told where there are few."""
    name = result.provenance.instance_name
    answer: list[Table | Text | FoldingTable] = [
        Text(f"{name}: which price is needed for profit?"),
        table(("", "", ""), result.price_rows()),
    ]
    if result.electricity is not None:
        answer += [
            Text(f"{name}: what may electricity cost{_at(result)}?"),
            table(("", "", ""), result.electricity_rows()),
        ]
    if result.machines:
        rows = tuple(result.machine_rows())
        answer += [
            Text(f"{name}: how many more machines of a type are worthwhile{_at(result)}, all others as now?"),
            FoldingTable(result.machine_headers(), rows[:MOST_ROWS]),
        ]
        if len(rows) > MOST_ROWS:
            answer.append(Text(f"... and {len(rows) - MOST_ROWS:,} more (--json has all)"))
        answer += [Text(note) for note in result.machine_notes()]
    return [*answer, *(Text(note) for note in result.notes)]


def _at(result: Sensitivity) -> str:
    return "" if result.price is None else f" at a price of {number(result.price)} {result.currency}"
