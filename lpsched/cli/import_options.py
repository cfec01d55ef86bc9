"""Options that imports of logs share."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from lpsched.cli.given import LONGEST_COUNT

if TYPE_CHECKING:
    from lpsched.instance.waiting import WaitingCost

ENDINGS = (".yaml", ".yml", ".json")
MOST = 10**15  # nodes or machines, as everywhere


class Target(StrEnum):
    """What to make of a log."""

    CLUSTERS = "clusters"
    BAG = "bag"


class Cost(StrEnum):
    """What waiting costs; the words of `lpsched.instance.waiting`, without loading it."""

    BOUNDED = "bounded-slowdown"
    SLOWDOWN = "slowdown"
    SECONDS = "seconds"


class Weight(StrEnum):
    """What a task counts; the words of `lpsched.instance.waiting`, without loading it."""

    TASK = "task"
    CORES = "cores"
    CORE_SECONDS = "core-seconds"


ToOption = Annotated[Target, typer.Option("--to", help="Something to simulate, or to solve.")]
NameOption = Annotated[str | None, typer.Option(help="The instance's name; the file's if not given.")]
CostOption = Annotated[
    Cost | None, typer.Option(help="clusters: what waiting costs. [default: bounded-slowdown]")
]
WeightOption = Annotated[
    Weight | None, typer.Option(help="clusters: what a task's cost is multiplied with. [default: task]")
]
WattsOption = Annotated[float | None, typer.Option(help="The power of a busy node. By default not known.")]
SkipOption = Annotated[bool, typer.Option("--skip-dirty", help="Leave dirty lines out, and count them.")]


def waiting_of(cost: Cost | None, weight: Weight | None) -> WaitingCost:
    """Return what waiting costs."""
    from lpsched.instance.waiting import WaitingCost

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
