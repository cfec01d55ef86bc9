"""Time limits, stopping and progress of long computations; and how long each stage takes."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# A watch over long work: how much time is left, whether somebody said stop, and who wants to hear of it.
#
# Work that may take long looks at the watch between its steps and, when it is over, hands back the best it has.
# Nothing is thrown halfway through a step.
#
# Searches divide their effort by *counted* work, not by the clock: each step adds about the seconds that it
# takes on an ordinary core, by a formula of its size alone. So a search that no clock has cut gives the same
# answer under any load; `is_cut` says whether the clock, or a stop signal, has.
@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is."""

    stage: str  # what is being done
    gap: float | None = None  # relative, between the best value and the best bound
    done: int | None = None  # pieces of the whole work; `None` where nobody counts
    total: int | None = None


class Watch:
    """Time and a stop signal for one piece of work.

    >>> watch = Watch(60.0)
    >>> watch.is_over()
    False
    >>> watch.stop()
    >>> watch.is_over(), watch.left()
    (True, 0.0)

    >>> counted = Watch().share(0.5)  # half a second of counted work, however long that takes
    >>> counted.count(0.6)
    >>> counted.is_over(), counted.is_cut()
    (True, False)
    """

    def __init__(self, seconds: float | None = None, listener: Callable[[Progress], object] | None = None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self._work: float | None = None  # how much may be counted; `None`: any amount
        self._counted = 0.0
        self._listener = listener
        self._outer: Watch | None = None
        self._stopped = False

    def stop(self) -> None:
        """End the work at its next look at the watch."""
        self._stopped = True

    @property
    def is_stopped(self) -> bool:
        """Whether somebody said stop, to this watch or to one that it is a part of."""
        return any(watch._stopped for watch in self._chain())  # noqa: SLF001

    def left(self) -> float | None:
        """Return the seconds left on the clock, 0 if there are none; `None` without a limit."""
        if self.is_cut():
            return 0.0
        ends = [watch._end - time.monotonic() for watch in self._chain() if watch._end is not None]  # noqa: SLF001
        return max(0.0, min(ends)) if ends else None

    def is_over(self) -> bool:
        """Tell whether to hand back what there is."""
        spent = any(watch._work is not None and watch._counted >= watch._work for watch in self._chain())  # noqa: SLF001
        return spent or self.is_cut()

    def is_cut(self) -> bool:
        """Tell whether the time is up or the work was stopped; not so if it was all counted."""
        now = time.monotonic()
        return any(
            watch._stopped or (watch._end is not None and now >= watch._end)  # noqa: SLF001
            for watch in self._chain()
        )

    def count(self, seconds: float) -> None:
        """Count work that takes about so many seconds."""
        for watch in self._chain():
            watch._counted += seconds  # noqa: SLF001

    def work_left(self) -> float:
        """Return how many seconds of work may still be counted: 0 if the watch is over, or any number."""
        if self.is_over():
            return 0.0
        left = [watch._work - watch._counted for watch in self._chain() if watch._work is not None]  # noqa: SLF001
        return min(left, default=math.inf)

    def share(self, seconds: float) -> Watch:
        """Return a watch over a part of the work: over with this one, or after so much counted work."""
        inner = Watch()
        inner._outer, inner._work = self, seconds
        return inner

    def part(self, seconds: float) -> Watch:
        """Return a watch over a part of the work: over with this one, or after so many seconds."""
        inner = Watch(seconds)
        inner._outer = self
        return inner

    def tell(self, stage: str, gap: float | None = None, *, done: int | None = None, total: int | None = None) -> None:
        """Let the listener know how far the work has come."""
        for watch in self._chain():
            if watch._listener is not None:  # noqa: SLF001
                watch._listener(Progress(stage, gap, done, total))  # noqa: SLF001

    def _chain(self) -> list[Watch]:
        return [self] if self._outer is None else [self, *self._outer._chain()]  # noqa: SLF001


@contextmanager
def timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    """Note the seconds that the block takes."""
    start = time.perf_counter()
    yield
    timings[stage] = time.perf_counter() - start
