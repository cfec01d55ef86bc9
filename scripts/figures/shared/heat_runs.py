"""Runs of the Heat paper's methods for its figures: one JSON line each, written at once, never run twice.

A line says platform and seed of the facility, the method (`-blind` ones do not count co-location), the
seconds it took, what the verifier measured (crr, rr, watts), what all arrivals would bring, the proved bound,
and how the best reward rose over the seconds, where the method goes on improving.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched import facility
from lpsched.errors import LpschedError
from lpsched.facility.compare import allocate
from lpsched.generate.facility import generate_facility
from lpsched.io.figure_files import write_figure
from lpsched.units import number
from scripts.figures.shared.reward_curves import RewardCurve, reward_over_time_figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched import Facility
    from lpsched.facility.result import Moment
    from lpsched.facility.verify import Measurement

BLIND: Final = "-blind"
APART: Final = 1.1  # times the seconds
FIGURES: Final = Path(__file__).parents[3] / "docs" / "figures"
TITLES: Final = {"greedy": "greedy", "ga-blind": "GA", "ga": "GACL", "nlp-blind": "NLP", "nlp": "NLPCL", "lp": "ours"}
Line = dict[str, Any]


class Runs:
    """The lines of one file, and the methods that have not run yet."""

    def __init__(self, path: Path, platform: str, seed: int, *, with_history: bool = False) -> None:
        self.path, self.platform, self.seed, self.with_history = path, platform, seed, with_history
        path.parent.mkdir(parents=True, exist_ok=True)
        self._facility: Facility | None = None

    @property
    def facility(self) -> Facility:
        """The facility of this platform and seed, made when it is first needed."""
        if self._facility is None:
            self._facility = generate_facility(self.platform, np.random.default_rng(self.seed))
        return self._facility

    def ours(self, *, gap: float = 0.001, time_limit: float | None = None) -> Line:
        """Return the line of our own method, and run it if it has none."""
        known = self._known("lp")
        if known is not None:
            return known
        began = time.perf_counter()
        result = facility(self.facility, gap=gap, time_limit=time_limit)
        took = time.perf_counter() - began
        return self._told("lp", took, result.measured, bound=result.bound, cores=result.cores_reward_rate)

    def theirs(self, name: str, *, time_limit: float | None = None) -> Line:
        """Return the line of one of the paper's methods, and run it if it has none; a failure is one too."""
        known = self._known(name)
        if known is not None:
            return known
        method, blind = name.removesuffix(BLIND), name.endswith(BLIND)
        began = time.perf_counter()
        try:
            result = allocate(
                self.facility, method=method, colocation=not blind, bound=False, seed=self.seed, time_limit=time_limit
            )
        except LpschedError as error:
            return self._write({"name": name, "seconds": time.perf_counter() - began, "failure": str(error)})
        took = result.timings["method"]
        history = thinned(result.history) if self.with_history else []
        return self._told(name, took, result.measured, ended=result.ended, history=history)

    def _told(self, name: str, seconds: float, measured: Measurement, **more: object) -> Line:
        possible = sum(task.reward * task.arrivals_per_second for task in self.facility.task_types)
        rates = {"crr": measured.reward_rate, "rr": measured.plain_reward_rate, "watts": measured.total_watts}
        return self._write({"name": name, "seconds": seconds, **rates, "possible": possible, **more})

    def _write(self, line: Line) -> Line:
        line = {"platform": self.platform, "seed": self.seed, **line}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(", ".join(f"{key} {line[key]}" for key in line if key != "history"), flush=True)
        return line

    def _known(self, name: str) -> Line | None:
        for line in lines(self.path):
            if (line["platform"], line["seed"], line["name"]) == (self.platform, self.seed, name):
                return line
        return None


def thinned(history: tuple[Moment, ...]) -> list[Moment]:
    """Return the moments of a history that are at least some percent of the time apart, and the last."""
    kept: list[Moment] = []
    for moment, after in pairwise((*history, None)):
        if moment is not None and (after is None or not kept or moment[0] >= APART * kept[-1][0]):
            kept.append(moment)
    return kept


def lines(path: Path) -> Iterator[Line]:
    """Read what has run; a line that was cut off by a kill is none."""
    if not path.exists():
        return
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(text)
        except json.JSONDecodeError:
            continue


def reward_over_time(what: str, figure: str, platform: str, names: tuple[str, ...]) -> None:
    """Run methods on one facility, draw their reward over the seconds, and print what each had in the end."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=600.0, help="of each of the paper's methods")
    parser.add_argument("--gap", type=float, default=0.001, help="within which ours may stop")
    parser.add_argument("--runs", type=Path, default=FIGURES / f"{figure}.jsonl")
    parser.add_argument("--figure", type=Path, default=FIGURES / f"{figure}.svg")
    asked = parser.parse_args()
    runs = Runs(asked.runs, platform, asked.seed, with_history=True)
    ours = runs.ours(gap=asked.gap)
    found = [*(runs.theirs(name, time_limit=asked.time_limit) for name in names), ours]
    curves = [RewardCurve(TITLES[line["name"]], _points(line)) for line in found if "crr" in line]
    write_figure(reward_over_time_figure(curves, bound=ours["bound"]), asked.figure)
    print("| method | seconds | CRR | from the bound |\n| --- | ---: | ---: | ---: |")
    for line in found:
        if "crr" in line:
            below = 100 * (1 - line["crr"] / ours["bound"])
            seconds, crr = number(line["seconds"], 3), number(line["crr"])
            print(f"| {TITLES[line['name']]} | {seconds} | {crr} | {below:.3g} % |")
        else:
            print(f"| {TITLES[line['name']]} | {line['seconds']:.3g} | {line['failure']} | |")


def _points(line: Line) -> tuple[tuple[float, float], ...]:
    """Return the reward over the seconds; a method that answers once is a point."""
    end = (line["seconds"], line["crr"])
    return (*((seconds, score) for seconds, _, score in line.get("history", ())), end)
