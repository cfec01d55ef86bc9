"""Pieces of work that do not know of each other, one after another or in several processes at once.

Whoever does a piece gets a watch with it. In another process that watch is over when the one here is: a byte
that all processes share tells it (an event would wait for ever for a process that died). Ctrl-C, which a
terminal sends to all processes, is heard here alone. Processes are spawned, not forked, so that they are
alike on every system: what does the work must be something that another process can import.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from lpsched.errors import Fault, InstanceError
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from ctypes import c_byte

LOOK_SECONDS: Final = 0.1  # how often the watch is looked at
Piece = TypeVar("Piece", contravariant=True)  # noqa: PLC0105 - one letter would say less
Answer = TypeVar("Answer", covariant=True)  # noqa: PLC0105


class Worker(Protocol[Piece, Answer]):
    """Does pieces of work."""

    def __call__(self, piece: Piece, watch: Watch, /) -> Answer:
        """Do one; when the watch is over, say what there is."""

    def name_of(self, piece: Piece, /) -> str:
        """Return what to call a piece."""


def work_off(
    worker: Worker[Piece, Answer], pieces: Sequence[Piece], *, jobs: int, watch: Watch
) -> list[Answer]:
    """Return the answers in the order of the pieces; pieces not begun when the watch is over have none.

    Raises
    ------
    InstanceError
        If the worker cannot be sent to another process, or one of them dies.
    """
    if min(jobs, len(pieces)) <= 1:
        return _one_by_one(worker, pieces, watch)
    try:
        return _at_once(worker, pieces, min(jobs, len(pieces)), watch)
    except BrokenProcessPool as error:
        raise _refusal(
            "a process that ended before its work", "choose fewer jobs: memory may be short"
        ) from error


def _one_by_one(worker: Worker[Piece, Answer], pieces: Sequence[Piece], watch: Watch) -> list[Answer]:
    answers = []
    for number, piece in enumerate(pieces):
        if watch.is_over():
            break
        watch.tell(worker.name_of(piece), done=number, total=len(pieces))
        answers.append(worker(piece, watch))
    return answers


def _at_once(worker: Worker[Piece, Answer], pieces: Sequence[Piece], jobs: int, watch: Watch) -> list[Answer]:
    _require_sendable(worker)
    context = multiprocessing.get_context("spawn")
    stop = context.Value("b", 0, lock=False)
    with ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(worker, stop)) as pool:
        try:
            futures = [pool.submit(_do, piece) for piece in pieces]
            _await(futures, stop, watch)
        finally:
            stop.value = 1  # whatever happens, nobody goes on
            pool.shutdown(wait=False, cancel_futures=True)
    return [
        answer for future in futures if not future.cancelled() and (answer := future.result()) is not None
    ]


def _await(futures: Sequence[Future[Any]], stop: c_byte, watch: Watch) -> None:
    """Wait for all; when the watch is over, for those that have begun. What one raises is raised at once."""
    waiting = set(futures)
    while waiting:
        watch.tell("at work", done=len(futures) - len(waiting), total=len(futures))
        done, waiting = wait(waiting, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            if not future.cancelled():
                future.result()
        if watch.is_over():
            stop.value = 1
            waiting = {future for future in waiting if not future.cancel()}


def _require_sendable(worker: object) -> None:
    try:
        pickle.dumps(worker)
    except Exception as error:  # whatever a policy of somebody else's holds
        found = f"something that cannot be sent to another process ({type(error).__name__}: {error})"
        raise _refusal(found, "use one job, or bring functions of a module") from error


def _refusal(found: str, do: str) -> InstanceError:
    return InstanceError("jobs", (Fault(("jobs",), found, "work that other processes can do", do),))


_HERE: list[tuple[Worker[Any, Any], Watch]] = []  # in a process of its own: the worker and its watch


def _begin(worker: Worker[Any, Any], stop: c_byte) -> None:
    """Make a process ready for work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch = Watch()
    threading.Thread(target=_stop_with, args=(stop, watch), daemon=True).start()
    _HERE.append((worker, watch))


def _stop_with(stop: c_byte, watch: Watch) -> None:
    """Stop the watch when the byte says so; end the process when the one that began it is gone."""
    parent = multiprocessing.parent_process()
    while parent is None or parent.is_alive():
        if stop.value:
            watch.stop()
        time.sleep(LOOK_SECONDS)
    os._exit(1)  # nobody waits for an answer any more, and the pool would wait for ever for work


def _do(piece: object) -> Any:  # noqa: ANN401 - whatever the worker answers
    """Do a piece, unless it is too late to begin: a pool hands out one more than it has processes."""
    worker, watch = _HERE[-1]
    return None if watch.is_over() else worker(piece, watch)
