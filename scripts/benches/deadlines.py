"""Deadlines: how often a schedule is found where there is one, and what a binding deadline costs.

    tiny       random bags of 2 to 8 tasks on 1 to 4 machines, with a deadline of 1 to 1.5 times the least
               makespan, which all assignments tell, one by one; CP-SAT (`pip install ortools`), where it is
               installed, has to find the same least makespan. `missed` counts the bags in which no schedule
               was found although there is one; `wrong` those called infeasible although there is one, which
               would be a bug.
    near       bags with few tasks a machine, and a deadline of 1.05 times the makespan of `balanced`.
    binding    bags with many tasks a machine, and a deadline between the fastest way and the one that the
               objective would choose. A gap is between the verified value and the proved bound.
    paper      the bag of the paper's size at one deadline.

Seeds are fixed and all work is counted, so only the milliseconds differ from run to run.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import math
import statistics
import subprocess
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.files import read_bag
from lpsched.bag.model import Bag, Terms
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.problem import MAKESPAN, build_problem
from lpsched.bag.solve import solve
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.lp.solvers import default_solver
from lpsched.model.table import Table
from scripts.benches.tight import paper_bag

if TYPE_CHECKING:
    from collections.abc import Iterator

OBJECTIVES: Final = ("makespan", "energy", "profit")
EFFORTS: Final = ("fast", "balanced")
HALF: Final = 0.5
ABSENT: Final = 0.15  # pairs
IDLES: Final = 0.7  # bags with idle power
MOST_STATES: Final = 200_000  # of a brute force
SHARES: Final = (0.1, 0.3, 0.5, 0.7, 0.9)  # of the way from the fastest to the preferred makespan
INSTANCES: Final = Path(__file__).parents[2] / "instances"


def tiny_bag(rng: np.random.Generator) -> Bag:
    """Return a bag with 2 to 8 tasks: whole seconds or not, some pairs absent, idle power or none."""
    machines = _split(rng, int(rng.integers(1, 5)), 3)
    tasks = _split(rng, int(rng.integers(2, 9)), 3)
    shape = (len(tasks), len(machines))
    whole = rng.random() < HALF
    seconds = rng.integers(1, 21, shape).astype(float) if whole else np.round(rng.uniform(0.5, 20, shape), 3)
    absent = rng.random(shape) < ABSENT
    absent[np.arange(len(tasks)), rng.integers(0, len(machines), len(tasks))] = False
    idle = rng.integers(0, 50, len(machines)) * (rng.random() < IDLES)
    watts = idle + rng.integers(1, 300, shape)

    def cells(table: np.ndarray) -> Table:
        return Table.of(np.where(absent, np.nan, table).tolist())

    return Bag(
        "tiny",
        tuple(MachineType(name=f"m{j}", count=count, idle_watts=float(idle[j])) for j, count in enumerate(machines)),
        tuple(TaskType(name=f"t{i}", count=count) for i, count in enumerate(tasks)),
        cells(seconds),
        cells(watts.astype(float)),
        Prices(per_bag=float(rng.uniform(0.0, 0.02)), electricity_per_kwh=float(rng.uniform(0.1, 3.0))),
    )


def _split(rng: np.random.Generator, total: int, most: int) -> list[int]:
    """Return whole numbers from 1 up with this sum, at most so many."""
    parts = int(rng.integers(1, min(total, most) + 1))
    cuts = np.sort(rng.choice(np.arange(1, total), parts - 1, replace=False))
    return [int(each) for each in np.diff([0, *cuts, total])]


def least_makespan(bag: Bag) -> tuple[Fraction, float]:
    """Return the least makespan of all assignments, and how many joules above idle it takes at least."""
    states = {tuple((Fraction(0),) * each.count for each in bag.machine_types): 0.0}
    for i, task in enumerate(bag.task_types):
        for _ in range(task.count):
            grown: dict[tuple[tuple[Fraction, ...], ...], float] = {}
            for (loads, joules), (j, machine) in itertools.product(states.items(), enumerate(bag.machine_types)):
                cell = bag.seconds[i, j]
                if cell is None:
                    continue
                assert bag.watts is not None
                more = joules + cell * ((bag.watts[i, j] or 0.0) - machine.idle_watts)
                for one in range(machine.count):
                    own = sorted([*loads[j][:one], loads[j][one] + Fraction(cell), *loads[j][one + 1 :]])
                    key = (*loads[:j], tuple(own), *loads[j + 1 :])
                    grown[key] = min(more, grown.get(key, more))
            assert len(grown) <= MOST_STATES, "too large for all assignments"
            states = grown
    return min((max(map(max, loads)), joules) for loads, joules in states.items())


# In a process of its own: OR-Tools and highspy cannot be loaded into one. Seconds are whole thousandths.
CP_SAT: Final = """
import json, sys
from ortools.sat.python import cp_model

