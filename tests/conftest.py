"""Every test gives the same answer twice, and can be interrupted; `selection.py` says which ones run.

Property tests draw the same examples in every run, so that a gate does not turn red by chance. To look for new
ones: HYPOTHESIS_PROFILE=explore scripts/test --all tests/property
"""

from __future__ import annotations

import os
import signal
import sys

import pytest
from hypothesis import settings

from tests.selection import ALL, ROTATION, leave_out
from tests.watching import (
    compile_once,
    draw_unwatched,
    import_everything,
    tells_nothing_new,
    watch_again,
    watched_at_first,
)

signal.signal(signal.SIGINT, signal.default_int_handler)  # the shell that started us may ignore Ctrl-C
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and nohup a hang-up
settings.register_profile("steady", derandomize=True)
settings.register_profile("explore")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


def pytest_report_header():
    """Say which tests are about to run."""
    return "all tests" if ALL else f"quick suite, rotation {ROTATION}; scripts/test --all runs everything"


@pytest.hookimpl(trylast=True)  # after -k and -m
def pytest_collection_modifyitems(config, items):
    """Leave out what the quick suite does not run; a test that is named is run."""
    named = any("::" in argument for argument in config.args)
    if not ALL and not named:
        leave_out(config, items)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Take the trace function away while all tests are collected."""
    compile_once()
    draw_unwatched()
    watcher, config = sys.gettrace(), session.config
    if watcher is None or config.args != config.getini("testpaths"):  # a part needs few of our modules
        return (yield)
    import_everything("lpsched", "models")
    sys.settrace(None)
    try:
        return (yield)
    finally:
        watch_again(watcher)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Show coverage the first examples of a property test, not how it draws them, and no test that is one of many."""
    handle, watcher = getattr(getattr(item, "obj", None), "hypothesis", None), sys.gettrace()
    if watcher is None or (handle is None and not tells_nothing_new(item)):
        return (yield)
    whole = getattr(handle, "inner_test", None)
    if handle is not None:
        handle.inner_test = watched_at_first(whole, watcher)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        if handle is not None:
            handle.inner_test = whole
        watch_again(watcher)


@pytest.fixture
def written(tmp_path):
    """Write a file and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
