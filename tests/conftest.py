"""Every test can be interrupted, also where the shell that started them ignores Ctrl-C for its children."""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
