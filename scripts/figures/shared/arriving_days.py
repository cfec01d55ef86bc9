"""Runs behind the figures of the thesis's chapters 2 to 4 and of the Jobs paper: policies on generated days.

A case is a kind of day (of machines, or of clusters), a policy and how the day is run. Each case is run in as
many trials as asked for: the day of the seed, and others drawn like it. Runs are shared by several processes;
with `--runs FILE` each is kept as a JSON line, written at once, and nothing is run twice, by whichever
figure. `--part 0.1` makes all days a tenth as long, with a tenth of the tasks and the energy: to try a
script, not to compare with print.

Two names are no policies: `naive` only measures what the day would earn if nothing waited, `bound` proves
what no schedule of it can pass. Every other number is measured by the verifier.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.generate.clusters import machovec_clusters
from lpsched.generate.day import another_day, essc_day
from lpsched.generate.options import Affinity, EsscOptions, MachovecOptions
from lpsched.model.provenance import Estimate, estimate_of
from lpsched.online.bound.no_waiting import no_wait_reference
from lpsched.online.bound.offers import offers_of
from lpsched.online.bound.solve import arrival_bound
from lpsched.online.compare.simulations import simulate
from lpsched.online.day import Day
from lpsched.online.result.policy import shown, shown_share
from lpsched.online.simulate.options import SimulationOptions
from lpsched.units import GIGA, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lpsched.online.clusters import Clusters
    from lpsched.online.simulate.options import ClusterOptions

FIGURES: Final = Path(__file__).parents[3] / "docs" / "figures"
NAIVE: Final = "naive"
BOUND: Final = "bound"
DROPPING: Final = SimulationOptions(drop_below=0.5)
OF_ENERGY: Final = 0.7  # of what max-max-upt takes without a constraint
HOUR: Final = 3_600.0
TITLES: Final = {
    "random": "Random",
    "round-robin": "Round-Robin",
    "max-util": "Max Util",
    "max-upt": "Max UPT",
    "met-random": "MET-Random",
    "met-max-util": "MET-Max Util",
    "min-min": "Min-Min Comp",
    "sufferage": "Sufferage",
    "max-max-util": "Max-Max Util",
    "max-max-upt": "Max-Max UPT",
    "met-max-util-max-upt": "MET-Max Util-Max UPT",
    "max-max-upe": "Max-Max UPE",
    "weighted-util": "Weighted Util",
    "weighted-upt": "Weighted UPT",
    "weighted-upe": "Weighted UPE",
    "prices": "prices (ours)",
}
NAIVE_ONES: Final = ("random", "round-robin")
SMART_ONES: Final = ("max-util", "max-upt", "met-random", "met-max-util")
BATCH_ONES: Final = ("min-min", "sufferage", "max-max-util", "max-max-upt", "met-max-util-max-upt")
CHAPTER_2: Final = (*NAIVE_ONES, *SMART_ONES, *BATCH_ONES)
Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A kind of day, a policy on it, and how the day is run."""

    day: EsscOptions | MachovecOptions
    policy: str
    options: SimulationOptions | ClusterOptions = DROPPING


def arguments(what: str, figure: str, *, trials: int, settings: Sequence[str] = ()) -> argparse.Namespace:
    """Read how many trials, processes and so on; the default takes about two minutes on two quiet cores.

    Parameters
    ----------
    settings
        Names to choose from with `--setting`, the default first; the others have figures of their own.
    """
    parser = argparse.ArgumentParser(description=what, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=trials, help=f"days; {trials} by default")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, default=0, help="of the first day")
    parser.add_argument("--part", type=float, default=1.0, help="of the day, its tasks and its energy")
    parser.add_argument("--runs", type=Path, help="a file of runs; what is in it is not run again")
    parser.add_argument("--figure", type=Path)
    if settings:
        parser.add_argument("--setting", choices=settings, default=settings[0], help="of the generated days")
    asked = parser.parse_args()
    if asked.figure is None:
        other = f"-{asked.setting}" if settings and asked.setting != settings[0] else ""
        asked.figure = FIGURES / f"{figure}{other}.svg"
    return asked


def chapter_2(tasks: int) -> EsscOptions:
    """Return the day of chapter 2: 24 hours after two of warm-up, one P-state."""
    return EsscOptions(tasks=tasks)


def chapter_3(energy_gigajoules: float | None = None, affinity: Affinity = "example") -> EsscOptions:
    """Return the day of chapter 3: 24 hours after 24 of warm-up, three P-states, prorated edges."""
    return EsscOptions(
        tasks=50_000, warm_up_hours=24.0, p_states=3, energy_gigajoules=energy_gigajoules, affinity=affinity
    )


def chapter_4(energy_gigajoules: float | None = 1.11) -> EsscOptions:
    """Return the day of chapter 4: 24 hours after two of warm-up, three P-states, 1.11 GJ."""
    return EsscOptions(tasks=32_000, p_states=3, energy_gigajoules=energy_gigajoules)


