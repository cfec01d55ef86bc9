"""Runs on the cores of this machine: processes of joblib's loky, each with one thread.

Every process is a pool of its own, so that a death names its task: the first of those it holds was under way.
It holds one more than it works on, so that it need not wait for us between two runs. A task whose process has
died DEATHS times is given up and becomes a failed run; any other is begun again by a new process.

Processes never hear Ctrl-C, which a terminal sends to all of them, and end with the one that began them, also
when that is killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections import Counter, deque
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import MissingExtraError, WorkersError
from lpsched.studies.executors import LOOK_SECONDS, ONE_THREAD, lost_run

try:
    from joblib.externals.loky import process_executor
except ImportError:  # an optional package; whoever asks for it is told
    process_executor = None

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from concurrent.futures import Future

    from lpsched.cancellation import Watch
    from lpsched.studies.executors import Task
    from lpsched.studies.lines import StudyRun

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
