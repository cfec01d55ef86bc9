"""Policies on days as they happen, each held against what no schedule can pass."""

from __future__ import annotations

import hashlib
import pickle
import time
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from lpsched.cancellation import Watch
from lpsched.errors import Fault, InstanceError, InvalidScheduleError, PolicyError, StalledError
from lpsched.io.rows import plain_words, reason
from lpsched.jit import require_compiler
from lpsched.model.provenance import provenance_of
from lpsched.online.bound.solve import arrival_bound
from lpsched.online.compare.backend import ClusterStage, DayStage, Given, no_offline_schedule, refusal, usual_options
from lpsched.online.day import Day
from lpsched.online.files import read_arriving
from lpsched.online.result.policy import OFFLINE, PolicyEntry, PolicyRun
from lpsched.online.result.simulation import Simulation, TrialBounds
from lpsched.online.simulate.engine import Fate
from lpsched.online.simulate.options import ClusterOptions, SimulationOptions
from lpsched.pool import ProcessDiedError, each_ended

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lpsched.online.clusters import Clusters
    from lpsched.online.compare.backend import Stage
    from lpsched.online.nodes.state import ClusterPolicy, Place
    from lpsched.online.schedule import ClustersSchedule, DaySchedule
    from lpsched.online.simulate.engine import Simulated
    from lpsched.online.simulate.state import Choose, Policy


# The pieces of a simulation: one policy on the day of one trial, or the bounds of that day.
#
# Trial 0 is the day itself, trial t a new draw of the generator that made it, judged over the same period.
# What is left to chance depends on the seed, the trial and the name of the policy, and on nothing else:
# neither on other policies nor on the order in which anything is run.
STOPPED: Final = "stopped before its end"
BOUND: Final = "bound"
AnyStage: TypeAlias = "Stage[Any, Any, Any, Any]"


