"""Methods for facilities: `lp` (ours), and those of the Heat paper, each held against our bound.

With `colocation: false` the method does not count that cores of a node slow each other down, nor does the
bound that it is held against.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.compare.facility_methods import METHODS, STARTS, allocate
from lpsched.pipeline.facilities import METHOD, facility
from lpsched.studies.method import Answer, Method, OneOf, Order, Whole, check_gap, without_header, yes_or_no

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from lpsched.instance.facility import Facility
    from lpsched.studies.method import Check

GA: Final = "ga"
TAKES: Final[dict[str, Check]] = {"colocation": yes_or_no, "gap": check_gap}
WITH_SECONDS: Final = ("history", "details")  # of a method: how long its parts took is in them


def _ours(instance: Facility, order: Order) -> Answer:
    found = facility(instance, time_limit=order.seconds, **order.parameters)
    return Answer(_outcome(found.to_dict()), found.provenance.solver, found.timings)


def _theirs(name: str) -> Callable[[Facility, Order], Answer]:
    def run(instance: Facility, order: Order) -> Answer:
        found = allocate(instance, method=name, seed=order.seed, time_limit=order.seconds, **order.parameters)
        details = {key: each for key, each in found.details.items() if not key.endswith("_seconds")}
        outcome = _outcome(found.to_dict()) | {"details": details}
        return Answer(outcome, found.provenance.solver, found.timings)

    return run


def _outcome(told: dict[str, Any]) -> dict[str, Any]:
    return without_header(told, *WITH_SECONDS) | {"value": told["reward_rate"]}


def facility_methods() -> dict[str, Method]:
    """Return every method for facilities."""
    found = [Method(METHOD, "facility", _ours, TAKES, limited=True)]
    for name in METHODS:
        takes = TAKES | {"bound": yes_or_no}
        if name == GA:
            takes |= {"generations": Whole(0), "start": OneOf(STARTS)}
        chance = name != "greedy"
        found.append(Method(name, "facility", _theirs(name), takes, seeded=chance, limited=chance))
    return {each.name: each for each in found}
