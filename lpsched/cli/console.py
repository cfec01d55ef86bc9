"""Console output: results on stdout, diagnostics and progress on stderr, JSON on request; and interrupts."""

from __future__ import annotations

import codecs
import contextlib
import json
import logging
import signal
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

import typer

from lpsched.cancellation import Progress, Watch
from lpsched.errors import LpschedWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from rich.console import ConsoleRenderable, RenderableType

    from lpsched.bag.model import Bag
    from lpsched.cli.options import Tables
    from lpsched.facility.model import Facility
    from lpsched.measure.bench import Bench
    from lpsched.measure.measurements import Measurements
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day


# How commands speak: the answer on stdout, everything else on stderr, JSON where it was asked for.
PIPE_WIDTH = 10_000  # columns; a table that goes into a pipe or file is never cut


@dataclass(frozen=True, slots=True)
class Talk:
    """What the global options ask for."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    def answer(self, as_json: dict[str, Any], tables: Sequence[ConsoleRenderable] = (), text: str = "") -> None:
        """Print the answer once: as one JSON object, or as tables and text for people."""
        if self.as_json:
            print_json(as_json)
            return
        if text:
            sys.stdout.write(text)
        if tables:
            print_tables(tables, sys.stdout)

    def tell_timings(self, timings: Mapping[str, float], solver: str) -> None:
        """Log how long each stage took."""
        stages = ", ".join(f"{stage} {1000 * seconds:.1f} ms" for stage, seconds in timings.items())
        logging.getLogger("lpsched").info("%s (%s)", stages, solver)

    def start_logging(self) -> None:
        """Send the library's log to stderr."""
        level = logging.ERROR if self.quiet else logging.INFO if self.verbose else logging.WARNING
        logging.basicConfig(level=level, format="%(message)s", stream=sys.stderr, force=True)
        warnings.simplefilter("ignore" if self.quiet else "always", LpschedWarning)
        warnings.showwarning = _show_warning


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    tell(f"warning: {message}")


def tell(message: str) -> None:
    """Print a message on stderr; what would steer the terminal is shown as its code."""
    shown = (letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in message)
    with contextlib.suppress(OSError):  # who cannot hear us still gets the exit code
        sys.stderr.write(f"lpsched: {''.join(shown)}\n")
        sys.stderr.flush()


def talk_of(context: typer.Context) -> Talk:
    """Return what the global options ask for."""
    talk = context.obj
    return talk if isinstance(talk, Talk) else Talk()


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON object; NaN and infinity are bugs, not numbers."""
    plain = codecs.lookup(sys.stdout.encoding or "ascii").name != "utf-8"
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=plain, allow_nan=False) + "\n")


def print_tables(tables: Sequence[ConsoleRenderable], stream: TextIO) -> None:
    """Print tables with an empty line between them."""
    from rich.console import Console

    console = Console(file=stream, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    with console.capture() as captured:
        for index, table in enumerate(tables):
            if index:
                console.print()
            console.print(table)
    stream.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def header(kind: str, instance: Bag | Facility | Day | Clusters | Bench | Measurements) -> dict[str, Any]:
    """Return the keys that every JSON answer has."""
    return {
        "format": kind,
        "lpsched": version("lpsched"),
        "instance": {"name": instance.name, "hash": instance.content_hash},
    }


def write_and_tell(
    talk: Talk,
    instance: Bag | Facility | Day | Clusters | Measurements,
    path: Path,
    tables: Tables | None,
    **more: object,
) -> None:
    """Write an instance or measurements, and say which files now hold it."""
    from lpsched.io.instance_files import TableForm
    from lpsched.model.kinds import kind_of, size_of

    of_tables = {} if tables is None else {"form": TableForm(tables)}
    files = [str(file) for file in kind_of(instance).load("write")(instance, path, **of_tables)]
    text = f"{path}: {size_of(instance)}\n" + "".join(f"{file}: {held_by(file)}\n" for file in files[:-1])
    talk.answer(header("lpsched-written/1", instance) | {"files": files} | more, text=text)


def held_by(file: str) -> str:
    """Say what a file beside an instance holds."""
    return "its tasks" if Path(file).stem.endswith(".tasks") else "its tables"


# How far long work is, in one line on stderr that changes: stage, gap, a bar, the count and the time left.
#
# The time left is what the rest takes at the pace so far: the seconds since the first count that was heard,
# over the pieces done since then, times the pieces still to do. A step within the work that counts nothing
# leaves the count of the whole where it is.
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
        from lpsched.units import gap_text

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


# A command that may take long: its time limit, its progress on stderr, and what Ctrl-C does.
#
# Pressed once, Ctrl-C ends the work at its next step: what was found so far is verified and printed, and the
# exit code is 130. Pressed again, it leaves at once. Work that must not be cut off takes a request to end
# (SIGTERM, and SIGHUP of a terminal that is closed) in the same way.
FOLLOWS: Final = "what was found so far follows"


class StoppedEarly(Exception):  # noqa: N818 - it is no error: the answer has been printed
    """Ctrl-C ended the work before its time."""


def leave(watch: Watch, *, valid: bool) -> None:
    """Say by the exit code how it went: 130 if somebody said stop, 1 if something judged is not valid."""
    if watch.is_stopped:
        raise StoppedEarly
    if not valid:
        raise typer.Exit(1)


@contextlib.contextmanager
def watched(
    talk: Talk, time_limit: float | None, *, follows: str = FOLLOWS, all_signals: bool = False
) -> Iterator[Watch]:
    """Give the work a watch that Ctrl-C stops, and show how far it is; `follows` says what happens after the first one.

    With `all_signals` SIGTERM and SIGHUP stop it, too, instead of ending the process.
    """
    with shown_progress(talk) as listener, contextlib.ExitStack() as handlers:
        watch = Watch(time_limit, listener)

        def stop(number: int, frame: FrameType | None) -> None:
            if watch.is_stopped:
                signal.default_int_handler(number, frame)
            watch.stop()
            tell(f"stopping: {follows}; press Ctrl-C again to leave at once")

        signals: dict[signal.Signals, object] = {signal.SIGINT: signal.default_int_handler}
        if all_signals:
            ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
            signals |= dict.fromkeys(ends, signal.SIG_DFL)
        for number, usual in signals.items():
            if signal.getsignal(number) is usual:  # else it is somebody else's, or switched off
                handlers.callback(signal.signal, number, usual)
                signal.signal(number, stop)
        yield watch
