"""Changes of a bag: its price, its limits, its machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import PydanticCustomError

from lpsched.bag.model import Bag, part_of
from lpsched.errors import InputIssue, InstanceError
from lpsched.model.fields import MOST, Amount, check_money, check_power, check_seconds, describe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


# Under which terms a bag is solved: the objective, and another price, power cap or deadline than its file says.
check_ratio: Final = Amount("a profit ratio")


@dataclass(frozen=True, slots=True)
class Terms:
    """The objective, and values in place of the file's own; `None` leaves that as it is.

    Public functions make them of their options. They are checked when they are applied: after the objective, and after
    the price that comes of a profit ratio.
    """

    objective: str | None = None  # profit, makespan or energy; by default profit where a price is known, else makespan
    price: float | None = None  # of the whole bag, in place of the price per bag and all prices per task
    profit_ratio: float | None = None  # the price in costs of the least energy; `problem.py` makes a price of it
    power_cap_watts: float | None = None  # on average, on the side where the file measures it (by default the facility)
    deadline_seconds: float | None = None  # when the bag must be done

    def check(self) -> None:
        """Reject values that a file could not have either."""
        checks = {"price": check_money, "power_cap_watts": check_power, "deadline_seconds": check_seconds}
        issues: list[InputIssue] = []
        for name, check in checks.items():
            try:
                checked(name, getattr(self, name), check)
            except InstanceError as error:
                issues += error.issues
        if issues:
            raise InstanceError("the terms", tuple(issues))

    def applied_to(self, bag: Bag) -> Bag:
        """Return the bag under these terms; a profit ratio has become a price before."""
        assert self.profit_ratio is None, "the price of a ratio takes a linear program"
        self.check()
        prices, site = bag.prices, bag.site
        if self.price is not None:
            prices = prices.model_copy(update={"per_bag": float(self.price), "per_task": type(prices.per_task)()})
        changes: dict[str, Any] = {}
        if self.power_cap_watts is not None:
            changes["average_power_cap_watts"] = float(self.power_cap_watts)
        if self.deadline_seconds is not None:
            changes["deadline_seconds"] = float(self.deadline_seconds)
        if not changes and prices is bag.prices:
            return bag
        return bag.model_copy(update={"prices": prices, "site": site.model_copy(update=changes)})


def checked(name: str, value: float | None, check: Callable[[object], float]) -> float | None:
    """Return a number that a user gave as an option, if it is valid."""
    if value is None:
        return None
    try:
        return check(value)
    except PydanticCustomError as error:
        raise InstanceError("the terms", (InputIssue((name,), **(error.context or {})),)) from None


def with_machines(bag: Bag, counts: Mapping[str, int]) -> Bag:
    """Return the bag with other counts of some machine types; a type of which there are none is dropped.

    >>> from lpsched.bag.model import Bag
    >>> from lpsched.bag.parts import MachineType, TaskType
    >>> from lpsched.model.table import Table
    >>> cpu, old = MachineType(name="cpu", count=2), MachineType(name="old", count=9)
    >>> bag = Bag("b", (cpu, old), (TaskType(name="render", count=4),), Table.of([[3.0, 30.0]]))
    >>> with_machines(bag, {"cpu": 5, "old": 0}).machine_types
    (MachineType(name='cpu', count=5, idle_watts=0.0, wear_per_busy_hour=0.0, purchase_price=0.0, \
mean_hours_to_failure=None, p_states=None),)
    """
    known = [machine.name for machine in bag.machine_types]
    issues = [
        InputIssue(("machine_types", name), "no machine type of this name", f"one of {', '.join(known)}", "name it")
        for name in counts
        if name not in known
    ]
    issues += [
        InputIssue(("machine_types", name), describe(count), f"a whole number from 0 to {MOST}", "correct it")
        for name, count in counts.items()
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST
    ]
    if issues:
        raise InstanceError(bag.name, tuple(issues))
    wanted = [counts.get(machine.name, machine.count) for machine in bag.machine_types]
    if not any(wanted):
        issue = InputIssue(("machine_types",), "none left", "at least one machine", "leave some")
        raise InstanceError(bag.name, (issue,))
    columns = [column for column, (j, _) in enumerate(bag.modes) if wanted[j]]
    machines = tuple(
        machine.model_copy(update={"count": count})
        for machine, count in zip(bag.machine_types, wanted, strict=True)
        if count
    )
    rows = range(len(bag.task_types))
    seconds, watts = (None if each is None else part_of(each, rows, columns) for each in (bag.seconds, bag.watts))
    return bag.model_copy(update={"machine_types": machines, "seconds": seconds, "watts": watts})