def makespan(tasks, machines):
    model, loads = cp_model.CpModel(), [[] for _ in machines]
    for row in tasks:
        places = [place for place, j in enumerate(machines) if row[j] is not None]
        chosen = [model.new_bool_var("") for _ in places]
        model.add_exactly_one(chosen)
        for place, on in zip(places, chosen):
            loads[place].append(row[machines[place]] * on)
    end = model.new_int_var(0, sum(max(x or 0 for x in row) for row in tasks), "")
    for own in loads:
        model.add(sum(own) <= end)
    model.minimize(end)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value)

print(json.dumps([makespan(*each) for each in json.load(sys.stdin)]))
"""


def cp_sat_makespans(bags: list[Bag]) -> list[int] | None:
    """Return the least makespans that CP-SAT proves, in thousandths; `None` if it is not installed."""
    if importlib.util.find_spec("ortools") is None:
        return None
    told = [
        (
            [
                [None if cell is None else round(1000 * cell) for cell in bag.seconds.row(i)]
                for i, task in enumerate(bag.task_types)
                for _ in range(task.count)
            ],
            [j for j, each in enumerate(bag.machine_types) for _ in range(each.count)],
        )
        for bag in bags
    ]
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", CP_SAT], input=json.dumps(told), capture_output=True, text=True, check=True
    )
    found: list[int] = json.loads(done.stdout)
    return found


def tiny_cases(bags: int, *, ask_cp_sat: bool = False) -> tuple[list[Bag], str]:
    """Return tiny bags with deadlines that some schedule meets, and what CP-SAT says of them."""
    rng = np.random.default_rng(23)
    free = [tiny_bag(rng) for _ in range(bags)]
    least = [least_makespan(bag) for bag in free]
    second = cp_sat_makespans(free) if ask_cp_sat else None
    if second is not None:
        agree = (
            abs(Fraction(two, 1000) - one) < Fraction(1, 10**6) for (one, _), two in zip(least, second, strict=True)
        )
        assert all(agree), "CP-SAT finds another least makespan"
    cases = []
    for number, (bag, (makespan, joules)) in enumerate(zip(free, least, strict=True)):
        longer = max(1.0, float(rng.uniform(0.5, 1.5)))  # half of them have no time to spare
        deadline = longer * float(makespan)
        deadline = deadline if Fraction(deadline) >= makespan else math.nextafter(deadline, math.inf)
        site = Site(deadline_seconds=deadline)
        if number % 5 == 0:  # a power cap that the fastest way keeps, with little to spare
            idle = sum(each.count * each.idle_watts for each in bag.machine_types)
            cap = idle + joules / deadline * float(rng.uniform(1.0, 1.2)) * (1 + 1e-9)
            site = Site(deadline_seconds=deadline, average_power_cap_watts=cap)
        cases.append(bag.model_copy(update={"site": site}))
    return cases, "CP-SAT was not asked" if second is None else "CP-SAT proves the same least makespans"


def tiny(bags: int) -> None:
    """Print how often nothing is found although there is a schedule."""
    cases, second = tiny_cases(bags, ask_cp_sat=True)
    for effort in EFFORTS:
        outcomes: Counter[str] = Counter()
        for number, bag in enumerate(cases):
            try:
                solve(bag, objective=OBJECTIVES[number % 3], effort=effort)
                outcomes["found"] += 1
            except NotFoundError:
                outcomes["missed"] += 1
            except InfeasibleError:
                outcomes["wrong"] += 1
        counts = ", ".join(f"{outcomes[each]} {each}" for each in ("found", "missed", "wrong"))
        share = outcomes["missed"] / bags
        print(f"tiny, {effort}: {bags} bags with a schedule: {counts} ({share:.2%}); {second}")


def near(seeds: int) -> None:
    """Print in how many bags nothing is found at 1.05 times what `balanced` itself takes."""
    missed: Counter[str] = Counter()
    bags = 0
    for per_machine, seed in itertools.product((1, 3, 10, 30), range(seeds)):
        bag = paper_bag(per_machine, seed, machines=(5,) * 9)
        bags += 1
        deadline = 1.05 * solve(bag, objective="makespan", effort="balanced").value
        for objective, effort in itertools.product(OBJECTIVES, EFFORTS):
            ratio = 1.2 if objective == "profit" else None
            try:
                solve(bag, objective=objective, profit_ratio=ratio, deadline=deadline, effort=effort)
            except NotFoundError:
                missed[effort] += 1
    counts = ", ".join(f"{missed[effort]} missed by {effort}" for effort in EFFORTS)
    print(f"near: {bags} bags at 1.05 times the makespan of balanced, {len(OBJECTIVES)} objectives: {counts}")


def binding_deadlines(bag: Bag, objective: str, ratio: float | None) -> Iterator[tuple[float, float]]:
    """Yield shares of the way from the fastest to the preferred makespan, and the deadlines there."""
    solver = default_solver()
    asked = build_problem(bag, Terms(profit_ratio=ratio, objective=objective), solver)
    preferred = asked.objective.relax(asked.bag, solver).makespan_seconds
    fastest = MAKESPAN.relax(bag, solver).makespan_seconds
    for share in SHARES:
        yield share, fastest + share * (preferred - fastest)


def binding(per_machine: int, seeds: int, effort: str) -> None:
    """Print the gaps under deadlines that bind."""
    print(f"binding, {effort}: {per_machine} tasks a machine, {seeds} bags: the worst gap, mean ms of CPU time")
    print(f"{'objective':>12}" + "".join(f"{share:>16.0%}" for share in SHARES))
    for objective, ratio in (("energy", None), ("profit", 1.2), ("profit", 1.5), ("profit", 2.0)):
        gaps: dict[float, list[float]] = {share: [] for share in SHARES}
        took: dict[float, list[float]] = {share: [] for share in SHARES}
        for seed in range(seeds):
            bag = paper_bag(per_machine, seed, machines=(5,) * 9)
            for share, deadline in binding_deadlines(bag, objective, ratio):
                begin = time.process_time()
                result = solve(bag, objective=objective, profit_ratio=ratio, deadline=deadline, effort=effort)
                took[share].append(time.process_time() - begin)
                assert result.gap is not None
                gaps[share].append(result.gap)
        cells = (f"{max(gaps[share]):9.4%}{1e3 * statistics.mean(took[share]):5.0f}ms" for share in SHARES)
        print(f"{objective + (f' {ratio}' if ratio else ''):>12}" + "".join(f"{cell:>16}" for cell in cells))


def paper(effort: str) -> None:
    """Print the gap of the bag of the paper's size."""
    bag = read_bag(INSTANCES / "profit-30x9.yaml")
    result = solve(bag, profit_ratio=1.2, deadline=11_500.0, effort=effort)
    print(f"paper, {effort}: profit-30x9, profit ratio 1.2, deadline 11,500 s: gap {result.gap:.3%}")


def main(bags: int = 1470, seeds: int = 5, per_machine: int = 300) -> None:
    """Print all tables; fewer bags and seeds try the script."""
    tiny(bags)
    near(seeds)
    for effort in (*EFFORTS, "auto"):
        binding(per_machine, seeds, effort)
        paper(effort)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bags", type=int, default=1470, help="tiny bags")
    parser.add_argument("--seeds", type=int, default=5, help="bags for each row of the others")
    parser.add_argument("--tasks", type=int, default=300, help="tasks a machine where deadlines bind")
    given = parser.parse_args()
    main(given.bags, given.seeds, given.tasks)
