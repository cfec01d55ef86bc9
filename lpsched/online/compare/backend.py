"""What days and clusters have in common when policies are compared on them; processes that share the work."""

from __future__ import annotations

import math
import pickle
import pkgutil
from abc import ABC, abstractmethod
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Protocol, TypeVar, cast

from lpsched.errors import Fault, InstanceError, InvalidScheduleError
from lpsched.online.result.policy import Earned, Traces
from lpsched.online.result.simulation import kinds_by_worth, kinds_of
from lpsched.pool import ProcessDiedError, each_ended

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    import numpy as np

    from lpsched.cancellation import Watch
    from lpsched.model.violation import Violation
    from lpsched.online.bound.tables import ArrivalPrices
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.nodes.state import ClusterPolicy
    from lpsched.online.parts import Period
    from lpsched.online.result.policy import Judged, PolicyRun
    from lpsched.online.schedule import ClustersSchedule, DaySchedule
    from lpsched.online.simulate.engine import Simulated
    from lpsched.online.simulate.options import ClusterOptions, SimulationOptions
    from lpsched.online.simulate.state import Policy
    from lpsched.online.utility import WaitingCost
    from lpsched.online.verify.day import ToldUtility
    from lpsched.plugins import Named


# More of a simulated day than its sums: over time, by priority, by machine type. All by the verifier.
#
# Traces are at 72 even steps of the period: 20 minutes each where it is a day. A period without an end is
# drawn until the last task ends.
STEPS: Final = 72


