"""How commands speak: the answer on stdout, everything else on stderr, JSON where it was asked for."""

from __future__ import annotations

import codecs
import contextlib
import json
import logging
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from lpsched.errors import LpschedWarning

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

PIPE_WIDTH = 10_000  # columns; a table that goes into a pipe or file is never cut


@dataclass(frozen=True, slots=True)
class Talk:
    """What the global options ask for."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    def answer(
        self, as_json: dict[str, Any], tables: Sequence[ConsoleRenderable] = (), text: str = ""
    ) -> None:
        """Print the answer once: as one JSON object, or as tables and text for people."""
        if self.as_json:
            print_json(as_json)
            return
        if text:
            sys.stdout.write(text)
        if tables:
            print_tables(tables)

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


def print_tables(tables: Sequence[ConsoleRenderable]) -> None:
    """Print tables with an empty line between them."""
    from rich.console import Console

    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    with console.capture() as captured:
        for index, table in enumerate(tables):
            if index:
                console.print()
            console.print(table)
    lines = captured.get().splitlines()
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in lines))
