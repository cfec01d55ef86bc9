"""How a day is run: queues or polling, when tasks are mapped, which are dropped, which choices are filtered.

    machines      `queued`: every machine has a queue; what runs, and the pending task next in line, stay, and
                  all others are mapped anew at each mapping event. `polled`: at a mapping event, each machine
                  that is idle may get one task, which starts at once.
    every_seconds, every_arrivals
                  a mapping event comes so long after the last one, or after so many arrivals since, whichever
                  is first; one of them may be left out. Policies of immediate mode map each task as it comes,
                  and what is mapped stays mapped.
    drop_below    a task that can earn less than this, however early it could start now, is dropped for good
                  (immediate mode: if it would earn less where the policy put it). 0 drops none.
    energy_filter a number: the fixed leniency of equation 7; "adaptive": equations 9 to 11; `None`: no filter
    permute       all orders of so many tasks at the head of each virtual queue are tried, and the best is
                  kept (appendix A); 0 or 1 leaves queues as the policy made them. It means nothing where
                  machines are polled, and in immediate mode.

Source: Friese, thesis of 2015, 2.4.1, 2.4.4, 2.7.4, 3.3.4, 4.3 and appendix A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from lpsched.errors import Fault, InstanceError
from lpsched.model.fields import LARGEST, describe

ADAPTIVE: Final = "adaptive"
QUEUED: Final = "queued"
POLLED: Final = "polled"
SHORTEST: Final = 0.001  # seconds between mapping events
MOST_PERMUTED: Final = 7  # 5,040 orders


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """How to run a day; the defaults are the thesis's, without dropping and filter.

    Raises
    ------
    InstanceError
        If some of them cannot be; the error lists every fault.
    """

    machines: Literal["queued", "polled"] = QUEUED
    every_seconds: float | None = 60.0
    every_arrivals: int | None = None
    drop_below: float = 0.0
    energy_filter: float | Literal["adaptive"] | None = None
    permute: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        seconds, arrivals, leniency = self.every_seconds, self.every_arrivals, self.energy_filter
        is_mode, is_batch = self.machines in (QUEUED, POLLED), arrivals is None or _is_whole(arrivals, 1)
        is_filter, orders = leniency in (None, ADAPTIVE) or _is_number(leniency), f"from 0 to {MOST_PERMUTED}"
        needed = "a number of seconds, or of arrivals in every_arrivals"
        nothing = Fault(("every_seconds",), "nothing", needed, "say when tasks are mapped")
        _require(
            (is_mode, _wrong("machines", self.machines, "'queued' or 'polled'", "choose one")),
            (seconds is not None or arrivals is not None, nothing),
            (_is_time(seconds), _wrong("every_seconds", seconds, TIMES)),
            (is_batch, _wrong("every_arrivals", arrivals, "a whole number from 1 up")),
            (_is_number(self.drop_below, or_zero=True), _wrong("drop_below", self.drop_below, "a utility from 0 up")),
            (is_filter, _wrong("energy_filter", leniency, "a number above 0, 'adaptive', or nothing")),
            (_is_whole(self.permute, 0, MOST_PERMUTED), _wrong("permute", self.permute, f"a whole number {orders}")),
        )


# How clusters are run: when tasks are mapped, which are dropped, which choices are filtered.
#
#     every_seconds   a mapping event comes so long after the last one; `None`: at every arrival and every end
#     drop_below      a task that would earn less than this if it started now where it is fastest is dropped for
#                     good, by policies that drop; 0 drops none
#     energy_filter   `per-task` (equations 6 to 8) or `per-resource` (equation 9), for policies that are
#                     filtered; `None`: none
#     leniency        the factor of that filter
#     placeholders    whether Max Util, UPT, UPR and UPE use place-holders instead of permanent reservations
#
# Source: Machovec et al. (2016), sections III.A to III.C, III.G and IV.C.
PER_TASK: Final = "per-task"
PER_RESOURCE: Final = "per-resource"
LENIENCY: Final = {PER_TASK: 2.0, PER_RESOURCE: 4.0}


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """How to run clusters; the defaults are the paper's, without dropping and filter.

    Raises
    ------
    InstanceError
        If some of them cannot be; the error lists every fault.

    Examples
    --------
    >>> ClusterOptions(energy_filter="per-resource").factor
    4.0
    """

    every_seconds: float | None = 60.0
    drop_below: float = 0.0
    energy_filter: Literal["per-task", "per-resource"] | None = None
    leniency: float | None = None  # 2 for `per-task`, 4 for `per-resource` where nothing is said
    placeholders: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        leniency, is_filter = self.leniency, self.energy_filter in (None, PER_TASK, PER_RESOURCE)
        either = f"{PER_TASK!r}, {PER_RESOURCE!r}, or nothing"
        is_lenient, of_none = leniency is None or _is_number(leniency), f"{leniency!r} of no filter"
        has_filter = leniency is None or not is_lenient or self.energy_filter is not None
        needed = f"an energy filter, {PER_TASK!r} or {PER_RESOURCE!r}"
        _require(
            (_is_time(self.every_seconds), _wrong("every_seconds", self.every_seconds, TIMES)),
            (_is_number(self.drop_below, or_zero=True), _wrong("drop_below", self.drop_below, "a utility from 0 up")),
            (is_filter, _wrong("energy_filter", self.energy_filter, either, "choose one")),
            (is_lenient, _wrong("leniency", leniency, "a number above 0")),
            (has_filter, Fault(("leniency",), of_none, needed, "choose one, or leave it out")),
            (isinstance(self.placeholders, bool), _wrong("placeholders", self.placeholders, "true or false")),
        )

    @property
    def factor(self) -> float:
        """The leniency, or what it is where nothing is said."""
        if self.leniency is not None:
            return self.leniency
        return math.inf if self.energy_filter is None else LENIENCY[self.energy_filter]


# Rules of both: each with the fault of an option that breaks it.
TIMES: Final = f"a number of seconds from {SHORTEST:g} to {LARGEST:g}"


def _require(*rules: tuple[bool, Fault]) -> None:
    if faults := tuple(fault for holds, fault in rules if not holds):
        raise InstanceError("options of a simulation", faults)


def _wrong(option: str, value: object, needed: str, do: str = "correct it") -> Fault:
    return Fault((option,), describe(value), needed, do)


def _is_number(value: object, *, or_zero: bool = False) -> bool:
    """Tell whether something is a finite number above 0 (or 0), and not a truth."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and (0.0 < value < math.inf or (or_zero and value == 0.0))  # type: ignore[operator]


def _is_time(value: object) -> bool:
    return value is None or (_is_number(value) and SHORTEST <= value <= LARGEST)  # type: ignore[operator]


def _is_whole(value: object, least: int, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
