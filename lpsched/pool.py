"""A pool of processes for independent pieces of work; each is done once, even if a process dies.

Every process has one piece at a time, so that a death can be attributed to its piece. Processes are spawned, not
forked, to behave alike on every system: `do` must be importable by another process, and a script that uses a pool
must keep its own work under ``if __name__ == "__main__"``.

Each worker has a cancel token, which a message makes expire when the one here does. Ctrl-C, which
a terminal sends to all processes, is handled here alone. Processes end with the one that began them, also when
that is killed: their pipe to it is then closed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import Any, Final, Generic, TypeVar

from lpsched.cancellation import CancelToken

LOOK_SECONDS: Final = 0.1  # how often the token is looked at while nothing ends
STOP: Final = b""  # the message that the token has expired; any other is a piece
READY: Final = b""  # the first message of a process; any other is what came of a piece
Piece = TypeVar("Piece")
Answer = TypeVar("Answer")


class ProcessDiedError(Exception):
    """A process ended before its work; `processes` of them did, and `begun` says whether they could begin at all."""

    def __init__(self, processes: int, *, begun: bool) -> None:
        super().__init__(processes, begun)
        self.processes, self.begun = processes, begun


@dataclass(frozen=True, slots=True)
class Ended(Generic[Answer]):
    """What came of the piece with a number: an answer, or what was raised."""

    number: int
    answer: Answer | None
    error: Exception | None = None


def each_ended(  # noqa: PLR0913 - options are keyword-only
    do: Callable[[Piece, CancelToken], Answer],
    pieces: Sequence[Piece],
    *,
    jobs: int,
    cancel: CancelToken,
    tries: int = 1,
    environment: Mapping[str, str] | None = None,
    look: Callable[[], None] = lambda: None,
) -> Generator[Ended[Answer]]:
    """Yield what came of every piece as it ends; when the token has expired, begin no more.

    Closing the generator ends everything under way. At most `jobs` processes, started with the variables `environment`,
    `do` one piece each; once the token has expired, `do` returns what it has. After `tries` deaths of its process the
    result of a piece is a `ProcessDiedError`, which is raised if `tries` processes of each job die before their first
    piece. `look` is called before each wait for messages, at least every `LOOK_SECONDS`.
    """
    pool = _Pool(do, pieces, min(jobs, len(pieces)), tries, environment or {}, deque(range(len(pieces))))
    ended: list[Ended[Answer]] = []
    try:
        while True:
            if cancel.expired():
                pool.stop()
            ended += pool.distribute()  # before finished pieces are reported, so that no worker waits for that
            yield from ended
            if not pool.workers:
                return
            look()
            ended = list(pool.gather())
    finally:
        for worker in pool.workers:
            worker.close()


@dataclass(slots=True)
class _Pool(Generic[Piece, Answer]):
    """Workers, the numbers of the pieces that wait for one, and deaths by piece."""

    do: Callable[[Piece, CancelToken], Answer]
    pieces: Sequence[Piece]
    jobs: int
    tries: int
    environment: Mapping[str, str]
    waiting: deque[int]
    deaths: Counter[int] = field(default_factory=Counter)
    failed_starts: int = 0
    workers: list[_Worker] = field(default_factory=list)

    def stop(self) -> None:
        """Start no more pieces and let the tokens of running ones expire."""
        self.waiting.clear()
        for worker in self.workers:
            worker.stop()

    def distribute(self) -> Iterator[Ended[Answer]]:
        """Give pieces to idle workers, start workers for the rest, and end those without work."""
        idle = sum(worker.number is None for worker in self.workers)
        for _ in range(min(self.jobs - len(self.workers), len(self.waiting) - idle)):
            self.workers.append(_Worker(self.do, self.environment))
        for worker in [each for each in self.workers if each.number is None]:
            if not self.waiting:
                self._close(worker)
            elif worker.is_ready:
                number = self.waiting.popleft()
                if (error := worker.take(number, self.pieces[number])) is not None:
                    yield Ended(number, None, error)

    def gather(self) -> Iterator[Ended[Answer]]:
        """Wait for messages; return finished pieces and queue those of dead workers again."""
        ready = wait([worker.pipe for worker in self.workers], LOOK_SECONDS)
        for worker in [each for each in self.workers if each.pipe in ready]:
            number, message = worker.number, worker.receive()
            if message is None:
                self._close(worker)
                yield from self._requeue(worker, number)
            elif number is not None:
                yield Ended(number, *message)

    def _requeue(self, worker: _Worker, number: int | None) -> Iterator[Ended[Answer]]:
        """Decide what becomes of the piece that was under way when its process died."""
        if number is not None:
            self.deaths[number] += 1
            if self.deaths[number] < self.tries:
                self.waiting.appendleft(number)
            else:
                yield Ended(number, None, ProcessDiedError(self.tries, begun=True))
        elif not worker.is_ready:
            self.failed_starts += 1
            if self.failed_starts >= self.tries * self.jobs:
                raise ProcessDiedError(self.failed_starts, begun=False)

    def _close(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        worker.close()


class _Worker:
    """One process, and the number of the piece that it does."""

    def __init__(self, do: Callable[[Any, CancelToken], Any], environment: Mapping[str, str]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, its_end = context.Pipe()
        self.number: int | None = None
        self.is_ready = self.is_stopped = False
        self.process = context.Process(target=_serve, args=(its_end, do), daemon=True)
        with _without_interrupts(environment):
            self.process.start()
        its_end.close()

    def take(self, number: int, piece: object) -> Exception | None:
        """Send a piece; return why it cannot be sent to another process."""
        try:
            message = pickle.dumps(piece)
        except Exception as error:  # noqa: BLE001 - whatever pickling may raise
            return error
        self.number = number
        with contextlib.suppress(OSError):  # it died just now; its pipe shows that
            self.pipe.send_bytes(message)
        return None

    def stop(self) -> None:
        """Let its token expire."""
        if self.number is not None and not self.is_stopped:
            self.is_stopped = True
            with contextlib.suppress(OSError):
                self.pipe.send_bytes(STOP)

    def receive(self) -> Any:  # noqa: ANN401 - whatever the work answers
        """Return its message: result and error of its piece, or `READY`; `None` if it died."""
        try:
            message = self.pipe.recv_bytes()
        except (EOFError, OSError):
            return None
        self.is_ready, self.number = True, None
        return pickle.loads(message) if message != READY else READY  # noqa: S301 - from a process of ours

    def close(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


@contextlib.contextmanager
def _without_interrupts(environment: Mapping[str, str]) -> Iterator[None]:
    """Start a process with these variables and with Ctrl-C blocked from its very start."""
    if os.name != "nt":
        resource_tracker.ensure_running()  # else the first start would begin it, which lets Ctrl-C through again
    before = {name: os.environ.get(name) for name in environment}
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if blocked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


# In a process of the pool: one thread does pieces, another one listens.
def _serve(pipe: Connection, do: Callable[[Any, CancelToken], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cancel, messages = CancelToken(), SimpleQueue[bytes]()
    threading.Thread(target=_listen, args=(pipe, cancel, messages), daemon=True).start()
    with contextlib.suppress(OSError):  # the parent is gone: the other thread ends the process
        pipe.send_bytes(READY)
    while True:
        try:
            message = pickle.dumps((do(pickle.loads(messages.get()), cancel), None))  # noqa: S301 - from the one that began us
        except Exception as error:  # noqa: BLE001 - it is raised or recorded where the pieces come from
            message = pickle.dumps((None, _sendable(error)))
        with contextlib.suppress(OSError):  # likewise
            pipe.send_bytes(message)


def _listen(pipe: Connection, cancel: CancelToken, messages: SimpleQueue[bytes]) -> None:
    """Receive pieces and the message that the token has expired; exit when the parent process is gone."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            message = pipe.recv_bytes()
            cancel.stop() if message == STOP else messages.put(message)
    os._exit(1)


def _sendable(error: Exception) -> Exception:
    """Return an error that can be sent, and says where it was raised."""
    error.add_note(f"in a process of its own:\n{traceback.format_exc()}")
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - errors of other packages may hold anything
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
