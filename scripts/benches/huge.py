"""Huge bags: prices and columns against HiGHS's own simplex and interior point, in one run.

Random bags by the coefficient-of-variation method (0.5 across task types, 0.35 across machine types, some
hundred tasks of each type). `ours` is the whole relaxation, from the bag to shares and prices: soft prices,
columns, Dinkelbach for profit. HiGHS gets the whole program as arrays, with its default tolerances; only its
run is timed, not the writing of the program. `--large` adds a bag of 100,000 x 100, its time and its memory.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import TYPE_CHECKING, Any, Final

import highspy
import numpy as np

from lpsched.bag import front, profit
from lpsched.bag.certificate.bounds import Prover
from lpsched.bag.problem import OBJECTIVES, screen_of
from lpsched.bag.relaxation import scaling_of
from lpsched.bag.solve import solve
from lpsched.generate.bags import cov_bag
from lpsched.generate.options import CovOptions
from lpsched.lp.solvers import HighsSolver, pass_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.model import Bag
    from lpsched.lp.program import LinearProgram

METHODS: Final = ("simplex", "ipm")
MEBIBYTE: Final = 1024.0  # kilobytes


def random_bag(types: int, machines: int, seed: int = 0) -> Bag:
    """Return a bag with a price of one and a half times its cheapest energy, or so."""
    rng = np.random.default_rng(seed)
    counts = tuple(int(each) for each in rng.integers(5, 60, machines))
    options = CovOptions(task_types=types, machines=counts, tasks=100 * types, task_cov=0.5, machine_cov=0.35)
    bag = cov_bag(f"{types}x{machines}", rng, options)
    bag = bag.model_copy(update={"prices": bag.prices.model_copy(update={"electricity_per_kwh": 0.1})})
    least = OBJECTIVES["energy"].relax(bag, HighsSolver()).energy_joules
    assert least is not None
    return bag.model_copy(update={"prices": bag.prices.model_copy(update={"per_bag": 1.5 * 0.1 / 3.6e6 * least})})


def program_of(bag: Bag, objective: str) -> tuple[LinearProgram, float, float]:
    """Return the whole program, and what turns its optimum into seconds or money per second."""
    if objective == "makespan":
        scales = front.scaling_for(bag, front.MAKESPAN)
        return front.compile_lp(scales, front.MAKESPAN), front.unit_of(scales, front.MAKESPAN), 0.0
    scales = scaling_of(bag)
    money = profit.profit_model(scales)
    return profit.compile_lp(scales, money), -money.unit / scales.seconds, -money.fixed_rate


def highs_seconds(program: LinearProgram, method: str, limit: float) -> tuple[float, float | None]:
    """Return how long HiGHS takes by one of its methods, and its optimum (none at the limit)."""
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in {"output_flag": False, "solver": method, "time_limit": limit}.items():
        highs.setOptionValue(option, value)
    pass_program(highs, program)
    clock = time.perf_counter()
    highs.run()
    seconds = time.perf_counter() - clock
    solved = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return seconds, highs.getInfo().objective_function_value if solved else None


def compare(types: int, machines: int, limit: float) -> None:
    """Print one size: both objectives, ours against HiGHS."""
    bag = random_bag(types, machines)
    for name in ("makespan", "profit"):
        clock = time.perf_counter()
        relaxed = OBJECTIVES[name].relax(bag, HighsSolver())
        ours = time.perf_counter() - clock
        clock = time.perf_counter()
        prover = Prover(bag, screen_of(bag))
        proved = OBJECTIVES[name].prove(prover, relaxed.multipliers) / (1.0 if name == "makespan" else 3600.0)
        proof = time.perf_counter() - clock
        program, unit, offset = program_of(bag, name)
        print(f"{types:>7,} x {machines:<4} {name:<9} ours {ours:7.2f} s, exact proof {proof:5.2f} s", flush=True)
        best = np.inf
        for method in METHODS:
            seconds, optimum = highs_seconds(program, method, limit)
            if optimum is None:
                print(f"{'':24}HiGHS {method:<8} stopped at {seconds:7.1f} s")
                continue
            best = min(best, seconds)
            apart = abs(proved - (optimum * unit + offset)) / abs(proved)
            print(
                f"{'':24}HiGHS {method:<8} {seconds:7.2f} s, optimum and our proved bound {apart:.1e} apart", flush=True
            )
        print(f"{'':24}{best / ours:.1f} times faster than the better of the two")


def large() -> None:
    """Print time and memory of a whole solve of 100,000 x 100."""
    bag = random_bag(100_000, 100)
    for name in ("makespan", "profit"):
        clock = time.perf_counter()
        result = solve(bag, objective=name)
        seconds = time.perf_counter() - clock
        gibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEBIBYTE / 1024.0
        took = f"whole solve {seconds:6.1f} s, gap {result.gap:.1e}, peak {gibibytes:.1f} GiB"
        print(f"100,000 x 100  {name:<9} {took}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task-types", type=int, default=10_000)
    parser.add_argument("--machine-types", type=int, default=200)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each run of HiGHS")
    parser.add_argument("--large", action="store_true", help="also solve 100,000 x 100")
    given = parser.parse_args(arguments)
    compare(given.task_types, given.machine_types, given.limit)
    if given.large:
        large()


if __name__ == "__main__":
    main()
