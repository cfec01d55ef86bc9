"""The `lpsched` command, also as `python -m lpsched`; so small that Ctrl-C finds no traceback even here."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

INTERRUPTED = 130
TERMINATED = (129, 143)  # by SIGHUP and SIGTERM


def main() -> NoReturn:
    """Run the command line and exit."""
    try:
        from lpsched.cli.main import main as run  # noqa: PLC0415 - loading it takes time, and may be interrupted

        run()
    except KeyboardInterrupt:  # before the command could take it
        with suppress(OSError, AttributeError):
            sys.stderr.write("lpsched: interrupted\n")
        _leave(INTERRUPTED)
    except SystemExit as stop:
        if stop.code in (INTERRUPTED, *TERMINATED):
            _leave(stop.code)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing is left to clean up; it would show a traceback
        raise


def _leave(code: int) -> NoReturn:
    """End an interrupted command with its own exit code, whatever still runs and however often Ctrl-C is pressed.

    An ordinary exit would wait for solvers that still run in their threads, or be aborted by them.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # its reader is gone
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
