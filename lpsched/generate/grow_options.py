"""What to grow a small bag to, and what of it is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault, InstanceError
from lpsched.generate.cov import MOST_PAIRS, MOST_TYPES
from lpsched.instance.fields import MOST

if TYPE_CHECKING:
    from lpsched.instance import Bag

RANGES: Final = {
    "task_types": (1, MOST_TYPES),
    "tasks": (1, MOST),
    "machines": (1, MOST),
    "special_machines": (1, MOST),
    "special_speedup": (1e-3, 1e6),
    "special_least": (1, MOST_TYPES),
    "special_most": (1, MOST_TYPES),
}


@dataclass(frozen=True, slots=True)
class GrowOptions:
    """What to grow to; the defaults are the thesis's second data set without its special-purpose machines."""

    task_types: int = 30  # in all, with the real ones
    tasks: int = 1_000
    machines: tuple[int, ...] | None = None  # of each machine type; None: as many as the small bag has
    special_machines: tuple[int, ...] = ()  # of each special-purpose type
    special_speedup: float = 10.0
    special_least: int = 2
    special_most: int = 3


def require_options(small: Bag, options: GrowOptions) -> None:
    """Refuse what cannot be grown.

    Raises
    ------
    InstanceError
        If an option is out of its range or does not fit the small bag; the error lists every one.
    """
    faults = [
        Fault((key,), repr(value), f"{least:g} to {most:g}", "change the option")
        for key, (least, most) in RANGES.items()
        for value in _each(getattr(options, key))
        if not least <= value <= most
    ]
    real, types = len(small.task_types), len(small.machine_types)
    if options.task_types < real:
        needed = f"at least the {real} task types of the small bag"
        faults.append(Fault(("task_types",), str(options.task_types), needed, "ask for more"))
    if options.tasks < options.task_types:
        faults.append(Fault(("tasks",), str(options.tasks), "at least one of each type", "ask for more"))
    if options.machines is not None and len(options.machines) != types:
        needed = f"{types}, one for each machine type of the small bag"
        faults.append(Fault(("machines",), f"{len(options.machines)} counts", needed, "add or drop some"))
    if options.special_least > options.special_most:
        faults.append(
            Fault(("special_least",), str(options.special_least), "at most special_most", "lower it")
        )
    special = options.special_most * len(options.special_machines)
    if special > options.task_types:
        needed = f"{special}, so that all special-purpose types have tasks of their own"
        faults.append(Fault(("task_types",), str(options.task_types), needed, "ask for more"))
    pairs = options.task_types * (len(small.modes) + len(options.special_machines))
    if pairs > MOST_PAIRS:
        found = f"{pairs:,} pairs"
        faults.append(Fault(("task_types",), found, f"at most {MOST_PAIRS:,}", "ask for fewer"))
    if faults:
        raise InstanceError("options of the generator", tuple(faults))


def _each(value: float | tuple[int, ...] | None) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)
