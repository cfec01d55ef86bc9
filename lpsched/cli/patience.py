"""A command that may take long: its time limit, its progress on stderr (`progress.py`), and what Ctrl-C does.

Pressed once, Ctrl-C ends the work at its next step: what was found so far is verified and printed, and the
exit code is 130. Pressed again, it leaves at once. Work that must not be cut off takes a request to end
(SIGTERM, and SIGHUP of a terminal that is closed) in the same way.
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
def watched(
    talk: Talk, time_limit: float | None, *, follows: str = FOLLOWS, all_signals: bool = False
) -> Iterator[Watch]:
    """Give the work a watch that Ctrl-C stops, and show how far it is.

    Parameters
    ----------
    follows
        What happens after the first Ctrl-C.
    all_signals
        Whether SIGTERM and SIGHUP stop it, too, instead of ending the process.
    """
    with shown_progress(talk) as listener, contextlib.ExitStack() as handlers:
        watch = Watch(time_limit, listener)

        def stop(number: int, frame: FrameType | None) -> None:
            if watch.is_stopped:
                signal.default_int_handler(number, frame)
            watch.stop()
            tell(f"stopping: {follows}; press Ctrl-C again to leave at once")

        for number, usual in _signals(all_signals=all_signals).items():
            if signal.getsignal(number) is usual:  # else it is somebody else's, or switched off
                handlers.callback(signal.signal, number, usual)
                signal.signal(number, stop)
        yield watch


def _signals(*, all_signals: bool) -> dict[signal.Signals, object]:
    """Return which signals stop the work, and what Python usually does about each."""
    found: dict[signal.Signals, object] = {signal.SIGINT: signal.default_int_handler}
    if all_signals:
        ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
        found |= dict.fromkeys(ends, signal.SIG_DFL)
    return found
