"""The `lpsched` command, also as `python -m lpsched`; so small that Ctrl-C finds no traceback even here."""

from __future__ import annotations

import sys
from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command line and exit."""
    try:
        from lpsched.cli.main import main as run  # noqa: PLC0415 - loading it takes time, and may be interrupted

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
