"""Fronts of utility over energy of a day, against a proved envelope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.cancellation import CancelToken
from lpsched.errors import InstanceError, InvalidScheduleError
from lpsched.evolve.fronts import Chain, FrontEntry, front_entry, reference_of
from lpsched.evolve.nsga2 import NO_SEEDS, NSGA2, STOPPED, EvolvedFront, Evolving, evolved_for
from lpsched.io.rows import NOT_RUN, files_at, is_path, unreadable
from lpsched.model.provenance import provenance_of
from lpsched.model.risk import Risk, RiskOptions, risk_of_samples
from lpsched.model.violation import Violation
from lpsched.online.bound.no_waiting import NoWaitingFront, no_waiting_front
from lpsched.online.compare.schedules import run_on_day
from lpsched.online.day import Day
from lpsched.online.evolve import DayProblem
from lpsched.online.files import read_day_schedule
from lpsched.online.heuristics import heuristic_for_days, names_for_days
from lpsched.online.parts import require_whole
from lpsched.online.result.comparisons import DayFront, FuzzyFront, FuzzyPoint, UtilityPoint
from lpsched.online.schedule import DaySchedule
from lpsched.online.verify.day import examine

if TYPE_CHECKING:
    from lpsched.evolve.genes import GeneSamples, Scorer


# There is no exact front here: the envelope u(E) lets every task run as if no other was there. Distances are as in
# `evolve/fronts.py`, with minus utility as the second criterion:
#     distance            1 - U / u(E)    of a point (E, U): the share of utility that is missing
#     hypervolume ratio   integral of the best utility within E  /  integral of u(E)
#                         over the energies from the least of all that is compared to a tenth beyond the largest, the
#                         envelope's vertices right of the least included; from a utility of 0
# The envelope begins at no energy, where all tasks are dropped. A method that runs them all cannot reach that, so areas
# begin at the least energy of all points compared.
#     nsga2         an evolved front                      evolve/nsga2.py
#     a heuristic   one point                             online/heuristics.py
#     a file        one point: a schedule of the day
#     a folder      the points of all schedules in it
# Source: Friese, thesis of 2015, chapter 5.
SEEDS: Final = ("min-energy", "min-min", "max-utility", "utility-per-energy")


def compare_day_fronts(  # noqa: PLR0913 - options are keyword-only
    day: Day | Path | str,
    methods: Sequence[str | Path],
    *,
    evolving: Evolving | None = None,
    drop_below: float | None = None,
    scorer: Scorer | None = None,
    seed: int = 0,
    cancel: CancelToken | None = None,
) -> DayFront:
    """Compare fronts and schedules of a day with the envelope.

    Parameters
    ----------
    day
        A day, or the path of its file.
    methods
        `nsga2`, names of registered heuristics for days, files of schedules, or folders of them.
    evolving
        Options of NSGA-II; by default it is seeded with the four heuristics of the thesis.
    drop_below
        Tasks that would earn less do not run; `None` drops none.
    scorer
        What NSGA-II ranks by, in place of energy and utility; its points are measured without samples anyway.
    seed
        Random seed; each method draws from a generator of its own.
    cancel
        Stops the rest, and reports progress.

    Raises
    ------
    InstanceError
        If a method or a seed is not known, or cannot run on this day: NSGA-II does not support a period.
    MissingExtraError
        If NSGA-II is asked for, and pymoo or Numba are not installed.
    InvalidScheduleError
        If a valid schedule is above the envelope, which is a bug.
    """
    day = Day.given(day)
    evolving = evolving if evolving is not None else Evolving(seed_with=SEEDS)
    given = [str(method) for method in methods]
    _require_known(given, evolving)
    if NSGA2 in given:
        require_whole(day.name, day.period, "NSGA-II")
    cancel = cancel if cancel is not None else CancelToken()
    cancel.report("proving the envelope")
    envelope = no_waiting_front(day)
    contest = _Contest(day, envelope, evolving, drop_below, scorer, seed, cancel)
    entries = [contest.entry(method) for method in given]
    corners = tuple(map(UtilityPoint, envelope.energies, envelope.utilities))
    judged = zip(entries, area_ratios(corners, [entry.points for entry in entries]), strict=True)
    entries = [replace(entry, hypervolume_ratio=ratio) for entry, ratio in judged]
    return DayFront(corners, seed, tuple(entries), provenance_of(day, "none"))


def area_ratios(envelope: Sequence[UtilityPoint], fronts: Sequence[Sequence[UtilityPoint]]) -> list[float | None]:
    """Return the hypervolume ratio of each front, all over the same energies; `None` where these are one."""
    points = [_pair(point) for front in fronts for point in front]
    if not points:
        return [None] * len(fronts)
    whole = Chain(tuple(_pair(corner) for corner in envelope))
    least, _ = min(points)
    chain = Chain(((least, whole.at(least)), *(each for each in whole.corners if each[0] > least)))
    largest, _ = reference_of([*chain.corners, *points])
    return [chain.area_ratio([_pair(point) for point in front], (largest, 0.0)) for front in fronts]


def _pair(point: UtilityPoint) -> tuple[float, float]:
    return point.energy_joules, -point.utility


def _is_path(method: str) -> bool:
    return is_path(method, Path(method), names_for_days())


def _require_known(methods: Sequence[str], evolving: Evolving) -> None:
    for method in methods:
        if method != NSGA2 and not _is_path(method):
            heuristic_for_days(method)
    for name in evolving.seed_with:
        if evolving.seed_with != (NO_SEEDS,):
            heuristic_for_days(name)


@dataclass(frozen=True, slots=True)
class _Contest:
    """The day, its envelope, and how to run the methods."""

    day: Day
    envelope: NoWaitingFront
    evolving: Evolving
    drop_below: float | None
    scorer: Scorer | None
    seed: int
    cancel: CancelToken

    def entry(self, method: str) -> FrontEntry[UtilityPoint, DaySchedule]:
        """Run or read one method."""
        if self.cancel.is_stopped:
            return self._verified(method, [(Violation(NOT_RUN, STOPPED),)])
        if method == NSGA2:
            return self._evolved()
        if _is_path(method):
            return self._verified(method, _read(self.day, Path(method)))
        self.cancel.report(method)
        made, seconds = self._ran(method)
        return replace(self._verified(method, [(made,) if isinstance(made, Violation) else made]), seconds=seconds)

    def _ran(self, name: str) -> tuple[DaySchedule | Violation, float]:
        return run_on_day(self.day, heuristic_for_days(name), seed=self.seed, drop_below=self.drop_below)

    def _seeds(self) -> list[DaySchedule]:
        """Return the schedules that join the first population; an invalid one does not."""
        named = () if self.evolving.seed_with == (NO_SEEDS,) else self.evolving.seed_with
        made = [self._ran(name)[0] for name in named]
        return [each for each in made if isinstance(each, DaySchedule) and examine(self.day, each).measured]

    def _evolved(self) -> FrontEntry[UtilityPoint, DaySchedule]:
        evolved = evolved_for(
            DayProblem(self.day, self.drop_below),
            self.evolving,
            seed=self.seed,
            seeds=self._seeds(),
            cancel=self.cancel,
            judge=lambda scores: self._distances([UtilityPoint(float(x), -float(y)) for x, y in scores])[0],
            scorer=self.scorer,
        )
        return replace(
            self._verified(NSGA2, evolved.schedules()),
            seconds=evolved.population.seconds,
            generations=evolved.generations,
            ended=evolved.ended,
        )

    def _verified(
        self, name: str, schedules: Iterable[DaySchedule | tuple[Violation, ...]]
    ) -> FrontEntry[UtilityPoint, DaySchedule]:
        """Return a method's undominated points, verified, and their distances from the envelope."""
        valid: list[tuple[UtilityPoint, DaySchedule]] = []
        broken: list[tuple[Violation, ...]] = []
        for schedule in schedules:
            if isinstance(schedule, tuple):
                broken.append(schedule)
                continue
            found = examine(self.day, schedule)
            if found.measured is None:
                broken.append(found.violations)
                continue
            point = UtilityPoint(found.measured.energy_joules, found.measured.utility)
            most = self.envelope.most_utility(point.energy_joules)
            if point.utility > most:
                earned = f"{name} on {self.day.name}: {point.utility!r} with {point.energy_joules!r} J"
                raise InvalidScheduleError(f"{earned} is more than the {most!r} that is proved")
            valid.append((point, schedule))
        return front_entry(name, valid, broken, _pair, self._distances)

    def _distances(self, points: Sequence[UtilityPoint]) -> tuple[float | None, float | None]:
        """Return the mean and the largest share of utility that is missing up to the envelope."""
        most = [(point, self.envelope.most_utility(point.energy_joules)) for point in points]
        below = [max(0.0, 1.0 - point.utility / top) if top > 0 else 0.0 for point, top in most]
        return (sum(below) / len(below), max(below)) if below else (None, None)


