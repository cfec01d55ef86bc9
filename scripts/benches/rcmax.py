"""How lpsched, CP-SAT, HiGHS and PyJobShop do on unrelated machines, with the same seconds and threads.

    scripts/bench rcmax FOLDER [--methods lpsched,cpsat] [--limit 10] [--threads 1] [--out LINES.jsonl]
    scripts/bench rcmax --bags [--tasks 1 10] [--machines 5]

FOLDER holds tables of times (`tasks machines`, then the times task by task; plain or gzip), and may hold `known.csv`
with the best makespans known: columns `file` or `instance`, and `best_known` or `best_known_makespan`. Two columns
such as `lr_300s` and `lr_proved` are a published method with values and 0 or 1; it gets rows of its own. A class is a
file's name up to the first `-`. A task that takes no time on some machine runs there, and is left out for all methods.

`--bags` makes seeded bags of 30 task types on 9 machine types with several tasks of a type and several machines of a
type, for the makespan, for the energy under a deadline of about 1.2 times the makespan that `--effort fast` proves, and
for the profit rate at 1.2 times what the least energy costs.

Each run has a process of its own; imports and a tiny case come before its clock starts, building the model after. All
schedules are verified by lpsched's verifier. Bounds of lpsched are proved exactly; those of others are their claims.
`proved`: value and bound agree, to 1e-6, or rounded up to whole seconds where all times are whole; or the other solver
ends with the status optimal. `above`: percent above the best known makespan, or where none is known the best found.
`gap`: percent between value and own bound. `none`: runs without a schedule. `s`: mean seconds.

A run that gets less than 90 % of a processor is starved, and its value says little; the last lines count such runs, and
`--repeat-starved` makes them again.

CP-SAT and PyJobShop are optional: `.venv/bin/pip install ortools pyjobshop`. `--out` keeps a line for each run, and a
rerun makes only the runs that are missing there.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import importlib.util
import json
import math
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import lpsched
from lpsched.bag.verify import examine
from lpsched.units import SECONDS_PER_HOUR
from scripts.benches.tight import paper_bag
from scripts.other_solvers import METHODS, NEEDS, Claim, Limits, Model, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from lpsched import Bag, Result, Schedule

TASKS: Final = (1, 3, 10, 30, 100)  # a machine
MACHINES: Final = (5, 40)  # of each of nine types
OBJECTIVES: Final = ("makespan", "energy", "profit")
LATER: Final = 1.2  # deadline of the energy, in makespans that are proved at once
RATIO: Final = 1.2  # price, in costs of the least energy
STARVED: Final = 0.9  # of its seconds: a run with less on the processor waited for other processes
NEAR: Final = 1e-6  # value and bound agree; also what others' bounds may be too low or too high by
JOULES_PER_KWH: Final = 3.6e6
ENDINGS: Final = (".gz", ".csv", ".txt", ".0")
HEADER: Final = (
    f"{'class':26} {'method':12} {'runs':>4} {'above':>8} {'worst':>8} {'gap':>8} {'proved':>6} {'none':>4} {'s':>6}"
)


@dataclass(frozen=True)
class Case:
    """A bag, its objective, and what others have published about it."""

    name: str
    group: str
    bag: Bag
    objective: str = "makespan"
    best: float | None = None
    published: dict[str, tuple[float, bool]] = field(default_factory=dict)  # by method: value, and whether proved

    @property
    def content(self) -> str:
        """The start of the bag's hash."""
        return self.bag.content_hash[:16]

    @property
    def key(self) -> tuple[str, str]:
        """The bag and what is asked about it."""
        return self.content, self.objective

    @property
    def whole(self) -> bool:
        """Whether values are whole numbers."""
        seconds = np.array(list(self.bag.seconds), float)
        return self.objective == "makespan" and bool(np.all(np.isnan(seconds) | (seconds == np.round(seconds))))


