"""Models of a bag for HiGHS, OR-Tools CP-SAT and PyJobShop, as a user of them would write them.

Each machine counts for itself, whatever its type: x[i, m] whole tasks of type i run on machine m.

    min   sum_im c[i, m] x[i, m]  +  w C
    s.t.  sum_m x[i, m]           =  n[i]        for each task type i
          sum_i e[i, m] x[i, m]  <=  C           for each machine m
          C  <=  deadline

The makespan has c = 0 and w = 1. For the energy c is the joules above idling, w the idle watts of all machines. The
profit rate (p - k energy) / C is a ratio; Dinkelbach's method maximises p - k energy - r C for a rate r, takes the
rate of the schedule found for r, and begins again. It starts from the rate of the linear program.

A run has a process of its own: OR-Tools and highspy cannot be loaded into one, and none inherits anything from the run
before. What it answers is a claim; `scripts/benches/rcmax.py` verifies the schedule.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ROOT: Final = Path(__file__).parents[1]
CHILD: Final = "from scripts.other_solvers import serve; serve()"
PATIENCE: Final = 60.0  # seconds after the limit; then the process is ended
LARGEST: Final = 1e8  # about the makespan in the units of CP-SAT, which knows whole numbers only
SHARE: Final = 0.05  # of the limit: no round of Dinkelbach's method begins with less


@dataclass(frozen=True)
class Model:
    """The letters of the formulas; `seconds` is NaN where a pair cannot run."""

    seconds: NDArray[np.float64]
    counts: NDArray[np.int64]
    costs: NDArray[np.float64] | None  # `None`: all 0
    weight: float = 1.0
    deadline: float | None = None
    revenue: float | None = None  # p, for the profit rate; then `costs` and `weight` are money
    rate: float = 0.0  # which no schedule passes, in money per second
    shortest: float = 0.0  # a makespan that no schedule undercuts

    @property
    def whole(self) -> bool:
        """Whether the makespan is a whole number of seconds."""
        return bool(np.all(np.isnan(self.seconds) | (self.seconds == np.round(self.seconds))))


@dataclass(frozen=True)
class Claim:
    """What a solver says: how many tasks of each type each machine runs, a bound, and whether nothing is better."""

    tasks: NDArray[np.int64] | None
    bound: float | None
    optimal: bool = False
    seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(frozen=True)
class Limits:
    """What a run may use; the seconds include building the model."""

    seconds: float
    threads: int
    seed: int


# In the parent: one run, in a process of its own.
def run(method: str, job: object, limits: Limits) -> Any:  # noqa: ANN401 - a `Claim`, or what `lpsched_run` answers
    """Run a method in a new process that is warmed up before its clock starts; an error is a text."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.getenv("PYTHONPATH")])])}
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", CHILD],
            input=pickle.dumps((method, job, limits)),
            capture_output=True,
            env=environment,
            timeout=2 * limits.seconds + PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"ended {limits.seconds + PATIENCE:.0f} s after its limit"
    if done.returncode:
        return (done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return pickle.loads(done.stdout)  # noqa: S301 - written by our own process


# In the child.
def serve() -> None:
    """Read a job from standard input, do it, and write the answer to standard output."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what solvers print is no answer
    method, job, limits = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by our own process
    if method == "lpsched" and hasattr(os, "sched_setaffinity"):  # the others have an option for their threads
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: limits.threads])
    solve = METHODS[method]
    solve(*TINY[method], Limits(1.0, limits.threads, limits.seed))  # imports, compiles
    answer = solve(*job, limits)
    with out:
        pickle.dump(answer, out)


def timed(model: Model, limits: Limits, solver: Callable[[Model, Limits], Claim]) -> Claim:
    """Solve a model, or a sequence of them for the profit rate, and add the seconds of all together."""
    begin, cpu = time.perf_counter(), time.process_time()
    claim = scaled(model, limits, solver) if model.revenue is None else rated(model, limits, solver)
    return replace(claim, seconds=time.perf_counter() - begin, cpu_seconds=time.process_time() - cpu)


def scaled(model: Model, limits: Limits, solver: Callable[[Model, Limits], Claim]) -> Claim:
    """Solve a model whose costs are about 10,000: solvers take objectives as equal that differ by less than 1e-6."""
    if model.costs is None:
        return solver(model, limits)
    ends = max(model.shortest, float(model.counts @ np.nanmin(model.seconds, axis=1)) / model.seconds.shape[1])
    scale = 1e4 / (abs(float(model.counts @ np.nanmin(model.costs, axis=1))) + model.weight * ends)
    claim = solver(replace(model, costs=scale * model.costs, weight=scale * model.weight), limits)
    return claim if claim.bound is None else replace(claim, bound=claim.bound / scale)


def rated(model: Model, limits: Limits, solver: Callable[[Model, Limits], Claim]) -> Claim:
    """Maximise the profit rate by Dinkelbach's method; each round takes half of the seconds that are left, at most."""
    assert model.revenue is not None
    begin = time.perf_counter()
    best, rate, bound = None, model.rate, model.rate
    while (left := limits.seconds - (time.perf_counter() - begin)) > SHARE * limits.seconds:
        linear = replace(model, weight=model.weight + rate)
        claim = scaled(linear, replace(limits, seconds=left / 2), solver)
        if claim.tasks is None:
            break
        if claim.bound is not None and model.revenue >= claim.bound:  # (r* - rate) C* <= p - bound
            bound = min(bound, rate + (model.revenue - claim.bound) / model.shortest)
        ends = np.nansum(model.seconds * claim.tasks, axis=0).max()
        found = (model.revenue - cost(model, claim.tasks, ends)) / ends
        if best is not None and found <= rate * (1 + 1e-9):
            break
        best, rate = claim.tasks, found
    return Claim(best, bound)


def cost(model: Model, tasks: NDArray[np.int64], makespan: float) -> float:
    """Return the objective of the formulas."""
    return model.weight * makespan + (0.0 if model.costs is None else float(np.nansum(model.costs * tasks)))


def highs(model: Model, limits: Limits) -> Claim:
    """Solve by HiGHS, passed as arrays."""
    import highspy  # noqa: PLC0415 - not where OR-Tools is loaded

    begin = time.perf_counter()
    types, machines = model.seconds.shape
    runs = ~np.isnan(model.seconds)
    i, m = np.nonzero(runs)
    pairs, infinity = len(i), highspy.kHighsInf
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = pairs + 1, types + machines
    program.col_cost_ = np.append(np.zeros(pairs) if model.costs is None else model.costs[i, m], model.weight)
    program.col_lower_ = np.zeros(pairs + 1)
    latest = infinity if model.deadline is None else model.deadline
    if not model.whole:
        latest *= 1 - 1e-6  # rows are kept up to a tolerance, and the deadline must not be missed by that
    program.col_upper_ = np.append(model.counts[i].astype(float), latest)
    program.row_lower_ = np.append(model.counts.astype(float), np.full(machines, -infinity))
    program.row_upper_ = np.append(model.counts.astype(float), np.zeros(machines))
    matrix = program.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kColwise
    matrix.start_ = np.append(2 * np.arange(pairs + 1), 2 * pairs + machines).astype(np.int32)
    matrix.index_ = np.append(np.column_stack([i, types + m]).ravel(), types + np.arange(machines)).astype(np.int32)
    matrix.value_ = np.append(np.column_stack([np.ones(pairs), model.seconds[i, m]]).ravel(), np.full(machines, -1.0))
    whole, real = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    program.integrality_ = [whole] * pairs + [whole if model.whole and model.deadline is None else real]
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    options: dict[str, Any] = {"output_flag": False, "threads": limits.threads, "random_seed": limits.seed}
    options |= {"mip_rel_gap": 0.0, "time_limit": max(0.1, limits.seconds - (time.perf_counter() - begin))}
    for name, value in options.items():
        solver.setOptionValue(name, value)
    solver.passModel(program)
    solver.run()
    information = solver.getInfo()
    bound = float(information.mip_dual_bound)
    tasks = None
    if information.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        tasks = np.zeros(model.seconds.shape, np.int64)
        tasks[i, m] = np.round(np.array(solver.getSolution().col_value)[:-1]).astype(np.int64)
    optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return Claim(tasks, bound if np.isfinite(bound) else None, optimal)


def in_units(model: Model) -> tuple[NDArray[np.int64], float]:
    """Return times as whole numbers (-1: cannot run) and their unit; rounded down, or up where there is a deadline."""
    runs = ~np.isnan(model.seconds)
    if model.whole:
        return np.where(runs, model.seconds, -1).astype(np.int64), 1.0
    work = float(model.counts @ np.nanmin(model.seconds, axis=1)) / model.seconds.shape[1]
    unit = 10.0 ** np.floor(np.log10(work / LARGEST))
    rounded = np.floor(model.seconds / unit) if model.deadline is None else np.ceil(model.seconds / unit)
    return np.where(runs, rounded, -1).astype(np.int64), float(unit)


def cp_sat(model: Model, limits: Limits) -> Claim:
    """Solve by CP-SAT: a truth value for each pair, or a count where there are several tasks of a type."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 - not where highspy is loaded

    begin = time.perf_counter()
    units, unit = in_units(model)
    types, machines = units.shape
    program = cp_model.CpModel()
    chosen: dict[tuple[int, int], Any] = {}
    for i, count in enumerate(model.counts.tolist()):
        places = np.flatnonzero(units[i] >= 0).tolist()
        for m in places:
            chosen[i, m] = program.new_bool_var("") if count == 1 else program.new_int_var(0, count, "")
        own = [chosen[i, m] for m in places]
        if count == 1:
            program.add_exactly_one(own)
        else:
            program.add(sum(own) == count)
    latest = int(model.counts @ units.max(axis=1))
    if model.deadline is not None:
        latest = min(latest, int(model.deadline / unit))
    end = program.new_int_var(0, latest, "")
    for m in range(machines):
        rows = [i for i in range(types) if (i, m) in chosen]
        load = cp_model.LinearExpr.weighted_sum([chosen[i, m] for i in rows], [int(units[i, m]) for i in rows])
        program.add(load <= end)
    if model.costs is None:
        program.minimize(end)
    else:
        weights = [float(model.costs[pair]) for pair in chosen]
        variables = [*chosen.values(), end]
        program.minimize(cp_model.LinearExpr.weighted_sum(variables, [*weights, model.weight * unit]))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = limits.threads
    solver.parameters.random_seed = limits.seed
    solver.parameters.max_time_in_seconds = max(0.1, limits.seconds - (time.perf_counter() - begin))
    status = solver.solve(program)
    bound = solver.best_objective_bound * (unit if model.costs is None else 1.0)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Claim(None, bound if bound > 0 else None)
    tasks = np.zeros(units.shape, np.int64)
    for pair, variable in chosen.items():
        tasks[pair] = solver.value(variable)
    return Claim(tasks, bound, status == cp_model.OPTIMAL)


def pyjobshop(model: Model, limits: Limits) -> Claim:
    """Solve by PyJobShop with CP-SAT behind it: tasks with a mode for each machine; for the makespan alone."""
    from pyjobshop import Model as Shop  # noqa: PLC0415 - not where highspy is loaded

    if model.costs is not None or model.deadline is not None:
        raise ValueError("PyJobShop is compared on the makespan")
    begin = time.perf_counter()
    units, unit = in_units(model)
    shop = Shop()
    machines = [shop.add_machine() for _ in range(units.shape[1])]
    types = np.repeat(np.arange(len(model.counts)), model.counts)
    for i in types.tolist():
        task = shop.add_task()
        for m in np.flatnonzero(units[i] >= 0).tolist():
            shop.add_mode(task, machines[m], int(units[i, m]))
    left = max(0.1, limits.seconds - (time.perf_counter() - begin))
    result = shop.solve(time_limit=left, display=False, num_workers=limits.threads, random_seed=limits.seed)
    if not result.best.tasks:
        return Claim(None, result.lower_bound * unit)
    tasks = np.zeros(units.shape, np.int64)
    for i, placed in zip(types.tolist(), result.best.tasks, strict=True):
        tasks[i, placed.resources[0]] += 1
    return Claim(tasks, result.lower_bound * unit, result.status.value == "Optimal")


def lpsched_run(bag: Any, objective: str, limits: Limits) -> tuple[Any, float, float]:  # noqa: ANN401 - a bag; its result
    """Solve by lpsched; return the result, its seconds, and those of the processor."""
    import lpsched  # noqa: PLC0415 - loads highspy

    if bag is None:
        seconds = np.random.default_rng(0).integers(10, 100, (60, 6))
        bag = lpsched.Bag.from_arrays(seconds, tasks=[1] * 60, machines=[1] * 6)
    begin, cpu = time.perf_counter(), time.process_time()
    result = lpsched.solve(
        bag, objective=objective, effort="tight", gap=0.0, time_limit=limits.seconds, seed=limits.seed
    )
    return result, time.perf_counter() - begin, time.process_time() - cpu


METHODS: Final[dict[str, Callable[..., Any]]] = {
    "lpsched": lpsched_run,
    "cpsat": lambda model, limits: timed(model, limits, cp_sat),
    "highs": lambda model, limits: timed(model, limits, highs),
    "pyjobshop": lambda model, limits: timed(model, limits, pyjobshop),
}
_MODEL: Final = Model(np.array([[1.0, 2.0], [2.0, 3.0]]), np.array([1, 1]), None)
TINY: Final[dict[str, tuple[object, ...]]] = {
    "lpsched": (None, "makespan"),
    "cpsat": (_MODEL,),
    "highs": (_MODEL,),
    "pyjobshop": (_MODEL,),
}
NEEDS: Final = {"lpsched": "lpsched", "cpsat": "ortools", "highs": "highspy", "pyjobshop": "pyjobshop"}
