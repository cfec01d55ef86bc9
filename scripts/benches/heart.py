"""How long the heart takes: a whole solve and the exact front, as ratios to bare solves of the same programs.

Times are medians within one process, of processor time: other work on the machine hardly changes them. Solves and
fronts have `--effort fast`, where nothing else is said: the linear program, rounded, without searches. `bare HiGHS` is
the profit program passed to HiGHS as arrays, with its default options; the others solve that same program, from those
arrays, build included. Everything runs on the 30 x 9 bag of the paper's size, at a profit ratio of 1.5.
"""

from __future__ import annotations

import importlib.util
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import highspy
import numpy as np

from lpsched.bag import front, profit
from lpsched.bag.exact_front import front as whole_front
from lpsched.bag.files import read_bag
from lpsched.bag.model import Terms
from lpsched.bag.problem import with_price
from lpsched.bag.relaxation import scaling_of
from lpsched.bag.search.frontier import frontier
from lpsched.bag.solve import solve
from lpsched.lp.solvers import HighsSolver, PulpSolver, pass_program
from lpsched.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.bag.model import Bag
    from lpsched.lp.program import LinearProgram

ROOT: Final = Path(__file__).resolve().parents[2]
INSTANCE: Final = ROOT / "instances" / "profit-30x9.yaml"
IDLE: Final = ROOT / "instances" / "profit-30x9-idle.yaml"
TASKS: Final = (10**4, 10**6, 10**8, 10**10, 10**12)
MACHINES: Final = (360, 36_000, 3_600_000)
MEMORY: Final = """
import resource, sys
sys.path.insert(0, {root!r})
from scripts.benches.heart import scaled, priced
from lpsched.bag.exact_front import front as whole_front
from lpsched.bag.solve import solve
bag = scaled(priced(), tasks={tasks}, machines={machines})
solve(bag, effort="fast")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def medians(ways: dict[str, Callable[[], object]], runs: int) -> dict[str, float]:
    """Return the milliseconds of each way's median run; the ways take turns, so that noise hits all alike."""
    times: dict[str, list[float]] = {title: [] for title in ways}
    for way in ways.values():
        way()  # does not count
    for _ in range(runs):
        for title, way in ways.items():
            start = time.process_time()
            way()
            times[title].append(1000 * (time.process_time() - start))
    return {title: statistics.median(own) for title, own in times.items()}


def priced() -> Bag:
    """Return the bag at a profit ratio of 1.5."""
    bag = read_bag(INSTANCE)
    return with_price(bag, Terms(profit_ratio=1.5), HighsSolver()).applied_to(bag)


def scaled(bag: Bag, *, tasks: int, machines: int) -> Bag:
    """Return the bag with about so many tasks and machines, in proportion, and the price to match."""
    factor, more = tasks / bag.tasks, machines // bag.machines
    return bag.model_copy(
        update={
            "task_types": tuple(
                each.model_copy(update={"count": max(1, round(each.count * factor))}) for each in bag.task_types
            ),
            "machine_types": tuple(each.model_copy(update={"count": each.count * more}) for each in bag.machine_types),
            "prices": bag.prices.model_copy(update={"per_bag": (bag.prices.per_bag or 0.0) * factor}),
        }
    )


def bare_highs(program: LinearProgram) -> None:
    """Pass the arrays, run, and read nothing."""
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", "false")
    pass_program(highs, program)
    highs.run()


def by_scipy(program: LinearProgram) -> None:
    """Solve the same program with scipy.optimize.linprog."""
    from scipy.optimize import linprog  # noqa: PLC0415 - optional here
    from scipy.sparse import csr_array  # noqa: PLC0415

    shape = (len(program.row_names), len(program.costs))
    matrix = csr_array((program.values, program.columns, program.starts), shape=shape)
    equal = program.row_lower == program.row_upper
    linprog(
        program.costs,
        A_ub=matrix[~equal],
        b_ub=program.row_upper[~equal],
        A_eq=matrix[equal],
        b_eq=program.row_upper[equal],
        bounds=np.stack([np.zeros(shape[1]), program.upper], axis=1),
        method="highs",
    )


