"""How far long work is, in one line on stderr that changes: stage, gap, a bar, the count and the time left.

The time left is what the rest takes at the pace so far: the seconds since the first count that was heard,
over the pieces done since then, times the pieces still to do. A step within the work that counts nothing
leaves the count of the whole where it is.
"""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

    from lpsched.cli.talk import Talk
    from lpsched.watch import Progress

BAR: Final = 30  # columns
UNITS: Final = ((86400, "days"), (3600, "h"), (60, "min"), (1, "s"))


@contextlib.contextmanager
def shown_progress(talk: Talk) -> Iterator[Callable[[Progress], object] | None]:
    """Show the line while the work goes on, where somebody looks at it."""
    if talk.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    line = ProgressLine(time.monotonic)
    with Console(stderr=True, markup=False, highlight=False).status("") as status:

        def listen(progress: Progress) -> None:
            line.hear(progress)
            status.update(line.rendered())

        yield listen


class ProgressLine:
    """What the line says."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._stage = ""
        self._count: tuple[int, int] | None = None
        self._first: tuple[float, int] | None = None  # when the first count was heard, and what it was

    def hear(self, progress: Progress) -> None:
        """Take in how far the work is."""
        from lpsched.display import gap_text

        gap = "" if progress.gap is None else f": gap {gap_text(progress.gap)}"
        self._stage = f"{progress.stage}{gap}"
        if progress.done is not None and progress.total is not None and progress.total > 1:
            anew = self._count is None or self._count[1] != progress.total or progress.done < self._count[0]
            self._count = progress.done, progress.total
            if anew:
                self._first = self._clock(), progress.done
        elif self._count is not None and self._count[0] == self._count[1]:  # that work is over
            self._count = self._first = None

    @property
    def text(self) -> str:
        """Everything but the bar."""
        if self._count is None:
            return self._stage
        done, total = self._count
        left = self.seconds_left()
        return f"{self._stage}: {done:,} of {total:,}" + (f", about {duration(left)} left" if left else "")

    def seconds_left(self) -> float | None:
        """Return what the rest will take, if it goes on as it did; `None` while nothing is known."""
        if self._count is None or self._first is None:
            return None
        (done, total), (began, at_first) = self._count, self._first
        if done <= at_first:
            return None
        return (self._clock() - began) / (done - at_first) * (total - done)

    def rendered(self) -> RenderableType:
        """Return the line for a terminal."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        if self._count is None:
            return Text(self.text)
        done, total = self._count
        grid = Table.grid(padding=(0, 1))
        grid.add_row(ProgressBar(total, done, width=BAR), Text(self.text))
        return grid


def duration(seconds: float) -> str:
    """Write some seconds in the largest unit of which there are two.

    >>> duration(0.2), duration(119.0), duration(125.0), duration(9100.0), duration(200_000.0)
    ('1 s', '119 s', '2 min', '3 h', '2 days')
    """
    unit, name = next(((size, name) for size, name in UNITS if seconds >= 2 * size), UNITS[-1])
    return f"{max(1, round(seconds / unit)):,} {name}"