class Runs:
    """Runs cases in all trials, and remembers what was measured."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self._known: dict[str, Line] = {}
        if asked.runs is not None and asked.runs.exists():
            kept = asked.runs.read_text(encoding="utf-8").splitlines()
            self._known = {line["key"]: line for line in map(json.loads, kept)}

    def run(self, cases: Iterable[Case]) -> None:
        """Run all cases that are not known yet; trial by trial, so that a day is drawn once."""
        missing: dict[str, tuple[Case, int]] = {}
        every = tuple(cases)
        for trial in range(self.asked.trials):
            for case in every:
                if self._key(case, trial) not in self._known:
                    missing[self._key(case, trial)] = case, trial
        if not missing:
            return
        work = partial(ran, seed=self.asked.seed, part=self.asked.part)
        jobs = min(self.asked.jobs, len(missing))
        if jobs == 1:
            for key, item in missing.items():
                self._keep(key, work(item))
            return
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            for key, line in zip(missing, pool.map(work, missing.values()), strict=True):
                self._keep(key, line)

    def _keep(self, key: str, line: Line) -> None:
        self._known[key] = {"key": key, **line}
        if self.asked.runs is not None:
            with self.asked.runs.open("a", encoding="utf-8") as file:
                file.write(json.dumps(self._known[key]) + "\n")

    def _key(self, case: Case, trial: int) -> str:
        said = (case.day.model_dump(), case.policy, asdict(case.options), self.asked.seed, self.asked.part, trial)
        return json.dumps(said)

    def lines(self, case: Case) -> list[Line]:
        """Return what was measured in each trial; runs the case if need be."""
        self.run([case])
        return [self._known[self._key(case, trial)] for trial in range(self.asked.trials)]

    def mean(self, case: Case, quantity: str = "utility") -> Estimate:
        """Return the mean over the trials, with its interval."""
        return estimate_of([line[quantity] for line in self.lines(case)])

    def portion(self, case: Case, priority: str) -> Estimate:
        """Return what tasks of a priority earned, as a share of the most that they could."""
        pairs = [line["earned"][priority] for line in self.lines(case)]
        return estimate_of([utility / most for utility, most in pairs])

    def over(self, better: Case, other: Case, quantity: str = "utility") -> Estimate:
        """Return by which share one case earns (or takes) more than another, the mean over the trials."""
        pairs = zip(self.lines(better), self.lines(other), strict=True)
        return estimate_of([a[quantity] / b[quantity] - 1.0 for a, b in pairs])

    def trace(self, case: Case, quantity: str, unit: float = 1.0) -> tuple[list[float], tuple[Estimate, ...]]:
        """Return hours, and what was counted by then: `utility` or `energy_joules`."""
        traces = [line["traces"] for line in self.lines(case)]
        counted = zip(*(trace[quantity] for trace in traces), strict=True)
        hours = [seconds / HOUR for seconds in traces[0]["seconds"]]
        return hours, tuple(estimate_of([each / unit for each in moment]) for moment in counted)

    def constraint(self, affinity: Affinity = "example") -> float:
        """Return 70 % of what max-max-upt takes in a day of chapter 3 without a constraint, in gigajoules."""
        taken = self.mean(Case(chapter_3(affinity=affinity), "max-max-upt"), "energy_joules")
        part: float = self.asked.part
        return OF_ENERGY * taken.mean / GIGA / part

    def best(self, cases: Sequence[Case]) -> Case:
        """Return the case that earns the most on average."""
        self.run(cases)
        return max(cases, key=lambda case: self.mean(case).mean)


@lru_cache(maxsize=3)
def day_of(options: EsscOptions | MachovecOptions, trial: int, seed: int, part: float) -> Day | Clusters:
    """Return the day of a trial, the part of it that was asked for."""
    energy = options.energy_gigajoules
    shorter = options.model_copy(
        update={
            "hours": part * options.hours,
            "warm_up_hours": part * options.warm_up_hours,
            "energy_gigajoules": None if energy is None else part * energy,
        }
    )
    if isinstance(shorter, MachovecOptions):  # whose tasks are those of 24 hours, however long the period
        return another_day(machovec_clusters("jobs", seed, shorter), trial)
    fewer = shorter.model_copy(update={"tasks": max(1, round(part * options.tasks))})
    return another_day(essc_day("thesis", seed, fewer), trial)


def ran(item: tuple[Case, int], *, seed: int, part: float) -> Line:
    """Run one case in one trial, and return what was measured."""
    case, trial = item
    day = day_of(case.day, trial, seed, part)
    if case.policy == NAIVE:
        assert isinstance(day, Day), "of clusters, every run and every bound knows it"
        return {"utility": no_wait_reference(offers_of(day), day.period)}
    if case.policy == BOUND:
        found = arrival_bound(day)
        return {"utility": found.bound, "naive": found.naive, "seconds": found.seconds}
    (entry,) = simulate(day, [case.policy], options=case.options, seed=trial).policies
    run = entry.runs[0]
    assert run.traces is not None, run.reason
    return {
        **run.to_dict(),
        "earned": {each.name: (each.utility, each.if_none_waits) for each in run.earned},
        "traces": run.traces.to_dict(),
    }


def tell(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table in Markdown; the first column is text, the others numbers."""
    print(f"\n| {' | '.join(headers)} |\n| --- |{' ---: |' * (len(headers) - 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def of(estimate: Estimate) -> str:
    """Write a mean with its interval."""
    return shown(estimate)


def share(estimate: Estimate) -> str:
    """Write a share in percent with its interval."""
    return shown_share(estimate)


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """Return an estimate in another unit."""
    half = estimate.half_width
    return Estimate(factor * estimate.mean, None if half is None else factor * half)


def best_place(places: Sequence[str], estimates: Sequence[Estimate]) -> str:
    """Return the value of a setting whose mean is the largest; of equal ones the first."""
    return max(zip(places, estimates, strict=True), key=lambda pair: pair[1].mean)[0]


def trials_in_words(asked: argparse.Namespace) -> str:
    """Return how many trials of which seed a figure shows."""
    some = f"{asked.trials} trial{'s' * (asked.trials != 1)} from seed {asked.seed}"
    return some if asked.part == 1.0 else f"{some}, {number(asked.part)} of each day"
