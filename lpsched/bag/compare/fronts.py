"""The exact front against what others find."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.compare.result import OURS, FrontComparison
from lpsched.bag.compare.schedules import Ran, failed, read_and_checked, run
from lpsched.bag.evolve import BagProblem
from lpsched.bag.exact_front import front
from lpsched.bag.heuristics import heuristic, names
from lpsched.bag.model import Bag, Terms
from lpsched.bag.recovery.plans import ended
from lpsched.bag.recovery.rounding import Known, place, round_shares
from lpsched.bag.result import FrontResult, HalfPlane, Point
from lpsched.bag.schedule import Schedule, task_counts
from lpsched.cancellation import CancelToken
from lpsched.errors import InvalidScheduleError
from lpsched.evolve.fronts import Chain, FrontEntry, Pair, front_entry, reference_of
from lpsched.evolve.nsga2 import NO_SEEDS, NSGA2, STOPPED, Evolving, evolved_for
from lpsched.io.rows import NOT_RUN, files_at, is_path
from lpsched.model.results import along

if TYPE_CHECKING:
    from lpsched.lp.program import Solver
    from lpsched.model.table import Floats
    from lpsched.model.violation import Violation


# Our own schedules between the vertices of the exact front, as many as an evolved population has.
#
# Let two neighbouring vertices have x and y tasks of each type in each mode. Any mixture (1 - s) x + s y is
# on the edge between them, if tasks could be split. It is rounded to whole tasks and placed, as a vertex is.
# Edges get mixtures by their length, with energy and makespan both in units of the front's extent.
POINTS: Final = 100  # of the whole front; an evolved population has as many


def schedules_along(bag: Bag, front: FrontResult, points: int = POINTS) -> Iterator[Schedule]:
    """Yield the schedules of all vertices, and of mixtures of neighbours, by rising energy."""
    known = [
        (vertex, schedule)
        for vertex, schedule in zip(front.vertices, front.schedules, strict=True)
        if schedule is not None
    ]
    tasks, placed = [task.count for task in bag.task_types], Known()
    whole = sum(_length(front, one, other) for (one, _), (other, _) in pairwise(known))
    for (one, first), (other, second) in pairwise(known):
        yield first
        between = round((points - len(known)) * _length(front, one, other) / whole) if whole else 0
        start, end = _shares(bag, first), _shares(bag, second)
        for step in range(1, between + 1):
            share = step / (between + 1)
            counts = round_shares((1.0 - share) * start + share * end, tasks)
            yield ended(bag, place(bag, counts, placed), late=False)
    yield from (schedule for _, schedule in known[-1:])


def _length(front: FrontResult, one: Point, other: Point) -> float:
    """Return the length of an edge, both criteria in units of the front's extent."""
    first, last = front.vertices[0], front.vertices[-1]
    width, height = last.energy_joules - first.energy_joules, first.makespan_seconds - last.makespan_seconds
    return (other.energy_joules - one.energy_joules) / (width or 1.0) + (
        one.makespan_seconds - other.makespan_seconds
    ) / (height or 1.0)


def _shares(bag: Bag, schedule: Schedule) -> Floats:
    """Return the share of each task type that a schedule runs in each mode."""
    shares = np.zeros((len(bag.task_types), len(bag.modes)))
    for i, (task, row) in enumerate(zip(bag.task_types, task_counts(bag, schedule), strict=True)):
        for column, count in row.items():
            shares[i, column] = count / task.count
    return shares


# Schedules of a method, verified one by one: their energy and makespan, and that none is better than the exact front.
#
# A schedule that breaks a rule is no point; it is counted, and the rules that the first such one breaks are
# reported. A valid schedule better than the exact front would refute a proof, so it raises an error.
def chain_of(front: FrontResult) -> Chain:
    """Return the vertices of the exact front."""
    return Chain(tuple(pair_of(vertex) for vertex in front.vertices))


def pair_of(point: Point) -> Pair:
    """Return energy and makespan."""
    return point.energy_joules, point.makespan_seconds


def entry_of(front: FrontResult, name: str, brought: Iterable[Ran]) -> FrontEntry[Point, Schedule]:
    """Return a method's undominated points and their distances; areas come when all methods are there."""
    found: list[tuple[Point, Schedule]] = []
    broken: list[tuple[Violation, ...]] = []
    chain = chain_of(front)
    for each in brought:
        measured = each.examined.measured
        if measured is None or each.schedule is None:
            broken.append(each.examined.violations)
            continue
        assert measured.energy_joules is not None, "a front needs watts"
        assert measured.makespan_seconds is not None
        point = Point(measured.energy_joules, measured.makespan_seconds)
        require_above(front.proofs, point, f"{name} on {front.provenance.instance_name}")
        found.append((point, each.schedule))
    return front_entry(name, found, broken, pair_of, lambda points: distances(chain, [*map(pair_of, points)]))


