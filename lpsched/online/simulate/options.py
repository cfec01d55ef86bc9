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
from typing import TYPE_CHECKING, Final, Literal

from lpsched.errors import Fault, InstanceError
from lpsched.model.fields import LARGEST, describe

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        faults = (*_of_events(self), *_of_choices(self))
        if faults:
            raise InstanceError("options of a simulation", faults)


def _of_events(options: SimulationOptions) -> Iterator[Fault]:
    """Find what is wrong with queues and events."""
    if options.machines not in (QUEUED, POLLED):
        yield Fault(("machines",), describe(options.machines), "'queued' or 'polled'", "choose one")
    seconds, arrivals = options.every_seconds, options.every_arrivals
    if seconds is None and arrivals is None:
        needed = "a number of seconds, or of arrivals in every_arrivals"
        yield Fault(("every_seconds",), "nothing", needed, "say when tasks are mapped")
    yield from _of_seconds(seconds)
    if arrivals is not None and not (_is_whole(arrivals) and arrivals >= 1):
        yield Fault(("every_arrivals",), describe(arrivals), "a whole number from 1 up", "correct it")


def _of_choices(options: SimulationOptions) -> Iterator[Fault]:
    """Find what is wrong with dropping, filter and permuting."""
    drop, leniency, permute = options.drop_below, options.energy_filter, options.permute
    yield from _of_dropping(drop)
    if leniency not in (None, ADAPTIVE) and not (_is_number(leniency) and 0.0 < leniency < math.inf):  # type: ignore[operator]
        needed = "a number above 0, 'adaptive', or nothing"
        yield Fault(("energy_filter",), describe(leniency), needed, "correct it")
    if not (_is_whole(permute) and 0 <= permute <= MOST_PERMUTED):
        needed = f"a whole number from 0 to {MOST_PERMUTED}"
        yield Fault(("permute",), describe(permute), needed, "correct it")


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
        faults = tuple(_of_clusters(self))
        if faults:
            raise InstanceError("options of a simulation", faults)

    @property
    def factor(self) -> float:
        """The leniency, or what it is where nothing is said."""
        if self.leniency is not None:
            return self.leniency
        return math.inf if self.energy_filter is None else LENIENCY[self.energy_filter]


def _of_clusters(options: ClusterOptions) -> Iterator[Fault]:
    """Find what is wrong with options."""
    yield from _of_seconds(options.every_seconds)
    yield from _of_dropping(options.drop_below)
    if options.energy_filter not in (None, PER_TASK, PER_RESOURCE):
        needed = f"{PER_TASK!r}, {PER_RESOURCE!r}, or nothing"
        yield Fault(("energy_filter",), describe(options.energy_filter), needed, "choose one")
    leniency = options.leniency
    if leniency is not None and not (_is_number(leniency) and 0.0 < leniency < math.inf):
        yield Fault(("leniency",), describe(leniency), "a number above 0", "correct it")
    elif leniency is not None and options.energy_filter is None:
        needed = f"an energy filter, {PER_TASK!r} or {PER_RESOURCE!r}"
        yield Fault(("leniency",), f"{leniency!r} of no filter", needed, "choose one, or leave it out")
    if not isinstance(options.placeholders, bool):
        yield Fault(("placeholders",), describe(options.placeholders), "true or false", "correct it")


def _of_seconds(seconds: float | None) -> Iterator[Fault]:
    """Find what is wrong with the time between mapping events."""
    if seconds is not None and not (_is_number(seconds) and SHORTEST <= seconds <= LARGEST):
        needed = f"a number of seconds from {SHORTEST:g} to {LARGEST:g}"
        yield Fault(("every_seconds",), describe(seconds), needed, "correct it")


def _of_dropping(drop_below: float) -> Iterator[Fault]:
    """Find what is wrong with the threshold below which tasks are dropped."""
    if not (_is_number(drop_below) and 0.0 <= drop_below < math.inf):
        yield Fault(("drop_below",), describe(drop_below), "a utility from 0 up", "correct it")


def _is_number(value: object) -> bool:
    """Tell whether something is a number, and not a truth."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    """Tell whether something is a whole number, and not a truth."""
    return isinstance(value, int) and not isinstance(value, bool)
