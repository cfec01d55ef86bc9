"""Console output: results on stdout, diagnostics and progress on stderr, JSON on request; and interrupts."""

from __future__ import annotations

import codecs
import contextlib
import functools
import logging
import os
import re
import signal
import sys
import textwrap
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

import typer

from lpsched.cancellation import COMPILING, CancelToken, Progress
from lpsched.errors import LpschedWarning
from lpsched.text import printable, printable_json, printable_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType

    from rich.console import ConsoleRenderable, RenderableType

    from lpsched.bag.model import Bag
    from lpsched.facility.model import Facility
    from lpsched.measure.bench import Bench
    from lpsched.measure.measurements import Measurements
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day


USUAL_WIDTH = 80  # columns of a terminal that does not say how many it has
PIPE_WIDTH = 10_000  # columns; a table that goes into a pipe or file is never cut
STYLE: Final = re.compile(r"(\x1b\[[0-9;]*m)")  # a code for a terminal


@dataclass(frozen=True, slots=True)
class Console:
    """The global options, and output as they specify it."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    force: bool = False  # overwrite files that exist

    def answer(
        self, as_json: dict[str, Any], tables: Sequence[ConsoleRenderable] = (), lines: Sequence[str] = ()
    ) -> None:
        """Print the answer once: as one JSON object, or as lines and tables for people."""
        if self.as_json:
            print_json(as_json)
            return
        print_lines(lines)
        if tables:
            print_tables(tables, sys.stdout)

    def log_timings(self, timings: Mapping[str, float], solver: str) -> None:
        """Log how long each stage took."""
        stages = ", ".join(f"{stage} {1000 * seconds:.1f} ms" for stage, seconds in timings.items())
        logging.getLogger("lpsched").info("%s (%s)", stages, solver)

    def start_logging(self) -> None:
        """Send the library's log to stderr."""
        level = logging.ERROR if self.quiet else logging.INFO if self.verbose else logging.WARNING
        logging.basicConfig(level=level, stream=sys.stderr, force=True)
        for handler in logging.getLogger().handlers:
            handler.setFormatter(PrintableFormatter("%(message)s"))
        warnings.simplefilter("ignore" if self.quiet else "always", LpschedWarning)
        warnings.showwarning = _show_warning


class PrintableFormatter(logging.Formatter):
    """Writes records so that nothing in them steers the terminal; only tracebacks have several lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - as the base class has it
        """Return the message in one line."""
        return printable(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: ANN401, N802 - as the base class has it
        """Return the traceback."""
        return printable_lines(super().formatException(ei))


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print_notice(f"warning: {message}")


# What is printed goes through these functions, and nothing else writes to stdout or stderr: each line is made
# printable by itself, so what stands in a file can neither steer the terminal nor begin a line of its own.
def print_lines(lines: Iterable[str]) -> None:
    """Print lines of an answer on stdout."""
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))


def print_notice(*lines: str) -> None:
    """Print a message on stderr; a terminal gets lines that fit."""
    text = "\n".join(map(printable, lines))
    with contextlib.suppress(OSError):  # without stderr there is still the exit code
        sys.stderr.write(_fitted(f"lpsched: {text}\n", sys.stderr))
        sys.stderr.flush()


def print_help(text: str) -> None:
    """Print a help text on stderr."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{text}\n")


