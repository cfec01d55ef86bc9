"""Simulations of policies on days and clusters, compared with the bound: all measured or proved."""

from __future__ import annotations

import hashlib
import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from lpsched.cancellation import COMPILING, CancelToken
from lpsched.errors import InputIssue, InstanceError, InvalidScheduleError, PolicyError, StalledError
from lpsched.io.rows import plain_words, reason
from lpsched.jit import require_compiler
from lpsched.model.provenance import provenance_of
from lpsched.online.bound.solve import arrival_bound
from lpsched.online.compare import backend as backends
from lpsched.online.day import Day
from lpsched.online.files import read_arriving
from lpsched.online.logged import logged_schedule
from lpsched.online.result.policy import AS_LOGGED, LOG, OFFLINE, PolicyEntry, PolicyRun
from lpsched.online.result.simulation import Simulation, TrialBounds
from lpsched.online.simulate.engine import SimulationTrace, TaskOutcome
from lpsched.online.simulate.options import ClusterOptions, SimulationOptions
from lpsched.pool import ProcessDiedError, each_ended

if TYPE_CHECKING:
    from lpsched.online.clusters import Clusters
    from lpsched.online.compare.backend import SimulationBackend
    from lpsched.online.nodes.state import ClusterPolicy, Place
    from lpsched.online.schedule import ClustersSchedule, DaySchedule
    from lpsched.online.simulate.state import Choose, Policy


# Work items of a simulation: one policy in one trial, or the bounds of that trial. Trial 0 is the instance itself,
# trial t a new draw of the generator that made it, over the same period. Random numbers depend on the seed, the trial
# and the name of the policy only: neither on other policies nor on the order of work.
STOPPED: Final = "stopped before its end"
BOUND: Final = "bound"
AnyBackend: TypeAlias = "SimulationBackend[Any, Any, Any, Any]"


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A policy, by its place, in a trial; without a policy: the bounds, and the offline schedule."""

    trial: int
    place: int | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a work item."""

    item: WorkItem
    run: PolicyRun | None = None
    schedule: DaySchedule | ClustersSchedule | None = None  # of the first trial: those of all would fill the memory
    bounds: TrialBounds | None = None


