"""Executors of studies: a task of a run, one thread and the same packages everywhere, processes of this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from lpsched.errors import WorkersError
from lpsched.lp.solvers import HighsSolver
from lpsched.pool import ProcessDiedError, each_ended
from lpsched.studies.study import StudyRun

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken
    from lpsched.model.fields import FrozenDict


# Where runs are made: one contract for this machine's cores and for a cluster's.
#
# A `Task` is all that a run needs, plain and picklable. An instance that came from a file travels with it, so
# that a worker need not see the user's disk; one that a generator makes is made where the run is.
# An `Executor` takes tasks and yields what became of each as soon as it is known, in any order, each exactly once.


@dataclass(frozen=True, slots=True)
class Task:
    """One run to make; see `StudyRun`.

    `source` is the file (absolute, with the hash of what it said when the study began) or the generator's options;
    `instance` what was read from the file, one object for all its tasks; `None` if it is made where the run is.
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


class Executor(Protocol):
    """Makes runs, one after another or many at once."""

    def work_off(
        self, make: Callable[[Task], StudyRun], tasks: Sequence[Task], *, cancel: CancelToken
    ) -> Generator[StudyRun]:
        """Yield every run as it ends; when the token has expired, begin no more.

        `make` is a function of a module and raises nothing: a run that fails is a run. A worker that dies
        takes no run with it: its task is begun again elsewhere. To stop early, close the
        generator, which ends everything under way.
        """


def run_of(task: Task, instance: Any, reason: str | None, **found: Any) -> StudyRun:  # noqa: ANN401 - of any kind, or `None`
    """Return the run of a task; `found` has the other fields of it."""
    declared = {each.name: getattr(task, each.name) for each in fields(task) if each.name != "instance"}
    name, content_hash = (getattr(instance, each, None) for each in ("name", "content_hash"))
    return StudyRun(**declared, instance_name=name, instance_hash=content_hash, reason=reason, **found)


def lost_run(task: Task, reason: str) -> StudyRun:
    """Return a failed run for a task whose worker died."""
    instance = task.instance if task.instance_seed is None else None  # else it is what a generator draws from
    return run_of(task, instance, reason, solver=HighsSolver().name)


# One thread for each run: many runs at a time would otherwise fight over the cores.
#
# It is also what makes a run the same everywhere. A sum that BLAS shares out among threads is added up in
# another order than with one thread, and may differ in its last bits. BLAS reads these variables once, when
# NumPy is loaded, so a process that makes runs sets them before that.
LIBRARIES: Final = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "BLIS_NUM", "VECLIB_MAXIMUM")
ONE_THREAD: Final = {f"{library}_THREADS": "1" for library in LIBRARIES}


def use_one_thread() -> None:
    """Let this process, and those that it starts, compute with one thread; NumPy must not be loaded yet."""
    os.environ.update(ONE_THREAD)


# What decides a run besides its task: the versions of Python and of the packages that compute.
#
# Two machines that have the same and compute with one thread make the same run, bit for bit.
COMPUTING: Final = ("lpsched", "numpy", "highspy", "numba", "pymoo", "casadi")  # each in some run
THREADS: Final = "OMP_NUM_THREADS"  # every BLAS heeds it
Packages: TypeAlias = tuple[tuple[str, str | None], ...]


@cache
def installed() -> Packages:
    """Return each name with its version here; finding them reads files.

    >>> [name for name, version in installed()][:2]
    ['Python', 'lpsched']
    """
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (("Python", python), *((name, _version(name)) for name in COMPUTING))


def require_same(needed: Packages, where: str) -> None:
    """Raise an error if this environment differs from the one in which the study began."""
    if os.environ.get(THREADS) != ONE_THREAD[THREADS]:
        raise WorkersError(
            f"the worker {where} computes with many threads: its runs might come out otherwise; "
            f"start it with {THREADS}=1, as Dask's nannies do"
        )
    found = dict(installed())
    wrong = [
        f"{name} {found.get(name) or 'missing'} instead of {version or 'none'}"
        for name, version in needed
        if found.get(name) != version
    ]
    if wrong:
        raise WorkersError(
            f"the worker {where} has {', '.join(wrong)}: its runs might come out otherwise; "
            "install the same versions everywhere"
        )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


# Runs on the cores of this machine: processes of `pool.py`, each with one thread.
#
# A task whose process has died DEATHS times is given up and becomes a failed run; any other is begun again by a new
# process.
DEATHS: Final = 3  # of its process, before a task is given up


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Several processes of this machine."""

    jobs: int  # how many

    def work_off(
        self, make: Callable[[Task], StudyRun], tasks: Sequence[Task], *, cancel: CancelToken
    ) -> Generator[StudyRun]:
        """Yield every run as it ends; when the token has expired, wait only for those under way."""
        do = partial(_made, make)
        try:
            with closing(
                each_ended(do, tasks, jobs=self.jobs, cancel=cancel, tries=DEATHS, environment=ONE_THREAD)
            ) as all_ended:
                for ended in all_ended:
                    why = f"{type(ended.error).__name__}: {ended.error}"
                    if isinstance(ended.error, ProcessDiedError):
                        times = ended.error.processes
                        why = f"the process that made this run died, {times} times; memory may be short"
                    yield ended.answer if ended.answer is not None else lost_run(tasks[ended.number], why)
        except ProcessDiedError as error:
            raise WorkersError(
                f"{error.processes} processes ended before they could begin a run; memory may be short: use fewer jobs"
            ) from error


def _made(make: Callable[[Task], StudyRun], task: Task, _cancel: CancelToken) -> StudyRun:
    """Make a run in a process of its own; one that is under way is waited for."""
    return make(task)
