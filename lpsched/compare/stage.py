"""A stage: an instance whose tasks arrive, how policies are run on it, and how what they do is judged.

Days of machines (`day_stage.py`) and clusters (`cluster_stage.py`) are simulated, shared among processes,
held against the bound and told alike (`simulated.py`, `simulations.py`); what differs between them is here.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from lpsched.errors import Fault, InstanceError

if TYPE_CHECKING:
    import numpy as np

    from lpsched.formulations.arrival_prices import ArrivalPrices
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.waiting import WaitingCost
    from lpsched.result.policy_columns import Judged
    from lpsched.result.policy_run import PolicyRun
    from lpsched.schedule.clusters import ClustersSchedule
    from lpsched.schedule.day import DaySchedule
    from lpsched.simulation.clusters.options import ClusterOptions
    from lpsched.simulation.options import SimulationOptions
    from lpsched.watch import Watch

DRAW: Final = "lpsched.generate.trials:another_day"  # by name: generators know instances, not the reverse
Arriving = TypeVar("Arriving")


@dataclass(frozen=True, slots=True)
class Given:
    """A policy: found by its name for each day anew, or as whoever asks brought it."""

    name: str
    kind: str
    brought: Any = None  # a policy of the stage's kind


@dataclass(frozen=True, slots=True)
class FoundBound:
    """What no schedule can pass, and the prices that prove it."""

    bound: float
    seconds: float
    per_hour: tuple[tuple[str, float], ...]  # of a machine of each type, or of a node of each cluster
    per_kwh: float | None  # nobody knows where there are no watts
    prices: ArrivalPrices


class Happened(Protocol):
    """What came of one run: as `simulation/happened.py` says."""

    @property
    def schedule(self) -> DaySchedule | ClustersSchedule:
        """All tasks that began."""

    @property
    def fates(self) -> Integers:
        """What became of each task."""

    @property
    def dropped_at(self) -> Floats:
        """When each dropped task was."""

    @property
    def event_at(self) -> Floats:
        """When the mapping events were."""

    @property
    def event_seconds(self) -> Floats:
        """How long each took."""

    @property
    def is_whole(self) -> bool:
        """Whether the day came to its end."""


class Stage(Protocol):
    """An instance with the options of its simulation."""

    @property
    def instance(self) -> Day | Clusters:
        """What is simulated."""

    @property
    def options(self) -> SimulationOptions | ClusterOptions:
        """How."""

    @property
    def judged(self) -> Judged:
        """By what its tasks are judged."""

    @property
    def waiting(self) -> WaitingCost | None:
        """What waiting costs, where they are judged by it."""

    def another(self, trial: int) -> Stage:
        """Return the stage of another trial; raises `InstanceError` where nobody can draw one."""

    def all_names(self) -> tuple[str, ...]:
        """Return the names that `all` stands for: every policy that can be run so."""

    def find(self, policy: object) -> Given:
        """Return a policy that can be run so; raises `InstanceError` of others."""

    def rehearse(self, name: str) -> None:
        """Let a policy run something tiny, so that its loops are compiled."""

    def rehearse_bound(self) -> None:
        """Find the bound of something tiny, likewise."""

    def run(self, given: Given, rng: np.random.Generator, watch: Watch) -> Happened:
        """Run a policy."""

    def naive(self) -> float:
        """Return what all tasks would earn if none waited."""

    def bound(self, *, time_limit: float | None, watch: Watch) -> FoundBound:
        """Prove what no schedule can pass."""

    def offline(self, prices: ArrivalPrices, watch: Watch) -> DaySchedule | ClustersSchedule:
        """Return a schedule that knows all tasks, at the prices of the bound."""

    def measured(self, trial: int, schedule: DaySchedule | ClustersSchedule) -> PolicyRun:
        """Check a schedule, and measure it; raises `InvalidScheduleError` if it breaks a rule."""


def refusal(name: str, found: str, needed: str, do: str) -> InstanceError:
    """Return the error about something that cannot be asked of a simulation."""
    return InstanceError("simulate", (Fault((name,), found, needed, do),))


def drawn_again(instance: Arriving, trial: int) -> Arriving:
    """Return trial number `trial` of a day or of clusters, by the generator that made it.

    Raises
    ------
    InstanceError
        If the instance does not say how it was made, or was changed since.
    """
    made: Arriving = pkgutil.resolve_name(DRAW)(instance, trial)
    return made
