"""How clusters are run: when tasks are mapped, which are dropped, which choices are filtered.

    every_seconds   a mapping event comes so long after the last one; `None`: at every arrival and every end
    drop_below      a task that would earn less than this if it started now where it is fastest is dropped for
                    good, by policies that drop; 0 drops none
    energy_filter   `per-task` (equations 6 to 8) or `per-resource` (equation 9), for policies that are
                    filtered; `None`: none
    leniency        the factor of that filter
    placeholders    whether Max Util, UPT, UPR and UPE use place-holders instead of permanent reservations

Source: Machovec et al. (2016), sections III.A to III.C, III.G and IV.C.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from lpsched.errors import Fault, InstanceError
from lpsched.model.fields import describe
from lpsched.online.simulate.options import faults_of_dropping, faults_of_seconds, is_number

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        faults = tuple(_faults(self))
        if faults:
            raise InstanceError("options of a simulation", faults)

    @property
    def factor(self) -> float:
        """The leniency, or what it is where nothing is said."""
        if self.leniency is not None:
            return self.leniency
        return math.inf if self.energy_filter is None else LENIENCY[self.energy_filter]


def _faults(options: ClusterOptions) -> Iterator[Fault]:
    """Find what is wrong with options."""
    yield from faults_of_seconds(options.every_seconds)
    yield from faults_of_dropping(options.drop_below)
    if options.energy_filter not in (None, PER_TASK, PER_RESOURCE):
        needed = f"{PER_TASK!r}, {PER_RESOURCE!r}, or nothing"
        yield Fault(("energy_filter",), describe(options.energy_filter), needed, "choose one")
    leniency = options.leniency
    if leniency is not None and not (is_number(leniency) and 0.0 < leniency < math.inf):
        yield Fault(("leniency",), describe(leniency), "a number above 0", "correct it")
    elif leniency is not None and options.energy_filter is None:
        needed = f"an energy filter, {PER_TASK!r} or {PER_RESOURCE!r}"
        yield Fault(("leniency",), f"{leniency!r} of no filter", needed, "choose one, or leave it out")
    if not isinstance(options.placeholders, bool):
        yield Fault(("placeholders",), describe(options.placeholders), "true or false", "correct it")
