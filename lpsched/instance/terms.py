"""Other terms for the same bag: another price, power cap or deadline than its file says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import Fault, InstanceError
from lpsched.instance.fields import Amount, check_money, check_power, check_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.instance.bag import Bag

check_ratio: Final = Amount("a profit ratio")


@dataclass(frozen=True, slots=True)
class Terms:
    """What to put in place of the file's own; `None` leaves it as it is.

    Attributes
    ----------
    price
        What the whole bag sells for, in place of the price per bag and all prices per task.
    power_cap_watts
        The average-power cap, on the side where the file measures it (the facility, if it says nothing).
    deadline_seconds
        When the bag must be done.
    """

    price: float | None = None
    power_cap_watts: float | None = None
    deadline_seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse what a file could not say either."""
        checks = {"price": check_money, "power_cap_watts": check_power, "deadline_seconds": check_seconds}
        faults: list[Fault] = []
        for name, check in checks.items():
            try:
                checked(name, getattr(self, name), check)
            except InstanceError as error:
                faults += error.faults
        if faults:
            raise InstanceError("the terms", tuple(faults))

    def applied_to(self, bag: Bag) -> Bag:
        """Return the bag under these terms."""
        prices, site = bag.prices, bag.site
        if self.price is not None:
            prices = prices.model_copy(
                update={"per_bag": float(self.price), "per_task": type(prices.per_task)()}
            )
        changes: dict[str, Any] = {}
        if self.power_cap_watts is not None:
            changes["average_power_cap_watts"] = float(self.power_cap_watts)
        if self.deadline_seconds is not None:
            changes["deadline_seconds"] = float(self.deadline_seconds)
        if not changes and prices is bag.prices:
            return bag
        return replace(bag, prices=prices, site=site.model_copy(update=changes))


def checked(name: str, value: float | None, check: Callable[[object], float]) -> float | None:
    """Return a number that a user gave beside the file, if it is sound.

    Raises
    ------
    InstanceError
        If it is not.
    """
    if value is None:
        return None
    try:
        return check(value)
    except PydanticCustomError as error:
        raise InstanceError("the terms", (Fault((name,), **(error.context or {})),)) from None