@dataclass(frozen=True)
class Line:
    """One run, as kept in the file."""

    instance: str
    content: str  # the start of the bag's hash: lines of an instance that has changed since do not count
    group: str
    objective: str
    method: str
    limit: float
    threads: int
    seed: int
    value: float | None
    bound: float | None
    proved: bool
    seconds: float | None
    cpu_seconds: float | None
    note: str = ""
    certified: bool | None = None  # whether a certificate of the proved value was accepted; `None`: not asked

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it a run of its own."""
        return self.case_key, self.method, self.limit, self.threads, self.seed

    @property
    def case_key(self) -> tuple[str, str]:
        """The key of its case."""
        return self.content, self.objective

    @property
    def starved(self) -> bool:
        """Whether other processes took the processor."""
        return bool(self.seconds and self.cpu_seconds is not None and self.cpu_seconds < STARVED * self.seconds)

    @property
    def gap(self) -> float | None:
        """The distance of value and bound, as a share of the bound."""
        return None if self.value is None or not self.bound else abs(self.value - self.bound) / abs(self.bound)


# Instances.
def stem(name: str) -> str:
    """Return the name of an instance: that of its file without endings."""
    while name.endswith(ENDINGS):
        name = name[: name.rindex(".")]
    return name


def read_known(folder: Path) -> dict[str, dict[str, str]]:
    """Return the rows of `known.csv` by instance; none if there is no such file."""
    path = folder / "known.csv"
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {stem(row.get("file") or row["instance"]): row for row in csv.DictReader(file)}


def published(row: dict[str, str]) -> dict[str, tuple[float, bool]]:
    """Return values and proofs of the methods that have columns such as `lr_300s` and `lr_proved`."""
    methods = [key.removesuffix("_proved") for key in row if key.endswith("_proved")]
    columns = ((key, f"{method}_proved") for method in methods for key in row if key.startswith(method))
    return {key: (float(row[key]), row[other] == "1") for key, other in columns if key != other and row[key]}


def read_matrix(path: Path) -> NDArray[np.float64]:
    """Return the times of the tasks that take some everywhere."""
    raw = path.read_bytes()
    first, _, rest = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode().partition("\n")
    tasks, machines = map(int, first.split()[:2])
    seconds = np.array(rest.split(), float).reshape(tasks, machines)
    return seconds[np.all(seconds > 0, axis=1)]


def folder_cases(folder: Path) -> Iterator[Case]:
    """Return the instances of a folder, by name."""
    known = read_known(folder)
    for path in sorted(folder.iterdir()):
        if path.suffix in {".csv", ".md", ".json", ".jsonl"} or path.name.startswith((".", "LICENSE")):
            continue
        seconds, name = read_matrix(path), stem(path.name)
        row = known.get(name, {})
        best = row.get("best_known") or row.get("best_known_makespan")
        tasks, machines = seconds.shape
        bag = lpsched.Bag.from_arrays(seconds, tasks=[1] * tasks, machines=[1] * machines, name=name)
        yield Case(name, name.partition("-")[0], bag, best=float(best) if best else None, published=published(row))


def bag_cases(tasks: Sequence[int], machines: Sequence[int], seeds: int) -> Iterator[Case]:
    """Return seeded bags with multiplicities for each objective."""
    for objective in OBJECTIVES:
        for each in machines:
            for per_machine in tasks:
                for seed in range(seeds):
                    bag = paper_bag(per_machine, seed, machines=(each,) * 9)
                    if objective == "energy":
                        deadline = float(f"{LATER * least_makespan(bag):.3g}")  # the same if bounds improve a little
                        site = bag.site.model_copy(update={"deadline_seconds": deadline})
                        bag = bag.model_copy(update={"site": site})
                    elif objective == "profit":
                        priced = lpsched.solve(bag, objective="profit", profit_ratio=RATIO, effort="fast").bag
                        assert priced is not None
                        bag = priced
                    group = f"{objective}, 9 x {each}, {per_machine} each"
                    yield Case(f"{group}, seed {seed}", group, bag, objective)


def least_makespan(bag: Bag) -> float:
    """Return a makespan that no schedule undercuts: that of the linear program, or more since tasks are whole."""
    return lpsched.solve(bag, objective="makespan", effort="fast").bound


def model_of(case: Case) -> Model:
    """Return the model of a case, each machine for itself."""
    bag = case.bag
    repeats = [machine.count for machine in bag.machine_types]
    seconds = np.repeat(np.array(list(bag.seconds), float), repeats, axis=1)
    counts = np.array([task.count for task in bag.task_types])
    if case.objective == "makespan":
        return Model(seconds, counts, None)
    assert bag.watts is not None
    idle = np.repeat([machine.idle_watts for machine in bag.machine_types], repeats)
    joules = (np.repeat(np.array(list(bag.watts), float), repeats, axis=1) - idle) * seconds
    if case.objective == "energy":
        return Model(seconds, counts, joules, float(idle.sum()), bag.site.deadline_seconds)
    price, revenue = bag.prices.electricity_per_kwh, bag.prices.per_bag
    assert price is not None
    assert revenue is not None
    per_joule = price / JOULES_PER_KWH
    rate = lpsched.solve(bag, objective="profit", effort="fast").bound / SECONDS_PER_HOUR
    weight = per_joule * float(idle.sum())
    return Model(seconds, counts, per_joule * joules, weight, None, revenue, rate, least_makespan(bag))


# Runs.
def line_of(case: Case, method: str, limits: Limits, keep: Path | None = None, *, certify: bool = False) -> Line:
    """Run a method on a case, verify its schedule, and return the line."""
    value, bound, seconds, cpu, note, closed, accepted = None, None, None, None, "", False, None
    job = (case.bag, case.objective) if method == "lpsched" else (model_of(case),)
    answer = run(method, job, limits)
    if isinstance(answer, str):
        note = answer
    elif isinstance(answer, Claim):
        bound, seconds, cpu = answer.bound, answer.seconds, answer.cpu_seconds
        if bound is not None and case.objective == "profit":
            bound *= SECONDS_PER_HOUR
        if answer.tasks is not None:
            value, note = verified(case, schedule_of(case.bag, answer.tasks))
            closed = answer.optimal and not note
    else:
        result, seconds, cpu = answer
        bound = result.bound
        value, note = verified(case, result.schedule)
        if keep is not None and value is not None and case.best is not None and value < case.best * (1 - 1e-9):
            keep_best(case, result, limits, keep)
    if value is not None and bound is not None:
        closed = closed or is_proved(case, method, value, bound)
        if certify and closed and method == "lpsched":
            accepted = is_certified(case, value, limits)
    about = case.name, case.content, case.group, case.objective, method
    sizes = limits.seconds, limits.threads, limits.seed
    return Line(*about, *sizes, value, bound, closed, seconds, cpu, note, accepted)


def is_proved(case: Case, method: str, value: float, bound: float) -> bool:
    """Return whether no schedule is better; others' bounds are floating-point numbers, with a tolerance."""
    if case.whole:
        return value <= math.ceil(bound if method == "lpsched" else bound - NEAR)
    return bool(abs(value - bound) <= NEAR * abs(bound))


