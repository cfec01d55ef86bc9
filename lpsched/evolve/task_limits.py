"""What NSGA-II refuses before it begins: options that are not sound, and instances that fill the memory.

A gene takes 12 bytes, and there are up to six copies of a population at a time: 50 million genes take 4 GB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault, InstanceError
from lpsched.schedule.genes import first_machines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.evolve.problem import Problem

MOST_TASKS: Final = 200_000
MOST_GENES: Final = 50_000_000  # chromosomes x tasks
MOST_MACHINES: Final = 10_000_000  # of those that may work: at most as many of a type as there are tasks


def require_sound(problem: Problem, size: int, seeds: int, generations: int | None, mutation: float) -> None:
    """Refuse what cannot be run.

    Raises
    ------
    InstanceError
        With all that is wrong.
    """
    of_problem = [*problem.faults()]
    faults = [*_of_size(problem, size)]
    if not size >= 2 or seeds > size:  # noqa: PLR2004 - two parents
        found = f"{size} chromosomes for {seeds} seeds"
        faults.append(Fault(("size",), found, "at least 2, and as many as seeds", "correct it"))
    if generations is not None and generations < 0:
        faults.append(Fault(("generations",), str(generations), "0 or more", "correct it"))
    if not 0.0 <= mutation <= 1.0:
        faults.append(Fault(("mutation",), str(mutation), "a probability", "correct it"))
    if faults or of_problem:
        raise InstanceError(f"NSGA-II on {problem.name}", (*faults, *of_problem))


def _of_size(problem: Problem, size: int) -> Iterator[Fault]:
    tasks = problem.tasks
    if not 1 <= tasks <= MOST_TASKS:
        needed = f"1 to {MOST_TASKS:,}, because every task is a gene"
        yield Fault(("tasks",), f"{tasks:,}", needed, "take a sample of the tasks")
        return
    if size * tasks > MOST_GENES:
        found = f"{size:,} chromosomes of {tasks:,} tasks"
        yield Fault(("size",), found, f"at most {MOST_GENES:,} genes in all", "take fewer chromosomes")
    machines = int(first_machines(problem.machine_counts, tasks)[-1])
    if machines > MOST_MACHINES:
        needed = f"at most {MOST_MACHINES:,} that may work"
        yield Fault(("machine_types",), f"{machines:,} machines", needed, "take fewer machines or tasks")