def distances(chain: Chain, pairs: Sequence[Pair]) -> tuple[float | None, float | None]:
    """Return the mean and the largest distance of points from the front at the same energy."""
    above = [max(0.0, y / chain.at(x) - 1.0) for x, y in pairs]  # what is below is the rounding of the front
    return (sum(above) / len(above), max(above)) if above else (None, None)


def require_above(proofs: Sequence[HalfPlane], point: Point, what: str) -> None:
    """Hold a measured point against all proofs, in exact numbers: both are rounded to the side that is true."""
    joules, seconds = Fraction(point.energy_joules), Fraction(point.makespan_seconds)
    for proof in proofs:
        cost = Fraction(proof.joules_weight) * joules + Fraction(proof.seconds_weight) * seconds
        if cost < Fraction(proof.bound):
            raise InvalidScheduleError(
                f"{what}: {point.energy_joules!r} J and {point.makespan_seconds!r} s are below a proof: "
                f"{proof.joules_weight!r} J + {proof.seconds_weight!r} s >= {proof.bound!r}"
            )


# The exact front, and what others find: evolved, by a heuristic, or brought in files.
#
#     nsga2         an evolved front                      evolve/nsga2.py
#     lp-dense      ours, between the vertices as well    fronts.py
#     a heuristic   one point                             bag/heuristics.py
#     a file        one point: a schedule, compact or one row per task
#     a folder      the points of all schedules in it
#
# All are verified, and held against the proofs of the exact front. What the numbers mean: `evolve/fronts.py`.
DENSE: Final = "lp-dense"
MOST_OF_OURS: Final = 50  # as seeds; half of the first population stays left to chance


def compare_fronts(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    methods: Sequence[str | Path],
    *,
    evolving: Evolving | None = None,
    seed: int = 0,
    cancel: CancelToken | None = None,
    sample: int = 0,
    power_cap: float | None = None,
    deadline: float | None = None,
    effort: str = "auto",
    solver: Solver | None = None,
) -> FrontComparison:
    """Find the exact front of a bag, and hold the fronts and schedules of other methods against it.

    Parameters
    ----------
    bag
        A bag, or the path of its file.
    methods
        `nsga2`, `lp-dense`, names of registered heuristics, files of schedules, or folders of them.
    evolving
        How NSGA-II shall run.
    seed
        Random seed; each method has its own generator.
    cancel
        When to stop, and where progress is reported.
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
    bag = Bag.given(bag)
    evolving = evolving if evolving is not None else Evolving()
    cancel = cancel if cancel is not None else CancelToken()
    given = [str(method) for method in methods]
    _require_known(given, evolving)
    exact = front(
        bag,
        sample=sample,
        power_cap=power_cap,
        deadline=deadline,
        effort=effort,
        seed=seed,
        cancel=cancel,
        solver=solver,
    )
    asked = Terms(power_cap_watts=power_cap, deadline_seconds=deadline).applied_to(bag)
    contest = _Contest(asked, exact, evolving, seed, cancel)
    entries = [contest.ours(), *(contest.entry(method) for method in given)]
    chain = chain_of(exact)
    pairs = [[pair_of(point) for point in entry.points] for entry in entries]
    reference = reference_of([*chain.corners, *(pair for each in pairs for pair in each)])
    ratios = [chain.area_ratio(each, reference) for each in pairs]
    judged = zip(entries, ratios, strict=True)
    return FrontComparison(
        exact, Point(*reference), seed, tuple(replace(entry, hypervolume_ratio=ratio) for entry, ratio in judged)
    )


def _require_known(methods: Sequence[str], evolving: Evolving) -> None:
    """Reject unknown names before any work."""
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
    cancel: CancelToken

    def ours(self) -> FrontEntry[Point, Schedule]:
        """Return our own schedules, verified once more."""
        brought = [self._checked(schedule) for schedule in self.exact.schedules if schedule is not None]
        return replace(entry_of(self.exact, OURS, brought), seconds=sum(self.exact.timings.values()))

    def entry(self, method: str) -> FrontEntry[Point, Schedule]:
        """Run or read one method."""
        if self.cancel.is_stopped:
            return entry_of(self.exact, method, [failed(STOPPED, code=NOT_RUN)])
        if method == NSGA2:
            return self._evolved()
        if method == DENSE:
            return self._dense()
        if is_path(method, Path(method), names()):
            files = files_at(Path(method))
            return entry_of(self.exact, method, (read_and_checked(self.bag, file) for file in files))
        self.cancel.report(method)
        ran = run(self.bag, heuristic(method), seed=self.seed, may_wait=False)
        return replace(entry_of(self.exact, method, [ran]), seconds=ran.seconds)

    def _evolved(self) -> FrontEntry[Point, Schedule]:
        """Run NSGA-II; it does not heed power cap and deadline, the verifier does."""
        evolved = evolved_for(
            BagProblem(self.bag.without_limits()),
            self.evolving,
            seed=self.seed,
            seeds=self._seeds(),
            cancel=self.cancel,
            judge=lambda scores: distances(chain_of(self.exact), [(float(x), float(y)) for x, y in scores])[0],
        )
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
