"""Policies on days as they happen, each held against what no schedule can pass: all measured or proved."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final

from lpsched.compare.cluster_stage import ClusterStage, no_offline_schedule, usual_options
from lpsched.compare.day_stage import DayStage
from lpsched.compare.simulated import Piece, Question, Simulating
from lpsched.compare.stage import Given, refusal
from lpsched.compare.workers import work_off
from lpsched.compiled import require_compiler
from lpsched.errors import InvalidScheduleError
from lpsched.instance.day import Day
from lpsched.result.policy_entry import OFFLINE, PolicyEntry
from lpsched.result.policy_run import PolicyRun
from lpsched.result.provenance import provenance_of
from lpsched.result.simulation import Simulation, TrialBounds
from lpsched.simulation.clusters.options import ClusterOptions
from lpsched.simulation.options import SimulationOptions
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.compare.simulated import Done
    from lpsched.compare.stage import Stage
    from lpsched.instance.clusters import Clusters
    from lpsched.simulation.clusters.policy import ClusterPolicy, Place
    from lpsched.simulation.policy import Choose, Policy

ALL: Final = "all"
NO_SOLVER: Final = "simulation"
NOT_RUN: Final = "stopped before it began"
OFFLINE_ENTRY: Final = Given(OFFLINE, OFFLINE)


def simulate(  # noqa: PLR0913 - options are keyword-only
    instance: Day | Clusters,
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
        A day of machines, or clusters.
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
    stage = _stage(instance, options, offline=offline)
    given = _given(stage, policies)
    _require_counts({"trials": trials, "jobs": jobs})
    places = (*range(len(given)), None)  # bounds last: whoever says stop meanwhile has the rest
    pieces = [Piece(trial, place) for trial in range(trials) for place in places]
    question = Question(stage, given, seed, bound or offline, offline, time_limit)
    worker = Simulating(question)
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
        waiting=None if stage.waiting is None else asdict(stage.waiting),
    )


def _stage(
    instance: Day | Clusters, options: SimulationOptions | ClusterOptions | None, *, offline: bool
) -> Stage:
    """Return the stage that fits the instance.

    Raises
    ------
    InstanceError
        If the options are those of the other kind, or an offline schedule of clusters is asked for.
    """
    if isinstance(instance, Day):
        if not isinstance(options, SimulationOptions | None):
            raise refusal("options", type(options).__name__, "SimulationOptions, for a day", "bring them")
        return DayStage(instance, options or SimulationOptions())
    if not isinstance(options, ClusterOptions | None):
        raise refusal("options", type(options).__name__, "ClusterOptions, for clusters", "bring them")
    if offline:
        raise no_offline_schedule()
    return ClusterStage(instance, _explicit(options or usual_options(instance)))


def _explicit(options: ClusterOptions) -> ClusterOptions:
    """Name the leniency that a filter has where nobody said."""
    return replace(options, leniency=options.factor) if options.energy_filter is not None else options


def _given(
    stage: Stage, policies: Sequence[str | Policy | Choose | ClusterPolicy | Place]
) -> tuple[Given, ...]:
    """Find policies before anything is run, each name once.

    Raises
    ------
    InstanceError
        If there are none, or one is not known, or cannot be run so.
    """
    found: dict[str, Given] = {}
    for each in policies:
        for one in stage.all_names() if each == ALL else [each]:
            given = stage.find(one)
            found.setdefault(given.name, given)
    if not found:
        names = ", ".join(stage.all_names())
        raise refusal("policies", "none", "at least one", f"name some, of {names}")
    return tuple(found.values())


def _require_counts(counts: Mapping[str, int]) -> None:
    """Refuse less than one of anything.

    Raises
    ------
    InstanceError
        If so few are asked for.
    """
    for name, count in counts.items():
        if count < 1:
            raise refusal(name, str(count), "a whole number from 1 up", "correct it")


def _bounds(done: Sequence[Done]) -> dict[int, TrialBounds]:
    """Return the bounds of each trial; of one that was stopped before it came to them, what its runs know."""
    known = {each.piece.trial: each.bounds for each in done if each.bounds is not None}
    for each in done:
        if each.run is not None and each.run.measured is not None:
            tasks = each.run.costly_tasks or 0
            known.setdefault(each.piece.trial, TrialBounds(each.piece.trial, each.run.naive, tasks=tasks))
    return dict(sorted(known.items()))


def _entry(
    stage: Stage, given: Given, place: int | None, done: Sequence[Done], bounds: Mapping[int, TrialBounds]
) -> PolicyEntry:
    """Put the runs of a policy together."""
    own = [each for each in done if each.piece.place == place and each.run is not None]
    runs = tuple(_against(given.name, each.run, bounds) for each in own if each.run is not None)
    schedule = next((each.schedule for each in own if each.schedule is not None), None)
    runs = runs or (PolicyRun(0, reason=NOT_RUN),)
    return PolicyEntry(given.name, given.kind, runs, schedule, stage.judged)


def _against(name: str, run: PolicyRun, bounds: Mapping[int, TrialBounds]) -> PolicyRun:
    """Hold a run against the bound of its trial.

    Raises
    ------
    InvalidScheduleError
        If a verified schedule earns more than the proved bound: one of them is wrong.
    """
    found = bounds.get(run.trial)
    if found is None or found.bound is None or run.measured is None:
        return run
    if run.measured.utility > found.bound:
        earned = f"{name} earns {run.measured.utility!r} in trial {run.trial}"
        raise InvalidScheduleError(f"{earned}, more than the bound of {found.bound!r}")
    return replace(run, bound=found.bound)
