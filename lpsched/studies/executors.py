"""Executors of studies: a task of a run, one thread and the same packages everywhere, processes of this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from lpsched.errors import MissingExtraError, WorkersError
from lpsched.lp.highs import HighsSolver
from lpsched.model.fields import FrozenDict
from lpsched.model.provenance import version_of_lpsched
from lpsched.studies.lines import StudyRun

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from concurrent.futures import Future

    from lpsched.cancellation import Watch


# Where runs are made: one contract for this machine's cores and for a cluster's.
#
# A `Task` is all that a run needs, plain and picklable. An instance that came from a file travels with it, so
# that a worker need not see the user's disk; one that a generator makes is made where the run is.
# A `Crew` takes tasks and yields what became of each as soon as it is known, in any order, each exactly once.
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

    def work_off(self, make: Callable[[Task], StudyRun], tasks: Sequence[Task], *, watch: Watch) -> Generator[StudyRun]:
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


# One thread for each run: many runs at a time would otherwise fight over the cores.
#
# It is also what makes a run the same everywhere. A sum that BLAS shares out among threads is added up in
# another order than with one thread, and may differ in its last bits. BLAS reads these variables once, when
# NumPy is loaded, so whoever makes runs in its own process sets them before that.
ONE_THREAD: Final = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}


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
    """Refuse to make runs here if something is not as where the study was begun."""
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


# Runs on the cores of this machine: processes of joblib's loky, each with one thread.
#
# Every process is a pool of its own, so that a death names its task: the first of those it holds was under way.
# It holds one more than it works on, so that it need not wait for us between two runs. A task whose process has
# died DEATHS times is given up and becomes a failed run; any other is begun again by a new process.
#
# Processes never hear Ctrl-C, which a terminal sends to all of them, and end with the one that began them, also
# when that is killed.
try:
    from joblib.externals.loky import process_executor
except ImportError:  # an optional package; whoever asks for it is told
    process_executor = None


DEATHS: Final = 3  # of its process, before a task is given up
HELD: Final = 2  # tasks by one process: the one under way, and the next


@dataclass(frozen=True, slots=True)
class LocalCrew:
    """Several processes of this machine.

    Parameters
    ----------
    jobs
        How many.
    """

    jobs: int

    def __post_init__(self) -> None:
        """Refuse to begin without joblib."""
        if process_executor is None:
            raise MissingExtraError("running a study in several processes", "cluster")

    def work_off(self, make: Callable[[Task], StudyRun], tasks: Sequence[Task], *, watch: Watch) -> Generator[StudyRun]:
        """Yield every run as it ends; when the watch is over, wait only for those under way."""
        waiting, deaths = deque(tasks), Counter[str]()
        ended: SimpleQueue[_Hand] = SimpleQueue()
        hands = [_Hand(make, ended) for _ in range(min(self.jobs, len(tasks)))]
        try:
            while True:
                for hand in hands:
                    hand.wind_up() if watch.is_over() else hand.take(waiting)
                if not any(hand.held for hand in hands):
                    return
                with contextlib.suppress(Empty):
                    yield from ended.get(timeout=LOOK_SECONDS).answers(waiting, deaths)
        finally:
            for hand in hands:
                hand.dismiss()


@dataclass(slots=True, eq=False)
class _Hand:
    """One process and the tasks that it holds, the one under way first."""

    make: Callable[[Task], StudyRun]
    ended: SimpleQueue[_Hand]
    pool: Any = None
    ready: Future[int] | None = None
    stillborn: int = 0
    held: deque[tuple[Task, Future[StudyRun]]] = field(default_factory=deque)

    def take(self, waiting: deque[Task]) -> None:
        """Take as many tasks as a process holds."""
        while waiting and len(self.held) < HELD:
            try:
                future = self._submit(waiting[0])
            except BrokenProcessPool:  # it died just now
                if not self.held:  # else its tasks will tell
                    self.dismiss()
                return
            self.held.append((waiting.popleft(), future))
            future.add_done_callback(lambda _: self.ended.put(self))

    def _submit(self, task: Task) -> Future[StudyRun]:
        with _deaf_children():
            if self.pool is None:
                self.pool = process_executor.ProcessPoolExecutor(
                    1, initializer=_begin, initargs=(self.make, os.getpid()), env=ONE_THREAD
                )
                self.ready = self.pool.submit(os.getpid)
            future: Future[StudyRun] = self.pool.submit(_do, task)
            return future

    def wind_up(self) -> None:
        """Keep only the task that is under way; without one, end the process."""
        under_way = 1 if self.ready is not None and self.ready.done() else 0
        while len(self.held) > under_way:
            self.held.pop()
        if not self.held:
            self.dismiss()

    def answers(self, waiting: deque[Task], deaths: Counter[str]) -> Iterator[StudyRun]:
        """Yield the runs that have ended; if the process died, its tasks wait again, for another."""
        while self.held and self.held[0][1].done():
            task, future = self.held.popleft()
            error = future.exception()
            if isinstance(error, BrokenProcessPool):
                waiting.extendleft(reversed([task for task, _ in self.held]))
                yield from self._mourn(task, waiting, deaths)
                return
            yield future.result() if error is None else lost_run(task, f"{type(error).__name__}: {error}")

    def _mourn(self, task: Task, waiting: deque[Task], deaths: Counter[str]) -> Iterator[StudyRun]:
        """Decide what becomes of the task that was under way when its process died."""
        if self.ready is None or self.ready.exception() is not None:
            self.stillborn += 1
        else:
            deaths[task.key] += 1
        self.held.clear()
        self.dismiss()
        if self.stillborn >= DEATHS:
            raise WorkersError(
                f"{self.stillborn} processes ended before they could begin a run; memory may be short: use fewer jobs"
            )
        if deaths[task.key] >= DEATHS:
            yield lost_run(task, f"the process that made this run died, {DEATHS} times; memory may be short")
        else:
            waiting.appendleft(task)

    def dismiss(self) -> None:
        """End the process, whatever it does."""
        pool, self.pool, self.ready = self.pool, None, None
        if pool is not None:
            pool.shutdown(wait=True, kill_workers=True)


@contextlib.contextmanager
def _deaf_children() -> Iterator[None]:
    """Let processes that are started here never hear Ctrl-C, not even while they start."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_HERE: list[Callable[[Task], StudyRun]] = []  # in a process of its own: what makes a run


def _begin(make: Callable[[Task], StudyRun], parent: int) -> None:
    """Make a process ready for work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    process_executor._USE_PSUTIL = False  # noqa: SLF001 - a big instance is no leak, and no reason to begin anew
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _HERE.append(make)


def _end_with(parent: int) -> None:
    """End this process when the one that began it is gone: nobody waits for an answer any more."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)


def _do(task: Task) -> StudyRun:
    return _HERE[-1](task)