def _read(day: Day, path: Path) -> list[DaySchedule | tuple[Violation, ...]]:
    """Return the schedule in a file, or all those in a folder; one that cannot be read breaks a rule."""
    found: list[DaySchedule | tuple[Violation, ...]] = []
    for file in files_at(path):
        try:
            found.append(read_day_schedule(day, file))
        except InstanceError as error:
            found.append(unreadable(error))
    return found


def fuzzy_front(
    front: EvolvedFront, options: RiskOptions, *, seed: int, name: str, by_percentile: bool = False
) -> FuzzyFront:
    """Run the schedules of an evolved front in all samples.

    With the seed and the options that the front was ranked by, the draws are those that it was ranked by: by
    expected values, or `by_percentile` of the options.
    """
    scorer = front.problem.sampled(options, seed)
    drawn = scorer.samples(front.genes)
    values = drawn.makespan_seconds if drawn.utility is None else drawn.utility
    points = tuple(
        FuzzyPoint(
            energy_joules=joules,
            value=value,
            sampled_energy_joules=tuple(drawn.energy_joules[k].tolist()),
            sampled_values=tuple(values[k].tolist()),
            risk=_risk(drawn, k, options, seed),
        )
        for k, (joules, value) in enumerate(front.points)
    )
    ranked_by = f"percentile {options.percentile:g}" if by_percentile else "expected values"
    return FuzzyFront(name, ranked_by, front.problem.criterion, front.problem.tasks, points)


def _risk(drawn: GeneSamples, k: int, options: RiskOptions, seed: int) -> Risk:
    """Return the risk of one schedule; the planned values are in the front."""
    quantities = {"energy_joules": drawn.energy_joules[k], "makespan_seconds": drawn.makespan_seconds[k]}
    if drawn.utility is not None and drawn.dropped_tasks is not None:
        quantities = {"utility": drawn.utility[k], **quantities}
        quantities["dropped_tasks"] = drawn.dropped_tasks[k].astype(float)
    return risk_of_samples({name: (None, each) for name, each in quantities.items()}, {}, options, seed)