@dataclass
class SimulationWorker:
    """Does work items; keeps the instance of the last trial."""

    backend: AnyBackend
    policies: tuple[backends.PolicySpec, ...]
    seed: int
    bound: bool
    offline: bool
    time_limit: float | None  # of a bound, in seconds
    _drawn: tuple[int, AnyBackend] | None = None
    _warmed_up: set[str] = field(default_factory=set)

    def name_of(self, item: WorkItem) -> str:
        """Return the name of a work item."""
        reference = BOUND if self.bound else "no-wait reference"
        what = reference if item.place is None else self.policies[item.place].name
        return f"trial {item.trial + 1}, {what}"

    def __call__(self, item: WorkItem, cancel: CancelToken) -> RunResult:
        """Do one work item."""
        backend = self.backend_of(item.trial)
        if item.place is None:
            return self._bounded(item, backend, cancel)
        return self._ran(item, backend, self.policies[item.place], cancel)

    def backend_of(self, trial: int) -> AnyBackend:
        """Return the backend of a trial."""
        if trial == 0:
            return self.backend
        if self._drawn is None or self._drawn[0] != trial:
            self._drawn = trial, self.backend.another(trial)
        return self._drawn[1]

    def _bounded(self, item: WorkItem, backend: AnyBackend, cancel: CancelToken) -> RunResult:
        """Find the bound of the tasks, and the schedule from its prices."""
        naive = TrialBounds(item.trial, backend.no_wait_reference(), tasks=backend.instance.tasks)
        if not self.bound:
            return RunResult(item, bounds=naive)
        self._warm_up_once(BOUND, lambda: arrival_bound(backend.warm_up_backend().instance), item, cancel)
        found = arrival_bound(backend.instance, time_limit=self.time_limit, cancel=cancel)
        names = [each.name for each in backend.instance.runs_on()]
        hours = zip(names, found.per_machine_hour, strict=True)
        bounds = replace(
            naive,
            bound=found.bound,
            bound_seconds=found.seconds,
            per_machine_hour=tuple(hours),
            per_kwh=None if backend.instance.watts is None else found.per_kwh,  # not known without watts
            by_cluster=() if found.by_cluster is None else tuple(zip(names, found.by_cluster, strict=True)),
        )
        if not self.offline:
            return RunResult(item, bounds=bounds)
        began = time.perf_counter()
        schedule = backend.offline(found.prices, cancel)
        run = backend.measured(item.trial, schedule)
        run = replace(run, seconds=time.perf_counter() - began)
        return RunResult(item, run, schedule if item.trial == 0 else None, bounds)

    def _warm_up_once(
        self, name: str, warm_up_backend: Callable[[], object], item: WorkItem, cancel: CancelToken
    ) -> None:
        """Compile loops, unless this process has."""
        if name not in self._warmed_up:
            cancel.report(COMPILING)
            warm_up_backend()
            self._warmed_up.add(name)
            cancel.report(self.name_of(item))

    def _ran(self, item: WorkItem, backend: AnyBackend, spec: backends.PolicySpec, cancel: CancelToken) -> RunResult:
        """Run a policy, a built-in one after its JIT warm-up; one that fails leaves its reason; our bugs are raised."""
        refusals = (PolicyError, StalledError) if spec.policy is None else (Exception,)
        began = time.perf_counter()
        try:
            if spec.policy is None:
                self._warm_up_once(spec.name, lambda: backend.warm_up(spec.name), item, cancel)
            began = time.perf_counter()
            of_name = int.from_bytes(hashlib.sha256(spec.name.encode()).digest()[:8], "little")
            trace = backend.run(spec, np.random.default_rng([self.seed, item.trial, of_name]), cancel)
            took = time.perf_counter() - began
            run = _measured(backend, item.trial, trace) if trace.is_whole else None
        except refusals as error:
            why = plain_words(reason(error))
            return RunResult(item, PolicyRun(item.trial, reason=why, seconds=time.perf_counter() - began))
        if run is None:
            return RunResult(item, PolicyRun(item.trial, reason=STOPPED, seconds=took))
        return RunResult(item, replace(run, seconds=took), trace.schedule if item.trial == 0 else None)


def _measured(backend: AnyBackend, trial: int, trace: SimulationTrace[Any]) -> PolicyRun:
    """Measure a simulated day, and count the tasks that did not run by their outcome."""
    period = backend.instance.period
    arrivals = np.frombuffer(backend.instance.arriving.arrivals)
    waiting = (trace.outcomes == TaskOutcome.WAITING) & (arrivals < period.ends_at)
    dropped = (trace.outcomes == TaskOutcome.DROPPED) & (trace.dropped_at >= period.begins_at)
    events = len(trace.event_at)
    return replace(
        backend.measured(trial, trace.schedule),
        dropped=int(dropped.sum()),
        waiting=int(waiting.sum()),
        events=events,
        event_seconds=float(trace.event_seconds.mean()) if events else None,
    )


def work_off(worker: SimulationWorker, items: Sequence[WorkItem], *, jobs: int, cancel: CancelToken) -> list[RunResult]:
    """Do work items one after another, or in several processes, and return the results in their order.

    Items not begun when the token has expired have none.
    """
    answers: dict[int, RunResult] = {}
    if min(jobs, len(items)) <= 1:
        for number, item in enumerate(items):
            if cancel.expired():
                break
            cancel.report(worker.name_of(item), done=number, total=len(items))
            answers[number] = worker(item, cancel)
        return list(answers.values())
    try:
        pickle.dumps(worker)
    except Exception as error:  # whatever a user's policy holds
        found = f"something that cannot be sent to another process ({type(error).__name__}: {error})"
        raise _unshared(found, "use one job, or functions of a module") from error

    def look() -> None:
        cancel.report("at work", done=len(answers), total=len(items))

    try:
        with closing(each_ended(worker, items, jobs=jobs, cancel=cancel, look=look)) as all_ended:
            for ended in all_ended:
                if ended.error is not None:
                    raise ended.error
                answers[ended.number] = cast("RunResult", ended.answer)
    except ProcessDiedError as error:
        raise _unshared("a process that ended before its work", "choose fewer jobs: memory may be short") from error
    return [answers[number] for number in sorted(answers)]


