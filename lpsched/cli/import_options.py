"""What the commands of `lpsched import` share: options, and the report of what was written."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli.console import header
from lpsched.cli.options import LONGEST_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from lpsched.bag.model import Bag
    from lpsched.cli.console import Talk
    from lpsched.io.instance_files import TableForm
    from lpsched.online.clusters import Clusters
    from lpsched.online.utility import WaitingCost
    from lpsched.traces.bags import LoggedBag
    from lpsched.traces.jobs import Account


# Options that imports of logs share.
ENDINGS = (".yaml", ".yml", ".json")
MOST = 10**15  # nodes or machines, as everywhere


class Target(StrEnum):
    """What to make of a log."""

    CLUSTERS = "clusters"
    BAG = "bag"


class Cost(StrEnum):
    """What waiting costs; the words of `lpsched.online.utility`, without loading it."""

    BOUNDED = "bounded-slowdown"
    SLOWDOWN = "slowdown"
    SECONDS = "seconds"


class Weight(StrEnum):
    """What a task counts; the words of `lpsched.online.utility`, without loading it."""

    TASK = "task"
    CORES = "cores"
    CORE_SECONDS = "core-seconds"


ToOption = Annotated[Target, typer.Option("--to", help="Something to simulate, or to solve.")]
NameOption = Annotated[str | None, typer.Option(help="The instance's name; the file's if not given.")]
CostOption = Annotated[Cost | None, typer.Option(help="clusters: what waiting costs. [default: bounded-slowdown]")]
WeightOption = Annotated[
    Weight | None, typer.Option(help="clusters: what a task's cost is multiplied with. [default: task]")
]
WattsOption = Annotated[float | None, typer.Option(help="The power of a busy node. By default not known.")]
SkipOption = Annotated[bool, typer.Option("--skip-dirty", help="Leave dirty lines out, and count them.")]


def waiting_of(cost: Cost | None, weight: Weight | None) -> WaitingCost:
    """Return what waiting costs."""
    from lpsched.online.utility import WaitingCost

    cost = cost if cost is not None else Cost.BOUNDED
    weight = weight if weight is not None else Weight.TASK
    return WaitingCost(cost.value, weight.value)


def sizes_of(option: str, given: list[str] | None) -> dict[str, int]:
    """Read pairs such as batch=64, with commas, with repetition, or both."""
    sizes: dict[str, int] = {}
    for word in [word.strip() for part in given or [] for word in part.split(",")]:
        name, _, count = word.rpartition("=")
        sound = name and count.isascii() and count.isdecimal() and len(count) <= LONGEST_COUNT
        if not sound or name in sizes or not 1 <= int(count) <= MOST:
            raise typer.BadParameter(f"{option}: found {word[:60]!r}, needs NAME=COUNT, each name once")
        sizes[name] = int(count)
    return sizes


# What an import of a log answers: which files hold it now, and what was read, kept, changed and left out.
MOST_CELLS = 20  # that are shown


@dataclass(frozen=True, slots=True)
class Imported:
    """An instance made of a log, and what became of the log's jobs and lines."""

    instance: Bag | Clusters
    account: Account
    skipped: Mapping[str, int]  # dirty lines, by reason
    unit: str  # what the width of a job counts
    logged: LoggedBag | None = None


def write_import(talk: Talk, imported: Imported, path: Path, form: TableForm | None) -> None:
    """Write what was imported, for a bag with a file of what its cells rest on; say which files there are."""
    from lpsched.instances import write_instance
    from lpsched.io.content import require_place, write_files
    from lpsched.traces.bags import cells_as_csv

    beside = {}
    if imported.logged is not None:
        place = path.with_name(f"{path.name}.cells.csv")
        require_place(place)
        beside = {place: cells_as_csv(imported.logged)}
    files = [*write_instance(imported.instance, path, form=form)]
    write_files(beside)
    names = [str(file) for file in (*beside, *files)]
    text = "".join(f"{file}: {_held(file, imported.instance)}\n" for file in names)
    read = account_as_dict(imported.account, imported.skipped)
    tables = [account_table(imported.account, imported.skipped, imported.unit)]
    if imported.logged is not None:
        read["cells"] = _cell_counts(imported.logged)
        tables.append(cell_table(imported.logged))
    answer = header("lpsched-written/1", imported.instance) | {"files": names, "log": read}
    talk.answer(answer, tables, text=text)


