"""The exact front, and what others find: evolved, by a heuristic, or brought in files.

    nsga2         an evolved front                      evolve/task_front.py
    lp-dense      ours, between the vertices as well    between_vertices.py
    a heuristic   one point                             heuristics/registry.py
    a file        one point: a schedule, compact or one row per task
    a folder      the points of all schedules in it

All are verified, and held against the proofs of the exact front. What the numbers mean: `distances.py`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.compare.between_vertices import schedules_along
from lpsched.compare.brought import read_and_checked
from lpsched.compare.distances import reference_of
from lpsched.compare.front_points import chain_of, distances, entry_of, pair_of
from lpsched.compare.outside import NOT_RUN, files_at, is_path
from lpsched.compare.schedulers import failed, run
from lpsched.evolve.bag_problem import BagProblem
from lpsched.evolve.evolving import NO_SEEDS, NSGA2, STOPPED, Evolving
from lpsched.evolve.task_front import evolve_front
from lpsched.heuristics.registry import heuristic, names
from lpsched.instance.terms import Terms
from lpsched.pipeline.fronts import front
from lpsched.result.front import Point
from lpsched.result.front_comparison import OURS, FrontComparison
from lpsched.result.machine_point import along
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.compare.schedulers import Ran
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats
    from lpsched.lp.program import Solver
    from lpsched.result.front import FrontResult
    from lpsched.result.front_entry import FrontEntry
    from lpsched.schedule.bag import Schedule

DENSE: Final = "lp-dense"
MOST_OF_OURS: Final = 50  # as seeds; half of the first population stays left to chance


def compare_fronts(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    methods: Sequence[str | Path],
    *,
    evolving: Evolving | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    sample: int = 0,
    power_cap: float | None = None,
    deadline: float | None = None,
    effort: str = "auto",
    solver: Solver | None = None,
) -> FrontComparison:
    """Find the exact front of a bag, and hold the fronts and schedules of other methods against it.

    Parameters
    ----------
    methods
        `nsga2`, `lp-dense`, names of registered heuristics, files of schedules, or folders of them.
    evolving
        How NSGA-II shall run.
    seed
        Of all that is left to chance; each method draws from a generator of its own.
    watch
        When to stop, and who hears of progress.
    sample, power_cap, deadline, effort, solver
        As in `front`.

    Raises
    ------
    InstanceError
        As `front` does; if a method or a seed is not known, or cannot run on this bag.
    InfeasibleError, SolverError
        As `front` does.
    MissingExtraError
        If NSGA-II is asked for, and pymoo or Numba are not installed.
    InvalidScheduleError
        If a schedule of ours does not pass verification, or a valid one is below the exact front: our bug.
    """
    evolving = evolving if evolving is not None else Evolving()
    watch = watch if watch is not None else Watch()
    given = [str(method) for method in methods]
    _require_known(given, evolving)
    exact = front(
        bag,
        sample=sample,
        power_cap=power_cap,
        deadline=deadline,
        effort=effort,
        seed=seed,
        watch=watch,
        solver=solver,
    )
    asked = Terms(power_cap_watts=power_cap, deadline_seconds=deadline).applied_to(bag)
    contest = _Contest(asked, exact, evolving, seed, watch)
    entries = [contest.ours(), *(contest.entry(method) for method in given)]
    chain = chain_of(exact)
    pairs = [[pair_of(point) for point in entry.points] for entry in entries]
    reference = reference_of([*chain.corners, *(pair for each in pairs for pair in each)])
    ratios = [chain.area_ratio(each, reference) for each in pairs]
    judged = zip(entries, ratios, strict=True)
    return FrontComparison(
        exact,
        Point(*reference),
        seed,
        tuple(replace(entry, hypervolume_ratio=ratio) for entry, ratio in judged),
    )


def _require_known(methods: Sequence[str], evolving: Evolving) -> None:
    """Refuse names that nobody registered, before any work."""
    for method in methods:
        if method not in {NSGA2, DENSE} and not is_path(method, Path(method), names()):
            heuristic(method)
    for name in evolving.seed_with:
        if name != OURS and evolving.seed_with != (NO_SEEDS,):
            heuristic(name)


@dataclass(frozen=True, slots=True)
class _Contest:
    """The bag under its limits, its exact front, and how to run the others."""

    bag: Bag
    exact: FrontResult
    evolving: Evolving
    seed: int
    watch: Watch

    def ours(self) -> FrontEntry[Point, Schedule]:
        """Return our own schedules, verified once more."""
        brought = [self._checked(schedule) for schedule in self.exact.schedules if schedule is not None]
        return replace(entry_of(self.exact, OURS, brought), seconds=sum(self.exact.timings.values()))

    def entry(self, method: str) -> FrontEntry[Point, Schedule]:
        """Run or read one method."""
        if self.watch.is_stopped:
            return entry_of(self.exact, method, [failed(STOPPED, code=NOT_RUN)])
        if method == NSGA2:
            return self._evolved()
        if method == DENSE:
            return self._dense()
        if is_path(method, Path(method), names()):
            files = files_at(Path(method))
            return entry_of(self.exact, method, (read_and_checked(self.bag, file) for file in files))
        self.watch.tell(method)
        ran = run(self.bag, heuristic(method), seed=self.seed, may_wait=False)
        return replace(entry_of(self.exact, method, [ran]), seconds=ran.seconds)

    def _evolved(self) -> FrontEntry[Point, Schedule]:
        """Run NSGA-II; it does not heed power cap and deadline, the verifier does."""
        evolving, limit = self.evolving, self.evolving.time_limit
        evolved = evolve_front(
            BagProblem(self.bag.without_limits()),
            rng=np.random.default_rng(self.seed),
            seeds=self._seeds(),
            generations=evolving.generations,
            watch=self.watch if limit is None else self.watch.part(limit),
            population=evolving.population,
            keep=evolving.keep,
            judge=self._gap,
        )
        if evolving.found is not None:
            evolving.found(evolved)
        self.watch.tell("verifying what evolved")
        brought = (self._checked(each) for each in evolved.schedules())
        return replace(
            entry_of(self.exact, NSGA2, brought),
            seconds=evolved.population.seconds,
            generations=evolved.generations,
            ended=evolved.ended,
        )

    def _dense(self) -> FrontEntry[Point, Schedule]:
        """Return our own schedules with those between; they take the exact front's time and some more."""
        began = time.perf_counter()
        entry = entry_of(self.exact, DENSE, map(self._checked, schedules_along(self.bag, self.exact)))
        took = time.perf_counter() - began
        return replace(entry, seconds=sum(self.exact.timings.values()) + took)

    def _checked(self, schedule: Schedule) -> Ran:
        """Check a schedule; it waits where the power cap makes it."""
        return run(self.bag, lambda *_: schedule, seed=self.seed, may_wait=False)

    def _seeds(self) -> list[Schedule]:
        """Return the schedules that join the first population; an invalid one does not."""
        seeds: list[Schedule] = []
        for name in self.evolving.seed_with:
            if name == OURS:
                ours = [schedule for schedule in self.exact.schedules if schedule is not None]
                seeds += [ours[place] for place in along(len(ours), MOST_OF_OURS)]
            elif name != NO_SEEDS:
                ran = run(self.bag.without_limits(), heuristic(name), seed=self.seed, may_wait=False)
                seeds += [ran.schedule] if ran.schedule is not None and ran.examined.measured else []
        return seeds

    def _gap(self, scores: Floats) -> float | None:
        """Return the mean distance of the best chromosomes from the exact front."""
        return distances(chain_of(self.exact), [(float(x), float(y)) for x, y in scores])[0]