def schedule_of(bag: Bag, tasks: NDArray[np.int64]) -> Schedule:
    """Return the schedule in which each machine runs these tasks."""
    types = [machine.name for machine in bag.machine_types for _ in range(machine.count)]
    names = [task.name for task in bag.task_types]
    groups = []
    for machine, column in zip(types, tasks.T.tolist(), strict=True):
        runs = tuple(lpsched.Run(name, count) for name, count in zip(names, column, strict=True) if count)
        if runs:
            groups.append(lpsched.MachineGroup(machine, 1, runs))
    return lpsched.Schedule(tuple(groups))


def verified(case: Case, schedule: Schedule) -> tuple[float | None, str]:
    """Return the value of a schedule, or `None` and what is wrong with it."""
    examined = examine(case.bag, schedule)
    measured = examined.measured
    if measured is None:
        return None, str(examined.violations[0])
    values = {
        "makespan": measured.makespan_seconds,
        "energy": measured.energy_joules,
        "profit": measured.profit_per_hour,
    }
    return values[case.objective], ""


def keep_best(case: Case, result: Result, limits: Limits, folder: Path) -> None:
    """Write the bag, the schedule, and the certificate of a bound as tight as the same seconds allow."""
    folder.mkdir(parents=True, exist_ok=True)
    lpsched.write(case.bag, folder / f"{case.name}.json")
    lpsched.write(result.schedule, folder / f"{case.name}.schedule.json", instance=case.bag)
    write_certificate(case, limits, folder / f"{case.name}.certificate.json")


def write_certificate(case: Case, limits: Limits, path: Path) -> None:
    """Write the certificate of a bound as tight as the same seconds allow."""
    options: dict[str, Any] = {"effort": "tight", "gap": 0.0, "time_limit": limits.seconds, "seed": limits.seed}
    lpsched.write(lpsched.certify(case.bag, objective=case.objective, **options), path)


