"""Answers in tables: value and bound first, then what each part is worth, then what was done."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from rich.text import Text

from lpsched.display import number
from lpsched.reports.tables import table
from lpsched.result import audit, front

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from lpsched.certificate.claim import Certificate
    from lpsched.result import FrontResult, PriceCurve, Result, Validation
    from lpsched.result.audit import Audit

MOST_ROWS: Final = 40  # of task types; a screen or two


def result_tables(result: Result) -> list[Table | Text]:
    """Return value and bound of a solve, the worths, and where the tasks went."""
    name = result.provenance.instance_name
    heading = Text(f"{name}: {result.tasks:,} tasks on {result.machines:,} machines")
    answer: list[Table | Text] = [heading, table(("", "", ""), result.facts()), _machines(result)]
    if result.worth is None:
        return answer
    currency = result.unit.removesuffix("/hour")
    if result.worth.kilowatt_per_hour is not None:
        text = f"{number(result.worth.kilowatt_per_hour)} {result.unit}"
        answer.append(table(("", "", ""), [("one more kilowatt", text, "under the cap adds at most this")]))
    tasks = [(name, number(worth)) for name, worth in result.worth.task_types.items()]
    shown = table(("task type", f"one more pays from, {currency}"), tasks[:MOST_ROWS], numbers=(1,))
    return [*answer, shown, *_cut(tasks)]


def _machines(result: Result) -> Table:
    """Return the machine types: how many are used, what they run, what one more is worth."""
    machines: dict[str, int] = defaultdict(int)
    tasks: dict[str, int] = defaultdict(int)
    for group in result.schedule.groups:
        machines[group.machine_type] += group.machines
        tasks[group.machine_type] += group.machines * sum(run.count for run in group.runs)
    headers = ("machine type", "machines used", "tasks")
    if result.worth is None:
        rows = [(name, f"{machines[name]:,}", f"{tasks[name]:,}") for name in machines]
        return table(headers, rows, numbers=(1, 2))
    worths = result.worth.machine_types.items()
    with_worth = [(name, f"{machines[name]:,}", f"{tasks[name]:,}", number(worth)) for name, worth in worths]
    return table((*headers, f"one more adds at most, {result.unit}"), with_worth, numbers=(1, 2, 3))


def front_tables(result: FrontResult) -> list[Table | Text]:
    """Return every vertex of a front, and the schedule near it."""
    count = len(result.vertices)
    vertices = f"{count:,} {'vertices' if count > 1 else 'vertex'}"
    name = result.provenance.instance_name
    heading = Text(f"{name}: {vertices}; proved: no schedule lies below the front")
    tables: list[Table | Text] = [heading, table(front.HEADERS, result.rows(), numbers=range(6))]
    if result.sample:
        found = f"{result.sampled_vertices():,} of the {vertices}"
        tables.append(Text(f"a sample of {len(result.sample):,} evenly spaced weights finds {found}"))
    return tables


def price_tables(curve: PriceCurve) -> list[Table | Text]:
    """Return the pieces of a profit curve, and the prices at which the regime changes."""
    currency = curve.unit.removesuffix("/hour")
    facts = []
    if curve.least_price_to_run is not None:
        facts.append(("run from", f"{number(curve.least_price_to_run)} {currency}", "below, waiting is best"))
    if curve.break_even_price is not None:
        facts.append(("profit from", f"{number(curve.break_even_price)} {currency}", "the break-even price"))
    pieces = f"{len(curve.pieces):,} piece{'s' if len(curve.pieces) > 1 else ''}"
    heading = Text(f"{curve.provenance.instance_name}: profit over the price, {pieces}")
    tables: list[Table | Text] = [heading, *([table(("", "", ""), facts)] if facts else [])]
    tables.append(table(curve.headers(), curve.rows(), numbers=(0, 1, 2, 4, 5)))
    if curve.points:
        sampled = [
            (number(point.ratio), number(point.price), number(point.bound), number(point.value))
            for point in curve.points
        ]
        tables.append(table(("ratio", "price", "bound", "value"), sampled, numbers=range(4)))
    return tables


def validation_tables(result: Validation) -> list[Table | Text]:
    """Return each schedule beside the bound, and the rules that the invalid ones break."""
    heading = Text(f"{result.provenance.instance_name}: {result.objective} of schedules against the bound")
    broken = [(entry.name, each.code, each.sentence) for entry in result.entries for each in entry.violations]
    answer = table(result.headers(), result.rows(), numbers=(1, 2, 3, 4))
    return [heading, answer, *broken_rules("schedule", broken)]


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
    claim = f"{certificate.objective} {number(float(certificate.bound))} {certificate.unit}"
    return f"{path}: {claim} is proved for {certificate.instance_name}; check it with 'lpsched verify'\n"


def _cut(rows: Sequence[object]) -> list[Text]:
    left = len(rows) - MOST_ROWS
    return [Text(f"... and {left:,} more (--json has all)")] if left > 0 else []