def _unshared(found: str, do: str) -> InstanceError:
    return InstanceError("jobs", (InputIssue(("jobs",), found, "work that other processes can do", do),))


ALL: Final = "all"
NO_SOLVER: Final = "simulation"
NOT_RUN: Final = "stopped before it began"
OFFLINE_ENTRY: Final = backends.PolicySpec(OFFLINE, OFFLINE)


def simulate(  # noqa: PLR0913 - options are keyword-only
    instance: Day | Clusters | Path | str,
    policies: Sequence[str | Policy | Choose | ClusterPolicy | Place],
    *,
    options: SimulationOptions | ClusterOptions | None = None,
    bound: bool = False,
    offline: bool = False,
    trials: int = 1,
    jobs: int = 1,
    seed: int = 0,
    time_limit: float | None = None,
    cancel: CancelToken | None = None,
) -> Simulation:
    """Simulate policies on a day, and on days drawn like it; measure, and compare them with the bound.

    Parameters
    ----------
    instance
        A day of machines, or clusters, or the path of their file.
    policies
        Names (`all`: every one), functions `(state, rng) -> assignments` (for clusters: placements), or
        policies made of such functions. One that fails is an entry with the reason.
    options
        How the days are run: scheduling events, dropping, energy filter; for clusters, `ClusterOptions`.
    bound
        Whether to prove how much any schedule of each day can earn.
    offline
        Whether to make a schedule of each day as well that knows all tasks beforehand, also from the bound's prices;
        of clusters where waiting has a cost, not of those with utilities.
    trials
        How many days: the first is the day itself, the others are drawn by the generator that made it.
    jobs
        How many processes share the work; the answers do not depend on it.
    seed
        Random seed; each policy gets a generator of its own in each trial, made from it.
    time_limit
        Seconds that each bound may take; whenever it ends, the bound holds.
    cancel
        Cancels the rest; what is done by then is returned.

    Raises
    ------
    InstanceError
        If there is no such policy, further days cannot be drawn, or something has no meaning for clusters.
    MissingExtraError
        If Numba is not installed.
    InvalidScheduleError
        If a schedule of ours is not valid, or earns more than the bound, which is a bug.
    """
    require_compiler("simulating a day", "simulate")
    instance = read_arriving(instance) if isinstance(instance, Path | str) else instance
    backend = _backend(instance, options, offline=offline)
    specs = _specs(backend, policies)
    for name, count in (("trials", trials), ("jobs", jobs)):
        if count < 1:
            raise backends.input_error(name, str(count), "a whole number from 1 up", "correct it")
    places = (*range(len(specs)), None)  # bounds last: a cancelled run has the policies
    items = [WorkItem(trial, place) for trial in range(trials) for place in places]
    worker = SimulationWorker(backend, specs, seed, bound or offline, offline, time_limit)
    if trials > 1:
        worker.backend_of(1)  # raises an error now, if ever
    results = work_off(worker, items, jobs=jobs, cancel=cancel or CancelToken())
    bounds = _bounds(results)
    entries = [_entry(backend, each, place, results, bounds) for place, each in enumerate(specs)]
    if not isinstance(instance, Day) and instance.arriving.logged_starts is not None:
        entries.insert(0, _as_logged(backend, instance, bounds))
    if offline:
        entries.append(_entry(backend, OFFLINE_ENTRY, None, results, bounds))
    return Simulation(
        tuple(entries),
        tuple(bounds.values()),
        asked_trials=trials,
        seed=seed,
        options=asdict(backend.options),
        energy_constraint_joules=instance.period.energy_constraint_joules,
        provenance=provenance_of(instance, NO_SOLVER),
        judged=backend.judged,
        waiting=None if isinstance(instance, Day) or instance.waiting is None else instance.waiting.model_dump(),
        unit="machine" if isinstance(instance, Day) else instance.unit,
        epoch=None if isinstance(instance, Day) else instance.epoch,
    )


