"""What the cells of a bag's tables rest on, as a CSV beside the bag: one row per pair that can run.

jobs                 samples of the time; 0 where it is estimated
tasks                the nodes of those jobs together
seconds              as in the bag, with deviation and variation over the jobs
jobs_with_energy     samples of the power; 0 where it is estimated, or not known
watts                as in the bag, with deviation and variation over those jobs
estimated            empty, `seconds`, `watts`, or `seconds and watts`
"""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.traces.bags import LoggedBag

COLUMNS: Final = (
    "task_type",
    "machine_type",
    "jobs",
    "tasks",
    "seconds",
    "seconds_deviation",
    "seconds_variation",
    "jobs_with_energy",
    "watts",
    "watts_deviation",
    "watts_variation",
    "estimated",
)


def cell_rows(logged: LoggedBag) -> Iterator[tuple[str | int | float | None, ...]]:
    """Yield a row of `COLUMNS` for every pair that can run; `None` where a number is not known."""
    bag, cells = logged.bag, logged.cells
    spread = (cells.seconds.deviation, cells.seconds.variation)
    power_spread = (cells.watts.deviation, cells.watts.variation)
    for i, task in enumerate(bag.task_types):
        for j, machine in enumerate(bag.machine_types):
            seconds = bag.seconds[i, j]
            if seconds is None:
                continue
            guessed = {"seconds": logged.estimated_seconds[i, j], "watts": logged.estimated_watts[i, j]}
            yield (
                task.name,
                machine.name,
                int(cells.seconds.samples[i, j]),
                int(cells.tasks[i, j]),
                seconds,
                *(_known(each[i, j]) for each in spread),
                int(cells.watts.samples[i, j]),
                None if bag.watts is None else bag.watts[i, j],
                *(_known(each[i, j]) for each in power_spread),
                " and ".join(name for name, is_guess in guessed.items() if is_guess),
            )


def cells_as_csv(logged: LoggedBag) -> bytes:
    """Return the rows as CSV; a number has all its digits."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(cell_rows(logged))
    return out.getvalue().encode()


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