def _held(file: str, instance: Bag | Clusters) -> str:
    """Say what a file holds."""
    from lpsched.bag.model import Bag

    if file.endswith(".cells.csv"):
        return "samples and spread of its tables"
    if Path(file).stem.endswith(".tasks"):
        return "its tasks"
    if Path(file).suffix.lower() not in ENDINGS:
        return "its tables"
    if isinstance(instance, Bag):
        return f"{instance.tasks:,} tasks on {instance.machines:,} machines"
    return f"{instance.tasks:,} tasks on {instance.nodes:,} nodes"


def _cell_counts(logged: LoggedBag) -> dict[str, int]:
    """Return how many pairs can run, and how many of those are estimated."""
    return {
        "pairs": logged.bag.seconds.rows * logged.bag.seconds.columns - len(logged.bag.seconds.absent()),
        "estimated_seconds": int(logged.estimated_seconds.sum()),
        "estimated_watts": int(logged.estimated_watts.sum()),
    }


def cell_table(logged: LoggedBag) -> Table:
    """Return the first cells of a bag's tables, with samples and spread."""
    from itertools import islice

    from lpsched.report.tables import table
    from lpsched.traces.bags import COLUMNS, cell_rows
    from lpsched.units import number, percent

    rows: list[tuple[str, ...]] = []
    for row in islice(cell_rows(logged), MOST_CELLS):
        cell: dict[str, Any] = dict(zip(COLUMNS, row, strict=True))
        rows.append(
            (
                cell["task_type"],
                cell["machine_type"],
                f"{cell['jobs']:,}",
                number(cell["seconds"]),
                percent(cell["seconds_variation"]),
                number(cell["watts"]),
                percent(cell["watts_variation"]),
                cell["estimated"],
            )
        )
    more = _cell_counts(logged)["pairs"] - len(rows)
    if more:
        rows.append((f"... and {more:,} more", *[""] * 7))
    headers = ("task type", "on", "jobs", "seconds", "spread", "watts", "spread", "estimated")
    return table(headers, rows, numbers=range(2, 7))


def account_as_dict(account: Account, skipped: Mapping[str, int]) -> dict[str, Any]:
    """Return the account as it appears in JSON."""
    assert account.totals is not None, "whoever keeps jobs sums them"
    return {
        "jobs_read": account.read,
        "jobs_kept": account.kept,
        "left_out": account.left_out,
        "changed": account.notes,
        "dirty_lines": dict(skipped),
        "totals": asdict(account.totals),
    }


def account_table(account: Account, skipped: Mapping[str, int], unit: str) -> Table:
    """Return the account in words; `unit` is what the width of a job counts."""
    from lpsched.report.tables import table
    from lpsched.units import number

    assert account.totals is not None, "whoever keeps jobs sums them"
    totals = account.totals
    rows = [("jobs read", f"{account.read:,}")]
    rows += [(f"line skipped: {reason}", f"{count:,}") for reason, count in skipped.items()]
    rows += [(f"left out: {reason}", f"{count:,}") for reason, count in account.left_out.items()]
    rows.append(("jobs kept", f"{account.kept:,}"))
    rows += [(f"of them, {note}", f"{count:,}") for note, count in account.notes.items()]
    rows.append((f"{unit}-seconds in all", number(totals.width_seconds)))
    rows.append((f"most {unit}s of one job", f"{totals.widest:,}"))
    if totals.submit_span_seconds is not None:
        rows.append(("from the first submit to the last", _span(totals.submit_span_seconds)))
    if totals.joules is not None:
        rows.append((f"joules, of {totals.jobs_with_joules:,} jobs that tell them", number(totals.joules)))
    return table(("", ""), rows, numbers=(1,))


def _span(seconds: float) -> str:
    from lpsched.units import SECONDS_PER_DAY, number

    return f"{number(seconds)} s" if seconds < SECONDS_PER_DAY else f"{number(seconds / SECONDS_PER_DAY, 3)} days"