def _backend(
    instance: Day | Clusters, options: SimulationOptions | ClusterOptions | None, *, offline: bool
) -> AnyBackend:
    if isinstance(instance, Day):
        if not isinstance(options, SimulationOptions | None):
            raise backends.input_error("options", type(options).__name__, "SimulationOptions, for a day", "bring them")
        return backends.DayBackend(instance, options or SimulationOptions())
    if not isinstance(options, ClusterOptions | None):
        raise backends.input_error("options", type(options).__name__, "ClusterOptions, for clusters", "bring them")
    if offline and instance.waiting is None:
        raise backends.no_offline_schedule()
    options = options or backends.usual_options(instance)
    if options.energy_filter is not None:  # show the default leniency
        options = replace(options, leniency=options.factor)
    return backends.ClusterBackend(instance, options)


def _specs(
    backend: AnyBackend, policies: Sequence[str | Policy | Choose | ClusterPolicy | Place]
) -> tuple[backends.PolicySpec, ...]:
    """Return the policies, each name once, before anything is run."""
    found: dict[str, backends.PolicySpec] = {}
    for each in policies:
        for one in backend.all_names() if each == ALL else [each]:
            spec = backend.find(one)
            found.setdefault(spec.name, spec)
    if not found:
        names = ", ".join(backend.all_names())
        raise backends.input_error("policies", "none", "at least one", f"name some, of {names}")
    return tuple(found.values())


def _bounds(results: Sequence[RunResult]) -> dict[int, TrialBounds]:
    """Return the bounds of each trial; of one that was stopped before them, what its runs say."""
    known = {each.item.trial: each.bounds for each in results if each.bounds is not None}
    for each in results:
        if each.run is not None and each.run.measured is not None:
            tasks = each.run.costly_tasks or 0
            known.setdefault(each.item.trial, TrialBounds(each.item.trial, each.run.naive, tasks=tasks))
    return dict(sorted(known.items()))


def _entry(
    backend: AnyBackend,
    spec: backends.PolicySpec,
    place: int | None,
    results: Sequence[RunResult],
    bounds: Mapping[int, TrialBounds],
) -> PolicyEntry:
    own = [each for each in results if each.item.place == place and each.run is not None]
    runs = tuple(_against(spec.name, each.run, bounds) for each in own if each.run is not None)
    schedule = next((each.schedule for each in own if each.schedule is not None), None)
    runs = runs or (PolicyRun(0, reason=NOT_RUN),)
    return PolicyEntry(spec.name, spec.kind, runs, schedule, backend.judged)


def _as_logged(backend: AnyBackend, clusters: Clusters, bounds: Mapping[int, TrialBounds]) -> PolicyEntry:
    """Return what really happened, measured as the schedules of policies are."""
    began = time.perf_counter()
    try:
        found = logged_schedule(clusters)
    except PolicyError as error:
        return PolicyEntry(AS_LOGGED, LOG, (PolicyRun(0, reason=str(error)),), None, backend.judged)
    run = replace(backend.measured(0, found.schedule), seconds=time.perf_counter() - began)
    return PolicyEntry(AS_LOGGED, LOG, (_against(AS_LOGGED, run, bounds),), found.schedule, backend.judged, found.note)


def _against(name: str, run: PolicyRun, bounds: Mapping[int, TrialBounds]) -> PolicyRun:
    found = bounds.get(run.trial)
    if found is None or found.bound is None or run.measured is None:
        return run
    if run.measured.utility > found.bound:
        earned = f"{name} earns {run.measured.utility!r} in trial {run.trial}"
        raise InvalidScheduleError(f"{earned}, more than the bound of {found.bound!r}")
    return replace(run, bound=found.bound)
