"""Utility told by levels: priority, urgency and utility class make a utility function of equation 1.

    pi        the most utility: that of the priority
    rho       how fast it decays, per minute: that of the urgency
    F         how long it stays at its most: the urgency's `steady_share` of the mean seconds of the task type
    class     for each interval k: begin a_k minutes after F, share psi_k of pi there, modifier delta_k of rho

    U(t)  =  pi                                                                           for t < F + a_1
    U(t)  =  pi psi_(k+1) + pi (psi_k - psi_(k+1)) exp(-delta_k rho (t - F - a_k))        within interval k

with psi = 0 after the last interval. The mean is over the machine types that can run the task type, each in
its first P-state that can: usually the fastest.

Source: Friese, thesis of 2015, equation 1 and appendices B and C. There all classes begin with a_1 = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked_dataclass

from lpsched.instance.fields import LARGEST, Amount, number_field
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.utility import Interval, UtilityFunction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lpsched.instance.day_tasks import Levels

SECONDS_PER_MINUTE: Final = 60
CONFIG: Final = ConfigDict(extra="forbid")  # every field has a strict check of its own

check_utility: Final = Amount("utility")
_RATE: Final = number_field(Amount("a rate"), minimum=0, maximum=LARGEST)
_SHARE: Final = number_field(Amount("a share", most=1.0), minimum=0, maximum=1)
_MINUTES: Final = number_field(Amount("minutes"), minimum=0, maximum=LARGEST)
_STEADY: Final = number_field(Amount("a share of the mean seconds"), minimum=0, maximum=LARGEST)


@checked_dataclass(frozen=True, slots=True, config=CONFIG)
class Urgency:
    """How soon and how fast utility decays."""

    decay_per_minute: Annotated[float, *_RATE]
    steady_share: Annotated[float, *_STEADY]


@checked_dataclass(frozen=True, slots=True, config=CONFIG)
class ClassInterval:
    """An interval of a utility class: its begin after the steady time, share and modifier of decay."""

    after_minutes: Annotated[float, *_MINUTES]
    share: Annotated[float, *_SHARE]
    rate: Annotated[float, *_RATE] = 1.0


@dataclass(frozen=True)
class UtilityLevels:
    """What the names of levels stand for."""

    priorities: Mapping[str, float] = field(default_factory=FrozenDict)
    urgencies: Mapping[str, Urgency] = field(default_factory=FrozenDict)
    utility_classes: Mapping[str, tuple[ClassInterval, ...]] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        """Keep what cannot be changed any more."""
        for key in ("urgencies", "utility_classes"):
            object.__setattr__(self, key, FrozenDict(getattr(self, key)))
        floats = {name: _float(each) for name, each in self.priorities.items()}  # 8 and 8.0 have one hash
        object.__setattr__(self, "priorities", FrozenDict(floats))

    def function(self, levels: Levels, mean_seconds: float) -> UtilityFunction:
        """Return the utility function of a task whose type takes so many seconds on average.

        >>> from lpsched.instance.day_tasks import Levels
        >>> decay = (ClassInterval(0.0, 1.0), ClassInterval(5.0, 0.0))
        >>> levels = UtilityLevels({"high": 4.0}, {"low": Urgency(0.6, 1.1)}, {"A": decay})
        >>> function = levels.function(Levels("high", "low", "A"), 100.0)
        >>> [round(function.at(seconds), 3) for seconds in (0, 109, 170, 409, 411)]
        [4.0, 4.0, 2.195, 0.201, 0.0]
        """
        most, urgency = self.priorities[levels.priority], self.urgencies[levels.urgency]
        steady = urgency.steady_share * mean_seconds
        shape = self.utility_classes[levels.utility_class]
        nothing = ClassInterval(shape[-1].after_minutes, 0.0)
        found = [Interval(0.0, most, most, 0.0)]
        for interval, following in pairwise((*shape, nothing)):
            after = steady + SECONDS_PER_MINUTE * interval.after_minutes
            rate = interval.rate * urgency.decay_per_minute / SECONDS_PER_MINUTE
            found.append(Interval(after, interval.share * most, following.share * most, rate))
        return UtilityFunction(tuple(found[1:] if found[1].after_seconds == 0 else found))


def _float(number: float) -> float:
    """Return a number as a double; what is none stays, for a day to refuse."""
    return number + 0.0 if isinstance(number, int | float) and not isinstance(number, bool) else number