@dataclass(frozen=True, slots=True)
class Piece:
    """A policy, by its place, in a trial; without a policy: the bounds, and the offline schedule."""

    trial: int
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a piece."""

    piece: Piece
    run: PolicyRun | None = None
    schedule: DaySchedule | ClustersSchedule | None = None  # of the first trial: those of all would fill the memory
    bounds: TrialBounds | None = None


@dataclass
class Simulating:
    """Does pieces of a simulation; keeps the day of the trial that it was asked for last."""

    stage: AnyStage
    policies: tuple[Given, ...]
    seed: int
    bound: bool
    offline: bool
    time_limit: float | None  # of a bound, in seconds
    _drawn: tuple[int, AnyStage] | None = None
    _rehearsed: set[str] = field(default_factory=set)

    def name_of(self, piece: Piece) -> str:
        """Return what to call a piece."""
        what = BOUND if piece.place is None else self.policies[piece.place].name
        return f"trial {piece.trial}, {what}"

    def __call__(self, piece: Piece, watch: Watch) -> Done:
        """Do one piece."""
        stage = self.stage_of(piece.trial)
        if piece.place is None:
            return self._bounded(piece, stage, watch)
        return self._ran(piece, stage, self.policies[piece.place], watch)

    def stage_of(self, trial: int) -> AnyStage:
        """Return the stage of a trial."""
        if trial == 0:
            return self.stage
        if self._drawn is None or self._drawn[0] != trial:
            self._drawn = trial, self.stage.another(trial)
        return self._drawn[1]

    def _bounded(self, piece: Piece, stage: AnyStage, watch: Watch) -> Done:
        """Find what the tasks could earn at most, and what they would in a schedule from those prices."""
        naive = TrialBounds(piece.trial, stage.naive(), tasks=stage.instance.tasks)
        if not self.bound:
            return Done(piece, bounds=naive)
        self._rehearse(BOUND, lambda: arrival_bound(stage.rehearsal().instance))
        found = arrival_bound(stage.instance, time_limit=self.time_limit, watch=watch)
        hours = zip((each.name for each in stage.instance.runs_on()), found.per_machine_hour, strict=True)
        bounds = replace(
            naive,
            bound=found.bound,
            bound_seconds=found.seconds,
            per_machine_hour=tuple(hours),
            per_kwh=None if stage.instance.watts is None else found.per_kwh,  # nobody knows where there are no watts
        )
        if not self.offline:
            return Done(piece, bounds=bounds)
        began = time.perf_counter()
        schedule = stage.offline(found.prices, watch)
        run = stage.measured(piece.trial, schedule)
        run = replace(run, seconds=time.perf_counter() - began)
        return Done(piece, run, schedule if piece.trial == 0 else None, bounds)

    def _rehearse(self, name: str, rehearsal: Callable[[], object]) -> None:
        """Do it, unless this process has: compiled loops stay."""
        if name not in self._rehearsed:
            rehearsal()
            self._rehearsed.add(name)

    def _ran(self, piece: Piece, stage: AnyStage, given: Given, watch: Watch) -> Done:
        """Run a policy, one of ours once it has rehearsed; one that fails leaves its reason.

        A mistake of ours is raised.
        """
        refusals = (PolicyError, StalledError) if given.brought is None else (Exception,)
        began = time.perf_counter()
        try:
            if given.brought is None:
                self._rehearse(given.name, lambda: stage.rehearse(given.name))
            began = time.perf_counter()
            of_name = int.from_bytes(hashlib.sha256(given.name.encode()).digest()[:8], "little")
            happened = stage.run(given, np.random.default_rng([self.seed, piece.trial, of_name]), watch)
            took = time.perf_counter() - began
            run = _measured(stage, piece.trial, happened) if happened.is_whole else None
        except refusals as error:
            why = plain_words(reason(error))
            return Done(piece, PolicyRun(piece.trial, reason=why, seconds=time.perf_counter() - began))
        if run is None:
            return Done(piece, PolicyRun(piece.trial, reason=STOPPED, seconds=took))
        return Done(piece, replace(run, seconds=took), happened.schedule if piece.trial == 0 else None)


def _measured(stage: AnyStage, trial: int, happened: Simulated[Any]) -> PolicyRun:
    """Measure a simulated day, and count what became of the tasks that did not run."""
    period = stage.instance.period
    arrivals = np.frombuffer(stage.instance.arriving.arrivals)
    waiting = (happened.fates == Fate.WAITING) & (arrivals < period.ends_at)
    dropped = (happened.fates == Fate.DROPPED) & (happened.dropped_at >= period.begins_at)
    events = len(happened.event_at)
    return replace(
        stage.measured(trial, happened.schedule),
        dropped=int(dropped.sum()),
        waiting=int(waiting.sum()),
        events=events,
        event_seconds=float(happened.event_seconds.mean()) if events else None,
    )


# Pieces do not know of each other: they are done one after another, or in the processes of `pool.py`.
def work_off(worker: Simulating, pieces: Sequence[Piece], *, jobs: int, watch: Watch) -> list[Done]:
    """Return the answers in the order of the pieces; pieces not begun when the watch is over have none."""
    answers: dict[int, Done] = {}
    if min(jobs, len(pieces)) <= 1:
        for number, piece in enumerate(pieces):
            if watch.is_over():
                break
            watch.tell(worker.name_of(piece), done=number, total=len(pieces))
            answers[number] = worker(piece, watch)
        return list(answers.values())
    try:
        pickle.dumps(worker)
    except Exception as error:  # whatever a policy of somebody else's holds
        found = f"something that cannot be sent to another process ({type(error).__name__}: {error})"
        raise _unshared(found, "use one job, or bring functions of a module") from error

    def look() -> None:
        watch.tell("at work", done=len(answers), total=len(pieces))

    try:
        with closing(each_ended(worker, pieces, jobs=jobs, watch=watch, look=look)) as all_ended:
            for ended in all_ended:
                if ended.error is not None:
                    raise ended.error
                answers[ended.number] = cast("Done", ended.answer)
    except ProcessDiedError as error:
        raise _unshared("a process that ended before its work", "choose fewer jobs: memory may be short") from error
    return [answers[number] for number in sorted(answers)]


def _unshared(found: str, do: str) -> InstanceError:
    return InstanceError("jobs", (Fault(("jobs",), found, "work that other processes can do", do),))


# Policies on days as they happen, each held against what no schedule can pass: all measured or proved.
ALL: Final = "all"
NO_SOLVER: Final = "simulation"
NOT_RUN: Final = "stopped before it began"
OFFLINE_ENTRY: Final = Given(OFFLINE, OFFLINE)


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
    watch: Watch | None = None,
) -> Simulation:
    """Run policies on a day, and on days drawn like it; measure, and tell their distance from the bound.

    Parameters
    ----------
    instance
        A day of machines, or clusters; or the path of their file.
    policies
        Names (`all`: every one), functions `(state, rng) -> assignments` (for clusters: placements), or
        policies made of such functions. One that fails is an entry with the reason.
    options
        How the days are run: mapping events, dropping, energy filter; for clusters, `ClusterOptions`.
    bound
        Whether to prove how much any schedule of each day can earn.
    offline
        Whether to make a schedule of each day from the bound's prices as well, knowing all tasks beforehand.
    trials
        How many days: the first is the day itself, the others are drawn by the generator that made it.
    jobs
        How many processes share the work; the answers do not depend on it.
    seed
        Of what is left to chance: each policy gets a generator of its own in each trial, made from it.
    time_limit
        Seconds that each bound may take; whenever it ends, the bound holds.
    watch
        A watch over all of it, that others may stop: what is done by then is told.

    Raises
    ------
    InstanceError
        If there is no such policy, further days cannot be drawn, or something has no meaning for clusters.
    MissingExtraError
        If Numba is not installed.
    InvalidScheduleError
        If a schedule of ours is not valid, or earns more than the bound: it is our mistake.
    """
    require_compiler("simulating a day", "simulate")
    instance = read_arriving(instance) if isinstance(instance, Path | str) else instance
    stage = _stage(instance, options, offline=offline)
    given = _given(stage, policies)
    for name, count in (("trials", trials), ("jobs", jobs)):
        if count < 1:
            raise refusal(name, str(count), "a whole number from 1 up", "correct it")
    places = (*range(len(given)), None)  # bounds last: whoever says stop meanwhile has the rest
    pieces = [Piece(trial, place) for trial in range(trials) for place in places]
    worker = Simulating(stage, given, seed, bound or offline, offline, time_limit)
    if trials > 1:
        worker.stage_of(1)  # refused now, if ever
    done = work_off(worker, pieces, jobs=jobs, watch=watch or Watch())
    bounds = _bounds(done)
    entries = [_entry(stage, each, place, done, bounds) for place, each in enumerate(given)]
    if offline:
        entries.append(_entry(stage, OFFLINE_ENTRY, None, done, bounds))
    return Simulation(
        tuple(entries),
        tuple(bounds.values()),
        asked_trials=trials,
        seed=seed,
        options=asdict(stage.options),
        energy_constraint_joules=instance.period.energy_constraint_joules,
        provenance=provenance_of(instance, NO_SOLVER),
        judged=stage.judged,
        waiting=None if isinstance(instance, Day) or instance.waiting is None else instance.waiting.model_dump(),
    )


def _stage(instance: Day | Clusters, options: SimulationOptions | ClusterOptions | None, *, offline: bool) -> AnyStage:
    """Return the stage that fits the instance."""
    if isinstance(instance, Day):
        if not isinstance(options, SimulationOptions | None):
            raise refusal("options", type(options).__name__, "SimulationOptions, for a day", "bring them")
        return DayStage(instance, options or SimulationOptions())
    if not isinstance(options, ClusterOptions | None):
        raise refusal("options", type(options).__name__, "ClusterOptions, for clusters", "bring them")
    if offline:
        raise no_offline_schedule()
    options = options or usual_options(instance)
    if options.energy_filter is not None:  # name the leniency that a filter has where nobody said
        options = replace(options, leniency=options.factor)
    return ClusterStage(instance, options)


def _given(stage: AnyStage, policies: Sequence[str | Policy | Choose | ClusterPolicy | Place]) -> tuple[Given, ...]:
    """Find policies before anything is run, each name once."""
    found: dict[str, Given] = {}
    for each in policies:
        for one in stage.all_names() if each == ALL else [each]:
            given = stage.find(one)
            found.setdefault(given.name, given)
    if not found:
        names = ", ".join(stage.all_names())
        raise refusal("policies", "none", "at least one", f"name some, of {names}")
    return tuple(found.values())


def _bounds(done: Sequence[Done]) -> dict[int, TrialBounds]:
    """Return the bounds of each trial; of one that was stopped before it came to them, what its runs know."""
    known = {each.piece.trial: each.bounds for each in done if each.bounds is not None}
    for each in done:
        if each.run is not None and each.run.measured is not None:
            tasks = each.run.costly_tasks or 0
            known.setdefault(each.piece.trial, TrialBounds(each.piece.trial, each.run.naive, tasks=tasks))
    return dict(sorted(known.items()))


def _entry(
    stage: AnyStage, given: Given, place: int | None, done: Sequence[Done], bounds: Mapping[int, TrialBounds]
) -> PolicyEntry:
    """Put the runs of a policy together."""
    own = [each for each in done if each.piece.place == place and each.run is not None]
    runs = tuple(_against(given.name, each.run, bounds) for each in own if each.run is not None)
    schedule = next((each.schedule for each in own if each.schedule is not None), None)
    runs = runs or (PolicyRun(0, reason=NOT_RUN),)
    return PolicyEntry(given.name, given.kind, runs, schedule, stage.judged)


def _against(name: str, run: PolicyRun, bounds: Mapping[int, TrialBounds]) -> PolicyRun:
    """Hold a run against the bound of its trial."""
    found = bounds.get(run.trial)
    if found is None or found.bound is None or run.measured is None:
        return run
    if run.measured.utility > found.bound:
        earned = f"{name} earns {run.measured.utility!r} in trial {run.trial}"
        raise InvalidScheduleError(f"{earned}, more than the bound of {found.bound!r}")
    return replace(run, bound=found.bound)
