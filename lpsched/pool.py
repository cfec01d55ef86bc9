"""A pool of processes for pieces of work that do not know of each other: each is done once, whoever dies.

Every process has one piece at a time, so that a death names its piece. Processes are spawned, not forked, so
that they are alike on every system: what does the work must be something that another process can import, and a
script that asks for it must keep its own work under ``if __name__ == "__main__"``.

Whoever does a piece gets a watch with it, which is over when the one here is: a message tells it. Ctrl-C, which
a terminal sends to all processes, is heard here alone. Processes end with the one that began them, also when
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
from dataclasses import dataclass
from multiprocessing.connection import wait
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from lpsched.cancellation import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection

LOOK_SECONDS: Final = 0.1  # how often the watch is looked at while nothing ends
STOP: Final = b""  # the message that the watch is over; any other is a piece
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
    do: Callable[[Piece, Watch], Answer],
    pieces: Sequence[Piece],
    *,
    jobs: int,
    watch: Watch,
    tries: int = 1,
    environment: Mapping[str, str] | None = None,
    look: Callable[[], None] = lambda: None,
) -> Generator[Ended[Answer]]:
    """Yield what came of every piece as it ends; when the watch is over, begin no more.

    Whoever wants no more of them closes the generator, which ends everything under way. At most `jobs` processes,
    started with the variables `environment`, `do` a piece each; when its watch is over, that answers what there is.
    Of a piece so many as `tries` may die before a `ProcessDiedError` is what came of it; it is raised if so many of
    each job ended before they could begin a piece. `look` is called each time before we wait for news, at least
    every `LOOK_SECONDS`.
    """
    pool = _Pool(do, pieces, min(jobs, len(pieces)), tries, environment or {})
    ended: list[Ended[Answer]] = []
    try:
        while True:
            if watch.is_over():
                pool.stop()
            ended += pool.hand_out()  # before others hear of what has ended: nobody need wait for them
            yield from ended
            if not pool.hands:
                return
            look()
            ended = list(pool.gather())
    finally:
        for hand in pool.hands:
            hand.dismiss()


class _Pool(Generic[Piece, Answer]):
    """Processes, the numbers of the pieces that wait for one, and who died of what."""

    def __init__(
        self,
        do: Callable[[Piece, Watch], Answer],
        pieces: Sequence[Piece],
        jobs: int,
        tries: int,
        environment: Mapping[str, str],
    ) -> None:
        self.do, self.pieces, self.jobs, self.tries, self.environment = do, pieces, jobs, tries, environment
        self.waiting = deque(range(len(pieces)))
        self.deaths = Counter[int]()
        self.stillborn = 0
        self.hands: list[_Hand] = []

    def stop(self) -> None:
        """Begin no more, and let the watches of those under way be over."""
        self.waiting.clear()
        for hand in self.hands:
            hand.stop()

    def hand_out(self) -> Iterator[Ended[Answer]]:
        """Give pieces to those that are ready, start as many more as have work, and end those that have none."""
        while len(self.hands) < self.jobs and sum(hand.number is None for hand in self.hands) < len(self.waiting):
            self.hands.append(_Hand(self.do, self.environment))
        for hand in [each for each in self.hands if each.number is None]:
            if not self.waiting:
                self._dismiss(hand)
            elif hand.is_ready:
                number = self.waiting.popleft()
                if (error := hand.take(number, self.pieces[number])) is not None:
                    yield Ended(number, None, error)

    def gather(self) -> Iterator[Ended[Answer]]:
        """Wait a while for news, and tell what has ended; pieces of the dead wait again."""
        spoken = wait([hand.pipe for hand in self.hands], LOOK_SECONDS)
        for hand in [each for each in self.hands if each.pipe in spoken]:
            number, news = hand.number, hand.news()
            if news is None:
                self._dismiss(hand)
                yield from self._mourn(hand, number)
            elif number is not None:
                yield Ended(number, *news)

    def _mourn(self, hand: _Hand, number: int | None) -> Iterator[Ended[Answer]]:
        """Decide what becomes of the piece that was under way when its process died."""
        if number is not None:
            self.deaths[number] += 1
            if self.deaths[number] < self.tries:
                self.waiting.appendleft(number)
            else:
                yield Ended(number, None, ProcessDiedError(self.tries, begun=True))
        elif not hand.is_ready:
            self.stillborn += 1
            if self.stillborn >= self.tries * self.jobs:
                raise ProcessDiedError(self.stillborn, begun=False)

    def _dismiss(self, hand: _Hand) -> None:
        self.hands.remove(hand)
        hand.dismiss()


class _Hand:
    """One process, and the number of the piece that it does."""

    def __init__(self, do: Callable[[Any, Watch], Any], environment: Mapping[str, str]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, its_end = context.Pipe()
        self.number: int | None = None
        self.is_ready = self.is_stopped = False
        self.process = context.Process(target=_serve, args=(its_end, do), daemon=True)
        with _started_deaf(environment):
            self.process.start()
        its_end.close()

    def take(self, number: int, piece: object) -> Exception | None:
        """Hand over a piece; return why it cannot be sent to another process."""
        try:
            message = pickle.dumps(piece)
        except Exception as error:  # noqa: BLE001 - whatever pickling may raise
            return error
        self.number = number
        with contextlib.suppress(OSError):  # it died just now, and its pipe will tell
            self.pipe.send_bytes(message)
        return None

    def stop(self) -> None:
        """Let its watch be over."""
        if self.number is not None and not self.is_stopped:
            self.is_stopped = True
            with contextlib.suppress(OSError):
                self.pipe.send_bytes(STOP)

    def news(self) -> Any:  # noqa: ANN401 - whatever the work answers
        """Return what it says: answer and error of its piece, or nothing of interest; None: it died."""
        try:
            message = self.pipe.recv_bytes()
        except (EOFError, OSError):
            return None
        self.is_ready, self.number = True, None
        return pickle.loads(message) if message != READY else READY  # noqa: S301 - from a process of ours

    def dismiss(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


@contextlib.contextmanager
def _started_deaf(environment: Mapping[str, str]) -> Iterator[None]:
    """Let a process that is started here have these variables and never hear Ctrl-C, not even while it starts."""
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
def _serve(pipe: Connection, do: Callable[[Any, Watch], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch, messages = Watch(), SimpleQueue[bytes]()
    threading.Thread(target=_listen, args=(pipe, watch, messages), daemon=True).start()
    pipe.send_bytes(READY)
    while True:
        try:
            told = pickle.dumps((do(pickle.loads(messages.get()), watch), None))  # noqa: S301 - from the one that began us
        except Exception as error:  # noqa: BLE001 - it is raised, or told, where the pieces come from
            told = pickle.dumps((None, _sendable(error)))
        with contextlib.suppress(OSError):  # nobody is there any more: the other thread ends the process
            pipe.send_bytes(told)


def _listen(pipe: Connection, watch: Watch, messages: SimpleQueue[bytes]) -> None:
    """Take pieces, and the message that the watch is over; end the process when nobody waits for answers any more."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            message = pipe.recv_bytes()
            watch.stop() if message == STOP else messages.put(message)
    os._exit(1)


def _sendable(error: Exception) -> Exception:
    """Return an error that can be sent, and says where it was raised."""
    error.add_note(f"in a process of its own:\n{traceback.format_exc()}")
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - whatever an error of somebody else's holds
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
