"""Policies on days as they happen, each held against what no schedule can pass: all measured or proved."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final

from lpsched.compare.policies import find_policy, policy_names
from lpsched.compare.simulated import Given, Piece, Question, Simulating
from lpsched.compare.workers import work_off
from lpsched.compiled import require_compiler
from lpsched.errors import Fault, InstanceError, InvalidScheduleError
from lpsched.result.policy_entry import OFFLINE, PolicyEntry
from lpsched.result.policy_run import PolicyRun
from lpsched.result.provenance import provenance_of
from lpsched.result.simulation import Simulation, TrialBounds
from lpsched.simulation.options import POLLED, SimulationOptions
from lpsched.simulation.policy import Policy
from lpsched.simulation.registry import POLICIES
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.compare.simulated import Done
    from lpsched.instance.day import Day
    from lpsched.simulation.policy import Choose

ALL: Final = "all"
NO_SOLVER: Final = "simulation"
NOT_RUN: Final = "stopped before it began"
OFFLINE_ENTRY: Final = Given(OFFLINE, OFFLINE)


def simulate(  # noqa: PLR0913 - options are keyword-only
    day: Day,
    policies: Sequence[str | Policy | Choose],
    *,
    options: SimulationOptions | None = None,
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
    policies
        Names (`all`: every one), functions `(state, rng) -> assignments`, or policies made of such functions.
        One that fails is an entry with the reason.
    options
        How the days are run: queues, mapping events, dropping, energy filter.
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
        If there is no such policy, or further days cannot be drawn.
    MissingExtraError
        If Numba is not installed.
    InvalidScheduleError
        If a schedule of ours is not valid, or earns more than the bound: it is our mistake.
    """
    require_compiler("simulating a day", "simulate")
    options = options or SimulationOptions()
    given = _given(day, policies, options)
    _require_counts({"trials": trials, "jobs": jobs})
    places = (*range(len(given)), None)  # bounds last: whoever says stop meanwhile has the rest
    pieces = [Piece(trial, place) for trial in range(trials) for place in places]
    question = Question(day, given, options, seed, bound or offline, offline, time_limit)
    worker = Simulating(question)
    if trials > 1:
        worker.day_of(1)  # refused now, if ever
    done = work_off(worker, pieces, jobs=jobs, watch=watch or Watch())
    bounds = _bounds(done)
    entries = [_entry(each, place, done, bounds) for place, each in enumerate(given)]
    if offline:
        entries.append(_entry(OFFLINE_ENTRY, None, done, bounds))
    return Simulation(
        tuple(entries),
        tuple(bounds.values()),
        asked_trials=trials,
        seed=seed,
        options=asdict(options),
        energy_constraint_joules=day.period.energy_constraint_joules,
        provenance=provenance_of(day, NO_SOLVER),
    )


def _given(
    day: Day, policies: Sequence[str | Policy | Choose], options: SimulationOptions
) -> tuple[Given, ...]:
    """Find policies before anything is run, each name once.

    Raises
    ------
    InstanceError
        If there are none, or one is not known, or cannot be run so.
    """
    found: dict[str, Given] = {}
    for each in policies:
        for one in all_names(day, options) if each == ALL else [each]:
            given = _policy(day, one)
            found.setdefault(given.name, given)
    if not found:
        raise _refusal("policies", "none", "at least one", f"name some, of {', '.join(policy_names())}")
    for given in found.values():
        if options.machines == POLLED and _is_immediate(day, given):
            shown = f"{given.name!r}, which maps each task as it comes, and polled machines"
            raise _refusal("policies", shown, "machines with queues for it", "choose queued machines")
    return tuple(found.values())


def all_names(day: Day, options: SimulationOptions) -> tuple[str, ...]:
    """Return the names that `all` stands for: every policy that can be run so."""
    polled = options.machines == POLLED
    return tuple(name for name in policy_names() if not (polled and find_policy(name, day).immediate))


def _policy(day: Day, each: str | Policy | Choose) -> Given:
    if isinstance(each, str):
        found = find_policy(each, day)
        return Given(each, "policy", found if each in POLICIES.registered else None)
    if isinstance(each, Policy):
        return Given(each.name, "function", each)
    name = getattr(each, "__name__", type(each).__name__)
    return Given(name, "function", Policy(name, each))


def _is_immediate(day: Day, given: Given) -> bool:
    return (given.brought or find_policy(given.name, day)).immediate


def _require_counts(counts: Mapping[str, int]) -> None:
    """Refuse less than one of anything.

    Raises
    ------
    InstanceError
        If so few are asked for.
    """
    for name, count in counts.items():
        if count < 1:
            raise _refusal(name, str(count), "a whole number from 1 up", "correct it")


def _refusal(name: str, found: str, needed: str, do: str) -> InstanceError:
    return InstanceError("simulate", (Fault((name,), found, needed, do),))


def _bounds(done: Sequence[Done]) -> dict[int, TrialBounds]:
    """Return the bounds of each trial; of one that was stopped before it came to them, what its runs know."""
    known = {each.piece.trial: each.bounds for each in done if each.bounds is not None}
    for each in done:
        if each.run is not None and each.run.measured is not None:
            known.setdefault(each.piece.trial, TrialBounds(each.piece.trial, each.run.naive))
    return dict(sorted(known.items()))


def _entry(
    given: Given, place: int | None, done: Sequence[Done], bounds: Mapping[int, TrialBounds]
) -> PolicyEntry:
    """Put the runs of a policy together."""
    own = [each for each in done if each.piece.place == place and each.run is not None]
    runs = tuple(_against(given.name, each.run, bounds) for each in own if each.run is not None)
    schedule = next((each.schedule for each in own if each.schedule is not None), None)
    return PolicyEntry(given.name, given.kind, runs or (PolicyRun(0, reason=NOT_RUN),), schedule)


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