def by_cvxpy(program: LinearProgram) -> None:
    """Solve the same program with CVXPY and HiGHS."""
    import cvxpy as cp  # noqa: PLC0415 - optional here
    from scipy.sparse import csr_array  # noqa: PLC0415

    shape = (len(program.row_names), len(program.costs))
    matrix = csr_array((program.values, program.columns, program.starts), shape=shape)
    equal = program.row_lower == program.row_upper
    x: Any = cp.Variable(shape[1], bounds=[0, program.upper])
    rows = [matrix[equal] @ x == program.row_upper[equal], matrix[~equal] @ x <= program.row_upper[~equal]]
    problem: Any = cp.Problem(cp.Minimize(program.costs @ x), rows)
    problem.solve(solver="HIGHS")


def by_pulp(program: LinearProgram) -> None:
    """Solve the same program with PuLP and HiGHS."""
    PulpSolver("HiGHS").solve(program)


def print_solves(bag: Bag, runs: int) -> None:
    """Print a whole solve and other ways to solve its program, against the bare solver."""
    scales = scaling_of(bag)
    program = profit.compile_lp(scales, profit.profit_model(scales))
    ways: dict[str, Callable[[], object]] = {
        "bare HiGHS, arrays": lambda: bare_highs(program),
        "lpsched solve, whole": lambda: solve(bag, effort="fast"),
    }
    others: dict[str, Callable[[LinearProgram], object]] = {"pulp": by_pulp, "cvxpy": by_cvxpy, "scipy": by_scipy}
    for package, way in others.items():
        if importlib.util.find_spec(package) is not None:
            ways[f"{package}, HiGHS"] = partial(way, program)
    took = medians(ways, runs)
    print(f"{'profit program, 30 x 9':26} {'median':>10} {'to bare':>8}")
    for title, own in took.items():
        print(f"{title:26} {own:7.2f} ms {own / took['bare HiGHS, arrays']:8.2f}")
    for package in others:
        if f"{package}, HiGHS" not in took:
            print(f"{package}: not installed")


def print_growth(bag: Bag, runs: int) -> None:
    """Print whole solves for more and more tasks and machines, against the first, and their peak memory."""
    print(f"\n{'whole solve':26} {'median':>10} {'to first':>8} {'peak memory':>12}")
    for cases in ([(tasks, 360) for tasks in TASKS], [(10**6, machines) for machines in MACHINES]):
        bags = {
            f"{tasks:.0e} tasks, {machines:,} m.": scaled(bag, tasks=tasks, machines=machines)
            for tasks, machines in cases
        }
        took = medians({title: partial(solve, each, effort="fast") for title, each in bags.items()}, runs)
        first = next(iter(took.values()))
        for (title, own), (tasks, machines) in zip(took.items(), cases, strict=True):
            code = MEMORY.format(root=str(ROOT), tasks=tasks, machines=machines)
            command = [sys.executable, "-c", code]
            done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own
            print(f"{title:26} {own:7.2f} ms {own / first:8.2f} {int(done.stdout) / 1024:9.1f} MB")


def print_front(runs: int) -> None:
    """Print the search for all vertices of a front, against bare cold solves of one of its programs."""
    bag = read_bag(IDLE)
    scales = scaling_of(bag)
    program = front.compile_lp(scales, front.Weights(1e-6, 1.0), for_all_weights=True)
    found = frontier(bag, HighsSolver())
    ways: dict[str, Callable[[], object]] = {
        "bare": partial(bare_highs, program),
        "search": partial(frontier, bag, HighsSolver()),
        "fast": partial(whole_front, bag, effort="fast"),
    }
    took = medians(ways, runs)
    took |= medians({"auto": partial(whole_front, bag)}, max(1, runs // 20))
    path = f"{counted(found.solves, 'program')} ({found.colds} again from cold) and {counted(found.pivots, 'pivot')}"
    print(f"\nexact front: {len(found.vertices)} vertices by {path}")
    print(f"{'bare cold solve':26} {took['bare']:7.2f} ms {1.0:8.2f}")
    print(f"{'all vertices':26} {took['search']:7.2f} ms {took['search'] / took['bare']:8.2f}")
    print(f"{'proofs and schedules too':26} {took['fast']:7.2f} ms {took['fast'] / took['bare']:8.2f}")
    print(f"{'with --effort auto':26} {took['auto']:7.2f} ms {took['auto'] / took['bare']:8.2f}")


def main(runs: int = 40) -> None:
    """Print all tables; fewer runs try the script."""
    bag = priced()
    print_solves(bag, runs)
    print_growth(bag, runs)
    print_front(runs)


if __name__ == "__main__":
    main()
