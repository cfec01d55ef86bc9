"""Time limits, stopping and progress of long computations; and how long each stage takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

# Long computations check their token between steps and, once it has expired, return the best result so far;
# no exception interrupts a step.
#
# Searches divide their effort by *counted* work, not by the clock: each step adds about the seconds that it
# takes on an ordinary core, by a formula of its size alone. So a search that the clock did not cut
# short returns the same result under any load; `is_cut` says whether the clock or a stop signal did.
# The work that fits a time limit is counted, too: a limit that does not cut the search does not change it.
LEAST_WORK: Final = 0.125  # of a time limit, however much was counted: counts are rough
COMPILING: Final = "compiling"  # the stage that happens once, and says nothing about the pace of the others


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a computation."""

    stage: str  # what is being done
    gap: float | None = None  # relative, between the best value and the best bound
    done: int | None = None  # units of work; `None` where they are not counted
    total: int | None = None


class CancelToken:
    """Time limit, stop signal and progress listener of one computation.

    >>> cancel = CancelToken(60.0)
    >>> cancel.expired()
    False
    >>> cancel.stop()
    >>> cancel.expired(), cancel.remaining()
    (True, 0.0)
    >>> cancel.why_cut(), CancelToken(0.0).why_cut(), CancelToken().why_cut()
    ('interrupted', 'stopped by the time limit', '')

    >>> counted = CancelToken().share(0.5)  # half a second of counted work, however long that takes
    >>> counted.count(0.6)
    >>> counted.expired(), counted.is_cut()
    (True, False)

    >>> limited = CancelToken(60.0)
    >>> limited.count(15.0)
    >>> limited.work_within()  # whatever the clock says by now
    45.0
    """

    def __init__(self, seconds: float | None = None, listener: Callable[[Progress], object] | None = None) -> None:
        self._seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self._work: float | None = None  # how much may be counted; `None`: any amount
        self._counted = 0.0
        self._listener = listener
        self._outer: CancelToken | None = None
        self._stopped = False

    def stop(self) -> None:
        """Stop the computation at its next check."""
        self._stopped = True

    @property
    def is_stopped(self) -> bool:
        """Whether this token, or one that it is a part of, was stopped."""
        return any(token._stopped for token in self._chain())  # noqa: SLF001

    def remaining(self) -> float | None:
        """Return the seconds left on the clock, 0 if there are none; `None` without a limit."""
        if self.is_cut():
            return 0.0
        ends = [token._end - time.monotonic() for token in self._chain() if token._end is not None]  # noqa: SLF001
        return max(0.0, min(ends)) if ends else None

    def expired(self) -> bool:
        """Return whether to end with the best result so far."""
        spent = any(token._work is not None and token._counted >= token._work for token in self._chain())  # noqa: SLF001
        return spent or self.is_cut()

    def is_cut(self) -> bool:
        """Return whether the time is up or the work was stopped, not whether the counted work is used up."""
        now = time.monotonic()
        return any(
            token._stopped or (token._end is not None and now >= token._end)  # noqa: SLF001
            for token in self._chain()
        )

    def why_cut(self) -> str:
        """Return what ended the work early, in words; nothing if neither the time is up nor it was stopped."""
        return "interrupted" if self.is_stopped else "stopped by the time limit" if self.is_cut() else ""

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock while the block runs: for what happens once after an installation, such as compiling."""
        start = time.monotonic()
        yield
        for token in self._chain():
            if token._end is not None:  # noqa: SLF001
                token._end += time.monotonic() - start  # noqa: SLF001

    def count(self, seconds: float) -> None:
        """Count work that takes about this many seconds."""
        for token in self._chain():
            token._counted += seconds  # noqa: SLF001

    def work_left(self) -> float:
        """Return the seconds of work that may still be counted: 0 once expired, infinity without a limit."""
        if self.expired():
            return 0.0
        left = [token._work - token._counted for token in self._chain() if token._work is not None]  # noqa: SLF001
        return min(left, default=math.inf)

    def work_within(self) -> float | None:
        """Return the seconds of work that the time limit leaves by what was counted so far; `None` without a limit.

        Unlike `remaining` it does not look at the clock: work that is divided by it is the same in every run.
        """
        limits = ((token._seconds, token._counted) for token in self._chain())  # noqa: SLF001
        return min((max(most - done, LEAST_WORK * most) for most, done in limits if most is not None), default=None)

    def share(self, seconds: float) -> CancelToken:
        """Return a token for a part of the work: it expires with this one, or after `seconds` of counted work."""
        inner = CancelToken()
        inner._outer, inner._work = self, seconds
        return inner

    def part(self, seconds: float) -> CancelToken:
        """Return a token for a part of the work: it expires with this one, or after `seconds`."""
        inner = CancelToken(seconds)
        inner._outer = self
        return inner

    def report(
        self, stage: str, gap: float | None = None, *, done: int | None = None, total: int | None = None
    ) -> None:
        """Report progress to the listeners."""
        for token in self._chain():
            if token._listener is not None:  # noqa: SLF001
                token._listener(Progress(stage, gap, done, total))  # noqa: SLF001

    def _chain(self) -> list[CancelToken]:
        return [self] if self._outer is None else [self, *self._outer._chain()]  # noqa: SLF001


@contextmanager
def timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    """Add the seconds that the block takes to those of its stage."""
    start = time.perf_counter()
    yield
    timings[stage] = timings.get(stage, 0.0) + time.perf_counter() - start