class Traced(Protocol):
    """An account of a schedule, of whatever kind."""

    def traces(self, times: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return utility and joules that have been counted by some times."""


def length_of(period: Period, makespan_seconds: float | None) -> float:
    """Return how long the period is; without an end, until the last task ends."""
    if period.length_seconds is not None:
        return period.length_seconds
    return max(0.0, (makespan_seconds or 0.0) - period.begins_at)


def traces_of(period: Period, length: float, account: Traced) -> Traces:
    """Return what had been counted by even steps of the period."""
    since = [length * step / STEPS for step in range(STEPS)] + [length]
    begin, end = period.begins_at, period.ends_at
    utility, joules = account.traces([min(begin + seconds, end) for seconds in since])
    return Traces(tuple(since), utility, joules)


def earned_by_kind(instance: Day | Clusters, found: Sequence[ToldUtility]) -> tuple[Earned, ...]:
    """Return what tasks of each priority, or own function, earned; those worth most first."""
    parts: defaultdict[str, list[ToldUtility]] = defaultdict(list)
    for kind, each in zip(kinds_of(instance), found, strict=True):
        parts[kind].append(each)
    return tuple(
        Earned(
            kind, math.fsum(each.earned for each in parts[kind]), math.fsum(each.if_none_waits for each in parts[kind])
        )
        for kind in kinds_by_worth(instance)
    )


def busy_shares(
    day: Day, length: float, busy_seconds: Mapping[tuple[str, int], float]
) -> tuple[tuple[str, float], ...]:
    """Return which share of the period the machines of each type were busy."""
    busy: defaultdict[str, list[float]] = defaultdict(list)
    for (name, _), seconds in busy_seconds.items():
        busy[name].append(seconds)
    return tuple(
        (each.name, math.fsum(busy[each.name]) / (each.count * length) if length else 0.0) for each in day.machine_types
    )


def naive_utility(found: Sequence[ToldUtility]) -> float:
    """Return what all tasks would earn if each began at once where it is quickest."""
    return math.fsum(each.if_none_waits for each in found)


# A simulation backend: an instance whose tasks arrive, how policies are run on it, and how what they do is judged.
#
# Days of machines (`day_backend.py`) and clusters (`cluster_backend.py`) are simulated, shared among processes,
# held against the bound and told alike (`simulations.py`); what differs between them is
# here.
DRAW: Final = "lpsched.generate.day:another_day"  # by name: generators know instances, not the reverse
Arriving = TypeVar("Arriving")
Instance = TypeVar("Instance", bound="Day | Clusters")
Options = TypeVar("Options", bound="SimulationOptions | ClusterOptions")
SomePolicy = TypeVar("SomePolicy", bound="Policy | ClusterPolicy")
Schedule = TypeVar("Schedule", bound="DaySchedule | ClustersSchedule")


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


@dataclass(frozen=True, slots=True)
class Stage(ABC, Generic[Instance, Options, SomePolicy, Schedule]):
    """An instance with the options of its simulation."""

    policy_class: ClassVar[type]
    registry: ClassVar[Named[Any]]
    instance: Instance
    options: Options

    @property
    @abstractmethod
    def judged(self) -> Judged:
        """By what its tasks are judged."""

    @property
    def waiting(self) -> WaitingCost | None:
        """What waiting costs, where tasks are judged by it."""
        return None

    @abstractmethod
    def rehearse(self, name: str) -> None:
        """Let a policy run something tiny, so that its loops are compiled."""

    @abstractmethod
    def rehearse_bound(self) -> None:
        """Find the bound of something tiny, likewise."""

    @abstractmethod
    def run(self, given: Given, rng: np.random.Generator, watch: Watch) -> Simulated[Schedule]:
        """Run a policy."""

    @abstractmethod
    def naive(self) -> float:
        """Return what all tasks would earn, or minus what they would cost, if none waited."""

    @abstractmethod
    def bound(self, *, time_limit: float | None, watch: Watch) -> FoundBound:
        """Prove what no schedule can pass."""

    @abstractmethod
    def offline(self, prices: ArrivalPrices, watch: Watch) -> Schedule:
        """Return a schedule that knows all tasks, at the prices of the bound."""

    @abstractmethod
    def measured(self, trial: int, schedule: Any) -> PolicyRun:  # noqa: ANN401 - of the stage's kind
        """Check a schedule, and measure it; raises `InvalidScheduleError` if it breaks a rule."""

    @abstractmethod
    def _names(self) -> Sequence[str]:
        """Return the names of all policies."""

    @abstractmethod
    def _policy(self, name: str) -> SomePolicy:
        """Return the policy of a name."""

    @abstractmethod
    def _suits(self, policy: SomePolicy) -> bool:
        """Tell whether a policy can be run so."""

    @abstractmethod
    def _unsuited(self, name: str) -> InstanceError:
        """Return the refusal of a policy that cannot."""

    def another(self, trial: int) -> Self:
        """Return the stage of another trial; raises `InstanceError` where nobody can draw one."""
        return replace(self, instance=drawn_again(self.instance, trial))

    def all_names(self) -> tuple[str, ...]:
        """Return the names that `all` stands for: every policy that can be run so."""
        return tuple(name for name in self._names() if self._suits(self._policy(name)))

    def find(self, policy: object) -> Given:
        """Return a policy that can be run so; raises `InstanceError` of others."""
        kind, brought = "function", policy
        if isinstance(policy, str):
            kind, brought = "policy", self._policy(policy)
        elif not isinstance(policy, self.policy_class):
            if not callable(policy):
                needed = f"a name, a {self.policy_class.__name__} or a function"
                raise refusal("policies", repr(policy), needed, "bring one of them")
            brought = self.policy_class(getattr(policy, "__name__", type(policy).__name__), policy)
        found = cast("SomePolicy", brought)
        if not self._suits(found):
            raise self._unsuited(found.name)
        is_known = isinstance(policy, str) and policy.partition(":")[0] not in self.registry.registered
        return Given(found.name, kind, None if is_known else found)  # what is known here only is brought along

    def _require_valid(self, trial: int, violations: Sequence[Violation]) -> None:
        """Refuse to measure a schedule that breaks a rule."""
        for first in violations[:1]:
            raise InvalidScheduleError(f"{self.instance.name}, trial {trial}: {first.code}: {first.sentence}")


def refusal(name: str, found: str, needed: str, do: str) -> InstanceError:
    """Return the error about something that cannot be asked of a simulation."""
    return InstanceError("simulate", (Fault((name,), found, needed, do),))


def drawn_again(instance: Arriving, trial: int) -> Arriving:
    """Return trial number `trial` of a day or of clusters, by the generator that made it."""
    made: Arriving = pkgutil.resolve_name(DRAW)(instance, trial)
    return made


# Pieces of work that do not know of each other, one after another or in the processes of `pool.py`.
Piece = TypeVar("Piece", contravariant=True)  # noqa: PLC0105 - one letter would say less
Answer = TypeVar("Answer", covariant=True)  # noqa: PLC0105


class Worker(Protocol[Piece, Answer]):
    """Does pieces of work."""

    def __call__(self, piece: Piece, watch: Watch, /) -> Answer:
        """Do one; when the watch is over, say what there is."""

    def name_of(self, piece: Piece, /) -> str:
        """Return what to call a piece."""


def work_off(worker: Worker[Piece, Answer], pieces: Sequence[Piece], *, jobs: int, watch: Watch) -> list[Answer]:
    """Return the answers in the order of the pieces; pieces not begun when the watch is over have none."""
    if min(jobs, len(pieces)) <= 1:
        return _one_by_one(worker, pieces, watch)
    _require_sendable(worker)
    answers: dict[int, Answer] = {}

    def look() -> None:
        watch.tell("at work", done=len(answers), total=len(pieces))

    try:
        with closing(each_ended(worker, pieces, jobs=jobs, watch=watch, look=look)) as all_ended:
            for ended in all_ended:
                if ended.error is not None:
                    raise ended.error
                answers[ended.number] = cast("Answer", ended.answer)
    except ProcessDiedError as error:
        raise _refusal("a process that ended before its work", "choose fewer jobs: memory may be short") from error
    return [answers[number] for number in sorted(answers)]


def _one_by_one(worker: Worker[Piece, Answer], pieces: Sequence[Piece], watch: Watch) -> list[Answer]:
    answers = []
    for number, piece in enumerate(pieces):
        if watch.is_over():
            break
        watch.tell(worker.name_of(piece), done=number, total=len(pieces))
        answers.append(worker(piece, watch))
    return answers


def _require_sendable(worker: object) -> None:
    try:
        pickle.dumps(worker)
    except Exception as error:  # whatever a policy of somebody else's holds
        found = f"something that cannot be sent to another process ({type(error).__name__}: {error})"
        raise _refusal(found, "use one job, or bring functions of a module") from error


def _refusal(found: str, do: str) -> InstanceError:
    return InstanceError("jobs", (Fault(("jobs",), found, "work that other processes can do", do),))