def _fitted(text: str, stream: TextIO) -> str:
    """Wrap lines between words at the width of a terminal; what goes into a pipe or file stays as it is.

    So does a line that begins with four blanks: it is a command, to be copied.
    """
    if not stream.isatty():
        return text
    width = int(os.environ["COLUMNS"]) if os.environ.get("COLUMNS", "").isdecimal() else 0
    with contextlib.suppress(OSError, ValueError):  # a stream without a number of its own
        width = width or os.get_terminal_size(stream.fileno()).columns
    lines = []
    for line in text.split("\n"):
        if line.startswith("    "):
            lines.append(line)
            continue
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        wrapped = textwrap.wrap(
            line, width or USUAL_WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        lines += wrapped or [""]
    return "\n".join(lines)


def console_of(context: typer.Context) -> Console:
    """Return the console of a command."""
    console = context.obj
    return console if isinstance(console, Console) else Console()


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON object."""
    plain = codecs.lookup(sys.stdout.encoding or "ascii").name != "utf-8"
    sys.stdout.write(printable_json(content, ascii_only=plain) + "\n")


def print_tables(tables: Sequence[ConsoleRenderable], stream: TextIO) -> None:
    """Print tables with an empty line between them."""
    import rich.console

    from lpsched.report.tables import Printable

    console = rich.console.Console(file=stream, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    with console.capture() as captured:
        for index, table in enumerate(tables):
            if index:
                console.print()
            console.print(Printable(table))
    lines = captured.get().split("\n")[:-1]
    stream.write("".join(_trimmed(line) + "\n" for line in lines))


def _trimmed(line: str) -> str:
    """Return a line without the blanks at its end, also where codes of styles are between them."""
    parts = STYLE.split(line)  # texts, and the codes between them
    for place in range(len(parts) - 1, -1, -2):
        parts[place] = parts[place].rstrip(" ")
        if parts[place]:
            break
    return "".join(parts)


def header(kind: str, instance: Bag | Facility | Day | Clusters | Bench | Measurements) -> dict[str, Any]:
    """Return the keys that every JSON answer has."""
    return {
        "format": kind,
        "lpsched": version("lpsched"),
        "instance": {"name": instance.name, "hash": instance.content_hash},
    }


def write_and_print(
    console: Console,
    instance: Bag | Facility | Day | Clusters | Measurements,
    path: Path,
    tables: str | None,
    **more: object,
) -> None:
    """Write an instance or measurements, and print the names of the files."""
    from lpsched.io.instance_files import TableForm
    from lpsched.model.kinds import kind_of, size_of

    of_tables = {} if tables is None else {"form": TableForm(tables)}
    files = [str(file) for file in kind_of(instance).load("write")(instance, path, **of_tables)]
    lines = [f"{path}: {size_of(instance)}", *(f"{file}: {held_by(file)}" for file in files[:-1])]
    console.answer(header("lpsched-written/1", instance) | {"files": files} | more, lines=lines)


def held_by(file: str) -> str:
    """Return what a sidecar of an instance file holds."""
    return "its tasks" if Path(file).stem.endswith(".tasks") else "its tables"


# Progress of long work, in one line on stderr that changes: stage, gap, a bar, the count and the remaining time.
#
# The remaining time is extrapolated: the seconds since the first count, without those of compilation, over the steps
# done since then, times the steps still to do. A report without a count leaves the count as it is.
BAR: Final = 30  # columns, or fewer, or none: the text comes first
LEAST_BAR: Final = 8
SPINNER: Final = 2  # columns before the line


@contextlib.contextmanager
def shown_progress(console: Console) -> Iterator[Callable[[Progress], object] | None]:
    """Show the line during the work if stderr is a terminal."""
    if console.quiet or not sys.stderr.isatty():
        yield None
        return
    import rich.console

    line = ProgressLine(time.monotonic)
    terminal = rich.console.Console(stderr=True, markup=False, highlight=False)
    with terminal.status("") as status:

        def show(progress: Progress) -> None:
            line.update(progress)
            status.update(line.rendered(terminal.width - SPINNER))

        yield show


class ProgressLine:
    """The text of the line."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._stage = ""
        self._count: tuple[int, int] | None = None
        self._first: tuple[float, int] | None = None  # when the first count came, and what it was
        self._compiling_since: float | None = None

    def update(self, progress: Progress) -> None:
        """Take in a progress report."""
        from lpsched.units import gap_text

        gap = "" if progress.gap is None else f": gap {gap_text(max(0.0, progress.gap))}"
        self._stage = printable(f"{progress.stage}{gap}")
        now = self._clock()
        if self._compiling_since is not None and self._first is not None:
            self._first = self._first[0] + now - self._compiling_since, self._first[1]
        self._compiling_since = now if progress.stage == COMPILING else None
        if progress.done is not None and progress.total is not None and progress.total > 1:
            restarted = self._count is None or self._count[1] != progress.total or progress.done < self._count[0]
            self._count = progress.done, progress.total
            if restarted:
                self._first = now, progress.done
        elif self._count is not None and self._count[0] == self._count[1]:  # that work is over
            self._count = self._first = None

    @property
    def text(self) -> str:
        """The line without the bar."""
        if self._count is None:
            return self._stage
        from lpsched.units import duration

        done, total = self._count
        remaining = self.remaining_seconds()
        about = f", about {duration(max(1, round(remaining)))} left" if remaining else ""
        return f"{self._stage}: {done:,} of {total:,}{about}"

    def remaining_seconds(self) -> float | None:
        """Return the extrapolated remaining time; `None` while it is unknown."""
        if self._count is None or self._first is None:
            return None
        (done, total), (started_at, first_count) = self._count, self._first
        if done <= first_count:
            return None
        return (self._clock() - started_at) / (done - first_count) * (total - done)

    def rendered(self, width: int) -> RenderableType:
        """Return the line for a terminal, which it does not exceed."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        text = Text(self.text, no_wrap=True, overflow="ellipsis")
        text.truncate(width, overflow="ellipsis")
        bar = min(BAR, width - 1 - text.cell_len)
        if self._count is None or bar < LEAST_BAR:
            return text
        done, total = self._count
        grid = Table.grid(padding=(0, 1))
        grid.add_row(ProgressBar(total, done, width=bar), text)
        return grid


# Interrupts. The first Ctrl-C ends the work at its next step: the best result so far is verified and printed, and
# the exit code is 130. The second one exits immediately. SIGTERM, and SIGHUP of a terminal that is closed, end a
# command by way of its cleanups, so that no temporary file is left; work not to be cut off treats them as Ctrl-C.
ENDS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
AGAIN_SECONDS: Final = 0.2
FOLLOWS: Final = "what was found so far follows"


class StoppedEarly(Exception):  # noqa: N818 - it is no error: the answer has been printed
    """Ctrl-C ended the work early."""


class Terminated(BaseException):
    """SIGTERM or SIGHUP ends the command; the exit code is the one that shells give."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal, self.code = signal.Signals(number).name, 128 + number


def _terminate(number: int, *_: object) -> None:
    """Raise `Terminated`, again and again until it is seen: compiled code drops what a callback raises."""
    handled = sys.exception()
    while handled is not None:
        if isinstance(handled, Terminated):
            return  # cleanups are not to be interrupted
        handled = handled.__context__
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.signal(signal.SIGALRM, functools.partial(_terminate, number))
        signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS, AGAIN_SECONDS)
    raise Terminated(number)


