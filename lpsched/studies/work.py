"""Where runs are made: one contract for this machine's cores and for a cluster's.

A `Task` is all that a run needs, plain and picklable. An instance that came from a file travels with it, so
that a worker need not see the user's disk; one that a generator makes is made where the run is.
A `Crew` takes tasks and yields what became of each as soon as it is known, in any order, each exactly once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from lpsched.instance.frozen import FrozenDict
from lpsched.lp.highs import HighsSolver
from lpsched.result.provenance import version_of_lpsched
from lpsched.result.study_run import StudyRun

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from lpsched.watch import Watch


LOOK_SECONDS: Final = 0.1  # how often the watch is looked at while nothing ends


@dataclass(frozen=True, slots=True)
class Task:
    """One run to make.

    Attributes
    ----------
    study, key
        The study's name, and the digest that names the run.
    source
        The file (absolute, with the hash of what it said when the study began) or the generator's options.
    method, parameters, limits, instance_seed, seed
        As in `StudyRun`.
    instance
        What was read from the file, one object for all tasks of that file; `None`: made where the run is.
    """

    study: str
    key: str
    source: FrozenDict[str, Any]
    method: str
    parameters: FrozenDict[str, Any]
    limits: FrozenDict[str, Any]
    instance_seed: int | None
    seed: int
    instance: Any = field(default=None, repr=False, compare=False)


class Crew(Protocol):
    """Makes runs, one after another or many at once."""

    def work_off(
        self, make: Callable[[Task], StudyRun], tasks: Sequence[Task], *, watch: Watch
    ) -> Generator[StudyRun]:
        """Yield every run as it ends; when the watch is over, begin no more.

        `make` is a function of a module and raises nothing: a run that fails is a run. A worker that dies
        takes no run with it: its task is begun again elsewhere. Whoever wants no more of them closes the
        generator, which ends everything under way.
        """


def lost_run(task: Task, reason: str) -> StudyRun:
    """Return the run that was never made, because whoever began it did not live to tell."""
    instance = task.instance if task.instance_seed is None else None  # else it is what a generator draws from
    return StudyRun(
        study=task.study,
        key=task.key,
        source=task.source,
        instance_name=getattr(instance, "name", None),
        instance_hash=getattr(instance, "content_hash", None),
        kind=None,
        method=task.method,
        parameters=task.parameters,
        limits=task.limits,
        instance_seed=task.instance_seed,
        seed=task.seed,
        outcome=None,
        reason=reason,
        lpsched=version_of_lpsched(),
        solver=HighsSolver().name,
        timings=FrozenDict(),
        where=FrozenDict(),
    )
