"""A command that may take long: its time limit, its progress on stderr (`progress.py`), and what Ctrl-C does.

Pressed once, Ctrl-C ends the work at its next step: what was found so far is verified and printed, and the
exit code is 130. Pressed again, it leaves at once.
"""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, Final

import typer

from lpsched.cli.progress import shown_progress
from lpsched.cli.talk import tell
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from lpsched.cli.talk import Talk


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
def watched(talk: Talk, time_limit: float | None, *, follows: str = FOLLOWS) -> Iterator[Watch]:
    """Give the work a watch that Ctrl-C stops, and show how far it is.

    Parameters
    ----------
    follows
        What happens after the first Ctrl-C.
    """
    with shown_progress(talk) as listener:
        watch = Watch(time_limit, listener)
        before = signal.getsignal(signal.SIGINT)

        def stop(number: int, frame: FrameType | None) -> None:
            if watch.is_stopped:
                signal.default_int_handler(number, frame)
            watch.stop()
            tell(f"stopping: {follows}; press Ctrl-C again to leave at once")

        if before is not signal.default_int_handler:  # somebody else's, or none at all
            yield watch
            return
        signal.signal(signal.SIGINT, stop)
        try:
            yield watch
        finally:
            signal.signal(signal.SIGINT, before)
