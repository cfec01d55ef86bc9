"""What is in a day, for `lpsched show`."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from lpsched.display import number, percent, upper_text
from lpsched.instance.made_by import written_note
from lpsched.instance.period import PRORATED
from lpsched.reports.tables import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from lpsched.instance.day import Day
    from lpsched.instance.period import Period

MEGA: Final = 1e6
MOST_ROWS: Final = 50  # of one table


@dataclass(frozen=True, slots=True)
class DayFacts:
    """Sizes and sums of a day.

    Attributes
    ----------
    machine_types, task_types
        How many machines there are of each type, and how many tasks.
    first_arrival_seconds, last_arrival_seconds
        When the first and the last task arrive.
    load
        How busy the machines would be while tasks arrive: the tasks' mean seconds, over the machine types
        that can run them, by the number of machines and the span of the arrivals; `None` without a span.
        Above 1 the machines fall behind.
    utility_at_most
        The sum of what the tasks would be worth if all ended on arrival.
    told
        How many tasks tell their utility in each way: by levels, or the name of an own function.
    period
        What counts, by the keys of a day file; `None` where everything does.
    made_by
        What the generator that made the day notes, if one did.
    """

    tasks: int
    machines: int
    machine_types: dict[str, int]
    task_types: dict[str, int]
    pairs: int
    first_arrival_seconds: float
    last_arrival_seconds: float
    load: float | None
    utility_at_most: float
    functions: int
    told: dict[str, int]
    period: dict[str, Any] | None
    made_by: dict[str, Any] | None


def day_facts(day: Day) -> DayFacts:
    """Count and add up."""
    arriving = day.arriving
    of_type = Counter(arriving.type_numbers.tolist())
    of_told = Counter(arriving.utility_numbers.tolist())
    of_function = Counter(memoryview(day.function_numbers).cast("q").tolist())
    first, last = arriving.arrival_seconds[0], arriving.arrival_seconds[-1]
    work = math.fsum(count * (day.mean_seconds(i) or 0.0) for i, count in of_type.items())
    names = [each if isinstance(each, str) else " / ".join(each) for each in arriving.told]
    told = Counter[str]()
    for u, name in enumerate(names):
        told[name] += of_told[u]
    return DayFacts(
        tasks=day.tasks,
        machines=day.machines,
        machine_types={machine.name: machine.count for machine in day.machine_types},
        task_types={task.name: of_type[i] for i, task in enumerate(day.task_types)},
        pairs=day.seconds.rows * day.seconds.columns - len(day.seconds.absent()),
        first_arrival_seconds=first,
        last_arrival_seconds=last,
        load=work / day.machines / (last - first) if last > first else None,
        utility_at_most=math.fsum(count * day.functions[f].at(0.0) for f, count in of_function.items()),
        functions=len(day.functions),
        told=dict(told.most_common()),
        period=None if day.period.is_whole else asdict(day.period),
        made_by=None if day.made_by is None else written_note(day.made_by),
    )


def period_words(period: Period) -> str:
    """Say what counts of a day.

    >>> from lpsched.instance.period import Period
    >>> period_words(Period(7200.0, 86400.0, "completed", 1.5e9))
    '7,200 to 93,600 s, tasks that end within; at most 1,500 MJ'
    >>> period_words(Period(energy_constraint_joules=0.0))
    'from 0 s on; at most 0 MJ'
    """
    begin, end = number(period.begins_at), number(period.ends_at)
    words = f"from {begin} s on"
    if period.length_seconds is not None:
        cut = "prorated" if period.edge == PRORATED else "tasks that end within"
        words = f"{begin} to {end} s, {cut}"
    most = period.energy_constraint_joules
    return words if most is None else f"{words}; at most {number(most / MEGA)} MJ"


def day_tables(day: Day, facts: DayFacts) -> list[Table | Text]:
    """Return what is in a day."""
    span = f"{number(facts.first_arrival_seconds)} to {number(facts.last_arrival_seconds)} s"
    rows = [
        ("day", day.name),
        ("hash", day.content_hash),
        ("tasks", f"{facts.tasks:,} of {len(day.task_types):,} types"),
        ("machines", f"{facts.machines:,} of {len(day.machine_types):,} types"),
        ("pairs", f"{facts.pairs:,} can run"),
        ("arrivals", span),
        ("load", f"{percent(facts.load)} of the machines' time while tasks arrive"),
        ("utility", f"at most {upper_text(facts.utility_at_most)}, of {facts.functions:,} functions"),
    ]
    if facts.period is not None:
        rows.append(("counted", period_words(day.period)))
    if facts.made_by is not None:
        rows.append(("made by", ", ".join(map(noted, facts.made_by.items()))))
    machines = [
        (machine.name, f"{machine.count:,}", f"{machine.modes:,}" if machine.p_states is not None else "-")
        for machine in day.machine_types
    ]
    tasks = [
        (
            task.name,
            f"{facts.task_types[task.name]:,}",
            number(day.mean_seconds(i)),
            number(_quickest(day, i)),
        )
        for i, task in enumerate(day.task_types)
    ]
    told = [(name, f"{count:,}") for name, count in facts.told.items()]
    return [
        table(("", ""), rows),
        table(("machine type", "machines", "P-states"), machines[:MOST_ROWS], numbers=(1, 2)),
        *cut(machines),
        table(("task type", "tasks", "mean s", "quickest s"), tasks[:MOST_ROWS], numbers=(1, 2, 3)),
        *cut(tasks),
        table(("utility", "tasks"), told[:MOST_ROWS], numbers=(1,)),
        *cut(told),
    ]


def noted(entry: tuple[str, object]) -> str:
    """Write an option of the generator; its name stands alone."""
    name, value = entry
    return str(value) if name == "generator" else f"{name} {value}"


def _quickest(day: Day, i: int) -> float | None:
    return min((cell for cell in day.seconds.row(i) if cell is not None), default=None)


def cut(rows: Sequence[object]) -> list[Text]:
    """Return a line that tells how many rows are not shown, if any."""
    left = len(rows) - MOST_ROWS
    return [Text(f"... and {left:,} more (--json has all)")] if left > 0 else []
