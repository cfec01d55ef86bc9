"""Plans over hours: gap and seconds on real prices, and the bound of a year of hours.

plans   bags at half load (task counts are scaled so that the fastest way takes half of the horizon), all machines may
        be off, least cost: the gap between the verified plan and the proved bound, the gap to what is spent where
        prices are positive, and seconds in all (of them for the bound)
year    the proved bound over as many hours as the series has, and how far the program of the work relaxation is from it

Prices: `--prices FILE` as `lpsched solve --tariff` takes it, by default the week of January 2024 that is shipped;
`--start DATE,...` are the days on which plans begin. All work is counted, so that only seconds differ from run
to run. Compiled code is loaded before the clock starts.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.bag.files import read_bag
from lpsched.bag.horizon.relaxation import relax_work
from lpsched.bag.horizon.solve import HorizonProblem, build_horizon, plan_problem, search_of
from lpsched.bag.problem import proved_makespan
from lpsched.cli.horizon import WORDS
from lpsched.io.series_files import read_series
from lpsched.lp.solvers import default_solver

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.model.series import Series

INSTANCES: Final = Path(__file__).parents[2] / "instances"
BAGS: Final = ("zeus-34x4", "front-30x9", "profit-30x9", "veed-12x6")
PRICES: Final = INSTANCES / "prices-de-2024-01-08.csv"
HOURS: Final = (24, 168)
LOAD: Final = 0.5
HOUR: Final = 3600.0


def loaded(bag: Bag, hours: int, load: float, times: int = 1) -> Bag:
    """Return a bag whose tasks are a share of what its machines could run in some hours; all of it some times."""
    share = load * hours * HOUR / proved_makespan(bag, default_solver())
    machines = tuple(each.model_copy(update={"count": times * each.count}) for each in bag.machine_types)
    tasks = tuple(
        each.model_copy(update={"count": times * max(1, round(each.count * share))}) for each in bag.task_types
    )
    return bag.model_copy(update={"machine_types": machines, "task_types": tasks})


def problem_of(  # noqa: PLR0913, PLR0917 - a bag and its hours
    name: str, prices: Series, hours: int, start: str | None, load: float, times: int = 1
) -> HorizonProblem:
    """Return the problem of an instance over some hours."""
    bag = loaded(read_bag(INSTANCES / f"{name}.yaml"), hours, load, times)
    begin = prices.start if start is None else start
    return build_horizon(bag, horizon=hours * HOUR, start=begin, tariff=prices, switch_off=True)


def plans(arguments: argparse.Namespace, prices: Series) -> None:
    """Print gaps and seconds of plans."""
    print("bag          hours start            tasks      gap of spent groups      s bound s")
    for hours in arguments.hours:
        for start in arguments.start or [None]:
            for name in arguments.bags:
                problem = problem_of(name, prices, hours, start, arguments.load, arguments.times)
                work, solver, cancel = search_of(arguments.effort, None, None, None)
                begin = time.perf_counter()
                found = plan_problem(problem, solver, cancel, work=work, gap=1e-4, seed=0, baselines=False)
                seconds = time.perf_counter() - begin
                print(
                    f"{name:<12} {hours:>5} {start or 'first':<12} {problem.bag.tasks:>9,} {found.gap or 0:>8.3%} "
                    f"{found.gross_gap or 0:>8.3%} {len(found.plan.groups):>6} {seconds:>6.1f} "
                    f"{found.timings['relax']:>7.1f}",
                    flush=True,
                )


def year(arguments: argparse.Namespace, prices: Series) -> None:
    """Print the bound over all hours of a series."""
    hours = int((prices.end - prices.start) // HOUR)
    for name in arguments.bags:
        problem = problem_of(name, prices, hours, None, arguments.load)
        arrays, begin = problem.arrays(), time.perf_counter()
        found = relax_work(arrays, default_solver(), None)
        seconds = time.perf_counter() - begin
        print(f"{name:<12} {hours:>5} slots: {seconds:.2f} s, program to bound {found.value / found.bound - 1.0:.1e}")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("plans", "year"), default="plans")
    parser.add_argument("--prices", default=str(PRICES))
    parser.add_argument("--currency", default="USD", help="of the prices")
    parser.add_argument("--start", type=lambda text: text.split(","), default=None)
    parser.add_argument("--hours", type=lambda text: [int(each) for each in text.split(",")], default=HOURS)
    parser.add_argument("--bags", type=lambda text: text.split(","), default=BAGS)
    parser.add_argument("--effort", default="auto")
    parser.add_argument("--load", type=float, default=LOAD)
    parser.add_argument("--times", type=int, default=1, help="as many machines, and tasks for them")
    arguments = parser.parse_args()
    file, *words = WORDS.split(arguments.prices)
    named = dict(zip(words[::2], words[1::2], strict=True))
    prices = read_series(file, "tariff", currency=arguments.currency, time_zone="UTC", fill=True, **named)
    warm = problem_of("tiny", prices, 2, None, LOAD)
    work, solver, cancel = search_of("fast", None, None, None)
    plan_problem(warm, solver, cancel, work=work, gap=1e-4, seed=0, baselines=False)
    {"plans": plans, "year": year}[arguments.what](arguments, prices)


if __name__ == "__main__":
    main()