def is_certified(case: Case, value: float, limits: Limits) -> bool:
    """Return whether a file with a certificate of the value is accepted by `lpsched verify`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        write_certificate(case, limits, path)
        (verdict,) = lpsched.verify(case.bag, [path]).files
    return verdict.accepted and verdict.proved is not None and is_proved(case, "lpsched", value, verdict.proved)


def read_lines(path: Path | None) -> list[Line]:
    """Return the lines of earlier runs; of repeated ones the last."""
    if path is None or not path.exists():
        return []
    lines = [Line(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return list({line.key: line for line in lines}.values())


# Tables.
def bests_of(cases: Iterable[Case], lines: Iterable[Line]) -> dict[tuple[str, str], float]:
    """Return the best value known for each instance, or where none is known the best found."""
    bests = {case.key: case.best for case in cases if case.best is not None}
    found: dict[tuple[str, str], float] = {}
    for line in lines:
        if line.value is not None:
            better = max if line.objective == "profit" else min
            found[line.case_key] = better(line.value, found.get(line.case_key, line.value))
    return found | bests


def row_of(group: str, method: str, lines: Sequence[Line], bests: dict[tuple[str, str], float]) -> str:
    """Return a row: how far values are from the best on average and at worst, the mean gap, proofs, and seconds."""
    above = []
    for line in lines:
        if line.value is not None:
            best = bests[line.case_key]
            above.append((best - line.value if line.objective == "profit" else line.value - best) / abs(best))
    gaps = [line.gap for line in lines if line.gap is not None]
    seconds = [line.seconds for line in lines if line.seconds is not None]
    cells = [
        f"{statistics.mean(above):8.3%}" if above else f"{'-':>8}",
        f"{max(above):8.3%}" if above else f"{'-':>8}",
        f"{statistics.mean(gaps):8.3%}" if gaps else f"{'-':>8}",
        f"{sum(line.proved for line in lines):6}",
        f"{len(lines) - len(above):4}",
        f"{statistics.mean(seconds):6.1f}" if seconds else f"{'-':>6}",
    ]
    return f"{group:26} {method:12} {len(lines):4} {' '.join(cells)}"


def table(cases: Sequence[Case], lines: Sequence[Line]) -> Iterator[str]:
    """Return the rows of each class, of all, and of the instances that all methods ran."""
    by_key = {case.key: case for case in cases}
    lines = [line for line in lines if line.case_key in by_key]
    bests = bests_of(cases, lines)
    methods = [method for method in METHODS if any(line.method == method for line in lines)]
    ran = {method: {line.case_key for line in lines if line.method == method} for method in methods}
    printed = [*lines, *published_lines([by_key[key] for key in by_key if any(key in own for own in ran.values())])]
    rows = list(dict.fromkeys([*methods, *(line.method for line in printed)]))
    common = set.intersection(*ran.values()) if ran else set()
    groups = dict.fromkeys(case.group for case in cases)
    parts = [(group, [line for line in printed if line.group == group]) for group in groups]
    parts.append(("all", printed))
    if any(own != common for own in ran.values()):
        shared = [line for line in printed if line.case_key in common]
        parts.append((f"the {len(common)} of all methods", shared))
    yield HEADER
    for title, part in parts:
        for method in rows:
            own = [line for line in part if line.method == method]
            if own:
                yield row_of(title, method, own, bests)
    yield from remarks(cases, lines, bests)


def remarks(cases: Sequence[Case], lines: Sequence[Line], bests: dict[tuple[str, str], float]) -> Iterator[str]:
    """Return new best values, runs that failed, refuted bounds, certificates, and how many runs were starved."""
    known = {case.key: case.best for case in cases}
    for line in lines:
        what = f"{line.instance}, {line.method}"
        before, best, sign = known[line.case_key], bests.get(line.case_key), -1 if line.objective == "profit" else 1
        if before is not None and line.value is not None and line.value < before * (1 - 1e-9):
            yield f"new best: {what}: {line.value:.10g}, bound {line.bound or 0:.10g}, known {before:.10g}"
        if line.note:
            yield f"no schedule: {what}: {line.note}"
        if best is not None and line.bound is not None and sign * (line.bound - best) > NEAR * abs(best):
            yield f"wrong bound: {what}: {line.bound:.10g}, but a schedule has {best:.10g}"
    asked = [line.certified for line in lines if line.certified is not None]
    if asked:
        yield f"certificates of proved values, accepted by lpsched verify: {sum(asked)} of {len(asked)}"
    starved = sum(line.starved for line in lines)
    if starved:
        yield f"starved of the processor: {starved} of {len(lines)} runs; --repeat-starved makes them again"


def published_lines(cases: Iterable[Case]) -> Iterator[Line]:
    """Return what others have published, as lines without seconds."""
    for case in cases:
        for method, (value, proved) in case.published.items():
            yield Line(
                case.name, case.content, case.group, case.objective, method, 0, 0, 0, value, None, proved, None, None
            )


def chosen(cases: Iterable[Case], options: argparse.Namespace) -> list[Case]:
    """Return the cases that the options name, and of those every k-th."""
    kept = [
        case
        for case in cases
        if (not options.classes or case.group in options.classes)
        and (not options.names or case.name in map(stem, options.names))
    ]
    return kept[:: options.every]


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="folder of instances")
    parser.add_argument("--bags", action="store_true", help="seeded bags instead of a folder")
    parser.add_argument("--tasks", type=int, nargs="+", default=TASKS, help="bags: tasks a machine")
    parser.add_argument("--machines", type=int, nargs="+", default=MACHINES, help="bags: machines of a type")
    parser.add_argument("--seeds", type=int, default=1, help="bags for each row")
    parser.add_argument("--methods", default=",".join(METHODS), help=f"some of {','.join(METHODS)}")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for each run")
    parser.add_argument("--threads", type=int, default=1, help="threads and cores of each run")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the methods")
    parser.add_argument("--classes", nargs="+", help="classes to run; all by default")
    parser.add_argument("--names", nargs="+", help="instances to run; all by default")
    parser.add_argument("--every", type=int, default=1, help="run every k-th instance only")
    parser.add_argument("--out", type=Path, help="file of JSON lines, one for each run; runs in it are not repeated")
    parser.add_argument("--repeat-starved", action="store_true", help="make runs again that had too little processor")
    parser.add_argument("--print", action="store_true", help="make no runs, print the table of the lines in --out")
    parser.add_argument(
        "--certify", action="store_true", help="make and verify certificates of lpsched's proved values"
    )
    parser.add_argument("--keep", type=Path, help="folder for schedules of lpsched better than the best known")
    options = parser.parse_args(arguments)
    options.methods = [] if options.print else options.methods.split(",")
    for method in options.methods:
        if method not in METHODS:
            parser.error(f"unknown method {method!r}; known: {', '.join(METHODS)}")
        if importlib.util.find_spec(NEEDS[method]) is None:
            parser.error(f"{method} needs another package: pip install {NEEDS[method]}, or leave it out of --methods")
    if options.bags == (options.folder is not None):
        parser.error("give a FOLDER or --bags")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the runs that are missing, and print the table of all."""
    options = parsed(arguments)
    made = bag_cases(options.tasks, options.machines, options.seeds) if options.bags else folder_cases(options.folder)
    cases = chosen(made, options)
    limits = Limits(options.limit, options.threads, options.seed)
    earlier = read_lines(options.out)
    sizes = (limits.seconds, limits.threads, limits.seed)
    lines = [line for line in earlier if (line.limit, line.threads, line.seed) == sizes]
    if options.repeat_starved:
        again = {case.key for case in cases}
        lines = [
            each for each in lines if not (each.starved and each.method in options.methods and each.case_key in again)
        ]
    done = {line.key for line in lines}
    for case in cases:
        for method in options.methods:
            if (case.key, method, *sizes) in done:
                continue
            if method == "pyjobshop" and case.objective != "makespan":
                continue
            line = line_of(case, method, limits, options.keep, certify=options.certify)
            lines.append(line)
            print(
                f"{line.instance}, {method}: {line.value}, bound {line.bound} {line.note}", file=sys.stderr, flush=True
            )
            if options.out is not None:
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(line)) + "\n")
    for row in table(cases, lines):
        print(row)


if __name__ == "__main__":
    main()
