"""Programs for the bench's tests, and a look at what is left of them."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

from lpsched.cancellation import CancelToken
from lpsched.measure.corun import Program, corun

HANG_SECONDS = 60.0  # nothing here takes so long, on any machine
PROCESSORS = sorted(os.sched_getaffinity(0))
PLACES = [frozenset({PROCESSORS[0]}), frozenset({PROCESSORS[-1]}), frozenset(PROCESSORS)]


def shell(code, *, name="it", folder="/", seconds=HANG_SECONDS, token=None):
    environment = {} if token is None else {"LPSCHED_TOKEN": token}
    return Program(name, ("/bin/sh", "-c", code), Path(folder), environment, seconds)


def run(measured, *beside, again=True, cancel=None, places=PLACES, **hooks):
    return corun(measured, beside, places, cancel or CancelToken(), again=again, **hooks)


def new_token():
    return uuid.uuid4().hex


def alive(token):
    """Return the processes that have a token in their environment, which a program cannot take from them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:  # it has ended, or is another user's
            continue
        if f"LPSCHED_TOKEN={token}".encode() in environment:
            found.append(int(folder.name))
    return found


def wait_until(fact):
    """Wait until something holds; fail if it never does."""
    until = time.monotonic() + HANG_SECONDS
    while not fact():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.005)


def keepers_of(process):
    """Return the keepers that a process has started."""
    children = " ".join(path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children"))
    return [
        int(child)
        for child in children.split()
        if b"lpsched.measure.supervisor" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