@contextlib.contextmanager
def orderly_ends() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise `Terminated`, unless they are ignored, as nohup lets them be, or handled."""
    installed = [number for number in ENDS if signal.getsignal(number) is signal.SIG_DFL]
    for number in installed:
        signal.signal(number, _terminate)
    usual = sys.unraisablehook
    sys.unraisablehook = lambda dropped: None if dropped.exc_type is Terminated else usual(dropped)
    try:
        yield
    finally:
        if hasattr(signal, "setitimer") and isinstance(signal.getsignal(signal.SIGALRM), functools.partial):
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        sys.unraisablehook = usual
        for number in installed:
            signal.signal(number, signal.SIG_DFL)


def exit_with_status(cancel: CancelToken, *, valid: bool = True) -> None:
    """Set the exit code: 130 after an interrupt, 1 if a schedule is not valid."""
    if cancel.is_stopped:
        raise StoppedEarly
    if not valid:
        raise typer.Exit(1)


@contextlib.contextmanager
def cancellable(
    console: Console, time_limit: float | None, *, follows: str = FOLLOWS, all_signals: bool = False
) -> Iterator[CancelToken]:
    """Yield a token that Ctrl-C stops, and show progress; `follows` is the message about what happens after the first.

    With `all_signals` SIGTERM and SIGHUP stop it, too, instead of ending the process.
    """
    with shown_progress(console) as listener, contextlib.ExitStack() as handlers:
        cancel = CancelToken(time_limit, listener)

        def stop(number: int, frame: FrameType | None) -> None:
            if cancel.is_stopped:
                signal.default_int_handler(number, frame)
            cancel.stop()
            print_notice(f"stopping: {follows}; press Ctrl-C again to leave at once")

        for number in (signal.SIGINT, *(ENDS if all_signals else ())):
            before = signal.getsignal(number)
            if before in (signal.default_int_handler, signal.SIG_DFL, _terminate):  # else handled elsewhere, or ignored
                handlers.callback(signal.signal, number, before)
                signal.signal(number, stop)
        yield cancel
