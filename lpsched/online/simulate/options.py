"""Options of simulations: when tasks are mapped, which are dropped, which choices are filtered.

Sources: Friese, thesis of 2015, 2.4.1, 2.4.4, 2.7.4, 3.3.4, 4.3 and appendix A; Machovec et al. (2016), sections III.A
to III.C, III.G and IV.C.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from lpsched.errors import InputIssue, InstanceError
from lpsched.model.fields import LARGEST, describe

ADAPTIVE: Final = "adaptive"
QUEUED: Final = "queued"
POLLED: Final = "polled"
PER_TASK: Final = "per-task"
PER_RESOURCE: Final = "per-resource"
LENIENCY: Final = {PER_TASK: 2.0, PER_RESOURCE: 4.0}
SHORTEST: Final = 0.001  # seconds between scheduling events
MOST_PERMUTED: Final = 7  # 5,040 orders
TIMES: Final = f"a number of seconds from {SHORTEST:g} to {LARGEST:g}"


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """How to run a day; the defaults are the thesis's, without dropping and filter.

    Raises
    ------
    InstanceError
        If some of them cannot be; the error lists every error.
    """

    # `queued`: each machine has a queue; its running and its pending task stay, all others are mapped anew at each
    # scheduling event. `polled`: at a scheduling event, each idle machine may get one task, which starts at once
    machines: Literal["queued", "polled"] = QUEUED
    # A scheduling event comes this many seconds, or arrivals, after the last one, whichever is first; one may be
    # `None`. Policies of immediate mode map each task as it arrives, for good
    every_seconds: float | None = 60.0
    every_arrivals: int | None = None
    drop_below: float = 0.0  # utility: a task that can earn less, even if started now, is dropped (immediate mode: that
    # would earn less where the policy put it); 0 drops none
    energy_filter: float | Literal["adaptive"] | None = None  # the leniency of equation 7, or equations 9 to 11
    permute: int = (
        0  # try all orders of this many tasks at the head of each virtual queue (appendix A); batch mode only
    )

    def __post_init__(self) -> None:
        """Raise an error that lists all invalid options."""
        seconds, arrivals, leniency = self.every_seconds, self.every_arrivals, self.energy_filter
        is_mode, is_batch = self.machines in (QUEUED, POLLED), arrivals is None or _is_whole(arrivals, 1)
        is_filter, orders = leniency in (None, ADAPTIVE) or _is_number(leniency), f"from 0 to {MOST_PERMUTED}"
        needed = "a number of seconds, or of arrivals in every_arrivals"
        nothing = InputIssue(("every_seconds",), "nothing", needed, "set one of the two")
        _require(
            (is_mode, _wrong("machines", self.machines, "'queued' or 'polled'", "choose one")),
            (seconds is not None or arrivals is not None, nothing),
            (_is_time(seconds), _wrong("every_seconds", seconds, TIMES)),
            (is_batch, _wrong("every_arrivals", arrivals, "a whole number from 1 up")),
            (_is_number(self.drop_below, or_zero=True), _wrong("drop_below", self.drop_below, "a utility from 0 up")),
            (is_filter, _wrong("energy_filter", leniency, "a number above 0, 'adaptive', or nothing")),
            (_is_whole(self.permute, 0, MOST_PERMUTED), _wrong("permute", self.permute, f"a whole number {orders}")),
        )


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """How to run clusters; the defaults are the paper's, without dropping and filter.

    Raises
    ------
    InstanceError
        If some of them cannot be; the error lists every error.

    Examples
    --------
    >>> ClusterOptions(energy_filter="per-resource").factor
    4.0
    """

    every_seconds: float | None = 60.0  # between scheduling events; `None`: at every arrival and every end of a task
    drop_below: float = 0.0  # as of days, if the task started now where it is fastest; by policies that drop tasks
    energy_filter: Literal["per-task", "per-resource"] | None = None  # equations 6 to 8, or equation 9
    leniency: float | None = None  # the factor of the filter; by default 2 for `per-task`, 4 for `per-resource`
    placeholders: bool = False  # whether Max Util, UPT, UPR and UPE use place-holders, not permanent reservations

    def __post_init__(self) -> None:
        """Raise an error that lists all invalid options."""
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
            (has_filter, InputIssue(("leniency",), of_none, needed, "choose one, or leave it out")),
            (isinstance(self.placeholders, bool), _wrong("placeholders", self.placeholders, "true or false")),
        )

    @property
    def factor(self) -> float:
        """The leniency, or its default."""
        if self.leniency is not None:
            return self.leniency
        return math.inf if self.energy_filter is None else LENIENCY[self.energy_filter]


def _require(*rules: tuple[bool, InputIssue]) -> None:
    if issues := tuple(issue for holds, issue in rules if not holds):
        raise InstanceError("options of a simulation", issues)


def _wrong(option: str, value: object, needed: str, do: str = "correct it") -> InputIssue:
    return InputIssue((option,), describe(value), needed, do)


def _is_number(value: object, *, or_zero: bool = False) -> bool:
    """Return whether a value is a finite number above 0 (or 0), and not a bool."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and (0.0 < value < math.inf or (or_zero and value == 0.0))  # type: ignore[operator]


def _is_time(value: object) -> bool:
    return value is None or (_is_number(value) and SHORTEST <= value <= LARGEST)  # type: ignore[operator]


def _is_whole(value: object, least: int, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
